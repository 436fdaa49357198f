"""Worlds and engines that the benchmarks share. Kernels are compiled before any time is taken."""

import sys
from pathlib import Path

import numpy as np
import pytest

import ecs_audio as ea
import ecs_audio.engine
from ecs_audio.kernels import jit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # the naive twins


TABLE: list[str] = []


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    for line in TABLE:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def table():
    """Lines to be printed at the end."""
    return TABLE


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    jit.prepare_all()


@pytest.fixture(scope="session")
def hills():
    """512 x 96 x 512 cells of rolling stone with some hundred houses of planks."""
    rng = np.random.default_rng(7)
    world = ea.World.empty(size=(512, 96, 512))
    x, z = np.meshgrid(np.arange(512), np.arange(512), indexing="ij")
    ground = (24 + 8 * np.sin(x / 31) + 8 * np.cos(z / 47) + 4 * np.sin((x + z) / 13)).astype(int)
    stone = world.palette.id("stone")
    world.put(
        (0, 0, 0), np.where(np.arange(96)[None, :, None] <= ground[:, None, :], stone, 0).astype(np.uint16)
    )
    for _ in range(150):
        a, c = rng.integers(8, 490, 2)
        b = int(ground[a, c])
        world.fill((a, b, c), (a + 10, b + 6, c + 10), "oak_planks")
        world.fill((a + 1, b + 1, c + 1), (a + 9, b + 5, c + 9), "air")
    return world, ground


@pytest.fixture
def clips():
    clips = ea.Clips()
    clips.add("noise", np.random.default_rng(0).uniform(-0.5, 0.5, 96_000))
    return clips


@pytest.fixture
def crowd(hills, clips):
    """A function: an engine with so many moving sources around a listener, and a function that moves them."""
    world, ground = hills

    def make(count, **settings):
        engine = ea.Engine(world, clips, settings=ea.Settings(**settings))
        rng = np.random.default_rng(1)
        x, z = rng.integers(100, 412, (2, count))
        place = np.stack([x, ground[x, z] + rng.integers(2, 30, count), z], axis=1) + 0.5
        engine.listener.look(position=(256.5, ground[256, 256] + 2.6, 256.5))
        rows = [
            engine.spawn("noise", position=p, looping=True, volume=0.2, pitch=rng.uniform(0.9, 1.1))
            for p in place
        ]
        step = rng.uniform(-0.3, 0.3, (count, 3))

        def move():
            engine.sources.position[:] += step

        for _ in range(30):
            move()
            engine.tick(1 / 60)
            engine.render(800)
        return engine, rows, move

    return make
