"""Recordings on disk: the same samples give the same bytes, and a file is whole or not there."""

import hashlib
import os
import stat
import struct
import sys
import wave

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ecs_audio.output import wav as wav_module
from ecs_audio.output import write_audio, write_wav

RATE = 48_000
STEP = {"float": 0.0, "pcm16": 2.0**-15, "pcm24": 2.0**-23}

sounds = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 200), st.integers(1, 4)),
    elements=st.floats(-2.0, 2.0, width=32),
)


def noise(frames=1000, channels=2):
    generator = np.random.Generator(np.random.PCG64(5))
    return generator.uniform(-0.9, 0.9, (frames, channels)).astype(np.float32)


def left_over(folder):
    return sorted(path.name for path in folder.iterdir())


# What is in the file


@settings(deadline=None, max_examples=60)
@given(sounds, st.sampled_from(["float", "pcm16", "pcm24"]), st.sampled_from([8_000, 44_100, 48_000]))
def test_soundfile_reads_back_what_was_written_within_half_a_step(tmp_path_factory, x, form, rate):
    path = tmp_path_factory.getbasetemp() / "round.wav"
    write_wav(path, x, rate, form)
    back, back_rate = soundfile.read(path, dtype="float64", always_2d=True)
    assert back_rate == rate
    wanted = x if form == "float" else np.clip(x, -1.0, 1.0 - STEP[form])
    np.testing.assert_allclose(back, wanted, rtol=0, atol=STEP[form] / 2)


@settings(deadline=None, max_examples=40)
@given(sounds, st.sampled_from([16, 24]))
def test_the_standard_library_reads_the_rounded_and_clipped_numbers(tmp_path_factory, x, bits):
    path = tmp_path_factory.getbasetemp() / "pcm.wav"
    write_wav(path, x, RATE, f"pcm{bits}")
    with wave.open(str(path)) as file:
        assert file.getparams()[:4] == (x.shape[1], bits // 8, RATE, len(x))
        data = file.readframes(len(x))
    size = bits // 8
    numbers = [
        int.from_bytes(data[at : at + size], "little", signed=True) for at in range(0, len(data), size)
    ]
    half = 1 << (bits - 1)
    wanted = [min(max(round(float(value) * half), -half), half - 1) for value in x.ravel()]
    assert numbers == wanted


@settings(deadline=None, max_examples=60)
@given(sounds, st.data(), st.sampled_from(["float", "pcm16", "pcm24"]))
def test_however_it_is_cut_into_blocks_the_bytes_are_the_same(tmp_path_factory, x, data, form):
    folder = tmp_path_factory.getbasetemp()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=6)))
    whole = write_wav(folder / "whole.wav", x, RATE, form)
    parts = write_wav(folder / "parts.wav", iter(np.split(x, cuts)), RATE, form)
    assert parts == whole
    assert (folder / "parts.wav").read_bytes() == (folder / "whole.wav").read_bytes()


def test_the_result_counts_frames_and_has_the_peak_and_the_hash_of_the_rendered_samples(tmp_path):
    x = noise()
    x[500, 1] = -1.5
    for form in ("float", "pcm16", "pcm24"):
        written = write_wav(tmp_path / "a.wav", x, RATE, form)
        assert written == (1000, 1.5, hashlib.sha256(x.astype("<f4").tobytes()).hexdigest())


def test_a_float_file_is_byte_for_byte_what_the_format_asks_for(tmp_path):
    x = np.array([[0.5, -1.0]], dtype=np.float32)
    write_wav(tmp_path / "a.wav", x)
    assert (tmp_path / "a.wav").read_bytes() == (
        b"RIFF" + struct.pack("<I", 58) + b"WAVE"
        b"fmt " + struct.pack("<IHHIIHHH", 18, 3, 2, 48_000, 384_000, 8, 32, 0)
        + b"fact" + struct.pack("<II", 4, 1)
        + b"data" + struct.pack("<Iff", 8, 0.5, -1.0)
    )  # fmt: skip


@pytest.mark.parametrize(("form", "frames"), [("float", 7), ("pcm16", 7), ("pcm24", 7), ("pcm24", 8)])
def test_sizes_in_the_header_fit_the_file_even_when_a_pad_byte_is_needed(tmp_path, form, frames):
    write_wav(tmp_path / "a.wav", noise(frames, 1), RATE, form)
    data = (tmp_path / "a.wav").read_bytes()
    assert struct.unpack("<I", data[4:8])[0] == len(data) - 8
    assert len(data) % 2 == 0
    assert soundfile.info(tmp_path / "a.wav").frames == frames


def test_a_block_is_used_before_the_next_one_is_asked_for(tmp_path):
    x = noise(1200)
    view = np.empty((100, 2), dtype=np.float32)

    def blocks():
        for start in range(0, 1200, 100):
            view[:] = x[start : start + 100]
            view.flags.writeable = False
            yield view
            view.flags.writeable = True
            view[:] = np.nan

    write_wav(tmp_path / "a.wav", blocks())
    np.testing.assert_array_equal(soundfile.read(tmp_path / "a.wav", dtype="float32")[0], x)


def test_one_channel_wider_floats_and_strided_views_are_taken(tmp_path):
    x = noise(100, 4)
    write_wav(tmp_path / "a.wav", x[:, 0].astype(np.float64))
    np.testing.assert_array_equal(soundfile.read(tmp_path / "a.wav", dtype="float32")[0], x[:, 0])
    write_wav(tmp_path / "a.wav", [x[::2, ::2], x[1::2, ::2]])
    np.testing.assert_array_equal(
        soundfile.read(tmp_path / "a.wav", dtype="float32")[0], np.concatenate((x[::2, ::2], x[1::2, ::2]))
    )
    write_wav(tmp_path / "a.wav", np.zeros((0, 2), dtype=np.float32))
    assert soundfile.info(tmp_path / "a.wav").frames == 0


# What is refused


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        ([], "no block came"),
        (noise().astype(np.int16), "int16"),
        (np.zeros((2, 2, 2), dtype=np.float32), "shape"),
        (np.zeros((2, 0), dtype=np.float32), "shape"),
        ([noise(10, 2), noise(10, 1)], "1 channels, the first one had 2"),
        ([noise(10), np.full((5, 2), np.nan, dtype=np.float32)], "frame 10 holds NaN"),
        (np.array([0.0, 1e300]), "frame 1 holds NaN or infinity"),
        (noise(1, 20_000), "20000 channels"),
    ],
)
@pytest.mark.parametrize("ending", [".wav", ".flac"])
def test_blocks_that_cannot_be_written_are_refused_and_leave_nothing(tmp_path, blocks, says, ending):
    with pytest.raises(ValueError, match=says):
        write_audio(tmp_path / f"a{ending}", blocks)
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("rate", [0, -1, 44_100.5, float("nan"), 1 << 32])
def test_a_rate_that_is_no_positive_whole_number_is_refused(tmp_path, rate):
    for ending in (".wav", ".flac"):
        with pytest.raises(ValueError, match="rate"):
            write_audio(tmp_path / f"a{ending}", noise(), rate)


def test_unknown_formats_and_endings_are_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="'pcm8': known are float, pcm16, pcm24"):
        write_wav(tmp_path / "a.wav", noise(), RATE, "pcm8")
    with pytest.raises(ValueError, match=r"'\.mp4' .*known are \.wav, \.flac, \.ogg"):
        write_audio(tmp_path / "a.mp4", noise())
    with pytest.raises(ValueError, match="''"):
        write_audio(tmp_path / "a", noise())
    with pytest.raises(ValueError, match=r"'float': known are pcm24, pcm16"):
        write_audio(tmp_path / "a.flac", noise(), RATE, "float")
    assert left_over(tmp_path) == []


def test_more_than_4_gib_is_refused_with_the_limit_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(wav_module, "MAX_BYTES", 100_000)
    taken = []

    def blocks():
        for number in range(1000):
            taken.append(number)
            yield noise()

    with pytest.raises(ValueError, match=r"4 GiB .*\.flac"):
        write_wav(tmp_path / "a.wav", blocks())
    assert len(taken) == 13  # 8000 bytes each: it stops where the limit is, not at the end
    assert left_over(tmp_path) == []


# Whole or not at all


class Broken(Exception):
    pass


def interrupted(error, after):
    for _ in range(after):
        yield noise()
    raise error


@pytest.mark.parametrize("ending", [".wav", ".flac", ".ogg"])
@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt])
@pytest.mark.parametrize("after", [0, 3])
def test_an_interrupted_recording_leaves_nothing_and_the_former_file_as_it_was(
    tmp_path, ending, error, after
):
    path = tmp_path / f"a{ending}"
    with pytest.raises(error):
        write_audio(path, interrupted(error, after))
    assert left_over(tmp_path) == []
    path.write_bytes(b"former")
    with pytest.raises(error):
        write_audio(path, interrupted(error, after))
    assert left_over(tmp_path) == [f"a{ending}"]
    assert path.read_bytes() == b"former"


def test_the_former_file_is_there_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"former")

    def blocks():
        for _ in range(3):
            yield noise()
            assert path.read_bytes() == b"former"

    write_wav(path, blocks())
    assert soundfile.info(path).frames == 3000
    assert left_over(tmp_path) == ["a.wav"]


def test_missing_folders_are_made_and_folders_are_not_replaced(tmp_path):
    write_audio(tmp_path / "new" / "deep" / "a.wav", noise())
    assert soundfile.info(tmp_path / "new" / "deep" / "a.wav").frames == 1000
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(ValueError, match="not a regular file"):
        write_audio(tmp_path / "folder.wav", noise())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX devices, links and permissions")
def test_devices_are_not_replaced_links_are_followed_and_the_result_is_readable_as_any_file(tmp_path):
    with pytest.raises(ValueError, match="not a regular file"):
        write_wav("/dev/null", noise())
    (tmp_path / "real").mkdir()
    (tmp_path / "link.wav").symlink_to(tmp_path / "real" / "a.wav")
    write_wav(tmp_path / "link.wav", noise())
    assert (tmp_path / "link.wav").is_symlink()
    (tmp_path / "plain").touch()
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("plain", "real/a.wav")]
    assert modes[0] == modes[1]


# FLAC and OGG


@pytest.mark.parametrize("form", ["pcm16", "pcm24"])
def test_flac_holds_the_very_numbers_that_wav_holds_and_the_same_bytes_each_time(tmp_path, form):
    x = 1.2 * noise(10_000)
    written = [write_audio(tmp_path / name, x, RATE, form) for name in ("a.flac", "b.FLAC", "a.wav")]
    assert written[0] == written[1] == written[2]
    assert (tmp_path / "a.flac").read_bytes() == (tmp_path / "b.FLAC").read_bytes()
    np.testing.assert_array_equal(
        soundfile.read(tmp_path / "a.flac", dtype="int32")[0],
        soundfile.read(tmp_path / "a.wav", dtype="int32")[0],
    )
    assert soundfile.info(tmp_path / "a.flac").subtype == form.upper().replace("PCM", "PCM_")


def test_ogg_sounds_like_what_was_rendered_even_in_one_long_block(tmp_path):
    time = np.arange(10 * RATE) / RATE
    x = np.stack((0.5 * np.sin(2 * np.pi * 440 * time), 0.2 * np.sin(2 * np.pi * 660 * time)), axis=1)
    written = write_audio(tmp_path / "a.ogg", x.astype(np.float32))
    back, rate = soundfile.read(tmp_path / "a.ogg")
    assert (rate, len(back), written.frames) == (RATE, len(x), len(x))
    assert np.sqrt(np.mean((back - x) ** 2)) < 0.01
