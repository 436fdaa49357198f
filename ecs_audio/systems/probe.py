"""The probe at the listener's place: when it looks around, and what it makes of what it met."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Batch, Listener, Probes
from ecs_audio.components.probes import CLASSES, PROBE_HITS, PROBE_RAYS
from ecs_audio.kernels.probing import aim_probe, take_probe
from ecs_audio.kernels.room import room_of, tween
from ecs_audio.kernels.sphere import fibonacci
from ecs_audio.kernels.trails import place_trails
from ecs_audio.presets import preset
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of

DIRECTIONS = fibonacci(PROBE_RAYS)


def ask_probe(
    probes: Probes,
    listener: Listener,
    batch: Batch,
    settings: Settings,
    *,
    left: int,
    time: float,
    buried: bool,
) -> int:
    """Let the probe trace up to `left` rays at this tick if it is its turn; returns how many it may.

    time: of this tick [s]. buried: the listener is inside a solid cell, where the probe keeps its values.
    """
    p = probes.storage
    moved = math.dist(listener.position.tolist(), p["place"][0].tolist())
    if not p["begun"][0] and not buried and (p["due"][0] <= time or moved > settings.probe_step):
        entry_of(aim_probe)(
            listener.position, DIRECTIONS, p["origin"], p["direction"], p["done"], p["couples"], p["low"],
            p["high"],
        )  # fmt: skip
        p["begun"][0], p["asked"][0], p["place"][0] = 1, time, listener.position
        p["due"][0] = time + settings.probe_interval
    if not p["begun"][0] or left <= 0:
        return 0
    batch.probe_grant[0, 0] = granted = min(hits_left(probes), left)
    trails = batch.trails
    batch.probe_trails = trails.count = entry_of(place_trails)(
        settings.reach, 1, batch.probe_row, batch.probe_grant, p["done"], p["origin"], p["direction"],
        PROBE_HITS, 0, trails.origin, trails.direction, trails.reach, trails.segments, trails.owner,
        trails.index,
    )  # fmt: skip
    return granted


def hits_left(probes: Probes) -> int:
    """Hits of the probe's rays that are not known yet."""
    known: int = sum(probes.storage["done"][0].tolist())  # a numpy sum of so few takes five times as long
    return PROBE_RAYS * PROBE_HITS - known


def take_room(probes: Probes, absorption: NDArray[np.float64], settings: Settings) -> None:
    """Work out the room once all rays of the probe are traced."""
    p = probes.storage
    if not p["begun"][0] or hits_left(probes) > 0:
        return
    entry_of(take_probe)(PROBE_HITS, p["face"], probes.cells, p["found"][0], p["plane"][0])
    p["volume"][0] = entry_of(room_of)(
        p["found"][0], p["time"][0], p["face"][0], p["point"][0], p["material"][0], absorption,
        settings.speed_of_sound, p["rt60_target"][0], p["room_gain_target"][0], p["share"][0],
        p["mean_free_path"][0], p["reach"][0], p["classes_target"][0],
    )  # fmt: skip
    if settings.reverb is not None:
        known = preset(settings.reverb)
        p["rt60_target"][0], p["room_gain_target"][0] = known.rt60, known.room_gain
        p["mean_free_path"][0] = known.mean_free_path
    p["begun"][0] = 0
    if math.isinf(p["evaluated"][0]):
        ease_room(probes, 1.0)
    p["evaluated"][0] = p["asked"][0]


def ease_room(probes: Probes, share: float) -> None:
    """Move what is heard of the room by a share of its way to what was found last."""
    p = probes.storage
    entry_of(tween)(
        share, p["rt60_target"][0], p["room_gain_target"][0], p["classes_target"][0], p["rt60"][0],
        p["room_gain"][0], p["classes"][0],
    )  # fmt: skip


class Room:
    """The room around the listener as it is heard now."""

    def __init__(self, probes: Probes) -> None:
        p = probes.storage
        self.rt60: NDArray[np.float64] = p["rt60"][0]
        """Reverberation time of the near and the far bus, at 125, 500, 2000 and 8000 Hz [s], shape [2, 4]."""
        self.room_gain: NDArray[np.float64] = p["room_gain"][0]
        """Reverberant level of both relative to the direct sound at 1 m, shape [2]."""
        self.share: NDArray[np.float64] = p["share"][0]
        """Share of the rays around the listener that belong to each, shape [2]; the rest found the sky."""
        self.mean_free_path: NDArray[np.float64] = p["mean_free_path"][0]
        """Mean way between two walls, for each [m], shape [2]."""
        self._weights: NDArray[np.float64] = p["classes"][0]

    @property
    def classes(self) -> dict[str, float]:
        """How much the place is a field, street, canyon, tunnel, hall or room; sums to 1 once it is known."""
        return dict(zip(CLASSES, self._weights.tolist(), strict=True))

    @property
    def name(self) -> str:
        """The class of the largest weight, "unknown" before the first look."""
        weights = self._weights.tolist()
        largest = max(weights)
        return CLASSES[weights.index(largest)] if largest > 0.0 else "unknown"
