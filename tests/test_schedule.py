"""Tiers, budgets, and who waits: everything counts rays and cells, never time."""

import math

import numpy as np
import pytest
from conftest import TICK, wall_world

import ecs_audio as ea
from ecs_audio.kernels.heap import pop
from ecs_audio.kernels.lanes import LANES
from ecs_audio.kernels.schedule import queue_up


def crowd(clips, count=100, **settings):
    """Sources at 10 to 150 m all around, behind a wall or not."""
    engine = ea.Engine(wall_world((0, 1)), clips, settings=ea.Settings(**settings))
    engine.listener.look(position=(5.5, 0.5, 0.5))
    rng = np.random.default_rng(0)
    for _ in range(count):
        a, d = rng.uniform(0, 2 * math.pi), rng.uniform(10, 150)
        engine.spawn(
            "tone", position=(d * math.cos(a), 1, d * math.sin(a)), looping=True, volume=rng.uniform(0.2, 2)
        )
    return engine


def run(engine, seconds, check=None):
    rows = []
    for _ in range(round(seconds * 60)):
        rows.append(engine.tick(TICK).as_dict())
        if check is not None:
            check(engine)
    return rows


def test_the_loudest_are_full_and_the_next_direct(clips):
    with crowd(clips, 140) as engine:
        engine.tick(TICK)
        assert (engine.telemetry.full, engine.telemetry.direct, engine.telemetry.free) == (16, 84, 40)
        order = np.argsort(-engine.sources.loudness)
        assert set(engine.sources.tier[order[:16]]) == {ea.Tier.FULL}
        assert set(engine.sources.tier[order[100:]]) == {ea.Tier.FREE}


def test_a_source_within_its_own_distance_is_full_however_quiet(clips):
    with crowd(clips, 60) as engine:
        blast = engine.spawn("tone", position=(300, 0, 0), volume=0.01, full_within=400.0)
        engine.tick(TICK)
        assert engine.sources.tier[blast] == ea.Tier.FULL


def test_a_tier_changes_only_for_three_decibels_and_half_a_second(clips):
    with crowd(clips, 20, full_count=1, direct_count=2) as engine:
        engine.tick(TICK)
        loud = int(np.argmax(engine.sources.loudness))
        other = int(np.argsort(-engine.sources.loudness)[5])
        level = engine.sources.loudness[loud] / (
            engine.sources.loudness[other] / engine.sources.volume[other]
        )
        engine.sources.volume[other] = level * 1.3  # 2.3 dB louder
        run(engine, 2)
        assert engine.sources.tier[loud] == ea.Tier.FULL
        engine.sources.volume[other] = level * 1.6  # 4.1 dB
        run(engine, 0.4)
        assert engine.sources.tier[other] != ea.Tier.FULL
        run(engine, 0.2)
        assert engine.sources.tier[other] == ea.Tier.FULL


@pytest.mark.parametrize("budget", [0, 1, 7, 40, 200])
def test_rays_never_exceed_the_budget(budget, clips):
    with crowd(clips, max_rays=budget) as engine:
        assert max(row["rays"] for row in run(engine, 3)) <= budget


@pytest.mark.parametrize("budget", [50, 400, 3000])
def test_cells_exceed_the_budget_by_the_rays_in_flight_at_most(budget, clips):
    with crowd(clips, max_cells=budget) as engine:

        def check(engine):
            waves = engine.batch.rays.cells, engine.batch.trails.cells, engine.batch.sights.cells
            longest = max(int(cells.max(initial=0)) for cells in waves)
            assert engine.telemetry.cells < budget + LANES * longest

        run(engine, 2, check)


def test_with_half_and_a_tenth_of_the_wanted_rays_no_straight_path_is_older_than_two_seconds(clips):
    with crowd(clips) as engine:
        run(engine, 2)
        wanted = float(np.mean([row["rays"] for row in run(engine, 5)]))
    for share in (0.5, 0.1):
        with crowd(clips, max_rays=max(int(wanted * share), 1)) as engine:
            run(engine, 3)
            assert max(row["oldest_age"] for row in run(engine, 5)) < 2.0


def test_among_jobs_that_are_not_overdue_the_louder_is_fresher(clips):
    with crowd(clips, full_count=0, max_rays=4) as engine:
        run(engine, 4)
        ages = []
        run(engine, 4, lambda e: ages.append(e.sources.age.copy()))
        mean, loud = np.mean(ages, axis=0), np.argsort(-engine.sources.loudness)
        assert mean[loud[:25]].mean() < mean[loud[-25:]].mean()


def test_new_sources_get_their_straight_path_first_and_are_silent_until_then(clips):
    with crowd(clips, 100, max_rays=120) as engine:
        engine.tick(TICK)
        assert np.isfinite(engine.sources.age).all()
    with crowd(clips, 100, max_rays=60) as engine:
        engine.tick(TICK)
        waiting = np.isinf(engine.sources.age)
        assert waiting.sum() == 40
        assert (engine.sources.voice[waiting] == -1).all()
        engine.tick(TICK)
        assert np.isfinite(engine.sources.age).all()


def test_with_four_hundred_sources_all_that_is_audible_has_a_straight_path_within_five_seconds(clips):
    with crowd(clips, 400) as engine:
        run(engine, 5)
        assert np.isfinite(engine.sources.age[engine.sources.loudness > 0.001]).all()


def test_a_broken_wall_is_heard_whole_after_one_turn_in_both_tiers(clips):
    for full_count in (16, 0):
        world = wall_world((0, 1))
        with ea.Engine(world, clips, settings=ea.Settings(full_count=full_count)) as engine:
            engine.listener.look(position=(5.5, 0.5, 0.5))
            row = engine.spawn("tone", position=(-4.5, 0.5, 0.5), looping=True)
            run(engine, 1)
            assert engine.sources.transmission[row] < 0.05
            world.carve((0.5, 0.5, 0.5), 5)
            engine.tick(TICK)
            assert engine.sources.transmission[row] == pytest.approx(1)


def test_a_passing_missile_is_looked_at_more_often(clips):
    with ea.Engine(wall_world(), clips) as engine:
        far = engine.spawn("tone", position=(150, 0, 60), looping=True)
        coming = engine.spawn("tone", position=(-150, 0, 5), looping=True)
        turns = {far: 0, coming: 0}
        for k in range(50):
            engine.sources.position[coming] = (-150 + 3.3 * k, 0, 5)
            engine.tick(TICK)
            for row in turns:
                turns[row] += engine.sources.age[row] == 0
        assert turns[coming] > 3 * turns[far]


def test_turns_spread_evenly_over_ticks(clips):
    with crowd(clips) as engine:
        run(engine, 3)
        rays = np.array([row["rays"] for row in run(engine, 3)])
        assert rays.max() < 3 * rays.mean()


def test_a_jump_of_the_listener_makes_every_source_due(clips):
    with crowd(clips, 40) as engine:
        run(engine, 1)
        engine.listener.look(position=(5.5, 0.5, 9.5))
        engine.tick(TICK)
        assert (engine.sources.age == 0).all()


def test_another_world_makes_every_path_due(clips):
    with ea.Engine(wall_world((0, 1)), clips) as engine:
        engine.listener.look(position=(5.5, 0.5, 0.5))
        row = engine.spawn("tone", position=(-4.5, 0.5, 0.5), looping=True)
        engine.tick(TICK)
        engine.world = wall_world()
        engine.tick(TICK)
        assert engine.sources.transmission[row] == 1


def test_more_edits_than_the_world_remembers_still_reach_every_source(clips):
    world = wall_world((0, 1))
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=(5.5, 0.5, 0.5))
        row = engine.spawn("tone", position=(-4.5, 0.5, 0.5), looping=True)
        engine.tick(TICK)
        for _ in range(1500):
            world.set((20, 20, 20), "stone")
        world.carve((0.5, 0.5, 0.5), 5)
        for _ in range(1500):
            world.set((20, 20, 20), "air")
        engine.tick(TICK)
        assert engine.sources.transmission[row] == pytest.approx(1)


def test_priority_alone_takes_a_voice(clips, open_world):
    with ea.Engine(open_world, clips, settings=ea.Settings(max_voices=2)) as engine:
        p5 = engine.spawn("tone", priority=5)
        p2 = engine.spawn("tone", priority=2)
        engine.tick(TICK)
        p9 = engine.spawn("tone", priority=9)
        p1 = engine.spawn("tone", priority=1)
        engine.tick(TICK)
        states = [ea.State(int(engine.sources.state[row])) for row in (p5, p2, p9, p1)]
        assert states == [ea.State.PLAYING, ea.State.STOLEN, ea.State.PLAYING, ea.State.REFUSED]
        engine.tick(TICK)
        assert (engine.telemetry.voices_stolen, engine.telemetry.voices_refused) == (1, 1)
        assert not p2.alive
        assert not p1.alive


def test_loops_without_a_voice_wait_and_come_back_in_phase(clips, open_world):
    with ea.Engine(open_world, clips, settings=ea.Settings(max_voices=1)) as engine:
        first = engine.spawn("ramp", looping=True)
        second = engine.spawn("ramp", looping=True)
        run(engine, 0.5, lambda e: e.render(800))
        assert engine.sources.state[second] == ea.State.VIRTUAL
        engine.despawn(first)
        run(engine, 0.1, lambda e: e.render(800))
        assert engine.sources.state[second] == ea.State.PLAYING
        lane = engine.sources.voice[second]
        assert engine.voices.turns[lane] + engine.voices.position[lane] / 2**32 > 0.4 * 48_000


def test_a_paused_source_stands_still_and_goes_on(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("tone", looping=True)
        run(engine, 0.2, lambda e: e.render(800))
        engine.pause(row)
        run(engine, 0.1, lambda e: e.render(800))
        before = float(engine.sources.clock[row])
        run(engine, 0.2)
        assert engine.sources.clock[row] == before
        assert not engine.render(800).any()
        engine.resume(row)
        run(engine, 0.1)
        assert engine.render(800).any()


@pytest.mark.parametrize("budget", [24, 48, 64, 128])
def test_bundles_that_are_owed_do_not_starve_straight_paths(budget, clips):
    with crowd(clips, 100, max_rays=budget) as engine:
        world = engine.world
        run(engine, 1)
        ages = []
        for k in range(
            30
        ):  # every wall broken and mended: every source owes its whole bundle again and again
            world.fill((0, -20, -20), (1, 21, 21), "air" if k % 2 else "stone")
            ages += [row["oldest_age"] for row in run(engine, 0.1)]
        assert max(ages) < 2.0


def test_a_source_that_becomes_worth_it_is_traced_at_once(clips):
    with crowd(clips, 110, direct_count=100) as engine:
        engine.tick(TICK)
        free = int(np.flatnonzero(engine.sources.tier == ea.Tier.FREE)[0])
        engine.sources.volume[free] = 0.0
        run(engine, 4)
        engine.sources.volume[free] = 50.0
        run(engine, 0.6)
        assert engine.sources.tier[free] == ea.Tier.FULL
        assert max(row["oldest_age"] for row in run(engine, 1)) < 2.0


def test_straight_paths_alone_leave_no_one_in_the_queue(clips):
    with crowd(clips, 60, direct_paths=1) as engine:
        run(engine, 2)
        assert not engine.sources.owed.any()
        assert max(row["queue"] for row in run(engine, 1)) < 30


def test_among_quiet_sources_too_the_louder_comes_first():
    n = 50
    loudness = 1e-3 + 1e-6 * np.random.default_rng(0).permutation(n)
    keys, items = np.zeros(n), np.zeros(n, np.int32)
    ones, zeros = np.ones(n, np.uint8), np.zeros(n)
    assert queue_up(5.0, ones, loudness, zeros, zeros + 4.5, zeros, ones, ones, keys, items) == n
    order = [pop(keys, items, left) for left in range(n, 0, -1)]
    assert order == np.argsort(-loudness).tolist()
