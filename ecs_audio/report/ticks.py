"""What every tick said, as the columns of a chart."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from ecs_audio.telemetry import SYSTEMS

POINTS: Final = 3000
"""Of a curve at most; of a longer run each stands for several ticks."""


def column(rows: list[dict[str, Any]], name: str) -> NDArray[np.float64]:
    """One number of every tick, shape (ticks,)."""
    return np.array([row[name] for row in rows], np.float64)


def ticks_of(rows: list[dict[str, Any]]) -> ColumnDataSource:
    """Every number of every tick, times of systems in milliseconds, and the limiter's reduction [dB].

    Of a run of more than POINTS ticks, each point is the largest of its ticks, so that no peak is lost.
    """
    numbers = [name for name, value in rows[0].items() if isinstance(value, (int, float))]
    data = {name: column(rows, name) for name in numbers}
    for name in SYSTEMS:
        data[f"us_{name}"] /= 1000.0
    data["total"] = np.sum([data[f"us_{name}"] for name in SYSTEMS], axis=0)
    data["reduction"] = -20.0 * np.log10(np.clip(data["limiter_gain"], 1e-6, 1.0))
    # Nothing was traced yet where an age is infinite.
    for name in ("oldest_age", "oldest_environment"):
        data[name] = np.where(np.isfinite(data[name]), data[name], np.nan)
    every = -(-len(rows) // POINTS)
    starts = np.arange(0, len(rows), every)
    found = {name: np.fmax.reduceat(values, starts).astype(np.float32) for name, values in data.items()}
    found["time"] = data["time"][starts].astype(np.float32)
    return ColumnDataSource(found)
