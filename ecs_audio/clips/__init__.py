"""Decoded sounds, from files, arrays or the built-in synthesis."""

from ecs_audio.clips.bank import GUARD_FRAMES, Clips
from ecs_audio.clips.errors import ClipError, ClipWarning
from ecs_audio.clips.script import Sound
from ecs_audio.clips.stream import Stream
from ecs_audio.clips.synthesis import SOUNDS, burst, tone

__all__ = ["GUARD_FRAMES", "SOUNDS", "ClipError", "ClipWarning", "Clips", "Sound", "Stream", "burst", "tone"]
