"""What tests of streams in the engine share: signals, files, and the next seconds of an engine."""

import threading

import conftest
import numpy as np
import soundfile
from conftest import RATE, TICK

FADE = 240
"""5 ms."""


def noise(frames, channels=1, seed=0):
    return np.random.default_rng(seed).uniform(-0.4, 0.4, (frames, channels)).astype(np.float32)


def sine(hertz, frames, amplitude=0.4, rate=RATE):
    return (amplitude * np.sin(2 * np.pi * hertz / rate * np.arange(frames))).astype(np.float32)[:, None]


def write(path, samples, rate=RATE, **options):
    if path.suffix == ".wav":
        options.setdefault("subtype", "FLOAT")
    soundfile.write(path, samples, rate, **options)
    return path


def hear(engine, seconds, tick=TICK, before=None):
    """What comes in the next seconds."""
    return conftest.play(engine, engine.frame / RATE + seconds, tick, before)


def step_of(samples):
    """The largest from one frame to the next."""
    return float(np.abs(np.diff(samples, axis=0)).max())


def threads():
    """Decoders at work."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("ecs_audio stream")]


def nothing_is_left(engine):
    """Whether there are no streams, rings in use, decoders and sources."""
    return not (engine._tracks or engine._spent or engine.clips._taken or threads() or engine.sources.count)


def drained(stream):
    """Wait until the decoder has filled its buffer, or has ended."""
    stream.wait(stream._feed.capacity, 20.0)
