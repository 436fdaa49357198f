"""A sound file that is read from any place on, in blocks, with suspicion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.clips.conform import MAX_PEAK
from ecs_audio.clips.decode import _cut_short
from ecs_audio.clips.errors import ClipError
from ecs_audio.clips.resampler import MAX_RATIO

BLOCK_FRAMES = 4096

# After a seek libsndfile gives other frames in these, or silence at first: they are decoded up to the place.
_INEXACT = ("VORBIS", "MPEG_")


class Reader:
    """An open sound file; for one thread at a time. Raises ClipError naming the file it cannot open.

    `rate` [Hz] is the one it will be resampled to, at most MAX_RATIO times more or less than its own.
    """

    def __init__(self, path: Path, rate: int) -> None:
        import soundfile

        if not path.is_file():  # a pipe or a device could be waited for without end
            raise ClipError(f"{path}: is not a file")
        self.path = path
        self._troubles = (soundfile.SoundFileError, RuntimeError, TypeError, ValueError, OSError)
        try:
            self._file: Any = soundfile.SoundFile(path)
            self._cut = _cut_short(self._file.extra_info)
        except self._troubles as error:
            raise ClipError(f"{path}: cannot be decoded: {error}") from error
        # After each read soundfile seeks to where it is if it can: in MP3 that costs the next frames.
        self._file.seekable = lambda: False
        self._at = 0
        self.channels: int = self._file.channels
        self.rate = int(self._file.samplerate)
        known = self._file.format != "MP3" and self._file.frames < 2**62  # of an MP3 it is an estimate
        self.frames: int | None = self._file.frames if known else None
        """What the header claims."""
        try:
            self._check(rate)
        except ClipError:
            self.close()
            raise

    def _check(self, rate: int) -> None:
        if self.channels > 2:
            raise ClipError(f"{self.path}: has {self.channels} channels, and 1 or 2 are taken")
        if not rate <= self.rate * MAX_RATIO <= rate * MAX_RATIO**2:
            limits = f"{-(-rate // MAX_RATIO)} to {rate * MAX_RATIO}"
            raise ClipError(f"{self.path}: has a rate of {self.rate} Hz: {limits} are taken")
        if self.frames == 0:
            raise ClipError(f"{self.path}: holds no sound: it has no frames")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def blocks(self, start: int, looping: bool) -> Iterator[NDArray[np.float32]]:
        """Blocks of float32, shape (up to BLOCK_FRAMES, channels), from the frame `start` on.

        Each is valid until the next one. Empty ones come while it is on the way to `start`, so that its
        user can give up. `looping` goes on from the start of the file at its end, for ever. Raises
        ClipError naming the file when it breaks or ends before its header says, or holds what is no sound.
        """
        try:
            yield from self._blocks(start, looping)
        except ClipError:
            raise
        except self._troubles as error:
            at, self._at = self._at, -1  # nobody knows where the file is now
            raise ClipError(f"{self.path}: cannot be decoded after frame {at}: {error}") from error

    def _blocks(self, start: int, looping: bool) -> Iterator[NDArray[np.float32]]:
        buffer: NDArray[np.float32] = np.empty((BLOCK_FRAMES, self.channels), dtype=np.float32)
        yield from self._go(start, buffer)
        while True:
            while len(block := self._read(buffer)):
                self._check_values(block)
                yield block
            self._check_end()
            if not looping:
                return
            if self._at <= BLOCK_FRAMES:
                yield from self._repeat(buffer)
            self._seek(0)

    def _repeat(self, buffer: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """For ever the whole file, which is no longer than `buffer`, many times at once if it is short."""
        self._seek(0)
        turn = self._read(buffer)
        self._check_end()
        self._check_values(turn)
        turns = np.tile(turn, (len(buffer) // len(turn), 1))
        while True:
            yield turns

    def _go(self, place: int, buffer: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        if not self._file.subtype.startswith(_INEXACT):
            self._seek(place)
            return
        if not 0 <= self._at <= place:
            self._seek(0)
        while self._at < place and len(self._read(buffer[: place - self._at])):
            yield buffer[:0]

    def _seek(self, place: int) -> None:
        if place != self._at:
            self._at = self._file.seek(place)

    def _read(self, buffer: NDArray[np.float32]) -> NDArray[np.float32]:
        block: NDArray[np.float32] = self._file.read(out=buffer)
        self._at += len(block)
        return block

    def _check_end(self) -> None:
        if not self._at:
            raise ClipError(f"{self.path}: holds no sound: it has no frames")
        if self._at < (self.frames or 0) or self._cut:
            raise ClipError(f"{self.path}: ends after {self._at} frames, before its header says")

    def _check_values(self, block: NDArray[np.float32]) -> None:
        peak = np.abs(block).max(axis=1)
        good = peak <= MAX_PEAK  # of NaN it is false
        if not good.all():
            bad = int(np.argmin(good))
            frame = self._at - len(block) + bad
            raise ClipError(f"{self.path}: holds {peak[bad]:g} at frame {frame}: up to {MAX_PEAK:g} is taken")
