"""The bank of clips: what goes in comes out, and what cannot be a clip says why."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio import analysis
from ecs_audio.clips import GUARD_FRAMES, ClipError, Clips
from ecs_audio.clips import conform as conform_module
from ecs_audio.clips.copies import COPIES, SPILL

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
