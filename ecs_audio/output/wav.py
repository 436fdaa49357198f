"""WAV files of our own: the same samples always give the same bytes.

libsndfile, the usual writer, stamps the time into float files.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from os import PathLike
from typing import BinaryIO, NamedTuple

import numpy as np

from ecs_audio.output.atomic import replacing
from ecs_audio.output.blocks import F32, Blocks, Written, whole_rate
from ecs_audio.output.pcm import quantized

MAX_BYTES = 0xFFFFFFFF
"""Largest size that fits the header's 32 bits, 4 GiB less one: 3 h 6 min of 48 kHz stereo float."""


class _Encoding(NamedTuple):
    tag: int  # WAVE_FORMAT_PCM or WAVE_FORMAT_IEEE_FLOAT
    bits: int
    encode: Callable[[F32], bytes]


def _pcm24(block: F32) -> bytes:
    words = quantized(block, 24).astype("<i4").reshape(-1, 1).view(np.uint8)
    return words[:, :3].tobytes()


_ENCODINGS = {
    "float": _Encoding(3, 32, lambda block: block.astype("<f4").tobytes()),
    "pcm16": _Encoding(1, 16, lambda block: quantized(block, 16).astype("<i2").tobytes()),
    "pcm24": _Encoding(1, 24, _pcm24),
}

WAV_FORMATS = tuple(_ENCODINGS)


def write_wav(
    path: str | PathLike[str], blocks: F32 | Iterable[F32], rate: int = 48_000, format: str = "float"
) -> Written:
    """Write blocks of samples [full scale = 1] to a WAV file as they come.

    `blocks` is a generator or other iterable of float32 arrays, shape (n, channels) or (n,), or one array;
    each is used up before the next is asked for. `rate` [Hz]. `format` is "float" (float32, as is), "pcm16"
    or "pcm24" (rounded to nearest, clipped, no dither). Missing parent folders are made. The file appears
    whole at the end, or not at all when the generator raises: then a former one stays as it was.

    Raises ValueError for an unknown format, a rate that is not positive, no block, blocks that do not
    match, NaN or infinity, and above 4 GiB, and OSError when the disk refuses.
    """
    if format not in _ENCODINGS:
        raise ValueError(f"no WAV format is called {format!r}: known are {', '.join(WAV_FORMATS)}")
    rate = whole_rate(rate)
    encoding = _ENCODINGS[format]
    with replacing(path) as part, part.open("xb") as file:
        counted = Blocks(blocks)
        channels = counted.channels
        frame_bytes = channels * encoding.bits // 8
        if frame_bytes > 0xFFFF or frame_bytes * rate > 0xFFFFFFFF:
            raise ValueError(f"{path}: {channels} channels at {rate} Hz are more than a WAV header can say")
        file.write(_header(encoding, channels, rate, 0))
        for block in counted:
            data = encoding.encode(block)
            if file.tell() + len(data) >= MAX_BYTES:
                raise ValueError(f"{path}: a WAV file holds at most 4 GiB ({MAX_BYTES} bytes): write .flac")
            file.write(data)
        _finish(file, encoding, channels, rate, counted.written().frames)
    return counted.written()


def _finish(file: BinaryIO, encoding: _Encoding, channels: int, rate: int, frames: int) -> None:
    if frames * channels * encoding.bits // 8 % 2:
        file.write(b"\0")  # chunks have even sizes
    file.seek(0)
    file.write(_header(encoding, channels, rate, frames))


def _header(encoding: _Encoding, channels: int, rate: int, frames: int) -> bytes:
    """Everything before the samples: RIFF, `fmt `, for float `fact`, and the head of `data`."""
    frame_bytes = channels * encoding.bits // 8
    data_bytes = frames * frame_bytes
    fmt = struct.pack("<HHIIHH", encoding.tag, channels, rate, rate * frame_bytes, frame_bytes, encoding.bits)
    chunks = struct.pack("<4sI", b"fmt ", len(fmt)) + fmt
    if encoding.tag == 3:  # anything but PCM says how long its extension is, and its frames once more
        chunks = (
            struct.pack("<4sI", b"fmt ", len(fmt) + 2) + fmt + struct.pack("<H4sII", 0, b"fact", 4, frames)
        )
    riff_bytes = 4 + len(chunks) + 8 + data_bytes + data_bytes % 2
    return (
        struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE")
        + chunks
        + struct.pack("<4sI", b"data", data_bytes)
    )
