"""A chart over time, and what is drawn in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    Label,
    Legend,
    LegendItem,
    PrintfTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from ecs_audio.report.theme import ACCENT, FONT, SERIES, SOFT

LEFT, RIGHT = 64, 20
"""Room beside every chart [pixels], so that their times stand above one another."""


def chart(title: str, unit: str, times: Range1d, *, height: int = 210, **options: Any) -> Any:
    """A figure over time, as wide as its place; its times move with those of all others.

    A vertical line, named "cursor", is where the page's time stands.
    """
    fig = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_range=times,
        y_axis_label=unit,
        tools="xpan,xbox_zoom,xwheel_zoom,reset",
        active_drag="xbox_zoom",
        active_scroll=None,
        min_border_left=LEFT,
        min_border_right=RIGHT,
        **options,
    )
    fig.toolbar.autohide, fig.toolbar.logo = True, None
    fig.xgrid.visible = False
    fig.xaxis.ticker.desired_num_ticks = 10
    fig.xaxis.formatter = PrintfTickFormatter(format="%.6g s")
    fig.add_layout(Span(location=0.0, dimension="height", line_color=ACCENT, line_width=1.5, name="cursor"))
    return fig


def limit(fig: Any, value: float, text: str) -> None:
    """A dashed line at what is allowed, with its name below."""
    fig.add_layout(Span(location=value, dimension="width", line_color=SOFT, line_dash="dashed"))
    fig.add_layout(
        Label(
            x=0, x_units="screen", y=value, text=text, x_offset=6, y_offset=-3, text_baseline="top",
            text_font=FONT, text_font_size="11px", text_color=SOFT,
        )
    )  # fmt: skip


def legend(fig: Any, items: Sequence[tuple[str, Any]], columns: int = 4, *, hide: bool = True) -> None:
    """Names above the chart, each of a glyph; a click hides what it names."""
    found = Legend(
        items=[LegendItem(label=label, renderers=[renderer]) for label, renderer in items],
        orientation="horizontal",
        ncols=columns,
        click_policy="hide" if hide else "none",
        location="left",
    )
    fig.add_layout(found, "above")


def stack(fig: Any, ticks: ColumnDataSource, names: dict[str, str], total: str, unit: str = "") -> None:
    """Areas upon each other, with a legend, and all their values under the pointer."""
    colours = SERIES[: len(names)]
    areas = fig.varea_stack(list(names), x="time", color=colours, source=ticks)
    legend(fig, list(zip(names.values(), areas, strict=True)), hide=False)
    top = fig.line("time", total, source=ticks, line_alpha=0.0)
    values = [(label, f"@{name}{{0.[00]}}{unit}") for name, label in names.items()]
    hover(fig, top, [*values, ("all", f"@{total}{{0.[00]}}{unit}")])


def lines(fig: Any, ticks: ColumnDataSource, names: dict[str, tuple[str, str]], form: str = "0.[00]") -> None:
    """Curves with a legend; `names`: column -> label and colour."""
    drawn = [
        (label, fig.line("time", name, source=ticks, color=colour, line_width=1.6))
        for name, (label, colour) in names.items()
    ]
    legend(fig, drawn)
    hover(fig, drawn[0][1], [(label, f"@{name}{{{form}}}") for name, (label, _) in names.items()])


def hover(fig: Any, renderer: Any, values: list[tuple[str, str]]) -> None:
    """What the values are at the time under the pointer."""
    tips = [("time", "@time{0.00} s"), *values]
    fig.add_tools(HoverTool(renderers=[renderer], tooltips=tips, mode="vline", line_policy="nearest"))
