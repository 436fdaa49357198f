"""The summary of a run: one dict for machines, and the same as lines for people."""

from __future__ import annotations

import math
import platform
from dataclasses import fields
from pathlib import Path
from typing import Any

import numba
import numpy as np

import ecs_audio
from ecs_audio.cli.find import Script
from ecs_audio.cli.render import Rendering
from ecs_audio.settings import Settings


def summary(
    script: Script, parameters: dict[str, Any], rendering: Rendering, *, block: int, output: Path | None
) -> dict[str, Any]:
    """Everything that is known of a run. Keys are stable; `Census.summary` adds its own."""
    scenario, written = rendering.scenario, rendering.written
    census, rate = rendering.census.summary(), scenario.clips.rate
    seconds, mixing = written.frames / rate, rendering.mix_microseconds
    known = {
        "scenario": script.name,
        "file": str(script.file),
        "parameters": parameters,
        "output": None if output is None else str(output),
        "rate": rate,
        "frames": written.frames,
        "seconds": round(seconds, 6),
        "seed": scenario.seed,
        "tick_rate": scenario.tick_rate,
        "block": block,
        "settings": changed(scenario.settings),
        "budget": {"rays": scenario.settings.max_rays, "cells": scenario.settings.max_cells},
        "peak_db": _decibels(written.peak),
        "limiter_reduction_db": _reduction(census["limiter_gain"]),
        "compile_seconds": round(rendering.compile_seconds, 3),
        "render_seconds": round(rendering.render_seconds, 6),
        "realtime_factor": round(seconds / max(rendering.render_seconds, 1e-9), 3),
        "mix_microseconds": {
            "blocks": len(mixing),
            "median": round(float(np.median(mixing)), 1),
            "p99": round(float(np.percentile(mixing, 99)), 1),
        },
        "sha256": written.sha256,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "ecs_audio": ecs_audio.__version__,
        },
    }
    return known | {name: value for name, value in census.items() if name not in known}


def changed(settings: Settings) -> dict[str, Any]:
    """The settings that are not at their default."""
    usual = Settings()
    names = [f.name for f in fields(settings)]
    return {
        name: getattr(settings, name) for name in names if getattr(settings, name) != getattr(usual, name)
    }


def lines(s: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary as names and values for people, without the times of the systems."""
    mean, voices, budget = s["per_tick"], s["voices"], s["budget"]
    cache = s["cache"]
    peak = "silence" if s["peak_db"] is None else f"{s['peak_db']:.1f} dBFS"
    limiter = f"up to {s['limiter_reduction_db']:.2f} dB" if s["limiter_reduction_db"] else "idle"
    factor = f"{s['realtime_factor']:.1f}× real time, {s['render_seconds']:.2f} s"
    return [
        ("scenario", f"{s['scenario']} ({_listed(s['parameters']) or 'no parameters'})"),
        *([("settings", _listed(s["settings"]))] if s["settings"] else []),
        ("output", s["output"] or "none"),
        ("length", f"{s['seconds']:.2f} s, {s['frames']:,} frames at {s['rate']} Hz"),
        ("speed", f"{factor} (and {s['compile_seconds']:.2f} s for the kernels)"),
        ("peak level", peak),
        ("limiter", limiter),
        ("sources", f"{mean['full']:.1f} full, {mean['direct']:.1f} direct, {mean['free']:.1f} free a tick"),
        ("", f"{s['sources']} at most"),
        ("rays", f"{mean['rays']:,.0f} a tick, at most {s['max_rays']:,} of {budget['rays']:,}"),
        ("", f"{mean['rays_direct']:,.0f} direct, {mean['rays_environment']:,.0f} around sources,"),
        ("", f"{mean['rays_echo']:,.0f} of echoes, {mean['rays_probe']:,.0f} of the probe"),
        ("cells", f"{mean['cells']:,.0f} a tick, at most {s['max_cells']:,} of {budget['cells']:,}"),
        ("unknown cells", f"{100 * s['unknown_share']:.2f} %"),
        ("oldest path", f"{s['oldest_age']:.2f} s, oldest environment {s['oldest_environment']:.2f} s"),
        ("cache", f"{100 * cache['hit_rate']:.0f} % of {cache['hits'] + cache['misses']:,} environments"),
        ("echoes", f"{s['taps']} at most, and {s['reverbs']} reverbs"),
        *([("streams", f"late for {s['starved_frames']:,} frames")] if s["starved_frames"] else []),
        ("rooms", ", ".join(f"{room} {100 * share:.0f} %" for room, share in s["rooms"].items())),
        ("voices", f"{voices['playing']} playing, {voices['virtual']} virtual at most"),
        ("", f"{voices['refused']} refused, {voices['stolen']} stolen in all"),
        ("world edits", f"{s['edits']:,}"),
        ("sha256", s["sha256"]),
    ]  # fmt: skip


def times(s: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What each system took a tick, and the mixing a block: name, median and 99th percentile [µs]."""
    rows = [
        *s["microseconds"].items(),
        (f"mix, {s['mix_microseconds']['blocks']:,} blocks", s["mix_microseconds"]),
    ]
    return [(name, f"{took['median']:,.1f}", f"{took['p99']:,.1f}") for name, took in rows]


def _listed(mapping: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in mapping.items())


def _decibels(peak: float) -> float | None:
    """[dBFS]; None for silence, since JSON has no infinity."""
    return round(20.0 * math.log10(peak), 3) if peak > 0.0 else None


def _reduction(gain: float) -> float:
    """[dB], 0 for an idle limiter."""
    return round(-20.0 * math.log10(gain), 3) if 0.0 < gain < 1.0 else 0.0
