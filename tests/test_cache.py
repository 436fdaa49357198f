"""The cache of environments: what it answers, what it gives up, what the world outdates, who has to wait."""

import math

import naive_survey as twin
import numpy as np
import pytest
from conftest import RATE, TICK, wall_world
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
            for bounce in twin.bounces_of(source.tolist(), listener.tolist(), first, second, point, cells.size):
                assert (low <= bounce).all()
                assert (bounce <= high).all()


places = st.tuples(*(st.floats(0.05, n - 0.05) for n in INSIDE))
cells_inside = st.tuples(*(st.integers(0, n - 1) for n in INSIDE))


class Hall(RuleBasedStateMachine):
    """Ends move, walls come and go: a READY entry never differs from what rays would find now."""

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
                max_rays=max_rays, max_entries=max_entries, cache=cache, full_count=full_count, delay=False
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
            assert self.engine.telemetry.rays <= self.engine.settings.max_rays
        e, s = self.engine.entries, self.engine.sources
        for row in np.flatnonzero((e.state == Survey.READY) & (e.stale == 0)):
            number = int(e.number[row])
            if number not in self.proven:
                rays = twin.directions(number)
                self.proven[number] = twin.survey(self.cells, e.source[row], e.listener[row], rays)
                check_entry(e, row, self.proven[number], self.cells)
        assert np.isin(e.state[s.environment[s.environment >= 0]], (Survey.BEGUN, Survey.READY)).all()
        assert (e.state[s.survey[s.survey >= 0]] == Survey.BEGUN).all()
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
TestHall.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
