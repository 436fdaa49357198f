"""Files of all formats, damaged at random also behind checksums, and what is no file at all."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import hostile
import hostile_folders
import numpy as np
import pytest
import test_world_files as files
from click.testing import CliRunner

import ecs_audio as ea
from ecs_audio.cli import cli
from ecs_audio.world import OutsideError, World, WorldFormatError

kinds = pytest.mark.parametrize("kind", hostile.FILES)


def loaded(path: Path, data: bytes) -> World | None:
    """Return a world that was checked, None for a typed error."""
    path.write_bytes(data)
    try:
        world = World.load(path)
    except (WorldFormatError, OSError):
        return None
    hostile.check(world)
    return world


def hear(world: World) -> None:
    """Trace rays from the middle of a world to its lowest corner."""
    clips = ea.Clips()
    clips.add("x", np.ones(8) * 0.1)
    low, high = world.origin * world.cell_size, (world.origin + world.size) * world.cell_size
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=tuple((low + high) / 2))
        row = engine.spawn("x", position=tuple(low + 0.5 * world.cell_size), looping=True)
        engine.tick(1 / 60)
        assert 0 <= engine.sources.transmission[row] <= 1


def survive_damage(path: Path, kind: str, count: int, seed: int) -> None:
    rng = random.Random(seed)
    originals = hostile.small(kind)
    good = 0
    for number in range(count):
        data = hostile.damaged(rng.choice(originals), rng, originals)
        if number % 4 == 0:
            flipped = bytearray(rng.choice(originals))
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            data = bytes(flipped)
        world = loaded(path, data)
        if world is not None:
            good += 1
            if good <= 3 and world.slots.size < 2**12:
                hear(world)
    assert 0 < good < count


@kinds
def test_two_hundred_changes_also_behind_checksums_are_survived(kind: str, tmp_path: Path) -> None:
    survive_damage(tmp_path / hostile.FILES[kind], kind, 200, 0)


@pytest.mark.slow
@kinds
@pytest.mark.parametrize("seed", range(1, 11))
def test_two_thousand_changes_are_survived(kind: str, tmp_path: Path, seed: int) -> None:
    survive_damage(tmp_path / hostile.FILES[kind], kind, 200, seed)


@kinds
def test_every_truncation_behind_a_checksum_is_survived(kind: str, tmp_path: Path) -> None:
    for contents, put_back in hostile.layers(hostile.small(kind)[0]):
        for length in range(0, len(contents), 1 + len(contents) // 100):
            loaded(tmp_path / hostile.FILES[kind], put_back(contents[:length]))


@kinds
def test_another_beginning_is_refused(kind: str, tmp_path: Path) -> None:
    if kind in ("obj", "mca", "stl"):
        pytest.skip("it has no magic: any beginning may be right")
    data = hostile.small(kind)[0]
    for start in (
        b"",
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        *(hostile.small(one)[0][:4] for one in hostile.FILES),
    ):
        if start and not data.startswith(start[:2]):
            assert loaded(tmp_path / hostile.FILES[kind], start + data[4:]) is None


def test_a_world_folder_of_damaged_files_is_survived(tmp_path: Path) -> None:
    rng = random.Random(0)
    originals = hostile_folders.small()
    good = 0
    for number in range(80):
        data = rng.choice(originals)
        for _ in range(1 + number % 3):
            data = hostile_folders.damaged(data, rng, originals)
        hostile_folders.write(tmp_path / "world", data)
        window = {"around": (8, 8, 8), "radius": 24} if number % 4 == 0 else {}
        try:
            hostile.check(World.load(tmp_path / "world", **window))
            good += 1
        except (WorldFormatError, OutsideError):
            continue
    assert 0 < good < 80


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the fuzzer needs child processes of its own")
def test_the_fuzzer_runs_and_finds_new_lines(tmp_path: Path) -> None:
    program = str(Path(__file__).with_name("fuzz_worlds.py"))
    options = ["--format", "schem", "--minutes", "0.03", "--corpus", str(tmp_path)]
    result = subprocess.run([sys.executable, program, *options], capture_output=True, text=True)
    assert "0 finds" in result.stdout, result.stdout + result.stderr
    assert list((tmp_path / "finds").iterdir()) == []


# What is no file


def told(path: Path, status: int) -> str:
    """Return the one sentence of the command about a path."""
    result = CliRunner().invoke(cli, ["world", str(path)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    assert result.stderr.count("\n") == 1
    return result.stderr


@kinds
def test_what_is_no_file_is_refused_without_being_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / hostile.FILES[kind]
    path.write_bytes(b"")
    assert str(path) in told(path, 1)
    path.unlink()
    path.mkdir()
    assert "folder without region files" in told(path, 1)
    path.rmdir()
    path.symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        World.load(path)
    assert told(path, 1).startswith(f"Error: {path} cannot be read as a world: too many levels of symbolic")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        World.load(path)
    assert f"there is no file or folder {str(path)!r}" in told(path, 2)
    path.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert "not a regular file" in told(path, 1)
        path.unlink()
    if Path("/dev/zero").exists():
        path.symlink_to("/dev/zero")
        assert "not a regular file" in told(path, 1)


def test_a_folder_of_what_is_no_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "region"
    folder.mkdir()
    (folder / "r.0.0.mca").symlink_to("r.0.0.mca")
    (folder / "r.0.1.mca").mkdir()
    (folder / "r.1.0.mca").symlink_to("/dev/zero")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "r.1.1.mca")
    said = told(tmp_path, 1)
    assert all(name in said for name in ("r.0.0.mca", "r.0.1.mca", "r.1.0.mca"))
    (folder / "r.0.0.mca").unlink()
    (folder / "r.0.0.mca").write_bytes(files.SMALL_REGION)
    assert len(World.load(tmp_path).report) == len(list(folder.iterdir())) - 1


ASK = """
import os, sys
from ecs_audio.cli import cli
from ecs_audio.world import Palette, World
Palette()
try:
    cli.main(["world", "--help"])
except SystemExit:
    print("---")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        print(World.load(path))
    except OSError as error:
        print(type(error).__name__)
    try:
        cli.main(["world", path])
    except SystemExit as ended:
        print(ended.code)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no permissions to take away")
def test_a_file_that_may_not_be_read_is_an_os_error() -> None:
    # Not in a folder of pytest's, which only its owner may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        paths = [folder / file for file in hostile.FILES.values()]
        for path in paths:
            path.write_bytes(b"x")
            path.chmod(0)
        (folder / "closed").mkdir(mode=0)
        asked = [*paths, folder / "closed", folder / "closed" / "a"]
        command = [sys.executable, "-c", ASK, *map(str, asked)]
        result = subprocess.run(command, capture_output=True, text=True)
    told = result.stdout.partition("---")[2].split()
    assert told == ["PermissionError", "1"] * len(asked), result.stdout + result.stderr
    assert result.stderr.splitlines() == [
        f"Error: {path} cannot be read as a world: permission denied." for path in asked
    ]
