"""The governor: steps down under overload, back in calm, and never to and fro for long."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ecs_audio as ea
from ecs_audio.governor import Governor

DT = 1 / 20
COUNTS = ("max_taps", "full_count", "max_voices")

some_settings = st.builds(
    ea.Settings,
    acoustics=st.sampled_from(["off", "direct", "reflect", "full"]),
    echoes=st.booleans(),
    max_taps=st.integers(0, 200),
    full_count=st.integers(0, 100),
    max_voices=st.integers(1, 300),
)
shares = st.floats(0.0, 5.0)


def run(governor, seconds, load, *, dt=DT, tick_share=0.0):
    """Ticks for a while; `load` may depend on the step. Gives the times of the changes and their steps."""
    changes = []
    for k in range(round(seconds / dt)):
        wanted = load(governor.step) if callable(load) else load
        if governor.note(dt, wanted, tick_share, 0):
            changes.append((k * dt, governor.step))
    return changes


def backs(changes, start=0):
    """Times of the steps back."""
    steps = [start, *(step for _, step in changes)]
    return [time for (time, step), before in zip(changes, steps, strict=False) if step < before]


def steps_of(governor):
    """Settings and text of every step, first to last, by one underrun each."""
    found = [(governor.settings, governor.held_back)]
    while governor.note(1.0, 0.0, 0.0, 1):
        found.append((governor.settings, governor.held_back))
    return found


def test_echoes_go_first_then_full_sources_then_voices():
    steps = steps_of(Governor(ea.Settings(max_taps=64, full_count=16, max_voices=128)))
    assert [tuple(getattr(s, name) for name in COUNTS) for s, _ in steps] == [
        (64, 16, 128), (32, 16, 128), (16, 16, 128), (0, 16, 128),
        (0, 8, 128), (0, 4, 128), (0, 4, 64), (0, 4, 32),
    ]  # fmt: skip
    assert (steps[0][1], steps[2][1]) == ("", "echoes 16 of 64")
    assert steps[-1][1] == "echoes 0 of 64, full sources 4 of 16, voices 32 of 128"


def test_what_is_not_asked_for_is_not_held_back():
    steps = steps_of(Governor(ea.Settings(acoustics="off")))
    assert [text for _, text in steps] == ["", "voices 64 of 128", "voices 32 of 128"]
    assert len(steps_of(Governor(ea.Settings(acoustics="off", max_voices=16)))) == 1
    assert "echoes" not in steps_of(Governor(ea.Settings(echoes=False)))[-1][1]


@given(some_settings)
def test_every_step_lowers_one_count_and_changes_nothing_else(settings):
    steps = [lowered for lowered, _ in steps_of(Governor(settings))]
    for before, after in pairwise(steps):
        differing = [n for n in vars(before) if getattr(before, n) != getattr(after, n)]
        assert len(differing) == 1
        assert getattr(after, differing[0]) < getattr(before, differing[0])
        assert differing[0] in COUNTS
    last = steps[-1]
    assert last.full_count >= min(settings.full_count, 4)
    assert last.max_voices >= min(settings.max_voices, 16)
    assert 4 * last.max_voices >= settings.max_voices - 3


@given(
    some_settings, st.lists(st.tuples(st.floats(0.0, 0.5), shares, shares, st.integers(0, 3)), max_size=300)
)
def test_the_step_stays_in_range_and_changes_by_one(settings, ticks):
    governor = Governor(settings)
    for dt, load, share, underruns in ticks:
        before = governor.step
        changed = governor.note(dt, load, share, underruns)
        assert abs(governor.step - before) == changed
        assert 0 <= governor.step <= governor.last_step


def test_two_steps_are_half_a_second_apart_at_least():
    changes = run(Governor(ea.Settings()), 20.0, 2.0, dt=0.001)
    gaps = [b - a for (a, _), (b, _) in pairwise(changes)]
    assert len(changes) == 7
    assert min(gaps) == pytest.approx(0.5, abs=0.002)


@pytest.mark.parametrize("which", ["load", "tick_share", "underruns"])
def test_a_late_block_a_late_tick_and_an_underrun_are_each_an_overload(which):
    governor = Governor(ea.Settings())
    late = {"load": 0.0, "tick_share": 0.0, "underruns": 0, which: 1}
    assert any(governor.note(DT, **late) for _ in range(20))


def test_one_tick_of_a_second_is_no_overload():
    governor = Governor(ea.Settings())
    run(governor, 1.0, 0.3)
    assert not governor.note(1 / 60, 0.3, 60.0, 0)
    assert not run(governor, 10.0, 0.3)


@pytest.mark.parametrize("dt", [1 / 120, 1 / 60, 1 / 20])
def test_full_load_is_answered_within_half_a_second_at_any_rate_of_ticks(dt):
    changes = run(Governor(ea.Settings()), 1.0, 1.0, dt=dt)
    assert changes[0][0] == pytest.approx(0.4, abs=0.06)


@given(st.floats(0.0, 0.79))
def test_a_constant_load_below_the_limit_changes_nothing(load):
    assert run(Governor(ea.Settings()), 120.0, load) == []


@given(st.floats(0.81, 5.0), st.floats(10.0, 60.0), st.floats(0.0, 0.49))
def test_an_overload_ends_at_the_last_step_and_calm_brings_everything_back(load, seconds, calm):
    governor = Governor(ea.Settings())
    down = run(governor, seconds, load)
    assert governor.step == governor.last_step == len(down) == 7
    back = run(governor, 40.0, calm)
    assert [step for _, step in back] == [6, 5, 4, 3, 2, 1, 0]
    # Five seconds each, and at first until the smoothed load is low.
    assert back[-1][0] == pytest.approx(36.0, abs=1.2)
    assert governor.held_back == ""


@given(st.lists(st.floats(0.0, 1.5), min_size=8, max_size=8))
def test_a_load_that_depends_on_the_step_ends_in_one_change_of_mind_in_80_seconds(loads):
    by_step = sorted(loads, reverse=True)
    governor = Governor(ea.Settings())
    run(governor, 240.0, lambda step: by_step[step])
    settled = governor.step
    back = backs(run(governor, 600.0, lambda step: by_step[step]), settled)
    assert all(b - a >= 80.0 for a, b in pairwise(back))


def test_steps_back_that_prove_wrong_come_later_and_later():
    back = backs(run(Governor(ea.Settings()), 400.0, lambda step: 1.0 if step < 3 else 0.2))
    waited = [b - a for a, b in pairwise(back)]
    assert waited == pytest.approx([10.6, 20.6, 40.6, 80.6, 80.6, 80.6], abs=0.3)


def test_a_step_back_that_holds_for_a_minute_ends_the_long_waiting():
    governor = Governor(ea.Settings())
    run(governor, 400.0, lambda step: 1.0 if step < 3 else 0.2)
    changes = run(governor, 400.0, 0.2)
    times = [time for time, _ in changes]
    assert governor.step == 0
    assert times[1] - times[0] == pytest.approx(60.0, abs=0.2)
    assert times[2] - times[1] == pytest.approx(5.0, abs=0.2)


def test_underruns_far_apart_hold_a_step_and_calm_takes_it_back():
    governor = Governor(ea.Settings())
    assert governor.note(DT, 0.1, 0.1, 1)
    assert not run(governor, 4.0, 0.1)
    governor.note(DT, 0.1, 0.1, 1)
    assert governor.step == 2
    assert [step for _, step in run(governor, 11.0, 0.1)] == [1, 0]


def test_noting_a_tick_takes_no_memory():
    import tracemalloc

    governor = Governor(ea.Settings())
    run(governor, 20.0, 1.0)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run(governor, 60.0, 0.2)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 1024
