"""The bank of clips: what goes in comes out, and what cannot be a clip says why."""

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio import analysis
from ecs_audio.clips import GUARD_FRAMES, ClipError, Clips
from ecs_audio.clips import conform as conform_module
from ecs_audio.clips.copies import COPIES, SPILL
from ecs_audio.clips.decode import decode

SHARED = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data"))
AUDIO = SHARED / "audio"


def sine(frequency=1000.0, seconds=0.2, rate=48_000):
    return 0.5 * np.sin(2 * np.pi * frequency / rate * np.arange(round(seconds * rate)))


def samples(clips, clip):
    """What the bank holds of a clip, by its name or number."""
    number = clips.id(clip) if isinstance(clip, str) else clip
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
    assert clips.offset.dtype == clips.length.dtype == clips.stride.dtype == clips.side.dtype == np.int64
    assert (clips.count, clips.names, "a" in clips, "b" in clips) == (1, ("a",), True, False)


def places(clips):
    """First frame and the frame after the last of everything that lies in the bank: clips and copies."""
    for start, length, stride in zip(clips.offset, clips.length, clips.stride, strict=True):
        yield start, start + length
        if stride:
            for first in start + stride * np.arange(1, COPIES + 1):
                yield first - SPILL, first + length + SPILL


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(1, 40_000), st.sampled_from("msr")), min_size=1, max_size=20),
    st.integers(0, 100),
)
def test_after_many_clips_every_one_is_unchanged_between_zeros(wanted, seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    clips = Clips(rate=500)  # copies up to 30 000 frames
    kept = []
    for length, kind in wanted:
        left, right = generator.uniform(0.1, 1.0, (2, length)).astype(np.float32)
        if kind == "r":
            clips.ring(clips.take_ring(length))[:] = left
            kept.append((left, 0, -1))
            continue
        clips.add(str(len(kept)), left if kind == "m" else np.stack((left, right), axis=1))
        number, copied = len(kept), length <= 30_000
        if kind == "m":
            kept.append((left, copied, -1))
        else:
            kept += [((left + right) / 2, copied, number + 1), ((left - right) / 2, copied, -1)]
    assert clips.count == len(kept) == len(clips.offset) == len(clips.length)
    np.testing.assert_array_equal(clips.stride > 0, [copied for _, copied, _ in kept])
    np.testing.assert_array_equal(clips.side, [side for _, _, side in kept])
    for number, (clip, _, _) in enumerate(kept):
        np.testing.assert_array_equal(samples(clips, number), clip)
    outside = np.ones(len(clips.bank), dtype=bool)
    before = 0
    for start, end in places(clips):
        assert start - before >= GUARD_FRAMES
        outside[start:end] = False
        before = end
    assert before + GUARD_FRAMES <= len(clips.bank)
    assert not clips.bank[outside].any()


def test_adding_never_changes_what_a_reader_of_the_old_arrays_sees():
    clips = Clips()
    clips.add("a", sine())
    old = clips.bank, clips.offset, clips.length, clips.stride, clips.side
    end = max(end for _, end in places(clips))
    before = old[0][:end].copy()
    for number in range(20):
        clips.add(str(number), sine(seconds=1.0))
    assert clips.bank is not old[0]
    np.testing.assert_array_equal(old[0][:end], before)
    np.testing.assert_array_equal(clips.bank[:end], before)
    for now, then in zip((clips.offset, clips.length, clips.stride, clips.side), old[1:], strict=True):
        assert (len(then), now[0]) == (1, then[0])


def test_the_bank_grows_by_doubling_so_that_many_adds_copy_little():
    clips = Clips()
    sizes = set()
    for number in range(300):  # 6.2 million frames with copies
        clips.add(str(number), sine(seconds=0.1))
        sizes.add(len(clips.bank))
    assert len(sizes) <= 8


# What is taken


def stereo(left, right):
    return np.stack((left, right), axis=1)


def test_a_stereo_clip_is_its_mid_and_the_next_row_its_side():
    clips = Clips()
    left, right = sine(500), sine(700)
    clips.add("solo", left)
    assert clips.add("choir", stereo(left, right)) == 1
    assert clips.add("last", right) == 3
    np.testing.assert_array_equal(clips.side, [-1, 2, -1, -1])
    np.testing.assert_allclose(samples(clips, "choir") + samples(clips, 2), left, atol=1e-7)
    np.testing.assert_allclose(samples(clips, "choir") - samples(clips, 2), right, atol=1e-7)
    assert (clips.stride > 0).all()
    assert (clips.count, clips.names) == (4, ("solo", "choir", "last"))
    assert (clips.id("choir"), clips.id("last")) == (1, 3)


def test_two_equal_channels_are_one():
    clips = Clips()
    clips.add("a", stereo(sine(), sine()))
    np.testing.assert_array_equal(samples(clips, "a"), sine().astype(np.float32))
    assert (clips.count, list(clips.side)) == (1, [-1])


def test_two_opposite_channels_are_all_side():
    clips = Clips()
    clips.add("a", stereo(sine(), -sine()))
    assert not samples(clips, "a").any()
    np.testing.assert_array_equal(samples(clips, clips.side[0]), sine().astype(np.float32))


def test_mid_and_side_of_a_resampled_clip_are_as_long_and_give_back_its_channels():
    clips = Clips()
    clips.add("a", stereo(sine(500, 1.0, 22_050), sine(700, 1.0, 22_050)), 22_050)
    mid, side = samples(clips, 0), samples(clips, 1)
    assert len(mid) == len(side) == 48_000
    inside = slice(4_800, -4_800)
    np.testing.assert_allclose((mid + side)[inside], sine(500, 1.0)[inside], atol=1e-4)
    np.testing.assert_allclose((mid - side)[inside], sine(700, 1.0)[inside], atol=1e-4)


def test_a_refused_stereo_clip_leaves_no_side_behind():
    clips = Clips()
    for bad in (stereo(sine(), np.full(9_600, np.nan)), stereo(sine(), np.full(9_600, 2_000.0))):
        with pytest.raises(ClipError, match="clip 'choir'"):
            clips.add("choir", bad)
    with pytest.raises(ClipError, match="less than one frame"):
        clips.add("choir", stereo(np.ones(3), -np.ones(3)), 1_000_000)
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


# Rings


def test_a_ring_is_nameless_silence_that_its_view_writes():
    clips = Clips()
    clips.add("a", sine())
    ring = clips.take_ring(1000)
    assert (ring, clips.count, clips.names) == (1, 2, ("a",))
    assert (clips.length[1], clips.stride[1], clips.side[1]) == (1000, 0, -1)
    assert not clips.ring(ring).any()
    clips.ring(ring)[3] = 0.5
    assert samples(clips, ring)[3] == 0.5


def test_a_ring_keeps_its_samples_when_the_bank_grows():
    clips = Clips()
    ring = clips.take_ring(100)
    clips.ring(ring)[:] = 0.25
    clips.add("a", sine(seconds=2.0))
    clips.ring(ring)[1] = 0.75
    assert list(samples(clips, ring)[:3]) == [0.25, 0.75, 0.25]


def test_a_ring_that_was_given_back_is_silent_and_taken_again_for_its_length_only():
    clips = Clips()
    first, second = clips.take_ring(100), clips.take_ring(100)
    clips.ring(first)[:] = 1.0
    clips.ring(second)[:] = 0.5
    clips.give_back(first)
    assert not samples(clips, first).any()
    assert samples(clips, second).all()
    assert clips.take_ring(99) == 2
    assert clips.take_ring(np.int64(100)) == first
    assert clips.take_ring(100) == 3


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["take", "give", "add"]), st.integers(0, 9)), max_size=40))
def test_a_ring_is_never_taken_twice_and_none_writes_into_another(steps):
    clips = Clips()
    held, most = {}, {}
    for count, (step, n) in enumerate(steps, 1):
        length = 10 * (1 + n % 3)
        if step == "take":
            ring = clips.take_ring(length)
            assert ring not in held
            assert len(clips.ring(ring)) == length
            assert not clips.ring(ring).any()
            clips.ring(ring)[:] = held[ring] = np.float32(count)
            alike = sum(clips.length[other] == length for other in held)
            most[length] = max(most.get(length, 0), alike)
        elif step == "give" and held:
            clips.give_back(ring := list(held)[n % len(held)])
            del held[ring]
        elif step == "add":
            clips.add(str(count), np.full(1 + 7_000 * n, 0.5))
        for ring, value in held.items():
            assert (samples(clips, ring) == value).all()
    assert clips.count == len(clips.names) + sum(most.values())


def test_lengths_that_are_none_and_clips_that_are_no_taken_ring_are_refused():
    clips = Clips()
    for frames in (0, -5, 1.5, float("nan"), float("inf"), 10**12):
        with pytest.raises(
            ClipError, match=f"a ring of {re.escape(str(frames))} frames: a whole number from"
        ):
            clips.take_ring(frames)
    clips.add("a", sine())
    given_back = clips.take_ring(10)
    clips.give_back(given_back)
    for number in (clips.id("a"), given_back, -1, 77):
        with pytest.raises(ClipError, match=f"clip {number} is not a ring that is taken"):
            clips.ring(number)
        with pytest.raises(ClipError, match=f"clip {number} is not a ring that is taken"):
            clips.give_back(number)


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


def png():
    """A picture of one grey pixel."""

    def chunk(kind, data):
        return struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = chunk(b"IDAT", zlib.compress(b"\0\x80"))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixel + chunk(b"IEND", b"")


def endless_flac(folder):
    """Real samples under a header that claims 2^36 - 1 frames: 256 GiB as float32."""
    data = bytearray(write(folder / "whole.flac").read_bytes())
    data[21] |= 0x0F  # of the stream's 36 bits of total samples, the upper four
    data[22:26] = b"\xff" * 4
    return bytes(data)


def au(claimed_bytes, channels=1):
    return struct.pack(">4sIIIII", b".snd", 24, claimed_bytes, 6, 48_000, channels) + bytes(4_000)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("bits13.wav", wav(1000, 1000, bits=13), "has 13 bits a sample"),
        ("bits36.wav", wav(1000, 1000, bits=36), "cannot be decoded"),
        ("bits0.wav", wav(1000, 1000, bits=0), "cannot be decoded"),
        ("picture.wav", png(), "cannot be decoded"),
        ("picture.flac", png(), "cannot be decoded"),
        ("rate0.wav", wav(1000, 1000, rate=0), "cannot be decoded"),
        ("none.wav", wav(0, 0), "no frames"),
        ("channels0.wav", wav(1000, 1000, channels=0), "cannot be decoded"),
        ("channels6.wav", wav(1000, 1000, channels=6), "has 6 channels"),
        ("channels1024.wav", wav(10, 10, channels=1024), "has 1024 channels"),
    ],
)
def test_a_file_that_is_no_sound_for_us_is_refused_by_name(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    clips = Clips()
    with pytest.raises(ClipError, match=f"{name}.*{says}"):
        clips.load(tmp_path / name)
    assert clips.count == 0


def test_seven_bits_a_sample_are_refused_by_name(tmp_path):
    data = bytes([0, 64, 128, 192, 254])
    fmt = struct.pack("<HHIIHH", 1, 1, 48_000, 48_000, 1, 7)
    head = struct.pack("<4sI4s4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16) + fmt
    (tmp_path / "a.wav").write_bytes(head + struct.pack("<4sI", b"data", len(data)) + data)
    with pytest.raises(ClipError, match=r"a\.wav: has 7 bits a sample, and 4, 8, 12"):
        Clips().load(tmp_path / "a.wav")


def many_channels():
    """65 535 channels of 16 bits."""
    fmt = struct.pack("<HHIIHH", 1, 65_535, 48_000, 0xFFFFFFFF, 0xFFFF, 16)
    head = struct.pack("<4sI4s4sI", b"RIFF", 0x7FFFFFFF, b"WAVE", b"fmt ", 16) + fmt
    return head + struct.pack("<4sI", b"data", 0x7FFFFF00) + bytes(200_000)


IN_LITTLE_MEMORY = """
import resource, sys
import soundfile, soxr
from ecs_audio.clips import ClipError, Clips
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    clips = Clips()
    try:
        clips.load(path)
        print("taken:", clips.length[0])
    except ClipError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no limit of memory to set here")
def test_headers_that_claim_gigabytes_cost_no_memory(tmp_path):
    bombs = {
        "frames.flac": endless_flac(tmp_path),
        "channels.wav": many_channels(),
        "frames.wav": wav(1000, 0x3FFF0000),
        "frames.au": au(0x7FFF0000),
        "channels.au": au(0x7FFF0000, channels=65_535),
        "more.au": au(0x7FFF0000, channels=0x7FFFFFFF),
    }
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", IN_LITTLE_MEMORY, *(str(tmp_path / name) for name in bombs)]
    done = subprocess.run(command, check=True, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    for name, line in zip(bombs, done.stdout.splitlines(), strict=True):
        assert name in line


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
    names = clips.load(AUDIO)
    assert "tnt_explode" in names
    assert len(names) == len(clips.names) >= 7
    for path in AUDIO.iterdir():
        if path.stem in clips:
            info = soundfile.info(path)
            heard = samples(clips, path.stem)
            assert len(heard) == pytest.approx(info.frames * 48_000 / info.samplerate, abs=1)
            original = soundfile.read(path, always_2d=True)[0].mean(axis=1)
            assert analysis.level_db(heard) == pytest.approx(analysis.level_db(original), abs=0.05)
            assert -60 < analysis.level_db(heard) < 0
            assert (clips.side[clips.id(path.stem)] >= 0) <= (info.channels == 2)
