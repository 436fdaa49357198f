"""Parts of a world that come later, from files and from other worlds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_windows import (
    PLACES,
    digest,
    known,
    names_of,
    same_cells,
    touches,
    write_regions,
)

from ecs_audio.world import World


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_regions(tmp_path_factory.mktemp("worlds") / "region", PLACES)


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
