"""The trace: JSON that nests, counts what the telemetry counts, and appears whole or not at all."""

from __future__ import annotations

import csv
import json
import resource
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import ecs_audio as ea
from ecs_audio.cli import cli
from ecs_audio.cli.trace import COUNTERS, HOST, WORKER, Trace, TracedEngine, tracing
from ecs_audio.perform import perform, record
from ecs_audio.telemetry import SYSTEMS, Telemetry

SCENE = '''"""A tone goes round behind a wall."""
import math
import numpy as np
import ecs_audio as ea

def scenario(*, seconds: float = 0.5, workers: int = 0):
    world = ea.World.empty(size=(32, 16, 32), origin=(-16, 0, -16))
    world.fill((-16, 0, -16), (16, 1, 16), "stone")
    world.fill((4, 1, -16), (5, 16, 16), "stone")
    clips = ea.Clips()
    clips.add("tone", 0.3 * np.sin(np.arange(4800) * 0.1))
    spawns = [
        ea.Spawn("tone", lambda t: (6.0, 2.0, 5.0 * math.sin(5 * t)), options={"looping": True}),
        ea.Spawn("tone", (-5.0, 3.0, 2.0), at=0.2, options={"looping": True}),
    ]
    events = [ea.Event(0.3, lambda stage: stage.engine.world.carve((4.5, 2.5, 0.5), 2.0))]
    settings = ea.Settings(workers=workers)
    return ea.Scenario(
        world, clips, seconds, listener=lambda t: ea.Pose((0.0, 2.0, 0.0)), spawns=spawns, events=events,
        settings=settings,
    )
'''


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scene.py").write_text(SCENE, encoding="utf-8")
    return "scene.py"


def traced(*arguments):
    result = CliRunner().invoke(
        cli, ["run", "scene.py", "--no-output", "--trace", "deep/trace.json", *arguments]
    )
    assert result.exit_code == 0, result.output
    return json.loads(Path("deep/trace.json").read_text(encoding="utf-8"))["traceEvents"]


def spans(events, thread=HOST):
    """Spans of a track in their order in the file: name, begin and end [ns], arguments."""
    return [
        (e["name"], round(1000 * e["ts"]), round(1000 * e["ts"]) + round(1000 * e["dur"]), e["args"])
        for e in events
        if e["ph"] == "X" and e["tid"] == thread
    ]


def assert_nested(track):
    """Spans begin in their order, and each lies within or after the one before."""
    open_until = []
    before = 0
    for name, begin, end, _ in track:
        assert before <= begin <= end, name
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], f"{name} ends after what it began in"
        open_until.append(end)
        before = begin


@pytest.mark.parametrize("second", [(5, 12), (-1, 3), (2, 1)])
def test_spans_that_do_not_nest_would_be_found(second):
    with pytest.raises(AssertionError):
        assert_nested([("tick", 0, 10, {}), ("trace", *second, {})])


def test_systems_lie_within_their_tick_in_their_order_and_blocks_between_ticks(scene):
    track = spans(traced("--block", "300"))
    assert_nested(track)
    ticks = [span for span in track if span[0] == "tick"]
    assert [args["tick"] for *_, args in ticks] == list(range(30))
    assert [args["frame"] for *_, args in ticks] == [800 * k for k in range(30)]
    for _, begin, end, _ in ticks:
        within = [span for span in track if span[0] != "tick" and begin <= span[1] < end]
        assert [name for name, *_ in within] == list(SYSTEMS)
        assert within[0][1] == begin
        assert all(a[2] == b[1] for a, b in pairwise(within))
    blocks = [span for span in track if span[0] == "render"]
    assert [args["frames"] for *_, args in blocks] == [300, 300, 200] * 30


def test_the_length_of_each_system_is_that_of_the_telemetry(scene):
    events = traced("--telemetry", "ticks.csv")
    with Path("ticks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for system in SYSTEMS:
        lengths = [end - begin for name, begin, end, _ in spans(events) if name == system]
        assert lengths == [round(1000 * float(row[f"us_{system}"])) for row in rows]


def test_counters_are_those_of_the_telemetry(scene):
    events = traced("--telemetry", "ticks.csv")
    with Path("ticks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    for counter, names in COUNTERS.items():
        shown = [e for e in events if e["ph"] == "C" and e["name"] == counter]
        assert [list(e["args"]) for e in shown] == [list(names)] * 30
        assert [[float(v) for v in e["args"].values()] for e in shown] == [
            [float(row[name]) for name in names] for row in rows
        ]
        assert all(a["ts"] < b["ts"] for a, b in pairwise(shown))
    rays = [sum(e["args"].values()) for e in events if e["ph"] == "C" and e["name"] == "rays"]
    assert rays == [int(row["rays"]) for row in rows]
    assert max(rays) > 0


def test_the_worker_has_a_track_of_its_own_with_its_batches(scene):
    events = traced("--setting", "workers=1")
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert named == {HOST: "host", WORKER: "worker"}
    batches = spans(events, WORKER)
    assert_nested(batches)
    assert {name for name, *_ in batches} == {"batch"}
    assert_nested(spans(events))
    # Each batch was handed over by a tick, whose `trace` is then only that; the last may come too late.
    asked = [span for span in spans(events) if span[0] == "trace"]
    assert len(asked) - 1 <= len(batches) <= len(asked)
    assert all(begin < batch[1] for (_, begin, _, _), batch in zip(asked, batches, strict=False))


def test_without_a_worker_there_is_one_thread(scene):
    events = traced()
    assert [e["args"]["name"] for e in events if e["ph"] == "M"] == ["ecs-audio scene", "host"]
    assert {e["tid"] for e in events} == {HOST}


class Busy:
    """A worker whose batch never ends."""

    busy, alive = True, True

    def wait(self):
        pass

    def close(self):
        pass


def test_a_tick_beside_a_busy_worker_shows_no_times_of_an_earlier_one(scene, tmp_path):
    with (tmp_path / "busy.json").open("wb") as file:
        trace = Trace(file, "busy")
        world = ea.World.empty(size=(8, 8, 8))
        scenario = ea.Scenario(world, ea.Clips(), 1.0, settings=ea.Settings(workers=1))
        with TracedEngine(trace, scenario) as engine:
            engine.tick(1 / 60)
            worker, engine._tracing.worker = engine._tracing.worker, Busy()
            engine.tick(1 / 60)
            assert engine.telemetry.microseconds["trace"] == 0.0
            engine._tracing.worker = worker
        trace.close()
    track = spans(json.loads((tmp_path / "busy.json").read_text())["traceEvents"])
    assert [name for name, *_ in track].count("trace") == 1
    assert_nested(track)


def test_the_same_is_heard_with_a_trace(scene, tmp_path):
    from ecs_audio.cli.find import load

    make = load("scene.py").make
    with tracing(tmp_path / "x.json", "scene") as make_engine:
        scenario = make()
        with make_engine(scenario) as engine:
            blocks = b"".join(block.tobytes() for block in perform(scenario, engine))
    assert blocks == record(make).samples.tobytes()


def test_an_interrupted_run_leaves_no_trace(scene, tmp_path):
    Path("old.json").write_text("old", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), tracing(Path("old.json"), "x"):
        raise KeyboardInterrupt
    assert Path("old.json").read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["old.json", "scene.py"]


def test_a_folder_is_no_file_for_a_trace(scene):
    Path("folder").mkdir()
    result = CliRunner().invoke(cli, ["run", scene, "--no-output", "--trace", "folder"])
    assert result.exit_code == 2
    assert "folder" in result.stderr


def test_a_long_run_takes_no_memory_for_its_trace(tmp_path):
    telemetry = Telemetry()
    with (tmp_path / "long.json").open("wb") as file:
        trace = Trace(file, "long")
        for k in range(200):
            trace.tick(1000 * k, 1000 * k + 900, telemetry, k / 60)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for k in range(200, 36_000):  # ten minutes
            trace.tick(1000 * k, 1000 * k + 900, telemetry, k / 60)
            trace.batch(1000 * k, 1000 * k + 500)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        trace.close()
    assert (tmp_path / "long.json").stat().st_size > 20e6
    assert grown < 8_000, f"{grown} KiB for a trace that is written as it comes"
