"""Entities: an engine's own esper world, and sources that live on a host's entities.

esper's current world is a module global. An engine enters its own world by name and leaves the host's
as it was, so that two engines and a host never see each other's entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import esper

from ecs_audio.components import Row

if TYPE_CHECKING:
    from ecs_audio.engine import Engine

_names = (f"ecs_audio {n}" for n in count())


def new_world() -> str:
    """Make an esper world of our own; returns its name."""
    name = next(_names)
    with entered(name):
        return name


@contextmanager
def entered(world: str) -> Iterator[None]:
    """Make an esper world current for a while."""
    host = esper.current_world
    esper.switch_world(world)
    try:
        yield
    finally:
        esper.switch_world(host)


def create(world: str, row: Row) -> int:
    """A new entity in one of our worlds, with this row."""
    with entered(world):
        return esper.create_entity(row)


def delete(world: str, entity: int) -> None:
    """Delete an entity from one of our worlds."""
    with entered(world):
        esper.delete_entity(entity, immediate=True)


def drop_world(world: str) -> None:
    """Delete one of our worlds."""
    if world in esper.list_worlds():
        esper.delete_world(world)


def attach(entity: int, row: Row) -> str:
    """Give an entity of the host's current world this row; returns the world's name.

    Raises KeyError if there is no such entity, ValueError if it has a row already.
    """
    world = esper.current_world
    if not esper.entity_exists(entity):
        raise KeyError(f"no entity {entity!r} in the esper world {world!r}")
    if esper.has_component(entity, type(row)):
        raise ValueError(f"entity {entity} of the esper world {world!r} has a {type(row).__name__} already")
    esper.add_component(entity, row)
    return world


def detach(world: str, entity: int, row: Row) -> None:
    """Take the row off the host's entity, if it still has it."""
    if holds(world, entity, row):
        with entered(world):
            esper.remove_component(entity, type(row))


def holds(world: str, entity: int, row: Row) -> bool:
    """Whether a host's entity still lives and has this very row.

    esper deletes lazily and uses numbers again after a clear, so the row decides, not the number.
    """
    if world not in esper.list_worlds():
        return False
    with entered(world):
        return esper.entity_exists(entity) and esper.try_component(entity, type(row)) is row


class AudioProcessor(esper.Processor):
    """Ticks an engine from a host's `esper.process(dt)`.

    Example: `esper.add_processor(ea.AudioProcessor(engine))`.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def process(self, dt: float) -> None:
        """Advance the acoustics by dt seconds."""
        self.engine.tick(dt)
