"""Bytes of arrays that an object holds, by what holds them."""

from __future__ import annotations

import ctypes

import numpy as np


def arrays_of(thing, seen):
    """The arrays that an object reaches through its attributes and containers, each memory block once."""
    if id(thing) in seen or isinstance(thing, (str, bytes, int, float, type, ctypes._CFuncPtr)):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if isinstance(thing.base, np.ndarray):
            yield from arrays_of(thing.base, seen)
        else:
            yield thing
        return
    if isinstance(thing, dict):
        parts = thing.values()
    elif isinstance(thing, (list, tuple, set)):
        parts = thing
    elif type(thing).__module__.startswith("ecs_audio"):
        slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        named = [getattr(thing, name, None) for name in slots if not name.startswith("__")]
        parts = [*vars(thing).values(), *named] if hasattr(thing, "__dict__") else named
    else:
        return
    for part in parts:
        yield from arrays_of(part, seen)


def bytes_by_part(**parts):
    """Bytes of the arrays of each part. What an earlier one holds does not count for a later one."""
    seen: dict[int, object] = {}
    return {name: sum(array.nbytes for array in arrays_of(part, seen)) for name, part in parts.items()}
