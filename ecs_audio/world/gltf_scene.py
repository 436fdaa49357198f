"""The scene of a binary glTF 2.0 file: which of its meshes lies where."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError

_JSON, _BIN = b"JSON", b"BIN\0"
_MAX_JSON: Final = 2**23
TRIANGLES: Final = 4
"""How most meshes put their corners together."""
MAX_NODES: Final = 2**16
"""Nodes of a scene, and meshes in it: an empty one costs time as well."""


class View(msgspec.Struct):
    """A part of the buffer [bytes]."""

    byteLength: int
    buffer: int = 0
    byteOffset: int = 0
    byteStride: int | None = None


class Accessor(msgspec.Struct):
    """Numbers in a view."""

    componentType: int
    count: int
    type: str
    bufferView: int | None = None
    byteOffset: int = 0
    normalized: bool = False
    sparse: msgspec.Raw | None = None


class Primitive(msgspec.Struct):
    """Corners put together in one way, of one material."""

    attributes: dict[str, int]
    indices: int | None = None
    material: int | None = None
    mode: int = TRIANGLES


class Mesh(msgspec.Struct):
    """Primitives that belong together."""

    primitives: list[Primitive]
    name: str = ""


class Node(msgspec.Struct):
    """A place in the scene, as a matrix or as its parts."""

    mesh: int | None = None
    name: str = ""
    children: list[int] = []
    matrix: list[float] | None = None
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class Scene(msgspec.Struct):
    """The nodes that are on top."""

    nodes: list[int] = []


class Material(msgspec.Struct):
    """What triangles are made of."""

    name: str = ""


class Document(msgspec.Struct):
    """What of a file is of interest; names are those of the format."""

    accessors: list[Accessor] = []
    bufferViews: list[View] = []
    materials: list[Material] = []
    meshes: list[Mesh] = []
    nodes: list[Node] = []
    scene: int = 0
    scenes: list[Scene] | None = None


def parsed(data: bytes) -> tuple[Document, bytes]:
    """Return the scene and the buffer of a file. Raises WorldFormatError."""
    if len(data) < 20:
        raise WorldFormatError(f"it ends early, after {len(data)} bytes")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise WorldFormatError(f"it is glTF of the version {version}, of which only 2 is read")
    if length > len(data):
        raise WorldFormatError(f"it should have {length} bytes, but ends after {len(data)}")
    chunks = {}
    at = 12
    for _ in range(2):
        if at + 8 > length:
            break
        size, kind = struct.unpack_from("<I4s", data, at)
        if size > length - at - 8:
            raise WorldFormatError(f"its chunk {kind!r} at byte {at} is longer than the file")
        chunks[kind] = data[at + 8 : at + 8 + size]
        at += 8 + size
    text = chunks.get(_JSON)
    if text is None or len(text) > _MAX_JSON:
        raise WorldFormatError(f"it has no scene of at most {_MAX_JSON} bytes")
    try:
        return msgspec.json.decode(text, type=Document), chunks.get(_BIN, b"")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise WorldFormatError(f"its scene makes no sense ({reason:.200})") from error


def index(number: int | None, of: Sequence[object], kind: str) -> int:
    """Return a number that is an index into a list. Raises WorldFormatError for one that is none."""
    if number is None or not 0 <= number < len(of):
        raise WorldFormatError(f"it has the {kind} {number} of {len(of)}")
    return number


def placed(document: Document) -> Iterator[tuple[Node, NDArray[np.float64]]]:
    """Yield the nodes that have a mesh and where they lie, as matrices of shape [4, 4].

    Raises WorldFormatError.
    """
    if len(document.nodes) > MAX_NODES:
        raise WorldFormatError(f"its scene has {len(document.nodes)} nodes, more than {MAX_NODES}")
    if document.scenes is None:
        children = {child for node in document.nodes for child in node.children}
        roots = [number for number in range(len(document.nodes)) if number not in children]
    else:
        roots = document.scenes[index(document.scene, document.scenes, "scene")].nodes
    open_nodes = [(root, np.eye(4)) for root in reversed(roots)]
    seen = 0
    while open_nodes:
        number, above = open_nodes.pop()
        seen += 1
        if seen + len(open_nodes) > MAX_NODES:
            raise WorldFormatError(f"its scene has more than {MAX_NODES} nodes, or one inside itself")
        node = document.nodes[index(number, document.nodes, "node")]
        # What grows beyond all numbers is found by the caller.
        with np.errstate(all="ignore"):
            transform = above @ _matrix(node)
        if node.mesh is not None:
            yield node, transform
        open_nodes.extend((child, transform) for child in reversed(node.children[:MAX_NODES]))


def _matrix(node: Node) -> NDArray[np.float64]:
    if node.matrix is not None:
        if len(node.matrix) != 16:
            raise WorldFormatError(f"it has a node with a matrix of {len(node.matrix)} numbers")
        return np.array(node.matrix, np.float64).reshape(4, 4).T
    x, y, z, w = node.rotation
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = turn * node.scale
    matrix[:3, 3] = node.translation
    return matrix
