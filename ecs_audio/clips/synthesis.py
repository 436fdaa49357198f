"""Built-in sounds: deterministic, so that a demo needs no file and a test knows what it hears."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ecs_audio.clips.air import missile, wind
from ecs_audio.clips.bangs import blast, clap, shot
from ecs_audio.clips.machines import engine, rotor, siren
from ecs_audio.clips.people import babble, footsteps
from ecs_audio.clips.shaping import F32
from ecs_audio.clips.tones import beep, burst, music, tone

LOOPS: Mapping[str, Callable[[int, int], F32]] = MappingProxyType(
    {
        "babble": babble,
        "engine": engine,
        "footsteps": footsteps,
        "missile": missile,
        "music": music,
        "rotor": rotor,
        "siren": siren,
        "wind": wind,
    }
)
"""Sounds whose end goes on seamlessly with their start."""

ONE_SHOTS: Mapping[str, Callable[[int, int], F32]] = MappingProxyType(
    {"beep": beep, "blast": blast, "clap": clap, "shot": shot}
)
"""Sounds that begin and end at 0."""

SOUNDS: Mapping[str, Callable[[int, int], F32]] = MappingProxyType({**LOOPS, **ONE_SHOTS})
"""Every built-in sound: name to function of (rate [Hz], seed), which returns float32 of shape (n,), mono,
peak 1 dB below full scale, mean 0. `tone` and `burst` stand beside it: they want a frequency."""

__all__ = ["LOOPS", "ONE_SHOTS", "SOUNDS", "burst", "tone"]
