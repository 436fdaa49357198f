"""The cache of environments: what it answers, what it gives up, what the world outdates, who has to wait."""

import math

import naive
import naive_survey as twin
import numpy as np
import pytest
from conftest import RATE, TICK
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scipy.stats import spearmanr

import ecs_audio as ea
from ecs_audio.components import Tier
from ecs_audio.components.entries import HITS, NO_PLANE, TAPS, Survey

INSIDE = (15, 9, 13)
MATERIALS = ("air", "stone", "oak_planks", "water", "white_wool")


def hollow():
    """A hall of 15 x 9 x 13 m whose walls nobody edits: no ray escapes, so every edit that counts is met."""
    world = ea.World.empty(size=tuple(n + 2 for n in INSIDE), origin=(-1, -1, -1))
    world.fill((-1, -1, -1), tuple(n + 1 for n in INSIDE), "stone")
    world.fill((0, 0, 0), INSIDE, "air")
    world.fill((7, 0, 0), (8, 9, 8), "stone")
    return world


def check_entry(entries, row, answer, cells):
    """Hold a READY entry to what the slow twin makes of the same ends in the present world."""
    source, listener = entries.source[row], entries.listener[row]
    hits = [hit for trail in answer.trails for hit in trail]
    low, high = entries.low[row] - 1e-9, entries.high[row] + 1e-9
    for ray, trail in enumerate(answer.trails):
        at = slice(ray * HITS, ray * HITS + len(trail))
        assert entries.face[row, at].tolist() == [hit.face for hit in trail]
        assert (entries.face[row, ray * HITS + len(trail) : (ray + 1) * HITS] < 0).all()
        assert entries.cell[row, at].tolist() == [list(hit.cell) for hit in trail]
        assert entries.couples[row, at].tolist() == [hit.couples for hit in trail]
    assert entries.coupling[row] == answer.coupling
    assert entries.bearing[row] == pytest.approx(answer.bearing, abs=1e-9)
    for place in (source, listener, *(hit.point for hit in hits)):
        assert (low <= place).all()
        assert (place <= high).all()
    for tap in range(TAPS):
        first, second = entries.plane[row, tap].tolist()
        if first != NO_PLANE:
            point = entries.plane_point[row, tap].tolist()
            assert twin.echo_holds(cells, source.tolist(), listener.tolist(), first, second, point)
            for bounce in twin.bounces_of(
                source.tolist(), listener.tolist(), first, second, point, cells.size
            ):
                assert (low <= bounce).all()
                assert (bounce <= high).all()


places = st.tuples(*(st.floats(0.05, n - 0.05) for n in INSIDE))
cells_inside = st.tuples(*(st.integers(0, n - 1) for n in INSIDE))


class Hall(RuleBasedStateMachine):
    """Ends move, walls come and go: a READY entry never differs from what rays would find now."""

    workers = 0

    @initialize(
        max_rays=st.sampled_from([60, 250, 4096]),
        max_entries=st.sampled_from([3, 16]),
        cache=st.sampled_from([True, True, False]),
        full_count=st.sampled_from([2, 16]),
        first=places,
        listener=places,
    )
    def begin(self, max_rays, max_entries, cache, full_count, first, listener):
        clips = ea.Clips(RATE)
        clips.add("x", np.ones(8) * 0.1)
        self.world, self.rows, self.proven = hollow(), [], {}
        self.engine = ea.Engine(
            self.world,
            clips,
            settings=ea.Settings(
                max_rays=max_rays,
                max_entries=max_entries,
                cache=cache,
                full_count=full_count,
                delay=False,
                workers=self.workers,
            ),
        )
        self.engine.listener.look(position=listener)
        self.cells, self.edited = twin.Cells(self.world), False
        self.spawn(first)

    def spawn(self, at):
        self.rows.append(self.engine.spawn("x", position=at, looping=True))

    @rule(at=places)
    @precondition(lambda self: len(self.rows) < 4)
    def another(self, at):
        self.spawn(at)

    @rule(which=st.integers(0, 3))
    @precondition(lambda self: len(self.rows) > 1)
    def despawn(self, which):
        self.engine.despawn(self.rows.pop(which % len(self.rows)))

    @rule(which=st.integers(0, 3), at=places)
    def move_source(self, which, at):
        self.engine.sources.position[self.rows[which % len(self.rows)]] = at

    @rule(which=st.integers(0, 3), by=st.tuples(*[st.floats(-0.7, 0.7)] * 3))
    def nudge_source(self, which, by):
        row = self.rows[which % len(self.rows)]
        at = np.clip(self.engine.sources.position[row] + by, 0.05, np.array(INSIDE) - 0.05)
        self.engine.sources.position[row] = at

    @rule(at=places)
    def move_listener(self, at):
        self.engine.listener.look(position=at)

    @rule(cell=cells_inside, name=st.sampled_from(MATERIALS))
    def set_one(self, cell, name):
        self.world.set(cell, name)
        self.edited = True

    @rule(low=cells_inside, size=st.tuples(*[st.integers(1, 4)] * 3), name=st.sampled_from(MATERIALS))
    def fill(self, low, size, name):
        high = tuple(min(a + n, top) for a, n, top in zip(low, size, INSIDE, strict=True))
        self.world.fill(low, high, name)
        self.edited = True

    @rule(at=st.tuples(*(st.floats(2, n - 2) for n in INSIDE)), radius=st.floats(0.5, 1.9))
    def carve(self, at, radius):
        self.world.carve(at, radius)
        self.edited = True

    @rule(ticks=st.sampled_from([1, 1, 1, 2, 10]))
    def tick(self, ticks):
        if self.edited:
            self.cells, self.edited, self.proven = twin.Cells(self.world), False, {}
        for _ in range(ticks):
            self.engine.tick(TICK)
            assert self.workers or self.engine.telemetry.rays <= self.engine.settings.max_rays
        e, s = self.engine.entries, self.engine.sources
        for row in np.flatnonzero((e.state == Survey.READY) & (e.stale == 0)):
            number = int(e.number[row])
            if number not in self.proven:
                rays = twin.directions(number)
                self.proven[number] = twin.survey(self.cells, e.source[row], e.listener[row], rays)
                check_entry(e, row, self.proven[number], self.cells)
        assert (e.state[s.environment[s.environment >= 0]] != Survey.VACANT).all()
        assert np.isin(e.state[s.survey[s.survey >= 0]], (Survey.BEGUN, Survey.FINISHED)).all()
        current = (s.environment >= 0) & (s.survey < 0)
        ready = current & (e.state[s.environment] == Survey.READY)
        fresh = ready & (s.environment_age <= self.engine.time - TICK - e.evaluated[s.environment] + 1e-9)
        assert (s.coupling[fresh] == e.coupling[s.environment[fresh]]).all()

    @invariant()
    def nobody_hears_nonsense(self):
        s = self.engine.sources if hasattr(self, "engine") else None
        assert s is None or np.isfinite(s.bearing_target).all()

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.close()


TestHall = Hall.TestCase
TestHall.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_the_twins_walk_is_that_of_naive_py():
    rng = np.random.default_rng(0)
    world = hollow()
    for _ in range(12):
        low = rng.integers(0, INSIDE)
        high = np.minimum(low + rng.integers(1, 5, 3), INSIDE)
        world.fill(low.tolist(), high.tolist(), str(rng.choice(MATERIALS)))
    cells = twin.Cells(world)
    for _ in range(100):
        o, d = (rng.random(3) * INSIDE).tolist(), rng.normal(size=3).tolist()
        assert twin.first_hit(cells, o, d, 30.0) == naive.first_hit(world, o, d, 30.0)


# Hits and misses.


def quiet(clips, world, listener=(2.0, 2.0, 2.0), **settings):
    """An engine whose turns are told apart by what the cache says alone: no delay, the whole budget."""
    engine = ea.Engine(world, clips, settings=ea.Settings(delay=False, max_rays=1 << 15, **settings))
    engine.listener.look(position=listener)
    return engine


def run(engine, seconds, check=None):
    rows = []
    for _ in range(round(seconds / TICK)):
        rows.append(engine.tick(TICK).as_dict())
        if check is not None:
            check(engine)
    return rows


def test_the_same_question_again_is_answered_without_a_ray(clips):
    with quiet(clips, hollow()) as engine:
        row = engine.spawn("tone", position=(5, 2, 10), looping=True)
        first = engine.tick(TICK).as_dict()
        assert (first["cache_hits"], first["cache_misses"], first["surveys"]) == (0, 1, 1)
        assert first["rays_environment"] > 0
        found = engine.sources.coupling[row], engine.sources.bearing_target[row].copy()
        rows = run(engine, 1.5)
        assert sum(r["cache_hits"] for r in rows) >= 10  # a turn every tenth of a second
        for r in rows:
            assert (r["cache_misses"], r["surveys"], r["rays_environment"], r["rays_echo"]) == (0, 0, 0, 0)
        assert engine.sources.coupling[row] == found[0]
        assert (engine.sources.bearing_target[row] == found[1]).all()


def test_a_second_source_in_the_same_cell_of_4_m_shares_the_answer_and_one_beyond_does_not(clips):
    with quiet(clips, hollow()) as engine:
        a = engine.spawn("tone", position=(4.1, 0.1, 8.1), looping=True)
        engine.tick(TICK)
        b = engine.spawn("tone", position=(7.9, 3.9, 11.9), looping=True)
        told = engine.tick(TICK).as_dict()
        assert (told["cache_hits"], told["cache_misses"], told["rays_environment"]) == (1, 0, 0)
        s = engine.sources
        assert s.environment[a] == s.environment[b] >= 0
        assert s.coupling[a] == s.coupling[b]
        c = engine.spawn("tone", position=(8.1, 3.9, 11.9), looping=True)
        told = engine.tick(TICK).as_dict()
        assert (told["cache_hits"], told["cache_misses"]) == (0, 1)
        assert s.environment[c] not in (s.environment[a], -1)
        engine.listener.look(position=(4.1, 2, 2))  # so does the listener's cell
        rows = run(engine, 0.2)
        assert sum(r["cache_misses"] for r in rows) == 2
        assert s.environment[a] == s.environment[b]


def test_sources_of_one_cell_that_ask_at_once_take_one_survey(clips):
    with quiet(clips, hollow()) as engine:
        rows = [engine.spawn("tone", position=(5 + k / 4, 2, 10), looping=True) for k in range(6)]
        told = engine.tick(TICK)
        assert (told.surveys, told.cache_misses) == (1, 1)
        assert (engine.sources.coupling[engine.sources.rows(rows)] >= 0).all()


def test_an_answer_grows_old_after_2_s_the_first_time_and_then_after_6_s(clips):
    with quiet(clips, hollow()) as engine:
        engine.spawn("tone", position=(5, 2, 10), looping=True)
        surveyed = [k * TICK for k, row in enumerate(run(engine, 15)) if row["surveys"]]
        assert len(surveyed) == 4
        assert np.diff(surveyed) == pytest.approx([2, 6, 6], abs=0.15)


def test_after_an_edit_among_its_rays_an_answer_is_a_first_one_again(clips):
    world = hollow()
    with quiet(clips, world) as engine:
        engine.spawn("tone", position=(5, 2, 10), looping=True)
        run(engine, 3)
        world.set((3, 2, 6), "stone")
        surveyed = [k * TICK for k, row in enumerate(run(engine, 5)) if row["surveys"]]
        assert surveyed == pytest.approx([0, 2], abs=0.15)


def test_without_the_cache_every_turn_is_a_survey(clips):
    with quiet(clips, hollow(), cache=False) as engine:
        engine.spawn("tone", position=(5, 2, 10), looping=True)
        rows = run(engine, 2)
        assert sum(r["cache_hits"] for r in rows) == 0
        assert sum(r["cache_misses"] for r in rows) >= 15


def test_a_direct_source_takes_what_the_cache_knows_and_asks_for_no_ray(clips):
    with quiet(clips, hollow(), full_count=1) as engine:
        loud = engine.spawn("tone", position=(5, 2, 10), looping=True, volume=3.0)
        engine.tick(TICK)
        other = engine.spawn("tone", position=(6, 2, 10), looping=True)
        alone = engine.spawn("tone", position=(12, 2, 2), looping=True)
        told = engine.tick(TICK)
        s = engine.sources
        assert s.tier[s.rows([loud, other, alone])].tolist() == [Tier.FULL, Tier.DIRECT, Tier.DIRECT]
        assert told.rays_environment == 0
        assert s.coupling[other] == s.coupling[loud]
        assert (s.environment[alone], s.coupling[alone]) == (-1, -1)


# What is given up.


def test_a_full_table_gives_up_what_was_used_least_recently(clips):
    with quiet(clips, hollow(), max_entries=3) as engine:
        s, e = engine.sources, engine.entries
        rows = [engine.spawn("tone", position=(1 + 4 * k, 2, 10), looping=True) for k in range(3)]
        run(engine, 0.5)
        assert sorted(s.environment.tolist()) == [0, 1, 2]
        silent = rows.pop(1)
        kept = int(s.environment[silent])
        engine.despawn(silent)
        run(engine, 0.5)  # the other two use theirs
        engine.spawn("tone", position=(1, 6, 2), looping=True)
        told = engine.tick(TICK).as_dict()
        assert (told["cache_misses"], told["cache_evictions"]) == (1, 1)
        assert s.environment[2] == kept
        assert e.key[kept].tolist() == [0, 1, 0, 0, 0, 0]
        assert sum(r["cache_misses"] for r in run(engine, 0.5)) == 0  # the other two are still there


def test_nobody_keeps_pointing_at_an_entry_that_was_given_up(clips):
    with quiet(clips, hollow(), max_entries=2) as engine:
        s, e = engine.sources, engine.entries
        for k in range(12):
            place = 1 + 4 * (k % 4), 1 + 4 * (k // 4 % 2), 2 + 4 * (k // 8)
            engine.spawn("tone", position=place, looping=True)

        def check(engine):
            for i in np.flatnonzero(s.environment >= 0):
                row = s.environment[i]
                assert e.state[row] == Survey.READY
                assert (e.key[row, :3] == np.floor(s.position[i] / 4)).all()
                assert s.coupling[i] == e.coupling[row]

        rows = run(engine, 2, check)
        assert sum(r["cache_evictions"] for r in rows) > 20
        assert np.isfinite(s.environment_age).all()  # all of them get their turn


# What the world outdates.


def two_rooms():
    """A wall of stone between two rooms of 8 x 6 x 10 m, closed all around."""
    world = ea.World.empty(size=(48, 32, 32), origin=(-8, -8, -8))
    world.fill((-1, -1, -1), (18, 7, 11), "stone")
    world.fill((0, 0, 0), (8, 6, 10), "air")
    world.fill((9, 0, 0), (17, 6, 10), "air")
    return world


@pytest.mark.parametrize("full_count", [16, 0])
def test_a_broken_wall_is_heard_within_one_turn_by_path_and_by_reflection(clips, full_count):
    world = two_rooms()
    with quiet(clips, world, (6, 2, 5), full_count=full_count) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        run(engine, 1)
        s = engine.sources
        assert s.transmission[row] < 0.06
        assert s.coupling[row] == (0 if full_count else -1)
        world.fill((8, 0, 2), (9, 6, 8), "air")
        told = engine.tick(TICK)
        assert s.transmission[row] == pytest.approx(1)
        assert (s.path[row] == 1).all()
        assert told.cache_invalidations == (1 if full_count else 0)
        assert (s.coupling[row] > 0.2) == (full_count > 0)
        if full_count:
            assert s.environment_age[row] == 0


def test_an_edit_far_away_outdates_nothing(clips):
    world = two_rooms()
    with quiet(clips, world, (6, 2, 5)) as engine:
        engine.spawn("tone", position=(2, 2, 5), looping=True)
        run(engine, 0.5)
        for cell in ((20, 20, 20), (12, 3, 5), (-5, -5, -5)):
            world.set(cell, "stone")
            told = engine.tick(TICK)
            assert (told.edits, told.cache_invalidations, told.surveys) == (1, 0, 0)


def test_a_wall_across_what_couples_outdates_the_entry(clips):
    world = two_rooms()
    world.fill((8, 0, 2), (9, 6, 8), "air")
    with quiet(clips, world, (6, 2, 5)) as engine:
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        run(engine, 0.5)
        assert engine.sources.coupling[row] > 0.2
        world.fill((8, 0, 2), (9, 6, 8), "stone")
        told = engine.tick(TICK)
        assert told.cache_invalidations == 1
        assert engine.sources.coupling[row] == 0


def test_an_edit_while_a_survey_is_spread_over_ticks_is_not_missed(clips):
    world = two_rooms()
    world.fill((8, 0, 2), (9, 6, 8), "air")
    settings = ea.Settings(delay=False, max_rays=20, reverberation=False)
    with ea.Engine(world, clips, settings=settings) as engine:
        engine.listener.look(position=(6, 2, 5))
        row = engine.spawn("tone", position=(11, 2, 5), looping=True)
        s, e = engine.sources, engine.entries
        while not (e.state == Survey.BEGUN).any() or e.done.sum() < 30:
            engine.tick(TICK)
        world.fill((8, 0, 2), (9, 6, 8), "stone")
        engine.tick(TICK)
        assert not (e.state == Survey.READY).any()
        run(engine, 1)
        assert s.coupling[row] == 0


def test_an_edit_where_only_an_echo_passes_outdates_the_entry(clips):
    world = ea.World.empty(size=(80, 80, 80), origin=(-40, -40, -40))
    world.fill((-31, -2, 14), (-30, 6, 22), "stone")
    with quiet(clips, world, (0.0, 0.0, 0.0)) as engine:
        row = engine.spawn("tone", position=(0, 2.9, 34.8), looping=True, volume=20.0)
        run(engine, 2.5)
        e, at = engine.entries, engine.sources.environment[row]
        assert (e.face[at] < 0).all()  # the listener's probe found the wall, no ray around the source
        assert e.plane[at, 0].tolist() == [-30 * 8 + 1, NO_PLANE]
        world.set((-31, 1, 17), "air")  # where the echo bounces
        told = engine.tick(TICK)
        assert told.cache_invalidations == 1
        assert engine.sources.wanted_plane[row, 0, 0] == NO_PLANE


def test_an_edit_before_a_reset_is_none_after_it(clips):
    world = two_rooms()
    with quiet(clips, world) as engine, quiet(clips, world) as fresh:
        engine.spawn("tone", position=(2, 2, 5), looping=True)
        run(engine, 0.5)
        world.set((1, 1, 1), "oak_planks")
        engine.reset()
        fresh.reset()
        for other in (engine, fresh):
            other.listener.look(position=(6, 2, 5))
            other.spawn("tone", position=(11, 2, 5), looping=True)
            assert other.tick(TICK).edits == 0
        for name in ("owed", "outdated", "due", "path", "coupling"):
            assert (engine.sources.views[name] == fresh.sources.views[name]).all()


# Who has to wait.


def town(seed=0):
    """A plain of 256 x 256 m with 60 hollow houses that have a door each."""
    rng = np.random.default_rng(seed)
    world = ea.World.empty(size=(256, 48, 256), origin=(-128, -8, -128))
    world.fill((-128, -8, -128), (128, 0, 128), "grass_block")
    for _ in range(60):
        low = np.array([rng.integers(-120, 105), 0, rng.integers(-120, 105)])
        high = low + rng.integers([5, 4, 5], [15, 12, 15])
        world.fill(low.tolist(), high.tolist(), str(rng.choice(["stone", "oak_planks"])))
        world.fill((low + np.array([1, 0, 1])).tolist(), (high - 1).tolist(), "air")
        world.fill((int(low[0]), 0, int(low[2]) + 2), (int(low[0]) + 1, 2, int(low[2]) + 3), "air")
    return world


def crowd(clips, count, **settings):
    """Sources at 5 to 120 m around a listener in the street, all of them loops."""
    engine = ea.Engine(town(), clips, settings=ea.Settings(**settings))
    engine.listener.look(position=(0.5, 1.7, 0.5))
    rng = np.random.default_rng(1)
    for _ in range(count):
        a, d = rng.uniform(0, 2 * math.pi), rng.uniform(5, 120)
        at = d * math.cos(a), rng.uniform(1, 3), d * math.sin(a)
        engine.spawn("tone", position=at, looping=True, volume=rng.uniform(0.2, 2))
    return engine


@pytest.fixture(scope="module")
def demand():
    """Rays a tick that 100 sources ask for when every turn is traced in full."""
    clips = ea.Clips(RATE)
    clips.add("tone", np.ones(RATE) * 0.1)
    with crowd(clips, 100, cache=False, max_rays=1 << 15, max_cells=1 << 30) as engine:
        run(engine, 2)
        rows = run(engine, 5)
        assert sum(row["deferred"] + row["surveys_waiting"] for row in rows) == 0
        return float(np.mean([row["rays"] for row in rows]))


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_with_a_half_and_a_tenth_of_the_rays_wanted_nobody_waits_for_ever(share, clips, demand):
    budget = round(demand * share)
    with crowd(clips, 100, cache=False, max_rays=budget, max_cells=1 << 30) as engine:
        s, ages, waits = engine.sources, [], []
        due = s.environment_due.copy()

        def note(engine):
            full = np.flatnonzero(s.tier == Tier.FULL)
            ages.append(s.environment_age[full].copy())
            served = full[s.environment_due[full] != due[full]]
            waited = engine.time - TICK - due[served]
            waits.extend(zip(s.loudness[served], waited, strict=True))
            due[:] = s.environment_due

        warm = run(engine, 12, lambda engine: due.__setitem__(slice(None), s.environment_due))
        rows = run(engine, 20, note)
        assert max(row["rays"] for row in warm + rows) <= budget
        assert max(row["oldest_age"] for row in rows) < 2.0
        assert np.isfinite(s.environment_age[s.tier == Tier.FULL]).all()
        assert max(row["oldest_environment"] for row in rows) < 10.0
        assert spearmanr(s.loudness[s.tier == Tier.FULL], np.mean(ages, axis=0)).statistic < -0.25
        calm = np.array([(loud, wait) for loud, wait in waits if wait <= 1.0])
        if share == 0.5:  # with a tenth, all are overdue and the oldest goes first
            assert len(calm) > 300
            assert spearmanr(calm[:, 0], calm[:, 1]).statistic < -0.5


def test_with_four_hundred_sources_all_that_is_audible_has_a_straight_path_within_five_seconds(clips):
    with crowd(clips, 400) as engine:
        run(engine, 5)
        heard = engine.sources.loudness > 10 ** (engine.settings.audible_db / 20)
        assert heard.sum() > 300
        assert np.isfinite(engine.sources.age[heard]).all()
        assert engine.sources.age[engine.sources.tier != Tier.FREE].max() < 2.0
