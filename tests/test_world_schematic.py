"""MCEdit schematics: real ones against a reader of a few lines, and what no file may do."""

import gzip
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_world_files import load, named, real, refused

from ecs_audio.world import Palette, World
from ecs_audio.world.numeric import _shipped


def mcedit(size: tuple[int, int, int], blocks: bytes, data: bytes | None = None, **extra: Any) -> bytes:
    edges = {key: np.int16(edge) for key, edge in zip(("Width", "Height", "Length"), size, strict=True)}
    tree = {
        "TileEntities": [{"id": "Sign", "x": 1}],
        "Materials": "Alpha",
        **edges,
        "Blocks": blocks,
        "Data": bytes(len(blocks)) if data is None else data,
        **extra,
    }
    return named("Schematic", {key: value for key, value in tree.items() if value is not None})


SMALL = mcedit((3, 2, 4), bytes(range(24)), bytes(range(24)))


def naive(document: bytes) -> tuple[tuple[int, int, int], list[tuple[int, int]]]:
    """Find each tag by its name, and read what follows: edges x, y, z, and the id and data value by cell."""

    def after(tag: int, name: bytes) -> int:
        found = bytes([tag]) + struct.pack(">H", len(name)) + name
        assert document.count(found) == 1
        return document.index(found) + len(found)

    def array(name: bytes) -> bytes:
        at = after(7, name)
        return document[at + 4 : at + 4 + int.from_bytes(document[at : at + 4], "big")]

    x, y, z = (
        int.from_bytes(document[at : at + 2], "big")
        for at in (after(2, b"Width"), after(2, b"Height"), after(2, b"Length"))
    )
    return (x, y, z), [(b, d & 15) for b, d in zip(array(b"Blocks"), array(b"Data"), strict=True)]


def name_of(number: int, data: int) -> str:
    names = _shipped()[number]
    return names[data % len(names)]


@pytest.mark.parametrize(
    ("file", "size", "filled"),
    [
        ("mcedit_Station.schematic", (113, 121, 227), 797_742),
        ("mcedit_viking-house1.schematic", (23, 35, 23), 2492),
    ],
)
def test_a_real_schematic_has_the_blocks_that_a_naive_reader_finds(
    file: str, size: tuple[int, int, int], filled: int
) -> None:
    path = real(file)
    world = World.load(path)
    edges, cells = naive(gzip.decompress(path.read_bytes()))
    assert tuple(world.size) == edges == size
    ids = world.ids((0, 0, 0), size)
    names = Counter(name_of(*cell) for cell in cells)
    counts = np.bincount(ids.reshape(-1), minlength=len(world.palette))
    assert {name: int(count) for name, count in zip(world.palette.names, counts, strict=True)} == names
    assert int(counts[1:].sum()) == filled
    assert world.palette.unknown == []
    # Not only as many, but where they are.
    x, _, z = size
    for cell in np.random.default_rng(0).integers(0, size, (2000, 3)).tolist():
        at = (cell[1] * z + cell[2]) * x + cell[0]
        assert world.palette.names[ids[tuple(cell)]] == name_of(*cells[at])


def test_a_station_has_glass_over_its_tracks() -> None:
    world = World.load(real("mcedit_Station.schematic"))
    heights = world.heights()[28:88, 42:142]
    assert 70 < np.percentile(heights, 1) < np.percentile(heights, 99) < 90
    tops = Counter(
        world.palette.group(world.material((28 + x, int(y), 42 + z))) for (x, z), y in np.ndenumerate(heights)
    )
    assert tops["glass"] > 0.7 * heights.size
    assert tops["glass"] + tops["stone"] > 0.95 * heights.size


def test_all_numeric_ids_have_a_name_of_a_known_group() -> None:
    palette = Palette()
    table = _shipped()
    assert set(table) == {*range(253), 255}
    for names in table.values():
        assert len(names) in (1, 2, 4, 8, 16)
        for name in names:
            palette.id(name)
    assert palette.unknown == []


@pytest.mark.parametrize(
    ("number", "data", "name"),
    [
        (0, 0, "air"),
        (1, 5, "andesite"),
        (17, 1, "spruce_log"),
        (17, 9, "spruce_log"),
        (18, 14, "birch_leaves"),
        (35, 14, "red_wool"),
        (43, 0, "stone_slab[type=double]"),
        (44, 13, "stone_brick_slab"),
        (53, 7, "oak_stairs"),
        (64, 12, "oak_door"),
        (85, 0, "oak_fence"),
        (251, 15, "black_concrete"),
        (253, 3, "numeric:253"),
    ],
)
def test_a_numeric_id_and_its_data_value_are_a_name(
    tmp_path: Path, number: int, data: int, name: str
) -> None:
    # Of the data value only the lower four bits count.
    world = load(tmp_path, mcedit((1, 1, 1), bytes([number]), bytes([data | 0xA0])))
    assert world.material((0, 0, 0)) == name
    assert world.palette.unknown == (["numeric:253"] if number == 253 else [])


@pytest.mark.parametrize("wrapped", [gzip.compress, zlib.compress, bytes])
def test_cells_lie_in_layers_of_rows(tmp_path: Path, wrapped: Callable[[bytes], bytes]) -> None:
    size = (19, 35, 5)
    blocks = np.random.default_rng(0).integers(1, 6, (35, 5, 19)).astype(np.uint8)
    world = load(tmp_path, wrapped(mcedit(size, blocks.tobytes())))
    names = np.array(world.palette.names)[world.ids((0, 0, 0), size)]
    expected = np.array(["", "stone", "grass_block", "dirt", "cobblestone", "oak_planks"])[blocks]
    assert (names == expected.transpose(2, 0, 1)).all()


@pytest.mark.parametrize("layer", [1, 15])
def test_large_ids_have_four_more_bits_each_and_names_in_the_file(tmp_path: Path, layer: int) -> None:
    # An odd number of cells a layer: pairs of cells go across the borders of what is read at once.
    size = (3, 33, layer)
    count = 99 * layer
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 4096, count)
    numbers[:4] = [300, 300, 5, 4095]
    halves = np.append(numbers >> 8, 0).astype(np.uint8)[: count + count % 2]
    add = (halves[0::2] | halves[1::2] << 4).astype(np.uint8).tobytes()
    document = mcedit(
        size,
        (numbers & 255).astype(np.uint8).tobytes(),
        AddBlocks=add,
        BlockIDs={"300": "mod:marble", "5": "mod:not_this", "x": "mod:nothing", "99999999": "mod:nothing"},
        SchematicaMapping={"mod:copper": np.int16(4095), "minecraft:planks": np.int16(5)},
    )
    world = load(tmp_path, document)
    expected = {300: "mod:marble", 4095: "mod:copper"}
    table = _shipped()
    names = [
        table[number][0] if number in table else expected.get(number, f"numeric:{number}")
        for number in numbers.tolist()
    ]
    found = np.array(world.palette.names)[world.ids((0, 0, 0), size)].transpose(1, 2, 0).reshape(-1)
    assert found.tolist() == names
    assert world.palette.group("mod:marble") == "stone"


def test_unknown_ids_are_listed_and_can_be_given_a_group(tmp_path: Path) -> None:
    from ecs_audio.world import Materials

    mine = tmp_path / "mine.toml"
    mine.write_text('[[patterns]]\ngroup = "wood"\nnames = ["numeric:253"]\n')
    path = tmp_path / "world.dat"
    path.write_bytes(mcedit((2, 1, 1), bytes([253, 254])))
    world = World.load(path, materials=Materials.load(mine))
    assert world.palette.unknown == ["numeric:254"]
    assert world.palette.group("numeric:253") == "wood"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (mcedit((3, 2, 4), bytes(23)), "its Blocks have 23 bytes, not the 24"),
        (mcedit((3, 2, 4), bytes(25)), "its Blocks have 25 bytes, not the 24"),
        (mcedit((3, 2, 4), bytes(24), bytes(12)), "its Data have 12 bytes, not the 24"),
        (mcedit((3, 2, 4), bytes(24), AddBlocks=bytes(11)), "its AddBlocks have 11 bytes, not the 12"),
        (mcedit((3, 2, 4), bytes(24), AddBlocks=3), "its AddBlocks are not an array of bytes"),
        (mcedit((3, 2, 4), bytes(24), Data=None), "its Data are not an array of bytes"),
        (mcedit((3, 2, 4), bytes(24), Blocks=np.zeros(24, np.int64)), "its Blocks are not an array of bytes"),
        (mcedit((3, 2, 4), bytes(24), Blocks=None), "its Blocks are not an array of bytes"),
        (mcedit((3, 0, 4), bytes(24)), "its Height is 0, which is no edge"),
        (mcedit((3, 2, 4), bytes(24), Length="x"), "its Length is 'x', which is no edge"),
        (mcedit((3, 2, 4), bytes(24), Width=None), "its Width is None, which is no edge"),
        (mcedit((-1, -1, -1), bytes(24)), "65535x65535x65535 cells are more than 1073741824"),
        (mcedit((-1, 1, 8192), bytes(24)), "65535x1x8192 cells touch more than 262144 sections"),
        (
            mcedit((3, 2, 4), bytes(24), Materials="Classic"),
            "its Materials are 'Classic'; only the ids of 'Alpha'",
        ),
        (
            mcedit((1, 1, 1), b"\xfd", BlockIDs={"253": "x" * 200}),
            "its id 253 has a bad name: name must have 1 to 128 characters",
        ),
    ],
)
def test_a_schematic_that_makes_no_sense_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    refused(tmp_path, data, message)
    refused(tmp_path, gzip.compress(data), message)


def test_a_schematic_may_leave_out_its_materials(tmp_path: Path) -> None:
    assert load(tmp_path, mcedit((1, 1, 1), b"\1", Materials=None)).material((0, 0, 0)) == "stone"
