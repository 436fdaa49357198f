"""The bounds that keep any world, and any file, from exhausting time or memory."""

from typing import Final

MAX_CELLS: Final = 2**30
"""Cells in the declared box of one world, and in one array asked for."""

MAX_FILE_CELLS: Final = 2**29
"""Cells in the box of a file whose reader has to do something for each of them."""

MAX_FILE_SECTIONS: Final = 2**18
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

MAX_STATED_LENGTH: Final = 1024
"""Characters in one block name with its states, as files have them."""

MAX_MATERIAL_BYTES: Final = 2**20
"""Bytes of one material file."""

MAX_FILE_BYTES: Final = 2**30
"""Bytes of one file on disk."""

MAX_CHUNK_BYTES: Final = 64 * 2**20
"""Bytes of one decompressed chunk of a region."""

MAX_LOAD_BYTES: Final = 512 * 2**20
"""Bytes of all chunks of one load, packed and unpacked, of a region or a folder."""

MAX_LOAD_TAGS: Final = 7 * 2**20
"""Tags of all chunks of one load, and 64 for each section of cells: a full region has up to 6 million."""

MAX_LOAD_SECTIONS: Final = 3 * 2**14
"""Sections of one load whose cells are listed one by one: a region of 384 cells height has 24576."""

MAX_ROWS: Final = 2**16
"""Sections of several materials in one file: they take 8 KiB each."""

MAX_REGION_FILES: Final = 2**14
"""Region files of a folder that is loaded as a whole."""

MAX_FOLDER_FILES: Final = 2**18
"""Files in one folder of regions."""

MAX_DOCUMENT_BYTES: Final = 384 * 2**20
"""Decompressed bytes of a schematic, or of the cells in an npz."""

MAX_PALETTE_BYTES: Final = 64 * 2**20
"""Bytes of the names in an npz."""

MAX_ARCHIVE_BYTES: Final = MAX_DOCUMENT_BYTES + MAX_PALETTE_BYTES
"""Bytes of all arrays of an npz together: those of the cells, and room for names and headers."""

MAX_BLOCKS: Final = 2**21
"""Map blocks in one Luanti world."""

MAX_LOAD_BLOCKS: Final = 9 * 2**12
"""Map blocks that are read of one Luanti world at once: a window of radius 256 has up to 33**3."""

MAX_BLOCK_BYTES: Final = 2**20
"""Bytes of one map block, packed or unpacked; of what unpacks to more only the beginning may be read."""

MAX_TRIANGLES: Final = 3 * 2**18
"""Triangles of a mesh, with each copy of what is placed several times."""

MAX_MESH_BYTES: Final = 2**28
"""Bytes of a mesh file."""

MAX_TEXT_STEPS: Final = 5 * 2**22
"""Words of a mesh that is text, and two for each line: a file of as many triangles as may be has fewer."""

MAX_MESH_EDGE: Final = 2**16
"""Cells of a mesh along an axis."""

MAX_CROSSINGS: Final = 3 * 2**21
"""Cells that all triangles of a mesh together may be asked for."""

MAX_DEPTH: Final = 512
"""Containers inside containers in an NBT document."""

MAX_TAGS: Final = 2**20
"""Tags in one NBT document: bytes alone do not bound time, as an empty compound takes one."""

MAX_TEXT_BYTES: Final = 2**24
"""Bytes of text that is wanted of one NBT document: as text, they take up to four times as many."""
