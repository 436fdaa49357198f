"""Two engines that are told the same, in any order: one live, one rendered block by block."""

import numpy as np
from conftest import RATE
from hypothesis import settings, target
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from lockstep import PREFILL, Device

import ecs_audio as ea

TICK = 1 / 60


def make(acoustics):
    clips = ea.Clips()
    t = np.arange(RATE) / RATE
    clips.add("tone", 0.3 * np.sin(2 * np.pi * 440 * t[: RATE // 4]))
    clips.add("noise", 0.1 * np.random.default_rng(0).normal(size=9000))
    clips.add("both", 0.1 * np.random.default_rng(1).normal(size=(7000, 2)))
    world = ea.World.empty(size=(32, 32, 32), origin=(-16, -16, -16))
    world.fill((3, -16, -16), (4, 16, 16), "stone")
    engine = ea.Engine(world, clips, settings=ea.Settings(acoustics=acoustics, max_sources=12))
    engine.listener.look(position=(0, 0, 0))
    return engine


class Twins(RuleBasedStateMachine):
    """Spawn, move, pause, despawn, edit, tick: what is heard is the same."""

    places = st.tuples(*[st.floats(-12, 12)] * 3)

    @initialize(acoustics=st.sampled_from(["off", "direct", "full"]))
    def begin(self, acoustics):
        self.engines = [make(acoustics), make(acoustics)]
        self.device = Device(self.engines[1])
        self.pairs, self.blocks, self.late = [], [], 0

    def both(self, index, act):
        for engine, row in zip(self.engines, self.pairs[index % len(self.pairs)], strict=True):
            if row.alive:
                act(engine, row)

    @rule(clip=st.sampled_from(["tone", "noise", "both"]), place=st.none() | places, loops=st.booleans())
    def spawn(self, clip, place, loops):
        if max(engine.sources.count for engine in self.engines) < 12:
            place = None if clip == "both" else place
            self.pairs.append([e.spawn(clip, position=place, looping=loops) for e in self.engines])

    @precondition(lambda self: self.pairs)
    @rule(index=st.integers(0, 99), ring_out=st.booleans())
    def despawn(self, index, ring_out):
        self.both(index, lambda engine, row: engine.despawn(row, ring_out=ring_out))

    @precondition(lambda self: self.pairs)
    @rule(index=st.integers(0, 99), place=places)
    def move(self, index, place):
        self.both(index, lambda engine, row: engine.sources.position.__setitem__(row, place))

    @precondition(lambda self: self.pairs)
    @rule(index=st.integers(0, 99), pitch=st.floats(0, 4), volume=st.floats(0, 1))
    def write(self, index, pitch, volume):
        def act(engine, row):
            engine.sources.pitch[row], engine.sources.volume[row] = pitch, volume

        self.both(index, act)

    @precondition(lambda self: self.pairs)
    @rule(index=st.integers(0, 99), pausing=st.booleans())
    def pause(self, index, pausing):
        self.both(index, lambda engine, row: (engine.pause if pausing else engine.resume)(row))

    @rule(place=places, gain=st.floats(0, 1))
    def listen(self, place, gain):
        for engine in self.engines:
            engine.listener.look(position=place)
            engine.gains["effects"] = gain

    @rule()
    def break_a_wall(self):
        for engine in self.engines:
            engine.world.carve((3, 0, 0), radius=2)

    @rule()
    def stop_all(self):
        for engine in self.engines:
            engine.stop_all()

    @rule(ticks=st.integers(1, 6))
    def tick(self, ticks):
        for _ in range(ticks):
            for engine in self.engines:
                engine.tick(TICK)
            self.blocks.append(self.engines[0].render(800).copy())
            self.device.take(800)

    def teardown(self):
        if not hasattr(self, "engines"):
            return
        self.tick(8)
        self.device.take(PREFILL)
        expected = np.concatenate(self.blocks)
        heard = self.device.heard[: len(expected)]
        apart = np.abs(expected - heard).max()
        target(float(apart))
        for engine in self.engines:
            engine.close()
        # What has ended gives its row back a tick later: lanes are then added up in another order.
        assert apart <= 1e-6 + 1e-5 * np.abs(expected).max()


TestTwins = Twins.TestCase
TestTwins.settings = settings(max_examples=60, stateful_step_count=25)
