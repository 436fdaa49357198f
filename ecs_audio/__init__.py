"""Spatial sound for simulations in voxel worlds: exact enough to measure, fast enough for a raid."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecs_audio.clips import ClipError as ClipError
    from ecs_audio.clips import Clips as Clips
    from ecs_audio.clips import ClipWarning as ClipWarning
    from ecs_audio.components import DeadRowError as DeadRowError
    from ecs_audio.components import Mover as Mover
    from ecs_audio.components import Source as Source
    from ecs_audio.components import State as State
    from ecs_audio.components import TableFullError as TableFullError
    from ecs_audio.components import Tier as Tier
    from ecs_audio.engine import Engine as Engine
    from ecs_audio.entities import AudioProcessor as AudioProcessor
    from ecs_audio.output import write_audio as write_audio
    from ecs_audio.output import write_wav as write_wav
    from ecs_audio.output.devices import DeviceError as DeviceError
    from ecs_audio.output.devices import DeviceWarning as DeviceWarning
    from ecs_audio.output.speakers import Speakers as Speakers
    from ecs_audio.perform import Recording as Recording
    from ecs_audio.scenario import Event as Event
    from ecs_audio.scenario import Pose as Pose
    from ecs_audio.scenario import Scenario as Scenario
    from ecs_audio.scenario import Spawn as Spawn
    from ecs_audio.scenario import Stage as Stage
    from ecs_audio.scenario import Walker as Walker
    from ecs_audio.settings import Settings as Settings
    from ecs_audio.systems.ingest import BadValueError as BadValueError
    from ecs_audio.telemetry import Telemetry as Telemetry
    from ecs_audio.world import Materials as Materials
    from ecs_audio.world import World as World
    from ecs_audio.world import WorldFormatError as WorldFormatError
    from ecs_audio.world import WorldWarning as WorldWarning

__version__ = "0.1.0"

_HOMES = {
    "clips": ["ClipError", "ClipWarning", "Clips"],
    "components": ["DeadRowError", "Mover", "Source", "State", "TableFullError", "Tier"],
    "engine": ["Engine"],
    "entities": ["AudioProcessor"],
    "output": ["write_audio", "write_wav"],
    "output.devices": ["DeviceError", "DeviceWarning"],
    "output.speakers": ["Speakers"],
    "perform": ["Recording"],
    "scenario": ["Event", "Pose", "Scenario", "Spawn", "Stage", "Walker"],
    "settings": ["Settings"],
    "systems.ingest": ["BadValueError"],
    "telemetry": ["Telemetry"],
    "world": ["Materials", "World", "WorldFormatError", "WorldWarning"],
}

__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: numba alone takes half a second."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
