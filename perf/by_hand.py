"""The mix as a careful user writes it with numpy and scipy, without a compiler.

Whole arrays wherever no sample waits for the one before. Easier than the engine's on purpose: shelves
stand still, one damping filter serves all lines of a reverb, and the limiter has one gain a block.
"""

from __future__ import annotations

import numpy as np
from naive import shelf
from scipy.linalg import hadamard
from scipy.signal import lfilter

RATE = 48_000
CEILING, RELEASE = 10 ** (-0.3 / 20), 0.2
DAMPING = 0.6
CHUNK = 128
"""Frames of a reverb computed together: no delay in it is shorter."""
REVERBS = (
    (0.9, 480, (128, 176, 272, 368), (337, 439, 571, 743, 967, 1259, 1637, 2129)),
    (3.0, 960, (144, 208, 336, 496), (541, 709, 937, 1237, 1637, 2161, 2857, 3769)),
)
"""Reverberation time [s], pre-delay, all-passes and lines [frames] of the near and the far one."""


class Line:
    """Rings of past samples, read behind the chunk that is written next."""

    def __init__(self, *delays):
        self.delays = np.array(delays)[:, None]
        self.rows = np.arange(len(delays))[:, None]
        self.size = 1 << int(max(delays) + CHUNK).bit_length()
        self.past = np.zeros((len(delays), self.size), np.float32)

    def read(self, frames):
        return self.past[self.rows, (frames - self.delays) % self.size]

    def write(self, frames, samples):
        self.past[:, frames % self.size] = samples


def reverb(decay, ahead, diffusers, lengths):
    """A function from frames and mono samples to left and right: all-passes, then a feedback delay network.

    decay: of low frequencies, to -60 dB [s].
    """
    lines, before = Line(*lengths), Line(ahead)
    all_passes = [Line(d) for d in diffusers]
    loss = (10 ** (-3 * lines.delays / (decay * RATE))).astype(np.float32)
    feedback = (hadamard(8) / np.sqrt(8)).astype(np.float32)
    ears = (hadamard(8)[1:3] / np.sqrt(8)).astype(np.float32)
    damping, memory = np.array([[DAMPING], [DAMPING - 1.0]], np.float32), np.zeros((8, 1), np.float32)

    def chunk(frames, x):
        nonlocal memory
        before.write(frames, x)
        x = before.read(frames)
        for line in all_passes:
            past = line.read(frames)
            inner = x - np.float32(0.6) * past
            line.write(frames, inner)
            x = past + np.float32(0.6) * inner
        y, memory = lfilter(damping[0], (np.float32(1), damping[1, 0]), lines.read(frames), zi=memory)
        y = y.astype(np.float32, copy=False) * loss
        lines.write(frames, feedback @ y + x)
        return ears @ y

    return chunk


def limiter():
    """A function that turns a block (2, frames) down to the ceiling, and back up slowly."""
    gain = 1.0

    def limit(block):
        nonlocal gain
        frames = block.shape[1]
        needed = CEILING / max(CEILING, np.abs(block).max())
        start = min(gain, needed)
        gain = min(needed, gain + (1.0 - gain) * frames / (RELEASE * RATE))
        return block * np.linspace(start, gain, frames, dtype=np.float32)

    return limit


def reader(clips, owner, speed, place, frames):
    """A function that reads the next frames of every lane, (lanes, frames), the same array each time.

    clips: (n, length), read as loops. owner: (lanes,) clip of each. speed, place: (lanes, 1) [frames].
    """
    length, lanes = clips.shape[1], len(owner)
    bank = np.pad(clips, ((0, 0), (0, 1)), mode="wrap").ravel()  # a loop's last frame has a next one
    first, n = owner[:, None] * (length + 1), np.arange(frames)
    at, whole = np.zeros((lanes, frames)), np.zeros((lanes, frames), np.int64)
    x, high, share = np.zeros((3, lanes, frames), np.float32)

    def read():
        nonlocal place
        np.multiply(speed, n, out=at)  # into arrays that are there: new ones of this size cost twice the work
        np.add(at, place, out=at)
        whole[:] = at
        np.subtract(at, whole, out=share, casting="same_kind")
        np.remainder(whole, length, out=whole)
        np.add(whole, first, out=whole)
        np.take(bank, whole, out=x, mode="clip")
        np.add(whole, 1, out=whole)
        np.take(bank, whole, out=high, mode="clip")
        np.subtract(high, x, out=high)
        np.multiply(high, share, out=high)
        np.add(x, high, out=x)
        place = (place + speed * frames) % length
        return x

    return read


def mixer(clips, voices, taps, *, frames=512, seed=0):
    """A function that mixes the next block, float32 (frames, 2), on one core.

    clips: (n, length) float32, played in turn as loops with pitches of .7 to 1.4. taps: echoes of the
    first voices, four each, up to .45 s late. Each lane has its own shelf and its own gains to both ears
    and into both reverbs, which move from block to block. frames: a multiple of CHUNK.
    """
    rng, lanes = np.random.default_rng(seed), voices + taps
    owner = np.concatenate([np.arange(voices), np.arange(taps) // 4])
    speed, place = (
        rng.uniform(0.7, 1.4, voices)[owner, None],
        rng.uniform(0, clips.shape[1], voices)[owner, None],
    )
    late = np.concatenate([np.zeros(voices), rng.uniform(0.02, 0.45, taps) * RATE])[:, None]
    read = reader(clips, owner % len(clips), speed, (place - late * speed) % clips.shape[1], frames)
    filters = [tuple(np.array(c, np.float32) for c in shelf(h)) for h in rng.uniform(0.1, 0.9, lanes)]
    memory, ramp = np.zeros((lanes, 2), np.float32), np.linspace(0, 1, frames, dtype=np.float32)
    ends = rng.uniform(0.0, 0.02, (2, 4, lanes)).astype(np.float32)
    reverbs, limit = [reverb(*each) for each in REVERBS], limiter()
    n, blocks = np.arange(frames), 0

    def block():
        nonlocal blocks
        x = read()
        for k, (b, a) in enumerate(filters):
            x[k], memory[k] = lfilter(b, a, x[k], zi=memory[k])
        start, end = ends[::-1] if blocks % 2 else ends
        sums = np.einsum("bl,ln->bn", start, x)  # matrix products may take a second core
        np.multiply(x, ramp, out=x)
        sums += np.einsum("bl,ln->bn", end - start, x)
        for k in range(0, frames, CHUNK):
            part = slice(k, k + CHUNK)
            for send, tail in enumerate(reverbs, start=2):
                sums[:2, part] += tail(blocks * frames + n[part], sums[send, part])
        blocks += 1
        return limit(sums[:2]).T

    return block
