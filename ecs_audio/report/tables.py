"""What stands on the page in words and numbers, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.report.ticks import column
from ecs_audio.telemetry import SYSTEMS

Pair = tuple[str, str]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """A table; its first column is text, the others are numbers."""
    cells = "".join(f"<th>{escape(text)}</th>" for text in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f'<table id="{escape(name)}"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'


def pairs(rows: Iterable[Pair]) -> str:
    """Names and values, as a list of definitions."""
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)


def tiles(rows: Iterable[tuple[str, str, str]]) -> str:
    """Large numbers: what it is, the number, and what it means."""
    return "".join(
        f'<div class="tile"><span>{escape(name)}</span><b>{escape(value)}</b>'
        f"<small>{escape(note)}</small></div>"
        for name, value, note in rows
    )


def verdict(found: dict[str, Any]) -> tuple[str, str, str]:
    """What became of the check: a class of style, a word, and the sentence of a failed one."""
    check = found["check"]
    if check is None:
        return "unchecked", "rendered, not checked", ""
    return ("passed", "passed", "") if check["passed"] else ("failed", "failed", str(check["message"]))


def headline(found: dict[str, Any], loudness: float | None) -> list[tuple[str, str, str]]:
    """The tiles at the top."""
    mean, budget = found["per_tick"], found["budget"]
    limiter, factor = found["limiter_reduction_db"], found["realtime_factor"]
    peak = "silence" if found["peak_db"] is None else f"{minus(found['peak_db'])} dBFS"
    loud = "–" if loudness is None or not np.isfinite(loudness) else f"{minus(loudness)} LUFS"
    held = found["oldest_age"]
    return [
        ("length", f"{found['seconds']:.1f} s", f"{found['frames']:,} frames"),
        ("peak", peak, f"limiter takes up to {limiter:.2f} dB" if limiter else "limiter idle"),
        ("loudness", loud, "integrated, BS.1770"),
        ("sources", f"{found['sources']}", f"{found['voices']['playing']} sound at most"),
        ("rays a tick", f"{mean['rays']:,.0f}", f"peak {found['max_rays']:,} of {budget['rays']:,}"),
        ("oldest path", f"{held:.2f} s", f"environment {found['oldest_environment']:.2f} s"),
        ("speed", f"{factor:.1f}×", f"real time, in {found['render_seconds']:.2f} s"),
    ]


def system_rows(rows: list[dict[str, Any]], mixing: NDArray[np.float64], tick_rate: float) -> list[list[str]]:
    """Time of each system, of a tick and of a block: p50, p99, largest [ms] and share of all ticks' time."""
    of = {name: column(rows, f"us_{name}") / 1000.0 for name in SYSTEMS}
    whole = np.sum(list(of.values()), axis=0)
    found = [_spread(name, took, f"{took.sum() / max(whole.sum(), 1e-12):.0%}") for name, took in of.items()]
    found.append(_spread("a tick", whole, f"{whole.mean() * tick_rate / 1000.0:.1%} of real time"))
    if len(mixing):
        found.append(_spread("mix, a block", mixing / 1000.0, f"{len(mixing):,} blocks"))
    return found


def facts(found: dict[str, Any], scenario_seed: int) -> list[Pair]:
    """What one needs to render the same again."""
    said = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items()) or "none"
    settings = ", ".join(f"{name} = {value}" for name, value in found["settings"].items())
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return [
        ("seed", str(scenario_seed)),
        ("parameters", said),
        ("settings", settings or "all at their defaults"),
        ("sha256", found["sha256"]),
        ("versions", versions),
    ]


def _spread(name: str, took: NDArray[np.float64], note: str) -> list[str]:
    return [name, *(f"{v:.3f}" for v in (*np.percentile(took, (50, 99)), took.max())), note]


def minus(value: float) -> str:
    """A number with one decimal and a proper minus."""
    return f"{value:.1f}".replace("-", "−")
