"""Music through the engine into a WAV: `python examples/music.py song.flac out.wav`.

Any file that libsndfile reads is decoded as it goes. Without one, the built-in piece is written beside the
output and streamed from there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea

RATE, TICK_RATE, FADE_OUT = 48_000, 60, 2.0


def built_in(path: Path) -> Path:
    """Write the built-in music to a WAV, as a file to stream."""
    clips = ea.Clips(RATE)
    number = clips.synthesize("music")
    start = clips.offset[number]
    ea.write_wav(path, clips.bank[start : start + clips.length[number]], RATE)
    return path


def blocks(engine: ea.Engine, song: ea.Source, seconds: float) -> Iterator[NDArray[np.float32]]:
    """What is heard until the song is over, or fades out after so many seconds."""
    last = round(seconds * RATE)
    while song.alive and engine.frame < last:
        engine.gains["music"] = min((last - engine.frame) / RATE / FADE_OUT, 1.0)
        engine.tick(1 / TICK_RATE)
        yield engine.render(min(round(engine.time * RATE), last) - engine.frame)


def main(song: str | None = None, out: str = "music.wav", seconds: float = 30.0) -> None:
    """Stream a song to a WAV file."""
    path = built_in(Path(out).with_suffix(".source.wav")) if song is None else Path(song)
    world = ea.World.empty(size=(16, 16, 16))
    with ea.Engine(world, ea.Clips(RATE)) as engine:
        row = engine.stream(path, volume=0.8)
        written = ea.write_wav(out, blocks(engine, row, float(seconds)), RATE)
        print(f"{written.frames / RATE:.2f} s of {path} to {out}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
