"""The ears themselves: measured against sounds whose numbers follow from a formula."""

import builtins
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecs_audio import analysis

RATE = 48_000


def sine(frequency, seconds=1.0, amplitude=1.0, phase=0.0, rate=RATE):
    return amplitude * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate + phase)


def noise(seconds=1.0, seed=0):
    return np.random.Generator(np.random.PCG64(seed)).normal(0.0, 0.1, round(seconds * RATE))


def shifted(x, frames):
    """`x` later by any fraction of frames, through the Fourier transform."""
    spectrum = np.fft.rfft(x, 2 * len(x))
    turns = np.exp(-2j * np.pi * np.arange(len(spectrum)) * frames / (2 * len(x)))
    return np.fft.irfft(spectrum * turns, 2 * len(x))


# Levels


def test_a_sine_of_amplitude_one_has_minus_3_dbfs_and_a_square_wave_has_none():
    assert analysis.level_db(sine(1000)) == pytest.approx(-10 * math.log10(2), abs=1e-9)
    assert analysis.level_db(np.sign(sine(1000, phase=0.1))) == pytest.approx(0.0, abs=1e-9)


def test_half_the_amplitude_is_6_db_less_in_every_measure():
    loud, soft = sine(440), sine(440, amplitude=0.5)
    for measure in (analysis.level_db, analysis.peak_db, lambda x: analysis.tone_level_db(x, 440, RATE)):
        assert measure(loud) - measure(soft) == pytest.approx(20 * math.log10(2), abs=1e-6)


def test_the_level_of_two_channels_is_their_mean_power():
    both = np.stack((sine(500), np.zeros(RATE)), axis=1)
    assert analysis.level_db(both) == pytest.approx(analysis.level_db(sine(500)) - 10 * math.log10(2))
    assert analysis.peak_db(both) == pytest.approx(0.0, abs=1e-3)


def test_silence_is_minus_infinity_and_warns_nobody():
    silence = np.zeros(RATE, dtype=np.float32)
    assert analysis.level_db(silence) == -math.inf
    assert analysis.peak_db(silence) == -math.inf
    assert analysis.tone_level_db(silence, 1000, RATE) == -math.inf
    assert analysis.band_level_db(silence, 100, 1000, RATE) == -math.inf
    assert analysis.loudness_lufs(silence, RATE) == -math.inf
    assert np.all(analysis.spectrum_db(silence, RATE)[1] == -math.inf)


def test_nan_does_not_pass_for_silence_or_for_a_clean_recording():
    x = sine(300).astype(np.float32)
    x[20_000] = math.nan
    assert math.isnan(analysis.level_db(x))
    assert math.isnan(analysis.peak_db(x))
    assert math.isnan(analysis.band_level_db(x, 100, 1000, RATE))
    assert math.isnan(analysis.loudness_lufs(x, RATE))
    assert len(analysis.clicks(x, RATE)) >= 1


def test_no_samples_and_wrong_shapes_are_refused():
    for measure in (analysis.level_db, analysis.peak_db):
        with pytest.raises(ValueError, match="no samples"):
            measure(np.zeros(0))
    with pytest.raises(ValueError, match=r"\(100, 2\)"):
        analysis.tone_level_db(np.zeros((100, 2)), 1000, RATE)


# Tones


@given(
    frequency=st.floats(50, 20_000),
    amplitude=st.floats(1e-4, 1.0),
    phase=st.floats(0, 6.28),
    seconds=st.floats(0.05, 0.5),
)
def test_the_level_of_a_tone_is_exact_at_any_frequency_phase_and_length(frequency, amplitude, phase, seconds):
    x = sine(frequency, seconds, amplitude, phase) + 0.01  # an offset does not matter
    assert analysis.tone_level_db(x, frequency, RATE) == pytest.approx(20 * math.log10(amplitude), abs=1e-6)


def test_a_loud_tone_ten_bins_away_is_not_mistaken_for_the_one_asked_for():
    x = sine(1000, seconds=0.5)
    assert analysis.tone_level_db(x, 1000 + 10 / 0.5, RATE) < -60
    assert analysis.tone_level_db(x + sine(3000, 0.5, 1e-3), 3000, RATE) == pytest.approx(-60, abs=0.01)


def test_a_weak_tone_is_found_in_noise():
    x = noise(4.0) + sine(2000, 4.0, 0.05)
    assert analysis.tone_level_db(x, 2000, RATE) == pytest.approx(20 * math.log10(0.05), abs=0.5)


@given(frequency=st.floats(210, 20_000), phase=st.floats(0, 6.28), seconds=st.floats(0.5, 1.0))
def test_the_frequency_of_a_tone_is_found_within_a_hundredth_of_a_percent(frequency, phase, seconds):
    x = sine(frequency, seconds, 0.1, phase) + noise(seconds)[: round(seconds * RATE)] * 0.01
    assert analysis.frequency(x, RATE) == pytest.approx(frequency, rel=1e-4)


def test_the_frequency_is_that_of_the_strongest_tone_even_with_harmonics_and_an_offset():
    x = 0.5 + sine(733.3) + sine(2 * 733.3, amplitude=0.7) + sine(3 * 733.3, amplitude=0.5)
    assert analysis.frequency(x, RATE) == pytest.approx(733.3, rel=1e-5)


def test_silence_and_a_mere_offset_have_no_frequency():
    with pytest.raises(ValueError, match="silence"):
        analysis.frequency(np.zeros(4800), RATE)


# Bands


def test_the_powers_of_adjoining_bands_add_up_to_the_whole():
    x = noise(0.7)[:-1] + 0.03
    bands = [(0, 100), (100, 1000), (1000, 10_000), (10_000, 30_000)]
    powers = [10 ** (analysis.band_level_db(x, low, high, RATE) / 10) for low, high in bands]
    assert 10 * math.log10(sum(powers)) == pytest.approx(analysis.level_db(x), abs=1e-9)


def test_white_noise_has_3_db_more_in_each_higher_octave():
    levels = analysis.octave_levels_db(noise(10.0), RATE, centres=(250, 500, 1000, 2000, 4000, 8000))
    np.testing.assert_allclose(np.diff(levels), 10 * math.log10(2), atol=0.3)


def test_a_tone_counts_in_its_own_octave_only():
    levels = analysis.octave_levels_db(sine(1000.3), RATE, steady=True)
    assert levels[analysis.OCTAVES.index(1000)] == pytest.approx(-10 * math.log10(2), abs=1e-6)
    assert np.all(np.delete(levels, analysis.OCTAVES.index(1000)) < -100)


def test_a_window_for_steady_sounds_hides_that_they_were_cut_off():
    cut = sine(1000.3)
    assert -60 < analysis.band_level_db(cut, 5600, 11_200, RATE) < -40
    assert analysis.band_level_db(cut, 5600, 11_200, RATE, steady=True) < -100


def test_a_short_sound_counts_wherever_it_lies_in_the_recording():
    early, late = np.zeros(RATE), np.zeros(RATE)
    early[10:1010], late[-1010:-10] = noise()[:1000], noise()[:1000]
    for low, high in ((100, 1000), (1000, 8000)):
        assert analysis.band_level_db(early, low, high, RATE) == pytest.approx(
            analysis.band_level_db(late, low, high, RATE), abs=1e-6
        )


def test_octaves_above_half_the_rate_are_empty():
    assert analysis.octave_levels_db(noise(), 16_000)[-1] == -math.inf


def test_the_spectrum_shows_a_tone_at_its_level_and_place():
    frequencies, levels = analysis.spectrum_db(sine(1000, amplitude=0.1), RATE)
    assert frequencies[np.argmax(levels)] == 1000
    assert np.max(levels) == pytest.approx(-20, abs=1e-3)
    assert frequencies[-1] == RATE / 2


# Times


def test_the_onset_is_the_first_frame_above_the_threshold_in_any_channel():
    x = np.zeros((1000, 2))
    x[300, 1], x[200, 0], x[100, 0] = 1.0, -0.0101, 0.0099
    assert analysis.onset(x) == 200
    assert analysis.onset(x, threshold_db=-6) == 300
    with pytest.raises(ValueError, match="silence"):
        analysis.onset(np.zeros(10))


@given(st.integers(-2000, 2000), st.integers(2100, 6000))
def test_a_delay_of_whole_frames_is_found_exactly(frames, length):
    sound = noise()[:2000]
    x, reference = np.zeros(length + 2000), np.zeros(4000)
    x[max(frames, 0) : max(frames, 0) + 2000] = sound
    reference[max(-frames, 0) : max(-frames, 0) + 2000] = sound
    assert analysis.delay_between(x, reference) == pytest.approx(frames, abs=0.02)


@given(st.floats(-3.0, 3.0))
def test_a_fraction_of_a_frame_is_found_within_a_twentieth_in_music_band_noise(fraction):
    spectrum = np.fft.rfft(noise()[:8192])
    spectrum[len(spectrum) // 4 :] = 0.0
    sound = np.fft.irfft(spectrum) * np.hanning(8192)
    delay = 100 + fraction
    assert analysis.delay_between(shifted(sound, delay), sound) == pytest.approx(delay, abs=0.05)


def test_a_delay_is_found_under_noise_and_at_another_level():
    sound = noise(0.5)
    x = 0.1 * np.concatenate((np.zeros(1234), sound)) + 0.5 * noise(0.5 + 1234 / RATE, seed=1)
    assert analysis.delay_between(x, sound) == pytest.approx(1234, abs=0.2)


# Steps and clicks


def test_the_largest_step_of_a_sine_is_its_slope():
    assert analysis.largest_step(sine(100)) == pytest.approx(2 * math.sin(math.pi * 100 / RATE), rel=1e-4)
    assert analysis.largest_step(np.array([[0.0, 0.0], [0.1, -0.4]])) == 0.4


@given(place=st.integers(500, 47_000), size=st.floats(0.05, 0.5), frequency=st.floats(50, 500))
def test_a_jump_in_a_tone_is_found_where_it_is(place, size, frequency):
    x = sine(frequency, amplitude=0.5)
    x[place:] += size
    (found,) = analysis.clicks(x, RATE)
    assert abs(found - place) <= 1


def test_a_spike_a_gap_and_a_cut_are_clicks():
    for spoil in (
        lambda x: x.__setitem__(20_000, 0.8),
        lambda x: x.__setitem__(slice(20_000, 20_100), 0.0),
        lambda x: x.__setitem__(slice(20_000, None), 0.0),
    ):
        x = sine(200, amplitude=0.5, phase=1.0)
        spoil(x)
        found = analysis.clicks(x, RATE)
        assert len(found) == 1
        assert abs(found[0] - 20_000) <= 101


def test_a_click_in_one_of_two_channels_is_found():
    x = np.stack((noise(), sine(300)), axis=1)
    x[7_000:, 1] *= -1.0
    x[7_000:, 1] += 0.5
    assert len(analysis.clicks(x, RATE)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_noise_tones_fades_and_loud_starts_are_no_clicks(seed):
    assert not len(analysis.clicks(noise(5.0, seed), RATE))
    assert not len(analysis.clicks(sine(50 * 3**seed, phase=seed), RATE))
    started = np.concatenate((np.zeros(5000), noise(0.2, seed), np.zeros(5000)))
    assert not len(analysis.clicks(started, RATE))
    fading = noise(0.5, seed) * np.exp(-np.arange(RATE // 2) / 3000)
    assert not len(analysis.clicks(fading, RATE))


def test_nothing_clicks_in_nothing():
    assert not len(analysis.clicks(np.zeros(1000), RATE))
    assert not len(analysis.clicks(np.zeros(2), RATE))
    assert analysis.largest_step(np.zeros(1)) == 0.0


# Loudness


def test_a_1_khz_sine_at_full_scale_in_one_channel_is_minus_3_lufs():
    # ITU-R BS.1770: a 997 Hz sine of 0 dBFS in one front channel reads −3.01
    assert analysis.loudness_lufs(sine(997, 3.0), RATE) == pytest.approx(-3.01, abs=0.05)
    both = np.stack((sine(997, 3.0),) * 2, axis=1)
    assert analysis.loudness_lufs(both, RATE) == pytest.approx(0.0, abs=0.05)


def test_loudness_of_less_than_one_gating_block_is_refused():
    with pytest.raises(ValueError, match=r"0\.4 s"):
        analysis.loudness_lufs(sine(1000, 0.3), RATE)


def test_without_pyloudnorm_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name == "pyloudnorm":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    with pytest.raises(ImportError, match=r"ecs-audio\[analysis\]"):
        analysis.loudness_lufs(sine(1000), RATE)


def test_third_octaves_divide_the_band_between_them_and_three_make_an_octave():
    x = np.stack((noise(2.0), 0.3 * noise(2.0, seed=1)), axis=1)
    thirds = 10 ** (analysis.third_octave_levels_db(x, RATE) / 10)
    edge = 10**0.05
    whole = analysis.band_level_db(x, analysis.THIRDS[0] / edge, analysis.THIRDS[-1] * edge, RATE)
    assert 10 * math.log10(thirds.sum()) == pytest.approx(whole, abs=1e-9)
    octaves = analysis.octave_levels_db(x, RATE)
    middle = analysis.THIRDS.index(1000.0)
    of_thirds = 10 * math.log10(thirds[middle - 1 : middle + 2].sum())
    assert of_thirds == pytest.approx(octaves[analysis.OCTAVES.index(1000)], abs=0.1)


def test_the_band_level_of_two_channels_is_their_mean_power():
    both = np.stack((sine(1000.0), np.zeros(RATE)), axis=1)
    one = analysis.band_level_db(sine(1000.0), 700, 1400, RATE)
    assert analysis.band_level_db(both, 700, 1400, RATE) == pytest.approx(one - 10 * math.log10(2))


def test_silent_ends_are_counted_in_frames_and_nan_is_no_silence():
    x = np.zeros((1000, 2))
    x[100:900, 1] = 0.1
    assert analysis.silent_ends(x) == (100, 100)
    assert analysis.silent_ends(x, floor_db=-10) == (1000, 1000)
    x[50, 0], x[999, 0] = math.nan, 1e-6
    assert analysis.silent_ends(x) == (50, 100)


# True peak


def test_the_true_peak_of_a_quarter_rate_sine_is_its_amplitude_though_all_samples_are_3_db_lower():
    # The example of ITU-R BS.1770: at rate / 4 and 45° every sample is at 0.707.
    x = sine(RATE / 4, phase=math.pi / 4) * np.hanning(RATE)
    assert analysis.peak_db(x) == pytest.approx(-3.01, abs=0.01)
    assert analysis.true_peak_db(x) == pytest.approx(0.0, abs=0.05)
    assert analysis.true_peak_db(np.stack((0.1 * x, x), axis=1)) == pytest.approx(0.0, abs=0.05)


@given(frequency=st.floats(200, 23_000), phase=st.floats(0, 6.28))
def test_the_true_peak_of_a_tone_is_at_most_0_7_db_low_and_never_below_the_peak(frequency, phase):
    x = sine(frequency, phase=phase) * np.hanning(RATE)
    allowed = 0.03 if frequency < RATE / 10 else 0.2 if frequency < RATE / 4 else 0.7
    assert max(analysis.peak_db(x), -allowed) <= analysis.true_peak_db(x) <= 0.05


def test_the_true_peak_of_silence_and_of_nan():
    assert analysis.true_peak_db(np.zeros(100)) == -math.inf
    assert math.isnan(analysis.true_peak_db(np.array([0.0, math.nan, 0.0])))
    with pytest.raises(ValueError, match="not empty"):
        analysis.true_peak_db(np.zeros(0))
