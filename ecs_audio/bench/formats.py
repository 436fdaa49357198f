"""What other dashboards read: Bencher Metric Format, and the custom lists of github-action-benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from ecs_audio.bench.record import Run
from ecs_audio.output.atomic import replacing

MEASURES: Final = {
    "s": "latency",
    "1/s": "throughput",
    "B": "memory",
    "B/cell": "memory-per-cell",
    "": "factor",
}
"""Of a unit: the first two are Bencher's own, in nanoseconds and in operations a second."""
NANO: Final = 1e9

Entry = dict[str, Any]


def bencher(run: Run) -> dict[str, dict[str, Entry]]:
    """A run in Bencher Metric Format: figures with their ratios to peers, and the times of all benchmarks.

    Bounds are the first and third quartile of the rounds.
    """
    found = {
        b.fullname: {"latency": _metric(NANO * b.stats.median, NANO * b.stats.q1, NANO * b.stats.q3)}
        for b in run.benchmarks
    }
    for name, figure in run.figures.items():
        scale = NANO if figure.unit == "s" else 1.0
        measures = {MEASURES.get(figure.unit, figure.unit): _with_bounds(figure.value, figure.values, scale)}
        if figure.ratio is not None:
            measures["ratio"] = _with_bounds(figure.ratio, figure.ratios)
        found[name] = measures
    return found


def action(run: Run) -> dict[str, list[Entry]]:
    """A run as the two lists that github-action-benchmark takes, each under the name of its `tool`.

    Ratios to peers are in the list where bigger is better.
    """
    found: dict[str, list[Entry]] = {"customSmallerIsBetter": [], "customBiggerIsBetter": []}
    for name, figure in run.figures.items():
        tool = "customSmallerIsBetter" if figure.better == "lower" else "customBiggerIsBetter"
        found[tool].append(_entry(name, figure.unit, figure.value, figure.values, figure.title))
        if figure.ratio is not None:
            extra = f"{figure.title}, times better than {figure.peer}"
            entry = _entry(f"{name} ratio", "×", figure.ratio, figure.ratios, extra)
            found["customBiggerIsBetter"].append(entry)
    return found


def write_bencher(run: Run, file: Path) -> list[Path]:
    """Write a run in Bencher Metric Format."""
    return [_write(bencher(run), file)]


def write_action(run: Run, file: Path) -> list[Path]:
    """Write the two lists beside one another: `NAME.smaller.json` and `NAME.bigger.json` for `NAME.json`."""
    suffix = file.suffix or ".json"
    ends = {"customSmallerIsBetter": "smaller", "customBiggerIsBetter": "bigger"}
    lists = action(run)
    return [_write(lists[tool], file.with_name(f"{file.stem}.{end}{suffix}")) for tool, end in ends.items()]


def _metric(value: float, low: float, high: float) -> Entry:
    return {"value": value, "lower_value": low, "upper_value": high}


def _with_bounds(value: float, rounds: list[float], scale: float = 1.0) -> Entry:
    if len(rounds) < 2:
        return {"value": scale * value}
    low, high = np.percentile(rounds, (25, 75))
    return _metric(scale * value, scale * float(low), scale * float(high))


def _entry(name: str, unit: str, value: float, rounds: list[float], extra: str) -> Entry:
    found = {"name": name, "unit": unit or "factor", "value": value, "extra": extra}
    if len(rounds) >= 2:
        half = (np.percentile(rounds, 75) - np.percentile(rounds, 25)) / 2
        found["range"] = f"± {half:.3g}"
    return found


def _write(content: Any, file: Path) -> Path:
    with replacing(file) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    return file
