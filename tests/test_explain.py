"""What `explain` says of a source: a second opinion on the engine's numbers, found cell by cell."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import RATE, TICK, play, wall_world

import ecs_audio as ea
from ecs_audio.cli import cli
from ecs_audio.explain import explain
from ecs_audio.explain.crossing import cells_between, cross

SOURCE, EAR = (-4.5, 0.5, 0.5), (5.5, 0.5, 0.5)


def explained(engine_with, world, source=SOURCE, listener=EAR, ticks=1, clip="x", settings=None, **options):
    """An explanation after some ticks of a fresh engine."""
    clips = ea.Clips(RATE)
    clips.add("x", np.ones(4800) * 0.1)
    engine = engine_with(clips, world, **(settings or {}))
    engine.listener.look(position=listener)
    row = engine.spawn(clip, **({"position": source, "looping": True} | options))
    if ticks:
        play(engine, ticks * TICK)
    return explain(engine, row)


def difference(found):
    return max(abs(path["walked"] - path["engine"]) for path in found["bundle"]["paths"])


# The walk through the world.


@pytest.mark.parametrize("seed", range(40))
def test_the_walk_agrees_with_every_path_of_the_kernels(engine_with, seed):
    rng = np.random.default_rng(seed)
    world = ea.World.empty(size=(48, 32, 48), origin=(-24, -16, -24), cell_size=(1.0, 0.5)[seed % 2])
    blocks = ["stone", "glass", "water", "white_wool", "stone_slab", "oak_leaves", "lava", "oak_planks"]
    for _ in range(rng.integers(4, 60)):
        low = rng.integers((-20, -14, -20), (18, 12, 18))
        world.fill(low, low + rng.integers(1, 9, 3), rng.choice(blocks))
    size = world.cell_size
    source, listener = (rng.uniform((-18, -12, -18), (18, 12, 18)) * size for _ in range(2))
    if seed % 4 == 0:  # on faces, edges and corners
        source, listener = np.round(source / size) * size, np.round(listener / size) * size
    if seed % 5 == 0:  # along an axis, which a bundle goes round in another way when it is upright
        listener[[seed % 3, (seed + 1) % 3]] = source[[seed % 3, (seed + 1) % 3]]
    found = explained(engine_with, world, source, listener, settings={"acoustics": "direct"})
    assert difference(found) < 1e-12
    assert found["bundle"]["walked"] == pytest.approx(found["muffling"]["transmission"], abs=1e-12)


def test_a_wrong_number_of_the_engine_stands_beside_what_the_walk_finds(engine_with, clips):
    engine = engine_with(clips, wall_world((0, 1)))
    engine.listener.look(position=EAR)
    row = engine.spawn("tone", position=SOURCE, looping=True)
    engine.tick(TICK)
    assert difference(explain(engine, row)) < 1e-12
    engine.sources.path[row, 0] *= 1.01
    assert difference(explain(engine, row)) > 4e-4


@pytest.mark.parametrize(
    ("walls", "name", "pieces", "transmission"),
    [
        ([(0, 1)], "stone", [("stone", 1, 1.0, 1.0)], 0.0498),
        ([(0, 1), (2, 4)], "stone", [("stone", 1, 1.0, 1.0), ("stone", 2, 2.0, 2.0)], 0.000123),
        ([(0, 1)], "stone_slab", [("stone_slab", 1, 1.0, 0.25)], 0.472),
        ([(-3, 5)], "water", [("water", 8, 8.0, 0.5)], 0.223),
        ([], "stone", [], 1.0),
    ],
)
def test_the_straight_path_names_what_it_crosses(engine_with, walls, name, pieces, transmission):
    straight = explained(engine_with, wall_world(*walls, name=name))["bundle"]["paths"][0]
    if len(walls) > 1:  # with air between them they are two runs, but runs of one block read as one
        pieces = [("stone", 3, 3.0, 3.0)]
    crossed = [(p["block"], p["cells"], p["metres"], p["occlusion"]) for p in straight["crossed"]]
    assert [p[:2] for p in crossed] == [p[:2] for p in pieces]
    assert [p[2:] for p in crossed] == [pytest.approx(p[2:]) for p in pieces]
    assert straight["walked"] == pytest.approx(transmission, rel=5e-3)
    assert straight["note"] is None


def test_what_does_not_count_says_why(engine_with):
    world = wall_world((-6, 8), name="water")
    world.fill((0, -20, -20), (1, 21, 21), "stone")
    straight = explained(engine_with, world)["bundle"]["paths"][0]
    assert [(p["block"], p["left_out"]) for p in straight["crossed"]] == [
        ("water", "the listener is in this cell"),
        ("water", "an end is in this fluid"),
        ("stone", None),
        ("water", "an end is in this fluid"),
        ("water", "the source is in this cell"),
    ]
    buried = explained(engine_with, wall_world((2, 8), (-1, 0)))["bundle"]["paths"][0]
    assert [(p["block"], p["left_out"]) for p in buried["crossed"]] == [
        ("stone", "the listener is in this cell"),
        ("stone", "the listener is inside this run of solid"),
        ("stone", None),
    ]


def test_a_path_with_an_end_in_a_wall_says_so(engine_with):
    found = explained(engine_with, wall_world((-8, -5)), source=(-4.9, 0.5, 0.5), listener=(5.5, 0.5, 3.5))
    notes = [path["note"] for path in found["bundle"]["paths"]]
    assert notes[0] is None
    assert "an end is in a wall: as the straight path" in notes
    assert difference(found) < 1e-12


def test_what_is_not_loaded_is_counted_in_metres(engine_with):
    world = ea.World.unknown(size=(64, 32, 64), origin=(-32, -16, -32))
    world.fill((-16, -16, -32), (0, 16, 32), "air")
    straight = explained(engine_with, world)["bundle"]["paths"][0]
    assert straight["unknown_metres"] == pytest.approx(5.5)


def test_a_way_visits_each_cell_once_and_in_all_the_whole_of_it():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = rng.uniform(-9, 9, (2, 3))
        cells = list(cells_between(tuple(a), tuple(b)))
        assert len({cell for cell, *_ in cells}) == len(cells)
        assert math.fsum(end - begin for _, begin, end in cells) == pytest.approx(1.0)
        assert all(np.abs(np.subtract(p[0], q[0])).sum() == 1 for p, q in pairwise(cells))
        for cell, begin, end in cells:
            middle = a + (b - a) * (begin + end) / 2
            assert tuple(np.floor(middle + 1e-12 * np.sign(b - a)).astype(int)) == cell or end - begin < 1e-12
    assert list(cells_between((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))) == [((0, 0, 0), 0.0, 1.0)]


def test_what_lies_behind_too_much_does_not_count():
    world = ea.World.empty(size=(64, 8, 8))
    world.fill((2, 0, 0), (62, 8, 8), "stone")
    found = cross(world, (0.5, 4.5, 4.5), (63.5, 4.5, 4.5), (0, 4, 4), (63, 4, 4))
    assert found.is_cut_short
    assert found.pieces == [
        {"block": "stone", "cells": 16, "metres": pytest.approx(16.0), "occlusion": pytest.approx(16.0),
         "left_out": None}
    ]  # fmt: skip


# How gains come about.


def assert_gains_agree(found):
    muffling = found["muffling"]
    assert muffling["expected_gain"] == pytest.approx(muffling["gain_target"], rel=1e-12)
    assert muffling["expected_gain_hf"] == pytest.approx(muffling["gain_hf_target"], rel=1e-12)
    for send in found["sends"].values():
        assert send["expected"] == pytest.approx(send["target"], rel=0.02, abs=1e-9)


def room(**doors):
    """Two rooms of stone in a row, 10 m each; a door of 2 x 3 m between them if it is wanted."""
    world = ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))
    world.fill((-11, -1, -6), (12, 6, 7), "stone")
    world.fill((-10, 0, -5), (0, 5, 6), "air")
    world.fill((1, 0, -5), (11, 5, 6), "air")
    for block in doors.values():
        world.fill((0, 0, 2), (1, 3, 4), block)
    return world


@pytest.mark.parametrize("settings", [{}, {"air": False}, {"coupling": False}, {"occlusion": False}])
def test_gains_and_sends_come_about_as_told(engine_with, settings):
    for world in (room(), room(door="air"), wall_world((0, 1))):
        found = explained(engine_with, world, (-5.5, 1.7, -2.5), (6.5, 1.6, 0.5), 240, settings=settings)
        assert_gains_agree(found)


def test_shared_air_decides_where_it_lets_more_through_than_the_wall(engine_with):
    found = explained(engine_with, room(door="air"), (-5.5, 1.7, -3.5), (6.5, 1.6, -1.5), 240)
    muffling, reflections = found["muffling"], found["reflections"]
    assert muffling["decided_by"] == "shared air"
    assert muffling["heard"] == muffling["shared_air"] > muffling["transmission"]
    assert reflections["from"] == "traced"
    entry = reflections["entry"]
    assert reflections["coupling"] == pytest.approx(entry["seen_by_the_listener"] / entry["of"])
    assert 0 < entry["seen_by_the_listener"] <= entry["hits"] <= 48
    assert reflections["openness_target"]["near"] == pytest.approx(min(4 * reflections["coupling"], 1.0))
    assert found["places"]["pull"] == pytest.approx(1.0, abs=0.01)
    assert found["places"]["apart_degrees"] > 5.0
    sealed = explained(engine_with, room(), (-5.5, 1.7, -3.5), (6.5, 1.6, -1.5), 240)
    assert sealed["muffling"]["decided_by"] == "what is between"
    assert sealed["sends"]["near"]["coupled"] < 0.01 * sealed["sends"]["near"]["sealed"]


def test_without_environment_rays_shared_air_is_guessed(engine_with):
    found = explained(engine_with, room(), (3.5, 1.7, 2.5), (6.5, 1.6, 0.5), 240, settings={"full_count": 0})
    assert found["tier"]["tier"] == "direct"
    assert found["reflections"]["coupling"] is None
    assert found["reflections"]["from"].startswith("guessed")
    for bus, target in found["reflections"]["openness_target"].items():
        assert found["reflections"]["openness"][bus] == pytest.approx(target, abs=0.02)
    assert_gains_agree(found)


def test_water_around_the_listener_is_a_factor_of_its_own(engine_with):
    found = explained(engine_with, wall_world((4, 8), name="water"))
    assert found["muffling"]["water"] == 0.1
    assert_gains_agree(found)


# Echoes.


def canyon():
    world = ea.World.empty(size=(96, 64, 96), origin=(-48, 0, -48))
    world.fill((-48, 0, -48), (48, 1, 48), "grass_block")
    world.fill((-21, 0, -48), (-20, 50, 48), "stone")
    world.fill((20, 0, -48), (21, 50, 48), "oak_planks")
    return world


@pytest.mark.parametrize("speed", [0.0, 15.0])
def test_echoes_have_their_mirrors_and_the_delay_of_their_images(engine_with, speed):
    clips = ea.Clips(RATE)
    clips.add("x", np.ones(4800) * 0.1)
    engine = engine_with(clips, canyon())
    engine.listener.look(position=(6.6, 16.7, -3.8))
    row = engine.spawn("x", position=(5.7, 12.9, -7.3), looping=True, reference=10.0)

    def move(engine, time):
        engine.sources.position[row] = (5.7, 12.9, -7.3 + speed * time)

    play(engine, 3.0, before=move)
    echoes = explain(engine, row)["echoes"]
    assert len(echoes) == 4
    assert {len(echo["mirrors"]) for echo in echoes} == {1, 2}
    walls = {-20.0: ("stone", "+x"), 20.0: ("oak_planks", "-x"), 1.0: ("grass_block", "+y")}
    for echo in echoes:
        # The engine looks up where the source was by the delay of the tick before, v/c ticks off.
        assert echo["expected_delay"] == pytest.approx(echo["delay"], abs=1e-9 + (speed / 343.0) ** 2 * TICK)
        assert echo["strength"] == pytest.approx(math.prod(m["strength"] for m in echo["mirrors"]))
        for mirror in echo["mirrors"]:
            assert (mirror["block"], mirror["faces"]) == walls[mirror["coordinate"]]
            assert mirror["point"]["xyz".index(mirror["axis"])] == pytest.approx(mirror["coordinate"])
    lanes = [echo["lane"] for echo in echoes]
    assert len(set(lanes)) == 4
    assert None not in lanes


def test_an_echo_comes_from_where_its_wall_is(engine_with):
    world = ea.World.empty(size=(96, 64, 96), origin=(-48, -32, -48))
    world.fill((20, -32, -48), (21, 32, 48), "stone")
    (echo,) = explained(engine_with, world, (0.5, 0.5, 0.5), (-1.5, 0.5, 0.5), 90)["echoes"]
    assert echo["direction"]["azimuth"] == pytest.approx(90.0)  # the listener looks north, the wall is east
    assert echo["metres"] == pytest.approx(19.5 + 21.5)
    assert echo["delay"] == pytest.approx(41.0 / 343.0)


# Tiers and turns.


def test_the_tier_is_explained_by_rank(engine_with, clips):
    engine = engine_with(clips, full_count=2, direct_count=4)
    rows = [engine.spawn("tone", position=(3.0 * (k + 1), 0, 0), looping=True) for k in range(6)]
    for _ in range(60):
        engine.tick(TICK)
    tiers = [explain(engine, row)["tier"] for row in rows]
    assert [t["rank"] for t in tiers] == [1, 2, 3, 4, 5, 6]
    assert [t["tier"] for t in tiers] == ["full"] * 2 + ["direct"] * 2 + ["free"] * 2
    assert tiers[2]["why"] == "rank 3 by loudness; the 2 loudest are FULL, up to 4 DIRECT"
    engine.sources.full_within[rows[5]] = 100.0
    engine.tick(TICK)
    assert explain(engine, rows[5])["tier"]["why"] == "it is 18.0 m away, within its full_within of 100 m"
    engine.sources.volume[rows[4]] = 20.0
    engine.tick(TICK)
    waiting = explain(engine, rows[4])["tier"]
    assert (waiting["tier"], waiting["wanted"], waiting["rank"]) == ("free", "full", 1)
    assert waiting["why"] == "FULL has been wanted for 0.02 of 0.5 s; until then it stays FREE"


def test_a_source_without_rays_says_why(engine_with, clips):
    engine = engine_with(clips, reach=100.0, direct_count=1, full_count=1)
    flat = engine.spawn("tone", looping=True)
    near = engine.spawn("tone", position=(3, 0, 0), looping=True)
    far = engine.spawn("tone", position=(200, 0, 0), looping=True)
    faint = engine.spawn("tone", position=(30, 0, 0), looping=True, volume=1e-3)
    music = engine.spawn("tone", position=(30, 0, 0), looping=True, category="music")
    for _ in range(60):
        engine.tick(TICK)
    assert explain(engine, near)["turn"]["why"].startswith("its turn comes in 0.")
    assert explain(engine, far)["turn"]["why"] == "no rays: it is 200 m away, and they reach 100 m"
    assert explain(engine, faint)["turn"]["why"] == "no rays: it is FREE and below -60 dBFS"
    assert explain(engine, flat)["turn"]["why"] == "no rays: it is heard without acoustics"
    assert explain(engine, flat)["tier"]["why"].startswith("it has no position")
    assert explain(engine, music)["tier"]["why"] == "its acoustics are switched off"
    assert explain(engine, near)["ages"]["path"] < 0.2
    assert explain(engine, flat)["ages"]["path"] is None


def test_a_budget_that_is_too_small_is_named(engine_with, clips):
    engine = engine_with(clips, max_rays=1)
    rows = [engine.spawn("tone", position=(3.0 * (k + 1), 0, 0), looping=True) for k in range(8)]
    for _ in range(30):
        engine.tick(TICK)
    turns = [explain(engine, row)["turn"] for row in rows]
    assert any("the budget makes it wait" in turn["why"] for turn in turns)
    assert all(turn["max_rays"] == 1 and turn["deferred"] > 0 for turn in turns)


# Everything else.


@pytest.mark.parametrize("acoustics", ["off", "direct", "reflect", "full"])
def test_an_explanation_is_plain_data_in_every_mode(engine_with, acoustics):
    settings = {"acoustics": acoustics}
    for ticks in (0, 1, 30):
        for options in ({}, {"position": None}, {"position": EAR}, {"volume": 0.0}, {"category": "music"}):
            found = explained(engine_with, room(), ticks=ticks, settings=settings, **options)
            assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["muffling"]["gain_target"] == found["muffling"]["expected_gain"]


def test_a_preset_and_one_path_are_explained(engine_with):
    settings = {"reverb": "hall", "direct_paths": 1, "occlusion_rule": "min"}
    found = explained(engine_with, room(), (-5.5, 1.7, -2.5), (6.5, 1.6, 0.5), 240, settings=settings)
    assert found["room"]["preset"] == "hall"
    assert len(found["bundle"]["paths"]) == 1
    assert difference(found) < 1e-12
    assert_gains_agree(found)


def test_the_voice_and_the_level_are_those_of_the_mix(engine_with, clips):
    engine = engine_with(clips)
    engine.gains["voice"] = 0.5
    row = engine.spawn("tone", position=(0, 0, -4), looping=True, volume=0.8, category="voice", reference=2.0)
    play(engine, 0.5)
    found = explain(engine, row)
    voice, level = found["voice"], found["level"]
    assert (voice["state"], voice["lane"], voice["lane_state"]) == ("playing", 0, "playing")
    assert math.hypot(voice["left"], voice["right"]) == pytest.approx(level["audibility"], rel=1e-6)
    product = level["volume"] * level["distance_gain"] * level["occlusion"] * level["category_gain"]
    assert level["audibility"] == pytest.approx(product)
    assert found["source"]["clip"] == "tone"
    assert found["places"]["delay"] == pytest.approx(4 / 343)
    assert found["places"]["direction"]["azimuth"] == pytest.approx(0.0, abs=1e-9)


def test_the_lanes_of_a_live_engine_are_its_own(engine_with, clips):
    engine = engine_with(clips)
    row = engine.spawn("tone", position=(0, 0, -4), looping=True)
    with ea.Speakers(engine, device="silent"):
        engine.tick(TICK)
        found = explain(engine, row)
    assert found["voice"]["lane"] is None
    assert found["voice"]["left"] == pytest.approx(found["voice"]["right"])
    assert difference(found) < 1e-12


def test_a_dead_source_cannot_be_explained(engine_with, clips):
    engine = engine_with(clips)
    row = engine.spawn("tone", looping=True)
    engine.despawn(row)
    with pytest.raises(ea.DeadRowError):
        explain(engine, row)


# The command.

SCENE = '''"""A tone passes by behind a wall."""
import numpy as np
import ecs_audio as ea

def scenario(*, seconds: float = 1.0, late: bool = False):
    print("building")
    world = ea.World.empty(size=(32, 16, 32), origin=(-16, 0, -16))
    world.fill((2, 0, -16), (3, 16, 16), "stone")
    clips = ea.Clips()
    clips.add("tone", 0.3 * np.sin(np.arange(4800) * 0.1))
    spawns = [
        ea.Spawn("tone", (-5.0, 3.0, 2.0), options={"looping": True}),
        ea.Spawn("tone", lambda t: (6.0, 2.0, 12.0 * (t - 0.5)), name="car", options={"looping": True}),
        ea.Spawn("tone", (-3.0, 2.0, 0.0), at=0.2, until=0.4, name="bell", options={"looping": True}),
    ]
    more = ea.Spawn("tone", (0.0, 2.0, 3.0), name="ghost")
    return ea.Scenario(
        world, clips, seconds, listener=lambda t: ea.Pose((0.0, 2.0, 0.0)), spawns=spawns,
        events=[ea.Event(0.5, lambda stage: stage.spawn(more))] if late else [],
    )
'''


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scene.py").write_text(SCENE, encoding="utf-8")


def run(*arguments, status=0):
    result = CliRunner().invoke(cli, ["run", "scene.py", *arguments])
    assert result.exit_code == status, result.output
    return result


def asked(*arguments):
    return json.loads(run("--no-output", "--json", *arguments).stdout)["explain"]


def test_a_source_is_explained_at_the_time_that_is_asked_for(scene):
    found = asked("--explain", "car", "--at", "0.75")
    assert found["time"] == pytest.approx(0.75)
    assert found["source"]["number"] == 1
    assert found["places"]["position"] == pytest.approx([6.0, 2.0, 3.0])
    assert found["bundle"]["paths"][0]["crossed"][0]["block"] == "stone"
    assert asked("--explain", "1", "--at", "0.75") == found  # by number


def test_else_a_source_is_explained_when_it_is_loudest(scene):
    found = asked("--explain", "car")
    assert found["time"] == pytest.approx(0.5 + 6.0 / 343.0, abs=0.06)
    levels = [asked("--explain", "car", "--at", str(t))["level"]["audibility"] for t in (0.25, 0.75)]
    assert found["level"]["audibility"] > max(levels)


def test_the_explanation_is_printed_and_stands_in_the_summary(scene):
    result = run("--explain", "bell", "--set", "late=yes")
    for words in ("Source 2, tone, at 0.", "FULL: rank", "Direct paths", "Room around the listener", "lane"):
        assert words in result.stdout
    assert "building" not in result.stdout
    summary = json.loads(Path("out/scene.json").read_text(encoding="utf-8"))
    assert summary["explain"]["source"]["number"] == 2
    assert "explain" not in json.loads(run("--json", "--no-output").stdout)


def test_the_table_shows_walls_and_echoes(scene):
    text = run("--no-output", "--explain", "car", "--at", "0.9").stdout
    assert "stone 1." in text
    echoes = run("--no-output", "--explain", "0", "--at", "0.9").stdout
    assert "stone x = 2" in echoes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--explain", "cat"], "there is no source 'cat': names are car, bell, numbers go from 0 to 2"),
        (["--explain", "cat"], "did you mean 'car'?"),
        (["--explain", "3"], "numbers go from 0 to 2"),
        (["--explain", "3", "--set", "late=yes", "--set", "seconds=0.4"], "there is no source '3'"),
        (["--explain", "bell", "--at", "0.6"], "bell is not there at 0.6 s: it lives from 0.20 to 0.38 s"),
        (["--explain", "car", "--at", "1"], "--at 1 is not within the scenario, which lasts 1 s"),
        (["--explain", "car", "--at", "-1"], "--at"),
        (["--at", "0.5"], "--at says when to --explain a source: name one"),
    ],
)  # fmt: skip
def test_wrong_use_of_explain_is_one_sentence(scene, arguments, words):
    result = run("--no-output", *arguments, status=2)
    assert words in result.stderr.splitlines()[-1]


def test_a_source_that_an_event_starts_is_found(scene):
    found = asked("--explain", "ghost", "--set", "late=yes")
    assert found["source"]["number"] == 3
    assert 0.5 <= found["time"] < 0.7
