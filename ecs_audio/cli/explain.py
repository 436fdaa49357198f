"""--explain: what the engine believes about one source of a scenario, at one moment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import click

from ecs_audio.cli.errors import nearest
from ecs_audio.cli.progress import rendering
from ecs_audio.components import Source
from ecs_audio.explain import explain
from ecs_audio.perform import engine_for, perform
from ecs_audio.scenario import Scenario, Stage
from ecs_audio.telemetry import Telemetry


class Question:
    """The `watch` of a performance that explains a source at a time, or else finds out when to."""

    def __init__(self, source: str, at: float | None, scenario: Scenario) -> None:
        """Raises UsageError for a time that the scenario does not reach, and a name that it does not give.

        source: the name of a spawn, or how many sources had started before it. at: [s], None for when it is
        loudest.
        """
        if at is not None and at >= scenario.seconds:
            raise click.UsageError(
                f"--at {at:g} is not within the scenario, which lasts {scenario.seconds:g} s"
            )
        self.source = source
        self.at = at
        self.answer: dict[str, Any] | None = None
        """What `explain` said."""
        self._reached = False
        self._loudest = 0.0
        self._loudest_at: float | None = None
        self._lived: tuple[float, float] | None = None
        self._names = tuple(spawn.name for spawn in scenario.spawns if spawn.name is not None)
        self._started = len(scenario.spawns)
        is_known = source in self._names or (source.isdecimal() and int(source) < self._started)
        if not (is_known or scenario.events):  # events may start others
            raise self._unknown()

    def __call__(self, stage: Stage, telemetry: Telemetry) -> None:
        """Look at one tick."""
        self._names = tuple({**dict.fromkeys(self._names), **stage.sources})
        sources = stage.engine.sources
        if sources.count:
            self._started = max(self._started, int(sources.serial.max()) + 1)
        row = _row(stage, self.source)
        if row is not None:
            first = stage.time if self._lived is None else self._lived[0]
            self._lived = first, stage.time
            if sources.audibility[row] > self._loudest:
                self._loudest, self._loudest_at = float(sources.audibility[row]), stage.time
        if self.at is not None and not self._reached and stage.time >= self.at - 1e-9:
            self._reached = True
            self.answer = None if row is None else explain(stage.engine, row)

    @property
    def best_time(self) -> float:
        """When it was loudest [s], or last there if it was never heard. Raises UsageError if it never was."""
        if self._lived is None:
            raise self._unknown()
        return self._lived[1] if self._loudest_at is None else self._loudest_at

    def result(self, again: Callable[[], Scenario]) -> dict[str, Any]:
        """The answer, after the performance. Raises UsageError where the source did not live.

        again: makes the same scenario once more, which is performed up to the time that was found.
        """
        time = self.best_time
        if self.at is None:
            self.answer = Question.ask(self.source, time, again())
        if self.answer is None:
            assert self._lived is not None
            first, last = self._lived
            raise click.UsageError(
                f"source {self.source} is not there at {time if self.at is None else self.at:g} s: "
                f"it lives from {first:.2f} to {last:.2f} s"
            )
        return self.answer

    @classmethod
    def ask(cls, source: str, at: float, scenario: Scenario) -> dict[str, Any] | None:
        """Perform a scenario up to a time [s], and explain a source there; None if it does not live then."""
        question = cls(source, at, scenario)
        told = f"{source} up to {at:.2f} s"
        with engine_for(scenario) as engine, redirect_stdout(sys.stderr), rendering(told, at) as advance:
            for _ in perform(scenario, engine, watch=question):
                if question._reached:
                    break
                advance(engine.frame / engine.rate)
        return question.answer

    def _unknown(self) -> click.UsageError:
        names = f"names are {', '.join(self._names)}" if self._names else "none has a name"
        numbers = f"numbers go from 0 to {self._started - 1}" if self._started else "none starts"
        hint = nearest(self.source, self._names)
        return click.UsageError(f"there is no source {self.source!r}: {names}, {numbers}{hint}")


def _row(stage: Stage, source: str) -> Source | None:
    """The living row of a source by its name or number."""
    named = stage.sources.get(source)
    if named is not None:
        return named if named.alive else None
    if not source.isdecimal():
        return None
    sources = stage.engine.sources
    found = (sources.serial == int(source)).nonzero()[0]
    return sources.alive[int(found[0])] if len(found) else None
