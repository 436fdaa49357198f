"""Charts of what the engine chose: tiers, voices, the cache, the limiter."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from bokeh.models import ColumnDataSource, Range1d

from ecs_audio.report.chart import chart, hover, legend, limit, lines, stack
from ecs_audio.report.theme import SERIES
from ecs_audio.report.ticks import column
from ecs_audio.settings import Settings

BARS: Final = 80
"""Of the cache at most; each is half a second or longer."""


def choices(
    rows: list[dict[str, Any]], ticks: ColumnDataSource, times: Range1d, settings: Settings
) -> list[Any]:
    """The charts; rows: the telemetry of every tick."""
    return [
        _tiers(ticks, times),
        _voices(rows, ticks, times, settings),
        _cache(rows, times),
        _limiter(ticks, times),
    ]


def _tiers(ticks: ColumnDataSource, times: Range1d) -> Any:
    fig = chart("Sources by tier", "sources", times)
    fig.y_range.start = 0.0
    stack(fig, ticks, {"full": "FULL", "direct": "DIRECT", "free": "FREE"}, "sources")
    return fig


def _voices(rows: list[dict[str, Any]], ticks: ColumnDataSource, times: Range1d, settings: Settings) -> Any:
    refused, stolen = rows[-1]["voices_refused"], rows[-1]["voices_stolen"]
    fig = chart(f"Voices and echoes; {refused:,} were refused, {stolen:,} stolen", "count", times)
    fig.y_range.start = 0.0
    names = {
        "voices_playing": ("sources that sound", SERIES[0]),
        "voices_virtual": ("virtual", SERIES[7]),
        "taps": ("echoes", SERIES[1]),
    }
    lines(fig, ticks, names, "0")
    most = float(np.max(ticks.data["voices_playing"]))
    if most > 0.6 * settings.max_voices:
        fig.y_range.end = 1.12 * max(most, settings.max_voices)
        limit(fig, settings.max_voices, f"max_voices, {settings.max_voices:,}")
    return fig


def _cache(rows: list[dict[str, Any]], times: Range1d) -> Any:
    names = {"cache_hits": "found in the cache", "cache_misses": "not in it"}
    time = column(rows, "time")
    width = max(0.5, float(times.end) / BARS)
    place = (time / width).astype(int)
    bars = {name: np.bincount(place, column(rows, name)) for name in names}
    both = bars["cache_hits"] + bars["cache_misses"]
    data = {**bars, "both": both, "share": 100.0 * bars["cache_hits"] / np.maximum(both, 1.0)}
    data["time"] = width * (np.arange(len(both)) + 0.5)
    source = ColumnDataSource(data)
    gone, outdated = (sum(row[f"cache_{what}"] for row in rows) for what in ("evictions", "invalidations"))
    said = f"{gone:,} given up, {outdated:,} outdated by edits"
    fig = chart(f"Environments asked for; {said}", "environments", times)
    fig.y_range.start = 0.0
    drawn = fig.vbar_stack(
        list(names), x="time", width=0.86 * width, color=(SERIES[2], SERIES[1]), source=source
    )
    legend(fig, list(zip(names.values(), drawn, strict=True)), hide=False)
    tips = [(label, f"@{name}{{0}}") for name, label in names.items()]
    hover(fig, drawn[-1], [*tips, ("hit rate", "@share{0} %")])
    return fig


def _limiter(ticks: ColumnDataSource, times: Range1d) -> Any:
    most = float(np.max(ticks.data["reduction"]))
    idle = "idle throughout" if most == 0.0 else f"{most:.2f} dB at most"
    fig = chart(
        f"What the limiter takes away, {idle}", "dB", times, y_range=Range1d(0.0, max(1.2 * most, 1.0))
    )
    area = fig.varea("time", 0, "reduction", source=ticks, color=SERIES[4], fill_alpha=0.75)
    hover(
        fig,
        fig.line("time", "reduction", source=ticks, color=SERIES[4]),
        [("limiter", "@reduction{0.00} dB")],
    )
    legend(fig, [("reduction", area)], hide=False)
    return fig
