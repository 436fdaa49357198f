"""What `World.save` writes comes back, and is what other programs read."""

from __future__ import annotations

import gzip
import importlib
import io
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import assert_equal, refused, survive

from ecs_audio.world import World, WorldWarning, nbt, npz, schem_out
from ecs_audio.world.palette import Palette, normalised
from ecs_audio.world.schem_out import read_back, spelled

NAMES = st.one_of(
    st.text(min_size=1, max_size=12),
    st.text("abz_09./-:", min_size=1),
    st.sampled_from(
        [
            "stone", "oak_slab[type=double]", "Odd slab[type=double]", "mod:thing", "a:b:c", "Steel Plate",
            "ecs_audio:x", "ecs_audio:.2e", "default:stone_slab[type=double]", "minecraft:minecraft:x",
            ".", "雪",
        ]
    ),
)  # fmt: skip


def is_kept(name: str) -> bool:
    """Whether a palette takes a name and, given what it made of it, makes the same of that."""
    try:
        return normalised(normalised(name)) == normalised(name)
    except ValueError:
        return False


def document(path: Path) -> nbt.Tree:
    """All fields of a schematic."""
    contents = gzip.decompress(path.read_bytes())
    keys = b"Version DataVersion Width Height Length Offset PaletteMax BlockData".split()
    name, tree = nbt.read(nbt.Cursor(contents), dict.fromkeys(keys) | {b"Palette": nbt.EVERY})
    assert name == "Schematic"
    assert contents.endswith(b"\0")
    return tree


# Round trips


@given(
    size=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40)),
    origin=st.tuples(st.integers(-40, 40), st.integers(-40, 40), st.integers(-(2**40), 2**40)),
    cell_size=st.floats(0.001, 1000),
    names=st.lists(NAMES.filter(is_kept), max_size=9),
    more=st.sampled_from([0, 0, 0, 300]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("ending", [".npz", ".schem"])
def test_any_world_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    ending: str,
    size: tuple[int, int, int],
    origin: tuple[int, int, int],
    cell_size: float,
    names: list[str],
    more: int,
    seed: int,
) -> None:
    world = World.empty(size=size, origin=origin, cell_size=cell_size)
    for name in names:
        world.palette.id(name)
    for i in range(more):
        world.palette.id(f"more_{i}")
    rng = np.random.default_rng(seed)
    part = tuple(rng.integers(1, edge + 1) for edge in size)
    world.put(origin, rng.integers(0, len(world.palette), part))
    path = tmp_path_factory.mktemp("round") / f"world{ending}"
    world.save(path)
    assert_equal(world, World.load(path))
    first = path.read_bytes()
    World.load(path).save(path)
    assert path.read_bytes() == first


@given(NAMES.filter(is_kept))
def test_any_name_is_spelled_as_minecraft_spells_names_and_comes_back(name: str) -> None:
    kept = normalised(name)
    text = spelled(kept)
    base = text.removesuffix("[type=double]")
    space, _, path = base.partition(":")
    assert set(space) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-")
    assert set(path) <= set("abcdefghijklmnopqrstuvwxyz0123456789_./-")
    assert Palette().id(read_back(text)) == Palette().id(kept)
    assert normalised(read_back(text)) == kept


def test_names_are_spelled_one_by_one() -> None:
    assert spelled("stone") == "minecraft:stone"
    assert spelled("oak_slab[type=double]") == "minecraft:oak_slab[type=double]"
    assert spelled("mod:thing") == "mod:thing"
    assert spelled("Steel Plate") == "ecs_audio:.53teel.20.50late"
    assert spelled("ecs_audio:.2e") == "ecs_audio:ecs_audio.3a.2e2e"
    assert read_back("ecs_audio:lamp") == "lamp"
    assert read_back("minecraft:stone") == "minecraft:stone"


def test_a_window_survives_with_its_unknown_sections_in_an_npz_only(tmp_path: Path) -> None:
    world = World.unknown(size=(64, 32, 32), origin=(-16, -16, -16))
    world.fill((0, 0, 0), (16, 16, 16), "stone")
    world.save(tmp_path / "a.npz")
    assert_equal(world, World.load(tmp_path / "a.npz"))
    with pytest.warns(WorldWarning, match=r"a\.schem: 15 of 16 sections are not loaded") as told:
        world.save(tmp_path / "a.schem")
    assert [warning.filename for warning in told] == [__file__]
    again = World.load(tmp_path / "a.schem")
    assert again.section_counts() == (15, 1, 0, 0)
    assert np.array_equal(again.ids((-16, -16, -16), (48, 16, 16)), world.ids((-16, -16, -16), (48, 16, 16)))


# The format


def test_the_fields_are_those_of_version_2(tmp_path: Path) -> None:
    world = World.empty(size=(3, 4, 5), origin=(10, -20, 2**33))
    world.set((11, -18, 2**33 + 4), "stone")
    world.save(tmp_path / "a.SCHEM")
    tree = document(tmp_path / "a.SCHEM")
    assert (tree["Version"], tree["DataVersion"], tree["PaletteMax"]) == (2, 1631, 2)
    assert (tree["Width"], tree["Height"], tree["Length"]) == (3, 4, 5)
    assert np.asarray(tree["Offset"]).tolist() == [10, -20, 2**31 - 1]
    assert tree["Palette"] == {"minecraft:air": 0, "minecraft:stone": 1}
    data = np.asarray(tree["BlockData"])
    assert np.flatnonzero(data).tolist() == [(2 * 5 + 4) * 3 + 1]  # (y * length + z) * width + x


def test_numbers_beyond_seven_bits_take_more_bytes(tmp_path: Path) -> None:
    world = World.empty(size=(5, 1, 1))
    for i in range(1, 16401):
        world.palette.id(f"b{i}")
    world.put((0, 0, 0), np.array([127, 128, 300, 16383, 16400]).reshape(5, 1, 1))
    world.save(tmp_path / "a.schem")
    data = np.asarray(document(tmp_path / "a.schem")["BlockData"]).view(np.uint8)
    assert data.tolist() == [127, 128, 1, 172, 2, 255, 127, 144, 128, 1]


def test_layers_of_a_wide_world_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World.empty(size=(33, 18, 45), origin=(-5, 3, 9))
    for i in range(200):
        world.palette.id(f"b{i}")
    world.put((-5, 3, 9), np.random.default_rng(0).integers(0, 200, (33, 18, 45)))
    world.save(tmp_path / "a.schem")
    monkeypatch.setattr(schem_out, "_CELLS_AT_ONCE", 400)
    world.save(tmp_path / "b.schem")
    assert (tmp_path / "a.schem").read_bytes() == (tmp_path / "b.schem").read_bytes()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ((65536, 1, 1), "edges of at most 65535 cells, and the world 65536 x 1 x 1"),
        ((1024, 1024, 1024), "1073741824 bytes of block data and .* of names, of at most 402653184"),
        ((1, 1, 2**23 + 1), "524289 sections, of at most 262144"),
    ],
)
def test_a_world_too_large_for_a_schem_is_not_saved(
    tmp_path: Path, size: tuple[int, int, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        World.empty(size=size).save(tmp_path / "a.schem")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.schem"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    for name in ("saving.os.replace", "schem_out._varints"):
        monkeypatch.setattr(f"ecs_audio.world.{name}", fail)
        with pytest.raises(OSError, match="disk is full"):
            World.empty(size=(4, 4, 4)).save(path)
        monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["a.schem"]
    assert path.read_bytes() == b"old"


def test_saving_takes_little_memory_beside_the_world() -> None:
    world = World.empty(size=(320, 320, 320))
    rng = np.random.default_rng(0)
    for y in range(0, 320, 32):
        world.put((0, y, 0), rng.integers(0, 1, (320, 16, 320)))
        world.fill((3, y, 3), (317, y + 9, 317), "stone")
    for write in (npz.write, schem_out.write):
        tracemalloc.start()
        try:
            write(io.BytesIO(), world._grid, world.palette, 1.0)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 0.5 * 320**3, write


# Notes of our own in hostile files


def saved(folder: Path) -> bytes:
    world = World.empty(size=(3, 2, 4), origin=(5, 6, 7), cell_size=0.5)
    world.set((6, 7, 8), "stone")
    world.save(folder / "a.schem")
    return gzip.decompress((folder / "a.schem").read_bytes())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"\x0c\0\x06Origin", b"\x0c\0\x06Orygin", "no Origin or no CellSize"),
        (b"\x06\0\x08CellSize\x3f", b"\x06\0\x08CellSize\xbf", "CellSize must lie from"),
        (b"CellSize\x3f\xe0", b"CellSize\x7f\xf8", "CellSize must lie from"),
        (b"Origin\0\0\0\x03\0", b"Origin\0\0\0\x03\x7f", "Origin must lie within"),
    ],
)
def test_notes_that_make_no_sense_are_refused(tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    data = saved(tmp_path)
    assert old in data
    refused(tmp_path, data.replace(old, new), message)


def test_every_truncation_and_flipped_byte_is_survived(tmp_path: Path) -> None:
    data, path = saved(tmp_path), tmp_path / "b"
    for at in range(len(data)):
        survive(path, data[:at])
        for bit in (1, 0x80):
            flipped = bytearray(data)
            flipped[at] ^= bit
            survive(path, bytes(flipped))


# Other programs


def independent(name: str) -> Any:
    """A reader that is not ours and no dependency."""
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


def house(path: Path, names: int) -> tuple[World, list[list[list[str]]]]:
    """Save a box of so many names, one unknown to Minecraft; return its names as they are saved."""
    world = World.empty(size=(9, 17, 7), origin=(-3, 60, 100))
    for i in range(names - 3):
        world.palette.id(f"b{i}")
    world.palette.id("Steel Plate")
    world.palette.id("oak_slab[type=double]")
    world.put((-3, 60, 100), np.random.default_rng(1).integers(0, names, (9, 17, 7)))
    world.save(path)
    texts = np.array([spelled(name) for name in world.palette.names])
    cells = texts[world.ids((-3, 60, 100), (6, 77, 107))].tolist()
    assert len(world.palette) == names
    return world, cells


@pytest.mark.parametrize("names", [20, 300])
def test_schempy_reads_the_cells_that_were_saved(tmp_path: Path, names: int) -> None:
    schempy = independent("schempy")
    _, cells = house(tmp_path / "house.schem", names)
    read = schempy.Schematic.from_file(tmp_path / "house.schem")
    assert (read.width, read.height, read.length) == (9, 17, 7)
    assert read.offset == [-3, 60, 100]
    found = [[[str(read.get_block(x, y, z)) for z in range(7)] for y in range(17)] for x in range(9)]
    assert found == cells


@pytest.mark.parametrize("names", [20, 300])
def test_mcschematic_reads_the_cells_that_were_saved(tmp_path: Path, names: int) -> None:
    mcschematic = independent("mcschematic")
    _, cells = house(tmp_path / "house.schem", names)
    read = mcschematic.MCSchematic(str(tmp_path / "house.schem"))
    found = [[[read.getBlockStateAt((x, y, z)) for z in range(7)] for y in range(17)] for x in range(9)]
    assert found == cells


def test_litemapy_and_nbtlib_read_the_cells_that_were_saved(tmp_path: Path) -> None:
    litemapy, nbtlib = independent("litemapy"), independent("nbtlib")
    _, cells = house(tmp_path / "house.schem", 20)
    file = nbtlib.load(tmp_path / "house.schem")
    assert file.root_name == "Schematic"
    read, version = litemapy.Region.from_sponge_nbt(file)
    assert version == 1631
    found = [
        [[read[x, y, z].to_block_state_identifier() for z in range(7)] for y in range(17)] for x in range(9)
    ]
    assert found == cells
