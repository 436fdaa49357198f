"""Acoustics off is the plain mix to the bit, and switches can be combined freely."""

import itertools
import math

import naive
import numpy as np
import pytest
from conftest import RATE, play, wall_world

import ecs_audio as ea

PLACES = [(3.0, 1.0, -4.0), (-7.5, 0.0, 2.0), (0.0, 0.0, 0.0), (40.0, 5.0, 1.0)]
PLACES += [(0.3 * k, k - 2.0, 1.5 * k - 8.0) for k in range(8)]


def plain_mix(clips, frames):
    """The clip times volume, distance and pan, by numpy alone; float32, added up as lanes of eight are."""
    start = clips.offset[clips.id("tone")]
    clip = np.resize(clips.bank[start : start + RATE], frames)
    lanes = np.zeros((8, frames, 2), np.float32)
    for k, (x, y, z) in enumerate(PLACES):
        out = lanes[k % 8]
        d = math.sqrt(x * x + y * y + z * z)
        level = 0.1 * naive.distance_gain(d)
        side = x / d * min(d, 1.0) if d else 0.0
        angle = (side + 1) * (math.pi / 4)
        out[:, 0] += clip * np.float32(level * math.cos(angle))
        out[:, 1] += clip * np.float32(level * math.sin(angle))
    a, b, c, d, e, f, g, h = lanes
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def render(clips, world, seconds=0.5, **settings):
    with ea.Engine(world, clips, settings=ea.Settings(**settings)) as engine:
        for place in PLACES:
            engine.spawn("tone", position=place, volume=0.1, looping=True)
        return play(engine, seconds)


@pytest.mark.parametrize("interpolation", ["sinc8", "linear"])
def test_off_is_bit_for_bit_the_plain_mix_whatever_stands_between(interpolation, clips):
    heard = render(clips, wall_world((1, 2), (-4, -3)), acoustics="off", interpolation=interpolation)
    assert heard.tobytes() == plain_mix(clips, len(heard)).tobytes()


def test_in_empty_space_without_air_and_delay_direct_and_off_are_the_same_bytes(clips, open_world):
    off = render(clips, open_world, acoustics="off")
    direct = render(clips, open_world, acoustics="direct", air=False, delay=False, head_shadow=0.0)
    assert direct.tobytes() == off.tobytes()


def test_off_traces_no_ray(clips):
    with ea.Engine(wall_world((0, 1)), clips, settings=ea.Settings(acoustics="off")) as engine:
        engine.spawn("tone", position=(5, 0, 0), looping=True)
        assert engine.tick(1 / 60).rays == 0


@pytest.mark.parametrize("mode", ["off", "direct", "reflect", "full"])
def test_any_combination_of_switches_is_finite(mode, clips):
    world = wall_world((1, 2))
    for occlusion, air, delay in itertools.product([True, False], repeat=3):
        heard = render(clips, world, 0.1, acoustics=mode, occlusion=occlusion, air=air, delay=delay)
        assert np.isfinite(heard).all()
        assert heard.any()


def test_music_has_no_acoustics_unless_asked(clips):
    with ea.Engine(wall_world((1, 2)), clips) as engine:
        song = engine.spawn("tone", position=(5, 0.5, 0.5), looping=True, category="music")
        asked = engine.spawn("tone", position=(5, 0.5, 0.5), looping=True, category="music", acoustics=True)
        engine.tick(1 / 60)
        assert engine.sources.transmission[song] == 1
        assert engine.sources.transmission[asked] < 0.1
