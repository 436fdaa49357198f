"""Movers in an engine: what walks, flies and falls is heard from where it is."""

import math

import esper
import numpy as np
import pytest
from bodies import Stage
from conftest import FRAMES, RATE, TICK
from lockstep import PREFILL, live, offline
from naive_movement import first_contact, overlap
from test_allocation import Watch

import ecs_audio as ea
from ecs_audio.cli.png import write_png
from ecs_audio.components import Mover
from ecs_audio.telemetry import SYSTEMS


def street():
    """A floor, and a wall across it."""
    world = ea.World.empty(size=(96, 32, 48), origin=(-48, 0, -24))
    world.fill((-48, 0, -24), (48, 1, 24), "stone")
    world.fill((30, 1, -24), (31, 12, 24), "bricks")
    return world


@pytest.fixture
def engine(engine_with, clips):
    return engine_with(clips, street())


def run(engine, seconds, before=None):
    for _ in range(round(seconds / TICK)):
        if before is not None:
            before()
        engine.tick(TICK)


class TestHeard:
    def test_a_listener_that_walks_to_a_source_hears_it_get_louder(self, engine):
        engine.listener.look(position=(-20, 2.6, 0))
        tone = engine.spawn("tone", position=(10, 2.6, 0), looping=True, volume=0.2)
        mover = engine.move(engine.listener)
        engine.movers.wish_direction[mover] = (1, 0, 0)
        levels = []
        for _ in range(240):
            engine.tick(TICK)
            levels.append(np.abs(engine.render(FRAMES)).max())
        # Friction and the wish take half a second to come to terms.
        assert engine.listener.position == pytest.approx([-20 + 6.25 * 4, 2.6, 0], abs=0.5)
        assert engine.sources.distance[tone] < 6
        assert np.mean(levels[-30:]) > 3 * np.mean(levels[30:60])

    def test_a_walker_is_where_its_eyes_are_1_6_m_above_its_soles(self, engine):
        engine.listener.look(position=(0, 5, 0))
        mover = engine.move(engine.listener)
        run(engine, 2)
        assert engine.movers.on_ground[mover]
        assert engine.listener.position == pytest.approx([0, 2.6, 0], abs=1e-4)
        assert engine.movers.position[mover] == pytest.approx([0, 1, 0], abs=1e-4)

    def test_the_first_tick_finds_a_body_where_it_begins_and_each_next_where_it_has_come_to(self, engine):
        shell = engine.spawn("tone", position=(0, 10, 0), looping=True)
        engine.tick(0.5)
        engine.move(shell, kind="projectile", velocity=(8, 0, 0), gravity=0)
        for dt, x in ((0.25, 0), (0.125, 2), (0.5, 3), (0.1, 7)):
            engine.tick(dt)
            assert engine.sources.position[shell] == pytest.approx([x, 10, 0])

    def test_doppler_is_steady_however_unevenly_the_host_ticks(self, engine):
        """A mover is moved by the time that has passed until a tick, not by the time that follows."""
        rng = np.random.default_rng(0)
        shell = engine.spawn("tone", position=(-3, 10, 0), looping=True)
        engine.listener.look(position=(0, 10, 0))
        engine.move(shell, kind="projectile", velocity=(-25, 0, 0), gravity=0)
        paces = []
        for _ in range(80):
            engine.tick(rng.integers(400, 1600) / RATE)
            paces.append(engine.sources.pace[shell])
        assert paces[20:] == pytest.approx([343 / (343 + 25)] * 60, rel=1e-6)

    def test_a_missile_that_hits_tells_and_gives_way_to_its_blast(self, engine):
        engine.listener.look(position=(20, 2, 5))
        missile = engine.spawn("tone", position=(-20, 4, 0), looping=True, volume=0.3)
        mover = engine.move(missile, kind="projectile", velocity=(60, 0, 0), gravity=0)
        blast = None
        for tick in range(120):
            engine.tick(TICK)
            engine.render(FRAMES)
            if blast is None and engine.movers.hit[mover]:
                assert tick == math.ceil(49.95 / 60 * 60)
                assert engine.world.material(engine.movers.hit_cell[mover]) == "bricks"
                assert engine.movers.hit_normal[mover].tolist() == [-1, 0, 0]
                where = engine.movers.hit_point[mover].copy()
                assert where == pytest.approx([30, 4, 0], abs=1e-3)
                engine.despawn(missile, ring_out=True)
                blast = engine.spawn("low", position=where + 0.1 * np.array((-1, 0, 0)), looping=True)
                engine.world.carve(where, radius=2)
        assert blast is not None
        assert not mover.alive
        assert engine.movers.count == 0
        assert engine.sources.transmission[blast] == 1
        assert engine.sources.count == 1

    def test_live_output_and_blocks_agree(self, clips):
        def scene():
            engine = ea.Engine(street(), clips, seed=2)
            engine.listener.look(position=(-8, 2.6, 2))
            walker = engine.move(engine.listener)
            shots = []

            def before(k):
                engine.movers.wish_direction[walker] = (math.cos(k / 20), 0, math.sin(k / 20))
                engine.movers.jump[walker] = k % 30 < 2
                if k % 8 == 0:
                    shot = engine.spawn("tone", position=(0, 4, k % 5), looping=True, volume=0.1)
                    kind = ("debris", "projectile")[k // 8 % 2]
                    shots.append((shot, engine.move(shot, kind=kind, velocity=(20, 5, k % 7 - 3))))

            def after(_):
                for shot, mover in list(shots):
                    if engine.movers.hit[mover]:
                        engine.despawn(shot)
                        shots.remove((shot, mover))

            return engine, before, after

        engine, before, after = scene()
        with engine:
            expected = offline(engine, 60, before, after=after)
        engine, before, after = scene()
        with engine:
            heard, _ = live(engine, 60, before, after=after)
        assert np.abs(expected).max() > 0.01
        assert (heard[: len(expected) - PREFILL] == expected[: len(heard)][: len(expected) - PREFILL]).all()


class TestRows:
    def test_removing_sources_leaves_the_other_movers_with_theirs(self, engine):
        rng = np.random.default_rng(1)
        sources = [engine.spawn("tone", position=(k, 20, 0), looping=True) for k in range(20)]
        movers = {
            s: engine.move(s, kind="projectile", velocity=(0, 0, k / 10), gravity=0)
            for k, s in enumerate(sources)
        }
        engine.tick(0.1)
        begun = {s: k for k, s in enumerate(sources)}
        for round_ in range(1, 11):
            gone = sources.pop(rng.integers(len(sources)))
            engine.despawn(gone)
            assert not movers[gone].alive
            engine.tick(0.1)
            for source in sources:
                k = begun[source]
                assert engine.sources.position[source] == pytest.approx([k, 20, k / 10 * 0.1 * round_])
        assert engine.movers.count == 10

    def test_a_removed_mover_leaves_its_source_where_it_is(self, engine):
        tone = engine.spawn("tone", position=(0, 20, 0), looping=True)
        mover = engine.move(tone, kind="debris")
        run(engine, 0.5)
        engine.movers.remove(mover)
        where = engine.sources.position[tone].copy()
        run(engine, 0.2)
        assert (engine.sources.position[tone] == where).all()
        with pytest.raises(IndexError):
            engine.movers.velocity[mover] = (1, 0, 0)
        again = engine.move(tone, kind="debris")
        run(engine, 0.5)
        assert again.alive
        assert engine.sources.position[tone][1] < where[1] - 1

    def test_a_one_shot_takes_its_mover_along_when_it_ends(self, engine):
        click = engine.spawn("click", position=(0, 3, 0))
        mover = engine.move(click, kind="debris")
        for _ in range(30):
            engine.tick(TICK)
            engine.render(FRAMES)
        assert not mover.alive
        assert engine.movers.count == 0

    def test_a_mover_is_a_component_of_its_sources_entity(self, clips):
        esper.switch_world("test_movers host")
        try:
            with ea.Engine(street(), clips) as engine:
                entity = esper.create_entity()
                source = engine.attach(entity, "tone", position=(0, 5, 0), looping=True)
                mover = engine.move(source, kind="debris")
                assert esper.component_for_entity(entity, Mover) is mover
                assert engine.movers.entity[mover] == entity
                engine.tick(TICK)
                engine.movers.remove(mover)
                engine.tick(TICK)
                assert not esper.has_component(entity, Mover)
                mover = engine.move(source, kind="debris")
                esper.delete_entity(entity)
                engine.tick(TICK)
                assert not mover.alive
                assert engine.movers.count == 0
                entity = esper.create_entity()
                source = engine.attach(entity, "tone", position=(0, 5, 0))
                esper.delete_entity(entity, immediate=True)
                with pytest.raises(KeyError):
                    engine.move(source)
                assert engine.movers.count == 0
        finally:
            esper.switch_world("default")
            esper.delete_world("test_movers host")

    def test_a_listener_may_stop_moving_and_move_again(self, engine):
        engine.listener.look(position=(0, 2.6, 0))
        first = engine.move(engine.listener)
        engine.tick(TICK)
        engine.movers.remove(first)
        engine.tick(TICK)
        engine.listener.look(position=(5, 9, 0))
        engine.tick(TICK)
        assert engine.listener.position.tolist() == [5, 9, 0]
        second = engine.move(engine.listener)
        assert engine.movers.position[second] == pytest.approx([5, 7.4, 0])

    def test_after_a_reset_the_same_moves_give_the_same_bytes(self, engine):
        def story():
            engine.listener.look(position=(0, 2.6, 0))
            walker = engine.move(engine.listener)
            shot = engine.spawn("tone", position=(5, 8, 0), looping=True, volume=0.2)
            engine.move(shot, kind="debris", velocity=(6, 0, 1))
            blocks = []
            for k in range(40):
                engine.movers.wish_direction[walker] = (math.sin(k), 0, 1)
                engine.tick(TICK)
                blocks.append(engine.render(FRAMES).copy())
            return np.concatenate(blocks).tobytes()

        first = story()
        engine.reset()
        assert engine.movers.count == 0
        assert story() == first

    def test_another_world_is_walked_in_from_the_next_tick(self, engine):
        engine.listener.look(position=(0, 2.6, 0))
        mover = engine.move(engine.listener)
        run(engine, 0.2)
        engine.world = ea.World.empty(size=(16, 16, 16))
        run(engine, 0.5)
        assert engine.movers.position[mover][1] < 0


class TestErrors:
    @pytest.mark.parametrize(
        ("column", "value"),
        [("position", (0, math.nan, 0)), ("velocity", (math.inf, 0, 0)), ("wish_direction", (math.nan, 0, 0)),
         ("gravity", math.inf), ("size", (0, 1, 1)), ("bounce", 1.5), ("step_height", -1)],
    )  # fmt: skip
    def test_a_bad_value_costs_only_itself_and_the_last_good_one_is_back(self, engine, column, value):
        engine.listener.look(position=(0, 5, 0))
        walker = engine.move(engine.listener)
        stone = engine.spawn("tone", position=(0, 9, 3), looping=True)
        engine.move(stone, kind="debris")
        run(engine, 0.2)
        before = engine.movers.position[walker].copy()
        good = getattr(engine.movers, column)[walker].copy()
        falling = float(engine.movers.velocity[walker][1])
        height = engine.sources.position[stone][1]
        getattr(engine.movers, column)[walker] = value
        with pytest.raises(ea.BadValueError, match=f"{column} of entity .* must lie between"):
            engine.tick(TICK)
        assert engine.sources.position[stone][1] < height
        after = getattr(engine.movers, column)[walker]
        if column == "velocity":
            good[1] -= 15 * TICK
        if column == "position":
            good[1] += falling * TICK - 7.5 * TICK**2
        assert after == pytest.approx(good)
        assert engine.movers.position[walker][1] < before[1]
        engine.tick(TICK)

    def test_what_cannot_move_is_refused_and_nothing_is_added(self, engine):
        placed = engine.spawn("tone", position=(0, 5, 0), looping=True)
        flat = engine.spawn("tone", looping=True)
        gone = engine.spawn("tone", position=(0, 5, 0))
        engine.despawn(gone)
        for body, options, error, message in (
            (flat, {}, ValueError, "has no position to move from"),
            (gone, {}, ea.DeadRowError, "was removed"),
            ("drone", {}, TypeError, "not 'drone'"),
            (3, {}, TypeError, "a source or this engine's listener"),
            (placed, {"kind": "flyer"}, ValueError, "walker, projectile, debris, not 'flyer'"),
            (placed, {"weight": 3}, TypeError, "no option 'weight'"),
            (placed, {"velocity": (1, 2)}, ValueError, "velocity must be three finite numbers"),
            (placed, {"velocity": (1, math.nan, 2)}, ValueError, "velocity"),
            (placed, {"gravity": "much"}, ValueError, "gravity must be a finite number from"),
            (placed, {"bounce": 2}, ValueError, "bounce must be a finite number from 0 to 1, not 2"),
            (placed, {"size": 0}, ValueError, "size"),
            (placed, {"size": (1, 100, 1)}, ValueError, "from 1e-06 to 64"),
        ):
            with pytest.raises(error, match=message):
                engine.move(body, **options)
        assert engine.movers.count == 0
        engine.move(placed)
        with pytest.raises(ValueError, match="moves already"):
            engine.move(placed)
        assert engine.movers.count == 1

    def test_a_full_table_refuses_and_goes_on(self, engine_with, clips):
        engine = engine_with(clips, street(), max_movers=2)
        rows = [engine.spawn("tone", position=(k, 5, 0), looping=True) for k in range(3)]
        first = engine.move(rows[0], kind="debris")
        engine.move(rows[1], kind="debris")
        with pytest.raises(ea.TableFullError, match="all 2 rows"):
            engine.move(rows[2], kind="debris")
        engine.movers.remove(first)
        engine.move(rows[2], kind="debris")
        engine.tick(TICK)

    def test_a_closed_engine_says_so(self, clips):
        engine = ea.Engine(street(), clips)
        engine.close()
        with pytest.raises(RuntimeError, match="closed"):
            engine.move(engine.listener)

    @pytest.mark.parametrize("name", ["max_movers", "units_per_metre"])
    def test_a_setting_that_cannot_be_is_named(self, name):
        with pytest.raises(ValueError, match=name):
            ea.Settings(**{name: 0})


def test_units_per_metre_scales_every_figure(clips):
    heights = {}
    for units in (40.0, 52.5):
        with ea.Engine(street(), clips, settings=ea.Settings(units_per_metre=units)) as engine:
            engine.listener.look(position=(0, 1 + 64 / units, 0))
            mover = engine.move(engine.listener)
            engine.tick(TICK)
            engine.movers.jump[mover] = 1
            tops = []
            run(engine, 1.5, lambda tops=tops, e=engine, m=mover: tops.append(e.movers.position[m][1] - 1))
            heights[units] = max(tops)
            assert engine.movers.size[mover] == pytest.approx(np.array((32, 72, 32)) / units)
    assert heights[52.5] == pytest.approx(60.8 / 52.5, abs=0.002)
    assert heights[40.0] == pytest.approx(60.8 / 40, abs=0.002)


def test_the_time_of_moving_is_told_and_is_the_first_of_the_tick(engine):
    assert SYSTEMS[0] == "move"
    engine.tick(TICK)
    none = engine.status()["us_move"]
    for k in range(200):
        engine.move(engine.spawn("tone", position=(k % 20, 9, k // 20)), kind="debris")
    engine.tick(TICK)
    assert engine.status()["us_move"] > none >= 0


def test_a_thousand_warm_ticks_with_movers_allocate_nothing(clips):
    with ea.Engine(street(), clips) as engine:
        engine.listener.look(position=(0, 2.6, 0))
        walker = engine.move(engine.listener)
        for k in range(60):
            source = engine.spawn("tone", position=(k % 20, 9, k // 20), looping=True, volume=0.02)
            engine.move(source, kind=("walker", "debris", "projectile")[k % 3], velocity=(k % 5, 0, k % 7))
        worst = 0
        with Watch() as watch:
            for k in range(1000):
                engine.movers.wish_direction[:] = (math.cos(k / 50), 0, math.sin(k / 50))
                engine.movers.jump[walker] = k % 50 < 5
                if k % 40 == 0:
                    engine.movers.velocity[:, 1] += 8
                peak = watch.peak_of(engine.tick, TICK)
                engine.render(FRAMES)
                worst = max(worst, peak) if k >= 60 else 0
    assert worst < 1024


class Walk:
    """Walkers that go their ways through a world; notes where anything is wrong, and draws it."""

    def __init__(self, world, places):
        self.stage = Stage(world, capacity=len(places))
        for place in places:
            self.stage.add(place)
        self.tracks, self.stops = [], []
        self.stage.run(3)  # down to the ground
        self.jumped = np.zeros(len(places), bool)

    def go(self, wish):
        """One tick towards unit vectors (n, 3), over blocks by jumping; each stop must have a reason."""
        m, world = self.stage.movers, self.stage.world
        before, way = m.position.copy(), m.velocity * (1, 0, 1)
        speeds = np.linalg.norm(way, axis=1)
        way /= np.maximum(speeds, 1e-9)[:, None]
        m.wish_direction[:], m.jump[:] = wish, self.jumped
        self.stage.tick()
        self.tracks.append(m.position.copy())
        gone = ((m.position - before) * way).sum(axis=1)
        halted = (gone < 0.5 * speeds / 60) & (speeds > 3)
        for k in range(m.count):
            assert overlap(world, m.position[k], m.size[k]) <= 0, (k, m.position[k])
            if halted[k]:
                self.stops.append(m.position[k].copy())
                ahead = (0.01 + speeds[k] / 60) * way[k]
                assert first_contact(world, before[k], m.size[k], ahead) < 1, ("nothing stands", before[k])
        self.jumped = speeds < 0.5

    def draw(self, path):
        """A map of heights, with the ways in red and the stops in yellow."""
        world = self.stage.world
        heights = world.heights().astype(float)
        known = heights >= world.origin[1]
        low = heights[known].min() if known.any() else 0
        grey = np.where(known, 60 + 160 * (heights - low) / max(np.ptp(heights[known]), 1), 0)
        pixels = np.repeat(np.repeat(grey.T[:, :, None], 4, axis=0), 4, axis=1)
        pixels = np.repeat(pixels, 3, axis=2).astype(np.uint8)
        for points, colour in ((np.concatenate(self.tracks), (255, 40, 40)), (self.stops, (255, 255, 0))):
            for x, _, z in points:
                u, v = int(4 * (x - world.origin[0])), int(4 * (z - world.origin[2]))
                if 0 <= u < pixels.shape[1] and 0 <= v < pixels.shape[0]:
                    pixels[v, u] = colour
        write_png(path, pixels)


class TestRealWorlds:
    def test_the_town_is_walked_round_its_streets(self, tmp_path):
        from scenarios._town import town

        built = town(7)
        ways = [np.array(way) for way in built.streets]
        walk = Walk(built.world, [way[0] + (0, 0.1, 0) for way in ways])
        aims = np.ones(len(ways), int)
        for _ in range(60 * 25):
            at = walk.stage.movers.position
            to = np.array([way[aim % len(way)] for way, aim in zip(ways, aims, strict=True)]) - at
            to[:, 1] = 0
            far = np.linalg.norm(to, axis=1)
            aims += far < 1
            walk.go(to / np.maximum(far, 0.1)[:, None])
        walk.draw(tmp_path / "town.png")
        assert (walk.stage.movers.position[:, 1] > 20.5).all()
        ways = np.linalg.norm(np.diff(np.array(walk.tracks), axis=0), axis=2).sum(axis=0)
        assert (ways > 0.95 * 6.25 * 25).all()  # corners cost a little
        assert not walk.stops  # streets are free

    def test_walkers_leave_rooms_only_by_holes_in_their_walls(self, tmp_path):
        from scenarios._town import town

        built = town(7)
        rng = np.random.default_rng(2)
        walk = Walk(built.world, built.rooms)
        angle = rng.uniform(0, 2 * np.pi, len(built.rooms))
        for _ in range(60 * 8):
            angle += rng.normal(size=len(angle)) * 0.15
            walk.go(np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1))
        walk.draw(tmp_path / "rooms.png")
        assert len(walk.stops) > 50

    @pytest.mark.parametrize("name", ["mca_1.21.1_r.0.0.mca", "mca_1.18.2_r.0.0.mca"])
    def test_a_real_region_is_wandered_through(self, name, shared_data, tmp_path):
        world = ea.World.load(shared_data / "worlds" / name)
        heights = world.heights()
        rng = np.random.default_rng(4)
        there = np.argwhere(heights > 0)
        inner = [
            c for c in there if (heights[max(c[0] - 8, 0) : c[0] + 9, max(c[1] - 8, 0) : c[1] + 9] > 0).all()
        ]
        chosen = np.array(inner)[rng.integers(0, len(inner), 24)]
        tops = heights[chosen[:, 0], chosen[:, 1]]
        places = np.stack([chosen[:, 0] + 0.5, tops + 1.5, chosen[:, 1] + 0.5], axis=1)
        walk = Walk(world, places + world.origin * (1, 0, 1))
        angle = rng.uniform(0, 2 * np.pi, len(places))
        for _ in range(60 * 10):
            at = np.floor(walk.stage.movers.position).astype(int) - world.origin
            ahead = at[:, [0, 2]] + np.round(6 * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(int)
            inside = ((ahead >= 0) & (ahead < heights.shape)).all(axis=1)
            known = heights[tuple(np.clip(ahead, 0, np.array(heights.shape) - 1).T)] > 0
            angle += np.where(inside & known, rng.normal(size=len(angle)) * 0.05, 0.3)
            walk.go(np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1))
        walk.draw(tmp_path / "region.png")
        end = walk.stage.movers.position
        assert (end[:, 1] > 0).all()  # nobody fell through
        tracks = np.array(walk.tracks)
        ways = np.linalg.norm(np.diff(tracks[:, :, [0, 2]], axis=0), axis=2).sum(axis=0)
        assert np.median(ways) > 20
