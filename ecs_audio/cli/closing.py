"""The summary of a play: one dict for machines, and the same as lines for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ecs_audio.cli.meters import Meters
from ecs_audio.cli.summary import changed


def closing(meters: Meters, record: Path | None, *, interrupted: bool) -> dict[str, Any]:
    """Everything that is known of a play that is over. Keys are stable; `Census.summary` adds its own.

    What is taken from ticks is of the last 10 000.
    """
    scenario, telemetry, rows = meters.scenario, meters.telemetry, meters.census.rows
    shares = [1e-6 * scenario.tick_rate * sum(row[n] for n in row if n.startswith("us_")) for row in rows]
    known = {
        "played": meters.name,
        "record": None if record is None else str(record),
        "interrupted": interrupted,
        "seconds": round(meters.time, 6),
        "tick_rate": scenario.tick_rate,
        "settings": changed(scenario.settings),
        "tick_share": {
            "median": round(float(np.median(shares)), 4) if shares else None,
            "p99": round(float(np.percentile(shares, 99)), 4) if shares else None,
            "worst": round(meters.worst_tick, 4),
        },
        "speakers": meters.status,
        "governor": {
            "step": telemetry.quality,
            "held_back": telemetry.held_back,
            "lowest_step": meters.lowest_step,
            "most_held_back": meters.most_held_back,
            "seconds_held_back": round(meters.seconds_held_back, 3),
        },
    }
    return known | meters.census.summary() | {"ticks": meters.ticks}


def lines(s: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary as names and values for people."""
    status, governor, ticks = s["speakers"], s["governor"], s["tick_share"]
    held_back = f"{governor['most_held_back']} at most, for {governor['seconds_held_back']:.1f} s in all"
    found = [
        ("played", f"{s['played']}, {s['seconds']:.2f} s{', until Ctrl-C' if s['interrupted'] else ''}"),
        ("device", device(status)),
        *([("recording", s["record"])] if s["record"] else []),
        ("underruns", underruns(status)),
        ("latency", latency(status)),
        ("blocks", f"load {percent(status['load'])}, {percent(status['peak_load'])} at most"),
        ("ticks", f"{s['ticks']:,}, {status['late_ticks']:,} late, {status['skipped_ticks']:,} skipped"),
    ]
    if s["ticks"]:
        voices, mean = s["voices"], s["per_tick"]
        found += [
            (
                "",
                f"{percent(ticks['median'])} of their time in the median, {percent(ticks['worst'])} at most",
            ),
            ("quality", held_back if governor["lowest_step"] else "everything"),
            (
                "sources",
                f"{mean['full']:.1f} full, {mean['direct']:.1f} direct, {mean['free']:.1f} free a tick",
            ),
            ("voices", f"{voices['playing']} playing, {voices['virtual']} virtual at most"),
            ("", f"{voices['refused']} refused, {voices['stolen']} stolen in all"),
            ("echoes", f"{s['taps']} at most"),
        ]
    return found + [("" if k else "reports", report) for k, report in enumerate(status["reports"])]


def device(status: dict[str, Any]) -> str:
    """Where the sound goes, and by which route."""
    if status["state"] == "silent" or not status["device"]:
        return f"none, {status['reason'] or 'silent'}"
    route = "lost" if status["state"] == "lost" else status["route"]
    return f"{status['device']} ({status['host_api']}), {route}"


def underruns(status: dict[str, Any]) -> str:
    """How often and how long sound was missing."""
    return f"{status['underrun_events']}, {status['underrun_duration']:.3f} s in all"


def latency(status: dict[str, Any]) -> str:
    """From the tick to the ear, without the way through the air."""
    mean, low, high = (1000.0 * status[f"{which}_latency"] for which in ("average", "minimum", "maximum"))
    return f"{mean:.0f} ms, {low:.0f} to {high:.0f}"


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100.0 * share:.0f} %"
