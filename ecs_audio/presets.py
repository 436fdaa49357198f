"""Presets: the reverberation of places by name, to hear a hall without building one.

Every number follows from a size and from what the surfaces swallow (`materials.toml`): the mean free path
4 V / S, Eyring's reverberation time, and the reverberant level, as for the rays around a listener.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from ecs_audio.kernels.room import AIR, GAIN_HIGH, NEAR_PATH, RT60_HIGH, RT60_LOW
from ecs_audio.world import Materials

SPEED = 343.0
"""Of sound [m/s]."""
SKY = "air"
"""What comes to an open side does not come back."""

Bands = tuple[float, float, float, float]
Surface = tuple[float, str]


@dataclass(frozen=True)
class Preset:
    """The room that a probe would find, by scale (near, far) and band (125, 500, 2000, 8000 Hz)."""

    rt60: tuple[Bands, Bands]
    """Reverberation times [s], the shortest of a scale that is silent."""
    room_gain: tuple[float, float]
    """Reverberant level relative to the direct sound at 1 m; 0 for a scale that is silent."""
    mean_free_path: tuple[float, float]
    """[m]; 0 for a scale that is silent."""


def preset_of(volume: float, surfaces: Iterable[Surface]) -> Preset:
    """The reverberation of a volume [m^3] between surfaces, each an area [m^2] and a group of materials.

    One scale has it all, near below a mean free path of 20 m, far above. What is open counts as a surface
    that swallows everything, and by its share of the whole less is heard.
    """
    surfaces = list(surfaces)
    groups = Materials.shipped().groups
    area = math.fsum(a for a, _ in surfaces)
    share = math.fsum(a for a, group in surfaces if group != SKY) / area
    path = 4.0 * volume / area
    absorbed = [
        math.fsum(a * groups[group].absorption[band] for a, group in surfaces) / area for band in range(4)
    ]
    first, second, third, fourth = (
        min(max(13.816 / (SPEED * (-math.log(1.0 - a) / path + float(m))), RT60_LOW), RT60_HIGH)
        for a, m in zip(absorbed, AIR, strict=True)
    )
    mean = (absorbed[1] + absorbed[2]) / 2.0
    gain = min(math.sqrt(share * 16.0 * math.pi * (1.0 - mean) / (area * mean)), GAIN_HIGH)
    times, silent = (first, second, third, fourth), (RT60_LOW, RT60_LOW, RT60_LOW, RT60_LOW)
    if path < NEAR_PATH:
        return Preset((times, silent), (gain, 0.0), (path, 0.0))
    return Preset((silent, times), (0.0, gain), (0.0, path))


def box(
    width: float,
    height: float,
    length: float,
    *,
    floor: str,
    ceiling: str,
    sides: str,
    ends: str | None = None,
    within: Iterable[Surface] = (),
) -> Preset:
    """The reverberation of a shoebox [m]; `ends` are like the sides unless named, `within` stands in it."""
    return preset_of(
        width * height * length,
        [
            (width * length, floor),
            (width * length, ceiling),
            (2.0 * height * length, sides),
            (2.0 * width * height, sides if ends is None else ends),
            *within,
        ],
    )


TRUNKS = 80 * math.pi * 0.4 * 15.0
"""One trunk of 0.4 m on each 20 m^2 of a wood of 40 x 40 m, 15 m high [m^2]."""

PRESETS: dict[str, Preset] = {
    "room": box(5, 3, 4, floor="wood", ceiling="wood", sides="wood"),
    "bedroom": box(4, 2.5, 4, floor="wool", ceiling="wood", sides="wood"),
    "studio": box(5, 3, 6, floor="wool", ceiling="wool", sides="wool"),
    "bathroom": box(2, 2.5, 3, floor="stone", ceiling="stone", sides="glass"),
    "cellar": box(6, 2.5, 8, floor="earth", ceiling="stone", sides="stone"),
    "hall": box(20, 12, 35, floor="wool", ceiling="wood", sides="wood"),
    "church": box(15, 18, 50, floor="stone", ceiling="wood", sides="stone"),
    "cathedral": box(30, 30, 90, floor="stone", ceiling="stone", sides="stone"),
    "hangar": box(60, 20, 80, floor="stone", ceiling="metal", sides="metal"),
    "cave": box(12, 8, 25, floor="gravel", ceiling="stone", sides="stone"),
    "tunnel": box(4, 4, 120, floor="stone", ceiling="stone", sides="stone", ends=SKY),
    "sewer": box(3, 2.5, 80, floor="water", ceiling="stone", sides="stone", ends=SKY),
    "street": box(15, 15, 200, floor="stone", ceiling=SKY, sides="stone", ends=SKY),
    "courtyard": box(20, 12, 25, floor="stone", ceiling=SKY, sides="stone"),
    "canyon": box(40, 60, 400, floor="sand", ceiling=SKY, sides="stone", ends=SKY),
    "forest": box(40, 15, 40, floor="earth", ceiling="leaves", sides=SKY, within=[(TRUNKS, "wood")]),
}
"""Places by name; sizes are width x height x length [m]."""


def preset(name: str) -> Preset:
    """The preset called `name`. Raises ValueError that suggests the nearest names."""
    if name in PRESETS:
        return PRESETS[name]
    close = difflib.get_close_matches(str(name), PRESETS, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {', '.join(PRESETS)}"
    raise ValueError(f"no reverberation is called {name!r}: {hint}")
