"""What live output costs: a tick that publishes, the loop that renders ahead, and the first sound."""

import subprocess
import sys

import pytest
from lockstep import Device

IMPORT = "import ecs_audio"
FIRST_SOUND = """
import time
import ecs_audio as ea
from ecs_audio.output.ring import READ

world = ea.World.empty(size=(128, 64, 128))
world.fill((60, 0, 40), (61, 8, 90), "stone")
clips = ea.Clips()
clips.synthesize("beep")
with ea.Engine(world, clips) as engine, ea.Speakers(engine, device="silent") as speakers:
    engine.spawn("beep", position=(50, 6, 64), looping=True)
    while not speakers.peaks[0]:
        engine.tick(1 / 60)
        time.sleep(1 / 60)
"""


@pytest.mark.parametrize(("program", "what"), [(IMPORT, "import"), (FIRST_SOUND, "first sound")])
def test_start_of_a_process(benchmark, program, what):
    """From the start of Python, kernels in the cache, to the import or to the first sound in the ring."""
    command = [sys.executable, "-c", program]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True}, rounds=5, warmup_rounds=1)
    benchmark.extra_info["what"] = what


@pytest.mark.parametrize("live", [False, True])
def test_a_tick_that_publishes_beside_one_that_steers(benchmark, crowd, live):
    engine, _, move = crowd(100)
    with engine:
        device = Device(engine) if live else None

        def setup():
            move()
            device.take(800) if device else engine.render(800)

        benchmark.pedantic(engine.tick, args=(1 / 60,), setup=setup, rounds=200)
        benchmark.extra_info["play_microseconds"] = engine.telemetry.microseconds["play"]
        if device:
            benchmark.extra_info |= {"load": engine.live.load, "peak_load": engine.live.peak_load}
