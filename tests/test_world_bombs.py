"""The worst files of all formats: refused with one sentence, in bounded time and memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import hostile
import pytest
from heaviest import heaviest, heavy
from test_world_files import SMALL_REGION, region
from worst import File, worst

MEMORY = 2 * 2**30
"""Bytes of address space in which the worst files must be refused."""
SECONDS = 10
"""Of the processor, for each of them."""

CHILD = f"""
import contextlib, io, json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from ecs_audio.cli import cli
for arguments in json.loads(sys.argv[1]):
    began, status, said = time.process_time(), 0, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            cli.main(["world", *arguments])
        except SystemExit as ended:
            status = ended.code
    print(json.dumps([status, said.getvalue(), time.process_time() - began]))
"""


bounded = pytest.mark.skipif(sys.platform == "win32", reason="memory cannot be bounded")


@bounded
def test_the_worst_files_get_a_sentence_in_little_time_and_memory(tmp_path: Path) -> None:
    survive(tmp_path, [*worst(), *heavy()])


@bounded
@pytest.mark.slow
@pytest.mark.parametrize("file", list(heaviest()), ids=lambda file: f"{file[1]}: {file[0]}")
def test_the_heaviest_files_keep_to_the_limits_of_time_and_memory(tmp_path: Path, file: File) -> None:
    survive(tmp_path, [file])


@bounded
@pytest.mark.parametrize("how", [2, 3, 4, 7])
def test_large_files_beside_a_region_are_not_all_read(tmp_path: Path, how: int) -> None:
    everywhere = [(x, z) for x in range(32) for z in range(32)]
    (tmp_path / "r.0.0.mca").write_bytes(region(dict.fromkeys(everywhere, b""), 128 + how))
    for x, z in everywhere:
        with (tmp_path / f"c.{x}.{z}.mcc").open("wb") as stream:
            stream.truncate(2**26)
    told(tmp_path, r"its chunks have more than 536870912 bytes, packed and unpacked, together")
    for x, z in everywhere:
        os.truncate(tmp_path / f"c.{x}.{z}.mcc", 2**32)
    told(tmp_path, r"skipped 1024 of 1024 chunks: .* has more than 67108864 bytes")


@bounded
def test_regions_too_large_together_are_not_all_read(tmp_path: Path) -> None:
    for x in range(4):
        (tmp_path / f"r.{x}.0.mca").write_bytes(SMALL_REGION)
        os.truncate(tmp_path / f"r.{x}.0.mca", 2**30)
    told(tmp_path, "its regions have more than 1073741824 bytes together; load a smaller part with")


@bounded
def test_a_folder_of_too_many_files_is_loaded_in_part_only(tmp_path: Path) -> None:
    for x in range(20_000):
        (tmp_path / f"r.{x}.0.mca").touch()
    told(tmp_path, "it has 20000 region files, more than 16384; load a smaller part with")
    (tmp_path / "r.0.0.mca").write_bytes(SMALL_REGION)
    ((status, said, seconds),) = answers([[str(tmp_path), "--around", "8,8,8", "--radius", "20"]])
    assert (status, said) == (0, ""), said
    assert seconds < SECONDS


def told(folder: Path, message: str, *options: str) -> None:
    """Assert that a folder is refused in one sentence, soon."""
    ((status, said, seconds),) = answers([[str(folder), *options]])
    assert seconds < SECONDS
    assert status == 1
    assert said.count("\n") == 1
    assert re.search(message, said), said


@bounded
@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells in a region", "names in a region", "numeric ids in a region"])
def test_several_of_the_heaviest_regions_cost_no_more_than_one(tmp_path: Path, name: str) -> None:
    (data,) = (make() for file, _, make in heaviest() if file == name)
    for x, z in ((0, 0), (0, 1), (1, 0), (1, 1)):
        (tmp_path / f"r.{x}.{z}.mca").write_bytes(data)
    for around in ([], ["--around", "512,8,512", "--radius", "512"]):
        told(tmp_path, r"together; load a smaller part with around=\(x, y, z\) and radius= \(at r\.", *around)


def answers(asked: list[list[str]]) -> list[tuple[int, str, float]]:
    """Return status, sentence and time of the command for each of some arguments, in bounded memory."""
    result = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(asked)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == len(asked), f"{asked[len(found)]} ended it: {result.stderr[-500:]}"
    return found


def survive(tmp_path: Path, files: Iterable[File]) -> None:
    """Load files one after the other in one process, and judge what was said."""
    names, paths = [], []
    for number, (name, kind, make) in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths.append(folder / hostile.FILES[kind])
        paths[-1].write_bytes(make())
        names.append(f"{kind}: {name}")
    told = answers([[str(path)] for path in paths])
    for name, path, (status, said, seconds) in zip(names, paths, told, strict=True):
        assert seconds < SECONDS, (name, seconds)
        if "good" in name:
            assert (status, said) == (0, ""), (name, said)
            continue
        assert status == 1, (name, said)
        assert said.count("\n") == 1, (name, said)
        assert said.startswith(f"Error: {path} cannot be read as a world: "), (name, said)
        assert "MemoryError" not in said, (name, said)
