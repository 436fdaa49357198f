"""Walkers, projectiles and debris: the figures, and that nothing goes through anything."""

import math

import numpy as np
import pytest
from bodies import FLOOR, UNIT, Stage, closed, on_plain, plain
from naive_movement import first_contact, overlap, rest_height

import ecs_audio as ea
from ecs_audio.components import Kind, Movers
from ecs_audio.kernels import movement
from ecs_audio.kernels.sweep import GAP, GAP_FAR, REALS, WHOLES


def test_the_table_and_the_kernels_agree_on_kinds_and_scratch():
    assert (Kind.WALKER, Kind.PROJECTILE, Kind.DEBRIS) == (
        movement.WALKER, movement.PROJECTILE, movement.DEBRIS,
    )  # fmt: skip
    assert (len(Movers(1).reals), len(Movers(1).wholes)) == (REALS, WHOLES)


def speed(stage, mover):
    return np.hypot(*stage.movers.velocity[mover][[0, 2]]) / UNIT


class TestFigures:
    """The rules of the Source engine, in a world in which a cell is a unit."""

    def test_friction_stops_a_walker_of_250_within_26_units_in_0_40_s(self):
        stage, mover = on_plain(plain(), velocity=(250, 0, 0))
        start, ticks = stage.movers.position[mover][0], 0
        while speed(stage, mover) >= 10:
            stage.tick()
            ticks += 1
        assert 0.37 <= ticks / 60 <= 0.401
        assert (stage.movers.position[mover][0] - start) / UNIT == pytest.approx(26, abs=1)
        stage.run(1)
        assert speed(stage, mover) == 0

    def test_a_walker_reaches_250_units_a_second_and_no_more(self):
        stage, mover = on_plain(plain(long=1200))
        stage.movers.wish_direction[mover] = (1, 0, 0)
        speeds = []
        stage.run(2, each=lambda: speeds.append(speed(stage, mover)))
        # Each tick friction takes 8/60 of the speed, and 10/60 of the wish is gained.
        expected = 0.0
        for told in speeds[:5]:
            expected = min(250, max(0, expected - max(expected, 10) * 8 / 60) + 250 * 10 / 60)
            assert told == pytest.approx(expected, rel=1e-9)
        assert speeds[-1] == pytest.approx(250, abs=1e-6)

    def test_a_shorter_wish_is_a_share_of_the_speed_and_a_longer_one_is_not_more(self):
        for length, expected in ((0.4, 100), (7, 250)):
            stage, mover = on_plain(plain(long=1200))
            stage.movers.wish_direction[mover] = (length, 5, 0)
            stage.run(2)
            assert speed(stage, mover) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("hz", [20, 60, 120])
    @pytest.mark.parametrize(("gravity", "height"), [(600, 60.8), (800, 45.6)])
    def test_a_jump_rises_60_8_units_and_45_6_at_gravity_800(self, gravity, height, hz):
        stage, mover = on_plain(plain(), gravity=gravity * UNIT)
        stage.movers.jump[mover] = 1
        heights = []
        stage.run(1.5, hz, each=lambda: heights.append(stage.movers.position[mover][1] / UNIT - FLOOR))
        # Between two ticks it may be higher: by gravity / 2 times the square of half a tick.
        assert height - gravity / 8 / hz**2 - 0.05 <= max(heights) <= height + 0.05
        assert stage.movers.on_ground[mover]

    def test_holding_jump_does_not_repeat_and_pressing_again_does(self):
        stage, mover = on_plain(plain())
        stage.movers.jump[mover] = 1
        stage.run(2)
        heights = []
        stage.run(1, each=lambda: heights.append(stage.movers.position[mover][1]))
        assert np.ptp(heights) == 0
        stage.movers.jump[mover] = 0
        stage.tick()
        stage.movers.jump[mover] = 1
        stage.run(0.3, each=lambda: heights.append(stage.movers.position[mover][1]))
        assert np.ptp(heights) / UNIT > 50

    def test_pressed_in_the_air_jump_does_nothing_on_landing(self):
        stage, mover = on_plain(plain(), height=40)
        stage.movers.jump[mover] = 1
        tops = []
        stage.run(1.5, each=lambda: tops.append(stage.movers.position[mover][1] / UNIT - FLOOR))
        assert max(tops[:3]) > 39
        assert tops[-60:] == [tops[-1]] * 60

    @pytest.mark.parametrize("hz", [20, 60, 120])
    def test_after_1_to_5_s_of_free_fall_it_falls_at_600_to_3000_and_never_above_3500(self, hz):
        world = ea.World.empty(size=(16, 16, 16), cell_size=UNIT)
        stage = Stage(world)
        mover = stage.add((0.2, 0.0, 0.2))
        stage.tick()
        for second in range(1, 6):
            stage.run(1, hz)
            assert stage.movers.velocity[mover][1] / UNIT == pytest.approx(-600 * second, rel=1e-9)
            assert stage.movers.position[mover][1] / UNIT == pytest.approx(-300 * second**2, rel=1e-9)
        stage.run(2, hz)
        assert stage.movers.velocity[mover][1] / UNIT == pytest.approx(-3500, rel=1e-12)

    def test_flying_ahead_at_177_a_wish_sideways_ahead_adds_nothing(self):
        stage, mover = on_plain(plain(long=1200, high=600), height=400, velocity=(177, 0, 0))
        stage.movers.wish_direction[mover] = (math.sqrt(0.5), 0, math.sqrt(0.5))
        stage.run(0.5)
        assert (stage.movers.velocity[mover][[0, 2]] / UNIT).tolist() == pytest.approx([177, 0])

    def test_strafing_in_flight_adds_exactly_30_from_rest(self):
        stage, mover = on_plain(plain(high=600), height=400)
        stage.movers.wish_direction[mover] = (0, 0, 1)
        speeds = []
        stage.run(0.3, each=lambda: speeds.append(stage.movers.velocity[mover][2] / UNIT))
        # The gain is by the uncapped wish, 250 * 10 / 60 in a tick, so that the first one reaches the cap.
        assert speeds == pytest.approx([30] * len(speeds), rel=1e-12)

    @pytest.mark.parametrize("height", range(1, 20))
    def test_ledges_of_1_to_18_units_are_climbed_and_19_is_not(self, height):
        world = plain(long=1000)
        world.fill((150, 0, 0), (1000, FLOOR + height, 80), "stone")
        stage, mover = on_plain(world)
        stage.movers.wish_direction[mover] = (1, 0, 0)
        stage.run(1.5)
        x, y, _ = stage.movers.position[mover] / UNIT
        if height <= 18:
            assert x > 300
            assert y == pytest.approx(FLOOR + height, abs=1e-3)
            assert speed(stage, mover) == pytest.approx(250, abs=1e-6)
        else:
            assert (x, y) == pytest.approx((150 - 16, FLOOR), abs=1e-3)
            assert speed(stage, mover) == 0

    @pytest.mark.parametrize("height", [1, 10, 18, 19, 30])
    def test_walking_down_a_ledge_keeps_the_feet_on_it_up_to_18_units(self, height):
        world = plain(long=600)
        world.fill((0, FLOOR, 0), (150, FLOOR + height, 80), "stone")
        stage, mover = on_plain(world, height=height)
        stage.movers.wish_direction[mover] = (1, 0, 0)
        grounded = []
        stage.run(1, each=lambda: grounded.append(stage.movers.on_ground[mover]))
        assert all(grounded) == (height <= 18)

    def test_a_walker_too_fast_is_held_to_3500_along_each_axis(self):
        world = ea.World.empty(size=(16, 16, 16), cell_size=UNIT)
        stage = Stage(world)
        mover = stage.add((0.2, 0, 0.2), velocity=np.multiply((9000, 4000, -9000), UNIT), gravity=0)
        stage.tick(0)
        stage.tick(0.1)
        assert stage.movers.velocity[mover] / UNIT == pytest.approx([3500, 3500, -3500])
        assert (stage.movers.position[mover] - (0.2, 0, 0.2)) / UNIT == pytest.approx([350, 350, -350])

    def test_standing_still_nothing_creeps_in_30_s(self):
        for origin in (0, 30_000_000, -30_000_000):
            world = ea.World.empty(size=(32, 16, 32), origin=(origin, 0, origin))
            world.fill((origin, 0, origin), (origin + 32, 3, origin + 32), "stone")
            stage = Stage(world)
            for k in range(20):
                kind = ("walker", "debris")[k % 2]
                stage.add((origin + 5.1 + k, 3.0 + k % 3, origin + 7.3 + 0.4 * k), kind)
            stage.run(3)
            before = stage.movers.position.copy()
            stage.run(30)
            assert (stage.movers.position == before).all()
            assert stage.movers.on_ground.all()

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_speed_that_is_no_number_becomes_0_and_a_position_stays_one(self, bad):
        from ecs_audio.kernels.bodies import MoverColumns
        from ecs_audio.kernels.movement import advance
        from ecs_audio.systems.move import _ground

        for kind in ("walker", "projectile", "debris"):
            stage, mover = on_plain(plain(), kind=kind)
            m = stage.movers
            m.velocity[mover] = (bad, 0, bad)
            columns = MoverColumns(*[m.storage[name] for name in MoverColumns._fields])
            ground = _ground(m, stage.world)
            before = m.position[mover].copy()
            advance(m.count, 1 / 60, UNIT, UNIT, columns, ground, m.reals, m.wholes)  # behind ingest's back
            assert m.velocity[mover][[0, 2]].tolist() == [0, 0]
            assert m.position[mover] == pytest.approx(before, abs=0.1)


class TestBothWaysOfAStep:
    def test_a_low_ledge_is_gone_over(self):
        world = plain(long=600)
        world.fill((100, FLOOR, 0), (110, FLOOR + 12, 80), "stone")
        stage, mover = on_plain(world)
        stage.movers.wish_direction[mover] = (1, 0, 0)
        stage.run(1)
        assert stage.movers.position[mover][0] / UNIT > 200

    def test_where_the_way_up_is_shorter_the_slide_wins(self):
        """A lintel above the ledge stops the raised body at once; along the ledge it goes on."""
        world = plain(long=600, wide=400)
        world.fill((100, FLOOR, 0), (600, FLOOR + 12, 400), "stone")
        world.fill((80, FLOOR + 74, 0), (600, FLOOR + 100, 400), "stone")
        stage, mover = on_plain(world, x=60, z=60)
        stage.movers.wish_direction[mover] = (1, 0, 1)
        stage.run(1)
        x, y, z = stage.movers.position[mover] / UNIT
        assert (x, y) == pytest.approx((84, FLOOR), abs=1e-3)
        assert z > 200

    def test_a_beam_that_the_raised_body_would_meet_is_gone_under(self):
        """Along a wall, where each tick both ways are tried."""
        world = plain(long=200, wide=600)
        world.fill((100, FLOOR, 0), (104, FLOOR + 140, 600), "stone")
        world.fill((0, FLOOR + 80, 120), (200, FLOOR + 140, 130), "stone")
        stage, mover = on_plain(world, x=60, z=60)
        stage.movers.wish_direction[mover] = (1, 0, 1)
        stage.run(1.5)
        assert stage.movers.position[mover][2] / UNIT > 250

    def test_a_wall_is_slid_along_with_the_speed_that_is_along_it(self):
        world = plain(long=600, wide=400)
        world.fill((100, FLOOR, 0), (104, FLOOR + 100, 400), "stone")
        stage, mover = on_plain(world, x=60, z=60)
        stage.movers.wish_direction[mover] = (1, 0, 1)
        stage.run(1)
        assert stage.movers.position[mover][0] / UNIT == pytest.approx(84, abs=1e-3)
        assert stage.movers.velocity[mover][0] == 0
        # The wish still asks for 250 ahead, of which the wall takes its part each tick.
        assert stage.movers.velocity[mover][2] / UNIT > 150

    def test_a_corner_stops_and_lets_go(self):
        world = plain(long=400, wide=400)
        world.fill((100, FLOOR, 0), (104, FLOOR + 100, 400), "stone")
        world.fill((0, FLOOR, 100), (400, FLOOR + 100, 104), "stone")
        stage, mover = on_plain(world, x=60, z=60)
        stage.movers.wish_direction[mover] = (1, 0, 1)
        stage.run(1)
        assert stage.movers.position[mover][[0, 2]] / UNIT == pytest.approx([84, 84], abs=1e-3)
        assert speed(stage, mover) == 0
        stage.movers.wish_direction[mover] = (-1, 0, -1)
        stage.run(0.3)
        assert (stage.movers.position[mover][[0, 2]] / UNIT < 60).all()


class TestBlockWorlds:
    """Cells of a metre, steps of 0.6 m."""

    def path(self, build, seconds=4, **options):
        world = ea.World.empty(size=(64, 24, 9))
        world.fill((0, 0, 0), (64, 1, 9), "stone")
        build(world)
        stage = Stage(world)
        mover = stage.add((3.5, 1, 4.5), **options)
        stage.tick()
        stage.movers.wish_direction[mover] = (1, 0, 0)
        heights = []
        stage.run(seconds, each=lambda: heights.append(stage.movers.position[mover][1]))
        return stage.movers.position[mover].copy(), np.array(heights)

    @pytest.mark.parametrize(
        ("name", "height"),
        [
            ("stone_slab", 0.5),
            ("red_carpet", 0.1),
            ("snow", 0.1),
            ("oak_trapdoor", 0.1875),
            ("white_bed", 0.5625),
        ],
    )
    def test_low_cells_are_walked_over_at_their_height(self, name, height):
        end, heights = self.path(lambda world: world.fill((10, 1, 0), (30, 2, 9), name), 2.5)
        assert end[0] > 14
        assert heights.max() == pytest.approx(1 + height, abs=1e-3)

    @pytest.mark.parametrize(
        "name", ["stone", "oak_fence", "cobblestone_wall", "oak_door", "stone_slab[type=double]"]
    )
    def test_high_cells_stop(self, name):
        end, _ = self.path(lambda world: world.fill((10, 1, 0), (11, 2, 9), name))
        assert end == pytest.approx([9.6, 1, 4.5], abs=1e-3)

    @pytest.mark.parametrize(
        "name", ["water", "short_grass", "poppy", "torch", "oak_sign", "rail", "oak_door_open"]
    )
    def test_what_has_no_body_is_passed(self, name):
        end, heights = self.path(lambda world: world.fill((10, 1, 0), (30, 3, 9), name), 2.5)
        assert end[0] > 14
        assert np.ptp(heights) == 0

    def test_a_flight_of_stairs_is_climbed_and_gone_down_without_leaving_it(self):
        def build(world):
            for k in range(8):
                world.fill((10 + k, 1, 0), (11 + k, 1 + k, 9), "stone")
                world.fill((10 + k, 1 + k, 0), (11 + k, 2 + k, 9), "oak_stairs")
            world.fill((18, 1, 0), (64, 9, 9), "stone")

        end, heights = self.path(build, 5)
        assert end[0] > 22
        assert end[1] == pytest.approx(9, abs=1e-3)
        assert (np.diff(heights) >= 0).all()
        world = ea.World.empty(size=(64, 24, 9))
        world.fill((0, 0, 0), (64, 1, 9), "stone")
        build(world)
        stage = Stage(world)
        mover = stage.add((22.5, 9, 4.5))
        stage.tick()
        stage.movers.wish_direction[mover] = (-1, 0, 0)
        grounded = []
        stage.run(3, each=lambda: grounded.append(stage.movers.on_ground[mover]))
        assert all(grounded)
        assert stage.movers.position[mover][1] == pytest.approx(1, abs=1e-3)

    def test_stairs_help_no_one_over_a_wall_of_two(self):
        def build(world):
            world.fill((10, 1, 0), (11, 2, 9), "oak_stairs")
            world.fill((11, 1, 0), (64, 3, 9), "stone")

        end, _ = self.path(build)
        assert end[:2] == pytest.approx([10.6, 1.5], abs=1e-3)

    def test_slabs_in_turn_with_blocks_are_a_stair(self):
        def build(world):
            for k in range(6):
                world.fill((10 + 2 * k, 1, 0), (64, 1 + k, 9), "stone")
                world.fill((10 + 2 * k, 1 + k, 0), (11 + 2 * k, 2 + k, 9), "stone_slab")
                world.fill((11 + 2 * k, 1 + k, 0), (64, 2 + k, 9), "stone")

        end, _ = self.path(build)
        assert end[1] == pytest.approx(7, abs=1e-3)

    def test_a_fence_is_not_jumped_over_and_a_block_is(self):
        for name, over in (("oak_fence", False), ("stone", True)):
            world = ea.World.empty(size=(64, 24, 9))
            world.fill((0, 0, 0), (64, 1, 9), "stone")
            world.fill((10, 1, 0), (11, 2, 9), name)
            stage = Stage(world)
            mover = stage.add((4.5, 1, 4.5), jump_speed=math.sqrt(2 * 15 * 1.25))
            stage.tick()
            stage.movers.wish_direction[mover] = (1, 0, 0)
            stage.run(0.6)
            stage.movers.jump[mover] = 1
            stage.run(2)
            assert (stage.movers.position[mover][0] > 11.5) == over

    def test_a_fence_stands_half_a_cell_above_its_own(self):
        world = ea.World.empty(size=(9, 24, 9))
        world.fill((0, 0, 0), (9, 1, 9), "oak_fence")
        for kind in ("walker", "debris", "projectile"):
            stage = Stage(world)
            mover = stage.add((4.5, 1.7, 4.5), kind, bounce=0.0)
            stage.run(1)
            assert stage.movers.position[mover][1] == pytest.approx(1.5, abs=2e-4)
            assert stage.movers.position[mover][1] > 1.5

    @pytest.mark.parametrize("way", [(1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (1, 0, 1), (-1, 0, 1)])
    def test_one_that_falls_pressed_to_a_wall_does_not_stand_on_the_edges_of_its_cells(self, way):
        world = ea.World.empty(size=(8, 48, 8))
        world.fill((0, 0, 0), (8, 48, 8), "stone")
        world.fill((2, 1, 2), (6, 48, 6), "air")
        stage = Stage(world)
        for k in range(50):
            stage.add((4, 40 + k / 50, 4))
        stage.movers.wish_direction[:] = way
        stage.run(4)
        assert stage.movers.position[:, 1] == pytest.approx([1] * 50, abs=1e-4)

    def test_a_floor_that_is_taken_away_is_fallen_through_and_one_that_comes_holds(self):
        world = ea.World.empty(size=(9, 24, 9))
        world.fill((0, 10, 0), (9, 11, 9), "stone")
        world.fill((0, 0, 0), (9, 1, 9), "stone")
        stage = Stage(world)
        mover = stage.add((4.5, 11, 4.5))
        stage.run(0.2)
        assert stage.movers.on_ground[mover]
        world.fill((0, 10, 0), (9, 11, 9), "air")
        stage.run(0.2)
        assert not stage.movers.on_ground[mover]
        stage.run(2)
        assert stage.movers.position[mover][1] == pytest.approx(1, abs=1e-3)

    def test_where_nothing_is_loaded_it_falls(self):
        world = ea.World.unknown(size=(64, 64, 64))
        world.set((2, 2, 2), "stone")
        stage = Stage(world)
        mover = stage.add((40, 40, 40))
        stage.run(2)
        assert stage.movers.position[mover][1] == pytest.approx(40 - 0.5 * 15 * (119 / 60) ** 2, rel=1e-6)

    @pytest.mark.parametrize("origin", [30_000_000, -30_000_000, 900_000_000])
    def test_far_from_the_origin_all_is_as_near_it(self, origin):
        ends = []
        for at in (0, origin):
            world = ea.World.empty(size=(40, 16, 40), origin=(at, 0, at))
            world.fill((at, 0, at), (at + 40, 1, at + 40), "stone")
            world.fill((at + 12, 1, at), (at + 13, 2, at + 40), "stone_slab")
            world.fill((at + 20, 1, at), (at + 21, 4, at + 40), "stone")
            stage = Stage(world)
            mover = stage.add((at + 5.5, 1.0, at + 5.5))
            stage.tick()
            stage.movers.wish_direction[mover] = (1, 0, 0.3)
            stage.run(4)
            assert overlap(world, stage.movers.position[mover], stage.movers.size[mover]) < 0
            ends.append(stage.movers.position[mover] - (at, 0, at))
        assert ends[1] == pytest.approx(ends[0], abs=1e-3)

    @pytest.mark.parametrize("shift", range(4))
    def test_where_numbers_are_coarse_the_gap_is_wider(self, shift):
        """At 9e11 cells two neighbours in float64 are eight of the usual gaps apart."""
        ends = []
        for at in (0, 900_000_000_000):
            world = ea.World.empty(size=(400, 100, 100), origin=(at, 0, at), cell_size=0.001)
            world.fill((at, 0, at), (at + 400, 10, at + 100), "stone")
            world.fill((at + 200, 10, at), (at + 400, 20, at + 100), "stone")
            world.fill((at + 300 + shift, 20, at), (at + 400, 90, at + 100), "stone")
            stage = Stage(world, units_per_metre=1000)
            for k in range(10):
                stage.add(np.array((at + 60.3 + k * 1.7, 10, at + 50.2)) * 0.001)
            stage.tick()
            stage.movers.wish_direction[:] = (1, 0, 0)
            stage.run(1.5)
            stage.movers.wish_direction[:] = (1, 0, -0.1)
            stage.run(1)
            assert stage.movers.on_ground.all()
            ends.append((stage.movers.position - np.array((at, 0, at)) * 0.001) * 1000)
        assert ends[1] == pytest.approx(ends[0], abs=0.05)
        assert ends[0][:, :2] == pytest.approx(np.array([[284 + shift, 20]] * 10), abs=0.05)

    @pytest.mark.parametrize("kind", ["walker", "debris"])
    def test_one_that_is_put_down_a_rounding_below_the_floor_goes_on_it_freely(self, kind):
        world = ea.World.empty(size=(64, 16, 16))
        world.fill((0, 0, 0), (64, 3, 16), "stone")
        stage = Stage(world)
        mover = stage.add((5.5, np.nextafter(3, 0), 5.5), kind, velocity=(6, 0, 1), friction=0.2)
        xs = []
        stage.run(1.5, each=lambda: xs.append(stage.movers.position[mover][0]))
        gone = np.diff(xs)[:10]
        assert (gone > 0.02).all() if kind == "walker" else (np.abs(np.diff(gone)) < 0.002).all()
        assert xs[-1] > (6 if kind == "walker" else 10)
        assert stage.movers.position[mover][1] == np.nextafter(3, 0)


class TestShapes:
    @pytest.mark.parametrize(
        ("names", "height", "rise"),
        [
            ("stone oak_log white_wool oak_leaves glass oak_door iron_bars glass_pane unheard_of", 1, 0),
            ("stone_slab[type=double] double_stone_slab oak_double_slab chest_of_drawers", 1, 0),
            (
                "air water lava tall_grass poppy torch ladder rail oak_button oak_pressure_plate oak_sign",
                0,
                0,
            ),
            ("white_wall_banner powder_snow oak_door_open fire minecraft:lever", 0, 0),
            ("oak_slab minecraft:stone_slab[type=top] stairs:slab_wood cake", 0.5, 0),
            ("oak_stairs[half=top] stairs:stair_stone", 0.5, 0.5),
            ("oak_fence nether_brick_fence_gate brick_wall default:fence_wood", 1.5, 0),
            ("red_carpet moss_carpet snow[layers=8]", 0.1, 0),
            ("oak_trapdoor", 0.1875, 0),
            ("chest ender_chest soul_sand", 0.875, 0),
            ("farmland dirt_path", 0.9375, 0),
        ],
    )
    def test_a_name_says_how_high_a_cell_stands(self, names, height, rise):
        palette = ea.World.empty(size=(1, 1, 1)).palette
        for name in names.split():
            number = palette.id(name)
            assert (palette.height[number], palette.rise[number]) == (height, rise), name

    def test_what_a_material_file_opens_is_passed(self, tmp_path):
        (tmp_path / "mine.toml").write_text(
            '[[patterns]]\ngroup = "plants"\nnames = ["curtain*"]\n', encoding="utf-8"
        )
        world = ea.World.empty(size=(1, 1, 1), materials=ea.Materials.load(tmp_path / "mine.toml"))
        assert world.palette.height[world.palette.id("curtain_wall")] == 0

    def test_heights_outlive_a_growing_palette(self):
        world = ea.World.empty(size=(4, 4, 4))
        numbers = [world.palette.id(f"mod:thing_{k}_slab") for k in range(300)]
        assert (world.palette.height[numbers] == 0.5).all()


class TestInsideSolids:
    """What a wall was built around can leave it, and is never pushed."""

    @pytest.mark.parametrize("depth", [0.02, 0.2, 0.35])
    def test_out_of_a_wall_but_not_deeper(self, depth):
        world = ea.World.empty(size=(24, 16, 24))
        world.fill((0, 0, 0), (24, 1, 24), "stone")
        world.fill((10, 1, 0), (11, 5, 24), "stone")
        for sign in (1, -1):
            stage = Stage(world)
            x = 10 - 0.4 + depth if sign > 0 else 11 + 0.4 - depth
            mover = stage.add((x, 1.0001, 4.5))
            stage.run(0.5)
            assert stage.movers.position[mover][[0, 2]].tolist() == [x, 4.5]
            stage.movers.wish_direction[mover] = (sign, 0, 0)
            stage.run(0.5)
            assert stage.movers.position[mover][0] == x
            stage.movers.wish_direction[mover] = (-sign, 0, 0)
            stage.run(1)
            assert abs(stage.movers.position[mover][0] - x) > 1

    def test_a_floor_that_rises_into_the_feet_is_stood_in_and_left_by_a_jump(self):
        world = ea.World.empty(size=(24, 16, 24))
        world.fill((0, 0, 0), (24, 1, 24), "stone")
        stage = Stage(world)
        mover = stage.add((4.5, 1.0, 4.5))
        stage.run(0.2)
        world.fill((0, 1, 0), (24, 2, 24), "red_carpet")
        before = stage.movers.position[mover].copy()
        stage.run(0.5)
        assert (stage.movers.position[mover] == before).all()
        assert stage.movers.on_ground[mover]
        stage.movers.jump[mover] = 1
        stage.run(2)
        assert stage.movers.position[mover][1] == pytest.approx(1.1, abs=1e-3)

    def test_in_the_middle_of_rock_nothing_moves_farther_than_its_cell(self):
        world = ea.World.empty(size=(24, 24, 24))
        world.fill((0, 0, 0), (24, 24, 24), "stone")
        rng = np.random.default_rng(0)
        stage = Stage(world)
        start = rng.uniform(8, 16, (100, 3))
        for k, place in enumerate(start):
            kind = ("walker", "projectile", "debris")[k % 3]
            stage.add(place, kind, velocity=rng.normal(size=3) * 40)
        stage.run(2)
        assert np.abs(stage.movers.position - start).max() <= 1


class TestProjectiles:
    def flown(self, velocity, name="bricks", hz=60, **options):
        world = ea.World.empty(size=(64, 32, 64))
        world.fill((40, 0, 0), (41, 32, 64), name)
        stage = Stage(world)
        mover = stage.add((10, 16, 32.25), "projectile", velocity=velocity, **options)
        hits = []
        stage.run(2, hz, each=lambda: hits.append(int(stage.movers.hit[mover])))
        return stage, mover, hits

    @pytest.mark.parametrize("speed", [20, 300, 4000])
    def test_it_stops_at_a_wall_and_says_where(self, speed):
        stage, mover, hits = self.flown((speed, 0, 0), gravity=0)
        m = stage.movers
        assert sum(hits) == 1
        first = hits.index(1)
        assert first == math.ceil((40 - 10.05) / speed * 60 - 1e-9)  # the first tick finds it where it begins
        assert m.position[mover] == pytest.approx([39.95, 16, 32.25], abs=1e-4)
        assert m.velocity[mover].tolist() == [0, 0, 0]
        assert m.hit_point[mover] == pytest.approx([40, 16.05, 32.25], abs=1e-4)
        assert m.hit_cell[mover].tolist() == [40, 16, 32]
        assert stage.world.material(m.hit_cell[mover]) == "bricks"
        assert m.resting[mover]

    def test_the_tick_of_the_hit_tells_normal_and_speed_and_the_next_none(self):
        world = ea.World.empty(size=(64, 32, 64))
        world.fill((0, 0, 0), (64, 1, 64), "sand")
        stage = Stage(world)
        mover = stage.add((10, 6, 32), "projectile", velocity=(20, 0, 0), gravity=9.81)
        while not stage.movers.hit[mover]:
            stage.tick()
        assert stage.movers.hit_normal[mover].tolist() == [0, 1, 0]
        assert stage.movers.hit_speed[mover] == pytest.approx(math.sqrt(2 * 9.81 * 5), rel=0.02)
        stage.tick()
        assert (stage.movers.hit[mover], stage.movers.hit_speed[mover]) == (0, 0)
        assert stage.movers.hit_normal[mover].tolist() == [0, 0, 0]
        assert stage.movers.hit_point[mover][1] == 1

    @pytest.mark.parametrize("hz", [20, 60, 120])
    def test_it_flies_a_parabola_at_any_rate(self, hz):
        world = ea.World.empty(size=(16, 16, 16))
        stage = Stage(world)
        mover = stage.add((0, 0, 0), "projectile", velocity=(30, 40, -5), gravity=9.81)
        stage.tick()
        stage.run(2, hz)
        assert stage.movers.position[mover] == pytest.approx([60, 80 - 9.81 * 2, -10], rel=1e-9)
        assert stage.movers.velocity[mover] == pytest.approx([30, 40 - 19.62, -5], rel=1e-9)

    def test_it_flies_again_when_it_is_given_a_velocity(self):
        stage, mover, _ = self.flown((300, 0, 0), gravity=0)
        stage.movers.velocity[mover] = (-30, 0, 0)
        stage.run(0.5)
        assert stage.movers.position[mover][0] == pytest.approx(39.95 - 15, abs=1e-3)

    def test_one_from_outside_of_the_world_comes_in(self):
        world = ea.World.empty(size=(16, 16, 16))
        world.fill((8, 0, 0), (9, 16, 16), "stone")
        stage = Stage(world)
        for x, v in ((-5e8, 1e9), (5e8, -1e9)):
            stage.add((x, 8, 8), "projectile", velocity=(v, 0, 0), gravity=0)
        stage.run(2)
        assert stage.movers.position[:, 0] == pytest.approx([7.95, 9.05], abs=1e-2)

    def test_it_never_leaves_the_numbers(self):
        stage, mover, _ = self.flown((0, 1e9, 0), gravity=0)
        stage.run(5)
        assert stage.movers.position[mover][1] == 1e9


class TestDebris:
    def fallen(self, bounce, friction=0.5, velocity=(0, 0, 0), seconds=6, hz=60):
        world = ea.World.empty(size=(64, 32, 16))
        world.fill((0, 0, 0), (64, 1, 16), "stone")
        stage = Stage(world)
        mover = stage.add((8, 5, 8), "debris", bounce=bounce, friction=friction, velocity=velocity)
        log = []
        m = stage.movers
        stage.run(
            seconds, hz, each=lambda: log.append((m.hit[mover], m.hit_speed[mover], *m.position[mover]))
        )
        return stage, mover, np.array(log)

    @pytest.mark.parametrize("bounce", [0.0, 0.4, 0.7])
    def test_each_bounce_keeps_its_share_and_it_comes_to_rest(self, bounce):
        stage, mover, log = self.fallen(bounce)
        speeds = log[log[:, 0] == 1, 1]
        assert speeds[0] == pytest.approx(math.sqrt(2 * 15 * 4), rel=0.03)
        if bounce:
            assert speeds[1:4] / speeds[:3] == pytest.approx([bounce] * len(speeds[1:4]), abs=0.09)
        assert stage.movers.resting[mover]
        assert stage.movers.position[mover][1] == pytest.approx(1, abs=1e-3)
        assert stage.movers.velocity[mover].tolist() == [0, 0, 0]

    def test_it_slides_as_far_as_friction_lets_it(self):
        world = ea.World.empty(size=(64, 32, 16))
        world.fill((0, 0, 0), (64, 1, 16), "stone")
        stage = Stage(world)
        mover = stage.add((8, 1, 8), "debris", bounce=0, velocity=(6, 0, 0))
        stage.run(3, 120)
        # v^2 / (2 mu g), and what the first touch of the ground takes.
        assert stage.movers.position[mover][0] - 8 == pytest.approx(36 / 15, rel=0.05)
        assert stage.movers.resting[mover]

    def test_energy_never_grows(self):
        rng = np.random.default_rng(5)
        world = closed(rng, share=0.1)
        stage = Stage(world)
        for place in free_places(rng, world, 60, (0.2, 0.2, 0.2)):
            stage.add(place, "debris", velocity=rng.normal(size=3) * 20, bounce=rng.uniform(0, 1))
        before = None
        for _ in range(300):
            stage.tick()
            m = stage.movers
            energy = 15 * m.position[:, 1] + 0.5 * (m.velocity**2).sum(axis=1)
            if before is not None:
                assert (energy <= before * (1 + 1e-9) + 0.05 * np.abs(m.velocity[:, 1]) + 0.1).all()
            before = energy

    def test_it_falls_on_when_what_it_lies_on_is_gone(self):
        stage, mover, _ = self.fallen(0.3)
        stage.world.fill((0, 0, 0), (64, 1, 16), "air")
        stage.run(1)
        assert stage.movers.position[mover][1] < -3
        assert not stage.movers.resting[mover]


def free_places(rng, world, count, size):
    """Places at which a body touches nothing [m]."""
    low, high = world.origin + 1.0, world.origin + world.size - 1.0
    places = []
    while len(places) < count:
        place = rng.uniform(low, high) * world.cell_size
        if overlap(world, place, size) < -1e-3:
            places.append(place)
    return places


def assert_kept(stage, where):
    low = (stage.world.origin + 1) * stage.world.cell_size
    high = (stage.world.origin + stage.world.size - 1) * stage.world.cell_size
    m = stage.movers
    assert np.isfinite(m.position).all()
    assert np.isfinite(m.velocity).all()
    half = m.size * (0.5, 0, 0.5)
    # Up to half of the gap counts as touching: 8 micrometres at a metre a cell.
    touching = 0.51 * (GAP + GAP_FAR * np.abs(m.position / stage.world.cell_size).max())
    assert (m.position - half > low).all(), where
    assert (m.position - half + m.size < high).all(), where
    for k in range(m.count):
        depth = overlap(stage.world, m.position[k], m.size[k])
        assert depth <= touching, (where, k, depth, m.position[k], m.velocity[k], m.size[k])


def throw_about(seed, count=50, ticks=12):
    """Bodies of all kinds and sizes at up to 3500 units/s in a closed box of rubble, at 20 to 120 ticks/s."""
    rng = np.random.default_rng(seed)
    cell_size = float(rng.choice([0.25, 1.0, 2.0]))
    far = 30_000_000 if seed % 4 == 3 else 0
    world = closed(rng, origin=(far, -3, -far), share=rng.uniform(0, 0.2), cell_size=cell_size)
    hz = rng.uniform(20, 120)
    stage = Stage(world)
    for k in range(count):
        size = rng.uniform(0.1, 1.8, 3) * cell_size
        (place,) = free_places(rng, world, 1, size)
        way = rng.normal(size=3)
        way *= rng.integers(0, 2, 3) if k % 5 == 0 else 1
        velocity = way / max(np.linalg.norm(way), 1e-9) * 87.5 * rng.uniform(0, 1)
        kind = ("walker", "walker", "debris", "projectile")[k % 4]
        stage.add(
            place, kind, velocity=velocity, size=size, bounce=rng.uniform(0, 1), step_height=0.6 * cell_size
        )
    for tick in range(ticks):
        stage.movers.wish_direction[:] = rng.normal(size=(count, 3))
        stage.movers.jump[:] = rng.integers(0, 2, count)
        if tick % 4 == 3:  # another push, so that it goes on
            stage.movers.velocity[:] += rng.uniform(-87.5, 87.5, (count, 3))
        stage.tick(1 / hz)
        assert_kept(stage, (seed, tick, hz, cell_size))
    return count


def test_no_body_of_500_is_ever_in_or_beyond_a_wall_of_one_cell():
    assert sum(throw_about(seed) for seed in range(10)) == 500


@pytest.mark.slow
def test_no_body_of_10_000_is_ever_in_or_beyond_a_wall_of_one_cell():
    assert sum(throw_about(seed, ticks=20) for seed in range(1000, 1200)) == 10_000


class TestDenseScan:
    """The swept box and a scan of all cells by small steps agree."""

    @pytest.mark.parametrize("seed", range(4))
    def test_on_where_bodies_stop(self, seed):
        rng = np.random.default_rng(seed)
        world = closed(rng, share=0.06)
        stage = Stage(world)
        sizes = rng.uniform(0.1, 1.5, (40, 3))
        for size in sizes:
            (place,) = free_places(rng, world, 1, size)
            way = rng.normal(size=3)
            stage.add(place, "projectile", size=size, velocity=way / np.linalg.norm(way) * 1200, gravity=0)
        start, ways = stage.movers.position.copy(), stage.movers.velocity / 60
        stage.tick()
        stage.tick()
        assert stage.movers.hit.all()  # of 20 m, and the box is 20 m long
        for k, size in enumerate(sizes):
            gone = np.linalg.norm(stage.movers.position[k] - start[k])
            scanned = first_contact(world, start[k], size, ways[k], step=0.01) * 20
            assert gone - 1e-3 <= scanned <= gone + 0.02, (k, gone, scanned)

    @pytest.mark.parametrize("kind", ["walker", "debris"])
    def test_on_the_height_at_which_bodies_rest(self, kind):
        rng = np.random.default_rng(11)
        world = closed(rng, share=0.1)
        stage = Stage(world)
        for _ in range(60):
            size = rng.uniform(0.2, 1.8, 3)
            (place,) = free_places(rng, world, 1, size)
            stage.add(place, kind, size=size, bounce=0.3)
        heights = [
            rest_height(world, p, s) for p, s in zip(stage.movers.position, stage.movers.size, strict=True)
        ]
        assert max(heights) > 1
        stage.run(5)
        assert stage.movers.on_ground.all()
        over = stage.movers.position[:, 1] - heights
        assert (over > 0).all()
        assert over.max() <= 2.1 * GAP

    def test_on_a_walker_that_stops(self):
        """Where a walker has stopped before its wish, something stands, higher than a step."""
        rng = np.random.default_rng(3)
        world = closed(rng, size=(24, 8, 24), share=0.08)
        stage = Stage(world)
        for place in free_places(rng, world, 40, (0.8, 1.8, 0.8)):
            stage.add(place)
        stage.run(2)
        turns = rng.integers(0, 4, 40)
        wish = np.stack([np.cos(turns * np.pi / 2), turns * 0, np.sin(turns * np.pi / 2)], axis=1).round()
        stage.movers.wish_direction[:] = wish
        stage.run(5)
        m, ahead = stage.movers, 0
        for k in range(40):
            assert np.abs(m.velocity[k]).max() == 0
            assert overlap(world, m.position[k] + 1e-3 * wish[k], m.size[k]) > 0
            lifted = m.position[k] + (0, 0.59, 0)
            free = overlap(world, lifted, m.size[k]) < 0
            ahead += free and overlap(world, lifted + 1e-3 * wish[k], m.size[k]) > 0
        assert ahead > 20


def test_results_do_not_depend_on_how_many_move_or_in_which_order():
    rng = np.random.default_rng(8)
    world = closed(rng, share=0.1)
    places = free_places(rng, world, 40, (0.8, 1.8, 0.8))
    velocities = rng.normal(size=(40, 3)) * 30
    wishes = rng.normal(size=(40, 3))

    def run(order):
        stage = Stage(world)
        for k in order:
            kind = ("walker", "debris", "projectile")[k % 3]
            stage.add(places[k], kind, velocity=velocities[k])
        stage.movers.wish_direction[:] = wishes[order]
        stage.run(2)
        return stage.movers.position.copy()

    together = run(np.arange(40))
    shuffled = rng.permutation(40)
    assert (run(shuffled) == together[shuffled]).all()
    for k in (0, 7, 20):
        assert (run(np.array([k])) == together[k]).all()
