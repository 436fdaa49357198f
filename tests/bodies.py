"""Bodies in worlds without an engine: tables by themselves, moved by the system alone."""

from __future__ import annotations

import numpy as np

import ecs_audio as ea
from ecs_audio.bodies import mover_values
from ecs_audio.components import Listener, Movers, Sources
from ecs_audio.systems.move import move

UNIT = 1 / 40
"""Of the figures [m]."""
FLOOR = 10
"""Top of the floor in `plain` [units]."""


class Stage:
    """A world with bodies in it."""

    def __init__(self, world, capacity=256, **settings):
        self.world, self.settings = world, ea.Settings(**settings)
        self.movers, self.sources, self.listener = Movers(capacity), Sources(1), Listener()

    def add(self, position, kind="walker", **options):
        values = mover_values(kind, options, self.world.cell_size, self.settings.units_per_metre)
        return self.movers.append(**values, position=position, serial=1 << 40)

    def tick(self, dt=1 / 60):
        complaint = move(self.movers, self.sources, self.listener, self.world, self.settings, dt=dt)
        assert complaint is None

    def run(self, seconds, hz=60, each=None):
        for _ in range(round(seconds * hz)):
            self.tick(1 / hz)
            if each is not None:
                each()


def plain(long=400, high=160, wide=80, name="stone"):
    """A floor in a world in which a cell is a unit."""
    world = ea.World.empty(size=(long, high, wide), cell_size=UNIT)
    world.fill((0, 0, 0), (long, FLOOR, wide), name)
    return world


def on_plain(world, x=40, height=0.0, z=40, **options):
    """A stage with a walker in such a world, found where it stands; all in units."""
    stage = Stage(world)
    if "velocity" in options:
        options["velocity"] = np.multiply(options["velocity"], UNIT)
    mover = stage.add((x * UNIT, (FLOOR + height) * UNIT, z * UNIT), **options)
    stage.tick()
    return stage, mover


FILLINGS = (
    "stone",
    "oak_planks",
    "stone_slab",
    "oak_stairs",
    "red_carpet",
    "snow",
    "oak_fence",
    "cobblestone_wall",
)


def closed(rng, size=(20, 12, 20), origin=(0, 0, 0), share=0.08, cell_size=1.0):
    """A closed box, one cell thick, with cells of all shapes strewn in it."""
    world = ea.World.empty(size=size, origin=origin, cell_size=cell_size)
    low, high = np.array(origin), np.array(origin) + size
    world.fill(low, high, "stone")
    world.fill(low + 1, high - 1, "air")
    inner = np.array(size) - 2
    for cell in np.argwhere(rng.uniform(size=inner) < share):
        world.set(low + 1 + cell, FILLINGS[rng.integers(len(FILLINGS))])
    return world
