"""World folders: their regions, and what is wrong with some of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_windows import (
    HEIGHTS,
    known,
    write_regions,
)

from ecs_audio.world import OutsideError, World, WorldFormatError
from ecs_audio.world.limits import MAX_CELLS


@pytest.mark.parametrize("within", ["", "region", "DIM-1/region", "dimensions/minecraft/overworld/region"])
def test_a_save_a_dimension_and_a_folder_of_regions_load(tmp_path: Path, within: str) -> None:
    write_regions(tmp_path / "save" / within, [(0, 0), (40, 0)])
    (tmp_path / "save" / "level.dat").write_bytes(b"\x1f\x8b")
    place = tmp_path / "save" / ("DIM-1" if within.startswith("DIM") else "")
    assert known(World.load(place)) >= {(0, 0, 0), (40, 0, 0)}
    assert known(World.load(place, around=(648, 8, 8), radius=1)) == {(40, 0, 0)}


def test_a_folder_without_regions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "region").mkdir()
    (tmp_path / "region" / "r.00.0.mca").touch()
    (tmp_path / "region" / "r.a.0.mca").touch()
    with pytest.raises(WorldFormatError, match=r"folder without region files \(r\.X\.Z\.mca\)"):
        World.load(tmp_path)


def test_damaged_files_of_a_folder_are_reported(tmp_path: Path) -> None:
    folder = write_regions(tmp_path, [(0, 0), (32, 0), (0, 32), (64, 0)])
    (folder / "r.3.0.mca").touch()  # the game leaves these behind
    (folder / "r.1.0.mca").write_bytes(b"short")
    (folder / "r.2.0.mca").unlink()
    (folder / "r.2.0.mca").mkdir()
    (folder / "r.-1.0.mca").write_bytes((folder / "r.0.1.mca").read_bytes())
    world = World.load(folder)
    assert known(world) == {(0, y, z) for y in range(*HEIGHTS) for z in (0, 32)}
    assert world.report == [
        "r.-1.0.mca: skipped 1 of 1 chunks: chunk (0, 0): it belongs to the region (0, 1), not to (-1, 0).",
        "r.1.0.mca: it has 5 bytes, fewer than the 8192 of a region's header.",
        "r.2.0.mca: it is not a regular file.",
    ]
    with pytest.raises(
        WorldFormatError, match=r"r\.-1\.0\.mca: skipped 1 of 1.* r\.1\.0\.mca: it has 5 bytes"
    ):
        World.load(folder, strict=True)
    assert World.load(folder, around=(8, 8, 8), radius=4, strict=True).report == []
    with pytest.raises(WorldFormatError, match=r"r\.1\.0\.mca: it has 5 bytes"):
        World.load(folder, around=(600, 8, 8), radius=4)


def test_a_folder_larger_than_a_world_says_to_load_a_part(tmp_path: Path) -> None:
    folder = write_regions(tmp_path, [(0, 0), (32 * 20, 32 * 10), (300, 200)])
    with pytest.raises(
        WorldFormatError, match=r"span x 0 to 10255 .* load a smaller part with around=\(x, y, z\)"
    ):
        World.load(folder)
    part = World.load(folder, around=(4808, 8, 3208), radius=40)
    assert known(part) == {(300, y, 200) for y in range(-2, 3)}
    assert int(np.prod(part.size)) <= MAX_CELLS
    assert part.size[0] == part.size[2] > 1800
    assert abs(2 * 4808 - int(2 * part.origin[0] + part.size[0])) <= 64
    assert part.load_more(folder, around=(4809, 8, 3208), radius=100) > 0
    before = part.revision
    with pytest.raises(ValueError, match=r"beyond the world's box.* load another world there"):
        part.load_more(folder, around=(8, 8, 8), radius=40)
    assert part.revision == before
    with pytest.raises(WorldFormatError, match="may lie within 9000 cells of"):
        World.load(folder, around=(4808, 8, 3208), radius=9000)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_folder_with_any_byte_changed_is_a_world_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = write_regions(tmp_path_factory.mktemp("flip"), [(0, 0), (32, 0)])
    file = folder / "r.1.0.mca"
    contents = bytearray(file.read_bytes())
    at = data.draw(st.one_of(st.integers(0, 7), st.integers(8192, len(contents) - 1)))
    contents[at] ^= data.draw(st.integers(1, 255))
    file.write_bytes(contents[: data.draw(st.integers(0, len(contents)))])
    world = World.load(folder)
    assert (0, 0, 0) in known(world)
    try:
        World.load(folder, around=(520, 8, 8), radius=9)
        World.load(file, around=(520, 8, 8), radius=9)
    except (WorldFormatError, OutsideError):
        pass
