"""World folders as bytes, so that they are kept and damaged as files are: archives of what lies in them."""

from __future__ import annotations

import random
import zipfile
from io import BytesIO
from pathlib import Path
from shutil import rmtree

import hostile
import test_world_files as files

NAMES = ("r.0.0.mca", "r.-1.0.mca", "r.0.1.mca", "r.00.0.mca", "r.9999999.-9999999.mca", "r.10000000.0.mca")
NAMES += ("c.0.0.mcc", "c.1.0.mcc", "c.-32.0.mcc", "c.0.32.mcc", "level.dat", "r.0.0.mca.bak", "R.0.0.MCA")
NAMES += ("session.lock", "r..mca", "r.1.0.mca", "r.3.3.mca")
WITHIN = ("", "region/", "dimensions/minecraft/overworld/region/", "playerdata/")


def small() -> list[bytes]:
    """Return folders of several regions, chunks beside them, and files that are none of these."""
    regions = hostile.small("mca")
    beside = hostile.layers(regions[0])[0][0]
    level = files.named("", {"Data": {"LevelName": "x", "Version": {"Id": 3955}}})
    folders = []
    for number, within in enumerate(WITHIN[:3]):
        some = {f"{within}{name}": one for name, one in zip(NAMES, regions[3 * number :], strict=False)}
        some[f"{within}c.0.0.mcc"] = beside
        folders.append(hostile.zipped({"level.dat": level, f"{within}r.3.3.mca": b"", **some}))
    return folders


def damaged(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return a folder with other contents or other names."""
    members = _members(data)
    if not members:
        return data
    for _ in range(1 << rng.randrange(3)):
        name = rng.choice(list(members))
        found = [contents for other in others for contents in _members(other).values()]
        if rng.random() < 0.25:
            contents = members.pop(name) if rng.random() < 0.7 else members[name]
            members[rng.choice(WITHIN) + rng.choice(NAMES)] = contents
        elif rng.random() < 0.1 and found:
            members[name] = rng.choice(found)
        else:
            members[name] = hostile.damaged(members[name], rng, found[:3])
    return hostile.zipped(members)


def write(folder: Path, data: bytes) -> None:
    """Write a folder anew."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, contents in _members(data).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}
