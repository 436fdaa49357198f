"""Windows where they are used: in an engine that runs, on the command line, and in a scenario."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import TICK
from test_world_windows import (
    PLACES,
    known,
    same_cells,
    write_regions,
)

import ecs_audio as ea
from ecs_audio.cli.app import cli
from ecs_audio.world import World


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_regions(tmp_path_factory.mktemp("worlds") / "region", PLACES)


# What is loaded is heard.


@pytest.fixture
def walled(tmp_path: Path) -> Path:
    """A floor of stone, and a wall of stone between x 40 and 41."""
    world = World.empty(size=(96, 48, 96))
    world.fill((0, 0, 0), (96, 4, 96), "stone")
    world.fill((40, 0, 0), (41, 48, 96), "stone")
    world.save(tmp_path / "walled.npz")
    return tmp_path / "walled.npz"


def told(engine: ea.Engine, row: ea.Source) -> tuple[float, float, float]:
    s = engine.sources
    return float(s.transmission[row]), float(s.coupling[row]), float(s.gain_target[row])


def ticks(engine: ea.Engine, count: int) -> None:
    """Ticks of which each finds what the worker was given before, on a busy machine, too."""
    for _ in range(count):
        engine.tick(TICK)
        if engine._tracing.worker is not None:
            engine._tracing.worker.wait()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_wall_that_is_loaded_later_muffles_from_the_next_tick_on(
    walled: Path, clips: ea.Clips, workers: int
) -> None:
    world = World.load(walled, around=(24, 10, 40), radius=7)
    engine = ea.Engine(world, clips, settings=ea.Settings(workers=workers))
    with engine:
        engine.listener.look(position=(28.5, 10.5, 40.5))
        row = engine.spawn("tone", position=(52.5, 10.5, 40.5), looping=True, reference=30.0)
        ticks(engine, 30)
        assert engine.sources.transmission[row] == pytest.approx(1)  # unknown is open air
        assert world.load_more(walled, around=(40, 10, 40), radius=40) > 0
        ticks(engine, 1 + workers)  # a worker brings it at the next tick
        assert engine.sources.transmission[row] == pytest.approx(0.0498, rel=0.01)
        ticks(engine, 200)
        later = told(engine, row)
    whole = World.load(walled, around=(40, 10, 40), radius=40)
    with ea.Engine(whole, clips, settings=ea.Settings(workers=workers)) as engine:
        engine.listener.look(position=(28.5, 10.5, 40.5))
        row = engine.spawn("tone", position=(52.5, 10.5, 40.5), looping=True, reference=30.0)
        ticks(engine, 231 + workers)
        at_once = told(engine, row)
    assert later[0] == at_once[0]
    assert later[1:] == pytest.approx(at_once[1:], abs=0.1)


def test_a_body_stands_on_what_is_loaded_in_time(walled: Path, clips: ea.Clips) -> None:
    world = World.load(walled, around=(20, 40, 20), radius=2)
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=(20.5, 21.0, 20.5))
        walker = engine.move(engine.listener)
        for _ in range(20):
            engine.tick(TICK)
        falling = float(engine.movers.position[walker][1])
        assert 4 < falling < 21
        world.load_more(walled, around=(20, falling, 20), radius=24)
        for _ in range(120):
            engine.tick(TICK)
        assert engine.movers.position[walker][1] == pytest.approx(4, abs=0.01)


def test_a_thread_of_the_hosts_loads_while_ticks_go_on(regions: Path, clips: ea.Clips) -> None:
    world = World.load(regions, around=(8, 20, 8), radius=10)
    parts: list[World] = []
    loader = threading.Thread(
        target=lambda: parts.append(World.load(regions, around=(8, 20, 8), radius=200)), daemon=True
    )
    with ea.Engine(world, clips) as engine:
        engine.spawn("tone", position=(30, 20, 8), looping=True)
        loader.start()
        ticks = 0
        while loader.is_alive() or not ticks:
            engine.tick(TICK)
            ticks += 1
        loader.join()
        assert world.load_more(parts[0]) > 0
        engine.tick(TICK)
    assert known(world) == known(parts[0])
    assert same_cells(world, parts[0], known(world))


# The command line


def ask(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.stderr


def test_the_command_shows_a_window_and_converts_it(regions: Path, tmp_path: Path) -> None:
    window = ("--around", "-8,20,8", "--radius", 12)
    found = json.loads(ask("world", regions, *window, "--png", tmp_path / "map.png", "--json"))
    part = World.load(regions, around=(-8, 20, 8), radius=12)
    assert found["sections"]["unknown"] == part.section_counts().unknown
    assert (tmp_path / "map.png").exists()
    told = json.loads(ask("world", regions, *window, "--save", tmp_path / "part.npz", "--json"))
    assert told["saved"] == str(tmp_path / "part.npz")
    again = World.load(tmp_path / "part.npz")
    assert known(again) == known(part)
    assert same_cells(again, part, known(part))
    assert "part.npz" in ask("world", regions, *window, "--save", tmp_path / "part.npz")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--around", "1,2"], 2, "--around"),
        (["--around", "a,b,c"], 2, "three numbers between commas"),
        (["--radius", "9"], 2, "--radius needs --around"),
        (["--around", "9000,0,0"], 2, "regions span x -1024 to 1023"),
        (["--around", "8,8,8", "--radius", "-3"], 2, "--radius"),
        (["--save", "x.mca"], 2, "must end in .npz or .schem"),
    ],
)
def test_a_wrong_window_is_one_sentence(regions: Path, arguments: list[str], status: int, words: str) -> None:
    text = ask("world", regions, *arguments, status=status)
    assert words in text
    assert text.count("\n") == 1


SCENE = """
import ecs_audio as ea

def scenario(
    *, world: str | None = None, around: tuple[float, float, float] | None = None, radius: float = 256.0
) -> ea.Scenario:
    return ea.Scenario(ea.World.load(world, around=around, radius=radius), ea.Clips(), 0.05)
"""


def test_a_scenario_runs_in_a_window(regions: Path, tmp_path: Path) -> None:
    scene, bare = tmp_path / "scene.py", tmp_path / "bare.py"
    scene.write_text(SCENE, encoding="utf-8")
    bare.write_text("def scenario(*, world: str):\n    pass\n", encoding="utf-8")
    there = ("--world", regions, "--around", "-8,20,8")
    found = json.loads(ask("run", scene, *there, "--radius", "12.5", "--no-output", "--json"))
    assert found["parameters"]["around"] == [-8.0, 20.0, 8.0]
    assert found["parameters"]["radius"] == 12.5
    found = json.loads(ask("play", scene, *there, "--silent", "--plain", "--json"))
    assert found["parameters"]["radius"] == 256.0
    far = ("--world", regions, "--around", "9000,0,0")
    assert "regions span x -1024 to 1023" in ask("run", scene, *far, "--no-output", status=2)
    assert "bare has no parameter 'around'" in ask("run", bare, *there, status=2)
    for command in ("run", "play"):
        assert "give one with --world" in ask(command, scene, "--around", "1,2,3", status=2)
        assert "--radius needs --around" in ask(command, scene, "--radius", "3", status=2)


def test_unknown_sections_that_a_schem_loses_are_told(tmp_path: Path) -> None:
    folder, out = write_regions(tmp_path / "gap", [(0, 0), (2, 0)]), tmp_path / "a.schem"
    result = CliRunner().invoke(cli, ["world", str(folder), "--around", "8,8,8", "--save", str(out)])
    assert result.exit_code == 0
    assert "sections are not loaded, and a .schem has them as air" in result.stderr
    assert World.load(out).size.tolist() == [48, 288, 16]
