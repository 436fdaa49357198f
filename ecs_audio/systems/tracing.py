"""Where batches are traced: within the tick, or on a worker over a snapshot while the host goes on."""

from __future__ import annotations

import warnings

import numpy as np

from ecs_audio.components import Batch, CacheEntries, Listener, Probes, Rays, Sources
from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.columns import Askers, Entries
from ecs_audio.kernels.echoes import Surveys
from ecs_audio.kernels.sections import DERIVED, Sections
from ecs_audio.settings import Settings
from ecs_audio.systems.apply_results import take_results
from ecs_audio.systems.geometry import follow, sections_of
from ecs_audio.systems.ingest import boxes_since, outdate
from ecs_audio.systems.trace import trace, trace_new
from ecs_audio.systems.worker import Worker
from ecs_audio.world import World

EDITS_IN_FLIGHT = 256
"""Edits that are looked at one by one when a batch comes back; more count as a change of everything."""
NEW_AT_ONCE = 256
"""New sources whose first path is traced beside the worker in one tick."""


class Tracing:
    """The acoustic copies of the world, and the worker if there is one.

    Each copy is used by one thread: `geometry` by the host's, another by the worker's.
    """

    def __init__(self, settings: Settings, sources: Sources, entries: CacheEntries, batch: Batch) -> None:
        self.settings = settings
        self.geometry = Geometry(settings.acoustic_memory)
        self.worker = Worker() if settings.workers else None
        self._afar = Geometry(settings.acoustic_memory) if settings.workers else self.geometry
        self._flying = False
        self._sent = 0
        self._boxes = np.zeros((EDITS_IN_FLIGHT, 6), np.int64)
        self._new = Rays(NEW_AT_ONCE, 1)
        self._snapshot: World | None = None
        batch.askers = Askers(*(sources.storage[name] for name in Askers._fields))
        batch.entries = Entries(*(entries.storage[name] for name in Entries._fields))
        batch.surveys = Surveys(*(entries.storage[name] for name in Surveys._fields))

    def look(self, world: World) -> Sections:
        """Bring the host's copy of the world into step; returns what kernels read of it."""
        follow(self.geometry, world)
        return sections_of(self.geometry)

    @property
    def rebuilt(self) -> int:
        """Sections whose bits were derived so far."""
        return int(self.geometry.state[DERIVED])

    @property
    def workers(self) -> int:
        """Threads that trace beside the host's."""
        return 0 if self.worker is None else 1

    def ready(
        self,
        sources: Sources,
        listener: Listener,
        entries: CacheEntries,
        probes: Probes,
        batch: Batch,
        world: World,
        *,
        time: float,
        dt: float,
    ) -> bool:
        """Whether a new batch may be filled. Beside a worker, first take in what it brought.

        New sources sound from this tick on, so they get their straight path here and now. A worker that
        ended by an error is reported, once, and its work is done within the tick from then on.
        """
        if self.worker is None:
            return True
        batch.rays_landed[:], batch.cells_landed[:] = 0, 0
        trace_new(sources, listener, self._new, sections_of(self.geometry), self.settings, time=time, dt=dt)
        if self.worker.busy:
            batch.counts[[0, 1, 2, 4, 5]] = 0  # hits to those put off: of this tick, none
            return False
        if not self.worker.alive:
            error, self.worker, self._flying = self.worker.error, None, False
            warnings.warn(
                f"the ray worker ended by {error!r}; rays are traced within the tick from now on",
                RuntimeWarning,
                stacklevel=3,
            )
        elif self._flying:
            self._flying = False
            if self._sent < world.revision:
                # What it found lies where it was not known to look when these edits were taken in.
                edited = boxes_since(world, self._sent, self._boxes)
                outdate(sources, entries, probes, edited, time=time, cell_size=world.cell_size)
            absorption = world.palette.absorption
            take_results(sources, batch, entries, probes, absorption, self.settings, time=time, dt=dt)
        return True

    def trace(
        self,
        sources: Sources,
        entries: CacheEntries,
        probes: Probes,
        batch: Batch,
        world: World,
        *,
        time: float,
        dt: float,
    ) -> None:
        """Trace a batch and take it in, or hand it to the worker, which brings it back at a later tick."""
        settings, palette = self.settings, world.palette
        if self.worker is None:
            trace(batch, entries, probes, sections_of(self.geometry), palette.reflectivity, settings)
            take_results(sources, batch, entries, probes, palette.absorption, settings, time=time, dt=dt)
            return
        snapshot = self._snapshot
        if snapshot is None or snapshot.palette is not palette or snapshot.revision != world.revision:
            snapshot = self._snapshot = world.snapshot()

        def job() -> None:
            follow(self._afar, snapshot)
            trace(batch, entries, probes, sections_of(self._afar), palette.reflectivity, settings)

        self._flying, self._sent = True, world.revision
        self.worker.submit(job)

    def recall(self) -> None:
        """Wait for the worker, and throw away what it brings."""
        if self.worker is not None:
            self.worker.wait()
        self._flying = False

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close()
