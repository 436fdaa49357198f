"""Room, hall and tunnel: their checks pass, and fail when what they check is broken."""

import math
from dataclasses import replace

import numpy as np
import pytest
import rooms
from test_scenarios import broken

from ecs_audio.analysis import octave_rt60
from ecs_audio.perform import record, with_settings
from scenarios import _claps, _eyring, _passing, hall, room, tunnel
from scenarios._shoebox import Box

RATE = 48_000


def with_options(scenario, **options):
    return replace(scenario, spawns=[replace(s, options={**s.options, **options}) for s in scenario.spawns])


def with_walls(scenario, material):
    """The scenario as it says it is, in a room that is made of something else."""
    box = scenario.facts["box"]
    x, y, z = box[:3]
    scenario.world.fill((-1, -1, -1), (x + 1, y + 1, z + 1), material)
    scenario.world.fill((0, 0, 0), (x, y, z), "air")
    return scenario


def jump(heard, time):
    """The recording with a step in the left ear, just large enough among what sounds there."""
    samples, first = heard.samples.copy(), round(time * RATE)
    bends = np.abs(np.diff(samples[first - 400 : first + 400, 0].astype(float), n=2))
    samples[first:, 0] += np.float32(max(11.0 * np.percentile(bends, 90.0), 0.0005))
    return replace(heard, samples=samples)


def swapped(heard):
    return replace(heard, samples=heard.samples[:, ::-1])


def sped_up(heard, ratio):
    """The recording played faster: everything dies away sooner by as much, and comes sooner."""
    at = np.arange(len(heard.samples)) * ratio
    ears = [np.interp(at, np.arange(len(ear)), ear, right=0.0) for ear in heard.samples.T]
    return replace(heard, samples=np.stack(ears, axis=1).astype(np.float32))


@pytest.fixture(scope="module")
def small():
    """A recording of the room as it is by default."""
    return record(room.scenario)


@pytest.fixture(scope="module")
def standard():
    """A recording of the tunnel as it is by default."""
    return record(tunnel.scenario)


@pytest.mark.parametrize("module", [room, hall, tunnel])
def test_the_check_passes(module):
    module.check(record(module.scenario))


@pytest.mark.parametrize(
    ("module", "parameters"),
    [
        (room, {"width": 3, "length": 3, "floor": "stone", "ceiling": "glass", "walls": "bricks"}),
        (room, {"walls": "white_wool", "seconds": 4.0}),
        (hall, {"width": 25, "height": 20, "length": 25, "seconds": 7.0, "seed": 3}),
        (tunnel, {"width": 8, "height": 6, "walls": "oak_planks", "speed": 25.0, "seconds": 6.0}),
    ],
    ids=str,
)
def test_other_places_pass_too(module, parameters):
    module.check(record(module.scenario, **parameters))


@pytest.mark.parametrize(
    ("size", "names"), [((5, 3, 4), ("oak_planks",) * 3), ((30, 12, 20), ("stone",) * 3)]
)
def test_theory_is_that_of_the_published_absorption(size, names):
    box = Box(*size, *names)
    times, level = rooms.eyring(size, names)
    assert _eyring.ring_times(box.volume, box.surfaces) == pytest.approx(times, rel=1e-6)
    assert _eyring.ring_level(box.surfaces) == pytest.approx(min(level, 3.0), rel=1e-6)


@pytest.mark.parametrize(
    ("module", "parameters"),
    [
        (room, {"width": 2}),
        (hall, {"length": 900}),
        (tunnel, {"length": 10}),
        (tunnel, {"what": "choir"}),
        (tunnel, {"acoustics": "loud"}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(module, parameters):
    ((name, value),) = parameters.items()
    with pytest.raises(ValueError, match=f"{name} must be .*{value}"):
        module.scenario(**parameters)


@pytest.mark.parametrize(("module", "seconds"), [(room, 1.0), (hall, 4.0), (tunnel, 5.0)])
def test_a_recording_that_is_too_short_is_said_to_be(module, seconds):
    with pytest.raises(AssertionError, match=f"{seconds:g} s are too short"):
        module.check(record(module.scenario, seconds=seconds))


class TestRoom:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, reverb="cathedral"), "rings for"),
            (lambda s: with_settings(s, reverberation=False), "is in a unknown"),
            (lambda s: with_settings(s, max_rays=0), "is in a unknown"),
            (lambda s: with_settings(s, speed_of_sound=280.0), "rings for"),
            (lambda s: with_settings(s, delay=False), "arrives after"),
            (lambda s: with_options(s, law="linear"), "comes directly at"),
            (lambda s: with_options(s, law="soft_inverse"), "comes directly at"),
            (lambda s: with_options(s, reference=2.0), "comes directly at|the room adds"),
            (lambda s: with_walls(s, "white_wool"), "rings for"),
            (lambda s: with_walls(s, "metal_block"), "rings for"),
            (lambda s: replace(s, spawns=[]), "rings for nan"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            room.check(record(broken(room, change), seconds=2.5))

    @pytest.mark.parametrize("ratio", [0.75, 1.3])
    def test_a_wrong_reverberation_time_fails(self, small, ratio):
        with pytest.raises(AssertionError, match="rings for"):
            _claps.check_times(sped_up(small, ratio))

    @pytest.mark.parametrize("factor", [0.5, 2.0])
    def test_a_room_that_is_too_loud_or_too_soft_fails(self, small, factor):
        echoes = small.again(acoustics="reflect").samples
        with pytest.raises(AssertionError, match="the room adds"):
            _claps.check_level(replace(small, samples=echoes + factor * (small.samples - echoes)))

    def test_swapped_ears_fail(self, small):
        with pytest.raises(AssertionError, match="comes from"):
            _claps.check_direct(swapped(small))

    def test_a_clap_half_a_millisecond_late_fails(self, small):
        with pytest.raises(AssertionError, match="arrives after"):
            _claps.check_direct(replace(small, samples=np.roll(small.samples, RATE // 2000, axis=0)))

    def test_every_click_fails(self, small):
        claps = [clap.at for clap in small.scenario.facts["claps"]]
        rng = np.random.Generator(np.random.PCG64(5))
        for at in claps:
            with pytest.raises(AssertionError, match="a click"):
                _claps.check_clicks(jump(small, at + rng.uniform(0.5, 1.2)))

    def test_wool_that_does_nothing_fails(self, small):
        lined = small.again(walls="white_wool")
        _claps.check_wool(small, lined)
        with pytest.raises(AssertionError, match="wool should shorten"):
            _claps.check_wool(small, replace(lined, samples=small.samples))
        with pytest.raises(AssertionError, match="wool should soften"):
            _claps.check_wool(small, replace(lined, samples=20.0 * lined.samples))

    def test_the_seed_places_the_claps(self, small):
        again, other = record(room.scenario), record(room.scenario, seed=1)
        assert small.sha256 == again.sha256 != other.sha256
        ear = small.scenario.facts["ear"]
        for heard in (small, other):
            sides = [clap.where[0] > ear[0] for clap in heard.scenario.facts["claps"]]
            assert sides == [False, True, False]
            assert all(math.dist(clap.where, ear) >= 1.0 for clap in heard.scenario.facts["claps"])


class TestHall:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, reverb="room"), "rings for"),
            (lambda s: with_settings(s, delay=False), "arrives after"),
            (lambda s: with_options(s, law="linear"), "comes directly at"),
            (lambda s: with_walls(s, "white_wool"), "rings for"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            hall.check(record(broken(hall, change), seconds=5.0))


class TestTunnel:
    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, reverb="cathedral"), "rings for"),
            (lambda s: with_settings(s, reverb="room"), "rings for"),
            (lambda s: with_settings(s, reverberation=False), "is in a unknown"),
            (lambda s: with_settings(s, delay=False), "Doppler makes it"),
            (lambda s: replace(s, spawns=[]), "rings for nan"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            tunnel.check(record(broken(tunnel, change)))

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, delay=False), "Doppler makes it"),
            (lambda s: with_settings(s, speed_of_sound=400.0), "Doppler makes it|1/d makes it"),
            (lambda s: with_options(s, law="linear"), "1/d makes it"),
            (lambda s: with_options(s, law="soft_inverse"), "1/d makes it"),
            (lambda s: with_options(s, fade_start=1.0, end=60.0), "1/d makes it"),
        ],
    )
    def test_a_car_that_passes_in_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            _passing.check_passing(record(broken(tunnel, change), what="car", acoustics="direct"))

    @pytest.mark.parametrize(("walls", "length"), [("white_wool", 120), ("stone", 20)])
    def test_another_tunnel_is_none_of_stone(self, standard, walls, length):
        small = record(room.scenario)
        tunnel.check_longer(standard, small)
        with pytest.raises(AssertionError, match="one of stone should for"):
            tunnel.check_longer(standard.again(walls=walls, length=length), small)

    def test_a_hole_in_the_roof_is_no_tunnel(self):
        def opened(scenario):
            scenario.world.fill((0, 4, 0), (4, 10, 120), "air")
            return scenario

        with pytest.raises(AssertionError, match="it is a tunnel"):
            tunnel.check(record(broken(tunnel, opened)))

    def test_a_small_room_that_rings_longer_fails(self, standard):
        hallway = record(room.scenario, width=12, height=8, length=12, seconds=8.0)
        with pytest.raises(AssertionError, match="and a small room for"):
            tunnel.check_longer(standard, hallway)

    @pytest.mark.parametrize("ratio", [0.7, 1.4])
    def test_a_wrong_reverberation_time_fails(self, standard, ratio):
        first = round(standard.scenario.facts["stop"] * RATE)
        rest = sped_up(replace(standard, samples=standard.samples[first:]), ratio).samples
        with pytest.raises(AssertionError, match="rings for"):
            tunnel.check_ringing(replace(standard, samples=np.vstack((standard.samples[:first], rest))))

    def test_swapped_ears_fail(self, standard):
        tunnel.check_ears(standard)
        with pytest.raises(AssertionError, match="the left ear hears"):
            tunnel.check_ears(swapped(standard))
        car = standard.again(what="car", acoustics="direct")
        with pytest.raises(AssertionError, match="the car comes from"):
            _passing.check_passing(swapped(car))

    def test_a_car_half_a_second_early_fails(self, standard):
        car = standard.again(what="car", acoustics="direct")
        with pytest.raises(AssertionError, match="1/d makes it"):
            _passing.check_passing(replace(car, samples=np.roll(car.samples, -RATE // 2, axis=0)))

    @pytest.mark.parametrize("after", [0.1, 0.6, 1.5])
    def test_every_click_fails(self, standard, after):
        with pytest.raises(AssertionError, match="a click"):
            tunnel.check_clicks(jump(standard, standard.scenario.facts["stop"] + after))

    def test_it_rings_alike_after_steps_and_after_a_car(self, standard):
        steps, car = (
            octave_rt60(tunnel.left_over(standard.again(what=what)), RATE, centres=(500.0,))[0]
            for what in ("steps", "car")
        )
        assert steps == pytest.approx(car, rel=0.06)
