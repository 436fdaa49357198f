"""How far a change of measured times can be trusted."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ecs_audio.bench.record import thinned

CHANCE: Final = 0.01
"""Of calling a change where there is none, if rounds are independent."""
EXACT: Final = 25
"""Up to so many rounds in all, chances are counted; of more, their normal limit is near enough."""
MOST_ALIKE: Final = 0.9
"""Correlation of neighbours at most: with more, nothing could be said."""


class Change(NamedTuple):
    """How many times larger numbers became, and between what bounds that lies."""

    factor: float
    low: float
    high: float


def change(old: list[float], new: list[float]) -> Change | None:
    """The typical quotient of a new and an old round, with its distribution-free interval.

    It is the median over all pairs of rounds (Hodges and Lehmann), and the interval holds those factors that
    a rank test (Mann and Whitney) would not refuse; a few disturbed rounds do no harm. Rounds that resemble
    the ones before them, as on a machine that is busy now and then, count for less, and widen it. Both in
    the order in which they were measured. None if there are too few to say anything: five each are enough.
    """
    old, new = thinned(old), thinned(new)
    if not old or not new or min(old) <= 0 or min(new) <= 0:
        return None
    m, n = len(old), len(new)
    beside = _beside(m, n)
    if beside < 0:
        return None
    pairs = np.sort(np.log(np.array(new)[:, None] / np.array(old)).ravel())
    likeness = min(max((m * _likeness(old) + n * _likeness(new)) / (m + n), 0.0), MOST_ALIKE)
    half = m * n / 2
    reach = (half - beside) * math.sqrt((1 + likeness) / (1 - likeness))
    cut, beyond = max(math.floor(half - reach), 0), max(reach / half, 1.0)
    middle = float(np.median(pairs))
    ends = (middle + beyond * (float(pairs[end]) - middle) for end in (cut, -1 - cut))
    return Change(*(math.exp(x) for x in (middle, *ends)))


def _likeness(rounds: list[float]) -> float:
    """Correlation of the ranks of neighbours, without the bias that it has in short series."""
    n = len(rounds)
    rank = np.argsort(np.argsort(rounds)) - (n - 1) / 2
    found = float(rank[1:] @ rank[:-1] / max(rank @ rank, 1e-9))
    return found + (1 + 3 * found) / n


def _beside(m: int, n: int) -> int:
    """How many pairs lie outside of the interval at either side; negative if it has no end."""
    if m + n > EXACT:
        spread = math.sqrt(m * n * (m + n + 1) / 12)
        return math.floor(m * n / 2 - 0.5 - 2.5758 * spread)
    counts, total, below = _counts(m, n), math.comb(m + n, m), 0
    for beside, count in enumerate(counts):
        below += count
        if 2 * below > CHANCE * total:
            return beside - 1
    return -1


def _counts(m: int, n: int) -> list[int]:
    """In how many orders of m and n rounds 0, 1, 2, ... pairs are reversed."""
    # Coefficients of the Gaussian binomial: the product of (1 - q^(n + k)) / (1 - q^k).
    found = [1] + [0] * (m * n)
    for k in range(1, m + 1):
        for at in range(m * n, n + k - 1, -1):
            found[at] -= found[at - n - k]
        for at in range(k, m * n + 1):
            found[at] += found[at - k]
    return found
