"""How a cost grows: the order fitted to what was measured, and whether it is worse than expected."""

from __future__ import annotations

from typing import NamedTuple

import figures
import numpy as np
from scipy.optimize import nnls

ORDERS = np.arange(0.0, 3.001, 0.05)
NOISE = 0.08
"""Relative error that a measured point is taken to have."""
MARGIN = 0.35
"""How far an order may lie above what is expected.

On a busy machine, curves measured again differ by up to 0.15 in order, and n log n has up to 1.25.
"""


class Fit(NamedTuple):
    """y = base + slope x^order, both not negative."""

    order: float
    base: float
    slope: float


def fit(xs, ys):
    """Return the lowest order that explains costs as well as any does, given their noise.

    xs: positive, rising. ys: positive. What does not depend on x is the base, so that a high base does not
    hide how the rest grows. A curve that is flat within the noise has order 0.
    """
    xs, ys = np.asarray(xs, float), np.asarray(ys, float)
    fits, misfits = [], []
    for order in ORDERS:
        power = (xs / xs[-1]) ** order
        columns = np.stack([np.ones(len(xs)), power], axis=1)[:, : 1 if order == 0.0 else 2]
        found, misfit = nnls(columns / (NOISE * ys)[:, None], np.full(len(ys), 1.0 / NOISE))
        base, slope = (*found, 0.0)[:2]
        fits.append(Fit(float(order), float(base), float(slope / xs[-1] ** order)))
        misfits.append(misfit**2)
    best = min(misfits)
    # Twice the standard error of the order; a model that fits badly at its best is trusted less.
    allowed = best + 4.0 * max(1.0, best / max(1, len(xs) - 3))
    return next(found for found, misfit in zip(fits, misfits, strict=True) if misfit <= allowed)


def note_curve(benchmark, name, title, x, xs, taken, *, expected, unit="s"):
    """Add a curve to what the benchmark's JSON carries; nothing where no time is taken.

    x: what `xs` count. taken: (rounds, len(xs)), of which medians count. expected: order, 0 or 1.
    """
    if not benchmark.enabled:
        return
    ys = np.median(np.atleast_2d(taken), axis=0)
    found, limit = fit(xs, ys), expected + MARGIN
    benchmark.extra_info["curve"] = {
        "name": name, "title": title, "group": name.partition(".")[0], "x": x, "unit": unit,
        "xs": list(xs), "ys": ys.tolist(), "order": found.order, "declared": expected, "limit": limit,
        "worse": found.order > limit, "base": found.base, "slope": found.slope,
    }  # fmt: skip
    costs = ", ".join(f"{figures.human(y, unit)}" for y in ys)
    verdict = "WORSE than" if found.order > limit else "expected:"
    figures.LINES.append(f"{name:28} {x} ^ {found.order:.2f} ({verdict} {expected}): {costs}")
