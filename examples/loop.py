"""A host's own loop, 60 ticks a second: `python examples/loop.py`. Ctrl-C ends it.

Drones circle behind a wall, somebody walks up and down before it, and after ten seconds it breaks. The host
moves things and ticks; the speakers render on a thread of their own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea

TICK_RATE = 60
LONGEST_DELAY = 0.25
"""What a host that comes later than this has missed is left out, not made up for [s]."""

MIDDLE, RADIUS, SPEED = np.array((68.0, 5.0, 48.0)), 7.0, 6.0
"""Where the drones circle, how far out [m] and how fast [m/s]."""
DRONES = 4
PATH, WALK, STRIDE = 44.0, 8.0, 1.4
"""x of the path, how far it goes to either side [m], and the pace [m/s]."""


def yard() -> ea.World:
    """A meadow with a stone wall across it."""
    world = ea.World.empty(size=(96, 48, 96))
    world.fill((0, 0, 0), (96, 1, 96), "grass_block")
    world.fill((48, 1, 8), (49, 15, 88), "stone")
    return world


def clock(rate: int) -> Iterator[float]:
    """Wait for each tick and yield its time [s].

    Every tick is due at its own time from the start, so what `sleep` oversleeps does not add up.
    """
    start = perf_counter()
    for tick in count():
        early = start + tick / rate - perf_counter()
        if early > 0.0:
            sleep(early)
        elif early < -LONGEST_DELAY:
            start -= early
        yield tick / rate


def orbit(time: float) -> NDArray[np.float64]:
    """Where the drones are [m], shape (DRONES, 3)."""
    angle = time * SPEED / RADIUS + np.arange(DRONES) * 2.0 * math.pi / DRONES
    return MIDDLE + RADIUS * np.stack((np.cos(angle), 0.1 * np.sin(3.0 * angle), np.sin(angle)), axis=1)


def walk(engine: ea.Engine, time: float) -> None:
    """Move the listener up and down the path, looking where it goes."""
    turns, along = divmod(time * STRIDE + WALK, 2.0 * WALK)
    ahead = 1.0 if turns % 2 == 0 else -1.0
    place = (PATH, 2.6, MIDDLE[2] + ahead * (along - WALK))
    engine.listener.look(position=place, forward=(0.0, 0.0, ahead))


def describe(engine: ea.Engine, drones: Sequence[ea.Source], peaks: tuple[float, float]) -> str:
    """A line about what is heard."""
    rows = engine.sources.rows(drones)
    nearest = rows[engine.sources.distance[rows].argmin()]
    level = 20.0 * math.log10(max(*peaks, 1e-6))
    now = engine.telemetry
    return (
        f"{engine.time:6.1f} s   nearest {engine.sources.distance[nearest]:5.1f} m,"
        f" transmission {engine.sources.transmission[nearest]:.3f}   peak {level:6.1f} dBFS"
        f"   {now.full} full, {now.direct} direct, {now.free} free   {now.room}"
    )


def main(
    *,
    seconds: float = math.inf,
    break_at: float = 10.0,
    device: int | str | None = None,
    record: str | Path | None = None,
) -> None:
    """Run until the time is over, or Ctrl-C.

    break_at: when the wall breaks [s]. device: an output, None for the default, "silent" for none.
    record: a .wav, .flac or .ogg file for what is heard.
    """
    world, clips = yard(), ea.Clips()
    for name in ("rotor", "blast"):
        clips.synthesize(name)
    with ea.Engine(world, clips) as engine:
        print("Warming up; the first time kernels are compiled, which takes a minute.", flush=True)
        engine.warm_up()
        drones = [
            engine.spawn("rotor", position=place, looping=True, reference=4.0, pitch=0.9 + 0.1 * k)
            for k, place in enumerate(orbit(0.0))
        ]
        walk(engine, 0.0)
        with ea.Speakers(engine, device=device, record=record) as speakers, suppress(KeyboardInterrupt):
            is_whole = True
            for time in clock(TICK_RATE):
                if time >= seconds:
                    break
                # Rows move when others are removed, so indices are taken anew each tick.
                engine.sources.position[engine.sources.rows(drones)] = orbit(time)
                walk(engine, time)
                if is_whole and time >= break_at:
                    hole = (48.5, 4.0, float(engine.listener.position[2]))
                    world.carve(hole, radius=7.0)
                    engine.spawn("blast", position=hole, volume=0.5, reference=4.0)
                    is_whole = False
                engine.tick(1 / TICK_RATE)
                if round(time * TICK_RATE) % TICK_RATE == 0:
                    print(describe(engine, drones, speakers.peaks), flush=True)


if __name__ == "__main__":
    main(device=sys.argv[1] if len(sys.argv) > 1 else None)
