"""Two runs beside one another: what got better or worse, and whether that is more than noise."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from ecs_audio.bench.errors import BenchError
from ecs_audio.bench.noise import Change, change
from ecs_audio.bench.record import Benchmark, Figure, Run

MARGINS: Final = {"ratio": 1.10, "value": 1.25}
"""A smaller change is none, however sharp: runs of the same code differ by as much when a machine is busy,
since memory lies elsewhere and clocks change, and no spread of rounds shows that."""
BYTES: Final = 1.05
"""The same for what is counted, be it only once."""

Verdict = Literal["better", "worse", "same", "not judged"]
Better = Literal["lower", "higher"]
Rounds = tuple[float, list[float]]
"""A value, and that of each round."""


class Compared(NamedTuple):
    """A figure of two runs; or a benchmark that notes none, by its times."""

    name: str
    of: Literal["ratio", "value"]
    """What was compared: the ratio to the peer wherever there is one."""
    unit: str
    better: Better
    """Which values are."""
    old: float
    new: float
    factor: float
    """How many times better the new one is; below 1, it is worse."""
    low: float | None
    high: float | None
    """Between these the factor lies."""
    verdict: Verdict
    why: str = ""
    """It is not judged."""


class Comparison(NamedTuple):
    """What two runs have in common, and what only one of them has."""

    rows: list[Compared]
    only_old: list[str]
    only_new: list[str]


def compare(old: Run, new: Run) -> Comparison:
    """Compare two runs. Raises BenchError if they measured different sizes."""
    require_same_kind(old, new.ecs_audio.quick)
    away = "" if old.processor == new.processor else "times of another processor"
    before, after = old.figures, new.figures
    plain, since = _without_figures(old), _without_figures(new)
    rows = [_figures(before[name], after[name], away) for name in after if name in before]
    rows += [_benchmarks(plain[name], since[name], away) for name in since if name in plain]
    return Comparison(
        rows,
        [name for name in (*before, *plain) if name not in after and name not in since],
        [name for name in (*after, *since) if name not in before and name not in plain],
    )


def require_same_kind(old: Run, quick: bool | None) -> None:
    """Raise BenchError if one run is quick and the other is not, where that is known."""
    if None not in (quick, old.ecs_audio.quick) and quick != old.ecs_audio.quick:
        which = "new" if quick else "old"
        raise BenchError(
            f"the {which} run is a quick one and the other is not, so they measured different sizes: "
            "compare two of a kind"
        )


def worse(comparison: Comparison) -> list[str]:
    """Names of what got worse beyond the noise."""
    return [row.name for row in comparison.rows if row.verdict == "worse"]


def _figures(old: Figure, new: Figure, away: str) -> Compared:
    if old.peer == new.peer and old.ratio and new.ratio:
        found = change(old.ratios, new.ratios)
        row = Compared(
            new.name, "ratio", "", new.better, old.ratio, new.ratio, new.ratio / old.ratio, None, None, "same"
        )
        return _judged(row, found)
    return _by_value(new.name, new.unit, new.better, (old.value, old.values), (new.value, new.values), away)


def _benchmarks(old: Benchmark, new: Benchmark, away: str) -> Compared:
    before, after = ((each.stats.median, each.stats.data) for each in (old, new))
    return _by_value(new.fullname, "s", "lower", before, after, away)


def _by_value(name: str, unit: str, better: Better, old: Rounds, new: Rounds, away: str) -> Compared:
    """Compare values, and judge them by their rounds unless the machine is another one."""
    grown = new[0] / old[0] if old[0] else 1.0
    factor = 1 / grown if better == "lower" and grown else grown
    row = Compared(name, "value", unit, better, old[0], new[0], factor, None, None, "same")
    if away and not unit.startswith("B"):
        return row._replace(verdict="not judged", why=away)
    if better == "lower":
        return _judged(row, change(new[1], old[1]))
    return _judged(row, change(old[1], new[1]))


def _judged(row: Compared, found: Change | None) -> Compared:
    """The row with its verdict: a change counts if its interval excludes none, and if it is no trifle."""
    is_counted = row.unit.startswith("B")
    if found is None and not is_counted:
        return row._replace(verdict="not judged", why="too few rounds")
    if found is not None:
        row = row._replace(factor=found.factor, low=found.low, high=found.high)
    margin = BYTES if is_counted else MARGINS[row.of]
    low, high = (row.factor, row.factor) if row.low is None or row.high is None else (row.low, row.high)
    if low > 1 and row.factor >= margin:
        return row._replace(verdict="better")
    if high < 1 and row.factor <= 1 / margin:
        return row._replace(verdict="worse")
    return row


def _without_figures(run: Run) -> dict[str, Benchmark]:
    return {b.fullname: b for b in run.benchmarks if not b.extra_info.figures}
