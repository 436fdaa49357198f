"""The map: who is where and how well it is heard, at the time that the page shows.

Python draws what never changes and names what does; `page.js` fills that in for a time from the scene.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BoxZoomTool,
    ColorBar,
    ColumnDataSource,
    HoverTool,
    LabelSet,
    LinearColorMapper,
    Range1d,
)
from bokeh.palettes import Plasma256
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from ecs_audio.report.diary import Diary
from ecs_audio.report.theme import FONT
from ecs_audio.scenario import Event

FAINTEST: Final = -60.0
"""Transmission at 5 kHz from which on a source has the darkest colour [dB]."""
NIGHT: Final = "#181b21"
"""Where there is no ground, as on the picture of it."""
EAR, CLEAR, OCCLUDED, ECHO = "#ffd23f", "#ffffff", "#ff5d5d", "#5ff0e0"
MARGIN: Final = 12.0
"""Around what happens [m]."""
RECORDS: Final = 50_000
"""Of sources in a page; of a longer run every second look is left out, or more."""


def map_of(diary: Diary) -> Any:
    """The figure. Its size in metres follows its size in pixels, which `page.js` sees to."""
    ground, (low, high) = diary.ground, frame(diary)
    fig = figure(
        height=640,
        sizing_mode="stretch_width",
        x_range=Range1d(low[0], high[0]),
        y_range=Range1d(high[1], low[1]),
        x_axis_label="x, to the east [m]",
        y_axis_label="z, to the south [m]",
        tools="pan,wheel_zoom,reset",
        active_scroll=None,
        name="map",
        background_fill_color=NIGHT,
    )
    fig.add_tools(BoxZoomTool(match_aspect=True))
    fig.toolbar.logo, fig.toolbar.autohide = None, True
    fig.grid.visible = False
    (x0, z0), (x1, z1) = ground.low, ground.high
    fig.image_url([ground.url], x=x0, y=z0, w=x1 - x0, h=z1 - z0, anchor="top_left", global_alpha=0.82)
    _draw(fig, diary)
    return fig


def _draw(fig: Any, diary: Diary) -> None:
    """What moves, from below to above."""
    ears = diary.ears.records["position"]
    fig.line(ears[:, 0], ears[:, 2], color="#1d2733", line_width=4, line_alpha=0.8)
    fig.line(ears[:, 0], ears[:, 2], color=EAR, line_width=1.6)
    fig.segment(
        "x0", "y0", "x1", "y1", source=_source("blocked", "x0", "y0", "x1", "y1"),
        color=OCCLUDED, line_width=1.1, line_dash="3 3", line_alpha=0.85,
    )  # fmt: skip
    fig.segment(
        "x0", "y0", "x1", "y1", source=_source("clear", "x0", "y0", "x1", "y1"),
        color=CLEAR, line_width=1.3, line_alpha=0.9,
    )  # fmt: skip
    echoes = fig.scatter(
        "x", "y", source=_source("echoes", "x", "y", "of", "milliseconds", "level"), marker="diamond",
        size=13, fill_color=ECHO, line_color="#10413d", line_width=1.2,
    )  # fmt: skip
    colours = LinearColorMapper(palette=Plasma256, low=FAINTEST, high=0.0)
    names = ("x", "y", "of", "level", "size", "alpha", "tier", "distance", "height")
    sources = fig.scatter(
        "x", "y", source=_source("sources", *names), size="size", fill_alpha="alpha", line_alpha="alpha",
        fill_color={"field": "level", "transform": colours}, line_color="#ffffff", line_width=1.2,
    )  # fmt: skip
    fig.scatter(
        "x", "y", source=_source("listener", "x", "y", "angle"), marker="triangle", angle="angle", size=20,
        fill_color=EAR, line_color="#1d2733", line_width=2,
    )  # fmt: skip
    fig.add_layout(
        LabelSet(
            x="x", y="y", text="of", source=_source("names", "x", "y", "of"), x_offset=9, y_offset=-1,
            text_baseline="middle", text_font=value(FONT), text_font_size="11px", text_color="#ffffff",
            background_fill_color=NIGHT, background_fill_alpha=0.65,
        )
    )  # fmt: skip
    tips = [("", "@of"), ("let through at 5 kHz", "@level{0.0} dB"), ("distance", "@distance{0.0} m")]
    tips += [("height", "y = @height{0.0} m"), ("tier", "@tier")]
    fig.add_tools(HoverTool(renderers=[sources], tooltips=tips))
    tips = [("an echo of", "@of"), ("after", "@milliseconds{0} ms"), ("gain", "@level{0.0} dB")]
    fig.add_tools(HoverTool(renderers=[echoes], tooltips=tips))
    bar = ColorBar(
        color_mapper=colours, title="a source's colour: what of it comes through at 5 kHz [dB]", height=10,
        width=340, padding=2, orientation="horizontal", location="top_left",
    )  # fmt: skip
    fig.add_layout(bar, "below")


def key() -> str:
    """What the signs of the map mean, as HTML."""
    line = '<path d="M1 8H25" stroke="{}" stroke-width="2" stroke-dasharray="{}"/>'
    dot = '<circle cx="13" cy="8" r="{}" fill="#b12a90" fill-opacity="{}" stroke="#fff"/>'
    signs = {
        "listener": f'<path d="M13 1 20 14H6Z" fill="{EAR}" stroke="#1d2733"/>',
        "its way": line.format(EAR, "none"),
        "clear path": line.format(CLEAR, "none"),
        "occluded path": line.format(OCCLUDED, "3 3"),
        "FULL": dot.format(6.5, 1),
        "DIRECT": dot.format(4.5, 1),
        "FREE": dot.format(3, 1),
        "silent": dot.format(4.5, 0.3),
        "echo, where it seems to come from": f'<path d="M13 1 18 8 13 15 8 8Z" fill="{ECHO}"/>',
    }
    return "".join(
        f'<span><svg width="26" height="16">{sign}</svg>{name}</span>' for name, sign in signs.items()
    )


def frame(diary: Diary) -> tuple[Any, Any]:
    """Lowest and highest x and z in which nearly everything happens [m]."""
    ears = diary.ears.records["position"][:, [0, 2]]
    low, high = ears.min(axis=0), ears.max(axis=0)
    places = diary.sources.records["position"][:, [0, 2]]
    if len(places):
        # Few sources are far away, and would make all others small.
        low = np.minimum(low, np.percentile(places, 2, axis=0))
        high = np.maximum(high, np.percentile(places, 98, axis=0))
    return low - MARGIN, high + MARGIN


def scene(diary: Diary) -> dict[str, Any]:
    """Every look at the world, for `page.js`: arrays as base64 of their bytes."""
    sources, echoes, ears = diary.sources.records, diary.echoes.records, diary.ears.records
    every = max(1, -(-len(sources) // RECORDS))
    looks = range(0, len(diary.looks), every)
    times = [row["time"] for row in diary.rows]
    at_look = np.searchsorted(times, np.array([diary.looks[k] for k in looks]) - 1e-9)
    of_sources, first_source = _parts(diary.sources.first, looks)
    of_echoes, first_echo = _parts(diary.echoes.first, looks)
    s, e = sources[of_sources], echoes[of_echoes]
    serials, index = np.unique(np.concatenate([s["serial"], e["serial"]]), return_inverse=True)
    with np.errstate(divide="ignore"):
        level = np.maximum(20.0 * np.log10(s["transmission"]), FAINTEST)
        echo_level = np.maximum(20.0 * np.log10(e["gain"]), -120.0)
    return {
        "times": _floats([diary.looks[k] for k in looks]),
        "names": [diary.names.get(int(serial), "") for serial in serials],
        "listener": _floats(ears["position"][at_look]),
        "forward": _floats(ears["forward"][at_look]),
        "events": [[event.at, event.label] for event in _told(diary)],
        "rooms": [diary.rows[k]["room"] for k in at_look],
        "firstSource": _floats(first_source),
        "position": _floats(s["position"]),
        "level": _floats(level),
        "distance": _floats(s["distance"]),
        "tier": _floats(s["tier"]),
        "state": _floats(s["state"]),
        "name": _floats(index[: len(s)]),
        "firstEcho": _floats(first_echo),
        "echoPosition": _floats(e["position"]),
        "echoLevel": _floats(echo_level),
        "echoDelay": _floats(e["delay"]),
        "echoName": _floats(index[len(s) :]),
    }


def _told(diary: Diary) -> list[Event]:
    return sorted((e for e in diary.scenario.events if e.label), key=lambda event: event.at)


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _parts(first: list[int], looks: range) -> tuple[Any, list[int]]:
    """Indices of the records of these looks, and where each begins among them."""
    parts = [np.arange(first[k], first[k + 1]) for k in looks]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return np.concatenate([np.zeros(0, np.intp), *parts]).astype(np.intp), starts.tolist()


def _floats(values: ArrayLike) -> str:
    return b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
