"""The same inputs give the same bytes: across blocks, engines, processes, threads, caches."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import FRAMES, TICK, wall_world
from hypothesis import given, settings
from hypothesis import strategies as st

import ecs_audio as ea


def scene(clips):
    world = wall_world((0, 1))
    engine = ea.Engine(world, clips)
    engine.listener.look(position=(5.5, 0.5, 0.5))
    rows = [
        engine.spawn(
            ("tone", "low", "ramp")[k % 3], position=(-3 - k, k % 4, 2 - k % 5), looping=k % 3 < 2, volume=0.5
        )
        for k in range(24)
    ]
    return world, engine, rows


def perform(clips, sizes):
    """A second of a small scene; `sizes` gives the lengths of the blocks between ticks."""
    world, engine, rows = scene(clips)
    heard = []
    with engine:
        for tick in range(40):
            engine.sources.position[rows[0]] = (-3 - 0.2 * tick, 0, 0)
            if tick == 20:
                world.carve((0.5, 0.5, 0.5), 2)
                engine.despawn(rows[1])
                engine.spawn("ramp", position=(-2, 0, 1))
            engine.tick(TICK)
            left = FRAMES
            while left:
                count = min(next(sizes), left)
                heard.append(engine.render(count).copy())
                left -= count
    return np.concatenate(heard).tobytes()


def endlessly(*sizes):
    while True:
        yield from sizes


@pytest.mark.parametrize(
    "sizes", [(1,), (64,), (100,), (512,), (480,), (512, 512, 352), (799, 1), (3, 61, 700)]
)
def test_the_length_of_blocks_does_not_change_a_bit(sizes, clips):
    assert perform(clips, endlessly(*sizes)) == perform(clips, endlessly(2400))


@given(st.lists(st.integers(1, 900), min_size=1, max_size=8))
@settings(max_examples=10)
def test_no_mixture_of_block_lengths_changes_a_bit(sizes):
    assert perform(CLIPS, endlessly(*sizes)) == perform(CLIPS, endlessly(800))


CLIPS = ea.Clips()
CLIPS.add("tone", 0.5 * np.sin(np.arange(48_000) * 0.13))
CLIPS.add("low", 0.5 * np.sin(np.arange(48_000) * 0.065))
CLIPS.add("ramp", np.linspace(0.1, 0.5, 480))


def test_two_engines_in_one_process_do_not_disturb_one_another(clips):
    alone = perform(clips, endlessly(800))
    _, one, _ = scene(clips)
    _, two, _ = scene(clips)
    with one, two:
        for _ in range(20):
            one.tick(TICK)
            two.tick(TICK)
            assert one.render(FRAMES).tobytes() == two.render(FRAMES).tobytes()
            two.spawn("ramp", position=(1, 1, 1))
            two.despawn(two.sources.alive[-1])
    assert perform(clips, endlessly(800)) == alone


def test_a_reset_engine_gives_the_bytes_of_a_new_one(clips):
    _, engine, _ = scene(clips)
    with engine:

        def second():
            engine.listener.look(position=(5.5, 0.5, 0.5))
            engine.spawn("tone", position=(-3, 0, 0), looping=True)
            heard = []
            for _ in range(20):
                engine.tick(TICK)
                heard.append(engine.render(FRAMES).copy())
            return np.concatenate(heard).tobytes()

        engine.reset()
        first = second()
        engine.reset()
        assert second() == first


PROGRAM = """
import hashlib, sys
sys.path.insert(0, {tests!r})
import test_determinism as t
print(hashlib.sha256(t.perform(t.CLIPS, t.endlessly(512))).hexdigest())
"""


def in_a_process(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(tests=os.path.dirname(__file__))],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_processes_threads_and_caches_do_not_change_a_bit(tmp_path):
    here = hashlib.sha256(perform(CLIPS, endlessly(512))).hexdigest()
    assert in_a_process(NUMBA_NUM_THREADS="1") == here
    assert in_a_process(NUMBA_NUM_THREADS="2", PYTHONHASHSEED="7") == here


@pytest.mark.slow
def test_an_empty_cache_and_a_plain_processor_do_not_change_a_bit(tmp_path):
    here = hashlib.sha256(perform(CLIPS, endlessly(512))).hexdigest()
    assert in_a_process(NUMBA_CACHE_DIR=str(tmp_path)) == here
    assert in_a_process(NUMBA_CACHE_DIR=str(tmp_path)) == here
    assert in_a_process(NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(tmp_path / "generic")) == here
