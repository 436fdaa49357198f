"""World files that are cut off, damaged or made to harm: a world or a typed error, in bounded memory."""

import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import (
    PALETTE,
    SMALL_CHUNK,
    archive,
    bomb,
    chunk,
    load,
    named,
    old_chunk,
    refused,
    region,
    schem,
    section,
    survive,
)

from ecs_audio.world import Palette, World, WorldFormatError, limits, nbt
from ecs_audio.world.chunk import decode
from ecs_audio.world.load import Load


@pytest.mark.parametrize("contents", [SMALL_CHUNK, old_chunk(2600)])
def test_every_truncation_of_a_chunk_is_refused(contents: bytes) -> None:
    costs = Load(Palette())
    decode(nbt.Cursor(contents), 0, costs)
    for length in range(len(contents)):
        with pytest.raises(WorldFormatError):
            decode(nbt.Cursor(contents[:length]), 0, costs)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x0a\0\0", b"PK\3\4", b"\x1f\x8b\x08"]))
@settings(max_examples=200, deadline=None)
def test_noise_is_survived(tmp_path_factory: pytest.TempPathFactory, noise: bytes, start: bytes) -> None:
    survive(tmp_path_factory.mktemp("noise") / "world.dat", start + noise)


def test_a_bomb_in_a_schematic_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.reading.MAX_DOCUMENT_BYTES", 2**22)
    for wbits in (15, 31):
        refused(tmp_path, bomb(2**23, wbits), "unpacks to more than 4194304 bytes")


def test_bombs_in_a_region_stop_at_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bomb(limits.MAX_CHUNK_BYTES + 2**20, 15)
    one = struct.pack(">IB", len(data) + 1, 2) + data
    pages = -(-len(one) // 4096)
    refused(tmp_path, struct.pack(">I", 2 << 8 | pages) + bytes(8188) + one, "more than 67108864 bytes")
    # All 15 chunks are bombs: together they may cost no more than the region's share.
    few = {"bytes_left": 3 * limits.MAX_CHUNK_BYTES}
    monkeypatch.setattr("ecs_audio.world.anvil.Load", lambda palette: Load(palette, **few))
    places = [struct.pack(">I", (2 + pages * number) << 8 | pages) for number in range(15)]
    header = b"".join(places).ljust(8192, b"\0")
    bombs = one.ljust(4096 * pages, b"\0") * 15
    refused(tmp_path, header + bombs, r"before the chunk \(3, 0\), its chunks have more than .* bytes")


def test_chunks_that_share_a_place_are_read_twice_at_most(tmp_path: Path) -> None:
    contents = named("", {"DataVersion": 3955, "sections": [section(0, ["a", "b"], np.arange(4096) % 2)]})
    data = bytearray(region({(0, 0): contents}))
    data[4 : 4 * 100] = bytes(data[:4]) * 99
    world = load(tmp_path, bytes(data))
    assert world.section_counts().mixed == 2
    assert "skipped 98 of 100 chunks: " in world.report[0]
    assert "it lies at byte 8192, where 2 other chunks do" in world.report[0]


def test_the_tags_of_a_chunk_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.nbt.MAX_TAGS", 1000)
    many = {f"x{i}": 1 for i in range(1000)}
    chunks = {(x, 0): chunk(x, 0, [section(0, ["a"])], **(many if x == 2 else {})) for x in range(4)}
    world = load(tmp_path, region(chunks))
    assert "skipped 1 of 4 chunks: chunk (2, 0): its NBT has more than 1000 tags" in world.report[0]


@pytest.mark.parametrize(
    ("left", "what"),
    [
        ({"tags_left": 2000}, "have more than 7340032 tags together"),
        ({"sections_left": 2}, "have more than 49152 sections that are not of one block together"),
        ({"bytes_left": 25_000}, "have more than 536870912 bytes, packed and unpacked, together"),
    ],
)
def test_what_all_chunks_cost_together_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: dict[str, int], what: str
) -> None:
    for module in ("anvil", "folder"):
        monkeypatch.setattr(f"ecs_audio.world.{module}.Load", lambda palette: Load(palette, **left))
    many = {f"x{i}": 1 for i in range(650)}
    cells = section(0, ["a", "b"], np.arange(4096) % 2)
    chunks = {(x, 0): chunk(x, 0, [cells], **many) for x in range(4)}
    refused(
        tmp_path, region(chunks), rf"before the chunk \(3, 0\), its chunks {what}; load a smaller part with"
    )
    # In a folder, the regions count together.
    folder = tmp_path / "region"
    folder.mkdir()
    for x in (0, 1):
        some = {(32 * x + at, 0): chunk(32 * x + at, 0, [cells], **many) for at in (0, 1)}
        (folder / f"r.{x}.0.mca").write_bytes(region(some))
    message = rf"before the chunk \(1, 0\), its chunks {what}; .* \(at r\.1\.0\.mca\)"
    with pytest.raises(WorldFormatError, match=message):
        World.load(tmp_path)
    assert World.load(tmp_path, around=(500, 8, 8), radius=40).report == []


@pytest.mark.parametrize("tag", [b"\x09\x0a\x7f\xff\xff\xff", b"\x09\x09\x00\x10\x00\x01", b"\x0a"])
def test_millions_of_empty_tags_stop_at_the_limit(tag: bytes) -> None:
    filler = {b"\x0a": named("", 1) * 2**20}.get(tag, bytes(2**23))
    data = b"\x0a\0\0" + tag[:1] + b"\0\1x" + tag[1:] + filler
    for want in ({}, {b"x": {}}):
        with pytest.raises(WorldFormatError, match="more than 1048576 tags"):
            nbt.read(nbt.Cursor(data), want)


@pytest.mark.parametrize("depth", [500, 513, 100_000])
def test_deep_nesting_is_no_recursion(depth: int) -> None:
    for opening, closing in ((b"\x0a\0\1x", b"\0"), (b"\x09\0\1x\x09\0\0\0\1", b"")):
        inner = opening if closing else opening[4:]
        data = (
            b"\x0a\0\0" + opening + inner * (depth - 1) + (closing * depth if closing else bytes(5)) + b"\0"
        )
        if depth < limits.MAX_DEPTH:
            assert nbt.read(nbt.Cursor(data), {}) == ("", {})
        else:
            with pytest.raises(WorldFormatError, match="nested more than 512 deep"):
                nbt.read(nbt.Cursor(data), {})


@pytest.mark.parametrize("tag", [7, 11, 12])
@pytest.mark.parametrize("length", [-1, -(2**31), 1, 2**31 - 1])
@pytest.mark.parametrize("want", [{}, {b"x": None}, {b"x": {}}])
def test_arrays_that_lie_about_their_length_are_refused(tag: int, length: int, want: nbt.Want) -> None:
    data = b"\x0a\0\0" + struct.pack(">BH", tag, 1) + b"x" + struct.pack(">i", length)
    with pytest.raises(WorldFormatError, match=f"array of {length} values at byte 7"):
        nbt.read(nbt.Cursor(data), want)


def test_lists_and_text_that_lie_about_their_length_are_refused() -> None:
    for data in (b"\x08\0\1x\xff\xffabc", b"\x09\0\1x\x04\x7f\xff\xff\xff", b"\x09\0\1x\x08\x7f\xff\xff\xff"):
        for want in ({}, {b"x": None}, {b"x": {}}):
            with pytest.raises(WorldFormatError, match="ends early"):
                nbt.read(nbt.Cursor(b"\x0a\0\0" + data + b"\0"), want)


def test_nbt_gives_what_is_wanted_and_nothing_else() -> None:
    tree = {
        "byte": np.int8(-3),
        "short": np.int16(-300),
        "int": 70_000,
        "text": "höhle",
        "bytes": b"\x01\xff",
        "longs": np.array([1, -2]),
        "empty": np.array([], np.int64),
        "list": [{"a": 1, "b": 2}, {"b": 3}],
        "none": [],
        "texts": ["x", "y"],
        "inner": {"deep": {"er": 5}},
    }
    want: nbt.Want = {key.encode(): None for key in tree} | {
        b"list": {b"b": None},
        b"none": {b"b": None},
        b"inner": {b"deep": {b"er": None}},
        b"text": None,
        b"absent": None,
    }
    name, found = nbt.read(nbt.Cursor(named("root", tree)), want)
    assert name == "root"
    assert {key: found[key] for key in ("byte", "short", "int", "text")} == {
        key: tree[key] for key in ("byte", "short", "int", "text")
    }
    assert found["list"] == [{"b": 2}, {"b": 3}]
    assert found["none"] == []
    assert found["inner"] == {"deep": {"er": 5}}
    assert "texts" not in found
    for key, values in (("bytes", [1, -1]), ("longs", [1, -2]), ("empty", [])):
        array = found[key]
        assert isinstance(array, np.ndarray)
        assert array.tolist() == values
    assert nbt.read(nbt.Cursor(named("", {"a": 1, "b": {"c": 1}, "d": "x"})), nbt.EVERY)[1] == {
        "a": 1,
        "d": "x",
    }


def test_unpacking_stops_exactly_at_the_limit() -> None:
    for pack in (gzip.compress, zlib.compress):
        assert nbt.decompress(pack(bytes(1000)), 1000) == bytes(1000)
        with pytest.raises(WorldFormatError, match="more than 999 bytes"):
            nbt.decompress(pack(bytes(1000)), 999)
        with pytest.raises(WorldFormatError, match="ends early"):
            nbt.decompress(pack(bytes(1000))[:-1], 1000)
        with pytest.raises(WorldFormatError, match="is damaged"):
            nbt.decompress(pack(b"abcdef")[:-4] + b"\0\0\0\0", 1000)


def test_a_thin_box_of_too_many_sections_is_refused(tmp_path: Path) -> None:
    cells = np.zeros((1, 1, 2**23 + 1), np.uint8)
    refused(tmp_path, archive(cells=cells, palette=PALETTE), "touch 524289 sections, more than 262144")
    document = schem((-1, 1, 8192), {"air": 0}, bytes(1))
    refused(tmp_path, document, "65535x1x8192 cells touch more than 262144 sections")


def test_a_bomb_in_an_archive_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.archive.MAX_ARCHIVE_BYTES", 2**24)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for i in range(5):
            with file.open(f"x{i}.npy", "w") as member:
                for _ in range(4):
                    member.write(bytes(2**20))
    refused(tmp_path, stream.getvalue(), "unpacks to 20971520 bytes, more than 16777216")
