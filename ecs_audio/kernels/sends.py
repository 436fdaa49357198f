"""How much of a source goes into the room: coupled sources fill it, sealed ones come through the wall."""

from __future__ import annotations

import math

from ecs_audio.kernels.jit import F8, F8_1, F8_2, U1, U1_1, Array, kernel, law
from ecs_audio.kernels.results import BROAD

NEAR, FAR = 0, 1


@law
def shared(coupling: float, bus: int) -> float:
    """Weight of the air that source and listener share, 0 to 1, from the share of reflections that couple."""
    return min((8.0 if bus == FAR else 4.0) * coupling, 1.0)


@law
def shared_by_guess(transmission: float, distance: float, reach: float) -> float:
    """The same where no reflections were traced: what the wall lets through, within the room's size [m]."""
    return transmission * min(1.0, 2.0 * reach / distance) if distance > 0.0 else transmission * (reach > 0.0)


@law
def send(loudness: float, room: float, volume: float, full: float, w: float, t: float, fade: float) -> float:
    """Amplitude into a bus, linear. loudness: volume times distance gain. full: level of a coupled source."""
    return (w * volume * full + (1.0 - w) * room * loudness * math.pow(t, BROAD)) * fade


@kernel(
    F8, U1, U1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, U1_1, U1_1, U1_1, F8_2, F8_2, F8_2
)  # fmt: skip
def set_sends(
    share: float,
    couple: int,
    sends: int,
    room_gain: Array,
    reach: Array,
    volume: Array,
    reference: Array,
    end: Array,
    distance: Array,
    loudness: Array,
    transmission: Array,
    coupling: Array,
    positioned: Array,
    acoustics: Array,
    state: Array,
    openness: Array,
    out_send: Array,
    out_hf: Array,
) -> None:
    """Shared air, sends into both buses, and their gain_hf for every source.

    share: of the way that shared air moves at this tick; a source not heard yet (state 0) is there.
    couple: 0 for no shared air. sends: 0 sets all sends to 0. room_gain: (2,).
    reach: (2,) size of the room, of each scale [m].
    volume to state: (n,) columns of `Sources`; a coupling below 0 was not traced.
    openness: (n, 2) shared air, updated. out_send, out_hf: (n, 2) near and far.
    """
    for i in range(volume.shape[0]):
        for bus in range(2):
            if not (positioned[i] and acoustics[i]):
                openness[i, bus], out_send[i, bus], out_hf[i, bus] = 0.0, 0.0, 1.0
                continue
            t = transmission[i]
            target = shared(coupling[i], bus)
            if coupling[i] < 0.0:
                target = shared_by_guess(t, distance[i], reach[bus])
            if not couple:
                target = 0.0
            w = openness[i, bus] + (target - openness[i, bus]) * (share if state[i] else 1.0)
            openness[i, bus] = w
            out_hf[i, bus] = w + (1.0 - w) * t
            room = room_gain[bus] if sends else 0.0
            full = min(reference[i] * room, max(1.0, room))
            fade = 1.0 - min(distance[i] / (1.5 * end[i]), 1.0)
            out_send[i, bus] = send(loudness[i], room, volume[i], full, w, t, fade)
