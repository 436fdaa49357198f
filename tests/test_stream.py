"""Streams: what is pulled is the file, resampled, from the place asked for, and nothing else."""

import gc
import os
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import threads, write

from ecs_audio.clips import ClipError
from ecs_audio.clips.reader import BLOCK_FRAMES, Reader
from ecs_audio.clips.resampler import Linear, resampled_frames, resampler
from ecs_audio.clips.ring import Ring
from ecs_audio.clips.stream import Stream

SHARED = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data"))
AUDIO = SHARED / "audio"
LONG = 20.0  # no wait of these tests comes near [s]


def sine(frequency=1000.0, seconds=0.5, rate=48_000):
    return (0.5 * np.sin(2 * np.pi * frequency / rate * np.arange(round(seconds * rate)))).astype(np.float32)


def noise(frames, channels=1, seed=0):
    return (
        np.random.Generator(np.random.PCG64(seed)).uniform(-0.5, 0.5, (frames, channels)).astype(np.float32)
    )


def take(stream, frames):
    """The next `frames` frames, fewer at the end."""
    blocks = []
    while frames > 0 and not stream.ended:
        block = np.full((min(frames, 1000, round(stream.rate * 0.01)), stream.channels), 9.0, np.float32)
        assert stream.wait(len(block), LONG)
        count = stream.pull(block)
        assert (block[count:] == 9.0).all()
        blocks.append(block[:count])
        frames -= count
    return np.concatenate(blocks) if blocks else np.zeros((0, stream.channels), np.float32)


def whole(stream):
    """Every frame to the end."""
    with stream:
        return take(stream, 1 << 62)


def one_shot(data, rate, to_rate):
    return soxr.resample(data, rate, to_rate, quality="HQ") if rate != to_rate else data


def until(condition):
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    if threads():
        gc.collect()
    until(lambda: not threads())


# Linear resampling


def naive_line(frames, rate, to_rate):
    """The file with silence behind it, one output after another in fractions."""
    padded = [*frames, 0.0]
    outputs = []
    for n in range(resampled_frames(len(frames), rate, to_rate)):
        place = Fraction(n * rate, to_rate)
        low, share = int(place), float(place - int(place))
        outputs.append(padded[low] + share * (float(padded[low + 1]) - float(padded[low])))
    return np.array(outputs, dtype=np.float32)


def fed(convert, frames, cuts):
    edges = [0, *sorted(cut % (len(frames) + 1) for cut in cuts), len(frames)]
    blocks = [convert(frames[a:b], False) for a, b in pairwise(edges)]
    return np.concatenate([*blocks, convert(frames[:0], True)])


def test_a_ramp_read_in_two_pulls_of_six_has_no_seam(tmp_path):
    path = write(tmp_path / "ramp.wav", np.arange(8, dtype=np.float32), 22_050)
    with Stream(path, 48_000, resampler="linear") as stream:
        assert stream.wait(12, LONG)
        first, second = np.zeros((6, 1), np.float32), np.zeros((6, 1), np.float32)
        assert stream.pull(first) == stream.pull(second) == 6
    np.testing.assert_allclose(first[:, 0], [0, 0.4594, 0.9187, 1.3781, 1.8375, 2.2969], atol=5.1e-5)
    np.testing.assert_allclose(second[:, 0], [2.7562, 3.2156, 3.6750, 4.1344, 4.5938, 5.0531], atol=5.1e-5)


def test_half_the_rate_gives_the_middle_of_every_two_frames_and_ends_towards_silence():
    ramp = np.arange(8, dtype=np.float32)[:, np.newaxis]
    outputs = fed(Linear(24_000, 48_000, 1).feed, ramp, [])[:, 0]
    np.testing.assert_array_equal(outputs, [*np.arange(0, 7.5, 0.5), 3.5])


@pytest.mark.parametrize("kind", ["soxr", "linear"])
def test_the_same_rate_is_a_copy_to_the_bit(tmp_path, kind):
    data = noise(20_000, 2)
    data[:4] = [[-0.0, 0.0], [1e-45, -1e-45], [1000.0, -1000.0], [np.pi, -np.e]]
    heard = whole(Stream(write(tmp_path / "a.wav", data), 48_000, resampler=kind))
    np.testing.assert_array_equal(heard.view(np.uint32), data.view(np.uint32))
    own = fed(Linear(48_000, 48_000, 2).feed, data, [1, 5, 700])
    np.testing.assert_array_equal(own, data)


@settings(deadline=None, max_examples=100)
@given(
    st.integers(1, 400),
    st.integers(1, 3000),
    st.integers(1, 3000),
    st.lists(st.integers(0, 1 << 30), max_size=20),
)
def test_linear_outputs_lie_where_fractions_say_however_the_frames_are_cut(frames, rate, to_rate, cuts):
    data = noise(frames, 1, seed=frames)
    heard = fed(Linear(rate, to_rate, 1).feed, data, cuts)
    np.testing.assert_allclose(heard[:, 0], naive_line(data[:, 0], rate, to_rate), atol=1e-7)
    np.testing.assert_array_equal(heard, fed(Linear(rate, to_rate, 1).feed, data, []))


def test_linear_positions_do_not_drift_over_hours():
    rate, to_rate, block = 44_100, 48_000, 1 << 16
    convert = Linear(rate, to_rate, 1).feed
    ramp = np.arange(block, dtype=np.float32)[:, np.newaxis]
    frames, given_out = 0, 0
    for _ in range(200):
        last = convert(ramp, False)
        frames, given_out = frames + block, given_out + len(last)
        place = Fraction((given_out - 1) * rate, to_rate) - (frames - block)
        assert last[-1, 0] == np.float32(float(place))


@pytest.mark.parametrize(
    ("rate", "to_rate"), [(44_100, 48_000), (48_000, 44_100), (48_000, 32_000), (8000, 48_000)]
)
def test_both_resamplers_give_the_same_number_of_frames(rate, to_rate):
    for frames in [*range(1, 60), 999, 1000, 50_000]:
        data = noise(frames)
        expected = resampled_frames(frames, rate, to_rate)
        assert len(fed(Linear(rate, to_rate, 1).feed, data, [])) == expected
        assert len(one_shot(data, rate, to_rate)) == expected


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 30_000),
    st.lists(st.integers(0, 1 << 30), max_size=30),
    st.sampled_from([8000, 44_100, 96_000]),
)
def test_soxr_in_blocks_is_its_one_shot_to_the_bit(frames, cuts, rate):
    data = noise(frames, 2, seed=frames)
    heard = fed(resampler("soxr", rate, 48_000, 2), data, cuts)
    np.testing.assert_array_equal(heard, one_shot(data, rate, 48_000))


# The ring


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 20), st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=40))
def test_a_ring_gives_what_went_in_in_order(capacity, steps):
    ring, queue, number = Ring(capacity, 2), [], 0
    for pushing, count in steps:
        if pushing:
            frames = np.arange(number, number + count, dtype=np.float32)[:, np.newaxis] * [1, -1]
            pushed = ring.push(frames.astype(np.float32))
            assert pushed == min(count, capacity - len(queue))
            queue += range(number, number + pushed)
            number += pushed
        else:
            out = np.full((count, 2), -5.0, np.float32)
            pulled = ring.pull(out)
            assert pulled == min(count, len(queue))
            np.testing.assert_array_equal(out[:pulled, 0], queue[:pulled])
            np.testing.assert_array_equal(out[:pulled, 1], -out[:pulled, 0])
            assert (out[pulled:] == -5.0).all()
            queue = queue[pulled:]
        assert (ring.ready, ring.free) == (len(queue), capacity - len(queue))


# From file to frames


@pytest.mark.parametrize("kind", ["soxr", "linear"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000, 96_000])
def test_a_stream_is_its_file_resampled_at_once(tmp_path, kind, channels, rate):
    data = noise(30_000, channels)
    stream = Stream(write(tmp_path / "a.wav", data, rate), 48_000, resampler=kind, buffer=0.1)
    assert (stream.channels, stream.file_rate, stream.failure) == (channels, rate, None)
    heard = whole(stream)
    assert len(heard) == stream.frames
    if kind == "soxr":
        np.testing.assert_array_equal(heard, one_shot(data, rate, 48_000))
    else:
        for channel in range(channels):
            line = naive_line(data[:, channel], rate, 48_000) if rate != 48_000 else data[:, channel]
            np.testing.assert_allclose(heard[:, channel], line, atol=1e-7)
    assert stream.ended
    assert stream.failure is None


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=40),
    st.sampled_from(["soxr", "linear"]),
    st.sampled_from([0.001, 0.02, 0.5]),
)
def test_what_is_pulled_does_not_depend_on_the_sizes_of_pulls_and_buffer(
    tmp_path_factory, pulls, kind, buffer
):
    path = tmp_path_factory.getbasetemp() / "pulls.wav"
    data = noise(15_000, 2)
    if not path.exists():
        write(path, data, 44_100)
    expected = fed(resampler(kind, 44_100, 48_000, 2), data, [])
    blocks = []
    with Stream(path, 48_000, resampler=kind, buffer=buffer) as stream:
        while not stream.ended:
            for size in [*pulls, 17]:
                assert stream.wait(min(size, 48), LONG)
                out = np.empty((size, 2), np.float32)
                blocks.append(out[: stream.pull(out)])
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


@pytest.mark.parametrize(
    ("ending", "options", "exact"),
    [
        (".wav", {"subtype": "FLOAT"}, 0.0),
        (".wav", {"subtype": "PCM_U8"}, 1e-2),
        (".wav", {"subtype": "PCM_24"}, 1e-6),
        (".wav", {"subtype": "IMA_ADPCM"}, None),
        (".wav", {"subtype": "GSM610"}, None),
        (".au", {"subtype": "G721_32"}, None),
        (".caf", {"subtype": "ALAC_16"}, 1e-4),
        (".aiff", {}, 1e-4),
        (".flac", {}, 1e-4),
        (".ogg", {}, None),
        (".opus", {"format": "OGG", "subtype": "OPUS"}, None),
        (".mp3", {"bitrate_mode": "CONSTANT"}, None),
        (".mp3", {"bitrate_mode": "VARIABLE"}, None),
    ],
)
def test_every_format_is_streamed_and_found_again_after_seeking(tmp_path, ending, options, exact):
    data = sine(440.0, 3.0) * np.linspace(0.2, 1.0, 144_000, dtype=np.float32)
    path = tmp_path / f"tone{ending}"
    try:
        write(path, data, **options)
    except soundfile.LibsndfileError as error:
        pytest.skip(f"this libsndfile does not write it: {error}")
    decoded = soundfile.read(path, dtype="float32", always_2d=True)[0]
    with Stream(path, 48_000) as stream:
        assert stream.frames in (None, len(decoded))
        heard = take(stream, 1 << 62)
        assert stream.failure is None
        np.testing.assert_allclose(heard, decoded, atol=1e-6)
        if exact is not None:
            np.testing.assert_allclose(heard[:, 0], data, atol=exact)
        if options.get("subtype") in ("G721_32", "GSM610"):  # libsndfile cannot go back in it
            stream.seek(0.5)
            assert stream.wait(1, LONG)
            assert f"tone{ending}: cannot be decoded" in str(stream.failure)
            return
        for frame in (100_003, 50_000, 130_001, 1, 0, len(decoded) - 1):
            stream.seek(frame / 48_000)
            np.testing.assert_allclose(take(stream, 5000), decoded[frame : frame + 5000], atol=1e-6)


def test_a_name_without_ending_is_found_as_clips_are(tmp_path):
    write(tmp_path / "music.wav", sine())
    with Stream(str(tmp_path / "music"), 48_000) as stream:
        assert stream.path == tmp_path / "music.wav"
    with pytest.raises(ClipError, match=r"nothing: no such file, nor with .flac"):
        Stream(tmp_path / "nothing", 48_000)


# Looping


@pytest.mark.parametrize("kind", ["soxr", "linear"])
@pytest.mark.parametrize("rate", [44_100, 48_000])
@pytest.mark.parametrize("frames", [1, 37, BLOCK_FRAMES, BLOCK_FRAMES + 1, 9973])
def test_a_looping_stream_is_the_file_laid_end_to_end_and_resampled(tmp_path, kind, rate, frames):
    data = noise(frames, 2)
    with Stream(write(tmp_path / "a.wav", data, rate), 48_000, looping=True, resampler=kind) as stream:
        heard = take(stream, 30_000)
        assert not stream.ended
        stream.seek(frames // 2 / rate)
        after = take(stream, 20_000)
    turns = np.tile(data, (32_000 // frames + 2, 1))
    expected = fed(resampler(kind, rate, 48_000, 2), turns, [])
    np.testing.assert_array_equal(heard, expected[:30_000])
    expected = fed(resampler(kind, rate, 48_000, 2), turns[frames // 2 :], [])
    np.testing.assert_array_equal(after, expected[:20_000])


@pytest.mark.parametrize("kind", ["soxr", "linear"])
@pytest.mark.parametrize("ending", [".wav", ".flac"])
def test_a_sine_that_fits_loops_without_a_step_above_its_own(tmp_path, kind, ending):
    data = sine(441.0, 1.0, 44_100)
    path = write(tmp_path / f"a{ending}", data, 44_100)
    with Stream(path, 48_000, looping=True, resampler=kind) as stream:
        heard = take(stream, 5 * 48_000)[:, 0]
    steepest = 0.5 * 2 * np.pi * 441.0 / 48_000
    settled = heard[1000:]
    assert np.abs(np.diff(settled)).max() < steepest * 1.003
    ideal = 0.5 * np.sin(2 * np.pi * 441.0 / 48_000 * np.arange(5 * 48_000))
    assert np.abs(settled - ideal[1000:]).max() < (1e-4 if kind == "soxr" else 6e-4)


@pytest.mark.parametrize("ending", [".ogg", ".opus", ".mp3"])
def test_each_turn_of_a_compressed_loop_is_the_same(tmp_path, ending):
    options = {"format": "OGG", "subtype": "OPUS"} if ending == ".opus" else {}
    path = write(tmp_path / f"a{ending}", noise(30_011)[:, 0], **options)
    length = soundfile.info(path).frames
    with Stream(path, 48_000, looping=True) as stream:
        turns = take(stream, 3 * length).reshape(3, length)
    np.testing.assert_allclose(turns[1], turns[0], atol=1e-6)
    np.testing.assert_allclose(turns[2], turns[0], atol=1e-6)


def test_a_loop_shorter_than_a_block_is_read_twice_and_kept(tmp_path, monkeypatch):
    reads = []
    read = Reader._read
    monkeypatch.setattr(Reader, "_read", lambda self, buffer: reads.append(len(buffer)) or read(self, buffer))
    with Stream(write(tmp_path / "a.wav", noise(3)), 44_100, looping=True) as stream:
        take(stream, 40_000)
    assert len(reads) == 3  # the first turn, its end, and the turn that is kept


# Seeking


@pytest.mark.parametrize("kind", ["soxr", "linear"])
@pytest.mark.parametrize("rate", [44_100, 48_000])
def test_after_a_seek_the_stream_is_a_fresh_one_from_there(tmp_path, kind, rate):
    data = noise(60_000, 2)
    with Stream(write(tmp_path / "a.flac", data, rate), 48_000, resampler=kind, buffer=0.2) as stream:
        stored = soundfile.read(stream.path, dtype="float32")[0]
        for frame in (0, 1, 12_345, 59_999, 30_000, 7):
            stream.seek(frame / rate)
            expected = fed(resampler(kind, rate, 48_000, 2), stored[frame:], [])[:9000]
            np.testing.assert_array_equal(take(stream, 9000), expected)


def test_no_old_frame_comes_after_a_seek_while_the_thread_decodes(tmp_path):
    frames = 300_000
    ramp = (np.arange(frames) / frames).astype(np.float32)
    path = write(tmp_path / "ramp.wav", ramp)
    out = np.empty((64, 1), np.float32)
    generator = np.random.Generator(np.random.PCG64(1))
    with Stream(path, 48_000, buffer=0.05) as stream:
        for _ in range(300):
            frame = int(generator.integers(0, frames - 1000))
            stream.seek(frame / 48_000)
            if generator.random() < 0.5:
                assert stream.wait(64, LONG)
            count = stream.pull(out)
            np.testing.assert_array_equal(out[:count, 0], ramp[frame : frame + count])


def test_a_looping_stream_goes_on_from_the_start_after_a_seek_to_its_middle_or_end(tmp_path):
    data = noise(1000)
    with Stream(write(tmp_path / "a.wav", data), 48_000, looping=True) as stream:
        for frame in (600, 1000):
            stream.seek(frame / 48_000)
            np.testing.assert_array_equal(take(stream, 2000), np.tile(data, (4, 1))[frame : frame + 2000])


def test_a_stream_that_ended_plays_again_after_a_seek_and_ends_at_once_at_its_end(tmp_path):
    data = noise(3000)
    with Stream(write(tmp_path / "a.wav", data), 48_000) as stream:
        for _ in range(3):
            np.testing.assert_array_equal(take(stream, 1 << 62), data)
            assert stream.ended
            stream.seek(0.0)
            assert not stream.ended
        stream.seek(3000 / 48_000)
        assert stream.wait(1, LONG)
        assert stream.ended
        assert stream.failure is None


def test_a_place_that_is_none_is_refused_and_changes_nothing(tmp_path):
    data = noise(48_000)
    with Stream(write(tmp_path / "a.wav", data), 48_000) as stream:
        for place in (-1.0, -1e-9, float("nan"), float("inf"), 1.001, 1e300):
            with pytest.raises(ValueError, match=r"a\.wav: cannot go to"):
                stream.seek(place)
        np.testing.assert_array_equal(take(stream, 48_000), data)


def test_a_place_beyond_the_end_of_an_mp3_whose_length_is_unknown_ends_it(tmp_path):
    path = write(tmp_path / "a.mp3", sine())
    with Stream(path, 48_000) as stream:
        assert stream.frames is None
        stream.seek(1e9)
        assert stream.wait(1, LONG)
        assert stream.ended
        assert stream.failure is None


def test_a_far_seek_in_a_compressed_file_can_be_given_up(tmp_path):
    path = tmp_path / "long.ogg"
    with soundfile.SoundFile(path, "w", 48_000, 1) as file:
        for _ in range(60):
            file.write(sine(440.0, 5.0))
    with Stream(path, 48_000) as stream:
        start = take(stream, 1000)
        stream.seek(299.0)
        stream.seek(0.0)
        np.testing.assert_allclose(take(stream, 1000), start, atol=1e-6)
        stream.seek(299.0)
