"""The engine: entities in, a tick, blocks of sound out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ecs_audio import entities
from ecs_audio.clips import Clips
from ecs_audio.components import Batch, CacheEntries, Lane, Listener, Probes, Source, Sources, State, Voices
from ecs_audio.components.master import Master
from ecs_audio.kernels import jit
from ecs_audio.kernels.columns import SoundColumns, VoiceColumns
from ecs_audio.kernels.results import kind_at
from ecs_audio.kernels.sections import SOLID
from ecs_audio.settings import CATEGORIES, Settings
from ecs_audio.spawn import Options, source_values
from ecs_audio.systems.apply_results import apply_results
from ecs_audio.systems.batch_rays import batch_rays
from ecs_audio.systems.classify import classify
from ecs_audio.systems.ingest import forget_world, ingest, take_gains
from ecs_audio.systems.mix import block_of, fill
from ecs_audio.systems.play import play
from ecs_audio.systems.probe import Room
from ecs_audio.systems.propagate import propagate
from ecs_audio.systems.report import report
from ecs_audio.systems.smooth import smooth
from ecs_audio.systems.tracing import Tracing
from ecs_audio.telemetry import Telemetry, laps
from ecs_audio.world import World

FADING_LANES = 32
"""Lanes beyond `max_voices` that sound while they fade out."""
EDITS_A_TICK = 256
"""Edits of the world looked at one by one; more at once count as a change of everything."""


class Engine:
    """An acoustic world that a host advances tick by tick."""

    def __init__(
        self, world: World, clips: Clips, *, settings: Settings | None = None, seed: int = 0
    ) -> None:
        self.settings = Settings() if settings is None else settings
        self.clips = clips
        self.rate = clips.rate
        """Frames a second."""
        self.rng = np.random.Generator(np.random.PCG64(seed))
        """The only source of chance."""
        self.listener = Listener()
        self.sources = Sources(self.settings.max_sources)
        self.voices = Voices(-(-self.settings.max_voices // 8) * 8 + FADING_LANES)
        self.batch = Batch(self.settings.max_rays, self.settings.max_sources)
        self.entries = CacheEntries(self.settings.max_entries)
        self.probes = Probes(1)
        self.probe = Room(self.probes)
        """The room around the listener: `rt60`, `room_gain`, `classes`."""
        self.volume = 1.0
        """Amplitude of everything, linear."""
        self.gains: dict[str, float] = dict.fromkeys(CATEGORIES, 1.0)
        """User gain of each category, linear."""
        self.telemetry = Telemetry()
        self._sounds = SoundColumns(*(self.sources.storage[name] for name in SoundColumns._fields))
        self._lanes = VoiceColumns(*(self.voices.storage[name] for name in VoiceColumns._fields))
        self._tracing = Tracing(self.settings, self.sources, self.entries, self.batch)
        self._master = Master()
        self._block = np.zeros((self.settings.max_block, 2), np.float32)
        self._category_gain = np.ones(len(CATEGORIES))
        self._edited = np.zeros((EDITS_A_TICK, 6), np.int64)
        self._counts = np.zeros(8, np.int64)
        self._world, self._seen = world, world.revision
        self._esper = entities.new_world()
        for table in (self.entries, self.probes):
            for row in table.alive:
                table.entity[row] = entities.create(self._esper, row)
        self._hosted: dict[Source, tuple[str, int]] = {}
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._time, self._ticks, self._spawned, self._passed = 0.0, 0, 0, 0.0

    # What sounds.

    def spawn(self, clip: str, **options: Unpack[Options]) -> Source:
        """Add a source that plays a clip, from the next tick on; returns its row.

        The options, all by keyword, stand with their meaning in `spawn.Options`. Raises ClipError for an
        unknown clip, ValueError for a value that cannot be, TypeError for an unknown option,
        TableFullError when `max_sources` live; then nothing has changed.
        """
        source = self._append(clip, options)
        self.sources.entity[source] = entities.create(self._esper, source)
        return source

    def attach(self, entity: int, clip: str, **options: Unpack[Options]) -> Source:
        """The same on an entity of the host's current esper world; deleting it there silences the source.

        Raises KeyError if the entity does not exist, ValueError if it has a source already.
        """
        source = self._append(clip, options)
        try:
            self._hosted[source] = entities.attach(entity, source), entity
        except (KeyError, ValueError):
            self.sources.remove(source)
            raise
        self.sources.entity[source] = entity
        return source

    def _append(self, clip: str, options: Options) -> Source:
        self._check_open()
        values = source_values(self.clips, self.settings, clip, options)
        if (event := options.get("event")) is not None:
            self.sources.check(event)
            values["event"] = self.sources.serial[event]
        source = self.sources.append(**values, serial=self._spawned)
        self._spawned += 1
        return source

    def despawn(self, source: Source) -> None:
        """Silence a source for good, within 5 ms. Raises DeadRowError the second time."""
        self.sources.check(source)
        lane = int(self.sources.voice[source])
        if lane >= 0:
            self._lanes.lane[lane], self._lanes.fade_target[lane] = Lane.ORPHAN, 0.0
        entity = int(self.sources.entity[source])
        self.sources.remove(source)
        if (hosted := self._hosted.pop(source, None)) is not None:
            entities.detach(*hosted, source)
        else:
            entities.delete(self._esper, entity)

    def pause(self, source: Source) -> None:
        """Stop a source's clip where it is, with a fade of 5 ms from the next tick on."""
        self.sources.check(source)
        self.sources.paused[source] = 1

    def resume(self, source: Source) -> None:
        """Let a paused clip go on where it stood."""
        self.sources.check(source)
        self.sources.paused[source] = 0

    def stop_all(self) -> None:
        """Despawn every source."""
        for source in reversed(list(self.sources.alive)):
            self.despawn(source)

    # Where it sounds.

    @property
    def world(self) -> World:
        """The world; setting another one makes every path due."""
        return self._world

    @world.setter
    def world(self, world: World) -> None:
        self._world, self._seen = world, world.revision
        self._tracing.recall()
        forget_world(self.sources, self.entries, self.probes)

    # Time.

    @property
    def time(self) -> float:
        """Seconds ticked so far."""
        return self._time

    @property
    def frame(self) -> int:
        """Frames rendered so far."""
        return self._master.rendered_frames

    def tick(self, dt: float) -> Telemetry:
        """Advance the acoustics by `dt` seconds; what the host wrote before is heard from here on.

        Raises ValueError for a dt that is negative or not finite, and then does nothing. Raises
        BadValueError after a tick in which a column held a bad value; the tick itself is complete.
        """
        self._check_open()
        if not (math.isfinite(dt) and dt >= 0.0):
            raise ValueError(f"dt must be a finite number of seconds, not negative, not {dt!r}")
        self._reap()
        sources, listener, settings, world = self.sources, self.listener, self.settings, self._world
        entries, probes, batch, tracing = self.entries, self.probes, self.batch, self._tracing
        time, passed, master, lap = self._time, self._passed, self._master, laps(self.telemetry.microseconds)
        now = round(time * self.rate)
        edits, outdated, complaint = ingest(
            sources, listener, entries, probes, world, seen=self._seen, time=time, boxes=self._edited
        )
        complaint = take_gains(self.gains, self.volume, self._category_gain) or complaint
        self._seen = self._world.revision
        sections = tracing.look(world)
        lap("ingest")
        propagate(
            sources, listener, settings, now=float(now), passed=passed * self.rate, tick=self._ticks,
            first_frame=master.mixed_frames, rate=self.rate,
        )  # fmt: skip
        lap("propagate")
        classify(sources, listener, batch.rays, settings, time=time, dt=passed)
        lap("classify")
        surroundings = kind_at(sections, listener.position)
        if tracing.ready(sources, listener, entries, probes, batch, world, time=time, dt=dt):
            batch_rays(
                sources, listener, probes, batch, settings, time=time, dt=dt, tick=self._ticks,
                cell_size=world.cell_size, buried=surroundings == SOLID,
            )  # fmt: skip
            lap("batch_rays")
            tracing.trace(sources, entries, probes, batch, world, time=time, dt=dt)
            lap("trace")
        apply_results(sources, batch, entries, probes, settings, time=time, dt=dt, surroundings=surroundings)
        lap("apply_results")
        smooth(sources, batch, listener, probes, settings, cell_size=world.cell_size, dt=dt, passed=passed)
        lap("smooth")
        play(
            sources, listener, master, self._sounds, self._lanes, self.clips, settings,
            category_gain=self._category_gain, tick=self._ticks, now=now,
            frames=round((time + dt) * self.rate) - now,
        )  # fmt: skip
        lap("play")
        report(
            self.telemetry, sources, batch, self.probe, master, self._counts, tick=self._ticks, now=now,
            edits=edits, outdated=outdated, rebuilt=tracing.rebuilt, workers=tracing.workers,
        )  # fmt: skip
        self._time, self._passed, self._ticks = time + dt, dt, self._ticks + 1
        if complaint is not None:
            raise complaint
        return self.telemetry

    def render(self, frames: int, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Fill and return the next block, float32 (frames, 2).

        Without `out` it is a read-only view that is valid until the next call. Raises ValueError for
        more than `max_block` frames, or an `out` of another shape or type.
        """
        self._check_open()
        block = block_of(self._block, frames, out)
        fill(block, self._lanes, self._master, self.clips, sinc=self.settings.interpolation == "sinc8")
        if out is None:
            block.flags.writeable = False
        return block

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
        self.stop_all()
        self.voices = Voices(self.voices.capacity)
        self._lanes = VoiceColumns(*(self.voices.storage[name] for name in VoiceColumns._fields))
        self._master, self.listener, self.telemetry = Master(), Listener(), Telemetry()
        self._tracing.recall()
        forget_world(self.sources, self.entries, self.probes)
        self.batch.counts[:] = 0
        self._seen = self._world.revision
        self._start()

    def close(self) -> None:
        """Release the engine's esper world and its sources on host entities. May be called twice."""
        if not self._closed:
            self._tracing.close()
            self.stop_all()
            entities.drop_world(self._esper)
            self._closed = True

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this engine is closed")

    def _reap(self) -> None:
        """Remove sources that sounded to their end, and those whose host entity is gone."""
        for source, (world, entity) in list(self._hosted.items()):
            if not entities.holds(world, entity, source):
                self.despawn(source)
        if self._counts[5]:
            states = self.sources.state
            for index in np.flatnonzero(states >= State.REFUSED)[::-1]:
                self.telemetry.voices_refused += int(states[index] == State.REFUSED)
                self.telemetry.voices_stolen += int(states[index] == State.STOLEN)
                self.despawn(self.sources.alive[index])
