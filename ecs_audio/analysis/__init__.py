"""The ears of tests and checks: levels, spectra and events of recorded samples."""

from ecs_audio.analysis.events import clicks, delay_between, largest_step, onset
from ecs_audio.analysis.levels import level_db, loudness_lufs, peak_db
from ecs_audio.analysis.spectra import (
    OCTAVES,
    band_level_db,
    frequency,
    octave_levels_db,
    spectrum_db,
    tone_level_db,
)

__all__ = [
    "OCTAVES",
    "band_level_db",
    "clicks",
    "delay_between",
    "frequency",
    "largest_step",
    "level_db",
    "loudness_lufs",
    "octave_levels_db",
    "onset",
    "peak_db",
    "spectrum_db",
    "tone_level_db",
]
