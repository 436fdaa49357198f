"""A card for every figure: what it is now and how it was in every stored run; a click shows it large."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any, Final

from ecs_audio.bench.tables import MOODS
from ecs_audio.bench.targets import Row
from ecs_audio.bench.words import number, times

WIDTH, HEIGHT = 180, 34
PAD: Final = 5.0


def cards(rows: list[Row], past: dict[str, Any]) -> str:
    """All cards by groups, as HTML; figures that only older runs have come along."""
    latest = {row.name: row for row in reversed(rows) if row.figure is not None}
    found = sorted(past["figures"].items(), key=lambda each: str(each[1]["group"]))
    return "".join(
        f'<h3>{escape(group)}</h3><div class="cards">'
        f"{''.join(_card(name, figure, latest.get(name), past) for name, figure in members)}</div>"
        for group, members in groupby(found, key=lambda each: str(each[1]["group"]))
    )


def spark(series: dict[str, list[float | None]], target: float | None, colours: list[str]) -> str:
    """A line over the runs that starts at zero, with the target dashed, as SVG."""
    there = [(k, at) for k, at in enumerate(series["at"]) if at is not None]
    top = max([at for _, at in there] + ([target] if target else []), default=0.0) or 1.0
    step = (WIDTH - 2 * PAD) / max(len(series["at"]) - 1, 1)
    points = [(PAD + step * k, HEIGHT - PAD - (HEIGHT - 2 * PAD) * at / top, colours[k]) for k, at in there]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{c}"/>' for x, y, c in points)
    goal = ""
    if target:
        y = HEIGHT - PAD - (HEIGHT - 2 * PAD) * target / top
        goal = f'<path d="M0 {y:.1f}H{WIDTH}" stroke="#d1495b" stroke-dasharray="3 3"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{goal}'
        f'<polyline points="{line}" fill="none" stroke="#9aa5b1" stroke-width="1.5"/>{dots}</svg>'
    )


def _card(name: str, figure: dict[str, Any], row: Row | None, past: dict[str, Any]) -> str:
    of = "ratio" if any(at is not None for at in figure["ratio"]["at"]) else "value"
    mood = MOODS.get(row.verdict, "") if row is not None else "gone"
    now = "not in this run"
    if row is not None and row.figure is not None:
        f = row.figure
        now = number(f.value, f.unit) + (f", {times(f.ratio)} {f.peer}" if f.ratio is not None else "")
    return (
        f'<button type="button" class="card {mood}" data-figure="{escape(name)}" title="{escape(name)}">'
        f"<span>{escape(figure['title'])}</span><b>{escape(now)}</b>"
        f"{spark(figure[of], figure[f'target_{of}'], past['runs']['colour'])}</button>"
    )
