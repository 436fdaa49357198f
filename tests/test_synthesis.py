"""The built-in sounds: the same bytes each time, no seam, no click, and the spectrum their name promises."""

import numpy as np
import pytest

from ecs_audio import analysis
from ecs_audio.clips import SOUNDS, ClipError, Clips, burst, tone
from ecs_audio.clips.air import MISSILE_BAND
from ecs_audio.clips.machines import BLADE_RATE, FIRING_RATE
from ecs_audio.clips.synthesis import LOOPS, ONE_SHOTS

RATE = 48_000
RATES = (8_000, 44_100, 96_000)


@pytest.fixture(scope="module")
def heard():
    """Every sound, once."""
    return {name: sound(RATE, 0) for name, sound in SOUNDS.items()}


def envelope(x, seconds):
    """RMS of pieces of `seconds`."""
    size = round(seconds * RATE)
    return np.sqrt(np.mean(x[: len(x) // size * size].astype(float).reshape(-1, size) ** 2, axis=1))


def share(x, low, high):
    """Share of the energy between two frequencies."""
    return 10 ** ((analysis.band_level_db(x, low, high, RATE) - analysis.level_db(x)) / 10)


@pytest.mark.parametrize("name", sorted(SOUNDS))
def test_a_sound_is_mono_float32_without_offset_one_decibel_below_full_scale(heard, name):
    x = heard[name]
    assert (x.dtype, x.ndim) == (np.float32, 1)
    assert np.isfinite(x).all()
    assert abs(np.mean(x, dtype=np.float64)) < 1e-6
    assert analysis.peak_db(x) == pytest.approx(-1.0, abs=0.01)


@pytest.mark.parametrize("name", sorted(SOUNDS))
def test_the_same_seed_gives_the_same_bytes_and_leaves_numpys_own_chance_alone(heard, name):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert SOUNDS[name](RATE, 0).tobytes() == heard[name].tobytes()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("name", sorted(set(SOUNDS) - {"siren", "beep"}))
def test_another_seed_gives_another_sound_of_the_same_length(heard, name):
    other = SOUNDS[name](RATE, 1)
    assert len(other) == len(heard[name])
    assert not np.array_equal(other, heard[name])


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_a_loop_steps_and_bends_no_more_at_its_seam_than_inside(heard, name):
    x = heard[name].astype(np.float64)
    seam = np.concatenate((x[-2:], x[:2]))
    assert analysis.largest_step(seam) <= analysis.largest_step(x)
    assert np.max(np.abs(np.diff(seam, 2))) <= np.max(np.abs(np.diff(x, 2)))


@pytest.mark.parametrize("name", ["babble", "engine", "missile", "rotor", "siren", "wind", "music"])
def test_no_click_is_heard_where_a_loop_goes_round(heard, name):
    x = heard[name]
    around = np.concatenate((x[-RATE:], x[:RATE]))
    assert not np.any(np.abs(analysis.clicks(around, RATE) - RATE) < 100)


@pytest.mark.parametrize("name", sorted(ONE_SHOTS))
def test_a_one_shot_begins_and_ends_at_zero(heard, name):
    x = heard[name]
    assert x[0] == x[-1] == 0.0
    end = x[-max(len(x) // 50, 4) :]
    assert np.max(np.abs(end)) < 0.01
    assert analysis.largest_step(end) < 0.005


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", sorted(SOUNDS))
def test_every_sound_has_the_same_length_and_form_at_every_rate(heard, name, rate):
    x = SOUNDS[name](rate, 0)
    assert len(x) / rate == pytest.approx(len(heard[name]) / RATE, abs=1 / rate)
    assert np.isfinite(x).all()
    assert analysis.peak_db(x) == pytest.approx(-1.0, abs=0.01)


def test_an_engine_fires_sixty_times_a_second_with_half_orders_between(heard):
    frequencies, levels = analysis.spectrum_db(heard["engine"], RATE)
    firing = [np.max(levels[np.abs(frequencies - k * FIRING_RATE) < 1]) for k in range(1, 6)]
    quarters = [(k + quarter / 4) * FIRING_RATE for k in range(1, 6) for quarter in (1, 2, 3)]
    half = np.reshape([np.max(levels[np.abs(frequencies - f) < 1]) for f in quarters], (5, 3)).max(axis=1)
    between = np.median(levels[(frequencies > FIRING_RATE) & (frequencies < 6 * FIRING_RATE)])
    assert np.all(np.array(firing) > np.array(half))
    assert np.mean(half) > between + 15
    assert share(heard["engine"], 40, 1000) > 0.9


def test_a_rotor_buzzes_at_its_blade_rate_and_many_harmonics_and_beats(heard):
    x = heard["rotor"]
    frequencies, levels = analysis.spectrum_db(x, RATE)
    order = frequencies / BLADE_RATE
    for harmonic in (1, 2, 3, 4, 5):
        near = np.abs(order / harmonic - 1) < 0.06
        apart = np.abs(order - harmonic - 0.5) < 0.1
        assert np.max(levels[near]) > np.max(levels[apart]) + 10
    assert share(x, 1000, 8000) > 0.1
    assert np.std(envelope(x, 0.02)) / np.mean(envelope(x, 0.02)) > 0.1


def test_a_siren_winds_up_and_down_between_520_and_1400_hz(heard):
    pieces = heard["siren"].reshape(-1, RATE // 20)
    pitch = np.array([analysis.frequency(piece, RATE) for piece in pieces])
    assert np.min(pitch) == pytest.approx(520, rel=0.02)
    assert np.max(pitch) == pytest.approx(1400, rel=0.02)
    top = int(np.argmax(pitch))
    assert np.all(np.diff(pitch[: top + 1]) > 0)
    assert np.all(np.diff(pitch[top:]) < 0)


def test_a_shot_is_at_its_peak_within_a_millisecond_and_dies_by_40_db(heard):
    x = heard["shot"]
    assert np.argmax(np.abs(x)) < RATE // 1000
    level = 20 * np.log10(envelope(x, 0.01))
    assert level[0] - level[30] > 35
    assert share(x, 1000, 10_000) > 0.2


def test_a_blast_has_most_of_its_energy_below_150_hz_and_its_high_end_dies_first(heard):
    x = heard["blast"]
    assert len(x) == 2.5 * RATE
    assert share(x, 0, 150) > 0.5
    assert share(x, 0, 40) > 0.05
    start, later = x[: RATE // 10], x[RATE // 4 : RATE]

    def brightness(y):
        return analysis.band_level_db(y, 1000, 8000, RATE) - analysis.band_level_db(y, 20, 150, RATE)

    assert brightness(start) > brightness(later) + 3
    assert analysis.level_db(x[:RATE]) > analysis.level_db(x[-RATE:]) + 12


def test_footsteps_are_eight_steps_half_a_second_apart(heard):
    level = envelope(heard["footsteps"], 0.02)
    begins = np.flatnonzero((level[1:] > 0.05) & (level[:-1] < 0.02)) + 1
    assert len(begins) == 8
    np.testing.assert_allclose(np.diff(begins) * 0.02, 0.5, atol=0.045)


def test_babble_has_the_formant_range_and_the_syllable_rhythm_of_speech(heard):
    x = heard["babble"]
    assert share(x, 100, 4000) > 0.95
    assert 0.02 < share(x, 1200, 4000) < 0.5
    level = envelope(x, 0.01)
    rhythm = np.abs(np.fft.rfft(level - np.mean(level))) ** 2
    per_second = np.fft.rfftfreq(len(level), 0.01)
    syllables = np.sum(rhythm[(per_second > 0.5) & (per_second < 10)])
    assert syllables > 0.7 * np.sum(rhythm[per_second < 50])


def test_wind_falls_towards_high_frequencies_and_comes_in_gusts(heard):
    x = heard["wind"]
    levels = analysis.octave_levels_db(x, RATE, centres=(125, 500, 2000, 8000))
    assert np.all(np.diff(levels) < 0)
    gusts = envelope(x, 0.25)
    assert np.max(gusts) > 2 * np.min(gusts)


def test_a_missile_roars_and_hisses_and_keeps_within_its_band(heard):
    x = heard["missile"]
    low, high = MISSILE_BAND
    assert share(x, 50, 500) > 0.1
    assert share(x, 2000, 8000) > 0.1
    assert analysis.band_level_db(x, high * 1.001, RATE, RATE) < -120
    assert share(x, 0, low / 2) < 0.01


def test_music_is_made_of_notes_of_its_chords(heard):
    frequencies, levels = analysis.spectrum_db(heard["music"][: 2 * RATE], RATE)
    strongest = frequencies[np.argsort(levels)[-8:]]
    notes = 12 * np.log2(strongest / 440.0)  # semitones from A
    assert np.all(np.abs(notes - np.round(notes)) < 0.25)
    assert set(np.round(notes).astype(int) % 12) <= {0, 3, 7}  # A, C, E


def test_a_clap_lasts_twenty_milliseconds_and_has_every_octave(heard):
    x = heard["clap"]
    assert len(x) == 0.02 * RATE
    assert analysis.onset(x, -6) < 0.001 * RATE
    levels = analysis.octave_levels_db(x, RATE, centres=(250, 500, 1000, 2000, 4000, 8000))
    assert np.all(levels > analysis.level_db(x) - 26)


def test_a_beep_is_short_and_then_silent_so_that_it_may_loop(heard):
    x = heard["beep"]
    assert len(x) == 0.5 * RATE
    assert not x[round(0.15 * RATE) :].any()
    assert analysis.frequency(x[: round(0.1 * RATE)], RATE) == pytest.approx(880, rel=0.01)


# Tones and bursts


def test_a_tone_has_its_frequency_and_level_and_loops_when_its_cycles_are_whole():
    x = tone(440.0, 2.0)
    assert analysis.frequency(x, RATE) == pytest.approx(440.0, rel=1e-6)
    assert analysis.tone_level_db(x, 440.0, RATE) == pytest.approx(-1.0, abs=1e-4)
    assert not len(analysis.clicks(np.concatenate((x, x)), RATE))


def test_a_burst_has_soft_edges_and_its_energy_at_its_frequency():
    x = burst(500.0, 0.2)
    assert len(x) == 0.2 * RATE
    assert x[0] == x[-1] == 0.0
    assert abs(np.mean(x)) < 1e-4
    assert share(x, 400, 600) > 0.99
    assert analysis.tone_level_db(x[1000:-1000], 500.0, RATE) == pytest.approx(-1.0, abs=1e-4)
    assert not len(analysis.clicks(np.concatenate((np.zeros(1000), x, np.zeros(1000))), RATE))


@pytest.mark.parametrize("frequency", [0.0, 24_000.0, -1.0, float("nan")])
def test_a_tone_that_the_rate_cannot_hold_is_refused(frequency):
    with pytest.raises(ValueError, match="half the rate"):
        tone(frequency)


# In the bank


def test_a_built_in_sound_goes_into_the_bank_by_name(heard):
    clips = Clips()
    assert clips.synthesize("clap") == 0
    assert clips.synthesize("clap", seed=3, as_name="other") == 1
    np.testing.assert_array_equal(clips.bank[clips.offset[0] :][: clips.length[0]], heard["clap"])
    with pytest.raises(ClipError, match="'clap' is there already"):
        clips.synthesize("clap")
    with pytest.raises(ClipError, match=r"no built-in sound is called 'syren': did you mean 'siren'"):
        clips.synthesize("syren")
