"""The wheel: what people install holds all that the command needs, and reads nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import ecs_audio as ea
from ecs_audio.cli.find import shipped

pytest.importorskip("hatchling", reason="the wheel is built without network by hatchling of this environment")

ROOT = Path(__file__).parents[1]
PACKAGES = ("ecs_audio", "scenarios")

# In the fresh environment: whoever looks into the source tree is refused.
GUARD = """
import os, sys

ROOT, DEPENDENCIES = {root!r}, {dependencies!r}

def refuse(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path.startswith(ROOT + os.sep) and not path.startswith(DEPENDENCIES + os.sep):
            raise PermissionError(f"{{path}} is in the source tree")

sys.addaudithook(refuse)
"""

MINE = '''"""A tone of my own."""
from __future__ import annotations

from typing import Literal

import numpy as np
import ecs_audio as ea
from beside import FREQUENCY

def scenario(*, where: tuple[float, float, float] = (3.0, 0.0, 0.0), side: Literal["left", "right"] = "left"):
    clips = ea.Clips()
    clips.add("tone", 0.3 * np.sin(2 * np.pi * FREQUENCY * np.arange(4800) / 48000))
    x, y, z = where
    spawn = ea.Spawn("tone", (-x if side == "left" else x, y, z), options={"looping": True})
    return ea.Scenario(ea.World.empty(size=(8, 8, 8)), clips, 0.2, spawns=[spawn])

def check(heard: ea.Recording) -> None:
    left, right = np.square(heard.samples).sum(axis=0)
    louder = "left" if left > right else "right"
    assert louder == heard.parameters["side"], f"it is louder at the {louder}"
'''


def run(*command, folder, status=0):
    """A command in a folder outside of the source tree, with nothing of this process's paths."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = kept | {"XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([str(c) for c in command], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--no-index")
    run(*build, "--wheel-dir", folder, folder=folder)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel, and the packages it needs from this one: its folder of programs."""
    home = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", home, folder=home.parent)
    bin = home / ("Scripts" if os.name == "nt" else "bin")
    python = bin / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index")
    run(*pip, wheel, folder=home.parent)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", where, folder=home.parent).stdout.strip())
    # A path in a .pth is searched, but the .pth files there are not read: no editable install comes along.
    paths = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / "dependencies.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    guard = GUARD.format(root=str(ROOT), dependencies=sys.prefix)
    (packages / "sitecustomize.py").write_text(guard, encoding="utf-8")
    return bin


def test_the_wheel_holds_every_file_of_its_packages_and_no_other(wheel):
    there = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == there
    assert {"ecs_audio/world/materials.toml", "ecs_audio/py.typed", "scenarios/field.py"} <= held


def test_the_installed_package_is_the_one_that_answers(installed, tmp_path):
    program = (
        "import ecs_audio as ea, importlib.metadata as m; world = ea.World.empty(size=(4, 4, 4)); "
        "print(ea.__file__, m.version('ecs-audio'), world.palette.group('minecraft:oak_planks'))"
    )
    file, version, group = run(installed / "python", "-c", program, folder=tmp_path).stdout.split()
    assert Path(file).is_relative_to(installed.parent)
    assert (version, group) == (ea.__version__, "wood")
    assert run(installed / "ecs-audio", "--version", folder=tmp_path).stdout.split()[1] == version


def test_the_source_tree_is_out_of_reach(installed, tmp_path):
    for program in (
        f"open({str(ROOT / 'README.md')!r})",
        f"import os; os.listdir({str(ROOT / 'scenarios')!r})",
    ):
        refused = run(installed / "python", "-c", program, folder=tmp_path, status=1)
        assert "is in the source tree" in refused.stderr


def test_the_shipped_scenarios_are_listed(installed, tmp_path):
    listed = json.loads(run(installed / "ecs-audio", "list", "--json", folder=tmp_path).stdout)["scenarios"]
    assert [s["name"] for s in listed] == list(shipped())
    assert [s["error"] for s in listed] == [None] * len(listed)


@pytest.mark.slow  # all kernels are compiled, since an environment of its own has a cache of its own
def test_scenarios_run_and_are_checked_from_the_installed_wheel(installed, tmp_path):
    command = installed / "ecs-audio"
    done = run(command, "run", "field", "--json", "--trace", "trace.json", "--explain", "0", folder=tmp_path)
    printed = json.loads(done.stdout)
    assert (tmp_path / "out" / "field.wav").stat().st_size > printed["frames"] * 8
    assert Path(printed["file"]).is_relative_to(installed.parent)
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert printed["explain"]["tier"]["tier"] == "full"
    again = run(command, "check", "field", folder=tmp_path)
    assert "passed" in again.stdout
    assert "Compiled" not in again.stderr  # the kernels come from the cache

    (tmp_path / "my_scene.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "beside.py").write_text("FREQUENCY = 500.0\n", encoding="utf-8")
    mine = (command, "run", "my_scene.py", "--check", "--no-output")
    assert "passed" in run(*mine, folder=tmp_path).stdout
    run(*mine, "--set", "side=right", "--set", "where=2,1,0.5", folder=tmp_path)
    failed = run(*mine, "--set", "where=-2,0,0", folder=tmp_path, status=1)
    assert failed.stderr.splitlines()[-1] == (
        "Error: the check of my_scene failed: it is louder at the right"
    )
    refused = run(*mine, "--set", "side=lift", folder=tmp_path, status=2)
    assert "must be 'left' | 'right', not 'lift'; did you mean 'left'?" in refused.stderr
