"""Regions (`.mca`): 32x32 chunks of sections, in all layouts that Minecraft ever wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sized
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from ecs_audio.world import external, nbt, skipped, unpacking
from ecs_audio.world import grid as grids
from ecs_audio.world.chunk import decode, region_of
from ecs_audio.world.columns import EVERY_HEIGHT, Columns, cropped, drop, make, store
from ecs_audio.world.errors import OutsideError, TooLargeError, WorldFormatError
from ecs_audio.world.load import Load, check
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import Window

_SECTOR: Final = 4096
HEADER: Final = 2 * _SECTOR
"""Bytes that say where the chunks of a region are."""
_EXTERNAL: Final = 128
"""Added to the compression of a chunk that lies beside the region, in a file of its own."""
_MAX_SHARING: Final = 2
"""Chunks that may lie at one place, as in damaged files: a small one could be a thousand chunks."""
_ENOUGH: Final = 3
"""Chunks that must agree on where a region lies."""

Decoded = TypeVar("Decoded")


def read(
    data: bytes, palette: Palette, strict: bool, part: Window | None = None, file: Path | None = None
) -> tuple[grids.Grid, list[str]]:
    """Return the cells of a region, and a report of the chunks that had to be skipped.

    Chunks too large for a region lie beside its `file`. The grid spans the chunks that are present and all
    heights at which one has a section; of a window, only the chunks that it touches are unpacked, and heights
    reach from 0 to 255 at least. Raises WorldFormatError where no chunk can be read, and with `strict` where
    one cannot, and OutsideError where the window touches none.
    """
    present, load = chunks_in(data), Load(palette)
    if part is not None:
        return _read_part(data, present, load, strict, part, file)
    columns = make((0, 0), (32, 32), EVERY_HEIGHT, len(present))
    regions, reasons = gather(columns, data, present, None, load, file)
    votes = Counter(region for region in regions.values() if region)
    region = votes.most_common(1)[0][0] if votes else (0, 0)
    for number in [number for number, its in regions.items() if its not in (region, None)]:
        reasons[number] = _stranger(regions.pop(number), region)
        drop(columns, number % 32, number // 32)
    report = _report(reasons, regions, strict)
    low, high = int(columns.low.min()), int(columns.high.max())
    if low >= high:
        raise WorldFormatError("it has no chunk with a section")
    (x0, z0), (x1, z1) = bounds(sorted(regions))
    shift = region[0] * 32, region[1] * 32
    return cropped(columns, (x0, low, z0), (x1, high, z1), shift), report


def _read_part(
    data: bytes, present: list[int], load: Load, strict: bool, part: Window, file: Path | None
) -> tuple[grids.Grid, list[str]]:
    region = _region(data, present, load, file)
    (x0, z0), (x1, z1) = bounds(present, region)
    wanted = touched(present, region, part.lo[::2], part.hi[::2])
    if not wanted:
        ends = f"x {16 * x0} to {16 * x1 - 1} and z {16 * z0} to {16 * z1 - 1}"
        raise OutsideError(f"no chunk lies within {part}: its chunks span {ends}")
    columns = make(*bounds(wanted, region), range(part.lo[1], part.hi[1]), len(wanted))
    regions, reasons = gather(columns, data, wanted, region, load, file)
    report = _report(reasons, regions, strict)
    low, high = span(columns)
    return cropped(columns, (x0, low, z0), (x1, high, z1)), report


def span(columns: Columns) -> tuple[int, int]:
    """Return lowest and one beyond the highest section of a window's world.

    Chunks before Minecraft 1.18 have no sections above the ground, and others may be higher.
    """
    return min(0, int(columns.low.min())), max(16, int(columns.high.max()))


def chunks_in(data: bytes) -> list[int]:
    """Return the numbers, z * 32 + x, of the chunks that a region's header lists. Raises WorldFormatError."""
    if len(data) < HEADER:
        raise WorldFormatError(f"it has {len(data)} bytes, fewer than the {HEADER} of a region's header")
    numbers: list[int] = np.flatnonzero(np.frombuffer(data, ">u4", 1024)).tolist()
    return numbers


def bounds(numbers: list[int], region: tuple[int, int] = (0, 0)) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the lowest chunk, and one beyond the highest, of some chunks of a region."""
    x, z = [number % 32 for number in numbers] or [0], [number // 32 for number in numbers] or [0]
    x0, z0 = 32 * region[0], 32 * region[1]
    return (x0 + min(x), z0 + min(z)), (x0 + max(x) + 1, z0 + max(z) + 1)


def touched(
    numbers: list[int], region: tuple[int, int], lo: tuple[int, int], hi: tuple[int, int]
) -> list[int]:
    """Return those chunks of a region that lie from the chunk `lo` to before `hi`."""
    x0, z0 = 32 * region[0], 32 * region[1]
    return [n for n in numbers if lo[0] <= x0 + n % 32 < hi[0] and lo[1] <= z0 + n // 32 < hi[1]]


def gather(
    columns: Columns,
    data: bytes,
    numbers: list[int],
    region: tuple[int, int] | None,
    load: Load,
    file: Path | None,
) -> tuple[dict[int, tuple[int, int] | None], dict[int, str]]:
    """Store chunks of a region: by number, the regions they belong to, and why others cannot be read.

    Without a region, which then shows in the end, they are stored as if it were (0, 0). Raises TooLargeError
    where the load has cost too much.
    """
    regions: dict[int, tuple[int, int] | None] = {}
    reasons: dict[int, str] = {}
    x0, z0 = (0, 0) if region is None else (32 * region[0], 32 * region[1])
    sharing: Counter[int] = Counter()
    for number in numbers:
        offset = _offset(data, number)
        sharing[offset] += 1
        try:
            if sharing[offset] > _MAX_SHARING:
                raise WorldFormatError(f"it lies at byte {offset}, where {_MAX_SHARING} other chunks do")
            chunk = _decoded(data, number, load, file, partial(decode, number=number, load=load))
            if region is not None and chunk.region not in (region, None):
                raise WorldFormatError(_stranger(chunk.region, region))
            store(columns, x0 + number % 32, z0 + number // 32, chunk.sections)
            regions[number] = chunk.region
        except TooLargeError:
            raise
        except WorldFormatError as error:
            reasons[number] = str(error)
    return regions, reasons


def _region(data: bytes, numbers: list[int], load: Load, file: Path | None) -> tuple[int, int]:
    """Return the region that the first chunks agree on: a window must know before it unpacks them all."""
    votes: Counter[tuple[int, int]] = Counter()
    for number in numbers:
        try:
            region = _decoded(data, number, load, file, partial(region_of, number=number))
        except TooLargeError:
            raise
        except WorldFormatError:
            continue
        if region is not None:
            votes[region] += 1
            if votes[region] >= _ENOUGH:
                return region
    return votes.most_common(1)[0][0] if votes else (0, 0)


def _offset(data: bytes, number: int) -> int:
    return int.from_bytes(data[4 * number : 4 * number + 3], "big") * _SECTOR


def _stranger(its: tuple[int, int] | None, region: tuple[int, int]) -> str:
    return f"it belongs to the region {its}, not to {region}"


def _report(reasons: dict[int, str], regions: Sized, strict: bool) -> list[str]:
    report = [sentence(reasons, len(regions) + len(reasons))] if reasons else []
    if report and (strict or not regions):
        raise WorldFormatError(report[0].removesuffix("."))
    return report


def sentence(reasons: dict[int, str], total: int) -> str:
    """Say what was skipped and why, chunks with the same reason together."""
    places = {(number % 32, number // 32): reason for number, reason in sorted(reasons.items())}
    return skipped.sentence("chunk", places, total)


def _decoded(
    data: bytes, number: int, load: Load, file: Path | None, decoder: Callable[[nbt.Cursor], Decoded]
) -> Decoded:
    """Return what a decoder makes of a chunk; its load pays for it, also where it is bad."""
    try:
        check(load)
        cursor = nbt.Cursor(_contents(data, number, load, file))
        before = cursor.tags_left
        try:
            return decoder(cursor)
        finally:
            load.tags_left -= before - cursor.tags_left
    except TooLargeError as error:
        raise TooLargeError(f"before the chunk ({number % 32}, {number // 32}), {error}") from error


def _contents(data: bytes, number: int, load: Load, file: Path | None) -> bytes:
    """Return the unpacked bytes of a chunk, from the region or from the file it is kept in."""
    offset = _offset(data, number)
    if not HEADER <= offset <= len(data) - 5:
        raise WorldFormatError(f"it would lie outside the {len(data)} bytes of the file")
    length, compression = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4]
    is_external = bool(compression & _EXTERNAL)
    if not (1 if is_external else 2) <= length <= len(data) - offset - 4:
        raise WorldFormatError(f"its length of {length} bytes does not fit the file")
    packed = external.read(file, number) if is_external else data[offset + 5 : offset + 4 + length]
    return unpacking.unpack(packed, compression & ~_EXTERNAL, load)
