"""Meshes that make no sense, or too much of it."""

import struct
from pathlib import Path
from typing import Any

import pytest
from test_world_files import load, refused
from test_world_mesh import SMALL, box, chunked, filled, glb, obj, stl, text_stl, together

from ecs_audio.world import WorldFormatError, triangles


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
