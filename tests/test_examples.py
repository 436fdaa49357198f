"""The examples run as a newcomer would run them, only shorter and without a sound card."""

import math
import runpy
import sys
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import esper
import numpy as np
import pytest
import soundfile
from conftest import FRAMES, RATE, TICK

import ecs_audio as ea
from ecs_audio.analysis import band_level_db, level_db


@cache
def example(name):
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "examples" / f"{name}.py")))


def recorded(path):
    heard, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE
    return heard


def part(heard, start, end):
    return heard[round(start * RATE) : round(end * RATE)]


# loop.py


def test_the_loop_prints_a_line_a_second_and_the_broken_wall_is_heard(tmp_path, capsys):
    example("loop").main(seconds=3.05, break_at=1.5, device="silent", record=tmp_path / "loop.wav")
    lines = [line for line in capsys.readouterr().out.splitlines() if "transmission" in line]
    through = [float(line.split("transmission ")[1].split()[0]) for line in lines]
    assert len(through) == 4
    assert max(through[:2]) < 0.1
    assert min(through[2:]) > 0.9
    heard = recorded(tmp_path / "loop.wav").sum(axis=1)
    assert len(heard) > 2.5 * RATE
    bright = [band_level_db(part(heard, *span), 3000, 20_000, RATE) for span in ((0.5, 1.2), (2.1, 2.8))]
    assert bright[1] > bright[0] + 15.0


@pytest.fixture
def sleepy(monkeypatch):
    """The loop's clock over a time of our own, in which every sleep takes 1 ms too long."""
    clock, now = example("loop").clock, SimpleNamespace(time=100.0)

    def sleep(seconds):
        now.time += seconds + 0.001

    monkeypatch.setitem(clock.__globals__, "perf_counter", lambda: now.time)
    monkeypatch.setitem(clock.__globals__, "sleep", sleep)
    return clock, now


def test_the_clock_of_the_loop_does_not_drift(sleepy):
    clock, now = sleepy
    for tick, time in enumerate(islice(clock(60), 600)):
        assert time == tick / 60
        assert 0.0 <= now.time - 100.0 - time < 0.0011


def test_the_clock_of_the_loop_makes_up_for_a_late_tick_and_not_for_a_stall(sleepy):
    clock, now = sleepy
    ticks = clock(100)
    next(ticks)
    now.time += 0.1
    assert next(islice(ticks, 20, None)) == 0.21
    assert now.time == pytest.approx(100.21, abs=0.0011)
    now.time += 5.0
    assert next(islice(ticks, 20, None)) == 0.42
    assert now.time == pytest.approx(105.41, abs=0.0021)


# town.py


@pytest.fixture
def town(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = pytest.importorskip("pygame", reason="the town needs pygame-ce")
    yield example("town")
    assert pygame.mixer.get_init() is None, "pygame has opened the sound card"
    pygame.display.quit()


@pytest.fixture
def street(town):
    """The town's engine with a listener on the street and a single drone in the house beside it."""
    clips = ea.Clips()
    for name in ("rotor", "shot", "blast"):
        clips.synthesize(name)
    with ea.Engine(town.build(), clips) as engine:
        engine.listener.look(position=(32.5, town.EARS, 42.5), forward=(0, 0, -1))
        drone = engine.spawn("rotor", position=(42.5, 2.5, 42.5), looping=True)
        yield engine, drone


def event(town, kind, **values):
    return town.pygame.event.Event(kind, **values)


def test_the_town_is_seen_and_heard(town, tmp_path):
    town.main(seconds=1.2, device="silent", record=tmp_path / "town.wav", picture=tmp_path / "town.png")
    seen = town.pygame.surfarray.array3d(town.pygame.image.load(tmp_path / "town.png")).astype(int)
    edge = town.EDGE * town.PIXELS
    assert seen.shape == (edge, edge + town.BAR, 3)
    red, green, blue = np.moveaxis(seen[:, :edge], 2, 0)
    assert 0.3 < np.mean((green > red + 20) & (green > blue + 20)) < 0.7  # the meadow
    assert 0.05 < np.mean((abs(red - green) < 12) & (abs(green - blue) < 12)) < 0.4  # streets and walls
    assert 0.01 < np.mean((blue > red + 50) & (blue > green + 50)) < 0.03  # the pond
    assert np.sum((red > 245) & (green > 245) & (blue > 245)) > 100  # the listener
    assert np.any(seen[:, edge:] > 200)  # the line of text
    heard = recorded(tmp_path / "town.wav")
    assert level_db(part(heard, 0.4, 1.0)) > -50.0
    assert np.abs(heard).max() < 1.0


def test_closing_the_window_of_the_town_ends_it(town):
    town.pygame.display.init()
    town.pygame.event.post(event(town, town.pygame.QUIT))
    town.main(seconds=600.0, device="silent")


def test_a_click_in_the_town_breaks_a_wall_and_the_map_shows_it(town, street):
    engine, drone = street
    before = town.pygame.surfarray.array3d(town.paint(engine.world))
    engine.tick(TICK)
    assert engine.sources.transmission[drone] < 0.1
    pixel = (37.5 * town.PIXELS, 42.5 * town.PIXELS)
    town.react(engine, event(town, town.pygame.MOUSEBUTTONDOWN, pos=pixel, button=1), set())
    engine.tick(TICK)
    assert engine.world.material((37, 2, 42)) == "air"
    assert engine.sources.transmission[drone] == 1.0
    changed = np.any(town.pygame.surfarray.array3d(town.paint(engine.world)) != before, axis=2)
    columns = changed.reshape(town.EDGE, town.PIXELS, town.EDGE, town.PIXELS).any(axis=(1, 3))
    assert columns[37, 42]
    assert columns.sum() <= 12


def test_a_drone_in_the_town_is_red_behind_a_wall_and_green_without_one(town, street):
    engine, drone = street
    screen = town.pygame.Surface((town.EDGE * town.PIXELS, town.EDGE * town.PIXELS + town.BAR))
    colours = []
    for _ in range(2):
        engine.tick(TICK)
        town.draw(screen, town.paint(engine.world), engine, [drone])
        colours.append(screen.get_at((round(42.5 * town.PIXELS), round(42.5 * town.PIXELS))))
        engine.world.carve((37.5, 2.5, 42.5), radius=3.0)
    assert colours[0].r > 220 > 100 > colours[0].g
    assert colours[1].g > 220 > 130 > colours[1].r


def test_the_space_bar_of_the_town_shoots_and_its_walls_stop_who_walks(town, street):
    engine, _ = street
    held = set()
    town.react(engine, event(town, town.pygame.KEYDOWN, key=town.pygame.K_SPACE), held)
    assert engine.sources.count == 2
    town.react(engine, event(town, town.pygame.KEYUP, key=town.pygame.K_SPACE), held)
    for key in (town.pygame.K_d, town.pygame.K_UP):
        town.react(engine, event(town, town.pygame.KEYDOWN, key=key), held)
    for _ in range(75):
        town.walk(engine, held, 1 / 60)
    x, y, z = engine.listener.position
    assert x == pytest.approx(36.97, abs=0.04)  # stopped at the wall
    assert z == pytest.approx(42.5 - 75 / 60 * town.PACE)  # and went on beside it
    assert y == town.EARS
    town.walk(engine, {town.pygame.K_e}, math.pi / 2 / town.TURN)
    assert engine.listener.forward == pytest.approx((1, 0, 0), abs=1e-9)
    town.react(engine, event(town, town.pygame.MOUSEMOTION, pos=(x * town.PIXELS, 0)), held)
    assert engine.listener.forward == pytest.approx((0, 0, -1), abs=1e-2)


# esper_host.py


@pytest.fixture
def fireworks():
    esper.switch_world("test fireworks")
    host = example("esper_host")
    with ea.Engine(*host.field()) as engine:
        engine.listener.look(position=(64.0, 2.6, 90.0), forward=(0.0, 0.0, -1.0))
        host.set_up(engine)
        yield host, engine
    esper.switch_world("default")
    esper.delete_world("test fireworks")


def process(engine, seconds):
    blocks = []
    for _ in range(round(seconds / TICK)):
        esper.process(TICK)
        blocks.append(engine.render(FRAMES).copy())
    return np.concatenate(blocks)


def test_sounds_are_where_the_hosts_entities_are(fireworks):
    host, engine = fireworks
    process(engine, 2.5)
    found = esper.get_components(host.Position, ea.Source)
    assert len(found) == engine.sources.count > host.SPARKS
    for _, (position, source) in found:
        assert tuple(engine.sources.position[source]) == (position.x, position.y, position.z)


def test_a_rocket_falls_silent_when_the_host_deletes_it_and_the_bang_is_heard(fireworks):
    host, engine = fireworks
    rising = process(engine, host.FUSE - 2 * TICK)
    rockets = [source for _, (_, source) in esper.get_components(host.Rocket, ea.Source)]
    assert len(rockets) == 3
    banging = process(engine, 0.6)
    assert [rocket.alive for rocket in rockets] == [False, True, True]
    assert level_db(part(rising, 0.5, 1.5)) > -60.0
    assert level_db(part(banging, 0.2, 0.6)) > level_db(part(rising, 0.5, 1.5)) + 6.0


def test_when_the_host_deletes_all_its_entities_nothing_sounds_any_more(fireworks):
    host, engine = fireworks
    before = process(engine, 2.0)
    esper.remove_processor(host.Fireworks)
    for entity in esper.get_entities():
        esper.delete_entity(entity)
    process(engine, TICK)
    assert engine.sources.count == 0
    process(engine, 2.0)  # until the reverberation has died away
    assert level_db(process(engine, 0.2)) < level_db(before[-RATE:]) - 30.0


def test_fireworks_are_heard_and_leave_the_hosts_worlds_as_they_were(tmp_path):
    worlds = set(esper.list_worlds())
    example("esper_host").main(seconds=1.5, device="silent", record=tmp_path / "fireworks.wav")
    assert esper.current_world == "default"
    assert set(esper.list_worlds()) == worlds
    assert level_db(part(recorded(tmp_path / "fireworks.wav"), 0.6, 1.2)) > -60.0


# gym_env.py


@pytest.fixture
def gym():
    return pytest.importorskip("gymnasium", reason="the environment needs gymnasium")


@pytest.fixture
def env(gym):
    made = gym.make(example("gym_env").ID)
    yield made
    made.close()


def test_the_environment_is_as_gymnasium_wants_it(env):
    from gymnasium.utils.env_checker import check_env

    check_env(env.unwrapped)  # warnings are errors here


def test_an_environment_is_the_same_to_the_bit_for_the_same_seed_and_another_for_another(env):
    def heard(seed):
        blocks = [env.reset(seed=seed)[0]]
        blocks += [env.step(action)[0] for action in np.random.default_rng(1).integers(3, size=30)]
        return np.stack(blocks)

    first = heard(5)
    assert first.dtype == np.float32
    assert first.shape == (31, *env.observation_space.shape)
    assert np.abs(first).max() <= 1.0
    assert all(np.any(block) for block in first)
    other = heard(6)
    assert np.array_equal(heard(5), first)
    assert not np.array_equal(other, first)


def test_walking_nearer_is_the_reward_and_walls_stop_the_agent(env):
    agent, module = env.unwrapped, example("gym_env")
    env.reset(seed=0)
    start, earned = agent.distance, 0.0
    for action in [module.AHEAD] * 60:
        before = agent.place
        _, reward, there, _, info = env.step(action)
        earned += reward - 10.0 * there
        assert info["distance"] == agent.distance
        assert np.linalg.norm(agent.place - before) == pytest.approx(module.STRIDE) or reward == 0.0
    assert earned == pytest.approx(start - agent.distance)
    assert reward == 0.0  # sixty steps are 30 m: a wall has come by now
    assert np.all((agent.place > 1.0) & (agent.place < module.EDGE - 1.0))


def test_the_louder_ear_leads_to_the_source_and_chance_does_not(env):
    module = example("gym_env")
    earned = {
        p: [module.episode(env, p, seed) for seed in range(8)] for p in (module.by_ear, module.at_random)
    }
    by_ear, at_random = (np.array(values) for values in earned.values())
    assert np.sum(by_ear > 10.0) >= 6  # it has arrived
    assert not np.any(at_random > 10.0)
    assert by_ear.mean() > at_random.mean() + 12.0


# notebook.py


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    return example("notebook")


def levels(x):
    """In each of 16 parts [dBFS]."""
    return np.array([level_db(quarter) for quarter in np.split(x, 16)])


def test_the_fly_by_of_the_notebook_comes_and_goes(notebook):
    heard = notebook.heard
    assert heard.shape == (round(notebook.SECONDS * notebook.RATE), 2)
    assert heard.dtype == np.float32
    both, left, right = levels(heard), levels(heard[:, 0]), levels(heard[:, 1])
    assert both.argmax() in (7, 8)
    assert np.all(np.diff(both[:8]) > 0.0)
    assert np.all(np.diff(both[8:]) < 0.0)
    assert np.all(right[:7] > left[:7] + 10.0)
    assert np.all(left[9:] > right[9:] + 5.0)


@pytest.mark.parametrize(("name", "at"), [("coming", 0.7), ("going", 3.3)])
def test_the_notebook_finds_the_doppler_shift_by_the_true_time_of_emission(notebook, name, at):
    emitted = at
    for _ in range(20):
        along = notebook.SPEED * (emitted - notebook.SECONDS / 2.0)
        emitted = at - math.hypot(along, notebook.ASIDE) / 343.0
    towards = -notebook.SPEED * along / math.hypot(along, notebook.ASIDE)
    assert notebook.doppler[name] == pytest.approx(notebook.TONE * 343.0 / (343.0 - towards), rel=2e-4)
