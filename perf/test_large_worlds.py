"""How long large world files take to load, each in a process of its own, and how much memory at the peak."""

import gzip
import json
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from figures import note
from test_worlds import real, tag

import ecs_audio as ea

SCRIPT = Path(__file__).with_name("load_peak.py")
WIDE = 600
"""Names in the palette of a .litematic: 10 bits each, across the ends of longs."""


def region(path, edge):
    """A region of edge x edge chunks, which are the finished ones of a real one over and over."""
    data = real("mca_1.21.1_r.0.0.mca").read_bytes()
    chunks = []
    for (entry,) in struct.iter_unpack(">I", data[:4096]):
        if entry:
            at = 4096 * (entry >> 8)
            (length,) = struct.unpack_from(">I", data, at)
            document = zlib.decompress(data[at + 5 : at + 4 + length], 47)
            if b"minecraft:full" in document:  # the others are mostly empty
                chunks.append(document)
    header, body = bytearray(8192), bytearray()
    for k in range(edge * edge):
        x, z = k % edge, k // edge
        document = chunks[k % len(chunks)]
        for name, number in ((b"xPos", x), (b"zPos", z)):
            document = re.sub(
                b"(\3\0\4" + name + b")....", rb"\g<1>" + struct.pack(">i", number), document, flags=re.S
            )
        packed = zlib.compress(document, 6)
        chunk = struct.pack(">IB", len(packed) + 1, 2) + packed
        sectors = -(-len(chunk) // 4096)
        struct.pack_into(">I", header, 4 * (x + 32 * z), (2 + len(body) // 4096) << 8 | sectors)
        body += chunk.ljust(4096 * sectors, b"\0")
    path.write_bytes(header + body)


def town(edge):
    """Ground, three rough layers and hollow houses of many materials, by y, z, x."""
    rng, cells = np.random.default_rng(3), np.zeros((edge, edge, edge), "<u2")
    low = edge // 4
    cells[:low] = 1
    cells[low - 3 : low] = rng.integers(1, WIDE, (3, edge, edge))
    for x, z in rng.integers(0, edge - 12, (edge * edge // 500, 2)).tolist():
        up = int(rng.integers(4, low))
        cells[low : low + up, z : z + 10, x : x + 10] = rng.integers(1, WIDE, (up, 10, 10))
        cells[low : low + up - 1, z + 1 : z + 9, x + 1 : x + 9] = 0
    return cells


def schem(path, edge):
    """A town as a Sponge schematic."""
    world = ea.World.empty(size=(edge, edge, edge))
    for k in range(1, WIDE):
        world.palette.id(f"block_{k}")
    world.put((0, 0, 0), town(edge).transpose(2, 0, 1))
    world.save(path)


def litematic(path, edge):
    """A town as a .litematic."""
    cells = town(edge)
    bits = np.unpackbits(cells.reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")[:, :10]
    packed = np.packbits(bits.ravel(), bitorder="little").tobytes()
    longs = np.frombuffer(packed + bytes(-len(packed) % 8), "<i8").astype(">i8")
    names = ["minecraft:air", *(f"block_{k}" for k in range(1, WIDE))]
    palette = b"".join(tag(8, "Name", struct.pack(">H", len(n)) + n.encode()) + b"\0" for n in names)
    corner, size = (
        tag(10, key, b"".join(tag(3, axis, struct.pack(">i", n)) for axis in "xyz") + b"\0")
        for key, n in (("Position", 0), ("Size", edge))
    )
    box = corner + size + tag(9, "BlockStatePalette", struct.pack(">bi", 10, WIDE) + palette)
    box += tag(12, "BlockStates", struct.pack(">i", len(longs)) + longs.tobytes()) + b"\0"
    tree = tag(3, "Version", struct.pack(">i", 6)) + tag(10, "Regions", tag(10, "town", box) + b"\0")
    path.write_bytes(gzip.compress(tag(10, "", tree + b"\0"), 1, mtime=0))


FILES = {
    "region": ("region.mca", region, 32, 8),
    "schem": ("cube.schem", schem, 256, 64),
    "litematic": ("town.litematic", litematic, 236, 64),
}
"""Of each kind its name, what writes it, its edge, and that in a short run."""


@pytest.mark.parametrize("kind", FILES)
def test_large(benchmark, rounds, quick, tmp_path, kind):
    """A small file's peak is what loading anything takes, and the system's pages: a short run tells none."""
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells the peak of a process's memory")
    name, write, edge, short_edge = FILES[kind]
    path, found = tmp_path / name, []
    write(path, short_edge if quick else edge)

    def run():
        command = [sys.executable, str(SCRIPT), str(path)]
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    benchmark.pedantic(run, rounds=rounds(5, 2))
    cells = found[0]["cells"]
    benchmark.extra_info |= {"cells": cells, "bytes": path.stat().st_size}
    what = f"a {path.suffix} of {cells / 1e6:.3g} million cells"
    short = ".short" if quick else ""  # of another size, so another history
    times = [each["seconds"] for each in found]
    note(benchmark, f"worlds.time{path.suffix}{short}", f"To load {what}", times)
    if not quick:
        peaks = [each["bytes"] / cells for each in found]
        note(benchmark, f"worlds.peak{path.suffix}", f"Memory at the peak of loading {what}", peaks, "B/cell")
