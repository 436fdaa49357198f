"""Who has a voice, by the rules alone: priority takes, equals are refused, loops wait in silence."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

PATIENCE = 0.5
"""So long a loop that nobody can hear keeps its voice [s]."""
TINY = 1e-9
"""[s]"""


class Request(NamedTuple):
    """Somebody who wants a voice."""

    at: float
    """[s]"""
    priority: int
    looping: bool
    ends: float = inf
    """When its sound is over [s]."""
    hushed: float = inf
    """When it becomes inaudible for good [s]."""


class Turns(NamedTuple):
    """What has become of all requests at some time."""

    playing: frozenset[int]
    waiting: frozenset[int]
    """Loops without a voice."""
    back: frozenset[int]
    """Loops that play again, after their voice was taken."""
    refused: int
    """One-shots that found no voice."""
    stolen: int
    """One-shots whose voice was taken."""


def turns_at(requests: Sequence[Request], voices: int, time: float) -> Turns:
    """What has become at a time of requests, given in their order and none of them at the same time.

    No two loops may have the same priority: which of them comes back first is not told by a rule.
    """
    playing: list[int] = []  # the one that has its voice the longest first
    robbed: set[int] = set()
    refused = 0
    for now, newcomer in _moments(requests, time):
        playing = [k for k in playing if requests[k].ends > now and requests[k].hushed + PATIENCE > now]
        able = [k for k in _loops(requests, now) if k not in playing and requests[k].hushed > now]
        while len(playing) < voices and able:
            back = max(able, key=lambda k: requests[k].priority)
            able.remove(back)
            playing.append(back)
        if newcomer is None:
            continue
        if len(playing) == voices:
            # min takes the first of equals, which is the oldest.
            victim = min(playing, key=lambda k: requests[k].priority)
            if requests[newcomer].priority <= requests[victim].priority:
                refused += not requests[newcomer].looping
                continue
            playing.remove(victim)
            robbed.add(victim)
        playing.append(newcomer)
    waiting = _loops(requests, time + TINY) - set(playing)
    stolen = sum(not requests[k].looping for k in robbed)
    return Turns(frozenset(playing), waiting, frozenset(robbed & set(playing)), refused, stolen)


def _loops(requests: Sequence[Request], before: float) -> frozenset[int]:
    """Loops that have asked before a time."""
    return frozenset(k for k, request in enumerate(requests) if request.looping and request.at < before)


def _moments(requests: Sequence[Request], until: float) -> list[tuple[float, int | None]]:
    """All times at which something changes, in order, and who asks then."""
    asked: list[tuple[float, int | None]] = [(request.at, k) for k, request in enumerate(requests)]
    changes = {end for r in requests for end in (r.ends, r.hushed + PATIENCE) if end > r.at}
    found = [*asked, *((end, None) for end in changes)]
    return sorted((moment for moment in found if moment[0] <= until), key=lambda moment: moment[0])
