"""What a world consists of: cells by name and by acoustic group."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import World

AIR: Final = -2
"""The slot of a section of air; that of a section of id n is n less."""

EMPTY_GROUP: Final = "air"

COMMON_COUNT: Final = 15
"""The most common names that are told."""

_SECTIONS_AT_ONCE: Final = 256
"""Bounds the memory of counting to some megabytes."""


def contents(world: World) -> dict[str, Any]:
    """Sizes, sections, memory, and cells by group and by name; a cell is filled unless its group is air."""
    palette = world.palette
    counts = cell_counts(world)
    by_name = {name: int(counts[k]) for k, name in enumerate(palette.names)}
    group_of = {name: palette.group(name) for name in palette.names}
    groups = Counter[str]()
    for name, count in by_name.items():
        groups[group_of[name]] += count
    groups.pop(EMPTY_GROUP, None)
    filled, cells = groups.total(), int(np.prod(world.size))
    common = [name for name in by_name if group_of[name] != EMPTY_GROUP and by_name[name]]
    common.sort(key=lambda name: -by_name[name])
    return {
        "size": world.size.tolist(),
        "size_metres": [edge * world.cell_size for edge in world.size.tolist()],
        "origin": world.origin.tolist(),
        "cell_size": world.cell_size,
        "sections": world.section_counts()._asdict(),
        "memory_bytes": world.memory(),
        "cells": cells,
        "unknown_cells": cells - int(counts.sum()),
        "filled_cells": filled,
        "groups": [
            {"group": group, "cells": count, "share": round(count / max(filled, 1), 6)}
            for group, count in groups.most_common()
            if count
        ],
        "blocks": [
            {"name": name, "group": group_of[name], "cells": by_name[name]} for name in common[:COMMON_COUNT]
        ],
        "names": len(palette),
        "unknown_names": [{"name": name, "cells": by_name[name]} for name in palette.unknown],
        "report": list(world.report),
    }


def cell_counts(world: World) -> NDArray[np.int64]:
    """Loaded cells of the declared box by palette id, shape [names]."""
    counts = np.zeros(len(world.palette), np.int64)
    slots, inside = world.slots, _inside(world)
    x, y, z = (axis.sum(axis=1) for axis in inside)
    volumes = x[:, None, None] * y[None, :, None] * z[None, None, :]
    is_uniform = slots <= AIR
    np.add.at(counts, AIR - slots[is_uniform], volumes[is_uniform])
    mixed = np.argwhere(slots >= 0)
    for start in range(0, len(mixed), _SECTIONS_AT_ONCE):
        sx, sy, sz = mixed[start : start + _SECTIONS_AT_ONCE].T
        # As the cells of a section lie: y, then z, then x.
        is_inside = (
            inside[1][sy][:, :, None, None]
            & inside[2][sz][:, None, :, None]
            & inside[0][sx][:, None, None, :]
        )
        cells = world.cells[slots[sx, sy, sz]][is_inside.reshape(-1, 4096)]
        counts += np.bincount(cells, minlength=len(counts))
    return counts


def _inside(world: World) -> list[NDArray[np.bool_]]:
    """Whether the 16 coordinates of each section lie in the declared box, by axis, shape [sections, 16]."""
    found = []
    for axis in range(3):
        sections = world.section_origin[axis] + np.arange(world.slots.shape[axis])
        cells = 16 * sections[:, None] + np.arange(16)
        low = world.origin[axis]
        found.append((cells >= low) & (cells < low + world.size[axis]))
    return found
