"""World files: real ones, round trips, and what no file may do."""

import gzip
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecs_audio.world import World, WorldFormatError, nbt

DATA = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data")) / "worlds"


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"{DATA / name} is absent")
    return DATA / name


# A writer of NBT: ints are TAG_Int, text TAG_String, bytes TAG_Byte_Array, int64 arrays TAG_Long_Array.


def payload(value: Any) -> tuple[int, bytes]:
    if isinstance(value, np.int8):
        return 1, value.tobytes()
    if isinstance(value, np.int16):
        return 2, struct.pack(">h", value)
    if isinstance(value, int):
        return 3, struct.pack(">i", value)
    if isinstance(value, str):
        return 8, struct.pack(">H", len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return 7, struct.pack(">i", len(value)) + value
    if isinstance(value, np.ndarray):
        return 12, struct.pack(">i", len(value)) + value.astype(">i8").tobytes()
    if isinstance(value, list):
        items = [payload(item) for item in value]
        return 9, struct.pack(">Bi", items[0][0] if items else 0, len(items)) + b"".join(
            item for _, item in items
        )
    return 10, b"".join(named(key, item) for key, item in value.items()) + b"\0"


def named(name: str, value: Any) -> bytes:
    tag, data = payload(value)
    return struct.pack(">BH", tag, len(name.encode())) + name.encode() + data


def varints(numbers: list[int]) -> bytes:
    out = bytearray()
    for number in numbers:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
    return bytes(out)


def schem(
    size: tuple[int, int, int], palette: dict[str, int], data: bytes, version: int = 2, **extra: Any
) -> bytes:
    edges = {key: np.int16(edge) for key, edge in zip(("Width", "Height", "Length"), size, strict=True)}
    tree: dict[str, Any] = {
        "Version": version,
        "Metadata": {"Name": "x", "List": [[1], [2]]},
        **edges,
        **extra,
    }
    if version == 3:
        tree |= {"Blocks": {"Palette": palette, "Data": data}}
        return named("", {"Schematic": tree})
    return named("Schematic", tree | {"Palette": palette, "BlockData": data})


def packed(indices: np.ndarray, bits: int) -> np.ndarray:
    per = 64 // bits
    padded = np.zeros(-(-4096 // per) * per, np.uint64)
    padded[:4096] = indices
    shifted = padded.reshape(-1, per) << (np.arange(per, dtype=np.uint64) * np.uint64(bits))
    return np.bitwise_or.reduce(shifted, axis=1).view(np.int64)


def section(y: int, names: list[str], indices: np.ndarray | None = None) -> dict[str, Any]:
    entries = []
    for name in names:
        base, _, states = name.partition("[")
        properties = dict(state.split("=") for state in states.rstrip("]").split(",") if state)
        entries.append({"Properties": properties, "Name": base} if properties else {"Name": base})
    states = {"palette": entries}
    if indices is not None:
        states["data"] = packed(indices, max(4, (len(names) - 1).bit_length()))
    return {"Y": np.int8(y), "biomes": {"palette": ["minecraft:plains"]}, "block_states": states}


def chunk(x: int, z: int, sections: list[dict[str, Any]], **extra: Any) -> bytes:
    return named(
        "", {"DataVersion": 3955, "xPos": x, "zPos": z, "Status": "full", "sections": sections} | extra
    )


def region(chunks: dict[tuple[int, int], bytes], compression: int = 2) -> bytes:
    header, body = bytearray(8192), bytearray()
    for (x, z), contents in chunks.items():
        data = {1: gzip.compress, 2: zlib.compress}.get(compression, bytes)(contents)
        at = 4 * (x % 32 + 32 * (z % 32))
        header[at : at + 4] = struct.pack(">I", (2 + len(body) // 4096) << 8 | 1)
        body += struct.pack(">IB", len(data) + 1, compression) + data
        body += bytes(-len(body) % 4096)
    return bytes(header + body)


SMALL_SCHEM = gzip.compress(
    schem((3, 2, 4), {"minecraft:air": 0, "minecraft:stone": 200}, varints([0, 200] * 12))
)
INDICES = np.arange(4096) % 3
SMALL_CHUNK = chunk(
    0, 0, [section(-1, ["minecraft:stone"]), section(0, ["minecraft:air", "a", "b"], INDICES)]
)
SMALL_REGION = region({(0, 0): SMALL_CHUNK})


def write(folder: Path, data: bytes) -> Path:
    path = folder / "world.dat"
    path.write_bytes(data)
    return path


def load(folder: Path, data: bytes, **options: Any) -> World:
    return World.load(write(folder, data), **options)


def refused(folder: Path, data: bytes, message: str, **options: Any) -> None:
    path = write(folder, data)
    with pytest.raises(WorldFormatError, match=message) as error:
        World.load(path, **options)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def survive(path: Path, data: bytes) -> None:
    """Whatever the bytes: a world that can be used, or a typed error."""
    path.write_bytes(data)
    try:
        world = World.load(path)
    except WorldFormatError:
        return
    ids = world.ids(world.origin, np.minimum(world.origin + world.size, world.origin + 64))
    assert int(ids.max()) < len(world.palette)
    assert world.heights().shape == (world.size[0], world.size[2])


# Real files


@pytest.mark.parametrize(
    ("file", "chunks", "origin", "size", "names"),
    [
        ("mca_1.21.1_r.0.0.mca", 225, [0, -64, 0], [240, 384, 240], 46),
        ("mca_1.18.2_r.0.0.mca", 280, [0, -64, 0], [320, 384, 224], 35),
    ],
)
def test_a_real_region_loads(file: str, chunks: int, origin: list[int], size: list[int], names: int) -> None:
    world = World.load(real(file))
    assert int((world.slots != -1).any(axis=1).sum()) == chunks
    assert int((world.slots != -1).all(axis=1).sum()) == chunks
    assert world.origin.tolist() == origin
    assert world.size.tolist() == size
    assert len(world.palette) == names
    assert world.palette.unknown == []
    assert world.report == []
    assert world.revision == 0
    counts = world.section_counts()
    assert counts.mixed > 300
    assert 60 < world.heights().max() < 100


def test_a_real_region_has_bedrock_below_and_air_above() -> None:
    world = World.load(real("mca_1.18.2_r.0.0.mca"))
    heights = world.heights()
    x, z = (int(i) for i in np.unravel_index(heights.argmax(), heights.shape))
    assert world.material((x, -64, z)) == "bedrock"
    assert world.material((x, int(heights.max()), z)) not in ("air", "bedrock")
    assert world.material((x, 300, z)) == "air"
    assert world.is_known((x, 300, z))


def test_the_real_schematic_loads() -> None:
    path = real("sponge_v2_smallhouse1.schem")
    world = World.load(path)
    assert world.size.tolist() == [21, 28, 20]
    document = nbt.decompress(path.read_bytes(), 2**20)
    _, tree = nbt.read(nbt.Cursor(document), {b"Palette": nbt.EVERY, b"BlockData": None})
    names, data = tree["Palette"], tree["BlockData"]
    assert isinstance(names, dict)
    assert isinstance(data, np.ndarray)
    assert len(names) == 173
    assert len(world.palette) == 58
    # Decoded the slow way, cell by cell.
    numbers, number, shift = [], 0, 0
    for byte in data.view(np.uint8).tolist():
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    by_index = {index: world.palette.id(name) for name, index in names.items()}
    expected = np.array([by_index[number] for number in numbers]).reshape(28, 20, 21).transpose(2, 0, 1)
    assert np.array_equal(world.ids((0, 0, 0), (21, 28, 20)), expected)
    assert "oak_slab[type=double]" in world.palette.names


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("ORIGIN.md", "fewer than the 8192"),
    ],
)
def test_files_of_other_formats_are_named(file: str, message: str) -> None:
    with pytest.raises(WorldFormatError, match=message):
        World.load(real(file))


# Regions


def test_a_region_lies_where_its_chunks_say(tmp_path: Path) -> None:
    chunks = {(-30, 37): chunk(-30, 37, [section(-4, ["minecraft:stone"])])}
    chunks[-28, 36] = chunk(
        -28, 36, [section(3, ["minecraft:air", "minecraft:dirt"], np.arange(4096) // 256 % 2)]
    )
    world = load(tmp_path, region(chunks))
    assert world.origin.tolist() == [-480, -64, 576]
    assert world.size.tolist() == [48, 128, 32]
    assert world.material((-480, -64, 592)) == "stone"
    assert world.material((-480, -48, 592)) == "air"
    assert world.is_known((-480, 63, 592))
    assert not world.is_known((-480, 63, 576))
    assert not world.is_known((-464, 0, 576))
    assert [world.material((-448, 48 + y, 576)) for y in range(3)] == ["air", "dirt", "air"]


@pytest.mark.parametrize("compression", [1, 2, 3])
def test_a_chunk_may_be_compressed_in_three_ways(tmp_path: Path, compression: int) -> None:
    world = load(tmp_path, region({(0, 0): SMALL_CHUNK}, compression))
    assert world.section_counts() == (0, 1, 1, 0)


@pytest.mark.parametrize("count", [2, 3, 15, 16, 17, 32, 33, 64, 65, 300, 4096])
def test_packed_indices_of_any_width_are_unpacked(tmp_path: Path, count: int) -> None:
    indices = np.random.default_rng(count).integers(0, count, 4096)
    names = ["minecraft:air", *(f"block_{i}" for i in range(1, count))]
    world = load(tmp_path, region({(0, 0): chunk(0, 0, [section(0, names, indices)])}))
    expected = np.array([world.palette.id(name) for name in names])[indices]
    assert np.array_equal(world.ids((0, 0, 0), (16, 16, 16)).transpose(1, 2, 0).reshape(-1), expected)


def test_states_are_dropped_but_those_of_double_slabs(tmp_path: Path) -> None:
    names = ["minecraft:oak_slab[type=top]", "minecraft:oak_slab[type=double]", "minecraft:chest[type=left]"]
    world = load(tmp_path, region({(0, 0): chunk(0, 0, [section(0, names, np.arange(4096) % 3)])}))
    assert world.palette.names == ["air", "oak_slab", "oak_slab[type=double]", "chest"]
    alike = ["minecraft:oak_log[axis=x]", "minecraft:oak_log[axis=y]"]
    world = load(tmp_path, region({(0, 0): chunk(0, 0, [section(0, alike, np.arange(4096) % 2)])}))
    assert world.section_counts() == (0, 1, 0, 0)


def old_chunk(version: int) -> bytes:
    states = section(2, ["minecraft:air", "minecraft:stone"], np.arange(4096) % 2)["block_states"]
    sections = [{"Y": np.int8(2), "Palette": states["palette"], "BlockStates": states["data"]}]
    level = {"xPos": 0, "zPos": 0, "Sections": [*sections, {"Y": np.int8(-1), "SkyLight": b"\0" * 8}]}
    return named("", {"DataVersion": version, "Level": level})


def test_chunks_of_1_16_are_read(tmp_path: Path) -> None:
    world = load(tmp_path, region({(0, 0): old_chunk(2586)}))
    assert world.origin.tolist() == [0, 32, 0]
    assert world.material((1, 32, 0)) == "stone"


def test_a_region_with_bad_chunks_loads_the_good_ones(tmp_path: Path) -> None:
    chunks = {(x, 0): chunk(x, 0, [section(0, ["minecraft:stone"])]) for x in range(4)}
    chunks[4, 0] = chunk(3, 0, [])
    chunks[5, 0] = chunk(5 + 32, 0, [section(0, ["minecraft:air", "minecraft:dirt"], np.arange(4096) % 2)])
    chunks[6, 0] = chunk(6, 0, [section(0, ["minecraft:stone"]), section(0, ["minecraft:stone"])])
    chunks[7, 0] = b"\x03"
    data = bytearray(region(chunks))
    data[4 * 8 : 4 * 8 + 4] = struct.pack(">I", 1000 << 8 | 1)
    at = int.from_bytes(data[4:7], "big") * 4096
    data[at + 4] = 79
    world = load(tmp_path, bytes(data))
    assert [world.is_known((16 * x, 0, 0)) for x in range(4)] == [True, False, True, True]
    assert world.size.tolist() == [64, 16, 16]
    assert len(world.report) == 1
    for part in (
        "skipped 6 of 9 chunks: ",
        "(1, 0): its compression 79 is none of",
        "(4, 0): it says that it is the chunk (3, 0)",
        "(5, 0): it belongs to the region (1, 0), not to (0, 0)",
        "(6, 0): it has a section of the height 0",
        "(7, 0): its NBT begins with tag 3",
        "(8, 0): it would lie outside",
    ):
        assert part in world.report[0]
    refused(tmp_path, bytes(data), "skipped 6 of 9 chunks", strict=True)
    world.set((0, 0, 0), "glass")
    assert world.material((0, 0, 0)) == "glass"


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (chunk(0, 0, []), "no chunk with a section"),
        (named("", {"DataVersion": 3955}), "no list of sections"),
        (chunk(0, 0, [{"Y": np.int8(0), "block_states": {"palette": []}}]), "palette of 0 names"),
        (
            chunk(0, 0, [{"Y": np.int8(0), "block_states": {"palette": [{"Nome": "x"}]}}]),
            "entry without a name",
        ),
        (chunk(0, 0, [{"block_states": {"palette": [{"Name": "x"}]}}]), "height None"),
        (chunk(0, 0, [{"Y": 128, "block_states": {"palette": [{"Name": "x"}]}}]), "height 128"),
        (chunk(0, 0, [section(0, ["x" * 200])]), "palette has a bad name"),
        (chunk(0, 0, [section(0, ["a", "b"])]), "without the 256 longs of its 2 names"),
        (chunk(0, 0, [section(0, ["a", "b"], np.full(4096, 7))]), "index beyond its 2 names"),
    ],
)
def test_a_chunk_that_makes_no_sense_is_refused(tmp_path: Path, contents: bytes, message: str) -> None:
    refused(tmp_path, region({(0, 0): contents}), message)


def test_a_region_without_chunks_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, bytes(8192), "no chunk with a section")


# Schematics


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("wrapped", [gzip.compress, zlib.compress, bytes])
def test_a_schematic_of_any_version_loads(
    tmp_path: Path, version: int, wrapped: Callable[[bytes], bytes]
) -> None:
    size = (19, 35, 5)
    indices = np.random.default_rng(0).integers(0, 3, (35, 5, 19))
    palette = {"minecraft:air": 0, "minecraft:stone": 1, "minecraft:oak_slab[type=double]": 2}
    data = varints([[0, 1, 300][i] for i in indices.reshape(-1).tolist()])
    palette["minecraft:oak_slab[type=double]"] = 300
    world = load(tmp_path, wrapped(schem(size, palette, data, version)))
    assert world.size.tolist() == list(size)
    assert world.origin.tolist() == [0, 0, 0]
    assert np.array_equal(world.ids((0, 0, 0), size), indices.transpose(2, 0, 1))
    assert world.palette.names == ["air", "stone", "oak_slab[type=double]"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (schem((2, 2, 2), {"air": 0}, bytes(7)), "2x2x2 cells have only 7 bytes"),
        (schem((2, 2, 2), {"air": 0}, bytes(9)), "1 bytes too many"),
        (schem((2, 2, 2), {"air": 0}, bytes([1] * 8)), "index 1 without a name"),
        (schem((2, 2, 2), {"air": 0}, bytes([255] * 8)), "ends early, after 8 bytes"),
        (schem((2, 2, 2), {"air": 0}, bytes([255] * 800)), "numbers of over 3 bytes from byte 0"),
        (schem((2, 2, 1), {"air": 0}, bytes([128, 128, 128, 0, 0, 0, 0])), "of over 3 bytes after byte 0"),
        (schem((0, 2, 2), {"air": 0}, b""), "its Width is 0"),
        (schem((-1, -1, -1), {"air": 0}, bytes(9)), "65535x65535x65535 cells are more than 1073741824"),
        (schem((1, 1, 1), {"air": -1}, bytes(1)), "'air' at the index -1"),
        (schem((1, 1, 1), {"air": 65535}, bytes(1)), "'air' at the index 65535"),
        (schem((1, 1, 1), {"": 0}, bytes(1)), "bad name"),
        (schem((1, 1, 1), {"air": "x"}, bytes(1)), "'air' at the index 'x'"),  # type: ignore[dict-item]
        (schem((1, 1, 1), {"air": 0}, np.zeros(1, np.int64)), "not an array of bytes"),  # type: ignore[arg-type]
        (named("Schematic", {"Width": 1}), "no palette and block data"),
        (named("Schematic", {"Materials": "Alpha", "Blocks": b"\0"}), "its Width is None"),
    ],
)
def test_a_schematic_that_makes_no_sense_is_refused(tmp_path: Path, document: bytes, message: str) -> None:
    refused(tmp_path, gzip.compress(document), message)


def a_world() -> World:
    world = World.unknown(size=(40, 20, 24), origin=(-7, 3, 30_000_000), cell_size=0.25)
    world.fill((-7, 3, 30_000_000), (20, 9, 30_000_009), "stone")
    world.set((0, 10, 30_000_003), "oak_slab[type=double]")
    world.set((0, 11, 30_000_003), "mod:thing")
    return world


def assert_equal(one: World, two: World) -> None:
    assert np.array_equal(one.origin, two.origin)
    assert np.array_equal(one.size, two.size)
    assert one.cell_size == two.cell_size
    assert one.palette.names == two.palette.names
    assert np.array_equal(one.slots == -1, two.slots == -1)
    end = one.origin + one.size
    assert np.array_equal(one.ids(one.origin, end), two.ids(two.origin, end))


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


CELLS = np.arange(4 * 5 * 6).reshape(4, 5, 6) % 3
PALETTE = np.array(["minecraft:dirt", "air", "oak_log[axis=y]"])


def raw_archive(header: str, data: bytes = bytes(8), version: bytes = b"\1\0", **member: Any) -> bytes:
    """Return an archive with one array `cells` of a given npy header."""
    stream = io.BytesIO()
    text = header.encode("latin-1")
    length = struct.pack("<H" if version == b"\1\0" else "<I", len(text))
    with zipfile.ZipFile(stream, "w", **member) as file:
        file.writestr("cells.npy", b"\x93NUMPY" + version + length + text + data)
    return stream.getvalue()


# Files in general


def test_a_missing_file_a_folder_and_a_pipe_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        World.load(tmp_path / "none.npz")
    with pytest.raises(WorldFormatError, match=f"{tmp_path} cannot be .*: it is a folder without region"):
        World.load(str(tmp_path))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(WorldFormatError, match=r"pipe cannot be .*: it is not a regular file"):
            World.load(tmp_path / "pipe")


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"hello", b"PK\3\4", b"\x1f\x8b", b"\x0a\0\0", b"\x78\x9c", b"\xff" * 9000]
)
def test_what_is_no_world_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data, "cannot be read as a world")


def test_a_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.opening.MAX_FILE_BYTES", 1000)
    refused(tmp_path, bytes(1001), "larger than 1000 bytes")


def small_npz(folder: Path) -> bytes:
    world = World.unknown(size=(3, 2, 4), origin=(1, 2, 3))
    world.set((1, 2, 3), "stone")
    world.save(folder / "small.npz")
    return (folder / "small.npz").read_bytes()


def bomb(size: int, wbits: int) -> bytes:
    """Return `size` zeros, compressed."""
    stream = zlib.compressobj(9, zlib.DEFLATED, wbits)
    block = bytes(2**20)
    return b"".join(stream.compress(block) for _ in range(size >> 20)) + stream.flush()
