import math

import naive
import numpy as np
import pytest
from conftest import transmission, wall_world
from hypothesis import given, settings
from hypothesis import strategies as st

import ecs_audio as ea
from ecs_audio.kernels.bundle import SHIFTS, WEIGHTS
from ecs_audio.kernels.first_hit import MISS, REFUSED, first_hits
from ecs_audio.systems.trace import voxels_of

MATERIALS = ("stone", "glass", "water", "tall_grass", "oak_slab", "oak_leaves")


def random_world(seed, size=(48, 48, 48), origin=(-24, -24, -24), share=0.03):
    """Sparse cells, some solid boxes, and a few whole sections of one material."""
    rng = np.random.default_rng(seed)
    world = ea.World.empty(size=size, origin=origin)
    ids = np.array([0, *(world.palette.id(name) for name in MATERIALS)], np.uint16)
    cells = np.where(rng.random(size) < share, ids[rng.integers(1, len(ids), size)], 0)
    world.put(origin, cells.astype(np.uint16))
    for _ in range(4):
        low = np.array(origin) + rng.integers(0, 40, 3)
        world.fill(tuple(low), tuple(low + rng.integers(1, 12, 3)), str(rng.choice(MATERIALS)))
    world.fill((-16, -16, -16), (0, 0, 0), "air")
    world.fill((0, 0, 0), (16, 16, 16), "stone")
    return world


def hits(world, origins, directions, reach):
    n = len(origins)
    time, face = np.zeros(n), np.zeros(n, np.int64)
    cell, looked = np.zeros((n, 3), np.int64), np.zeros(n, np.int64)
    reach = np.broadcast_to(np.asarray(reach, float), n).copy()
    first_hits(
        voxels_of(world), np.ascontiguousarray(origins, float), np.ascontiguousarray(directions, float),
        reach, time, face, cell, looked,
    )  # fmt: skip
    return time, face, cell


def assert_equal_to_the_naive_walk(world, origins, directions, reach=60.0):
    time, face, cell = hits(world, origins, directions, reach)
    for k, (o, d) in enumerate(zip(origins, directions, strict=True)):
        t, c, f = naive.first_hit(world, [float(x) for x in o], [float(x) for x in d], reach)
        assert time[k] == t, (o, d)
        assert face[k] == f
        if c is not None:
            assert tuple(cell[k]) == c


@pytest.mark.parametrize("seed", range(6))
def test_first_hits_equal_the_naive_walk_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    world = random_world(seed)
    origins = rng.uniform(-30, 30, (250, 3))
    directions = rng.normal(size=(250, 3))
    assert_equal_to_the_naive_walk(world, origins, directions)


def test_rays_along_axes_through_edges_and_corners_equal_the_naive_walk():
    rng = np.random.default_rng(1)
    world = random_world(3)
    origins = rng.integers(-24, 24, (300, 3)).astype(float)
    origins[100:200] += 0.5
    axis = np.eye(3)[rng.integers(0, 3, 300)] * rng.choice([-1.0, 1.0], (300, 1))
    diagonal = rng.choice([-1.0, 0.0, 1.0], (300, 3))
    diagonal[~diagonal.any(axis=1)] = 1.0
    slope = rng.integers(-4, 5, (300, 3)).astype(float)
    slope[~slope.any(axis=1)] = 1.0
    for directions in (axis, diagonal, slope, axis + 1e-15, axis + 1e-300 * diagonal):
        assert_equal_to_the_naive_walk(world, origins, directions)


@pytest.mark.parametrize("shift", [-30_000_000, 29_999_952, 2**31 - 64])
def test_far_worlds_are_as_exact_as_near_ones(shift):
    rng = np.random.default_rng(5)
    world = random_world(5, origin=(shift - 24, -24, shift - 24))
    origins = np.array([shift, 0, shift]) + rng.uniform(-24, 24, (150, 3))
    assert_equal_to_the_naive_walk(world, origins, rng.normal(size=(150, 3)))


@given(
    st.integers(0, 3),
    st.tuples(*[st.floats(-40, 40, width=32)] * 3),
    st.tuples(*[st.floats(-1, 1, width=16)] * 3).filter(any),
)
@settings(max_examples=200)
def test_any_ray_equals_the_naive_walk(seed, origin, direction):
    assert_equal_to_the_naive_walk(WORLDS[seed], [origin], [direction])


WORLDS = {}


@pytest.fixture(scope="module", autouse=True)
def _worlds():
    WORLDS.update({seed: random_world(seed) for seed in range(4)})


def test_edits_are_seen_by_the_next_ray():
    world = ea.World.empty(size=(32, 32, 32))
    ray = [[1.5, 1.5, 1.5]], [[1.0, 0.0, 0.0]]
    assert hits(world, *ray, 60)[1] == MISS
    world.set((20, 1, 1), "stone")
    assert hits(world, *ray, 60)[0] == 18.5
    world.carve((20.5, 1.5, 1.5), 1)
    assert hits(world, *ray, 60)[1] == MISS


def test_invalid_rays_are_refused_and_harm_nothing():
    world = random_world(0)
    bad = [
        ([math.nan, 0, 0], [1, 0, 0]),
        ([0, math.inf, 0], [1, 0, 0]),
        ([1e300, 0, 0], [1, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([0, 0, 0], [math.nan, 1, 0]),
        ([0, 0, 0], [math.inf, 1, 0]),
    ]
    time, face, _ = hits(world, [o for o, _ in bad], [d for _, d in bad], 50)
    assert (face == REFUSED).all()
    assert np.isinf(time).all()
    assert hits(world, [[0, 0, 0]], [[1, 0, 0]], math.nan)[1] == REFUSED


def test_a_diagonal_ray_does_not_slip_between_cells_that_touch_at_an_edge():
    world = ea.World.empty(size=(16, 16, 16))
    world.set((5, 4, 8), "stone")
    world.set((4, 5, 8), "stone")
    for o, d in ([[4.5, 4.5, 8.5], [1, 1, 0]], [[5.5, 5.5, 8.5], [-1, -1, 0]]):
        assert hits(world, [o], [d], 3)[1] != MISS


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
