"""The sounds of a raid: synthesis by role, and recordings from a folder in its place where there are any."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.clips import SOUNDS, ClipWarning, burst, tone

F32 = NDArray[np.float32]

SYNTHESIS = {
    "drones": ("rotor", 2),
    "engines": ("engine", 2),
    "missiles": ("missile", 2),
    "blasts": ("blast", 3),
    "guns": ("shot", 3),
    "debris": ("clap", 3),
    "sirens": ("siren", 1),
    "voices": ("babble", 2),
    "steps": ("footsteps", 2),
    "music": ("music", 1),
    "wind": ("wind", 1),
}
"""Role -> built-in sound, and how many variants of it."""

RECORDINGS = {
    "tnt_explode": "blasts",
    "misc_cineboom": "blasts",
    "perc_impact1": "debris",
    "ambi_drone": "drones",
    "loop_3d_printer": "engines",
    "ambi_dark_woosh": "missiles",
    "blanket_wind_CC0": "wind",
}
"""Stem of a recording's file name -> the role it takes; other files are left alone."""

LOOPS = frozenset({"drones", "engines", "missiles", "sirens", "voices", "steps", "music", "wind"})
SEAM = 0.25
"""How long the end of a recording fades into its start where it loops [s]."""
LONGEST = {"blasts": 4.0, "debris": 1.0}
"""Recordings that happen once are faded out by then [s]."""


TONES = {
    "drones": 180.0, "engines": 60.0, "missiles": 240.0, "blasts": 40.0, "guns": 150.0, "debris": 200.0,
    "sirens": 300.0, "voices": 120.0, "steps": 90.0, "music": 220.0, "wind": 50.0,
}  # fmt: skip
"""Role -> frequency of its tone [Hz], so low that the least click stands out."""
SOFT = 0.2
"""Amplitude of the tones: the limiter, which might hide a click, stays out of it."""


def tones() -> tuple[ea.Clips, dict[str, list[str]]]:
    """The same with a low, soft tone for each role, that rises and falls gently where it sounds once."""
    clips = ea.Clips()
    for role, frequency in TONES.items():
        gently = burst(frequency, 0.5, clips.rate, edge=0.2)
        clips.add(role, SOFT * (tone(frequency, 1.0, clips.rate) if role in LOOPS else gently))
    return clips, {role: [role] for role in TONES}


def sounds(folder: str | None = None) -> tuple[ea.Clips, dict[str, list[str]]]:
    """All clips, and the names of those of each role. Raises ClipError for a recording that is none."""
    clips = ea.Clips()
    names: dict[str, list[str]] = {}
    found = {} if folder is None else _recorded(Path(folder), clips.rate)
    for role, (sound, variants) in SYNTHESIS.items():
        taken = found.get(role) or {f"{sound} {n}": _synthesis(sound, clips.rate, n) for n in range(variants)}
        for name, samples in taken.items():
            clips.add(name, samples)
        names[role] = list(taken)
    return clips, names


def _recorded(folder: Path, rate: int) -> dict[str, dict[str, F32]]:
    """Role -> name -> samples of the recordings in a folder, as loud as the synthesis they replace."""
    if not folder.is_dir():
        raise ea.ClipError(f"{folder}: no such folder")
    found: dict[str, dict[str, F32]] = {}
    for stem, role in RECORDINGS.items():
        files = sorted(file for file in folder.iterdir() if file.stem == stem)
        if not files:
            continue
        scratch = ea.Clips(rate)
        with warnings.catch_warnings():
            # A source is one point: that stereo is averaged is what is wanted here.
            warnings.simplefilter("ignore", ClipWarning)
            scratch.load(files[0], stem)
        start, length = int(scratch.offset[0]), int(scratch.length[0])
        samples = scratch.bank[start : start + length].copy()
        model = _synthesis(SYNTHESIS[role][0], rate, 0)
        found.setdefault(role, {})[stem] = _fitted(samples, model, role, rate)
    return found


def _fitted(samples: F32, model: F32, role: str, rate: int) -> F32:
    """A recording made to loop, or cut to what a one-shot lasts, at the level of its model."""
    if role in LOOPS:
        seam = min(round(SEAM * rate), len(samples) // 3)
        # Equal power: the two ends have nothing to do with each other.
        rise = np.sin(np.linspace(0.0, np.pi / 2.0, seam, dtype=np.float32))
        samples[:seam] = samples[:seam] * rise + samples[-seam:] * rise[::-1]
        samples = samples[:-seam]
    else:
        samples = samples[: round(LONGEST[role] * rate)]
        fade = len(samples) // 4
        samples[-fade:] *= np.linspace(1.0, 0.0, fade, dtype=np.float32) ** 2
    level = _energy(model, role) / max(_energy(samples, role), 1e-9)
    peak = float(np.abs(model).max()) / max(float(np.abs(samples).max()), 1e-9)
    return np.asarray(samples * np.float32(min(level, peak)))


def _energy(samples: F32, role: str) -> float:
    """RMS of a loop; of a one-shot, the root of its energy."""
    power = np.square(samples, dtype=np.float64)
    return float(np.sqrt(power.mean() if role in LOOPS else power.sum()))


@cache
def _synthesis(sound: str, rate: int, seed: int) -> F32:
    samples = SOUNDS[sound](rate, seed)
    samples.flags.writeable = False  # it is handed out again
    return samples
