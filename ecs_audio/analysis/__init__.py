"""The ears of tests and checks: levels, spectra, events, decays, echoes, directions of recorded samples."""

from ecs_audio.analysis.decay import Decay, decay, octave_rt60, rt60
from ecs_audio.analysis.direction import direction, directions
from ecs_audio.analysis.doppler import doppler
from ecs_audio.analysis.echoes import echoes, repeats
from ecs_audio.analysis.events import clicks, delay_between, largest_step, onset, silent_ends
from ecs_audio.analysis.levels import level_db, loudness_lufs, peak_db, true_peak_db
from ecs_audio.analysis.spectra import (
    OCTAVES,
    THIRDS,
    band_level_db,
    frequency,
    octave_levels_db,
    spectrum_db,
    third_octave_levels_db,
    tone_level_db,
)

__all__ = [
    "OCTAVES",
    "THIRDS",
    "Decay",
    "band_level_db",
    "clicks",
    "decay",
    "delay_between",
    "direction",
    "directions",
    "doppler",
    "echoes",
    "frequency",
    "largest_step",
    "level_db",
    "loudness_lufs",
    "octave_levels_db",
    "octave_rt60",
    "onset",
    "peak_db",
    "repeats",
    "rt60",
    "silent_ends",
    "spectrum_db",
    "third_octave_levels_db",
    "tone_level_db",
    "true_peak_db",
]
