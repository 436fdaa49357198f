"""Nothing folds back: clips are read up to eight times as fast as they were made."""

import numpy as np
import pytest
from conftest import RATE

import ecs_audio as ea

TICK = 1 / 60
CLIP = 4800
"""Frames of a loop in which every tone of a multiple of 10 Hz is seamless."""


@pytest.fixture
def heard_at(open_world):
    """A function: what a flat loop of these samples sounds like at a pitch, after 0.2 s, on the left."""

    def hear(samples, pitch, seconds=1.0, reader="sinc8", change=None):
        clips = ea.Clips()
        clips.add("x", samples)
        settings = ea.Settings(acoustics="off", interpolation=reader)
        with ea.Engine(open_world, clips, settings=settings) as engine:
            row = engine.spawn("x", looping=True, pitch=pitch)
            blocks = []
            for tick in range(round((seconds + 0.2) / TICK)):
                if change is not None:
                    engine.sources.pitch[row] = change(tick * TICK)
                engine.tick(TICK)
                blocks.append(engine.render(800).copy())
        return np.concatenate(blocks)[round(0.2 * RATE) :, 0].astype(float)

    return hear


def tone(hertz, amplitude=0.5):
    return amplitude * np.sin(2 * np.pi * hertz / RATE * np.arange(CLIP))


def spectrum_db(heard):
    """Level of each frequency relative to a tone of 0.5, and the frequencies."""
    window = np.kaiser(len(heard), 20)
    level = np.abs(np.fft.rfft(heard * window)) / (0.25 * window.sum())
    return 20 * np.log10(np.maximum(level, 1e-12)), np.fft.rfftfreq(len(heard), 1 / RATE)


@pytest.mark.parametrize("pitch", [1.25, 1.7, 2.0, 3.0, 4.0, 6.0, 8.0])
@pytest.mark.parametrize("hertz", [1000, 2000, 4000, 7000, 12_000, 16_000, 20_000])
def test_a_tone_read_fast_is_where_it_belongs_or_nowhere(hertz, pitch, heard_at):
    level, at = spectrum_db(heard_at(tone(hertz), pitch))
    away = np.abs(at - hertz * pitch) > 20.0
    assert level[away].max() < -60.0
    octave = next(k for k in (1, 2, 3) if pitch <= 1.2 * 2**k)
    passed = {1: 9500, 2: 4500, 3: 2000}[octave]
    if hertz <= passed:
        assert level[~away].max() == pytest.approx(0.0, abs=0.1)
    if hertz * pitch > 24_000:
        assert level.max() < -60.0


@pytest.mark.parametrize("pitch", [1.25, 2.0, 4.0, 8.0])
def test_straight_lines_fold_no_more_than_they_bend(pitch, heard_at):
    for hertz in (4000, 12_000, 20_000):
        level, at = spectrum_db(heard_at(tone(hertz), pitch, reader="linear"))
        away = np.abs(at - hertz * pitch) > 20.0
        # A line between samples errs by some (pi f / rate)^2 of a tone; copies have less above.
        assert level[away].max() < -25.0


def test_a_pitch_that_rises_from_half_to_eight_changes_copies_without_a_step(heard_at):
    heard = heard_at(tone(500), 0.5, seconds=2.0, change=lambda t: 0.5 * 16 ** (max(t - 0.2, 0.0) / 2.0))
    own = 0.5 * 2 * np.pi * 500 * 8.2 / RATE
    assert np.abs(np.diff(heard)).max() < own
    bend = np.abs(np.diff(heard, 2))
    assert bend.max() < 1.1 * own * 2 * np.pi * 500 * 8.2 / RATE


@pytest.mark.parametrize("reader", ["linear", "sinc8"])
@pytest.mark.parametrize("pitch", [0.37, 0.71, 1.0, 1.13, 2.6])
def test_the_seam_of_a_loop_is_not_heard_at_any_speed(pitch, reader, heard_at):
    heard = heard_at(tone(500), pitch, seconds=6.0, reader=reader)  # up to 160 turns
    bend = 0.5 * (2 * np.pi * 500 / RATE) ** 2  # of the clip; straight lines have it in their corners
    usual = 2.0 * bend * max(pitch, pitch**2) if reader == "linear" else bend * pitch**2
    assert np.abs(np.diff(heard, 2)).max() < 1.05 * usual + 3e-5  # a seam of 0.1 was heard here
