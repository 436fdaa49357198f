"""What all tests share: small worlds, clips, and Hypothesis settings."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import ecs_audio as ea
import ecs_audio.engine
from ecs_audio.kernels import jit

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "dev")

RATE = 48_000
TICK = 1 / 60
FRAMES = 800


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    for kernel in jit.pending():
        jit.prepare(kernel)


@pytest.fixture(scope="session")
def shared_data():
    folder = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder


@pytest.fixture
def clips():
    """A tone of 1 kHz, a one-shot click, and a short ramp, all at half scale."""
    clips = ea.Clips(RATE)
    t = np.arange(RATE) / RATE
    clips.add("tone", 0.5 * np.sin(2 * np.pi * 1000 * t))
    clips.add("low", 0.5 * np.sin(2 * np.pi * 500 * t))
    clips.add("high", 0.5 * np.sin(2 * np.pi * 8000 * t))
    clips.add("click", np.eye(1, 64)[0] * 0.5)
    clips.add("ramp", np.linspace(0.1, 0.5, 480))
    return clips


@pytest.fixture
def open_world():
    return ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))


@pytest.fixture
def engine_with(open_world):
    """Makes engines with settings; closes them after the test, and sees that no decoder is left."""
    made = []

    def make(clips=None, world=None, **settings):
        made.append(ea.Engine(world or open_world, clips or ea.Clips(), settings=ea.Settings(**settings)))
        return made[-1]

    yield make
    for engine in made:
        engine.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("ecs_audio stream")]


def wall_world(*walls, name="stone", size=(64, 64, 64)):
    """Air with walls of y, z from -20 to 20; each wall is (from x, to x)."""
    world = ea.World.empty(size=size, origin=tuple(-s // 2 for s in size))
    for low, high in walls:
        world.fill((low, -20, -20), (high, 21, 21), name)
    return world


def play(engine, seconds, tick=TICK, before=None):
    """Tick and render for a while; `before(engine, time)` moves things ahead of each tick."""
    blocks = []
    while engine.frame < round(seconds * engine.rate):
        if before is not None:
            before(engine, engine.time)
        engine.tick(tick)
        blocks.append(engine.render(round(engine.time * engine.rate) - engine.frame).copy())
    return np.concatenate(blocks)


def transmission(world, source, listener, **settings):
    """T after one tick of a fresh engine."""
    clips = ea.Clips(RATE)
    clips.add("x", np.ones(8) * 0.1)
    with ea.Engine(world, clips, settings=ea.Settings(**settings)) as engine:
        engine.listener.look(position=listener)
        row = engine.spawn("x", position=source, looping=True)
        telemetry = engine.tick(TICK)
        return float(engine.sources.transmission[row]), telemetry
