"""Snapshots of a world: later edits do not touch them, and dead ones cost nothing."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from test_world import town

from ecs_audio.world import World


def test_a_snapshot_does_not_see_later_edits() -> None:
    world = town()
    snapshot = world.snapshot()
    world.set((0, 0, 0), "glass")
    second = world.snapshot()
    world.set((0, 0, 0), "dirt")
    world.fill((-32, -16, -32), (32, 32, 32), "air")
    assert [w.material((0, 0, 0)) for w in (snapshot, second, world)] == ["grass_block", "glass", "air"]
    assert (snapshot.revision, second.revision) == (2, 3)
    assert snapshot.palette is world.palette
    assert snapshot.snapshot() is snapshot
    assert len(second.dirty_sections(2)) == 1


def test_a_snapshot_cannot_be_written() -> None:
    snapshot = town().snapshot()
    for write in (
        lambda: snapshot.set((0, 0, 0), "stone"),
        lambda: snapshot.fill((0, 0, 0), (1, 1, 1), "stone"),
        lambda: snapshot.carve((0, 0, 0), 3),
        lambda: snapshot.put((0, 0, 0), np.zeros((1, 1, 1), int)),
    ):
        with pytest.raises(ValueError, match="snapshot is read-only"):
            write()


def test_a_snapshot_of_a_large_world_allocates_its_slots_only() -> None:
    world = World.empty(size=(1024, 256, 1024))
    world.fill((0, 60, 0), (1024, 61, 1024), "stone")
    assert world.memory() > 32 * 2**20
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        snapshot = world.snapshot()
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(now, peak) - start < snapshot.slots.nbytes + snapshot.edits.nbytes + 16_384
    assert snapshot.cells is world.cells


def test_an_edit_after_a_snapshot_copies_one_section() -> None:
    world = town()
    world.set((0, 20, 0), "stone")
    snapshot = world.snapshot()
    before = world.section_counts().mixed
    rows = {int(slot) for slot in world.slots.reshape(-1)}
    world.set((0, 0, 0), "glass")
    world.set((1, 0, 0), "glass")
    assert len({int(slot) for slot in world.slots.reshape(-1)} - rows) == 1
    assert world.section_counts().mixed == before
    assert snapshot.material((1, 0, 0)) == "grass_block"


def test_rows_of_dead_snapshots_are_used_again() -> None:
    world = town()
    rows = len(world.cells)
    for i in range(4 * rows):
        snapshot = world.snapshot()
        world.fill((-32, 0, -32), (32, 1, 32), "glass" if i % 2 else "dirt")
        assert snapshot.material((0, 0, 0)) != world.material((0, 0, 0))
    assert len(world.cells) <= 4 * rows


@pytest.mark.parametrize("survivor", ["older", "newer"])
def test_a_dead_snapshot_takes_nothing_from_another(survivor: str) -> None:
    world = World.empty(size=(64, 96, 64))
    layer = (0, 0, 0), (64, 1, 64)
    # Room to spare: growth would end all sharing.
    world.palette.id("stone")
    world.put((0, 0, 0), np.indices((64, 96, 64))[0] % 2)
    world.fill((0, 0, 0), (64, 96, 64), "air")
    cells = world.cells
    snapshots = {}
    world.fill(*layer, "stone")
    snapshots["older"] = world.snapshot()
    world.fill(*layer, "glass")
    snapshots["newer"] = world.snapshot()
    world.fill(*layer, "water")
    expected = snapshots[survivor].ids(*layer)
    assert len(np.unique(expected)) == 1
    snapshots = {survivor: snapshots[survivor]}
    world.fill((0, 20, 0), (64, 21, 64), "poppy")
    world.fill((0, 40, 0), (64, 41, 64), "dirt")
    assert world.cells is cells
    assert np.array_equal(snapshots[survivor].ids(*layer), expected)


def test_the_newest_living_snapshot_is_protected_when_a_newer_one_dies() -> None:
    world = town()
    world.set((0, 20, 0), "stone")
    older = world.snapshot()
    world.set((0, 0, 0), "glass")
    newer = world.snapshot()
    newest = world.snapshot()
    del newest
    world.set((16, 20, 0), "stone")
    world.set((0, 0, 0), "dirt")
    assert [w.material((0, 0, 0)) for w in (older, newer, world)] == ["grass_block", "glass", "dirt"]


def test_a_dead_snapshot_costs_no_room() -> None:
    world = town()
    assert world.section_counts().mixed == len(world.cells)
    world.snapshot()
    cells = world.cells
    world.set((0, 0, 0), "glass")
    world.fill((1, 0, 0), (30, 1, 1), "glass")
    assert world.cells is cells


def test_a_dead_snapshot_is_not_kept_alive_by_its_world() -> None:
    world = town()
    snapshot = world.snapshot()
    gone = weakref.ref(snapshot)
    world.set((0, 0, 0), "glass")
    del snapshot
    gc.collect()
    assert gone() is None


def test_a_snapshot_survives_the_growth_of_the_pool() -> None:
    world = town()
    snapshot = world.snapshot()
    early = world.cells
    before = snapshot.ids(snapshot.origin, snapshot.origin + snapshot.size)
    rng = np.random.default_rng(0)
    world.put((-32, -16, -32), rng.integers(0, 3, (64, 48, 64)))
    assert world.cells is not early
    assert snapshot.cells is early
    assert np.array_equal(snapshot.ids(snapshot.origin, snapshot.origin + snapshot.size), before)


def test_a_worker_reads_a_snapshot_while_its_world_is_edited() -> None:
    world = town()
    box = world.origin, world.origin + world.size
    wrong: list[str] = []

    def read(snapshot: World, expected: np.ndarray) -> None:
        if not all(np.array_equal(snapshot.ids(*box), expected) for _ in range(4)):
            wrong.append("a snapshot has changed")

    for turn in range(25):
        snapshot = world.snapshot()
        worker = threading.Thread(target=read, args=(snapshot, snapshot.ids(*box)))
        del snapshot
        worker.start()
        for i in range(100):
            world.set((i % 64 - 32, i % 48 - 16, turn), "glass" if i % 2 else "air")
            world.carve((i % 60 - 30, 0, -turn), 3)
        worker.join()
    assert wrong == []
