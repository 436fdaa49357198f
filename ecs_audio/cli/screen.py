"""What is seen of a play: a screen of bars and numbers at a terminal, elsewhere a line now and then."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from ecs_audio.cli.closing import device, latency, percent, underruns
from ecs_audio.cli.progress import say

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from ecs_audio.cli.meters import Meters

SCREEN_EVERY: Final = 0.1
"""Seconds between two pictures."""
LINE_EVERY: Final = 1.0
"""Seconds between two lines in a log."""

FLOOR_DB: Final = -60.0
"""Left end of the level bars [dBFS]."""
LABEL: Final = 9
"""Columns of the names at the left."""
WIDE: Final = 110
"""Columns of a terminal from which on facts stand in two columns."""
REPORTS: Final = 3
"""The last reports that are shown."""
EASY, HARD = 0.5, 0.8
"""Shares of the time that there is: below the first a bar is green, above the second red."""


@contextmanager
def shown(meters: Meters, *, plain: bool) -> Iterator[Callable[[], None]]:
    """Show meters on stderr; gives the function to be called after each tick.

    Drawing takes milliseconds: a thread does it, begun after a tick, while the loop sleeps until the next.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stderr, highlight=False)
    if plain or not sys.stderr.isatty() or console.is_dumb_terminal:
        told = 0

        def tell() -> None:
            nonlocal told
            say(line(meters))
            reports = meters.status["reports"]
            for report in reports[told:]:
                say(report)
            told = len(reports)

        with _beside(tell, LINE_EVERY) as ticked:
            yield ticked
        return

    def draw() -> None:
        live.update(picture(meters, console.width), refresh=True)

    with (
        Live(console=console, auto_refresh=False, transient=True) as live,
        _beside(draw, SCREEN_EVERY) as ticked,
    ):
        yield ticked


@contextmanager
def _beside(draw: Callable[[], None], every: float) -> Iterator[Callable[[], None]]:
    """Call `draw` on a thread, when told that there is time, and at most once in `every` seconds."""
    wake, is_over, due = Event(), False, monotonic()

    def work() -> None:
        while wake.wait() and not is_over:
            wake.clear()
            try:
                draw()
            except OSError:  # nobody looks any more
                return

    def ticked() -> None:
        nonlocal due
        if (now := monotonic()) >= due:
            due = now + every
            wake.set()

    thread = Thread(target=work, name="ecs_audio screen", daemon=True)
    thread.start()
    try:
        yield ticked
    finally:
        is_over = True
        wake.set()
        thread.join()


def line(meters: Meters) -> str:
    """The most important numbers in a line."""
    meters.look()
    status, t = meters.status, meters.telemetry
    left, right = map(level, meters.levels)
    return (
        f"{meters.time:.1f} s: tick {percent(meters.tick_share)}, block {percent(status['load'])}, "
        f"{t.full} full, {t.direct} direct, {t.free} free, {t.voices_playing} voices, {t.taps} echoes, "
        f"{t.rays:,} rays, {status['underrun_events']} underruns, {left} | {right}, "
        f"{status['state']}" + (f", held back: {t.held_back}" if t.held_back else "")
    )


def picture(meters: Meters, width: int) -> RenderableType:
    """The whole screen, for a terminal of `width` columns."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    meters.look()
    status, length = meters.status, max(6, min(60, width - 48))
    tick, block = 1.0 / meters.scenario.tick_rate, status["block_frames"] / status["rate"]
    bars, grid = (Table.grid(padding=(0, 2)) for _ in range(2))
    for table in (bars, grid):
        table.add_column(min_width=LABEL, style="dim")
    for name, share, worst, seconds in (
        ("tick", meters.tick_share, meters.worst_tick, tick),
        ("block", status["load"], status["peak_load"], block),
    ):
        colour = "green" if share < EASY else "yellow" if share < HARD else "red"
        told = f"{percent(share):>5} of {1000.0 * seconds:.1f} ms, worst {percent(worst)}"
        bars.add_row(name, bar(share, worst, length, colour), told)
    for name, now, held in zip(("left", "right"), meters.levels, meters.held, strict=True):
        told = f"{level(now):>10}, peak {level(held)}"
        bars.add_row(name, bar(height(now), height(held), length, "cyan"), told)
    facts = facts_of(meters)
    rows = len(facts) // 2 if width >= WIDE else len(facts)
    for style in ("", "dim", "")[: 3 if width >= WIDE else 1]:
        grid.add_column(style=style)
    for k in range(rows):
        cells = [cell for name, value, style in facts[k::rows] for cell in (name, Text(value, style))]
        grid.add_row(*cells)
    time = f"  {clock(meters.time)} of {clock(meters.scenario.seconds)}"
    title = Text.assemble((meters.name, "bold"), time, ("  Ctrl-C ends it", "dim"))
    reports = [Text(report, "yellow") for report in status["reports"][-REPORTS:]]
    return Group(title, bars, grid, *reports)


def facts_of(meters: Meters) -> list[tuple[str, str, str]]:
    """The numbers below the bars: name, value, and a style where something is amiss."""
    t, status, settings = meters.telemetry, meters.status, meters.scenario.settings
    lost = "red" if status["state"] == "lost" else ""
    return [
        ("sources", f"{t.full} full, {t.direct} direct, {t.free} free", ""),
        ("voices", f"{t.voices_playing} playing, {t.voices_virtual} virtual, {t.voices_refused} refused", ""),
        ("echoes", f"{t.taps} of {settings.max_taps}, and {t.reverbs} reverbs", ""),
        ("rays", f"{t.rays:,} of {settings.max_rays:,}", ""),
        ("queue", f"{t.queue} due, {t.deferred} deferred, oldest path {t.oldest_age:.2f} s", ""),
        ("room", f"{t.room}, RT60 {t.rt60_near:.2f} s near, {t.rt60_far:.2f} s far", ""),
        ("underruns", underruns(status), "red" if status["underrun_events"] else ""),
        ("latency", latency(status), ""),
        ("quality", t.held_back or "everything", "yellow" if t.held_back else ""),
        ("device", device(status), lost),
    ]


def bar(share: float, mark: float, length: int, colour: str) -> Text:
    """A bar of `length` cells, filled by a share of 0 to 1, with a mark at another one."""
    from rich.text import Text

    full = min(length, max(0, round(share * length)))
    drawn = Text.assemble(("█" * full, colour), ("·" * (length - full), "dim"))
    at = min(length, round(mark * length)) - 1
    return drawn if at < full else Text.assemble(drawn[:at], ("│", colour), drawn[at + 1 :])


def height(amplitude: float) -> float:
    """Share of a level bar, 0 at FLOOR_DB and 1 at full scale."""
    return max(0.0, 1.0 - decibels(amplitude) / FLOOR_DB)


def decibels(amplitude: float) -> float:
    """[dBFS], -inf for silence."""
    return 20.0 * math.log10(amplitude) if amplitude > 0.0 else -math.inf


def level(amplitude: float) -> str:
    """An amplitude in dBFS."""
    return f"{decibels(amplitude):.1f} dBFS" if amplitude > 0.0 else "silence"


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"
