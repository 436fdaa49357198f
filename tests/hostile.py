"""Small files of all formats, ways to damage them behind their checksums, and what holds of every world."""

from __future__ import annotations

import gzip
import io
import random
import re
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import test_world_anvil_old as old
import test_world_files as files
import test_world_litematic as litematica
import test_world_luanti as luanti
import test_world_mesh as meshes
import test_world_schematic as mcedit
import test_world_vox as magica

from ecs_audio.world import Palette, World
from ecs_audio.world.load import Load

FILES = {
    "mca": "r.0.0.mca",
    "schem": "a.schem",
    "schematic": "a.schematic",
    "litematic": "a.litematic",
    "vox": "a.vox",
    "npz": "a.npz",
    "luanti": "map.sqlite",
    "obj": "a.obj",
    "glb": "a.glb",
    "stl": "a.stl",
}
"""What a file of each format is called; a region must be, to have chunks beside it."""


def small(kind: str) -> list[bytes]:
    """Return valid files of a format, of some hundred bytes to some kilobytes."""
    tree = {"minecraft:air": 0, "minecraft:stone": 1, "minecraft:oak_slab[type=double]": 200}
    box = meshes.SMALL
    if kind == "mca":
        chunks = [files.SMALL_CHUNK, old.NUMERIC, old.STRADDLING, old.MCREGION]
        return [
            *(files.region({(0, 0): one, (1, 0): one}, how) for one in chunks for how in (2, 3)),
            files.region({(0, 0): files.SMALL_CHUNK}, 1),
            old.with_lz4(old.STRADDLING),
            files.region({(0, 0): b""}, 130),
        ]
    if kind == "schem":
        data = files.varints([0, 1, 200, 1] * 6)
        return [gzip.compress(files.schem((3, 2, 4), tree, data, version), mtime=0) for version in (1, 2, 3)]
    if kind == "schematic":
        named = {"AddBlocks": bytes(12), "BlockIDs": {"0": "minecraft:air", "300": "minecraft:glass"}}
        listed = {"SchematicaMapping": {"minecraft:glass": np.int16(300)}}
        cells = bytes(range(24))
        return [
            gzip.compress(mcedit.mcedit((3, 2, 4), cells, cells, **more), mtime=0)
            for more in ({}, named, listed)
        ]
    if kind == "litematic":
        region = litematica.box((5, -2, 7), (3, 2, -4), litematica.CELLS, litematica.STATES)
        two = litematica.litematic({"a": region, "b": {**region, "Position": litematica.three(1, 0, 0)}})
        return [gzip.compress(one, mtime=0) for one in (litematica.SMALL, two)]
    if kind == "vox":
        return [magica.SMALL, magica.vox(magica.model((2, 2, 2), (0, 0, 0, 1), (1, 1, 1, 9)))]
    if kind == "luanti":
        formats = [25, 27, 29]
        return [
            _map([((0, 0, -1), luanti.block(version, luanti.SPLIT, luanti.NAMES))]) for version in formats
        ]
    if kind == "npz":
        with TemporaryDirectory() as folder:
            return [files.small_npz(Path(folder))]
    if kind == "obj":
        quads = b"mtllib a.mtl\no a\n" + meshes.obj(*box) + b"g b\nf -1/1 -2//3 -3/4/5 -4\n"
        return [meshes.obj(*box), quads]
    if kind == "glb":
        return [meshes.glb(*box), meshes.glb(*box, nodes=[{"mesh": 0, "scale": [1, 2, 1], "children": []}])]
    return [meshes.stl(*box), meshes.text_stl(*box)]


def _map(blocks: list[tuple[tuple[int, int, int], bytes]]) -> bytes:
    with TemporaryDirectory() as folder:
        return luanti.write(Path(folder), blocks).read_bytes()


def check(world: World) -> None:
    """Assert that sections, cells and names of a world belong together, as every reader of them expects."""
    slots, size = world.slots, world.size
    assert slots.dtype == np.int32
    assert world.cells.dtype == np.uint16
    assert (size > 0).all()
    assert slots.shape == tuple(((world.origin + size - 1) >> 4) - (world.origin >> 4) + 1)
    rows = slots[slots >= 0]
    assert len(np.unique(rows)) == len(rows)
    assert int(rows.max(initial=-1)) < len(world.cells)
    assert -2 - int(slots.min()) < len(world.palette)
    for start in range(0, len(rows), 1024):
        assert int(world.cells[rows[start : start + 1024]].max()) < len(world.palette)
    assert 0 < len(world.palette) < 2**16
    assert all(name and len(name) <= 128 and name.isprintable() for name in world.palette.names)
    assert np.isfinite(world.cell_size)
    assert all("\n" not in line for line in world.report)


# Damage

Layer = tuple[bytes, Callable[[bytes], bytes]]
"""What lies in a file behind a checksum or a length, and what puts something else in its place."""

NUMBERS = (0, 1, 2, 15, 16, 17, 63, 64, 127, 128, 255, 256, 4095, 4096, 2**15 - 1, 2**15, 2**16 - 1)
NUMBERS += (2**24, 2**30, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
WORDS = (b"-1", b"0", b"1", b"1e308", b"-1e39", b"1e-320", b"nan", b"inf", b"99999999999", b"0.5", b"65536")
MAX_BYTES = 2**17


@lru_cache(1000)
def layers(data: bytes) -> list[Layer]:
    """Return all layers right within some data, none where it is damaged beyond that."""
    try:
        return list(_layers(data))
    except Exception:
        return []


def _layers(data: bytes) -> Iterator[Layer]:
    if data[:2] == b"\x1f\x8b":
        yield gzip.decompress(data), partial(gzip.compress, compresslevel=1, mtime=0)
    elif data[:1] == b"\x78":
        yield zlib.decompress(data), partial(zlib.compress, level=1)
    elif data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
        for name, contents in members.items():
            yield contents, lambda new, name=name: zipped(members | {name: new})
    elif data[:4] == b"glTF":
        size = int.from_bytes(data[12:16], "little")
        scene, buffer = data[20 : 20 + size], data[28 + size :]
        yield scene, lambda new: meshes.chunked(new, buffer)
        yield buffer, lambda new: meshes.chunked(scene, new)
    elif data[:4] == b"VOX ":
        at, chunks = 20, []
        while at < len(data):
            kind, own = struct.unpack_from("<4sI", data, at)
            chunks.append((kind, data[at + 12 : at + 12 + own]))
            at += 12 + own
        for number, (_, contents) in enumerate(chunks):
            yield contents, lambda new, number=number: _models(chunks, number, new)
    elif data[:6] == b"SQLite":
        connection = sqlite3.connect(":memory:")
        connection.deserialize(data)
        for key, blob in connection.execute("SELECT rowid, data FROM blocks LIMIT 8").fetchall():
            if isinstance(blob, bytes):
                yield blob, partial(_updated, data, key)
    elif data[:1] == b"\x1d":
        zstd = luanti.zstd()
        yield zstd.decompress(data[1:]), lambda new: b"\x1d" + zstd.compress(new, 1)
    elif data[:1] in (b"\x19", b"\x1a", b"\x1b", b"\x1c"):
        start = 6 if data[0] >= 27 else 4
        stream = zlib.decompressobj()
        yield (
            stream.decompress(data[start:]),
            lambda new: data[:start] + zlib.compress(new, 1) + stream.unused_data,
        )
    elif len(data) > 8192:
        for number in range(1024):
            at = int.from_bytes(data[4 * number : 4 * number + 3], "big") * 4096
            if at:
                size, how = struct.unpack_from(">IB", data, at)
                contents, pack = data[at + 5 : at + 4 + size], bytes
                if how == 4:
                    contents, pack = old.unpacking.unpack(contents, 4, Load(Palette())), old.lz4_blocks
                elif how in (1, 2):
                    ((contents, pack),) = _layers(contents)
                yield contents, lambda new, at=at, how=how, pack=pack: _chunk(data, at, how, pack(new))


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    return stream.getvalue()


def _models(chunks: list[tuple[bytes, bytes]], number: int, new: bytes) -> bytes:
    kept = [(kind, new if at == number else contents) for at, (kind, contents) in enumerate(chunks)]
    return magica.vox(*(struct.pack("<4sII", kind, len(one), 0) + one for kind, one in kept))


def _updated(data: bytes, key: int, blob: bytes) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(data)
    connection.execute("UPDATE blocks SET data = ? WHERE rowid = ?", (blob, key))
    connection.commit()
    return bytes(connection.serialize())


def _chunk(data: bytes, at: int, how: int, packed: bytes) -> bytes:
    body = struct.pack(">IB", len(packed) + 1, how) + packed
    end = at + max(4096, -(-len(body) // 4096) * 4096)
    return data[:at] + body + bytes(end - at - len(body)) + data[end:]


def damaged(data: bytes, rng: random.Random, others: list[bytes], depth: int = 3) -> bytes:
    """Return data changed at a few places, often behind its checksums."""
    if depth and rng.random() < 0.8 and (found := layers(data)):
        contents, put_back = rng.choice(found)
        if len(contents) <= MAX_BYTES:
            inside = [layer[0] for other in others for layer in layers(other)[:2]]
            return put_back(damaged(contents, rng, inside, depth - 1))
    out = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        _change(out, rng, others)
    return bytes(out[:MAX_BYTES])


def _change(out: bytearray, rng: random.Random, others: list[bytes]) -> None:
    at = rng.randrange(len(out) + 1)
    # Most of what decides lies at the beginning.
    at = min(at, rng.randrange(400)) if rng.random() < 0.3 else at
    end = min(len(out), at + (1 << rng.randrange(8)))
    how = rng.randrange(8)
    if how == 0 and at < len(out):
        out[at] ^= 1 << rng.randrange(8)
    elif how == 1 and at < len(out):
        out[at] = rng.randrange(256)
    elif how == 2:
        width = rng.choice((1, 2, 4, 8))
        number = (rng.choice(NUMBERS) + rng.randrange(-1, 2)) % 256**width
        out[at : at + width] = number.to_bytes(width, rng.choice(("little", "big")))
    elif how == 3:
        del out[at:end]
    elif how == 4:
        out[at:at] = out[at:end] * rng.choice((1, 1, 2, 8))
    elif how == 5:
        out[at:at] = rng.randbytes(rng.randrange(1, 9))
    elif how == 6 and others:
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        out[at:end] = other[start : start + (1 << rng.randrange(8))]
    elif how == 7 and (found := list(re.finditer(rb"-?\d[\d.e+-]*", bytes(out[at : at + 400])))):
        number = rng.choice(found)
        out[at + number.start() : at + number.end()] = rng.choice(WORDS)


def real(kind: str) -> list[bytes]:
    """Return real files of a format, cut down to some kilobytes; none where there are none."""
    if kind == "mca":
        return [_few_chunks(path.read_bytes()) for path in sorted(files.DATA.glob("*.mca"))]
    if kind == "luanti":
        return [_few_blocks(path) for path in files.DATA.glob("*.sqlite")]
    if kind == "vox":
        return [_few_voxels(path.read_bytes()) for path in files.DATA.glob("*.vox")]
    return [
        path.read_bytes() for path in files.DATA.glob(f"*.{kind}") if path.stat().st_size < MAX_BYTES // 2
    ]


def _few_chunks(data: bytes) -> bytes:
    header, body = bytearray(8192), bytearray()
    for number in range(1024):
        at, pages = int.from_bytes(data[4 * number : 4 * number + 3], "big") * 4096, data[4 * number + 3]
        if at and len(body) + 4096 * pages < 2**15:
            header[4 * number : 4 * number + 4] = struct.pack(">I", (2 + len(body) // 4096) << 8 | pages)
            body += data[at : at + 4096 * pages].ljust(4096 * pages, b"\0")
    return bytes(header + body)


def _few_blocks(path: Path) -> bytes:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    rows = connection.execute("SELECT pos, data FROM blocks ORDER BY length(data) DESC LIMIT 3").fetchall()
    return _map([((pos, 0, 0), data) for pos, data in rows])


def _few_voxels(data: bytes) -> bytes:
    chunks = [(data[at : at + 4], at) for at in (data.index(b"SIZE"), data.index(b"RGBA"))]
    size, colours = (data[at : at + 12 + struct.unpack_from("<I", data, at + 4)[0]] for _, at in chunks)
    at = data.index(b"XYZI") + 16
    return magica.vox(size, magica.chunk("XYZI", 200, data[at : at + 800]), colours)
