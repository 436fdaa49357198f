"""Rays a second in a landscape of 1024 x 256 x 1024 cells, beside a plain walk and Embree, interleaved."""

import time

import landscape as scenery
import numpy as np
import plain
import pytest
from rays import Hits, Paths

from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.hits import trace_hits
from ecs_audio.kernels.occlusion import trace_paths
from ecs_audio.systems.geometry import follow, sections_of

KINDS = "open", "altitude", "houses", "canyon"
REACH = 512.0
ROUNDS = 9


@pytest.fixture(scope="module")
def land():
    return scenery.landscape()


@pytest.fixture(scope="module")
def geometry(land):
    geometry = Geometry()
    follow(geometry, land.world)
    return geometry


@pytest.fixture(scope="module")
def ids(land):
    """The whole world as uint8 ids; id 0 is the only one that is open."""
    out = np.zeros(land.world.size, np.uint8)
    for x in range(0, len(out), 64):
        out[x : x + 64] = land.world.ids((x, 0, 0), (x + 64, *out.shape[1:]))
    return out


@pytest.fixture(scope="module")
def rays(land):
    """Origins and directions by kind of place: 25 places, 256 directions."""
    way = scenery.sphere()
    found = {
        kind: (np.repeat(at, len(way), axis=0), np.tile(way, (len(at), 1)))
        for kind, at in scenery.places(land).items()
    }
    found["all"] = tuple(np.concatenate([found[kind][k] for kind in KINDS]) for k in range(2))
    return found


def seconds(*calls):
    """Seconds of one core that each call takes, the median of some rounds in turn."""
    taken = np.zeros((ROUNDS, len(calls)))
    for turn in taken:
        for k, call in enumerate(calls):
            start = time.thread_time()
            call()
            turn[k] = time.thread_time() - start
    return np.median(taken, axis=0)


def caller(hits, segments=1):
    """A call of the kernel alone, and the rays to set back before each."""
    n = len(hits.origin)
    wanted, first = np.full(n, segments), np.arange(n) * segments
    start, way = hits.origin.copy(), hits.direction.copy()

    def call():
        hits.origin[:], hits.direction[:] = start, way
        trace_hits(
            sections_of(hits.geometry), n, 1 << 60, hits.origin, hits.direction, hits.reach, wanted, first,
            hits.found, hits.cells, hits.unknown, hits.time, hits.face, hits.cell, hits.point, hits.material,
        )  # fmt: skip

    return call


def prepared(world, geometry, origin, direction, segments=1):
    """Rays with room for their hits, not yet traced."""
    hits = Hits(world, origin, direction, REACH, segments, geometry, max_cells=0)
    hits.origin[:], hits.direction[:] = origin, direction
    return hits


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_first_hits(benchmark, land, geometry, ids, rays, table, kind):
    origin, direction = rays[kind]
    hits = prepared(land.world, geometry, origin, direction)
    real, expected = caller(hits), np.zeros(len(origin))
    benchmark.pedantic(real, rounds=3, warmup_rounds=1)
    ours, naive = seconds(
        real, lambda: plain.first_hits(ids, origin[::8], direction[::8], REACH, expected[::8])
    )
    plain.first_hits(ids, origin, direction, REACH, expected)
    assert np.allclose(hits.time, expected, atol=1e-6)
    rate, ratio = len(origin) / ours, naive * 8 / ours
    benchmark.extra_info |= {
        "rays": len(origin), "rays_per_second": rate, "ratio_to_naive": ratio,
        "steps": int(hits.cells.sum()), "hits": int(hits.found.sum()),
    }  # fmt: skip
    table.append(f"first hit   {kind:9} {rate / 1e6:6.2f} M rays/s   {ratio:6.1f} x plain walk")


def test_trails(benchmark, land, geometry, rays, table):
    hits = prepared(land.world, geometry, *rays["all"], 3)
    real = caller(hits, 3)
    benchmark.pedantic(real, rounds=ROUNDS, warmup_rounds=1)
    segments = int((hits.found + (hits.found < 3)).sum())
    if benchmark.stats is None:  # run once, without taking time
        return
    rate = segments / benchmark.stats.stats.median
    benchmark.extra_info |= {"rays": segments, "rays_per_second": rate}
    table.append(f"trails of 3 all       {rate / 1e6:6.2f} M segments/s")


def test_occlusion_of_paths(benchmark, land, geometry, ids, table):
    at = np.concatenate(list(scenery.places(land).values()))
    rng = np.random.default_rng(9)
    a, b = at[rng.integers(0, len(at), (2, 20_000))]
    near = (np.linalg.norm(a - b, axis=1) < REACH) & (a != b).all(axis=1)
    a, b = a[near], b[near] + rng.uniform(-0.3, 0.3, (near.sum(), 3))
    paths, palette = Paths(land.world, a, b, geometry), land.world.palette
    n, zeros, expected = len(a), np.zeros(len(a), np.int32), np.zeros(len(a))

    def real():
        trace_paths(
            sections_of(geometry), n, 1 << 60, zeros, paths.ear, paths.mouth, paths.own,
            paths.transmission, paths.cells, paths.unknown,
        )  # fmt: skip

    benchmark.pedantic(real, rounds=3, warmup_rounds=1)
    ours, naive = seconds(
        real, lambda: plain.occlusions(ids, palette.occlusion, a[::4], b[::4], expected[::4])
    )
    rate, ratio = n / ours, naive * 4 / ours
    benchmark.extra_info |= {"rays": n, "rays_per_second": rate, "ratio_to_naive": ratio}
    table.append(f"occlusion   all       {rate / 1e6:6.2f} M paths/s  {ratio:6.1f} x plain walk")


def test_first_hits_beside_embree(benchmark, land, geometry, ids, rays, table):
    pytest.importorskip("embreex")
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scene = EmbreeScene()
    start = time.perf_counter()
    TriangleMesh(scene, *plain.triangles(plain.quads(ids)))
    origin, direction = rays["all"]
    o, d = origin.astype(np.float32), direction.astype(np.float32)
    far = np.full(len(o), REACH, np.float32)
    scene.run(o[:1], d[:1])
    built = time.perf_counter() - start
    hits = prepared(land.world, geometry, origin, direction)
    real = caller(hits)
    benchmark.pedantic(real, rounds=3, warmup_rounds=1)
    ours, theirs = seconds(real, lambda: scene.run(o, d, dists=far, query="DISTANCE"))
    distance = scene.run(o, d, dists=far.copy(), query="DISTANCE")
    other = np.where(distance < REACH - 0.01, distance, np.inf)
    same = np.isclose(hits.time, other, rtol=0, atol=1e-2) | (hits.time > REACH - 0.1)
    assert same.mean() > 0.999
    rate, ratio = len(o) / ours, theirs / ours
    benchmark.extra_info |= {
        "rays": len(o), "rays_per_second": rate, "ratio_to_embree": ratio, "embree_build_seconds": built,
    }  # fmt: skip
    table.append(f"first hit   all       {rate / 1e6:6.2f} M rays/s   {ratio:6.1f} x Embree")


@pytest.mark.parametrize("what", ["cell in a section that exists", "cell in an empty section", "explosion"])
def test_edits(benchmark, land, what, table):
    world, geometry = land.world, Geometry()
    follow(geometry, world)
    rng = np.random.default_rng(5)
    everywhere = np.stack(
        [rng.integers(100, 900, 6000), rng.integers(1, 200, 6000), rng.integers(100, 900, 6000)], 1
    )
    Hits(world, everywhere + 0.5, rng.normal(size=(6000, 3)), 100.0, 1, geometry)
    x, z = rng.integers(50, 400, (2, 60))
    turn = iter(range(1 << 20))

    def edit():
        k = next(turn) % 60
        y = int(land.ground[x[k], z[k]])
        if what == "explosion":
            world.carve((x[k] + 0.5, y + 0.5, z[k] + 0.5), 6.02)
        elif what == "cell in an empty section":
            world.fill((x[k], 220, z[k]), (x[k] + 1, 221, z[k] + 1), "air" if next(turn) % 2 else "stone")
        else:
            world.set((x[k], y, z[k]), "dirt" if k % 2 else "stone")

    benchmark.pedantic(follow, args=(geometry, world), setup=edit, rounds=240)
    if benchmark.stats is not None:  # None where no time is taken
        table.append(f"edit: {what:30} {benchmark.stats.stats.median * 1e6:6.1f} us (follow, from Python)")
