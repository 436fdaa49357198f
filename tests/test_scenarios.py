"""The shipped scenarios: their checks pass, and fail when what they check is broken."""

import importlib
import inspect
import shutil
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from math import dist, floor
from pathlib import Path

import numpy as np
import pytest

import ecs_audio
from ecs_audio.analysis import band_level_db, level_db
from ecs_audio.perform import engine_for, perform, record, with_settings
from scenarios import _attack, field, raid, wall
from scenarios._clicks import arrival, sharp
from scenarios._feet import rehearsed
from scenarios._story import doors

FOLDER = Path(field.__file__).parent
SHIPPED = sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))
RATE = 48_000


def broken(module, change):
    """The scenario's function with everything it makes changed."""
    return lambda **parameters: change(module.scenario(**parameters))


def with_law(scenario, law):
    return replace(scenario, spawns=[replace(s, options={**s.options, "law": law}) for s in scenario.spawns])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_scenario_says_what_it_is_and_what_it_takes(name):
    module = importlib.import_module(f"scenarios.{name}")
    title = inspect.getdoc(module).splitlines()[0]
    assert title.endswith(".")
    assert len(title) <= 100
    allowed = (
        "int",
        "float",
        "bool",
        "str",
        "str | None",
        "tuple[float, float, float] | None",
        "float | None",
    )
    for parameter in inspect.signature(module.scenario).parameters.values():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.annotation in allowed
        assert parameter.default is not parameter.empty
    assert list(inspect.signature(module.check).parameters) == ["heard"]


@pytest.mark.parametrize(("name", "parameters"), [("field", {}), ("wall", {}), ("raid", {"seconds": 0.5})])
def test_a_scenario_works_as_a_file_of_a_user(name, parameters, tmp_path):
    shutil.copy(FOLDER / f"{name}.py", tmp_path / "mine.py")
    spec = spec_from_file_location("mine", tmp_path / "mine.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.check(record(module.scenario, **parameters))


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (field.scenario, {"what": "choir"}),
        (wall.scenario, {"blocks": 9}),
        (raid.scenario, {"sources": 0}),
        (raid.scenario, {"only": "drones,violins"}),
        (raid.scenario, {"sounds": "no/such/folder"}),
    ],
)
def test_wrong_parameters_are_refused(make, parameters):
    with pytest.raises(ValueError, match=str(next(iter(parameters.values())))[:7].split(",")[0]):
        make(**parameters)


class TestField:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, delay=False), "arrives at frame"),
            (lambda s: with_settings(s, speed_of_sound=340.0), "arrives at frame"),
            (lambda s: with_law(s, "soft_inverse"), "the tone falls by"),
            (lambda s: with_law(s, "linear"), "the tone falls by"),
            (lambda s: replace(s, spawns=[]), "not heard at all"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        make = broken(field, change)
        with pytest.raises(AssertionError, match=complaint):
            field.check(record(make, what="clap"))

    def test_the_fade_of_the_law_fails_where_it_is_not_put_off(self):
        with pytest.raises(AssertionError, match="the tone falls by"):
            field.check_doublings(record(field.scenario, what="doubling", fade_start=1.0))

    def test_ground_fails_because_it_answers(self):
        def on_ground(scenario):
            scenario.world.fill((-320, 0, -320), (320, 1, 320), "stone")
            return scenario

        heard = record(broken(field, on_ground), what="doubling")
        with pytest.raises(AssertionError, match=r"from 1 to 2 m the tone falls by 7\.[0-9]"):
            field.check_doublings(heard)
        with pytest.raises(AssertionError, match="taps reaches 1"):
            field.check_silence(heard)

    def test_a_room_fails(self):
        with pytest.raises(AssertionError, match="reverbs reaches 1"):
            field.check_silence(record(broken(field, lambda s: with_settings(s, reverb="hall")), seconds=1.0))

    @pytest.mark.parametrize(("lag", "share"), [(0.006, 0.05), (0.05, 0.05), (0.7, 0.001)])
    def test_an_echo_fails(self, lag, share):
        heard = record(field.scenario, what="clap", distance=50.0, air=False)
        field.check_clap(heard)
        late = np.roll(heard.samples, round(lag * heard.rate), axis=0)
        with pytest.raises(AssertionError, match=r"are left|comes back"):
            field.check_clap(replace(heard, samples=heard.samples + np.float32(share) * late))


class TestWall:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, occlusion=False), "1 block.* 500 Hz is at 0.00 dB"),
            (lambda s: with_settings(s, acoustics="off"), "1 block.* 500 Hz is at 0.00 dB"),
            (lambda s: with_settings(s, occlusion_time=1.0), "after the wall is broken"),
            (lambda s: replace(s, events=[]), "after the wall is broken"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            wall.check(record(broken(wall, change)))

    @pytest.mark.parametrize("material", ["white_wool", "glass", "stone_slab"])
    def test_another_material_fails(self, material):
        with pytest.raises(AssertionError, match="1 block"):
            wall.check(record(wall.scenario, material=material))


@pytest.fixture(scope="module")
def short():
    """Six seconds of the raid."""
    return record(raid.scenario, seconds=6.0)


class TestRaid:
    def test_its_beginning_passes(self, short):
        raid.check(short)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(4))
    def test_the_whole_passes(self, seed):
        raid.check(record(raid.scenario, seed=seed))

    @pytest.mark.slow
    @pytest.mark.parametrize("sources", [1, 10, 400])
    def test_other_numbers_of_sources_pass(self, sources):
        raid.check(record(raid.scenario, sources=sources, seconds=10.0))

    def test_few_rays_still_keep_every_path_fresh(self):
        make = broken(raid, lambda s: with_settings(s, max_rays=128))
        raid.check_budgets(record(make, seconds=4.0))

    @pytest.mark.parametrize("name", ["mca_1.21.1_r.0.0.mca", "sponge_v2_smallhouse1.schem"])
    def test_it_passes_over_a_real_world_with_real_recordings(self, name, shared_data):
        world, sounds = shared_data / "worlds" / name, shared_data / "audio"
        if not (world.is_file() and sounds.is_dir()):
            pytest.skip(f"no {world} or no {sounds}")
        heard = record(raid.scenario, world=str(world), sounds=str(sounds), seconds=5.0)
        raid.check(heard)
        clips = heard.scenario.clips
        assert {"tnt_explode", "ambi_drone", "blanket_wind_CC0"} <= set(clips.names)
        assert "rotor 0" not in clips

    def test_the_same_seed_is_the_same_raid_and_another_is_not(self, short):
        one, two, other = (record(raid.scenario, seconds=1.0, seed=seed) for seed in (0, 0, 1))
        assert one.sha256 == two.sha256 != other.sha256
        assert np.array_equal(short.samples[: len(one.samples)], one.samples)

    def test_a_single_role_can_be_listened_to(self):
        heard = record(raid.scenario, only="drones, wind", seconds=0.5)
        assert {spawn.clip for spawn in heard.scenario.spawns if spawn.options["volume"] > 0.0} == {
            "rotor 0",
            "rotor 1",
            "wind 0",
        }

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda x: np.where(np.arange(len(x))[:, None] == 70_000, np.nan, x), "NaN"),
            (np.zeros_like, "silent"),
            (lambda x: 8.0 * x, "must stay below"),
            (lambda x: 0.3 * x, "LUFS"),
        ],
    )
    def test_broken_sound_fails(self, short, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            raid.check_sound(replace(short, samples=change(short.samples).astype(np.float32)))

    @pytest.mark.parametrize(
        ("column", "value", "complaint"),
        [
            ("rays", 2049, "the budget is 2048"),
            ("cells", 90_000, "the budget is 50000"),
            ("oldest_age", 2.1, "at most 2 s"),
            ("oldest_environment", 10.1, "at most 10 s"),
            ("sources", 60, "60 sources live"),
        ],
    )
    def test_a_broken_budget_fails(self, short, column, value, complaint):
        rows = [
            row | {column: value} if column == "sources" or k == 99 else row
            for k, row in enumerate(short.rows)
        ]
        with pytest.raises(AssertionError, match=complaint):
            raid.check_budgets(replace(short, rows=rows))

    def test_a_busy_limiter_fails(self, short):
        rows = [row | {"limiter_gain": 0.9} if k % 20 == 0 else row for k, row in enumerate(short.rows)]
        with pytest.raises(AssertionError, match="limiter"):
            raid.check_sound(replace(short, rows=rows))

    def test_walls_that_hold_fail(self, short, monkeypatch):
        monkeypatch.setattr(ecs_audio.World, "carve", lambda *place: None)
        heard = record(raid.scenario, seconds=2.0)
        with pytest.raises(AssertionError, match="has not taken in the edit"):
            raid.check_walls(heard)
        standing = replace(short.scenario, world=raid.scenario(seconds=6.0).world)
        with pytest.raises(AssertionError, match="should have broken"):
            raid.check_walls(replace(short, scenario=standing))

    @pytest.mark.parametrize(
        "change",
        [
            lambda spawn: replace(spawn, on_hit=None),  # duds
            lambda spawn: replace(spawn, body=None),  # on rails, through what is in the way
            lambda spawn: replace(spawn, body={**spawn.body, "velocity": 0.8 * spawn.body["velocity"]}),
            lambda spawn: replace(spawn, body={**spawn.body, "gravity": 15.0}),
        ],
    )
    def test_missiles_that_do_not_hit_as_they_should_fail(self, change):
        def other(scenario):
            return replace(scenario, spawns=[change(s) if s.body else s for s in scenario.spawns])

        heard = record(broken(raid, other), seconds=2.0, only="missiles")
        with pytest.raises(AssertionError, match="the missile due at"):
            raid.check_hits(heard)

    def test_its_missiles_explode_where_they_hit_and_debris_falls_from_there(self, short):
        facts = short.scenario.facts
        blasts, bounces = facts["blasts"].rows.tolist(), facts["bounces"].rows.tolist()
        assert len(blasts) >= 5
        for at, *place in blasts:
            assert min(dist(place, end) for _, end in facts["due"]) < 1.0
            near = [where for t, *where in bounces if at < t < at + 2.5 and dist(where, place) < 15.0]
            assert at > 4.0 or len(near) >= 2
        assert short.rows[-1]["sources"] < 120

    def test_its_listener_walks_and_is_where_the_story_has_it(self, short):
        facts = short.scenario.facts
        assert facts["carried"] == ""
        assert facts["walk"].complaint(0.2) == ""
        assert dist(facts["walk"].feet(0.0), facts["walk"].feet(6.0)) > 6.0

    def test_a_listener_who_hardly_moves_fails(self):
        def still(scenario):
            walker = replace(scenario.walker, options={**scenario.walker.options, "walk_speed": 0.1})
            return replace(scenario, walker=walker)

        heard = record(broken(raid, still), seconds=4.0, only="wind")
        with pytest.raises(AssertionError, match="off the path"):
            raid.check_walk(heard)

    def test_where_the_listener_cannot_walk_it_goes_as_on_rails(self, monkeypatch):
        monkeypatch.setattr(raid.Walk, "complaint", lambda *most: "it cannot be walked")
        heard = record(raid.scenario, seconds=2.0)
        assert heard.scenario.walker is None
        assert heard.scenario.facts["carried"] == "it cannot be walked"
        raid.check_walk(heard)
        raid.check_rooms(heard)
        raid.explain_clicks(heard)

    def test_a_wall_across_the_way_cannot_be_walked_through(self):
        scenario = raid.scenario(seconds=1.0)
        plan, world, site = scenario.facts["walk"].plan, scenario.world, raid.own_site(0)
        going, arrives = raid.story(site, 1.0)[0], scenario.facts["arrives"]

        def complaint(events):
            return rehearsed(world, plan, arrives + 1.0, events).complaint(raid.ASTRAY)

        assert complaint(doors(site, going)) == ""
        assert "off the path" in complaint([])  # the door is shut again
        x, y, z = (floor(a) for a in plan(5.0))
        world.fill((x - 4, y, z - 4), (x + 5, y + 3, z + 5), "stone")
        assert complaint(doors(site, going)) != ""

    def test_every_click_fails(self):
        heard = record(raid.scenario, seconds=6.0, tones=True)
        raid.explain_clicks(heard)
        rng = np.random.Generator(np.random.PCG64(5))
        reasons = np.array([arrival(heard, at, where) for at, where in sharp(heard)])
        # Also where shots of a burst add up to a tone of 0.8, whose own bends exceed 0.0003.
        bends = np.abs(np.diff(heard.samples[:, 0].astype(float), n=2))
        loud = np.argsort(bends[: 4800 * 59].reshape(-1, 480).max(axis=1))[-20:] / 100.0 + 0.005
        moments = [*rng.uniform(0.7, 5.9, 60), *loud]
        times = [t for t in moments if 0.7 < t < 5.9 and np.abs(reasons - t).min() > 0.007]
        assert len(times) > 55
        for time in times:
            samples = heard.samples.copy()
            samples[round(time * RATE) :, 0] += 0.001  # a jump, as when a gain steps
            with pytest.raises(AssertionError, match="a click at"):
                raid.explain_clicks(replace(heard, samples=samples))

    @pytest.mark.parametrize(("reverberation", "jump"), [(True, None), (False, 0.1)])
    @pytest.mark.parametrize("seed", range(2))
    def test_a_jump_among_noise_and_bangs_fails_if_it_is_large(self, reverberation, jump, seed):
        """Large by what is usual there, as reverb makes noise of every bang; without it a tenth is enough."""
        make = broken(raid, lambda s: with_settings(s, reverberation=reverberation))
        heard = record(make, seconds=6.0)
        raid.explain_clicks(heard)
        reasons = np.array([arrival(heard, at, where) for at, where in sharp(heard)])
        rng = np.random.Generator(np.random.PCG64(seed))
        time = next(t for t in rng.uniform(0.7, 5.9, 99) if np.abs(reasons - t).min() > 0.05)
        samples = heard.samples.copy()
        first = round(time * RATE)
        bends = np.abs(np.diff(samples[first - 400 : first + 400].astype(float), n=2, axis=0))
        samples[first:] += jump or 11.0 * np.percentile(bends, 90.0)
        with pytest.raises(AssertionError, match="a click at"):
            raid.explain_clicks(replace(heard, samples=samples))

    def test_what_it_forgets_in_a_very_long_run_is_not_held_against_it(self, monkeypatch):
        monkeypatch.setattr(_attack, "KEPT", 2)
        heard = record(raid.scenario, seconds=4.0)
        blasts = heard.scenario.facts["blasts"]
        assert blasts.count > len(blasts.rows) == 2
        assert blasts.since == blasts.rows[0, 0] > 1.0
        raid.check_hits(heard)
        raid.check_walls(heard)
        raid.explain_clicks(heard)

    def test_in_twenty_seconds_it_forgets_nothing(self):
        """A hundred sources make 5 notes a second of their bounces: those go back 56 minutes."""
        heard = record(raid.scenario, seconds=20.0, only="missiles,debris")
        for kind in ("blasts", "bounces", "holes"):
            notes = heard.scenario.facts[kind]
            assert 8 < notes.count == len(notes.rows) < _attack.KEPT / 100
            assert notes.since == -np.inf

    def test_chance_without_the_seed_fails(self):
        seeds = iter(range(9))
        heard = record(lambda **p: raid.scenario(**p | {"seed": next(seeds)}), seconds=0.5)
        with pytest.raises(AssertionError, match="have the hash"):
            raid.check_again(heard)


class TestWhatIsHeardInTheRaid:
    """What the scenario tells, measured on some of its sources alone."""

    def test_a_drone_passes_overhead_and_drops_in_pitch(self):
        heard = record(raid.scenario, only="drones", seconds=7.0)
        engine, passing = engine_for(raid.scenario(only="drones", seconds=7.0)), []
        with engine:
            for _ in perform(raid.scenario(only="drones", seconds=7.0), engine, watch=_first_source(passing)):
                pass
        distance = np.array([row[0] for row in passing])
        closest = int(np.argmin(distance))
        assert 3.5 < closest / 60 < 4.5
        assert distance[closest] < 20.0
        # Its speed towards the listener shifts the pitch by 4 % and more, first up and then down.
        speed = np.diff([row[1] for row in passing], prepend=np.nan)
        assert np.nanmax(speed[closest - 90 : closest]) > 1.03 * 800 * passing[0][2]
        assert np.nanmin(speed[closest : closest + 90]) < 0.97 * 800 * passing[0][2]
        loud = [level_db(heard.samples[k * RATE // 2 : (k + 1) * RATE // 2]) for k in range(2, 14)]
        assert 5 <= int(np.argmax(loud)) + 2 <= 10

    def test_indoors_is_muffled_until_the_wall_is_broken(self):
        heard = record(raid.scenario, only="engines,drones", seconds=16.0)
        arrives, breaks = heard.scenario.facts["arrives"], heard.scenario.facts["wall_at"]

        def level(start, end, low, high):
            samples = heard.samples[round(start * RATE) : round(end * RATE)].sum(axis=1)
            return band_level_db(samples, low, high, RATE)

        outdoors, indoors, after = (2.0, arrives - 2.0), (arrives + 0.5, breaks - 0.1), (breaks + 1.0, 15.9)
        assert level(*indoors, 3000, 10_000) < level(*outdoors, 3000, 10_000) - 20.0
        assert level(*indoors, 100, 500) < level(*outdoors, 100, 500) - 3.0
        assert level(*after, 2000, 8000) > level(*indoors, 2000, 8000) + 6.0


def _first_source(notes):
    def watch(stage, telemetry):
        sources = stage.engine.sources
        notes.append((float(sources.distance[0]), float(sources.heard_clock[0]), float(sources.pitch[0])))

    return watch
