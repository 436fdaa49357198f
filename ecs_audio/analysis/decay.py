"""How a sound dies away: Schroeder's integral and the reverberation time read off it."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.knee import Knee, knee_of
from ecs_audio.analysis.levels import Samples, as_channels, needs
from ecs_audio.analysis.spectra import OCTAVES

TOP_DB: Final = -5.0
"""Where a fit begins: above is the direct sound."""

SPANS: Final = (30.0, 20.0)
"""Decibels of a fit, T30 and T20, in order of preference."""

MARGIN_DB: Final = 5.0
"""So far must the decay be seen to go on below a fit."""

MIN_PRODUCT: Final = 8.0
"""Bandwidth times reverberation time: of less than that, chance and the filter decide."""

MAX_BEND: Final = 150.0
"""Of `Decay.bend`: the line says nothing above."""

_ORDER: Final = 4
_ONSET_DB: Final = -20.0


class Decay(NamedTuple):
    """A reverberation time, and how far it is to be believed."""

    rt60: float
    """Time of a fall by 60 dB [s]; NaN where nothing can be said."""
    span_db: float
    """Decibels that the line was fitted over: 30, or 20, or 0 without a line."""
    bend: float
    """1000 · (1 − r²) of the line (ISO 3382-2, annex B): above 10 the decay is not one exponential."""
    range_db: float
    """How far the decay can be followed: to the noise, or to the end of the recording."""
    reason: str
    """Why there is no time; empty where there is one."""


def rt60(x: Samples, rate: float, band: tuple[float, float] | None = None) -> float:
    """Reverberation time [s] of an impulse response or of one short sound; NaN where it cannot be read.

    `decay` says how it is found, how exact it is, and why it is NaN.
    """
    return decay(x, rate, band).rt60


def octave_rt60(x: Samples, rate: float, *, centres: tuple[float, ...] = OCTAVES) -> NDArray[np.float64]:
    """`rt60` of each octave band, c/√2 ≤ f < c·√2, shape (len(centres),)."""
    edge = math.sqrt(2.0)
    return np.array([rt60(x, rate, (c / edge, c * edge)) for c in centres])


def decay(x: Samples, rate: float, band: tuple[float, float] | None = None) -> Decay:
    """How `x`, shape (n,) or (n, channels), dies away; powers of channels add up.

    A line is fitted to Schroeder's integral 10 · log10 Σ_t^∞ x² from −5 to −35 dB (T30), or to −25 dB (T20)
    where noise or the end come earlier, by least squares; −60 dB over its slope is the time (ISO 3382-1).
    Noise is handled after Lundeby et al. (1995): the integral ends where the decay meets it, without its
    power, and with what the decay would have held beyond. Silence at the end is left out.

    band: low and high edge [Hz]; fourth-order Butterworth edges, run backwards, so that the filter's own
    ringing comes before the sound. Where the time changes within the band, so does the curve bend.

    The decay counts from the first frame within 20 dB of the largest: give one clap, not speech. For the tail
    behind a direct sound that is far louder, give what comes after that.

    Of noise that decays exponentially, 95 % of the results are within 1.4 / √(bandwidth · time) of the true
    time, or 2.2 / √(bandwidth · time) for T20: such is the chance of the noise itself. NaN where the product
    of bandwidth and time is below 8.

    Raises ValueError when `x` is empty, or for a band that is empty or above half the rate; ImportError
    without scipy.
    """
    channels = as_channels(x)
    if not np.isfinite(channels).all():
        return Decay(math.nan, 0.0, math.nan, math.nan, "some samples are NaN or infinite")
    size = np.max(np.abs(channels), axis=1)
    if not np.any(size):
        return Decay(math.nan, 0.0, math.nan, 0.0, "it is silent")
    start = int(np.argmax(size >= np.max(size) * 10.0 ** (_ONSET_DB / 20.0)))
    end = len(size) - int(np.argmax(size[::-1] > 0.0))
    sound, width = channels[:end], rate / 2.0
    if band is not None:
        sound, width = _filtered_backwards(sound, band, rate), min(band[1], rate / 2.0) - band[0]
        start = max(start - round(_ORDER / width * rate), 0)  # the filter moves what is early ahead
    power = np.sum(np.square(sound[start:]), axis=1)
    knee = knee_of(power, rate, width)
    if isinstance(knee, str):
        return Decay(math.nan, 0.0, math.nan, 0.0, knee)
    found = _fitted(_schroeder_db(power, knee), rate)
    if found.rt60 * width < MIN_PRODUCT:
        return found._replace(rt60=math.nan, reason=f"it dies away too fast for a band of {width:.0f} Hz")
    if found.bend > MAX_BEND:
        return found._replace(rt60=math.nan, reason="it does not fall along a line")
    return found


def _fitted(level: NDArray[np.float64], rate: float) -> Decay:
    deepest = -float(level[-1])
    first = int(np.argmax(level < TOP_DB))
    for span in SPANS:
        bottom = TOP_DB - span
        last = int(np.argmax(level < bottom))
        if deepest < MARGIN_DB - bottom or last - first < 3:
            continue
        time, part = np.arange(first, last) / rate, level[first:last]
        slope, offset = np.polyfit(time, part, 1)
        residual = float(np.sum((part - slope * time - offset) ** 2))
        bend = 1000.0 * residual / max(float(np.sum((part - np.mean(part)) ** 2)), 1e-300)
        return Decay(-60.0 / float(slope), span, bend, deepest, "")
    needed = MARGIN_DB - TOP_DB + SPANS[-1]
    if deepest < needed:
        reason = f"it can be followed for {deepest:.0f} dB, and {needed:.0f} are needed"
    else:
        reason = "it is over within three frames"
    return Decay(math.nan, 0.0, math.nan, deepest, reason)


def _schroeder_db(power: NDArray[np.float64], knee: Knee) -> NDArray[np.float64]:
    """The integral from each frame to infinity, re that from the first, up to the knee [dB]."""
    kept = power[: knee.frame] - knee.noise
    left = np.cumsum(kept[::-1])[::-1] + knee.beyond
    # Noise less its mean is negative by chance: near the knee the integral may be, too.
    floor = max(knee.beyond, float(left[0]) * 1e-16)
    return np.asarray(10.0 * np.log10(np.maximum(left, floor) / left[0]))


def _filtered_backwards(
    x: NDArray[np.float64], band: tuple[float, float], rate: float
) -> NDArray[np.float64]:
    low, high = band
    if not 0.0 < low < high or low >= rate / 2.0:
        raise ValueError(
            f"a band from {low:g} to {high:g} Hz: 0 < low < high is needed, low < {rate / 2:g} Hz"
        )
    with needs("a decay in a band", "scipy"):
        from scipy.signal import butter, sosfilt
    if high < 0.99 * rate / 2.0:
        sos = butter(_ORDER, band, "bandpass", fs=rate, output="sos")
    else:
        sos = butter(_ORDER, low, "highpass", fs=rate, output="sos")
    return np.asarray(sosfilt(sos, x[::-1], axis=0)[::-1], np.float64)
