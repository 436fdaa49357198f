"""Meshes: cells against a voxeliser of a few lines, all three formats, and what no file may do."""

import json
import math
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_world_files import load, refused, survive

from ecs_audio.world import Palette, World, WorldFormatError, mesh, mesh_gltf, solid, triangles
from ecs_audio.world.triangles import Surface

# Writers.

QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
"""Sides of a box over corners that count z fastest: low and high x, y, z, counterclockwise from outside."""
FACES = [(a, b, c) for q in QUADS for a, b, c in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))]

Vector = tuple[float, float, float]


def box(lo: Vector, hi: Vector, inside_out: bool = False) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array(list(product(*zip(lo, hi, strict=True))), float)
    faces = np.array(FACES)
    return corners, faces[:, ::-1] if inside_out else faces


def together(*pieces: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(corners) for corners, _ in pieces)])
    faces = [faces + start for (_, faces), start in zip(pieces, starts, strict=False)]
    return np.concatenate([corners for corners, _ in pieces]), np.concatenate(faces)


def obj(corners: np.ndarray, faces: np.ndarray, head: str = "usemtl stone\n") -> bytes:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in corners.tolist()]
    lines += [head.rstrip("\n")] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces.tolist()]
    return ("# a comment\n" + "\n".join(lines) + "\n").encode()


def stl(corners: np.ndarray, faces: np.ndarray) -> bytes:
    out = b"made by a test".ljust(80) + struct.pack("<I", len(faces))
    for face in faces:
        out += bytes(12) + corners[face].astype("<f4").tobytes() + bytes(2)
    return out


def text_stl(corners: np.ndarray, faces: np.ndarray, name: str = "stone") -> bytes:
    lines = [f"solid {name}"]
    for face in faces:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x!r} {y!r} {z!r}" for x, y, z in corners[face].tolist()]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, f"endsolid {name}"]).encode()


def chunked(scene: bytes, buffer: bytes | None, version: int = 2) -> bytes:
    chunks = struct.pack("<I4s", len(scene), b"JSON") + scene
    if buffer is not None:
        chunks += struct.pack("<I4s", len(buffer), b"BIN\0") + buffer
    return struct.pack("<4sII", b"glTF", version, 12 + len(chunks)) + chunks


def glb(corners: np.ndarray, faces: np.ndarray, **extra: Any) -> bytes:
    """Return a scene of one mesh; `extra` replaces parts of its JSON."""
    places, indices = corners.astype("<f4").tobytes(), faces.astype("<u2").tobytes()
    scene = {
        "asset": {"version": "2.0", "extras": [[], {}]},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"name": "stone", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(corners), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": faces.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(places)},
            {"buffer": 0, "byteOffset": len(places), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(places) + len(indices)}],
    } | extra
    return chunked(json.dumps(scene).encode(), places + indices)


def cells(corners: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the lowest cell, which cells are filled, and the report."""
    surface = Surface(
        np.asarray(corners, float), np.asarray(faces, np.int64), np.zeros(len(faces), np.int64), [""]
    )
    grid, report = solid.voxelised(surface, np.ones(1, np.uint16))
    world = World(grid, Palette())
    return world.origin, world.ids(world.origin, world.origin + world.size) == 1, report


def filled(world: World) -> dict[tuple[int, int, int], str]:
    ids = world.ids(world.origin, world.origin + world.size)
    names = world.palette.names
    return {tuple((world.origin + cell).tolist()): names[ids[tuple(cell)]] for cell in np.argwhere(ids)}


def inside(lo: Vector, hi: Vector) -> set[tuple[int, int, int]]:
    return set(product(*(range(int(a), int(b)) for a, b in zip(lo, hi, strict=True))))


SMALL = box((0, 0, 0), (3, 2, 4))

# Cells


@pytest.mark.parametrize("lo", [(0, 0, 0), (-7, 13, -20), (1000, -1000, 31)])
@pytest.mark.parametrize("size", [(4, 4, 4), (1, 1, 1), (40, 3, 17)])
def test_a_box_along_the_borders_of_cells_has_exactly_its_size(lo: Vector, size: Vector) -> None:
    hi = tuple(a + b for a, b in zip(lo, size, strict=True))
    origin, is_filled, report = cells(*box(lo, hi))  # type: ignore[arg-type]
    assert origin.tolist() == list(lo)
    assert is_filled.shape == size
    assert is_filled.all()
    assert report == []


def test_a_room_within_walls_is_hollow() -> None:
    room = together(box((0, 0, 0), (12, 8, 10)), box((2, 1, 2), (10, 7, 8), inside_out=True))
    _, is_filled, report = cells(*room)
    expected = np.ones((12, 8, 10), bool)
    expected[2:10, 1:7, 2:8] = False
    assert np.array_equal(is_filled, expected)
    assert report == []


def test_a_room_of_walls_alone_has_walls_behind_its_triangles() -> None:
    origin, is_filled, report = cells(*box((2, 2, 2), (8, 6, 9), inside_out=True))
    assert origin.tolist() == [1, 1, 1]
    assert not is_filled[1:-1, 1:-1, 1:-1].any()
    assert is_filled[0, 1:-1, 1:-1].all()
    assert is_filled[1:-1, -1, 1:-1].all()
    assert report == [
        "All closed parts of the mesh are inside out: they are taken for rooms and left hollow."
    ]


def test_boxes_that_overlap_or_touch_are_filled_once() -> None:
    parts = together(
        box((0, 0, 0), (4, 4, 4)),
        box((2, 2, 2), (6, 6, 6)),
        box((4, 0, 0), (8, 2, 2)),
        box((6, 6, 6), (7, 7, 7)),
    )
    _, is_filled, report = cells(*parts)
    expected = np.zeros((8, 7, 7), bool)
    expected[:4, :4, :4] = expected[2:6, 2:6, 2:6] = expected[4:, :2, :2] = expected[6, 6, 6] = True
    assert np.array_equal(is_filled, expected)
    assert report == []


def test_a_floor_is_as_thick_as_a_cell_and_leaves_boxes_on_it_filled() -> None:
    floor = np.array([(0, 0, 0), (9, 0, 0), (9, 0, 9), (0, 0, 9)], float), np.array([(0, 2, 1), (0, 3, 2)])
    _, is_filled, report = cells(*together(floor, box((2, 0, 2), (6, 5, 6))))
    # The floor faces up, so its cells are those below.
    expected = np.zeros((9, 6, 9), bool)
    expected[:, 0] = True
    expected[2:6, 1:, 2:6] = True
    assert np.array_equal(is_filled, expected)
    assert report == ["1 of 2 parts of the mesh are not closed: they are hollow shells."]


def test_thin_walls_do_not_get_lost() -> None:
    _, is_filled, _ = cells(*box((0, 0, 3.2), (8, 5, 3.3)))
    assert is_filled.shape == (8, 5, 1)
    assert is_filled.all()
    corners, faces = box((0, 0, 3.2), (8, 5, 3.3))
    turn = np.array([[0.8, 0, -0.6], [0, 1, 0], [0.6, 0, 0.8]])
    _, is_filled, _ = cells(corners @ turn.T, faces)
    # No way through in any direction along the axes.
    assert (is_filled.any(axis=2)[1:-1, :].all()) or is_filled.any(axis=0).all()


def test_a_box_without_its_bottom_is_a_hollow_shell() -> None:
    corners, faces = box((0, 0, 0), (6, 6, 6))
    _, is_filled, report = cells(corners, np.delete(faces, [4, 5], axis=0))
    assert not is_filled[1:-1, :-1, 1:-1].any()
    assert is_filled[0].all()
    assert report == ["1 of 1 parts of the mesh are not closed: they are hollow shells."]


def naive(
    corners: np.ndarray, faces: np.ndarray, centres: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which centres are inside by solid angle, and whose lines surely or perhaps meet a triangle."""
    total = np.zeros(len(centres))
    surely, perhaps = np.zeros((2, len(centres)), bool)
    for face in faces:
        a, b, c = (corner - centres for corner in corners[face])
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        over = (a * np.cross(b, c)).sum(axis=1)
        under = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
        total += 2 * np.arctan2(over, under)
        normal = np.cross(b - a, c - a)[0]
        for axis in range(3):
            if abs(normal[axis]) < 1e-9:
                continue
            # Where the line through the centre meets the plane, and on which side of each edge that is.
            at = a @ normal / normal[axis]
            point = np.zeros((len(centres), 3))
            point[:, axis] = at
            sides = [
                np.cross(q - p, point - p)[:, axis] * np.sign(normal[axis])
                for p, q in ((a, b), (b, c), (c, a))
            ]
            perhaps |= (np.abs(at) < 0.501) & (np.min(sides, axis=0) > -1e-9)
            surely |= (np.abs(at) < 0.499) & (np.min(sides, axis=0) > 1e-6)
    return total > 2 * math.pi, surely, perhaps


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_any_bodies_have_the_cells_that_a_naive_voxeliser_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(rng.integers(1, 3)):
        corners, faces = box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
        # Any turn, size and place, and sheared.
        pieces.append((corners @ (rng.normal(size=(3, 3)) * 1.5) + rng.uniform(-2, 2, 3), faces))
        if np.linalg.det(pieces[-1][0][[4, 2, 1]] - pieces[-1][0][0]) < 0:
            pieces[-1] = pieces[-1][0], faces[:, ::-1]
    corners, faces = together(*pieces)
    origin, is_filled, report = cells(corners, faces)
    assert report == []
    centres = origin + np.argwhere(np.ones(is_filled.shape)) + 0.5
    is_inside, surely, perhaps = (one.reshape(is_filled.shape) for one in naive(corners, faces, centres))
    assert is_filled[is_inside | surely].all()
    assert not is_filled[~is_inside & ~perhaps].any()


def test_a_ball_has_its_volume() -> None:
    # Rings of latitude, closed at the poles.
    n = 64
    ring = [
        (math.sin(math.pi * i / n) * math.cos(2 * math.pi * j / n), math.cos(math.pi * i / n),
         -math.sin(math.pi * i / n) * math.sin(2 * math.pi * j / n))
        for i in range(n + 1) for j in range(n)
    ]  # fmt: skip
    faces = []
    for i in range(n):
        for j in range(n):
            a, b = n * i + j, n * i + (j + 1) % n
            faces += [(a, a + n, b + n), (a, b + n, b)]
    corners = np.array(ring)
    corners[:n], corners[-n:] = (0, 1, 0), (0, -1, 0)
    _, is_filled, report = cells(30.3 * corners + 0.123, np.array(faces))
    assert report == []
    volume, area = 4 / 3 * math.pi * 30.3**3, 4 * math.pi * 30.3**2
    assert volume < is_filled.sum() < volume + 0.75 * area


# Formats


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


# What no file may do


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"o x\n", "a mesh without triangles"),
        (b"v 1 2 3\n", "a mesh without triangles"),
        (b"v 1 2\n", "its line 1 makes no sense: b'v 1 2'"),
        (b"v 1 2 x\n", "its line 1 makes no sense"),
        (b"o x\nf 1 2 3\n", "a face of the corner 3 of 0"),
        (b"v 0 0 0\nf 1 0 1\n", "its line 2 makes no sense"),
        (b"v 0 0 0\nf 1 -2 1\n", "its line 2 makes no sense"),
        (b"v 0 0 0\nf 1 99999999999999999999 1\n", "its line 2 makes no sense"),
        (b"v 0 0 0\nf 1 " + b"9" * 5000 + b" 1\n", "its line 2 makes no sense"),
        (b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a corner that is not at a finite place"),
        (b"v 1e999 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a corner that is not at a finite place"),
        (b"v 1e300 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "reach beyond ±1099511627776 cells"),
        (
            b"v 1e6 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "more than 65536 along an axis .* give a larger cell_size",
        ),
        (b"v 3e4 3e4 0\nv 1 0 3e4\nv 0 1 0\nf 1 2 3\n", "1073741824 in all; give a larger cell_size"),
        (b"v 5e4 0 0\nv 1 0 5e4\nv 0 0 0\nf 1 2 3\n", "1073741824 in all; give a larger cell_size"),
        (b"v 0 0 0\nv 1 1 1\nf 1 2 1\n", "a mesh without triangles"),
        (b"o x\n# " + b"x" * 70_000, "its line 2 has more than 65536 characters"),
        (b"solid x\nfacet\nvertex 1 2\nendsolid", "its line 3 has a vertex that is not three numbers"),
        (b"solid x\nfacet\nvertex 1 2 3\nendsolid", "its text ends early, after 1 vertices"),
        (text_stl(*SMALL)[:-30], "its text ends early, after 36 vertices"),
        (b"solid x\nendsolid", "a mesh without triangles"),
        (b"glTF", "it ends early, after 4 bytes"),
        (chunked(b"{}", b"", 1), "glTF of the version 1"),
        (chunked(b"{}", b"")[:-1], "should have 30 bytes, but ends after 29"),
        (chunked(b"{}", None), "a mesh without triangles"),
        (chunked(b"[]", b""), "its scene makes no sense"),
        (chunked(b"{", b""), "its scene makes no sense"),
        (chunked(b'{"scene": "\xff"}', b""), "its scene makes no sense"),
        (chunked(b'{"x":' + b"[" * 100_000, b""), "its scene makes no sense"),
        (chunked(b"{}" + b" " * 2**23, b""), "no scene of at most 8388608 bytes"),
        (chunked(b'{"scenes": [{"nodes": [5]}]}', b""), "it has the node 5 of 0"),
        (chunked(b'{"scenes": [{"nodes": [0]}], "nodes": [{"mesh": 3}]}', b""), "it has the mesh 3 of 0"),
        (glb(*SMALL, scene=1), "it has the scene 1 of 1"),
        (glb(*SMALL, nodes=[{"children": [0]}]), "more than 65536 nodes, or one inside itself"),
        (glb(*SMALL, nodes=[{"matrix": [1.0]}]), "a matrix of 1 numbers"),
        (glb(*SMALL, nodes=[{"mesh": 0, "scale": [1e308, 1e308, 1]}]), "finite place|reach beyond"),
        (
            glb(*SMALL, nodes=[{"mesh": 0, "rotation": [1e300, 1e300, 0, 1]}]),
            "a corner that is not at a finite",
        ),
        (
            glb(
                *SMALL,
                nodes=[
                    {"mesh": 0, "matrix": [1e300] * 16, "children": [1]},
                    {"mesh": 0, "scale": [1e300] * 3},
                ],
            ),
            "a corner that is not at a finite place|reach beyond",
        ),
        (glb(*SMALL, accessors=[]), "it has the accessor 0 of 0"),
        (glb(*SMALL, bufferViews=[]), "it has the buffer view 0 of 0"),
        (glb(*SMALL, bufferViews=[{"byteLength": 2**40}] * 2), "it has the corner|a mesh with the corner"),
        (
            glb(*SMALL, bufferViews=[{"byteLength": 2**40, "byteOffset": 2**40}] * 2),
            "8 numbers from byte 1099511627776 of a buffer of 168 bytes",
        ),
        (glb(*SMALL, bufferViews=[{"byteLength": 96, "byteOffset": -1}] * 2), "8 numbers from byte -1"),
        (glb(*SMALL, bufferViews=[{"byteLength": 96, "buffer": 1}] * 2), "8 numbers in the buffer 1"),
        (glb(*SMALL, bufferViews=[{"byteLength": 96, "byteStride": 4}] * 2), "12|4 bytes apart"),
        (
            glb(*SMALL, accessors=[{"componentType": 5126, "count": 10**12, "type": "VEC3"}] * 2),
            "compressed or sparse, which is not read",
        ),
        (
            glb(
                *SMALL,
                accessors=[{"bufferView": 0, "componentType": 5126, "count": 10**12, "type": "VEC3"}] * 2,
            ),
            "1000000000000 numbers in the buffer 0",
        ),
        (
            glb(*SMALL, accessors=[{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC4"}] * 2),
            "numbers of the type 'VEC4' 5126",
        ),
    ],
)
def test_a_mesh_that_makes_no_sense_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    refused(tmp_path, data, message)


@pytest.mark.parametrize("write", [glb, stl])
@pytest.mark.parametrize("bits", [0x7FC00000, 0x7F800001, 0x7F800000, 0xFF800000])
def test_numbers_that_are_none_are_refused(tmp_path: Path, write: Any, bits: int) -> None:
    data = write(*SMALL).replace(struct.pack("<f", 3.0), struct.pack("<I", bits))
    refused(tmp_path, data, "a corner that is not at a finite place")


def test_the_limits_of_meshes_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecs_audio.world.mesh_obj.MAX_TRIANGLES", 11)
    refused(tmp_path, obj(*SMALL), "more than 11 triangles or .* corners, at line 22")
    for name in ("mesh_gltf", "mesh_stl"):
        monkeypatch.setattr(f"ecs_audio.world.{name}.MAX_TRIANGLES", 11)
    refused(tmp_path, glb(*SMALL), "36 numbers in the buffer 0|more than 11 triangles")
    refused(tmp_path, stl(*SMALL), "it has 12 triangles, more than 11")
    refused(tmp_path, text_stl(*SMALL), "it has 12 triangles, more than 11")
    monkeypatch.undo()
    monkeypatch.setattr("ecs_audio.world.solid.MAX_CROSSINGS", 100)
    refused(tmp_path, stl(*SMALL), r"cross about \d+ cells, more than 100; give a larger cell_size")
    monkeypatch.setattr("ecs_audio.world.mesh.MAX_MESH_BYTES", 100)
    refused(tmp_path, stl(*SMALL), "a mesh of more than 100 bytes")


def test_edges_of_almost_no_length_are_no_trouble(tmp_path: Path) -> None:
    corners = "v 2 2 0\nv 0.5 -1e-310 2\nv 2 0.5 2\nv 0.5 -1e-310 1e-320\n"
    world = load(tmp_path, f"{corners}f 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n".encode())
    assert (world.size <= 4).all()


def test_one_mesh_placed_many_times_is_counted_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecs_audio.world.mesh_gltf.MAX_TRIANGLES", 100)
    many = [{"mesh": 0}, {"children": [0] * 60}]
    refused(tmp_path, glb(*SMALL, nodes=many, scenes=[{"nodes": [1]}]), "more than 100 triangles")
    lines = [{"primitives": [{"attributes": {}, "mode": 1}] * 2000}]
    many = [{"mesh": 0}, {"children": [0] * 60}]
    data = glb(*SMALL, nodes=many, scenes=[{"nodes": [1]}], meshes=lines)
    refused(tmp_path, data, "its scene has more than 65536 meshes")


@pytest.mark.parametrize("write", [obj, glb, stl, text_stl])
def test_every_truncation_is_survived(tmp_path: Path, write: Any) -> None:
    data = write(*SMALL)
    load(tmp_path, data)
    for length in range(len(data)):
        survive(tmp_path / "world.dat", data[:length])


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_every_flipped_byte_is_survived(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    writers = [obj, glb, stl, text_stl]
    original = bytearray(data.draw(st.sampled_from(writers))(*SMALL))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(original) - 1))
        original[at] = data.draw(st.integers(0, 255))
    survive(tmp_path_factory.mktemp("flip") / "world.dat", bytes(original))


def test_parts_hang_together_over_edges() -> None:
    one, two = box((0, 0, 0), (1, 1, 1)), box((1, 1, 0), (2, 2, 1))
    corners, faces = together(one, two)
    same = triangles.merged(corners, faces)
    found = triangles.parts(same)
    # They touch along an edge, which four triangles have: still two bodies, each of them closed.
    assert found.is_closed.tolist() == [True, True]
    assert len(set(found.part[:12].tolist())) == len(set(found.part[12:].tolist())) == 1
    assert not triangles.parts(same[1:]).is_closed.all()


def test_without_the_folder_of_its_materials_a_mesh_is_read(tmp_path: Path) -> None:
    text = obj(*SMALL, head="mtllib /etc/passwd\nusemtl stone\n")
    assert set(filled(load(tmp_path, text)).values()) == {"stone"}
    with pytest.raises(WorldFormatError):
        load(tmp_path, b"mtllib x\n")
