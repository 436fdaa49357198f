"""Clips: every decoded sound, one after another in one array that the mixer reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.clips.conform import MAX_FRAMES, conform
from ecs_audio.clips.copies import COPIED_SECONDS, COPIES, SPILL, band_limited
from ecs_audio.clips.decode import decode, find, sound_files
from ecs_audio.clips.errors import ClipError
from ecs_audio.clips.script import Sound, load_script
from ecs_audio.clips.synthesis import SOUNDS

GUARD_FRAMES = 16
"""Zeros before and after each clip and each copy, so that an interpolator may read across its ends."""

_FIRST_BANK_FRAMES = 1 << 16


class Clips:
    """Sounds at one rate, by number and most of them by name, in one bank.

    A row is a clip, the side of the stereo clip before it, or a ring that a stream writes. Adding one never
    moves or changes an earlier one, but may replace `bank` and the other arrays by larger ones: read the
    attributes anew after adding.
    """

    bank: NDArray[np.float32]
    """All samples [full scale = 1], shape (capacity,), with GUARD_FRAMES zeros around each clip and copy."""
    offset: NDArray[np.int64]
    """Index in `bank` of each clip's first sample, shape (count,)."""
    length: NDArray[np.int64]
    """Frames of each clip at `rate`, shape (count,)."""
    stride: NDArray[np.int64]
    """From a clip to its first copy and from copy to copy, shape (count,); 0 where there are no copies.

    Frame 0 of copy k is `bank[offset + k * stride]`; SPILL frames of it lie before and SPILL after the clip's
    length. Rings and clips of more than COPIED_SECONDS have none.
    """
    side: NDArray[np.int64]
    """Number of the row with each stereo clip's side, (left - right) / 2, shape (count,); -1 without one.

    Left is the clip plus its side, right the clip minus its side.
    """

    sounds: dict[str, Sound]
    """The sounds of scripts by name: sets of clips, and how they are played."""
    broken: set[str]
    """Full paths that scripts named and that cannot be used; each was reported once."""

    def __init__(self, rate: int = 48_000) -> None:
        if not (0 < rate < 1 << 31 and rate == int(rate)):
            raise ClipError(f"clips have a rate of {rate} Hz: a positive whole number is needed")
        self.rate = int(rate)
        self.bank = np.zeros(_FIRST_BANK_FRAMES, dtype=np.float32)
        self.offset = np.zeros(0, dtype=np.int64)
        self.length = np.zeros(0, dtype=np.int64)
        self.stride = np.zeros(0, dtype=np.int64)
        self.side = np.zeros(0, dtype=np.int64)
        self._end = 0
        self.sounds, self.broken = {}, set()
        self._ids: dict[str, int] = {}
        self._taken: set[int] = set()
        self._spare: dict[int, list[int]] = {}

    @property
    def count(self) -> int:
        """How many rows there are: clips, with and without a name."""
        return len(self.length)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all clips that have one, in the order in which they came; `id` gives the number."""
        return tuple(self._ids)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def id(self, name: str) -> int:
        """The number of the clip called `name`. Raises ClipError that suggests the nearest names."""
        try:
            return self._ids[name]
        except KeyError:
            known = [*self._ids, *(sound for sound in self.sounds if sound != name)]
            raise ClipError(f"no clip is called {name!r}{_suggestion(name, known)}") from None

    def add(self, name: str, samples: ArrayLike, rate: float | None = None) -> int:
        """Take a sound into the bank and return its number.

        `samples` [full scale = 1], floating, shape (n,) or (n, 2). Of two channels that differ, the clip is
        the mean, and the row after it the side. `rate` [Hz] is that of the samples, by default the bank's;
        another one is resampled once, here. Raises ClipError, and adds nothing, when the name is taken or
        the samples are empty, not finite, integers, out of scale, too many or of another shape, or the rate
        is not positive.
        """
        self._check_free(name)
        try:
            mid, side = conform(samples, self.rate if rate is None else rate, self.rate)
        except ClipError as error:
            raise ClipError(f"clip {name!r} {error}") from None
        copied = len(mid) <= COPIED_SECONDS * self.rate
        number = self._append(mid, band_limited(mid) if copied else None)
        if side is not None:
            beside = self._append(side, band_limited(side) if copied else None)  # which replaces `self.side`
            self.side[number] = beside
        self._ids[name] = number
        return number

    def load(self, path: str | PathLike[str], name: str | None = None) -> list[str]:
        """Decode a sound file, every one in a folder, or those of a sound script; return the new names.

        A clip is called `name`, or like its file without the ending. A path that does not exist is tried
        with .flac, .ogg, .opus, .mp3 and .wav. Raises ClipError naming a file that is missing or cannot be
        used; of a folder, every other file is loaded before that. A script ends in .toml, and what it names
        is in `sounds`: see `script` for what it holds, and for what a missing file does there.
        """
        if Path(path).suffix.lower() == ".toml":
            if name is not None:
                raise ClipError(f"{path}: is a script, which names its sounds itself, not {name!r}")
            found_sounds = load_script(self, Path(path))
            self.sounds |= found_sounds
            return list(found_sounds)
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

    def take_ring(self, frames: int) -> int:
        """The number of a nameless clip of `frames` zeros, which a stream writes and a looping source reads.

        One of that length that was given back is used again. Raises ClipError for a length that is none.
        """
        if not (1 <= frames <= MAX_FRAMES and frames == int(frames)):
            raise ClipError(f"a ring of {frames} frames: a whole number from 1 to {MAX_FRAMES} is needed")
        spare = self._spare.get(int(frames))
        number = spare.pop() if spare else self._append(np.zeros(int(frames), dtype=np.float32))
        self._taken.add(number)
        return number

    def ring(self, ring: int) -> NDArray[np.float32]:
        """The samples of a ring that is taken, shape (frames,): a view of the bank of this moment.

        Whatever is added may replace the bank: take the view anew for each write, and do not add meanwhile.
        """
        if ring not in self._taken:
            raise ClipError(f"clip {ring} is not a ring that is taken: `take_ring` gives one")
        start = int(self.offset[ring])
        return self.bank[start : start + int(self.length[ring])]

    def give_back(self, ring: int) -> None:
        """Silence a ring and leave it to a later `take_ring`. Raises ClipError for what is no taken ring."""
        samples = self.ring(ring)
        samples[:] = 0.0
        self._taken.remove(ring)
        self._spare.setdefault(len(samples), []).append(int(ring))

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
        if name in self.sounds:
            raise ClipError(f"{where}a sound called {name!r} is there already")

    def _append(self, clip: NDArray[np.float32], copied: NDArray[np.float32] | None = None) -> int:
        """Lay a clip and its copies behind everything else; returns its number."""
        start, length = self._end + GUARD_FRAMES, len(clip)
        stride = 0 if copied is None else length + 2 * SPILL + GUARD_FRAMES
        end = start + length + (0 if copied is None else COPIES * stride + SPILL)
        self._make_room(end + GUARD_FRAMES)
        # The samples lie in place before anyone is told: a reader on another thread sees whole clips.
        self.bank[start : start + length] = clip
        for k, copy in enumerate(() if copied is None else copied, 1):
            spill = start + k * stride - SPILL
            self.bank[spill : spill + len(copy)] = copy
        self._end = end
        self.stride = np.append(self.stride, stride)
        self.side = np.append(self.side, -1)
        self.offset = np.append(self.offset, start)
        self.length = np.append(self.length, length)
        return self.count - 1

    def _make_room(self, frames: int) -> None:
        if frames > len(self.bank):
            grown = np.zeros(max(frames, 2 * len(self.bank)), dtype=np.float32)
            grown[: self._end] = self.bank[: self._end]
            self.bank = grown


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    return f": did you mean {' or '.join(map(repr, close))}?" if close else ""
