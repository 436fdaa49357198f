"""What reflections found around a source, what it sends into the room, and the room itself."""

from __future__ import annotations

import math
from typing import Any

from ecs_audio.components.entries import HITS, RAYS, Survey
from ecs_audio.components.probes import CLASSES
from ecs_audio.engine import Engine
from ecs_audio.kernels.results import BROAD

BUSES = ("near", "far")
BANDS = ("125", "500", "2000", "8000")
"""[Hz]"""
STEEPNESS = (4.0, 8.0)
"""Shared air of each bus is so many times the coupling, at most 1."""


def reflections_of(engine: Engine, i: int) -> dict[str, Any]:
    """Coupling and shared air of source i, where they come from, and the survey that it waits for."""
    s, e = engine.sources, engine.entries.storage
    row, waiting = int(s.environment[i]), int(s.survey[i])
    coupling = float(s.coupling[i])
    entry = None
    if row >= 0:
        hits, couples = int((e["face"][row] >= 0).sum()), int(e["couples"][row].clip(0, 1).sum())
        entry = {
            "row": row,
            "source": e["source"][row].tolist(),
            "listener": e["listener"][row].tolist(),
            "hits": hits,
            "seen_by_the_listener": couples,
            "of": RAYS * HITS,
            "surveys": int(e["surveys"][row]),
        }
    return {
        "coupling": coupling if coupling >= 0.0 else None,
        "from": _origin(engine, coupling, row),
        "openness": dict(zip(BUSES, s.openness[i].tolist(), strict=True)),
        "openness_target": dict(zip(BUSES, _openness(engine, i, coupling), strict=True)),
        "bearing": s.bearing_target[i].tolist() if s.bearing_target[i].any() else None,
        "entry": entry,
        "waits_for": None if waiting < 0 else Survey(int(e["state"][waiting])).name.lower(),
    }


def _origin(engine: Engine, coupling: float, row: int) -> str:
    if not engine.settings.coupling:
        return "switched off"
    if engine.settings.reverb is not None:
        return "guessed from T: the room is a preset's"
    if coupling < 0.0:
        return "guessed from T and the size of the listener's room: nothing was traced around it"
    return "traced" if row >= 0 else "traced before the world changed there"


def _openness(engine: Engine, i: int, coupling: float) -> list[float]:
    s, p, settings = engine.sources, engine.probes.storage, engine.settings
    if not (s.positioned[i] and s.acoustics[i] and settings.coupling):
        return [0.0, 0.0]
    if not (settings.reflects or settings.reverberates):
        return [0.0, 0.0]
    if coupling >= 0.0 and settings.reverb is None:
        return [min(steepness * coupling, 1.0) for steepness in STEEPNESS]
    share, distance, t = float(p["share"][0].sum()), float(s.distance[i]), float(s.transmission[i])
    reaches = [1e9, 1e9] if settings.reverb is not None else [r * share for r in p["reach"][0].tolist()]
    return [t * (min(1.0, 2.0 * r / distance) if distance > 0.0 else float(r > 0.0)) for r in reaches]


def sends_of(engine: Engine, i: int) -> dict[str, Any]:
    """Amplitude of source i into each reverb: what fills the room, and what comes as it is heard."""
    s, settings, found = engine.sources, engine.settings, {}
    t, distance, reference = float(s.transmission[i]), float(s.distance[i]), float(s.reference[i])
    has_room = bool(s.positioned[i] and s.acoustics[i]) and settings.reverberates
    for bus, name in enumerate(BUSES):
        w = float(s.openness[i, bus])
        room = float(engine.probe.room_gain[bus]) if has_room else 0.0
        fade = 1.0 - min(distance / (1.5 * float(s.end[i])), 1.0)
        coupled = w * float(s.volume[i]) * min(reference * room, max(1.0, room)) * fade
        sealed = (1.0 - w) * room * float(s.loudness[i]) * t**BROAD * fade
        found[name] = {
            "room_gain": room,
            "openness": w,
            "coupled": coupled,
            "sealed": sealed,
            "expected": coupled + sealed,
            "target": float(s.send_target[i, bus]),
            "send": float(s.send[i, bus]),
            "gain_hf_target": float(s.send_hf_target[i, bus]),
            "gain_hf": float(s.send_hf[i, bus]),
        }
    return found


def room_of(engine: Engine) -> dict[str, Any]:
    """The room around the listener as it is heard now."""
    room, p = engine.probe, engine.probes.storage
    buses = {
        name: {
            "rt60": dict(zip(BANDS, room.rt60[bus].tolist(), strict=True)),
            "room_gain": float(room.room_gain[bus]),
            "share": float(room.share[bus]),
            "mean_free_path": float(room.mean_free_path[bus]),
        }
        for bus, name in enumerate(BUSES)
    }
    is_known = math.isfinite(p["evaluated"][0])
    return {
        "class": room.name,
        "classes": room.classes if is_known else dict.fromkeys(CLASSES, 0.0),
        "preset": engine.settings.reverb,
        "volume": float(p["volume"][0]) if is_known else None,
        **buses,
    }
