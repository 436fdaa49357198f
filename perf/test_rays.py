"""Rays a second in a landscape of 1024 x 256 x 1024 cells, beside a plain walk and Embree, in turn."""

import time

import landscape as scenery
import numpy as np
import plain
import pytest
from casts import caster
from figures import note
from rays import Hits, Paths
from turns import Turn, seconds

from ecs_audio.kernels.occlusion import trace_paths
from ecs_audio.systems.geometry import sections_of

KINDS = "open", "altitude", "houses", "canyon"
REACH = 512.0
ROUNDS, SHORT = 41, 21
REPEATS = 3
"""Times in a row that a contestant traces all rays: neighbours share cells, and a peer that got every eighth
ray, and those once, would look for most of its cells in memory anew."""


@pytest.fixture(scope="module")
def ids(land):
    """The whole world as uint8 ids; id 0 is the only one that is open."""
    return scenery.dense(land.world)


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


def caller(land, geometry, origin, direction, segments=1, places=True):
    """Rays with room for their hits, already traced, and a Turn that does it again several times."""
    hits = Hits(land.world, origin, direction, REACH, segments, geometry, max_cells=0)

    def again():
        hits.origin[:], hits.direction[:] = origin, direction

    ours = Turn(caster(hits, segments, places), again, REPEATS)
    ours.before()
    ours.run()
    return hits, ours


@pytest.mark.parametrize("places", [False, True], ids=["times", "places"])
@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_first_hits(benchmark, rounds, land, geometry, ids, rays, kind, places):
    """Times and faces, as sights ask for; the plain walk yields times. Then all that trails and legs get."""
    origin, direction = rays[kind]
    hits, ours = caller(land, geometry, origin, direction, places=places)
    start, way, expected = origin - land.world.origin, direction, np.zeros(len(origin))
    plain.first_hits(ids, start, way, REACH, expected)
    assert np.allclose(hits.time, expected, atol=1e-6)
    benchmark.pedantic(ours.run, setup=ours.before, rounds=rounds(30))

    walk = Turn(lambda: plain.first_hits(ids, start, way, REACH, expected), repeats=REPEATS)
    rate, walked = len(origin) / seconds(rounds(SHORT, SHORT), ours, walk).T
    benchmark.extra_info |= {
        "rays": len(origin), "steps": int(hits.cells.sum()), "hits": int(hits.found.sum()),
    }  # fmt: skip
    note(
        benchmark, f"rays.first_{'places' if places else 'hits'}.{kind}",
        f"{'Places' if places else 'Times'} of first hits up to {REACH:g} m, {kind} places", rate, "1/s",
        better="higher", peer="plain walk", peer_values=walked,
    )  # fmt: skip
    if kind == "all" and not places:
        note(
            benchmark, "rays.first_hits.rate", "Times of first hits on one core", rate, "1/s", better="higher"
        )


def test_trails(benchmark, rounds, land, geometry, rays):
    hits, ours = caller(land, geometry, *rays["all"], 3)
    benchmark.pedantic(ours.run, setup=ours.before, rounds=rounds(30))
    taken = seconds(rounds(ROUNDS, SHORT), ours)[:, 0]
    segments = int((hits.found + (hits.found < 3)).sum())
    benchmark.extra_info["rays"] = segments
    note(
        benchmark, "rays.trails", "Segments of trails of three hits", segments / taken, "1/s", better="higher"
    )


def test_occlusion_of_paths(benchmark, rounds, land, geometry, ids):
    at = np.concatenate(list(scenery.places(land).values()))
    rng = np.random.default_rng(9)
    a, b = at[rng.integers(0, len(at), (2, 20_000))]
    near = (np.linalg.norm(a - b, axis=1) < REACH) & (a != b).all(axis=1)
    a, b = a[near], b[near] + rng.uniform(-0.3, 0.3, (near.sum(), 3))
    paths, n, zeros = Paths(land.world, a, b, geometry), len(a), np.zeros(len(a), np.int32)
    start, end = a[::4] - land.world.origin, b[::4] - land.world.origin
    occlusion, out = land.world.palette.occlusion, np.zeros(len(start))

    def ours():
        trace_paths(
            sections_of(geometry), n, 1 << 60, zeros, paths.ear, paths.mouth, paths.own,
            paths.transmission, paths.cells, paths.unknown,
        )  # fmt: skip

    benchmark.pedantic(ours, rounds=rounds(30))
    plain.occlusions(ids, occlusion, start, end, out)
    taken = seconds(rounds(ROUNDS, SHORT), ours, lambda: plain.occlusions(ids, occlusion, start, end, out))
    rate, walk = n / taken[:, 0], len(start) / taken[:, 1]
    benchmark.extra_info["rays"] = n
    note(
        benchmark, "rays.occlusion.all", "Paths through up to 16 solid cells", rate, "1/s", better="higher",
        peer="plain walk", peer_values=walk,
    )  # fmt: skip
    note(benchmark, "rays.occlusion.rate", "Occlusion of paths on one core", rate, "1/s", better="higher")


def test_first_hits_beside_embree(benchmark, rounds, land, geometry, ids, rays):
    """Embree traces single rays against the merged faces of all cells, which an edit makes it build anew."""
    pytest.importorskip("embreex", reason="embreex is not here: it is in the group `peers`")
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    start = time.thread_time()
    scene = EmbreeScene()
    TriangleMesh(scene, *plain.triangles(plain.quads(ids)))
    origin, direction = rays["all"]
    o, d = (origin - land.world.origin).astype(np.float32), direction.astype(np.float32)
    scene.run(o[:1], d[:1])
    built = time.thread_time() - start
    hits, ours = caller(land, geometry, origin, direction, places=False)
    benchmark.pedantic(ours.run, setup=ours.before, rounds=rounds(30))

    far, distance = np.full(len(o), REACH, np.float32), None

    def trace():
        nonlocal distance
        distance = scene.run(o, d, dists=far.copy(), query="DISTANCE")

    taken = seconds(rounds(ROUNDS, SHORT), ours, Turn(trace, repeats=REPEATS))
    other = np.where(distance < REACH - 0.01, distance, np.inf)
    same = np.isclose(hits.time, other, rtol=0, atol=1e-2) | (hits.time > REACH - 0.1)
    assert same.mean() > 0.999
    rate, theirs = (len(o) / taken).T
    benchmark.extra_info |= {"rays": len(o), "embree_build_seconds": built}
    note(
        benchmark, "rays.first_hits.embree", f"First hits up to {REACH:g} m, beside Embree", rate, "1/s",
        better="higher", peer="Embree", peer_values=theirs,
    )  # fmt: skip
