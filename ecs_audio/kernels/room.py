"""What the rays around a listener say of the room: its reverberation, its level, what kind of place it is.

Sabine's and Eyring's room acoustics, read off mirrored rays instead of a floor plan: walls are met h times
a metre, S = 4 V h, and the rays' first hits sound out the volume.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8, F8_1, F8_2, I8_1, Array, kernel, law

HITS = 9
"""Hits that a probe's ray is followed for; a ray with fewer ended in the sky."""
NEAR, FAR = 0, 1
NEAR_PATH = 20.0
"""Rays with shorter segments than this on average belong to the near scale [m]."""
SHORTEST = 0.5
"""Mean segment that counts at least [m]: a ray into the edge of a street hits twice at once, and one of 24
took
the mean free path there from 11 m to 0.15."""
LONGEST = 2.5
"""First hits count as at most so many mean free paths of the rays that never left: else one ray of 24 that
goes out by a door takes away the room, by the cube of its length. Shoeboxes come out as before."""
RT60_LOW, RT60_HIGH = 0.1, 5.0
THERE = 1e-5
"""A gain this near to its target is there: -100 dB."""
GAIN_HIGH = 3.0
AIR = np.array([0.000101, 0.000628, 0.00228, 0.0242])
"""Intensity attenuation of air at 125, 500, 2000, 8000 Hz [1/m] (ISO 9613-1, 20 degrees, 50 %)."""
FIELD, STREET, CANYON, TUNNEL, HALL, ROOM = 0, 1, 2, 3, 4, 5
X, Y, Z = np.int64(0), np.int64(1), np.int64(2)


@law
def rt60_of(hit_rate: float, kept: float, air: float, speed: float) -> float:
    """Time to -60 dB [s] (Eyring), of walls met `hit_rate` times a metre that keep a share of the energy."""
    if kept <= 0.0:
        return RT60_LOW
    decay = speed * (hit_rate * -math.log(kept) + air)
    return min(max(13.816 / max(decay, 1e-9), RT60_LOW), RT60_HIGH)


@law
def room_gain_of(share: float, surface: float, kept: float) -> float:
    """Amplitude of the reverberant field relative to the direct sound at 1 m: 16 pi (1 - a) / (S a)."""
    absorbing = surface * (1.0 - kept)
    if absorbing <= 0.0:
        return GAIN_HIGH
    return min(math.sqrt(share * 16.0 * math.pi * kept / absorbing), GAIN_HIGH)


@law
def mean_segment(time: Array, start: int, hits: int) -> float:
    """Mean length of the segments between a ray's hits, of which there are two or more [m]."""
    way = 0.0
    for s in range(start + 1, start + hits):
        way += time[s]
    return max(way / (hits - 1), SHORTEST)


@law
def scale_of(segment: float) -> int:
    """NEAR or FAR."""
    return NEAR if segment < NEAR_PATH else FAR


@law
def side_along(axis: int, found: Array, face: Array, point: Array) -> float:
    """Distance between the walls across an axis [m]: the way along it per wall met; all of it if none was."""
    way, met = 0.0, 0
    for r in range(found.shape[0]):
        for s in range(r * HITS + 1, r * HITS + found[r]):
            way += abs(point[s, axis] - point[s - 1, axis])
            met += 1 if face[s] >> 1 == axis else 0
    return way / max(met, 1)


@law
def elongation_of(x: float, y: float, z: float) -> float:
    """Longest of three sides relative to the next."""
    middle = max(min(x, y), min(max(x, y), z))
    return max(x, y, z) / middle if middle > 0.0 else 1.0


@law
def over(x: float, threshold: float) -> float:
    """0 up to 15 % below a threshold, 1 from 15 % above, smooth between."""
    u = min(max((x / threshold - 0.85) / 0.3, 0.0), 1.0)
    return u * u * (3.0 - 2.0 * u)


@law
def in_common(near_rate: float, far_rate: float, fewer: float, lost: float) -> float:
    """How far two scales are one room: 1 in a closed place, unless the far walls are six times as far.

    In one room the split is an accident of directions: the rays along it alone would ring on for twice as
    long as it does. A few rays through a door are no scale of their own either.
    near_rate, far_rate: walls met per metre. fewer: share of the smaller scale in both. lost: share of all
    rays that ended in the sky.
    """
    return (1.0 - over(near_rate / far_rate, 6.0) * over(fewer, 0.15)) * (1.0 - over(lost, 0.1))


@law
def mingled(near: float, far: float, common: float) -> tuple[float, float]:
    """Two sums over rays, each with a share of the other's rays."""
    return near + common * far, far + common * near


@law
def weigh_classes(sky: float, far: float, elongation: float, path: float, out: Array) -> None:
    """How much a place is of each class; the six always sum to 1.

    sky: share of rays with fewer than two hits. far: share of the others that are of the far scale.
    path: mean free path [m]. out: (6,).
    """
    walls = 1.0 - over(sky, 0.8)
    distant = over(far, 0.5)
    street = (1.0 - distant) * over(sky, 0.35)
    canyon = distant * over(sky, 0.1)
    closed = walls * (1.0 - street - canyon)
    tunnel, hall = over(elongation, 6.0), over(path, 9.0)
    out[FIELD], out[STREET], out[CANYON] = 1.0 - walls, walls * street, walls * canyon
    out[TUNNEL] = closed * tunnel
    out[HALL] = closed * (1.0 - tunnel) * hall
    out[ROOM] = closed * (1.0 - tunnel) * (1.0 - hall)


@kernel(I8_1, F8_1, I8_1, F8_2, I8_1, F8_2, F8, F8_2, F8_1, F8_1, F8_1, F8_1, F8_1)
def room_of(
    found: Array,
    time: Array,
    face: Array,
    point: Array,
    material: Array,
    absorption: Array,
    speed: float,
    out_rt60: Array,
    out_gain: Array,
    out_share: Array,
    out_path: Array,
    out_reach: Array,
    out_classes: Array,
) -> float:
    """Room of a listener from the hits of the rays around it; returns the volume around it [m^3], 0 for none.

    found: (rays,) hits of each ray, 0 to HITS. time, face, point, material: (rays * HITS,) of each hit the
    length of the segment before it [m], 2 x axis + 1 if the ray travelled downwards, place (3) [m], id.
    absorption: (materials, 4) at 125, 500, 2000, 8000 Hz. speed: of sound [m/s].
    out_rt60: (2, 4) near and far scale, by band [s]. out_gain: (2,) reverberant level relative to the direct
    sound at 1 m. out_share: (2,) of all rays. out_path: (2,) mean free path [m].
    out_reach: (2,) size by the first hits, cube root of their mean cube [m]. A scale without rays has the
    shortest RT60 and else 0. out_classes: (6,) weights of field, street, canyon, tunnel, hall, room.
    """
    rays = found.shape[0]
    for scale in range(2):  # sums over rays, until they are all known
        out_gain[scale] = out_share[scale] = out_path[scale] = out_reach[scale] = 0.0
        for band in range(4):
            out_rt60[scale, band] = 0.0
    stayed, stayed_rate = 0, 0.0
    for r in range(rays):
        start, n = r * HITS, found[r]
        if n < 2:
            continue
        segment = mean_segment(time, start, n)
        way, scale = segment * (n - 1), scale_of(segment)
        if n < HITS:  # all of its way counts but the flight out: one with two hits has a single segment
            way += time[start]
        out_share[scale] += 1.0
        out_path[scale] += 1.0 / segment
        if n == HITS:
            stayed += 1
            stayed_rate += 1.0 / segment
        # A hit counts per metre; the sky is one more hit, which keeps nothing.
        out_gain[scale] += (n if n == HITS else n + 1) / way
        for band in range(4):
            kept = 0.0
            for s in range(start, start + n):
                kept += 1.0 - absorption[material[s], band]
            out_rt60[scale, band] += kept / way
    near, far = out_share[NEAR], out_share[FAR]
    path = (near + far) / max(out_path[NEAR] + out_path[FAR], 1e-9)
    longest = LONGEST * stayed / stayed_rate if stayed > 0 else np.inf
    cubes, hitting = 0.0, 0
    for r in range(rays):
        if found[r] < 1:
            continue
        first = min(time[r * HITS], longest)
        cubes += first * first * first
        hitting += 1
        if found[r] > 1:
            out_reach[scale_of(mean_segment(time, r * HITS, found[r]))] += first * first * first
    volume = 4.0 / 3.0 * math.pi * cubes / max(hitting, 1)
    common = 0.0
    if near > 0.0 and far > 0.0:
        fewer = min(near, far) / (near + far)
        common = in_common(out_path[NEAR] / near, out_path[FAR] / far, fewer, 1.0 - stayed / rays)
    out_path[NEAR], out_path[FAR] = mingled(out_path[NEAR], out_path[FAR], common)
    out_gain[NEAR], out_gain[FAR] = mingled(out_gain[NEAR], out_gain[FAR], common)
    for band in range(4):
        out_rt60[NEAR, band], out_rt60[FAR, band] = mingled(out_rt60[NEAR, band], out_rt60[FAR, band], common)
    for scale in range(2):
        own, weight = out_share[scale], out_gain[scale]
        if own == 0.0:
            for band in range(4):
                out_rt60[scale, band] = RT60_LOW
            continue
        hit_rate = out_path[scale] / (own + common * (near + far - own))
        kept = (out_rt60[scale, 1] + out_rt60[scale, 2]) / (2.0 * weight)
        for band in range(4):
            out_rt60[scale, band] = rt60_of(hit_rate, out_rt60[scale, band] / weight, AIR[band], speed)
        out_share[scale] = own / rays
        out_path[scale] = 1.0 / hit_rate
        out_reach[scale] = math.pow(out_reach[scale] / own, 1.0 / 3.0)
        out_gain[scale] = room_gain_of(out_share[scale], 4.0 * volume * hit_rate, kept)
    elongation = elongation_of(
        side_along(X, found, face, point),
        side_along(Y, found, face, point),
        side_along(Z, found, face, point),
    )
    weigh_classes(1.0 - (near + far) / rays, far / max(near + far, 1.0), elongation, path, out_classes)
    return volume


@kernel(F8, F8_2, F8_1, F8_1, F8_2, F8_1, F8_1)
def tween(
    share: float,
    rt60_target: Array,
    gain_target: Array,
    classes_target: Array,
    rt60: Array,
    gain: Array,
    classes: Array,
) -> None:
    """Move a room by a share of its way to another; 1 is there exactly, and so is what is nearly there.

    rt60_target, rt60: (2, 4) [s], by equal factors; one that is not above 0 is there at once. A scale that
    falls silent keeps its times, so that what sounds dies away as it would have.
    gain_target, gain: (2,) and classes_target, classes: (6,), by equal steps.
    """
    for scale in range(2):
        gain[scale] = (1.0 - share) * gain[scale] + share * gain_target[scale]
        if abs(gain[scale] - gain_target[scale]) < THERE:
            gain[scale] = gain_target[scale]
        if gain_target[scale] == 0.0 and gain[scale] > 0.0:
            continue
        for band in range(4):
            now, wanted = rt60[scale, band], rt60_target[scale, band]
            if share >= 1.0 or now <= 0.0 or wanted <= 0.0:
                rt60[scale, band] = wanted
            else:
                rt60[scale, band] = now * math.pow(wanted / now, share)
    for k in range(classes.shape[0]):
        classes[k] = (1.0 - share) * classes[k] + share * classes_target[k]
