"""The doorway, the canyon and the mountain: their checks pass, and fail when what they check is broken."""

from dataclasses import replace

import numpy as np
import pytest
from test_scenarios import broken

import ecs_audio as ea
from ecs_audio.perform import record, with_settings
from scenarios import canyon, doorway, mountain
from scenarios._sight import first_hit, mirrors, sees, solids

SWAPPED = slice(None), slice(None, None, -1)


def swapped(heard):
    return replace(heard, samples=heard.samples[SWAPPED])


def clicked(heard, frame, size):
    samples = heard.samples.copy()
    samples[frame:, 0] += np.float32(size)
    return replace(heard, samples=samples)


@pytest.mark.parametrize(
    ("module", "parameters"),
    [
        (canyon, {"distance": 0.5}),
        (mountain, {"place": "valley"}),
        (mountain, {"ridge": 101}),
    ],
)
def test_wrong_parameters_are_refused(module, parameters):
    with pytest.raises(ValueError, match=str(next(iter(parameters.values())))):
        module.scenario(**parameters)


class TestSight:
    def test_a_line_enters_a_wall_where_geometry_says(self):
        world = ea.World.empty(size=(8, 8, 8))
        world.fill((4, 0, 0), (5, 8, 8), "stone")
        around = solids(world)
        a, b = np.array((1.5, 2.0, 3.25)), np.array((7.5, 5.0, 3.25))
        assert first_hit(around, a, b) == pytest.approx((4.0, 3.25, 3.25))
        assert first_hit(around, b, a) == pytest.approx((5.0, 3.75, 3.25))
        assert sees(around, a, np.array((4.0 - 1e-3, 3.0, 3.0)))
        assert sees(around, a, np.array((-5.0, 3.0, 3.0)))

    def test_the_mirrors_of_a_canyon_are_those_of_the_closed_form(self):
        _, clap, ear, around = canyon._canyon(30.0)
        planes = {(0, 12.0), (0, 52.0), (1, 1.0)}
        images = []
        for axis, place in planes:
            once = clap.copy()
            once[axis] = 2.0 * place - once[axis]
            images.append(once)
            for other, there in planes - {(axis, place)}:
                twice = once.copy()
                twice[other] = 2.0 * there - twice[other]
                # A corner sends both orders the same way; only one of them can be walked.
                images += [twice] if other == axis or other == 1 else []
        expected = sorted(float(np.linalg.norm(image - ear)) for image in images)
        assert [way.length for way in mirrors(around, clap, ear)] == pytest.approx(expected)


class TestDoorway:
    def test_it_passes(self):
        doorway.check(record(doorway.scenario))

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, occlusion=False), "behind the wall"),
            (lambda s: with_settings(s, coupling=False), "behind the wall"),
            (lambda s: with_settings(s, acoustics="off"), "behind the wall"),
            (
                lambda s: replace(s, walker=None, listener=lambda t: s.listener(12.0 - t)),
                "than it was before",
            ),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            doorway.check(record(broken(doorway, change)))

    @pytest.mark.parametrize("change", [((10, 0, 4), (11, 2, 6), "stone"), ((10, 0, 0), (11, 3, 10), "air")])
    def test_a_closed_door_and_a_missing_wall_fail(self, change):
        def rebuilt(scenario):
            scenario.world.fill(*change)
            return scenario

        heard = record(broken(doorway, rebuilt), acoustics="reflect", echoes=False, steady=True)
        with pytest.raises(AssertionError, match="behind the wall"):
            doorway.check_direction(heard)

    def test_swapped_ears_a_click_and_a_step_fail(self):
        heard = record(doorway.scenario, acoustics="reflect", echoes=False, steady=True)
        doorway.check_direction(heard)
        with pytest.raises(AssertionError, match="the ears hear"):
            doorway.check_direction(swapped(heard))
        doorway.check_no_click(heard)
        with pytest.raises(AssertionError, match=r"a click at 3\.0"):
            doorway.check_no_click(clicked(heard, 144_000, 0.01))
        samples = heard.samples.copy()
        samples[288_000:] *= np.float32(1.45)
        with pytest.raises(AssertionError, match=r"at 6\.00 s the level steps by 3\.[0-9] dB"):
            doorway.check_growth(replace(heard, samples=samples), 0.1)

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (((10, 0, 4), (11, 2, 6), "stone"), "m off the path"),  # no door
            (((10, 0, 5), (11, 2, 6), "stone"), "m off the path"),  # half of it
            (((12, -1, 0), (18, 0, 10), "air"), "has fallen"),  # no floor
        ],
    )
    def test_a_walker_who_cannot_go_on_fails(self, change, complaint):
        def rebuilt(scenario):
            scenario.world.fill(*change)
            return scenario

        heard = record(broken(doorway, rebuilt), acoustics="off")
        with pytest.raises(AssertionError, match=complaint):
            doorway.check_walk(heard)

    def test_a_listener_who_is_carried_and_one_in_a_wall_fail(self):
        heard = record(broken(doorway, lambda s: replace(s, walker=None)), acoustics="off")
        with pytest.raises(AssertionError, match="seen 0 times"):
            doorway.check_walk(heard)

        def wall(stage):
            x, y, z = np.floor(stage.engine.movers.position[stage.walker]).astype(int)
            stage.engine.world.set((x, y, z), "stone")

        def change(scenario):
            return replace(scenario, events=[*scenario.events, ea.Event(3.01, wall)])

        with pytest.raises(AssertionError, match=r"at 3\.[0-9]+ s the walker is 0\.[0-9]+ m inside a wall"):
            doorway.check_walk(record(broken(doorway, change), acoustics="off"))


class TestCanyon:
    def test_it_passes(self):
        canyon.check(record(canyon.scenario))

    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
    def test_a_real_gorge_passes(self, seed, shared_data):
        file = shared_data / "worlds" / "mca_1.21.1_r.0.0.mca"
        if not file.is_file():
            pytest.skip(f"no {file}")
        heard = record(canyon.scenario, world=str(file), seed=seed)
        canyon.check_echoes(heard, heard.again(echoes=False), least=0)
        without = heard.again(echoes=False)
        late = np.roll(heard.samples - without.samples, 480, axis=0)
        with pytest.raises(AssertionError, match=r"no mirror|those heard come after"):
            canyon.check_echoes(replace(heard, samples=without.samples + late), without, least=0)

    def test_a_flat_world_is_no_canyon(self, tmp_path):
        world = ea.World.empty(size=(48, 16, 48))
        world.fill((0, 0, 0), (48, 2, 48), "stone")
        world.save(tmp_path / "flat.npz")
        with pytest.raises(ValueError, match="there is no canyon in"):
            canyon.scenario(world=str(tmp_path / "flat.npz"))

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, echoes=False), "nothing answers"),
            (lambda s: with_settings(s, speed_of_sound=335.0), "0 of 2 echoes"),
            (lambda s: with_settings(s, reverberation=False), "always in a canyon"),
            (lambda s: with_settings(s, reverb="bathroom"), "the tail at 500 Hz"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            canyon.check(record(broken(canyon, change)))

    @pytest.mark.parametrize("material", ["white_wool", "grass_block"])
    def test_soft_walls_do_not_ring(self, material):
        def soft(scenario):
            for x in (canyon.WALLS[0] - 2, canyon.WALLS[1]):
                scenario.world.fill((x, 1, 0), (x + 2, 61, 256), material)
            return scenario

        with pytest.raises(AssertionError, match="the tail at 500 Hz"):
            canyon.check_tail(record(broken(canyon, soft)))

    def test_swapped_ears_and_late_echoes_fail(self):
        heard = record(canyon.scenario)
        without = heard.again(echoes=False)
        canyon.check_echoes(heard, without, 2)
        with pytest.raises(AssertionError, match="0 of 2 echoes"):
            canyon.check_echoes(swapped(heard), swapped(without), 2)
        late = np.roll(heard.samples - without.samples, 72, axis=0)  # 1.5 ms
        with pytest.raises(AssertionError, match="0 of 2 echoes"):
            canyon.check_echoes(replace(heard, samples=without.samples + late), without, 2)
        false = np.roll(heard.samples, 24_000, axis=0) * np.float32(0.01)
        with pytest.raises(AssertionError, match="no mirror"):
            canyon.check_echoes(replace(heard, samples=heard.samples + false), without, 2)


class TestMountain:
    def test_it_passes(self):
        mountain.check(record(mountain.scenario))

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda s: with_settings(s, delay=False), "the explosion arrives 0.00"),
            (lambda s: with_settings(s, speed_of_sound=345.0), "the explosion arrives 0.870"),
            (lambda s: with_settings(s, occlusion=False), "are -?0.0 dB lower"),
            (lambda s: replace(s, spawns=[]), "not heard at all"),
        ],
    )
    def test_another_physics_fails(self, change, complaint):
        with pytest.raises(AssertionError, match=complaint):
            mountain.check(record(broken(mountain, change)))

    def test_without_shared_air_the_cliffs_fail(self):
        behind = record(broken(mountain, lambda s: with_settings(s, coupling=False)), place="pass")
        with pytest.raises(AssertionError, match="pass: behind the ridge"):
            mountain.check_levels(behind, behind.again(ridge=0), "pass")
        with pytest.raises(AssertionError, match="at least 15"):
            mountain.check_detour(behind)

    def test_a_ridge_with_a_hole_fails(self):
        def holed(scenario):
            scenario.world.fill((-2, 1, -192), (3, 8, 192), "air")
            return scenario

        behind = record(broken(mountain, holed))
        with pytest.raises(AssertionError, match="open: behind the ridge"):
            mountain.check_levels(behind, record(mountain.scenario, ridge=0), "open")

    def test_swapped_ears_and_cliffs_that_the_explosion_does_not_see_fail(self):
        heard = record(mountain.scenario, place="pass")
        mountain.check_detour(heard)
        with pytest.raises(AssertionError, match="at least 15"):
            mountain.check_detour(swapped(heard))
        with pytest.raises(AssertionError, match="2° are due"):
            mountain.check_direction(swapped(record(mountain.scenario, ridge=0)), 0.0)
        heard.scenario.world.fill((60, 1, -120), (64, 90, -100), "stone")
        heard.scenario.world.fill((40, 1, -149), (44, 90, -100), "stone")
        with pytest.raises(AssertionError, match="does not see"):
            mountain.check_detour(heard)
