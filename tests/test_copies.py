"""Copies of clips: what they keep, what they lack, and that nothing of them is late."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from ecs_audio.clips import Clips
from ecs_audio.clips.copies import COPIED_SECONDS, COPIES, COPY_STEP, SPILL, STOP_DB, band_limited, low_pass

RATE = 48_000
NUMBERS = range(1, COPIES + 1)
TRANSITION = 484.0
"""From pass to stop band, at 48 kHz [Hz]."""


def stop(copy):
    """The frequency [Hz] that the fastest speed of a copy shifts to half the rate."""
    return RATE / 2 / (COPY_STEP * 2**copy)


def noise(frames, seed=0):
    return np.random.Generator(np.random.PCG64(seed)).uniform(-1.0, 1.0, frames).astype(np.float32)


def tone(frequency, frames=RATE):
    return np.sin(2 * np.pi * frequency / RATE * np.arange(frames)).astype(np.float32)


def decibels(ratio):
    return 20 * np.log10(np.maximum(ratio, 1e-12))


def rms(samples):
    return np.sqrt(np.mean(np.asarray(samples, dtype=np.float64) ** 2))


def lying(clips, number, copy):
    """A copy with its spills, as it lies in the bank."""
    start = clips.offset[number] + copy * clips.stride[number]
    return clips.bank[start - SPILL : start + clips.length[number] + SPILL]


def plain(clip, copy):
    """The copy by summing products, with a low-pass that scipy designs."""
    cutoff = stop(copy) - (STOP_DB - 7.95) / (14.36 * 2 * SPILL) * RATE / 2
    taps = signal.firwin(2 * SPILL + 1, cutoff, window=("kaiser", signal.kaiser_beta(STOP_DB)), fs=RATE)
    return np.convolve(clip.astype(np.float64), taps)


# The low-pass


@pytest.mark.parametrize("copy", NUMBERS)
def test_a_low_pass_keeps_its_pass_band_and_mutes_everything_above(copy):
    taps = low_pass(copy)
    assert len(taps) == 2 * SPILL + 1
    frequency, response = signal.freqz(taps, worN=1 << 16, fs=RATE)
    level = decibels(np.abs(response))
    assert np.abs(level[frequency <= stop(copy) - TRANSITION]).max() < 0.01
    assert level[frequency >= stop(copy)].max() < -81.5


@pytest.mark.parametrize("copy", NUMBERS)
def test_a_low_pass_is_symmetric_and_leaves_a_constant_as_it_is(copy):
    taps = low_pass(copy)
    np.testing.assert_allclose(taps, taps[::-1], atol=1e-17)
    assert taps.sum() == pytest.approx(1.0, abs=1e-15)


# Copies


@pytest.mark.parametrize("frames", [1, 2, 100, 7_679, 7_680, 7_681, 7_680 + 1, 3 * 7_680 - 1, 20_000])
def test_a_copy_is_the_clip_through_its_low_pass_whatever_the_length(frames):
    clip = noise(frames)
    copied = band_limited(clip)
    assert (copied.shape, copied.dtype) == ((COPIES, frames + 2 * SPILL), np.float32)
    for copy in NUMBERS:
        np.testing.assert_allclose(copied[copy - 1], plain(clip, copy), atol=3e-7)


@pytest.mark.parametrize("copy", NUMBERS)
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_a_tone_in_the_pass_band_keeps_level_and_phase(copy, share):
    wave = tone(share * (stop(copy) - TRANSITION))
    kept = band_limited(wave)[copy - 1, SPILL:-SPILL]
    inside = slice(2 * SPILL, -2 * SPILL)
    assert decibels(rms(kept[inside]) / rms(wave[inside])) == pytest.approx(0.0, abs=0.1)
    assert decibels(rms((kept - wave)[inside]) / rms(wave[inside])) < -75


@pytest.mark.parametrize("copy", NUMBERS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_tone_in_the_stop_band_is_muted_by_eighty_decibels(copy, share):
    wave = tone(stop(copy) + share * (RATE / 2 - stop(copy)))
    left = band_limited(wave)[copy - 1, 3 * SPILL : -3 * SPILL]
    assert decibels(rms(left) / rms(wave)) < -80


@pytest.mark.parametrize("copy", NUMBERS)
def test_at_its_fastest_speed_a_copy_of_noise_has_nothing_left_to_fold(copy):
    clip = noise(RATE)
    frequency, power = signal.welch(band_limited(clip)[copy - 1], RATE, "blackmanharris", 4096)
    _, before = signal.welch(clip, RATE, "blackmanharris", 4096)
    folding = frequency >= stop(copy) + 50.0  # half of the window's main lobe
    assert np.sqrt(power[folding].sum() / before[folding].sum()) < 1e-4


@pytest.mark.parametrize(("copy", "speed", "frequency"), [(1, 2, 15_000), (2, 4, 7_000), (3, 9, 2_900)])
def test_a_tone_that_would_fold_is_gone_when_only_every_nth_frame_is_read(copy, speed, frequency):
    wave = tone(frequency)
    inside = slice(3 * SPILL, -3 * SPILL, speed)
    assert decibels(rms(wave[inside]) * np.sqrt(2)) == pytest.approx(0.0, abs=0.01)
    assert decibels(rms(band_limited(wave)[copy - 1, SPILL:-SPILL][inside]) * np.sqrt(2)) < -80


@pytest.mark.parametrize("copy", NUMBERS)
@pytest.mark.parametrize("frame", [0, 1, 500, 7_670, 9_999])
def test_a_click_stays_symmetric_around_its_frame(copy, frame):
    clip = np.zeros(10_000, dtype=np.float32)
    clip[frame] = 1.0
    copied = band_limited(clip)[copy - 1]
    around = copied[frame : frame + 2 * SPILL + 1]
    np.testing.assert_allclose(around, around[::-1], atol=1e-9)
    assert np.argmax(np.abs(copied)) == frame + SPILL
    np.testing.assert_allclose(np.delete(copied, np.s_[frame : frame + 2 * SPILL + 1]), 0.0, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9_000), st.integers(0, 1000))
def test_a_loop_wrapped_with_its_spills_is_the_copy_of_its_endless_repetition(frames, seed):
    clip = noise(frames, seed)
    before, after = -(-SPILL // frames), -(-SPILL // frames) + 1
    endless = np.tile(clip, before + 1 + after)
    for copy in NUMBERS:
        wrapped = np.zeros(frames)
        np.add.at(wrapped, np.arange(-SPILL, frames + SPILL) % frames, band_limited(clip)[copy - 1])
        begin = SPILL + before * frames
        turn = band_limited(endless)[copy - 1, begin : begin + frames]
        np.testing.assert_allclose(wrapped, turn, atol=2e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20_000), st.integers(1, 300), st.integers(0, 1000))
def test_copying_is_linear_and_does_not_depend_on_when(frames, late, seed):
    clip = noise(frames, seed)
    later = np.concatenate((np.zeros(late, dtype=np.float32), np.float32(-0.5) * clip))
    np.testing.assert_allclose(band_limited(later)[:, late:], -0.5 * band_limited(clip), atol=1e-6)


def test_silence_is_copied_as_silence_and_the_loudest_clip_without_infinity():
    assert not band_limited(np.zeros(10_000, dtype=np.float32)).any()
    assert np.isfinite(band_limited(np.full(10_000, 1000.0, dtype=np.float32))).all()


# In the bank


@pytest.mark.parametrize("frames", [1, 7, 48_000])
def test_copies_lie_a_stride_apart_behind_their_clip(frames):
    clips = Clips()
    clip = noise(frames)
    clips.add("first", noise(300))
    number = clips.add("a", clip)
    clips.add("last", noise(300))
    for copy in NUMBERS:
        np.testing.assert_array_equal(lying(clips, number, copy), band_limited(clip)[copy - 1])


def test_only_clips_of_a_minute_at_most_have_copies():
    clips = Clips(rate=100)
    longest = round(COPIED_SECONDS * 100)
    clips.add("a", noise(longest))
    clips.add("b", noise(longest + 1))
    np.testing.assert_array_equal(clips.stride > 0, [True, False])


def test_a_clip_with_copies_takes_four_times_its_memory_and_seven_and_a_half_kilobytes():
    clips = Clips()
    clips.add("a", np.ones(1))
    used = np.flatnonzero(clips.bank)
    assert 4 * (used[-1] + 1) < 7_500
    clips.add("b", np.ones(RATE))
    end = clips.offset[1] + COPIES * clips.stride[1] + clips.length[1] + SPILL
    assert 4 * (end - clips.offset[1]) < 4 * 4 * RATE + 7_500
