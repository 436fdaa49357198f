"""The ground of the map: a world from above, small enough for a page."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Final, NamedTuple

from ecs_audio.world import World

PIXELS: Final = 1536
"""Of the longer side, at most."""
COLOURS: Final = 128
"""A quarter of the bytes of all of them, and nobody sees a difference."""


class Ground(NamedTuple):
    """A picture of a world and where it lies."""

    url: str
    """The picture itself, as a `data:` address."""
    low: tuple[float, float]
    """Lowest x and z that are shown [m]."""
    high: tuple[float, float]
    """[m]"""
    groups: dict[str, str]
    """The colour of each acoustic group in the world, `#rrggbb`."""


def ground_of(world: World) -> Ground:
    """The picture of a world as it is now, north at the top."""
    from PIL import Image

    from ecs_audio.world.picture import colour, picture

    pixels, low, high = picture(world)
    thin = -(-max(pixels.shape) // PIXELS)
    image = Image.fromarray(pixels[::thin, ::thin].copy()).quantize(COLOURS)
    data = io.BytesIO()
    image.save(data, "PNG", optimize=True)
    groups = sorted({world.palette.group(name) for name in world.palette.names} - {"air"})
    m = world.cell_size
    return Ground(
        f"data:image/png;base64,{b64encode(data.getvalue()).decode()}",
        (low[0] * m, low[1] * m),
        (high[0] * m, high[1] * m),
        {group: colour(group) for group in groups},
    )
