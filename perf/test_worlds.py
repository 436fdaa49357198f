"""How fast worlds are read, beside readers that go block by block, in Python."""

import gzip
import os
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import per_block
import pytest
from figures import note
from turns import Turn, seconds

import ecs_audio as ea

DATA = Path(os.environ.get("ECS_AUDIO_DATA", Path(__file__).parents[2] / "shared" / "data")) / "worlds"
SHARE = 7
"""The reader block by block takes one chunk of so many, or it would take all the time."""


def real(name):
    if not (DATA / name).exists():
        pytest.skip(f"{DATA / name} is absent; ECS_AUDIO_DATA may say where the data is")
    return DATA / name


def tag(kind, name, payload):
    return struct.pack(">BH", kind, len(name)) + name.encode() + payload


def write_schematic(path, world):
    """A world as a Sponge schematic of version 2, for up to 128 names."""
    ids = world.ids(world.origin, world.origin + world.size).transpose(1, 2, 0)
    edges = zip(("Height", "Length", "Width"), ids.shape, strict=True)
    names = [tag(3, f"minecraft:{name}", struct.pack(">i", k)) for k, name in enumerate(world.palette.names)]
    tree = [tag(2, name, struct.pack(">H", edge)) for name, edge in edges]
    tree += [tag(3, "Version", struct.pack(">i", 2)), tag(10, "Palette", b"".join(names) + b"\0")]
    tree += [tag(7, "BlockData", struct.pack(">i", ids.size) + ids.astype(np.uint8).tobytes())]
    path.write_bytes(gzip.compress(tag(10, "Schematic", b"".join(tree) + b"\0"), 6, mtime=0))


@pytest.fixture(scope="module")
def own(hills, tmp_path_factory):
    """A piece of the hills, 64 x 96 x 64 cells, as `.schem` and as `.npz`."""
    folder, (world, _) = tmp_path_factory.mktemp("worlds"), hills
    piece = ea.World.empty(size=(64, 96, 64))
    for name in world.palette.names:
        piece.palette.id(name)
    piece.put((0, 0, 0), world.ids((224, 0, 224), (288, 96, 288)))
    write_schematic(folder / "hills.schem", piece)
    piece.save(folder / "hills.npz")
    return folder


def compare(benchmark, rounds, name, title, path, cells, theirs, their_cells):
    """Time our reader and another in turn, by the cells they read in a second."""
    benchmark.pedantic(ea.World.load, args=(path,), rounds=rounds(5, 2))
    repeats = 1 if path.stat().st_size > 1 << 18 else 5
    taken = seconds(rounds(11, 5), Turn(lambda: ea.World.load(path), repeats=repeats), theirs)
    benchmark.extra_info |= {"cells": cells, "bytes": path.stat().st_size}
    note(
        benchmark, name, title, cells / taken[:, 0], "1/s", better="higher", peer="block by block",
        peer_values=their_cells / taken[:, 1],
    )  # fmt: skip


@pytest.mark.parametrize("version", ["1.21.1", "1.18.2"])
def test_region(benchmark, rounds, version):
    path = real(f"mca_{version}_r.0.0.mca")
    data, world = path.read_bytes(), ea.World.load(path)
    for at, names in list(per_block.region(data, 64).items())[::5]:
        low = 16 * np.array(at)
        ids = world.ids(low, low + 16).transpose(1, 2, 0).ravel()
        assert [world.palette.names[k] for k in ids[::37]] == names[::37]
    every = len(per_block.region(data, SHARE)) * 4096
    whole = sum(world.section_counts()[:3]) * 4096
    compare(
        benchmark, rounds, f"worlds.mca.{version}", f"Cells read from a region of {version}", path, whole,
        lambda: per_block.region(data, SHARE), every,
    )  # fmt: skip


def zstandard():
    """The module that unpacks zstd: Python's own from 3.14 on."""
    return pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def place(pos):
    """x, y, z of a map block: three signed digits to the base of 4096, the lowest first."""
    digits = []
    for _ in range(3):
        digits.append((pos + 2048) % 4096 - 2048)
        pos = (pos - digits[-1]) // 4096
    return digits


def check_schematic(path):
    """That both readers find the same; returns the number of cells."""
    world, (found, size) = ea.World.load(path), per_block.schematic(path.read_bytes())
    assert tuple(world.size) == size
    for place in list(found)[::97]:
        assert world.material(place) in (found[place], f"{found[place]}[type=double]")
    return int(np.prod(size))


@pytest.mark.parametrize("which", ["smallhouse", "hills"])
def test_schematic(benchmark, rounds, request, which):
    is_own = which == "hills"
    path = request.getfixturevalue("own") / "hills.schem" if is_own else real("sponge_v2_smallhouse1.schem")
    data, cells = path.read_bytes(), check_schematic(path)
    compare(
        benchmark, rounds, f"worlds.schem.{which}", f"Cells read from a schematic, {which}", path, cells,
        lambda: per_block.schematic(data), cells,
    )  # fmt: skip


def test_own_format(benchmark, rounds, own):
    """`.npz` beside the same world as a schematic."""
    path, other = own / "hills.npz", own / "hills.schem"
    benchmark.pedantic(ea.World.load, args=(path,), rounds=rounds(5, 2))
    turns = (Turn(lambda path=path: ea.World.load(path), repeats=5) for path in (path, other))
    taken = seconds(rounds(11, 5), *turns)
    cells = int(np.prod(ea.World.load(path).size))
    note(
        benchmark, "worlds.npz", "Cells read from .npz", cells / taken[:, 0], "1/s", better="higher",
        peer="the same as .schem", peer_values=cells / taken[:, 1],
    )  # fmt: skip


def read_twice(path, reader):
    """A world, its ids by y, z and x, and what a reader that goes block by block has in their place."""
    world, (found, size) = ea.World.load(path), reader(path.read_bytes())
    assert tuple(world.size) == size
    return world, world.ids((0, 0, 0), size).transpose(1, 2, 0).ravel().tolist(), found


def compare_readers(benchmark, rounds, name, path, reader, cells):
    data = path.read_bytes()
    compare(
        benchmark, rounds, name, f"Cells read from {path.name}", path, cells, lambda: reader(data), cells
    )  # fmt: skip


def test_mcedit(benchmark, rounds):
    path = real("mcedit_Station.schematic")
    _, ids, numbers = read_twice(path, per_block.mcedit)
    assert len(set(zip(numbers, ids, strict=True))) == len(set(numbers))  # each has one name
    compare_readers(benchmark, rounds, "worlds.schematic", path, per_block.mcedit, len(ids))


def test_litematic(benchmark, rounds):
    path = real("litematic_storage_thingy.litematic")
    world, ids, names = read_twice(path, per_block.litematic)
    own = [name.partition("[")[0] for name in world.palette.names]
    # Several kinds of air are one here.
    assert all(own[k] in (name, "air") for k, name in zip(ids, names, strict=True))
    compare_readers(benchmark, rounds, "worlds.litematic", path, per_block.litematic, len(ids))


def test_vox(benchmark, rounds):
    path = real("vox_mmmm_scene_riot.vox")
    world, (voxels, (x, y, z)) = ea.World.load(path), per_block.vox(path.read_bytes())
    assert tuple(world.size) == (x, z, y)
    is_filled = np.zeros((x, z, y), bool)
    for a, b, c in voxels:  # z is up there, and y away from the viewer
        is_filled[a, c, y - 1 - b] = True
    assert np.array_equal(world.ids((0, 0, 0), world.size) != 0, is_filled)
    compare_readers(benchmark, rounds, "worlds.vox", path, per_block.vox, x * y * z)


def test_luanti(benchmark, rounds):
    path, zstd = real("luanti_v7_seed42_map.sqlite"), zstandard()
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        rows = database.execute("SELECT pos, data FROM blocks").fetchall()
    world = ea.World.load(path)
    for pos, names in per_block.luanti(rows, zstd.decompress, 64).items():
        x, y, z = 16 * np.array(place(pos))
        ids = world.ids((x, y, -z - 16), (x + 16, y + 16, -z))[:, :, ::-1].transpose(2, 1, 0).ravel()
        assert [world.palette.names[k] for k in ids] == ["air" if n == "ignore" else n for n in names]
    compare(
        benchmark, rounds, "worlds.luanti", f"Cells read from {path.name}", path, 4096 * len(rows),
        lambda: per_block.luanti(rows, zstd.decompress, SHARE), 4096 * len(rows[::SHARE]),
    )  # fmt: skip
