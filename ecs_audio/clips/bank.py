"""Clips: every decoded sound, one after another in one array that the mixer reads."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.clips.conform import conform
from ecs_audio.clips.decode import decode, find, sound_files
from ecs_audio.clips.errors import ClipError, ClipWarning
from ecs_audio.clips.synthesis import SOUNDS

GUARD_FRAMES = 16
"""Zeros before and after each clip, so that an interpolator may read across its ends."""

_FIRST_BANK_FRAMES = 1 << 16


class Clips:
    """Mono sounds at one rate, by name and by number, in one bank.

    Adding a clip never moves or changes an earlier one, but may replace `bank`, `offset` and `length`
    by larger arrays: read the attributes anew after adding.
    """

    bank: NDArray[np.float32]
    """All samples [full scale = 1], shape (capacity,), with GUARD_FRAMES zeros around each clip."""
    offset: NDArray[np.int64]
    """Index in `bank` of each clip's first sample, shape (count,)."""
    length: NDArray[np.int64]
    """Frames of each clip at `rate`, shape (count,)."""

    def __init__(self, rate: int = 48_000) -> None:
        if not (0 < rate < 1 << 31 and rate == int(rate)):
            raise ClipError(f"clips have a rate of {rate} Hz: a positive whole number is needed")
        self.rate = int(rate)
        self.bank = np.zeros(_FIRST_BANK_FRAMES, dtype=np.float32)
        self.offset = np.zeros(0, dtype=np.int64)
        self.length = np.zeros(0, dtype=np.int64)
        self._ids: dict[str, int] = {}

    @property
    def count(self) -> int:
        """How many clips there are."""
        return len(self.length)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each clip, by its number."""
        return tuple(self._ids)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def id(self, name: str) -> int:
        """The number of the clip called `name`. Raises ClipError that suggests the nearest names."""
        try:
            return self._ids[name]
        except KeyError:
            raise ClipError(f"no clip is called {name!r}{_suggestion(name, self._ids)}") from None

    def add(self, name: str, samples: ArrayLike, rate: float | None = None) -> int:
        """Take a sound into the bank and return its number.

        `samples` [full scale = 1], floating, shape (n,) or (n, 2); two channels are averaged, with a
        ClipWarning. `rate` [Hz] is that of the samples, by default the bank's; another one is resampled
        once, here. Raises ClipError, and adds nothing, when the name is taken or the samples are empty,
        not finite, integers, out of scale, too many or of another shape, or the rate is not positive.
        """
        self._check_free(name)
        try:
            mono = conform(samples, self.rate if rate is None else rate, self.rate)
        except ClipError as error:
            raise ClipError(f"clip {name!r} {error}") from None
        if np.ndim(samples) == 2:
            warnings.warn(
                f"clip {name!r} is stereo: its channels are averaged, as a source is one point",
                ClipWarning,
                stacklevel=2,
            )
        return self._append(name, mono)

    def load(self, path: str | PathLike[str], name: str | None = None) -> list[str]:
        """Decode a sound file, or every sound file in a folder, and return the names of the new clips.

        A clip is called `name`, or like its file without the ending. A path that does not exist is tried
        with .flac, .ogg, .opus, .mp3 and .wav. Raises ClipError naming a file that is missing or cannot be
        used; of a folder, every other file is loaded before that.
        """
        found = find(Path(path))
        if not found.is_dir():
            return [self._load_file(found, found.stem if name is None else name)]
        if name is not None:
            raise ClipError(f"{found}: is a folder, whose clips are called like their files, not {name!r}")
        names, failures = [], []
        for file in sound_files(found):
            try:
                names.append(self._load_file(file, file.stem))
            except ClipError as error:  # costs only this sound
                failures.append(str(error))
        if failures:
            raise ClipError("; ".join(failures))
        return names

    def synthesize(self, name: str, seed: int = 0, as_name: str | None = None) -> int:
        """Add one of the built-in SOUNDS, as `name` or as `as_name`, and return its number.

        The same rate and seed give the same samples. Raises ClipError for an unknown sound or a taken name.
        """
        if name not in SOUNDS:
            raise ClipError(f"no built-in sound is called {name!r}{_suggestion(name, SOUNDS)}")
        return self.add(name if as_name is None else as_name, SOUNDS[name](self.rate, seed))

    def _load_file(self, file: Path, name: str) -> str:
        self._check_free(name, file)
        samples, rate = decode(file)
        try:
            self.add(name, samples, rate)
        except ClipError as error:
            raise ClipError(f"{file}: {error}") from None
        return name

    def _check_free(self, name: str, file: Path | None = None) -> None:
        where = "" if file is None else f"{file}: "
        if not isinstance(name, str) or not name:
            raise ClipError(f"{where}a clip cannot be called {name!r}: a text is needed")
        if name in self._ids:
            raise ClipError(f"{where}a clip called {name!r} is there already")

    def _append(self, name: str, mono: NDArray[np.float32]) -> int:
        start = int(self.offset[-1] + self.length[-1]) + GUARD_FRAMES if self.count else GUARD_FRAMES
        end = start + len(mono)
        if end + GUARD_FRAMES > len(self.bank):
            grown = np.zeros(max(end + GUARD_FRAMES, 2 * len(self.bank)), dtype=np.float32)
            grown[:start] = self.bank[:start]
            self.bank = grown
        # The samples lie in place before anyone is told: a reader on another thread sees whole clips.
        self.bank[start:end] = mono
        self.offset = np.append(self.offset, start)
        self.length = np.append(self.length, len(mono))
        self._ids[name] = self.count - 1
        return self.count - 1


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    return f": did you mean {' or '.join(map(repr, close))}?" if close else ""
