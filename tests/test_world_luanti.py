"""Luanti maps: a real one against a reader of a few lines, all formats of blocks, and what no file may do."""

import sqlite3
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import real

from ecs_audio.world import Palette, World, WorldFormatError, luanti_block
from ecs_audio.world.errors import OutsideError

NAMES = ["air", "default:stone", "default:water_source", "ignore"]
ALL_FORMATS = [25, 26, 27, 28, 29]


def zstd() -> Any:
    try:
        return luanti_block._library()
    except WorldFormatError as error:
        pytest.skip(str(error))


def block(version: int, nodes: np.ndarray, names: list[str], **fields: Any) -> bytes:
    """Return a map block of indices into names, by x, y, z."""
    listed = b"".join(
        struct.pack(">HH", 7 * number, len(name.encode())) + name.encode()
        for number, name in enumerate(names)
    )
    mapping = struct.pack(">BH", fields.get("mapping", 0), fields.get("count", len(names))) + listed
    ids = b"".join(
        struct.pack(">H", 7 * int(nodes[x, y, z])) for z in range(16) for y in range(16) for x in range(16)
    )
    contents = ids + bytes([15] * 4096) + bytes(4096)
    widths = bytes(fields.get("widths", (2, 2)))
    if version == 29:
        body = struct.pack(">BHI", 0, 0xFFFF, 77) + mapping + widths + contents + bytes(9)
        return bytes([29]) + bytes(zstd().compress(body))
    head = struct.pack(">BBH", version, 0, 0xFFFF) if version >= 27 else struct.pack(">BB", version, 0)
    objects = struct.pack(">BH", 0, 2) + 2 * (struct.pack(">BiiiH", 7, 1, 2, 3, 5) + b"sheep")
    packed = zlib.compress(contents) + zlib.compress(b"\2\0\0")
    return (
        head
        + widths
        + packed
        + fields.get("objects", objects)
        + struct.pack(">I", 77)
        + mapping
        + b"\x0a\0\0"
    )


def number_of(x: int, y: int, z: int) -> int:
    return x + 4096 * y + 16777216 * z


def write(
    folder: Path,
    blocks: Iterable[tuple[tuple[int, int, int], Any]],
    schema: str = "CREATE TABLE blocks (pos INT PRIMARY KEY, data BLOB)",
) -> Path:
    path = folder / "map.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(schema)
    for (x, y, z), data in blocks:
        values = (number_of(x, y, z), data) if "pos" in schema else (x, y, z, data)
        connection.execute(f"INSERT INTO blocks VALUES ({', '.join('?' * len(values))})", values)
    connection.commit()
    connection.close()
    return path


def refused(path: Path, message: str, **options: Any) -> None:
    with pytest.raises(WorldFormatError, match=message) as error:
        World.load(path, **options)
    assert "\n" not in str(error.value)


NODES = np.random.default_rng(0).integers(0, 3, (16, 16, 16))
SPLIT = np.broadcast_to(np.where(np.arange(16) < 5, 1, 0), (16, 16, 16))
"""Stone where z is below 5, air elsewhere."""


def test_the_real_map_has_the_nodes_that_a_naive_reader_finds() -> None:
    path = real("luanti_v7_seed42_map.sqlite")
    library = zstd()
    world = World.load(path)
    assert world.origin.tolist() == [-128, -48, -144]
    assert world.size.tolist() == [272, 192, 272]
    assert world.palette.unknown == []
    assert world.report == []
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    rows = connection.execute("SELECT pos, data FROM blocks").fetchall()
    connection.close()
    assert len(rows) == 3468
    expected: Counter[str] = Counter()
    for row, (pos, data) in enumerate(rows):
        contents = library.decompress(data[1:])
        at, names = 10, {}
        for _ in range(int.from_bytes(contents[8:10], "big")):
            number, length = struct.unpack_from(">HH", contents, at)
            names[number] = contents[at + 4 : at + 4 + length].decode()
            at += 4 + length
        ids = struct.unpack_from(">4096H", contents, at + 2)
        if set(ids) == {number for number, name in names.items() if name == "ignore"}:
            assert len(names) == 1
        for number, count in Counter(ids).items():
            expected[names[number]] += count
        if row % 40 == 0:
            z = (pos + 2048 * (1 + 4096 + 4096**2)) // 4096**2 - 2048
            y = (pos - z * 4096**2 + 2048 * (1 + 4096)) // 4096 - 2048
            x = pos - z * 4096**2 - y * 4096
            for node in range(0, 4096, 37):
                cell = 16 * x + node % 16, 16 * y + node // 16 % 16, -1 - (16 * z + node // 256)
                name = names[ids[node]]
                assert world.material(cell) == ("air" if name == "ignore" else name)
    del expected["ignore"], expected["air"]
    ids = world.ids(world.origin, world.origin + world.size)
    counts = np.bincount(ids.reshape(-1), minlength=len(world.palette))
    found = {
        name: int(count) for name, count in zip(world.palette.names, counts, strict=True) if name != "air"
    }
    assert found == expected


def test_the_real_map_is_a_jungle_at_the_sea() -> None:
    zstd()
    world = World.load(real("luanti_v7_seed42_map.sqlite"))
    heights = world.heights()
    below = [world.material((x, 1, z)) for x in range(-128, 144, 8) for z in range(-144, 128, 8)]
    assert Counter(below)["default:water_source"] > 50
    assert heights.max() == 60
    counts = world.section_counts()
    assert counts.unknown > 600
    assert counts.mixed > 1000


@pytest.mark.parametrize("version", ALL_FORMATS)
def test_blocks_of_all_formats_are_read(tmp_path: Path, version: int) -> None:
    world = World.load(write(tmp_path, [((2, -1, 3), block(version, NODES, NAMES[:3]))]))
    assert world.origin.tolist() == [32, -16, -64]
    assert world.size.tolist() == [16, 16, 16]
    names = np.array(world.palette.names)[world.ids(world.origin, world.origin + world.size)]
    # The node (x, y, z) is the cell (x, y, -1 - z).
    assert (names == np.array(NAMES)[NODES][:, :, ::-1]).all()
    assert world.palette.group("default:stone") == "stone"


def test_what_lies_north_in_luanti_lies_north_here(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [((0, 0, 0), block(28, SPLIT, NAMES[:2])), ((0, 0, 1), block(28, 0 * NODES, ["default:dirt"]))],
    )
    world = World.load(path)
    # North is z + in Luanti and z - here; the stone with z below 5 is in the south of its block.
    assert world.origin.tolist() == [0, 0, -32]
    assert [world.material((3, 3, z)) for z in (-32, -17, -16, -6, -5, -1)] == [
        "default:dirt",
        "default:dirt",
        "air",
        "air",
        "default:stone",
        "default:stone",
    ]


def test_ignore_and_missing_blocks_are_unknown(tmp_path: Path) -> None:
    mixed = np.where(NODES == 0, 3, NODES)
    path = write(
        tmp_path,
        [
            ((0, 0, 0), block(28, mixed, NAMES)),
            ((1, 0, 0), block(28, 0 * NODES, ["ignore"])),
            ((3, 0, 0), block(28, 0 * NODES, ["air"])),
            ((4, 0, 0), block(28, 0 * NODES, ["default:stone", "ignore"])),
        ],
    )
    world = World.load(path)
    assert world.section_counts() == (1, 1, 1, 2)
    assert [world.is_known((16 * x, 0, -1)) for x in range(5)] == [True, False, False, True, True]
    assert "ignore" not in world.palette.names
    ids = world.ids((0, 0, -16), (16, 16, 0))[:, :, ::-1]
    assert np.array_equal(ids == 0, mixed == 3)


def test_positions_have_three_signed_digits(tmp_path: Path) -> None:
    one = block(28, 0 * NODES, ["default:stone"])
    for place in [(-2048, -2048, -2048), (2047, 2047, 2047), (-1, 0, 0), (0, -1, 2047), (2047, -2048, 0)]:
        world = World.load(write(tmp_path, [(place, one)]))
        x, y, z = place
        assert world.origin.tolist() == [16 * x, 16 * y, -16 * z - 16]


def test_newer_databases_have_a_column_for_each_axis(tmp_path: Path) -> None:
    schema = "CREATE TABLE blocks (x INTEGER, y INTEGER, z INTEGER, data BLOB, PRIMARY KEY (x, z, y))"
    path = write(
        tmp_path,
        [((-2, 5, -7), block(28, NODES, NAMES[:3])), ((-1, 5, -7), block(28, NODES, NAMES[:3]))],
        schema,
    )
    world = World.load(path)
    assert world.origin.tolist() == [-32, 80, 96]
    assert world.size.tolist() == [32, 16, 16]


def test_the_folder_of_a_world_will_do_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "a world? 100%#"
    folder.mkdir()
    path = write(folder, [((0, 0, 0), block(28, NODES, NAMES[:3]))])
    before = path.stat()
    path.chmod(0o444)
    World.load(folder)
    World.load(path)
    assert [file.name for file in folder.iterdir()] == ["map.sqlite"]
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_bad_blocks_are_skipped_and_named(tmp_path: Path) -> None:
    good = block(28, NODES, NAMES[:3])
    bad: list[Any] = [
        b"",
        bytes([24]) + good[1:],
        bytes([30]) + good[1:],
        good[:100],
        None,
        "text",
        bytes(2**20 + 1),
        block(28, NODES, NAMES[:2]),
        block(28, NODES, [*NAMES[:2], "x" * 200]),
        block(28, NODES, NAMES[:3], widths=(1, 2)),
        block(28, NODES, NAMES[:3], mapping=1),
        block(28, NODES, NAMES[:3], count=9),
        block(28, NODES, NAMES[:3], objects=struct.pack(">BH", 0, 5000)),
    ]
    path = write(tmp_path, [((x, 0, 0), data) for x, data in enumerate([good, *bad])])
    world = World.load(path)
    assert world.section_counts() == (0, 0, 1, len(bad))
    (report,) = world.report
    for part in (
        f"skipped {len(bad)} of {len(bad) + 1} blocks: ",
        "block (1, 0, 0): it is empty",
        "block (2, 0, 0): its format is 24, of which only 25 to 29 are read",
        "block (3, 0, 0): its format is 30",
        "block (4, 0, 0): its zlib data ends early",
        "block (5, 0, 0), (6, 0, 0): its data is missing or no bytes",
        "block (7, 0, 0): it has more than 1048576 bytes",
        "block (8, 0, 0): it has a node without a name",
        "block (9, 0, 0): it has a bad name: name must have 1 to 128 characters",
        "block (10, 0, 0): its ids and parameters have 1 and 2 bytes",
        "block (11, 0, 0): its names are in the format 1",
        "block (12, 0, 0): it ends early, after",
        "block (13, 0, 0): it has 5000 objects, more than 4096",
    ):
        assert part in report
    refused(path, f"skipped {len(bad)} of {len(bad) + 1} blocks", strict=True)
    refused(write(tmp_path, [((0, 0, 0), b"")]), "skipped 1 of 1 blocks")


def test_a_name_that_does_not_fit_is_not_taken_for_known(tmp_path: Path) -> None:
    one = block(28, NODES, [*NAMES[:2], "\x07"])
    refused(write(tmp_path, [((0, 0, 0), one), ((1, 0, 0), one)]), "skipped 2 of 2 blocks: .*printable")


def test_without_zstd_it_is_said_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    luanti_block._library.cache_clear()
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    path = write(tmp_path, [((0, 0, 0), block(28, NODES, NAMES[:3])), ((1, 0, 0), b"\x1dxyz")])
    refused(path, r"needs a package: pip install 'ecs-audio\[luanti\]'")


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["CREATE TABLE tiles (pos INT, data BLOB)"], "without a table `blocks`, so no Luanti map"),
        (["CREATE VIEW blocks AS SELECT 1 AS pos, 'x' AS data"], "without a table `blocks`"),
        (["CREATE VIRTUAL TABLE blocks USING fts4(pos, data)"], "without a table `blocks`"),
        (["CREATE TABLE blocks (pos INT, info BLOB)"], "has the columns info, pos, so it is no Luanti map"),
        (["CREATE TABLE blocks (pos INT, data AS (zeroblob(pos)))"], "has the columns data, pos"),
        (["CREATE TABLE blocks (pos INT, data BLOB)"], "a Luanti map without map blocks"),
        (
            ["CREATE TABLE blocks (pos INT, data BLOB)", "INSERT INTO blocks VALUES ('x', x'00')"],
            "whose position is no whole number",
        ),
        (
            ["CREATE TABLE blocks (pos INT, data BLOB)", "INSERT INTO blocks VALUES (1e300, x'00')"],
            "whose position is no whole number",
        ),
        (
            ["CREATE TABLE blocks (pos INT, data BLOB)", "INSERT INTO blocks VALUES (34359738368, x'00')"],
            "at the position 34359738368, which is outside of all worlds",
        ),
        (
            [
                "CREATE TABLE blocks (pos INT, data BLOB)",
                "INSERT INTO blocks VALUES (-9223372036854775808, x'')",
            ],
            "outside of all worlds",
        ),
        (
            [
                "CREATE TABLE blocks (pos INT, data BLOB)",
                "INSERT INTO blocks VALUES (0, x''), (1000 + 4096 * 1000, x'')",
            ],
            "lie in a box of 16016x16016x16 cells, more than 1073741824",
        ),
    ],
)
def test_a_database_that_makes_no_sense_is_refused(
    tmp_path: Path, statements: list[str], message: str
) -> None:
    path = tmp_path / "map.sqlite"
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite cannot make it: {error}")
    finally:
        connection.close()
    refused(path, message)


def test_the_work_of_a_database_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.luanti_database._MAX_STEPS", 100_000)
    monkeypatch.setattr("ecs_audio.world.luanti_database._STEPS_AT_ONCE", 1000)
    path = write(tmp_path, [((x, 0, 0), b"") for x in range(-2048, 2048)])
    connection = sqlite3.connect(path)
    # Without an index every look-up reads the whole table.
    connection.execute("CREATE TABLE copy AS SELECT * FROM blocks")
    connection.execute("DROP TABLE blocks")
    connection.execute("ALTER TABLE copy RENAME TO blocks")
    connection.commit()
    connection.close()
    refused(path, r"its database is damaged or no Luanti map \(interrupted\)")
    monkeypatch.setattr("ecs_audio.world.luanti_database.MAX_BLOCKS", 4000)
    refused(path, "it has more than 4000 map blocks")


def test_names_that_no_node_can_have_cost_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = block(28, SPLIT, [f"a{number}" for number in range(4097)])
    refused(write(tmp_path, [((0, 0, 0), many)]), "it has 4097 names, more than its 4096 nodes")
    few, budget = block(28, SPLIT, NAMES[:2]), luanti_block.Budget()
    monkeypatch.setattr("ecs_audio.world.luanti.Budget", lambda count: budget)
    path = write(tmp_path, [((x, 0, 0), few) for x in range(6)])
    for left, what in (((7, 2**30), "names and objects"), ((2**30, 4 * 16387 - 1), "bytes")):
        budget.names_left, budget.bytes_left = left
        refused(path, f"its map blocks have more {what} than can be read; load a smaller part")
    budget.names_left = budget.bytes_left = 2**30
    monkeypatch.setattr("ecs_audio.world.luanti.MAX_LOAD_BLOCKS", 5)
    refused(path, "it has 6 map blocks, of which 5 can be read; load a smaller part with around=")
    assert World.load(path, around=(0, 0, -8), radius=40).section_counts().mixed == 3
    budget.bytes_left = 2**30
    # Also those of which nothing can be read in the end.
    refused(write(tmp_path, [((x, 0, 0), few[:-12]) for x in range(5)]), "skipped 5 of 5 blocks")
    assert budget.bytes_left < 2**30 - 5 * 16384


def test_bombs_stop_at_the_limit(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(2**25), 9)
    refused(
        write(tmp_path, [((0, 0, 0), b"\x1c\0\xff\xff\2\2" + bomb)]), "zlib data unpacks to more than 1048576"
    )
    bomb = zlib.compress(bytes(16384)) + zlib.compress(bytes(2**25), 9)
    refused(
        write(tmp_path, [((0, 0, 0), b"\x1c\0\xff\xff\2\2" + bomb)]), "zlib data unpacks to more than 1048576"
    )
    library = zstd()
    # Zeros are a block without names, however many come after it.
    data = b"\x1d" + library.compress(bytes(2**25))
    refused(write(tmp_path, [((0, 0, 0), data)]), "skipped 1 of 1 blocks")
    wide = {library.CompressionParameter.window_log: 27}
    compressor = library.ZstdCompressor(options=wide)
    data = b"\x1d" + compressor.compress(bytes(2**25)) + compressor.flush()
    refused(write(tmp_path, [((0, 0, 0), data)]), "its zstd data is damaged")


@pytest.mark.parametrize("version", [28, 29])
def test_every_truncation_of_a_block_is_survived(version: int) -> None:
    data = block(version, SPLIT, NAMES[:2])
    whole = luanti_block.decode(data)
    for length in range(len(data)):
        try:
            found = luanti_block.decode(data[:length])
        except WorldFormatError:
            continue
        # What comes last is of no interest.
        assert np.array_equal(found.nodes, whole.nodes)
        assert found.names == whole.names


@cache
def small_block() -> bytes:
    return block(29, SPLIT, NAMES[:2])


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_every_flipped_byte_of_an_unpacked_block_is_survived(data: st.DataObject) -> None:
    library = zstd()
    original = bytearray(library.decompress(small_block()[1:]))
    for _ in range(data.draw(st.integers(1, 3))):
        original[data.draw(st.integers(0, 60))] = data.draw(st.integers(0, 255))
    try:
        found = luanti_block.decode(b"\x1d" + library.compress(bytes(original)))
    except WorldFormatError:
        return
    assert found.nodes.shape == (4096,)


def test_names_of_luanti_have_groups() -> None:
    palette = Palette()
    for name, group in {
        "default:stone": "stone",
        "mcl_core:stone": "stone",
        "mcl_trees:tree_oak": "wood",
        "mcl_trees:leaves_oak": "leaves",
        "default:pine_needles": "leaves",
        "default:dry_dirt_with_dry_grass": "earth",
        "default:dry_grass_3": "plants",
        "flowers:rose": "plants",
        "wool:white": "wool",
        "beds:bed_bottom": "wool",
        "doors:door_wood_a": "wood",
        "doors:door_steel_b": "metal",
        "xpanes:pane_flat": "glass",
        "xpanes:bar_flat": "metal",
        "default:sand_with_kelp": "sand",
        "stairs:slab_wood": "wood",
    }.items():
        assert palette.group(name) == group, name
        palette.id(name)
    assert palette.unknown == []


def test_a_window_of_a_map_unpacks_what_it_touches(tmp_path: Path) -> None:
    one = block(28, NODES, NAMES[:3])
    path = write(tmp_path, [((x, 0, z), one) for x in range(4) for z in range(4)] + [((9, 0, 9), b"bad")])
    whole = World.load(path)
    world = World.load(path, around=(24, 8, -24), radius=4)
    # The block (1, 0, 1) of the map is the section (1, 0, -2).
    assert world.report == []
    assert world.origin.tolist() == whole.origin.tolist() == [0, 0, -160]
    assert world.section_counts().mixed == 1
    assert np.array_equal(world.ids((16, 0, -32), (32, 16, -16)), whole.ids((16, 0, -32), (32, 16, -16)))
    assert world.load_more(path, around=(40, 8, -24), radius=4) == 1
    with pytest.raises(
        OutsideError, match=r"no map block lies within .* from \(0, 0, -160\) to \(159, 15, -1\)"
    ):
        World.load(path, around=(0, 500, 0), radius=4)


def test_a_map_too_large_for_a_world_is_read_in_parts(tmp_path: Path) -> None:
    one = block(28, NODES, NAMES[:3])
    path = write(tmp_path, [((0, 0, 0), one), ((2000, 0, 0), one), ((0, 2000, 2000), one)])
    refused(path, r"load a smaller part with around=\(x, y, z\)")
    world = World.load(path, around=(32008, 8, -8), radius=64)
    assert world.origin.tolist() == [32000, 0, -16]
    assert world.size.tolist() == [16, 16, 16]
