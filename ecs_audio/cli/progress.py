"""Progress on stderr: bars at a terminal; in a log only that kernels compile, and for how long."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.progress import Progress

    from ecs_audio.engine import Engine

PATIENCE = 2.0
"""Seconds of compiling or loading kernels that are not worth a word."""

_REDRAW = 0.05
"""Seconds between two changes of a bar: a block may last microseconds."""


def say(line: str) -> None:
    """Print a line on stderr."""
    click.echo(line, err=True)


def warm_up(engine: Engine) -> float:
    """Compile or load an engine's kernels, and say so when it takes a while; returns the seconds it took."""
    from ecs_audio.kernels import jit

    pending = jit.pending()
    start = perf_counter()
    with _late_bar(len(pending)) as note:
        engine.warm_up(note)
    seconds = perf_counter() - start
    gc.collect()
    gc.freeze()  # what lives by now lives to the end: looking through it again took a tick 50 to 150 ms
    compiled = sum(1 for kernel in pending if kernel.stats.cache_misses)
    if seconds >= PATIENCE and compiled:
        after = "next time they come from the cache" if jit.CACHED else "no cache folder can be written"
        say(f"Compiled {compiled} kernels in {seconds:.1f} s; {after}.")
    elif seconds >= PATIENCE:
        say(f"Loaded {len(pending)} kernels in {seconds:.1f} s.")
    return seconds


@contextmanager
def _late_bar(count: int) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that shows itself only after some patience; from a timer, since one kernel may take seconds."""
    what = f"Compiling {count} kernels, once"
    bar = _bar("{task.fields[name]}")
    task = bar.add_task(what, total=count, name="")

    def appear() -> None:
        if bar.disable:
            say(f"{what} for this version and machine ...")
        else:
            bar.start()

    timer = Timer(PATIENCE, appear)
    timer.daemon = True
    timer.start()
    try:
        yield lambda name, done, _count: bar.update(task, completed=done, name=name)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


@contextmanager
def rendering(name: str, seconds: float) -> Iterator[Callable[[float], None]]:
    """A bar of a rendering; gives the function to be told how many seconds of sound there are."""
    with _bar("{task.fields[rate]:.1f}× real time") as bar:
        task = bar.add_task(f"Rendering {name}", total=seconds, rate=0.0)
        start, drawn = perf_counter(), 0.0

        def advance(done: float) -> None:
            nonlocal drawn
            now = perf_counter()
            if now - drawn >= _REDRAW or done >= seconds:
                bar.update(task, completed=done, rate=done / max(now - start, 1e-9))
                drawn = now

        yield advance


def _bar(last: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns: list[Any] = [
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn(last),
    ]
    # Asked of the stream itself: rich also takes some environment variables for a terminal.
    console = Console(file=sys.stderr)
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
