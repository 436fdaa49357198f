"""What the tests of rays share: worlds, rays, and calls of the kernels and of their twins."""

from __future__ import annotations

import naive_rays
import numpy as np

import ecs_audio as ea
from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.hits import trace_hits
from ecs_audio.kernels.occlusion import trace_paths
from ecs_audio.systems.geometry import follow, sections_of

MATERIALS = ("stone", "glass", "water", "tall_grass", "oak_slab", "oak_leaves", "lava")
NO_LIMIT = 1 << 60


def random_world(seed, size=(48, 48, 48), origin=(-24, -24, -24), share=0.03, cell_size=1.0):
    """Sparse cells, some solid boxes, and a few whole sections of one material."""
    rng = np.random.default_rng(seed)
    world = ea.World.empty(size=size, origin=origin, cell_size=cell_size)
    ids = np.array([0, *(world.palette.id(name) for name in MATERIALS)], np.uint16)
    cells = np.where(rng.random(size) < share, ids[rng.integers(1, len(ids), size)], 0)
    world.put(origin, cells.astype(np.uint16))
    for _ in range(4):
        low = np.array(origin) + rng.integers(0, 40, 3)
        world.fill(tuple(low), tuple(low + rng.integers(1, 12, 3)), str(rng.choice(MATERIALS)))
    corner = np.array(origin) // 16 * 16 + 16
    world.fill(corner, corner + 16, "air")
    world.fill(corner + 16, corner + 32, "stone")
    return world


def mixed_world(seed, size=(160, 96, 160), origin=(-80, -48, -80), cell_size=1.0, boxes=300):
    """Unknown, uniform and mixed sections; boxes of everything, fluids and air among them; single cells."""
    rng = np.random.default_rng(seed)
    world = ea.World.unknown(size=size, origin=origin, cell_size=cell_size)
    for _ in range(boxes):
        low = origin + rng.integers(0, size)
        world.fill(low, low + rng.integers(1, 20, 3), str(rng.choice(("air",) * 5 + MATERIALS)))
    for _ in range(40):
        low = (origin + rng.integers(0, size)) // 16 * 16
        world.fill(low, low + 16 * rng.integers(1, 3, 3), str(rng.choice(("air", "air", "stone", "water"))))
    for _ in range(1000):
        world.set(origin + rng.integers(0, size), str(rng.choice(MATERIALS)))
    return world


def edit(world, rng, count):
    """Any edits, most of them near the middle of the world so that they meet one another."""
    low, size = world.origin, world.size
    for kind in rng.integers(0, 20, count):
        place = low + (size * rng.beta(2, 2, 3)).astype(int)
        if kind == 0:
            world.fill(place, place + rng.integers(1, 12, 3), str(rng.choice(("air", "air", *MATERIALS))))
        elif kind == 1:
            corner = place // 16 * 16
            world.fill(corner, corner + 16, str(rng.choice(("air", "stone", "water"))))
        elif kind == 2:
            world.carve(place + 0.5, rng.uniform(0.5, 6))
        else:
            world.set(place, str(rng.choice(("air", "air", *MATERIALS))))


class Hits:
    """Rays and what `trace_hits` made of them; `geometry` is kept in step first."""

    def __init__(
        self, world, origin, direction, reach, segments=1, geometry=None, max_cells=NO_LIMIT, places=True
    ):
        n = len(origin)
        self.geometry = Geometry() if geometry is None else geometry
        follow(self.geometry, world)
        self.origin = np.array(origin, float).reshape(n, 3)
        self.direction = np.array(direction, float).reshape(n, 3)
        self.reach = np.broadcast_to(np.asarray(reach, float), n).copy()
        self.found, self.cells, self.unknown = np.zeros(n, np.int64), *np.zeros((2, n), np.int32)
        m = n * segments
        self.time, self.face, self.material = np.zeros(m), *np.zeros((2, m), np.int64)
        self.cell, self.point = np.zeros((m, 3), np.int64), np.zeros((m, 3))
        self.traced = trace_hits(
            sections_of(self.geometry), n, max_cells, self.origin, self.direction, self.reach,
            np.full(n, segments), np.arange(n) * segments, self.found, self.cells, self.unknown,
            self.time, self.face, self.cell, self.point if places else self.point[:0], self.material,
        )  # fmt: skip
        self.is_hit = np.isfinite(self.time)

    @property
    def bytes(self):
        """Everything that came out."""
        hit = self.is_hit
        arrays = (
            self.time, self.face, self.cell[hit], self.point[hit], self.material[hit], self.found,
            self.cells, self.unknown, self.origin, self.direction,
        )  # fmt: skip
        return b"".join(array.tobytes() for array in arrays)


def differences(world, origin, direction, reach, segments=1, geometry=None):
    """How many values differ between the kernel and its twin, by name; names without any are left out."""
    hits = Hits(world, origin, direction, reach, segments, geometry)
    n = len(hits.origin)
    grid = naive_rays.dense(world)
    start, way = np.array(origin, float).reshape(n, 3), np.array(direction, float).reshape(n, 3)
    time, face, cell = np.zeros((n, segments)), *np.zeros((2, n, segments, 3), np.int64)
    face, point, material = (
        face[:, :, 0].copy(),
        np.zeros((n, segments, 3)),
        np.zeros((n, segments), np.int64),
    )
    naive_rays.trails(
        grid.ids, grid.low, grid.kind, grid.size, start, way, hits.reach, segments,
        time, face, cell, point, material,
    )  # fmt: skip
    hit = np.isfinite(time).ravel()
    found = {
        "time": (hits.time != time.ravel()).sum(),
        "face": (hits.face != face.ravel()).sum(),
        "cell": (hits.cell[hit] != cell.reshape(-1, 3)[hit]).sum(),
        "point": (hits.point[hit] != point.reshape(-1, 3)[hit]).sum(),
        "material": (hits.material[hit] != material.ravel()[hit]).sum(),
        "found": (hits.found != np.isfinite(time).sum(axis=1)).sum(),
        "origin": (~np.isclose(hits.origin, start, 0, 0, equal_nan=True)).sum(),
        "direction": (~np.isclose(hits.direction, way, 0, 0, equal_nan=True)).sum(),
    }
    return {name: int(count) for name, count in found.items() if count}


class Paths:
    """Straight paths and what `trace_paths` made of them. ear, mouth: (n, 3) [m]."""

    def __init__(self, world, ear, mouth, geometry=None, max_cells=NO_LIMIT):
        n = len(ear)
        self.geometry = Geometry() if geometry is None else geometry
        follow(self.geometry, world)
        self.ear, self.mouth = (
            np.array(ear, float) / world.cell_size,
            np.array(mouth, float) / world.cell_size,
        )
        self.own = np.zeros((n, 6), np.int64)
        for at, (p, q) in enumerate(((self.ear, self.mouth), (self.mouth, self.ear))):
            cell = np.where(q > p, np.ceil(p) - 1, np.floor(p))
            self.own[:, 3 * at : 3 * at + 3] = np.nan_to_num(np.clip(cell, -1e18, 1e18))
        self.transmission = np.zeros(n)
        self.cells, self.unknown = np.zeros((2, n), np.int32)
        self.traced = trace_paths(
            sections_of(self.geometry), n, max_cells, np.zeros(n, np.int32), self.ear, self.mouth, self.own,
            self.transmission, self.cells, self.unknown,
        )  # fmt: skip

    @property
    def bytes(self):
        """Everything that came out."""
        return b"".join(a.tobytes() for a in (self.transmission, self.cells, self.unknown))


def path_differences(world, ear, mouth, geometry=None):
    """How many transmissions differ between the kernel and its twin."""
    paths, grid = Paths(world, ear, mouth, geometry), naive_rays.dense(world)
    expected = naive_rays.transmissions(
        grid.ids, grid.low, grid.kind, grid.occlusion, grid.size, paths.ear, paths.mouth, paths.own
    )
    return int((paths.transmission != expected).sum())
