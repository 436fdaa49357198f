"""Windows of large worlds, world folders, and what is loaded while an engine runs."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import TICK
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import chunk, real, region, section, write

import ecs_audio as ea
from ecs_audio.cli.app import cli
from ecs_audio.world import OutsideError, World, WorldFormatError
from ecs_audio.world.limits import MAX_CELLS

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
    if not wanted:
        with pytest.raises(OutsideError, match="has nothing there"):
            World.load(regions, around=around, radius=radius)
        return
    part = World.load(regions, around=around, radius=radius)
    # Heights of 0 to 255 are declared, and are air where chunks have nothing.
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


# Folders


@pytest.mark.parametrize("within", ["", "region", "DIM-1/region", "dimensions/minecraft/overworld/region"])
def test_a_save_a_dimension_and_a_folder_of_regions_load(tmp_path: Path, within: str) -> None:
    write_regions(tmp_path / "save" / within, [(0, 0), (40, 0)])
    (tmp_path / "save" / "level.dat").write_bytes(b"\x1f\x8b")
    place = tmp_path / "save" / ("DIM-1" if within.startswith("DIM") else "")
    assert known(World.load(place)) >= {(0, 0, 0), (40, 0, 0)}
    assert known(World.load(place, around=(648, 8, 8), radius=1)) == {(40, 0, 0)}


def test_a_folder_without_regions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "region").mkdir()
    (tmp_path / "region" / "r.00.0.mca").touch()
    (tmp_path / "region" / "r.a.0.mca").touch()
    with pytest.raises(WorldFormatError, match=r"folder without region files \(r\.X\.Z\.mca\)"):
        World.load(tmp_path)


def test_damaged_files_of_a_folder_are_reported(tmp_path: Path) -> None:
    folder = write_regions(tmp_path, [(0, 0), (32, 0), (0, 32), (64, 0)])
    (folder / "r.3.0.mca").touch()  # the game leaves these behind
    (folder / "r.1.0.mca").write_bytes(b"short")
    (folder / "r.2.0.mca").unlink()
    (folder / "r.2.0.mca").mkdir()
    (folder / "r.-1.0.mca").write_bytes((folder / "r.0.1.mca").read_bytes())
    world = World.load(folder)
    assert known(world) == {(0, y, z) for y in range(*HEIGHTS) for z in (0, 32)}
    assert world.report == [
        "r.-1.0.mca: skipped 1 of 1 chunks: chunk (0, 0): it belongs to the region (0, 1), not to (-1, 0).",
        "r.1.0.mca: it has 5 bytes, fewer than the 8192 of a region's header.",
        "r.2.0.mca: it is not a regular file.",
    ]
    with pytest.raises(
        WorldFormatError, match=r"r\.-1\.0\.mca: skipped 1 of 1.* r\.1\.0\.mca: it has 5 bytes"
    ):
        World.load(folder, strict=True)
    assert World.load(folder, around=(8, 8, 8), radius=4, strict=True).report == []
    with pytest.raises(WorldFormatError, match=r"r\.1\.0\.mca: it has 5 bytes"):
        World.load(folder, around=(600, 8, 8), radius=4)


def test_a_folder_larger_than_a_world_says_to_load_a_part(tmp_path: Path) -> None:
    folder = write_regions(tmp_path, [(0, 0), (32 * 20, 32 * 10), (300, 200)])
    with pytest.raises(WorldFormatError, match=r"span x 0 to 10255 .* load a part with around=\(x, y, z\)"):
        World.load(folder)
    part = World.load(folder, around=(4808, 8, 3208), radius=40)
    assert known(part) == {(300, y, 200) for y in range(-2, 3)}
    assert int(np.prod(part.size)) <= MAX_CELLS
    assert part.size[0] == part.size[2] > 1800
    assert abs(2 * 4808 - int(2 * part.origin[0] + part.size[0])) <= 64
    assert part.load_more(folder, around=(4809, 8, 3208), radius=100) > 0
    before = part.revision
    with pytest.raises(ValueError, match=r"beyond the world's box.* load another world there"):
        part.load_more(folder, around=(8, 8, 8), radius=40)
    assert part.revision == before
    with pytest.raises(WorldFormatError, match="may lie within 9000 cells of"):
        World.load(folder, around=(4808, 8, 3208), radius=9000)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_folder_with_any_byte_changed_is_a_world_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = write_regions(tmp_path_factory.mktemp("flip"), [(0, 0), (32, 0)])
    file = folder / "r.1.0.mca"
    contents = bytearray(file.read_bytes())
    at = data.draw(st.one_of(st.integers(0, 7), st.integers(8192, len(contents) - 1)))
    contents[at] ^= data.draw(st.integers(1, 255))
    file.write_bytes(contents[: data.draw(st.integers(0, len(contents)))])
    world = World.load(folder)
    assert (0, 0, 0) in known(world)
    try:
        World.load(folder, around=(520, 8, 8), radius=9)
        World.load(file, around=(520, 8, 8), radius=9)
    except (WorldFormatError, OutsideError):
        pass


# More while it runs


def test_a_world_loaded_in_parts_is_the_world_loaded_at_once(regions: Path) -> None:
    whole = World.load(regions)
    world = World.load(regions, around=(8, 20, 8), radius=20)
    rng = np.random.default_rng(3)
    centres = [(16 * x + 8, 16 * y + 8, 16 * z + 8) for x, z in PLACES for y in (-2, 1, 4)]
    for around in rng.permutation(centres).tolist():
        before, revision = known(world), world.revision
        count = world.load_more(regions, around=around, radius=30)
        new = known(world) - before
        assert count == len(new)
        assert (world.revision > revision) == (count > 0)
        assert new <= {tuple(at) for at in world.dirty_sections(revision).tolist()}
        assert world.load_more(regions, around=around, radius=30) == 0
    assert known(world) >= known(whole)
    assert same_cells(world, whole, known(whole))
    for lo in ((-544, -40, -16), (-32, -40, -32), (488, -40, 16)):
        hi = lo[0] + 60, 120, lo[2] + 60
        assert digest(world, lo, hi) == digest(whole, lo, hi)
    assert world.report == []


def test_what_is_known_is_never_overwritten(regions: Path) -> None:
    whole = World.load(regions)
    world = World.load(regions, around=(8, 8, 8), radius=4)
    world.fill((0, 0, 0), (16, 16, 16), "glass")
    world.set((20, 4, 4), "lamp")  # in a section that is not loaded yet
    assert world.load_more(regions, around=(16, 8, 8), radius=30) == 5 * 5 - 2
    assert names_of(world, (0, 0, 0), (16, 16, 16)).tolist() == [[["glass"] * 16] * 16] * 16
    assert world.material((20, 4, 4)) == "lamp"
    assert set(names_of(world, (16, 0, 0), (32, 16, 16)).ravel().tolist()) == {"air", "lamp"}
    assert np.array_equal(
        names_of(world, (0, 16, 0), (32, 32, 16)), names_of(whole, (0, 16, 0), (32, 32, 16))
    )


def test_a_moving_window_dirties_little_more_than_what_it_uncovers(tmp_path: Path) -> None:
    folder = write_regions(tmp_path, [(x, z) for x in range(12) for z in range(12)])
    for step in ((16, 0), (0, 16), (16, 16)):
        at = 80 + step[0], 16, 80 + step[1]
        one = World.load(folder, around=(80, 16, 80), radius=40)
        revision = one.revision
        count = one.load_more(folder, around=at, radius=40)
        assert len(one.dirty_sections(revision)) == count
        assert one.revision - revision <= 3


def a_patchy_world(rng: np.random.Generator, origin: tuple[int, ...], size: tuple[int, ...]) -> World:
    """A world of which some sections are unknown, some uniform and some mixed."""
    world = World.unknown(size=size, origin=origin)
    names = rng.permutation(["air", "stone", "dirt", "glass"])
    for name in names:
        low = origin + rng.integers(-8, np.array(size))
        world.fill(low, low + rng.integers(1, 40, 3), str(name))
        world.set(origin + rng.integers(0, np.array(size)), str(name))
    return world


SIZES = st.tuples(st.integers(1, 50), st.integers(1, 40), st.integers(1, 40))
ORIGINS = st.tuples(st.integers(-40, 40), st.integers(-20, 20), st.integers(-20, 20))


@given(
    seed=st.integers(0, 9999),
    box=st.tuples(ORIGINS, SIZES),
    other_box=st.tuples(ORIGINS, SIZES),
    around=st.none() | ORIGINS,
    radius=st.floats(0.01, 60),
)
@settings(max_examples=150, deadline=None)
def test_any_world_takes_from_any_other_what_it_does_not_know(
    seed: int,
    box: tuple[tuple[int, ...], tuple[int, ...]],
    other_box: tuple[tuple[int, ...], tuple[int, ...]],
    around: tuple[int, int, int] | None,
    radius: float,
) -> None:
    rng = np.random.default_rng(seed)
    world, other = a_patchy_world(rng, *box), a_patchy_world(rng, *other_box)
    before, offered = world.snapshot(), known(other)
    lo, hi = tuple(world.origin.tolist()), tuple((world.origin + world.size).tolist())
    base, shape = world.section_origin, world.slots.shape
    ours = {tuple(at) for at in (np.argwhere(np.ones(shape)) + base).tolist()}
    wanted = {at for at in offered if around is None or touches(at, around, radius)}
    if around is not None:  # a section that the point itself lies in, at its edge
        wanted |= {at for at in offered if at == tuple(a // 16 for a in around)}
    if wanted and not wanted & ours:
        with pytest.raises(ValueError, match="beyond the world's box"):
            world.load_more(other, around=around, radius=radius)
        wanted = set()
    else:
        new = wanted & ours - known(before)
        assert world.load_more(other, around=around, radius=radius) == len(new)
        assert known(world) == known(before) | new
        assert new <= {tuple(at) for at in world.dirty_sections(before.revision).tolist()}
    taken = known(world) - known(before)
    expected = names_of(before, lo, hi)
    found, given_names = names_of(world, lo, hi), names_of(other, lo, hi)
    sections = [(np.arange(lo[axis], hi[axis]) >> 4).tolist() for axis in range(3)]
    is_taken = np.array(
        [[[(x, y, z) in taken for z in sections[2]] for y in sections[1]] for x in sections[0]]
    )
    assert np.array_equal(found, np.where(is_taken, given_names, expected))
    # Beyond the border, in sections that it cuts, rays must meet nothing.
    inside = World.empty(size=world.size, origin=world.origin)
    inside.fill(lo, hi, "stone")
    for x, y, z in taken:
        at = x - base[0], y - base[1], z - base[2]
        if inside.slots[at] >= 0:
            beyond = inside.cells[inside.slots[at]] == 0
            assert world.slots[at] == -2 or not world.cells[world.slots[at]][beyond].any()


def test_a_world_takes_from_another_by_names(tmp_path: Path) -> None:
    source = World.empty(size=(40, 16, 16), origin=(0, 0, 0))
    source.fill((0, 0, 0), (16, 16, 16), "stone")
    source.fill((16, 0, 0), (20, 9, 16), "glass")
    world = World.unknown(size=(64, 32, 32), origin=(-16, -16, -16))
    world.set((-10, -10, -10), "lamp")
    assert world.load_more(source, around=(8, 8, 8), radius=1) == 1
    assert world.load_more(source) == 2
    assert (
        names_of(world, (0, 0, 0), (40, 16, 16)).tolist()
        == names_of(source, (0, 0, 0), (40, 16, 16)).tolist()
    )
    assert world.material((-10, -10, -10)) == "lamp"
    assert world.load_more(source, around=(900, 0, 0)) == 0
    snapshot = world.snapshot()
    with pytest.raises(ValueError, match="read-only"):
        snapshot.load_more(source)


def test_a_snapshot_does_not_see_what_is_loaded_later(regions: Path) -> None:
    world = World.load(regions, around=(8, 20, 8), radius=10)
    snapshot = world.snapshot()
    before = known(snapshot)
    seen = digest(snapshot, (-32, -32, -32), (64, 80, 64))
    world.load_more(regions, around=(8, 20, 8), radius=60)
    assert known(snapshot) == before < known(world)
    assert digest(snapshot, (-32, -32, -32), (64, 80, 64)) == seen
    whole = World.load(regions)
    assert digest(world, (0, 0, 0), (32, 80, 16)) == digest(whole, (0, 0, 0), (32, 80, 16))


# What is loaded is heard.


@pytest.fixture
def walled(tmp_path: Path) -> Path:
    """A floor of stone, and a wall of stone between x 40 and 41."""
    world = World.empty(size=(96, 48, 96))
    world.fill((0, 0, 0), (96, 4, 96), "stone")
    world.fill((40, 0, 0), (41, 48, 96), "stone")
    world.save(tmp_path / "walled.npz")
    return tmp_path / "walled.npz"


def told(engine: ea.Engine, row: ea.Source) -> tuple[float, float, float]:
    s = engine.sources
    return float(s.transmission[row]), float(s.coupling[row]), float(s.gain_target[row])


@pytest.mark.parametrize("workers", [0, 1])
def test_a_wall_that_is_loaded_later_muffles_from_the_next_tick_on(
    walled: Path, clips: ea.Clips, workers: int
) -> None:
    world = World.load(walled, around=(24, 10, 40), radius=7)
    engine = ea.Engine(world, clips, settings=ea.Settings(workers=workers))
    with engine:
        engine.listener.look(position=(28.5, 10.5, 40.5))
        row = engine.spawn("tone", position=(52.5, 10.5, 40.5), looping=True, reference=30.0)
        for _ in range(30):
            engine.tick(TICK)
        assert engine.sources.transmission[row] == pytest.approx(1)  # unknown is open air
        assert world.load_more(walled, around=(40, 10, 40), radius=40) > 0
        engine.tick(TICK)
        for _ in range(100 * workers):  # a worker takes the time it needs
            if engine.sources.transmission[row] == 1:
                time.sleep(0.005)
                engine.tick(TICK)
        assert engine.sources.transmission[row] == pytest.approx(0.0498, rel=0.01)
        for _ in range(200):
            engine.tick(TICK)
        later = told(engine, row)
    whole = World.load(walled, around=(40, 10, 40), radius=40)
    with ea.Engine(whole, clips, settings=ea.Settings(workers=workers)) as engine:
        engine.listener.look(position=(28.5, 10.5, 40.5))
        row = engine.spawn("tone", position=(52.5, 10.5, 40.5), looping=True, reference=30.0)
        for _ in range(231 + workers):
            engine.tick(TICK)
        at_once = told(engine, row)
    assert later[0] == at_once[0]
    assert later[1:] == pytest.approx(at_once[1:], abs=0.1)


def test_a_body_stands_on_what_is_loaded_in_time(walled: Path, clips: ea.Clips) -> None:
    world = World.load(walled, around=(20, 40, 20), radius=2)
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=(20.5, 21.0, 20.5))
        walker = engine.move(engine.listener)
        for _ in range(20):
            engine.tick(TICK)
        falling = float(engine.movers.position[walker][1])
        assert 4 < falling < 21
        world.load_more(walled, around=(20, falling, 20), radius=24)
        for _ in range(120):
            engine.tick(TICK)
        assert engine.movers.position[walker][1] == pytest.approx(4, abs=0.01)


def test_a_thread_of_the_hosts_loads_while_ticks_go_on(regions: Path, clips: ea.Clips) -> None:
    world = World.load(regions, around=(8, 20, 8), radius=10)
    parts: list[World] = []
    loader = threading.Thread(
        target=lambda: parts.append(World.load(regions, around=(8, 20, 8), radius=200)), daemon=True
    )
    with ea.Engine(world, clips) as engine:
        engine.spawn("tone", position=(30, 20, 8), looping=True)
        loader.start()
        ticks = 0
        while loader.is_alive() or not ticks:
            engine.tick(TICK)
            ticks += 1
        loader.join()
        assert world.load_more(parts[0]) > 0
        engine.tick(TICK)
    assert known(world) == known(parts[0])
    assert same_cells(world, parts[0], known(world))


# The command line


def ask(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.stderr


def test_the_command_shows_a_window_and_converts_it(regions: Path, tmp_path: Path) -> None:
    window = ("--around", "-8,20,8", "--radius", 12)
    found = json.loads(ask("world", regions, *window, "--png", tmp_path / "map.png", "--json"))
    part = World.load(regions, around=(-8, 20, 8), radius=12)
    assert found["sections"]["unknown"] == part.section_counts().unknown
    assert (tmp_path / "map.png").exists()
    told = json.loads(ask("world", regions, *window, "--save", tmp_path / "part.npz", "--json"))
    assert told["saved"] == str(tmp_path / "part.npz")
    again = World.load(tmp_path / "part.npz")
    assert known(again) == known(part)
    assert same_cells(again, part, known(part))
    assert "part.npz" in ask("world", regions, *window, "--save", tmp_path / "part.npz")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--around", "1,2"], 2, "--around"),
        (["--around", "a,b,c"], 2, "three numbers between commas"),
        (["--radius", "9"], 2, "--radius needs --around"),
        (["--around", "9000,0,0"], 2, "regions span x -1024 to 1023"),
        (["--around", "8,8,8", "--radius", "-3"], 2, "--radius"),
        (["--save", "x.mca"], 2, "must end in .npz or .schem"),
    ],
)
def test_a_wrong_window_is_one_sentence(regions: Path, arguments: list[str], status: int, words: str) -> None:
    text = ask("world", regions, *arguments, status=status)
    assert words in text
    assert text.count("\n") == 1


SCENE = """
import ecs_audio as ea

def scenario(
    *, world: str | None = None, around: tuple[float, float, float] | None = None, radius: float = 256.0
) -> ea.Scenario:
    return ea.Scenario(ea.World.load(world, around=around, radius=radius), ea.Clips(), 0.05)
"""


def test_a_scenario_runs_in_a_window(regions: Path, tmp_path: Path) -> None:
    scene, bare = tmp_path / "scene.py", tmp_path / "bare.py"
    scene.write_text(SCENE, encoding="utf-8")
    bare.write_text("def scenario(*, world: str):\n    pass\n", encoding="utf-8")
    there = ("--world", regions, "--around", "-8,20,8")
    found = json.loads(ask("run", scene, *there, "--radius", "12.5", "--no-output", "--json"))
    assert found["parameters"]["around"] == [-8.0, 20.0, 8.0]
    assert found["parameters"]["radius"] == 12.5
    found = json.loads(ask("play", scene, *there, "--silent", "--plain", "--json"))
    assert found["parameters"]["radius"] == 256.0
    far = ("--world", regions, "--around", "9000,0,0")
    assert "regions span x -1024 to 1023" in ask("run", scene, *far, "--no-output", status=2)
    assert "bare has no parameter 'around'" in ask("run", bare, *there, status=2)
    for command in ("run", "play"):
        assert "give one with --world" in ask(command, scene, "--around", "1,2,3", status=2)
        assert "--radius needs --around" in ask(command, scene, "--radius", "3", status=2)


def test_unknown_sections_that_a_schem_loses_are_told(tmp_path: Path) -> None:
    folder, out = write_regions(tmp_path / "gap", [(0, 0), (2, 0)]), tmp_path / "a.schem"
    result = CliRunner().invoke(cli, ["world", str(folder), "--around", "8,8,8", "--save", str(out)])
    assert result.exit_code == 0
    assert "sections are not loaded, and a .schem has them as air" in result.stderr
    assert World.load(out).size.tolist() == [48, 288, 16]
