"""What moves: the part of an engine that has bodies walk, fly and fall."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ecs_audio import entities
from ecs_audio.bodies import MoverOptions, mover_values
from ecs_audio.clips import Clips
from ecs_audio.components import Listener, Mover, Movers, Source
from ecs_audio.components.movers import LISTENER
from ecs_audio.settings import Settings
from ecs_audio.sounding import Sounding
from ecs_audio.world import World


class Moving(Sounding):
    """Bodies in the world, each with a source or the listener."""

    _world: World

    def __init__(self, clips: Clips, settings: Settings, seed: int) -> None:
        super().__init__(clips, settings, seed)
        self.movers = Movers(settings.max_movers)
        self._moved: dict[Source | Listener, tuple[Mover, str, int]] = {}

    def move(
        self, body: Source | Listener, *, kind: str = "walker", **options: Unpack[MoverOptions]
    ) -> Mover:
        """Let a placed source, or `engine.listener`, move through the world from where it is.

        kind: "walker", "projectile" or "debris". The options stand with their meaning in
        `bodies.MoverOptions`. Returns a row: what it shall do is written to columns of `engine.movers`. It
        goes with its source, or by `engine.movers.remove`. Raises ValueError for a value that cannot be and
        for what is flat or moves already, TypeError for an unknown option or another body, DeadRowError,
        KeyError for a source whose host has deleted its entity, TableFullError when `max_movers` move; then
        nothing has changed.
        """
        self._check_open()
        self._part()
        values = mover_values(kind, options, self._world.cell_size, self.settings.units_per_metre)
        where, serial, place = self._start_of(body)
        if body in self._moved:
            raise ValueError(f"{body!r} moves already; engine.movers.remove(its mover) ends that")
        position = np.array(where) - (0.0, values["eye"], 0.0)
        mover = self.movers.append(**values, position=position, serial=serial, place=place)
        if isinstance(body, Source):
            entity = int(self.sources.entity[body])
            world = self._hosted[body][0] if body in self._hosted else self._esper
            try:
                with entities.entered(world):
                    entities.attach(entity, mover)
            except (KeyError, ValueError):
                self.movers.remove(mover)
                raise
        else:
            world, entity = self._esper, entities.create(self._esper, mover)
        self.movers.entity[mover] = entity
        self._moved[body] = mover, world, entity
        return mover

    def despawn(self, source: Source, *, ring_out: bool = False) -> None:
        """Silence a source for good, within 5 ms, and remove its mover. Raises DeadRowError the second time.

        ring_out: it only stops emitting: what is under way arrives, with its echoes, from where it was
        emitted. Nothing is on its way from one that is paused.
        """
        self.sources.check(source)
        if source in self._moved:
            if (mover := self._moved[source][0]).alive:
                self.movers.remove(mover)
            self._part()
        super().despawn(source, ring_out=ring_out)

    def _start_of(self, body: Source | Listener) -> tuple[NDArray[np.float64], int, int]:
        """Where a body is [m], its source's serial, and its row."""
        if body is self.listener:
            return self.listener.position, LISTENER, 0
        if not isinstance(body, Source):
            raise TypeError(f"what moves is a source or this engine's listener, not {body!r:.60}")
        self.sources.check(body)
        if not self.sources.positioned[body]:
            raise ValueError(f"{body!r} has no position to move from; spawn it with one")
        return self.sources.position[body], int(self.sources.serial[body]), body.index

    def _part(self) -> None:
        """Take movers that were removed off their entities."""
        if len(self._moved) == self.movers.count:
            return
        for body, (mover, world, entity) in list(self._moved.items()):
            if not mover.alive:
                del self._moved[body]
                if isinstance(body, Source):
                    entities.detach(world, entity, mover)
                else:
                    entities.delete(world, entity)
