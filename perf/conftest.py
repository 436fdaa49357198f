"""Worlds and engines that the benchmarks share. Kernels are compiled before any time is taken."""

import sys
import time
from pathlib import Path

import figures
import landscape as scenery
import numpy as np
import pytest
from pytest_benchmark.timers import default_timer
from pytest_benchmark.utils import NameWrapper

import ecs_audio as ea
import ecs_audio.engine
from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels import jit
from ecs_audio.systems.geometry import follow

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # the naive twins


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="fewer rounds and smaller sizes, the same figures")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # Other processes take turns on the processor; a benchmark that waits for some says time.perf_counter.
    if config.getoption("benchmark_timer") == str(NameWrapper(default_timer)):
        config.option.benchmark_timer = str(NameWrapper(time.thread_time))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    for line in figures.LINES:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def quick(request):
    """Whether small sizes do: a short run, or one that takes no time at all."""
    return request.config.getoption("quick") or request.config.getoption("benchmark_disable")


@pytest.fixture
def rounds(benchmark, quick):
    """A function: how many of so many rounds are to be done.

    Many short ones: on a busy machine their median ratio is steadier than that of few long ones.
    """

    def of(full, short=3):
        return 1 if not benchmark.enabled else short if quick else full

    return of


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    jit.prepare_all()


@pytest.fixture(scope="session")
def land(quick):
    """1024 x 256 x 1024 cells, or in short 512 x 256 x 512 of them."""
    return scenery.landscape(low=(256, 0), wide=512) if quick else scenery.landscape()


@pytest.fixture(scope="session")
def geometry(land):
    """The acoustic copy of it."""
    geometry = Geometry()
    follow(geometry, land.world)
    return geometry


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
