"""The history of every figure: its value and its ratio to the peer in each stored run."""

from __future__ import annotations

from html import escape
from typing import Any, Final

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Span
from bokeh.plotting import figure

from ecs_audio.bench.record import Run
from ecs_audio.bench.tables import date
from ecs_audio.bench.targets import Row
from ecs_audio.report.theme import ACCENT, SERIES

SCALES: Final = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "1/s": ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "1/s")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
TIP: Final = (
    "<div style=\"font:12px system-ui,'DejaVu Sans',sans-serif\"><b>@said</b><br>@date<br>@commit<br>"
    "@processor<br>@kind</div>"
)
COLUMNS: Final = (
    "x", "at", "low", "high", "colour", "fill", "said", "date", "commit", "processor", "kind",
)  # fmt: skip
"""Of a point."""

Goals = dict[tuple[str, str], float]


def trends(runs: list[Run], rows: list[Row]) -> dict[str, Any]:
    """Everything the page shows of the past, ready for JSON: runs from old to new, and figures by name."""
    processors = list(dict.fromkeys(run.processor for run in runs))
    names = dict.fromkeys(name for run in (runs[-1], *runs) for name in run.figures)
    goals: Goals = {(row.name, row.target.of): row.target.number for row in rows if row.target is not None}
    return {
        "runs": {
            "date": [date(run) for run in runs],
            "commit": [run.commit for run in runs],
            "processor": [run.processor for run in runs],
            "colour": [SERIES[processors.index(run.processor) % len(SERIES)] for run in runs],
            "kind": ["quick run" if run.ecs_audio.quick else "full run" for run in runs],
        },
        "figures": {name: _figure(name, runs, goals) for name in names},
    }


def charts() -> list[Any]:
    """Two empty charts that the page fills: the ratio, and the value."""
    return [_chart(name) for name in ("ratio", "value")]


def key(past: dict[str, Any]) -> str:
    """Which colour is which processor, as HTML."""
    found = dict(zip(past["runs"]["processor"], past["runs"]["colour"], strict=True))
    items = [f'<i style="background:{colour}"></i>{escape(name)}' for name, colour in found.items()]
    if "quick run" in past["runs"]["kind"]:
        items.append('<i class="hollow"></i>quick run')
    return "".join(items)


def _figure(name: str, runs: list[Run], goals: Goals) -> dict[str, Any]:
    found = [run.figures.get(name) for run in runs]
    last = next(f for f in reversed(found) if f is not None)
    largest = max(abs(f.value) for f in found if f is not None)
    scale, unit = _scale(largest, last.unit)
    target = goals.get((name, "value"))
    return {
        "title": last.title,
        "group": last.group,
        "better": last.better,
        "unit": unit,
        "peer": last.peer,
        "value": _series([_three(f.value, f.values, scale) if f else None for f in found]),
        "ratio": _series([_three(f.ratio, f.ratios, 1.0) if f else None for f in found]),
        "target_value": None if target is None else target / scale,
        "target_ratio": goals.get((name, "ratio")),
    }


def _series(points: list[tuple[float, float, float] | None]) -> dict[str, list[float | None]]:
    """Middle, first and third quartile of the rounds, in each run."""
    return {
        part: [None if p is None else float(f"{p[k]:.5g}") for p in points]
        for k, part in enumerate(("at", "low", "high"))
    }


def _three(value: float | None, rounds: list[float], scale: float) -> tuple[float, float, float] | None:
    if value is None:
        return None
    low, high = np.percentile(rounds, (25, 75)) if rounds else (value, value)
    return value / scale, float(low) / scale, float(high) / scale


def _scale(largest: float, unit: str) -> tuple[float, str]:
    scales = SCALES.get(unit, ((1.0, unit),))
    return next((each for each in scales if largest >= each[0]), scales[-1])


def _chart(name: str) -> Any:
    fig = figure(
        title=" ",
        name=name,
        height=270,
        sizing_mode="stretch_width",
        x_range=Range1d(-0.5, 0.5),
        y_range=Range1d(0.0, 1.0),
        tools="",
        min_border_left=64,
        min_border_right=20,
    )
    fig.toolbar_location = None
    fig.xgrid.visible = False
    fig.xaxis.ticker = FixedTicker(ticks=[])
    points = ColumnDataSource({column: [] for column in COLUMNS}, name=f"{name} points")
    lines = ColumnDataSource({"xs": [], "ys": [], "colour": []}, name=f"{name} lines")
    fig.multi_line("xs", "ys", color="colour", line_width=1.6, alpha=0.55, source=lines)
    fig.segment("x", "low", "x", "high", color="colour", line_width=5, alpha=0.3, source=points)
    dots = fig.scatter(
        "x", "at", size=9, line_color="colour", fill_color="fill", line_width=1.8, source=points
    )
    fig.add_tools(HoverTool(renderers=[dots], tooltips=TIP))
    fig.add_layout(
        Span(
            location=0.0, dimension="width", line_color=ACCENT, line_dash="dashed", visible=False,
            name=f"{name} target",
        )
    )  # fmt: skip
    return fig
