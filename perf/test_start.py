"""How long a process takes until it is of use: to the import, the first block, the first sound."""

import os
import subprocess
import sys
import time

import pytest
from figures import note
from turns import seconds

IMPORT = "import ecs_audio"
ENGINE = """
import ecs_audio as ea

world = ea.World.empty(size=(128, 64, 128))
world.fill((60, 0, 40), (61, 8, 90), "stone")
clips = ea.Clips()
clips.synthesize("beep")
engine = ea.Engine(world, clips)
"""
FIRST_BLOCK = f"""{ENGINE}
with engine:
    engine.spawn("beep", position=(50, 6, 64), looping=True)
    engine.tick(1 / 60)
    engine.render(800)
"""
FIRST_SOUND = f"""
import time
{ENGINE}
with engine, ea.Speakers(engine, device="silent") as speakers:
    engine.spawn("beep", position=(50, 6, 64), looping=True)
    while not speakers.peaks[0]:
        engine.tick(1 / 60)
        time.sleep(1 / 60)
"""
WARM_UP = f"""{ENGINE}
import sys, time
start = time.perf_counter()
engine.warm_up()
print(time.perf_counter() - start)
engine.close()
"""
PROGRAMS = {
    "import": (IMPORT, "From the start of Python to `import ecs_audio`"),
    "first_block": (FIRST_BLOCK, "From the start of Python to the first block"),
    "first_sound": (FIRST_SOUND, "From the start of Python to the first sound of a device"),
}


def run(program, **environment):
    """Run a program with this Python; returns what it prints."""
    command, environment = [sys.executable, "-c", program], os.environ | environment
    return subprocess.run(command, check=True, capture_output=True, env=environment, text=True).stdout


def work_of_children():
    """Seconds of all processors that ended processes took."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.benchmark(timer=time.perf_counter)
@pytest.mark.parametrize("what", PROGRAMS)
def test_warm_start(benchmark, rounds, what):
    """Kernels are in the cache, beside a start of Python with numpy and numba alone."""
    program, title = PROGRAMS[what]
    run(program)
    taken = seconds(
        rounds(7, 2), lambda: run(program), lambda: run("import numpy, numba, esper"), clock=time.perf_counter
    )
    benchmark.pedantic(run, args=(program,), rounds=rounds(3, 1))
    note(
        benchmark, f"start.{what}", title, taken[:, 0],
        peer="importing numpy, numba and esper", peer_values=taken[:, 1],
    )  # fmt: skip


@pytest.mark.benchmark(timer=time.perf_counter)
def test_cold_start(benchmark, quick, tmp_path):
    """Every kernel is compiled into an empty cache, by as many processes as `warm_up` takes for it."""
    if quick:
        pytest.skip("a short run leaves out the cold start, which takes half a minute")
    taken, worked = [], []

    def start():
        folder, before = tmp_path / str(len(taken)), work_of_children()
        taken.append(float(run(WARM_UP, NUMBA_CACHE_DIR=str(folder))))
        worked.append(work_of_children() - before)
        assert list(folder.glob("ecs_audio/*/*/*.nbi"))

    benchmark.pedantic(start, rounds=2)
    note(benchmark, "start.cold", "Compiling every kernel into an empty cache", taken)
    note(benchmark, "start.cold_work", "The same in time of all processors, from the start of Python", worked)
