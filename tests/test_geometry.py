"""The acoustic copy of a world: kept in step with edits, in bounded memory."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rays import MATERIALS, Hits, differences, edit, mixed_world

import ecs_audio as ea
from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.sections import AIR_ROW, OPEN, OWN_ROWS, UNKNOWN_ROW
from ecs_audio.systems.geometry import follow, sections_of


def kinds(world):
    """0 for sections in which something can be hit, 1 for air, 2 for unknown ones, shape [x, y, z]."""
    palette, slots = world.palette, world.slots
    kind = np.zeros(slots.shape, int)
    kind[slots == -1] = 2
    kind[slots < -1] = palette.kind[-2 - slots[slots < -1]] == OPEN
    kind[slots >= 0] = (palette.kind[world.cells[slots[slots >= 0]]] == OPEN).all(axis=1)
    return kind


def naive_cubes(kind):
    """Side of the largest cube of sections of one kind that begins at each, by octant; by trying sides."""
    sides = np.zeros((8, *kind.shape), int)
    for octant in range(8):
        up = [octant >> axis & 1 for axis in range(3)]
        for place, own in np.ndenumerate(kind):
            if own == 0:
                continue
            side = 1
            while side < 15:
                reach = tuple(
                    slice(p, p + side + 1) if u else slice(max(p - side, 0), p + 1)
                    for p, u in zip(place, up, strict=True)
                )
                if not (kind[reach] == own).all():
                    break
                side += 1
            sides[(octant, *place)] = side
    return sides


def cubes(geometry, shape):
    rest = geometry.records[1::2].reshape(shape)
    return np.stack([(rest >> np.uint64(32 + 4 * octant)) & np.uint64(15) for octant in range(8)])


def assert_in_step(geometry, world):
    """Records say of every section what the world says; bits, where there are any, are those of the cells."""
    kind = kinds(world)
    assert (cubes(geometry, kind.shape) == naive_cubes(kind)).all()
    mask, row = geometry.records[::2].reshape(kind.shape), geometry.records[1::2].reshape(kind.shape)
    row = (row & np.uint64(0xFFFF_FFFF)).astype(int)
    assert ((mask == 0) == (kind > 0)).all()
    assert (row[kind == 1] == AIR_ROW).all()
    assert (row[kind == 2] == UNKNOWN_ROW).all()
    assert geometry.state[6] == ((world.slots >= 0) & (kind == 0)).sum()
    for place in np.argwhere(row >= OWN_ROWS):
        solid = world.palette.kind[world.cells[world.slots[tuple(place)]]] != OPEN
        bricks = solid.reshape(4, 4, 4, 4, 4, 4).transpose(0, 2, 4, 1, 3, 5).reshape(64, 64)
        words = geometry.bits.reshape(-1, 64)[row[tuple(place)]]
        expected = (bricks.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        assert (words == expected).all()
        bit = np.flatnonzero(expected).astype(np.uint64)
        assert mask[tuple(place)] == (np.uint64(1) << bit).sum(dtype=np.uint64)


def look_around(world, geometry, seed=0, count=300):
    rng = np.random.default_rng(seed)
    start = world.origin + rng.uniform(0, 1, (count, 3)) * world.size
    return Hits(world, start, rng.normal(size=(count, 3)), 200.0, 2, geometry)


@pytest.mark.parametrize("memory", [1 << 16, 1 << 24])
def test_the_copy_stays_in_step_with_any_edits(memory):
    world, rng = mixed_world(0), np.random.default_rng(0)
    geometry = Geometry(memory)
    for step in range(12):
        follow(geometry, world)
        assert_in_step(geometry, world)
        look_around(world, geometry, step)
        edit(world, rng, (1, 5, 40, 300)[step % 4])


names = st.sampled_from(("air", *MATERIALS))
cell = st.tuples(*[st.integers(-20, 43)] * 3)
edits = st.one_of(
    st.tuples(st.just("set"), cell, names),
    st.tuples(st.just("fill"), cell, cell, names),
    st.tuples(st.just("carve"), cell, st.floats(0.1, 9)),
)


@given(st.booleans(), st.lists(st.lists(edits, max_size=5), max_size=5))
@settings(max_examples=40)
def test_the_copy_of_any_world_with_any_edits_is_in_step(known, rounds):
    make = ea.World.empty if known else ea.World.unknown
    world = make(size=(64, 64, 64), origin=(-20, -20, -20))
    geometry = Geometry(1 << 16)
    follow(geometry, world)
    for some in rounds:
        for kind, place, *rest in some:
            if kind == "set":
                world.set(place, *rest)
            elif kind == "fill":
                low, high = np.minimum(place, rest[0]), np.maximum(place, rest[0]) + 1
                world.fill(low, high, rest[1])
            else:
                world.carve(place, *rest)
        follow(geometry, world)
        assert_in_step(geometry, world)
        start = np.random.default_rng(len(some)).uniform(-22, 46, (20, 3))
        assert not differences(world, start, np.roll(start, 1, axis=0) - start, 2.0, 2, geometry)
    assert_in_step(geometry, world)


def test_edits_are_seen_by_the_next_ray():
    world, geometry = ea.World.empty(size=(32, 32, 32)), Geometry()
    ray = [[1.5, 1.5, 1.5]], [[1.0, 0.0, 0.0]], 60
    assert not Hits(world, *ray, geometry=geometry).is_hit
    world.set((20, 1, 1), "stone")
    assert Hits(world, *ray, geometry=geometry).time == 18.5
    world.carve((20.5, 1.5, 1.5), 1)
    assert not Hits(world, *ray, geometry=geometry).is_hit


def test_new_materials_and_replaced_arrays_are_followed():
    world, geometry = ea.World.empty(size=(160, 32, 160)), Geometry()
    follow(geometry, world)
    cells, kind = world.cells, world.palette.kind
    for k in range(100):
        world.set((16 * (k % 10) + 3, 1, 16 * (k // 10) + 3), f"block_number_{k}")
    assert world.cells is not cells
    assert world.palette.kind is not kind
    hits = Hits(world, [[150.5, 1.5, 147.5]], [[-1.0, 0.0, 0.0]], 200, geometry=geometry)
    assert world.palette.names[hits.material[0]] == "block_number_99"
    assert_in_step(geometry, world)


def test_more_edits_than_the_world_remembers_are_followed():
    world, geometry = mixed_world(1), Geometry()
    follow(geometry, world)
    edit(world, np.random.default_rng(1), 3000)
    follow(geometry, world)
    assert_in_step(geometry, world)


def test_another_world_and_another_size_are_followed():
    geometry = Geometry()
    for world in (mixed_world(2), mixed_world(3), ea.World.empty(size=(16, 16, 16)), mixed_world(2)):
        follow(geometry, world)
        assert_in_step(geometry, world)
        look_around(world, geometry)
        assert_in_step(geometry, world)


def test_snapshots_are_followed_edit_by_edit_and_hide_later_ones():
    world, geometry, rng = mixed_world(4), Geometry(), np.random.default_rng(4)
    follow(geometry, world.snapshot())
    look_around(world.snapshot(), geometry, count=3000)
    derived = geometry.derived
    for step in range(6):
        snapshot = world.snapshot()
        edit(world, rng, 30)
        follow(geometry, snapshot)
        assert_in_step(geometry, snapshot)
        twin = Geometry()
        assert look_around(snapshot, geometry, step).bytes == look_around(snapshot, twin, step).bytes
    assert geometry.derived < derived + 600  # not all anew


def test_an_older_snapshot_is_followed_too():
    world, geometry = mixed_world(5), Geometry()
    old = world.snapshot()
    edit(world, np.random.default_rng(5), 200)
    follow(geometry, world)
    follow(geometry, old)
    assert_in_step(geometry, old)


def test_nothing_is_made_anew_where_nothing_changed():
    world, geometry = mixed_world(6), Geometry()
    look_around(world, geometry)
    before, derived = sections_of(geometry), geometry.derived
    look_around(world, geometry)
    assert sections_of(geometry) is before
    assert geometry.derived == derived
    world.set(world.origin, "stone")
    follow(geometry, world)
    assert geometry.derived == derived


def test_the_row_not_used_for_longest_gives_way():
    world = ea.World.empty(size=(16 * 200, 16, 16))
    for k in range(200):
        world.set((16 * k + 8, 8, 8), "stone")
    geometry = Geometry(1 << 16)
    room = geometry.memory // 512 - OWN_ROWS

    def visit(section):
        before = geometry.derived
        assert Hits(world, [[16 * section + 5.5, 8.5, 8.5]], [[1, 0, 0]], 9, geometry=geometry).is_hit
        return geometry.derived > before

    assert all(visit(k) for k in range(room))
    assert not visit(0)
    assert visit(room)
    assert not visit(0)
    assert visit(1)
    assert geometry.evicted == 2


def test_the_memory_of_the_copy_is_bounded():
    world = mixed_world(7)
    geometry = Geometry(1 << 16)
    look_around(world, geometry, count=5000)
    assert geometry.bits.nbytes == 1 << 16
    assert geometry.bytes < (1 << 16) + 16 * world.slots.size + 32 * 128 + 1
    for memory in (0, 1 << 15, 1 << 40):
        with pytest.raises(ValueError, match="memory"):
            Geometry(memory)


def test_two_threads_with_a_copy_each_find_the_same_bytes():
    world = mixed_world(8)
    alone = look_around(world, Geometry(1 << 16), count=20_000).bytes
    found = {}

    def work(name):
        snapshot = world.snapshot()
        found[name] = look_around(snapshot, Geometry(1 << 16), count=20_000).bytes

    threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == alone
