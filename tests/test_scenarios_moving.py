"""flyby, voices and town: their checks pass, and fail when what they check is broken."""

from dataclasses import replace

import numpy as np
import pytest

import ecs_audio as ea
import ecs_audio.clips.bank
from ecs_audio.perform import Recording, record, with_settings
from scenarios import flyby, town, voices
from scenarios._missile import SOUND, Passing
from scenarios._turns import Request, turns_at

RATE = 48_000


@pytest.fixture(scope="module")
def recorded():
    """`record`, which performs the same only once, for `Recording.again` as well: it is always the same."""
    known = {}

    def once(make, **parameters):
        key = (make, tuple(sorted(parameters.items())))
        if key not in known:
            known[key] = record(make, **parameters)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recording, "again", lambda self, **new: once(self.make, **(self.parameters | new)))
        yield once


def broken(module, change, **parameters):
    """A recording of the scenario with everything it makes changed."""
    return record(lambda **given: change(module.scenario(**given)), **parameters)


def with_jump(heard, time, height):
    samples = heard.samples.copy()
    samples[round(time * RATE) :] += np.float32(height)
    return replace(heard, samples=samples)


class TestFlyby:
    def test_it_passes(self, recorded):
        flyby.check(recorded(flyby.scenario))

    def test_a_ratio_is_c_by_c_minus_v_and_a_shock_comes_first(self):
        slow, fast = (Passing(speed, 5.0, 28.0, 450.0) for speed in flyby.SPEEDS)
        assert slow.ratio(slow.begins()) == pytest.approx(SOUND / (SOUND - 200.0), rel=0.003)
        assert slow.ratio(slow.arrival(0.0)) == pytest.approx(1.0)
        assert slow.ratio(slow.ends()) == pytest.approx(SOUND / (SOUND + 200.0), rel=0.003)
        times = [fast.arrival(x) for x in np.arange(-450.0, 450.0, 0.01)]
        assert fast.begins() == pytest.approx(min(times), abs=1e-6)
        assert fast.ratio(fast.begins() - 1e-3) == np.inf
        assert fast.ratio(fast.ends()) == pytest.approx(1.0 / 2.2, rel=0.003)

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"delay": False}, "the ratio is 1.0"),
            ({"speed_of_sound": 338.0}, "the ratio is"),
            ({"teleport": 1.0}, "the ratio is"),
        ],
    )
    def test_another_doppler_fails(self, change, complaint):
        heard = broken(flyby, lambda s: with_settings(s, **change), what="tone")
        with pytest.raises(AssertionError, match=complaint):
            flyby.check_doppler(heard)

    @pytest.mark.parametrize("share", [0.96, 1.04])
    def test_missiles_of_another_speed_fail(self, share):
        def change(scenario):
            speeds = [share * s.body["velocity"][0] for s in scenario.spawns]
            bodies = [
                s.body | {"velocity": (v, 0.0, 0.0)} for s, v in zip(scenario.spawns, speeds, strict=True)
            ]
            pairs = zip(scenario.spawns, bodies, strict=True)
            return replace(scenario, spawns=[replace(s, body=body) for s, body in pairs])

        with pytest.raises(AssertionError, match="the ratio is"):
            flyby.check_doppler(broken(flyby, change, what="tone"))

    @pytest.mark.parametrize("change", [{"delay": False}, {"speed_of_sound": 405.0}])
    def test_a_supersonic_missile_that_is_heard_too_early_fails(self, change):
        heard = broken(flyby, lambda s: with_settings(s, **change), what="tone")
        with pytest.raises(AssertionError, match="when it can be heard first, there are"):
            flyby.check_arrival(heard)

    def test_one_that_is_heard_too_late_fails(self, recorded):
        heard = recorded(flyby.scenario, what="tone")
        late = np.roll(heard.samples, round(0.05 * RATE), axis=0)
        with pytest.raises(AssertionError, match="after its arrival"):
            flyby.check_arrival(replace(heard, samples=late))

    def test_swapped_ears_fail(self, recorded):
        heard = recorded(flyby.scenario)
        with pytest.raises(AssertionError, match="the left ear hears"):
            flyby.check_sides(replace(heard, samples=heard.samples[:, ::-1]))

    @pytest.mark.parametrize("time", [1.9, 3.1, 7.95])
    def test_a_click_fails(self, time, recorded):
        heard = recorded(flyby.scenario, what="tone")
        with pytest.raises(AssertionError, match=f"1 click.*at {time:.2f}"):
            flyby.check_clicks(with_jump(heard, time, 0.2))

    def test_straight_lines_between_samples_fail(self):
        heard = broken(flyby, lambda s: with_settings(s, interpolation="linear"), what="noise", air=False)
        with pytest.raises(AssertionError, match="are not its bands"):
            flyby.check_bands(heard)

    def test_a_clip_that_folds_fails(self, monkeypatch):
        monkeypatch.setattr(ecs_audio.clips.bank, "COPIED_SECONDS", 0.0)
        with pytest.raises(AssertionError, match="dBFS of its hiss are heard"):
            flyby.check_folding(record(flyby.scenario, what="hiss", air=False))

    def test_silence_fails(self, recorded):
        heard = recorded(flyby.scenario, what="tone")
        with pytest.raises(AssertionError, match="is heard for 0"):
            flyby.check_doppler(replace(heard, samples=np.zeros_like(heard.samples)))


class TestVoices:
    def test_it_passes(self, recorded):
        voices.check(recorded(voices.scenario))

    @pytest.mark.parametrize("parameters", [{"voices": 8, "seed": 3}, {"requests": 70, "voices": 200}])
    def test_it_passes_with_other_numbers(self, parameters):
        voices.check(record(voices.scenario, **parameters))

    def test_everything_happens_in_it(self, recorded):
        heard = recorded(voices.scenario)
        rounds = [voices._due(heard, number) for number in range(8)]
        assert len(rounds[-1].playing) == 64
        assert len(rounds[-1].waiting) > 64
        assert min(rounds[-1].refused, rounds[-1].stolen) > 30
        assert sum(len(turns.back) for turns in rounds) > 30

    def test_the_rules(self):
        asked = [Request(0.1 * k, priority, False) for k, priority in enumerate((3, 3, 3, 3, 4))]
        assert turns_at(asked, 3, 0.35) == ({0, 1, 2}, set(), set(), 1, 0)
        assert turns_at(asked, 3, 1.0) == ({1, 2, 4}, set(), set(), 1, 1)
        asked = [Request(0.0, 1, True), Request(0.1, 2, False, ends=0.5), Request(0.2, 0, True, hushed=0.0)]
        assert turns_at(asked, 1, 0.4) == ({1}, {0, 2}, set(), 0, 0)
        assert turns_at(asked, 1, 0.5) == ({0}, {2}, {0}, 0, 0)

    @pytest.mark.parametrize("most", [63, 65])
    def test_another_number_of_voices_fails(self, most):
        heard = broken(voices, lambda s: with_settings(s, max_voices=most), requests=200)
        with pytest.raises(AssertionError, match="of its level"):
            voices.check_sound(heard)
        with pytest.raises(AssertionError, match="are due"):
            voices.check_counts(heard)

    @pytest.mark.parametrize(
        ("option", "plays"),
        [({"priority": 999}, False), ({"priority": -999}, True), ({"volume": 0.01}, True)],
    )
    def test_one_of_another_priority_or_level_fails(self, option, plays):
        scenario = voices.scenario(requests=150)
        playing = turns_at(scenario.facts["requests"], 64, scenario.seconds - 0.1).playing
        other = next(k for k in range(149, 0, -1) if (k in playing) == plays)

        def change(scenario):
            spawns = list(scenario.spawns)
            spawns[other] = replace(spawns[other], options={**spawns[other].options, **option})
            return replace(scenario, spawns=spawns)

        with pytest.raises(AssertionError, match="of its level"):
            voices.check_sound(broken(voices, change, requests=150))

    def test_a_loop_out_of_phase_fails(self, recorded):
        heard = recorded(voices.scenario)
        later = heard.samples.copy()
        half = round(3 * voices.ROUND * RATE)
        later[half:] = later[half - 1 : -1]  # a frame is 6 to 12 degrees
        with pytest.raises(AssertionError, match="out of phase"):
            voices.check_phase(replace(heard, samples=later))

    @pytest.mark.parametrize("name", ["playing", "virtual", "refused", "stolen"])
    def test_a_wrong_count_fails(self, name, recorded):
        heard = recorded(voices.scenario)
        rows = [row | {f"voices_{name}": row[f"voices_{name}"] + 1} for row in heard.rows]
        with pytest.raises(AssertionError, match=f"counts .* {name}"):
            voices.check_counts(replace(heard, rows=rows))

    @pytest.mark.parametrize("time", [0.5, 4.71, 8.0, 11.1])
    def test_a_jump_of_half_a_voice_fails(self, time, recorded):
        heard = recorded(voices.scenario)
        with pytest.raises(AssertionError, match=f"a click at {time:.2f}"):
            voices.check_clicks(with_jump(heard, time, 0.5 * voices.LEVEL))

    def test_a_voice_that_is_cut_off_fails(self, recorded):
        """Where the first one is stolen, it is taken away at once instead of within 5 ms."""
        heard = recorded(voices.scenario)
        cut = heard.samples.copy()
        first = round(4.0 * RATE)
        angle = 2.0 * np.pi * 1000.0 / RATE * np.arange(len(cut) - first) + 1.0
        cut[first:] += voices.LEVEL * np.sin(angle, dtype=np.float32)[:, np.newaxis]
        with pytest.raises(AssertionError, match=r"a click at (3.99|4.00)"):
            voices.check_clicks(replace(heard, samples=cut))


class TestTown:
    def test_it_passes(self, recorded):
        town.check(recorded(town.scenario))

    def test_it_leads_from_the_street_into_a_house_and_back(self, recorded):
        stays = recorded(town.scenario).scenario.facts["stays"]
        assert [kinds for kinds, *_ in stays] == [town.OUTDOORS, town.INDOORS, town.OUTDOORS]
        assert min(end - start for _, start, end in stays) > 2.0

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda x: np.where(np.arange(len(x))[:, None] == 70_000, np.nan, x), "NaN"),
            (np.zeros_like, "silent"),
            (lambda x: 8.0 * x, "the peak is"),
        ],
    )
    def test_broken_sound_fails(self, change, complaint, recorded):
        heard = recorded(town.scenario)
        with pytest.raises(AssertionError, match=complaint):
            town.check_sound(replace(heard, samples=change(heard.samples).astype(np.float32)))

    def test_a_listener_who_stays_in_the_street_fails(self):
        heard = broken(
            town,
            lambda s: replace(s, seconds=22.0, walker=None, listener=lambda time: s.listener(2.0)),
            what="soundtrack",
        )
        with pytest.raises(AssertionError, match="it should be a room or a hall or a tunnel"):
            town.check_places(heard)

    def test_the_listener_walks_and_steps_are_heard_from_the_feet(self, recorded):
        heard = recorded(town.scenario)
        facts = heard.scenario.facts
        assert facts["carried"] == ""
        steps = next(s for s in heard.scenario.spawns if s.until == town.visit(town.own_site(0)).arrives)
        been = facts["walk"].been.rows.tolist()
        assert len(been) > 500
        for time, *feet, deep in been:
            assert steps.position(time) == pytest.approx(feet, abs=1e-9)
            assert deep == 0.0

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: s.world.fill((0, 21, 18), (8, 22, 19), "cobblestone_wall"), "m off the path"),
            (lambda s: s.world.fill((0, 16, 8), (8, 21, 26), "air"), "fallen"),
        ],
    )
    def test_a_walker_who_cannot_go_on_fails(self, change, complaint):
        def blocked(scenario):
            change(scenario)
            return scenario

        with pytest.raises(AssertionError, match=complaint):
            town.check_walk(broken(town, blocked, what="soundtrack", acoustics="off"))

    def test_the_walk_that_is_tried_first_leaves_the_world_as_it_was(self):
        site, scenario = town.own_site(0), town.scenario()
        assert len(site.doors) == 2
        box = site.world.origin, site.world.origin + site.world.size
        names = [np.array(w.palette.names)[w.ids(*box)] for w in (site.world, scenario.world)]
        assert np.array_equal(*names)

    @pytest.mark.parametrize(("fence", "is_carried"), [("stone", False), ("cobblestone_wall", True)])
    def test_in_a_world_where_one_cannot_walk_the_listener_is_carried_and_it_says_why(
        self, fence, is_carried, tmp_path
    ):
        file = str(tmp_path / "fenced.npz")
        fenced(fence).save(file)
        heard = record(town.scenario, world=file, what="soundtrack", acoustics="off")
        carried = heard.scenario.facts["carried"]
        assert ("m off the path" in carried) == is_carried
        assert heard.scenario.events[0].label == (
            f"music; the listener is carried: {carried}" if is_carried else "music"
        )
        town.check_walk(heard)
        nobody = town.Walk(heard.scenario.world, heard.scenario.facts["walk"].plan, 1.0)
        unseen = replace(heard.scenario, facts={**heard.scenario.facts, "walk": nobody})
        with pytest.raises(AssertionError, match="in the built-in town" if is_carried else "seen 0 times"):
            town.check_walk(replace(heard, scenario=unseen, parameters={}))

    def test_the_order_turned_round_fails(self, recorded):
        heard = recorded(town.scenario)
        stays = heard.scenario.facts["stays"]
        other = [stays[0]._replace(kinds=town.INDOORS), *stays[1:]]
        scenario = replace(heard.scenario, facts={**heard.scenario.facts, "stays": other})
        with pytest.raises(AssertionError, match="it should be"):
            town.check_places(replace(heard, scenario=scenario))

    @pytest.mark.parametrize(
        "change",
        [
            lambda x: np.where((np.arange(len(x)) // 48 == 10_000)[:, None], 0.0, x),  # a millisecond
            lambda x: np.concatenate((x[:400_000], x[400_001:], x[-1:])),  # a frame is left out
            lambda x: 0.9 * x,
        ],
    )
    def test_music_with_a_gap_or_at_another_level_fails(self, change, recorded):
        heard = recorded(town.scenario, what="soundtrack", acoustics="off")
        with pytest.raises(AssertionError, match="differs from its file"):
            town.check_stream(replace(heard, samples=change(heard.samples).astype(np.float32)))

    def test_another_song_and_late_music_fail(self, recorded):
        heard = recorded(town.scenario, what="soundtrack", acoustics="off")
        file = str(town.song("tone", 0))
        scenario = replace(heard.scenario, facts={**heard.scenario.facts, "music": file})
        with pytest.raises(AssertionError, match=r"differs from its file|begins"):
            town.check_stream(replace(heard, scenario=scenario))
        late = np.concatenate((np.zeros((4800, 2), np.float32), heard.samples[:-4800]))
        with pytest.raises(AssertionError, match=r"begins 100\.0 ms late"):
            town.check_stream(replace(heard, samples=late))

    def test_starving_fails(self, recorded):
        heard = recorded(town.scenario)
        rows = [*heard.rows[:-1], heard.rows[-1] | {"starved_frames": 64}]
        with pytest.raises(AssertionError, match="silent for 64 frames"):
            town.check_starving(replace(heard, rows=rows))

    @pytest.mark.parametrize("time", [5.0, 14.0, 19.0, 22.6])
    def test_a_click_fails(self, time, recorded):
        heard = recorded(town.scenario, what="tones")
        with pytest.raises(AssertionError, match="a click at"):
            town.check_clicks(with_jump(heard, time, 0.01))

    def test_it_takes_a_real_world_and_real_recordings(self, shared_data):
        parameters = real(shared_data, "sponge_v2_smallhouse1.schem", "ambi_drone.flac")
        heard = record(town.scenario, **parameters)
        town.check_sound(heard)
        town.check_places(heard)
        town.check_starving(heard)

    @pytest.mark.slow
    @pytest.mark.parametrize("music", ["ambi_drone.flac", "blanket_wind_CC0.ogg"])
    @pytest.mark.parametrize(
        "name", ["mca_1.21.1_r.0.0.mca", "mca_1.18.2_r.0.0.mca", "sponge_v2_smallhouse1.schem"]
    )
    def test_it_passes_in_real_worlds(self, name, music, shared_data):
        town.check(record(town.scenario, **real(shared_data, name, music)))

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(1, 4))
    def test_it_passes_in_other_towns(self, seed):
        town.check(record(town.scenario, seed=seed))


def fenced(name):
    """A house in a meadow, with something one cell high all around it."""
    world = ea.World.empty(size=(100, 40, 100))
    world.fill((0, 0, 0), (100, 4, 100), "dirt")
    world.fill((22, 4, 38), (42, 5, 60), name)
    world.fill((23, 4, 39), (41, 5, 59), "air")
    world.fill((28, 4, 45), (37, 9, 54), "stone")
    world.fill((29, 4, 46), (36, 8, 53), "air")
    world.fill((36, 4, 49), (37, 6, 50), "air")
    return world


def real(shared_data, world, music):
    """The parameters that name files, which must be there."""
    files = {"world": shared_data / "worlds" / world, "music": shared_data / "audio" / music}
    for file in files.values():
        if not file.is_file():
            pytest.skip(f"no {file}")
    return {**{name: str(file) for name, file in files.items()}, "sounds": str(shared_data / "audio")}


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (flyby.scenario, {"what": "bird"}),
        (flyby.scenario, {"distance": 3.0}),
        (voices.scenario, {"requests": 500}),
        (town.scenario, {"what": "choir"}),
        (town.scenario, {"sounds": "no/such/folder"}),
    ],
)
def test_wrong_parameters_are_refused(make, parameters):
    with pytest.raises(ValueError, match=str(next(iter(parameters.values())))[:4].split(".")[0]):
        make(**parameters)
