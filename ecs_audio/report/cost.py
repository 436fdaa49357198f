"""Charts of what the run cost: time of each system, rays and cells against their budgets, what waited."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d

from ecs_audio.report.chart import chart, limit, lines, stack
from ecs_audio.report.theme import SERIES
from ecs_audio.settings import Settings
from ecs_audio.telemetry import SYSTEMS

RAYS = {
    "rays_direct": "direct paths",
    "rays_environment": "around sources",
    "rays_echo": "echoes",
    "rays_probe": "around the listener",
}
"""Kinds of rays, as the telemetry and as people call them."""
NEAR = 0.4
"""A budget is drawn when more than this share of it was spent at once."""


def cost(ticks: ColumnDataSource, times: Range1d, settings: Settings, tick_rate: float) -> list[Any]:
    """The charts, from the widest question to the narrowest."""
    return [
        _times(ticks, times, tick_rate),
        _rays(ticks, times, settings),
        _cells(ticks, times, settings),
        _ages(ticks, times),
        _queues(ticks, times),
    ]


def _times(ticks: ColumnDataSource, times: Range1d, tick_rate: float) -> Any:
    total = np.asarray(ticks.data["total"])
    # A few ticks take far longer, on a busy machine at any time, and would flatten all others.
    top, highest = 2.0 * float(np.percentile(total, 95)), float(total.max())
    due = 1000.0 / tick_rate
    cut = f"; peaks up to {highest:.1f} ms are cut off" if highest > top else ""
    title = f"Time of each system; a tick has {due:.1f} ms{cut}"
    fig = chart(title, "ms", times, height=280, y_range=Range1d(0.0, max(top, 1e-3)))
    stack(fig, ticks, {f"us_{name}": name for name in SYSTEMS}, "total", " ms")
    if due < top:
        limit(fig, due, "the tick's own time")
    return fig


def _rays(ticks: ColumnDataSource, times: Range1d, settings: Settings) -> Any:
    return _spent("Rays", "rays", RAYS, settings.max_rays, ticks, times)


def _cells(ticks: ColumnDataSource, times: Range1d, settings: Settings) -> Any:
    names = {"cells": "cells that rays looked at"}
    return _spent("Cells", "cells", names, settings.max_cells, ticks, times)


def _spent(
    title: str, total: str, names: dict[str, str], budget: int, ticks: ColumnDataSource, times: Range1d
) -> Any:
    """What each tick spent, with the budget as a line unless it is far above."""
    highest = float(np.max(ticks.data[total]))
    is_near = highest > NEAR * budget
    top = 1.08 * max(highest, budget if is_near else 0.0) + 1.0
    said = f"{title} a tick, {highest:,.0f} at most; the budget is {budget:,}"
    fig = chart(said, total, times, y_range=Range1d(0.0, top))
    fig.yaxis.formatter = NumeralTickFormatter(format="0,0")
    stack(fig, ticks, names, total)
    if is_near:
        limit(fig, budget, "budget")
    return fig


def _ages(ticks: ColumnDataSource, times: Range1d) -> Any:
    fig = chart("Age of the oldest answer in use", "age [s]", times)
    fig.y_range.start = 0.0
    names = {
        "oldest_age": ("straight path", SERIES[0]),
        "oldest_environment": ("environment of a FULL source", SERIES[1]),
    }
    lines(fig, ticks, names)
    return fig


def _queues(ticks: ColumnDataSource, times: Range1d) -> Any:
    fig = chart("Who waited for rays", "sources", times)
    fig.y_range.start = 0.0
    names = {
        "queue": ("whose turn it was", SERIES[0]),
        "deferred": ("whom the budget made wait", SERIES[4]),
        "surveys_waiting": ("environments that waited", SERIES[1]),
    }
    lines(fig, ticks, names)
    return fig
