"""Anvil regions (`.mca`): 32x32 chunks of sections, as Minecraft writes them since 1.16."""

from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import grid as grids
from ecs_audio.world import nbt
from ecs_audio.world.chunk import LOWEST, Chunk, decode
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_CHUNK_BYTES, MAX_REGION_BYTES, MAX_REGION_TAGS, MAX_TAGS
from ecs_audio.world.palette import Palette

_SECTOR: Final = 4096
_HEADER: Final = 2 * _SECTOR
_ROWS_A_CHUNK: Final = 8
"""Mixed sections of a usual chunk; memory is only touched as far as it is written."""
_MAX_REASONS: Final = 20
_MAX_CHUNKS: Final = 8


class Budget:
    """What the chunks of a region may still cost."""

    def __init__(self) -> None:
        self.bytes_left = MAX_REGION_BYTES
        self.tags_left = MAX_REGION_TAGS


def read(data: bytes, palette: Palette, strict: bool) -> tuple[grids.Grid, list[str]]:
    """Return the cells of a region, and a report of the chunks that had to be skipped.

    The grid spans the chunks that are present and all heights at which one has a section. Raises
    WorldFormatError where no chunk can be read, and with `strict` where one cannot.
    """
    if len(data) < _HEADER:
        raise WorldFormatError(f"it has {len(data)} bytes, fewer than the {_HEADER} of a region's header")
    budget = Budget()
    ids: dict[object, int] = {}
    regions: dict[int, tuple[int, int] | None] = {}
    reasons: dict[int, str] = {}
    locations = np.frombuffer(data, ">u4", 1024)
    present = np.flatnonzero(locations).tolist()
    # All heights there can be: the box is known only when the last chunk has been read.
    everywhere = (0, LOWEST * 16, 0), (512, 4096, 512)
    grid = grids.make(*everywhere, grids.UNKNOWN, rows=_ROWS_A_CHUNK * len(present) + 8)
    for number in present:
        offset = int(locations[number] >> 8) * _SECTOR
        try:
            chunk = _decoded(_contents(data, offset, budget), number, palette, ids, budget)
            _store(grid, number, chunk.sections)
            regions[number] = chunk.region
        except WorldFormatError as error:
            reasons[number] = str(error)
    votes = Counter(region for region in regions.values() if region)
    region = votes.most_common(1)[0][0] if votes else (0, 0)
    for number in [number for number, its in regions.items() if its not in (region, None)]:
        reasons[number] = f"it belongs to the region {regions.pop(number)}, not to {region}"
        grids.make_uniform(grid, _column(grid, number), grids.UNKNOWN)
    report = [_sentence(reasons, len(regions) + len(reasons))] if reasons else []
    if report and (strict or not regions):
        raise WorldFormatError(report[0].removesuffix("."))
    return _cropped(grid, sorted(regions), region), report


def _sentence(reasons: dict[int, str], total: int) -> str:
    """Say what was skipped and why, chunks with the same reason together."""
    alike: dict[str, list[int]] = {}
    for number, reason in sorted(reasons.items()):
        alike.setdefault(reason, []).append(number)
    listed = []
    for reason, numbers in list(alike.items())[:_MAX_REASONS]:
        chunks = ", ".join(f"({number % 32}, {number // 32})" for number in numbers[:_MAX_CHUNKS])
        more = f" and {len(numbers) - _MAX_CHUNKS} more" if len(numbers) > _MAX_CHUNKS else ""
        listed.append(f"chunk {chunks}{more}: {reason}")
    if len(alike) > _MAX_REASONS:
        listed.append(f"and {len(alike) - _MAX_REASONS} other reasons")
    return f"skipped {len(reasons)} of {total} chunks: {'; '.join(listed)}."


def _contents(data: bytes, offset: int, budget: Budget) -> bytes:
    """Return the unpacked bytes of the chunk at an offset."""
    if not _HEADER <= offset <= len(data) - 5:
        raise WorldFormatError(f"it would lie outside the {len(data)} bytes of the file")
    length, compression = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4]
    if not 1 < length <= len(data) - offset - 4:
        raise WorldFormatError(f"its length of {length} bytes does not fit the file")
    if compression & 128:
        raise WorldFormatError("it is kept in a file of its own (.mcc), which is not read")
    if compression not in (1, 2, 3):
        raise WorldFormatError(f"its compression {compression} is none of 1 (gzip), 2 (zlib) and 3 (none)")
    limit = min(MAX_CHUNK_BYTES, budget.bytes_left)
    if limit <= 0:
        raise WorldFormatError(f"the chunks before it unpack to the {MAX_REGION_BYTES} bytes of a region")
    packed = data[offset + 5 : offset + 4 + length]
    if compression == 3:
        contents = packed
    else:
        # The most that deflate can unpack to, so that chunks that fail late are paid for as well.
        cost = min(limit, 1032 * len(packed))
        budget.bytes_left -= cost
        contents = nbt.decompress(packed, limit)
        budget.bytes_left += cost
    budget.bytes_left -= len(contents)
    if len(contents) > limit:
        raise WorldFormatError(f"it has more than {limit} bytes")
    return contents


def _decoded(contents: bytes, number: int, palette: Palette, ids: dict[object, int], budget: Budget) -> Chunk:
    cursor = nbt.Cursor(contents, min(MAX_TAGS, budget.tags_left))
    budget.tags_left -= cursor.tags_left
    try:
        return decode(cursor, number, palette, ids)
    finally:
        budget.tags_left += max(0, cursor.tags_left)


def _column(grid: grids.Grid, number: int) -> NDArray[np.int64]:
    _, sy, sz = grid.slots.shape
    places: NDArray[np.int64] = (number % 32 * sy + np.arange(sy)) * sz + number // 32
    return places


def _store(grid: grids.Grid, number: int, sections: dict[int, int | NDArray[np.uint16]]) -> None:
    column = _column(grid, number)
    mixed = [height for height, cells in sections.items() if not isinstance(cells, int)]
    claimed = grids.claim(grid, column[np.array(mixed, np.int64) - LOWEST])
    rows = dict(zip(mixed, claimed.tolist(), strict=True))
    for height, cells in sections.items():
        if isinstance(cells, int):
            grid.flat[column[height - LOWEST]] = grids.AIR - cells
        else:
            grid.cells[rows[height]] = cells


def _cropped(grid: grids.Grid, numbers: list[int], region: tuple[int, int]) -> grids.Grid:
    """Return the grid of the chunks that are present, at their place in the world."""
    heights = np.flatnonzero((grid.slots != grids.UNKNOWN).any(axis=(0, 2)))
    if not len(heights):
        raise WorldFormatError("it has no chunk with a section")
    low, high = int(heights[0]), int(heights[-1]) + 1
    x, z = np.array(numbers) % 32, np.array(numbers) // 32
    x0, x1, z0, z1 = int(x.min()), int(x.max()) + 1, int(z.min()), int(z.max()) + 1
    is_present = np.zeros((32, 1, 32), np.bool_)
    is_present[x, 0, z] = True
    slots = np.where(is_present & (grid.slots == grids.UNKNOWN), grids.AIR, grid.slots)
    lo = (region[0] * 512 + x0 * 16, (low + LOWEST) * 16, region[1] * 512 + z0 * 16)
    cropped = grids.make(lo, (16 * (x1 - x0), 16 * (high - low), 16 * (z1 - z0)), grids.UNKNOWN)
    cropped.slots[:] = slots[x0:x1, low:high, z0:z1]
    cropped.cells, cropped.born, cropped.used, cropped.free = grid.cells, grid.born, grid.used, grid.free
    if len(grid.cells) > 2 * grid.used:
        rows = max(8, grid.used)
        cropped.cells, cropped.born = grid.cells[:rows].copy(), grid.born[:rows].copy()
    return cropped
