"""Rays find what a walk through every cell finds, to the bit; so do occlusion paths."""

import hashlib
import math
import os
import subprocess
import sys

import naive
import naive_rays
import numpy as np
import pytest
from conftest import transmission, wall_world
from hypothesis import given, settings
from hypothesis import strategies as st
from rays import Hits, Paths, differences, edit, mixed_world, path_differences, random_world

import ecs_audio as ea
from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.bundle import SHIFTS, WEIGHTS
from ecs_audio.kernels.hits import MISS, REFUSED

NEAR, FAR = (-80, -48, -80), (29_999_900, -48, -30_000_000)
SIZE = np.array((160, 96, 160))


@pytest.fixture(scope="module")
def worlds():
    return {seed: random_world(seed) for seed in range(4)}


def rays_in(origin, count, seed, cell_size=1.0):
    """Origins in and around a mixed world, and directions all round."""
    rng = np.random.default_rng(seed)
    start = origin + rng.uniform(-0.2, 1.2, (count, 3)) * SIZE
    return start * cell_size, rng.normal(size=(count, 3)) * cell_size


def test_the_dense_walk_of_these_tests_equals_the_one_in_plain_python(worlds):
    for seed, world in worlds.items():
        rng = np.random.default_rng(seed)
        grid, cell = naive_rays.dense(world), np.zeros(3, np.int64)
        origin, direction = rng.uniform(-30, 30, (60, 3)), rng.normal(size=(60, 3))
        origin[:20] = np.floor(origin[:20])
        for o, d in zip(origin, direction, strict=True):
            t, axis = naive_rays.first_hit(grid.ids, grid.low, grid.kind, o, d, 60.0, cell)
            time, hit, face = naive.first_hit(world, o.tolist(), d.tolist(), 60.0)
            assert (t, axis) == (time, face if face < 0 else face >> 1)
            assert hit is None or tuple(cell) == hit
        a, b = rng.uniform(-30, 30, (2, 60, 3))
        paths = Paths(world, a, b)
        assert paths.transmission.tolist() == [
            math.exp(-3 * naive.occlusion(world, s, e)) for e, s in zip(a.tolist(), b.tolist(), strict=True)
        ]


@pytest.mark.parametrize(
    ("origin", "cell_size", "count", "edits"),
    [
        (NEAR, 1.0, 300_000, 20_000),
        (FAR, 1.0, 50_000, 2000),
        (NEAR, 0.3, 50_000, 2000),
        pytest.param(NEAR, 1.0, 1_000_000, 20_000, marks=pytest.mark.slow),
    ],
)
def test_rays_equal_the_naive_walk_to_the_bit_also_after_edits(origin, cell_size, count, edits):
    world, geometry = mixed_world(1, origin=origin, cell_size=cell_size), Geometry()
    ray = rays_in(origin, count, 1, cell_size)
    paths = count if count > 500_000 else count // 10
    ends = ray[0][:paths], ray[0][:paths] + 40 * ray[1][:paths]
    assert not differences(world, *ray, 150.0, geometry=geometry)
    assert path_differences(world, *ends, geometry=geometry) == 0
    rng = np.random.default_rng(2)
    for _ in range(20):
        edit(world, rng, edits // 20)
        assert not differences(world, ray[0][:2000], ray[1][:2000], 150.0, geometry=geometry)
    assert not differences(world, *ray, 150.0, geometry=geometry)
    assert path_differences(world, *ends, geometry=geometry) == 0


@pytest.mark.parametrize("origin", [NEAR, FAR, (2**31 - 64, 0, -(2**31))])
def test_rays_along_axes_through_edges_and_corners_equal_the_naive_walk(origin):
    rng = np.random.default_rng(1)
    world = mixed_world(3, origin=origin)
    start, _ = rays_in(origin, 4000, 3)
    start = np.floor(start)
    start[1000:2000] += 0.5
    start[2000:3000, 1] += 0.25
    axis = np.eye(3)[rng.integers(0, 3, 4000)] * rng.choice([-1.0, 1.0], (4000, 1))
    diagonal = rng.choice([-1.0, 0.0, 1.0], (4000, 3))
    diagonal[~diagonal.any(axis=1)] = 1.0
    slope = rng.integers(-4, 5, (4000, 3)).astype(float)
    slope[~slope.any(axis=1)] = 1.0
    for direction in (axis, diagonal, slope, axis + 1e-9 * diagonal, axis + 1e-15, axis + 1e-300 * diagonal):
        assert not differences(world, start, direction, 120.0, segments=2)
        assert path_differences(world, start, start + 50 * direction) == 0


@pytest.mark.parametrize(("origin", "cell_size"), [(NEAR, 1.0), (FAR, 1.0), (NEAR, 0.25), ((5, 7, 9), 0.3)])
def test_trails_of_reflected_rays_equal_the_naive_ones(origin, cell_size):
    world = mixed_world(5, origin=origin, cell_size=cell_size)
    assert not differences(world, *rays_in(origin, 20_000, 5, cell_size), 150.0, segments=9)


def test_a_trail_resumed_hit_by_hit_is_the_same_trail():
    world = mixed_world(6, cell_size=0.3)
    origin, direction = rays_in(NEAR, 3000, 6, 0.3)
    whole = Hits(world, origin, direction, 150.0, segments=4)
    at, way = origin, direction
    for s in range(4):
        one = Hits(world, at, way, 150.0)
        followed = whole.found >= s
        assert (one.time[followed] == whole.time[s::4][followed]).all()
        assert (one.face[followed] == whole.face[s::4][followed]).all()
        at, way = one.origin, one.direction


def test_times_and_faces_alone_are_the_same_and_leave_the_ray_where_it_began():
    world, ray = mixed_world(12), rays_in(NEAR, 5000, 12)
    whole, part = Hits(world, *ray, 150.0), Hits(world, *ray, 150.0, places=False)
    for name in ("time", "face", "found", "cells", "unknown"):
        assert (getattr(whole, name) == getattr(part, name)).all()
    assert (part.origin == ray[0]).all()
    assert (part.direction == ray[1]).all()
    assert not part.cell.any()
    trails = Hits(world, *ray, 150.0, 3), Hits(world, *ray, 150.0, 3, places=False)
    assert (trails[0].time == trails[1].time).all()


def test_rays_that_begin_among_drops_of_a_fluid_equal_the_naive_walk():
    world, rng = ea.World.empty(size=(48, 48, 48)), np.random.default_rng(13)
    ids = np.array([world.palette.id(name) for name in ("air", "water", "stone")], np.uint16)
    cells = ids[rng.choice(3, (48, 48, 48), p=(0.55, 0.42, 0.03))]
    cells[np.kron(rng.random((12, 12, 12)) < 0.5, np.ones((4, 4, 4), bool))] = 0
    world.put((0, 0, 0), cells)
    drops = np.argwhere(cells == ids[1])
    start = drops[rng.integers(0, len(drops), 10_000)] + rng.random((10_000, 3))
    assert not differences(world, start, rng.normal(size=(10_000, 3)), 70.0, segments=2)


def test_a_hit_lies_on_its_face_and_the_ray_goes_on_before_it():
    world = mixed_world(7, cell_size=0.5)
    hits = Hits(world, *rays_in(NEAR, 5000, 7, 0.5), 150.0)
    k = np.flatnonzero(hits.is_hit)
    axis, down = hits.face[k] >> 1, hits.face[k] & 1
    assert (hits.point[k, axis] == (hits.cell[k, axis] + down) * 0.5).all()
    away = hits.origin[k, axis] - hits.point[k, axis]
    assert away == pytest.approx(np.where(down, 1e-3, -1e-3), abs=1e-12)


@given(
    st.integers(0, 3),
    st.tuples(*[st.floats(-40, 40, width=32)] * 3),
    st.tuples(*[st.floats(-1, 1, width=16)] * 3).filter(any),
    st.floats(0, 100),
)
@settings(max_examples=150)
def test_any_ray_equals_the_naive_walk(seed, origin, direction, reach):
    world = WORLDS.setdefault(seed, random_world(seed))
    assert not differences(world, [origin], [direction], reach, segments=3)
    assert path_differences(world, [origin], [np.add(origin, direction)]) == 0


WORLDS = {}


@given(st.tuples(*[st.floats()] * 3), st.tuples(*[st.floats()] * 3), st.floats())
@settings(max_examples=150)
def test_no_numbers_whatever_do_harm(origin, direction, reach):
    world = WORLDS.setdefault(0, random_world(0))
    hits = Hits(world, [origin], [direction], reach, segments=2)
    assert hits.found[0] == np.isfinite(hits.time).sum()
    assert ((hits.face >= MISS) == (hits.face[0] != REFUSED)).all()
    assert 0 <= Paths(world, [origin], [direction]).transmission[0] <= 1


def test_invalid_rays_are_refused():
    world = random_world(0)
    bad = [
        ([math.nan, 0, 0], [1, 0, 0]),
        ([0, math.inf, 0], [1, 0, 0]),
        ([1e300, 0, 0], [1, 0, 0]),
        ([1e12, 0, 0], [-1, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([0, 0, 0], [1e-320, 0, -0.0]),
        ([0, 0, 0], [math.nan, 1, 0]),
        ([0, 0, 0], [math.inf, 1, 0]),
    ]
    hits = Hits(world, [o for o, _ in bad], [d for _, d in bad], 50, segments=3)
    assert (hits.face == REFUSED).all()
    assert np.isinf(hits.time).all()
    assert not hits.found.any()
    for reach in (math.nan, math.inf, -1):
        assert Hits(world, [[0, 0, 0]], [[1, 0, 0]], reach).face == REFUSED


def test_a_ray_that_begins_in_solid_or_in_a_fluid_leaves_it():
    world = ea.World.empty(size=(32, 16, 16))
    world.fill((0, 0, 0), (8, 16, 16), "stone")
    assert Hits(world, [[7.5, 8.5, 8.5]], [[1, 0, 0]], 50).face == MISS
    assert Hits(world, [[6.5, 8.5, 8.5]], [[1, 0, 0]], 50).time == 0.5
    world.fill((0, 0, 0), (8, 16, 16), "water")
    world.fill((12, 0, 0), (14, 16, 16), "water")
    hits = Hits(world, [[1.5, 8.5, 8.5]], [[1, 0, 0]], 50)
    assert (hits.time == 12.5, hits.face == MISS) == (False, True)  # its own water, wherever it is
    world.set((13, 8, 8), "glass")
    assert Hits(world, [[1.5, 8.5, 8.5]], [[1, 0, 0]], 50).time == 11.5
    assert Hits(world, [[9.5, 8.5, 8.5]], [[1, 0, 0]], 50).time == 2.5


def test_a_diagonal_ray_does_not_slip_between_cells_that_touch_at_an_edge():
    world = ea.World.empty(size=(16, 16, 16))
    world.set((5, 4, 8), "stone")
    world.set((4, 5, 8), "stone")
    for o, d in ([[4.5, 4.5, 8.5], [1, 1, 0]], [[5.5, 5.5, 8.5], [-1, -1, 0]]):
        assert Hits(world, [o], [d], 3).face != MISS


def test_unknown_sections_are_air_that_is_counted():
    world = ea.World.unknown(size=(64, 64, 64))
    world.fill((0, 0, 0), (16, 64, 64), "air")
    world.fill((48, 0, 0), (64, 64, 64), "air")
    world.fill((60, 0, 0), (61, 64, 64), "stone")
    ray = Hits(world, [[2.5, 20.5, 20.5]], [[1, 0.01, 0.02]], 100)
    assert ray.is_hit
    assert ray.unknown[0] > 0
    assert Paths(world, [[2.5, 20.5, 20.5]], [[50.5, 21.5, 22.5]]).unknown[0] > 0
    assert Paths(world, [[2.5, 20.5, 20.5]], [[14.5, 21.5, 22.5]]).unknown[0] == 0
    within = Hits(world, [[50.5, 20.5, 20.5]], [[1, 0, 0]], 100)
    assert (within.is_hit, within.unknown[0]) == (True, 0)
    outside = Hits(world, [[90.5, 20.5, 20.5]], [[-1, 0, 0]], 100)
    assert (outside.time[0], outside.unknown[0]) == (29.5, 1)
    away = Hits(world, [[90.5, 20.5, 20.5]], [[1, 0, 0]], 100)
    assert (away.face[0], away.cells[0], away.unknown[0]) == (MISS, 1, 1)
    leaving = Hits(world, [[50.5, 20.5, 20.5]], [[0, 1, 0]], 100)
    assert (leaving.face[0], leaving.unknown[0]) == (MISS, 1)


def test_small_steps_in_the_open_are_few():
    world = ea.World.empty(size=(1024, 256, 1024))
    world.fill((0, 0, 0), (1024, 16, 1024), "stone")
    rng = np.random.default_rng(0)
    ray = Hits(world, rng.uniform(300, 700, (500, 3)) * (1, 0.3, 1), rng.normal(size=(500, 3)), 512)
    assert ray.cells.mean() < 8


@pytest.mark.parametrize("segments", [1, 3])
def test_a_budget_of_cells_traces_a_prefix(segments):
    world = mixed_world(8)
    ray = rays_in(NEAR, 2000, 8)
    whole = Hits(world, *ray, 150.0, segments)
    total = int(whole.cells.sum())
    for budget in (0, 1, total // 7, total // 2, total, 2 * total):
        part = Hits(world, *ray, 150.0, segments, max_cells=budget)
        done = part.traced
        assert part.cells[:done].tolist() == whole.cells[:done].tolist()
        assert part.time[: done * segments].tolist() == whole.time[: done * segments].tolist()
        longest = int(whole.cells.max())
        assert budget <= part.cells[:done].sum() <= budget + 32 * longest or done == 2000
        assert (part.origin[done:] == ray[0][done:]).all()


def test_a_cap_of_64_kib_changes_neither_results_nor_steps():
    world, ray = mixed_world(9), rays_in(NEAR, 6000, 9)
    small, large = Geometry(1 << 16), Geometry()
    rng = np.random.default_rng(9)
    for _ in range(4):
        results = [Hits(world, *ray, 150.0, 3, geometry).bytes for geometry in (small, large)]
        paths = [Paths(world, ray[0], ray[0] + 30 * ray[1], geometry).bytes for geometry in (small, large)]
        assert results[0] == results[1]
        assert paths[0] == paths[1]
        edit(world, rng, 300)
    assert small.evicted > 1000 > large.evicted == 0
    assert small.bits.nbytes <= 1 << 16


def digest():
    """What a few thousand rays and paths find, as one number."""
    world, found = mixed_world(10), hashlib.sha256()
    ray = rays_in(NEAR, 5000, 10)
    geometry = Geometry()
    found.update(Hits(world, *ray, 150.0, 4, geometry).bytes)
    found.update(Paths(world, ray[0], ray[0] + 30 * ray[1], geometry).bytes)
    edit(world, np.random.default_rng(0), 500)
    found.update(Hits(world, *ray, 150.0, 4, geometry).bytes)
    return found.hexdigest()


@pytest.mark.slow
def test_another_processor_finds_the_same_bytes(tmp_path):
    here = os.path.dirname(__file__)
    program = f"import sys; sys.path.insert(0, {here!r}); import test_rays as t; print(t.digest())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env=os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.strip() == digest()


# The bundle of paths.


def test_the_bundle_weighs_and_spreads_as_the_formula_says():
    shifts, weights = naive.bundle((0, 0, 0), (10, 0, 0))
    assert pytest.approx(weights) == WEIGHTS
    assert WEIGHTS.sum() == pytest.approx(1)
    assert np.linalg.norm(SHIFTS, axis=1) == pytest.approx([np.linalg.norm(s) for s in shifts[1:]])


@pytest.mark.parametrize("seed", range(4))
def test_transmission_of_the_whole_bundle_equals_the_naive_one(seed):
    rng = np.random.default_rng(seed)
    world = random_world(seed, share=0.01)
    for _ in range(25):
        source, listener = rng.uniform(-30, 30, (2, 3))
        expected = naive.transmission(world, source, listener)
        assert transmission(world, source, listener)[0] == pytest.approx(expected, rel=1e-9)


def test_transmission_in_small_cells_counts_metres_not_cells():
    fine = ea.World.empty(size=(64, 64, 64), cell_size=0.25)
    fine.fill((30, 0, 0), (34, 64, 64), "stone")
    assert transmission(fine, (4.1, 8.1, 8.1), (12.1, 8.1, 8.1))[0] == pytest.approx(math.exp(-3))
    assert wall_world((0, 1)).cell_size == 1.0


def test_paths_obey_a_budget_of_cells_as_rays_do():
    world = mixed_world(11)
    ends = rays_in(NEAR, 2000, 11)[0], rays_in(NEAR, 2000, 12)[0]
    whole = Paths(world, *ends)
    part = Paths(world, *ends, max_cells=int(whole.cells.sum()) // 3)
    assert 0 < part.traced < 2000
    assert part.transmission[: part.traced].tolist() == whole.transmission[: part.traced].tolist()
