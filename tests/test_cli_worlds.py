"""What `ecs-audio world` tells of a world file, and its map."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
from test_cli import ask

import ecs_audio as ea
from ecs_audio.cli.contents import cell_counts, contents
from ecs_audio.world.picture import NOTHING, colour, picture


@pytest.fixture
def town():
    """An odd box of unaligned edges: sand in the north-west, stone in the south-east, a pond, a lamp."""
    world = ea.World.empty(size=(37, 21, 26), origin=(-5, -7, 3), cell_size=0.5)
    world.fill((-5, -7, 3), (32, -4, 29), "dirt")
    world.fill((-5, -4, 3), (5, -3, 9), "sand")
    world.fill((20, -4, 20), (32, 10, 29), "stone")
    world.fill((10, -6, 10), (14, -4, 14), "water")
    world.fill((0, -7, 28), (5, -4, 29), "air")
    world.set((0, 0, 15), "lamp_of_a_test")
    world.set((1, 0, 15), "minecraft:stone_slab[type=double]")
    return world


def test_cells_are_counted_one_by_one(town):
    counts = cell_counts(town)
    expected = dict.fromkeys(town.palette.names, 0)
    (x0, y0, z0), (dx, dy, dz) = town.origin.tolist(), town.size.tolist()
    for x in range(x0, x0 + dx):
        for y in range(y0, y0 + dy):
            for z in range(z0, z0 + dz):
                expected[town.material((x, y, z))] += 1
    assert dict(zip(town.palette.names, counts.tolist(), strict=True)) == expected


def test_cells_that_are_not_loaded_are_not_counted():
    world = ea.World.unknown(size=(40, 20, 20), origin=(3, 3, 3))
    world.set((4, 4, 4), "stone")
    found = contents(world)
    assert found["cells"] - found["unknown_cells"] == 13**3
    assert found["filled_cells"] == 1


def test_world_tells_what_is_in_a_file(town, tmp_path):
    town.save(tmp_path / "town.npz")
    found = json.loads(ask("world", tmp_path / "town.npz", "--json").stdout)
    assert (found["size"], found["origin"], found["cell_size"]) == ([37, 21, 26], [-5, -7, 3], 0.5)
    assert found["size_metres"] == [18.5, 10.5, 13.0]
    assert sum(group["share"] for group in found["groups"]) == pytest.approx(1, abs=1e-4)
    assert found["blocks"][0] == {"name": "dirt", "group": "earth", "cells": 37 * 3 * 26 - 5 * 3 - 4 * 4 * 2}
    assert found["unknown_names"] == [{"name": "lamp_of_a_test", "cells": 1}]
    assert found["unknown_cells"] == 0
    text = ask("world", tmp_path / "town.npz").stdout
    for words in ("37 × 21 × 26 cells, 18.5 × 10.5 × 13 m", "lamp_of_a_test", "earth", "MB", "-5, -7, 3"):
        assert words in text


def test_the_map_has_north_at_the_top_and_the_colours_of_groups(town):
    pixels, low, high = picture(town)
    assert (low, high) == ((-5, 3), (32, 29))
    scale = 1024 // 37
    assert pixels.shape == (26 * scale, 37 * scale, 3)

    def looks_like(x, z, group):
        pixel = pixels[(z - 3) * scale, (x + 5) * scale].astype(float)
        wanted = np.array(list(bytes.fromhex(colour(group)[1:])), float)
        return np.abs(pixel / pixel.sum() - wanted / wanted.sum()).max() < 0.02

    assert looks_like(-3, 4, "sand")
    assert looks_like(25, 25, "stone")
    assert looks_like(8, 20, "earth")
    assert looks_like(12, 12, "water")
    assert tuple(pixels[-1, 7 * scale]) == NOTHING


def test_the_map_shows_only_where_something_stands():
    world = ea.World.empty(size=(100, 8, 100))
    world.fill((40, 0, 60), (50, 2, 65), "stone")
    assert picture(world)[1:] == ((40, 60), (50, 65))
    assert (picture(ea.World.empty(size=(4, 4, 4))).pixels == NOTHING).all()


def test_the_map_is_a_png(town, tmp_path):
    town.save(tmp_path / "town.npz")
    found = json.loads(
        ask("world", tmp_path / "town.npz", "--png", tmp_path / "new" / "map.png", "--json").stdout
    )
    data = (tmp_path / "new" / "map.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].reshape(height, width, 3), picture(town).pixels)
    assert (found["png"]["width"], found["png"]["height"]) == (width, height)
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]


def test_a_region_is_told_and_drawn(shared_data, tmp_path):
    file = shared_data / "worlds" / "mca_1.21.1_r.0.0.mca"
    found = json.loads(ask("world", file, "--png", tmp_path / "map.png", "--json").stdout)
    assert found["groups"][0]["group"] == "stone"
    assert len(found["blocks"]) == 15
    assert (tmp_path / "map.png").stat().st_size > 1000


EDGE = """
import ecs_audio as ea

def scenario(*, world: str, cell_size: float | None = None) -> ea.Scenario:
    return ea.Scenario(ea.World.load(world, cell_size=cell_size), ea.Clips(), 0.05)
"""


def test_cells_of_a_file_may_be_said_to_have_another_size(town, tmp_path):
    file, scene, bare = (tmp_path / name for name in ("town.npz", "scene.py", "bare.py"))
    town.save(file)
    scene.write_text(EDGE, encoding="utf-8")
    bare.write_text("def scenario(*, world: str):\n    pass\n", encoding="utf-8")
    found = json.loads(ask("world", file, "--cell-size", "0.25", "--json").stdout)
    assert (found["cell_size"], found["size_metres"]) == (0.25, [9.25, 5.25, 6.5])
    for command in (("run", scene, "--no-output"), ("play", scene, "--silent", "--plain")):
        found = json.loads(ask(*command, "--world", file, "--cell-size", "2", "--json").stdout)
        assert found["parameters"]["cell_size"] == 2.0
        assert "is of a world file" in ask(*command, "--cell-size", "2", status=2).stderr
    assert "has no parameter 'cell_size'" in ask(
        "run", bare, "--world", file, "--cell-size", "2", status=2
    ).stderr  # fmt: skip
    for wrong in ("0", "-1", "nan", "1e9", "wide"):
        text = ask("world", file, "--cell-size", wrong, status=2).stderr
        assert f"{wrong!r} is no number from 0.001 to 1000" in text


def test_a_mesh_has_cells_of_the_size_that_is_asked_for(tmp_path):
    corners = [f"v {x} {y} {z}" for x in (0, 4) for y in (0, 4) for z in (0, 4)]
    sides = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    (tmp_path / "cube.obj").write_text("\n".join([*corners, *(f"f {side}" for side in sides)]))
    for given, edge in (((), 4), (("--cell-size", "0.5"), 8)):
        found = json.loads(ask("world", tmp_path / "cube.obj", *given, "--json").stdout)
        assert found["size"] == [edge] * 3
