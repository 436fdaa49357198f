"""Binary glTF 2.0 meshes (`.glb`): a scene of nodes in JSON, and the numbers of its meshes in one buffer."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import gltf_scene
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_TRIANGLES
from ecs_audio.world.triangles import Surface

MAGIC: Final = b"glTF"
_STRIP, _FAN = 5, 6
_KINDS: Final = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS: Final = {"SCALAR": 1, "VEC3": 3}


class _Piece(NamedTuple):
    corners: NDArray[np.float64]
    faces: NDArray[np.int64]
    name: str


def read(data: bytes) -> tuple[Surface, list[str]]:
    """Return the triangles of a file's scene, y up, and a report of what was left out.

    They are called as their material, or else as their mesh or node. Raises WorldFormatError.
    """
    document, buffer = gltf_scene.parsed(data)
    pieces: list[_Piece] = []
    corners = triangles = left_out = seen = 0
    decoded: dict[int, list[_Piece]] = {}
    for node, transform in gltf_scene.placed(document):
        mesh = document.meshes[gltf_scene.index(node.mesh, document.meshes, "mesh")]
        seen += len(mesh.primitives)
        if seen > gltf_scene.MAX_NODES:
            raise WorldFormatError(f"its scene has more than {gltf_scene.MAX_NODES} meshes")
        surfaces = [one for one in mesh.primitives if one.mode in (gltf_scene.TRIANGLES, _STRIP, _FAN)]
        left_out += len(mesh.primitives) - len(surfaces)
        for number, primitive in enumerate(surfaces):
            known = decoded.setdefault(node.mesh or 0, [])
            if number == len(known):
                known.append(_piece(document, buffer, primitive))
            piece = known[number]
            corners += len(piece.corners)
            triangles += len(piece.faces)
            if triangles > MAX_TRIANGLES or corners > 3 * MAX_TRIANGLES:
                raise WorldFormatError(f"it has more than {MAX_TRIANGLES} triangles")
            pieces.append(_moved(piece, transform, piece.name or mesh.name or node.name))
    report = [f"{left_out} sets of points and lines in the mesh are left out."] if left_out else []
    return _surface(pieces), report


def _piece(document: gltf_scene.Document, buffer: bytes, primitive: gltf_scene.Primitive) -> _Piece:
    places = _numbers(document, buffer, primitive.attributes.get("POSITION"), "VEC3")
    # What is no number is found by the caller, whatever kind of NaN it is.
    with np.errstate(invalid="ignore"):
        corners = places.astype(np.float64)
    if primitive.indices is None:
        order = np.arange(len(corners))
    else:
        numbers = _numbers(document, buffer, primitive.indices, "SCALAR").reshape(-1)
        if numbers.dtype.kind not in "iu":
            raise WorldFormatError("it has a mesh whose indices are no whole numbers")
        order = numbers.astype(np.int64)
    if len(order) and not 0 <= int(order.min()) <= int(order.max()) < len(corners):
        raise WorldFormatError(f"it has a mesh with the corner {int(order.max())} of {len(corners)}")
    name = ""
    if primitive.material is not None:
        material = document.materials[gltf_scene.index(primitive.material, document.materials, "material")]
        name = material.name
    return _Piece(corners, _faces(order, primitive.mode), name)


def _faces(order: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    if mode == gltf_scene.TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if mode == _FAN:
        return np.stack((order[1:-1], order[2:], np.broadcast_to(order[:1], order[2:].shape)), axis=1)
    faces = np.stack((order[:-2], order[1:-1], order[2:]), axis=1)
    # Every other triangle of a strip goes the other way round.
    faces[1::2] = faces[1::2, [1, 0, 2]]
    return faces


def _numbers(document: gltf_scene.Document, buffer: bytes, number: int | None, kind: str) -> NDArray[Any]:
    """Return the numbers of an accessor, shape [count, width]."""
    accessor = document.accessors[gltf_scene.index(number, document.accessors, "accessor")]
    if accessor.bufferView is None or accessor.sparse is not None:
        raise WorldFormatError("it has a mesh that is compressed or sparse, which is not read")
    if accessor.type != kind or accessor.componentType not in _KINDS:
        raise WorldFormatError(f"it has numbers of the type {accessor.type!r:.20} {accessor.componentType}")
    view = document.bufferViews[gltf_scene.index(accessor.bufferView, document.bufferViews, "buffer view")]
    dtype, width = np.dtype(_KINDS[accessor.componentType]), _WIDTHS[kind]
    stride = dtype.itemsize * width if view.byteStride is None else view.byteStride
    count, start = accessor.count, view.byteOffset + accessor.byteOffset
    if view.buffer or not 0 <= count <= 3 * MAX_TRIANGLES or not dtype.itemsize * width <= stride <= 256:
        raise WorldFormatError(f"it has {count} numbers in the buffer {view.buffer}, {stride} bytes apart")
    last = accessor.byteOffset + max(0, count - 1) * stride + dtype.itemsize * width
    if min(view.byteOffset, accessor.byteOffset) < 0 or (
        count and (last > view.byteLength or view.byteOffset + last > len(buffer))
    ):
        raise WorldFormatError(f"it has {count} numbers from byte {start} of a buffer of {len(buffer)} bytes")
    if not count:
        return np.zeros((0, width), dtype)
    values: NDArray[Any] = np.ndarray((count, width), dtype, buffer, start, (stride, dtype.itemsize))
    if accessor.normalized and dtype.kind in "iu":
        return np.maximum(values / np.iinfo(dtype).max, -1.0)
    return values


def _moved(piece: _Piece, transform: NDArray[np.float64], name: str) -> _Piece:
    with np.errstate(all="ignore"):
        corners = piece.corners @ transform[:3, :3].T + transform[:3, 3]
        is_mirrored = bool(np.linalg.det(transform[:3, :3]) < 0)
    return _Piece(corners, piece.faces[:, ::-1] if is_mirrored else piece.faces, name)


def _surface(pieces: list[_Piece]) -> Surface:
    names = {name: number for number, name in enumerate(dict.fromkeys(piece.name for piece in pieces))}
    before = 0
    faces, materials = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
    for piece in pieces:
        faces.append(piece.faces + before)
        materials.append(np.full(len(piece.faces), names[piece.name]))
        before += len(piece.corners)
    corners = np.concatenate([np.zeros((0, 3)), *(piece.corners for piece in pieces)])
    return Surface(corners, np.concatenate(faces), np.concatenate(materials), list(names))
