"""Voxel worlds: cells, materials, and the files they come from."""

from ecs_audio.world.errors import OutsideError, WorldFormatError, WorldWarning
from ecs_audio.world.materials import Materials
from ecs_audio.world.palette import Palette
from ecs_audio.world.world import World

__all__ = ["Materials", "OutsideError", "Palette", "World", "WorldFormatError", "WorldWarning"]
