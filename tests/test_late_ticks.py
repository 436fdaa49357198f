"""Hosts that render blocks and tick when they get there: what is heard is as even as with ticks in time."""

from math import gcd, lcm

import numpy as np
import pytest
from conftest import RATE, TICK
from hypothesis import given
from hypothesis import strategies as st

import ecs_audio as ea
from ecs_audio.systems.pace import GENTLY, REMEMBERED, Delay

HERTZ = 1000.0


def pitch_of(sound, seconds=0.008):
    """Frequency of a sine [Hz] in each 8 ms, from the turn of its phase in halves of them."""
    size = round(seconds * RATE) // 2
    carrier = np.exp(-2j * np.pi * HERTZ * np.arange(len(sound)) / RATE)
    halves = (sound * carrier)[: len(sound) // size * size].reshape(-1, size) @ np.hanning(size)
    return HERTZ + np.angle(halves[1:] / halves[:-1]) / (2 * np.pi * size / RATE)


class Host:
    """A host of an engine with one looping tone; it renders blocks, and ticks by its own measure."""

    def __init__(self, clips, world, path=lambda time: (4.0, 0.0, 0.0), acoustics="off", **options):
        self.engine, self.path = ea.Engine(world, clips, settings=ea.Settings(acoustics=acoustics)), path
        self.engine.listener.look(position=(0, 0, 0))
        self.tone = self.engine.spawn("tone", looping=True, position=path(0.0), **options)
        self.heard = []

    def tick(self, dt=TICK):
        self.engine.sources.position[self.tone] = self.path(self.engine.time)
        self.engine.tick(dt)

    def render(self, frames):
        self.heard.append(self.engine.render(frames)[:, 0].astype(np.float64))

    def play(self, seconds, block):
        """Tick once the frame of the next tick has been rendered, as the simplest of all loops does."""
        for _ in range(round(seconds * RATE / block)):
            while self.engine.frame >= round(self.engine.time * RATE):
                self.tick()
            self.render(block)

    def pitch(self, since):
        return pitch_of(np.concatenate(self.heard)[round(since * RATE) :])


@pytest.mark.parametrize("block", [256, 512, 800, 1000, 1024, 2048, 4096])
def test_a_tone_is_as_steady_in_blocks_of_any_length_as_in_those_of_ticks(clips, open_world, block):
    host = Host(clips, open_world)
    host.play(2.0, block)
    assert host.pitch(0.5) == pytest.approx(HERTZ, abs=0.1)


@pytest.mark.parametrize("block", [256, 512, 1024, 2048])
def test_one_that_flies_by_in_blocks_is_shifted_evenly(clips, block):
    speed = 20.0
    world = ea.World.empty(size=(256, 16, 16), origin=(-8, -8, -8))
    host = Host(clips, world, lambda time: (5.0 + speed * time, 0.0, 0.0), "full", reference=100.0)
    host.play(4.0, block)
    assert host.pitch(3.0) == pytest.approx(HERTZ * 343.0 / (343.0 + speed), rel=2e-3)


def test_a_host_that_renders_more_than_it_ticks_hears_clips_at_their_own_speed(clips, open_world):
    host = Host(clips, open_world)
    for _ in range(120):
        host.tick()
        host.render(1024)
    assert host.pitch(0.5) == pytest.approx(HERTZ, abs=0.1)


def steps(sound):
    """Largest step from one sample to the next over that of a sine this loud."""
    return np.abs(np.diff(sound)).max() / (2 * np.pi * HERTZ / RATE * np.abs(sound).max())


def test_a_host_that_hung_and_makes_up_for_it_is_heard_without_a_break_and_in_the_end_without_delay(
    clips, open_world
):
    host = Host(clips, open_world)
    host.play(1.0, 800)
    for _ in range(20):  # a third of a second without a tick
        host.render(800)
    while host.engine.frame > round(host.engine.time * RATE):  # and all of them at once
        host.tick()
    late = host.engine._delay.frames
    assert late == pytest.approx(RATE / 3, abs=900)
    host.play(12.0, 800)
    assert host.engine._delay.frames <= 128
    assert host.pitch(0.5) == pytest.approx(HERTZ, abs=0.1)
    assert steps(np.concatenate(host.heard)[RATE // 2 :]) < 1.01


# By itself.


@given(st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 9)), min_size=1, max_size=300))
def test_ticks_are_never_before_the_last_one_nor_before_what_can_be_heard(turns):
    delay, frame, mixed, last, before = Delay(), 0, 0, -(10**9), 0
    for block, ticks in turns:
        for _ in range(ticks):
            now = frame + delay.frames
            moved = delay.move(now, mixed, now - before)
            now += moved
            assert now == frame + delay.frames >= max(last, mixed - 128)
            assert moved >= -(800 // GENTLY)
            last, before, frame = now, now, frame + 800
        mixed += block // 64 * 64
    assert delay.frames >= 0


@given(st.integers(1, 4096), st.integers(200, 3000))
def test_an_even_host_is_moved_by_a_block_at_most_and_not_any_more_once_its_latest_tick_has_come(block, tick):
    delay, frame, rendered, moves = Delay(), 0, 0, []
    while len(moves) < 2000:
        while rendered >= frame:
            mixed = -(-rendered // 64) * 64 + 64
            moves.append(delay.move(frame + delay.frames, mixed, tick))
            assert delay.frames < block
            frame += tick
        rendered += block
    both = lcm(block, 64)
    if both // gcd(both, tick) < REMEMBERED:  # else ticks drift through blocks, a frame or so at a time
        assert not any(moves[REMEMBERED:])
        assert all(move >= 0 for move in moves)


def test_ticks_in_time_are_never_moved():
    delay = Delay()
    for tick in range(500):
        frame = round(tick * RATE / 144)
        assert delay.move(frame, -(-frame // 64) * 64 + 64, 333) == 0
