"""Hosts of streams: what they may ask, what breaks and what is left; and sound scripts when rendered."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
import soundfile
from conftest import RATE, TICK
from streaming import hear, noise, nothing_is_left, sine, threads, write

import ecs_audio as ea
from ecs_audio.analysis import frequency
from ecs_audio.clips import ClipWarning

# What may be asked


def test_music_obeys_its_user_gain_and_has_no_acoustics(tmp_path, engine_with):
    engine = engine_with()
    path = write(tmp_path / "m.wav", np.full((RATE, 1), 0.4))
    row = engine.stream(path, volume=0.5)
    placed = engine.stream(path, position=(3, 0, 0))
    loud = engine.stream(path, position=(3, 0, 0), category="effects")
    assert [engine.sources.category[r] for r in (row, placed, loud)] == [2, 2, 0]
    assert [engine.sources.acoustics[r] for r in (row, placed, loud)] == [0, 0, 1]
    engine.despawn(placed)
    engine.despawn(loud)
    assert hear(engine, 0.1)[-1, 0] == pytest.approx(0.2)
    engine.gains["music"] = 0.25
    assert hear(engine, 0.3)[-1, 0] == pytest.approx(0.05, rel=1e-3)
    engine.gains["music"], engine.gains["effects"] = 1.0, 0.0
    assert hear(engine, 0.3)[-1, 0] == pytest.approx(0.2, rel=1e-3)
    engine.sources.volume[row] = 0.25
    assert hear(engine, 0.3)[-1, 0] == pytest.approx(0.1, rel=1e-3)


def test_music_that_was_muted_comes_back_where_it_would_be(tmp_path, engine_with):
    told = noise(3 * RATE, 2)
    engine = engine_with()
    engine.stream(write(tmp_path / "m.wav", told))
    hear(engine, 0.3)
    engine.gains["music"] = 0.0
    hear(engine, 1.0)
    assert engine.telemetry.voices_virtual == 1
    engine.gains["music"] = 1.0
    hear(engine, 0.2)
    np.testing.assert_allclose(hear(engine, 0.3), told[72_000:][:14_400], atol=1e-6)


def test_music_without_a_voice_ends_all_the_same(tmp_path, engine_with):
    clips = ea.Clips()
    clips.add("tone", 0.1 * np.sin(np.arange(RATE) * 0.1))
    engine = engine_with(clips, max_voices=1)
    engine.spawn("tone", looping=True, priority=5)
    row = engine.stream(write(tmp_path / "m.wav", noise(9600)))
    hear(engine, 0.15)
    assert engine.sources.state[row] == ea.State.VIRTUAL
    hear(engine, 0.15)
    assert not row.alive


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"pitch": 2.0}, TypeError, "a stream has no pitch"),
        ({"start_frame": 0}, TypeError, "a stream has no start_frame"),
        ({"event": None}, TypeError, "a stream has no event"),
        ({"vloume": 1.0}, TypeError, "no option 'vloume'"),
        ({"volume": -1.0}, ValueError, "volume"),
        ({"category": "song"}, ValueError, "category must be one of"),
        ({"resampler": "cubic"}, ValueError, "no resampler is called 'cubic'"),
        ({"position": (0, 0)}, ValueError, "position"),
    ],
)
def test_a_wrong_option_is_named_and_leaves_nothing_behind(options, error, says, tmp_path, engine_with):
    engine = engine_with()
    with pytest.raises(error, match=says):
        engine.stream(write(tmp_path / "m.wav", noise(100)), **options)
    assert nothing_is_left(engine)


@pytest.mark.parametrize("content", [None, b"", b"RIFF", b"\x89PNG" + bytes(100)])
def test_a_file_that_is_none_is_named_and_leaves_nothing_behind(content, tmp_path, engine_with):
    engine, path = engine_with(), tmp_path / "broken.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ea.ClipError, match=r"broken\.wav"):
        engine.stream(path)
    assert nothing_is_left(engine)
    assert hear(engine, 0.1).shape == (4800, 2)


def test_a_full_table_leaves_nothing_behind(tmp_path, engine_with):
    engine = engine_with(max_sources=1)
    path = write(tmp_path / "m.wav", noise(RATE))
    row = engine.stream(path)
    with pytest.raises(ea.TableFullError):
        engine.stream(path)
    assert len(threads()) == 1
    engine.despawn(row)
    hear(engine, 0.1)
    assert nothing_is_left(engine)


@pytest.mark.parametrize("place", [-1.0, float("nan"), 1.1])
def test_a_place_that_is_none_changes_nothing(place, tmp_path, engine_with):
    told = noise(RATE)
    engine = engine_with()
    row = engine.stream(write(tmp_path / "m.wav", told))
    hear(engine, 0.2)
    with pytest.raises(ValueError, match="cannot go to"):
        engine.seek(row, place)
    assert np.array_equal(hear(engine, 0.2)[:, :1], told[9600:19_200])


def test_only_a_living_stream_is_sought(tmp_path, engine_with):
    clips = ea.Clips()
    clips.add("one", np.ones(RATE) * 0.1)
    engine = engine_with(clips)
    with pytest.raises(ValueError, match="is no stream"):
        engine.seek(engine.spawn("one"), 0.0)
    row = engine.stream(write(tmp_path / "m.wav", noise(100)))
    engine.despawn(row)
    with pytest.raises(ea.DeadRowError):
        engine.seek(row, 0.0)


# What breaks, and what is left


def test_a_file_that_breaks_in_the_middle_is_heard_so_far_and_reported_once(tmp_path, engine_with):
    told = noise(RATE)
    path = write(tmp_path / "torn.wav", told)
    path.write_bytes(path.read_bytes()[:80_000])
    engine = engine_with()
    row = engine.stream(path)
    with pytest.warns(ClipWarning, match=r"torn\.wav") as reports:
        heard = hear(engine, 0.8)
    assert len(reports) == 1
    assert reports[0].filename.endswith("conftest.py")  # who ticked
    good = np.flatnonzero(heard.any(axis=1))[-1] + 1
    assert 15_000 < good < 20_000
    assert np.array_equal(heard[:good, :1], told[:good])
    assert not row.alive
    assert nothing_is_left(engine)


def test_a_report_that_is_an_error_costs_no_other_stream(tmp_path, engine_with):
    told = noise(RATE)
    write(tmp_path / "nan.wav", np.vstack([told[:100], np.full((1, 1), np.nan, np.float32)]))
    engine = engine_with()
    torn = engine.stream(tmp_path / "nan.wav")
    row = engine.stream(write(tmp_path / "m.wav", told))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ClipWarning, match=r"nan\.wav"):
            engine.tick(TICK)
    hear(engine, 0.3)
    assert not torn.alive
    assert row.alive


@pytest.mark.parametrize("end", ["reset", "close"])
def test_an_end_in_the_midst_of_music_leaves_nothing_behind(end, tmp_path, engine_with):
    path = write(tmp_path / "m.wav", noise(2 * RATE, 2))
    engine = engine_with()
    for k in range(3):
        engine.stream(path, looping=k == 1)
    row = engine.stream(path)
    hear(engine, 0.3)
    engine.seek(row, 1.0)
    engine.pause(engine.stream(path))
    hear(engine, TICK)
    getattr(engine, end)()
    assert nothing_is_left(engine)
    if end == "reset":
        fresh = engine_with()
        assert not hear(engine, 0.1).any()
        engine.reset()
        for each in (engine, fresh):
            each.stream(path)
        assert hear(engine, 0.5).tobytes() == hear(fresh, 0.5).tobytes()


def test_rings_are_used_again_and_a_mono_stream_gets_no_old_side(tmp_path, engine_with):
    engine = engine_with()
    wide, told = write(tmp_path / "wide.wav", noise(RATE, 2)), noise(RATE, seed=3)
    narrow = write(tmp_path / "narrow.wav", told)
    counts = []
    for k in range(6):
        row = engine.stream(wide if k % 2 == 0 else narrow)
        start = engine._master.mixed_frames - engine.frame
        heard = hear(engine, 0.2)
        if k % 2:
            assert np.array_equal(heard[start:, :1], told[: len(heard) - start])
            assert np.array_equal(heard[:, 0], heard[:, 1])
        engine.despawn(row)
        hear(engine, 0.1)
        counts.append(engine.clips.count)
    assert counts == [2] * 6


def test_two_engines_share_clips_and_each_has_its_own_music(tmp_path, engine_with):
    clips = ea.Clips()
    told = [noise(RATE, seed=k) for k in (4, 5)]
    engines = [engine_with(clips), engine_with(clips)]
    rows = [e.stream(write(tmp_path / f"{k}.wav", told[k])) for k, e in enumerate(engines)]
    heard: list[list] = [[], []]
    for _ in range(30):
        for k, engine in enumerate(engines):
            heard[k].append(hear(engine, TICK))
    for k in range(2):
        assert np.array_equal(np.concatenate(heard[k])[:, :1], told[k][:24_000])
    engines[0].despawn(rows[0])
    hear(engines[0], 0.1)
    place = engines[1].frame
    assert np.array_equal(hear(engines[1], 0.1)[:, :1], told[1][place:][:4800])


# Sound scripts


SCRIPT = """
[step]
files = ["near.wav", "missing.wav"]
far = ["far.wav"]
far_from = 20.0
pitch = [0.5, 2.0]
[gone]
files = ["missing.wav"]
[tuned]
files = ["near.wav"]
pitch = 1.5
volume = 0.5
looping = true
"""


@pytest.fixture
def scripted(tmp_path):
    write(tmp_path / "near.wav", sine(1000, RATE))
    write(tmp_path / "far.wav", sine(3000, RATE))
    (tmp_path / "sounds.toml").write_text(SCRIPT)
    clips = ea.Clips()
    with pytest.warns(ClipWarning, match=r"missing\.wav") as reports:
        assert clips.load(tmp_path / "sounds.toml") == ["step", "gone", "tuned"]
    assert len(reports) == 1
    return clips


@pytest.mark.parametrize(
    ("acoustics", "d", "hertz"),
    [("off", 30, 3000), ("off", 10, 1000), ("direct", 30, 1000), ("full", 30, 1000)],
)
def test_a_far_variant_is_heard_where_acoustics_are_off_alone(acoustics, d, hertz, scripted, engine_with):
    engine = engine_with(scripted, acoustics=acoustics)
    engine.spawn("step", position=(0, 0, -d), pitch=1.0)
    assert frequency(hear(engine, 0.6)[RATE // 4 :, 0], RATE) == pytest.approx(hertz, rel=1e-3)


def test_each_start_has_a_pitch_of_its_own_within_the_range(scripted, engine_with):
    engine, pitches = engine_with(scripted), []
    for _ in range(8):
        row = engine.spawn("step")
        drawn = float(engine.sources.pitch[row])
        heard = hear(engine, 0.3)[4800:, 0]
        assert frequency(heard, RATE) == pytest.approx(1000 * drawn, rel=2e-3)
        pitches.append(drawn)
        engine.stop_all()
        hear(engine, 0.05)
    assert min(pitches) >= 0.5
    assert max(pitches) <= 2.0
    assert len(set(pitches)) == 8


def test_a_sound_without_files_ends_in_silence_and_the_engine_goes_on(scripted, engine_with):
    engine = engine_with(scripted)  # warnings are errors here: it is not reported again
    gone, tuned = engine.spawn("gone", position=(3, 0, 0)), engine.spawn("tuned")
    heard = hear(engine, 1.0)[RATE // 4 :, 0]
    assert not gone.alive
    assert tuned.alive
    assert frequency(heard, RATE) == pytest.approx(1500, rel=1e-3)
    assert np.abs(heard).max() == pytest.approx(0.2, rel=0.01)


def test_the_example_streams_a_file_into_a_wav(tmp_path, monkeypatch, capsys):
    example = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "music.py"))
    told = noise(RATE, 2)
    write(tmp_path / "song.flac", told)
    example["main"](str(tmp_path / "song.flac"), str(tmp_path / "out.wav"))
    heard, rate = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert rate == RATE
    np.testing.assert_allclose(heard[:RATE], 0.8 * told, atol=1e-4)
    example["main"](None, str(tmp_path / "own.wav"), "2.0")
    heard, _ = soundfile.read(tmp_path / "own.wav", dtype="float32")
    assert len(heard) == 2 * RATE
    assert np.abs(heard[:RATE]).max() > 0.01
    assert "2.00 s" in capsys.readouterr().out
