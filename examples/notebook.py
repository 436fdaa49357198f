"""A fly-by, rendered and measured: cells for VS Code, Spyder or Jupyter, or `python examples/notebook.py`."""

# %% [markdown]
# # A fly-by, rendered and measured
#
# A horn drives past a listener, before a wall. What is heard ends up in `heard`, an array like any other.

# %%
from __future__ import annotations

import math

import numpy as np

import ecs_audio as ea
from ecs_audio.analysis import frequency, level_db, octave_levels_db, spectrum_db

RATE, TICK_RATE, SECONDS = 48_000, 60, 4.0
TONE, SPEED, ASIDE = 1000.0, 30.0, 6.0  # [Hz], [m/s], how far aside it passes [m]

# %% [markdown]
# ## The world: a meadow, and a stone wall on the far side of the road

# %%
world = ea.World.empty(size=(160, 32, 64), origin=(-80, 0, -32))
world.fill((-80, 0, -32), (80, 1, 32), "grass_block")
world.fill((-30, 1, 12), (30, 9, 14), "stone_bricks")
print(world)

# %% [markdown]
# ## The sound: one second of a tone with two overtones, looping

# %%
clips = ea.Clips(RATE)
time = np.arange(RATE) / RATE
clips.add("horn", sum(0.3 / n * np.sin(2 * np.pi * TONE * n * time) for n in (1, 2, 3)))

# %% [markdown]
# ## The fly-by: move, tick, render
#
# A tick sets out what is heard until the next one; `render` takes any number of frames. Its block is valid
# until the next call, hence the copy.


# %%
def fly_by(acoustics: str = "full") -> tuple[np.ndarray, np.ndarray]:
    """What is heard, float32 (frames, 2), and the distance at each tick [m]."""
    blocks, distances = [], []
    with ea.Engine(world, clips, settings=ea.Settings(acoustics=acoustics)) as engine:
        engine.warm_up()
        engine.listener.look(position=(0.0, 2.6, 0.0), forward=(0.0, 0.0, 1.0))
        start = -SPEED * SECONDS / 2.0
        horn = engine.spawn("horn", position=(start, 2.6, ASIDE), looping=True, reference=3.0)
        for tick in range(round(SECONDS * TICK_RATE)):
            engine.sources.position[horn, 0] = start + SPEED * tick / TICK_RATE
            engine.tick(1 / TICK_RATE)
            blocks.append(engine.render(RATE // TICK_RATE).copy())
            distances.append(float(engine.sources.distance[horn]))
    return np.concatenate(blocks), np.array(distances)


heard, distances = fly_by()
print(f"{heard.shape}, peak {np.abs(heard).max():.3f}, nearest {distances.min():.2f} m")

# %% [markdown]
# ## Levels: it comes and goes, from the right to the left
#
# Looking to positive z, positive x is to the left.

# %%
STEP = RATE // 4
left, right = (np.array([level_db(part) for part in heard[:, ear].reshape(-1, STEP)]) for ear in (0, 1))
print("   time   left  right [dBFS]")
for k, (a, b) in enumerate(zip(left, right, strict=True)):
    bar = "#" * max(0, round(60.0 + 10.0 * math.log10(10.0 ** (a / 10.0) + 10.0 ** (b / 10.0))))
    print(f"{k / 4:5.2f} s {a:6.1f} {b:6.1f}  {bar}")

# %% [markdown]
# ## Spectrum: Doppler
#
# What comes nearer at v is heard c / (c − v) times as high, v being the part of its speed that goes towards
# the listener. It is computed from where the horn is, and heard from where it was, so the two differ a bit.

# %%
plain, _ = fly_by("direct")  # without reflections, which have a Doppler shift of their own
doppler = {}
for name, at in (("coming", 0.7), ("going", 3.3)):
    first = round((at - 0.1) * RATE)
    doppler[name] = frequency(plain[first : first + RATE // 5].sum(axis=1), RATE)
    along = SPEED * (at - SECONDS / 2.0)
    towards = -SPEED * along / math.hypot(along, ASIDE)
    print(f"{name:7} {doppler[name]:7.1f} Hz, expected about {TONE * 343.0 / (343.0 - towards):7.1f} Hz")

hertz, decibels = spectrum_db(heard[: RATE // 2].sum(axis=1), RATE)
loudest = sorted(np.argsort(decibels)[-3:].tolist())
print("strongest while it comes:", ", ".join(f"{hertz[k]:.0f} Hz at {decibels[k]:.1f} dB" for k in loudest))
print("octaves from 63 Hz:", octave_levels_db(heard[:, 0], RATE).round(1))

# %% [markdown]
# ## A picture, where matplotlib is installed

# %%
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("No matplotlib, no picture; `heard` has all there is to see.")
else:
    plt.specgram(heard.sum(axis=1), NFFT=4096, Fs=RATE, noverlap=3072)
    plt.ylim(0, 4000)
    plt.xlabel("time [s]")
    plt.ylabel("frequency [Hz]")
    plt.show()

# %% [markdown]
# `heard` is float32 (frames, 2): play it with IPython's `Audio(heard.T, rate=RATE)`, or write it to a file.

# %%
# ea.write_wav("fly_by.wav", heard, RATE)
