"""Settings: every knob with its unit, its default and where the default comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

MODES = ("off", "direct", "reflect", "full")
READERS = ("linear", "sinc8")
RULES = ("bundle", "min")

CATEGORIES = ("effects", "voice", "music", "ambient", "interface", "voice_chat")
DRY_CATEGORIES = frozenset({"music", "ambient", "interface", "voice_chat"})
"""Categories that have no acoustics unless asked for."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an engine works. All values are checked when it is made; ValueError names the wrong one."""

    acoustics: str = "full"
    """"off" plays clip, volume, distance and pan alone; "direct" adds occlusion, air and delay; "reflect"
    and "full" add what the rays find by reflection."""
    occlusion: bool = True
    """Walls muffle."""
    occlusion_rule: str = "bundle"
    """"bundle" weighs the direct paths; "min" lets the clearest one decide, for comparison."""
    direct_paths: int = 13
    """Paths of a bundle: 13, or 1 for the straight one alone."""
    air: bool = True
    """Air takes high frequencies."""
    delay: bool = True
    """Sound takes its time, and shifts in pitch with motion."""
    coupling: bool = True
    """What shares the listener's air is heard through walls, and seems to come round corners. ("reflect")"""
    echoes: bool = True
    """Walls answer. ("reflect")"""
    reverberation: bool = True
    """The room around the listener sounds. ("full")"""
    reverb: str | None = None
    """A preset, such as "hall", that is heard instead of the room around the listener. ("full")"""
    cache: bool = True
    """Ends within the same cells of 4 m share what reflections found."""

    speed_of_sound: float = 343.0
    """[m/s], dry air at 20 °C."""
    reach: float = 512.0
    """Longest ray [m]."""
    occlusion_time: float = 0.1
    """Time constant of the easing of occlusion [s]."""
    openness_time: float = 0.5
    """Time constant with which shared air is taken up [s]."""
    room_time: float = 1.0
    """A change of rooms takes so long [s]."""
    probe_interval: float = 0.25
    """Time between two looks at the room around the listener [s]."""
    probe_step: float = 4.0
    """A longer way of the listener asks for another look at once [m]."""
    head_shadow: float = 0.3
    """Share of gain_hf that the head takes from straight behind."""

    full_count: int = 16
    """The loudest sources, which are FULL."""
    direct_count: int = 100
    """FULL and DIRECT sources together."""
    audible_db: float = -60.0
    """A FREE source below this level is not traced [dBFS]."""
    max_rays: int = 2048
    """Rays a tick, about 1 ms on one core."""
    max_cells: int = 50_000
    """Cells looked at a tick, about 1 ms on one core; the rays in flight, 32 at most, are finished."""
    listener_jump: float = 4.0
    """A longer way of the listener in one tick makes every source due [m]."""
    teleport: float = 25.0
    """A longer way of a source or the listener in one tick is no motion and makes no Doppler [m]."""

    max_entries: int = 256
    """Environments remembered between cells of 4 m, 8 KiB each."""
    max_taps: int = 64
    """Echoes that sound at once, the loudest ones."""
    acoustic_memory: int = 16 * 2**20
    """What rays read of the world, at most [bytes]; a section of several materials takes 512."""
    workers: int = 0
    """1 traces on a thread beside the host, a tick later: for live use; 0 within the tick, which offline
    rendering needs to be the same every time."""
    stream_patience: float = 10.0
    """How long a tick waits for a stream's decoder [s], so that the same is heard every time; 0 for live use,
    where a stream that is late falls silent, and goes on."""
    max_sources: int = 1024
    """Living sources; 11 KiB each."""
    max_movers: int = 1024
    """Bodies that move; half a KiB each."""
    units_per_metre: float = 40.0
    """Scale of the rules that walkers move by, in which one is 72 units high and steps up 18 of them."""
    max_voices: int = 128
    """Voices that sound at once, at most 1024."""
    max_block: int = 65_536
    """Longest block that `render` fills [frames]."""
    interpolation: str = "sinc8"
    """How clips are read: "linear" between two samples, or "sinc8" by eight."""

    def __post_init__(self) -> None:
        for name, allowed in (("acoustics", MODES), ("occlusion_rule", RULES), ("interpolation", READERS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        if self.reverb is not None:
            from ecs_audio.presets import preset

            preset(self.reverb)
            if not self.reverberates:
                raise ValueError(
                    f"reverb {self.reverb!r} is heard with acoustics 'full' and reverberation alone, not "
                    f"with {self.acoustics!r} and {self.reverberation!r}"
                )
        if self.direct_paths not in (1, 13):
            raise ValueError(f"direct_paths must be 1 or 13, not {self.direct_paths!r}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"{name} must be a finite number, not {value!r}")
            if not low <= value <= high:
                raise ValueError(f"{name} must lie between {low} and {high}, not {value!r}")
            if name in _COUNTS and value != int(value):
                raise ValueError(f"{name} must be a whole number, not {value!r}")

    @property
    def reflects(self) -> bool:
        """Whether rays around sources are wanted."""
        return self.acoustics in ("reflect", "full") and (self.coupling or self.echoes)

    @property
    def reverberates(self) -> bool:
        """Whether rays around the listener are wanted."""
        return self.acoustics == "full" and self.reverberation


_SWITCHES = ("occlusion", "air", "delay", "coupling", "echoes", "reverberation", "cache")
_RANGES: dict[str, tuple[float, float]] = {
    "speed_of_sound": (1.0, 10_000.0),
    "reach": (0.0, 4096.0),
    "occlusion_time": (0.0, 10.0),
    "openness_time": (0.0, 10.0),
    "room_time": (0.0, 60.0),
    "probe_interval": (0.0, 60.0),
    "probe_step": (0.0, 1e9),
    "head_shadow": (0.0, 1.0),
    "full_count": (0, 65_536),
    "direct_count": (0, 65_536),
    "audible_db": (-200.0, 0.0),
    "max_rays": (0, 1 << 20),
    "max_cells": (0, 1 << 40),
    "listener_jump": (0.0, 1e9),
    "teleport": (0.0, 1e9),
    "max_entries": (1, 65_536),
    "max_taps": (0, 4096),
    "acoustic_memory": (1 << 16, 1 << 34),
    "workers": (0, 1),
    "stream_patience": (0.0, 3600.0),
    "max_sources": (1, 65_536),
    "max_movers": (1, 65_536),
    "units_per_metre": (0.001, 1e6),
    "max_voices": (1, 1024),
    "max_block": (1, 1 << 24),
}
_COUNTS = {f.name for f in fields(Settings) if f.type == "int"}
