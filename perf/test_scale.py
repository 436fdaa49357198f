"""How ticks grow with the size of the world, and with edits between them."""

import at_peak
import numpy as np
from curves import note_curve
from turns import Turn, seconds

import ecs_audio as ea

TICK, SOURCES = 1 / 60, 100
SIZES = (64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 256, 512), (1024, 256, 1024), (2048, 256, 2048)


def crowd(world, clips):
    """An engine with sources within 25 m of the listener, in the middle, and a function that moves them."""
    engine, rng = ea.Engine(world, clips), np.random.default_rng(1)
    x, _, z = world.size // 2
    ear = np.array((x, world.heights()[x, z] + 2.6, z))
    engine.listener.look(position=ear)
    for place in ear + rng.uniform((-25, 0, -25), (25, 10, 25), (SOURCES, 3)):
        engine.spawn("noise", position=place, looping=True, volume=0.2)
    step, ticks = rng.uniform(-0.2, 0.2, (SOURCES, 3)), iter(range(1 << 30))

    def before():
        engine.sources.position[:] += step * (1 if next(ticks) // 20 % 2 else -1)
        engine.render(800)

    for _ in range(40):
        before()
        engine.tick(TICK)
    return engine, before


def test_tick_by_size_of_the_world(benchmark, rounds, quick, clips):
    sizes = SIZES[:-1] if quick else SIZES
    crowds = [crowd(at_peak.land(size), clips) for size in sizes]
    turns = [Turn(lambda engine=engine: engine.tick(TICK), before, 11) for engine, before in crowds]
    benchmark.pedantic(turns[-1].run, setup=turns[-1].before, rounds=rounds(100, 30))
    taken = seconds(rounds(41, 15), *turns)
    for engine, _ in crowds:
        engine.close()
    cells, title = [int(np.prod(size)) for size in sizes], "A tick of 100 sources by cells of the world"
    note_curve(benchmark, "tick.world", title, "cells", cells, taken, expected=0)


def test_tick_by_edits(benchmark, rounds, clips):
    """Cells around the listener change between ticks; more than 256 count as a change of everything."""
    counts, rng = [1, 10, 100, 1000, 10_000], np.random.default_rng(3)
    engines = [crowd(at_peak.land((256, 128, 256)), clips) for _ in counts]

    def turn(count, engine, before):
        world, turns = engine.world, iter(range(1 << 30))
        places = rng.integers((90, 30, 90), (166, 90, 166), (count, 3)).tolist()

        def edit():
            before()
            name = "air" if next(turns) % 2 else "stone"
            for place in places:
                world.set(place, name)

        return Turn(lambda: engine.tick(TICK), edit, 6)

    turns = [turn(count, *each) for count, each in zip(counts, engines, strict=True)]
    benchmark.pedantic(turns[2].run, setup=turns[2].before, rounds=rounds(100, 30))
    taken = seconds(rounds(31, 5), *turns)
    for engine, _ in engines:
        engine.close()
    title = "A tick of 100 sources by edits before it"
    note_curve(benchmark, "tick.edits", title, "edits", counts, taken, expected=1)
