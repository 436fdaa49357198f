"""Rendering a scenario, to a file or to nowhere, and timing it."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import click
import numpy as np
from numpy.typing import NDArray

from ecs_audio.cli.progress import rendering, warm_up
from ecs_audio.engine import Engine
from ecs_audio.output import Written, write_audio
from ecs_audio.output.blocks import Blocks
from ecs_audio.perform import Census, Watch, engine_for, perform
from ecs_audio.scenario import Scenario, Stage
from ecs_audio.telemetry import Telemetry

F32 = NDArray[np.float32]


@dataclass(frozen=True)
class Rendering:
    """A performance that is over."""

    scenario: Scenario
    written: Written
    census: Census
    samples: F32 | None
    """float32 (frames, 2), if they were to be kept."""
    compile_seconds: float
    """Compiling kernels, or loading them from the cache."""
    render_seconds: float
    """Ticks and mixing, without writing the file."""
    mix_microseconds: NDArray[np.float64]
    """Of each block, shape (blocks,)."""


def render(
    name: str,
    scenario: Scenario,
    *,
    block: int,
    output: Path | None,
    keep: bool,
    census: Census | None = None,
    watch: Watch | None = None,
    make_engine: Callable[[Scenario], Engine] = engine_for,
) -> Rendering:
    """Perform a scenario in blocks of at most `block` frames; `output` names a sound file, or None.

    census: what is to take the telemetry, if not a new one. watch: called after every tick, outside of what
    is timed. make_engine: gives the engine to perform on. What the scenario prints goes to stderr. Raises
    UsageError when it lasts no frame.
    """
    if round(scenario.seconds * scenario.clips.rate) < 1:
        raise click.UsageError(f"{name} lasts {scenario.seconds:g} s: there is nothing to render")
    stopwatch, kept = Stopwatch(census, watch), list[F32]()
    with make_engine(scenario) as engine, redirect_stdout(sys.stderr):
        compile_seconds = warm_up(engine)
        with rendering(name, scenario.seconds) as advance:

            def heard() -> Iterator[F32]:
                for sound in stopwatch.timed(perform(scenario, engine, block=block, watch=stopwatch)):
                    if keep:
                        kept.append(sound.copy())  # it is a view that the next block overwrites
                    yield sound
                    advance(engine.frame / engine.rate)

            written = _write(output, heard(), engine.rate)
    samples = np.concatenate(kept) if keep else None
    mixing = np.array(stopwatch.microseconds)
    return Rendering(scenario, written, stopwatch.census, samples, compile_seconds, stopwatch.seconds, mixing)


class Stopwatch:
    """The `watch` of a performance: takes the census, and times ticks and blocks."""

    def __init__(self, census: Census | None = None, watch: Watch | None = None) -> None:
        self.census = Census() if census is None else census
        self._watch = watch
        self.seconds = 0.0
        """Ticks and blocks together."""
        self.microseconds = array("d")
        """Mixing, block by block."""
        self._ticked = 0.0

    def __call__(self, stage: Stage, telemetry: Telemetry) -> None:
        """Take in one tick."""
        self.census(stage, telemetry)
        ticked = self._ticked = perf_counter()
        if self._watch is not None:
            self._watch(stage, telemetry)
            self._ticked = perf_counter()
            self.seconds -= self._ticked - ticked

    def timed(self, blocks: Iterable[F32]) -> Iterator[F32]:
        """The same blocks; what is done with them is not counted."""
        start = perf_counter()
        for block in blocks:
            end = perf_counter()
            self.seconds += end - start
            self.microseconds.append(1e6 * (end - max(start, self._ticked)))
            yield block
            start = perf_counter()


def _write(output: Path | None, blocks: Iterator[F32], rate: int) -> Written:
    if output is not None:
        return write_audio(output, blocks, rate)
    counted = Blocks(blocks)
    for _ in counted:
        pass
    return counted.written()
