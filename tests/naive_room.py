"""Rooms made of rectangles, rays in them, and the room estimate and its theory by other means than kernels.

Numpy vectors, dicts, lists and `math`: nothing here imports the kernels.
"""

from __future__ import annotations

import math
import statistics

import numpy as np

import ecs_audio as ea

RAYS, HITS, REACH = 24, 9, 512.0
SPEED = 343.0
AIR = (0.000101, 0.000628, 0.00228, 0.0242)
CLASSES = ("field", "street", "canyon", "tunnel", "hall", "room")

_palette = ea.World.empty(size=(16, 16, 16)).palette
MATERIAL = {
    group: _palette.id(block)
    for group, block in (
        ("stone", "stone"),
        ("wood", "oak_planks"),
        ("wool", "white_wool"),
        ("grass", "grass_block"),
        ("glass", "glass"),
    )
}
"""Ids of a block of each group."""
ABSORPTION = _palette.absorption.copy()
"""Absorption by id and band."""


def directions(n, turn=0.0):
    """Fibonacci directions by numpy: (n, 3)."""
    i = np.arange(n)
    latitude = np.arcsin((2 * i + 1) / n - 1)
    longitude = 2 * np.pi * (1 + math.sqrt(5)) / 2 * i + turn
    return np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.sin(latitude), np.cos(latitude) * np.sin(longitude)]
    )


# Geometry: a world is a list of rectangles (axis, coordinate, (low, high) of the other two axes, material).


def box(low, high, walls):
    """Six sides of a box; `walls` names each side's material (x low, x high, y low, ...), None for a hole."""
    low, high = np.array(low, float), np.array(high, float)
    sides = []
    for k, name in enumerate([walls] * 6 if isinstance(walls, str) else walls):
        if name is not None:
            axis = k // 2
            others = [a for a in range(3) if a != axis]
            sides.append((axis, (low, high)[k % 2][axis], (low[others], high[others]), MATERIAL[name]))
    return sides


def shoebox(dimensions, walls):
    return box((0, 0, 0), dimensions, walls)


def field(floor="grass"):
    return box((-3000, 0, -3000), (3000, 1, 3000), (None, None, floor, None, None, None))


def trough(width, height, walls="stone", floor="grass", length=6000.0):
    """A street or a canyon along z: two walls and a floor, x from 0 to `width`."""
    return box((0, 0, -length / 2), (width, height, length / 2), (walls, walls, floor, None, None, None))


def two_rooms(first, second, door, walls_first, walls_second):
    """Two shoeboxes that touch at x = 0, the first at x < 0, with a doorway (along z, along y) in between.

    Both begin at y = 0 and are centred on z = 0; the wall between has no thickness.
    """
    rooms = []
    for (x, y, z), sign, walls in ((first, -1, walls_first), (second, 1, walls_second)):
        low, high = (min(0, sign * x), 0.0, -z / 2), (max(0, sign * x), y, z / 2)
        rooms += [s for s in box(low, high, walls) if not (s[0] == 0 and s[1] == 0.0)]
        inner = MATERIAL[walls if isinstance(walls, str) else walls[0]]
        width, tall = door
        # The wall with the door, as three rectangles (y, z); one side's material does for both.
        if sign > 0:
            top = max(first[1], second[1])
            side = max(first[2], second[2]) / 2
            for y0, y1, z0, z1 in (
                (0, top, -side, -width / 2),
                (0, top, width / 2, side),
                (tall, top, -width / 2, width / 2),
            ):
                rooms.append((0, 0.0, (np.array([y0, z0], float), np.array([y1, z1], float)), inner))
    return rooms


def trace(sides, position, hits=HITS, rays=RAYS, turn=0.0):
    """Follow mirrored rays: found (rays,), and time, face, point, material of each hit as kernels want."""
    found = np.zeros(rays, np.int64)
    time = np.full(rays * hits, np.inf)
    face = np.full(rays * hits, -1)
    point = np.zeros((rays * hits, 3))
    material = np.zeros(rays * hits, np.int64)
    for r, direction in enumerate(directions(rays, turn)):
        at, d = np.array(position, float), direction.copy()
        for s in range(hits):
            best = None
            for axis, coordinate, (low, high), name in sides:
                if d[axis] == 0:
                    continue
                t = (coordinate - at[axis]) / d[axis]
                others = [a for a in range(3) if a != axis]
                q = (at + t * d)[others]
                if (
                    1e-9 < t <= REACH
                    and (q >= low).all()
                    and (q <= high).all()
                    and (best is None or t < best[0])
                ):
                    best = (t, axis, coordinate, name)
            if best is None:
                break
            t, axis, coordinate, name = best
            at = at + t * d
            at[axis] = coordinate
            k = r * hits + s
            time[k], face[k], point[k], material[k] = t, 2 * axis + (d[axis] < 0), at, name
            found[r] += 1
            d[axis] = -d[axis]
    return found, time, face, point, material


# The estimate, ray by ray.


def room_of(found, time, face, point, material, absorption=ABSORPTION, c=SPEED):
    """The estimate of `acoustics.md` section 7 as a dict."""
    rays = []
    for r, hits in enumerate(found):
        hits = int(hits)
        lengths = [float(x) for x in time[r * HITS : r * HITS + hits]]
        names = [int(x) for x in material[r * HITS : r * HITS + hits]]
        rays.append((lengths, names, hits == HITS))
    firsts = [lengths[0] for lengths, _, _ in rays if lengths]
    rooms = {"near": [], "far": []}
    for lengths, names, inside in rays:
        if len(lengths) >= 2:
            k = len(lengths) - 1
            total = max(math.fsum(lengths[1:]), 0.5 * k)
            rooms["near" if total / k < 20 else "far"].append((lengths[0], k, total, names, inside))
    every = rooms["near"] + rooms["far"]
    stayed = [ray[1] / ray[2] for ray in every if ray[4]]
    longest = 2.5 / statistics.fmean(stayed) if stayed else math.inf
    volume = 4 / 3 * math.pi * statistics.fmean(min(x, longest) ** 3 for x in firsts) if firsts else 0.0
    out = {"rt60": [], "gain": [], "share": [], "path": [], "reach": [], "volume": volume}
    common = 0.0
    if rooms["near"] and rooms["far"]:
        near, far = (statistics.fmean(k / total for _, k, total, _, _ in rooms[b]) for b in ("near", "far"))
        lost = sum(not inside for _, _, inside in rays) / len(rays)
        fewer = min(len(mine) for mine in rooms.values()) / len(every)
        common = (1 - ramp(near / far, 6) * ramp(fewer, 0.15)) * (1 - ramp(lost, 0.1))
    for name, mine in rooms.items():
        if not mine:
            for key, value in (("rt60", [0.1] * 4), ("gain", 0), ("share", 0), ("path", 0), ("reach", 0)):
                out[key].append(value)
            continue
        shared = [(1.0, ray) for ray in mine] + [
            (common, ray) for ray in rooms["far" if name == "near" else "near"]
        ]
        h = math.fsum(w * k / total for w, (_, k, total, _, _) in shared) / math.fsum(w for w, _ in shared)
        ways = [total if inside else first + total for _, (first, _, total, _, inside) in shared]
        kept = [
            math.fsum(
                w * math.fsum(1 - absorption[n, band] for n in names) / way
                for (w, (_, _, _, names, _)), way in zip(shared, ways, strict=True)
            )
            / math.fsum(
                w * (k + 1 + (not inside)) / way
                for (w, (_, k, _, _, inside)), way in zip(shared, ways, strict=True)
            )
            for band in range(4)
        ]
        times = []
        for share, air in zip(kept, AIR, strict=True):
            decay = c * (h * -math.log(share) + air) if share > 0 else math.inf
            times.append(min(max(13.816 / decay, 0.1), 5.0) if decay > 0 else 5.0)
        mean, part = (kept[1] + kept[2]) / 2, len(mine) / len(rays)
        absorbing = 4 * volume * h * (1 - mean)
        loud = math.sqrt(part * 16 * math.pi * mean / absorbing) if absorbing > 0 else math.inf
        out["rt60"].append(times)
        out["gain"].append(min(loud, 3.0))
        out["share"].append(part)
        out["path"].append(1 / h)
        out["reach"].append(statistics.fmean(min(first, longest) ** 3 for first, *_ in mine) ** (1 / 3))
    out["classes"] = classes_of(rays, every, len(rooms["far"]), sides_of(found, face, point))
    return out


def ramp(x, threshold):
    """0 up to 15 % below the threshold, 1 from 15 % above, a cubic between."""
    u = min(max((x / threshold - 0.85) / 0.3, 0.0), 1.0)
    return 3 * u**2 - 2 * u**3


def sides_of(found, face, point):
    """Sides of the room: all ways between hits along an axis, per hit that ended one on that axis."""
    ways, met = np.zeros(3), np.zeros(3, int)
    for r, hits in enumerate(found):
        trail = slice(r * HITS, r * HITS + max(int(hits), 0))
        ways += np.abs(np.diff(point[trail], axis=0)).sum(axis=0)
        met += np.bincount(face[trail][1:] // 2, minlength=3)
    return ways / np.maximum(met, 1)


def classes_of(rays, every, far_count, sides):
    is_open = sum(len(lengths) < 2 for lengths, _, _ in rays) / len(rays)
    _, second, longest = sorted(sides)
    elongation = longest / second if second > 0 else 1.0
    path = 1 / statistics.fmean(k / total for _, k, total, _, _ in every) if every else 0.0
    far = ramp(far_count / len(every), 0.5) if every else 0.0
    is_field = ramp(is_open, 0.8)
    wide, high_walls = ramp(is_open, 0.35), ramp(is_open, 0.1)
    long, large = ramp(elongation, 6), ramp(path, 9)
    closed = (1 - is_field) * ((1 - far) * (1 - wide) + far * (1 - high_walls))
    weights = {
        "field": is_field,
        "street": (1 - is_field) * (1 - far) * wide,
        "canyon": (1 - is_field) * far * high_walls,
        "tunnel": closed * long,
        "hall": closed * (1 - long) * large,
        "room": closed * (1 - long) * (1 - large),
    }
    return [weights[name] / sum(weights.values()) for name in CLASSES]


# Theory.


def eyring(dimensions, walls, c=SPEED):
    """RT60 by band [s], and level of the reverberant field relative to the direct sound at 1 m."""
    x, y, z = dimensions
    areas = [y * z, y * z, x * z, x * z, x * y, x * y]
    names = [walls] * 6 if isinstance(walls, str) else walls
    surface, volume = sum(areas), x * y * z
    a = [
        math.fsum(area * ABSORPTION[MATERIAL[name], band] for area, name in zip(areas, names, strict=True))
        / surface
        for band in range(4)
    ]
    rate = surface / (4 * volume)
    times = [13.816 / (c * (rate * -math.log(1 - q) + m)) for q, m in zip(a, AIR, strict=True)]
    mean = (a[1] + a[2]) / 2
    return [min(max(t, 0.1), 5.0) for t in times], math.sqrt(16 * math.pi * (1 - mean) / (surface * mean))
