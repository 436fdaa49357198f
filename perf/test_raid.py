"""The raid from end to end: how much faster than it sounds it is rendered, and how long its ticks take."""

import time

import numpy as np
from figures import note
from turns import Turn, seconds

from ecs_audio.perform import engine_for, perform, with_settings
from scenarios import raid

PARTS = {"median": 50, "p90": 90, "p99": 99}


class Show:
    """A raid that is built anew before each time, since it changes its world."""

    def __init__(self, length, **settings):
        self.length, self.settings, self.scenario = length, settings, None
        self.ticks = []
        """Seconds of every tick, a list for each time."""

    def build(self):
        self.scenario = with_settings(raid.scenario(seconds=self.length), **self.settings)

    def render(self):
        with engine_for(self.scenario) as engine:
            tick, ticks = engine.tick, []

            def timed(dt):
                start = time.thread_time()
                told = tick(dt)
                ticks.append(time.thread_time() - start)
                return told

            engine.tick = timed
            for block in perform(self.scenario, engine):
                assert np.isfinite(block[-1]).all()
        self.ticks.append(ticks)


def test_raid(benchmark, rounds, quick):
    """Beside the same raid with acoustics off, which is the plain mix."""
    length = 20.0 if benchmark.enabled and not quick else 3.0
    full, dry = Show(length), Show(length, acoustics="off")
    benchmark.pedantic(full.render, setup=full.build, rounds=1)
    full.ticks.clear()
    taken = seconds(rounds(5, 2), *(Turn(show.render, show.build) for show in (full, dry)))
    note(
        benchmark, "raid.real_time", "Seconds of the raid rendered in a second", length / taken[:, 0], "",
        better="higher", peer="raid with acoustics off", peer_values=length / taken[:, 1],
    )  # fmt: skip
    ticks = np.array(full.ticks)
    for name, part in PARTS.items():
        each = np.percentile(ticks, part, axis=1)
        note(benchmark, f"raid.tick.{name}", f"A tick of the raid, {name}", each)
    note(
        benchmark, "raid.ticks", "Share of ticks in the time of the raid", ticks.sum(axis=1) / taken[:, 0], ""
    )
    every_fifth = np.percentile(ticks, np.arange(0, 101, 5)).tolist()
    benchmark.extra_info |= {"seconds": length, "percentiles": every_fifth}
