"""How costs grow: what was measured, the law that fits it and the one that was declared, on log scales."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from bokeh.models import FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from ecs_audio.bench.record import Curve
from ecs_audio.bench.words import number, short
from ecs_audio.report.chart import legend
from ecs_audio.report.theme import ACCENT, INK, SERIES, SOFT

F64 = NDArray[np.float64]

NAMES: Final = {0.0: "constant", 1.0: "linear", 2.0: "quadratic"}
LEAST: Final = 6.0
"""The highest stands at least so many times above the lowest, or noise would fill the chart."""


def chart(curve: Curve) -> Any:
    """The chart of a curve; where nothing was to do, it stands left of the axis's first power."""
    xs, ys = np.array(curve.xs, float), np.maximum(np.array(curve.ys, float), 1e-12)
    first = float(xs[xs > 0].min(initial=np.inf))
    first = first if math.isfinite(first) else 1.0
    places = np.where(xs > 0, xs, first / 4)
    bottom, top = _reach(ys)
    declared = NAMES.get(curve.declared, f"order {curve.declared:g}")
    said = f"order {curve.order:.2f}, worse than {declared}!" if curve.worse else f"order {curve.order:.2f}"
    fig = figure(
        title=f"{curve.title}: {said}",
        height=260,
        sizing_mode="stretch_width",
        x_axis_type="log",
        y_axis_type="log",
        x_range=Range1d(places.min() / 1.6, places.max() * 1.6),
        y_range=Range1d(bottom, top),
        x_axis_label=curve.x,
        tools="",
        min_border_left=64,
        min_border_right=20,
    )
    fig.toolbar_location = None
    fig.title.text_color = ACCENT if curve.worse else INK
    fig.xaxis.ticker = FixedTicker(ticks=_apart(places))
    fig.xaxis.major_label_overrides = {
        float(place): f"{x:,.0f}" if x >= 1 else f"{x:g}" for x, place in zip(xs, places, strict=True)
    }
    marks = ticks(bottom, top)
    fig.yaxis.ticker = FixedTicker(ticks=marks)
    fig.ygrid.ticker = FixedTicker(ticks=marks)
    fig.yaxis.major_label_overrides = {y: short(y, curve.unit) for y in marks}
    fine = np.geomspace(places.min(), places.max(), 80)
    meant = fine if xs.min() > 0 else np.where(fine < first, np.maximum(fine - first / 4, 0) / 0.75, fine)
    drawn = []
    for order, colour, dash in (
        (curve.order, ACCENT if curve.worse else SERIES[2], "solid"),
        (curve.declared, SOFT, "dashed"),
    ):
        y = law(xs, ys, order, meant)
        drawn.append(fig.line(fine, y, color=colour, line_dash=dash, line_width=2))
    data = {"x": places, "y": ys, "n": xs, "said": [number(y, curve.unit) for y in ys]}
    dots = fig.scatter("x", "y", source=data, size=8, color=SERIES[0])
    fig.add_tools(HoverTool(renderers=[dots], tooltips=[(curve.x, "@n{0,0.[00]}"), ("cost", "@said")]))
    names = (f"fit, order {curve.order:.2f}", f"declared, {declared}", "measured")
    legend(fig, list(zip(names, (*drawn, dots), strict=True)), hide=False)
    return fig


def law(xs: F64, ys: F64, order: float, at: F64) -> F64:
    """Values at `at` of that base plus multiple of x^order, neither negative, that is nearest to the ys."""
    powers = np.ones_like(xs) if order == 0 else xs**order
    fits = [np.array([0.0, _share(powers, ys)]), np.array([_share(np.ones_like(ys), ys), 0.0])]
    if order > 0:
        both, *_ = np.linalg.lstsq(np.stack([1 / ys, powers / ys], axis=1), np.ones_like(ys), rcond=None)
        fits += [both] if (both >= 0).all() else []
    base, slope = min(fits, key=lambda f: float(np.square((f[0] + f[1] * powers) / ys - 1).sum()))
    return np.asarray(np.maximum(base + slope * (np.ones_like(at) if order == 0 else at**order), 1e-300))


def ticks(low: float, high: float) -> list[float]:
    """Round numbers for a logarithmic axis: 1, 2 and 5 of every decade, or only its powers."""
    steps = (1.0, 2.0, 5.0) if high / low < 200 else (1.0,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [x for k in decades for s in steps if low <= (x := float(f"{s:g}e{k}")) <= high]


def _share(form: F64, ys: F64) -> float:
    """The multiple of a form that is nearest to the ys in relative terms."""
    form = form / ys
    return float(form.sum() / max(np.square(form).sum(), 1e-300))


def _reach(ys: F64) -> tuple[float, float]:
    low, high = float(ys.min()), float(ys.max())
    more = max(LEAST / (high / low), 1.0) ** 0.5
    return low / more / 1.3, high * more * 1.3


def _apart(places: F64) -> list[float]:
    """The places whose labels have room beside one another."""
    found: list[float] = []
    least = (places.max() / places.min()) ** (1 / 8)
    for place in sorted(places.tolist(), reverse=True):
        if not found or found[-1] / place >= least:
            found.append(place)
    return found[::-1]
