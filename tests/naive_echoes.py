"""Echoes by other means: worlds that are lists of boxes, mirrored coordinates in numpy, sight by slabs."""

import itertools
import math

import numpy as np

NO_PLANE = -(1 << 62)
POINT = NO_PLANE + 1
TINY = 1e-5


def mirror_of(plane, cell_size=1.0):
    """Axis, position [m] and open side (1 or -1) of a plane."""
    coordinate, face = divmod(plane, 8)
    return face // 2, coordinate * cell_size, 1 if face % 2 else -1


def reflected(p, plane, cell_size=1.0):
    axis, on, _ = mirror_of(plane, cell_size)
    q = np.array(p, float)
    q[axis] = on - (q[axis] - on)
    return q


def image(source, planes, cell_size=1.0):
    for plane in planes:
        source = reflected(source, plane, cell_size)
    return np.array(source, float)


def in_front(p, plane, cell_size=1.0):
    axis, on, side = mirror_of(plane, cell_size)
    return (p[axis] - on) * side > 1e-3


def specular_points(source, listener, planes, cell_size=1.0):
    """Where a path bounces, from the source on; None if some plane is not reached from its open side."""
    toward, points = np.array(listener, float), []
    for k in range(len(planes), 0, -1):
        plane, behind = planes[k - 1], image(source, planes[:k], cell_size)
        axis, on, _ = mirror_of(plane, cell_size)
        if not in_front(toward, plane, cell_size) or in_front(behind, plane, cell_size):
            return None
        toward = toward + (behind - toward) * (on - toward[axis]) / (behind[axis] - toward[axis])
        points.insert(0, toward)
    return points if in_front(source, planes[0], cell_size) else None


def planes_of(boxes):
    """All faces of all boxes."""
    planes = set()
    for low, high, _ in boxes:
        for axis in range(3):
            planes |= {low[axis] * 8 + 2 * axis, high[axis] * 8 + 2 * axis + 1}
    return sorted(planes)


def material_at(boxes, p):
    """Name of the material there; later boxes overwrite."""
    name = None
    for low, high, material in boxes:
        if all(a <= x < b for a, x, b in zip(low, p, high, strict=True)):
            name = None if material == "air" else material
    return name


def sees(boxes, a, b):
    """Whether nothing is between two places, by looking into every piece between two grid planes."""
    a, b = np.array(a, float), np.array(b, float)
    times = {0.0, 1.0}
    for axis in range(3):
        if a[axis] != b[axis]:
            for low, high, _ in boxes:
                for x in (low[axis], high[axis]):
                    times.add((x - a[axis]) / (b[axis] - a[axis]))
    inside = sorted(t for t in times if 0 <= t <= 1)
    middles = [a + (b - a) * (s + t) / 2 for s, t in itertools.pairwise(inside) if t - s > 1e-12]
    return not any(material_at(boxes, p) for p in middles)


def solid_behind(boxes, p, plane):
    """Material that a plane has at a point, None if it is not a face there."""
    axis, _, side = mirror_of(plane)
    n = np.eye(3)[axis] * side * TINY
    return None if material_at(boxes, p + n) else material_at(boxes, p - n)


def off(p, plane):
    axis, _, side = mirror_of(plane)
    return p + np.eye(3)[axis] * side * TINY


def echo(boxes, source, listener, planes):
    """Length and materials of a path that exists, else None."""
    points = specular_points(source, listener, planes)
    if points is None:
        return None
    names = [solid_behind(boxes, p, plane) for p, plane in zip(points, planes, strict=True)]
    lifted = [off(p, plane) for p, plane in zip(points, planes, strict=True)]
    if None in names or not all(
        sees(boxes, a, b) for a, b in itertools.pairwise([source, *lifted, listener])
    ):
        return None
    return float(np.linalg.norm(listener - image(source, planes))), names


def all_echoes(boxes, source, listener):
    """Every echo of one bounce or two: planes -> length."""
    planes, found = planes_of(boxes), {}
    for path in [*itertools.product(planes, repeat=1), *itertools.permutations(planes, 2)]:
        if (hit := echo(boxes, source, listener, path)) is not None:
            found[path] = hit[0]
    return found


def survey(boxes, source, listener, trails, known=(), sounding=(), loud=lambda path: 1.0, strength=None):
    """Taps of one survey, [(planes, point, strength)], and the paths that were tried, [(planes, point)].

    trails: for each ray a list of (plane, point, couples, material). sounding: [(planes, point)].
    loud: amplitude of the source after so many metres. strength: of a reflection, by material.
    """
    least = math.dist(source, listener) + 0.005 * 343

    def length(planes, q):
        if planes[0] == POINT:
            return math.dist(source, q) + math.dist(q, listener)
        return float(np.linalg.norm(np.subtract(listener, image(source, planes))))

    def fits(planes, q):
        possible = planes[0] == POINT or specular_points(source, listener, planes) is not None
        return possible and length(planes, q) > least

    first = [(planes, q) for planes, q in sounding if fits(planes, q)]
    first += [((planes[1],), None) for planes, q in sounding if planes[0] == POINT]
    then = []
    for trail in trails:
        for before, hit in zip([None, *trail], trail, strict=False):
            then.append(((hit[0],), None))
            if before:
                then.append(((before[0], hit[0]), None))
    then += [((plane,), None) for plane in known]

    chosen, keys = [], set()
    for group, fixed in ((first, True), (then, False)):
        for planes, q in group:
            key = (planes, None if q is None else tuple(q))
            if fits(planes, q) and key not in keys:
                keys.add(key)
                chosen.append((planes, q, fixed))
    tried = []
    for order, room in ((1, 10), (2, 6)):
        own = [c for c in chosen if (2 if len(c[0]) == 2 and c[0][0] != POINT else 1) == order]
        rest = sorted((c for c in own if not c[2]), key=lambda c: -length(c[0], c[1]))
        tried += [c for c in own if c[2]]
        tried += rest[: room - sum(c[2] for c in own)]
    tried.sort(key=chosen.index)

    claims, disproved = [], set()
    for planes, _, _ in tried:
        if planes[0] == POINT:
            continue
        hit = echo(boxes, source, listener, planes)
        if hit is None:
            disproved.add(planes)
            continue
        claims.append((3, hit[0], planes, None, math.prod(strength(name) for name in hit[1])))
    for planes, q, _ in tried:
        if planes[0] == POINT and (planes[1],) in disproved:
            name, before = solid_behind(boxes, np.array(q), planes[1]), off(np.array(q), planes[1])
            if name and sees(boxes, before, source) and sees(boxes, before, listener):
                claims.append((2, length(planes, q), planes, q, strength(name)))
    for trail in trails:
        if trail and trail[0][2] and (trail[0][0],) in disproved:
            plane, q, _, name = trail[0]
            claims.append((1, length((POINT,), q), (POINT, plane), q, strength(name)))

    taps, arrivals = [], []
    for _, path, planes, q, e in sorted(claims, key=lambda claim: (-claim[0], -claim[1])):
        origin = np.array(q) if planes[0] == POINT else image(source, planes)
        arrival = (origin - listener) / np.linalg.norm(origin - listener)
        apart = all(np.degrees(np.arccos(np.clip(arrival @ a, -1, 1))) >= 30 for a in arrivals)
        if path > least and e * loud(path) > 1e-3 and apart and len(taps) < 4:
            taps.append((planes, q, e))
            arrivals.append(arrival)
    return taps, [(planes, q) for planes, q, _ in tried]


def fade(slots, wanted, step):
    """Slots after a tick: each None or a dict of path, level and strength. wanted: path -> strength."""
    after = []
    for slot in slots:
        if slot is None:
            after.append(None)
            continue
        level = slot["level"] + (step if slot["path"] in wanted else -step)
        strength = slot["strength"]
        strength += (wanted.get(slot["path"], strength) - strength) * step
        kept = slot["path"] in wanted or level > 1e-9
        after.append({"path": slot["path"], "level": min(level, 1.0), "strength": strength} if kept else None)
    for path in wanted:
        free = [k for k, slot in enumerate(slots) if slot is None and after[k] is None]
        if free and all(slot is None or slot["path"] != path for slot in after):
            after[free[0]] = {"path": path, "level": 0.0, "strength": wanted[path]}
    return after
