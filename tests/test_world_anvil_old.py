"""Regions from before Minecraft 1.16, chunks beside their region, and LZ4: against writers of a few lines."""

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import chunk, load, named, packed, real, refused, region, section, survive
from test_world_litematic import longs, names_of, states

from ecs_audio.world import Palette, World, WorldFormatError, nbt, unpacking
from ecs_audio.world.chunk import decode
from ecs_audio.world.limits import MAX_CHUNK_BYTES
from ecs_audio.world.load import Load
from ecs_audio.world.numeric import _shipped

# Writers of the eras.


def halves(numbers: list[int]) -> bytes:
    """Pack two numbers a byte, the first in its low half."""
    return bytes(low | high << 4 for low, high in zip(numbers[0::2], numbers[1::2], strict=True))


def numeric_section(y: int, cells: list[tuple[int, int]], **extra: Any) -> dict[str, Any]:
    """Return a section of (id, data value) by y, z, x, as from 1.2 to 1.12."""
    tree: dict[str, Any] = {
        "Y": np.int8(y),
        "BlockLight": bytes(2048),
        "Blocks": bytes(number & 255 for number, _ in cells),
        "Data": halves([data for _, data in cells]),
    }
    if any(number > 255 for number, _ in cells):
        tree["Add"] = halves([number >> 8 for number, _ in cells])
    return tree | extra


def flat_section(y: int, names: list[str], indices: list[int], version: int) -> dict[str, Any]:
    """Return a section with a palette, as from 1.13 to 1.17."""
    bits = max(4, (len(names) - 1).bit_length())
    data = longs(indices, bits) if version < 2529 else packed(np.array(indices), bits)
    return {"Y": np.int8(y), "Palette": states(names), "BlockStates": data}


def level(sections: list[dict[str, Any]], version: int | None = None, **extra: Any) -> bytes:
    tree = {"xPos": 0, "zPos": 0, "Biomes": bytes(256), "Sections": sections, **extra}
    return named("", ({} if version is None else {"DataVersion": version}) | {"Level": tree})


def mcregion(cells: np.ndarray, x: int = 0, z: int = 0) -> bytes:
    """Return a chunk of ids << 4 | data values by x, z, y, as before 1.2."""
    flat = cells.reshape(-1).tolist()
    tree = {"Blocks": bytes(key >> 4 for key in flat), "Data": halves([key & 15 for key in flat])}
    return named("", {"Level": tree | {"xPos": x, "zPos": z, "SkyLight": bytes(16384)}})


def name_of(number: int, data: int) -> str:
    names = _shipped().get(number, [f"numeric:{number}"])
    return names[data % len(names)]


def cells_of(world: World) -> list[str]:
    """Return the names of one section by y, z, x."""
    found: list[str] = names_of(world).transpose(1, 2, 0).reshape(-1).tolist()
    return found


RNG = np.random.default_rng(0)
KEYS = RNG.integers(0, [[256, 16]], (4096, 2)).tolist()
NUMERIC = level([numeric_section(1, [(1 + i % 3, i % 5) for i in range(4096)])])
STRADDLING = level([flat_section(2, [f"b{i}" for i in range(17)], [i % 17 for i in range(4096)], 2528)], 2528)
MCREGION = mcregion(np.where(np.arange(128) < 60, 16, 0) + np.zeros((16, 16, 1), int))


@pytest.mark.parametrize("version", [None, 169, 1343])
def test_numeric_ids_and_data_values_are_names(tmp_path: Path, version: int | None) -> None:
    contents = level([numeric_section(3, KEYS), {"Y": np.int8(4), "SkyLight": bytes(8)}], version)
    world = load(tmp_path, region({(0, 0): contents}))
    assert world.origin.tolist() == [0, 48, 0]
    assert cells_of(world) == [name_of(*key) for key in KEYS]
    assert set(world.palette.unknown) <= {"numeric:253", "numeric:254"}


def test_numeric_ids_have_up_to_twelve_bits(tmp_path: Path) -> None:
    keys = RNG.integers(0, [[4096, 16]], (4096, 2)).tolist()
    keys[0] = [4095, 3]
    world = load(tmp_path, region({(0, 0): level([numeric_section(0, keys)])}))
    assert cells_of(world) == [name_of(*key) for key in keys]
    assert "numeric:4095" in world.palette.unknown


@given(count=st.integers(1, 4096), version=st.integers(1451, 2900), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_indices_of_any_width_straddle_longs_until_1_16(
    tmp_path_factory: pytest.TempPathFactory, count: int, version: int, seed: int
) -> None:
    names = ["minecraft:air", *(f"block_{number}" for number in range(1, count))]
    indices = np.random.default_rng(seed).integers(0, count, 4096).tolist()
    path = tmp_path_factory.mktemp("era") / "world.mca"
    path.write_bytes(region({(0, 0): level([flat_section(0, names, indices, version)], version)}))
    assert cells_of(World.load(path)) == [names[i].removeprefix("minecraft:") for i in indices]


@pytest.mark.parametrize("version", [2528, 2529])
def test_the_version_decides_how_indices_are_packed(tmp_path: Path, version: int) -> None:
    names = [f"block_{number}" for number in range(20)]
    wrong = flat_section(0, names, [0] * 4096, 5057 - version)
    refused(tmp_path, region({(0, 0): level([wrong], version)}), r"without the \d+ longs of its 20 names")


def test_double_slabs_of_all_eras_are_full(tmp_path: Path) -> None:
    entries = ["minecraft:stone_slab[type=double]", "minecraft:stone_slab[type=top]"]
    eras = [
        level([numeric_section(0, [(43, 0), (44, 8)] * 2048)]),
        level([flat_section(0, entries, [0, 1] * 2048, 1631)], 1631),
        chunk(0, 0, [section(0, entries, np.array([0, 1] * 2048))]),
    ]
    for contents in eras:
        world = load(tmp_path, region({(0, 0): contents}))
        assert cells_of(world)[:2] == ["stone_slab[type=double]", "stone_slab"]


def test_a_column_of_mcregion_has_128_cells(tmp_path: Path) -> None:
    cells = RNG.integers(0, 256 * 16, (16, 16, 128))
    cells[:, :, 64:] = 0
    world = load(tmp_path, region({(5, 0): mcregion(cells, 5 + 32, 64)}))
    assert world.origin.tolist() == [592, 0, 1024]
    assert world.size.tolist() == [16, 128, 16]
    assert world.section_counts() == (4, 0, 4, 0)
    expected = [name_of(key >> 4, key & 15) for key in cells.transpose(0, 2, 1).reshape(-1).tolist()]
    assert names_of(world).reshape(-1).tolist() == expected


def test_eras_may_lie_side_by_side(tmp_path: Path) -> None:
    chunks = {
        (0, 0): MCREGION,
        (1, 0): NUMERIC.replace(b"xPos\0\0\0\0", b"xPos\0\0\0\1"),
        (2, 0): STRADDLING.replace(b"xPos\0\0\0\0", b"xPos\0\0\0\2"),
        (3, 0): chunk(3, 0, [section(-4, ["minecraft:deepslate"])]),
    }
    world = load(tmp_path, region(chunks))
    assert world.report == []
    assert world.origin.tolist() == [0, -64, 0]
    assert world.size.tolist() == [64, 192, 16]
    places = (0, 59, 0), (0, 60, 0), (16, 16, 0), (33, 32, 0), (48, -64, 0)
    assert [world.material(at) for at in places] == ["stone", "air", "stone", "b1", "deepslate"]


def test_the_real_broken_region_loads_its_good_chunks() -> None:
    path = real("mca_NBT-regiontest.mca")
    world = World.load(path)
    is_known = (world.slots != -1).any(axis=1)
    assert world.origin.tolist() == [16, 0, 512]
    x, z = np.nonzero(is_known)
    good = {(1, 0), (3, 0), (4, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (12, 0), (6, 1)}
    assert set(zip((x + 1).tolist(), z.tolist(), strict=True)) == good
    (report,) = world.report
    for part in (
        "skipped 11 of 21 chunks: ",
        "chunk (2, 0): its compression 0 is none of 1 (gzip), 2 (zlib), 3 (none) and 4 (LZ4)",
        "chunk (11, 0): its NBT begins with tag 120",
        "chunk (13, 0): it says that it is the chunk (6, 33)",
        "chunk (14, 0), (15, 0): it would lie outside the 110592 bytes",
        "chunk (3, 1): it has no list of sections",
        "chunk (4, 1): its length of 0 bytes",
        "chunk (5, 1): its NBT begins with tag 77",
        "chunk (8, 1): its length of 1 bytes",
    ):
        assert part in report
    assert world.palette.unknown == []
    with pytest.raises(WorldFormatError, match="skipped 11 of 21 chunks"):
        World.load(path, strict=True)
    # The land is what the file's own height maps say: one above the highest cell that takes light away.
    data = path.read_bytes()
    heights = world.heights()
    for at_x, at_z in good:
        offset = 4096 * (int.from_bytes(data[4 * (at_x + 32 * at_z) :][:4], "big") >> 8)
        length = int.from_bytes(data[offset : offset + 4], "big")
        document = zlib.decompress(data[offset + 5 : offset + 4 + length], 47)
        at = document.index(b"\0\x09HeightMap\0\0\1\0") + 15
        own = np.frombuffer(document, np.uint8, 256, at).reshape(16, 16).T.astype(int)
        x0, z0 = 16 * at_x - int(world.origin[0]), 16 * at_z
        # Fluids, leaves and fields of snow or glass count differently: most columns agree.
        agree = np.abs(heights[x0 : x0 + 16, z0 : z0 + 16] + 1 - own) <= 1
        assert agree.mean() > 0.6


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            numeric_section(0, [(1, 0)] * 4096, Blocks=bytes(4095)),
            "its Blocks are not an array of 4096 bytes",
        ),
        (numeric_section(0, [(1, 0)] * 4096, Data=bytes(2047)), "its Data are not an array of 2048 bytes"),
        (numeric_section(0, [(1, 0)] * 4096, Data=7), "its Data are not an array of 2048 bytes"),
        (numeric_section(0, [(1, 0)] * 4096, Add=bytes(1)), "its Add are not an array of 2048 bytes"),
        (numeric_section(0, [(1, 0)] * 4096, Add=np.zeros(2048)), "its Add are not an array of 2048 bytes"),
        ({"Y": np.int8(0), "Palette": []}, "palette of 0 names"),
        ({"Y": np.int8(0), "Palette": [{"Nome": "x"}]}, "entry without a name"),
        ({"Y": np.int8(0), "Palette": states(["a"] * 17)}, "without the 320 longs of its 17 names"),
        ({"Palette": states(["a"])}, "height None"),
    ],
)
def test_an_old_chunk_that_makes_no_sense_is_refused(
    tmp_path: Path, tree: dict[str, Any], message: str
) -> None:
    refused(tmp_path, region({(0, 0): level([tree], 1631)}), message)


def test_a_column_of_another_length_is_refused(tmp_path: Path) -> None:
    contents = mcregion(np.zeros((16, 16, 127), int))
    refused(tmp_path, region({(0, 0): contents}), "its Blocks are not an array of 32768 bytes")


@pytest.mark.parametrize("contents", [NUMERIC, STRADDLING, MCREGION])
def test_every_truncation_of_a_chunk_is_refused(contents: bytes) -> None:
    decode(nbt.Cursor(contents), 0, Load(Palette()))
    for length in [*range(0, len(contents), 97), *range(len(contents) - 200, len(contents))]:
        with pytest.raises(WorldFormatError):
            decode(nbt.Cursor(contents[:length]), 0, Load(Palette()))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_every_flipped_byte_is_survived(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    contents = data.draw(st.sampled_from([NUMERIC, STRADDLING, MCREGION]))
    original = bytearray(region({(0, 0): contents}, 3))
    # Names and lengths lie around the large arrays: most flips go there.
    ends = st.one_of(st.integers(8192, 8500), st.integers(8192, 8192 + len(contents)), st.integers(0, 5))
    for _ in range(data.draw(st.integers(1, 3))):
        original[data.draw(ends)] = data.draw(st.integers(0, 255))
    survive(tmp_path_factory.mktemp("flip") / "world.dat", bytes(original))


# Chunks beside their region


def external(folder: Path, name: str = "r.-1.2.mca", compression: int = 2) -> Path:
    """Write a region whose chunk (3, 4) lies beside it."""
    contents = chunk(-32 + 3, 64 + 4, [section(0, ["minecraft:stone"])])
    data = {1: gzip.compress, 2: zlib.compress, 3: bytes}[compression](contents)
    (folder / "c.-29.68.mcc").write_bytes(data)
    path = folder / name
    path.write_bytes(region({(3, 4): b""}, compression | 128))
    return path


@pytest.mark.parametrize("compression", [1, 2, 3])
def test_a_large_chunk_lies_beside_its_region(tmp_path: Path, compression: int) -> None:
    path = external(tmp_path, compression=compression)
    world = World.load(path)
    assert world.origin.tolist() == [-464, 0, 1088]
    assert world.material((-464, 0, 1088)) == "stone"


def test_what_is_wrong_with_a_file_beside_a_region_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(path: Path, message: str) -> None:
        with pytest.raises(WorldFormatError, match=message):
            World.load(path)

    says(external(tmp_path, "copy.mca"), r"can be found only beside a region called r\.X\.Z\.mca")
    path = external(tmp_path)
    beside = tmp_path / "c.-29.68.mcc"
    beside.write_bytes(beside.read_bytes()[:-1])
    says(path, "its zlib data ends early")
    beside.write_bytes(b"")
    says(path, "its zlib data ends early, after 0 unpacked bytes")
    with beside.open("wb") as stream:
        stream.truncate(MAX_CHUNK_BYTES + 1)
    says(path, r"its file c\.-29\.68\.mcc has more than 67108864 bytes")
    beside.unlink()
    says(path, r"its file c\.-29\.68\.mcc cannot be read \(No such file")
    beside.mkdir()
    says(path, r"its file c\.-29\.68\.mcc is not a regular file")


def test_files_beside_a_region_are_paid_for_by_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = [chunk(x, 0, [section(0, ["minecraft:stone"])]) for x in range(3)]
    for x in range(3):
        (tmp_path / f"c.{x}.0.mcc").write_bytes(zlib.compress(contents[x]) + bytes(1000))
    path = tmp_path / "r.0.0.mca"
    path.write_bytes(region({(x, 0): b"" for x in range(3)}, 130))
    monkeypatch.setattr("ecs_audio.world.anvil.Load", lambda palette: Load(palette, bytes_left=1500))
    with pytest.raises(WorldFormatError, match=r"before the chunk \(2, 0\), its chunks have more than"):
        World.load(path)


# LZ4


def lz4_blocks(contents: bytes, size: int = 300) -> bytes:
    block = pytest.importorskip("lz4.block")
    out = b""
    for number, start in enumerate(range(0, len(contents), size)):
        part = contents[start : start + size]
        data = part if number == 1 else block.compress(part, store_size=False)
        kept = 0x10 if number == 1 else 0x20
        out += struct.pack("<8sBIII", b"LZ4Block", kept | 6, len(data), len(part), 0) + data
    return out + struct.pack("<8sBIII", b"LZ4Block", 0x16, 0, 0, 0)


def with_lz4(contents: bytes) -> bytes:
    return region({(0, 0): lz4_blocks(contents)}, 132 - 128)


def test_a_chunk_may_be_packed_with_lz4(tmp_path: Path) -> None:
    world = load(tmp_path, with_lz4(NUMERIC))
    assert cells_of(world) == [name_of(1 + i % 3, i % 5) for i in range(4096)]


def test_without_the_package_lz4_its_chunks_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lz4.block", None)
    message = r"which needs the package lz4: pip install 'ecs-audio\[lz4\]'"
    refused(tmp_path, region({(0, 0): b"LZ4Block"}, 4), message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends early, after 0 bytes"),
        (struct.pack("<8sBIII", b"LZ4Blick", 0x26, 3, 3, 0) + b"abc", "no block before byte 21"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x36, 3, 3, 0) + b"abc", "no block before byte 21"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x26, 3, 99, 0) + b"abc", "is damaged before byte 24"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x16, 3, 99, 0) + b"abc", "block of 3 bytes instead of 99"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x26, 4, 99, 0) + b"abc", "does not fit the chunk"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x26, 3, 2**25 + 1, 0) + b"abc", "does not fit the chunk"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x26, 3, 2**32 - 1, 0) + b"abc", "to more than 67108864 bytes"),
        (struct.pack("<8sBIII", b"LZ4Block", 0x16, 3, 3, 0) + b"abc", "ends early, after 24 bytes"),
    ],
)
def test_lz4_that_makes_no_sense_is_refused(data: bytes, message: str) -> None:
    pytest.importorskip("lz4.block")
    with pytest.raises(WorldFormatError, match=message):
        unpacking.unpack(data, 4, Load(Palette()))


def test_lz4_that_is_cut_or_flipped_is_survived(tmp_path: Path) -> None:
    data = lz4_blocks(STRADDLING[:900])
    for length in range(len(data)):
        with pytest.raises(WorldFormatError):
            unpacking.unpack(data[:length], 4, Load(Palette()))
    rng = np.random.default_rng(0)
    for at, value in zip(rng.integers(0, len(data), 2000), rng.integers(0, 256, 2000), strict=True):
        flipped = bytearray(data)
        flipped[at] = value
        try:
            unpacking.unpack(bytes(flipped), 4, Load(Palette()))
        except WorldFormatError:
            continue
