"""What a block of the whole mix costs, beside OpenAL Soft and numpy with scipy, interleaved."""

from contextlib import ExitStack
from typing import NamedTuple

import by_hand
import numpy as np
import openal
import pytest
from curves import note_curve
from figures import note
from turns import Turn, seconds

import ecs_audio as ea
from ecs_audio.kernels.shelf import corner_of, shelf_coefficients

FRAMES, VOICES, TAPS, TICK = 512, 100, 64, 1 / 60
ROUNDS, SHORT, BLOCKS = 61, 25, 11
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

    def make(voices, taps, reader, **switches):
        rng = np.random.default_rng(1)
        switches = {"echoes": taps > 0} | switches
        settings = ea.Settings(
            max_taps=taps, max_voices=max(voices, 128), interpolation=reader, **switches
        )  # fmt: skip
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


def compare(benchmark, rounds, scene, name, peer, theirs):
    """Time a scene and a peer in turn, and note the figure."""
    scene.keep_up()
    assert 0.0 < np.abs(scene.block()).max() < 1.0
    assert 0.0 < np.abs(theirs()).max() < 2.0
    benchmark.pedantic(scene.block, setup=scene.keep_up, rounds=rounds(100, 50))
    # numpy takes thirty times as long.
    slow = BLOCKS if "OpenAL" in peer else 3
    taken = seconds(
        rounds(ROUNDS, SHORT), Turn(scene.block, scene.keep_up, BLOCKS), Turn(theirs, repeats=slow)
    )
    what, settings = scene.what(), scene.engine.settings
    assert what["voices"] == VOICES
    assert what["sends"] == 2 * VOICES
    assert what["taps"] >= 0.9 * settings.max_taps
    benchmark.extra_info |= what | {"frames": FRAMES, "reader": settings.interpolation}
    echoes = settings.max_taps if settings.echoes else 0
    title = f"{FRAMES} frames of {VOICES} voices, {echoes} echoes, {settings.interpolation}"
    note(benchmark, name, f"{title}, beside {peer}", taken[:, 0], peer=peer, peer_values=taken[:, 1])
    return title, taken[:, 0]


def need_openal():
    if openal.library() is None:
        pytest.skip("OpenAL Soft is not here: it comes with the wheel of cyal, in the group `peers`")


@pytest.mark.parametrize(
    ("name", "taps", "reader", "resampler"),
    [
        ("linear", TAPS, "linear", "Linear"),
        ("dry", 0, "linear", "Linear"),
        ("sinc8", TAPS, "sinc8", "Linear"),
        ("sinc8_cubic", TAPS, "sinc8", "Cubic"),
        ("sinc8_sinc", TAPS, "sinc8", "11th order Sinc (fast)"),
    ],
)
def test_block_beside_openal(benchmark, rounds, busy, noise, name, taps, reader, resampler):
    """OpenAL does sources with a filter each and two EAX reverbs; nothing moves, and it has no echoes."""
    need_openal()
    with openal.mixer(noise, VOICES, resampler=resampler, frames=FRAMES) as theirs:
        scene = busy(VOICES, taps, reader)
        compare(benchmark, rounds, scene, f"mix.block.{name}", f"OpenAL {resampler}", theirs)


@pytest.mark.parametrize("reader", ["linear", "sinc8"])
def test_block_beside_numpy(benchmark, rounds, busy, noise, reader):
    """numpy and scipy interpolate linearly whatever we do."""
    theirs = by_hand.mixer(noise, VOICES, TAPS, frames=FRAMES)
    name = "mix.block.numpy" if reader == "linear" else "mix.block.sinc8_numpy"
    title, taken = compare(benchmark, rounds, busy(VOICES, TAPS, reader), name, "numpy and scipy", theirs)
    note(benchmark, f"mix.time.{reader}", title, taken)


@pytest.mark.parametrize("reader", ["linear", "sinc8"])
@pytest.mark.parametrize("taps", [0, TAPS])
def test_block_by_voices(benchmark, rounds, busy, reader, taps):
    counts = [16, 64, 256, 1000]
    scenes = [busy(count, taps, reader) for count in counts]
    benchmark.pedantic(scenes[-1].block, setup=scenes[-1].keep_up, rounds=rounds(100, 50))
    turns = [Turn(scene.block, scene.keep_up, BLOCKS) for scene in scenes]
    taken = seconds(rounds(ROUNDS, 15), *turns)
    assert [scene.what()["voices"] for scene in scenes] == counts
    what, name = f"{reader}, {taps} echoes", f"mix.voices.{reader}.{taps}"
    if reader == "linear" and not taps:
        for count, each in zip(counts[2:], taken.T[2:], strict=True):
            note(benchmark, f"mix.time.{count}", f"{FRAMES} frames of {count} voices, {what}", each)
    note_curve(benchmark, name, f"A block by voices, {what}", "voices", counts, taken, expected=1)


@pytest.mark.parametrize("switched_off", ["reverberation", "echoes"])
def test_block_without(benchmark, rounds, busy, switched_off):
    """What a part of the mix costs: a block with it over one without, in turn."""
    scenes = [busy(VOICES, TAPS, "sinc8"), busy(VOICES, TAPS, "sinc8", **{switched_off: False})]
    benchmark.pedantic(scenes[1].block, setup=scenes[1].keep_up, rounds=rounds(100, 50))
    turns = [Turn(scene.block, scene.keep_up, BLOCKS) for scene in scenes]
    taken = seconds(rounds(ROUNDS, 15), *turns)
    note(
        benchmark, f"mix.without.{switched_off}", f"A block without {switched_off}", taken[:, 1],
        peer="the whole mix", peer_values=taken[:, 0],
    )  # fmt: skip


def test_our_shelf_is_openals_low_pass():
    need_openal()
    hertz = np.array((125, 250, 500, 1000, 2000, 4000, 5000, 8000, 12_000))
    gains = np.array((0.95, 0.741, 0.472, 0.223, 0.0498, 0.00248, 0.001))
    corner = corner_of(float(openal.RATE))
    rows = np.array([shelf_coefficients(h, corner) for h in np.sqrt(gains)])
    delay = np.exp(-2j * np.pi * hertz / openal.RATE) ** np.arange(3)[:, None]
    ours = 20 * np.log10(np.abs(rows[:, :3] @ delay / (1.0 + rows[:, 3:] @ delay[1:])))
    assert np.allclose(ours, openal.response_of_low_pass(hertz, gains), rtol=0, atol=0.5)
