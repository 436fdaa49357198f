"""Cues: a queue between ticks and the render loop, and what the loop remembers of what it plays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WAITING = 8
"""Cues that may wait for their frames: a host that catches up makes several ticks at once."""
ALIGNED = 64


class Rows:
    """Where the columns of a table lie, and where each is put when they are copied one after another."""

    def __init__(self, columns: Sequence[NDArray[Any]]) -> None:
        self.columns = columns
        """Kept, as their addresses are used."""
        self.address = np.array([column.ctypes.data for column in columns], np.int64)
        """First byte of each."""
        self.width = np.array([column[:1].nbytes for column in columns], np.int64)
        """Bytes a row."""
        size = [-(-column.nbytes // ALIGNED) * ALIGNED for column in columns]
        self.start = np.array([sum(size[:k]) for k in range(len(columns))], np.int64)
        """Place among the copies [bytes]."""
        self.size = sum(size)
        """All of them [bytes]."""


class Cues:
    """What the latest ticks say of the sources. The host writes a cue and then counts it; the loop reads."""

    def __init__(self, columns: Sequence[NDArray[Any]], numbers: int, targets: int) -> None:
        """columns: of the sources. numbers: that come with a cue. targets: coefficients of a reverb."""
        self.here = Rows(columns)
        """The columns that ticks write."""
        self.there = Rows([np.zeros_like(column) for column in columns])
        """Those that the loop reads: a copy of the newest cue."""
        self.numbers = np.zeros((WAITING, numbers), np.int64)
        self.passed = np.zeros(WAITING)
        self.targets = np.zeros((WAITING, 2, targets), np.float32)
        self.rows = np.zeros((WAITING, self.here.size), np.uint8)


class Roster:
    """What plays in each slot. Set by the render loop; slots are given by `publish`."""

    def __init__(self, capacity: int, taps: int) -> None:
        self.take = np.zeros(capacity, np.int64)
        self.listed = np.zeros(capacity, np.uint8)
        self.state = np.zeros(capacity, np.uint8)
        self.voice = np.full(capacity, -1, np.int32)
        self.hush = np.zeros(capacity)
        self.tap_voice = np.full((capacity, taps), -1, np.int32)
        self.tap_taken = np.zeros((capacity, taps), np.int64)
        # The host's own, beside it.
        self.used = np.zeros(capacity, np.uint8)
        self.jumps = np.zeros(capacity, np.uint8)
