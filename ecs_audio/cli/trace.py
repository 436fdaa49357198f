"""--trace: what the engine did when, as Chrome trace events, which ui.perfetto.dev shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ecs_audio.engine import Engine
from ecs_audio.output.atomic import replacing
from ecs_audio.perform import engine_for
from ecs_audio.scenario import Scenario
from ecs_audio.systems.worker import Worker
from ecs_audio.telemetry import SYSTEMS, Telemetry

PROCESS, HOST, WORKER = 1, 1, 2
"""Numbers by which events name the process and its threads."""
COUNTERS = {
    "rays": ("rays_direct", "rays_probe", "rays_environment", "rays_echo"),
    "cells": ("cells",),
    "queue": ("queue", "deferred"),
    "oldest age": ("oldest_age", "oldest_environment"),
    "voices": ("voices_playing", "voices_virtual"),
    "tiers": ("full", "direct", "free"),
}
"""Counters of each tick, and what of the telemetry each shows, under the same names."""

MakeEngine = Callable[[Scenario], Engine]


@contextmanager
def tracing(path: Path | None, name: str) -> Iterator[MakeEngine]:
    """Give the function that makes a scenario's engine: one that writes its trace to `path`, if there is one.

    The file appears whole or not at all. name: of the scenario. Raises ValueError for a path that is there
    and no file, OSError for one that cannot be written.
    """
    if path is None:
        yield engine_for
        return
    with replacing(path) as part, part.open("wb") as file:
        trace = Trace(file, name)
        yield lambda scenario: TracedEngine(trace, scenario)
        trace.close()


class Trace:
    """A file of trace events, written as they come, so that a long run takes no memory."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._start = 0
        self._batches: deque[tuple[int, int]] = deque()
        self._before = b'{"displayTimeUnit": "ms", "traceEvents": [\n'
        self._event("M", "process_name", HOST, args={"name": f"ecs-audio {name}"})
        self._event("M", "thread_name", HOST, args={"name": "host"})

    def name_worker(self) -> None:
        """Give the worker's thread a track."""
        self._event("M", "thread_name", WORKER, args={"name": "worker"})

    def tick(self, begin: int, end: int, telemetry: Telemetry, time: float) -> None:
        """Note a tick from `begin` to `end` [ns], its systems one after another from its beginning, and its
        counters. time: of the scenario [s].

        What a tick does beside its systems thus comes last.
        """
        self._start = self._start or begin
        self._span("tick", HOST, begin, end, tick=telemetry.tick, frame=telemetry.frame, time=time)
        for system in SYSTEMS:
            took = round(1000.0 * telemetry.microseconds[system])
            if took:
                self._span(system, HOST, begin, begin + took)
            begin += took
        for counter, names in COUNTERS.items():
            shown = {name: getattr(telemetry, name) for name in names}
            self._event("C", counter, HOST, ts=self._at(end), args=shown)
        self._flush()

    def block(self, begin: int, end: int, frames: int) -> None:
        """Note the rendering of a block from `begin` to `end` [ns]."""
        self._span("render", HOST, begin, end, frames=frames)

    def batch(self, begin: int, end: int) -> None:
        """Note a batch of rays from `begin` to `end` [ns]; may be called on the worker's thread."""
        self._batches.append((begin, end))

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        self._flush()
        self._file.write(b"\n]}\n")

    def _flush(self) -> None:
        while self._batches:
            self._span("batch", WORKER, *self._batches.popleft())

    def _at(self, time: int) -> float:
        return (time - self._start) / 1000.0

    def _span(self, name: str, thread: int, begin: int, end: int, **args: Any) -> None:
        self._event("X", name, thread, ts=self._at(begin), dur=(end - begin) / 1000.0, args=args)

    def _event(self, kind: str, name: str, thread: int, **rest: Any) -> None:
        event = {"ph": kind, "name": name, "pid": PROCESS, "tid": thread, **rest}
        self._file.write(self._before + msgspec.json.encode(event))
        self._before = b",\n"


class TracedEngine(Engine):
    """An engine for a scenario that notes its ticks, its blocks and the batches of its worker."""

    def __init__(self, trace: Trace, scenario: Scenario) -> None:
        super().__init__(scenario.world, scenario.clips, settings=scenario.settings, seed=scenario.seed)
        self._trace = trace
        if self._tracing.worker is not None:
            self._tracing.worker.close()
            self._tracing.worker = TracedWorker(trace)
            trace.name_worker()

    def tick(self, dt: float) -> Telemetry:
        """As Engine.tick."""
        # Beside a busy worker no batch is filled: what such a tick leaves here would be of an earlier one.
        self.telemetry.microseconds.update(dict.fromkeys(SYSTEMS, 0.0))
        time, begin = self.time, perf_counter_ns()
        telemetry = super().tick(dt)
        self._trace.tick(begin, perf_counter_ns(), telemetry, time)
        return telemetry

    def render(self, frames: int, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """As Engine.render."""
        begin = perf_counter_ns()
        block = super().render(frames, out=out)
        self._trace.block(begin, perf_counter_ns(), frames)
        return block


class TracedWorker(Worker):
    """A worker that notes its batches."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def submit(self, job: Callable[[], None]) -> None:
        """As Worker.submit."""

        def timed() -> None:
            begin = perf_counter_ns()
            job()
            self._trace.batch(begin, perf_counter_ns())

        super().submit(timed)
