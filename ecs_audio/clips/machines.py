"""Machines: engine, rotor, siren."""

from __future__ import annotations

import numpy as np

from ecs_audio.clips.shaping import (
    F32,
    F64,
    as_loop,
    band,
    bins,
    filtered,
    harmonic_count,
    harmonics,
    noise,
    phase,
    randomness,
    resonance,
    rms,
)

FIRING_RATE = 60.0
"""Explosions a second of `engine`: four cylinders in four strokes at 1800 revolutions a minute."""

CYLINDERS = (1.0, 0.72, 0.9, 0.62)
"""Strength of the explosions in each cylinder: no engine is even."""

EXHAUST = ((1.0, 125.0, 90.0), (0.8, 250.0, 160.0), (0.5, 520.0, 300.0), (0.2, 1_300.0, 900.0))
"""Level, frequency and bandwidth [Hz] of each resonance of the exhaust."""

BLADE_RATE = 182.0
"""Blades that pass a second and propeller in `rotor` [Hz], the mean of its four."""


def engine(rate: int, seed: int = 0) -> F32:
    """A four-cylinder engine under light load; 4 s, loops, shape (n,).

    Each explosion is a pulse that rings in the exhaust; cylinders and cycles differ a little, which puts
    the half-orders between the harmonics of FIRING_RATE that make it sound like an engine.
    """
    generator = randomness(seed)
    n = round(4.0 * rate)
    frequency = bins(n, rate)
    count = round(4.0 * FIRING_RATE)
    cylinder = np.array(CYLINDERS) * generator.uniform(0.9, 1.1, 4)
    strength = np.tile(cylinder, count // 4) * generator.uniform(0.92, 1.08, count)
    late = generator.normal(0.0, 0.008, count)
    pulses = np.zeros(n)
    np.add.at(pulses, np.round((np.arange(count) + late) * n / count).astype(np.int64) % n, strength)
    exhaust = np.zeros(len(frequency), dtype=np.complex128)
    for level, centre, width in EXHAUST:
        exhaust += level * (resonance(frequency, centre, width) - resonance(frequency, 20.0, 40.0))
    note = filtered(pulses, exhaust)
    flow = noise(n, band(frequency, 400.0, 3_500.0, 1), generator) * _envelope(pulses, frequency)
    return as_loop(note / rms(note) + 0.12 * flow)


def rotor(rate: int, seed: int = 0) -> F32:
    """A drone: four propellers whose buzz beats, and the rush of the blades; 4 s, loops, shape (n,)."""
    generator = randomness(seed)
    n = round(4.0 * rate)
    time = np.arange(n) / rate
    total = np.zeros(n)
    rush = noise(n, band(bins(n, rate), 900.0, 7_000.0, 1), generator)
    for share in (0.965, 0.990, 1.012, 1.033):
        blade_rate = BLADE_RATE * share * np.ones(n)
        for cycles in (1, 3, 7):  # the controller keeps correcting each propeller
            turn = 2.0 * np.pi * (cycles * time / 4.0 + generator.uniform())
            blade_rate += BLADE_RATE * 0.004 * generator.uniform(0.3, 1.0) * np.sin(turn)
        angle = phase(blade_rate, rate)
        order = np.arange(1, harmonic_count(BLADE_RATE * 1.06, rate, limit=6_000.0) + 1)
        # From phase 0 all harmonics of all propellers would meet in one click.
        start = np.exp(2j * np.pi * generator.uniform(size=len(order)))
        buzz = harmonics(angle, start * generator.uniform(0.5, 1.0, len(order)) / order**0.8)
        total += buzz + 0.10 * rush * (1.0 + 0.6 * np.cos(angle))
    return as_loop(total)


def siren(rate: int, seed: int = 0) -> F32:
    """A wailing siren, 520 to 1400 Hz and back in 4 s, loops, shape (n,). The seed changes nothing."""
    n = round(4.0 * rate)
    place = np.arange(n) / n
    rise = 0.35  # it winds up faster than it runs down
    bent = np.where(place < rise, 0.5 * place / rise, 0.5 + 0.5 * (place - rise) / (1.0 - rise))
    pitch = 520.0 * (1400.0 / 520.0) ** (0.5 - 0.5 * np.cos(2.0 * np.pi * bent))
    horn = (1.0, 0.65, 0.5, 0.3, 0.2, 0.12, 0.08, 0.05)
    return as_loop(harmonics(phase(pitch, rate), horn[: harmonic_count(1400.0, rate)]))


def _envelope(pulses: F64, frequency: F64) -> F64:
    """How much gas flows, from 0 to about 1, shape (n,): the pulses smoothed to some milliseconds."""
    flow = filtered(pulses, np.exp(-((frequency / 60.0) ** 2)))
    return np.asarray(np.maximum(flow / float(flow.max()), 0.0))
