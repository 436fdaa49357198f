"""Music as files to be streamed: built-in pieces, written to a temporary folder."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.clips import SOUNDS, tone
from ecs_audio.clips.conform import conform
from ecs_audio.clips.decode import decode, find

FILE_RATE = 44_100
"""Of the files [Hz]: like most music's, another one than the engine's."""
TONE = 220.0
"""[Hz]"""
SECONDS = 8.0
"""Length of the tone [s]."""


@cache
def song(kind: str, seed: int) -> Path:
    """A WAV of `kind`: "music", or "tone" for a low, soft tone. It is there until the interpreter ends."""
    file = _folder() / f"{kind}_{seed}.wav"
    soft = 0.2 * tone(TONE, SECONDS, FILE_RATE)
    ea.write_wav(file, SOUNDS["music"](FILE_RATE, seed) if kind == "music" else soft, FILE_RATE)
    return file


def played(file: str, seconds: float, rate: int) -> NDArray[np.float64]:
    """What a song sounds like, over and over for so long, at a rate [Hz]: (frames,), its channels averaged.

    Decoded and resampled in one go, as clips are and streams are not. Raises ClipError for a bad file.
    """
    samples, made_at = decode(find(Path(file)))
    needed = round((seconds + 1.0) * made_at)
    again = np.concatenate([samples] * (1 + needed // len(samples)))[:needed]
    return conform(again, made_at, rate)[0][: round(seconds * rate)].astype(np.float64)


@cache
def _folder() -> Path:
    folder = mkdtemp(prefix="ecs_audio_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
