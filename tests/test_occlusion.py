"""The golden scenes of the straight path, and what the bundle must do at edges."""

import math

import numpy as np
import pytest
from conftest import TICK, transmission, wall_world

import ecs_audio as ea

SOURCE, LISTENER = (-4.5, 0.5, 0.5), (5.5, 0.5, 0.5)


def test_nothing_between_is_clear():
    assert transmission(wall_world(), SOURCE, LISTENER)[0] == 1


@pytest.mark.parametrize(("thickness", "expected"), [(1, 0.0498), (2, 0.00248), (3, 0.000123)])
def test_one_two_and_three_blocks(thickness, expected):
    t, _ = transmission(wall_world((0, thickness)), SOURCE, LISTENER)
    assert t == pytest.approx(expected, rel=5e-3)
    assert t == pytest.approx(math.exp(-3 * thickness), rel=1e-12)


def test_a_hole_on_the_axis():
    world = wall_world((0, 1))
    world.set((0, 0, 0), "air")
    assert transmission(world, SOURCE, LISTENER)[0] == pytest.approx(0.920, abs=5e-4)
    assert transmission(world, SOURCE, LISTENER, direct_paths=1)[0] == 1


def test_a_hole_one_cell_above_the_axis():
    world = wall_world((0, 1))
    world.set((0, 1, 0), "air")
    assert transmission(world, SOURCE, LISTENER)[0] == pytest.approx(0.088, abs=5e-4)
    assert transmission(world, SOURCE, LISTENER, direct_paths=1)[0] == pytest.approx(0.0498, abs=5e-5)


def test_a_source_close_to_a_wall_stays_behind_it():
    assert transmission(wall_world((0, 1)), (-0.2, 0.5, 0.5), LISTENER)[0] == pytest.approx(0.0498, abs=5e-5)


def test_two_walls_multiply():
    assert transmission(wall_world((0, 1), (3, 4)), SOURCE, LISTENER)[0] == pytest.approx(0.00248, abs=5e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("white_wool", 0.0111),
        ("stone_slab", 0.472),
        ("glass", math.exp(-0.3)),
        ("oak_leaves", math.exp(-0.75)),
    ],
)
def test_materials_muffle_by_their_occlusion(name, expected):
    t, _ = transmission(wall_world((0, 1), name=name), SOURCE, LISTENER)
    assert t == pytest.approx(expected, rel=5e-3)


def test_ten_metres_of_water():
    world = wall_world((0, 10), name="water")
    t, _ = transmission(world, (-0.5, 0.5, 0.5), (10.5, 0.5, 0.5))
    assert t == pytest.approx(0.153, abs=5e-4)


def test_unknown_sections_are_open_air_and_are_counted():
    world = ea.World.unknown(size=(64, 64, 64), origin=(-32, -32, -32))
    t, telemetry = transmission(world, SOURCE, LISTENER)
    assert t == 1
    assert telemetry.unknown_share > 0


def test_the_broad_gain_and_gain_hf_follow_from_t_and_air(clips):
    with ea.Engine(wall_world((0, 1)), clips) as engine:
        engine.listener.look(position=LISTENER)
        row = engine.spawn("tone", position=SOURCE, looping=True)
        engine.tick(TICK)
        assert engine.sources.gain_target[row] == pytest.approx(0.741, abs=5e-4)
        assert engine.sources.gain_hf_target[row] == pytest.approx(0.0498 * 0.99426**10, abs=5e-5)


def test_a_source_exactly_on_the_face_of_a_wall_is_outside_it():
    world = wall_world((0, 1))
    for x, expected in ((0.0, 0.0498), (1.0, 1.0)):
        assert transmission(world, (x, 0.5, 0.5), LISTENER)[0] == pytest.approx(expected, abs=5e-5)
    assert transmission(world, (0.0, 0.5, 0.5), (-5.5, 0.5, 0.5))[0] == 1


def test_a_door_does_not_muffle_itself():
    assert transmission(wall_world((0, 1)), (0.5, 0.5, 0.5), LISTENER)[0] == pytest.approx(1, abs=1e-9)


def test_an_ear_inside_rock_hears_everything_outside():
    world = ea.World.empty(size=(96, 64, 64), origin=(-48, -32, -32))
    world.fill((0, -32, -32), (40, 32, 32), "stone")
    assert transmission(world, (-10.5, 0.5, 0.5), (30.5, 0.5, 0.5))[0] == 1


def test_an_ear_under_water_hears_a_tenth_of_the_highs(clips):
    world = wall_world((2, 12), name="water")
    with ea.Engine(world, clips, settings=ea.Settings(air=False)) as engine:
        engine.listener.look(position=LISTENER)
        row = engine.spawn("tone", position=SOURCE, looping=True)
        engine.tick(TICK)
        assert engine.sources.transmission[row] == 1  # its own water is passed like air
        assert engine.sources.gain_hf_target[row] == pytest.approx(0.1)


def test_a_plant_is_never_heard():
    assert transmission(wall_world((0, 10), name="tall_grass"), (-0.5, 0.5, 0.5), (10.5, 0.5, 0.5))[0] == 1


def test_past_an_edge_transmission_rises_smoothly():
    """A one-block wall crossed at right angles, both ends slid past its end centimetre by centimetre."""
    world = ea.World.empty(size=(64, 64, 96), origin=(-32, -32, -48))
    world.fill((0, -32, -48), (1, 32, 0), "stone")
    z = np.arange(-0.8, 0.8, 0.01)
    t = np.array([transmission(world, (-4.5, 0.5, s), (5.5, 0.5, s))[0] for s in z])
    muffled = 20 * np.log10(t)  # at 5 kHz relative to low frequencies; with the broad gain it is 6.58 dB
    assert (np.diff(t) >= -1e-12).all()
    assert np.abs(np.diff(muffled)).max() <= 6.5
    assert np.abs(np.diff(20 * np.log10(t**0.1))).max() <= 0.7
    boundary = muffled[np.argmin(np.abs(z))]
    assert -9 <= boundary <= -3


def test_the_clearest_path_decides_under_the_other_rule():
    world = wall_world((0, 1))
    world.set((0, 1, 0), "air")
    t, _ = transmission(world, SOURCE, LISTENER, occlusion_rule="min")
    assert t == 1
