"""Fireworks by a host that is built on esper: `python examples/esper_host.py`. Ctrl-C ends it.

The host has components and processors of its own. A rocket is one of its entities, to which it gives a sound.
When the fuse is over the host deletes it as any other, which silences it; the bang is another entity.
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

import esper
import numpy as np

import ecs_audio as ea

TICK_RATE = 60
GRAVITY = 9.81
EVERY, FUSE, SPARKS = 0.7, 1.6, 6
"""A rocket every so often [s], how long it rises [s], and what falls out of it."""
PAD = (64.0, 1.0, 40.0)
"""Where rockets start [m]."""


@dataclass(slots=True)
class Position:
    """[m]"""

    x: float
    y: float
    z: float


@dataclass(slots=True)
class Velocity:
    """[m/s]"""

    x: float
    y: float
    z: float


@dataclass(slots=True)
class Lifetime:
    """How long the entity still has [s]."""

    left: float


class Rocket:
    """Flies under power, and bursts at the end of its life."""


class Motion(esper.Processor):
    """Moves what has a velocity; what is no rocket falls."""

    def process(self, dt: float) -> None:
        """Advance by dt seconds."""
        for entity, (position, velocity) in esper.get_components(Position, Velocity):
            if not esper.has_component(entity, Rocket):
                velocity.y -= GRAVITY * dt
            position.x += velocity.x * dt
            position.y += velocity.y * dt
            position.z += velocity.z * dt


class Fireworks(esper.Processor):
    """Launches rockets, and ends the lives of entities."""

    def __init__(self, engine: ea.Engine, seed: int) -> None:
        self.engine, self.rng, self.wait = engine, np.random.default_rng(seed), 0.0

    def process(self, dt: float) -> None:
        """Advance by dt seconds."""
        self.wait -= dt
        if self.wait <= 0.0:
            self.wait += EVERY
            self.launch()
        for entity, lifetime in esper.get_component(Lifetime):
            lifetime.left -= dt
            if lifetime.left <= 0.0:
                if esper.has_component(entity, Rocket):
                    self.burst(esper.component_for_entity(entity, Position))
                esper.delete_entity(entity)  # and its sound falls silent at the coming tick

    def launch(self) -> None:
        """Send a rocket up."""
        east, north = self.rng.uniform(-8.0, 8.0, 2)
        rocket = esper.create_entity(Position(*PAD), Velocity(east, 25.0, north), Lifetime(FUSE), Rocket())
        self.engine.attach(rocket, "missile", position=PAD, looping=True, volume=0.8, reference=6.0)

    def burst(self, at: Position) -> None:
        """A bang, and sparks that crackle as they fall."""
        place = (at.x, at.y, at.z)
        bang = esper.create_entity(Position(*place), Lifetime(4.0))
        event = self.engine.attach(bang, "blast", position=place, volume=0.9, reference=12.0, priority=1)
        for velocity in self.rng.normal(0.0, 8.0, (SPARKS, 3)):
            left, pitch = self.rng.uniform((0.5, 1.5), (1.5, 3.0))
            spark = esper.create_entity(Position(*place), Velocity(*velocity), Lifetime(left))
            # As part of the event it shares the bang's surroundings, which are traced once for all.
            self.engine.attach(
                spark, "shot", position=place, looping=True, volume=0.3, pitch=pitch, event=event
            )


class Places(esper.Processor):
    """Tells the engine where everything is that sounds, in a single write."""

    def __init__(self, engine: ea.Engine) -> None:
        self.sources = engine.sources

    def process(self, dt: float) -> None:
        """Copy the positions of the host's entities into the column of the engine."""
        found = [pair for _, pair in esper.get_components(Position, ea.Source)]
        if found:
            rows = self.sources.rows(source for _, source in found)
            self.sources.position[rows] = [(position.x, position.y, position.z) for position, _ in found]


def set_up(engine: ea.Engine, seed: int = 0) -> None:
    """Add the processors to the current esper world in the order in which they run."""
    for processor in (Motion(), Fireworks(engine, seed), Places(engine), ea.AudioProcessor(engine)):
        esper.add_processor(processor)


def field() -> tuple[ea.World, ea.Clips]:
    """A meadow before a long stone building that answers, and what sounds on it."""
    world = ea.World.empty(size=(128, 96, 128))
    world.fill((0, 0, 0), (128, 1, 128), "grass_block")
    world.fill((20, 1, 4), (108, 25, 12), "stone_bricks")
    clips = ea.Clips()
    for name in ("missile", "blast", "shot"):
        clips.synthesize(name)
    return world, clips


def main(
    *, seconds: float = math.inf, device: int | str | None = None, record: str | Path | None = None
) -> None:
    """Run until the time is over, or Ctrl-C.

    device: an output, None for the default, "silent" for none. record: a file for what is heard.
    """
    esper.switch_world("fireworks")
    with ea.Engine(*field()) as engine:
        print("Warming up; the first time kernels are compiled, which takes a minute.", flush=True)
        engine.warm_up()
        engine.listener.look(position=(64.0, 2.6, 90.0), forward=(0.0, 0.2, -1.0))
        set_up(engine)
        with ea.Speakers(engine, device=device, record=record), suppress(KeyboardInterrupt):
            start = perf_counter()
            while engine.time < seconds:
                esper.process(1 / TICK_RATE)
                sleep(max(0.0, start + engine.time - perf_counter()))
    esper.switch_world("default")
    esper.delete_world("fireworks")


if __name__ == "__main__":
    main(device=sys.argv[1] if len(sys.argv) > 1 else None)
