"""Block names and their acoustic numbers."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecs_audio.world import Materials, Palette, World, WorldFormatError
from ecs_audio.world.materials import FLUID, OPEN, SOLID
from ecs_audio.world.palette import normalised

DATA = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data")) / "worlds"

GROUPS = {
    "stone": "stone deepslate tuff basalt calcite bone_block nether_bricks gray_concrete bricks "
    "amethyst_block netherite_block cobblestone_stairs stone_bricks iron_ore "
    "deepslate_gold_ore sandstone end_stone default:stone",
    "netherrack": "netherrack nether_gold_ore nether_quartz_ore crimson_nylium",
    "metal": "iron_block copper_block gold_block waxed_cut_copper_stairs iron_bars redstone_block "
    "chain_command_block",
    "anvil": "anvil chipped_anvil",
    "wood": "oak_planks spruce_log crimson_stem dark_oak_door bookshelf chest bamboo_planks "
    "default:jungletree",
    "earth": "grass_block dirt dirt_path podzol default:dirt_with_grass",
    "gravel": "gravel default:gravel",
    "sand": "sand red_sand soul_sand soul_soil tube_coral_block white_concrete_powder default:coral_pink",
    "snow": "snow snow_block powder_snow",
    "bamboo": "bamboo scaffolding",
    "wool": "white_wool red_carpet blue_bed white_wall_banner",
    "moss": "moss_block moss_carpet",
    "honey": "honey_block",
    "glass": "glass glass_pane white_stained_glass tinted_glass ice packed_ice sea_lantern glowstone",
    "water": "water kelp seagrass bubble_column default:water_source",
    "lava": "lava",
    "leaves": "oak_leaves flowering_azalea_leaves default:jungleleaves",
    "plants": "redstone_torch redstone_wire tall_grass short_grass poppy wheat vine ladder chain torch "
    "rail lantern crimson_roots oak_sapling potted_bamboo melon_stem brown_mushroom "
    "default:junglegrass",
    "air": "air cave_air void_air light structure_void",
    "default": "tnt sculk",
}


@pytest.mark.parametrize(
    ("name", "group"), [(n, group) for group, names in GROUPS.items() for n in names.split()]
)
def test_a_name_finds_its_group(name: str, group: str) -> None:
    match = Materials.shipped().match(name)
    assert (match.group, match.is_known) == (group, True)


@pytest.mark.parametrize(
    ("group", "occlusion", "reflectivity", "absorption"),
    [
        ("stone", 1.0, 1.5, (0.08, 0.10, 0.14, 0.18)),
        ("netherrack", 1.0, 1.1, (0.08, 0.10, 0.14, 0.18)),
        ("metal", 1.0, 1.25, (0.12, 0.08, 0.07, 0.07)),
        ("anvil", 0.5, 1.25, (0.12, 0.08, 0.07, 0.07)),
        ("wood", 1.0, 0.4, (0.15, 0.11, 0.09, 0.08)),
        ("earth", 1.0, 0.3, (0.11, 0.60, 0.69, 0.90)),
        ("gravel", 1.0, 0.3, (0.25, 0.65, 0.75, 0.80)),
        ("sand", 1.0, 0.2, (0.15, 0.40, 0.55, 0.60)),
        ("snow", 0.1, 0.15, (0.45, 0.90, 0.95, 0.95)),
        ("bamboo", 0.1, 0.5, (0.15, 0.11, 0.09, 0.08)),
        ("wool", 1.5, 0.1, (0.14, 0.55, 0.72, 0.65)),
        ("moss", 0.75, 0.1, (0.11, 0.60, 0.69, 0.90)),
        ("honey", 0.5, 0.1, (0.10, 0.12, 0.12, 0.12)),
        ("glass", 0.1, 0.75, (0.18, 0.06, 0.04, 0.03)),
        ("water", 0.0625, 0.5, (0.02, 0.02, 0.02, 0.03)),
        ("lava", 0.1875, 0.5, (0.02, 0.02, 0.02, 0.03)),
        ("leaves", 0.25, 0.3, (0.10, 0.30, 0.50, 0.60)),
        ("default", 1.0, 0.5, (0.10, 0.12, 0.12, 0.12)),
    ],
)
def test_a_group_has_the_published_numbers(
    group: str, occlusion: float, reflectivity: float, absorption: tuple[float, ...]
) -> None:
    numbers = Materials.shipped().groups[group]
    assert numbers[:3] == (occlusion, reflectivity, absorption)


PARTIAL = (
    "stone_slab oak_stairs oak_door iron_trapdoor oak_fence oak_fence_gate cobblestone_wall glass_pane "
    "red_carpet chest ender_chest stone_button oak_pressure_plate oak_wall_sign snow iron_bars "
    "stairs:slab_stone"
)


@pytest.mark.parametrize(
    "name",
    PARTIAL.split(),
)
def test_a_partial_shape_occludes_a_quarter_and_keeps_its_other_numbers(name: str) -> None:
    palette = Palette()
    number = palette.id(name)
    group = palette.materials.groups[palette.group(name)]
    assert palette.occlusion[number] == 0.25 * group.occlusion
    assert palette.reflectivity[number] == group.reflectivity
    assert tuple(palette.absorption[number]) == group.absorption


@pytest.mark.parametrize(
    "name", ["stone", "snow_block", "powder_snow", "double_stone_slab", "white_shulker_box"]
)
def test_a_full_block_is_not_partial(name: str) -> None:
    assert not Materials.shipped().match(name).is_partial


def test_a_double_slab_is_full() -> None:
    palette = Palette()
    double = palette.id("minecraft:oak_slab[type=double,waterlogged=false]")
    assert palette.names[double] == "oak_slab[type=double]"
    assert palette.occlusion[double] == 1.0
    assert palette.occlusion[palette.id("oak_slab[type=top]")] == 0.25


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("minecraft:stone", "stone"),
        ("minecraft:oak_log[axis=y]", "oak_log"),
        ("oak_slab", "oak_slab"),
        ("minecraft:chest[type=double]", "chest"),
        ("stone_slab[waterlogged=true,type=double]", "stone_slab[type=double]"),
        ("default:stone", "default:stone"),
        (" stone ", "stone"),
    ],
)
def test_prefixes_and_states_are_dropped(name: str, kept: str) -> None:
    assert normalised(name) == kept


@given(st.text(min_size=1, max_size=40))
def test_normalising_is_idempotent_and_gives_one_id(name: str) -> None:
    palette = Palette()
    try:
        number = palette.id(name)
    except ValueError:
        return
    kept = palette.names[number]
    assert normalised(kept) == kept
    assert palette.id(kept) == number
    assert palette.id(f"minecraft:{kept}") == number
    assert len(palette) == (1 if number == 0 else 2)


def test_fluids_are_hit_plants_and_air_never() -> None:
    palette = Palette()
    for name, kind in {
        "water": FLUID,
        "lava": FLUID,
        "poppy": OPEN,
        "cave_air": OPEN,
        "stone": SOLID,
        "sculk": SOLID,
        "no such block": SOLID,
    }.items():
        assert palette.kind[palette.id(name)] == kind, name
    assert palette.kind.dtype == np.uint8
    assert palette.occlusion[palette.id("poppy")] == 0


def test_an_unknown_name_is_the_default_and_listed_once() -> None:
    palette = Palette()
    number = palette.id("mod:flux_capacitor")
    palette.id("mod:flux_capacitor[lit=true]")
    palette.id("stone")
    assert palette.unknown == ["mod:flux_capacitor"]
    assert palette.group("mod:flux_capacitor") == "default"
    assert palette.occlusion[number] == 1.0
    assert palette.reflectivity[number] == 0.5


def test_asking_for_a_group_adds_no_name() -> None:
    palette = Palette()
    assert palette.group("stone") == "stone"
    assert palette.names == ["air"]


def test_the_arrays_stay_longer_than_the_names_and_old_ones_stay_true() -> None:
    palette = Palette()
    early = palette.occlusion
    first = palette.id("stone")
    for i in range(1000):
        assert palette.id(f"stone_{i}") == i + 2
        assert len(palette.occlusion) == len(palette.kind) == len(palette.absorption) > len(palette)
    assert early[first] == palette.occlusion[first] == 1.0
    assert palette.absorption.shape[1] == 4
    assert palette.occlusion.dtype == palette.reflectivity.dtype == palette.absorption.dtype == np.float64


def test_a_palette_takes_65535_names_and_names_the_one_too_many() -> None:
    palette = Palette(Materials(Materials.shipped().groups, (), (), ()))
    for i in range(65534):
        palette.id(f"b{i}")
    with pytest.raises(ValueError, match=r"palette is full: 'straw'.*65535"):
        palette.id("straw")
    assert palette.id("b65533") == 65534


@pytest.mark.parametrize("name", ["", "  ", "minecraft:", "[lit=true]", "x" * 129, "a\nb", "a\0b", "\ud800"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name must have"):
        Palette().id(name)


@pytest.mark.parametrize("name", [None, 3, b"stone", ["stone"]])
def test_a_name_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(TypeError, match="name must be a block name"):
        Palette().id(name)  # type: ignore[arg-type]


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


FOAM = "[groups.foam]\nocclusion = 0.5\nreflectivity = 0.05\nabsorption = [0.2, 0.7, 0.9, 0.95]\n"


def test_own_groups_and_patterns_come_before_the_shipped_ones(tmp_path: Path) -> None:
    text = f'{FOAM}[[patterns]]\ngroup = "foam"\nnames = ["*wool", "mod:st*"]\n'
    materials = Materials.load(write(tmp_path, text))
    palette = Palette(materials)
    assert palette.occlusion[palette.id("red_wool")] == 0.5
    assert palette.group("mod:stone") == "foam"
    assert palette.group("stone") == "stone"
    assert Materials.shipped().match("red_wool").group == "wool"
    world = World.empty(size=(4, 4, 4), materials=materials)
    world.set((0, 0, 0), "red_wool")
    assert world.palette.reflectivity[1] == 0.05


def test_a_shipped_group_can_be_changed_in_part(tmp_path: Path) -> None:
    materials = Materials.load(write(tmp_path, "[groups.stone]\nocclusion = 2\n"))
    assert materials.groups["stone"] == (2.0, *Materials.shipped().groups["stone"][1:])


def test_own_partial_shapes_and_exceptions_are_added(tmp_path: Path) -> None:
    text = 'partial = ["*_shard"]\nfull = ["big_*"]\n'
    materials = Materials.load(write(tmp_path, text))
    assert materials.match("stone_shard").is_partial
    assert materials.match("oak_slab").is_partial
    assert not materials.match("big_oak_slab").is_partial


def test_air_stays_open_whatever_a_file_says(tmp_path: Path) -> None:
    materials = Materials.load(write(tmp_path, '[[patterns]]\ngroup = "stone"\nnames = ["air"]\n'))
    assert Palette(materials).kind[0] == OPEN


def test_only_stars_and_question_marks_are_special(tmp_path: Path) -> None:
    text = f'{FOAM}[[patterns]]\ngroup = "foam"\nnames = ["a.b", "c[d]e", "f?g"]\n'
    materials = Materials.load(write(tmp_path, text))
    assert [materials.match(name).group for name in ("a.b", "axb", "fxg", "fg")] == [
        "foam",
        "default",
        "foam",
        "default",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("groups = 3", "groups is 3, which must be a table"),
        ("[groups.foam]\nocclusion = 1\n", "group foam has no reflectivity"),
        (
            FOAM.replace("0.5", '"much"'),
            "group foam has occlusion 'much', which must be a number from 0 to 64",
        ),
        (FOAM.replace("0.5", "nan"), "group foam has occlusion nan"),
        (FOAM.replace("0.5", "inf"), "group foam has occlusion inf"),
        (FOAM.replace("0.5", "-1"), "group foam has occlusion -1"),
        (FOAM.replace("0.5", "1" + "0" * 400), "group foam has occlusion 1000"),
        (FOAM.replace("0.5", "true"), "group foam has occlusion True"),
        (FOAM.replace("0.05", "11"), "group foam has reflectivity 11, which must be a number from 0 to 10"),
        (
            FOAM.replace("0.9,", "1.5,"),
            "group foam has absorption 1.5, which must be a number from 0.001 to 1",
        ),
        (FOAM.replace("0.9,", "0.0,"), "group foam has absorption 0.0"),
        (FOAM.replace("0.9,", ""), "which must be four numbers"),
        (FOAM + 'kind = "gas"', "group foam has kind 'gas', which is none of open, solid, fluid"),
        (FOAM + "kind = [1]", "which is none of open, solid, fluid"),
        (FOAM + "colour = 3", "group foam has the key 'colour'"),
        (
            "[[patterns]]\ngroup = 'foam'\nnames = ['x']",
            "patterns entry 1 names the group 'foam', which does not exist",
        ),
        ("[[patterns]]\ngroup = ['stone']\nnames = ['x']", "which does not exist"),
        ("[[patterns]]\ngroup = 'stone'\nnames = 'x'", "patterns entry 1 needs a list of names, not 'x'"),
        ("[[patterns]]\ngroup = 'stone'", "patterns entry 1 needs a list of names, not None"),
        ("[patterns]\nstone = ['x']", "patterns must be written as"),
        ("patterns = [1]", "patterns entry 1 is 1, which must be a table"),
        ("partial = [1]", "partial needs a list of names"),
        ("wood = 1", "'wood' is none of groups, patterns, partial and full"),
        ("[groups", "not valid TOML"),
        ("x = " + "1" * 5000, "not valid TOML"),
        ("x = " + "[" * 3000, "not valid TOML"),
    ],
)
def test_a_bad_material_file_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(WorldFormatError) as error:
        Materials.load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_a_material_file_that_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(WorldFormatError, match="not UTF-8"):
        Materials.load(path)
    path.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(WorldFormatError, match="larger than"):
        Materials.load(path)
    with pytest.raises(FileNotFoundError):
        Materials.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "file", ["mca_1.21.1_r.0.0.mca", "mca_1.18.2_r.0.0.mca", "sponge_v2_smallhouse1.schem"]
)
def test_every_name_of_the_real_files_is_known(file: str) -> None:
    if not (DATA / file).exists():
        pytest.skip(f"{DATA / file} is absent")
    assert World.load(DATA / file).palette.unknown == []
