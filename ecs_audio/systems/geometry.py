"""follow: the acoustic copy of the world is brought into step with its edits."""

from __future__ import annotations

import numpy as np

from ecs_audio.components.geometry import Geometry
from ecs_audio.kernels.copying import copy_world
from ecs_audio.kernels.lanes import REALS, WHOLES, WORDS
from ecs_audio.kernels.sections import Sections
from ecs_audio.world import World


def follow(geometry: Geometry, world: World) -> None:
    """Bring the copy into step with a world or a snapshot, before rays are traced.

    Only what was edited since the last call is looked at, unless it is another world, an older snapshot, or
    there were more edits than the world remembers.
    """
    before = geometry.world
    if before is world and geometry.revision == world.revision:
        return
    # A snapshot shares the palette with its world, and nothing else does.
    same = (
        before is not None
        and before.palette is world.palette
        and before.slots.shape == world.slots.shape
        and 0 <= world.revision - geometry.revision <= len(world.edits)
    )
    if not same:
        geometry.state[:3], geometry.state[3:6] = world.section_origin * 16, world.slots.shape
        if len(geometry.records) != 2 * world.slots.size:
            geometry.resize(world.slots.size)
    geometry.sections = _record(geometry, world)
    since = geometry.revision if same else -1
    if since < world.revision:
        copy_world(geometry.sections, world.edits, since, world.revision)
    geometry.world, geometry.revision = world, world.revision


def sections_of(geometry: Geometry) -> Sections:
    """The record that kernels take, as of the last `follow`."""
    sections: Sections = geometry.sections
    return sections


def _record(geometry: Geometry, world: World) -> Sections:
    """The record with the world's arrays as they are now; the same one if none was replaced."""
    old: Sections | None = geometry.sections
    palette = world.palette
    if (
        old is not None
        and old.records is geometry.records
        and old.slots.base is world.slots
        and old.cells.base is world.cells
        and old.kind is palette.kind
        and old.cell_size == world.cell_size
    ):
        return old
    scratch = (
        (np.zeros(REALS), np.zeros(WHOLES, np.int64), np.zeros(WORDS, np.uint64)) if old is None else old[-3:]
    )
    cells = world.cells if world.cells.size else np.zeros(1, np.uint16)  # kernels look before they branch
    return Sections(
        geometry.records, geometry.bits, geometry.rows, geometry.state, world.slots.reshape(-1),
        cells.reshape(-1), palette.kind, palette.occlusion, float(world.cell_size), *scratch,
    )  # fmt: skip
