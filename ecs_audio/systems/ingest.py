"""ingest: what the host wrote is checked, and what it changed in the world makes sources due."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import CacheEntries, Listener, Probes, Sources, Table
from ecs_audio.components.entries import NO_PLANE, Survey
from ecs_audio.kernels.bundle import RADIUS
from ecs_audio.kernels.cache import forget_edited
from ecs_audio.kernels.probing import probe_touched
from ecs_audio.kernels.schedule import make_due, mark_edited
from ecs_audio.kernels.tiers import BESIDE
from ecs_audio.kernels.trust import keep_good
from ecs_audio.settings import CATEGORIES
from ecs_audio.world import World

KNOWN = frozenset(CATEGORIES)
"""Categories that there are."""


class BadValueError(ValueError):
    """The host wrote a value that cannot be; the last good one is back and the tick was completed."""


def ingest(
    sources: Sources,
    listener: Listener,
    entries: CacheEntries,
    probes: Probes,
    world: World,
    *,
    seen: int,
    time: float,
    boxes: NDArray[np.int64],
) -> tuple[int, int, BadValueError | None]:
    """Take in the host's writes and the world's edits after revision `seen`.

    Returns how many edits there were, how many environments they outdated, and an error to be raised once the
    tick is done.
    """
    complaint = restore(sources)
    if not listener.restore():
        complaint = complaint or BadValueError(
            "the listener position and orientation must be finite; the last good pose was kept"
        )
    edits, outdated = world.revision - seen, 0
    if edits:
        edited = boxes_since(world, seen, boxes)
        mark_edited(
            time, RADIUS, listener.position, sources.heard_position, edited, world.cell_size, sources.owed,
            sources.due, sources.outdated,
        )  # fmt: skip
        outdated = outdate(sources, entries, probes, edited, time=time, cell_size=world.cell_size)
    return edits, outdated, complaint


def boxes_since(world: World, seen: int, boxes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Edits of a world after revision `seen`: half-open boxes of cells in the first rows of `boxes`."""
    count = world.revision - seen
    if count > min(len(boxes), len(world.edits)):  # more than is remembered: anything may have changed
        boxes[0, :3], boxes[0, 3:] = -(1 << 40), 1 << 40
        return boxes[:1]
    for k in range(count):
        boxes[k] = world.edits[(seen + k) % len(world.edits)]
    return boxes[:count]


def outdate(
    sources: Sources,
    entries: CacheEntries,
    probes: Probes,
    edited: NDArray[np.int64],
    *,
    time: float,
    cell_size: float,
) -> int:
    """Outdate what rays found where boxes (edits, 6) were edited; returns how many environments.

    time: of this tick [s]. cell_size: of the world [m].
    """
    e, p = entries.storage, probes.storage
    if probe_touched(edited, cell_size, p["low"], p["high"]):
        p["due"][0] = time
    return int(
        forget_edited(
            time, edited, cell_size, e["state"], e["stale"], e["low"], e["high"], sources.environment,
            sources.survey, sources.environment_due,
        )
    )  # fmt: skip


def restore(table: Table[Any]) -> BadValueError | None:
    """Put back the last good value wherever a host-written column holds one that cannot be."""
    guard, count = table.guard, table.count
    first = guard.first
    if not keep_good(
        count, guard.values, guard.trusted, guard.start, guard.width, guard.low, guard.high, first
    ):
        return None
    name, row = guard.names[first[0]], first[1]
    low, high = guard.low[first[0]], guard.high[first[0]]
    complaint = BadValueError(
        f"{name} of entity {table.storage['entity'][row]} must lie between {low:g} and {high:g}, "
        f"not {table.storage[name][row].tolist()}; its last good value was kept"
    )
    for name, low, high in zip(guard.names, guard.low, guard.high, strict=True):
        values = table.views[name].reshape(count, -1)
        wrong = ~(np.isfinite(values) & (values >= low) & (values <= high)).all(axis=1)
        table.views[name][wrong] = guard.good[name][:count][wrong]
    return complaint


def take_gains(gains: Mapping[str, float], volume: float, out: NDArray[np.float64]) -> BadValueError | None:
    """Write each category's gain times the volume to out (categories,); a bad one keeps its last value."""
    complaint = None
    if not gains.keys() <= KNOWN:
        unknown = gains.keys() - KNOWN
        complaint = BadValueError(f"there is no category {sorted(map(str, unknown))[0]!r} to have a gain")
    for k, name in enumerate(CATEGORIES):
        own = gains.get(name)
        try:
            gain = math.nan if own is None else float(own) * float(volume)
        except (TypeError, ValueError):
            gain = math.nan
        if 0.0 <= gain <= 1e9:
            out[k] = gain
        else:
            complaint = complaint or BadValueError(
                f"volume {volume!r} times the gain of {name} {own!r} is no gain; the last good one was kept"
            )
    return complaint


def forget_world(sources: Sources, entries: CacheEntries, probes: Probes) -> None:
    """Another world: nothing that rays found holds any more, and the room is not known."""
    s, e, p = sources, entries.storage, probes.storage
    s.owed[:] = BESIDE
    make_due(-math.inf, s.due, s.outdated)
    s.environment[:], s.survey[:], s.coupling[:] = -1, -1, -1.0
    s.environment_age[:], s.environment_due[:] = math.inf, -math.inf
    s.wanted_plane[:], s.tap_plane[:], s.tap_level[:], s.tap_delay[:] = NO_PLANE, NO_PLANE, 0.0, 0.0
    s.tap_gain[:], s.tap_count[:] = 0.0, 0
    s.bearing_target[:] = 0.0
    s.openness[:], s.send_target[:], s.send[:] = 0.0, 0.0, 0.0
    e["state"][:], e["stale"][:], e["surveys"][:], e["hash"][:] = Survey.VACANT, 0, 0, 0
    e["key"][:] = 0
    for name, column in probes.columns.items():
        if name != "entity":
            p[name][:] = column.default
