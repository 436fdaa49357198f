"""What is measured of a recording: one dict for machines and for people."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio import analysis

MAX_CHANNELS: Final = 64

LONGEST: Final = 60.0
"""Recordings that last longer [s] are no single short sound: decays and echoes are not looked for."""

WINDOWS: Final = 200
"""Directions at most; each is of 50 ms at least."""

NOMINAL_THIRDS: Final = tuple(
    round(base * 10.0**decade, 6)
    for decade in range(1, 5)
    for base in (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
)[4 : 4 + len(analysis.THIRDS)]
"""What people call `analysis.THIRDS`."""


def measures(samples: NDArray[np.float32], rate: int, bands: str) -> dict[str, Any]:
    """All that `analysis` says of samples, shape (n,) or (n, channels), at `rate` [Hz].

    bands: "octave" or "third". Keys are stable; what cannot be said is None, and `notes` says why.
    """
    channels = samples.reshape(len(samples), -1)
    broken = int(np.count_nonzero(~np.isfinite(channels)))
    seconds = len(samples) / rate
    notes: list[str] = []
    if broken:
        notes.append(f"{broken} samples are NaN or infinite: no levels, decays, echoes and directions")
    if seconds > LONGEST:
        notes.append(f"decays and echoes are looked for in {LONGEST:g} s at most; choose --from and --to")
    short = not broken and seconds <= LONGEST
    start, end = analysis.silent_ends(samples)
    return {
        "seconds": seconds,
        "frames": len(samples),
        "channels": channels.shape[1],
        "rate": rate,
        "non_finite": broken,
        "peak_db": _finite(analysis.peak_db(samples)),
        "true_peak_db": _finite(analysis.true_peak_db(samples)),
        "level_db": _finite(analysis.level_db(samples)),
        "loudness_lufs": _loudness(samples, rate, notes),
        "dc": [_finite(float(np.mean(channel, dtype=np.float64))) for channel in channels.T],
        "silence": {"start": start / rate, "end": end / rate},
        "clicks": (analysis.clicks(samples, rate) / rate).tolist(),
        "decay": _decay(samples, rate) if short else None,
        "echoes": _echoes(*analysis.echoes(samples, rate)) if short else None,
        "repeats": _echoes(*analysis.repeats(samples, rate)) if short else None,
        "direction": _direction(samples, rate) if channels.shape[1] == 2 else None,
        "bands": _bands(samples, rate, bands, short),
        "notes": notes,
    }


def _loudness(samples: NDArray[np.float32], rate: int, notes: list[str]) -> float | None:
    try:
        return _finite(analysis.loudness_lufs(samples, rate))
    except (ImportError, ValueError) as error:
        notes.append(str(error))
        return None


def _bands(samples: NDArray[np.float32], rate: int, kind: str, short: bool) -> list[dict[str, Any]]:
    if kind == "octave":
        centres, names, edge = list(analysis.OCTAVES), list(analysis.OCTAVES), math.sqrt(2.0)
        levels = analysis.octave_levels_db(samples, rate)
    else:
        centres, names, edge = list(analysis.THIRDS), list(NOMINAL_THIRDS), 10.0**0.05
        levels = analysis.third_octave_levels_db(samples, rate)
    return [
        {
            "band": name,
            "low": centre / edge,
            "high": centre * edge,
            "level_db": _finite(level),
            "decay": _decay(samples, rate, (centre / edge, centre * edge)) if short else None,
        }
        for name, centre, level in zip(names, centres, levels.tolist(), strict=True)
        if centre < rate / 2.0
    ]


def _decay(
    samples: NDArray[np.float32], rate: int, band: tuple[float, float] | None = None
) -> dict[str, Any]:
    found = analysis.decay(samples, rate, band)
    return {
        name: _finite(value) if isinstance(value, float) else value for name, value in found._asdict().items()
    }


def _echoes(times: NDArray[np.float64], levels: NDArray[np.float64]) -> list[dict[str, float]]:
    pairs = zip(times.tolist(), levels.tolist(), strict=True)
    return [{"time": time, "level_db": level} for time, level in pairs]


def _direction(samples: NDArray[np.float32], rate: int) -> dict[str, Any]:
    window = max(0.05, len(samples) / rate / WINDOWS)
    times, azimuth = analysis.directions(samples, rate, window=window)
    return {
        "overall": _finite(analysis.direction(samples)),
        "times": times.tolist(),
        "azimuth": [_finite(value) for value in azimuth.tolist()],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
