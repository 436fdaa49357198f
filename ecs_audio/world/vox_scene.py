"""The scene of a MagicaVoxel file: which model lies where, and how it is turned."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_TAGS

_UP: Final[NDArray[np.int64]] = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], np.int64)
"""Turns z up into y up: y away becomes north, which is -z."""
_UNTURNED: Final[NDArray[np.int64]] = np.eye(3, dtype=np.int64)
_UNMOVED: Final[NDArray[np.int64]] = np.zeros(3, np.int64)

_MAX_PLACED: Final = 2**16
"""Models in one scene: an empty one costs time as well."""


class Node(NamedTuple):
    """One node: a shape of models, a group, or a transform of one child."""

    children: list[int]
    models: list[int]
    turn: NDArray[np.int64]
    """Of what lies below, shape [3, 3]."""
    shift: NDArray[np.int64]
    """After the turn, shape [3]."""
    layer: int
    is_hidden: bool


class Scene(NamedTuple):
    """Nodes by number, and which layers are hidden."""

    nodes: dict[int, Node]
    hidden_layers: set[int]


class Placed(NamedTuple):
    """One model in the world, y up."""

    model: int
    turn: NDArray[np.int64]
    """Shape [3, 3]."""
    start: NDArray[np.int64]
    """Where its corner of lowest voxels comes to lie [half cells], shape [3]."""
    low: NDArray[np.int64]
    """Lowest cell, shape [3]."""
    high: NDArray[np.int64]
    """One beyond its highest cell, shape [3]."""


class Fields:
    """Numbers and texts of one chunk after the other."""

    __slots__ = ("_at", "_data", "_end", "_left")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = self._end = 0
        self._left = MAX_TAGS

    def move(self, start: int, end: int) -> None:
        """Go on with the chunk between two bytes."""
        self._at, self._end = start, end

    def int32(self) -> int:
        """Return the next number. Raises WorldFormatError where the chunk has ended."""
        self._left -= 1
        if self._left < 0:
            raise WorldFormatError(f"it has more than {MAX_TAGS} fields, at byte {self._at}")
        if self._at + 4 > self._end:
            raise WorldFormatError(f"it has a chunk that ends early, at byte {self._end}")
        number: int = struct.unpack_from("<i", self._data, self._at)[0]
        self._at += 4
        return number

    def text(self) -> bytes:
        """Return the next text. Raises WorldFormatError where it is longer than the chunk."""
        length = self.int32()
        if not 0 <= length <= self._end - self._at:
            raise WorldFormatError(f"it has a text of {length} bytes at byte {self._at}, beyond its chunk")
        self._at += length
        return self._data[self._at - length : self._at]

    def texts(self) -> dict[bytes, bytes]:
        """Return texts by name."""
        return {self.text(): self.text() for _ in range(self.int32())}


def decode(scene: Scene, kind: bytes, fields: Fields) -> None:
    """Add what a chunk says about the scene; other chunks say nothing. Raises WorldFormatError."""
    if kind == b"LAYR":
        layer, attributes = fields.int32(), fields.texts()
        if attributes.get(b"_hidden") == b"1":
            scene.hidden_layers.add(layer)
    elif kind in (b"nTRN", b"nGRP", b"nSHP"):
        number, attributes = fields.int32(), fields.texts()
        if number in scene.nodes:
            raise WorldFormatError(f"it has the node {number} twice")
        scene.nodes[number] = _node(kind, fields, attributes.get(b"_hidden") == b"1")


def _node(kind: bytes, fields: Fields, is_hidden: bool) -> Node:
    if kind == b"nGRP":
        children = [fields.int32() for _ in range(fields.int32())]
        return Node(children, [], _UNTURNED, _UNMOVED, -1, is_hidden)
    if kind == b"nSHP":
        models = []
        for _ in range(fields.int32()):
            models.append(fields.int32())
            fields.texts()
        return Node([], models, _UNTURNED, _UNMOVED, -1, is_hidden)
    child, _, layer = fields.int32(), fields.int32(), fields.int32()
    # Of an animation the first frame.
    frame = fields.texts() if fields.int32() > 0 else {}
    turn, shift = _turn(frame.get(b"_r", b"4")), _shift(frame.get(b"_t", b"0 0 0"))
    return Node([child], [], turn, shift, layer, is_hidden)


def _turn(text: bytes) -> NDArray[np.int64]:
    """Decode a rotation: two bits each for the columns of two rows, then a bit for the sign of each row."""
    code = int(text) if text.isdigit() and len(text) <= 3 else 3
    columns = [code & 3, code >> 2 & 3, 3 - (code & 3) - (code >> 2 & 3)]
    if sorted(columns) != [0, 1, 2]:
        raise WorldFormatError(f"it has a node with the rotation {text!r:.60}")
    turn = np.zeros((3, 3), np.int64)
    for row, column in enumerate(columns):
        turn[row, column] = -1 if code >> (4 + row) & 1 else 1
    return turn


def _shift(text: bytes) -> NDArray[np.int64]:
    parts = text.split()
    if len(text) > 60 or len(parts) != 3 or not all(part.lstrip(b"-").isdigit() for part in parts):
        raise WorldFormatError(f"it has a node with the translation {text!r:.60}")
    try:
        return np.array([np.int32(int(part)) for part in parts], np.int64)
    except (ValueError, OverflowError) as error:
        raise WorldFormatError(f"it has a node with the translation {text!r:.60}") from error


def placed(scene: Scene, sizes: list[tuple[int, int, int]]) -> tuple[list[Placed], list[str]]:
    """Return the models that are shown, and a report of those that are not. Raises WorldFormatError."""
    report: list[str] = []
    if not sizes:
        raise WorldFormatError("it has no model")
    if not scene.nodes:
        if len(sizes) > 1:
            report.append(
                f"left out {len(sizes) - 1} of {len(sizes)} models: without a scene they are frames."
            )
        return [_placed(0, sizes[0], _UP, _UNMOVED)], report
    found: list[Placed] = []
    hidden = 0
    seen = set()
    ahead = [(0, _UP, _UNMOVED, False)]
    while ahead:
        number, turn, shift, is_hidden = ahead.pop()
        node = scene.nodes.get(number)
        if node is None or number in seen:
            raise WorldFormatError(f"its scene has the node {number} {'twice' if node else 'nowhere'}")
        seen.add(number)
        is_hidden = is_hidden or node.is_hidden or node.layer in scene.hidden_layers
        shift, turn = shift + turn @ node.shift, turn @ node.turn
        # Of an animation the first frame.
        for model in node.models[:1]:
            if not 0 <= model < len(sizes):
                raise WorldFormatError(f"its scene places the model {model} of {len(sizes)}")
            if is_hidden:
                hidden += 1
            else:
                found.append(_placed(model, sizes[model], turn, shift))
        if len(found) > _MAX_PLACED:
            raise WorldFormatError(f"its scene places more than {_MAX_PLACED} models")
        ahead += [(child, turn, shift, is_hidden) for child in reversed(node.children)]
    if hidden:
        report.append(f"left out {hidden} of {hidden + len(found)} models, which are hidden.")
    if not found:
        raise WorldFormatError("it has no model that is shown")
    return found, report


def _placed(
    model: int, size: tuple[int, int, int], turn: NDArray[np.int64], shift: NDArray[np.int64]
) -> Placed:
    # A model turns about the corner of voxels in its middle.
    edges = np.array(size, np.int64)
    lowest = turn @ -(edges // 2) + shift
    highest = lowest + turn @ edges
    return Placed(model, turn, 2 * lowest, np.minimum(lowest, highest), np.maximum(lowest, highest))


def cells(one: Placed, voxels: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the cells of voxels of a model, shape [count, 3]."""
    # Middles of voxels lie at halves, so all is counted twice.
    columns, signs = np.abs(one.turn).argmax(axis=1), one.turn.sum(axis=1)
    twice: NDArray[np.int64] = (2 * voxels[:, columns].astype(np.int64) + 1) * signs + one.start
    return twice >> 1
