"""Real world files through the command line, and scenarios that take place in them."""

from __future__ import annotations

import importlib
import json
from collections import Counter

import numpy as np
import pytest
from test_cli import ask

import ecs_audio as ea
from scenarios import raid, town
from scenarios._site import site_of

BROKEN = "mca_NBT-regiontest.mca"
FILES = [
    "litematic_storage_thingy.litematic",
    "luanti_v7_seed42_map.sqlite",
    "mca_1.18.2_r.0.0.mca",
    "mca_1.21.1_r.0.0.mca",
    "mcedit_Station.schematic",
    "mcedit_viking-house1.schematic",
    "sponge_v2_smallhouse1.schem",
    "vox_mmmm_scene_riot.vox",
]
SITES = {
    "station": "mcedit_Station.schematic",
    "riot": "vox_mmmm_scene_riot.vox",
    "region": "mca_1.21.1_r.0.0.mca",
    "jungle": "luanti_v7_seed42_map.sqlite",
    "storage": "litematic_storage_thingy.litematic",
}
FEET = {"station": (31, 31), "riot": (1, 1), "region": (63, 69), "jungle": (2, 5), "storage": (54, 54)}
"""y of the ground, the lowest and the highest: over it hang a roof of glass at 87 and a block's top at 22."""


@pytest.fixture
def real(shared_data):
    """A function: the path of a real file; skips where it or what unpacks it is absent."""

    def find(name):
        path = shared_data / "worlds" / name
        if not path.is_file():
            pytest.skip(f"{path} is absent; ECS_AUDIO_DATA may say where the data is")
        if path.suffix == ".sqlite":
            names = ("compression.zstd", "backports.zstd")
            if not any(_is_there(module) for module in names):
                pytest.skip(f"none of {', '.join(names)} is installed, which a Luanti map needs")
        return path

    return find


def _is_there(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_read_whole_and_all_its_names_are_known(name, real):
    found = json.loads(ask("world", real(name), "--json").stdout)
    assert found["report"] == []
    assert found["unknown_names"] == []
    assert found["filled_cells"] > 0.01 * found["cells"]


def test_ten_chunks_of_the_broken_region_are_read(real):
    path = real(BROKEN)
    found = json.loads(ask("world", path, "--json").stdout)
    (report,) = found["report"]
    assert report.startswith("skipped 11 of 21 chunks: ")
    assert np.count_nonzero((ea.World.load(path).slots != -1).any(axis=1)) == 10
    assert found["unknown_names"] == []


@pytest.mark.parametrize("name", ["mcedit_Station.schematic", "mcedit_viking-house1.schematic"])
def test_a_real_schematic_has_the_blocks_that_nbtlib_finds(name, real):
    path, nbtlib = real(name), pytest.importorskip("nbtlib")
    root = nbtlib.load(str(path))
    tree = root.get("Schematic", root)
    size = tuple(int(tree[key]) for key in ("Width", "Height", "Length"))
    world = ea.World.load(path)
    assert tuple(world.size) == size
    blocks, data = (np.array(tree[key]).astype(np.uint8).astype(int) for key in ("Blocks", "Data"))
    numbers = blocks << 4 | data & 15
    ids = world.ids((0, 0, 0), size).transpose(1, 2, 0).ravel()
    together = Counter(zip(numbers.tolist(), ids.tolist(), strict=True))
    # Every id with its data value is one name, wherever it stands.
    assert {number: count for (number, _), count in together.items()} == Counter(numbers.tolist())
    assert np.array_equal(ids == 0, numbers >> 4 == 0)


@pytest.mark.parametrize("site", SITES)
def test_a_listener_finds_a_way_on_foot_into_a_room(site, real):
    """In a jungle no place on it lies under the open sky; elsewhere two do."""
    path = str(real(SITES[site]))
    attack, walk = raid.scenario(world=path, seconds=10.0), town.scenario(world=path)
    assert attack.facts["carried"] == walk.facts["carried"] == ""
    stays = walk.facts["stays"]
    assert len(stays) == (1 if site == "jungle" else 3)
    assert ("overgrown" in walk.events[0].label) is (site == "jungle")
    x, y, z = attack.facts["room"].cell
    # It is in a house that was built: a file's own rooms are too far away, and trunks are no walls.
    assert attack.world.material((x, y - 1, z)) == "oak_planks"


@pytest.mark.parametrize("site", SITES)
def test_a_listener_walks_on_the_ground_and_not_on_what_stands_there(site, real):
    found = site_of(str(real(SITES[site])))
    low, high = FEET[site]
    assert all(low <= y <= high for _, y, _ in found.route)
    x, y, z = (int(a) for a in found.route[0])
    above = found.world.ids((x, y, z), (x + 1, int(found.world.origin[1] + found.world.size[1]), z + 1))
    assert not above.any()


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("scene", [("raid", "--seconds", "10"), ("town",)], ids=["raid", "town"])
def test_what_must_be_heard_in_a_real_file_is_heard(site, scene, real):
    found = json.loads(
        ask("run", *scene, "--world", real(SITES[site]), "--check", "--no-output", "--json").stdout
    )
    assert found["check"] == {"passed": True, "message": None}
