"""Slow, obvious twins of the kernels, made by other means: Python floats, lists, one cell at a time.

The cell walk shares with the kernels only what exactness to the bit needs: the closed form of every
crossing's time, the order of ties, and the rule for origins exactly on a face.
"""

from __future__ import annotations

import math

import numpy as np

OPEN, SOLID, FLUID = 0, 1, 2


def cells_along(o, d, reach):
    """Cells of a ray from its origin on: (cell, time of entry, time of exit, axis of entry)."""
    step = [0 if x == 0 or not math.isfinite(1 / x) else (1 if x > 0 else -1) for x in d]
    inverse = [1 / x if s else 0.0 for x, s in zip(d, step, strict=True)]
    cell = [math.ceil(x) - 1 if s > 0 else math.floor(x) for x, s in zip(o, step, strict=True)]
    entered, came = 0.0, None
    while entered < reach:
        times = [
            ((c + 1 if s > 0 else c) - x) * i if s else math.inf
            for c, s, x, i in zip(cell, step, o, inverse, strict=True)
        ]
        left = min(times)
        yield tuple(cell), entered, left, came
        came = times.index(left)  # ties: x before y before z
        cell[came] += step[came]
        entered = left


def kind_of(world, cell):
    return world.palette.kind[world.palette.id(world.material(cell))]


def first_hit(world, o, d, reach):
    """Time, cell and face of the first hit, or (inf, None, -1)."""
    o = [x / world.cell_size for x in o]
    d = [x / world.cell_size for x in d]
    step = [1 if x > 0 else -1 for x in d]
    own = None
    for cell, entered, _, axis in cells_along(o, d, reach):
        if axis is None:
            own = world.material(cell) if kind_of(world, cell) == FLUID else None
        elif kind_of(world, cell) != OPEN and world.material(cell) != own:
            return entered, cell, 2 * axis + (step[axis] < 0)
    return math.inf, None, -1


def ends(world, source, listener):
    """The cells that hold the unshifted ends, as seen along the straight path."""
    p = [x / world.cell_size for x in listener]
    q = [x / world.cell_size for x in source]
    ear, mouth = [], []
    for a, b in zip(p, q, strict=True):
        ear.append(math.ceil(a) - 1 if b > a else math.floor(a))
        mouth.append(math.ceil(b) - 1 if a > b else math.floor(b))
    return tuple(ear), tuple(mouth)


def occlusion(world, source, listener, own=None):
    """Sum of occlusion times chord along the straight path, walking from the listener."""
    size = world.cell_size
    ear, mouth = own or ends(world, source, listener)
    a = [x / size for x in listener]
    b = [x / size for x in source]
    d = [q - p for p, q in zip(a, b, strict=True)]
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * size
    if length == 0:
        return 0.0
    fluids = {world.material(c) for c in (ear, mouth) if kind_of(world, c) == FLUID}
    buried = kind_of(world, ear) == SOLID
    total, counted = 0.0, 0
    for cell, entered, left, _ in cells_along(a, d, 1.0):
        kind, name = kind_of(world, cell), world.material(cell)
        buried = buried and kind == SOLID
        if kind == OPEN or buried or name in fluids or cell in (ear, mouth):
            continue
        total += float(world.palette.occlusion[world.palette.id(name)]) * (
            (min(left, 1.0) - entered) * length
        )
        counted += 1
        if counted >= max(16, math.ceil(16 / size)) or total > 64:
            break
    return total


def bundle(source, listener):
    """Shifts (13, 3) and weights (13,) of the direct paths, by numpy's vectors."""
    d = np.subtract(listener, source)
    shifts, weights = [np.zeros(3)], [0.2]
    if not d.any():
        return shifts, weights
    d = d / np.linalg.norm(d)
    up = np.array([0.0, 0.0, 1.0]) if abs(d[1]) > 0.99 else np.array([0.0, 1.0, 0.0])
    u = np.cross(d, up)
    u /= np.linalg.norm(u)
    v = np.cross(u, d)
    beside = []
    for i in range(12):
        r, angle = 0.6 * math.sqrt((i + 0.5) / 12), 2.399963 * i
        shifts.append(r * (u * math.cos(angle) + v * math.sin(angle)))
        beside.append(math.exp(-((r / 0.6) ** 2)))
    weights += [0.8 * w / sum(beside) for w in beside]
    return shifts, weights


def transmission(world, source, listener):
    """T of the whole bundle."""
    own = ends(world, source, listener)
    straight = math.exp(-3 * occlusion(world, source, listener))
    total = 0.0
    for k, (shift, weight) in enumerate(zip(*bundle(source, listener), strict=False)):
        s, ear = np.add(source, shift), np.add(listener, shift)
        shifted = ends(world, s, ear)
        walled = any(kind_of(world, c) == SOLID and c != o for c, o in zip(shifted, own, strict=True))
        value = straight if k == 0 or walled else math.exp(-3 * occlusion(world, s, ear, own))
        total += weight * value
    return total


def distance_gain(d, r=1.0, e=512.0, s=None, law="inverse"):
    s = r if s is None else s
    x = min(max((d - s) / (e - s), 0.0), 1.0)
    fade = 0.0 if d >= e else 1 - x * x * (3 - 2 * x)
    shape = {
        "inverse": r / max(d, r),
        "linear": max(0.0, 1 - (max(d, r) - r) / (e - r)),
        "exponential": math.exp(-(max(d, r) - r) / r),
        "soft_inverse": 1 / (1 + d / r),
    }[law]
    return shape * fade


def emission_frame(path, listener, now, c, step=1e-3):
    """Latest frame whose sound has arrived, by trying them all. c: metres a frame."""
    e = now
    while e + math.dist(path(e), listener) / c > now:
        e -= step
    return e


def shelf(gain_hf, rate=48_000.0, corner=5000.0):
    """Numerator and denominator of the high shelf of the Audio EQ Cookbook, slope 1."""
    a = gain_hf
    w = 2 * math.pi * corner / rate
    alpha = math.sin(w) / 2 * math.sqrt((a + 1 / a) * (1 / 1 - 1) + 2)
    cos, root = math.cos(w), 2 * math.sqrt(a) * alpha
    b = [
        a * ((a + 1) + (a - 1) * cos + root),
        -2 * a * ((a - 1) + (a + 1) * cos),
        a * ((a + 1) + (a - 1) * cos - root),
    ]
    den = [(a + 1) - (a - 1) * cos + root, 2 * ((a - 1) - (a + 1) * cos), (a + 1) - (a - 1) * cos - root]
    return [x / den[0] for x in b], [x / den[0] for x in den]


def shelf_db(gain_hf, frequency, rate=48_000.0):
    """Response [dB] at a frequency [Hz]."""
    b, a = shelf(gain_hf, rate)
    z = [np.exp(-2j * np.pi * frequency / rate * k) for k in range(3)]
    return 20 * math.log10(
        abs(sum(x * y for x, y in zip(b, z, strict=True)) / sum(x * y for x, y in zip(a, z, strict=True)))
    )
