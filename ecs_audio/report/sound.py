"""What was heard: waveform and spectrogram, and the sound itself, small enough for a page."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Any, Final

import numpy as np
from bokeh.models import AllLabels, ColorBar, FixedTicker, LinearColorMapper, Range1d
from bokeh.palettes import Magma256
from numpy.typing import NDArray

from ecs_audio.report.chart import chart
from ecs_audio.report.theme import SERIES

COLUMNS: Final = 1200
"""Of waveform and spectrogram, at most."""
WINDOW: Final = 4096
"""Of the spectrogram [frames]."""
LOWEST: Final = 20.0
"""[Hz]"""
TWELFTHS: Final = 120
"""Rows of the spectrogram, twelfths of an octave: from 20 Hz to 20.48 kHz."""
RANGE: Final = 80.0
"""From the brightest to the darkest [dB]."""
BESIDE: Final = 96
"""Room for the colours of the spectrogram [pixels], also beside the waveform so that their times agree."""
LONGEST: Final = 180.0
"""A longer recording is not put into the page [s]."""

F32 = NDArray[np.float32]


def sound(samples: F32, rate: int, times: Range1d) -> list[Any]:
    """Waveform and spectrogram of a recording, shape (frames, 2)."""
    figs = [_waveform(samples, rate, times), _spectrogram(samples, rate, times)]
    for fig in figs:
        fig.min_border_right = BESIDE
    return figs


def audio_url(samples: F32, rate: int) -> str:
    """The recording as a `data:` address of an MP3 file, or nothing if it is too long for a page."""
    import soundfile

    if len(samples) > LONGEST * rate or "MP3" not in soundfile.available_formats():
        return ""
    data = io.BytesIO()
    soundfile.write(data, np.clip(np.nan_to_num(samples), -1.0, 1.0), rate, format="MP3")
    return f"data:audio/mpeg;base64,{b64encode(data.getvalue()).decode()}"


def envelope(samples: F32) -> tuple[NDArray[np.intp], F32, F32]:
    """First frame, lowest and highest sample of each of at most COLUMNS pieces.

    Shapes (pieces,), (pieces, 2) and (pieces, 2).
    """
    pieces = min(COLUMNS, len(samples))
    starts = np.linspace(0, len(samples), pieces, endpoint=False).astype(np.intp)
    return starts, np.minimum.reduceat(samples, starts), np.maximum.reduceat(samples, starts)


def levels(samples: F32, rate: int) -> NDArray[np.float64]:
    """Level in each twelfth of an octave over time, both channels' mean power [dBFS]; −inf for silence.

    Shape (TWELFTHS, columns). A sine of amplitude 1 in both channels has −3.01 dBFS in its row or, between
    two, in both together.
    """
    pad = np.zeros((WINDOW // 2, samples.shape[1]), np.float32)
    x = np.concatenate([pad, samples, pad])
    count = min(COLUMNS, max(1, len(samples) // (WINDOW // 8)))
    ends = np.linspace(0, len(samples), count + 1)
    window = np.hanning(WINDOW)
    edges = LOWEST * 2.0 ** (np.arange(TWELFTHS + 1) / 12.0)
    bins = rate * (np.arange(WINDOW // 2 + 2) - 0.5) / WINDOW
    found = np.zeros((TWELFTHS, count))
    for k in range(count):
        # A long recording has several windows a column, whose powers are averaged.
        looks = max(1, round((ends[k + 1] - ends[k]) / WINDOW))
        at = (ends[k] + (np.arange(looks) + 0.5) * (ends[k + 1] - ends[k]) / looks).astype(int)
        cut = np.stack([x[a : a + WINDOW] for a in at]) * window[:, None]
        power = np.square(np.abs(np.fft.rfft(cut, axis=1))).mean(axis=(0, 2))
        power *= 2.0 / (WINDOW * np.square(window).sum())
        below = np.concatenate([[0.0], np.cumsum(power)])
        # Low rows are narrower than a bin and get their part of it.
        found[:, k] = np.maximum(np.diff(np.interp(edges, bins, below)), 0.0)
    with np.errstate(divide="ignore"):
        return 10.0 * np.log10(found)


def _waveform(samples: F32, rate: int, times: Range1d) -> Any:
    starts, low, high = envelope(samples)
    peak = max(float(np.abs(samples).max(initial=0.0)), 1e-6)
    fig = chart(f"Waveform, ±{peak:.3g} of full scale", "", times, height=150, y_range=Range1d(-2.15, 2.15))
    for channel, (middle, colour) in enumerate(((1.0, SERIES[0]), (-1.0, SERIES[2]))):
        scale = 0.97 / peak
        fig.varea(
            (starts / rate).astype(np.float32),
            (middle + scale * low[:, channel]).astype(np.float32),
            (middle + scale * high[:, channel]).astype(np.float32),
            color=colour,
        )
    fig.yaxis.ticker = FixedTicker(ticks=[1.0, -1.0])
    fig.yaxis.major_label_overrides = {1: "left", -1: "right"}
    return fig


def _spectrogram(samples: F32, rate: int, times: Range1d) -> Any:
    found = levels(samples, rate)
    top = 5.0 * np.ceil(found.max() / 5.0) if np.isfinite(found.max()) else 0.0
    bottom = top - RANGE
    shade = np.rint(255.0 * np.clip((found - bottom) / RANGE, 0.0, 1.0)).astype(np.uint8)
    fig = chart(
        "Spectrogram, level of each twelfth of an octave [dBFS]",
        "",
        times,
        height=250,
        y_range=Range1d(0, 10),
    )
    colours = LinearColorMapper(palette=Magma256, low=0, high=255)
    fig.image([shade], x=0, y=0, dw=len(samples) / rate, dh=TWELFTHS / 12, color_mapper=colours)
    octaves = np.log2(np.array([31.5, 63, 125, 250, 500, 1000, 2000, 4000, 8000, 16_000]) / LOWEST)
    names = ("31 Hz", "63", "125", "250", "500", "1 kHz", "2 kHz", "4 kHz", "8 kHz", "16 kHz")
    fig.yaxis.ticker = FixedTicker(ticks=octaves.tolist())
    fig.yaxis.major_label_overrides = dict(zip(octaves.tolist(), names, strict=True))
    steps = np.arange(top, bottom - 1.0, -20.0)
    places = np.rint(255.0 * (steps - bottom) / RANGE)
    bar = ColorBar(
        color_mapper=colours,
        ticker=FixedTicker(ticks=places.tolist()),
        major_label_overrides={
            float(p): f"{s:.0f}".replace("-", "−") for p, s in zip(places, steps, strict=True)
        },
        major_label_policy=AllLabels(),
        width=10,
        padding=4,
    )
    fig.add_layout(bar, "right")
    return fig
