"""The room around the listener: its reverberation over time, beside that of places that are known."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from bokeh.models import ColumnDataSource, Range1d

from ecs_audio.report.chart import chart, legend, lines
from ecs_audio.report.diary import Diary
from ecs_audio.report.tables import minus
from ecs_audio.report.theme import BANDS, PLACES
from ecs_audio.report.ticks import POINTS

HERTZ: Final = ("125 Hz", "500 Hz", "2 kHz", "8 kHz")
SCALES: Final = ("near", "far")
REFERENCES: Final = ("street", "canyon", "room", "hall")


def rooms(diary: Diary, times: Range1d) -> list[Any]:
    """What kind of place it is, and how long it rings, near and far."""
    rt60 = diary.ears.records["rt60"]
    time = np.array([row["time"] for row in diary.rows])
    every = -(-len(time) // POINTS)
    data: dict[str, Any] = {"time": time[::every].astype(np.float32)}
    for scale, name in enumerate(SCALES):
        for band in range(len(HERTZ)):
            data[f"{name}_{band}"] = rt60[::every, scale, band]
    source = ColumnDataSource(data)
    found = [_places(diary, times)]
    for name in SCALES:
        silent = not np.isfinite([data[f"{name}_{band}"] for band in range(4)]).any()
        title = f"Reverberation time of the {name} reverb" + (", which never sounds" if silent else "")
        fig = chart(title, "RT60 [s]", times)
        if silent:
            fig.y_range = Range1d(0.0, 1.0)
        fig.y_range.start = 0.0
        named = {f"{name}_{band}": (HERTZ[band], BANDS[band]) for band in range(len(HERTZ))}
        lines(fig, source, named, "0.00")
        found.append(fig)
    return found


def spells(rows: list[dict[str, Any]], end: float) -> list[tuple[str, float, float]]:
    """Each stay in one kind of place: its kind, when it begins and when it ends [s]."""
    found: list[tuple[str, float, float]] = []
    for row in rows:
        if not found or found[-1][0] != row["room"]:
            if found:
                found[-1] = (*found[-1][:2], row["time"])
            found.append((row["room"], row["time"], end))
    return found


def _places(diary: Diary, times: Range1d) -> Any:
    stays = spells(diary.rows, float(times.end))
    fig = chart("What kind of place the listener is in", "", times, height=104, y_range=Range1d(0.0, 1.0))
    fig.yaxis.visible, fig.ygrid.visible = False, False
    drawn = []
    for place in dict.fromkeys(stay[0] for stay in stays):
        of_it = [stay for stay in stays if stay[0] == place]
        quad = fig.quad(
            left=[s[1] for s in of_it], right=[s[2] for s in of_it], bottom=0, top=1,
            fill_color=PLACES.get(place, PLACES["unknown"]), line_color=None,
        )  # fmt: skip
        drawn.append((place, quad))
    legend(fig, drawn, columns=7, hide=False)
    return fig


def reference_rows(diary: Diary) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of two tables: places that are known, and those of this run by their kind.

    Each row: name, RT60 in four bands [s], reverberant level [dB], mean free path or share of the time.
    """
    from ecs_audio.presets import preset

    known = [["field", *["–"] * 4, "–", "∞"]]
    for name in REFERENCES:
        found = preset(name)
        scale = 0 if found.room_gain[0] > 0.0 else 1
        level = 20.0 * math.log10(found.room_gain[scale])
        times = [f"{t:.2f}" for t in found.rt60[scale]]
        known.append([name, *times, minus(level), f"{found.mean_free_path[scale]:.1f} m"])
    return known, _heard(diary)


def _heard(diary: Diary) -> list[list[str]]:
    kinds = np.array([row["room"] for row in diary.rows])
    gain = np.array([[row["room_gain_near"], row["room_gain_far"]] for row in diary.rows])
    rows = []
    for kind in dict.fromkeys(kinds.tolist()):
        is_there = kinds == kind
        scale = int(np.median(gain[is_there], axis=0).argmax())
        level = float(np.median(gain[is_there, scale]))
        rings = level > 0.0
        rt60 = diary.ears.records["rt60"][is_there, scale]
        times = [f"{t:.2f}" for t in np.nanmedian(rt60, axis=0)] if rings else ["–"] * 4
        decibels = minus(20.0 * math.log10(level)) if rings else "–"
        rows.append(
            [f"{kind}, {SCALES[scale]}" if rings else kind, *times, decibels, f"{is_there.mean():.0%}"]
        )
    return rows
