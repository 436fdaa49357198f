"""How sounds begin and end: to the frame, without a click, and with what is still under way."""

import math
import warnings

import esper
import numpy as np
import pytest
from conftest import FRAMES, RATE, TICK
from conftest import play as play_until

import ecs_audio as ea
from ecs_audio import entities
from ecs_audio.analysis import frequency
from ecs_audio.components import Lane

FADE = 240
"""5 ms."""
FAR = {"position": (0.0, 0.0, -343.0), "reference": 400.0, "end": 4000.0}
"""A second away, at full level."""
STRAIGHT = math.sqrt(0.5)
"""Amplitude at each ear of what is straight ahead."""


@pytest.fixture
def clips(clips):
    clips.add("one", np.full(RATE, 0.5))
    clips.add("saw", np.arange(1, 2 * RATE + 1) / (4 * RATE))
    clips.add(
        "stereo", 0.5 * np.stack([np.sin(np.arange(RATE) * 0.1), np.cos(np.arange(RATE) * 0.13)], axis=1)
    )
    return clips


def engine_in(world, clips, **settings):
    return ea.Engine(world, clips, settings=ea.Settings(**{"acoustics": "direct", "air": False, **settings}))


def ground():
    """Stone below y = 0."""
    world = ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))
    world.fill((-32, -16, -32), (32, 0, 32), "stone")
    return world


def play(engine, seconds, tick=TICK, before=None):
    """What is heard in the next so many seconds."""
    return play_until(engine, engine.frame / RATE + seconds, tick, before)


def is_still(engine):
    """Whether nothing lives: no lane, no row, no entity of a source."""
    with entities.entered(engine._esper):
        rows = esper.get_component(ea.Source)
    return not engine.voices.lane.any() and engine.sources.count == 0 and not list(rows)


# Starts.


@pytest.mark.parametrize("start", [1234, 5000, 5001])
def test_the_first_sample_at_its_frame_has_its_right_level(start, clips, open_world):
    with engine_in(open_world, clips) as engine:
        engine.spawn("one", position=(0, 0, -10), delay=False, start_frame=start, reference=5.0, end=4e4)
        heard = play(engine, 0.2)[:, 0]
    assert np.flatnonzero(heard)[0] == start
    assert np.ptp(heard[start:]) < 1e-7
    assert heard[start] == pytest.approx(0.25 * STRAIGHT, rel=1e-3)


def test_a_source_paused_before_it_was_heard_begins_with_its_first_frame(clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("ramp")
        engine.pause(row)
        assert not play(engine, 0.1).any()
        engine.resume(row)
        heard = play(engine, 0.15)[:, 0]
    start = np.flatnonzero(heard)[0]
    assert start <= 128
    assert heard[start : start + 480] == pytest.approx(np.linspace(0.1, 0.5, 480), abs=1e-6)
    assert not heard[start + 480 :].any()


def test_a_pause_before_a_start_frame_that_is_still_to_come_does_not_move_it(clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("click", start_frame=9601)
        engine.pause(row)
        play(engine, 0.1)
        engine.resume(row)
        assert np.flatnonzero(play(engine, 0.3)[4800:, 0]).tolist() == [1]


# Ends.


@pytest.mark.parametrize("distance", [10.0, 343 * 700 / RATE, 343 * 1000.25 / RATE])
def test_a_clip_ends_with_its_longest_echo_to_the_frame(distance, clips):
    """The reader weighs eight samples, so what falls between two frames rings on for four at most."""
    with engine_in(ground(), clips, acoustics="reflect", coupling=False, head_shadow=0.0) as engine:
        engine.listener.look(position=(0.5, 3.5, 10.5))
        row = engine.spawn("ramp", position=(0.5, 3.5, 10.5 - distance))
        engine.tick(TICK)
        longest = float(engine.sources.tap_delay[row].max()) * RATE
        heard, ticks = [engine.render(FRAMES).copy()], 1
        while row.alive:
            engine.tick(TICK)
            heard.append(engine.render(FRAMES).copy())
            ticks += 1
        assert longest > distance / 343 * RATE + 240
        last = np.flatnonzero(np.concatenate(heard)[:, 0])[-1]
        assert last == math.floor(479 + longest) + 4
        assert ticks - last / FRAMES < 3  # what ended is found by the next tick, and gone at the one after
        assert is_still(engine)


def test_without_echoes_the_last_frame_is_that_of_the_clip_and_its_way(clips, open_world):
    with engine_in(open_world, clips) as engine:
        engine.spawn("ramp", position=(0, 0, -343 * 700 / RATE))
        sounding = np.flatnonzero(play(engine, 0.1)[:, 0])
    assert (sounding[0], sounding[-1]) == (700, 700 + 479)


def test_a_despawned_source_falls_in_a_straight_line_of_five_milliseconds(clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("one", looping=True)
        play(engine, 0.1)
        engine.despawn(row)
        assert not row.alive
        heard = play(engine, 0.1)[:, 0]
        start = np.flatnonzero(heard < 0.5)[0]
        assert start <= 128
        assert heard[start : start + FADE] == pytest.approx(0.5 - 0.5 * np.arange(1, 241) / 240, abs=2e-6)
        assert not heard[start + FADE :].any()
        assert is_still(engine)


# What is under way arrives.


def test_what_a_far_loop_emitted_before_goes_on_for_as_long_as_its_way(clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("one", looping=True, **FAR)
        play(engine, 1.5)
        engine.despawn(row, ring_out=True)
        assert not row.alive
        with pytest.raises(ea.DeadRowError):
            engine.despawn(row)
        heard = play(engine, 1.3)[:, 0]
        assert engine.telemetry.sources == 0
        assert heard[:RATE] == pytest.approx(0.5 * STRAIGHT, rel=1e-6)
        assert np.flatnonzero(heard)[-1] == RATE + FADE - 1
        assert is_still(engine)


def test_a_one_shot_that_stops_emitting_is_heard_up_to_there(clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("saw", **FAR)
        play(engine, 0.5)
        engine.despawn(row, ring_out=True)
        heard = play(engine, 1.5)[:, 0] / STRAIGHT
    assert np.flatnonzero(heard)[0] == RATE // 2
    assert np.flatnonzero(heard)[-1] == RATE + FADE - 1
    assert heard[RATE // 2 : RATE] == pytest.approx(np.arange(1, RATE // 2 + 1) / (4 * RATE), abs=1e-6)


def test_a_one_shot_that_was_emitted_whole_is_not_cut(clips, open_world):
    def render(ring_out):
        with engine_in(open_world, clips) as engine:
            row = engine.spawn("ramp", **FAR)
            before = play(engine, 0.1)
            if ring_out:
                engine.despawn(row, ring_out=True)
            return np.concatenate([before, play(engine, 1.0)]).tobytes()

    assert render(True) == render(False)


@pytest.mark.parametrize("speed", [-60.0, 60.0])
def test_it_arrives_with_the_pitch_of_the_motion_that_it_was_emitted_in(speed, clips, open_world):
    start = 450.0 if speed > 0 else 300.0
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("tone", looping=True, position=(0, 0, -start), reference=500.0, end=4000.0)
        place = engine.sources.position
        play(engine, 2.0, TICK, lambda e, t: place.__setitem__(row, (0, 0, -start + speed * t)))
        engine.despawn(row, ring_out=True)
        heard = play(engine, 0.8)[:, 0]
    assert frequency(heard[4800 : int(0.7 * RATE)], RATE) / 1000 == pytest.approx(
        343 / (343 - speed), rel=2e-3
    )


def test_its_echoes_arrive_too_and_then_all_is_given_back(clips):
    with engine_in(ground(), clips, acoustics="reflect", coupling=False) as engine:
        engine.listener.look(position=(0.5, 6.5, 10.5))
        row = engine.spawn("one", looping=True, position=(0.5, 6.5, 0.5))
        play(engine, 0.5)
        longest = float(engine.sources.tap_delay[row].max()) * RATE
        assert longest > 10 / 343 * RATE + 240
        engine.despawn(row, ring_out=True)
        heard = play(engine, 0.3)[:, 0]
        last = np.flatnonzero(heard)[-1]
        assert longest + FADE - 1 <= last <= longest + FADE + 64
        assert is_still(engine)


def test_the_tail_of_the_room_goes_on_after_it(clips, open_world):
    with engine_in(open_world, clips, acoustics="full", reverb="hall", echoes=False) as engine:
        row = engine.spawn("low", looping=True, position=(0, 0, -5))
        play(engine, 1.0)
        engine.despawn(row, ring_out=True)
        heard = play(engine, 0.5)[:, 0]
        assert engine.sources.count == 0
        assert np.abs(heard[RATE // 4 :]).max() > 1e-4


def test_nothing_rings_out_of_what_has_not_begun_or_is_paused(clips, open_world):
    with engine_in(open_world, clips) as engine:
        early = engine.spawn("one", looping=True, start_frame=9600, **FAR)
        held = engine.spawn("one", looping=True)
        play(engine, 0.1)
        engine.pause(held)
        play(engine, 0.05)
        for row in (early, held):
            engine.despawn(row, ring_out=True)
        assert engine.sources.count == 0
        assert not play(engine, 1.5).any()
        assert is_still(engine)


def test_a_table_of_four_rows_rings_out_a_hundred_times(clips, open_world):
    with engine_in(open_world, clips, max_sources=4) as engine:
        for k in range(100):
            row = engine.spawn(("one", "ramp", "stereo")[k % 3], looping=k % 2 == 0)
            play(engine, TICK)
            engine.despawn(row, ring_out=True)
            play(engine, 4 * TICK)
        assert is_still(engine)


# Pause.


@pytest.mark.parametrize("place", [None, (0.0, 0.0, -343.0)])
def test_a_paused_clip_goes_on_at_the_sample_where_it_stood_however_far(place, clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("saw", looping=True, **(FAR | {"position": place}))
        play(engine, 1.25)
        engine.pause(row)
        fading = play(engine, 0.5)[:, 0]
        assert not fading[128 + FADE :].any()
        engine.resume(row)
        heard = play(engine, 0.7)[128 + FADE :, 0] / (STRAIGHT if place else 1.0)
    stood = 1.25 - (1.0 if place else 0.0)
    expected = (stood * RATE + 1 + np.arange(128 + FADE, 128 + FADE + len(heard))) % (2 * RATE) / (4 * RATE)
    assert heard == pytest.approx(expected, abs=1e-6)


# Teleports.


@pytest.mark.parametrize("who", ["source", "listener"])
@pytest.mark.parametrize(("start", "stop"), [(-10, -90), (-90, -10)])
def test_a_teleport_goes_from_one_level_to_the_other_without_a_dip(who, start, stop, clips, open_world):
    with engine_in(open_world, clips) as engine:
        row = engine.spawn("one", looping=True, position=(0, 0, start), reference=10.0, end=1e4)
        play(engine, 0.5)
        if who == "source":
            engine.sources.position[row] = (0, 0, stop)
        else:
            engine.listener.look(position=(0, 0, start - stop))
        heard = play(engine, 0.1)[:, 0]
    assert np.abs(np.diff(heard)).max() < 1.1 * np.abs(heard[-1] - heard[0]) / FADE
    rising = np.diff(heard) * np.sign(heard[-1] - heard[0])
    assert rising.min() > -1e-6


def test_beyond_the_reserve_of_lanes_voices_fall_and_rise_again_in_their_own(clips, open_world):
    with engine_in(open_world, clips) as engine:
        for _ in range(128):
            engine.spawn("one", looping=True, position=(0, 0, -10), reference=10.0, end=1e4, volume=0.01)
        before = play(engine, 0.5)[-1, 0]
        engine.listener.look(position=(0, 0, -90))
        heard = play(engine, 0.1)[:, 0]
        assert engine.telemetry.voices_playing == 128
    assert heard[-1] == pytest.approx(before / 8, rel=0.02)
    assert np.abs(np.diff(heard)).max() < 1.3 * before / FADE  # their gains move as they fall
    assert heard.min() == pytest.approx(heard[-1] / 4, rel=0.05)  # the 32 in reserve have risen already
    assert (heard[128 + 3 * FADE :] > 0.99 * heard[-1]).all()


# Gains, and what is flat.


@pytest.mark.parametrize(("volume", "gain"), [(1.0, 0.25), (0.5, 1.0), (0.5, 0.25), (0.0, 1.0)])
def test_the_users_gains_are_amplitudes_that_multiply(volume, gain, clips, open_world):
    with engine_in(open_world, clips) as engine:
        engine.spawn("one", looping=True, category="voice_chat")
        engine.volume, engine.gains["voice_chat"] = volume, gain
        assert play(engine, 0.1)[:, 0] == pytest.approx(0.5 * volume * gain, abs=1e-7)


@pytest.mark.parametrize("mode", ["off", "full"])
def test_a_flat_stereo_clip_comes_out_as_it_is(mode, clips, open_world):
    with engine_in(open_world, clips, acoustics=mode, air=True) as engine:
        engine.spawn("stereo", looping=True)
        heard = play(engine, 0.5)
    t = np.arange(len(heard))
    assert heard[:, 0] == pytest.approx(0.5 * np.sin(t * 0.1), abs=1e-6)
    assert heard[:, 1] == pytest.approx(0.5 * np.cos(t * 0.13), abs=1e-6)


def test_a_stereo_clip_keeps_its_sides_however_fast_it_is_played(clips, open_world):
    t = np.arange(RATE) / RATE
    clips.add("left", np.stack([0.5 * np.sin(2 * np.pi * 15_000 * t), 0 * t], axis=1))
    clips.add("right", np.stack([0 * t, 0.5 * np.sin(2 * np.pi * 5_000 * t)], axis=1))
    with engine_in(open_world, clips, acoustics="off") as engine:
        for name in ("left", "right"):
            engine.spawn(name, pitch=2.0, looping=True)
        heard = np.abs(play(engine, 0.5)[4800:]).max(axis=0)
    assert heard[0] < 5e-4  # 30 kHz cannot be heard
    assert heard[1] == pytest.approx(0.5, abs=2e-3)


def test_a_placed_stereo_clip_is_averaged_with_one_warning_for_each_clip_and_engine(clips, open_world):
    clips.add("other", np.stack([np.ones(480) * 0.5, np.ones(480) * 0.1], axis=1))
    for _ in range(2):
        with engine_in(open_world, clips) as engine, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name in ("stereo", "other", "stereo", "other", "tone"):
                engine.spawn(name, position=(0, 0, -1), delay=False)
            engine.spawn("stereo")
        assert [str(w.message).split("'")[1] for w in caught] == ["stereo", "other"]
        assert {w.category for w in caught} == {ea.ClipWarning}
    with engine_in(open_world, clips) as engine:
        with pytest.warns(ea.ClipWarning):
            engine.spawn("other", position=(0, 0, -1), delay=False)
        assert play(engine, 0.005)[:480, 0] == pytest.approx(0.3 * STRAIGHT, rel=1e-6)


# Reset.


@pytest.mark.parametrize("seed", range(4))
def test_reset_in_the_midst_of_everything_gives_the_bytes_of_a_new_engine(seed, clips):
    def scene(engine):
        engine.listener.look(position=(0.5, 3.5, 10.5), forward=(0, 0, -1))
        for k in range(6):
            engine.spawn(
                ("tone", "ramp", "saw")[k % 3], position=(k - 3, 3, -k), looping=k % 2 == 0, priority=k
            )
        engine.spawn("stereo", category="music")
        return play(engine, 0.6).tobytes()

    settings = {"acoustics": "full", "max_voices": 4, "air": True}
    with engine_in(ground(), clips, **settings) as engine:
        expected = scene(engine)
    rng = np.random.default_rng(seed)
    with engine_in(ground(), clips, **settings) as engine:
        rows = []
        for _ in range(60):
            act = rng.integers(6)
            if act < 3 or not rows:
                rows.append(engine.spawn("saw", position=rng.normal(0, 10, 3), looping=bool(act)))
            elif (row := rows.pop(rng.integers(len(rows)))).alive:
                (engine.pause, engine.despawn, lambda r: engine.despawn(r, ring_out=True))[act - 3](row)
            engine.listener.look(position=rng.normal(0, 20, 3))
            engine.tick(float(rng.uniform(0, 0.04)))
            engine.render(int(rng.integers(0, 1500)))
        engine.reset()
        assert engine.frame == engine.time == 0
        assert is_still(engine)
        assert (engine.voices.lane == Lane.FREE).all()
        assert scene(engine) == expected
