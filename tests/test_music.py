"""Streams in the engine: what is heard is the file, from its first frame to its last."""

import time

import numpy as np
import pytest
import soundfile
import soxr
from conftest import FRAMES, RATE, TICK
from streaming import FADE, hear, noise, nothing_is_left, sine, step_of, write

import ecs_audio as ea
from ecs_audio.clips.feed import Feed
from ecs_audio.clips.resampler import Linear

# What is heard


@pytest.mark.parametrize("reader", ["linear", "sinc8"])
@pytest.mark.parametrize(
    ("ending", "options"), [("wav", {"subtype": "FLOAT"}), ("wav", {"subtype": "PCM_16"}), ("flac", {})]
)
def test_a_mono_file_at_the_engines_rate_is_heard_to_the_bit(reader, ending, options, tmp_path, engine_with):
    path = write(tmp_path / f"music.{ending}", noise(20_001), **options)
    engine = engine_with(interpolation=reader)
    source = engine.stream(path)
    heard = hear(engine, 0.5)
    told, _ = soundfile.read(path, dtype="float32")
    assert np.array_equal(heard[:20_001, 0], told)
    assert np.array_equal(heard[:, 0], heard[:, 1])
    assert not heard[20_001:].any()
    assert not source.alive
    assert nothing_is_left(engine)


@pytest.mark.parametrize("hertz", [7.3, 20, 60, 90, 144, 1000])
def test_the_rate_of_ticks_does_not_bend_music(hertz, tmp_path, engine_with):
    told = noise(24_000)
    engine = engine_with()
    engine.stream(write(tmp_path / "music.wav", told))
    heard = hear(engine, 0.5, 1 / hertz)[:24_000]
    assert np.array_equal(heard[:, :1], told)


def test_ticks_of_any_length_do_not_bend_music_or_clips(tmp_path, engine_with):
    told, dice = noise(48_000), np.random.default_rng(1)
    clips = ea.Clips()
    clips.add("clip", told[:, 0])
    for start in (lambda e: e.spawn("clip"), lambda e: e.stream(write(tmp_path / "music.wav", told))):
        engine = engine_with(clips)
        start(engine)
        heard = []
        while engine.frame < 48_000:
            engine.tick(dice.uniform(0.004, 0.04))
            heard.append(engine.render(round(engine.time * RATE) - engine.frame).copy())
        assert np.array_equal(np.concatenate(heard)[:48_000, :1], told)


def test_a_stereo_file_comes_out_left_and_right(tmp_path, engine_with):
    told = noise(30_000, 2)
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", told), volume=0.5)
    heard = hear(engine, 0.3)
    engine.world = ea.World.empty(size=(16, 16, 16))  # another place is no end of the music
    heard = np.concatenate([heard, hear(engine, 0.4)])
    np.testing.assert_allclose(heard[:30_000], 0.5 * told, atol=1e-6)
    assert not source.alive


@pytest.mark.parametrize("rate", [44_100, 22_050, 96_000])
@pytest.mark.parametrize("kind", ["soxr", "linear"])
def test_another_rate_is_heard_as_its_one_shot(kind, rate, tmp_path, engine_with):
    told = 0.5 * noise(rate // 2, 2)
    engine = engine_with()
    engine.stream(write(tmp_path / "music.wav", told, rate), resampler=kind)
    heard = hear(engine, 0.7)
    expected = (
        soxr.resample(told, rate, RATE, quality="HQ")
        if kind == "soxr"
        else Linear(rate, RATE, 2).feed(told, True)
    )
    np.testing.assert_allclose(heard[: len(expected)], expected, atol=1e-6)
    assert np.abs(heard[len(expected) :]).max() < 1e-6


def test_blocks_and_a_slow_decoder_do_not_change_a_byte(tmp_path, engine_with, monkeypatch):
    path = write(tmp_path / "music.wav", noise(40_000, 2), 44_100)

    def heard(block, tick=TICK):
        engine, blocks = engine_with(), []
        source = engine.stream(path)
        for k in range(66):
            if k == 20:
                engine.pause(source)
            if k == 25:
                engine.resume(source)
            if k == 40:
                engine.seek(source, 0.25)
            engine.tick(tick)
            blocks += [engine.render(min(block, FRAMES - n)).copy() for n in range(0, FRAMES, block)]
        assert engine.telemetry.starved_frames == 0
        return np.concatenate(blocks).tobytes()

    quick = heard(800)
    put, pace = Feed.put, np.random.default_rng(2)

    def slow(self, frames, turn):
        time.sleep(pace.uniform(0.0, 0.02))
        return put(self, frames, turn)

    monkeypatch.setattr(Feed, "put", slow)
    assert heard(100) == quick
    assert heard(799) == quick


def test_a_loop_has_no_seam(tmp_path, engine_with):
    turn = sine(480, 12_300)  # 123 periods
    engine = engine_with()
    source = engine.stream(write(tmp_path / "loop.wav", turn), looping=True)
    heard = hear(engine, 1.0)[:, :1]
    np.testing.assert_array_equal(heard, np.tile(turn, (4, 1))[: len(heard)])
    assert step_of(heard) <= step_of(np.tile(turn, (2, 1)))
    assert source.alive


def test_a_long_stream_goes_round_its_ring_without_a_trace(tmp_path, engine_with):
    told = noise(10 * RATE)
    engine = engine_with()
    engine.stream(write(tmp_path / "music.wav", told))
    heard = hear(engine, 10.5, 0.1)
    assert np.array_equal(heard[: len(told), :1], told)
    assert not heard[len(told) :].any()
    assert len(engine.clips.bank) < 5 * RATE


# Pause, seek, despawn


def test_a_pause_fades_and_goes_on_at_the_same_frame(tmp_path, engine_with):
    told = noise(RATE, 2)
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", told))
    before = hear(engine, 0.2)
    stop = engine._master.mixed_frames
    engine.pause(source)
    paused = hear(engine, 0.29)
    engine.pause(source)  # twice is the same, and so is nothing between two ticks
    engine.resume(source)
    engine.pause(source)
    paused = np.concatenate([paused, hear(engine, 0.01)])
    go = engine._master.mixed_frames
    engine.resume(source)
    heard = np.concatenate([before, paused, hear(engine, 0.4)])
    fall = np.linspace(1, 0, FADE, endpoint=False)[:, None] - 1 / FADE
    np.testing.assert_allclose(heard[:stop], told[:stop], atol=1e-6)
    np.testing.assert_allclose(heard[stop : stop + FADE], told[stop : stop + FADE] * fall, atol=1e-5)
    assert not heard[stop + FADE : go].any()
    np.testing.assert_allclose(heard[go : go + FADE], told[stop : stop + FADE] * (1 - fall), atol=1e-5)
    np.testing.assert_allclose(heard[go + FADE :][:9600], told[stop + FADE :][:9600], atol=1e-6)


@pytest.mark.parametrize("act", ["pause", "despawn", "seek", "stop_all", "volume"])
def test_nothing_clicks_when_music_stops(act, tmp_path, engine_with):
    told = sine(100, 4 * RATE)
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", told))
    before = hear(engine, 0.2)
    match act:
        case "pause" | "despawn":
            getattr(engine, act)(source)
        case "seek":
            engine.seek(source, 2.0025)  # at a crest
        case "stop_all":
            engine.stop_all()
        case "volume":
            engine.sources.volume[source] = 0.0
    after = hear(engine, 0.3)
    heard = np.concatenate([before, after])
    assert step_of(heard) < step_of(told) + 0.4 / FADE * 1.01
    if act != "seek":
        assert np.abs(after[FRAMES * 4 :]).max() < 1e-4
    if act in ("despawn", "stop_all"):
        assert not after[128 + FADE :].any()
        assert nothing_is_left(engine)


@pytest.mark.parametrize("place", [0.0, 0.1, 1.37, 3.9])
@pytest.mark.parametrize("paused", [False, True])
def test_a_seek_goes_on_with_exactly_that_frame(place, paused, tmp_path, engine_with):
    told = noise(4 * RATE, 2)
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", told))
    hear(engine, 1.0)
    if paused:
        engine.pause(source)
        hear(engine, 0.1)
    engine.seek(source, place)
    if paused:
        assert not hear(engine, 0.1).any()
        engine.resume(source)
    start = engine._master.mixed_frames - engine.frame
    heard = hear(engine, 0.4)
    expected = told[round(place * RATE) :][: len(heard) - start]
    np.testing.assert_allclose(heard[start + FADE : start + len(expected)], expected[FADE:], atol=1e-6)
    if paused:
        ramp = np.arange(FADE)[:, None] / FADE if place else 1.0
        np.testing.assert_allclose(heard[start : start + FADE], expected[:FADE] * ramp, atol=1e-6)
    assert not heard[start + len(expected) :].any()


def test_seeking_from_tick_to_tick_takes_no_more_rings(tmp_path, engine_with):
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", noise(RATE)))
    for k in range(60):
        engine.seek(source, (k * 7 % 10) / 10)
        hear(engine, TICK)
    assert engine.clips.count <= 4


def test_a_seek_at_the_very_end_revives_a_stream(tmp_path, engine_with):
    told = noise(9600)
    engine = engine_with()
    source = engine.stream(write(tmp_path / "music.wav", told))
    hear(engine, 0.2 + TICK)
    assert engine.sources.state[source] == ea.State.ENDED or source.alive
    engine.seek(source, 0.0)
    heard = hear(engine, 0.5)
    assert np.array_equal(heard[heard.any(axis=1)][:, :1], told[told.any(axis=1)])
    assert not source.alive
