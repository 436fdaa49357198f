"""What the listener of a raid does: walks, runs indoors, waits, sees the wall break, looks around."""

from __future__ import annotations

from math import atan2, sin

import ecs_audio as ea
from scenarios._ground import Cell
from scenarios._listener import Look, Tour, tour
from scenarios._site import Site

RUNS_AT = 6.0
"""The listener walks until then [s]."""
BREAKS_AT = 12.0
"""The wall of the room breaks then, or WAITS after the listener has arrived there [s]."""
WAITS = 2.5


def story(site: Site, seconds: float) -> tuple[Tour, float]:
    """The listener's way, and when the wall of the room breaks [s]."""
    wall = atan2(site.room.side[1], site.room.side[0])

    def look_around(arrives: float) -> Look:
        breaks = breaks_at(arrives)

        def look(time: float) -> float | None:
            if time < arrives + 0.4:
                return None
            if time < breaks + 0.15:  # along the wall, uneasy
                return wall + 1.2 + 0.5 * sin(1.1 * (time - arrives))
            if time < breaks + 2.5:  # that was there
                return wall
            return wall + 1.4 * sin(0.9 * (time - breaks - 2.5))

        return look

    going = tour(site.route, runs_at=RUNS_AT, seconds=seconds, look=look_around)
    return going, breaks_at(going.arrives)


def breaks_at(arrives: float) -> float:
    """When the wall breaks, for a listener who arrives then [s]."""
    return max(BREAKS_AT, arrives + WAITS)


def doors(site: Site, going: Tour) -> list[ea.Event]:
    """Doors open before the listener, and close behind."""
    events = []
    for cell, name in site.doors:
        passes = going.passes((cell[0] + 0.5, float(cell[1]), cell[2] + 0.5))
        events.append(_becomes(passes - 0.5, cell, "air", "a door opens"))
        events.append(_becomes(passes + 0.7, cell, name, "a door closes"))
    return events


def _becomes(at: float, cell: Cell, name: str, label: str) -> ea.Event:
    return ea.Event(at, lambda stage: stage.engine.world.set(cell, name), label)
