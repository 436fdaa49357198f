"""The voxel world: edits, snapshots, and what kernels read."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ecs_audio.world import World

ORIGIN = (-3, -2, 13)
SIZE = (20, 19, 18)
NAMES = ["air", "stone", "glass", "water", "poppy", "oak_slab[type=double]"]

Cell = tuple[int, int, int]


def sections_of(lo: Cell, hi: Cell) -> set[Cell]:
    return {
        (x, y, z)
        for x in range(lo[0] >> 4, (hi[0] - 1 >> 4) + 1)
        for y in range(lo[1] >> 4, (hi[1] - 1 >> 4) + 1)
        for z in range(lo[2] >> 4, (hi[2] - 1 >> 4) + 1)
    }


class Model:
    """A world as a dict: slow and obvious."""

    def __init__(self, is_known: bool) -> None:
        self.names: dict[Cell, str] = {}
        end = tuple(o + s for o, s in zip(ORIGIN, SIZE, strict=True))
        self.known = sections_of(ORIGIN, end) if is_known else set()
        self.revision = 0

    def copy(self) -> "Model":
        twin = Model(False)
        twin.names, twin.known, twin.revision = dict(self.names), set(self.known), self.revision
        return twin

    def is_inside(self, cell: Cell) -> bool:
        return all(o <= c < o + s for c, o, s in zip(cell, ORIGIN, SIZE, strict=True))

    def write(self, cells: dict[Cell, str]) -> None:
        inside = {cell: name for cell, name in cells.items() if self.is_inside(cell)}
        for (x, y, z), name in inside.items():
            self.names[x, y, z] = name
            self.known.add((x >> 4, y >> 4, z >> 4))
        self.revision += bool(inside)

    def ids(self, world: World) -> np.ndarray:
        found = np.zeros(SIZE, np.uint16)
        for (x, y, z), name in self.names.items():
            found[x - ORIGIN[0], y - ORIGIN[1], z - ORIGIN[2]] = world.palette.names.index(name)
        return found


def box(lo: Cell, hi: Cell) -> list[Cell]:
    return [(x, y, z) for x in range(lo[0], hi[0]) for y in range(lo[1], hi[1]) for z in range(lo[2], hi[2])]


def check(world: World, model: Model) -> None:
    lo, hi = ORIGIN, tuple(o + s for o, s in zip(ORIGIN, SIZE, strict=True))
    assert np.array_equal(world.ids(lo, hi), model.ids(world))
    assert world.revision == model.revision
    slots = world.slots
    for index in np.ndindex(slots.shape):
        section = tuple(int(a + b) for a, b in zip(index, world.section_origin, strict=True))
        assert (slots[index] != -1) == (section in model.known)
        if slots[index] >= 0:
            # Outside the declared box, cells of border sections are air.
            cells = world.cells[slots[index]].reshape(16, 16, 16)
            for y, z, x in np.argwhere(cells != 0).tolist():
                assert model.is_inside((16 * section[0] + x, 16 * section[1] + y, 16 * section[2] + z))
    mixed = slots[slots >= 0]
    assert len(np.unique(mixed)) == len(mixed)
    counts = world.section_counts()
    assert sum(counts) == slots.size
    assert counts.unknown == slots.size - len(model.known)


coordinate = st.integers(-8, 40)
corner = st.tuples(st.integers(-6, 20), st.integers(-5, 20), st.integers(8, 34))
edge = st.one_of(st.integers(0, 5), st.just(16), st.just(30))
edges = st.tuples(edge, edge, edge)
a_name = st.sampled_from(NAMES)


class WorldAgainstDict(RuleBasedStateMachine):
    """Whatever is done to a world and to a dict, they stay equal, and so do the snapshots taken meanwhile."""

    @initialize(is_known=st.booleans())
    def begin(self, is_known: bool) -> None:
        make = World.empty if is_known else World.unknown
        self.world = make(size=SIZE, origin=ORIGIN)
        for name in NAMES:
            self.world.palette.id(name)
        self.model = Model(is_known)
        self.snapshots: list[tuple[World, Model]] = []

    @rule(cell=corner, name=a_name)
    def set(self, cell: Cell, name: str) -> None:
        if self.model.is_inside(cell):
            self.world.set(cell, name)
            self.model.write({cell: name})
            assert self.world.material(cell) == name
        else:
            with pytest.raises(IndexError, match="lies outside the world"):
                self.world.set(cell, name)

    @rule(lo=corner, size=edges, name=a_name)
    def fill(self, lo: Cell, size: Cell, name: str) -> None:
        hi = (lo[0] + size[0], lo[1] + size[1], lo[2] + size[2])
        self.world.fill(lo, hi, name)
        self.model.write(dict.fromkeys(box(lo, hi), name))

    @rule(name=a_name)
    def fill_everything(self, name: str) -> None:
        hi = tuple(o + s for o, s in zip(ORIGIN, SIZE, strict=True))
        self.world.fill((-1000, -(10**30), -1000), (1000, 1000, 10**30), name)
        self.model.write(dict.fromkeys(box(ORIGIN, hi), name))  # type: ignore[arg-type]

    @rule(
        center=corner,
        offset=st.sampled_from([0.0, 0.5, 0.3]),
        radius=st.sampled_from([0.0, 0.6, 2.5, 4.0, 13.0]),
    )
    def carve(self, center: Cell, offset: float, radius: float) -> None:
        middle = [number + offset for number in center]
        self.world.carve(middle, radius)
        reach = math.ceil(radius) + 1
        near = box(tuple(c - reach for c in center), tuple(c + reach + 1 for c in center))  # type: ignore[arg-type]
        gone = [
            cell
            for cell in near
            if sum((c + 0.5 - m) ** 2 for c, m in zip(cell, middle, strict=True)) <= radius**2
        ]
        self.model.write(dict.fromkeys(gone, "air"))

    @rule(lo=corner, size=edges, seed=st.integers(0, 9), is_uniform=st.booleans())
    def put(self, lo: Cell, size: Cell, seed: int, is_uniform: bool) -> None:
        ids = np.random.default_rng(seed).integers(0, len(NAMES), size).astype(np.int64)
        if is_uniform:
            ids[:] = seed % len(NAMES)
        self.world.put(lo, ids)
        hi = (lo[0] + size[0], lo[1] + size[1], lo[2] + size[2])
        names = [self.world.palette.names[number] for number in ids.reshape(-1).tolist()]
        self.model.write(dict(zip(box(lo, hi), names, strict=True)))

    @precondition(lambda self: len(self.snapshots) < 3)
    @rule()
    def snapshot(self) -> None:
        self.snapshots.append((self.world.snapshot(), self.model.copy()))

    @precondition(lambda self: self.snapshots)
    @rule(which=st.integers(0, 2))
    def forget_a_snapshot(self, which: int) -> None:
        del self.snapshots[which % len(self.snapshots)]

    @invariant()
    def all_are_equal(self) -> None:
        if hasattr(self, "world"):
            check(self.world, self.model)
            for world, model in self.snapshots:
                check(world, model)


TestWorldAgainstDict = WorldAgainstDict.TestCase
TestWorldAgainstDict.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)


def town() -> World:
    world = World.empty(size=(64, 48, 64), origin=(-32, -16, -32))
    world.fill((-32, -16, -32), (32, 0, 32), "stone")
    world.fill((-32, 0, -32), (32, 1, 32), "grass_block")
    return world


def test_a_new_world_is_air_and_known() -> None:
    world = World.empty(size=(20, 16, 33), origin=(-1, 0, 5), cell_size=0.5)
    assert world.slots.shape == (3, 1, 3)
    assert world.slots.dtype == np.int32
    assert world.slots.flags.c_contiguous
    assert (world.slots == -2).all()
    assert world.section_origin.tolist() == [-1, 0, 0]
    assert world.origin.tolist() == [-1, 0, 5]
    assert world.size.tolist() == [20, 16, 33]
    assert {a.dtype for a in (world.section_origin, world.origin, world.size)} == {np.dtype(np.int64)}
    assert world.cell_size == 0.5
    assert world.material((0, 0, 6)) == "air"
    assert world.is_known((0, 0, 6))
    assert not world.is_known((0, 16, 6))
    assert world.section_counts() == (9, 0, 0, 0)
    assert world.report == []


def test_an_unknown_world_becomes_known_where_it_is_written() -> None:
    world = World.unknown(size=(32, 16, 16))
    assert (world.slots == -1).all()
    assert world.material((1, 2, 3)) == "air"
    assert not world.is_known((1, 2, 3))
    world.set((1, 2, 3), "stone")
    assert world.is_known((15, 15, 15))
    assert world.material((15, 15, 15)) == "air"
    assert not world.is_known((16, 0, 0))
    world.carve((24, 8, 8), 2)
    assert world.slots[1, 0, 0] == -2
    assert world.section_counts() == (1, 0, 1, 0)


def test_cells_lie_where_kernels_look_for_them() -> None:
    world = World.empty(size=(40, 40, 40), origin=(-20, -20, -20))
    world.set((-20, 5, 19), "stone")
    section = np.array((-20, 5, 19)) >> 4
    slot = world.slots[tuple(section - world.section_origin)]
    assert slot >= 0
    row = world.cells[slot]
    index = (5 & 15) << 8 | (19 & 15) << 4 | (-20 & 15)
    assert row[index] == world.palette.id("stone")
    assert np.count_nonzero(row) == 1
    assert world.cells.dtype == np.uint16
    assert world.cells.flags.c_contiguous
    assert world.cells.shape[1] == 4096


def test_a_fill_of_whole_sections_makes_them_uniform_and_frees_their_rows() -> None:
    world = World.empty(size=(64, 64, 64))
    world.put((0, 0, 0), np.arange(64**3).reshape(64, 64, 64) % 1)
    world.fill((1, 1, 1), (63, 63, 63), "stone")
    stone = world.palette.id("stone")
    assert (world.slots[1:3, 1:3, 1:3] == -2 - stone).all()
    assert world.section_counts().mixed == 64 - 8
    rows = len(world.cells)
    for name in ("air", "dirt", "air"):
        world.fill((0, 0, 0), (64, 64, 64), name)
        assert (world.slots == -2 - world.palette.id(name)).all()
        world.fill((1, 1, 1), (63, 63, 63), "glass")
    assert len(world.cells) == rows


def test_a_fill_with_what_is_there_makes_nothing_mixed() -> None:
    world = World.empty(size=(32, 32, 32))
    world.fill((0, 0, 0), (32, 32, 32), "stone")
    world.fill((3, 3, 3), (30, 30, 30), "stone")
    world.set((1, 1, 1), "stone")
    world.carve((40, 40, 40), 3)
    assert world.section_counts() == (0, 8, 0, 0)
    assert world.revision == 3


def test_a_broken_cell_is_air_and_bumps_the_revision() -> None:
    world = town()
    before = world.revision
    world.set((3, 0, 3), "air")
    assert world.material((3, 0, 3)) == "air"
    assert world.material((4, 0, 3)) == "grass_block"
    assert world.revision == before + 1
    assert world.edits[(world.revision - 1) % 1024].tolist() == [3, 0, 3, 4, 1, 4]


def test_the_journal_holds_the_clipped_box_of_every_edit() -> None:
    world = town()
    world.fill((-100, 2, 0), (-30, 3, 100), "glass")
    assert world.edits[2].tolist() == [-32, 2, 0, -30, 3, 32]
    world.put((30, 30, 30), np.zeros((9, 9, 9), np.uint8))
    assert world.edits[3].tolist() == [30, 30, 30, 32, 32, 32]
    world.carve((0, 0, 0), 1.5)
    x0, y0, z0, x1, y1, z1 = world.edits[4].tolist()
    assert x0 <= -1 <= 1 <= x1
    assert (x0, x1) == (y0, y1) == (z0, z1)
    assert world.edits.shape == (1024, 6)
    assert world.edits.dtype == np.int64
    assert world.revision == 5


def test_edits_that_lie_outside_change_nothing() -> None:
    world = town()
    before, slots = world.revision, world.slots.copy()
    world.fill((40, 0, 0), (50, 1, 1), "stone")
    world.fill((0, 0, 0), (0, 5, 5), "stone")
    world.fill((5, 5, 5), (0, 0, 0), "stone")
    world.put((0, 48, 0), np.zeros((3, 3, 3), np.uint16))
    world.put((0, 0, 0), np.zeros((0, 3, 3), np.uint16))
    world.carve((100, 0, 0), 5)
    world.carve((-33, 0, 0), 1.2)
    world.carve((0, 0, 0), 0.1)
    assert world.revision == before
    assert np.array_equal(world.slots, slots)


def test_a_set_outside_names_the_cell_and_the_box() -> None:
    with pytest.raises(IndexError, match=r"\(32, 0, 0\) lies outside .* \(-32, -16, -32\) to \(32, 32, 32\)"):
        town().set((32, 0, 0), "stone")


def test_dirty_sections_are_those_touched_since() -> None:
    world = town()
    start = world.revision
    assert world.dirty_sections(start).shape == (0, 3)
    world.set((0, 0, 0), "stone")
    world.set((1, 0, 0), "stone")
    world.fill((15, 0, -1), (17, 1, 1), "stone")
    assert sorted(map(tuple, world.dirty_sections(start).tolist())) == [
        (0, 0, -1),
        (0, 0, 0),
        (1, 0, -1),
        (1, 0, 0),
    ]
    assert world.dirty_sections(start + 1).shape == (4, 3)
    assert world.dirty_sections(start).dtype == np.int64
    assert len(world.dirty_sections(0)) == 4 * 2 * 4


def test_dirty_sections_are_all_when_the_ring_no_longer_reaches_back() -> None:
    world = town()
    for i in range(1024):
        world.set((i % 8, 0, 0), "stone")
    start = world.revision
    assert len(world.dirty_sections(start - 1024)) == 1
    assert len(world.dirty_sections(start - 1025)) == 4 * 3 * 4
    assert len(world.dirty_sections(-1)) == 4 * 3 * 4
    with pytest.raises(ValueError, match="since must be at most the revision 1026, got 1027"):
        world.dirty_sections(start + 1)


def test_a_box_of_ids_reaches_beyond_the_world() -> None:
    world = town()
    ids = world.ids((30, -1, 30), (34, 2, 34))
    assert ids.shape == (4, 3, 4)
    assert ids.dtype == np.uint16
    assert [world.palette.names[i] for i in ids[0, :, 0]] == ["stone", "grass_block", "air"]
    assert not ids[2:].any()
    assert world.ids((5, 5, 5), (5, 4, 9)).shape == (0, 0, 4)


def naive_heights(world: World) -> np.ndarray:
    x0, y0, z0 = world.origin.tolist()
    dx, dy, dz = world.size.tolist()
    found = np.full((dx, dz), y0 - 1)
    for x in range(dx):
        for z in range(dz):
            for y in range(dy):
                name = world.material((x0 + x, y0 + y, z0 + z))
                if world.palette.kind[world.palette.id(name)] != 0:
                    found[x, z] = y0 + y
    return found


@given(seed=st.integers(0, 1000), density=st.sampled_from([0.0, 0.001, 0.05]))
@settings(max_examples=15, deadline=None)
def test_heights_are_those_of_the_highest_cell_that_is_not_open(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    world = World.empty(size=(18, 37, 21), origin=(-5, -9, 3))
    for name in NAMES:
        world.palette.id(name)
    world.put((-5, -9, 3), np.where(rng.random((18, 37, 21)) < density, rng.integers(0, 6, (18, 37, 21)), 0))
    world.fill((3, -3, 3), (20, int(rng.integers(-2, 20)), 20), "water")
    heights = world.heights()
    assert heights.dtype == np.int64
    assert np.array_equal(heights, naive_heights(world))


def test_heights_of_empty_columns_lie_below_the_world() -> None:
    assert (World.unknown(size=(3, 40, 5), origin=(0, -7, 0)).heights() == np.full((3, 5), -8)).all()


def test_worlds_thirty_million_metres_away_are_exact() -> None:
    origin = (30_000_000, -64, -30_000_000)
    world = World.empty(size=(32, 32, 32), origin=origin)
    world.fill(origin, (30_000_032, -32, -29_999_968), "stone")
    world.carve((30_000_008.5, -56 + 0.5, -29_999_992 + 0.5), 1)
    ids = world.ids(origin, (30_000_032, -32, -29_999_968))
    assert np.argwhere(ids == 0).tolist() == [
        [7, 8, 8],
        [8, 7, 8],
        [8, 8, 7],
        [8, 8, 8],
        [8, 8, 9],
        [8, 9, 8],
        [9, 8, 8],
    ]


def test_a_huge_sphere_empties_the_world() -> None:
    world = town()
    world.carve((0, 0, 0), 2.0**40)
    assert (world.slots == -2).all()


def test_numpy_numbers_and_arrays_are_arguments() -> None:
    world = World.empty(size=np.array([8, 8, 8]), origin=np.zeros(3, int), cell_size=np.float32(0.5))
    world.set(np.array([1, 2, 3], np.int32), "stone")
    world.fill([np.int64(0)] * 3, iter([1, 1, 1]), "stone")
    world.carve(np.array([1.5, 2.5, 3.5], np.float32), radius=np.int64(1))
    assert world.material(np.array([1, 2, 3])) == "air"
    assert world.material((0, 0, 0)) == "stone"


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "size must be .* 1073741824 cells", lambda w: World.empty(size=(1025, 1024, 1024))),
        (ValueError, "size must be .* 1 cell", lambda w: World.empty(size=(1, 0, 1))),
        (ValueError, "size must be exactly three", lambda w: World.empty(size=(1, 1))),
        (TypeError, "size must be three whole numbers", lambda w: World.empty(size=(1.0, 1, 1))),
        (TypeError, "size must be three whole numbers", lambda w: World.empty(size=3)),
        (ValueError, "origin must lie within", lambda w: World.empty(size=(1, 1, 1), origin=(2**41, 0, 0))),
        (
            TypeError,
            "origin must be three whole",
            lambda w: World.empty(size=(1, 1, 1), origin=(math.nan, 0, 0)),
        ),
        (ValueError, "cell_size must lie from 0.001", lambda w: World.empty(size=(1, 1, 1), cell_size=0)),
        (ValueError, "cell_size .* nan", lambda w: World.empty(size=(1, 1, 1), cell_size=math.nan)),
        (ValueError, "cell_size .* inf", lambda w: World.unknown(size=(1, 1, 1), cell_size=math.inf)),
        (TypeError, "cell_size must be a number", lambda w: World.empty(size=(1, 1, 1), cell_size="1")),
        (TypeError, "cell must be three whole numbers", lambda w: w.set((1, 2, 3.5), "stone")),
        (TypeError, "cell must be three whole numbers", lambda w: w.set((1, 2, math.nan), "stone")),
        (ValueError, "cell must be exactly three", lambda w: w.set((1, 2), "stone")),
        (ValueError, "cell must be exactly three", lambda w: w.set((1, 2, 3, 4), "stone")),
        (TypeError, "cell must be three whole numbers", lambda w: w.set(5, "stone")),
        (TypeError, "cell must be three whole numbers", lambda w: w.set("abc", "stone")),
        (TypeError, "name must be a block name", lambda w: w.set((1, 2, 3), 7)),
        (ValueError, "name must have", lambda w: w.fill((0, 0, 0), (1, 1, 1), "")),
        (TypeError, "lo must be three whole numbers", lambda w: w.fill((0, 0, math.inf), (1, 1, 1), "stone")),
        (TypeError, "hi must be three whole numbers", lambda w: w.fill((0, 0, 0), np.ones((3, 2)), "stone")),
        (ValueError, "center must lie", lambda w: w.carve((0, math.nan, 0), 1)),
        (ValueError, "center must lie", lambda w: w.carve((0, -math.inf, 0), 1)),
        (ValueError, "center must lie", lambda w: w.carve((10**400, 0, 0), 1)),
        (ValueError, "center must be exactly three", lambda w: w.carve((0, 0), 1)),
        (TypeError, "center must be three numbers", lambda w: w.carve(0, 1)),
        (TypeError, "center must be a number", lambda w: w.carve("abc", 1)),
        (ValueError, "radius must lie", lambda w: w.carve((0, 0, 0), -1)),
        (ValueError, "radius must lie .* nan", lambda w: w.carve((0, 0, 0), math.nan)),
        (ValueError, "radius must lie", lambda w: w.carve((0, 0, 0), math.inf)),
        (TypeError, "radius must be a number", lambda w: w.carve((0, 0, 0), None)),
        (TypeError, "ids must be whole numbers", lambda w: w.put((0, 0, 0), np.zeros((1, 1, 1)))),
        (ValueError, "ids must have three dimensions", lambda w: w.put((0, 0, 0), np.zeros((1, 1), int))),
        (ValueError, "ids must lie from 0 to 2, got 0 to 3", lambda w: w.put((0, 0, 0), [[[0, 3]]])),
        (ValueError, "ids must lie from 0 to 2, got -1 to 0", lambda w: w.put((0, 0, 0), [[[0, -1]]])),
        (ValueError, "hi must leave at most", lambda w: w.ids((0, 0, 0), (2**20, 2**20, 1))),
        (ValueError, "hi must leave at most", lambda w: w.ids((0, 0, 0), (2**90, 0, 1))),
        (TypeError, "cell must be", lambda w: w.material((0.5, 0, 0))),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(
    error: type[Exception], message: str, call: object
) -> None:
    world = town()
    before = world.revision
    with pytest.raises(error, match=message):
        call(world)  # type: ignore[operator]
    assert world.revision == before


def test_what_a_world_is_shows_in_its_repr() -> None:
    assert "(-32, -16, -32) to (32, 32, 32)" in repr(town())
    assert "snapshot" in repr(town().snapshot())


def test_the_bytes_of_a_world_are_counted() -> None:
    world = town()
    assert world.memory() >= world.slots.nbytes + world.cells.nbytes + world.edits.nbytes
