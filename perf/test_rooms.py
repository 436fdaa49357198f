"""What rays find out about a room, beside pyroomacoustics.

Both follow rays from wall to wall of the same shoebox. Theirs knows that the room is a box of six walls; from
every hit it looks at the listener and adds to an echogram, and finds the images of the sources up to the
second order; it traces so many rays for each source that its overhead does not count. Ours has cells for
walls, any of which may be edited before the next tick. Once the kernel alone is measured, which finds the
hits, and once whole ticks, in which rays around the sources and the listener find hits, look at the
listener, and prove images up to the second order.
"""

import landscape as scenery
import numpy as np
import pytest
from casts import caster
from figures import note
from rays import Hits
from test_tick import TICK, all_due
from turns import Turn, seconds

import ecs_audio as ea

SIZE, EAR, SOURCES = (20, 8, 14), (9.7, 1.7, 6.2), 16
C, ABSORBED = 343.0, 0.1
RAYS, HITS = 1000, 9
"""Theirs: rays of a source, and hits of each, about as many as ours around the listener have."""


def shoebox():
    """A closed box of air from (0, 0, 0) to SIZE, its walls 1 m thick."""
    world = ea.World.empty(size=np.add(SIZE, 16), origin=(-8, -8, -8))
    world.fill((-1, -1, -1), np.add(SIZE, 1), "stone")
    world.fill((0, 0, 0), SIZE, "air")
    return world


def places():
    return np.random.default_rng(2).uniform(0.5, np.array(SIZE) - 0.5, (SOURCES, 3))


@pytest.fixture
def engine(clips):
    settings = ea.Settings(cache=False, max_rays=8192, max_cells=1 << 30)
    with ea.Engine(shoebox(), clips, settings=settings) as engine:
        engine.listener.look(position=EAR)
        for place in places():
            engine.spawn("noise", position=place, looping=True, volume=0.2)
        yield engine


def finder():
    """A function by which pyroomacoustics traces rays from all sources and finds their images."""
    pra = pytest.importorskip("pyroomacoustics", reason="pyroomacoustics is not here: it is a peer")
    room = pra.ShoeBox(SIZE, fs=48_000, materials=pra.Material(ABSORBED), max_order=2, ray_tracing=True)
    x, y, z = SIZE
    mean_free_path = 4 * x * y * z / (2 * (x * y + y * z + z * x))
    longest = HITS * mean_free_path / C
    room.set_ray_tracing(n_rays=RAYS, receiver_radius=0.5, time_thres=longest, energy_thres=1e-9)
    room.add_microphone(EAR)
    for place in places():
        room.add_source(place)

    def find():
        room.simulator_state |= {"ism_needed": True, "rt_needed": True}
        room.image_source_model()
        room.ray_tracing()

    return find


def test_trails_in_a_room(benchmark, rounds, engine):
    """Hits of the kernel that follows rays."""
    find, way = finder(), scenery.sphere(RAYS)
    origin, direction = np.repeat(places(), RAYS, axis=0), np.tile(way, (SOURCES, 1))
    hits = Hits(engine.world, origin, direction, 512.0, HITS, max_cells=0)

    def before():
        hits.origin[:], hits.direction[:] = origin, direction

    ours = Turn(caster(hits, HITS), before)
    benchmark.pedantic(ours.run, setup=before, rounds=rounds(20, 5), warmup_rounds=1)
    rate = SOURCES * RAYS * HITS / seconds(rounds(31, 15), ours, find)
    assert hits.found.sum() == SOURCES * RAYS * HITS
    note(
        benchmark, "rays.room.trails", "Hits in a shoebox by the kernel", rate[:, 0], "1/s", better="higher",
        peer="pyroomacoustics", peer_values=rate[:, 1],
    )  # fmt: skip


def test_ticks_in_a_room(benchmark, rounds, engine):
    """Hits of whole ticks with everything due."""
    find = finder()

    def before():
        engine.render(800)
        all_due(engine)

    ours = Turn(lambda: engine.tick(TICK), before, 5)
    benchmark.pedantic(ours.run, setup=before, rounds=rounds(60, 20), warmup_rounds=20)
    taken = seconds(rounds(41, 21), ours, find)
    told = engine.telemetry
    assert 0 < told.surveys <= SOURCES  # sources in the same cell of 4 m share one
    # Rays around sources are counted once for the way and once for the look.
    hits = told.rays_probe + told.rays_environment / 2
    rate, peer = hits / taken[:, 0], SOURCES * RAYS * HITS / taken[:, 1]
    benchmark.extra_info |= {"sources": SOURCES, "hits": hits, "rays": told.rays, "echo_rays": told.rays_echo}
    note(
        benchmark, "rays.room.ticks", "Hits in a shoebox by whole ticks", rate, "1/s", better="higher",
        peer="pyroomacoustics", peer_values=peer,
    )  # fmt: skip
