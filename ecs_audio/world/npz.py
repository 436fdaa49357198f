"""Worlds as numpy archives, for numpy users and for `World.save`.

Keys of an archive; the first two must be there:

- `cells`: whole numbers, indices into `palette`, shape [x, y, z]
- `palette`: block names as text, shape [n]
- `origin`: lowest cell, shape [3]; 0, 0, 0 if absent
- `cell_size`: edge of a cell [m], shape []; 1 if absent
- `known`: 0 for each section of 16x16x16, aligned at multiples of 16 cells, that is not loaded, shape
  [sx, sy, sz]; all are loaded if absent
- `version`: 1, shape []; 1 if absent
"""

import zipfile
from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import archive as archives
from ecs_audio.world import dense
from ecs_audio.world.arguments import Cell, origin3, real, size3
from ecs_audio.world.boxes import depths
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import UNKNOWN, Grid, make, make_uniform, section_count
from ecs_audio.world.limits import (
    MAX_CELL_SIZE,
    MAX_DOCUMENT_BYTES,
    MAX_FILE_SECTIONS,
    MAX_NAMES,
    MAX_PALETTE_BYTES,
    MAX_ROWS,
    MIN_CELL_SIZE,
)
from ecs_audio.world.palette import Palette

_VERSION: Final = 1
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""One date for all archives, so that equal worlds make equal files."""


def read(data: bytes, palette: Palette) -> tuple[Grid, float]:
    """Return the cells and the cell size of an archive. Raises WorldFormatError."""
    try:
        with archives.unpack(data) as archive:
            return _read(archive, palette)
    except (WorldFormatError, MemoryError):
        raise
    except Exception as error:
        # A damaged archive makes zipfile, zlib, ast and numpy raise a dozen kinds of errors.
        reason = " ".join(str(error).split())
        raise WorldFormatError(f"its archive is damaged ({type(error).__name__}: {reason:.200})") from error


def _read(archive: zipfile.ZipFile, palette: Palette) -> tuple[Grid, float]:
    cells = archives.member(archive, "cells")
    if cells is None or cells.dtype.kind not in "biu" or len(cells.shape) != 3:
        raise WorldFormatError("it has no array `cells` of whole numbers in three dimensions")
    version = _small(archive, "version", (), "iu", _VERSION)
    if version != _VERSION:
        raise WorldFormatError(f"its version is {version}, of which only {_VERSION} is read")
    origin = origin3("origin", _small(archive, "origin", (3,), "iu", np.zeros(3, np.int64)))
    size = size3("the shape of cells", cells.shape)
    cell_size = real("cell_size", _small(archive, "cell_size", (), "fiu", 1.0), MIN_CELL_SIZE, MAX_CELL_SIZE)
    table = _table(archive, palette)
    if (sections := section_count(origin, size)) > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {size} cells touch {sections} sections, more than {MAX_FILE_SECTIONS}")
    grid = make(origin, size, max_rows=MAX_ROWS)
    known = _small(archive, "known", grid.slots.shape, "biu", None)
    is_renumbered = not np.array_equal(table, np.arange(len(table)))
    axis = 2 if cells.is_fortran else 0
    corner = list(origin)
    for slab in archives.slabs(cells, depths(origin[axis], size[axis])):
        if slab.dtype == np.bool_:
            slab = slab.view(np.uint8)
        low, high = int(slab.min()), int(slab.max())
        if low < 0 or high >= len(table):
            raise WorldFormatError(
                f"its cells have the index {low if low < 0 else high} of {len(table)} names"
            )
        ids = dense.renumbered(slab, table) if is_renumbered else slab.astype(np.uint16, copy=False)
        dense.put(grid, (corner[0], corner[1], corner[2]), ids)
        corner[axis] += slab.shape[axis]
    if known is not None:
        make_uniform(grid, np.flatnonzero(known.reshape(-1) == 0), UNKNOWN)
    return grid, cell_size


def _small(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], kinds: str, default: Any) -> Any:
    found = archives.member(archive, name)
    if found is None:
        return default
    if found.shape != shape or found.dtype.kind not in kinds:
        raise WorldFormatError(
            f"its {name} has the shape {found.shape} and type {found.dtype}, not the shape {shape}"
        )
    values = archives.whole(found)
    return values if shape else values[()]


def _table(archive: zipfile.ZipFile, palette: Palette) -> NDArray[np.uint16]:
    """Return the palette ids by index of the archive."""
    names = archives.member(archive, "palette")
    if names is None or names.dtype.kind not in "SU" or len(names.shape) != 1 or names.shape[0] > MAX_NAMES:
        raise WorldFormatError(f"it has no array `palette` of at most {MAX_NAMES} names")
    if names.shape[0] * names.dtype.itemsize > MAX_PALETTE_BYTES:
        raise WorldFormatError(f"its palette of {names.dtype} has more than {MAX_PALETTE_BYTES} bytes")
    if names.dtype.kind == "S":
        listed = [name.decode() for name in archives.whole(names).tolist()]
    else:
        listed = archives.whole(names).tolist()
    return np.array([palette.id(name) for name in listed], np.uint16)


def write(stream: IO[bytes], grid: Grid, palette: Palette, cell_size: float) -> None:
    """Write an archive. Raises ValueError for a world with more cells than are read again."""
    size = _size(grid)
    dtype = np.dtype("<u1" if len(palette) <= 256 else "<u2")
    cells_bytes = size[0] * size[1] * size[2] * dtype.itemsize
    if cells_bytes > MAX_DOCUMENT_BYTES:
        raise ValueError(
            f"The world has {cells_bytes} bytes of cells, of at most {MAX_DOCUMENT_BYTES} a file."
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, "version", np.array(_VERSION))
        _write(archive, "palette", np.array(palette.names))
        _write(archive, "origin", np.array(grid.lo))
        _write(archive, "cell_size", np.array(cell_size))
        if (grid.slots == UNKNOWN).any():
            _write(archive, "known", (grid.slots != UNKNOWN).astype(np.uint8))
        _write_slabs(archive, "cells", size, dtype, _cells(grid, dtype))


def _size(grid: Grid) -> Cell:
    (x0, y0, z0), (x1, y1, z1) = grid.lo, grid.hi
    return x1 - x0, y1 - y0, z1 - z0


def _cells(grid: Grid, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    x, y, z = grid.lo
    _, dy, dz = size = _size(grid)
    for depth in depths(x, size[0]):
        yield dense.ids(grid, (x, y, z), (depth, dy, dz)).astype(dtype)
        x += depth


def _write(archive: zipfile.ZipFile, name: str, values: NDArray[Any]) -> None:
    _write_slabs(archive, name, values.shape, values.dtype, iter([values]))


def _write_slabs(
    archive: zipfile.ZipFile,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    slabs: Iterator[NDArray[Any]],
) -> None:
    info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    with archive.open(info, "w", force_zip64=True) as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for slab in slabs:
            stream.write(slab.tobytes())
