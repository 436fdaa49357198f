"""Performing a scenario: ticks at their frames, blocks of any size between them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.engine import Engine
from ecs_audio.scenario import Scenario, Stage
from ecs_audio.telemetry import SYSTEMS, Telemetry

HANG = 0.25
"""A performance in real time that is late by more [s] does not catch up."""

Watch = Callable[[Stage, Telemetry], None]
"""Called after every tick."""


def perform(
    scenario: Scenario, engine: Engine, *, block: int = 4096, watch: Watch | None = None
) -> Iterator[NDArray[np.float32]]:
    """Play a scenario on an engine made for it; yields blocks that are valid until the next.

    A block ends early where a tick is due, so the bytes do not depend on its length [frames].
    """
    if block < 1:
        raise ValueError(f"block must be at least one frame, not {block}")
    for end in _ticks(scenario, engine, watch):
        while engine.frame < end:
            yield engine.render(min(block, end - engine.frame))


def play(scenario: Scenario, engine: Engine, *, watch: Watch | None = None) -> None:
    """Play a scenario in real time, on an engine made for it that has speakers.

    After a pause of the process, the scenario goes on where it stood.
    """
    start = time.perf_counter()
    for end in _ticks(scenario, engine, watch):
        left = start + end / engine.rate - time.perf_counter()
        if left > 0.0:
            time.sleep(left)
        elif left < -HANG:
            start -= left


def _ticks(scenario: Scenario, engine: Engine, watch: Watch | None) -> Iterator[int]:
    """Make a scenario's ticks; yields after each the frame, from the scenario's beginning, of the next."""
    stage = Stage(engine, scenario)
    todo = sorted(
        [(s.at, k, s) for k, s in enumerate(scenario.spawns)]
        + [(e.at, k + len(scenario.spawns), e) for k, e in enumerate(scenario.events)],
        key=lambda entry: entry[:2],
    )
    total, ticks, end = round(scenario.seconds * engine.rate), 0, 0
    while end < total:
        stage.time = ticks / scenario.tick_rate
        stage.leave()
        stage.hits()
        while todo and todo[0][0] <= stage.time + 1e-9:
            what = todo.pop(0)[2]
            stage.spawn(what) if not hasattr(what, "act") else what.act(stage)
        stage.move()
        telemetry = engine.tick(1.0 / scenario.tick_rate)
        if watch is not None:
            watch(stage, telemetry)
        ticks += 1
        end = min(round(ticks / scenario.tick_rate * engine.rate), total)
        yield end


def engine_for(scenario: Scenario) -> Engine:
    """An engine with the scenario's world, clips, settings and seed."""
    return Engine(scenario.world, scenario.clips, settings=scenario.settings, seed=scenario.seed)


MEANS = (
    "full", "direct", "free", "rays", "rays_direct", "rays_probe", "rays_environment", "rays_echo", "cells",
)  # fmt: skip
"""What a census gives the mean of."""


@dataclass
class Census:
    """Telemetry of a whole performance. Use it as the `watch` of `perform`."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, stage: Stage, telemetry: Telemetry) -> None:
        """Take in one tick."""
        self.rows.append({"time": stage.time, **telemetry.as_dict()})

    def summary(self) -> dict[str, Any]:
        """Means and extremes: tiers, rays, cells, ages, voices, and microseconds of each system."""
        column = {
            name: np.array([row[name] for row in self.rows]) for name in (self.rows[0] if self.rows else ())
        }
        if not column:
            return {"ticks": 0}
        mean = {name: round(float(column[name].mean()), 3) for name in MEANS}
        hits, misses = int(column["cache_hits"].sum()), int(column["cache_misses"].sum())
        return {
            "ticks": len(self.rows),
            "sources": int(column["sources"].max()),
            "per_tick": mean,
            "max_rays": int(column["rays"].max()),
            "max_cells": int(column["cells"].max()),
            "unknown_share": round(float(column["unknown_share"].mean()), 6),
            "oldest_age": round(float(column["oldest_age"].max()), 4),
            "oldest_environment": round(float(column["oldest_environment"].max()), 4),
            "deferred": int(column["deferred"].sum()),
            "cache": {
                "hits": hits,
                "misses": misses,
                "hit_rate": round(hits / max(hits + misses, 1), 4),
                "evictions": int(column["cache_evictions"].sum()),
                "invalidations": int(column["cache_invalidations"].sum()),
            },
            "taps": int(column["taps"].max()),
            "reverbs": int(column["reverbs"].max()),
            "starved_frames": int(column["starved_frames"].max()),
            "rooms": {
                str(room): round(float((column["room"] == room).mean()), 4)
                for room in np.unique(column["room"])
            },
            "edits": int(column["edits"].sum()),
            "voices": {
                "playing": int(column["voices_playing"].max()),
                "virtual": int(column["voices_virtual"].max()),
                "refused": int(column["voices_refused"].max()),
                "stolen": int(column["voices_stolen"].max()),
            },
            "limiter_gain": round(float(column["limiter_gain"].min()), 6),
            "microseconds": {
                name: {
                    "median": round(float(np.median(column[f"us_{name}"])), 1),
                    "p99": round(float(np.percentile(column[f"us_{name}"], 99)), 1),
                }
                for name in SYSTEMS
            },
        }


@dataclass(frozen=True)
class Recording:
    """What was heard: the input of a scenario's `check`."""

    samples: NDArray[np.float32]
    """float32 (frames, 2)."""
    rate: int
    """[Hz]"""
    scenario: Scenario
    rows: list[dict[str, Any]]
    """Telemetry of every tick."""
    make: Callable[..., Scenario]
    parameters: dict[str, Any]

    @property
    def sha256(self) -> str:
        """Of the interleaved little-endian float32 as rendered."""
        return hashlib.sha256(self.samples.astype("<f4", copy=False).tobytes()).hexdigest()

    def again(self, **changes: Any) -> Recording:
        """The same scenario performed once more with other parameters."""
        return record(self.make, **(self.parameters | changes))


def record(make: Callable[..., Scenario], *, block: int = 4096, **parameters: Any) -> Recording:
    """Perform `make(**parameters)` in memory."""
    scenario, census = make(**parameters), Census()
    with engine_for(scenario) as engine:
        engine.warm_up()
        blocks = [b.copy() for b in perform(scenario, engine, block=block, watch=census)]
    samples = np.concatenate(blocks) if blocks else np.zeros((0, 2), np.float32)
    return Recording(samples, scenario.clips.rate, scenario, census.rows, make, parameters)


def with_settings(scenario: Scenario, **changes: Any) -> Scenario:
    """The scenario with other settings."""
    return replace(scenario, settings=replace(scenario.settings, **changes))
