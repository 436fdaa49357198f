"""What a run says: rows of tables for people, one object for machines."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ecs_audio.bench.compare import Comparison
from ecs_audio.bench.record import Run
from ecs_audio.bench.targets import Row
from ecs_audio.bench.words import factor, goal, number, spread, times

FIGURES: Final = ("figure", "value", "peer", "ratio", "middle half", "target", "verdict")
CHANGES: Final = ("figure", "of", "old", "new", "change", "99 % interval", "verdict")
CURVES: Final = ("curve", "over", "order", "declared", "verdict")

Cells = tuple[str, ...]


def figures(rows: list[Row]) -> list[Cells]:
    """Every figure and every target, under FIGURES."""
    found: list[Cells] = []
    for row in rows:
        wanted = "" if row.target is None else goal(row.target, row.figure)
        verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
        if row.figure is None:
            found.append((row.name, "", "", "", "", wanted, verdict))
            continue
        f = row.figure
        peer = f.peer or ""
        if f.peer and f.peer_value is not None:
            peer = f"{f.peer}, {number(f.peer_value, f.unit)}"
        value = number(f.value, f.unit)
        found.append((row.name, value, peer, times(f.ratio), spread(f.ratios), wanted, verdict))
    return found


def changes(comparison: Comparison) -> list[Cells]:
    """Every figure that both runs have, under CHANGES."""
    found: list[Cells] = []
    for row in comparison.rows:
        if row.of == "ratio":
            old, new = times(row.old), times(row.new)
        else:
            old, new = number(row.old, row.unit), number(row.new, row.unit)
        bounds = "" if row.low is None or row.high is None else f"{row.low:.2f} – {row.high:.2f}"
        said = factor(row.factor, "s" if row.of == "ratio" else row.unit)
        verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
        found.append((row.name, row.of, old, new, said, bounds, verdict))
    return found


def curves(run: Run) -> list[Cells]:
    """How costs grow, under CURVES."""
    found: list[Cells] = []
    for c in run.curves:
        verdict = f"worse than {c.limit:g}" if c.worse else "as declared"
        found.append((c.name, c.x, f"{c.order:.2f}", f"{c.declared:g}", verdict))
    return found


def summary(run: Run, rows: list[Row], comparison: Comparison | None) -> dict[str, Any]:
    """Everything that is known of a run, for machines. Keys are stable."""
    found: dict[str, Any] = {
        "datetime": run.datetime,
        "commit": run.commit,
        "processor": run.processor,
        **msgspec.to_builtins(run.ecs_audio),
        "figures": [
            {
                "name": row.name,
                **({} if row.figure is None else msgspec.to_builtins(row.figure)),
                "target": None if row.target is None else row.target.number,
                "target_of": None if row.target is None else row.target.of,
                "says": "" if row.target is None else row.target.says,
                "verdict": row.verdict or None,
                "why": row.why,
            }
            for row in rows
        ],
        "curves": msgspec.to_builtins(run.curves),
        "missed": missed(rows),
    }
    if comparison is not None:
        found["comparison"] = {
            "rows": [row._asdict() for row in comparison.rows],
            "only_old": comparison.only_old,
            "only_new": comparison.only_new,
        }
    return found


def missed(rows: list[Row]) -> list[str]:
    """Names of the figures whose ratio missed its target."""
    return [row.name for row in rows if row.decides]
