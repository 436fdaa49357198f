"""Rooms for tests, what is heard in them, and what Eyring says of them."""

import math

import numpy as np
from conftest import FRAMES, RATE, TICK
from scipy.signal import butter, sosfiltfilt

import ecs_audio as ea

C = 343.0
BANDS = (125.0, 500.0, 2000.0, 8000.0)
AIR = (0.000101, 0.000628, 0.00228, 0.0242)
ALPHA = {
    "stone": (0.08, 0.10, 0.14, 0.18),
    "oak_planks": (0.15, 0.11, 0.09, 0.08),
    "white_wool": (0.14, 0.55, 0.72, 0.65),
}
"""As published, by block."""
CLAP_AT = 0.1
AMPLITUDE = 0.25


def eyring(size, names):
    """Reverberation times by band [s] and level of the tail re the direct sound at 1 m, linear.

    names: of floor, ceiling and walls.
    """
    x, y, z = size
    areas, volume = (x * z, x * z, 2 * y * (x + z)), x * y * z
    surface = sum(areas)
    alpha = [
        sum(a * ALPHA[n][band] for a, n in zip(areas, names, strict=True)) / surface for band in range(4)
    ]
    times = [
        min(24 * math.log(10) / C * volume / (-surface * math.log(1 - a) + 4 * m * volume), 5.0)
        for a, m in zip(alpha, AIR, strict=True)
    ]
    mean = (alpha[1] + alpha[2]) / 2
    return times, math.sqrt(16 * math.pi * (1 - mean) / (surface * mean))


def shoebox(size, names):
    """A closed box of air from (0, 0, 0) to `size`, its walls 1 m thick."""
    x, y, z = size
    world = ea.World.empty(size=(x + 16, y + 16, z + 16), origin=(-8, -8, -8))
    floor, ceiling, walls = names
    world.fill((-1, -1, -1), (x + 1, y + 1, z + 1), walls)
    world.fill((-1, -1, -1), (x + 1, 0, z + 1), floor)
    world.fill((-1, y, -1), (x + 1, y + 1, z + 1), ceiling)
    world.fill((0, 0, 0), size, "air")
    return world


def sounds():
    clips = ea.Clips(RATE)
    clips.add("impulse", AMPLITUDE * np.eye(1, 64)[0])
    clips.add("ticks", AMPLITUDE * np.eye(1, RATE // 5)[0])
    clips.add("tone", 0.2 * np.sin(2 * np.pi * 500 * np.arange(RATE) / RATE))
    return clips


def hear(world, source, ear, seconds, *, walk=None, clip="impulse", rows=None, **settings):
    """A recording of one sound that starts at CLAP_AT; `walk(time)` moves the listener."""
    blocks, start = [], round(CLAP_AT * RATE)
    with ea.Engine(world, sounds(), settings=ea.Settings(**settings)) as engine:
        engine.listener.look(position=ear)
        for k in range(math.ceil(seconds / TICK)):
            if k == 2:
                engine.spawn(clip, position=source, looping=clip != "impulse", start_frame=start)
            if walk is not None:
                engine.listener.look(position=walk(k * TICK))
            telemetry = engine.tick(TICK)
            if rows is not None:
                rows.append(telemetry.as_dict())
            blocks.append(engine.render(FRAMES).copy())
    return np.concatenate(blocks).astype(np.float64)


def band_of(x, centre):
    high = min(centre * math.sqrt(2), 0.49 * RATE)
    return sosfiltfilt(butter(4, (centre / math.sqrt(2), high), "bandpass", fs=RATE, output="sos"), x, axis=0)


def t30(x, centre):
    """Twice the time from -5 to -35 dB of Schroeder's backward integral, by regression [s]."""
    energy = np.cumsum(np.square(band_of(x, centre)).sum(axis=1)[::-1])[::-1]
    level = 10 * np.log10(np.maximum(energy / energy[0], 1e-12))
    first, last = np.argmax(level < -5), np.argmax(level < -35)
    assert last > first
    slope = np.polyfit(np.arange(first, last) / RATE, level[first:last], 1)[0]
    return -60 / slope


def tail_gain(world, source, ear, seconds):
    """Amplitude of the tail re the direct sound at 1 m, by energy in the octaves of 500 and 2000 Hz."""
    full = hear(world, source, ear, seconds, echoes=False, air=False)
    dry = hear(world, source, ear, seconds, acoustics="direct", air=False)
    energy = [
        (np.square(band_of(full - dry, b)).sum(), np.square(band_of(dry, b)).sum()) for b in (500, 2000)
    ]
    ratio = np.mean([tail / direct for tail, direct in energy])
    return math.sqrt(ratio) / math.dist(source, ear)
