"""Contestants timed in turn, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Turn(NamedTuple):
    """What one contestant does in a round."""

    run: Callable[[], Any]
    """What is timed."""
    before: Callable[[], Any] = lambda: None
    """Called before each time, untimed."""
    repeats: int = 1
    """Times in a row; their median counts."""


def seconds(rounds, *turns, clock=time.thread_time):
    """Seconds that each contestant takes in each round, (rounds, contestants).

    turns: functions, or Turns. One after the other, and the next round the other way round. The clock runs
    while this thread does: others on the machine take caches and frequency from it, but no time. What works
    on threads or in processes of its own needs time.perf_counter.
    """
    turns = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]
    taken = np.zeros((rounds, len(turns)))
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for k in range(rounds):
            for which in range(len(turns))[:: -1 if k % 2 else 1]:
                taken[k, which] = median_of(turns[which], clock)
    finally:
        if collecting:
            gc.enable()
    return taken


def median_of(turn, clock):
    """Seconds that one contestant takes, the median of its repeats."""
    taken = np.zeros(turn.repeats)
    for k in range(turn.repeats):
        turn.before()
        start = clock()
        turn.run()
        taken[k] = clock() - start
    return np.median(taken)
