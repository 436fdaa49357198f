"""Where the sound goes: files and devices."""

from ecs_audio.output.blocks import Written
from ecs_audio.output.files import write_audio
from ecs_audio.output.wav import write_wav

__all__ = ["Written", "write_audio", "write_wav"]
