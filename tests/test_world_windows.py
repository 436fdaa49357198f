"""Windows of large worlds: they have what the whole has there."""

from __future__ import annotations

import hashlib
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import chunk, real, region, section, write

from ecs_audio.world import OutsideError, World, WorldFormatError

NAMES = ["minecraft:air", "minecraft:stone", "minecraft:dirt", "minecraft:oak_slab[type=double]"]
HEIGHTS = (-2, 5)


def a_chunk(x: int, z: int, rng: np.random.Generator) -> bytes:
    """A chunk of mixed and uniform sections, in which some heights are missing."""
    sections = []
    for y in range(*HEIGHTS):
        # As in the game, the lowest and the highest are always there.
        kind = rng.integers(4) if y not in (HEIGHTS[0], HEIGHTS[1] - 1) else 1
        if kind == 0:
            sections.append(section(y, NAMES, rng.integers(0, len(NAMES), 4096)))
        elif kind < 3:
            sections.append(section(y, [str(rng.choice(NAMES))]))
    return chunk(x, z, sections)


def write_regions(folder: Path, places: list[tuple[int, int]], seed: int = 0) -> Path:
    """Write a chunk at each place into the region files of a folder."""
    rng = np.random.default_rng(seed)
    chunks = {place: a_chunk(*place, rng) for place in places}
    folder.mkdir(parents=True, exist_ok=True)
    for x, z in {(x >> 5, z >> 5) for x, z in places}:
        own = {place: data for place, data in chunks.items() if (place[0] >> 5, place[1] >> 5) == (x, z)}
        (folder / f"r.{x}.{z}.mca").write_bytes(region(own))
    return folder


def names_of(world: World, lo: tuple[int, int, int], hi: tuple[int, int, int]) -> np.ndarray:
    return np.array(world.palette.names)[world.ids(lo, hi)]


def digest(world: World, lo: tuple[int, int, int], hi: tuple[int, int, int]) -> str:
    """What the cells are called, whatever their numbers are."""
    numbers = np.array([zlib.crc32(name.encode()) for name in world.palette.names], np.uint32)
    return hashlib.sha256(numbers[world.ids(lo, hi)].tobytes()).hexdigest()


def known(world: World) -> set[tuple[int, int, int]]:
    """Sections that are known, by their coordinates."""
    return {tuple(at) for at in (np.argwhere(world.slots != -1) + world.section_origin).tolist()}


def touches(section: tuple[int, int, int], around: tuple[float, float, float], radius: float) -> bool:
    return all(16 * s < a + radius and 16 * s + 16 > a - radius for s, a in zip(section, around, strict=True))


def same_cells(one: World, two: World, sections: set[tuple[int, int, int]]) -> bool:
    corners = [(16 * x, 16 * y, 16 * z) for x, y, z in sections]
    boxes = [(at, tuple(edge + 16 for edge in at)) for at in corners]
    return all(np.array_equal(names_of(one, *box), names_of(two, *box)) for box in boxes)


PLACES = [(-33, 0), (-1, -1), (-1, 0), (0, -1), (0, 0), (1, 0), (0, 31), (0, 32), (31, 2), (32, 2), (32, 31)]


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_regions(tmp_path_factory.mktemp("worlds") / "region", PLACES)


@pytest.fixture(scope="module")
def whole(regions: Path) -> World:
    return World.load(regions)


# A window is what the whole has there.


@given(
    around=st.tuples(st.floats(-600, 600), st.floats(-60, 100), st.floats(-40, 600)),
    radius=st.floats(0.01, 300),
)
@settings(max_examples=60, deadline=None)
def test_any_window_of_a_folder_is_what_the_whole_has_there(
    regions: Path, whole: World, around: tuple[float, float, float], radius: float
) -> None:
    wanted = {at for at in known(whole) if touches(at, around, radius)}
    # Heights of 0 to 255 are declared, and are air where chunks have nothing.
    declared = {(x, y, z) for x, z in PLACES for y in range(min(HEIGHTS[0], 0), max(HEIGHTS[1], 16))}
    if not any(touches(at, around, radius) for at in declared):
        with pytest.raises(OutsideError, match="has nothing there"):
            World.load(regions, around=around, radius=radius)
        return
    part = World.load(regions, around=around, radius=radius)
    there = {at for at in known(part) if HEIGHTS[0] <= at[1] < HEIGHTS[1]}
    assert there == wanted
    assert all(touches(at, around, radius) for at in known(part))
    assert same_cells(part, whole, wanted)


def test_a_folder_has_the_cells_of_its_files(regions: Path) -> None:
    whole = World.load(regions)
    assert whole.report == []
    assert whole.origin.tolist() == [16 * -33, 16 * HEIGHTS[0], -16]
    assert whole.size.tolist() == [16 * 66, 16 * 7, 16 * 34]
    assert known(whole) == {(x, y, z) for x, z in PLACES for y in range(*HEIGHTS)}
    for file in regions.iterdir():
        one = World.load(file)
        assert same_cells(whole, one, known(one))


@pytest.mark.parametrize("at", [(-33, 0), (0, 32), (32, 31)])
def test_a_region_alone_knows_where_it_lies(regions: Path, tmp_path: Path, at: tuple[int, int]) -> None:
    data = (regions / f"r.{at[0] >> 5}.{at[1] >> 5}.mca").read_bytes()
    path = write(tmp_path, data)
    around = 16 * at[0] + 8, 20, 16 * at[1] + 8
    part, whole = World.load(path, around=around, radius=4), World.load(path)
    assert known(part) == {(at[0], 1, at[1])}
    assert same_cells(part, whole, known(part))
    assert part.origin[[0, 2]].tolist() == whole.origin[[0, 2]].tolist()
    assert part.size[[0, 2]].tolist() == whole.size[[0, 2]].tolist()


def test_sections_that_a_cube_only_touches_from_outside_are_not_loaded(regions: Path) -> None:
    assert known(World.load(regions, around=(8, 8, 8), radius=8)) == {(0, 0, 0)}
    assert len(known(World.load(regions, around=(8, 8, 8), radius=8.5))) == 15  # without the chunks that lack
    assert known(World.load(regions, around=(0, 0, 0), radius=0)) == {(0, 0, 0)}


@pytest.mark.parametrize("name", ["a.npz", "a.schem"])
def test_every_format_has_windows(tmp_path: Path, name: str) -> None:
    world = World.empty(size=(70, 40, 50), origin=(-35, 3, -7))
    world.put((-35, 3, -7), np.random.default_rng(0).integers(0, 1, (70, 40, 50)))
    world.fill((-20, 3, -7), (30, 20, 43), "stone")
    world.set((0, 9, 0), "dirt")
    world.set((-30, 4, 0), "dirt")
    world.save(tmp_path / name)
    part = World.load(tmp_path / name, around=(2, 9, 2), radius=3)
    assert known(part) == {(x, 0, z) for x in (-1, 0) for z in (-1, 0)}
    assert part.origin.tolist() == [-35, 3, -7]
    assert part.size.tolist() == [70, 40, 50]
    assert same_cells(part, world, known(part))
    assert part.memory() < World.load(tmp_path / name).memory()
    with pytest.raises(OutsideError, match=r"nothing there.*go from \(-35, 3, -7\) to \(34, 42, 42\)"):
        World.load(tmp_path / name, around=(0, 60, 0), radius=3)


def test_chunks_beyond_a_window_are_not_unpacked(tmp_path: Path) -> None:
    chunks = {(x, z): chunk(x, z, [section(0, ["minecraft:stone"])]) for x in range(8) for z in range(8)}
    data = bytearray(region(chunks))
    for at in (4 * 7, 4 * (32 * 7 + 1)):
        offset = int.from_bytes(data[at : at + 3], "big") * 4096
        data[offset + 4] = 79
    path = write(tmp_path, bytes(data))
    assert "skipped 2 of 64 chunks" in World.load(path).report[0]
    assert World.load(path, around=(40, 8, 40), radius=30, strict=True).report == []
    assert "skipped 1 of 9 chunks: chunk (7, 0)" in World.load(path, around=(120, 8, 8), radius=40).report[0]
    with pytest.raises(WorldFormatError, match="skipped 1 of 1 chunks"):
        World.load(path, around=(120, 8, 8), radius=1)


def test_a_window_takes_a_fraction_of_the_time_of_the_whole(tmp_path: Path) -> None:
    path = write_regions(tmp_path / "region", [(x, z) for x in range(32) for z in range(32)]) / "r.0.0.mca"

    def seconds(**options: object) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            World.load(path, **options)  # type: ignore[arg-type]
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(around=(256, 64, 256), radius=64) < 0.4 * seconds()


def test_a_real_region_has_the_same_cells_in_a_window() -> None:
    path = real("mca_1.21.1_r.0.0.mca")
    whole, part = World.load(path), World.load(path, around=(120, 64, 120), radius=64)
    assert part.origin.tolist() == whole.origin.tolist()
    assert part.size.tolist() == whole.size.tolist()
    lo, hi = (56, 0, 56), (184, 128, 184)
    assert digest(part, lo, hi) == digest(whole, lo, hi)
    assert part.section_counts().mixed < whole.section_counts().mixed
    assert known(part) == {at for at in known(whole) if touches(at, (120, 64, 120), 64)}


# Where there is nothing, it is told where the world is.


def test_a_point_outside_is_told_where_the_world_is(regions: Path) -> None:
    with pytest.raises(OutsideError, match=r"regions span x -1024 to 1023 and z -512 to 1023\.$") as error:
        World.load(regions, around=(5000, 64, 0), radius=64)
    assert str(regions) in str(error.value)
    assert "64 cells of (5000, 64, 0)" in str(error.value)
    assert isinstance(error.value, ValueError)
    with pytest.raises(OutsideError, match=r"nothing is known within .* go from .*, -32, .* to .*, 255, "):
        World.load(regions, around=(8, 900, 8), radius=64)
    file = regions / "r.0.0.mca"
    with pytest.raises(OutsideError, match="its chunks span x 0 to 511 and z 0 to 511"):
        World.load(file, around=(-600, 64, 0), radius=64)
    with pytest.raises(OutsideError, match=r"no chunk lies within 10 .* nearest one is at x 24, z 8,"):
        World.load(regions, around=(200, 0, 200), radius=10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"around": (0, 0)}, "around must be exactly three numbers"),
        ({"around": "0,0,0"}, "around must be"),
        ({"around": (0, float("nan"), 0)}, "around must lie from"),
        ({"around": (0, 0, 0), "radius": -1}, "radius must lie from 0"),
        ({"around": (0, 0, 0), "radius": float("inf")}, "radius must lie from 0"),
    ],
)
def test_a_window_of_no_numbers_is_refused(regions: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        World.load(regions, **options)  # type: ignore[arg-type]
