"""What moving costs, by kind and number, beside a scan of the cells that the whole way sweeps, in Python."""

import numpy as np
import pytest
from bodies import Stage
from figures import note
from naive_movement import boxes
from turns import Turn, seconds

import ecs_audio as ea


@pytest.fixture(scope="module")
def rubble():
    """A floor of 256 x 256 cells with blocks, slabs and fences strewn on it."""
    rng = np.random.default_rng(0)
    world = ea.World.empty(size=(256, 64, 256))
    world.fill((0, 0, 0), (256, 4, 256), "stone")
    for x, z in rng.integers(1, 254, (6000, 2)):
        world.set((x, 4, z), str(rng.choice(["stone", "stone_slab", "oak_fence", "oak_stairs"])))
    return world


def crowd(world, kind, count, **options):
    rng = np.random.default_rng(1)
    stage = Stage(world, capacity=count, max_movers=max(count, 1))
    for _ in range(count):
        x, z = rng.uniform(10, 246, 2)
        stage.add((x, 6, z), kind, velocity=rng.normal(size=3) * 20, **options)
    angle = rng.uniform(0, 2 * np.pi, count)
    stage.movers.wish_direction[:] = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    stage.run(1)
    return stage


@pytest.mark.parametrize("count", [1, 100, 1000])
@pytest.mark.parametrize("kind", ["walker", "debris", "projectile"])
def test_movers(benchmark, rounds, rubble, kind, count):
    """Walkers that walk, debris that was just kicked, projectiles at 20 m/s or so."""
    stage = crowd(rubble, kind, count)
    m, rng = stage.movers, np.random.default_rng(2)
    start = m.position.copy()

    def setup():
        if kind == "walker":
            m.wish_direction[:] = np.roll(m.wish_direction, 1, axis=0)
        else:
            m.position[:] = start
            m.position[:, 1] += 1.5
            m.velocity[:] = rng.normal(size=(count, 3)) * 20

    benchmark.pedantic(stage.tick, args=(1 / 60,), setup=setup, rounds=rounds(200, 50), warmup_rounds=20)
    each = benchmark.stats.stats.median / count if benchmark.stats else 0.0
    benchmark.extra_info |= {"movers": count, "microseconds_each": round(each * 1e6, 3)}


@pytest.mark.parametrize("cells", [1, 10, 175])
def test_long_ways_beside_a_scan(benchmark, rounds, rubble, cells):
    """A body that goes so many cells in a tick, through the air, beside a look at every cell of the box
    around its way, with numpy.
    """
    stage = Stage(rubble)
    mover = stage.add((20, 30, 20), "projectile", size=(0.8, 1.8, 0.8), gravity=0)
    stage.tick()
    way = np.array((1, 0.02, 0.9)) / np.hypot(1, 0.9) * cells
    low, high = np.array((19.6, 30, 19.6)), np.array((20.4, 31.8, 20.4))

    def put_back():
        stage.movers.position[mover] = (20, 30, 20)
        stage.movers.velocity[mover] = way * 60

    def scan():
        begin, end = boxes(rubble, np.minimum(low, low + way), np.maximum(high, high + way))
        enter, leave = np.full(len(begin), -np.inf), np.full(len(begin), np.inf)
        for a in range(3):
            enter = np.maximum(enter, (begin[:, a] - high[a]) / way[a])
            leave = np.minimum(leave, (end[:, a] - low[a]) / way[a])
        return enter[enter < leave].min(initial=1.0)

    assert scan() == 1.0
    benchmark.pedantic(stage.tick, args=(1 / 60,), setup=put_back, rounds=rounds(200, 50))
    repeats = 1 if cells > 100 else 11
    taken = seconds(
        rounds(15, 5), Turn(lambda: stage.tick(1 / 60), put_back, 11), Turn(scan, repeats=repeats)
    )
    note(
        benchmark, f"tick.way.{cells}", f"A tick of a body that goes {cells} cells", taken[:, 0],
        peer="scan with numpy", peer_values=taken[:, 1],
    )  # fmt: skip
