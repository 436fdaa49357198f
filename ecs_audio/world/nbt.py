"""Named binary tags, of which only the wanted ones are decoded; safe with hostile bytes.

A document is a tree of compounds and lists. `read` follows a tree of wanted names and steps over everything
else, so its recursion is as deep as the wanted tree, whatever the file holds.
"""

import struct
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_DEPTH, MAX_TAGS, MAX_TEXT_BYTES
from ecs_audio.world.load import Load

Value: TypeAlias = "int | float | str | NDArray[Any] | Tree | list[Tree]"
Tree: TypeAlias = "dict[str, Value]"
Want: TypeAlias = "Mapping[bytes, Want | None]"

EVERY: Final[Want] = {b"*": None}
"""Wants all values of a compound that are not themselves compounds or lists; `*` is any name."""

_END, _STRING, _LIST, _COMPOUND = 0, 8, 9, 10
_NONE: Final = -1
_SIZES: Final = bytes([0, 1, 2, 4, 8, 4, 8]).ljust(256, b"\0")
"""Bytes of the tags of a fixed size, 0 for all others."""
_ARRAYS: Final[Mapping[int, np.dtype[Any]]] = {7: np.dtype("i1"), 11: np.dtype(">i4"), 12: np.dtype(">i8")}
_NUMBERS: Final = {
    tag: struct.Struct(code).unpack_from
    for tag, code in enumerate((">b", ">h", ">i", ">q", ">f", ">d"), start=1)
}
_ARRAY_TAGS: Final = 4
"""What an array that is wanted counts as: it takes as long as some numbers do."""
_AT_ONCE: Final = 2**18
"""Bytes, packed or unpacked."""
_length32 = struct.Struct(">i").unpack_from


def decompress(data: bytes, limit: int, load: Load | None = None) -> bytes:
    """Return the contents of gzip or zlib data, told apart by their first bytes; at most `limit` bytes.

    What was unpacked is charged to a load, also of data that turns out bad.
    Raises WorldFormatError where the data is damaged, ends early or unpacks to more.
    """
    name = "gzip" if data[:2] == b"\x1f\x8b" else "zlib"
    stream = zlib.decompressobj(31 if name == "gzip" else 15)
    # Written as it comes: zlib would hold a large document twice, in parts and joined.
    contents = BytesIO()
    try:
        for start in range(0, len(data), _AT_ONCE):
            part = data[start : start + _AT_ONCE]
            while not stream.eof:
                # One byte more than may be tells a bomb from an exact fit, whose checksum is still to come.
                room = min(_AT_ONCE, limit + 1 - contents.tell())
                is_full = contents.write(stream.decompress(part, room)) == room
                if contents.tell() > limit:
                    raise WorldFormatError(f"its {name} data unpacks to more than {limit} bytes")
                part = stream.unconsumed_tail
                if not part and not is_full:
                    break
    except zlib.error as error:
        raise WorldFormatError(f"its {name} data is damaged ({error})") from error
    finally:
        if load is not None:
            load.bytes_left -= contents.tell()
    if not stream.eof:
        raise WorldFormatError(f"its {name} data ends early, after {contents.tell()} unpacked bytes")
    return contents.getvalue()


class Cursor:
    """A place in a document, and how many more tags and bytes of text it may have."""

    __slots__ = ("at", "data", "tags_left", "text_left")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.tags_left = MAX_TAGS
        self.text_left = MAX_TEXT_BYTES


def read(cursor: Cursor, want: Want) -> tuple[str, Tree]:
    """Return the name of the root compound, and its wanted values by name.

    Numbers become int or float, text str, numeric arrays views of the data, compounds dicts, and lists of
    compounds lists of dicts; what is of another type than its wanted tree says is left out. Raises
    WorldFormatError.
    """
    data = cursor.data
    try:
        if data[0] != _COMPOUND:
            raise WorldFormatError(f"its NBT begins with tag {data[0]} instead of a compound")
        cursor.at = end = 3 + (data[1] << 8 | data[2])
        return data[3:end].decode("utf-8", "replace"), _compound(cursor, want)
    except (IndexError, struct.error) as error:
        raise WorldFormatError(f"its NBT ends early, at byte {len(data)} inside a tag") from error


def _compound(cursor: Cursor, want: Want) -> Tree:
    data = cursor.data
    is_every = b"*" in want
    found: Tree = {}
    while tag := data[cursor.at]:
        start = cursor.at + 3
        cursor.at = end = start + (data[start - 2] << 8 | data[start - 1])
        cursor.tags_left -= 1
        if cursor.tags_left < 0:
            raise _too_many_tags(start)
        name = data[start:end]
        if is_every or name in want:
            value = _value(cursor, tag, want[b"*" if is_every else name])
            if value is not None:
                if is_every:
                    _pay_for_text(cursor, end - start)
                found[name.decode("utf-8", "replace")] = value
        elif _SIZES[tag]:
            cursor.at += _SIZES[tag]
        else:
            _skip(cursor, tag)
    cursor.at += 1
    return found


def _value(cursor: Cursor, tag: int, want: "Want | None") -> "Value | None":
    """Decode one value, or step over it and return None where it is not what is wanted."""
    data, at = cursor.data, cursor.at
    if want is not None:
        if tag == _COMPOUND:
            return _compound(cursor, want)
        if tag == _LIST and data[at] in (_END, _COMPOUND):
            return _compounds(cursor, want)
    elif _SIZES[tag]:
        cursor.at = at + _SIZES[tag]
        number: int | float = _NUMBERS[tag](data, at)[0]
        return number
    elif tag == _STRING:
        end = at + 2 + (data[at] << 8 | data[at + 1])
        if end > len(data):
            raise IndexError
        cursor.at = end
        _pay_for_text(cursor, end - at)
        return data[at + 2 : end].decode("utf-8", "replace")
    elif tag in _ARRAYS:
        dtype = _ARRAYS[tag]
        count = _count(cursor, at, dtype.itemsize)
        cursor.at = at + 4 + count * dtype.itemsize
        cursor.tags_left -= _ARRAY_TAGS - 1
        return np.frombuffer(data, dtype, count, at + 4)
    _skip(cursor, tag)
    return None


def _compounds(cursor: Cursor, want: Want) -> list[Tree]:
    count = max(0, _length32(cursor.data, cursor.at + 1)[0]) if cursor.data[cursor.at] == _COMPOUND else 0
    cursor.at += 5
    cursor.tags_left -= count
    if cursor.tags_left < 0:
        raise _too_many_tags(cursor.at)
    return [_compound(cursor, want) for _ in range(count)]


def _pay_for_text(cursor: Cursor, count: int) -> None:
    cursor.text_left -= count
    if cursor.text_left < 0:
        raise WorldFormatError(f"its NBT has more than {MAX_TEXT_BYTES} bytes of text, at byte {cursor.at}")


def _too_many_tags(at: int) -> WorldFormatError:
    return WorldFormatError(f"its NBT has more than {MAX_TAGS} tags, at byte {at}")


def _count(cursor: Cursor, at: int, width: int) -> int:
    """Read the length of an array and check it against the bytes that are left."""
    count: int = _length32(cursor.data, at)[0]
    if not 0 <= count * width <= len(cursor.data) - at - 4:
        raise WorldFormatError(
            f"its NBT has an array of {count} values at byte {at}, more than the data holds"
        )
    return count


def _too_deep(at: int) -> WorldFormatError:
    return WorldFormatError(f"its NBT is nested more than {MAX_DEPTH} deep, at byte {at}")


def _skip(cursor: Cursor, tag: int) -> None:
    """Step over one value without recursion."""
    data, at, tags_left = cursor.data, cursor.at, cursor.tags_left
    # The innermost open container: the tag of a list's elements and how many come, or END for a compound.
    element, count = _NONE, 0
    outer: list[tuple[int, int]] = []
    try:
        while True:
            size = _SIZES[tag]
            if size:
                at += size
            elif tag == _STRING:
                at += 2 + (data[at] << 8 | data[at + 1])
            elif tag == _COMPOUND:
                outer.append((element, count))
                if len(outer) > MAX_DEPTH:
                    raise _too_deep(at)
                element = _END
            elif tag == _LIST:
                inner, length = data[at], _length32(data, at + 1)[0]
                at += 5
                if _SIZES[inner]:
                    at += max(0, length) * _SIZES[inner]
                elif inner != _END and length > 0:
                    outer.append((element, count))
                    if len(outer) > MAX_DEPTH:
                        raise _too_deep(at)
                    element, count = inner, length
            elif tag in _ARRAYS:
                width = _ARRAYS[tag].itemsize
                at += 4 + width * _count(cursor, at, width)
            else:
                raise WorldFormatError(f"its NBT has the unknown tag {tag} before byte {at}")
            while True:
                if element == _END:
                    tag = data[at]
                    if tag:
                        at += 3 + (data[at + 1] << 8 | data[at + 2])
                        break
                    at += 1
                elif count:
                    count -= 1
                    tag = element
                    break
                elif element == _NONE:
                    cursor.at = at
                    return
                element, count = outer.pop()
            tags_left -= 1
            if tags_left < 0:
                raise _too_many_tags(at)
    finally:
        cursor.tags_left = tags_left
