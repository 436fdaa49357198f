"""A file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new file's path beside `path` to write to; when the block ends well it becomes `path`.

    Whatever is raised inside, KeyboardInterrupt included, removes it and leaves `path` as it was. Missing
    parent folders are made, a symbolic link is followed. Raises ValueError when `path` is there and not a
    regular file: a folder, or a device that must not be replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is there and not a regular file: it cannot be replaced by a recording")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{secrets.token_hex(8)}.part"  # `tempfile` would deny others to read the result
    try:
        yield part
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
