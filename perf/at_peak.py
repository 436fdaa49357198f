"""What a process takes at its peak: `python at_peak.py raid SECONDS` or `large X Y Z` prints it as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from owned import bytes_by_part

import ecs_audio as ea
from ecs_audio.kernels import jit
from ecs_audio.perform import engine_for, perform
from scenarios import raid

PARTS = "world", "geometry", "clips", "tables", "mixer"


def parts_of(engine):
    """Bytes of the arrays of an engine; the mixer is what no other part holds."""
    tracing = engine._tracing
    return bytes_by_part(
        world=engine.world,
        geometry=tracing.geometry,
        clips=engine.clips,
        tables=(engine.sources, engine.entries, engine.probes, engine.movers, engine.batch, tracing),
        mixer=engine,
    )


def land(size):
    """Ground of some heights with a house here and there, quickly built in any size."""
    rng, world = np.random.default_rng(4), ea.World.empty(size=size)
    for x in range(0, size[0], 16):
        for z in range(0, size[2], 16):
            top = int((60 + 20 * np.sin(x / 90) + 15 * np.cos(z / 70)) * min(1.0, size[1] / 128))
            world.fill((x, 0, z), (x + 16, top, z + 16), "stone")
            if rng.random() < 0.2:
                world.fill((x + 2, top, z + 2), (x + 12, top + 6, z + 12), "oak_planks")
                world.fill((x + 3, top, z + 3), (x + 11, top + 5, z + 11), "air")
    return world


def play_raid(seconds):
    """An engine that has played the raid."""
    scenario = raid.scenario(seconds=seconds)
    engine = engine_for(scenario)
    for _ in perform(scenario, engine):
        pass
    return engine


def fly(size):
    """An engine whose listener has gone through a world from end to end."""
    clips = ea.Clips()
    clips.synthesize("beep")
    engine = ea.Engine(land(size), clips)
    for x in range(32, size[0], 16):
        engine.listener.look(position=(x, size[1] / 2, size[2] / 2))
        engine.tick(1 / 60)
    return engine


def peak():
    """The most memory that this process has had so far [bytes].

    What `getrusage` tells of a process begins with what its parent had.
    """
    told = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(told.split("VmHWM:")[1].split()[0])


def main(kind, *numbers):
    jit.prepare_all()
    kernels = peak()
    engine = play_raid(*numbers) if kind == "raid" else fly(numbers)
    print(json.dumps({"peak": peak(), "kernels": kernels, "parts": parts_of(engine)}))
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
