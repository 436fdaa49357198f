"""The same inputs give the same bytes: across blocks, engines, processes, threads, caches."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import FRAMES, TICK
from hypothesis import given, settings
from hypothesis import strategies as st

import ecs_audio as ea


def scene(clips, **chosen):
    """A hall with a wooden wall, and more loops than voices: echoes, both reverbs, copies of clips."""
    world = ea.World.empty(size=(64, 32, 80), origin=(-32, -8, -40))
    world.fill((-24, -2, -30), (24, 16, 30), "stone")
    world.fill((-22, 0, -28), (22, 14, 28), "air")
    world.fill((4, 0, -20), (5, 8, 20), "oak_planks")
    engine = ea.Engine(world, clips, settings=ea.Settings(max_voices=12, **chosen))
    engine.listener.look(position=(-6.5, 1.6, 0.5))
    rows = [
        engine.spawn(
            ("tone", "low", "noise")[k % 3], position=(2.1 * k - 16, 1.5 + k % 4, (k * 7) % 40 - 20),
            looping=k % 4 < 3, volume=0.5, pitch=(1, 0.7, 2.5, 1.3)[k % 4], priority=k % 3,
        )
        for k in range(14)
    ]  # fmt: skip
    return world, engine, rows


def step(world, engine, row, tick):
    """What happens at a tick: Doppler, a thief, a death, an edit."""
    engine.sources.position[row] = (40 * TICK * tick - 16, 2, 5)  # 40 m/s
    if tick % 10 == 5:
        engine.spawn("noise", position=(-2, 1.5, 3), priority=5)
    if tick == 20:
        world.carve((4.5, 2.5, 0.5), 3)
        engine.despawn(engine.sources.alive[3])
    return engine.tick(TICK)


def perform(clips, sizes, **chosen):
    """Half a second of the scene; `sizes` gives the lengths of the blocks between ticks."""
    world, engine, rows = scene(clips, **chosen)
    heard = []
    with engine:
        for tick in range(30):
            step(world, engine, rows[0], tick)
            left = FRAMES
            while left:
                count = min(next(sizes), left)
                heard.append(engine.render(count).copy())
                left -= count
    return np.concatenate(heard).tobytes()


def test_the_scene_has_what_could_differ():
    world, engine, rows = scene(CLIPS)
    copies, taps, reverbs = set(), 0, 0
    with engine:
        for tick in range(30):
            told = step(world, engine, rows[0], tick)
            assert np.abs(engine.render(FRAMES)).max() > 0.01
            taps, reverbs = max(taps, told.taps), max(reverbs, told.reverbs)
            copies |= set(engine.voices.octave[engine.voices.lane > 0].tolist())
        assert taps > 20
        assert reverbs == 2
        assert told.voices_stolen >= 1
        assert told.edits == 0
        assert {0, 1, 2} <= copies


def endlessly(*sizes):
    while True:
        yield from sizes


@pytest.mark.parametrize(
    "sizes", [(1,), (64,), (100,), (512,), (1000,), (512, 512, 352), (799, 1), (3, 61, 700)]
)
def test_the_length_of_blocks_does_not_change_a_bit(sizes, whole):
    assert perform(CLIPS, endlessly(*sizes)) == whole


@pytest.mark.parametrize("chosen", [{"acoustics": "off"}, {"interpolation": "linear"}])
def test_nor_does_it_in_other_modes(chosen):
    assert perform(CLIPS, endlessly(7, 300), **chosen) == perform(CLIPS, endlessly(2400), **chosen)


def heard_in_blocks(size, every):
    """The scene with a tick every few frames and blocks of one length that run across ticks' frames."""
    world, engine, rows = scene(CLIPS)
    heard, tick = [], 0
    with engine:
        while engine.frame < 24_000:
            while tick * every <= engine.frame:
                step(world, engine, rows[0], tick)
                tick += 1
            until = min(tick * every - engine.frame, 24_000 - engine.frame)
            while until:
                count = min(size, until)
                heard.append(engine.render(count).copy())
                until -= count
    return np.concatenate(heard).tobytes()


@pytest.mark.parametrize("size", [1000, 2400])
def test_blocks_between_ticks_that_fall_anywhere_do_not_change_a_bit(size):
    assert heard_in_blocks(size, 2399) == heard_in_blocks(64, 2399)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=8))
@settings(max_examples=8)
def test_no_mixture_of_block_lengths_changes_a_bit(whole, sizes):
    assert perform(CLIPS, endlessly(*sizes)) == whole


CLIPS = ea.Clips()
CLIPS.add("tone", 0.5 * np.sin(np.arange(48_000) * 0.13))
CLIPS.add("low", 0.5 * np.sin(np.arange(48_000) * 0.065))
CLIPS.add("noise", np.random.Generator(np.random.PCG64(5)).uniform(-0.5, 0.5, 7000))


@pytest.fixture(scope="module")
def whole():
    return perform(CLIPS, endlessly(2400))


def test_two_engines_in_one_process_do_not_disturb_one_another(whole):
    (world, one, rows), (elsewhere, two, others) = scene(CLIPS), scene(CLIPS)
    heard = []
    with one, two:
        for tick in range(30):
            step(world, one, rows[0], tick)
            step(elsewhere, two, others[0], tick + 3)
            first, second = one.render(FRAMES // 2).copy(), two.render(FRAMES).copy()
            differ = first.tobytes() != second[: FRAMES // 2].tobytes()
            heard += [first, one.render(FRAMES // 2).copy()]
    assert differ
    assert np.concatenate(heard).tobytes() == whole
    assert perform(CLIPS, endlessly(800)) == whole


def test_a_reset_engine_gives_the_bytes_of_a_new_one():
    def second(engine):
        engine.listener.look(position=(5.5, 0.5, 0.5))
        engine.spawn("tone", position=(-3, 1, 0), looping=True, pitch=1.7)
        heard = []
        for _ in range(20):
            engine.tick(TICK)
            heard.append(engine.render(FRAMES).copy())
        return np.concatenate(heard).tobytes()

    _, new, rows = scene(CLIPS)
    with new:
        for row in rows:
            new.despawn(row)
        new.reset()
        first = second(new)
    world, engine, rows = scene(CLIPS)
    with engine:
        for tick in range(25):
            step(world, engine, rows[0], tick)
            engine.render(FRAMES)
        world.fill((3, 0, -2), (6, 6, 3), "air")
        world.fill((4, 0, -20), (5, 8, 20), "oak_planks")
        engine.reset()
        assert second(engine) == first


PROGRAM = """
import hashlib, sys
sys.path.insert(0, {tests!r})
import test_determinism as t
from ecs_audio.kernels import jit
for kernel in jit.pending():
    jit.prepare(kernel)
print(hashlib.sha256(t.perform(t.CLIPS, t.endlessly(512))).hexdigest())
"""


def in_a_process(**environment):
    """Digest of the scene in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(tests=os.path.dirname(__file__))],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_processes_and_threads_do_not_change_a_bit(whole):
    here = hashlib.sha256(whole).hexdigest()
    assert in_a_process(NUMBA_NUM_THREADS="1", PYTHONHASHSEED="7") == here


PROCESSORS = {
    "generic": {"NUMBA_CPU_NAME": "generic"},
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse4.2,+avx,+avx2,+fma,+bmi,+bmi2"},
    "host": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
def test_an_empty_cache_and_another_processor_do_not_change_a_bit(processor, whole, tmp_path):
    here = hashlib.sha256(whole).hexdigest()
    assert in_a_process(**PROCESSORS[processor], NUMBA_CACHE_DIR=str(tmp_path)) == here
    assert in_a_process(**PROCESSORS[processor], NUMBA_CACHE_DIR=str(tmp_path)) == here  # from the cache
