"""Blocks of a recording: checked, counted and hashed on their way to a file."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]


class Written(NamedTuple):
    """What was written: for reports and to compare runs."""

    frames: int
    """Frames, that is samples per channel."""
    peak: float
    """Largest absolute sample as rendered, before any rounding or clipping [full scale = 1]."""
    sha256: str
    """Hex digest of the interleaved little-endian float32 samples as rendered, whatever the format."""


class Blocks:
    """Iterates over blocks of float32, shape (n, channels), and keeps count of them.

    `source` is an iterable of floating arrays of shape (n, channels), or (n,) for mono, or one such array.
    A block is used before the next one is asked for, so it may be a view that then changes. Iterating
    raises ValueError on a block that is not floating, has another shape or number of channels, or holds
    NaN or infinity; making it raises ValueError when there is no block at all.
    """

    def __init__(self, source: F32 | Iterable[F32]) -> None:
        self._rest = iter([source] if isinstance(source, np.ndarray) else source)
        try:
            self._first = _interleaved(next(self._rest), 0)
        except StopIteration:
            raise ValueError("there is nothing to write: no block came") from None
        self.channels = self._first.shape[1]
        self._frames = 0
        self._peak = 0.0
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[F32]:
        yield self._counted(self._first)
        for block in self._rest:
            yield self._counted(_interleaved(block, self._frames))

    def written(self) -> Written:
        """The count so far."""
        return Written(self._frames, self._peak, self._digest.hexdigest())

    def _counted(self, block: F32) -> F32:
        if block.shape[1] != self.channels:
            raise ValueError(f"a block has {block.shape[1]} channels, the first one had {self.channels}")
        self._digest.update(block.astype("<f4", copy=False).data.cast("B") if block.size else b"")
        self._frames += len(block)
        self._peak = max(self._peak, float(np.max(np.abs(block), initial=0.0)))
        return block


def whole_rate(rate: float) -> int:
    """`rate` [Hz] as a whole number. Raises ValueError unless it is a positive one that fits 31 bits."""
    if not 0 < rate < 1 << 31 or rate != int(rate):
        raise ValueError(f"a rate of {rate} Hz: a positive whole number is needed")
    return int(rate)


def _interleaved(block: F32, start: int) -> F32:
    given = np.asarray(block)
    if given.dtype.kind != "f":
        raise ValueError(f"a block has {given.dtype} samples: float32 is needed")
    if given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] == 0):
        raise ValueError(f"a block has the shape {given.shape}: (n, channels) is needed")
    narrow = given if given.ndim == 2 else given[:, np.newaxis]
    if narrow.dtype != np.float32 or not narrow.flags.c_contiguous:
        with np.errstate(over="ignore"):  # what does not fit becomes inf, which is refused below
            narrow = np.ascontiguousarray(narrow, dtype=np.float32)
    if not math.isfinite(narrow.sum(dtype=np.float64)):  # one quick sum tells of any NaN or infinity
        bad = ~np.isfinite(narrow).all(axis=1)
        raise ValueError(f"frame {start + int(np.argmax(bad))} holds NaN or infinity")
    return narrow
