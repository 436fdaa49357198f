"""The engine: entities in, a tick, blocks of sound out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio import entities
from ecs_audio.clips import Clips
from ecs_audio.components import Batch, CacheEntries, Listener, Probes
from ecs_audio.kernels import jit
from ecs_audio.kernels.results import kind_at
from ecs_audio.kernels.sections import SOLID
from ecs_audio.paced import Paced
from ecs_audio.settings import CATEGORIES, Settings
from ecs_audio.systems.apply_results import apply_results
from ecs_audio.systems.batch_rays import batch_rays
from ecs_audio.systems.classify import classify
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.feed import feed, forget_echoes
from ecs_audio.systems.ingest import forget_world, ingest, take_gains
from ecs_audio.systems.mix import block_of, fill, places_of
from ecs_audio.systems.move import move
from ecs_audio.systems.pace import Delay
from ecs_audio.systems.play import conduct, play, tune
from ecs_audio.systems.probe import Room
from ecs_audio.systems.propagate import propagate
from ecs_audio.systems.report import report
from ecs_audio.systems.smooth import smooth
from ecs_audio.systems.tracing import Tracing
from ecs_audio.telemetry import Telemetry, laps
from ecs_audio.world import World

EDITS_A_TICK = 256
"""Edits of the world looked at one by one; more at once count as a change of everything."""


class Engine(Paced):
    """An acoustic world that a host advances tick by tick."""

    def __init__(
        self, world: World, clips: Clips, *, settings: Settings | None = None, seed: int = 0
    ) -> None:
        super().__init__(clips, Settings() if settings is None else settings, seed)
        self.batch = Batch(self.settings.max_rays, self.settings.max_sources)
        self.entries = CacheEntries(self.settings.max_entries)
        self.probes = Probes(1)
        self.probe = Room(self.probes)
        """The room around the listener: `rt60`, `room_gain`, `classes`."""
        self.volume = 1.0
        """Amplitude of everything, linear."""
        self.gains: dict[str, float] = dict.fromkeys(CATEGORIES, 1.0)
        """User gain of each category, linear."""
        self._tracing = Tracing(self.settings, self.sources, self.entries, self.batch)
        self._block = np.zeros((self.settings.max_block, 2), np.float32)
        self._category_gain = np.ones(len(CATEGORIES))
        self._edited = np.zeros((EDITS_A_TICK, 6), np.int64)
        self._world, self._seen = world, world.revision
        for table in (self.entries, self.probes):
            for row in table.alive:
                table.entity[row] = entities.create(self._esper, row)
        self._ticks = 0

    # Where it sounds.

    @property
    def world(self) -> World:
        """The world; setting another one makes every path due, and silences echoes and reverbs within 20
        ms."""
        return self._world

    @world.setter
    def world(self, world: World) -> None:
        self._world, self._seen = world, world.revision
        self._tracing.recall()
        self._hush()
        forget_world(self.sources, self.entries, self.probes)

    # Time.

    def tick(self, dt: float) -> Telemetry:
        """Advance the acoustics by `dt` seconds; what the host wrote before is heard from here on.

        Raises ValueError for a dt that is negative or not finite, and then does nothing. Raises
        BadValueError after a tick in which a column held a bad value; the tick itself is complete.
        """
        self._check_open()
        if not (math.isfinite(dt) and dt >= 0.0):
            raise ValueError(f"dt must be a finite number of seconds, not negative, not {dt!r}")
        now, frames, mixed, ahead = self._frames_of(dt)
        self._reap()
        self._give_back(self._master.mixed_frames)
        sources, listener, world, live = self.sources, self.listener, self._world, self._live
        settings = self.settings if self._governor is None else self._governor.settings
        entries, probes, batch, tracing = self.entries, self.probes, self.batch, self._tracing
        time, passed, master, lap = self._time, self._passed, self._master, laps(self.telemetry.microseconds)
        self._part()
        moved = None
        if self.movers.count:
            moved = move(self.movers, sources, listener, world, settings, dt=passed)
        lap("move")
        edits, outdated, complaint = ingest(
            sources, listener, entries, probes, world, seen=self._seen, time=time, boxes=self._edited
        )
        complaint = take_gains(self.gains, self.volume, self._category_gain) or complaint or moved
        self._seen = self._world.revision
        sections = tracing.look(world)
        starved = 0
        if self._tracks:
            starved = feed(
                self._tracks, sources, tick=self._ticks, now=now, mixed=mixed, ahead=ahead,
                passed=self._frames, frames=frames, rate=self.rate, patience=settings.stream_patience,
            )  # fmt: skip
        lap("ingest")
        propagate(
            sources, listener, settings, now=float(now), passed=float(self._frames), tick=self._ticks,
            first_frame=now + ahead, rate=self.rate,
        )  # fmt: skip
        lap("propagate")
        classify(sources, listener, batch.rays, settings, time=time, dt=passed)
        lap("classify")
        surroundings = entry_of(kind_at)(sections, listener.position)
        if tracing.ready(sources, listener, entries, probes, batch, world, time=time, dt=dt):
            batch_rays(
                sources, listener, probes, batch, settings, time=time, dt=dt, tick=self._ticks,
                cell_size=world.cell_size, buried=surroundings == SOLID,
            )  # fmt: skip
            lap("batch_rays")
            tracing.trace(sources, entries, probes, batch, world, time=time, dt=dt)
            lap("trace")
        else:
            self.telemetry.microseconds["batch_rays"] = self.telemetry.microseconds["trace"] = 0.0
        apply_results(sources, batch, entries, probes, settings, time=time, dt=dt, surroundings=surroundings)
        forget_echoes(self._tracks, sources)
        lap("apply_results")
        smooth(
            sources, batch, listener, probes, settings, cell_size=world.cell_size, now=float(now),
            tick=self._ticks, rate=self.rate, dt=dt, passed=passed,
        )  # fmt: skip
        lap("smooth")
        play(sources, listener, self.clips, settings, category_gain=self._category_gain)
        if settings.reverberates:
            tune(self._buses if live is None else live.tuned, probes, settings)
        if live is None:
            conduct(
                self._sounds, self._lanes, master, self.clips, settings, count=sources.count,
                echoes=self.voices.echoes, tick=self._ticks, now=now, passed=passed, frames=frames,
            )  # fmt: skip
        else:
            live.publish(
                tick=self._ticks, now=now, passed=passed, frames=frames, voices=settings.max_voices
            )  # fmt: skip
        lap("play")
        report(
            self.telemetry, sources, batch, self.probe, master, self._buses, self._counts, tick=self._ticks,
            now=now,
            edits=edits, outdated=outdated, rebuilt=tracing.rebuilt, workers=tracing.workers,
            starved=starved,
        )  # fmt: skip
        self._time, self._passed, self._frames, self._ticks = time + dt, dt, frames, self._ticks + 1
        if live is not None:
            self._look_after(live, dt)
        if complaint is not None:
            raise complaint
        return self.telemetry

    def render(self, frames: int, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Fill and return the next block, float32 (frames, 2).

        Without `out` it is a read-only view that is valid until the next call. Raises ValueError for
        more than `max_block` frames, or an `out` of another shape or type or that is read-only, RuntimeError
        while a loop of its own renders ahead.
        """
        self._check_open()
        if self._live is not None:
            raise RuntimeError("speakers render this engine; close them to render blocks yourself")
        block = block_of(self._block, frames, out)
        if self._places is None:
            self._places = places_of(self._desk)
        fill(block, self._places, self.clips, sinc=self.settings.interpolation == "sinc8")
        if out is None:
            block.flags.writeable = False
            return block
        if block is not out:
            out[:] = block
        return out

    # Housekeeping.

    def status(self) -> dict[str, Any]:
        """What the last tick did, as a plain dict."""
        return self.telemetry.as_dict()

    def warm_up(self, progress: Callable[[str, int, int], None] | None = None) -> None:
        """Compile every kernel, or load it from the cache, so that no tick or block waits for it.

        progress: called with a kernel's name, how many are done, and how many there are.
        """
        jit.prepare_all(progress)

    def reset(self) -> None:
        """Silence, no sources, time zero: the same inputs now give the bytes of a new engine."""
        ring = self._ring
        self.leave_live()
        self.stop_all()
        self.movers.clear()
        self._part()
        self._quieten()
        self._give_back(math.inf)
        self.rng = np.random.Generator(np.random.PCG64(self._seed))
        self.listener, self.telemetry = Listener(), Telemetry()
        self._tracing.recall()
        forget_world(self.sources, self.entries, self.probes)
        self.batch.counts[:] = 0
        self._seen = self._world.revision
        self._time, self._ticks, self._shift, self._delay = 0.0, 0, 0, Delay()
        if ring is not None:
            self.go_live(*ring)

    def close(self) -> None:
        """Release the engine's esper world, its streams, and its sources on host entities. May be called
        twice."""
        if not self._closed:
            self.leave_live()
            self._tracing.close()
            self.stop_all()
            self._give_back(math.inf)
            entities.drop_world(self._esper)
            self._closed = True

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
