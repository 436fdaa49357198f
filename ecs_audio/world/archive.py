"""numpy archives (`.npz`) from strangers: sizes are checked before unpacking, nothing is unpickled."""

import ast
import re
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from math import prod
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_ARCHIVE_BYTES, MAX_DOCUMENT_BYTES

_MAX_MEMBERS: Final = 64
_MAX_DIRECTORY_BYTES: Final = 2**16
_MAX_HEADER_BYTES: Final = 2**12
_END: Final = b"PK\x05\x06"
_END_ZIP64: Final = b"PK\x06\x07"
_PLAIN_DTYPE: Final = re.compile(r"[<>|=]?[biufSU][0-9]{1,8}")


class Member(NamedTuple):
    """One array of an archive, its header read and its data still packed."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    stream: IO[bytes]


def unpack(data: bytes) -> zipfile.ZipFile:
    """Return an archive whose directory has been checked.

    Raises WorldFormatError for one that is too large, and whatever zipfile raises for one that is damaged.
    """
    # zipfile reads the whole directory at once, so its size is checked where zipfile will look for it.
    end = data.rfind(_END, max(0, len(data) - 2**16 - 22))
    if end < 0 or end + 22 > len(data):
        raise WorldFormatError("its zip archive has no directory: the file ends early")
    size = int.from_bytes(data[end + 12 : end + 16], "little")
    if size > _MAX_DIRECTORY_BYTES or data[max(0, end - 20) : end].startswith(_END_ZIP64):
        raise WorldFormatError(f"its zip directory at byte {end} is larger than {_MAX_DIRECTORY_BYTES} bytes")
    archive = zipfile.ZipFile(BytesIO(data))
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS:
        raise WorldFormatError(f"its zip archive has {len(members)} members, more than {_MAX_MEMBERS}")
    total = sum(member.file_size for member in members)
    if total > MAX_ARCHIVE_BYTES:
        raise WorldFormatError(f"its zip archive unpacks to {total} bytes, more than {MAX_ARCHIVE_BYTES}")
    return archive


def member(archive: zipfile.ZipFile, name: str) -> Member | None:
    """Open an array by its key and check its header against its size; None if there is no such key."""
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        return None
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise WorldFormatError(f"its {name} is encrypted or compressed in a way that is not read")
    stream = archive.open(info)
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY" or start[6:] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise WorldFormatError(f"its {name} is no numpy array of a known version")
    length_bytes = 2 if start[6] == 1 else 4
    length = int.from_bytes(stream.read(length_bytes), "little")
    if length > _MAX_HEADER_BYTES:
        raise WorldFormatError(f"its {name} has a header of {length} bytes, more than {_MAX_HEADER_BYTES}")
    try:
        header = ast.literal_eval(stream.read(length).decode("latin-1").strip())
    except (MemoryError, RecursionError) as error:  # of Python's parser, which has room for so much only
        raise WorldFormatError(f"its {name} has a header that is nested too deep") from error
    dtype, shape = header["descr"], header["shape"]
    if not isinstance(dtype, str) or not _PLAIN_DTYPE.fullmatch(dtype):
        raise WorldFormatError(f"its {name} holds {dtype!r:.60}, neither numbers nor text")
    if not isinstance(shape, tuple) or not all(type(edge) is int and edge >= 0 for edge in shape):
        raise WorldFormatError(f"its {name} has the shape {shape!r:.60}")
    found = Member(name, shape, np.dtype(dtype), header["fortran_order"] is True, stream)
    data_bytes = prod(shape) * found.dtype.itemsize
    if data_bytes > MAX_DOCUMENT_BYTES:
        raise WorldFormatError(f"its {name} has {data_bytes} bytes, more than {MAX_DOCUMENT_BYTES}")
    if data_bytes != info.file_size - 8 - length_bytes - length:
        raise WorldFormatError(
            f"its {name} of the shape {shape} does not have the {info.file_size} bytes it says"
        )
    return found


def whole(source: Member) -> NDArray[Any]:
    """Return a small array."""
    values = np.frombuffer(_exactly(source, prod(source.shape)), source.dtype)
    return values.reshape(source.shape, order="F" if source.is_fortran else "C")


def slabs(source: Member, depths: Iterable[int]) -> Iterator[NDArray[Any]]:
    """Yield a large array in slabs of given depths, cut along the axis that varies slowest in the file."""
    shape = source.shape[::-1] if source.is_fortran else source.shape
    for depth in depths:
        values = np.frombuffer(_exactly(source, depth * prod(shape[1:])), source.dtype).reshape(
            depth, *shape[1:]
        )
        yield values.transpose() if source.is_fortran else values


def _exactly(source: Member, count: int) -> bytes:
    wanted = count * source.dtype.itemsize
    data = source.stream.read(wanted)
    if len(data) != wanted:
        raise WorldFormatError(f"its {source.name} ends early, {wanted - len(data)} bytes before its end")
    return data
