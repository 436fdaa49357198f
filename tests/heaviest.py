"""Files that take as much time or memory as any may."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterable, Iterator

import hostile
import numpy as np
import test_world_anvil_old as old
import test_world_files as files
import test_world_litematic as litematica
import test_world_luanti as luanti
import test_world_mesh as meshes
import test_world_schematic as mcedit
import test_world_vox as magica
from worst import File, mapped

NOISE = np.arange(4096) % 2


PLAIN = b"v 0 0 0\nv 9 0 0\nv 0 9 9\nf 1 2 3\n"


def heavy() -> Iterator[File]:
    """Yield files that ask for the most, but are found out within a second or two."""
    yield "bytes in a region", "mca", lambda: each(files.named("", {"x": bytes(2**20)}))
    yield "a thread", "litematic", lambda: boxes((1, 1, 2**23), bytes(range(256)))
    yield "texts", "litematic", lambda: boxes((1, 1, 1), bytes(8), [long_text(at) for at in range(2000)])
    yield "texts", "schem", lambda: schem((1, 1, 1), [long_text(at) for at in range(2000)], b"\0")
    yield "a thread", "npz", lambda: dense((1, 1, 2**22), 2)
    yield "words", "obj", lambda: PLAIN + (b"g " + b"a " * 32700 + b"\n") * 2**11
    yield "good: lines of many parts", "obj", lambda: PLAIN + (b"g \\\n" * 15000 + b"\n") * 400
    yield "scattered bodies", "glb", scattered
    yield "objects", "luanti", lambda: mapped(block_of_objects(), 700)


def heaviest() -> Iterator[File]:
    """Yield files that take the longest; the good ones are just within the limits."""
    yield "cells in a region", "mca", lambda: each(files.chunk(0, 0, high(["a", "b"], NOISE)))
    yield "names in a region", "mca", lambda: each(files.chunk(0, 0, [many_names()]))
    yield (
        "arrays in a region",
        "mca",
        lambda: each(files.named("", {})[:-1] + sections_of(repeated(b"data", 12, bytes(4), 16000))),
    )
    yield "numeric ids in a region", "mca", lambda: each(old.level(numeric()))
    yield "good: as much as a game can write", "mca", lambda: each(fullest())
    yield "texts in a region", "mca", lambda: own_chunks(long_texts(number) for number in range(1024))
    yield "cells", "litematic", lambda: boxes((1024, 1024, 1024), bytes(range(256)))
    yield "good: cells of air", "litematic", lambda: boxes((800, 800, 800), bytes(8))
    yield "a sheet", "litematic", lambda: boxes((8192, 1, 4096), bytes(range(256)))
    yield "cells", "schem", lambda: schem((700, 700, 780), ["air", "b"], b"\0\1\1")
    yield "good: cells of two bytes", "schem", lambda: schem((512, 512, 760), wide_names(), b"\x81\2", 2)
    yield "a sheet", "schem", lambda: schem((32767, 1, 2047), ["air", "b"], b"\0\1")
    yield "good: names", "schem", lambda: schem((1, 1, 1), [f"n{at}" for at in range(65500)], b"\0")
    yield "good: cells", "schematic", lambda: mcedit_file((570, 570, 600), bytes((1, 2, 3, 200)))
    yield "cells", "npz", lambda: dense((640, 640, 672), 2)
    yield "good: names", "npz", lambda: dense((400, 400, 400), 65000)
    yield "scattered voxels", "vox", lambda: placed(every_section(), 63, 256)
    yield "good: many voxels", "vox", lambda: placed(cube(), 190, 1)
    yield "good: small models far away", "vox", small_models
    yield "good: a cube", "obj", lambda: meshes.obj(*meshes.box((0, 0, 0), (1000, 1000, 1000)))
    yield "good: a floor", "obj", lambda: meshes.obj(*meshes.box((0.5, 0.5, 0.5), (1690, 30, 1690)))
    yield "lines", "obj", lambda: PLAIN + b"g\n" * 2**26
    yield "faces of two corners", "obj", lambda: PLAIN + b"f 1 2\n" * 2**22
    yield (
        "good: long names",
        "obj",
        lambda: PLAIN + b"".join(b"usemtl " + long_text(at).encode() + b"\nf 1 2 3\n" for at in range(2000)),
    )
    yield "corners", "obj", lambda: b"v 0 0 0\n" * 2**22
    yield "good: triangles", "stl", lambda: triangles(3 * 2**18)
    yield "nodes", "glb", lambda: meshes.chunked(b'{"nodes":[' + b"{}," * 2**21 + b"{}]}", b"")
    yield "good: blocks", "luanti", lambda: mapped(block_of_many_names(), 36_000)
    yield "blocks", "luanti", lambda: mapped(block_of_many_names(), 37_000)


def own_chunks(contents: Iterable[bytes]) -> bytes:
    """Return a region of chunks that each lie at a place of their own."""
    head, body = bytearray(8192), bytearray()
    for number, one in enumerate(contents):
        data = struct.pack(">IB", len(one) + 1, 2) + one
        struct.pack_into(
            ">I", head, 4 * number, (2 + len(body) // 4096) << 8 | min(255, -(-len(data) // 4096))
        )
        body += data.ljust(-(-len(data) // 4096) * 4096, b"\0")
    return bytes(head + body)


def each(contents: bytes) -> bytes:
    """Return a region of the same chunk 1024 times, each at a place of its own and of none in the world."""
    name = files.named("xPos", 0)
    return own_chunks(
        [zlib.compress(contents.replace(name, b"").replace(files.named("zPos", 0), b""), 9)] * 1024
    )


def high(names: list[str], indices: np.ndarray) -> list[object]:
    return [files.section(y, names, indices) for y in range(-128, 128)]


def fullest() -> bytes:
    """Return a chunk 384 cells high, with many blocks everywhere, light, and chests."""
    rng = np.random.default_rng(0)
    sections = []
    for y in range(-4, 20):
        count = int(rng.integers(17, 60))
        names = [f"minecraft:block_{number}" for number in rng.integers(0, 900, count)]
        names[::3] = [f"{name}[facing=north,half=top,waterlogged=false]" for name in names[::3]]
        light = {"BlockLight": bytes(2048), "SkyLight": bytes(2048)}
        sections.append(files.section(y, names, rng.integers(0, count, 4096)) | light)
    items = [{"Slot": np.int8(slot), "id": "minecraft:stone", "count": 1} for slot in range(9)]
    chests = [{"id": "minecraft:chest", "x": 1, "y": 2, "z": 3, "Items": items}] * 20
    return files.chunk(0, 0, sections, block_entities=chests)


def many_names() -> dict[str, object]:
    return files.section(0, ["a[type=x]"] * 4096, np.arange(4096))


def repeated(name: bytes, tag: int, value: bytes, count: int) -> bytes:
    return (struct.pack(">BH", tag, len(name)) + name + value) * count


def sections_of(states: bytes) -> bytes:
    """Return the end of a chunk of one section."""
    head = struct.pack(">BH", 9, 8) + b"sections" + struct.pack(">Bi", 10, 1)
    return head + struct.pack(">BH", 10, 12) + b"block_states" + states + bytes(3)


def numeric() -> list[object]:
    """Return sections of 4096 blocks that are all different."""
    keys = np.arange(4096)
    halves = bytes(range(256)) * 8
    blocks = (keys % 256).astype(np.uint8).tobytes()
    return [{"Y": np.int8(y), "Blocks": blocks, "Data": halves, "Add": halves} for y in range(-128, 128)]


def long_text(number: int) -> str:
    """Return a name of one block, of four bytes a character once it is text."""
    return f"a[{number}" + "x" * 60_000 + "\U0001f600"


def long_texts(number: int) -> bytes:
    names = [long_text(16 * number + at) for at in range(16)]
    section = {"Y": np.int8(0), "block_states": {"palette": [{"Name": name} for name in names]}}
    return zlib.compress(files.named("", {"sections": [section]}), 9)


def boxes(size: tuple[int, int, int], longs: bytes, names: list[str] | None = None) -> bytes:
    names = names or ["a", "b", "c", "d"]
    bits = max(2, (len(names) - 1).bit_length())
    count = -(-size[0] * size[1] * size[2] * bits // 64)
    data = np.frombuffer((longs * (8 * count // len(longs) + 1))[: 8 * count], ">i8")
    region = {
        "Position": litematica.three(0, 0, 0),
        "Size": litematica.three(*size),
        "BlockStatePalette": [{"Name": name} for name in names],
        "BlockStates": data.astype(np.int64),
    }
    return gzip.compress(litematica.litematic({"a": region}), 6)


def schem(size: tuple[int, int, int], names: list[str], pattern: bytes, width: int = 1) -> bytes:
    count = size[0] * size[1] * size[2] * width
    tree = {name: number for number, name in enumerate(names)}
    return gzip.compress(files.schem(size, tree, (pattern * (count // len(pattern) + 1))[:count]), 6)


def wide_names() -> list[str]:
    return [f"b{number}" for number in range(300)]


def mcedit_file(size: tuple[int, int, int], pattern: bytes) -> bytes:
    blocks = pattern * (size[0] * size[1] * size[2] // len(pattern))
    return gzip.compress(mcedit.mcedit(size, blocks, blocks), 6)


def dense(size: tuple[int, int, int], names: int) -> bytes:
    cells = np.resize(np.arange(names, dtype=np.uint8 if names < 256 else np.uint16), size)
    members = {"cells": cells, "palette": np.array([f"n{number}" for number in range(names)])}
    return hostile.zipped({f"{name}.npy": saved(array) for name, array in members.items()})


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def every_section() -> bytes:
    return magica.model((256, 256, 256), *((x, y, z, 1) for x, y, z in np.ndindex(16, 16, 16)))[
        :24
    ] + magica.chunk(
        "XYZI", 4096, *(bytes((16 * x, 16 * y, 16 * z, 1)) for x, y, z in np.ndindex(16, 16, 16))
    )


def cube() -> bytes:
    """Return a model of 64 x 64 x 64 voxels of many colours."""
    voxels = np.ones((2**18, 4), np.uint8)
    voxels[:, :3] = np.indices((64, 64, 64)).reshape(3, -1).T
    voxels[:, 3] += (np.arange(2**18) % 200).astype(np.uint8)
    return magica.chunk("SIZE", 256, 256, 256) + magica.chunk("XYZI", 2**18, voxels.tobytes())


def placed(model: bytes, count: int, apart: int) -> bytes:
    """Return a scene that places one model many times."""
    places = [f"{apart * (n % 4)} {apart * (n // 4 % 4)} {apart * (n // 16)}" for n in range(count)]
    return magica.vox(
        model,
        magica.group(0, *range(1, count + 1)),
        *(magica.transform(n + 1, 1000 + n, t=place) for n, place in enumerate(places)),
        *(magica.shape(1000 + n, 0) for n in range(count)),
    )


def small_models() -> bytes:
    count = 60_000
    return magica.vox(
        magica.model((1, 1, 1), (0, 0, 0, 1)),
        magica.group(0, *range(1, count + 1)),
        magica.transform(1, count + 1, t="-8000 8000 0"),
        *(magica.shape(number, 0) for number in range(2, count + 2)),
    )


def scattered() -> bytes:
    """Return a mesh of bodies that each lie in a section of their own."""
    corners = np.array([(2, 2, 2), (9, 2, 2), (2, 9, 2), (2, 2, 9)], float)
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    pieces = meshes.together(*((corners + np.array((16.0 * number, 0, 0)), faces) for number in range(8)))
    count = 20_000
    moved = [
        {"mesh": 0, "translation": [128 * (n % 64), 16 * (n // 64 % 16), 16 * (n // 1024)]}
        for n in range(count)
    ]
    return meshes.glb(*pieces, nodes=moved, scenes=[{"nodes": list(range(count))}])


def triangles(count: int) -> bytes:
    """Return small triangles anywhere."""
    rng = np.random.default_rng(0)
    kept = np.zeros(count, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    kept["corners"] = rng.random((count, 1, 3)) * 300 + rng.random((count, 3, 3)) * 1.2
    return bytes(80) + struct.pack("<I", count) + kept.tobytes()


def block_of_many_names() -> bytes:
    return luanti.block(29, luanti.NODES, ["air", *(f"a{number}" for number in range(40))])


def block_of_objects() -> bytes:
    objects = struct.pack(">BH", 0, 4096) + struct.pack(">BiiiH", 7, 1, 2, 3, 0) * 4096
    return luanti.block(28, luanti.SPLIT, luanti.NAMES, objects=objects)
