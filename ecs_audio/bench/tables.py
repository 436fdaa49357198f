"""What stands on the dashboard in words and numbers, as HTML."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Final

import numpy as np

from ecs_audio.bench.lines import missed
from ecs_audio.bench.record import Figure, Run
from ecs_audio.bench.targets import Row, Target, share
from ecs_audio.bench.words import goal, number, spread, times

MOODS: Final = {"met": "passed", "within slack": "slack", "missed": "failed", "not measured": "unchecked"}
"""Classes of style."""
WIDTH: Final = 130
"""Of the bar of a target [pixels]."""
REACH: Final = 4.0
"""A figure this many times better or worse than its target stands at an end of the bar."""


def verdict(run: Run, rows: list[Row]) -> tuple[str, str]:
    """A class of style and a word for the whole run."""
    if run.ecs_audio.failed:
        return "failed", f"{len(run.ecs_audio.failed)} failed"
    if short := missed(rows):
        return "failed", f"{len(short)} below the target"
    if lenient := sum(row.verdict == "within slack" for row in rows):
        return "slack", f"{lenient} below the target, within slack"
    return "passed", "no ratio below its target"


def complaints(run: Run, rows: list[Row]) -> str:
    """Why a run is no good: what failed, what missed its ratio, what grows too fast."""
    titles = {row.name: row.figure.title for row in rows if row.figure}
    growing = [c for c in run.curves if c.worse]
    found = [
        ("Failed", [f"{escape(e.name)}<pre>{escape(e.why)}</pre>" for e in run.ecs_audio.failed]),
        ("Below the target", [escape(f"{titles[name]} ({name})") for name in missed(rows)]),
        (
            "Grows faster than declared",
            [escape(f"{c.title} ({c.name}), order {c.order:.2f} over {c.x}") for c in growing],
        ),
    ]
    return "".join(
        f'<div class="complaint">{what}<ul>{"".join(f"<li>{item}</li>" for item in items)}</ul></div>'
        for what, items in found
        if items
    )


def about(run: Run) -> str:
    """When, of what and where the run is."""
    kind = ", a quick run" if run.ecs_audio.quick else ""
    branch = run.commit_info.get("branch")
    on = f" on {branch}" if branch and branch != "(unknown)" else ""
    python = run.machine_info.get("python_version", "")
    return f"{date(run)}, commit {run.commit}{on}, {run.processor}, Python {python}{kind}"


def date(run: Run) -> str:
    """The day and minute of a run."""
    return run.datetime[:16].replace("T", " ")


def tiles(run: Run, rows: list[Row], runs: list[Run]) -> str:
    """Large numbers: what it is, the number, and what it means."""
    judged = [(row.target.of, row.verdict) for row in rows if row.target is not None]
    count: Counter[tuple[str, str]] = Counter(judged)
    lenient = count["ratio", "within slack"]
    unmeasured = count["ratio", "not measured"] + count["value", "not measured"]
    machines = len({each.processor for each in runs})
    worse = sum(curve.worse for curve in run.curves)
    found = [
        _of("ratios", count["ratio", "met"], count["ratio", "missed"] + lenient, "to peers, of the same run"),
        _of("values", count["value", "met"], count["value", "missed"], "depend on the machine"),
        ("not measured", str(unmeasured), "targets without a figure"),
        ("figures", str(len(run.figures)), f"of {len(run.benchmarks)} benchmarks"),
        ("curves", f"{len(run.curves) - worse} of {len(run.curves)}", "grow as declared"),
        ("runs", str(len(runs)), f"on {machines} processor{'s' * (machines > 1)}"),
    ]
    return "".join(
        f'<div class="tile"><span>{escape(name)}</span><b>{escape(value)}</b>'
        f"<small>{escape(note)}</small></div>"
        for name, value, note in found
    )


def notes(run: Run, damaged: Iterable[str]) -> str:
    """What was left out, and why."""
    found = [f"Skipped {ended.name}: {ended.why}" for ended in run.ecs_audio.skipped]
    found += [f"Left out of the history: {sentence}" for sentence in damaged]
    if not found:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in found)
    return f"<details><summary>{len(found)} left out</summary><ul>{items}</ul></details>"


def targets(rows: list[Row]) -> str:
    """The table of all targets, by groups."""
    wanted = [row for row in rows if row.target is not None]
    if not wanted:
        return '<p class="note">No targets: the suite has no targets.toml.</p>'
    body = []
    for group, members in groupby(sorted(wanted, key=_group), key=_group):
        body.append(f'<tr class="group"><th colspan="6">{escape(group)}</th></tr>')
        body += [_target(row, row.target) for row in members if row.target is not None]
    head = "".join(f"<th>{text}</th>" for text in ("what", "value", "ratio", "", "target", "verdict"))
    return f'<table id="targets"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _of(name: str, met: int, short: int, note: str) -> tuple[str, str, str]:
    return name, f"{met} of {met + short}", f"met; {note}"


def _group(row: Row) -> str:
    return row.figure.group if row.figure else row.name.partition(".")[0]


def _target(row: Row, target: Target) -> str:
    f = row.figure
    peer = f"{f.peer} {number(f.peer_value, f.unit)}" if f and f.peer and f.peer_value is not None else ""
    cells = (
        (f.title if f else row.name, "" if f and f.title.lower() == target.says.lower() else target.says),
        (number(f.value, f.unit) if f else "", peer),
        (times(f.ratio) if f else "", spread(f.ratios) if f else ""),
    )
    first = "".join(f"<td>{escape(text)}<small>{escape(below)}</small></td>" for text, below in cells)
    pill = f'<span class="verdict {MOODS[row.verdict]}">{row.verdict}</span><small>{escape(row.why)}</small>'
    return f"<tr>{first}<td>{_bar(f, target)}</td><td>{escape(goal(target, f))}</td><td>{pill}</td></tr>"


def _bar(figure: Figure | None, target: Target) -> str:
    """Where a figure stands against its target, which is the middle; to the right is better."""
    if figure is None or (target.of == "ratio" and figure.ratio is None):
        return ""
    rounds = (figure.ratios if target.of == "ratio" else figure.values) or [1.0]
    reached = share(figure, target)
    is_more = target.of == "ratio" or figure.better == "higher"
    low, middle, high = (max(float(x), 1e-12) for x in np.percentile(rounds, (25, 50, 75)))
    ends = sorted(_place(reached * (x / middle if is_more else middle / x)) for x in (low, high))
    colour = "#2f8f5b" if reached >= 1 else "#c0392b"
    return (
        f'<svg width="{WIDTH}" height="16" role="img" aria-label="{reached:.2f} of the target">'
        f'<rect y="5" width="{WIDTH}" height="6" rx="3" fill="#e9edf2"/>'
        f'<path d="M{WIDTH / 2} 1V15" stroke="#5b6776" stroke-width="1.5"/>'
        f'<path d="M{ends[0]:.1f} 8H{ends[1]:.1f}" stroke="{colour}" stroke-width="4" opacity=".45"/>'
        f'<circle cx="{_place(reached):.1f}" cy="8" r="4.5" fill="{colour}"/></svg>'
    )


def _place(reached: float) -> float:
    along = math.log(min(max(reached, 1 / REACH), REACH)) / math.log(REACH)
    return 5 + (WIDTH - 10) * (along + 1) / 2
