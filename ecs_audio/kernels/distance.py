"""How amplitude falls with distance, and what air takes from high frequencies."""

from __future__ import annotations

import math

from ecs_audio.kernels.jit import law

INVERSE, LINEAR, EXPONENTIAL, SOFT_INVERSE = 0, 1, 2, 3

AIR_PER_METRE = 0.99426
"""Amplitude at 5 kHz left after one metre of air, -0.05 dB (figure of Sound Physics Remastered)."""


@law
def smooth_step(x: float) -> float:
    """0 at and below 0, 1 at and above 1, level at both."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@law
def falloff(law: int, d: float, reference: float, end: float) -> float:
    """Amplitude at distance d before the fade: 1 up to the reference, except for SOFT_INVERSE."""
    if law == SOFT_INVERSE:
        return 1.0 / (1.0 + d / reference)
    beyond = max(d, reference)
    if law == LINEAR:
        return max(1.0 - (beyond - reference) / max(end - reference, 1e-9), 0.0)
    if law == EXPONENTIAL:
        return math.exp(-(beyond - reference) / reference)
    return reference / beyond


@law
def distance_gain(law: int, d: float, reference: float, end: float, fade_start: float) -> float:
    """Amplitude at distance d [m], 0 at and beyond `end`.

    INVERSE is the free field, -6.0206 dB a doubling; every law fades out between `fade_start` and `end`.
    """
    if d >= end:
        return 0.0
    return falloff(law, d, reference, end) * (1.0 - smooth_step((d - fade_start) / (end - fade_start)))


@law
def air_gain_hf(d: float) -> float:
    """Amplitude at 5 kHz relative to low frequencies after d metres of air."""
    return math.pow(AIR_PER_METRE, d)
