"""The times of every benchmark's rounds: from the shortest to the longest, on one scale."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from ecs_audio.bench.curves import ticks
from ecs_audio.bench.record import Benchmark, Run
from ecs_audio.bench.words import number, short
from ecs_audio.report.theme import INK, SERIES

ROW: Final = 24
"""Height of a benchmark [pixels]."""
LONGEST: Final = 46
"""Letters of a name."""
BESIDE: Final = 300
"""Room for the names [pixels]."""


def charts(run: Run) -> list[Any]:
    """A chart for each file of the suite, with a row for each benchmark; all have the same scale."""
    if not run.benchmarks:
        return []
    low = min(max(b.stats.min, 1e-10) for b in run.benchmarks)
    high = max(b.stats.max for b in run.benchmarks)
    reach = Range1d(low / 1.5, high * 1.5)
    return [_chart(file, list(members), reach) for file, members in groupby(run.benchmarks, key=_file)]


def _chart(file: str, members: list[Benchmark], reach: Range1d) -> Any:
    names = _names(members)
    fig = figure(
        title=file,
        height=62 + ROW * len(members),
        sizing_mode="stretch_width",
        x_axis_type="log",
        x_range=reach,
        y_range=list(reversed(names)),
        tools="",
        min_border_left=BESIDE,
        min_border_right=20,
    )
    fig.toolbar_location = None
    marks = ticks(float(reach.start), float(reach.end))
    fig.xaxis.ticker = FixedTicker(ticks=marks)
    fig.xgrid.ticker = FixedTicker(ticks=marks)
    fig.xaxis.major_label_overrides = {x: short(x, "s") for x in marks}
    fig.ygrid.visible = False
    source = ColumnDataSource(_data(names, members))
    blue, grey = {"color": SERIES[0], "source": source}, {"color": SERIES[7], "source": source}
    fig.segment("min", "name", "p99", "name", line_width=1.5, **blue)
    fig.segment("p99", "name", "max", "name", line_width=1.5, line_dash="dotted", **grey)
    box = fig.hbar("name", left="q1", right="q3", height=0.55, fill_alpha=0.55, **blue)
    fig.scatter(
        "median", "name", marker="dash", angle=np.pi / 2, size=14, line_width=2.5, color=INK, source=source
    )
    fig.scatter("max", "name", size=4, **grey)
    tips = [(name, f"@{name}_said") for name in ("min", "q1", "median", "q3", "p99", "max")]
    fig.add_tools(HoverTool(renderers=[box], tooltips=[("", "@whole"), *tips, ("rounds", "@rounds{0,0}")]))
    return fig


def _data(names: list[str], members: list[Benchmark]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"name": names, "whole": [b.fullname for b in members]}
    found["rounds"] = [b.stats.rounds for b in members]
    for part in ("min", "q1", "median", "q3", "max"):
        found[part] = [max(getattr(b.stats, part), 1e-10) for b in members]
    found["p99"] = [float(np.percentile(b.stats.data or [b.stats.max], 99)) for b in members]
    for part in ("min", "q1", "median", "q3", "p99", "max"):
        found[f"{part}_said"] = [number(value, "s") for value in found[part]]
    return found


def _file(benchmark: Benchmark) -> str:
    return benchmark.fullname.partition("::")[0].rpartition("/")[2]


def _names(members: list[Benchmark]) -> list[str]:
    """Names as people read them, each once."""
    found: list[str] = []
    for benchmark in members:
        name = benchmark.name.removeprefix("test_").replace("_", " ")
        name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        k, own = 2, name
        while own in found:
            own, k = f"{name} ({k})", k + 1
        found.append(own)
    return found
