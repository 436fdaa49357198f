"""The block: one call fills it, from arrays that are found by their addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from conftest import RATE, TICK
from numba import types

import ecs_audio as ea
from ecs_audio.components import master
from ecs_audio.kernels import block, jit
from ecs_audio.kernels.jit import F4_2, F4_3, I8_1, Array, kernel
from ecs_audio.kernels.pointers import record_at
from ecs_audio.systems.addresses import layout


class Inner(NamedTuple):
    whole: Array
    deep: Array


class Outer(NamedTuple):
    flat: Array
    inner: Inner


OUTER = types.NamedTuple((F4_2, types.NamedTuple((I8_1, F4_3), Inner)), Outer)
outer_at = record_at(OUTER)


@pytest.fixture
def read(monkeypatch):
    monkeypatch.setattr(jit, "CACHED", False)
    monkeypatch.setattr(jit, "KERNELS", [])

    @kernel(I8_1, types.int64, types.int64, types.int64)
    def read(places, i, j, k):
        outer = outer_at(places.ctypes.data)
        return outer.flat[i, j] + outer.inner.whole[i] + outer.inner.deep[i, j, k]

    return read


def test_a_record_is_read_by_address_as_numpy_reads_it(read):
    rng = np.random.default_rng(0)
    flat, deep = rng.random((3, 5), np.float32), rng.random((4, 6, 7), np.float32)
    outer = Outer(flat, Inner(np.arange(9), deep))
    places = np.array(layout(outer))
    assert len(places) == 3 + 2 + 4
    for i, j, k in np.ndindex(3, 5, 7):
        assert read(places, i, j, k) == float(flat[i, j]) + i + float(deep[i, j, k])


def test_an_array_with_gaps_has_no_layout():
    with pytest.raises(ValueError, match=r"shape \(2,\) has gaps"):
        layout((np.zeros(4)[::2],))


def test_places_in_the_masters_clock_are_the_same_for_kernels_and_tables():
    for name in ("MIXED", "RENDERED", "READY", "READY_UNTIL", "RAMP_END"):
        assert getattr(master, name) == getattr(block, name)


def rendered(clips, world, into):
    with ea.Engine(world, clips, seed=3) as engine:
        engine.spawn("tone", position=(3.0, 1.0, 0.0), looping=True)
        blocks = []
        for k in range(6):
            engine.tick(TICK)
            out = into(k)
            assert engine.render(len(out), out=out) is out
            blocks.append(out.copy())
        return np.concatenate(blocks)


@pytest.mark.parametrize(
    "into",
    [
        lambda k: np.zeros((800, 4), np.float32)[:, 1:3],
        lambda k: np.zeros((2, 800), np.float32).T,
        lambda k: np.zeros((800, 2), np.float32)[::-1],
        lambda k: np.frombuffer(bytearray(6403), np.float32, 1600, 3).reshape(800, 2),
    ],
    ids=["columns", "transposed", "backwards", "not aligned"],
)
def test_a_block_may_go_into_any_array_of_its_shape(clips, open_world, into):
    usual = rendered(clips, open_world, lambda k: np.zeros((800, 2), np.float32))
    assert usual.any()
    assert rendered(clips, open_world, into).tobytes() == usual.tobytes()


def test_a_block_that_must_not_be_written_is_refused_and_nothing_is_lost(clips, open_world):
    usual = rendered(clips, open_world, lambda k: np.zeros((800, 2), np.float32))
    with ea.Engine(open_world, clips, seed=3) as engine:
        engine.spawn("tone", position=(3.0, 1.0, 0.0), looping=True)
        engine.tick(TICK)
        fixed = np.zeros((800, 2), np.float32)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="out is read-only"):
            engine.render(800, out=fixed)
        assert engine.frame == 0
        assert engine.render(800).tobytes() == usual[:800].tobytes()


def test_clips_that_come_later_and_move_the_bank_are_heard(open_world):
    clips = ea.Clips(RATE)
    clips.add("ramp", np.linspace(0.1, 0.5, 480))
    with ea.Engine(open_world, clips) as engine:
        engine.tick(TICK)
        assert not engine.render(800).any()
        bank = clips.bank
        clips.add("long", np.full(3 * len(bank), 0.25))
        assert clips.bank is not bank
        engine.spawn("long", looping=True)
        for _ in range(4):
            engine.tick(TICK)
            heard = engine.render(800)
        assert heard == pytest.approx(0.25, abs=1e-3)


def test_after_a_reset_blocks_come_from_new_arrays(clips, open_world):
    with ea.Engine(open_world, clips, seed=3) as engine:
        first = []
        for _ in range(2):
            engine.spawn("tone", position=(3.0, 1.0, 0.0), looping=True)
            heard = b""
            for _ in range(6):
                engine.tick(TICK)
                heard += engine.render(700).tobytes()
            first.append(heard)
            engine.reset()
        assert first[0] == first[1]
