"""What an edit costs the acoustic copy, beside making the copy anew."""

import landscape as scenery
import numpy as np
import pytest
from casts import caster
from figures import note
from rays import Hits
from turns import Turn, seconds

from ecs_audio.components.geometry import Geometry
from ecs_audio.systems.geometry import follow

DOWN = np.array((0.01, -1.0, 0.02))
EDITS = {
    "cell": "an edit of one cell in a section that exists",
    "created": "an edit of one cell that makes a section",
    "explosion": "an explosion of 925 cells",
}


@pytest.fixture(scope="module")
def changing():
    """A landscape of its own, 512 x 256 x 512 cells, whose acoustic copy holds most sections."""
    land, geometry, rng = scenery.landscape(low=(256, 0), wide=512), Geometry(), np.random.default_rng(5)
    world = land.world
    places = rng.uniform(world.origin + 1, world.origin + world.size - 1, (6000, 3))
    Hits(world, places, rng.normal(size=(6000, 3)), 100.0, 1, geometry)
    return land, geometry


def undo(world, kind, cell):
    """Bring about what the edit changes."""
    if kind == "explosion":
        world.fill(np.subtract(cell, 7), np.add(cell, 8), "stone")
    elif kind == "created":
        section = np.array(cell) // 16 * 16
        world.fill(section, section + 16, "air")
    else:
        world.set(cell, "air")


def edit(world, kind, cell):
    """Make the edit."""
    if kind == "explosion":
        world.carve(np.add(cell, 0.5), 6.02)
    else:
        world.set(cell, "stone")


@pytest.mark.parametrize("kind", EDITS)
def test_edits(benchmark, rounds, changing, kind):
    """`follow` as a tick calls it, alone and with a ray that sees the change."""
    land, geometry = changing
    world, rng = land.world, np.random.default_rng(5)
    x, z = rng.integers(300, 700, 60), rng.integers(50, 400, 60)
    cells = [
        (int(i), 220 if kind == "created" else int(land.ground[i, k]), int(k))
        for i, k in zip(x, z, strict=True)
    ]
    turns = iter(range(1 << 30))
    ray = Hits(world, [np.add(cells[0], 20.5)], [DOWN], 60.0, 1, geometry)
    cast = caster(ray)

    def change():
        cell = cells[next(turns) % len(cells)]
        undo(world, kind, cell)
        follow(geometry, world)
        edit(world, kind, cell)
        ray.origin[0], ray.direction[0] = np.add(cell, 0.5) - 20.0 * DOWN, DOWN

    def seen():
        follow(geometry, world)
        cast()

    benchmark.pedantic(follow, args=(geometry, world), setup=change, rounds=rounds(240))
    repeats = len(cells)  # as many in each round, since not all of them cost the same
    taken = seconds(
        rounds(25, 9),
        Turn(lambda: follow(geometry, world), change, repeats),
        Turn(seen, change, repeats),
        lambda: follow(Geometry(), world),
    )
    title = EDITS[kind].capitalize()
    note(benchmark, f"edits.{kind}", title, taken[:, 0], peer="copy made anew", peer_values=taken[:, 2])
    note(benchmark, f"edits.{kind}_seen", f"{title}, and a ray that sees it", taken[:, 1])
