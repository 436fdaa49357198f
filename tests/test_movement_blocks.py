"""Bodies among cells of a metre: steps, stairs, fences, shapes, and solids that a body is inside of."""

import math

import numpy as np
import pytest
from bodies import Stage
from naive_movement import overlap

import ecs_audio as ea


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
