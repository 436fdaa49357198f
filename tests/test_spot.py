"""Where a scenario begins in a world file: on the ground, not on what stands on it."""

import numpy as np
import pytest

import ecs_audio as ea
from scenarios._site import MEADOW, SMALL, site_of
from scenarios._spot import ROOM, best_spot, outdoors


def saved(world, tmp_path):
    world.save(tmp_path / "world.npz")
    return str(tmp_path / "world.npz")


def hall():
    """A hall with a roof of glass over most of a yard of stone, which is left open along one side."""
    world = ea.World.empty(size=(128, 64, 128))
    world.fill((0, 0, 0), (128, 8, 128), "stone")
    world.fill((16, 8, 0), (128, 40, 128), "bricks")
    world.fill((17, 8, 1), (127, 39, 127), "air")
    world.fill((17, 39, 1), (127, 40, 127), "glass")
    return world


def diorama():
    """A block of stone with a street before it, in slabs between which there is nothing."""
    world = ea.World.empty(size=(126, 32, 126))
    world.fill((2, 0, 0), (124, 22, 62), "stone")
    for x in range(2, 124, 16):
        world.fill((x, 0, 62), (min(x + 15, 124), 1, 80), "stone")
    return world


def pitted():
    """A meadow with a pit in its middle, which has room for a house but few of all places."""
    world = ea.World.empty(size=(160, 64, 160))
    world.fill((0, 0, 0), (160, 30, 160), "dirt")
    world.fill((68, 10, 68), (92, 30, 92), "air")
    return world


@pytest.mark.parametrize(("make", "feet"), [(hall, 8), (pitted, 30)])
def test_it_begins_neither_on_a_roof_nor_in_a_pit(make, feet):
    world = make()
    found = outdoors(world)
    assert found.level == feet
    x, y, z = best_spot(found)
    assert y == feet
    assert world.material((x, y - 1, z)) != "air"
    assert world.material((x, y, z)) == "air"


def test_a_block_with_a_street_in_pieces_is_set_on_a_meadow(tmp_path):
    world = diorama()
    found = outdoors(world)
    assert found.level == 1
    assert not found.wide.any()  # no slab has room
    site = site_of(saved(world, tmp_path))
    assert site.world.size[0] == site.world.size[2] == MEADOW > world.size[0]
    assert {y for _, y, _ in site.route} == {1.0}
    # The street is whole, and as high as the meadow.
    assert [site.world.material((x, 0, 70)) for x in (16, 17, 18)] == ["stone", "grass_block", "stone"]
    assert site.world.material((60, 0, 90)) == "grass_block"


def test_a_block_that_fills_its_file_is_ground():
    world = ea.World.empty(size=(SMALL, 32, SMALL))
    world.fill((0, 0, 0), (SMALL, 22, SMALL), "stone")
    found = outdoors(world)
    assert found.level == 22
    assert found.wide.sum() > ROOM


def test_nobody_stands_on_a_sea():
    world = ea.World.empty(size=(128, 32, 128))
    world.fill((0, 0, 0), (128, 20, 128), "water")
    found = outdoors(world)
    assert found.level is None
    assert not found.wide.any()


def test_steps_of_one_cell_join_an_area_and_those_of_two_do_not():
    for rise, joined in ((1, True), (2, False)):
        world = ea.World.empty(size=(128, 64, 128))
        for k in range(4):
            world.fill((32 * k, 0, 0), (32 * k + 32, 10 + rise * k, 128), "stone")
        wide = outdoors(world).wide
        assert wide[10, 64]
        assert bool(wide[120, 64]) is joined


def test_a_house_is_not_built_on_the_flat_roof_beside_a_rough_street(tmp_path):
    """On the roof it would be out of reach, and a terrace would have to be made."""
    world = ea.World.empty(size=(128, 64, 128))
    rng = np.random.default_rng(0)
    street = np.where(np.arange(64)[None, :, None] < rng.integers(9, 11, (128, 1, 128)), 1, 0)
    world.put((0, 0, 0), street * world.palette.id("stone"))
    world.fill((0, 0, 0), (128, 40, 56), "stone")
    site = site_of(saved(world, tmp_path))
    _, y, z = site.room.cell
    assert 8 <= y <= 11
    assert z > 56
    names = np.array(site.world.palette.names)
    assert not (names[site.world.ids((0, 0, 0), (128, 64, 128))] == "gravel").any()
