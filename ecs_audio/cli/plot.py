"""A picture of a recording: its samples, its spectrogram, its bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ecs_audio.output.atomic import replacing

FLOOR_DB = -120.0


def draw(file: Path, samples: NDArray[np.float32], rate: int, found: dict[str, Any]) -> None:
    """Draw what `measures` found of `samples` to a PNG, SVG or PDF; it appears whole or not at all.

    Raises ClickException without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise click.ClickException("--plot needs matplotlib: pip install 'ecs-audio[plot]'") from error

    channels = np.nan_to_num(samples.reshape(len(samples), -1).astype(np.float64))
    times = found["from"] + np.arange(len(channels)) / rate
    figure = Figure(figsize=(10.0, 9.0), layout="constrained")
    wave, spectrogram, bands = figure.subplots(3, 1)
    wave.plot(times, channels, linewidth=0.5)
    wave.set(title=Path(found["file"]).name, xlabel="time [s]", ylabel="sample", xlim=(times[0], times[-1]))
    mono = np.mean(channels, axis=1)
    size = min(1024, len(mono))
    # Silence has no logarithm.
    floor = np.random.Generator(np.random.PCG64(0)).normal(0.0, 10.0 ** (FLOOR_DB / 20.0), len(mono))
    spectrogram.specgram(
        mono + floor,
        NFFT=size,
        Fs=rate,
        noverlap=size // 2,
        xextent=(times[0], times[-1]),
        vmin=FLOOR_DB,
    )
    spectrogram.set(xlabel="time [s]", ylabel="frequency [Hz]")
    names = [f"{band['band']:g}" for band in found["bands"]]
    levels = [max(band["level_db"] or FLOOR_DB, FLOOR_DB) for band in found["bands"]]
    bands.bar(names, np.array(levels) - FLOOR_DB, bottom=FLOOR_DB)
    bands.set(xlabel="band [Hz]", ylabel="level [dBFS]")
    bands.tick_params(axis="x", rotation=60)
    with replacing(file) as part:
        figure.savefig(part, format=file.suffix[1:].lower(), dpi=100)
