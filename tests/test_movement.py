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
