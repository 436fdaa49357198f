"""What the suites find: figures with a name that stays, beside a peer and a target."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
from llvmlite import binding
from numba import config

TARGETS = tomllib.loads((Path(__file__).parent / "targets.toml").read_text("utf-8"))
"""By figure: `ratio` to the peer or `value`, and `says`, what it means; `value_avx2` without AVX-512."""

LINES: list[str] = []
"""A line for each figure, printed at the end."""

PREFIXES = {
    "s": ((1.0, ""), (1e-3, "m"), (1e-6, "u")),
    "B": ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")),
    "1/s": ((1e9, "G "), (1e6, "M "), (1e3, "k "), (1.0, "")),
}
"""What units are told with, the largest first."""


def note(benchmark, name, title, values, unit="s", *, better="lower", peer=None, peer_values=()):
    """Add a figure to what the benchmark's JSON carries; nothing where no time is taken.

    name: its group, a dot and more; history is kept by it. values: ours, of each round, or one number.
    peer: name of what it was compared with; peer_values: of the same rounds. The ratio is how many times
    better than the peer.
    """
    if not benchmark.enabled:
        return
    ours, theirs = np.atleast_1d(values).astype(float), np.atleast_1d(peer_values).astype(float)
    ratios = (theirs / ours if better == "lower" else ours / theirs) if peer else np.zeros(0)
    target, of = target_of(name)
    figure = {
        "name": name, "title": title, "group": name.partition(".")[0], "unit": unit, "better": better,
        "value": float(np.median(ours)), "values": ours.tolist() if np.ndim(values) else [],
        "peer": peer, "peer_value": float(np.median(theirs)) if peer else None,
        "ratio": float(np.median(ratios)) if peer else None, "ratios": ratios.tolist(),
        "target": target, "target_of": of,
    }  # fmt: skip
    benchmark.extra_info.setdefault("figures", []).append(figure)
    LINES.append(line(figure))


def target_of(name):
    """The target of a figure, None if it has none, and whether "ratio" or "value" is to reach it."""
    told = TARGETS.get(name, {})
    if "ratio" in told:
        return told["ratio"], "ratio"
    if "value_avx2" in told and not has_avx512():
        return told["value_avx2"], "value"
    return told.get("value"), "value"


def has_avx512():
    """Whether numba compiles for AVX-512 here."""
    return not config.CPU_NAME and bool(binding.get_host_cpu_features().get("avx512f"))


def line(figure):
    """A figure in a line."""
    text = f"{figure['name']:28} {human(figure['value'], figure['unit']):>12}"
    if figure["peer"]:
        text += f"  {figure['ratio']:8.2f} x {figure['peer']}"
    if (target := figure["target"]) is None:
        return text
    wanted = f"{target:g} x" if figure["target_of"] == "ratio" else human(target, figure["unit"])
    return f"{text}  ({wanted}: {'met' if is_met(figure) else 'missed'})"


def is_met(figure):
    """Whether a figure reaches its target."""
    reached, target = figure[figure["target_of"]], figure["target"]
    is_low = figure["target_of"] == "value" and figure["better"] == "lower"
    return reached <= target if is_low else reached >= target


def human(value, unit):
    """A number with a unit that people read easily."""
    prefixes = PREFIXES.get(unit, ((0.0, ""),))
    factor, prefix = next((each for each in prefixes if value >= each[0]), prefixes[-1])
    return f"{value / (factor or 1.0):.3g} {prefix}{unit}".strip()
