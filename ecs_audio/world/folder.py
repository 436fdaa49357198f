"""World folders: the regions of a dimension, or as many of them as a window touches."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from math import hypot, isqrt
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from ecs_audio.world import anvil, opening
from ecs_audio.world.columns import EVERY_HEIGHT, Columns, box_of, cropped, make
from ecs_audio.world.errors import OutsideError, TooLargeError, WorldFormatError
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_CELLS, MAX_FILE_BYTES, MAX_FOLDER_FILES, MAX_REGION_FILES
from ecs_audio.world.load import ADVICE, Load
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import Window

Place: TypeAlias = tuple[int, int]
"""Along x and z: a region, or a chunk."""

_NAME: Final = re.compile(r"r\.(0|-?[1-9][0-9]{0,6})\.(0|-?[1-9][0-9]{0,6})\.mca")
_WITHIN: Final = ("", "region", "dimensions/minecraft/overworld/region")
"""Where a save keeps the regions of its overworld; a folder of another dimension has them in `region`."""
_MAX_SECTIONS: Final = MAX_CELLS // 4096
_MAX_CHUNKS: Final = _MAX_SECTIONS // 16
"""Those of a world 256 cells high: more are refused before any of them is unpacked."""
_MAX_NAMED: Final = 8
"""Files that an error names."""


def regions(folder: Path) -> dict[Place, Path]:
    """Return the region files of a world, by region: of a save, a dimension, or the folder itself.

    Raises WorldFormatError where there are none.
    """
    for part in _WITHIN:
        where = folder / part
        if where.is_dir():
            listed = list(islice(where.iterdir(), MAX_FOLDER_FILES + 1))
            if len(listed) > MAX_FOLDER_FILES:
                raise WorldFormatError(
                    f"its folder {where.name!r:.60} has more than {MAX_FOLDER_FILES} files"
                )
            named = [(_NAME.fullmatch(file.name), file) for file in listed]
            if found := {(int(name[1]), int(name[2])): file for name, file in named if name}:
                return dict(sorted(found.items()))
    raise WorldFormatError("it is a folder without region files (r.X.Z.mca), neither in it nor in `region`")


def read(
    files: dict[Place, Path], palette: Palette, strict: bool, part: Window | None
) -> tuple[Grid, list[str]]:
    """Return the cells of regions that lie where their names say, and a report of what had to be skipped.

    Of a window, only the files that it touches are opened; the grid then spans all regions, or as many around
    it as a world may have cells. Raises WorldFormatError where nothing can be read, for too large worlds, and
    with `strict` where something cannot be read; OutsideError where the window touches nothing.
    """
    lo, hi, count = _listed(files) if part is None else _within(files, part)
    heights = EVERY_HEIGHT if part is None else range(part.lo[1], part.hi[1])
    columns = make(lo, hi, heights, count)
    report = _fill(columns, files, palette, part)
    if report and (strict or not columns.present.any()):
        more = f" and {len(report) - _MAX_NAMED} more files" if len(report) > _MAX_NAMED else ""
        raise WorldFormatError(" ".join(report[:_MAX_NAMED]).removesuffix(".") + more)
    if part is not None:
        return _part(columns, files, part), report
    low, high = int(columns.low.min()), int(columns.high.max())
    if low >= high:
        raise WorldFormatError("its regions have no chunk with a section")
    x, z = (np.flatnonzero(columns.present.any(axis=axis)).tolist() for axis in (1, 0))
    first, end = (lo[0] + x[0], low, lo[1] + z[0]), (lo[0] + x[-1] + 1, high, lo[1] + z[-1] + 1)
    if (end[0] - first[0]) * (high - low) * (end[2] - first[2]) > _MAX_SECTIONS:
        raise WorldFormatError(_too_large((first[0], first[2]), (end[0], end[2])))
    return cropped(columns, first, end), report


def _fill(columns: Columns, files: dict[Place, Path], palette: Palette, part: Window | None) -> list[str]:
    lo, hi = box_of(columns)
    load, bytes_left = Load(palette), MAX_FILE_BYTES
    report = []
    for (x, z), file in files.items():
        is_near = lo[0] < 32 * x + 32 and 32 * x < hi[0] and lo[1] < 32 * z + 32 and 32 * z < hi[1]
        if part is not None and not is_near:
            continue
        try:
            bytes_left -= file.stat().st_size
            if bytes_left < 0:
                raise TooLargeError(f"its regions have more than {MAX_FILE_BYTES} bytes together; {ADVICE}")
            if said := _gather(columns, file, (x, z), load):
                report.append(f"{file.name}: {said}")
        except TooLargeError as error:
            raise TooLargeError(f"{error} (at {file.name})") from error
        except WorldFormatError as error:
            report.append(f"{file.name}: {str(error).removesuffix('.')}.")
        except OSError as error:
            report.append(f"{file.name}: it cannot be read: {error.strerror or error}.")
    return report


def _gather(columns: Columns, file: Path, region: Place, load: Load) -> str:
    """Store the chunks of a region that there is room for; return what had to be skipped."""
    head = opening.contents(file, anvil.HEADER)
    # The game leaves files without a byte behind.
    numbers = anvil.touched(anvil.chunks_in(head) if head else [], region, *box_of(columns))
    if not numbers:
        return ""
    good, bad = anvil.gather(columns, opening.contents(file), numbers, region, load, file)
    return anvil.sentence(bad, len(good) + len(bad)) if bad else ""


def _listed(files: dict[Place, Path]) -> tuple[Place, Place, int]:
    """Return the lowest chunk, one beyond the highest, and how many there are, by the files' headers."""
    if len(files) > MAX_REGION_FILES:
        raise WorldFormatError(f"it has {len(files)} region files, more than {MAX_REGION_FILES}; {ADVICE}")
    corners: list[Place] = []
    count = 0
    for region, file in files.items():
        if chunks := _chunks(file, region):
            corners = [*_box([*corners, *chunks])]
            count += len(chunks)
    lo, (x, z) = _box(corners or [(0, 0)])
    hi = x + 1, z + 1
    if (hi[0] - lo[0]) * (hi[1] - lo[1]) > _MAX_CHUNKS:
        raise WorldFormatError(_too_large(lo, hi))
    return lo, hi, count


def _chunks(file: Path, region: Place) -> list[Place]:
    """Return the chunks that a file's header lists; what is wrong with it is told when it is read."""
    with suppress(WorldFormatError, OSError):
        numbers = anvil.chunks_in(opening.contents(file, anvil.HEADER))
        return [(32 * region[0] + number % 32, 32 * region[1] + number // 32) for number in numbers]
    return []


def _within(files: dict[Place, Path], part: Window) -> tuple[Place, Place, int]:
    """Return the lowest chunk of a window, one beyond the highest, and how many there may be."""
    first, end = _spanned(files)
    lo = max(first[0], part.lo[0]), max(first[1], part.lo[2])
    hi = min(end[0], part.hi[0]), min(end[1], part.hi[2])
    count = (hi[0] - lo[0]) * (hi[1] - lo[1])
    if min(hi[0] - lo[0], hi[1] - lo[1]) <= 0:
        raise _outside(files, part)
    if count > _MAX_CHUNKS:
        raise WorldFormatError(f"{count} chunks may lie within {part}, more than {_MAX_CHUNKS} at once")
    return lo, hi, count


def _part(columns: Columns, files: dict[Place, Path], part: Window) -> Grid:
    if not columns.present.any():
        raise _outside(files, part)
    low, high = anvil.span(columns)
    (x0, z0), (x1, z1) = box_of(columns)
    (x_lo, z_lo), (x_hi, z_hi) = _spanned(files)
    # By names alone, as a world may have thousands of regions: what is not there costs little.
    most = _MAX_SECTIONS // (high - low)
    if (x_hi - x_lo) * (z_hi - z_lo) > most:
        x_lo, x_hi = _near(x_lo, x_hi, x0, x1, isqrt(most))
        z_lo, z_hi = _near(z_lo, z_hi, z0, z1, isqrt(most))
    if (x_hi - x_lo) * (z_hi - z_lo) > most:
        raise WorldFormatError(f"{part.radius:g} cells around a point are too many; take a smaller radius")
    return cropped(columns, (x_lo, low, z_lo), (x_hi, high, z_hi))


def _near(lo: int, hi: int, first: int, end: int, edge: int) -> Place:
    """Return that part of an axis around `first` to `end` that has `edge` chunks, or those it has."""
    start = max(lo, min(first, (first + end - edge) // 2))
    return start, min(hi, max(end, start + edge))


def _spanned(files: dict[Place, Path]) -> tuple[Place, Place]:
    return _box([(32 * (x + edge), 32 * (z + edge)) for x, z in files for edge in (0, 1)])


def _box(corners: list[Place]) -> tuple[Place, Place]:
    x, z = zip(*corners, strict=True)
    return (min(x), min(z)), (max(x), max(z))


def _outside(files: dict[Place, Path], part: Window) -> OutsideError:
    x, z = part.around[0] / 16 - 0.5, part.around[2] / 16 - 0.5
    # Looks into a few files only, as a world may have thousands.
    near = sorted(files, key=lambda at: hypot(x - 32 * at[0] - 15.5, z - 32 * at[1] - 15.5))[:_MAX_NAMED]
    chunks = [chunk for region in near for chunk in _chunks(files[region], region)]
    chunk = min(chunks, key=lambda at: hypot(x - at[0], z - at[1]), default=None)
    nearest = f"the nearest one is at x {16 * chunk[0] + 8}, z {16 * chunk[1] + 8}, and " if chunk else ""
    return OutsideError(
        f"no chunk lies within {part}: {nearest}its regions span {_spelled(*_spanned(files))}"
    )


def _too_large(lo: Place, hi: Place) -> str:
    return f"its chunks span {_spelled(lo, hi)}, and a world has at most {MAX_CELLS} cells; {ADVICE}"


def _spelled(lo: Place, hi: Place) -> str:
    return f"x {16 * lo[0]} to {16 * hi[0] - 1} and z {16 * lo[1]} to {16 * hi[1] - 1}"
