"""Ten minutes of the raid: what a device misses, what a tick takes at most, what memory grows by."""

import json
import os
import subprocess
import sys

import numpy as np
import pulse
import pytest

MINUTES = 10
WARM = 120.0
"""From then on nothing is used for the first time [s]: all roles have sounded, the listener is indoors."""
PROGRAM = """
import json, os, sys
import numpy as np
import ecs_audio as ea
from ecs_audio.perform import engine_for, perform, play, with_settings
from scenarios import raid

seconds, device = 60.0 * float(sys.argv[1]), sys.argv[2]
scenario = raid.scenario(seconds=seconds)
# Filled beforehand: what is measured must not grow by being noted.
memory, page = np.full((int(seconds), 2), np.nan), os.sysconf("SC_PAGESIZE")
statm = os.open("/proc/self/statm", os.O_RDONLY)
worst, held = [0.0], [0]

def watch(stage, telemetry):
    if telemetry.tick == 600:  # warm from here on
        worst[0] = 0.0
        if device != "offline":
            engine.live.forget_peak()
    worst[0] = max(worst[0], sum(telemetry.microseconds.values()))
    held[0] = max(held[0], telemetry.quality)
    if telemetry.tick % 60 == 0:
        memory[telemetry.tick // 60 - 1] = stage.time, int(os.pread(statm, 99, 0).split()[1]) * page

if device == "offline":
    with engine_for(scenario) as engine:
        for _ in perform(scenario, engine, watch=watch):
            pass
    status = {}
else:
    scenario = with_settings(scenario, workers=1, stream_patience=0.0)
    with engine_for(scenario) as engine, ea.Speakers(engine, device=device, block=512) as speakers:
        play(scenario, engine, watch=watch)
        status = speakers.status()
memory = memory[~np.isnan(memory[:, 0])].tolist()
print(json.dumps(status | {"worst_tick_us": worst[0], "held_back": held[0], "memory": memory}))
"""
in_linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")


def ran(device, environment=None):
    """What a raid on a device says in the end, and by how much its memory grows [MB/h]."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(MINUTES), device], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    time, size = np.array(said.pop("memory")).T
    slope = np.polyfit(time[time > WARM], size[time > WARM], 1)[0] * 3600 / 1e6
    print(f"{size[-1] / 1e6:.0f} MB, {slope:+.2f} MB/h, {said}")
    return said, slope


@pytest.mark.slow
@in_linux
def test_ten_minutes_of_the_raid_miss_nothing_and_take_no_more_memory(tmp_path):
    server = pulse.Server(tmp_path) if pulse.missing() is None else None
    if server is not None:
        server.start()
    try:
        said, slope = ran("silent") if server is None else ran("pulse", server.environment)
    finally:
        if server is not None:
            server.kill()
    assert said["underrun_events"] == 0
    assert said["held_back"] == 0
    assert slope < 1.0


@pytest.mark.slow
@in_linux
def test_ten_minutes_as_fast_as_they_can_be_rendered_take_no_more_memory():
    assert ran("offline")[1] < 1.0
