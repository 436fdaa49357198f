"""Scenarios: a world, and what happens in it while a listener goes along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from numpy.typing import ArrayLike

from ecs_audio.clips import Clips
from ecs_audio.components import GONE, Source
from ecs_audio.engine import Engine
from ecs_audio.settings import Settings
from ecs_audio.spawn import Options
from ecs_audio.world import World

Path = Callable[[float], ArrayLike]
"""Seconds -> position [m]."""


class Pose(NamedTuple):
    """Where the listener is and looks."""

    position: ArrayLike
    """[m]"""
    forward: ArrayLike = (0.0, 0.0, -1.0)


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

    def spawn(self, wanted: Spawn) -> Source:
        """Bring a source in now. Its path is called with the scenario's time."""
        where = wanted.position
        path = where if callable(where) else None
        start = where(self.time) if callable(where) else where
        options = cast(Options, {**wanted.options, "position": start})
        source = self.engine.spawn(wanted.clip, **options)
        if wanted.name is not None:
            self.sources[wanted.name] = source
        if path is not None:
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
        pose = self.scenario.listener(self.time)
        self.engine.listener.look(position=pose.position, forward=pose.forward)

    def leave(self) -> None:
        """Despawn the sources whose time is over."""
        if any(until <= self.time for until, _ in self.leaving):
            for until, source in self.leaving:
                if until <= self.time and source.alive:
                    self.engine.despawn(source)
            self.leaving = [(until, source) for until, source in self.leaving if until > self.time]
