"""Litematica files: a real one against another reader, regions in any place, and what no file may do."""

import gzip
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import load, named, real, refused

from ecs_audio.world import World, packing

STATES = [
    "minecraft:air",
    "minecraft:stone",
    "minecraft:oak_slab[type=top]",
    "minecraft:oak_slab[type=double]",
]
NAMES = ["air", "stone", "oak_slab", "oak_slab[type=double]"]


def longs(indices: list[int], bits: int) -> np.ndarray:
    """Pack indices one behind the other, low bits first: as one huge number, cut into longs."""
    whole = sum(index << bits * place for place, index in enumerate(indices))
    count = -(-len(indices) * bits // 64)
    return np.frombuffer(whole.to_bytes(8 * count, "little"), "<i8").astype(np.int64)


def states(names: list[str]) -> list[dict[str, Any]]:
    entries = []
    for name in names:
        base, _, listed = name.partition("[")
        properties = dict(state.split("=") for state in listed.rstrip("]").split(",") if state)
        entries.append({"Name": base, "Properties": properties} if properties else {"Name": base})
    return entries


def three(x: Any, y: Any, z: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "z": z}


def box(
    position: tuple[int, int, int], size: tuple[int, int, int], indices: np.ndarray, names: list[str]
) -> dict[str, Any]:
    """Return a region of `indices` by y, z, x from its lowest cell on."""
    bits = max(2, (len(names) - 1).bit_length())
    return {
        "TileEntities": [{"id": "x", "Items": [{"Slot": np.int8(1)}]}],
        "BlockStates": longs(indices.reshape(-1).tolist(), bits),
        "Position": three(*position),
        "BlockStatePalette": states(names),
        "Size": three(*size),
    }


def litematic(regions: dict[str, Any], **extra: Any) -> bytes:
    metadata = {"EnclosingSize": three(1, 1, 1), "Name": "Regions", "RegionCount": len(regions)}
    return named("", {"Version": 6, "Metadata": metadata, "Regions": regions, **extra})


CELLS = np.random.default_rng(0).integers(0, 4, (2, 4, 3))
SMALL = litematic({"a": box((5, -2, 7), (3, 2, -4), CELLS, STATES)})


def names_of(world: World) -> np.ndarray:
    """Return the names of all cells by x, y, z."""
    return np.array(world.palette.names)[world.ids(world.origin, world.origin + world.size)]


def plain(block: Any) -> str:
    """Return the name of one of litemapy's blocks as palettes keep it."""
    name: str = block.id.removeprefix("minecraft:")
    is_double = "slab" in name and dict(block.properties()).get("type") == "double"
    return f"{name}[type=double]" if is_double else name


def test_a_real_schematic_has_the_blocks_that_litemapy_finds() -> None:
    path = real("litematic_storage_thingy.litematic")
    litemapy = pytest.importorskip("litemapy")
    (region,) = litemapy.Schematic.load(str(path)).regions.values()
    world = World.load(path)
    names = names_of(world).astype(object)
    low_x, low_y, low_z = min(region.xrange()), min(region.yrange()), min(region.zrange())
    known: dict[int, str] = {}
    expected: Counter[str] = Counter()
    places = 0
    for x in region.xrange():
        for y in region.yrange():
            for z in region.zrange():
                block = region[x, y, z]
                name = known.get(id(block)) or known.setdefault(id(block), plain(block))
                expected[name] += 1
                places += names[x - low_x, y - low_y, z - low_z] == name
    assert Counter(names.reshape(-1).tolist()) == expected
    assert places == world.size.prod() == 1_370_166


def test_a_real_schematic_loads() -> None:
    world = World.load(real("litematic_storage_thingy.litematic"))
    assert world.size.tolist() == [114, 101, 119]
    assert world.origin.tolist() == [0, 0, 0]
    assert world.palette.unknown == []
    # As many as the file's own metadata says.
    assert int(np.count_nonzero(world.ids((0, 0, 0), world.size))) == 96_928


def test_a_real_schem_has_the_blocks_that_nbtlib_finds() -> None:
    path = real("sponge_v2_smallhouse1.schem")
    nbtlib = pytest.importorskip("nbtlib")
    root = nbtlib.load(str(path))
    tree = root.get("Schematic", root)
    data = [int(value) & 255 for value in tree["BlockData"]]
    numbers, number, shift = [], 0, 0
    for byte in data:
        number, shift = number | (byte & 127) << shift, shift + 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    by_index = {int(index): name for name, index in tree["Palette"].items()}
    world = World.load(path)
    plain = [by_index[number].partition("[")[0].removeprefix("minecraft:") for number in numbers]
    found = [name.partition("[")[0] for name in names_of(world).transpose(1, 2, 0).reshape(-1).tolist()]
    assert found == plain


@pytest.mark.parametrize("wrapped", [gzip.compress, zlib.compress, bytes])
def test_cells_lie_in_layers_of_rows(tmp_path: Path, wrapped: Callable[[bytes], bytes]) -> None:
    world = load(tmp_path, wrapped(SMALL))
    assert world.origin.tolist() == [0, 0, 0]
    assert world.size.tolist() == [3, 2, 4]
    assert (names_of(world) == np.array(NAMES)[CELLS].transpose(2, 0, 1)).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 100, 300, 1025, 5000])
def test_indices_of_any_width_are_unpacked(tmp_path: Path, count: int) -> None:
    names = ["minecraft:air", *(f"block_{number}" for number in range(1, count))]
    cells = np.random.default_rng(count).integers(0, count, (35, 5, 19))
    world = load(tmp_path, litematic({"a": box((0, 0, 0), (19, 35, 5), cells, names)}))
    assert (names_of(world) == np.array(["air", *names[1:]])[cells].transpose(2, 0, 1)).all()


@given(bits=st.integers(2, 16), start=st.integers(0, 300), count=st.integers(1, 300), seed=st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_any_run_of_indices_can_be_unpacked(bits: int, start: int, count: int, seed: int) -> None:
    indices = np.random.default_rng(seed).integers(0, 2**bits, start + count).tolist()
    packed = longs(indices, bits).astype(">i8")
    assert packing.straddling(packed, bits, start, count).tolist() == indices[start:]


edge = st.integers(-18, 18).filter(bool)
place = st.integers(-40, 40)


@given(
    st.lists(
        st.tuples(st.tuples(place, place, place), st.tuples(edge, edge, edge), st.integers(0, 99)),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=60, deadline=None)
def test_regions_of_any_place_and_sign_lie_in_one_box(
    tmp_path_factory: pytest.TempPathFactory,
    boxes: list[tuple[tuple[int, int, int], tuple[int, int, int], int]],
) -> None:
    regions: dict[str, Any] = {}
    expected: dict[tuple[int, int, int], str] = {}
    for number, (position, size, seed) in enumerate(boxes):
        x, y, z = (abs(one) for one in size)
        cells = np.random.default_rng(seed).integers(0, 4, (y, z, x))
        regions[f"region {number}"] = box(position, size, cells, STATES)
        # Every cell from the position to the opposite corner, both included.
        ranges = [sorted(range(p, p + s, 1 if s > 0 else -1)) for p, s in zip(position, size, strict=True)]
        for j, at_y in enumerate(ranges[1]):
            for k, at_z in enumerate(ranges[2]):
                for i, at_x in enumerate(ranges[0]):
                    expected[at_x, at_y, at_z] = NAMES[cells[j, k, i]]
    path = tmp_path_factory.mktemp("regions") / "world.dat"
    path.write_bytes(litematic(regions))
    world = World.load(path)
    low = np.min(list(expected), axis=0)
    assert world.size.tolist() == (np.max(list(expected), axis=0) - low + 1).tolist()
    names = np.full(world.size, "air", object)
    for cell, name in expected.items():
        names[tuple(cell - low)] = name
    assert (names_of(world) == names).all()


GOOD = box((5, -2, 7), (3, 2, -4), CELLS, STATES)


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ({}, "a Litematica file without regions"),
        ({"a": {}}, "its region 'a' has no Position of three whole numbers"),
        ({"a": 3}, "a Litematica file without regions"),
        ({"a": GOOD | {"Position": three(1, 2, "x")}}, "has no Position of three whole numbers"),
        ({"a": GOOD | {"Size": {"x": 1, "y": 2}}}, "has no Size of three whole numbers"),
        ({"a": GOOD | {"Size": three(3, 0, 4)}}, r"its region 'a' has the size \(3, 0, 4\)"),
        ({"a": GOOD | {"Size": three(-(2**31), 1, 1)}}, "2147483648x1x1 cells, more than 536870912"),
        ({"a": GOOD | {"Size": three(3, 2, 40)}}, "not the 8 longs of 3x2x40 cells of 2 bits"),
        ({"a": GOOD | {"BlockStates": bytes(8)}}, "not the 1 longs of 3x2x4 cells of 2 bits"),
        ({"a": GOOD | {"BlockStatePalette": []}}, "no palette of 1 to 65535 block states"),
        ({"a": GOOD | {"BlockStatePalette": ["x"]}}, "no palette of 1 to 65535 block states"),
        ({"a": GOOD | {"BlockStatePalette": [{"Nome": "x"}]}}, "entry without a name"),
        ({"a": GOOD | {"BlockStatePalette": [{"Name": "x" * 200}]}}, "palette has a bad name"),
        (
            {"a": GOOD | {"BlockStatePalette": states(STATES[:2])}},
            r"has the index [23] without a name",
        ),
        ({"a": GOOD, "b": GOOD | {"Position": three(2**30, -2, 7)}}, "1073741822x2x4 cells are more than"),
        (
            {"a": GOOD, "b": GOOD | {"Position": three(2**23 + 5, -2, 7)}},
            "8388611x2x4 cells touch more than 262144 sections",
        ),
    ],
)
def test_a_schematic_that_makes_no_sense_is_refused(
    tmp_path: Path, regions: dict[str, Any], message: str
) -> None:
    refused(tmp_path, litematic(regions), message)
    refused(tmp_path, gzip.compress(litematic(regions)), message)


def test_overlapping_regions_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.litematic.MAX_FILE_CELLS", 60)
    regions = {str(number): GOOD for number in range(3)}
    refused(tmp_path, litematic(regions), "its regions have 72 cells together, more than 60")


def test_a_document_that_only_speaks_of_regions_is_something_else(tmp_path: Path) -> None:
    refused(tmp_path, named("", {"Regions": 3, "x": {"Regions": {}}}), "as a Sponge schematic has")


def town(edge: int) -> np.ndarray:
    """Return layers of ground, and hollow houses of many materials on it, by y, z, x."""
    rng = np.random.default_rng(3)
    cells = np.zeros((edge, edge, edge), np.uint16)
    cells[: edge // 4] = 1
    cells[edge // 4 - 3 : edge // 4] = rng.integers(1, 600, (3, edge, edge))
    for x, z in rng.integers(0, edge - 12, (edge * edge // 500, 2)).tolist():
        height = int(rng.integers(4, edge // 4))
        cells[edge // 4 : edge // 4 + height, z : z + 10, x : x + 10] = rng.integers(1, 600, (height, 10, 10))
        cells[edge // 4 : edge // 4 + height - 1, z + 1 : z + 9, x + 1 : x + 9] = 0
    return cells


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process's peak")
def test_thirteen_million_cells_take_less_than_two_and_a_half_bytes_each(tmp_path: Path) -> None:
    edge = 236
    cells = town(edge)
    # The naive writer is too slow for these: bits of all indices, low ones first.
    bits = np.unpackbits(cells.astype("<u2").reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")[:, :10]
    flat = np.packbits(bits.reshape(-1), bitorder="little")
    packed = np.frombuffer(flat.tobytes() + bytes(-len(flat) % 8), "<i8").astype(np.int64)
    names = ["minecraft:air", *(f"block_{number}" for number in range(1, 600))]
    region = box((0, 0, 0), (edge, edge, edge), np.zeros(1, int), names) | {"BlockStates": packed}
    path = tmp_path / "town.litematic"
    path.write_bytes(gzip.compress(litematic({"town": region}), 1))
    # What `getrusage` tells of a process begins with what its parent had.
    program = (
        "import sys, time; from pathlib import Path; from ecs_audio.world import World;"
        "peak = lambda: int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]);"
        "before = peak(); start = time.process_time();"
        "world = World.load(sys.argv[1]); seconds = time.process_time() - start;"
        "used = peak() - before;"
        "print(world.size.prod(), used * 1024 / world.size.prod(), seconds)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    ).stdout.split()
    assert int(printed[0]) == edge**3 > 13_000_000
    assert float(printed[1]) < 2.5
    # Measured at 0.5 s of one core.
    assert float(printed[2]) < 3.0
    world = World.load(path)
    ids = world.ids((0, 0, 0), (edge, edge, edge))
    assert np.array_equal(ids, cells.transpose(2, 0, 1))
