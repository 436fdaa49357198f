"""Numbers with their units, as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ecs_audio.bench.record import Figure
from ecs_audio.bench.targets import Target

_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_MANY: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def number(value: float, unit: str) -> str:
    """A value with its unit, three digits of it."""
    if not math.isfinite(value):
        return "–"
    if unit == "s":
        scale, name = next((each for each in _TIMES if abs(value) >= each[0]), _TIMES[-1])
        return f"{digits(value / scale)} {name}"
    if unit in ("1/s", "B"):
        scale, prefix = next((each for each in _MANY if abs(value) >= each[0]), _MANY[-1])
        return f"{digits(value / scale)} {prefix}{'B' if unit == 'B' else '/s'}"
    return f"{digits(value)} {unit}".strip()


def digits(value: float) -> str:
    """Three digits of a number, and no exponent where one can do without."""
    if value == 0 or not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def short(value: float, unit: str) -> str:
    """A round value with its unit: no more digits than it has."""
    text = number(value, unit)
    if "." not in text:
        return text
    head, gap, tail = text.partition(" ")
    return head.rstrip("0").rstrip(".") + gap + tail


def times(value: float | None) -> str:
    """How many times, or nothing."""
    return "" if value is None else f"{digits(value)}×"


def spread(values: Sequence[float]) -> str:
    """The middle half of the values, or nothing where there are too few."""
    if len(values) < 2:
        return ""
    low, high = np.percentile(values, (25, 75))
    return f"{digits(low)} – {digits(high)}"


def goal(target: Target, figure: Figure | None) -> str:
    """What a target asks for."""
    if target.of == "ratio":
        return f"≥ {short(target.number, '')}×"
    if figure is None:
        return short(target.number, "")
    return f"{'≤' if figure.better == 'lower' else '≥'} {short(target.number, figure.unit)}"


def factor(value: float, unit: str) -> str:
    """How much better or worse, for what has this unit."""
    good, bad = {"s": ("faster", "slower"), "1/s": ("faster", "slower"), "": ("better", "worse")}.get(
        unit, ("smaller", "larger")
    )
    return f"{max(value, 1 / value):.2f}× {good if value >= 1 else bad}" if value > 0 else "–"
