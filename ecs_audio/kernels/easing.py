"""Easing: gains and sends go towards their targets."""

from __future__ import annotations

from ecs_audio.kernels.jit import F8, F8_1, F8_2, U1_1, Array, kernel

QUIET = 1e-3
"""Below this amplitude, -60 dB, a gain may rise at once."""


@kernel(F8, F8, U1_1, F8_1, F8_1, F8_1, F8_1)
def ease(
    share: float,
    steepest: float,
    state: Array,
    gain_target: Array,
    gain_hf_target: Array,
    gain: Array,
    gain_hf: Array,
) -> None:
    """Move both gains by a share of their way to the targets; a source never heard yet (state 0) is there.

    The first part of the way from -40 dB to 0 would be a jump of 25 dB for the ear: so the broad gain rises
    by no more than the factor `steepest`.
    state, gain_target, gain_hf_target, gain, gain_hf: (n,) columns of `Sources`.
    """
    for i in range(state.shape[0]):
        part = 1.0 if state[i] == 0 else share
        wanted = gain[i] + (gain_target[i] - gain[i]) * part
        if state[i] != 0:
            wanted = min(wanted, max(gain[i], QUIET) * steepest)
        gain[i] = wanted
        gain_hf[i] += (gain_hf_target[i] - gain_hf[i]) * part


@kernel(F8, U1_1, F8_2, F8_2, F8_2, F8_2)
def ease_sends(
    share: float, state: Array, send_target: Array, hf_target: Array, send: Array, hf: Array
) -> None:
    """The same for the sends into both buses.

    state: (n,), the others: (n, 2) columns of `Sources`.
    """
    for i in range(state.shape[0]):
        part = 1.0 if state[i] == 0 else share
        for bus in range(2):
            send[i, bus] += (send_target[i, bus] - send[i, bus]) * part
            hf[i, bus] += (hf_target[i, bus] - hf[i, bus]) * part
