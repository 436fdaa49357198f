"""Notes of what happens while a scenario runs, for its check, in memory that is taken beforehand."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray


class Notes:
    """The last `most` things that happened, each a row of `width` numbers, the first its time [s]."""

    def __init__(self, most: int, width: int) -> None:
        # Full, not empty, so that no page is touched for the first time while the scenario runs.
        self._table = np.full((most, width), np.nan)
        self.count = 0
        """Of all that was noted, what is forgotten included."""

    def add(self, *values: float) -> None:
        """Note one more; beyond `most` the oldest is forgotten."""
        self._table[self.count % len(self._table)] = values
        self.count += 1

    @property
    def rows(self) -> NDArray[np.float64]:
        """What is remembered, the oldest first, shape (n, width)."""
        most = len(self._table)
        return self._table[: self.count] if self.count <= most else np.roll(self._table, -self.count, axis=0)

    @property
    def since(self) -> float:
        """Everything is remembered from then on [s]."""
        return -inf if self.count <= len(self._table) else float(self.rows[0, 0])
