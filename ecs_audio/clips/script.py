"""Sound scripts: a TOML file that gives names to sets of sound files, and says how they sound.

Each table is a sound:

    [footstep_stone]
    files = ["step_1.wav", "step_2"]  # variants, relative to the script, endings as for any clip
    synth = "clap"                    # one of SOUNDS as another variant, made with `seed` (0)
    far = ["step_far.wav"]            # variants in place of the others where acoustics are off ...
    far_from = 20.0                   # ... and the listener is farther away [m]; default half of end
    volume = [0.7, 0.9]               # linear; a number, or the ends of what is drawn for each start
    pitch = 1.0                       # likewise
    end = 40.0                        # and OPTIONS, which mean what they mean to `spawn`

A file listed twice is taken twice as often.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecs_audio.clips.decode import decode, find
from ecs_audio.clips.entries import read_script
from ecs_audio.clips.errors import ClipError, ClipWarning

if TYPE_CHECKING:
    from ecs_audio.clips.bank import Clips

OPTIONS = ("reference", "end", "fade_start", "law", "priority", "category", "looping")
"""Keys that are options of `spawn` by the same name."""


@dataclass(frozen=True)
class Sound:
    """Clips that are variants of one sound, and how it is played unless `spawn` is told otherwise."""

    near: tuple[int, ...]
    """Clip ids, each as likely; none for a sound that is silent."""
    far: tuple[int, ...] = ()
    """Clip ids in place of `near` beyond `far_from`, only where acoustics are off."""
    far_from: float | None = None
    """Distance from the listener when it starts [m]; None for half of the distance of silence."""
    volume: tuple[float, float] = (1.0, 1.0)
    """Least and greatest, linear; drawn for each start."""
    pitch: tuple[float, float] = (1.0, 1.0)
    """Least and greatest, clip frames a frame at rest; drawn for each start."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the script says of OPTIONS."""


def load_script(clips: Clips, path: Path) -> dict[str, Sound]:
    """The sounds of a script by name; their files are decoded into `clips`, each once.

    A clip is called like its file's full path, or "shot:3" for the built-in shot of seed 3. A file that
    cannot be used costs only its variant: it is reported once, by a ClipWarning, and noted in
    `clips.broken`. Raises ClipError naming script, sound, key, value and limit, before anything is decoded.
    """
    entries = read_script(path)
    _check_names(clips, path, entries)
    files: dict[str, int | None] = {}
    for entry in entries.values():
        for file in (*entry.get("files", ()), *entry.get("far", ())):
            if file not in files:
                files[file] = _clip_of(clips, path.parent / file)
    sounds = {name: _sound(clips, entry, files) for name, entry in entries.items()}
    _check_names(clips, path, entries)  # a sound could be called like one of its own clips
    return sounds


def _check_names(clips: Clips, path: Path, names: Mapping[str, Any]) -> None:
    for name in names:
        if name in clips or name in clips.sounds:
            what = "clip" if name in clips else "sound"
            raise ClipError(f"{path}: sound {name!r}: a {what} of this name is there already")


def _sound(clips: Clips, entry: Mapping[str, Any], files: Mapping[str, int | None]) -> Sound:
    near = [files[file] for file in entry.get("files", ())]
    if "synth" in entry:
        near.append(_built_in(clips, entry["synth"], entry.get("seed", 0)))
    return Sound(
        near=tuple(clip for clip in near if clip is not None),
        far=tuple(clip for file in entry.get("far", ()) if (clip := files[file]) is not None),
        far_from=entry.get("far_from"),
        volume=entry.get("volume", (1.0, 1.0)),
        pitch=entry.get("pitch", (1.0, 1.0)),
        options={key: entry[key] for key in OPTIONS if key in entry},
    )


def _clip_of(clips: Clips, path: Path) -> int | None:
    """Number of the clip in a file, or None, with one warning, where there is none."""
    file = str(path)
    try:
        file = os.path.realpath(path)
        file = os.path.realpath(find(Path(file)))
        if file in clips:
            return clips.id(file)
        if file not in clips.broken:
            return clips.add(file, *decode(Path(file)))
    except (ValueError, OSError) as error:  # a ClipError, or a name that the system refuses
        if file not in clips.broken:
            # Where warnings are errors it is reported until it is mended: it is noted only afterwards.
            warnings.warn(f"{error}; the sounds that name it do without", ClipWarning, stacklevel=4)
            clips.broken.add(file)
    return None


def _built_in(clips: Clips, synth: str, seed: int) -> int:
    name = f"{synth}:{seed}"
    return clips.id(name) if name in clips else clips.synthesize(synth, seed, as_name=name)
