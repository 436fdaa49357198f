"""Small files of all formats with bytes missing or others than they were: a world or a typed error."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import test_world_anvil_old as old
import test_world_litematic as litematica
import test_world_luanti as luanti
import test_world_mesh as meshes
import test_world_save as saved
import test_world_schematic as mcedit
import test_world_vox as magica
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import (
    SMALL_CHUNK,
    SMALL_REGION,
    SMALL_SCHEM,
    load,
    old_chunk,
    refused,
    region,
    small_npz,
    survive,
    varints,
)
from test_world_files import schem as sponge


def in_a_folder(make: Callable[[Path], bytes]) -> bytes:
    with TemporaryDirectory() as folder:
        return make(Path(folder))


def a_map(count: int = 1) -> bytes:
    blocks = [((x, 0, 0), luanti.block(28, luanti.SPLIT, luanti.NAMES[:2])) for x in range(count)]
    return in_a_folder(lambda folder: luanti.write(folder, blocks).read_bytes())


DOCUMENT = sponge((3, 2, 4), {"air": 0, "b": 200}, varints([0, 200] * 12))
WITH_AN_END = {
    "npz": lambda: [in_a_folder(small_npz)],
    "schem": lambda: [SMALL_SCHEM, DOCUMENT, zlib.compress(DOCUMENT)],
    "schematic": lambda: [mcedit.SMALL, gzip.compress(mcedit.SMALL), zlib.compress(mcedit.SMALL)],
    "litematic": lambda: [litematica.SMALL, gzip.compress(litematica.SMALL)],
    "vox": lambda: [magica.SMALL],
}
"""Files of formats that show when the end is missing."""
WITHOUT_AN_END = {
    "mca": lambda: [
        SMALL_REGION,
        *(region({(0, 0): contents}, 3) for contents in (SMALL_CHUNK, old_chunk(2600))),
        region({(0, 0): old.NUMERIC}),
    ],
    "obj": lambda: [meshes.obj(*meshes.SMALL)],
    "glb": lambda: [meshes.glb(*meshes.SMALL)],
    "stl": lambda: [meshes.stl(*meshes.SMALL), meshes.text_stl(*meshes.SMALL)],
    "luanti": lambda: [a_map()],
    "schem of our own": lambda: [in_a_folder(saved.saved)],
}


@cache
def originals(kind: str) -> list[bytes]:
    return (WITH_AN_END | WITHOUT_AN_END)[kind]()


@pytest.mark.parametrize("kind", WITH_AN_END)
def test_every_truncation_is_refused(kind: str, tmp_path: Path) -> None:
    for data in originals(kind):
        load(tmp_path, data)
        for length in range(len(data)):
            refused(tmp_path, data[:length], "cannot be read as a world")


@pytest.mark.parametrize("kind", ["obj", "glb", "stl"])
def test_every_truncation_of_a_mesh_is_survived(kind: str, tmp_path: Path) -> None:
    for data in originals(kind):
        load(tmp_path, data)
        for length in range(len(data)):
            survive(tmp_path / "world.dat", data[:length])


def test_every_truncation_of_a_region_is_survived(tmp_path: Path) -> None:
    end = SMALL_REGION.index(bytes(64), 8192)
    for length in [*range(0, 8192, 512), *range(8192, end)]:
        survive(tmp_path / "world.mca", SMALL_REGION[:length])


def test_every_truncation_of_a_database_is_survived(tmp_path: Path) -> None:
    data = a_map(3)
    for length in [*range(0, 200), *range(200, len(data), 61)]:
        survive(tmp_path / "cut.sqlite", data[:length])


@pytest.mark.parametrize("kind", WITH_AN_END | WITHOUT_AN_END)
@given(st.data())
@settings(max_examples=500, deadline=None)
def test_every_flipped_byte_is_survived(
    kind: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    original = bytearray(data.draw(st.sampled_from(originals(kind))))
    for _ in range(data.draw(st.integers(1, 4))):
        original[data.draw(places(kind, bytes(original)))] = data.draw(st.integers(0, 255))
    survive(tmp_path_factory.mktemp("flip") / "world.dat", bytes(original))


def places(kind: str, original: bytes) -> st.SearchStrategy[int]:
    """Return where bytes may be changed: above all where they mean something."""
    if kind == "vox":
        # The colours are most of the file, and cannot be wrong.
        colours = original.find(b"RGBA")
        everywhere = [at for at in range(len(original)) if not 20 <= at - colours < 1020]
        return st.sampled_from(everywhere)
    anywhere = st.integers(0, len(original) - 1)
    if kind != "luanti":
        return anywhere
    return st.one_of(st.sampled_from([at for at, value in enumerate(original) if value]), anywhere)
