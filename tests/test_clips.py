"""The bank of clips: what goes in comes out, and what cannot be a clip says why."""

import os
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio import analysis
from ecs_audio.clips import GUARD_FRAMES, ClipError, Clips, ClipWarning
from ecs_audio.clips import conform as conform_module
from ecs_audio.clips.decode import decode

SHARED = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data"))
AUDIO = SHARED / "audio"


def sine(frequency=1000.0, seconds=0.2, rate=48_000):
    return 0.5 * np.sin(2 * np.pi * frequency / rate * np.arange(round(seconds * rate)))


def samples(clips, name):
    number = clips.id(name)
    start = clips.offset[number]
    return clips.bank[start : start + clips.length[number]]


# The bank


def test_a_clip_lies_in_the_bank_as_given():
    clips = Clips()
    given_samples = sine().astype(np.float32)
    assert clips.add("a", given_samples) == 0
    np.testing.assert_array_equal(samples(clips, "a"), given_samples)
    assert clips.bank.dtype == np.float32
    assert clips.bank.flags.c_contiguous
    assert clips.offset.dtype == clips.length.dtype == np.int64
    assert (clips.count, clips.names, "a" in clips, "b" in clips) == (1, ("a",), True, False)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 60_000), min_size=1, max_size=30), st.integers(0, 100))
def test_after_many_clips_every_one_is_unchanged_between_zeros(lengths, seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    clips = Clips()
    kept = [generator.uniform(0.1, 1.0, length).astype(np.float32) for length in lengths]
    for number, clip in enumerate(kept):
        assert clips.add(str(number), clip) == number
    outside = np.ones(len(clips.bank), dtype=bool)
    for number, clip in enumerate(kept):
        start, end = clips.offset[number], clips.offset[number] + clips.length[number]
        np.testing.assert_array_equal(clips.bank[start:end], clip)
        assert start >= GUARD_FRAMES
        assert end + GUARD_FRAMES <= len(clips.bank)
        assert not clips.bank[start - GUARD_FRAMES : start].any()
        assert not clips.bank[end : end + GUARD_FRAMES].any()
        outside[start:end] = False
    assert not clips.bank[outside].any()
    assert clips.count == len(kept) == len(clips.offset) == len(clips.length)


def test_adding_never_changes_what_a_reader_of_the_old_arrays_sees():
    clips = Clips()
    clips.add("a", sine())
    bank, offset, length = clips.bank, clips.offset, clips.length
    before = bank[: offset[0] + length[0]].copy()
    for number in range(20):
        clips.add(str(number), sine(seconds=1.0))
    assert clips.bank is not bank
    np.testing.assert_array_equal(bank[: offset[0] + length[0]], before)
    assert (clips.offset[0], clips.length[0]) == (offset[0], length[0])


def test_the_bank_grows_by_doubling_so_that_many_adds_copy_little():
    clips = Clips()
    sizes = set()
    for number in range(300):  # 1.4 million frames
        clips.add(str(number), sine(seconds=0.1))
        sizes.add(len(clips.bank))
    assert len(sizes) <= 6


# What is taken


def test_stereo_is_averaged_with_one_warning_that_names_the_clip():
    clips = Clips()
    both = np.stack((sine(500), sine(700)), axis=1)
    with pytest.warns(ClipWarning, match="'choir' is stereo") as caught:
        clips.add("choir", both)
    assert len(caught) == 1
    np.testing.assert_allclose(samples(clips, "choir"), both.mean(axis=1), atol=1e-7)


def test_a_stereo_clip_that_is_an_error_by_the_hosts_choice_is_not_added():
    clips = Clips()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ClipWarning):
            clips.add("choir", np.zeros((10, 2)))
    assert clips.count == 0
    assert "choir" not in clips


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 96_000])
def test_a_resampled_tone_keeps_its_frequency_level_and_length(rate):
    clips = Clips()
    clips.add("tone", sine(1000, 1.0, rate), rate)
    heard = samples(clips, "tone")
    assert len(heard) == 48_000
    middle = heard[4_800:-4_800]
    assert analysis.frequency(middle, 48_000) == pytest.approx(1000, rel=1e-5)
    assert analysis.tone_level_db(middle, 1000, 48_000) == pytest.approx(20 * np.log10(0.5), abs=0.01)
    outside = middle - 0.5 * np.sin(2 * np.pi * 1000 / 48_000 * np.arange(4_800, 43_200))
    assert analysis.level_db(outside) < -90


def test_the_rate_of_the_bank_is_the_default_and_changes_nothing():
    clips = Clips(rate=44_100)
    clips.add("a", sine().astype(np.float32))
    clips.add("b", sine().astype(np.float32), 44_100.0)
    np.testing.assert_array_equal(samples(clips, "a"), samples(clips, "b"))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ">f4", np.float64])
def test_floats_of_every_width_and_order_are_taken(dtype):
    clips = Clips()
    clips.add("a", np.array([0.5, -0.25], dtype=dtype))
    clips.add("b", np.array([0.5, 9.0, -0.25, 9.0], dtype=dtype)[::2])
    np.testing.assert_array_equal(samples(clips, "a"), [0.5, -0.25])
    np.testing.assert_array_equal(samples(clips, "b"), [0.5, -0.25])


# What is refused


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (np.zeros(0), "no frames"),
        (np.zeros((0, 2)), "no frames"),
        (np.array([0.0, np.nan]), "NaN or infinity, first at frame 1"),
        (np.array([[0.0, 0.0], [0.0, np.inf]]), "first at frame 1"),
        (np.array([1e300]), "infinity"),
        (np.array([0.0, 32_767.0]), "peak of 32767: scale the samples to -1..1"),
        (np.zeros((2, 3)), r"\(2, 3\)"),
        (np.zeros((3, 2, 2)), r"\(3, 2, 2\)"),
        (np.float64(0.5), r"\(\)"),
        (np.zeros(3, dtype=np.int16), "int16 samples: scale them to -1..1"),
        ([0, 1, 2], "int64 samples: scale them to -1..1"),
        (np.zeros(3, dtype=bool), "bool"),
        (np.zeros(3, dtype=complex), "complex128"),
        (["a"], "float array"),
    ],
)
def test_what_cannot_be_a_clip_is_refused_by_name_and_adds_nothing(bad, says):
    clips = Clips()
    with pytest.raises(ClipError, match=f"clip 'bad'.*{says}"):
        clips.add("bad", bad)
    assert clips.count == 0
    assert not clips.bank.any()


@pytest.mark.parametrize("rate", [0, -48_000, float("nan"), float("inf"), 1e-300])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(ClipError, match="clip 'a'"):
        Clips().add("a", sine(), rate)
    if rate != 1e-300:
        with pytest.raises(ClipError, match="rate"):
            Clips(rate=rate)


def test_less_than_a_frame_and_more_than_half_an_hour_are_refused(monkeypatch):
    with pytest.raises(ClipError, match="less than one frame"):
        Clips().add("a", np.zeros(3), 1_000_000)
    with pytest.raises(ClipError, match="at most 86400000"):
        Clips().add("a", np.zeros(40_000), 1.0)
    monkeypatch.setattr(conform_module, "MAX_FRAMES", 100)
    with pytest.raises(ClipError, match="at most 100"):
        Clips().add("a", np.zeros(101))


def test_a_taken_name_and_no_name_are_refused():
    clips = Clips()
    clips.add("siren", sine())
    with pytest.raises(ClipError, match="'siren' is there already"):
        clips.add("siren", sine())
    for name in ("", None, 3):
        with pytest.raises(ClipError, match="text is needed"):
            clips.add(name, sine())
    assert clips.names == ("siren",)


def test_an_unknown_name_suggests_the_nearest_ones():
    clips = Clips()
    for name in ("footsteps", "footstep_wood", "engine"):
        clips.add(name, sine())
    with pytest.raises(ClipError, match=r"'fotsteps': did you mean 'footsteps'"):
        clips.id("fotsteps")
    with pytest.raises(ClipError, match=r"'xyzzy'$"):
        clips.id("xyzzy")


# Files


def write(path, data=None, rate=48_000, **options):
    soundfile.write(path, sine(rate=rate) if data is None else data, rate, **options)
    return path


@pytest.mark.parametrize(
    ("ending", "options", "exact"),
    [
        (".wav", {"subtype": "FLOAT"}, 1e-7),
        (".wav", {"subtype": "PCM_U8"}, 1e-2),
        (".wav", {"subtype": "PCM_24"}, 1e-6),
        (".aiff", {}, 1e-4),
        (".flac", {}, 1e-4),
        (".ogg", {}, 0.05),
        (".opus", {"format": "OGG", "subtype": "OPUS"}, None),
        (".mp3", {}, None),
    ],
)
def test_every_format_is_decoded(tmp_path, ending, options, exact):
    path = write(tmp_path / f"tone{ending}", **options)
    clips = Clips()
    assert clips.load(path) == ["tone"]
    heard = samples(clips, "tone")
    assert analysis.tone_level_db(heard, 1000, 48_000) == pytest.approx(20 * np.log10(0.5), abs=0.2)
    if exact is not None:
        np.testing.assert_allclose(heard, sine(), atol=exact)


def test_a_file_at_another_rate_is_resampled_once(tmp_path):
    clips = Clips()
    clips.load(write(tmp_path / "a.flac", sine(1000, 1.0, 44_100), 44_100))
    assert clips.length[0] == 48_000
    assert analysis.frequency(samples(clips, "a")[2_400:-2_400], 48_000) == pytest.approx(1000, rel=1e-5)


def test_a_name_without_ending_finds_its_file_in_a_fixed_order(tmp_path):
    write(tmp_path / "boom.wav", np.full(10, 0.25))
    clips = Clips()
    assert clips.load(tmp_path / "boom") == ["boom"]
    assert samples(clips, "boom")[0] == 0.25
    write(tmp_path / "boom.flac", np.full(10, 0.5))
    assert clips.load(str(tmp_path / "boom"), name="other") == ["other"]
    assert samples(clips, "other")[0] == 0.5
    write(tmp_path / "step.1.ogg")
    assert clips.load(tmp_path / "step.1") == ["step.1"]


def test_a_missing_file_is_named_with_what_was_tried(tmp_path):
    with pytest.raises(ClipError, match=r"boom: no such file, nor with .flac, .ogg, .opus, .mp3, .wav"):
        Clips().load(tmp_path / "boom")


def test_a_folder_gives_every_sound_file_in_it_by_its_stem(tmp_path):
    for name in ("b.wav", "a.FLAC", "c.ogg", ".hidden.wav"):
        write(tmp_path / name)
    (tmp_path / "readme.txt").write_text("no sound")
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "d.wav")
    clips = Clips()
    assert clips.load(tmp_path) == ["a", "b", "c"] == list(clips.names)


def test_a_broken_file_in_a_folder_costs_only_itself(tmp_path):
    write(tmp_path / "a.wav")
    (tmp_path / "b.wav").write_bytes(b"broken")
    write(tmp_path / "c.wav")
    write(tmp_path / "c.flac")
    clips = Clips()
    with pytest.raises(ClipError, match=r"b\.wav: cannot be decoded.*c\.wav: a clip called 'c'"):
        clips.load(tmp_path)
    assert clips.names == ("a", "c")


def test_a_folder_without_sounds_and_a_name_for_a_folder_are_refused(tmp_path):
    with pytest.raises(ClipError, match="holds no sound file"):
        Clips().load(tmp_path)
    with pytest.raises(ClipError, match="is a folder"):
        Clips().load(tmp_path, name="all")


# Hostile files


def refusal(clips, path):
    """What the ClipError says, None if there is none."""
    try:
        clips.load(path)
    except ClipError as error:
        return str(error)
    return None


def whole_file(folder, ending):
    path = write(folder / f"whole{ending}", sine(seconds=1.0))
    return path.read_bytes()


@pytest.mark.parametrize("ending", [".wav", ".flac", ".aiff", ".w64", ".au"])
@pytest.mark.parametrize("share", [0.0005, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused_by_name(tmp_path, ending, share):
    data = whole_file(tmp_path, ending)
    path = tmp_path / f"cut{ending}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ClipError, match=f"cut\\{ending}"):
        Clips().load(path)


@pytest.mark.parametrize("ending", [".ogg", ".mp3"])
def test_a_truncated_stream_without_a_length_is_refused_or_taken_as_far_as_it_goes(tmp_path, ending):
    data = whole_file(tmp_path, ending)
    for share in (0.01, 0.3, 0.9):
        path = tmp_path / f"cut{ending}"
        path.write_bytes(data[: int(len(data) * share)])
        clips = Clips()
        said = refusal(clips, path)
        assert f"cut{ending}" in said if said else 0 < clips.length[0] <= 48_000


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([b"", b"RIFF", b"RIFF\xff\xff\xff\xffWAVE", b"fLaC", b"OggS", b"ID3", b"FORM", b"caff"]),
    st.binary(max_size=600),
    st.sampled_from([".wav", ".flac", ".ogg", ".mp3", ".raw", ".txt"]),
)
def test_random_bytes_are_refused_by_name_whatever_they_begin_with(tmp_path_factory, head, tail, ending):
    path = tmp_path_factory.getbasetemp() / f"noise{ending}"
    path.write_bytes(head + tail)
    with pytest.raises(ClipError, match=f"noise\\{ending}"):
        Clips().load(path)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), ending=st.sampled_from([".wav", ".flac", ".ogg", ".aiff"]))
def test_a_file_with_broken_bytes_is_refused_or_gives_finite_samples(tmp_path_factory, data, ending):
    folder = tmp_path_factory.getbasetemp()
    path = folder / f"short{ending}"
    if not path.exists():
        write(path, sine(seconds=0.05))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, min(len(content) - 1, 400)))] = data.draw(st.integers(0, 255))
    broken = folder / f"broken{ending}"
    broken.write_bytes(content)
    clips = Clips()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClipWarning)
        said = refusal(clips, broken)
    assert said is None or f"broken{ending}" in said
    assert np.isfinite(clips.bank).all()


@pytest.mark.parametrize("content", [b"", b"this is no sound\n" * 100])
def test_an_empty_file_and_a_text_are_refused(tmp_path, content):
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    with pytest.raises(ClipError, match=r"a\.wav"):
        Clips().load(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_a_float_file_with_nan_infinity_or_absurd_values_is_refused(tmp_path, value):
    data = sine().astype(np.float32)
    data[77] = value
    with pytest.raises(ClipError, match=r"a\.wav: clip 'a'"):
        Clips().load(write(tmp_path / "a.wav", data, subtype="FLOAT"))


def wav(frames, claimed_frames, channels=1, bits=16, rate=48_000):
    fmt = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    data = bytes(frames * channels * bits // 8)
    claimed = claimed_frames * channels * bits // 8
    head = struct.pack("<4sI4s4sI", b"RIFF", (36 + claimed) & 0xFFFFFFFF, b"WAVE", b"fmt ", 16) + fmt
    return head + struct.pack("<4sI", b"data", claimed & 0xFFFFFFFF) + data


def test_a_header_that_claims_more_frames_than_there_are_is_refused(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 1_000_000))
    with pytest.raises(ClipError, match=r"a\.wav: ends after 1000 frames"):
        Clips().load(tmp_path / "a.wav")


def test_a_header_from_a_pipe_that_could_not_know_its_size_is_taken(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 0x7FFFFFF0))
    clips = Clips()
    clips.load(tmp_path / "a.wav")
    assert clips.length[0] == 1000


def test_odd_bit_depths_and_many_channels_are_refused(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 1000, bits=13))
    (tmp_path / "b.wav").write_bytes(wav(1000, 1000, channels=6))
    with pytest.raises(ClipError, match=r"a\.wav"):
        Clips().load(tmp_path / "a.wav")
    with pytest.raises(ClipError, match=r"b\.wav: has 6 channels"):
        Clips().load(tmp_path / "b.wav")


def test_a_file_is_counted_while_it_is_read_and_not_read_to_its_end(tmp_path):
    path = write(tmp_path / "long.flac", np.zeros(300_000))
    with pytest.raises(ClipError, match=r"long\.flac: goes on after 100000 frames"):
        decode(path, max_frames=100_000)
    assert len(decode(path, max_frames=300_000)[0]) == 300_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(ClipError, match=r"pipe\.wav: is not a file"):
        Clips().load(tmp_path / "pipe.wav")


def test_decoders_are_imported_only_when_a_file_or_another_rate_needs_them():
    code = (
        "import sys, ecs_audio.clips, ecs_audio.output, ecs_audio.analysis\n"
        "ecs_audio.clips.Clips().synthesize('clap')\n"
        "assert not {'soundfile', 'soxr', 'scipy', 'pyloudnorm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


# Real recordings


@pytest.mark.skipif(not AUDIO.is_dir(), reason=f"the real recordings are not at {AUDIO}")
def test_real_recordings_are_decoded_resampled_and_kept_whole():
    clips = Clips()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClipWarning)
        names = clips.load(AUDIO)
    assert "tnt_explode" in names
    assert len(names) == clips.count >= 7
    for path in AUDIO.iterdir():
        if path.stem in clips:
            info = soundfile.info(path)
            heard = samples(clips, path.stem)
            assert len(heard) == pytest.approx(info.frames * 48_000 / info.samplerate, abs=1)
            original = soundfile.read(path, always_2d=True)[0].mean(axis=1)
            assert analysis.level_db(heard) == pytest.approx(analysis.level_db(original), abs=0.05)
            assert -60 < analysis.level_db(heard) < 0
