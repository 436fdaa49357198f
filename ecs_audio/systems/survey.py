"""survey: what the rays around sources and listener meet, stage by stage, each in one kernel call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Batch, CacheEntries, Probes
from ecs_audio.components.probes import PROBE_HITS
from ecs_audio.components.waves import Wave
from ecs_audio.kernels.census import count_cells
from ecs_audio.kernels.echoes import find_candidates
from ecs_audio.kernels.environment import finish
from ecs_audio.kernels.hits import trace_hits
from ecs_audio.kernels.judge import judge
from ecs_audio.kernels.proofs import place_legs, take_legs
from ecs_audio.kernels.sections import Sections
from ecs_audio.kernels.surveys import HITS
from ecs_audio.kernels.trails import land_trails, place_sights, settle, take_sights, widen
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of

EARLIEST = 0.005
"""An echo comes at least so much later than the direct sound [s]."""
APART = math.cos(math.radians(30.0))
"""Echoes come from directions so far apart."""
AUDIBLE = 1e-3
"""Amplitude below which no echo is looked for, -60 dB."""


def survey(
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    sections: Sections,
    reflectivity: NDArray[np.float64],
    settings: Settings,
) -> None:
    """Follow the batch's rays, look from what they hit to the listener, and prove echoes.

    It reads and writes nothing but the batch and the rows that the batch has in hand.
    """
    trails, e, p = batch.trails, entries.storage, probes.storage
    if trails.count:
        traced = follow(trails, sections, batch, settings.max_cells)
        of_probe = batch.probe_trails
        batch.ray_count[1] = land(trails, p, probes.cells, PROBE_HITS, 0, min(traced, of_probe))
        batch.ray_count[2] = land(trails, e, entries.cells, int(HITS), of_probe, traced)
    if not batch.active_count:
        return
    sights = batch.sights
    sights.count = entry_of(place_sights)(
        batch.active_count, batch.active, batch.grants, e["listener"], e["face"], e["point"], e["couples"],
        sights.origin, sights.direction, sights.reach, sights.owner, sights.index,
    )  # fmt: skip
    traced = follow(sights, sections, batch, settings.max_cells, places=False)
    batch.ray_count[2] += traced
    entry_of(take_sights)(traced, sights.owner, sights.index, sights.face, e["couples"])
    entry_of(settle)(
        batch.active_count, batch.active, e["done"], e["listener"], e["face"], e["time"], e["point"],
        e["couples"], e["coupling"], e["bearing"],
    )  # fmt: skip
    if settings.echoes:
        prove_echoes(batch, entries, probes, sections, reflectivity, settings)
    entry_of(finish)(
        batch.active_count, batch.active, settings.echoes, e["done"], e["couples"], e["legs_done"], e["state"]
    )  # fmt: skip


def prove_echoes(
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    sections: Sections,
    reflectivity: NDArray[np.float64],
    settings: Settings,
) -> None:
    """Look into the planes that the rays came upon, and choose the echoes of each survey."""
    legs, e, size = batch.sights, entries.storage, sections.cell_size
    excess = EARLIEST * settings.speed_of_sound
    entry_of(find_candidates)(
        batch.active_count, batch.active, excess, size, probes.storage["plane"][0], batch.surveys, batch.way,
        batch.lengths,
    )  # fmt: skip
    legs.count = entry_of(place_legs)(
        batch.active_count, batch.active, batch.grants, size, e["source"], e["listener"], e["candidates"],
        e["candidate_plane"], e["candidate_point"], e["legs_done"], batch.way, legs.origin, legs.direction,
        legs.reach, legs.owner, legs.index,
    )  # fmt: skip
    traced = follow(legs, sections, batch, settings.max_cells)
    batch.ray_count[3] = traced
    entry_of(take_legs)(
        traced, legs.owner, legs.index, legs.time, legs.face, legs.cell, legs.material, e["leg_time"],
        e["leg_face"], e["leg_cell"], e["leg_material"], e["legs_done"],
    )  # fmt: skip
    entry_of(widen)(traced, legs.owner, legs.face, legs.point, e["low"], e["high"])
    entry_of(judge)(
        batch.active_count, batch.active, excess, APART, AUDIBLE, size, reflectivity, batch.surveys,
        batch.way, batch.claims,
    )  # fmt: skip


def follow(wave: Wave, sections: Sections, batch: Batch, max_cells: int, *, places: bool = True) -> int:
    """Trace a wave within what is left of the cells; returns how many of its rays were traced.

    places: whether cells, points and materials are wanted, too, and not only times and faces.
    """
    traced: int = entry_of(trace_hits)(
        sections, wave.count, max_cells - int(batch.cell_count[0]), wave.origin, wave.direction, wave.reach,
        wave.segments, wave.first, wave.found, wave.cells, wave.unknown, wave.time, wave.face, wave.cell,
        wave.point if places else wave.point[:0], wave.material,
    )  # fmt: skip
    entry_of(count_cells)(traced, wave.cells, wave.unknown, batch.cell_count)
    return traced


def land(
    wave: Wave, rows: dict[str, NDArray[Any]], cells: NDArray[np.int64], hits: int, start: int, traced: int
) -> int:
    """Write what rays `start` to `traced` of a wave met into their rows; returns how many rays that were."""
    count: int = entry_of(land_trails)(
        hits, start, traced, wave.owner, wave.index, wave.segments, wave.found, wave.origin, wave.direction,
        wave.first, wave.time, wave.face, wave.cell, wave.point, wave.material, rows["done"], rows["origin"],
        rows["direction"], rows["time"], rows["face"], cells, rows["point"], rows["material"],
        rows["couples"], rows["low"], rows["high"],
    )  # fmt: skip
    return count
