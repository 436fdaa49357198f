"""Telemetry: what the last tick did, as named numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from time import perf_counter_ns
from typing import Any

SYSTEMS = (
    "move", "ingest", "propagate", "classify", "batch_rays", "trace", "apply_results", "smooth", "play",
)  # fmt: skip
"""The systems of a tick in their order."""


@dataclass
class Telemetry:
    """One row a tick; the engine fills the same object anew each time."""

    tick: int = 0
    """Ticks done before this one."""
    frame: int = 0
    """Frame this tick belongs to."""
    sources: int = 0
    """Living sources."""
    full: int = 0
    """Sources in tier FULL."""
    direct: int = 0
    """Sources in tier DIRECT."""
    free: int = 0
    """Sources in tier FREE."""
    queue: int = 0
    """Sources whose turn had come."""
    deferred: int = 0
    """Those of them that the budget made wait."""
    rays: int = 0
    """Rays traced, a ray for each hit that one is followed to."""
    rays_direct: int = 0
    """Those of them along direct paths."""
    rays_probe: int = 0
    """Those around the listener."""
    rays_environment: int = 0
    """Those around sources, and from what they hit to the listener."""
    rays_echo: int = 0
    """Those that proved echoes."""
    cells: int = 0
    """Cells that the rays looked at; a section skipped whole counts as one."""
    unknown_share: float = 0.0
    """Share of them that were not loaded."""
    oldest_age: float = 0.0
    """Age of the oldest straight path of a FULL or DIRECT source [s]."""
    oldest_environment: float = 0.0
    """Age of the oldest environment of a FULL source [s]."""
    surveys: int = 0
    """Environments that rays were traced for."""
    surveys_waiting: int = 0
    """Sources whose environment the budget made wait."""
    cache_hits: int = 0
    """Environments taken from the cache."""
    cache_misses: int = 0
    """Environments that it did not have."""
    cache_evictions: int = 0
    """Entries given up for others."""
    cache_invalidations: int = 0
    """Entries that an edit outdated."""
    sections_rebuilt: int = 0
    """Sections of the world whose bits were derived anew so far."""
    workers: int = 0
    """Threads that trace beside the host's."""
    taps: int = 0
    """Echoes that sound."""
    room: str = "unknown"
    """What kind of place the listener is in: field, street, canyon, tunnel, hall or room."""
    rt60_near: float = 0.0
    """Reverberation time of the near bus at 500 Hz [s]."""
    rt60_far: float = 0.0
    """Reverberation time of the far bus at 500 Hz [s]."""
    room_gain_near: float = 0.0
    """Reverberant level of the near bus relative to the direct sound at 1 m."""
    room_gain_far: float = 0.0
    """Reverberant level of the far bus relative to the direct sound at 1 m."""
    reverbs: int = 0
    """Reverbs that sound, 0 to 2."""
    voices_playing: int = 0
    """Sources that sound, or whose echoes do."""
    voices_virtual: int = 0
    """Sources without a voice: inaudible, or crowded out."""
    voices_refused: int = 0
    """One-shots refused so far."""
    voices_stolen: int = 0
    """One-shots that lost their voice to a higher priority so far; loops only become virtual."""
    starved_frames: int = 0
    """Frames for which streams were silent since their decoder was late, so far."""
    edits: int = 0
    """World edits taken in."""
    limiter_gain: float = 1.0
    """Smallest gain of the limiter since the last tick, linear."""
    quality: int = 0
    """Steps by which the governor of live output holds counts back, 0 for none."""
    held_back: str = ""
    """What it holds back, such as "echoes 16 of 64"."""
    microseconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SYSTEMS, 0.0))
    """Time that each system took."""

    def as_dict(self) -> dict[str, Any]:
        """A copy as a plain dict, the systems' times with `us_` before their names."""
        row = {name: getattr(self, name) for name in _NUMBERS}
        for name, time in self.microseconds.items():
            row[_TIMES[name]] = time
        return row


_NUMBERS = tuple(f.name for f in fields(Telemetry) if f.name != "microseconds")
_TIMES = {name: f"us_{name}" for name in SYSTEMS}


def laps(microseconds: dict[str, float]) -> Callable[[str], None]:
    """A stopwatch that notes the time since its last call under a name."""
    last = perf_counter_ns()

    def lap(name: str) -> None:
        nonlocal last
        now = perf_counter_ns()
        microseconds[name] = (now - last) / 1000.0
        last = now

    return lap
