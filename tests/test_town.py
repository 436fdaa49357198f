"""The worlds and the ways of the raid, without an engine."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import ecs_audio as ea
from ecs_audio.world.materials import OPEN
from scenarios import raid
from scenarios._ground import survey, ways
from scenarios._paths import circle, line, shuttle
from scenarios._site import own_site
from scenarios._terrain import FLOOR, ORIGIN, SIZE
from scenarios._town import town

END = tuple(o + s for o, s in zip(ORIGIN, SIZE, strict=True))


def names_of(world, lo=ORIGIN, hi=END):
    return np.array(world.palette.names)[world.ids(lo, hi)]


@pytest.fixture(scope="module")
def built():
    return town(0)


@pytest.fixture(scope="module")
def blocks(built):
    return names_of(built.world)


def test_a_town_is_built_quickly_and_always_alike(built):
    start = time.process_time()
    again = town(0)
    assert time.process_time() - start < 2.0
    assert np.array_equal(names_of(again.world), names_of(built.world))
    assert again.rooms == built.rooms
    assert not np.array_equal(names_of(town(1).world), names_of(built.world))


def test_a_town_knows_all_its_blocks(built):
    assert built.world.palette.unknown == []


def test_slopes_rise_on_both_sides_and_a_river_runs_through(built, blocks):
    heights = built.world.heights()
    assert heights[0].mean() > FLOOR + 30
    assert heights[-1].mean() > FLOOR + 30
    assert (blocks == "water").any(axis=(0, 1)).all()  # from end to end


@pytest.mark.parametrize("seed", range(4))
def test_houses_stand_on_the_ground_and_no_tree_in_them_or_on_a_street(seed):
    built = town(seed)
    blocks = names_of(built.world)
    ground, first = blocks[:, FLOOR - ORIGIN[1]], blocks[:, FLOOR - ORIGIN[1] + 1]
    assert not ((ground == "air") & (first != "air")).any()
    grown = np.isin(blocks, ("oak_log", "oak_leaves"))[:, FLOOR - ORIGIN[1] :]
    streets = np.isin(ground, ("gravel", "cobblestone"))
    assert not grown[:, 1:3].any(axis=1)[streets].any()
    indoors = ground == "oak_planks"
    assert indoors.sum() > 25 * 50
    assert not grown.any(axis=1)[indoors].any()


@pytest.mark.parametrize("seed", range(4))
def test_every_house_has_a_door_that_leads_in_from_the_street(seed):
    built = town(seed)
    ground = survey(built.world, (20, 0), 110, doors=True)
    start = tuple(int(np.floor(a)) for a in built.spot)
    reached = set(ways(ground, start, most=100_000).order)
    assert len(built.rooms) > 25
    for x, y, z in built.rooms:
        assert (int(np.floor(x)), int(y), int(np.floor(z))) in reached
    doors = np.argwhere(names_of(built.world) == "oak_door")
    assert len(doors) == 2 * len(built.rooms)
    closed = survey(built.world, (20, 0), 110)
    outside = set(ways(closed, start, most=100_000).order)
    for x, y, z in built.rooms:
        assert (int(np.floor(x)), int(y), int(np.floor(z))) not in outside


def meadow_file(tmp_path, size=(40, 30, 40)):
    world = ea.World.empty(size=size)
    world.fill((0, 0, 0), (size[0], 3, size[2]), "dirt")
    world.save(tmp_path / "small.npz")
    return str(tmp_path / "small.npz")


def sea_file(tmp_path):
    world = ea.World.empty(size=(160, 64, 160), origin=(1000, -32, -3000))
    world.fill((1000, -32, -3000), (1160, -10, -2840), "sand")
    world.fill((1000, -10, -3000), (1160, 0, -2840), "water")
    world.save(tmp_path / "sea.npz")
    return str(tmp_path / "sea.npz")


def peaks_file(tmp_path):
    world = ea.World.empty(size=(128, 96, 128))
    x = np.arange(128)
    height = (40 + 30 * np.sin(x / 6)[:, None] * np.cos(x / 5)[None]).astype(int)
    rock = (np.arange(96)[None, :, None] < height[:, None, :]) * world.palette.id("stone")
    world.put((0, 0, 0), rock)
    world.save(tmp_path / "peaks.npz")
    return str(tmp_path / "peaks.npz")


def forest_file(tmp_path):
    """Half of it loaded, all under trees."""
    world = ea.World.unknown(size=(256, 64, 256))
    world.fill((0, 0, 0), (128, 20, 256), "grass_block")
    world.fill((0, 26, 0), (128, 28, 256), "oak_leaves")
    for x in range(3, 128, 9):
        for z in range(3, 256, 9):
            world.fill((x, 20, z), (x + 1, 26, z + 1), "oak_log")
    world.save(tmp_path / "forest.npz")
    return str(tmp_path / "forest.npz")


def walked(scenario):
    """Every tick's world and time, with the scenario's events but no engine."""
    world, todo = scenario.world, sorted(scenario.events, key=lambda event: event.at)
    stage = SimpleNamespace(engine=SimpleNamespace(world=world), flying=[])
    for tick in range(round(scenario.seconds * 60)):
        while todo and todo[0].at <= tick / 60 + 1e-9:
            todo.pop(0).act(stage)
        yield tick / 60, world


def is_open(world, place):
    cell = tuple(int(np.floor(a)) for a in place)
    return world.palette.kind[world.palette.id(world.material(cell))] == OPEN


def check_tour(scenario):
    """The listener starts outdoors, never is inside anything, and ends indoors."""
    heights = scenario.world.heights()
    for now, world in walked(scenario):
        pose = scenario.listener(now)
        assert is_open(world, pose.position), f"in {pose.position} at {now:.2f} s"
        assert np.hypot(pose.forward[0], pose.forward[2]) == pytest.approx(1.0)
    first, last = (np.floor(scenario.listener(t).position).astype(int) for t in (0.0, scenario.seconds))
    for place, roofed in ((first, False), (last, True)):
        column = heights[place[0] - scenario.world.origin[0], place[2] - scenario.world.origin[2]]
        assert (column > place[1]) == roofed


def check_places(scenario):
    """All sources are above or in what is known, and none that flies or walks is in the ground."""
    world = scenario.world.snapshot()
    heights, origin = world.heights(), world.origin
    for spawn in scenario.spawns:
        if spawn.position is None:
            continue
        for now in (0.0, 1.3, 7.7, 15.1) if callable(spawn.position) else (0.0,):
            x, y, z = spawn.position(now) if callable(spawn.position) else spawn.position
            i, k = int(np.floor(x)) - origin[0], int(np.floor(z)) - origin[2]
            assert 0 <= i < heights.shape[0], (spawn.clip, x, y, z)
            assert 0 <= k < heights.shape[1], (spawn.clip, x, y, z)
            assert heights[i, k] >= origin[1], (spawn.clip, x, y, z)
            flat = np.array(world.palette.names)[world.ids(*_around(x, y, z))]
            if spawn.clip.split()[0] != "clap":  # debris falls where it falls
                assert is_open(world, (x, y, z)) or flat.item().endswith("carpet"), (spawn.clip, x, y, z)


def _around(x, y, z):
    cell = [int(np.floor(a)) for a in (x, y, z)]
    return tuple(cell), tuple(a + 1 for a in cell)


@pytest.mark.parametrize("seed", range(5))
def test_the_listener_walks_through_the_street_and_the_door_and_nothing_else(seed):
    check_tour(raid.scenario(seed=seed))


@pytest.mark.parametrize("file", [meadow_file, sea_file, peaks_file, forest_file])
def test_a_raid_finds_ground_and_a_room_in_any_file(file, tmp_path):
    scenario = raid.scenario(world=file(tmp_path))
    check_places(scenario)
    check_tour(scenario)


def test_sources_are_where_they_can_be():
    check_places(raid.scenario(seed=3))


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("mca_1.18.2_r.0.0.mca", True),
        ("mca_1.21.1_r.0.0.mca", True),
        ("sponge_v2_smallhouse1.schem", False),
    ],
)
def test_a_raid_over_a_real_file(name, built, shared_data):
    path = shared_data / "worlds" / name
    if not path.is_file():
        pytest.skip(f"no {path}")
    scenario = raid.scenario(world=str(path))
    # The small house has a room of its own; in the wild one is built, with a floor of planks.
    x, y, z = scenario.facts["room"].cell
    below = names_of(scenario.world, (x, y - 1, z), (x + 1, y, z + 1)).item()
    assert (below == "oak_planks") is built
    check_places(scenario)
    check_tour(scenario)


def test_the_room_of_our_town_has_a_wall_and_the_open_behind_it():
    for seed in range(5):
        site = own_site(seed)
        wall = [site.world.material(cell) for cell in site.room.wall]
        assert len(wall) == 2
        assert not {"air", "glass", "oak_door"} & set(wall)
        assert not site.ground.roofed(site.room.outside)


def test_empty_and_scaled_worlds_are_refused(tmp_path):
    ea.World.empty(size=(128, 64, 128)).save(tmp_path / "empty.npz")
    with pytest.raises(ValueError, match="empty"):
        raid.scenario(world=str(tmp_path / "empty.npz"))
    ea.World.empty(size=(128, 64, 128), cell_size=0.5).save(tmp_path / "fine.npz")
    with pytest.raises(ValueError, match=r"0\.5 m"):
        raid.scenario(world=str(tmp_path / "fine.npz"))
    with pytest.raises(ValueError, match="empty"):
        raid.scenario(world=str(tmp_path / "fine.npz"), cell_size=1.0)


def test_paths_go_where_they_say():
    round_and_round = circle((10.0, 20.0), radius=5.0, height=8.0, speed=5.0)
    assert round_and_round(0.0) == pytest.approx((15.0, 8.0, 20.0))
    assert round_and_round(np.pi) == pytest.approx((5.0, 8.0, 20.0))
    straight = line((0.0, 0.0, 0.0), (10.0, 20.0, 0.0), leaves=1.0, arrives=3.0)
    assert [straight(t)[1] for t in (0.0, 1.0, 2.0, 3.0, 9.0)] == [0.0, 0.0, 10.0, 20.0, 20.0]
    back_and_forth = shuttle([(0.0, 1.0, 0.0), (3.0, 1.0, 0.0), (3.0, 1.0, 4.0)], speed=2.0, rise=0.5)
    assert back_and_forth(0.75) == pytest.approx((1.5, 1.5, 0.0))
    assert back_and_forth(3.5) == pytest.approx((3.0, 1.5, 4.0))
    assert back_and_forth(7.0) == pytest.approx((0.0, 1.5, 0.0))
    assert shuttle([(1.0, 2.0, 3.0)], speed=2.0)(5.0) == (1.0, 2.0, 3.0)


def test_a_hundred_paths_cost_little():
    paths = [s.position for s in raid.scenario().spawns if callable(s.position)]
    assert len(paths) > 70
    best = np.inf
    for repeat in range(20):
        start = time.perf_counter()
        for path in paths:
            path(repeat / 60)
        best = min(best, time.perf_counter() - start)
    assert best < 0.5e-3
