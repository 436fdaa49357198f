"""Spatial sound for simulations in voxel worlds: exact enough to measure, fast enough for a raid."""

from ecs_audio.clips import ClipError, Clips
from ecs_audio.components import DeadRowError, Source, State, TableFullError, Tier
from ecs_audio.engine import Engine
from ecs_audio.entities import AudioProcessor
from ecs_audio.output import write_audio, write_wav
from ecs_audio.perform import Recording
from ecs_audio.scenario import Event, Pose, Scenario, Spawn, Stage
from ecs_audio.settings import Settings
from ecs_audio.systems.ingest import BadValueError
from ecs_audio.telemetry import Telemetry
from ecs_audio.world import Materials, World, WorldFormatError

__version__ = "0.1.0"

__all__ = [
    "AudioProcessor",
    "BadValueError",
    "ClipError",
    "Clips",
    "DeadRowError",
    "Engine",
    "Event",
    "Materials",
    "Pose",
    "Recording",
    "Scenario",
    "Settings",
    "Source",
    "Spawn",
    "Stage",
    "State",
    "TableFullError",
    "Telemetry",
    "Tier",
    "World",
    "WorldFormatError",
    "write_audio",
    "write_wav",
]
