"""What sounds: the half of an engine that adds sources and takes them away."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ecs_audio import entities
from ecs_audio.clips import Clips, ClipWarning
from ecs_audio.clips.stream import Stream
from ecs_audio.components import Lane, Listener, Source, Sources, State, Voices
from ecs_audio.components.buses import Buses
from ecs_audio.components.master import Master
from ecs_audio.kernels.columns import SoundColumns, VoiceColumns
from ecs_audio.kernels.emission import NEVER
from ecs_audio.kernels.strip import FADE_TARGET
from ecs_audio.settings import Settings
from ecs_audio.spawn import Options, source_values, vary
from ecs_audio.systems.feed import MARGIN, STREAMING, Track
from ecs_audio.systems.live import Live
from ecs_audio.systems.mix import desk_of
from ecs_audio.systems.play import lanes_for_echoes, lanes_for_sources
from ecs_audio.telemetry import Telemetry


class Sounding:
    """Sources, the voices that play them, and the streams and reverbs between."""

    def __init__(self, clips: Clips, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.clips = clips
        self.rate = clips.rate
        """Frames a second."""
        self.rng = np.random.Generator(np.random.PCG64(seed))
        """The only source of chance."""
        self.listener = Listener()
        self.sources = Sources(settings.max_sources)
        self.telemetry = Telemetry()
        self._seed = seed
        self._sounds = SoundColumns(*(self.sources.storage[name] for name in SoundColumns._fields))
        self._counts = np.zeros(8, np.int64)
        self._esper = entities.new_world()
        self._hosted: dict[Source, tuple[str, int]] = {}
        self._tracks: dict[Source, Track] = {}
        self._spent: list[tuple[int, tuple[int, ...]]] = []
        self._warned: set[int] = set()
        self._closed = False
        self._live: Live | None = None
        self._quieten()

    def _quieten(self) -> None:
        """New voices, reverbs and limiter, in which nothing sounds."""
        settings = self.settings
        self.voices = Voices(lanes_for_sources(settings.max_voices), lanes_for_echoes(settings.max_taps))
        columns = [self.voices.storage[name] for name in VoiceColumns._fields[:-1]]
        self._lanes = VoiceColumns(*[*columns, self.voices.signal])
        self._buses = Buses(self.rate)
        self._master = Master()
        self._desk = desk_of(self._lanes, self._buses, self._master)
        self._places: NDArray[np.int64] | None = None
        self._passed, self._frames = 0.0, 0
        self._spawned = 0

    def spawn(self, clip: str, **options: Unpack[Options]) -> Source:
        """Add a source that plays a clip, or a variant of a sound script, from the next tick on; returns
        its row.

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

    def stream(
        self, path: str | PathLike[str], *, resampler: str = "soxr", **options: Unpack[Options]
    ) -> Source:
        """Play a long file, such as music, decoded as it goes; returns its row.

        resampler: "soxr", or "linear" for straight lines between samples. The other options are those of
        `spawn`; the category is "music" if none is given, and pitch, event and start_frame cannot be: only
        the column `pitch` may be written. Placed, it is mono without echoes. Raises ClipError for a bad file.
        """
        self._check_open()
        for name in ("pitch", "event", "start_frame"):
            if name in options:
                raise TypeError(f"a stream has no {name}")
        options.setdefault("category", "music")
        values = source_values(self.clips, self.settings, None, options)
        stream = Stream(path, self.rate, looping=bool(values["looping"]), resampler=resampler)
        channels = 1 if values["positioned"] else stream.channels
        way = values["end"] / self.settings.speed_of_sound if values["delayed"] else 0.0
        track = Track(stream, self.clips, channels=channels, under_way=way)
        values |= {"clip": track.rings[0], "looping": STREAMING, "stop_clock": 0.0, "paused": 1}
        try:
            source = self.sources.append(**values, serial=self._spawned)
        except BaseException:
            self._retire(track)
            raise
        self._spawned += 1
        self._tracks[source] = track
        self.sources.entity[source] = entities.create(self._esper, source)
        return source

    def seek(self, source: Source, seconds: float) -> None:
        """Let a stream go on at another place: what is heard falls silent in 5 ms, and that place rises in 5
        ms as soon as it is there. Raises ValueError for a source that is none, or no such place."""
        self.sources.check(source)
        if (track := self._tracks.get(source)) is None:
            raise ValueError(f"{source!r} is no stream, and has no place to seek")
        track.stream.seek(seconds)
        # It begins anew in other rings, as what fades out still reads these.
        self._spend(track.rings)
        track.begin(rises=seconds > 0.0)
        s, i = self.sources, source.index
        self._let_go(int(s.voice[i]), *s.tap_voice[i].tolist())
        s.voice[i], s.tap_voice[i], s.state[i], s.hush[i] = -1, -1, State.WAITING, 0.0
        s.clip[i], s.looping[i], s.stop_clock[i], s.paused[i] = track.rings[0], STREAMING, 0.0, 1
        s.born[i], s.start_frame[i], s.clock[i], s.emission[i] = -1, -1, 0.0, NEVER
        s.slot[i] = -1

    def _retire(self, track: Track) -> None:
        track.close()
        self._spend(track.rings)

    def _spend(self, rings: tuple[int, ...]) -> None:
        """Let rings be given back once nothing reads them any more."""
        heard = self._master.mixed_frames if self._live is None else self._live.all_heard
        self._spent.append((heard + MARGIN, rings))

    def _append(self, clip: str, options: Options) -> Source:
        self._check_open()
        values = source_values(self.clips, self.settings, clip, options)
        if (event := options.get("event")) is not None:
            self.sources.check(event)
            values["event"] = self.sources.serial[event]
        source = self.sources.append(**values, serial=self._spawned)
        self._spawned += 1
        vary(self.sources, source, self.clips, self.settings, clip, options, self.listener, self.rng)
        played = int(self.sources.clip[source])
        stereo = played >= 0 and self.clips.side[played] >= 0
        if stereo and values["positioned"] and played not in self._warned:
            self._warned.add(played)
            warnings.warn(
                f"clip {clip!r} is stereo: placed somewhere, its channels are averaged, "
                "as a source is one point",
                ClipWarning,
                stacklevel=4,
            )
        return source

    def despawn(self, source: Source, *, ring_out: bool = False) -> None:
        """Silence a source for good, within 5 ms. Raises DeadRowError the second time.

        ring_out: it only stops emitting: what is under way arrives, with its echoes, from where it was
        emitted. Nothing is on its way from one that is paused.
        """
        self.sources.check(source)
        entity = int(self.sources.entity[source])
        if (hosted := self._hosted.pop(source, None)) is not None:
            entities.detach(*hosted, source)
        else:
            entities.delete(self._esper, entity)
        if ring_out and source not in self._tracks and self._emitted(source) > 0.0:
            self._leave_sounding(source)
            return
        if (track := self._tracks.pop(source, None)) is not None:
            self._retire(track)
        self._let_go(int(self.sources.voice[source]), *self.sources.tap_voice[source].tolist())
        self.sources.remove(source)

    def _emitted(self, source: Source) -> float:
        """How far in its clip a source will have come at the next tick [frames], 0 if nothing sounds."""
        s, i = self.sources, source.index
        if s.state[i] != State.PLAYING or s.paused[i]:
            return 0.0
        return float(s.clock[i] + self._frames * s.pitch_before[i])

    def _leave_sounding(self, source: Source) -> None:
        """Give the values of a row to one that nobody holds, which is silent from the next tick's emission
        on."""
        s = self.sources
        s.stop_clock[source] = min(s.stop_clock[source], self._emitted(source))
        ghost = s.replace(source)
        s.entity[ghost] = entities.create(self._esper, ghost)

    def _let_go(self, *lanes: int) -> None:
        """Let lanes fade out on their own."""
        for lane in lanes:
            if lane >= 0 and self._lanes.lane[lane] == Lane.PLAYING:
                self._lanes.lane[lane], self._lanes.jump[lane] = Lane.ORPHAN, 0
                self._lanes.signal[FADE_TARGET, lane] = 0.0
            elif lane >= 0 and self._lanes.lane[lane] == Lane.ENDED:
                self._lanes.lane[lane] = Lane.FREE

    def pause(self, source: Source) -> None:
        """Stop a source's clip where it is, with a fade of 5 ms from the next tick on."""
        self.sources.check(source)
        self.sources.paused[source] = 1
        if source in self._tracks:
            self._tracks[source].held = True

    def resume(self, source: Source) -> None:
        """Let a paused clip go on where it stood."""
        self.sources.check(source)
        if source in self._tracks:
            self._tracks[source].held = False
        elif self.sources.paused[source]:
            self.sources.paused[source] = 0
            if self.sources.state[source] == State.WAITING:
                self._start_anew(source)

    def _start_anew(self, source: Source) -> None:
        """Let a source that was paused before it was heard begin at the next tick, at its clip's first
        frame."""
        s = self.sources
        s.born[source] = -1
        if s.start_frame[source] < self._master.mixed_frames:
            s.start_frame[source] = -1

    def stop_all(self) -> None:
        """Despawn every source, and silence echoes and reverbs: all is quiet within 20 ms."""
        for source in reversed(list(self.sources.alive)):
            self.despawn(source)
        self._hush()

    def _hush(self) -> None:
        """Silence echoes and reverbs; what is flat keeps its second channel."""
        placed = self.sources.positioned != 0
        self._let_go(*self.sources.tap_voice[placed].ravel().tolist())
        self.sources.tap_voice[placed] = -1
        if self._live is not None:
            self._live.closings += 1
            return
        for bus in self._buses.both:
            bus.close()

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

    def _give_back(self, frame: float) -> None:
        """Give back the rings of streams that have faded out by a frame."""
        for spent in [spent for spent in self._spent if spent[0] <= frame]:
            for ring in spent[1]:
                self.clips.give_back(ring)
            self._spent.remove(spent)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this engine is closed")
