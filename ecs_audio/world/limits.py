"""The bounds that keep any world, and any file, from exhausting time or memory."""

from typing import Final

MAX_CELLS: Final = 2**30
"""Cells in the declared box of one world, and in one array asked for."""

MAX_FILE_SECTIONS: Final = 2**19
"""Sections of 16x16x16 that the box of a file may touch: a thin one has many more than its cells suggest."""

MAX_COORDINATE: Final = 2**40
"""Largest cell coordinate of either sign: float64 still resolves a thousandth of a cell there."""

MIN_CELL_SIZE: Final = 0.001
"""Smallest cell edge [m]."""

MAX_CELL_SIZE: Final = 1000.0
"""Largest cell edge [m]."""

MAX_NAMES: Final = 2**16 - 1
"""Names in one palette: ids are uint16, and one number stays free to say that there is no name."""

MAX_NAME_LENGTH: Final = 128
"""Characters in one block name."""

MAX_MATERIAL_BYTES: Final = 2**20
"""Bytes of one material file."""

MAX_FILE_BYTES: Final = 2**30
"""Bytes of one file on disk."""

MAX_CHUNK_BYTES: Final = 64 * 2**20
"""Bytes of one decompressed chunk of a region."""

MAX_REGION_BYTES: Final = 2**30
"""Bytes of all decompressed chunks of a region together; they are never held at the same time."""

MAX_DOCUMENT_BYTES: Final = 512 * 2**20
"""Decompressed bytes of a schematic, or of the cells in an npz."""

MAX_PALETTE_BYTES: Final = 64 * 2**20
"""Bytes of the names in an npz."""

MAX_ARCHIVE_BYTES: Final = MAX_DOCUMENT_BYTES + MAX_PALETTE_BYTES
"""Bytes of all arrays of an npz together: those of the cells, and room for names and headers."""

MAX_BLOCKS: Final = 2**22
"""Map blocks in one Luanti world."""

MAX_BLOCK_BYTES: Final = 2**20
"""Bytes of one map block, packed or unpacked; of what unpacks to more only the beginning may be read."""

MAX_TRIANGLES: Final = 2**21
"""Triangles of a mesh, with each copy of what is placed several times."""

MAX_MESH_BYTES: Final = 2**28
"""Bytes of a mesh file."""

MAX_MESH_EDGE: Final = 2**16
"""Cells of a mesh along an axis."""

MAX_CROSSINGS: Final = 2**24
"""Cells that all triangles of a mesh together may be asked for."""

MAX_DEPTH: Final = 512
"""Containers inside containers in an NBT document."""

MAX_TAGS: Final = 2**20
"""Tags in one NBT document: bytes alone do not bound time, as an empty compound takes one."""

MAX_REGION_TAGS: Final = 2**24
"""Tags in all chunks of a region together."""
