"""The worker: a thread traces over a snapshot, and nothing of it is ever heard late, twice or by another."""

import copy
import math
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import TICK
from hypothesis import settings
from test_cache import Hall, two_rooms

import ecs_audio as ea
from ecs_audio.components.entries import Survey
from ecs_audio.components.geometry import Geometry
from ecs_audio.systems import tracing
from ecs_audio.systems.geometry import follow, sections_of
from ecs_audio.systems.worker import Worker

SEALED = math.exp(-3)
HEARD = (
    "transmission", "path", "coupling", "bearing_target", "openness", "gain", "gain_hf", "send", "send_hf",
    "pull", "bearing", "apparent_position", "tap_level", "tap_delay", "tap_gain", "tap_hf", "tap_direction",
    "mix_gain", "mix_hf",
)  # fmt: skip


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "ecs_audio worker"]


def engine_in(world, clips, listener=(6.0, 2.0, 5.0), **options):
    engine = ea.Engine(world, clips, settings=ea.Settings(**({"workers": 1, "delay": False} | options)))
    engine.listener.look(position=listener)
    return engine


def wait(engine):
    if engine._tracing.worker is not None:
        engine._tracing.worker.wait()


def run(engine, seconds):
    """Ticks that each find the batch of the one before."""
    for _ in range(round(seconds / TICK)):
        engine.tick(TICK)
        wait(engine)


@pytest.fixture
def gate(monkeypatch):
    """Holds the worker, before it traces, until it is set."""
    gate, traced = threading.Event(), tracing.trace
    gate.set()

    def held(*arguments):
        gate.wait(10)
        traced(*arguments)

    monkeypatch.setattr(tracing, "trace", held)
    yield gate
    gate.set()


class HallWithWorker(Hall):
    """All edits between two ticks fall into the flight of a batch."""

    workers = 1


TestHallWithWorker = HallWithWorker.TestCase
TestHallWithWorker.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


def storm(clips, monkeypatch, ticks, lag):
    """Sources of two rooms come and go, so rows are used again; each has its own room's T from the start."""
    rng, traced = np.random.default_rng(7), tracing.trace
    lags = np.random.default_rng(8)

    def slow(*arguments):
        time.sleep(lags.uniform(0, lag))
        traced(*arguments)

    if lag:
        monkeypatch.setattr(tracing, "trace", slow)
    world = two_rooms()
    busy, used = 0, set()
    with engine_in(world, clips, max_rays=300, full_count=6, max_entries=12) as engine:
        rows = []
        for tick in range(ticks):
            if rng.random() < 0.4 and len(rows) < 40:
                sealed = rng.random() < 0.5
                x = rng.uniform(9.3, 16.7) if sealed else rng.uniform(0.3, 7.7)
                at = (x, rng.choice([2.0, 4.4]), rng.uniform(0.3, 9.7))
                name, loops = ("click", False) if rng.random() < 0.2 else ("tone", True)
                rows.append((engine.spawn(name, position=at, looping=loops), sealed))
                used.add((rows[-1][0].index, sealed))
            if rng.random() < 0.3 and rows:
                row, _ = rows.pop(rng.integers(len(rows)))
                engine.despawn(row)
            if rng.random() < 0.2:  # beneath the ceiling: in the box of rays and bundles, across no path
                cell = [int(rng.integers(0, 17)), 5, int(rng.integers(0, 10))]
                world.set(cell, "stone" if cell[0] == 8 or rng.random() < 0.5 else "air")
            engine.listener.look(position=(6 + 1.5 * math.sin(tick / 50), 2, 5 + 3 * math.cos(tick / 70)))
            engine.tick(TICK)
            busy += engine._tracing.worker.busy
            assert np.isfinite(engine.render(800)).all()
            rows = [(row, sealed) for row, sealed in rows if row.alive]
            s = engine.sources
            assert s.count == len(rows)
            for row, sealed in rows:
                t, coupling = s.transmission[row], s.coupling[row]
                assert t <= SEALED + 1e-12 if sealed else t == pytest.approx(1.0, abs=1e-12)
                assert coupling in (-1.0, 0.0) if sealed else coupling != 0.0
            for name in HEARD:
                assert np.isfinite(s.views[name]).all()
    assert busy > ticks // 20 or not lag  # or nothing was under way between two ticks
    assert sum((index, not sealed) in used for index, sealed in used) > 10  # rows served both rooms
    assert not threads()


@pytest.mark.parametrize("lag", [0.0, 0.003])
def test_rows_used_again_never_hear_of_those_who_had_them_before(clips, monkeypatch, lag):
    storm(clips, monkeypatch, 600, lag)


@pytest.mark.slow
def test_ten_thousand_ticks_leave_no_trace_of_the_dead(clips, monkeypatch):
    storm(clips, monkeypatch, 10_000, 0.002)


def quickest_close(clips, gate=None):
    """How long closing takes in the middle of a batch [s]: the shortest of three, as machines stand still."""
    took = []
    for _ in range(3):
        engine = engine_in(two_rooms(), clips)
        engine.spawn("tone", position=(11, 2, 5), looping=True)
        if gate is not None:
            gate.clear()
        engine.tick(TICK)
        assert engine._tracing.worker.busy
        start = time.perf_counter()
        engine.close()
        took.append(time.perf_counter() - start)
        if gate is not None:
            gate.set()
            for thread in threads():
                thread.join(10)
        assert not threads()
        engine.close()
        with pytest.raises(RuntimeError, match="closed"):
            engine.tick(TICK)
    return min(took)


def test_closing_ends_the_thread_within_a_second_even_in_the_middle_of_a_batch(clips, monkeypatch):
    traced = tracing.trace
    monkeypatch.setattr(tracing, "trace", lambda *a: (time.sleep(0.4), traced(*a)))
    assert quickest_close(clips) < 1.0


def test_closing_waits_no_longer_than_a_second_for_a_batch_without_end(clips, gate):
    assert quickest_close(clips, gate) < 1.3


def test_a_reset_in_the_middle_of_a_batch_leaves_nothing_of_it(clips, gate):
    with engine_in(two_rooms(), clips) as engine, engine_in(two_rooms(), clips) as fresh:
        engine.spawn("tone", position=(11, 2, 5), looping=True)
        run(engine, 0.5)
        gate.clear()
        engine.tick(TICK)
        engine.sources.position[0] = (3, 2, 5)
        engine.world.set((2, 2, 2), "air")
        threading.Timer(0.05, gate.set).start()
        engine.reset()
        assert (engine.entries.state == Survey.VACANT).all()
        for other in (engine, fresh):
            other.listener.look(position=(6, 2, 5))
            other.spawn("tone", position=(12, 3, 4), looping=True)
        for _ in range(30):
            run(engine, TICK)
            run(fresh, TICK)
            for name in (*HEARD, "age", "due", "environment_age", "environment_due"):
                assert (engine.sources.views[name] == fresh.sources.views[name]).all(), name
            assert (engine.render(800) == fresh.render(800)).all()


def test_another_world_in_the_middle_of_a_batch_hears_nothing_of_the_first(clips, gate):
    open_world = ea.World.empty(size=(48, 32, 32), origin=(-8, -8, -8))
    with engine_in(two_rooms(), clips) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        engine.tick(TICK)
        assert engine.sources.transmission[row] <= SEALED
        wait(engine)
        gate.clear()
        engine.tick(TICK)
        threading.Timer(0.05, gate.set).start()
        engine.world = open_world
        run(engine, 2 * TICK)
        s = engine.sources
        assert s.transmission[row] == 1.0
        run(engine, 1)
        assert s.transmission[row] == 1.0
        assert s.coupling[row] == 0.0
        assert engine.probe.name == "field"


def same(a, b):
    """Whether two waves hold the same bytes."""
    return all(
        (value.tobytes() == vars(b)[name].tobytes())
        for name, value in vars(a).items()
        if isinstance(value, np.ndarray)
    )


def test_a_batch_on_the_thread_finds_bit_for_bit_what_it_finds_inline(clips, monkeypatch):
    traced, flights = tracing.trace, []

    def noted(batch, entries, probes, sections, reflectivity, chosen):
        before = copy.deepcopy((batch, entries, probes))
        traced(batch, entries, probes, sections, reflectivity, chosen)
        assert threading.current_thread() is not threading.main_thread()
        flights.append((before, copy.deepcopy((batch, entries, probes))))

    monkeypatch.setattr(tracing, "trace", noted)
    world, snapshots = two_rooms(), []
    world.fill((8, 0, 4), (9, 3, 6), "air")
    rng = np.random.default_rng(0)
    options = {"max_rays": 150, "max_sources": 16, "max_entries": 8}
    with engine_in(world, clips, **options) as engine:
        for _ in range(5):
            engine.spawn("tone", position=rng.uniform([0.3, 0.3, 0.3], [16.7, 5.7, 9.7]), looping=True)
        for tick in range(25):
            if tick % 5 == 4:
                world.set(rng.integers(0, [8, 6, 10]).tolist(), "oak_planks")
            engine.tick(TICK)
            wait(engine)
            snapshots.append(world.snapshot())
        chosen, reflectivity = engine.settings, world.palette.reflectivity
    assert len(flights) == 25
    for snapshot, (before, after) in zip(snapshots, flights, strict=True):
        batch, entries, probes = before
        for table in (entries, probes):  # a copy of a view is no view
            table.cells = table.storage["cell"].reshape(-1, 3)
        batch.rays.resize(batch.rays.count)
        geometry = Geometry()
        follow(geometry, snapshot)
        traced(batch, entries, probes, sections_of(geometry), reflectivity, chosen)
        for table, other in zip((batch.rays, entries, probes), (after[0].rays, *after[1:]), strict=True):
            for name, column in table.storage.items():
                eased = table is probes and name in ("rt60", "room_gain", "classes")  # by the host meanwhile
                assert eased or column.tobytes() == other.storage[name].tobytes(), name
        assert (batch.ray_count == after[0].ray_count).all()
        assert (batch.cell_count == after[0].cell_count).all()
        assert same(batch.trails, after[0].trails)
        assert same(batch.sights, after[0].sights)
    assert sum(int(after[0].ray_count.sum()) for _, after in flights) > 500


def test_in_a_scene_at_rest_thread_and_tick_come_to_the_same(clips):
    world = two_rooms()
    world.fill((8, 0, 4), (9, 3, 6), "air")
    places = [(11, 2, 5), (2, 3, 8), (15, 1, 1), (7, 5, 2)]
    found = []
    for workers in (0, 1):
        with engine_in(world, clips, workers=workers, max_rays=1 << 14) as engine:
            rows = [engine.spawn("tone", position=at, looping=True) for at in places]
            run(engine, 1.5)
            s = engine.sources
            at = s.rows(rows)
            found.append(
                [s.views[name][at].copy() for name in ("path", "transmission", "coupling", "bearing_target")]
                + [
                    engine.entries.views[name].copy()
                    for name in ("key", "number", "face", "point", "low", "high")
                ]
                + [engine.entries.plane.copy(), engine.entries.strength.copy()]
                + [engine.probe.share.copy(), engine.probes.rt60_target.copy()]
            )
    for alone, beside in zip(*found, strict=True):
        assert alone.tobytes() == beside.tobytes()


def test_a_new_source_has_its_straight_path_before_its_first_sample_though_the_worker_is_busy(clips, gate):
    with engine_in(two_rooms(), clips) as engine:
        engine.spawn("tone", position=(2, 2, 5), looping=True)
        gate.clear()
        engine.tick(TICK)
        for sealed in (True, False) * 3:
            row = engine.spawn("tone", position=(11 if sealed else 3, 2, 5), looping=True)
            engine.tick(TICK)
            assert engine._tracing.worker.busy
            s = engine.sources
            assert s.age[row] == 0
            assert s.transmission[row] == pytest.approx(SEALED if sealed else 1.0)
            assert s.gain_hf[row] == pytest.approx(s.gain_hf_target[row])  # no ramp
            assert s.voice[row] >= 0
        gate.set()


def test_a_worker_that_dies_is_reported_once_and_its_work_goes_on(clips, monkeypatch):
    traced, left = tracing.trace, [3]

    def fails_once(*arguments):
        left[0] -= 1
        if left[0] == 0:
            raise MemoryError("no room")
        traced(*arguments)

    monkeypatch.setattr(tracing, "trace", fails_once)
    with engine_in(two_rooms(), clips) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(engine, 1)
        assert [(w.category, "no room" in str(w.message)) for w in caught] == [(RuntimeWarning, True)]
        assert engine.telemetry.workers == 0
        assert not threads()
        s = engine.sources
        assert s.transmission[row] == pytest.approx(SEALED)
        assert s.coupling[row] == 0.0
        engine.world.fill((8, 0, 2), (9, 6, 8), "air")
        engine.tick(TICK)
        assert s.transmission[row] == pytest.approx(1.0)
        assert s.coupling[row] > 0.2


def test_where_warnings_are_errors_the_death_of_a_worker_stops_one_tick_only(clips, monkeypatch):
    traced = tracing.trace
    monkeypatch.setattr(tracing, "trace", lambda *a: 1 / 0)
    with engine_in(two_rooms(), clips) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        engine.tick(TICK)
        wait(engine)
        monkeypatch.setattr(tracing, "trace", traced)
        with pytest.raises(RuntimeWarning, match="ZeroDivisionError"):
            engine.tick(TICK)
        run(engine, 0.5)
        assert engine.sources.coupling[row] == 0.0


def test_a_worker_whose_job_failed_takes_no_other_though_its_thread_has_not_quite_ended():
    worker = Worker()
    worker.submit(lambda: 1 / 0)
    worker.wait()
    assert isinstance(worker.error, ZeroDivisionError)
    worker._thread.join()
    worker._thread = threading.current_thread()
    assert not worker.alive


def test_an_edit_while_a_batch_is_under_way_is_heard_within_a_turn_and_not_overwritten(clips, gate):
    world = two_rooms()
    with engine_in(world, clips) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        run(engine, 1)
        s = engine.sources
        assert s.transmission[row] == pytest.approx(SEALED)
        gate.clear()
        while not engine._tracing.worker.busy or s.age[row] < 0.09:
            engine.tick(TICK)  # its turn comes; the batch is held
        world.fill((8, 0, 2), (9, 6, 8), "air")
        engine.tick(TICK)
        gate.set()
        wait(engine)
        run(engine, 2 * TICK)  # the old batch comes back, and the answer to the edit
        engine.tick(TICK)
        assert s.transmission[row] == pytest.approx(1.0)
        assert s.coupling[row] > 0.2
        for _ in range(30):
            run(engine, TICK)
            assert s.transmission[row] == pytest.approx(1.0)
            assert s.coupling[row] > 0.2


def test_an_edit_beyond_what_a_survey_had_met_by_then_outdates_it_when_it_comes_back(clips, gate):
    world = two_rooms()
    world.fill((8, 0, 2), (9, 6, 8), "air")
    with engine_in(world, clips, (6.0, 2.0, 7.0)) as engine:
        row = engine.spawn("tone", position=(6.0, 2.0, 7.5), looping=True)
        gate.clear()
        engine.tick(TICK)
        e, s = engine.entries, engine.sources
        begun = np.flatnonzero(e.state == Survey.BEGUN)
        assert len(begun) == 1
        world.fill((8, 0, 2), (9, 6, 8), "stone")  # far from both ends, among the rays to come
        engine.tick(TICK)
        assert not e.stale[begun[0]]
        gate.set()
        wait(engine)
        engine.tick(TICK)
        assert not (e.state == Survey.READY).any()
        wait(engine)
        engine.tick(TICK)
        assert s.coupling[row] == 1.0
        assert e.high[s.environment[row], 0] <= 8.0
