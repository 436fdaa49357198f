"""Sound files: which file a name means, and its samples, read with suspicion."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecs_audio.clips.conform import MAX_FRAMES
from ecs_audio.clips.errors import ClipError

ENDINGS = (".flac", ".ogg", ".opus", ".mp3", ".wav")
"""Tried in this order after a name that is no file."""

FOLDER_ENDINGS = (*ENDINGS, ".aif", ".aiff", ".au", ".caf", ".oga", ".w64")
"""What counts as a sound file in a folder."""

WIDTHS = (4, 8, 12, 16, 20, 24, 32, 64)
"""Bits a sample."""

BLOCK_FRAMES = 1 << 16

# A writer that could not seek back leaves a placeholder for the size: nothing that real data reaches.
_PLACEHOLDER_BYTES = 0x7FFFF000
_SLACK_BYTES = 16  # writers disagree about counting headers and pad bytes


def find(path: Path) -> Path:
    """The file or folder that `path` means: as given, else with one of ENDINGS. Raises ClipError."""
    for candidate in (path, *(path.parent / (path.name + ending) for ending in ENDINGS)):
        if candidate.exists():
            return candidate
    raise ClipError(f"{path}: no such file, nor with {', '.join(ENDINGS)}")


def sound_files(folder: Path) -> list[Path]:
    """The sound files directly in `folder`, by name; hidden files are left out. Raises ClipError if none."""
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in FOLDER_ENDINGS and not path.name.startswith(".") and path.is_file()
    ]
    if not found:
        raise ClipError(f"{folder}: holds no sound file ({', '.join(FOLDER_ENDINGS)})")
    return found


def decode(
    path: Path, max_frames: int = MAX_FRAMES, max_channels: int = 2
) -> tuple[NDArray[np.float32], int]:
    """The samples of a file [full scale = 1], shape (n,) or (n, channels), and its rate [Hz].

    The file is read in blocks and counted as it goes: what its header claims decides nothing. Raises
    ClipError naming the file when it cannot be decoded, is shorter than it says, has more than
    `max_channels` or goes on after `max_frames`. MP3 and Ogg do not say how long they are: a cut one is
    taken as far as it goes.
    """
    import soundfile

    if not path.is_file():  # a pipe or a device could be waited for without end
        raise ClipError(f"{path}: is not a file")
    try:
        with soundfile.SoundFile(path) as file:
            # It would seek to where it is after every block, and in an MP3 lose the frames after that.
            file.seekable = lambda: False
            if file.channels > max_channels:
                taken = "1 or 2" if max_channels == 2 else f"1 to {max_channels}"
                raise ClipError(f"{path}: has {file.channels} channels, and {taken} are taken")
            if (width := _odd_width(file.extra_info)) is not None:
                raise ClipError(
                    f"{path}: has {width} bits a sample, and {', '.join(map(str, WIDTHS))} are taken"
                )
            samples = _read(file, path, max_frames)
            claimed = 0 if file.format == "MP3" else file.frames  # of an MP3 it is an estimate
            if len(samples) < claimed < 2**62 or _cut_short(file.extra_info):
                raise ClipError(f"{path}: ends after {len(samples)} frames, before its header says")
            return samples[:, 0] if file.channels == 1 else samples, int(file.samplerate)
    except ClipError:
        raise
    except (soundfile.SoundFileError, RuntimeError, TypeError, ValueError, OSError) as error:
        raise ClipError(f"{path}: cannot be decoded: {error}") from error


def _read(file: object, path: Path, max_frames: int) -> NDArray[np.float32]:
    blocks: list[NDArray[np.float32]] = []
    frames = 0
    while len(block := file.read(BLOCK_FRAMES, dtype="float32", always_2d=True)):  # type: ignore[attr-defined]
        frames += len(block)
        if frames > max_frames:
            raise ClipError(f"{path}: goes on after {max_frames} frames, the most that are taken")
        blocks.append(block)
    if not blocks:
        raise ClipError(f"{path}: holds no sound: it has no frames")
    return np.concatenate(blocks)


def _odd_width(log: str) -> int | None:
    """Bits a sample that libsndfile noted, if nobody records so many; it would read them as best it can."""
    noted = re.search(r"Bit Width\s*:\s*(\d+)", log)
    return int(noted[1]) if noted and int(noted[1]) not in (0, *WIDTHS) else None


def _cut_short(log: str) -> bool:
    """Whether libsndfile noted, while it read the header, a size that goes beyond the end of the file."""
    sizes = ((int(claimed), int(real)) for claimed, real in re.findall(r"(\d+) \(should be (\d+)\)", log))
    return any(real + _SLACK_BYTES < claimed < _PLACEHOLDER_BYTES for claimed, real in sizes)
