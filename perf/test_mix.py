"""What a block of the whole mix costs, beside OpenAL Soft and numpy with scipy, interleaved."""

import time
from contextlib import ExitStack
from typing import NamedTuple

import by_hand
import numpy as np
import openal
import pytest

import ecs_audio as ea
from ecs_audio.kernels.shelf import corner_of, shelf_coefficients

FRAMES, VOICES, TAPS, TICK = 512, 100, 64, 1 / 60
ROUNDS, BLOCKS = 7, 100
LOW, HIGH = np.array((12, 8, 14)), np.array((52, 20, 50))
"""Inside of the hall: 40 x 12 x 36 m, wide enough that sound goes into both reverbs."""
WALLS = ((20, 14, 46, "stone"), (44, 36, 50, "oak_planks"))
"""Inner walls: x, from z to z, what of. Sound passes over them and around them."""


class Scene(NamedTuple):
    """An engine with sources that sound."""

    engine: ea.Engine

    def keep_up(self):
        """Do the ticks that are due."""
        while self.engine.frame >= round(self.engine.time * self.engine.rate):
            self.engine.tick(TICK)

    def block(self):
        return self.engine.render(FRAMES)

    def what(self):
        """What sounds, by name."""
        sources, told = self.engine.sources, self.engine.telemetry
        return {
            "voices": told.voices_playing, "taps": told.taps,
            "sends": int((sources.send > 0.0).sum()), "muffled": int((sources.gain_hf < 0.9).sum()),
        }  # fmt: skip


@pytest.fixture(scope="module")
def noise():
    """A hundred clips of 4 s, float32 (clips, frames)."""
    return np.random.default_rng(0).normal(0.0, 0.1, (100, 192_000)).astype(np.float32)


@pytest.fixture(scope="module")
def clips(noise):
    clips = ea.Clips()
    for k, samples in enumerate(noise):
        clips.add(f"noise {k}", samples)
    return clips


def hall():
    """A closed hall of stone with inner walls, in a world of 64 m."""
    world = ea.World.empty(size=(64, 64, 64))
    world.fill(LOW - 2, HIGH + 2, "stone")
    world.fill(LOW, HIGH, "air")
    for x, z, end, what in WALLS:
        world.fill((x, LOW[1], z), (x + 1, HIGH[1] - 3, end), what)
    return world


@pytest.fixture
def busy(clips):
    """A function: a scene of so many loops in the hall, with at most so many echoes, two seconds old."""
    engines = ExitStack()

    def make(voices, taps, reader):
        rng = np.random.default_rng(1)
        settings = ea.Settings(
            echoes=taps > 0, max_taps=taps, max_voices=max(voices, 128), interpolation=reader
        )
        scene = Scene(engines.enter_context(ea.Engine(hall(), clips, settings=settings)))
        scene.engine.listener.look(position=(32.5, 10.7, 32.5), forward=(1, 0, 0))
        for k in range(voices):
            place = rng.uniform(LOW + 0.3, HIGH - 0.3)
            while int(place[0]) in [x for x, *_ in WALLS]:
                place = rng.uniform(LOW + 0.3, HIGH - 0.3)
            scene.engine.spawn(
                f"noise {k % clips.count}", position=place, looping=True,
                pitch=rng.uniform(0.7, 1.4), volume=8.0 / np.sqrt(voices),
            )  # fmt: skip
        for _ in range(120):
            scene.engine.tick(TICK)
            scene.engine.render(800)
        return scene

    with engines:
        yield make


def seconds(benchmark, *mixers):
    """Seconds that a block of each mixer takes, in turn: the median of each round, (rounds, mixers).

    mixers: functions to be called before each block, untimed, and for it.
    """
    taken = np.zeros((ROUNDS, len(mixers), BLOCKS) if benchmark.enabled else (1, len(mixers), 2))
    for turn in taken:
        for own, (before, block) in zip(turn, mixers, strict=True):
            for k in range(len(own)):
                before()
                start = time.perf_counter()
                block()
                own[k] = time.perf_counter() - start
    return np.median(taken, axis=2)


def compare(benchmark, table, scene, name, theirs, target):
    """Interleave a scene with a peer, and note times and ratio."""
    benchmark.pedantic(scene.block, setup=scene.keep_up, rounds=BLOCKS)
    scene.keep_up()
    assert 0.0 < np.abs(scene.block()).max() < 1.0
    assert 0.0 < np.abs(theirs()).max() < 2.0
    taken = seconds(benchmark, (scene.keep_up, scene.block), (lambda: None, theirs))
    ours, peer = np.median(taken, axis=0)
    ratio = np.median(taken[:, 1] / taken[:, 0])
    what, settings = scene.what(), scene.engine.settings
    reader = settings.interpolation
    assert what["voices"] == VOICES
    assert what["sends"] == 2 * VOICES
    assert what["taps"] >= 0.9 * settings.max_taps
    verdict = "" if target is None else f" (target {target}: {'met' if ratio >= target else 'missed'})"
    benchmark.extra_info |= what | {
        "frames": FRAMES, "reader": reader, "peer": name, "seconds": ours, "peer_seconds": peer,
        "ratio_to_peer": ratio, "target": target,
    }  # fmt: skip
    if benchmark.enabled:
        table.append(
            f"block  {what['voices']:4} voices {what['taps']:3} taps {what['sends']:4} sends  {reader:6} "
            f"{1e3 * ours:6.3f} ms  {ratio:5.1f} x {name}{verdict}"
        )


def need_openal():
    if openal.library() is None:
        pytest.skip("OpenAL Soft is not here: it comes with the wheel of cyal, in the group `peers`")


@pytest.mark.parametrize(
    ("taps", "reader", "resampler", "target"),
    [
        (TAPS, "linear", "Linear", 4.5),
        (0, "linear", "Linear", 7.0),
        (TAPS, "sinc8", "Linear", 3.3),
        (TAPS, "sinc8", "Cubic", None),
        (TAPS, "sinc8", "11th order Sinc (fast)", None),
    ],
)
def test_block_beside_openal(benchmark, busy, noise, table, taps, reader, resampler, target):
    need_openal()
    with openal.mixer(noise, VOICES, resampler=resampler, frames=FRAMES) as theirs:
        compare(benchmark, table, busy(VOICES, taps, reader), f"OpenAL {resampler}", theirs, target)


def test_block_beside_numpy(benchmark, busy, noise, table):
    theirs = by_hand.mixer(noise, VOICES, TAPS, frames=FRAMES)
    compare(benchmark, table, busy(VOICES, TAPS, "linear"), "numpy and scipy", theirs, 30.0)


def test_block_by_voices(benchmark, busy, table):
    counts = [16, 64, 256, 1000]
    scenes = [busy(count, 0, "linear") for count in counts]
    benchmark.pedantic(scenes[-1].block, setup=scenes[-1].keep_up, rounds=BLOCKS)
    taken = np.median(seconds(benchmark, *((scene.keep_up, scene.block) for scene in scenes)), axis=0)
    assert [scene.what()["voices"] for scene in scenes] == counts
    order = np.polyfit(np.log(counts), np.log(taken), 1)[0]
    each, base = np.polyfit(counts, taken, 1, w=1 / taken)
    benchmark.extra_info |= {
        "frames": FRAMES, "voices": counts, "seconds": taken.tolist(), "order": order,
        "seconds_per_voice": each, "seconds_without": base,
    }  # fmt: skip
    if benchmark.enabled:
        times = ", ".join(f"{1e3 * t:.3f}" for t in taken)
        table.append(
            f"block  {', '.join(map(str, counts))} voices linear: {times} ms, "
            f"voices ^ {order:.2f}, {1e6 * each:.2f} us each"
        )


def test_our_shelf_is_openals_low_pass():
    need_openal()
    hertz = np.array((125, 250, 500, 1000, 2000, 4000, 5000, 8000, 12_000))
    gains = np.array((0.95, 0.741, 0.472, 0.223, 0.0498, 0.00248, 0.001))
    corner = corner_of(float(openal.RATE))
    rows = np.array([shelf_coefficients(h, corner) for h in np.sqrt(gains)])
    delay = np.exp(-2j * np.pi * hertz / openal.RATE) ** np.arange(3)[:, None]
    ours = 20 * np.log10(np.abs(rows[:, :3] @ delay / (1.0 + rows[:, 3:] @ delay[1:])))
    assert np.allclose(ours, openal.response_of_low_pass(hertz, gains), rtol=0, atol=0.5)
