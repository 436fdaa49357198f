"""What `move` is told becomes a row's values, or one clear error."""

from __future__ import annotations

import math
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from ecs_audio.components import Kind, Movers

GRAVITY = 600.0
"""[units/s²]"""

JUMP = 60.8
"""How high a walker jumps under that gravity [units]."""

STEP, BLOCK_STEP = 18.0, 24.0
"""A walker's step, and where half a cell is higher than it, as in block worlds [units]."""

WALKER_SIZE, WALKER_EYE = (32.0, 72.0, 32.0), 64.0
"""[units]"""

SIZES: dict[Kind, tuple[float, float, float]] = {
    Kind.WALKER: WALKER_SIZE, Kind.PROJECTILE: (4.0, 4.0, 4.0), Kind.DEBRIS: (8.0, 8.0, 8.0),
}  # fmt: skip


class MoverOptions(TypedDict, total=False):
    """What `move` can be told beside the body and its kind; all may be left out.

    Defaults are given with the usual 40 units a metre.
    """

    velocity: ArrayLike
    """[m/s]. Default at rest."""
    gravity: float
    """Acceleration downwards [m/s²]. Default 15, 600 units/s²."""
    size: ArrayLike
    """Edges, or one for all [m]. Default 0.8 x 1.8 x 0.8, a projectile's 0.1, debris 0.2."""
    eye: float
    """Height of the source or the listener above the body's floor [m]. Default 1.6, else half of the body."""
    walk_speed: float
    """Speed that a walker wishes for [m/s]. Default 6.25, 250 units/s."""
    jump_speed: float
    """Speed at the beginning of a jump [m/s]. Default 6.75: 1.52 m high, 60.8 units."""
    step_height: float
    """Ledges that a walker walks up [m]. Default 0.45; 0.6 where half a cell is higher than that."""
    bounce: float
    """Share of its speed into a surface that debris has after a bounce. Default 0.4."""
    friction: float
    """Force along a surface over force into it, for debris. Default 0.5."""


def mover_values(
    kind: str, options: MoverOptions, cell_size: float, units_per_metre: float
) -> dict[str, Any]:
    """Column values of a new mover, but for where it is. cell_size: of the world [m].

    Raises ValueError naming what is wrong, TypeError for an unknown option.
    """
    kinds = {known.name.lower(): known for known in Kind}
    if kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}, not {kind!r}")
    if unknown := options.keys() - MoverOptions.__annotations__.keys():
        names = ", ".join(MoverOptions.__annotations__)
        raise TypeError(f"there is no option {sorted(unknown)[0]!r}, only {names}")
    unit, what = 1.0 / units_per_metre, kinds[kind]
    size = np.array(options.get("size", np.multiply(SIZES[what], unit)), np.float64)
    high = float(size.max(initial=0.0) if size.ndim == 0 else size.flat[min(1, size.size - 1)])
    defaults: MoverOptions = {
        "velocity": (0.0, 0.0, 0.0),
        "gravity": GRAVITY * unit,
        "size": size,
        "eye": WALKER_EYE * unit if what is Kind.WALKER else 0.5 * high,
        "walk_speed": 250.0 * unit,
        "jump_speed": math.sqrt(2.0 * GRAVITY * JUMP) * unit,
        "step_height": (BLOCK_STEP if 0.5 * cell_size > STEP * unit else STEP) * unit,
        "bounce": 0.4,
        "friction": 0.5,
    }
    wanted = cast(dict[str, Any], {**defaults, **options, "size": size})
    return {name: _checked(name, value) for name, value in wanted.items()} | {"kind": what}


def _checked(name: str, value: ArrayLike) -> Any:
    column = Movers.columns[name]
    low, high = column.low, column.high
    try:
        values = np.broadcast_to(np.asarray(value, np.float64), column.shape)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if low is None or not ((values >= low) & (values <= high)).all():
        count = "three finite numbers" if column.shape else "a finite number"
        raise ValueError(f"{name} must be {count} from {low:g} to {high:g}, not {value!r}")
    return values
