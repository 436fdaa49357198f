"""Whether an engine keeps to what a tick may cost, and does all that is due within it."""

from __future__ import annotations

from math import dist

import numpy as np

import ecs_audio as ea
from scenarios._clicks import sharp


def check_budgets(heard: ea.Recording) -> None:
    """As many sources as asked, rays and cells within their budgets, nothing traced too long ago."""
    settings, wanted = heard.scenario.settings, heard.scenario.facts["sources"]
    alive = float(np.median([row["sources"] for row in heard.rows]))
    assert abs(alive - wanted) <= max(0.2 * wanted, 3.0), (
        f"{alive:g} sources live, in the median; {wanted} are due"
    )
    # The last 32 rays may begin just below the budget; a ray crosses three cells a metre at most.
    chunk = 32.0 * 3.0 * _farthest(heard)
    for row in heard.rows:
        time, rays, cells = row["time"], row["rays"], row["cells"]
        assert rays <= settings.max_rays, f"{rays} rays at {time:.2f} s; the budget is {settings.max_rays}"
        assert cells <= settings.max_cells + chunk, (
            f"{cells} cells at {time:.2f} s; the budget is {settings.max_cells}, and {chunk:.0f} for rays"
            " in flight"
        )
    oldest = max(row["oldest_age"] for row in heard.rows)
    assert oldest <= 2.0, f"a straight path is {oldest:.2f} s old; at most 2 s are allowed"
    oldest = max(row["oldest_environment"] for row in heard.rows)
    assert oldest <= 10.0, f"an environment is {oldest:.2f} s old; at most 10 s are allowed"


def _farthest(heard: ea.Recording) -> float:
    """How far from the listener a source begins at most [m]."""
    ear = np.asarray(heard.scenario.listener(0.0).position)
    return max((dist(where, ear) for _, where in sharp(heard) if where is not None), default=0.0)
