"""Ten minutes of the raid, live: what a device misses, what a tick takes at most, what memory grows by."""

import json
import os
import subprocess
import sys

import numpy as np
import pulse
import pytest

MINUTES = 10
PROGRAM = """
import json, os, sys, time
import ecs_audio as ea
from ecs_audio.perform import engine_for, play, with_settings
from scenarios import raid

seconds = 60.0 * float(sys.argv[1])
scenario = with_settings(raid.scenario(seconds=seconds), workers=1, stream_patience=0.0)
memory = []

def watch(stage, telemetry):
    if telemetry.tick == 600:  # warm from here on
        engine.live.forget_peak()
        worst[0] = 0.0
    worst[0] = max(worst[0], sum(telemetry.microseconds.values()))
    held[0] = max(held[0], telemetry.quality)
    if telemetry.tick % 60 == 0:
        with open("/proc/self/statm") as file:
            memory.append((stage.time, int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")))

worst, held = [0.0], [0]
with engine_for(scenario) as engine, ea.Speakers(engine, device=sys.argv[2], block=512) as speakers:
    play(scenario, engine, watch=watch)
    status = speakers.status()
print(json.dumps(status | {"worst_tick_us": worst[0], "held_back": held[0], "memory": memory}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
def test_ten_minutes_of_the_raid_miss_nothing_and_take_no_more_memory(tmp_path):
    server = pulse.Server(tmp_path) if pulse.missing() is None else None
    if server is not None:
        server.start()
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(MINUTES), "silent" if server is None else "pulse"],
            env=os.environ if server is None else server.environment, capture_output=True, text=True,
        )  # fmt: skip
    finally:
        if server is not None:
            server.kill()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    time, size = np.array(said.pop("memory")).T
    warm = time > 120
    slope = np.polyfit(time[warm], size[warm], 1)[0] * 3600 / 1e6
    print(f"{size[-1] / 1e6:.0f} MB, {slope:+.2f} MB/h, {said}")
    assert said["underrun_events"] == 0
    assert said["held_back"] == 0
    assert slope < 1.0
