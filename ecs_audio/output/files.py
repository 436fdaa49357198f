"""Recordings in the format that the file's ending names."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ecs_audio.output.atomic import replacing
from ecs_audio.output.blocks import F32, Blocks, Written, whole_rate
from ecs_audio.output.pcm import quantized
from ecs_audio.output.wav import WAV_FORMATS, write_wav

FORMATS = {".wav": WAV_FORMATS, ".flac": ("pcm24", "pcm16"), ".ogg": ("vorbis",)}
"""File endings, and the formats that each can hold; the first is the default."""

_SLICE_FRAMES = 4096  # libsndfile's Vorbis encoder overflows its stack on long writes


def write_audio(
    path: str | PathLike[str], blocks: F32 | Iterable[F32], rate: int = 48_000, format: str | None = None
) -> Written:
    """Write blocks of samples [full scale = 1] to a .wav, .flac or .ogg file, as its ending says.

    Arguments, result and errors are those of `write_wav`; `format` is one of FORMATS for the ending.
    FLAC holds the very numbers that WAV would as "pcm16" or "pcm24". Raises ValueError for an unknown
    ending, and what the encoder cannot do: FLAC takes 8 channels.
    """
    ending = check_ending(path)
    chosen = FORMATS[ending][0] if format is None else format
    if chosen not in FORMATS[ending]:
        raise ValueError(f"no {ending} format is called {chosen!r}: known are {', '.join(FORMATS[ending])}")
    if ending == ".wav":
        return write_wav(path, blocks, rate, chosen)
    return _write_encoded(path, blocks, rate, ending, chosen)


def check_ending(path: str | PathLike[str]) -> str:
    """The ending of a sound file's name, in small letters. Raises ValueError for one that no format has."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"no sound file ends in {ending!r} ({path}): known are {', '.join(FORMATS)}")
    return ending


def _write_encoded(
    path: str | PathLike[str], blocks: F32 | Iterable[F32], rate: int, ending: str, format: str
) -> Written:
    import soundfile

    rate = whole_rate(rate)
    subtype = {"vorbis": "VORBIS", "pcm16": "PCM_16", "pcm24": "PCM_24"}[format]
    with replacing(path) as part:
        counted = Blocks(blocks)
        try:
            file = soundfile.SoundFile(part, "w", rate, counted.channels, subtype, format=ending[1:].upper())
        except soundfile.SoundFileError as error:
            raise ValueError(
                f"{path}: {ending} does not take {counted.channels} channels at {rate} Hz: {error}"
            ) from error
        with file:
            for block in counted:
                for start in range(0, len(block), _SLICE_FRAMES):
                    stored = _stored(block[start : start + _SLICE_FRAMES], format)
                    try:
                        file.write(stored)
                    except soundfile.SoundFileError as error:
                        raise OSError(f"{path}: cannot be written: {error}") from error
    return counted.written()


def _stored(block: F32, format: str) -> Any:
    if format == "pcm16":
        return quantized(block, 16).astype(np.int16)
    if format == "pcm24":
        return quantized(block, 24) << 8  # libsndfile takes the upper 24 of 32 bits
    return block
