"""What a tick costs, by the number of sources."""

import numpy as np
import pytest
from curves import note_curve
from figures import note
from turns import Turn, seconds

TICK = 1 / 60


def keep_up(engine, move):
    """A function that brings an engine to where its next tick is due."""

    def before():
        move()
        engine.render(800)

    return before


def test_tick_by_sources(benchmark, rounds, crowd):
    """A tick of each of several crowds, in turn; what is asked is how many sources have their turn in it."""
    counts = [10, 30, 100, 300, 1000, 3000, 10_000]
    crowds = [crowd(count, max_sources=count) for count in counts]
    told = np.zeros((len(counts), 2))

    def turn(which):
        engine, _, move = crowds[which]

        def tick():
            spent = engine.tick(TICK)
            told[which] += spent.queue, spent.rays

        return Turn(tick, keep_up(engine, move), 11)

    turns = [turn(which) for which in range(len(counts))]
    benchmark.pedantic(turns[2].run, setup=turns[2].before, rounds=rounds(200, 50))
    told[:] = 0.0
    taken = seconds(rounds(31, 11), *turns)
    for engine, _, _ in crowds:
        engine.close()
    each = told / (len(taken) * turns[0].repeats)
    benchmark.extra_info |= {"sources": counts, "queue": each[:, 0].tolist(), "rays": each[:, 1].tolist()}
    note_curve(benchmark, "tick.sources", "A tick by sources", "sources", counts, taken, expected=1)
    for count in (10, 100, 1000, 10_000):
        note(benchmark, f"tick.sources.{count}", f"A tick of {count} sources", taken[:, counts.index(count)])
    for few, many in ((100, 1000), (1000, 10_000)):
        a, b = counts.index(few), counts.index(many)
        growth = taken[:, b] / taken[:, a] / (told[b, 0] / told[a, 0])
        title = f"Growth of a tick from {few} to {many} sources, over that of sources whose turn it is"
        note(benchmark, f"tick.growth.{many}", title, growth, "")


def test_rays_by_sources(benchmark, rounds, crowd):
    """Rays of a tick in which every source is due: they end at the budget."""
    counts = [100, 300, 1000, 3000, 10_000]
    rays = np.zeros((rounds(20, 5), len(counts)))
    for k, count in enumerate(counts):
        engine, _, move = crowd(count, max_sources=count)
        before = keep_up(engine, move)
        with engine:
            for each in rays:
                before()
                all_due(engine)
                each[k] = engine.tick(TICK).rays
            if count == counts[-1]:
                benchmark.pedantic(engine.tick, args=(TICK,), setup=before, rounds=rounds(20, 5))
        assert rays.max() <= engine.settings.max_rays
    title = "Rays of a tick with everything due"
    note_curve(benchmark, "tick.rays", title, "sources", counts, rays, expected=0, unit="")


def all_due(engine):
    """Let every source ask for rays at the next tick, and the listener."""
    sources, probe = engine.sources, engine.probes
    sources.due[sources.due != np.inf] = -np.inf
    sources.environment_due[:] = -np.inf
    probe.due[:] = -np.inf


@pytest.mark.parametrize("caches", ["warm", "cold"])
def test_tick_with_everything_due(benchmark, rounds, crowd, caches):
    """100 sources, 16 of them FULL with their environments and echoes, and the probe, all in one tick."""
    engine, _, move = crowd(100, cache=False, max_rays=8192, max_cells=1 << 30)
    flushed, ray_work = np.zeros(1 << 24), []
    before = keep_up(engine, move)

    def set_up():
        before()
        all_due(engine)
        if caches == "cold":
            flushed[:] += 1.0

    def tick():
        spent = engine.tick(TICK).microseconds
        ray_work.append(spent["batch_rays"] + spent["trace"])

    with engine:
        benchmark.pedantic(tick, setup=set_up, rounds=rounds(100, 30))
        taken = seconds(rounds(41, 9), Turn(tick, set_up, 5))[:, 0]
        t = engine.telemetry
    benchmark.extra_info |= {
        "sources": 100, "rays": t.rays, "cells": t.cells, "surveys": t.surveys,
        "ray_work_microseconds": round(float(np.median(ray_work)), 1),
    }  # fmt: skip
    note(
        benchmark, f"tick.due.{caches}", f"A tick of 100 sources with everything due, caches {caches}", taken
    )
