"""The thread of a stream, the memory it takes, and real recordings."""

import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
import soundfile
from streaming import threads, write
from test_stream import (
    AUDIO,
    LONG,
    _no_thread_is_left,  # noqa: F401
    noise,
    one_shot,
    sine,
    take,
    until,
)

from ecs_audio.clips.feed import Feed
from ecs_audio.clips.stream import Stream


def test_the_thread_sleeps_when_the_buffer_is_full(tmp_path):
    with Stream(write(tmp_path / "a.wav", sine(seconds=5.0)), 48_000, buffer=0.1) as stream:
        assert stream.wait(4800, LONG)
        used = time.process_time()
        time.sleep(0.3)
        assert time.process_time() - used < 0.1
        assert stream.ready == 4800


def test_waiting_for_what_does_not_come_ends_with_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(Feed, "put", lambda self, frames, turn: True)
    monkeypatch.setattr(Feed, "finish", lambda self, turn, failure: None)
    with Stream(write(tmp_path / "a.wav", sine()), 48_000) as stream:
        assert not stream.wait(1, 0.01)
        assert stream.wait(0, 0.0)


def test_a_pull_from_an_empty_buffer_returns_at_once_with_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Feed, "put", lambda self, frames, turn: True)
    with Stream(write(tmp_path / "a.wav", sine()), 48_000) as stream:
        out = np.ones((10, 1), np.float32)
        assert stream.pull(out) == 0
        assert (out == 1.0).all()


@pytest.mark.parametrize("full", [True, False])
def test_a_closed_stream_has_ended_and_its_thread_with_it(tmp_path, full):
    stream = Stream(write(tmp_path / "a.wav", sine(seconds=5.0)), 48_000, buffer=0.1)
    assert stream.wait(4800 if full else 0, LONG)
    stream.close()
    assert not threads()
    stream.close()
    assert stream.ended
    assert stream.wait(100, 0.0)
    assert stream.pull(np.zeros((10, 1), np.float32)) == 0
    with pytest.raises(ValueError, match=r"a\.wav.*the stream is closed"):
        stream.seek(0.0)


def test_closing_wakes_who_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(Feed, "put", lambda self, frames, turn: True)
    monkeypatch.setattr(Feed, "finish", lambda self, turn, failure: None)
    stream = Stream(write(tmp_path / "a.wav", sine()), 48_000)
    said = []
    waiter = threading.Thread(target=lambda: said.append(stream.wait(10, LONG)))
    waiter.start()
    stream.close()
    waiter.join(LONG)
    assert said == [True]


@pytest.mark.parametrize("broken", [False, True])
def test_a_forgotten_stream_ends_its_thread_and_is_freed(tmp_path, broken):
    data = sine(seconds=5.0)
    data[30_000] = np.nan if broken else 0.0
    stream = Stream(write(tmp_path / "a.wav", data), 48_000, buffer=0.1)
    assert stream.wait(4800, LONG)
    if broken:
        take(stream, 1 << 62)
        assert stream.failure is not None
    gone = weakref.ref(stream), weakref.ref(stream._feed)
    del stream
    until(lambda: not threads())
    assert [ref() for ref in gone] == [None, None]


def test_a_program_that_closes_nothing_ends_cleanly_while_threads_decode(tmp_path):
    path = write(tmp_path / "a.flac", noise(200_000), 44_100)
    code = (
        "from ecs_audio.clips.stream import Stream\n"
        f"kept = [Stream({str(path)!r}, 48_000, looping=True, buffer=60.0) for _ in range(4)]\n"
        "kept[0].wait(10, 20.0)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")


def test_importing_streams_imports_no_decoder():
    code = "import sys, ecs_audio.clips.stream\nassert not {'soundfile', 'soxr', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


# Memory


def test_half_an_hour_is_never_held(tmp_path):
    path = tmp_path / "long.flac"
    minute = np.tile(noise(8000), (60, 1))
    with soundfile.SoundFile(path, "w", 8000, 1) as file:
        for _ in range(30):
            file.write(minute)
    del minute
    out = np.empty((5000, 1), np.float32)
    heard = 0
    tracemalloc.start()
    try:
        with Stream(path, 11_025, buffer=0.5) as stream:
            while not stream.ended:
                assert stream.wait(5000, LONG)
                heard += stream.pull(out)
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert heard == stream.frames == 30 * 60 * 11_025
    assert peak < 400_000  # of 79 000 000


def test_a_pull_allocates_no_array(tmp_path):
    with Stream(write(tmp_path / "a.wav", noise(48_000, 2)), 48_000) as stream:
        assert stream.wait(48_000, LONG)
        out = np.empty((40_000, 2), np.float32)
        stream.pull(out[:10])
        tracemalloc.start()
        try:
            assert stream.pull(out) == 40_000
            assert tracemalloc.get_traced_memory()[1] < 5_000  # of 320 000
        finally:
            tracemalloc.stop()


# Real recordings


@pytest.mark.skipif(not AUDIO.is_dir(), reason=f"the real recordings are not at {AUDIO}")
def test_real_recordings_stream_as_they_decode_at_once():
    files = [path for path in sorted(AUDIO.iterdir()) if path.suffix in (".flac", ".ogg")]
    assert len(files) >= 7
    for path in files:
        data, rate = soundfile.read(path, dtype="float32", always_2d=True)
        with Stream(path, 32_000) as stream:
            np.testing.assert_array_equal(take(stream, 1 << 62), one_shot(data, rate, 32_000))
            frame = len(data) // 3
            stream.seek(frame / rate)
            np.testing.assert_array_equal(take(stream, 5000), one_shot(data[frame:], rate, 32_000)[:5000])
            assert stream.failure is None
