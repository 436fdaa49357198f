"""The reverb and its filters by other means: textbook shelves, transfer functions, and a loop over samples.

Float64 and numpy alone: nothing here imports the kernels.
"""

from __future__ import annotations

import numpy as np

BANDS = np.array([125.0, 500.0, 2000.0, 8000.0])
CORNERS = (250.0, 1000.0, 4000.0)
GAIN = 0.6
LEFT = np.array([1, 1, 1, 1, -1, -1, -1, -1]) / np.sqrt(8)
RIGHT = np.array([1, -1, 1, -1, 1, -1, 1, -1]) / np.sqrt(8)


def hadamard(n=8):
    """Sylvester's construction, orthonormal."""
    h = np.array([[1.0]])
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return h / np.sqrt(n)


def shelf(decibels, corner, rate):
    """A high shelf as the Audio EQ Cookbook writes it down, slope 1: b0, b1, b2, a1, a2."""
    a, w = 10 ** (decibels / 40), 2 * np.pi * corner / rate
    alpha = np.sin(w) / 2 * np.sqrt((a + 1 / a) * (1 / 1 - 1) + 2)
    beta = 2 * np.sqrt(a) * alpha
    b = [
        a * ((a + 1) + (a - 1) * np.cos(w) + beta),
        -2 * a * ((a - 1) + (a + 1) * np.cos(w)),
        a * ((a + 1) + (a - 1) * np.cos(w) - beta),
    ]
    a0 = (a + 1) - (a - 1) * np.cos(w) + beta
    return np.array([*b, 2 * ((a - 1) - (a + 1) * np.cos(w)), (a + 1) - (a - 1) * np.cos(w) - beta]) / a0


def response(rows, z):
    """Product of three filters of each line at each z^-1: rows (15, lines) to (points, lines)."""
    h = np.ones((len(z), rows.shape[1]), complex)
    for b0, b1, b2, a1, a2 in rows.astype(float).reshape(3, 5, -1):
        z1 = z[:, None]
        h *= (b0 + b1 * z1 + b2 * z1**2) / (1 + a1 * z1 + a2 * z1**2)
    return h


def limited(rt60, ratio=4.0):
    """Reverberation times with the shorter of two neighbours lengthened to a quarter of the other."""
    return np.array([max(t / ratio ** abs(k - band) for k, t in enumerate(rt60)) for band in range(4)])


def impulse_response(rows, factor, length, frames, pre_delay=0):
    """Left and right (frames, 2) of an impulse, by inverting the network's equation at each frequency.

    x = D (A H x + factor s) for the lines' outputs x: what is left at the end of `frames` wraps around.
    """
    z = np.exp(-2j * np.pi * np.arange(frames // 2 + 1) / frames)
    sent = z**pre_delay
    for d in length[8:12]:
        sent = sent * (GAIN + z**d) / (1 + GAIN * z**d)
    delays = z[:, None] ** np.asarray(length[:8])
    loop = np.eye(8) - delays[:, :, None] * hadamard() * response(rows, z)[:, None, :]
    x = np.linalg.solve(loop, (delays * factor * sent[:, None])[:, :, None])[:, :, 0]
    return np.fft.irfft(np.stack([x @ LEFT, x @ RIGHT]), frames).T


def render(sent, length, coefficients, pre_delay):
    """Left and right of any input, sample by sample, with coefficients and pre-delay that may move.

    coefficients: (frames, 16, 8) as they are at each frame. pre_delay: of each frame, (delay, weight) pairs.
    """
    frames, feedback = len(sent), hadamard()
    lines, smeared = np.zeros((frames + 1, 8)), np.zeros((4, frames + 1))
    memory, out = np.zeros((3, 2, 8)), np.zeros((frames, 2))
    for n in range(frames):
        s = sum(weight * sent[n - d] for d, weight in pre_delay[n] if n >= d)
        for k, d in enumerate(length[8:12]):
            past = smeared[k, n - d] if n >= d else 0.0
            smeared[k, n] = s - GAIN * past
            s = past + GAIN * smeared[k, n]
        x = np.array([lines[n - d, i] if n >= d else 0.0 for i, d in enumerate(length[:8])])
        out[n] = LEFT @ x, RIGHT @ x
        for k in range(3):
            b0, b1, b2, a1, a2 = coefficients[n, 5 * k : 5 * k + 5]
            y = b0 * x + memory[k, 0]
            memory[k] = b1 * x - a1 * y + memory[k, 1], b2 * x - a2 * y
            x = y
        lines[n] = feedback @ x + coefficients[n, 15] * s
    return out


def echo_density(response, rate, window=0.02):
    """Normalised echo density (Abel and Huang 2006): samples outside a standard deviation, 1 for noise.

    Returns the times of the windows' middles [s] and the densities.
    """
    half = round(window * rate / 2)
    weight = np.hanning(2 * half + 1)
    weight /= weight.sum()
    middles = np.arange(half, len(response) - half, rate // 1000)
    density = []
    for m in middles:
        part = response[m - half : m + half + 1]
        deviation = np.sqrt(weight @ part**2)
        density.append(weight @ (np.abs(part) > deviation) / 0.31731050786291415)
    return middles / rate, np.array(density)
