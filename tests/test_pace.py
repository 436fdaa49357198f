"""Ticks against frames: a simulated device takes frames evenly, a simulated host ticks as it likes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecs_audio.systems.pace import LATE_TICKS, Pace

RATE, SLACK = 48_000, 960


def simulate(seconds, arrivals, dts, offset=0):
    """Ticks at `arrivals` [s] that say dt each, over a device that takes frames from 0 on; lead by tick."""
    pace = Pace(RATE, SLACK)
    shift, time, frames, last, leads, moves = offset, 0.0, 0, -1, [], []
    for at, dt in zip(arrivals, dts, strict=True):
        mixed = max(int((at * RATE - SLACK) // 64 * 64), 0)
        moved = pace.move(round(time * RATE) + shift, mixed, frames)
        shift += moved
        now = round(time * RATE) + shift
        assert now >= last, "a tick before the last one"
        leads.append(now - mixed)
        moves.append(moved)
        last, time = now, time + dt
        frames = round(time * RATE) + shift - now
    return np.array(leads), np.array(moves), pace


def test_an_even_host_is_never_moved():
    ticks = np.arange(6000) / 60
    leads, moves, pace = simulate(100, ticks, np.full(6000, 1 / 60))
    assert not moves.any()
    assert pace.late_ticks == 0
    assert leads[10:].min() >= SLACK
    assert leads[10:].max() <= SLACK + 64


@pytest.mark.parametrize("drift", [-300e-6, -50e-6, 50e-6, 300e-6])
def test_a_clock_that_drifts_is_followed_for_hours_in_steps_of_a_few_frames(drift):
    ticks = np.arange(60 * 3600) / 60
    leads, moves, pace = simulate(3600, ticks, np.full(len(ticks), (1 + drift) / 60))
    assert pace.late_ticks == 0
    assert np.abs(moves).max() <= 4
    assert leads[100:].min() > 0.3 * SLACK
    assert leads[100:].max() < 1.8 * SLACK


@given(st.lists(st.floats(0.0, 0.012), min_size=100, max_size=400), st.floats(20, 144))
def test_lateness_within_the_slack_is_no_lateness(late, hz):
    arrivals = np.arange(len(late)) / hz + np.array(late)
    _, _, pace = simulate(1, arrivals, np.full(len(late), 1 / hz))
    assert pace.late_ticks == 0


@given(st.lists(st.sampled_from([0.0, 0.001, 1 / 60, 0.05, 0.3, 2.0]), min_size=5, max_size=200),
       st.lists(st.sampled_from([0.0, 0.004, 1 / 60, 0.1, 1.0]), min_size=200, max_size=200))  # fmt: skip
def test_whatever_a_host_does_its_ticks_do_not_go_back_and_it_comes_to_itself(waits, dts):
    waits, dts = [*waits, *[1 / 60] * 400], [*dts[: len(waits)], *[1 / 60] * 400]
    leads, moves, _ = simulate(1, np.cumsum(waits), dts)  # asserts order
    assert (leads[-100:] > -200).all()
    assert (leads[-100:] < SLACK + 0.1 * RATE + 900).all()
    assert not np.abs(moves[-100:]).max() > 900


def test_a_host_that_hung_is_moved_once_after_a_few_ticks_and_at_once_after_a_long_time():
    for pause, within in ((0.3, LATE_TICKS), (2.0, 1)):
        arrivals = np.arange(120) / 60
        arrivals[60:] += pause
        leads, moves, _ = simulate(1, arrivals, np.full(120, 1 / 60))
        jumps = np.flatnonzero(moves > 100)
        assert jumps.tolist() == [60 + within - 1]
        assert moves[jumps[0]] == pytest.approx(pause * RATE - SLACK, abs=0.03 * RATE)
        assert leads[-1] > -128


def test_a_host_that_makes_up_for_a_pause_is_not_moved_at_all():
    arrivals, dts = np.arange(120) / 60, np.full(120, 1 / 60)
    arrivals[60:] += 0.2
    dts[60] += 0.2  # dt is what has passed since the last tick, as of most hosts
    leads, moves, pace = simulate(1, arrivals, dts)
    assert np.abs(moves).max() <= 8
    assert pace.late_ticks == 1
    assert leads[-1] > 0
