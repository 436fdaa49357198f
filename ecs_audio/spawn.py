"""What `spawn` is told becomes a row's values, or one clear error."""

from __future__ import annotations

import math
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from ecs_audio.clips import Clips
from ecs_audio.components import Law, Listener, Source, Sources
from ecs_audio.settings import CATEGORIES, DRY_CATEGORIES, Settings

NO_CLIP = -1
"""Clip id of a source with nothing to play: `steer` ends it."""


class Options(TypedDict, total=False):
    """What `spawn` and `attach` can be told beside the clip; all may be left out."""

    position: ArrayLike | None
    """World position [m]; None plays flat, dry and undelayed."""
    looping: bool
    """Whether the clip repeats. Default False."""
    volume: float
    """Amplitude at the reference distance, linear. Default 1."""
    pitch: float
    """Clip frames a frame at rest, 0 to 8. Default 1."""
    priority: int
    """Only a higher one takes a voice from another. Default 0."""
    category: str
    """Which user gain applies, one of `settings.CATEGORIES`. Default "effects"."""
    reference: float
    """Distance of full amplitude [m]. Default 1."""
    end: float
    """Distance of silence [m]. Default 512."""
    fade_start: float | None
    """Distance from which the law fades to silence at `end` [m]. Default the reference."""
    law: str
    """"inverse", "linear", "exponential" or "soft_inverse". Default "inverse"."""
    full_within: float
    """Distance within which the source is FULL whatever its loudness [m]. Default 0."""
    start_frame: int | None
    """Frame at which the clip starts. Default at once."""
    acoustics: bool | None
    """Whether walls and air are heard. Default by category: not for music, ambient, interface, voice_chat."""
    delay: bool
    """Whether sound takes its time to arrive. Default True."""
    event: Source | None
    """A source of the same event, such as the crack of a blast for its debris: this one shares its
    environment, and no rays are traced around it. Default None."""


DEFAULTS: Options = {
    "position": None,
    "looping": False,
    "volume": 1.0,
    "pitch": 1.0,
    "priority": 0,
    "category": "effects",
    "reference": 1.0,
    "end": 512.0,
    "fade_start": None,
    "law": "inverse",
    "full_within": 0.0,
    "start_frame": None,
    "acoustics": None,
    "delay": True,
    "event": None,
}


def source_values(clips: Clips, settings: Settings, clip: str | None, options: Options) -> dict[str, Any]:
    """Column values of a new source that plays a clip, or a sound of which `vary` is still to draw one.

    None for what has a clip of its own, a stream.

    What a sound says holds unless the options say otherwise.
    Raises ValueError (ClipError for the clip) naming what is wrong, TypeError for an unknown option.
    """
    sound = None if clip is None else clips.sounds.get(clip)
    said = {} if sound is None else {"volume": sound.volume[0], "pitch": sound.pitch[0], **sound.options}
    if unknown := (options.keys() | said.keys()) - DEFAULTS.keys():
        raise TypeError(f"there is no option {sorted(unknown)[0]!r}, only {', '.join(DEFAULTS)}")
    wanted = cast(Options, {**DEFAULTS, **said, **options})
    category, law, position = wanted["category"], wanted["law"], wanted["position"]
    reference, end, start_frame = wanted["reference"], wanted["end"], wanted["start_frame"]
    if category not in CATEGORIES:
        raise ValueError(f"category must be one of {', '.join(CATEGORIES)}, not {category!r}")
    laws = [known.name.lower() for known in Law]
    if law not in laws:
        raise ValueError(f"law must be one of {', '.join(laws)}, not {law!r}")
    if start_frame is not None and start_frame < 0:
        raise ValueError(f"start_frame must not be negative, not {start_frame!r}")
    fade_start = reference if wanted["fade_start"] is None else wanted["fade_start"]
    values: dict[str, Any] = {
        "volume": wanted["volume"],
        "pitch": wanted["pitch"],
        "reference": reference,
        "end": end,
        "fade_start": fade_start,
        "full_within": wanted["full_within"],
    }
    for name, value in values.items():
        _check(name, value)
    if not reference <= fade_start < end:
        raise ValueError(
            "distances must rise from reference to fade_start to end, not "
            f"{reference!r}, {fade_start!r}, {end!r}"
        )
    positioned = position is not None
    asked = wanted["acoustics"]
    acoustics = category not in DRY_CATEGORIES if asked is None else asked
    off = settings.acoustics == "off"
    return values | {
        "position": (0.0, 0.0, 0.0) if position is None else _position(position),
        "clip": NO_CLIP if clip is None or sound is not None else clips.id(clip),
        "looping": bool(wanted["looping"]),
        "priority": int(wanted["priority"]),
        "category": CATEGORIES.index(category),
        "law": laws.index(law),
        "positioned": positioned,
        "acoustics": acoustics and positioned and not off,
        "delayed": wanted["delay"] and settings.delay and positioned and not off,
        "start_frame": -1 if start_frame is None else int(start_frame),
    }


def vary(
    sources: Sources,
    source: Source,
    clips: Clips,
    settings: Settings,
    clip: str,
    options: Options,
    listener: Listener,
    rng: np.random.Generator,
) -> None:
    """Draw what a new source plays if `clip` is a sound: its clip, then its volume, then its pitch.

    Each takes one `rng.random()`, and only where there is a choice: among several variants, or in a range
    that no value in the options replaces. Far variants are taken with acoustics off, farther from the
    listener than `far_from`. A sound without variants leaves NO_CLIP: its source ends at the next tick.
    """
    if (sound := clips.sounds.get(clip)) is None:
        return
    variants = sound.near
    if sound.far and settings.acoustics == "off" and sources.positioned[source]:
        far_from = sources.end[source] / 2.0 if sound.far_from is None else sound.far_from
        if np.linalg.norm(sources.position[source] - listener.position) > far_from:
            variants = sound.far
    if variants:
        chosen = rng.random() * len(variants) if len(variants) > 1 else 0
        sources.clip[source] = variants[int(chosen)]
    else:
        sources.acoustics[source] = 0  # or it would wait for its first ray
    for name, (low, high) in (("volume", sound.volume), ("pitch", sound.pitch)):
        if low < high and name not in options:
            getattr(sources, name)[source] = low + (high - low) * rng.random()


def _check(name: str, value: float) -> None:
    column = Sources.columns[name]
    low, high = column.low, column.high
    if low is None or not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} must be a finite number from {low:g} to {high:g}, not {value!r}")


def _position(position: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    where = np.array(position, np.float64)
    if where.shape != (3,) or not np.isfinite(where).all() or np.abs(where).max() > 1e9:
        raise ValueError(f"position must be three finite numbers within 1e9 m, not {position!r}")
    return where
