"""Streams: sounds too long to be held, decoded on a thread a little ahead of what is heard."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from threading import Thread, current_thread

import numpy as np
from numpy.typing import NDArray

from ecs_audio.clips.decode import find
from ecs_audio.clips.errors import ClipError
from ecs_audio.clips.feed import Feed
from ecs_audio.clips.reader import Reader
from ecs_audio.clips.resampler import RESAMPLERS, Resampler, resampled_frames, resampler

MAX_BUFFER = 60.0
"""Longest buffer [s]."""
PATIENCE = 1.0
"""Time that closing waits for a block to be decoded [s]."""


class Stream:
    """A sound file, frame after frame at one rate, from a thread that keeps `buffer` seconds ready.

    `path` is found as `Clips.load` does. `rate` [Hz]; `resampler` is "soxr", equal to its one-shot over
    the whole file, or "linear". `looping` goes on from the start at the end of the file, as if it lay
    there again and again: nothing is flushed, so there is no seam. Raises ClipError naming a file that
    is missing or cannot be streamed, and ValueError for the other arguments.

    One thread pulls. The decoder holds no reference to its stream: a forgotten stream ends it too.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        rate: int,
        *,
        looping: bool = False,
        resampler: str = "soxr",
        buffer: float = 2.0,
    ) -> None:
        _check_settings(rate, resampler, buffer)
        reader = Reader(find(Path(path)), int(rate))
        self.path = reader.path
        self.rate = int(rate)
        self.looping = looping
        self.channels = reader.channels
        """1 or 2."""
        self.file_rate = reader.rate
        """Rate of the file [Hz]."""
        self._file_frames = reader.frames
        self._feed = Feed(math.ceil(buffer * rate), reader.channels)
        thread = Thread(
            target=_decode,
            args=(reader, self._feed, resampler, self.rate, looping),
            name=f"ecs_audio stream {self.path.name}",
            daemon=True,
        )
        # Also at the end of the program: a thread that is killed inside a decoder may bring down the rest.
        self._finalizer = weakref.finalize(self, _end, self._feed, thread)
        thread.start()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def frames(self) -> int | None:
        """Length at `rate` as the header claims it, without turns; None if it claims none (MP3)."""
        if self._file_frames is None:
            return None
        return resampled_frames(self._file_frames, self.file_rate, self.rate)

    @property
    def ready(self) -> int:
        """Frames that can be pulled now."""
        return self._feed.ready

    @property
    def ended(self) -> bool:
        """Whether every frame has been pulled and no more will come, unless by `seek`."""
        return self._feed.ended

    @property
    def failure(self) -> ClipError | None:
        """What ended the file before its end; what was good before it can be pulled."""
        return self._feed.failure

    def pull(self, out: NDArray[np.float32]) -> int:
        """Copy as many frames as are ready to the start of `out`, shape (n, channels); return how many.

        Never waits for the decoder; the rest of `out` is left as it is.
        """
        if out.ndim != 2 or out.shape[1] != self.channels or out.dtype != np.float32:
            raise ValueError(f"out is {out.dtype} {out.shape}: float32 (n, {self.channels}) is needed")
        return self._feed.pull(out)

    def wait(self, frames: int, timeout: float) -> bool:
        """Whether `frames` frames are ready, or all that will ever come are, within `timeout` [s].

        Raises ValueError for more frames than the buffer can hold.
        """
        if frames > self._feed.capacity:
            raise ValueError(f"{frames} frames are never ready: the buffer holds {self._feed.capacity}")
        return self._feed.wait(frames, timeout)

    def seek(self, seconds: float) -> None:
        """Go on at the frame nearest to `seconds` in the file, as if it began there; drop what is ready.

        Also after the end or a failure. Vorbis and MP3 are decoded up to that place, as seeking is not
        exact in them; the few formats that cannot be sought at all, as GSM, end with a failure. Raises
        ValueError for a place that is negative, not finite or known to be beyond the end, or when the
        stream is closed.
        """
        if not 0.0 <= seconds < math.inf:
            raise ValueError(f"{self.path}: cannot go to {seconds} s: a number from 0 on is needed")
        place = round(seconds * self.file_rate)
        if self._file_frames is not None and place > self._file_frames:
            length = self._file_frames / self.file_rate
            raise ValueError(f"{self.path}: cannot go to {seconds} s: it ends at {length:g} s")
        if self._feed.closed:
            raise ValueError(f"{self.path}: cannot go to {seconds} s: the stream is closed")
        self._feed.ask(place)

    def close(self) -> None:
        """End the decoder and drop what is ready; the stream has ended then. More than once is the same."""
        self._finalizer()


def _check_settings(rate: int, resampler: str, buffer: float) -> None:
    if not (0 < rate < 1 << 31 and rate == int(rate)):
        raise ValueError(f"a stream has a rate of {rate} Hz: a positive whole number is needed")
    if resampler not in RESAMPLERS:
        raise ValueError(f"no resampler is called {resampler!r}: {' and '.join(RESAMPLERS)} are")
    if not 0.0 < buffer <= MAX_BUFFER:
        raise ValueError(f"a buffer of {buffer} s: more than 0 and at most {MAX_BUFFER:g} s is needed")


def _end(feed: Feed, thread: Thread) -> None:
    feed.close()
    if thread.ident is not None and thread is not current_thread():  # garbage is collected on any thread
        thread.join(PATIENCE)


def _decode(reader: Reader, feed: Feed, kind: str, rate: int, looping: bool) -> None:
    try:
        while (asked := feed.next_turn()) is not None:
            place, turn = asked
            try:
                convert = resampler(kind, reader.rate, rate, reader.channels)
                failure = _play(reader.blocks(place, looping), convert, feed, turn)
            except Exception as error:  # whatever it was, nobody may wait for ever
                failure = f"{reader.path}: cannot be decoded: {error!r}"
            feed.finish(turn, None if failure is None else ClipError(failure))
    finally:
        reader.close()


def _play(blocks: Iterator[NDArray[np.float32]], convert: Resampler, feed: Feed, turn: int) -> str | None:
    """What broke the file, if anything did; text, as an exception would hold on to every buffer."""
    failure = None
    rest: NDArray[np.float32] = np.zeros((0, feed.channels), dtype=np.float32)
    try:
        for block in blocks:
            if not feed.put(convert(block, False) if len(block) else block, turn):
                return None
    except ClipError as error:
        failure = str(error)
    feed.put(convert(rest, True), turn)  # also after a failure: what was good before it
    return failure
