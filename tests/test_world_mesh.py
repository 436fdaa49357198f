"""Meshes: their cells against a voxeliser of a few lines."""

import json
import math
import struct
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio.world import Palette, World, solid
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
