"""Losses: the filters with which the delay lines of a reverb take away what a room absorbs.

A line of n frames must lose 60 n / (rt60 rate) dB on each pass (Jot and Chaigne 1991), in each of four bands.
Three high shelves of second order between them and a gain do it: Robert Bristow-Johnson's, slope 1, whose
response at W = tan(w/2) / tan(w0/2) is |H|^2 = G (1 + G W^4) / (G + W^4): G at the corner, G^2 far above.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F4_1, F8, F8_1, F8_2, I8_1, Array, kernel, law

LINES = 8
BANDS = (125.0, 500.0, 2000.0, 8000.0)
CORNERS = (250.0, 1000.0, 4000.0)
ENERGY = 15
"""Row of the coefficients that holds the factor of unit energy; before it three times b0, b1, b2, a1, a2."""
SHORTEST, LONGEST = 0.05, 20.0
"""Reverberation times lie between [s]."""
RATIO = 4.0
"""Of neighbouring bands' reverberation times, at most: what a shelf of slope 1 can do between two bands."""
STEEPEST = 14.0 / 20.0 * math.log(10.0)
"""Of neighbouring bands' losses in one line, at most [Np]: 14 dB, beyond which a dip or a peak of one band is
more than three shelves of slope 1 can do. More is asked for below 0.26 s alone, by lines of 80 ms."""
HIGHEST_BAND, HIGHEST_CORNER = 0.45, 0.4
"""Of the rate. A band above it acts there; a shelf with a corner above it is left out."""
DECAY = 3.0 * math.log(10.0)
"""60 dB [Np]."""
NEAR_ENOUGH = 0.0003 / 20.0 * math.log(10.0)
"""Error between two neighbouring bands at which Newton's method stops: 0.0003 dB [Np]."""
STEPS, AGAIN = 24, 8
"""Steps of Newton's method at most, and the step at which a guess that leads nowhere is given up for 0."""
LONGEST_STEP = 10.0 / 20.0 * math.log(10.0)
STRONGEST = 40.0 / 20.0 * math.log(10.0)
"""Gain of a shelf, up or down, at most: 40 dB [Np]; what is asked for needs 29."""
DECIBELS = 20.0 / math.log(10.0)


@law
def clamp(x: float, low: float, high: float) -> float:
    """The nearest number between two; the lower one for what is no number."""
    return min(high, x) if x > low else low


@law
def within(a: float, b: float, c: float, d: float, most: float) -> tuple[float, float, float, float]:
    """The least values, none below the given ones, of which no neighbours differ by more than `most`."""
    b = max(b, a - most)
    c = max(c, b - most)
    d = max(d, c - most)
    c = max(c, d - most)
    b = max(b, c - most)
    return max(a, b - most), b, c, d


@law
def place_of(frequency: float, rate: float) -> float:
    """tan(w/2) to the fourth power, at most that of the highest band."""
    t = math.tan(math.pi * min(frequency / rate, HIGHEST_BAND))
    return t * t * t * t


@law
def shelf_at(g: float, x: float) -> float:
    """|H|^2 of a shelf of gain g at W^4 = x."""
    return g * (1.0 + g * x) / (g + x)


@law
def slope_at(g: float, x: float) -> float:
    """d ln|H| / d ln g."""
    return 0.5 * (1.0 + g * x / (1.0 + g * x) - g / (g + x))


@law
def sum_at(
    band: float, corners: tuple[float, float, float], g: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    """ln|H| of three shelves together at a band, and its derivatives by ln g of each."""
    p, q, r = corners
    x, y, z = band * p, band * q, band * r
    gain = 0.5 * math.log(shelf_at(g[0], x) * shelf_at(g[1], y) * shelf_at(g[2], z))
    return gain, slope_at(g[0], x), slope_at(g[1], y), slope_at(g[2], z)


@law
def newton(
    t: tuple[float, float, float, float],
    places: tuple[float, float, float, float],
    corners: tuple[float, float, float],
    shelves: int,
    u: float,
    v: float,
    w: float,
) -> tuple[float, float, float, float]:
    """Gain and three shelves [Np] whose response is t [Np] at four bands; from a guess u, v, w on.

    places: of the bands, corners: one over those of the corners. shelves: how many there are, the others
    are wires. Steps and gains are limited, and the best of all steps is taken, so that what no shelves can do
    comes out as nearly as they can.
    """
    least, gain, best_u, best_v, best_w = np.inf, t[0], 0.0, 0.0, 0.0
    for step in range(STEPS):
        if step == AGAIN:
            u = v = w = 0.0
        g = (math.exp(u), math.exp(v), math.exp(w))
        r0, a0, b0, c0 = sum_at(places[0], corners, g)
        r1, a1, b1, c1 = sum_at(places[1], corners, g)
        r2, a2, b2, c2 = sum_at(places[2], corners, g)
        r3, a3, b3, c3 = sum_at(places[3], corners, g)
        e1, e2, e3 = t[1] - t[0] - (r1 - r0), t[2] - t[1] - (r2 - r1), t[3] - t[2] - (r3 - r2)
        a3, b3, c3, a2, b2, c2 = a3 - a2, b3 - b2, c3 - c2, a2 - a1, b2 - b1, c2 - c1
        a1, b1, c1 = a1 - a0, b1 - b0, c1 - c0
        if shelves < 3:
            e3, a3, b3, c3, c2, c1 = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0
        if shelves < 2:
            e2, a2, b2, c2, b1 = 0.0, 0.0, 1.0, 0.0, 0.0
        if shelves < 1:
            e1, a1 = 0.0, 1.0
        worst = max(abs(e1), abs(e2), abs(e3))
        if worst < least:
            least, gain, best_u, best_v, best_w = worst, t[0] - r0, u, v, w
        if not worst > NEAR_ENOUGH:
            break
        m1, m2, m3 = b2 * c3 - b3 * c2, b3 * c1 - b1 * c3, b1 * c2 - b2 * c1
        scale = 1.0 / (a1 * m1 + a2 * m2 + a3 * m3)
        du = (e1 * m1 + e2 * m2 + e3 * m3) * scale
        dv = (e1 * (a3 * c2 - a2 * c3) + e2 * (a1 * c3 - a3 * c1) + e3 * (a2 * c1 - a1 * c2)) * scale
        dw = (e1 * (a2 * b3 - a3 * b2) + e2 * (a3 * b1 - a1 * b3) + e3 * (a1 * b2 - a2 * b1)) * scale
        u = clamp(u + clamp(du, -LONGEST_STEP, LONGEST_STEP), -STRONGEST, STRONGEST)
        v = clamp(v + clamp(dv, -LONGEST_STEP, LONGEST_STEP), -STRONGEST, STRONGEST)
        w = clamp(w + clamp(dw, -LONGEST_STEP, LONGEST_STEP), -STRONGEST, STRONGEST)
    return gain, best_u, best_v, best_w


@law
def largest(corners: tuple[float, float, float], lowest: float, u: float, v: float, w: float) -> float:
    """Largest ln|H| of three shelves over frequency, at the ends and at every half octave."""
    a, b, c = math.exp(u), math.exp(v), math.exp(w)
    most = max(1.0, a * b * c * a * b * c)
    p, q, r = corners
    x, y, z = lowest * p / 4096.0, lowest * q / 4096.0, lowest * r / 4096.0
    for _ in range(26):
        over = a * b * c * (1.0 + a * x) * (1.0 + b * y) * (1.0 + c * z)
        most = max(most, over / ((a + x) * (b + y) * (c + z)))
        x, y, z = 4.0 * x, 4.0 * y, 4.0 * z
    return 0.5 * math.log(most)


@law
def write_shelf(g: float, gain: float, corner: float, rate: float, out: Array, row: int, line: int) -> None:
    """b0, b1, b2, a1, a2 of a shelf of gain g, times a gain, in one column of five rows of 8 of out."""
    w = 2.0 * math.pi * min(corner / rate, HIGHEST_CORNER)
    a, cos = math.sqrt(g), math.cos(w)
    plus, minus, slope = a + 1.0, a - 1.0, math.sqrt(2.0 * a) * math.sin(w)
    scale = 1.0 / (plus - minus * cos + slope)
    at = LINES * row + line
    out[at] = gain * a * (plus + minus * cos + slope) * scale
    out[at + LINES] = gain * -2.0 * a * (minus + plus * cos) * scale
    out[at + 2 * LINES] = gain * a * (plus + minus * cos - slope) * scale
    out[at + 3 * LINES] = 2.0 * (minus - plus * cos) * scale
    out[at + 4 * LINES] = (plus - minus * cos - slope) * scale


@kernel(F8, F8_1, I8_1, F8_2, F4_1)
def solve_losses(rate: float, rt60: Array, length: Array, guess: Array, out: Array) -> None:
    """Filters of eight lines, and the factor that makes an impulse sent at gain 1 leave energy 1.

    rate: [Hz]. rt60: (4,) at 125, 500, 2000, 8000 Hz [s], held within 0.05 and 20 s. Where neighbours are
    more than 4 : 1 apart the shorter one is lengthened: the longer one carries the level and is what the
    tail ends with, and masks what its neighbour has too much.
    length: (8 or more,) [frames], of which the first 8 are meant. guess: (8, 4) three shelves and the gain of
    each line [dB], where Newton's method begins, replaced by what it found.
    out: (16 x 8,) rows of 8 lines: b0, b1, b2, a1, a2 of each shelf, the first with the gain; the factor.

    At no frequency does a line keep more than with the longest reverberation time. Below 17.8 kHz of rate the
    band of 8000 Hz acts at 0.45 of the rate; below 10 kHz it and its shelf do not exist, and so on.
    """
    log = math.log
    a, b, c, d = within(
        log(clamp(rt60[0], SHORTEST, LONGEST)),
        log(clamp(rt60[1], SHORTEST, LONGEST)),
        log(clamp(rt60[2], SHORTEST, LONGEST)),
        log(clamp(rt60[3], SHORTEST, LONGEST)),
        log(RATIO),
    )
    a, b, c, d = -DECAY / math.exp(a), -DECAY / math.exp(b), -DECAY / math.exp(c), -DECAY / math.exp(d)
    low, high = place_of(BANDS[0], rate), place_of(BANDS[3], rate)
    places = low, place_of(BANDS[1], rate), place_of(BANDS[2], rate), high
    first, second, third = place_of(CORNERS[0], rate), place_of(CORNERS[1], rate), place_of(CORNERS[2], rate)
    corners = 1.0 / first, 1.0 / second, 1.0 / third
    shelves = 0
    for k in range(3):
        shelves += 1 if CORNERS[k] < HIGHEST_CORNER * rate else 0
    middle, upper = 0.0, 0.0
    for line in range(LINES):
        seconds = length[line] / rate
        t = within(a * seconds, b * seconds, c * seconds, d * seconds, STEEPEST)
        middle += math.exp(2.0 * t[1]) / LINES
        upper += math.exp(2.0 * t[2]) / LINES
        u, v, w = guess[line, 0] / DECIBELS, guess[line, 1] / DECIBELS, guess[line, 2] / DECIBELS
        u, v, w = (
            clamp(u, -STRONGEST, STRONGEST) if shelves > 0 else 0.0,
            clamp(v, -STRONGEST, STRONGEST) if shelves > 1 else 0.0,
            clamp(w, -STRONGEST, STRONGEST) if shelves > 2 else 0.0,
        )
        gain, u, v, w = newton(t, places, corners, shelves, u, v, w)
        guess[line, 0], guess[line, 1], guess[line, 2] = u * DECIBELS, v * DECIBELS, w * DECIBELS
        guess[line, 3] = gain * DECIBELS
        gain = min(gain, -DECAY * seconds / LONGEST - largest(corners, places[0], u, v, w))
        write_shelf(math.exp(u), math.exp(gain), CORNERS[0], rate, out, 0, line)
        write_shelf(math.exp(v), 1.0, CORNERS[1], rate, out, 5, line)
        write_shelf(math.exp(w), 1.0, CORNERS[2], rate, out, 10, line)
    # Paths that meet by chance add their energy: sent once, 1/(1 - q) passes each line, q the mean of what
    # lines keep of it, and two ears with outputs of 1/sqrt(8) hear twice that.
    factor = math.sqrt(1.0 / (1.0 / (1.0 - middle) + 1.0 / (1.0 - upper)))
    for line in range(LINES):
        out[LINES * ENERGY + line] = factor
