"""Geometry: the acoustic copy of a world, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

ROW_BYTES = 512
SHARED_ROWS = 4
LEAST_MEMORY, MOST_MEMORY = 1 << 16, 1 << 34


class Geometry:
    """What rays read of a world, as `kernels.sections.Sections` documents it; for one thread at a time.

    `systems.geometry.follow` fills it and keeps it in step.
    """

    def __init__(self, memory: int = 16 << 20) -> None:
        if not LEAST_MEMORY <= memory <= MOST_MEMORY:
            raise ValueError(
                f"memory must lie between {LEAST_MEMORY} and {MOST_MEMORY} bytes, not {memory!r}"
            )
        self.memory = memory
        """Bytes of bits at most; a mixed section takes 512."""
        self.world: Any = None
        """The world that was followed last; keeping it keeps what the copy reads of it. Set by `follow`."""
        self.revision = -1
        """Its revision then. Set by `follow`."""
        self.sections: Any = None
        """The record that kernels take. Set by `follow`."""
        self.state = np.zeros(11, np.int64)
        """Lowest cell, sections along each axis (set by `follow`); then mixed sections, rows taken, kernel
        calls, rows derived, rows given up (set by kernels)."""
        self.resize(0)

    def resize(self, sections: int) -> None:
        """Make room for a world of so many sections."""
        rows = min(self.memory // ROW_BYTES, sections + SHARED_ROWS)
        self.records = np.zeros(2 * sections, np.uint64)
        self.bits = np.zeros(64 * rows, np.uint64)
        self.rows = np.zeros((4, rows), np.int64)

    @property
    def derived(self) -> int:
        """Sections whose bits were made from the world's cells so far."""
        return int(self.state[9])

    @property
    def evicted(self) -> int:
        """Sections whose bits had to give way so far."""
        return int(self.state[10])

    @property
    def bytes(self) -> int:
        """What the copy takes at most."""
        return self.records.nbytes + self.bits.nbytes + self.rows.nbytes
