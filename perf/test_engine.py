"""What a tick and a block cost, by the number of sources."""

import math

import numpy as np
import pytest


@pytest.mark.parametrize("sources", [10, 100, 1000])
def test_tick(benchmark, crowd, sources):
    engine, _, move = crowd(sources)
    with engine:

        def setup():
            move()
            engine.render(800)

        benchmark.pedantic(engine.tick, args=(1 / 60,), setup=setup, rounds=200)
        benchmark.extra_info |= {
            "sources": sources,
            "rays": engine.telemetry.rays,
            "cells": engine.telemetry.cells,
        }


@pytest.mark.parametrize("caches", ["warm", "cold"])
def test_tick_with_everything_due(benchmark, crowd, caches):
    """100 sources, 16 of them FULL with their environments and echoes, and the probe, all in one tick."""
    engine, _, move = crowd(100, cache=False, max_rays=8192, max_cells=1 << 30)
    flushed = np.zeros(1 << 24)
    ray_work = []
    with engine:

        def setup():
            move()
            engine.render(800)
            sources, probe = engine.sources, engine.probes
            sources.due[sources.due != np.inf] = -np.inf
            sources.environment_due[:] = -np.inf
            probe.due[:] = -np.inf
            if caches == "cold":
                flushed[:] += 1.0

        def tick():
            spent = engine.tick(1 / 60).microseconds
            ray_work.append(spent["batch_rays"] + spent["trace"])

        benchmark.pedantic(tick, setup=setup, rounds=100)
        t = engine.telemetry
        benchmark.extra_info |= {
            "sources": 100,
            "rays": t.rays,
            "cells": t.cells,
            "surveys": t.surveys,
            "ray_work_microseconds": round(float(np.median(ray_work)), 1),
        }


@pytest.mark.parametrize("interpolation", ["linear", "sinc8"])
@pytest.mark.parametrize("sources", [16, 100])
def test_block(benchmark, crowd, sources, interpolation):
    engine, _, _ = crowd(sources, interpolation=interpolation)
    with engine:
        engine.tick(1 / 60)
        benchmark(engine.render, 512)
        benchmark.extra_info |= {"sources": sources, "frames": 512}


def test_block_by_numpy(benchmark, crowd):
    """The same hundred voices by numpy: straight-line reading, gain and pan, without shelf or Doppler."""
    engine, rows, _ = crowd(100)
    with engine:
        bank = engine.clips.bank
        gain = np.random.default_rng(0).uniform(0, 0.1, (len(rows), 2))
        place = np.arange(512) * 1.01

        def block():
            out = np.zeros((512, 2))
            for left, right in gain:
                i = place.astype(int) + 16
                x = bank[i] + (place % 1) * (bank[i + 1] - bank[i])
                out[:, 0] += x * left
                out[:, 1] += x * right
            return out

        assert math.isfinite(benchmark(block).sum())
        benchmark.extra_info |= {"sources": len(rows), "frames": 512}
