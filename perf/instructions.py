"""Instructions that parts of the engine take, counted by valgrind: `python perf/instructions.py`.

Unlike times, counts hardly depend on what else the machine does. One process does a part so many times and
another one twice as often; the difference is free of what is around it. valgrind knows no AVX-512, so
kernels are compiled for a processor without it, in a cache of their own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

PARTS = {"block": "512 frames", "tick": "a tick of 100 sources", "rays": "1000 first hits"}
TIMES = 40
VALGRIND = "valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null"
PROCESSOR = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0"}


def engine_of(count):
    """An engine with so many sources over some ground, a second old."""
    import at_peak

    import ecs_audio as ea

    world, clips, rng = at_peak.land((128, 128, 128)), ea.Clips(), np.random.default_rng(0)
    clips.add("noise", rng.uniform(-0.5, 0.5, 96_000))
    engine = ea.Engine(world, clips)
    engine.listener.look(position=(64, 100, 64))
    for place in rng.uniform((20, 96, 20), (108, 120, 108), (count, 3)):
        engine.spawn("noise", position=place, looping=True, volume=0.2, pitch=rng.uniform(0.8, 1.2))
    for _ in range(60):
        engine.tick(1 / 60)
        engine.render(800)
    return engine


def rays_of(engine, count):
    """A function that traces so many rays from around the listener."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from casts import caster
    from rays import Hits

    rng = np.random.default_rng(0)
    origin, way = engine.listener.position + rng.uniform(-20, 20, (count, 3)), rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    hits = Hits(engine.world, origin, way, 512.0, max_cells=0)
    cast = caster(hits)

    def trace():
        hits.origin[:], hits.direction[:] = origin, way
        cast()

    return trace


def run(part, times):
    """Do a part so many times in this process, and have it counted from the second time on."""
    engine = engine_of(100)
    do = {
        "block": lambda: engine.render(512),
        "tick": lambda: engine.tick(1 / 60),
        "rays": rays_of(engine, 1000),
    }[part]
    do()
    subprocess.run(["callgrind_control", "-i", "on", str(os.getpid())], check=False, capture_output=True)
    for _ in range(times):
        do()


def count(part, times):
    """Instructions of a process that does a part so many times."""
    command = [*VALGRIND, sys.executable, __file__, part, str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | PROCESSOR)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not here: it comes with the system's packages")
    subprocess.run([sys.executable, __file__, "rays", "1"], check=True, env=os.environ | PROCESSOR)
    found = {part: (count(part, 2 * TIMES) - count(part, TIMES)) / TIMES for part in PARTS}
    for part, instructions in found.items():
        print(f"{instructions:12,.0f} instructions for {PARTS[part]}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2])) if len(sys.argv) == 3 else main()
