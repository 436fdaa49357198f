"""Everything that an engine believes about one source, as a plain nested dict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ecs_audio.components import Lane, Law, Source, State
from ecs_audio.engine import Engine
from ecs_audio.explain.echoes import echoes_of
from ecs_audio.explain.paths import muffling_of, paths_of, transmission_of
from ecs_audio.explain.reflections import reflections_of, room_of, sends_of
from ecs_audio.explain.tier import tier_of, turn_of
from ecs_audio.settings import CATEGORIES


def explain(engine: Engine, source: Source) -> dict[str, Any]:
    """What the engine believes about a source after its last tick, and how each number comes about.

    A nested dict of numbers, texts, lists and None, ready for JSON. Lengths in metres, times in seconds,
    gains linear; `expected_...` is worked out here anew and stands beside what the engine has. The paths
    are walked cell by cell in Python, some 10 ms, through the world as it is now: a source or a world that
    moves differs from what was traced as long ago as `ages` says. Raises DeadRowError.
    """
    engine.sources.check(source)
    i, settings = source.index, engine.settings
    paths = paths_of(engine, i) if engine.sources.positioned[i] else []
    walked, known = (
        transmission_of(paths, which, settings.occlusion_rule) if paths else 1.0
        for which in ("walked", "engine")
    )
    return {
        "time": engine.telemetry.frame / engine.rate,
        "source": _identity(engine, i),
        "tier": tier_of(engine, i),
        "turn": turn_of(engine, i),
        "ages": _ages(engine, i),
        "level": _level(engine, i),
        "places": _places(engine, i),
        "bundle": {"walked": walked, "engine": known, "paths": paths},
        "muffling": muffling_of(engine, i),
        "reflections": reflections_of(engine, i),
        "sends": sends_of(engine, i),
        "echoes": echoes_of(engine, i, lambda way: _bearing(engine, way)),
        "voice": _voice(engine, i),
        "room": room_of(engine),
    }


def _identity(engine: Engine, i: int) -> dict[str, Any]:
    s, clips = engine.sources, engine.clips
    clip = int(s.clip[i])
    return {
        "number": int(s.serial[i]),
        "row": i,
        "entity": int(s.entity[i]),
        "clip": next((name for name in clips.names if clips.id(name) == clip), None),
        "category": CATEGORIES[min(int(s.category[i]), len(CATEGORIES) - 1)],
        "looping": bool(s.looping[i]),
        "event": int(s.event[i]) if s.event[i] >= 0 else None,
    }


def _ages(engine: Engine, i: int) -> dict[str, Any]:
    """Time since each result was traced [s], None before."""
    s, looked = engine.sources, float(engine.probes.evaluated[0])
    return {
        "path": _finite(s.age[i]),
        "environment": _finite(s.environment_age[i]),
        "room": _finite(engine.telemetry.frame / engine.rate - looked),
    }


def _level(engine: Engine, i: int) -> dict[str, Any]:
    s = engine.sources
    volume, loudness = float(s.volume[i]), float(s.loudness[i])
    category = CATEGORIES[min(int(s.category[i]), len(CATEGORIES) - 1)]
    return {
        "distance": float(s.distance[i]),
        "law": Law(int(s.law[i])).name.lower() if s.law[i] < len(Law) else "inverse",
        "reference": float(s.reference[i]),
        "fade_start": float(s.fade_start[i]),
        "end": float(s.end[i]),
        "volume": volume,
        "distance_gain": loudness / volume if volume > 0.0 else None,
        "loudness": loudness,
        "occlusion": float(s.gain[i]),
        "category_gain": float(engine.gains.get(category, 1.0)) * engine.volume,
        "audibility": float(s.audibility[i]),
    }


def _places(engine: Engine, i: int) -> dict[str, Any]:
    """Where it is, where it was when it emitted what is heard, and where it seems to be."""
    s, here = engine.sources, engine.listener.position
    emitted = float(s.emission[i])
    heard, seeming = s.heard_position[i] - here, s.apparent_position[i] - here
    lengths = float(np.linalg.norm(heard) * np.linalg.norm(seeming))
    cosine = float(heard @ seeming) / lengths if lengths > 0.0 else 1.0
    return {
        "listener": here.tolist(),
        "position": s.position[i].tolist(),
        "heard_position": s.heard_position[i].tolist(),
        "delay": (engine.telemetry.frame - emitted) / engine.rate if emitted > -1e299 else None,
        "direction": _bearing(engine, heard),
        "apparent_position": s.apparent_position[i].tolist(),
        "apparent_direction": _bearing(engine, seeming),
        "apart_degrees": math.degrees(math.acos(min(max(cosine, -1.0), 1.0))),
        "pull": float(s.pull[i]),
    }


def _voice(engine: Engine, i: int) -> dict[str, Any]:
    """What plays it. The lane is the render loop's own, and not known here, while the engine is live."""
    s, voices = engine.sources, engine.voices
    lane = int(s.voice[i]) if engine.live is None else -1
    left, right, near, far = s.mix_gain[i].tolist()
    return {
        "state": State(int(s.state[i])).name.lower(),
        "paused": bool(s.paused[i]),
        "priority": int(s.priority[i]),
        "lane": lane if lane >= 0 else None,
        "lane_state": Lane(int(voices.lane[lane])).name.lower() if lane >= 0 else None,
        "fade": float(voices.fade[lane]) if lane >= 0 else None,
        "clip_seconds": float(s.heard_clock[i]) / engine.rate,
        "pitch": float(s.pitch[i]),
        "pace": float(s.pace[i]),
        "left": left,
        "right": right,
        "near_reverb": near,
        "far_reverb": far,
        "inaudible_for": float(s.hush[i]) if engine.live is None else None,
    }


def _bearing(engine: Engine, way: ArrayLike) -> dict[str, Any]:
    """A way from the listener as angles [degrees]: azimuth 0 ahead, 90 to the right; elevation 90 above.

    Above and ahead are the listener's own.
    """
    ears, v = engine.listener, np.asarray(way, float)
    above = np.cross(ears.right, ears.forward)
    ahead, right, up = float(v @ ears.forward), float(v @ ears.right), float(v @ above)
    return {
        "azimuth": math.degrees(math.atan2(right, ahead)),
        "elevation": math.degrees(math.atan2(up, math.hypot(ahead, right))),
    }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
