"""feed: what streams have decoded goes into the rings that their voices read."""

from __future__ import annotations

import warnings

import numpy as np

from ecs_audio.clips import Clips, ClipWarning
from ecs_audio.clips.stream import Stream
from ecs_audio.components import Source, Sources
from ecs_audio.components.entries import NO_PLANE
from ecs_audio.kernels.emission import NEVER

STREAMING, ENDING = 2, 1
"""`looping` of a stream that goes on, and of one whose last frame is in the ring."""
AHEAD = 2.5
"""So much is put into a ring before it is heard [s]."""
UNDER_WAY, FARTHEST = 1.5, 12.0
"""What was emitted and may still be under way is kept for so long, or twice or four times, at most [s]."""
MARGIN = 1024
"""Frames between what is read and what is written: the fade, the reader, and what is mixed ahead."""
REFILL = 0.1
"""A stream that starved goes on when so much more is ready [s]."""
RISE = 0.005
"""What begins in the midst of a file rises in [s]."""
PIECE = 4096


class Track:
    """A stream on its way into the clip bank: its mid, and its side if that is wanted."""

    def __init__(self, stream: Stream, clips: Clips, *, channels: int, under_way: float) -> None:
        """channels: 1 for the mid alone. under_way: so long sound may take to arrive [s]."""
        kept = 0.0
        while kept < min(under_way, FARTHEST):
            kept = 2.0 * kept or UNDER_WAY
        self.stream, self.clips, self.channels = stream, clips, channels
        self.frames = 2 * PIECE + int((AHEAD + kept) * clips.rate)
        self.held = False
        """Whether the host paused it."""
        self.starved_frames = 0
        """Frames for which it was silent since nothing was ready."""
        self._piece = np.zeros((PIECE, stream.channels), np.float32)
        self._mixed = np.zeros((2, PIECE), np.float32)
        self._blank = np.zeros(PIECE, np.float32)
        self.begin(rises=False)

    def begin(self, *, rises: bool) -> None:
        """Take new rings, with which the stream's next frame is the first one."""
        self.rings = tuple(self.clips.take_ring(self.frames) for _ in range(self.channels))
        """Clips of mid and side."""
        self.clips.side[self.rings[0]] = self.rings[1] if self.channels == 2 else -1
        self.written = 0
        """Frames put into the rings so far."""
        self.over = False
        """Whether its last frame is in the rings."""
        self.begun = False
        """Whether its first frame is heard."""
        self.still, self.place = True, 0.0
        """Whether it stands still; where it is at the frame `mixed` [frames]."""
        self.mixed = 0
        self.starves = False
        """Whether it does since nothing is ready."""
        self._rise = int(RISE * self.clips.rate) if rises else 0

    def close(self) -> None:
        """End the decoder."""
        self.stream.close()

    def fill(self, until: int) -> None:
        """Move what is ready into the rings, up to a frame."""
        while self.written < until:
            count = self.stream.pull(self._piece[: min(PIECE, until - self.written)])
            if not count:
                break
            if self.written < self._rise:
                rising = min(count, self._rise - self.written)
                fade = (self.written + np.arange(rising)) / self._rise
                self._piece[:rising] *= fade[:, np.newaxis].astype(np.float32)
            left, right = self._piece[:count, 0], self._piece[:count, -1]
            mid, side = self._mixed[0, :count], self._mixed[1, :count]
            np.add(left, right, out=mid)
            np.subtract(left, right, out=side)
            for ring, samples in zip(self.rings, (mid, side), strict=False):
                samples *= np.float32(0.5)
                self._write(ring, samples)
            self.written += count
        if not self.over and self.stream.ended:
            for ring in self.rings:
                self._write(ring, self._blank)  # what comes after the end
            self.over = True

    def _write(self, ring: int, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        out, at = self.clips.ring(ring), self.written % self.frames
        first = min(len(samples), self.frames - at)
        out[at : at + first] = samples[:first]
        out[: len(samples) - first] = samples[first:]


def feed(
    tracks: dict[Source, Track],
    sources: Sources,
    *,
    tick: int,
    now: int,
    mixed: int,
    ahead: int,
    passed: int,
    frames: int,
    rate: float,
    patience: float,
) -> int:
    """Fill the rings of all streams, and let stand still what the host paused, or has nothing to go on with;
    returns frames starved at this tick.

    now: frame of this tick. mixed: the first one that can still be mixed. ahead: how far that lies after the
    one at which this tick is heard. passed: frames since the last tick. frames: until the next.
    patience: how long to wait for what is needed until then [s]: 0 never waits, which is for live use; else
    the same is heard every time.
    """
    starved, failures, s = 0, [], sources
    for source, track in tracks.items():
        i, failed = source.index, track.over
        pitch, before = float(s.pitch[i]), float(s.pitch_before[i])
        # Where it is, or goes on, at the first frame that can still be mixed.
        if track.still:
            place = track.place
        elif s.delayed[i]:
            place = s.clock[i] + passed * before + ahead * pitch
        else:  # a host that was late has heard it go on meanwhile, up to where nothing more was there
            place = track.place + (mixed - track.mixed) * pitch
            place = place if track.over else min(place, max(s.stop_clock[i], track.place))
        margin = int(MARGIN * max(pitch, 1.0))
        room = int(place + AHEAD * rate)
        needed = place + (frames + max(-ahead, 0)) * pitch + margin + track.starves * REFILL * rate
        needed = min(int(needed), room)
        track.fill(room)
        while patience > 0.0 and not track.held and not track.over and track.written < needed:
            if not track.stream.wait(min(needed - track.written, int(rate)), patience):
                break
            track.fill(room)
        ready = track.over or track.written >= needed
        plays = ready and not track.held
        if not track.begun:  # it starts as any source does
            s.born[i] = s.start_frame[i] = -1
            place = min(ahead, 0) * pitch
        elif plays and track.still:  # as if it had always been here, with what it played under way
            s.born[i], s.start_frame[i], s.emission[i] = tick, now, NEVER
        if track.begun:
            s.clock[i] = place - passed * plays * before - ahead * pitch
        track.place, track.mixed = place, mixed
        if plays:
            track.still, track.begun, track.starves = False, True, False
        else:
            track.still = True
            if not ready and not track.held:
                track.starves = track.begun
                track.starved_frames += frames
                starved += frames
        s.paused[i] = track.still
        s.stop_clock[i] = track.written if track.over else max(track.written - margin // 2, 0)
        s.looping[i] = ENDING if track.over else STREAMING
        if track.over and not failed and track.stream.failure is not None:
            failures.append(str(track.stream.failure))
    for failure in failures:  # once all are fed, as a warning may be an error
        warnings.warn(failure, ClipWarning, stacklevel=3)
    return starved


def forget_echoes(tracks: dict[Source, Track], sources: Sources) -> None:
    """Streams have no echoes: their rings do not reach back so far."""
    for source in tracks:
        sources.wanted_plane[source] = NO_PLANE
