"""Every click in a raid has a reason: a bang that arrives, or a sound that begins or ends in its middle."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, dist
from typing import cast

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import clicks
from scenarios._listener import EYES
from scenarios._paths import Point

FADE = 0.005
"""How long a source that is taken away is still heard [s]."""
APART = 0.006
"""A click is nearer to its reason than that [s]."""
JUMP = 0.0005
"""Among low tones jumps are found from that on."""
FARTHEST = 3.0
"""No sound takes longer to the listener [s]."""

Reason = tuple[float, Point | None]
"""When [s] and where [m] a sound begins or ends suddenly; None is in the listener's ears."""


def edges(spawns: Sequence[ea.Spawn], tick_rate: float) -> list[Reason]:
    """When and where sources come in, and when they are taken away: at the first tick that is not earlier."""

    def tick(time: float) -> float:
        return ceil(tick_rate * time - 1e-6) / tick_rate

    begins = [(at := tick(s.at), s.position(at) if callable(s.position) else s.position) for s in spawns]
    return [
        *cast(list[Reason], begins),
        *((tick(s.until) + FADE, None) for s in spawns if s.until is not None),
    ]


def explain_clicks(heard: ea.Recording) -> None:
    """Every click is within 6 ms of a reason for it, as far back as reasons are remembered."""
    facts = heard.scenario.facts
    since = max((notes.since + FARTHEST for notes, _ in facts["makes"]), default=0.0)
    reasons = np.array([arrival(heard, at, where) for at, where in sharp(heard)])
    for frame in _clicks(heard):
        time = frame / heard.rate
        apart = float(np.abs(reasons - time).min(initial=np.inf))
        assert apart < APART or time < since, (
            f"a click at {time:.4f} s; the nearest reason for one is {1000.0 * apart:.1f} ms away"
        )


def sharp(heard: ea.Recording) -> list[Reason]:
    """When and where sounds begin or end suddenly."""
    facts = heard.scenario.facts
    noted = [(at + later, (x, y, z)) for n, later in facts["makes"] for at, x, y, z in n.rows.tolist()]
    return [*facts["sharp"], *noted]


def arrival(heard: ea.Recording, at: float, where: Point | None) -> float:
    """When a sound made then and there is heard [s]; at once, if it is nowhere."""
    if where is None:
        return at
    time = at
    for _ in range(3):
        x, y, z = heard.scenario.facts["walk"].feet(time)
        time = at + dist(where, (x, y + EYES, z)) / heard.scenario.settings.speed_of_sound
    return time


def _clicks(heard: ea.Recording) -> NDArray[np.int64]:
    if not heard.parameters.get("tones"):
        return clicks(heard.samples, heard.rate)
    # A jump of 1 bends a sound by 1, and its first difference by 2; a tone of f Hz loses 2 pi f / rate. Up to
    # nine shots of a burst are one tone, whose own bends would hide a jump of 0.002: up to 430 Hz, as high as
    # missiles that come nearer are, they lose 25 dB, and jumps win 6.
    steps = np.diff(heard.samples.astype(np.float64), axis=0)
    return clicks(steps, heard.rate, floor=2.0 * JUMP)
