"""Meshes in three formats: materials, scenes, and what other programs write."""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_world_files import load
from test_world_mesh import QUADS, SMALL, box, chunked, filled, glb, inside, obj, stl, text_stl

from ecs_audio.world import Palette, mesh, mesh_gltf


@pytest.mark.parametrize("write", [obj, glb, stl, text_stl])
def test_all_formats_give_the_same_cells(tmp_path: Path, write: Any) -> None:
    corners, faces = box((1, 2, 3), (4, 4, 8))
    if write in (stl, text_stl):
        # z is up there, and y points away: north, which is -z.
        corners = corners[:, [0, 2, 1]] * (1, -1, 1)
    world = load(tmp_path, write(corners, faces))
    assert world.origin.tolist() == [1, 2, 3]
    name = "default" if write is stl else "stone"
    assert filled(world) == dict.fromkeys(inside((1, 2, 3), (4, 4, 8)), name)
    assert world.palette.unknown == []
    assert world.report == []
    assert world.cell_size == 1.0


def test_cells_may_have_any_size(tmp_path: Path) -> None:
    data = obj(*box((0, 0, 0), (3, 2, 4)))
    world = load(tmp_path, data, cell_size=0.25)
    assert world.cell_size == 0.25
    assert world.size.tolist() == [12, 8, 16]
    assert load(tmp_path, data, cell_size=2).size.tolist() == [2, 1, 2]
    for bad in (0.0, -1.0, math.nan, 1e6):
        with pytest.raises(ValueError, match=r"cell_size must lie from 0\.001 to 1000"):
            load(tmp_path, data, cell_size=bad)
    with pytest.raises(TypeError, match="cell_size must be a number"):
        load(tmp_path, data, cell_size="x")


def test_other_formats_may_be_given_a_cell_size_as_well(tmp_path: Path) -> None:
    from test_world_vox import model, vox

    world = load(tmp_path, vox(model((1, 1, 1), (0, 0, 0, 1))), cell_size=0.1)
    assert world.cell_size == 0.1
    assert world.size.tolist() == [1, 1, 1]


def test_materials_of_an_obj_are_block_names(tmp_path: Path) -> None:
    parts = [
        ("usemtl Brick_Wall.001", 0),
        ("usemtl Glass", 2),
        ("o Oak Planks\nusemtl", 4),
        ("g grass\nusemtl", 6),
    ]
    text = "mtllib x.mtl\n"
    for number, (head, x) in enumerate(parts):
        corners, faces = box((x, 0, 0), (x + 1, 1, 1))
        text += "".join(f"v {a} {b} {c}\n" for a, b, c in corners.tolist()) + head + "\n"
        text += "".join(
            "f " + " ".join(f"{i + 1 + 8 * number}/7/8" for i in face) + "\n" for face in faces.tolist()
        )
    world = load(tmp_path, text.encode())
    names = {x: world.material((x, 0, 0)) for x in (0, 2, 4, 6)}
    assert names == {0: "brick_wall_block", 2: "glass", 4: "oak_planks", 6: "grass_block"}
    groups = [world.palette.group(name) for name in names.values()]
    assert groups == ["stone", "glass", "wood", "earth"]
    assert world.palette.unknown == []


def test_sides_of_several_materials_are_one_body(tmp_path: Path) -> None:
    corners, faces = box((0, 0, 0), (6, 6, 6))
    lines = obj(corners, faces[:0]).decode().replace("usemtl stone\n", "")
    # The bottom, whose corners have y 0, is of wood.
    for face in faces:
        name = "wood" if not corners[face][:, 1].any() else "stone"
        lines += f"usemtl {name}\nf " + " ".join(str(i + 1) for i in face) + "\n"
    world = load(tmp_path, lines.encode())
    assert world.report == []
    assert len(filled(world)) == 216
    # Inside it is made of what upward lines come to first.
    assert world.material((3, 3, 3)) == "wood"
    assert world.material((0, 3, 3)) == world.material((3, 5, 3)) == "stone"


@pytest.mark.parametrize(
    ("material", "name"),
    [
        ("", "default"),
        ("Material.003", "material"),
        ("  Oak  Planks ", "oak_planks"),
        ("minecraft:stone", "minecraft:stone"),
        ("a[b]c\x07", "a_b_c"),
        ("Water", "water"),
        ("oak_stairs", "oak_stairs_block"),
        ("air", "air"),
        ("x" * 500, "x" * 120),
    ],
)
def test_any_name_of_a_material_is_a_block_name(material: str, name: str) -> None:
    palette = Palette()
    assert mesh.block_name(material, palette) == name
    palette.id(name)


def test_an_obj_may_be_written_in_many_ways(tmp_path: Path) -> None:
    corners, _ = box((0, 0, 0), (2, 2, 2))
    text = "\ufeff  \n# x\r\no thing\n" + "".join(
        f"v\t{x}\t{y} \\\n {z} 1.0\r\n" for x, y, z in corners.tolist()
    )
    text += "vt 0 0\nvn 0 0 1\ns off\n" + "".join(
        "f " + " ".join(f"{i - 8}//1" for i in quad) + "\n" for quad in QUADS
    )
    assert len(filled(load(tmp_path, text.encode()))) == 8


def test_nodes_of_a_scene_are_moved_turned_and_mirrored(tmp_path: Path) -> None:
    corners, faces = box((0, 0, 0), (3, 2, 1))
    half = math.sqrt(0.5)
    nodes = [
        {"children": [1, 2, 3], "translation": [10, 0, 0]},
        {"mesh": 0, "translation": [0, 5, 0]},
        {"mesh": 0, "rotation": [0, half, 0, half], "translation": [0, 0, 20]},
        {"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 40, 1]},
        {"mesh": 0, "translation": [0, 0, -99]},
    ]
    world = load(tmp_path, glb(corners, faces, nodes=nodes))
    assert world.report == []
    # A quarter turn about y takes x to -z and z to x; a mirror image is not inside out.
    expected = (
        inside((10, 5, 0), (13, 7, 1)) | inside((10, 0, 17), (11, 2, 20)) | inside((7, 0, 40), (10, 4, 41))
    )
    assert set(filled(world)) == expected
    # Without scenes all nodes without a parent are shown.
    data = glb(corners, faces, nodes=nodes, scenes=None)
    assert set(
        filled(load(tmp_path, data.replace(b'"scenes": null', b'"scen_s": null')))
    ) == expected | inside((0, 0, -99), (3, 2, -98))


def test_strips_fans_and_plain_corners_are_triangles(tmp_path: Path) -> None:
    strip = mesh_gltf._faces(np.arange(5), 5)
    assert strip.tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]
    assert mesh_gltf._faces(np.arange(5), 6).tolist() == [[1, 2, 0], [2, 3, 0], [3, 4, 0]]
    corners, faces = SMALL
    flat = corners[faces.reshape(-1)]
    primitives = [{"attributes": {"POSITION": 0}}, {"attributes": {"POSITION": 0}, "mode": 1}]
    world = load(tmp_path, glb(flat, faces, meshes=[{"primitives": primitives}]))
    assert set(filled(world)) == inside((0, 0, 0), (3, 2, 4))
    assert world.report == ["1 sets of points and lines in the mesh are left out."]


def test_quantised_and_interleaved_numbers_are_read(tmp_path: Path) -> None:
    corners, faces = SMALL
    rows = np.zeros((8, 8), np.uint8)
    rows[:, :6] = np.round(corners / 4 * 65535).astype("<u2").view(np.uint8)
    buffer = rows.tobytes() + faces.astype(np.uint8).tobytes()
    accessors = [
        {"bufferView": 0, "componentType": 5123, "normalized": True, "count": 8, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5121, "count": 36, "type": "SCALAR"},
    ]
    views = [{"byteLength": 64, "byteStride": 8}, {"byteOffset": 64, "byteLength": 36}]
    scene = glb(
        corners, faces, accessors=accessors, bufferViews=views, nodes=[{"mesh": 0, "scale": [4, 4, 4]}]
    )
    length = struct.unpack_from("<I", scene, 12)[0]
    world = load(tmp_path, chunked(scene[20 : 20 + length], buffer))
    assert set(filled(world)) == inside((0, 0, 0), (3, 2, 4))


def test_trimesh_writes_what_is_read(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    one = trimesh.creation.icosphere(subdivisions=3, radius=9.3)
    other = trimesh.creation.torus(7.1, 2.2)
    other.apply_translation((3.3, 20.1, -4.2))
    scene = trimesh.Scene([one, other])

    def written(scene: Any, kind: str) -> bytes:
        data = scene.export(file_type=kind)
        return data.encode() if isinstance(data, str) else data

    worlds = [load(tmp_path, written(scene, kind)) for kind in ("glb", "obj")]
    turned = scene.copy()
    turned.apply_transform(trimesh.transformations.rotation_matrix(math.pi / 2, (1, 0, 0)))
    worlds += [load(tmp_path, written(turned.to_mesh(), kind)) for kind in ("stl", "stl_ascii")]
    counts = [len(filled(world)) for world in worlds]
    # Places are rounded in different ways: a few cells at the skin may differ.
    assert max(counts) - min(counts) <= 0.01 * counts[0]
    volume, area = one.volume + other.volume, one.area + other.area
    assert volume < counts[0] < volume + 0.75 * area
    for world in worlds:
        assert world.report == []


def test_the_skin_is_that_of_trimesh(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("scipy")
    ball = trimesh.creation.icosphere(subdivisions=4, radius=12.3)
    moved = ball.copy()
    # trimesh has centres of cells at whole numbers.
    moved.apply_translation((-0.5, -0.5, -0.5))
    theirs = {tuple(p) for p in np.round(moved.voxelized(1.0).fill("holes").points).astype(int).tolist()}
    ours = set(filled(load(tmp_path, ball.export(file_type="glb"))))
    # Theirs has all cells that the surface touches, ours those that it cuts in the middle.
    assert ours <= theirs
    assert len(theirs - ours) < ball.area
