"""A channel strip in float64: scipy's filter a sample at a time, with coefficients on their way."""

import naive
import numpy as np
from scipy import signal

QUANTUM = 64


def strip(x, hf, gains, fades=None, rate=48_000.0):
    """What a lane gives: an array (frames, 4) of left, right, near and far.

    x: samples. hf: (quanta + 1, 3) gain_hf at each quantum's end, the first one where it begins, of the
    direct
    sound, near and far. gains: (quanta + 1, 4) left, right, near and far, likewise. fades: a factor for
    each frame.
    """
    out, memory = np.zeros((len(x), 4)), np.zeros((3, 2))
    c = [[np.concatenate(naive.shelf(h, rate)) for h in row] for row in hf]
    for n, sample in enumerate(np.asarray(x, float)):
        q, share = n // QUANTUM, (n % QUANTUM + 1) / QUANTUM
        g = (gains[q] + (gains[q + 1] - gains[q]) * share) * (1.0 if fades is None else fades[n])
        for k, outs in enumerate([slice(0, 2), 2, 3]):
            now = c[q][k] + (c[q + 1][k] - c[q][k]) * share
            (wet,), memory[k] = signal.lfilter(now[:3], now[3:], [sample], zi=memory[k])
            out[n, outs] = wet * g[outs]
    return out


def copies_for(speeds, up=1.2, down=1.1, copies=3):
    """Which copy is read at each speed in turn: the least that will do, or the last one if it does."""
    now = None
    for speed in speeds:
        least = next((k for k in range(copies) if speed <= up * 2**k), copies)
        most = next((k for k in range(copies, 0, -1) if speed > down * 2 ** (k - 1)), 0)
        now = now if now is not None and least <= now <= most else least
        yield now
