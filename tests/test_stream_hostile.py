"""Streams of files that are broken, lie or are no sound say so, and nobody is left waiting."""

import os

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import threads, write
from test_clip_files import wav
from test_stream import (
    _no_thread_is_left,  # noqa: F401
    fed,
    noise,
    sine,
    take,
    whole,
)

from ecs_audio.clips import ClipError
from ecs_audio.clips.reader import BLOCK_FRAMES, Reader
from ecs_audio.clips.resampler import MAX_RATIO, resampler
from ecs_audio.clips.stream import MAX_BUFFER, Stream


def fails(path, **options):
    """What is said of a file that is refused or breaks, and the frames before it."""
    try:
        stream = Stream(path, 48_000, **options)
    except ClipError as error:
        return str(error), np.zeros((0, 1), np.float32)
    heard = whole(stream)
    return None if stream.failure is None else str(stream.failure), heard


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot be decoded"),
        (b"this is no sound\n" * 100, "cannot be decoded"),
        (wav(1000, 1000, channels=6), "has 6 channels, and 1 or 2 are taken"),
        (wav(0, 0), "no frames"),
        (wav(1000, 1000, rate=1), f"has a rate of 1 Hz: 750 to {48_000 * MAX_RATIO} are taken"),
        (wav(1000, 1000, rate=2_000_000_000), "has a rate of 2000000000 Hz"),
    ],
)
def test_what_cannot_be_streamed_is_refused_at_once_by_name(tmp_path, content, says):
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(ClipError, match=rf"a\.wav: .*{says}"):
        Stream(tmp_path / "a.wav", 48_000)
    assert not threads()


def test_a_folder_and_a_pipe_are_refused(tmp_path):
    with pytest.raises(ClipError, match="is not a file"):
        Stream(tmp_path, 48_000)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.wav")
        with pytest.raises(ClipError, match=r"pipe\.wav: is not a file"):
            Stream(tmp_path / "pipe.wav", 48_000)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate": 0}, "rate of 0 Hz"),
        ({"rate": 44_100.5}, "rate of 44100.5 Hz"),
        ({"rate": float("nan")}, "rate of nan Hz"),
        ({"resampler": "cubic"}, "no resampler is called 'cubic': soxr and linear are"),
        ({"buffer": 0.0}, "a buffer of 0.0 s"),
        ({"buffer": float("nan")}, "a buffer of nan s"),
        ({"buffer": 1e9}, f"at most {MAX_BUFFER:g} s"),
    ],
)
def test_settings_that_are_none_are_refused(tmp_path, options, says):
    path = write(tmp_path / "a.wav", sine())
    with pytest.raises(ValueError, match=says):
        Stream(path, **{"rate": 48_000, **options})


def test_pulls_of_another_shape_and_waits_for_more_than_the_buffer_are_refused(tmp_path):
    with Stream(write(tmp_path / "a.wav", noise(1000, 2)), 48_000, buffer=0.1) as stream:
        for out in (np.zeros(5, np.float32), np.zeros((5, 1), np.float32), np.zeros((5, 2))):
            with pytest.raises(ValueError, match=r"float32 \(n, 2\) is needed"):
                stream.pull(out)
        with pytest.raises(ValueError, match="4801 frames are never ready: the buffer holds 4800"):
            stream.wait(4801, 1.0)
        assert stream.pull(np.zeros((0, 2), np.float32)) == 0


@pytest.mark.parametrize("kind", ["soxr", "linear"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1000.1, -1e30])
def test_values_that_are_no_sound_end_the_stream_and_are_not_heard(tmp_path, kind, value):
    data = noise(20_000, 2)
    data[12_345, 1] = value
    path = write(tmp_path / "a.wav", data, 44_100)
    said, heard = fails(path, resampler=kind)
    assert "a.wav: holds" in said
    assert "at frame 12345: up to 1000 is taken" in said
    good = data[: 12_345 // BLOCK_FRAMES * BLOCK_FRAMES]
    np.testing.assert_array_equal(heard, fed(resampler(kind, 44_100, 48_000, 2), good, []))


def test_after_a_failure_a_seek_tries_again(tmp_path):
    data = noise(20_000)
    data[10_000] = np.nan
    with Stream(write(tmp_path / "a.wav", data), 48_000) as stream:
        take(stream, 1 << 62)
        assert stream.failure is not None
        stream.seek(15_000 / 48_000)
        assert stream.failure is None
        np.testing.assert_array_equal(take(stream, 1 << 62), data[15_000:])
        assert stream.failure is None
        stream.seek(0.0)
        take(stream, 1 << 62)
        assert "at frame 10000" in str(stream.failure)


@pytest.mark.parametrize("looping", [False, True])
@pytest.mark.parametrize("ending", [".wav", ".flac", ".aiff", ".w64", ".au"])
@pytest.mark.parametrize("share", [0.0005, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_heard_as_far_as_it_is_good_and_says_why_it_ended(
    tmp_path, ending, share, looping
):
    data = write(tmp_path / f"whole{ending}", sine(seconds=1.0)).read_bytes()
    path = tmp_path / f"cut{ending}"
    path.write_bytes(data[: int(len(data) * share)])
    said, heard = fails(path, looping=looping)
    assert f"cut{ending}" in said
    np.testing.assert_allclose(heard[:, 0], sine(seconds=1.0)[: len(heard)], atol=1e-4)
    if share >= 0.5:
        assert len(heard) > 48_000 * share - 2 * BLOCK_FRAMES


@pytest.mark.parametrize("ending", [".wav", ".flac"])
def test_what_is_good_of_a_truncated_file_is_heard_again_after_a_seek(tmp_path, ending):
    data = write(tmp_path / f"whole{ending}", sine(seconds=1.0)).read_bytes()
    path = tmp_path / f"cut{ending}"
    path.write_bytes(data[: len(data) // 2])
    with Stream(path, 48_000) as stream:
        first = take(stream, 1 << 62)
        assert stream.failure is not None
        for _ in range(2):
            stream.seek(0.0)
            assert stream.failure is None
            np.testing.assert_array_equal(take(stream, 1 << 62), first)
            assert f"cut{ending}" in str(stream.failure)


@pytest.mark.parametrize("ending", [".ogg", ".mp3"])
def test_a_truncated_file_without_a_length_is_refused_or_taken_as_far_as_it_goes(tmp_path, ending):
    data = write(tmp_path / f"whole{ending}", sine(seconds=1.0)).read_bytes()
    for share in (0.01, 0.3, 0.9):
        path = tmp_path / f"cut{ending}"
        path.write_bytes(data[: int(len(data) * share)])
        said, heard = fails(path)
        assert f"cut{ending}" in said if said else 0 < len(heard) <= 48_000


def test_odd_bit_depths_and_lying_headers_say_so_at_the_end(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 1000, bits=13))
    (tmp_path / "b.wav").write_bytes(wav(1000, 1_000_000))
    assert "a.wav: " in fails(tmp_path / "a.wav")[0]
    said, heard = fails(tmp_path / "b.wav")
    assert "b.wav: ends after 1000 frames, before its header says" in said
    assert len(heard) == 1000


def test_a_header_from_a_pipe_that_could_not_know_its_size_is_taken(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 0x7FFFFFF0))
    said, heard = fails(tmp_path / "a.wav")
    assert (said, len(heard)) == (None, 1000)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([b"", b"RIFF", b"RIFF\xff\xff\xff\xffWAVE", b"fLaC", b"OggS", b"ID3", b"FORM", b"caff"]),
    st.binary(max_size=600),
    st.sampled_from([".wav", ".flac", ".ogg", ".mp3", ".raw", ".txt"]),
)
def test_random_bytes_are_refused_by_name_whatever_they_begin_with(tmp_path_factory, head, tail, ending):
    path = tmp_path_factory.getbasetemp() / f"noise{ending}"
    path.write_bytes(head + tail)
    assert f"noise{ending}" in fails(path)[0]


@settings(deadline=None, max_examples=100)
@given(data=st.data(), ending=st.sampled_from([".wav", ".flac", ".ogg", ".aiff"]))
def test_a_file_with_broken_bytes_says_so_or_gives_finite_samples(tmp_path_factory, data, ending):
    folder = tmp_path_factory.getbasetemp()
    path = folder / f"streamed{ending}"
    if not path.exists():
        soundfile.write(path, sine(seconds=0.05), 48_000)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, min(len(content) - 1, 400)))] = data.draw(st.integers(0, 255))
    broken = folder / f"broken{ending}"
    broken.write_bytes(content)
    said, heard = fails(broken)
    assert said is None or f"broken{ending}" in said
    assert np.isfinite(heard).all()


def test_whatever_goes_wrong_in_the_thread_ends_the_stream_and_leaves_nobody_waiting(tmp_path, monkeypatch):
    def out_of_memory(*_):
        raise MemoryError("no more")

    path = write(tmp_path / "a.wav", sine())
    monkeypatch.setattr(Reader, "blocks", out_of_memory)
    said, heard = fails(path)
    assert "a.wav: cannot be decoded: MemoryError('no more')" in said
    assert len(heard) == 0
