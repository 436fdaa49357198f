"""Worlds as `.npz`: round trips, archives that others wrote, and what is refused."""

import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import CELLS, PALETTE, a_world, archive, assert_equal, load, raw_archive, refused

from ecs_audio.world import World


def test_a_world_survives_a_round_trip(tmp_path: Path) -> None:
    world = a_world()
    world.save(tmp_path / "a.npz")
    again = World.load(tmp_path / "a.npz")
    assert_equal(world, again)
    assert again.section_counts().unknown == world.section_counts().unknown > 0
    assert again.palette.unknown == ["mod:thing"]
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


@given(
    size=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40)),
    origin=st.tuples(st.integers(-40, 40), st.integers(-40, 40), st.integers(-(2**40), 2**40)),
    cell_size=st.floats(0.001, 1000),
    names=st.lists(st.text("abc_:é雪", min_size=1), max_size=5),
    seed=st.integers(0, 99),
    is_known=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_any_world_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    size: tuple[int, int, int],
    origin: tuple[int, int, int],
    cell_size: float,
    names: list[str],
    seed: int,
    is_known: bool,
) -> None:
    make = World.empty if is_known else World.unknown
    world = make(size=size, origin=origin, cell_size=cell_size)
    for name in names:
        world.palette.id(name)
    rng = np.random.default_rng(seed)
    part = tuple(rng.integers(1, edge + 1) for edge in size)
    world.put(origin, rng.integers(0, len(world.palette), part))
    path = tmp_path_factory.mktemp("round") / "world.npz"
    world.save(path)
    assert_equal(world, World.load(path))


def test_a_snapshot_can_be_saved(tmp_path: Path) -> None:
    world = a_world()
    snapshot = world.snapshot()
    world.fill((-7, 3, 30_000_000), (33, 23, 30_000_024), "air")
    snapshot.save(tmp_path / "a.npz")
    assert World.load(tmp_path / "a.npz").material((-7, 3, 30_000_000)) == "stone"


def test_more_than_256_names_are_saved(tmp_path: Path) -> None:
    world = World.empty(size=(10, 10, 10))
    for i in range(299):
        world.palette.id(f"b{i}")
    world.put((0, 0, 0), np.arange(1000).reshape(10, 10, 10) % 300)
    world.save(tmp_path / "a.npz")
    assert_equal(world, World.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("kind", ["u1", "<u2", ">u2", "i4", ">i8", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_users_write_worlds_in_any_order_and_width(tmp_path: Path, kind: str, order: str) -> None:
    cells = np.zeros((20, 33, 40), kind)
    cells[3, 20:, 30] = 2
    cells[:, 0] = 1
    world = load(tmp_path, archive(cells=np.asarray(cells, order=order), palette=PALETTE))  # type: ignore[call-overload]
    assert world.size.tolist() == [20, 33, 40]
    assert world.origin.tolist() == [0, 0, 0]
    assert world.cell_size == 1.0
    assert world.palette.names == ["air", "dirt", "oak_log"]
    assert np.array_equal(world.ids((0, 0, 0), (20, 33, 40)), np.array([1, 0, 2])[cells.astype(int)])


def test_a_mask_and_byte_names_are_a_world(tmp_path: Path) -> None:
    cells = CELLS == 1
    world = load(
        tmp_path, archive(cells=cells, palette=np.array([b"air", b"stone"]), origin=[1, 2, 3], cell_size=2)
    )
    assert world.origin.tolist() == [1, 2, 3]
    assert world.cell_size == 2.0
    assert np.array_equal(world.ids((1, 2, 3), (5, 7, 9)) == 1, cells)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"palette": PALETTE}, "no array `cells`"),
        ({"cells": CELLS}, "no array `palette`"),
        ({"cells": CELLS.astype(float), "palette": PALETTE}, "no array `cells` of whole numbers"),
        ({"cells": CELLS[0], "palette": PALETTE}, "no array `cells` of whole numbers in three"),
        ({"cells": CELLS[:0], "palette": PALETTE}, "the shape of cells must be three edges from 1"),
        ({"cells": CELLS, "palette": PALETTE[:2]}, "index 2 of 2 names"),
        ({"cells": CELLS - 1, "palette": PALETTE}, "index -1 of 3 names"),
        ({"cells": CELLS, "palette": np.array([1, 2, 3])}, "no array `palette`"),
        ({"cells": CELLS, "palette": np.array(["", "air", "x"])}, "name must have"),
        ({"cells": CELLS, "palette": PALETTE.reshape(3, 1)}, "no array `palette`"),
        ({"cells": CELLS, "palette": np.array(["x"] * 65536)}, "at most 65535 names"),
        ({"cells": CELLS, "palette": np.array(["air", "x" * (2**23 + 1)])}, "has more than 67108864 bytes"),
        ({"cells": CELLS, "palette": PALETTE, "cell_size": np.nan}, "cell_size must lie"),
        ({"cells": CELLS, "palette": PALETTE, "cell_size": [1.0]}, r"cell_size has the shape \(1,\)"),
        ({"cells": CELLS, "palette": PALETTE, "origin": [0.5, 0, 0]}, "origin has the shape"),
        ({"cells": CELLS, "palette": PALETTE, "origin": [2**60, 0, 0]}, "origin must lie within"),
        ({"cells": CELLS, "palette": PALETTE, "known": np.ones((2, 1, 1), bool)}, "known has the shape"),
        ({"cells": CELLS, "palette": PALETTE, "version": 2}, "version is 2, of which only 1 is read"),
        ({"cells": CELLS, "palette": np.array(["a", None], object)}, "neither numbers nor text"),
        ({"cells": CELLS, "palette": PALETTE, **{f"x{i}": 0 for i in range(70)}}, "72 members, more than 64"),
    ],
)
def test_an_archive_that_makes_no_sense_is_refused(
    tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    refused(tmp_path, archive(**arrays), message)


HEADER = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 2), }"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw_archive(HEADER), "no array `palette`"),
        (raw_archive(HEADER, version=b"\2\0"), "no array `palette`"),
        (raw_archive(HEADER, version=b"\x09\0"), "no numpy array of a known version"),
        (raw_archive(HEADER, bytes(7)), "does not have the"),
        (raw_archive(HEADER.replace("2, 2, 2", "2**9, 2, 2")), "archive is damaged"),
        (raw_archive(HEADER.replace("2, 2, 2", "-2, 2, -2")), "has the shape"),
        (raw_archive(HEADER.replace("2, 2, 2", "9" * 30 + ", 2, 2")), "more than 402653184"),
        (raw_archive(HEADER.replace("2, 2, 2", "9" * 3000)), "cells"),
        (raw_archive(HEADER.replace("2, 2, 2", "True, 2, 2")), "has the shape"),
        (raw_archive(HEADER.replace("|u1", "|O8")), "neither numbers nor text"),
        (raw_archive(HEADER.replace("'|u1'", "[('a', 'u1')]")), "neither numbers nor text"),
        (raw_archive("[" * 4000), "archive is damaged"),
        (raw_archive(" " * 5000), "header of 5000 bytes, more than 4096"),
        (raw_archive("exit()"), "archive is damaged"),
        (raw_archive("'\\d'"), "archive is damaged"),
        (raw_archive("{}"), "archive is damaged"),
        (raw_archive(HEADER, compression=zipfile.ZIP_BZIP2), "compressed in a way that is not read"),
        (b"PK", "no directory"),
        (archive(cells=CELLS)[:-1], "no directory"),
    ],
)
def test_an_archive_with_a_strange_header_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    refused(tmp_path, data, message)


def test_an_archive_with_a_huge_directory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 65535, 65535, 50 * 2**20, 0, 0)
    refused(tmp_path, b"PK" + bytes(100) + end, "directory at byte 102 is larger")
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, 0, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 100, 0, 0)
    refused(tmp_path, b"PK" + bytes(100) + locator + end, "directory at byte 122 is larger")


def test_a_world_saves_as_npz_or_schem_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"saved as \.npz or \.schem"):
        a_world().save(tmp_path / "a.mca")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("ecs_audio.world.saving.os.replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        a_world().save(path)
    monkeypatch.undo()
    monkeypatch.setattr("ecs_audio.world.npz.dense.ids", fail)
    with pytest.raises(OSError, match="disk is full"):
        a_world().save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]
    assert path.read_bytes() == b"old"


def test_a_save_makes_no_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        a_world().save(tmp_path / "none" / "a.npz")
    (tmp_path / "b.npz").mkdir()
    with pytest.raises(OSError, match=r"b\.npz"):
        a_world().save(tmp_path / "b.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["b.npz"]


def test_a_world_too_large_to_be_loaded_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="1073741824 bytes of cells, of at most 402653184"):
        World.empty(size=(1024, 1024, 1024)).save(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="524289 sections, of at most 262144"):
        World.empty(size=(1, 1, 2**23 + 1)).save(tmp_path / "a.npz")
    noise = World.empty(size=(64, 16, 64))
    noise.put((0, 0, 0), np.arange(2**16).reshape(64, 16, 64) % 2 * noise.palette.id("stone"))
    monkeypatch.setattr("ecs_audio.world.saving.MAX_ROWS", 15)
    with pytest.raises(ValueError, match="16 sections of several materials, of at most 15"):
        noise.save(tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []
