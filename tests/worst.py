"""Bad files of all formats that ask for much."""

from __future__ import annotations

import gzip
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import hostile
import numpy as np
import test_world_anvil_old as old
import test_world_files as files
import test_world_litematic as litematica
import test_world_luanti as luanti
import test_world_mesh as meshes
import test_world_schematic as mcedit
import test_world_vox as magica

File = tuple[str, str, Callable[[], bytes]]
"""What a file is, its format, and what makes it."""


def deep(kind: bytes) -> bytes:
    """Return a document of a hundred thousand containers inside each other."""
    opening = {b"compound": b"\x0a\0\1x", b"list": b"\x09\0\0\0\1"}[kind]
    return b"\x0a\0\0\x0a\0\1x" + (b"" if kind == b"compound" else b"\x09\0\1y") + opening * 100_000


def chunks(data: bytes, how: int, count: int = 1) -> bytes:
    """Return a region of a number of chunks with the same packed bytes, the last for all the rest."""
    body = struct.pack(">IB", len(data) + 1, how) + data
    pages = -(-len(body) // 4096)
    places = [2 + pages * min(number, count - 1) for number in range(1024)]
    head = b"".join(struct.pack(">I", place << 8 | min(255, pages)) for place in places)
    return head + bytes(4096) + body.ljust(4096 * pages, b"\0") * count


def mapped(block: bytes, count: int = 1) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        places = ((x % 64, x // 64 % 32, x // 2048) for x in range(count))
        return luanti.write(Path(folder), ((place, block) for place in places)).read_bytes()


def worst() -> Iterator[File]:
    """Yield bad files that are found out soon, and some that are only odd."""
    flood = 600 * 2**20
    yield "gzip bomb", "schem", lambda: files.bomb(flood, 31)
    yield "zlib bomb", "litematic", lambda: files.bomb(flood, 15)
    yield "gzip bombs in a region", "mca", lambda: chunks(files.bomb(2**27, 31), 1)
    yield "zlib bombs in a region", "mca", lambda: chunks(files.bomb(2**27, 15), 2, 20)
    yield "LZ4 bombs in a region", "mca", lambda: chunks(old.lz4_blocks(bytes(2**25 + 2**16), 2**25), 4)
    yield (
        "a lying LZ4 block",
        "mca",
        lambda: chunks(struct.pack("<8sBIII", b"LZ4Block", 0x26, 3, 2**25, 0) + b"abc", 4),
    )
    yield "zstd bomb", "luanti", lambda: mapped(b"\x1d" + luanti.zstd().compress(bytes(2**28)))
    yield "zlib bomb in a map", "luanti", lambda: mapped(b"\x1c\0\xff\xff\2\2" + files.bomb(2**27, 15))
    yield "names for nothing", "luanti", lambda: mapped(b"\x1d" + names_for_nothing(), 1000)
    yield "zip bomb", "npz", lambda: hostile.zipped({"cells.npy": bytes(flood), "palette.npy": b""})
    yield "deep compounds", "schem", lambda: gzip.compress(deep(b"compound"))
    yield "deep lists", "litematic", lambda: zlib.compress(deep(b"list"))
    yield "deep chunk", "mca", lambda: chunks(zlib.compress(deep(b"list")), 2)
    yield "deep scene", "glb", lambda: meshes.chunked(b'{"x":' + b"[" * 10**6, b"")
    yield (
        "deep header",
        "npz",
        lambda: hostile.zipped(
            {"cells.npy": b"\x93NUMPY\1\0" + struct.pack("<H", 4000) + b"-" * 3999 + b"1", "palette.npy": b""}
        ),
    )
    yield "lying edges", "schem", lambda: files.schem((-1, -1, -1), {"a": 0}, bytes(9))
    yield "lying edges", "schematic", lambda: mcedit.mcedit((-1, -1, -1), bytes(9))
    region = litematica.box((0, 0, 0), (1, 1, 1), np.zeros((1, 1, 1), int), ["a"])
    for edge in (2**31 - 1, -(2**31), 2**15):
        huge = {**region, "Size": litematica.three(edge, edge, edge)}
        yield f"lying edges {edge}", "litematic", lambda huge=huge: litematica.litematic({"a": huge})
    far = {**region, "Position": litematica.three(2**31 - 1, 0, 0)}
    yield "regions far apart", "litematic", lambda: litematica.litematic({"a": region, "b": far})
    yield "blocks far apart", "luanti", far_apart
    yield (
        "models far apart",
        "vox",
        lambda: magica.vox(
            magica.model((1, 1, 1), (0, 0, 0, 1)),
            magica.group(0, 1, 2),
            magica.transform(1, 3, t="-2147483648 0 0"),
            magica.transform(2, 4, t="2147483647 0 0"),
            magica.shape(3, 0),
            magica.shape(4, 0),
        ),
    )
    count = 30_000
    yield (
        "good: thousands of models",
        "vox",
        lambda: magica.vox(
            magica.model((256, 256, 256), (255, 255, 255, 1)),
            magica.group(0, *range(1, count)),
            magica.transform(1, count, t="3700 700 0"),
            *(magica.shape(number, 0) for number in range(2, count + 1)),
        ),
    )
    yield "lying model", "vox", lambda: magica.vox(magica.chunk("SIZE", 2**31 - 1, 1, 1))
    yield (
        "lying voxels",
        "vox",
        lambda: magica.vox(magica.chunk("SIZE", 9, 9, 9), magica.chunk("XYZI", 2**31 - 1, 0)),
    )
    yield (
        "lying shape",
        "npz",
        lambda: hostile.zipped({"cells.npy": header((2**20,) * 3), "palette.npy": b""}),
    )
    yield "lying count", "stl", lambda: bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50)
    yield (
        "lying accessor",
        "glb",
        lambda: meshes.glb(
            *meshes.SMALL,
            accessors=[{"bufferView": 0, "componentType": 5126, "count": 2**62, "type": "VEC3"}] * 2,
        ),
    )
    yield "lying corner", "obj", lambda: b"v 0 0 0\nf 1 2 1099511627775\n"
    yield "far corner", "obj", lambda: b"v 0 0 0\nv 1e12 0 0\nv 0 1e12 1e12\nf 1 2 3\n"
    yield "endless line", "obj", lambda: b"v 0 0 0\nf " + b"1 " * 2**20
    yield "a cube too large", "stl", lambda: meshes.stl(*meshes.box((0, 0, 0), (1e9, 1e9, 1e9)))


def header(shape: tuple[int, ...]) -> bytes:
    text = repr({"descr": "|u1", "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def names_for_nothing() -> bytes:
    names = struct.pack(">BH", 0, 4096) + struct.pack(">HH1s", 0, 1, b"a") * 4096
    return bytes(luanti.zstd().compress(bytes(7) + names + b"\2\2" + bytes(16384)))


def far_apart() -> bytes:
    block = luanti.block(28, luanti.SPLIT, luanti.NAMES)
    with tempfile.TemporaryDirectory() as folder:
        return luanti.write(Path(folder), [((-2048,) * 3, block), ((2047,) * 3, block)]).read_bytes()
