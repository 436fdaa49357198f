"""Streams whose decoder or host is late, and streams that are placed somewhere."""

import threading
import time

import numpy as np
import pytest
from conftest import FRAMES, RATE, TICK, wall_world
from streaming import FADE, drained, hear, noise, sine, step_of, write

import ecs_audio as ea
from ecs_audio.analysis import delay_between, frequency
from ecs_audio.clips.feed import Feed
from ecs_audio.systems.feed import AHEAD


@pytest.fixture
def stalled(monkeypatch):
    """While it is set, decoders get nothing done."""
    stop, put = threading.Event(), Feed.put

    def late(self, frames, turn):
        while stop.is_set() and not self.closed:
            time.sleep(0.0005)
        return put(self, frames, turn)

    monkeypatch.setattr(Feed, "put", late)
    yield stop
    stop.clear()


# Late decoders and late hosts


def test_a_stream_that_starves_fades_is_counted_and_goes_on_where_it_stopped(tmp_path, engine_with, stalled):
    told = sine(200, 8 * RATE)
    engine = engine_with(stream_patience=0.0)
    source = engine.stream(write(tmp_path / "music.wav", told))
    drained(engine._tracks[source].stream)
    heard = [hear(engine, 0.5)]
    stalled.set()
    heard.append(hear(engine, 6.0, 0.05))
    starved = engine.telemetry.starved_frames
    assert engine.status()["starved_frames"] == starved > 0
    assert source.alive
    assert not heard[-1][-RATE // 10 :].any()
    stalled.clear()
    drained(engine._tracks[source].stream)
    heard.append(hear(engine, 0.5))
    assert engine.telemetry.starved_frames == starved
    heard = np.concatenate(heard)[:, :1]
    assert step_of(heard) < step_of(told) + 0.4 / FADE * 1.01
    sounding = np.flatnonzero(np.abs(heard) > 0)
    stop = sounding[np.argmax(np.diff(sounding) > 1000)] + 2 - FADE  # the fade's last frame is 0 itself
    go = sounding[np.argmax(np.diff(sounding) > 1000) + 1]
    stop, go = stop // 64 * 64, go // 64 * 64
    assert starved == pytest.approx(go - stop, abs=128)
    assert np.array_equal(heard[:stop], told[:stop])
    assert np.array_equal(heard[go + FADE :], told[stop + FADE :][: len(heard) - go - FADE])


def test_a_pause_while_it_starves_keeps_the_place(tmp_path, engine_with, stalled):
    told = noise(8 * RATE)
    engine = engine_with(stream_patience=0.0)
    source = engine.stream(write(tmp_path / "music.wav", told))
    drained(engine._tracks[source].stream)
    hear(engine, 0.5)
    stalled.set()
    hear(engine, 6.0, 0.05)
    place = engine._tracks[source].place
    engine.pause(source)
    hear(engine, 0.1)
    stalled.clear()
    drained(engine._tracks[source].stream)
    starved = engine.telemetry.starved_frames
    assert not hear(engine, 0.2).any()
    assert engine.telemetry.starved_frames == starved
    engine.resume(source)
    go = engine._master.mixed_frames - engine.frame
    heard = hear(engine, 0.2)[go + FADE :, :1]
    assert np.array_equal(heard, told[int(place) + FADE :][: len(heard)])


def test_a_late_start_begins_with_the_first_frame(tmp_path, engine_with, stalled):
    told = noise(RATE)
    engine = engine_with(stream_patience=0.0)
    stalled.set()
    source = engine.stream(write(tmp_path / "music.wav", told))
    assert not hear(engine, 0.3).any()
    stalled.clear()
    drained(engine._tracks[source].stream)
    start = engine._master.mixed_frames - engine.frame
    heard = hear(engine, 0.3)
    assert not heard[:start].any()
    assert np.array_equal(heard[start:, :1], told[: len(heard) - start])


@pytest.mark.parametrize("seconds", [0.5, 2.0, 7.0])
def test_a_host_that_stops_ticking_hears_nothing_old(seconds, tmp_path, engine_with):
    """A rising line of numbers as samples: what is heard may stop and jump ahead, but never goes back."""
    told = np.linspace(0.1, 0.6, 16 * RATE, dtype=np.float32)[:, None]
    engine = engine_with()
    engine.stream(write(tmp_path / "music.wav", told))
    heard = [hear(engine, 1.0), *(engine.render(4800).copy() for _ in range(round(seconds * 10)))]
    for _ in range(60):
        engine.tick(TICK)
        heard.append(engine.render(FRAMES).copy())
    heard = np.concatenate(heard)[:, 0]
    silent = heard == 0.0
    assert silent.any() == (seconds > 2.0)
    full = np.abs(np.diff(heard)) < 1e-5  # neither rises nor falls
    line = heard[1:][full & ~silent[1:]]
    assert (np.diff(line) > -1e-6).all()
    assert step_of(heard) < 0.6 / FADE * 1.1
    went_on = min(len(heard), RATE - FRAMES + AHEAD * RATE + 60 * FRAMES)  # no farther than the ring reached
    assert heard[-1] == pytest.approx(0.1 + 0.5 * went_on / len(told), abs=5e-4)


def test_what_starts_after_the_host_was_late_is_heard_at_once(tmp_path, engine_with):
    clips = ea.Clips()
    clips.add("click", np.full(64, 0.5))
    path = write(tmp_path / "music.wav", np.full((RATE, 1), 0.25))
    engine = engine_with(clips)
    hear(engine, 0.1)
    for _ in range(5):
        engine.render(4800)
    mixed = engine._master.mixed_frames - engine.frame
    engine.spawn("click")
    engine.stream(path)
    engine.tick(TICK)
    heard = engine.render(FRAMES)[:, 0]
    assert not heard[:mixed].any()
    assert heard[mixed] == 0.75


# Placed somewhere


def placed(engine, path, position, **options):
    return engine.stream(path, position=position, category="effects", **options)


@pytest.mark.parametrize("d", [3.43, 34.3, 343.0])
def test_a_placed_stream_arrives_after_its_distance_over_the_speed_of_sound(d, tmp_path, engine_with):
    told = noise(RATE, 2)
    engine = engine_with(air=False, reverberation=False, coupling=False, echoes=False)
    placed(engine, write(tmp_path / "music.wav", told), (0, 0, -d), fade_start=400.0)
    heard = hear(engine, d / 343 + 0.5)
    late = round(d / 343 * RATE)
    mid = told.mean(axis=1) * np.float32(np.sqrt(0.5) / d)
    assert np.abs(heard[: late - 8]).max() < 1e-4 * np.abs(heard).max()
    assert delay_between(heard[:, 0], mid[:9600]) == pytest.approx(late, abs=1)
    np.testing.assert_allclose(heard[late + 100 :][:9600, 0], mid[100:9700], atol=0.02 / d)
    assert np.array_equal(heard[:, 0], heard[:, 1])


def test_a_wall_muffles_a_placed_stream(tmp_path, engine_with):
    path = write(tmp_path / "music.wav", sine(8000, RATE))
    levels = []
    for walls in ((), ((0, 1),)):
        engine = engine_with(world=wall_world(*walls), reverberation=False, coupling=False, echoes=False)
        engine.listener.look(position=(5.5, 0.5, 0.5))
        placed(engine, path, (-4.5, 0.5, 0.5))
        levels.append(float(np.sqrt((hear(engine, 0.6)[RATE // 4 :, 0] ** 2).mean())))
    assert 20 * np.log10(levels[1] / levels[0]) == pytest.approx(-37.4, abs=0.5)


def test_a_moving_stream_shifts_by_c_over_c_minus_v(tmp_path, engine_with):
    engine = engine_with(air=False)
    row = placed(
        engine, write(tmp_path / "m.wav", sine(1000, 3 * RATE)), (0, 0, -300), reference=500.0, end=5000
    )

    def move(engine, time):
        engine.sources.position[row] = (0, 0, -300 + 50 * time)

    heard = hear(engine, 2.0, TICK, move)[int(1.5 * RATE) :, 0]
    assert frequency(heard, RATE) / 1000 == pytest.approx(343 / 293, rel=2e-3)


@pytest.mark.parametrize("far", [100.0, 500.0, 1600.0])
def test_a_stream_that_goes_far_away_at_once_is_heard_as_it_was(far, tmp_path, engine_with):
    """What is heard then was emitted before, and must still be in the ring."""
    told = np.linspace(0.1, 0.6, 12 * RATE, dtype=np.float32)[:, None]
    engine = engine_with(air=False, reverberation=False, coupling=False, echoes=False)
    row = placed(engine, write(tmp_path / "m.wav", told), (0, 0, -1), reference=3000.0, end=9000.0)
    hear(engine, 6.0)
    engine.sources.position[row] = (0, 0, -far)
    heard = hear(engine, 0.5)[:, 0] / np.sqrt(0.5)
    place = 6.5 - far / 343
    assert heard[-1] == pytest.approx(0.1 + 0.5 * place / 12, abs=5e-4)


@pytest.mark.parametrize("act", ["pause", "seek"])
def test_a_placed_stream_goes_on_without_holding_a_note(act, tmp_path, engine_with):
    told = sine(300, 6 * RATE)
    engine = engine_with(air=False, reverberation=False, coupling=False, echoes=False)
    row = placed(engine, write(tmp_path / "m.wav", told), (0, 0, -171.5), reference=500.0, end=5000.0)
    hear(engine, 1.0)
    if act == "pause":
        engine.pause(row)
        assert not hear(engine, 0.7)[FRAMES:].any()
        engine.resume(row)
    else:
        engine.seek(row, 3.0)
        quiet = hear(engine, 0.49)
        assert not quiet[FRAMES:].any()  # that place has its way before it
        hear(engine, 0.02)
    heard = hear(engine, 0.6)[FRAMES:, 0]
    assert frequency(heard, RATE) == pytest.approx(300, rel=1e-3)
    assert np.abs(heard.reshape(-1, 350)).max(axis=1).min() > 0.27


def test_a_placed_stream_has_no_echoes_but_a_clip_there_has(tmp_path, engine_with):
    world = wall_world((10, 12), (-12, -10))
    counts = []
    for start in ("spawn", "stream"):
        clips = ea.Clips()
        clips.add("noise", noise(2 * RATE)[:, 0])
        engine = engine_with(clips, world=world, reverberation=False)
        if start == "spawn":
            row = engine.spawn("noise", position=(5, 0, 0))
        else:
            row = placed(engine, write(tmp_path / "m.wav", noise(2 * RATE)), (5, 0, 0))
        hear(engine, 1.0)
        counts.append((int(engine.sources.tap_count[row]), int((engine.sources.tap_voice[row] >= 0).sum())))
    assert counts[0][0] > 0
    assert counts[0][1] > 0
    assert counts[1] == (0, 0)


@pytest.mark.parametrize("pitch", [0.5, 1.5, 2.0])
def test_a_pitch_that_the_host_writes_is_a_tapes_speed(pitch, tmp_path, engine_with):
    engine = engine_with()
    row = engine.stream(write(tmp_path / "m.wav", sine(1000, 4 * RATE)))
    hear(engine, 0.5)
    engine.sources.pitch[row] = pitch
    heard = hear(engine, 1.0)[RATE // 10 :, 0]
    assert frequency(heard, RATE) == pytest.approx(1000 * pitch, rel=1e-3)
    assert step_of(heard) < 1.05 * pitch * step_of(sine(1000, 100))
    hear(engine, 4.0 / pitch)
    assert not row.alive
