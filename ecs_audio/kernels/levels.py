"""What each source, and each of its echoes, shall sound like at the two ears and in the reverbs."""

from __future__ import annotations

import math

from ecs_audio.kernels.jit import F4_1, F4_2, F4_3, F8, F8_1, F8_2, F8_3, I4_1, I8_1, U1_1, Array, kernel, law


@law
def pan(side: float) -> tuple[float, float]:
    """Left and right amplitude of a direction, side = -1 left to 1 right; constant power."""
    angle = (min(max(side, -1.0), 1.0) + 1.0) * (math.pi / 4.0)
    return math.cos(angle), math.sin(angle)


@law
def along(x: float, y: float, z: float, ear: Array, row: int) -> float:
    """How far a vector goes in a direction of the listener: 1 to the right, 2 ahead."""
    return x * ear[row, 0] + y * ear[row, 1] + z * ear[row, 2]


@law
def shaded(shadow: float, ahead: float) -> float:
    """gain_hf that the head leaves of what comes from `ahead`, -1 behind to 1 in front."""
    return 1.0 - shadow * min(max(-ahead, 0.0), 1.0)


@kernel(
    F8_2, F8, F8_1, F8_2, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1, F8_2, I4_1, I8_1, U1_1, F8_2, F8_2, F8_3,
    F4_2, F4_1, F4_3, F4_2, F8_1,
)  # fmt: skip
def levels(
    ear: Array,
    shadow: float,
    category_gain: Array,
    position: Array,
    positioned: Array,
    category: Array,
    volume: Array,
    loudness: Array,
    gain: Array,
    gain_hf: Array,
    send: Array,
    clip: Array,
    clip_side: Array,
    tap_count: Array,
    tap_gain: Array,
    tap_hf: Array,
    tap_direction: Array,
    out_gain: Array,
    out_hf: Array,
    out_tap_gain: Array,
    out_tap_hf: Array,
    out_audibility: Array,
) -> None:
    """Amplitude at each ear and into each reverb, and muffling, of every source and its echoes.

    ear: (3, 3) the listener's position [m], direction to the right, direction ahead.
    shadow: how much of gain_hf the head takes from straight behind.
    category_gain: (categories,) with the master volume. position: (n, 3) where it is heard [m].
    positioned to clip, tap_count: (n,) and tap_gain to tap_direction: (n, 4) columns of `Sources`; send is
    (n, 2). clip_side: by clip, the number of the side of a stereo clip, or -1.
    out_gain: (n, 4) left, right, into the near and into the far reverb. out_hf: (n,).
    out_tap_gain: (n, 4, 2) left and right. out_tap_hf: (n, 4). out_audibility: (n,) the largest of all.
    """
    last = category_gain.shape[0] - 1  # a host's number may be anything
    for i in range(loudness.shape[0]):
        own = category_gain[min(category[i], last)]
        level = loudness[i] * gain[i] * own
        loudest = level
        out_gain[i, 2], out_gain[i, 3] = 0.0, 0.0
        if not positioned[i]:
            out_gain[i, 0], out_gain[i, 1] = level, level
            out_hf[i] = 1.0
            known = 0 <= clip[i] < clip_side.shape[0]
            side = level if known and clip_side[clip[i]] >= 0 else 0.0
            out_tap_gain[i, 0, 0], out_tap_gain[i, 0, 1], out_tap_hf[i, 0] = side, -side, 1.0
            out_audibility[i] = loudest
            continue
        dx, dy, dz = position[i, 0] - ear[0, 0], position[i, 1] - ear[0, 1], position[i, 2] - ear[0, 2]
        d = math.sqrt(dx * dx + dy * dy + dz * dz)
        near = min(d, 1.0) / d if d > 0.0 else 0.0  # no step when a source passes through the head
        left, right = pan(along(dx, dy, dz, ear, 1) * near)
        out_gain[i, 0], out_gain[i, 1] = level * left, level * right
        out_hf[i] = gain_hf[i] * shaded(shadow, along(dx, dy, dz, ear, 2) * near)
        for bus in range(2):
            amount = send[i, bus] * own
            out_gain[i, 2 + bus] = amount
            loudest = max(loudest, amount)
        if tap_count[i]:
            for a in range(tap_gain.shape[1]):
                x, y, z = tap_direction[i, a, 0], tap_direction[i, a, 1], tap_direction[i, a, 2]
                amount = tap_gain[i, a] * volume[i] * own
                left, right = pan(along(x, y, z, ear, 1))
                out_tap_gain[i, a, 0], out_tap_gain[i, a, 1] = amount * left, amount * right
                out_tap_hf[i, a] = tap_hf[i, a] * shaded(shadow, along(x, y, z, ear, 2))
                loudest = max(loudest, amount)
        out_audibility[i] = loudest
