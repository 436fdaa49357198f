"""Scenarios: a world, and what happens in it while a listener goes along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.bodies import MoverOptions
from ecs_audio.clips import Clips
from ecs_audio.components import GONE, Mover, Source
from ecs_audio.engine import Engine
from ecs_audio.settings import Settings
from ecs_audio.spawn import Options
from ecs_audio.world import World

Path = Callable[[float], ArrayLike]
"""Seconds -> position [m]."""

Wish = Callable[[float, NDArray[np.float64]], tuple[ArrayLike, bool]]
"""Seconds, and where the walker's soles are [m] -> `wish_direction` and `jump` of `Movers`."""


class Pose(NamedTuple):
    """Where the listener is and looks."""

    position: ArrayLike
    """[m]"""
    forward: ArrayLike = (0.0, 0.0, -1.0)


@dataclass(frozen=True)
class Walker:
    """A listener who goes through the world on foot."""

    start: ArrayLike
    """Where its soles are at first [m]."""
    wish: Wish
    """Asked before every tick."""
    look: Callable[[float], ArrayLike] | None = None
    """Seconds -> forward; None looks to -z."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of `Engine.move`."""


@dataclass(frozen=True)
class Spawn:
    """A source: what it plays, where, and when."""

    clip: str
    position: ArrayLike | Path | None = None
    """[m]; a path moves it at every tick; None plays flat."""
    at: float = 0.0
    """[s] of the first tick it lives in."""
    until: float | None = None
    """[s] of the tick it is despawned at."""
    name: str | None = None
    """By which events find it in `Stage.sources`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Other options of `Engine.spawn`, see `spawn.Options`."""
    body: Mapping[str, Any] | None = None
    """Options of `Engine.move`: it moves by itself from where its position is when it comes in."""
    on_hit: Callable[[Stage, Source, Mover], None] | None = None
    """Called before the tick after one in which its body has hit, until the source is despawned."""


@dataclass(frozen=True)
class Event:
    """Something that happens once."""

    at: float
    """[s] of the tick it happens before."""
    act: Callable[[Stage], None]
    """Called with the running scenario; may edit the world and spawn."""
    label: str = ""
    """What happened, for people."""


@dataclass(frozen=True)
class Scenario:
    """Everything that happens, as data. It is played once: events change its world."""

    world: World
    clips: Clips
    seconds: float
    listener: Callable[[float], Pose] = lambda time: Pose((0.0, 0.0, 0.0))
    """Seconds -> pose."""
    walker: Walker | None = None
    """Who places the listener instead."""
    spawns: Sequence[Spawn] = ()
    events: Sequence[Event] = ()
    tick_rate: float = 60.0
    """[Hz]"""
    settings: Settings = field(default_factory=Settings)
    seed: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the scenario's check needs to know: places, times, distances."""


@dataclass
class Stage:
    """A scenario while it runs: what events may touch."""

    engine: Engine
    scenario: Scenario
    time: float = 0.0
    sources: dict[str, Source] = field(default_factory=dict)
    """Named sources, those that are not `alive` any more included."""
    moving: list[tuple[Source, Path]] = field(default_factory=list)
    leaving: list[tuple[float, Source]] = field(default_factory=list)
    flying: list[tuple[Source, Mover, Callable[[Stage, Source, Mover], None]]] = field(default_factory=list)
    walker: Mover | None = None

    def spawn(self, wanted: Spawn) -> Source:
        """Bring a source in now. Its path is called with the scenario's time, with a body only once."""
        where = wanted.position
        path = where if callable(where) else None
        start = where(self.time) if callable(where) else where
        options = cast(Options, {**wanted.options, "position": start})
        source = self.engine.spawn(wanted.clip, **options)
        if wanted.name is not None:
            self.sources[wanted.name] = source
        if wanted.body is not None:
            mover = self.engine.move(source, **cast(MoverOptions, wanted.body))
            if wanted.on_hit is not None:
                self.flying.append((source, mover, wanted.on_hit))
        elif path is not None:
            self.moving.append((source, path))
        if wanted.until is not None:
            self.leaving.append((wanted.until, source))
        return source

    def move(self) -> None:
        """Put every moving source and the listener where they are now."""
        rows = [source.index for source, _ in self.moving]
        if GONE in rows:
            self.moving = [(source, path) for source, path in self.moving if source.alive]
            rows = [source.index for source, _ in self.moving]
        if rows:
            time = self.time
            self.engine.sources.position[rows] = [path(time) for _, path in self.moving]
        if (walker := self.scenario.walker) is not None:
            self._walk(walker)
            return
        pose = self.scenario.listener(self.time)
        self.engine.listener.look(position=pose.position, forward=pose.forward)

    def hits(self) -> None:
        """Tell of the bodies that hit in the last tick."""
        if self.flying:
            self.flying = [entry for entry in self.flying if entry[0].alive and entry[1].alive]
            for source, mover, act in list(self.flying):
                if mover.alive and self.engine.movers.hit[mover]:
                    act(self, source, mover)

    def leave(self) -> None:
        """Despawn the sources whose time is over."""
        if any(until <= self.time for until, _ in self.leaving):
            for until, source in self.leaving:
                if until <= self.time and source.alive:
                    self.engine.despawn(source)
            self.leaving = [(until, source) for until, source in self.leaving if until > self.time]

    def _walk(self, walker: Walker) -> None:
        engine, movers = self.engine, self.engine.movers
        if self.walker is None:
            self.walker = engine.move(engine.listener, **cast(MoverOptions, walker.options))
            movers.position[self.walker] = walker.start
        wish, jump = walker.wish(self.time, movers.position[self.walker].copy())
        movers.wish_direction[self.walker], movers.jump[self.walker] = wish, jump
        if walker.look is not None:
            engine.listener.look(forward=walker.look(self.time))
