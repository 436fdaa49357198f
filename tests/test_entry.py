"""Kernels called without a look at types, and echo paths that are turned down before they are laid out."""

import numpy as np
import pytest

import ecs_audio as ea
from ecs_audio.kernels.images import LENGTH, NO_PLANE, POINT, REFLECTED, VIA, WAY, is_longer, lay_out
from ecs_audio.systems.entry import entry_of


def test_a_listener_of_another_type_is_refused_and_never_misread():
    clips = ea.Clips()
    clips.synthesize("beep")
    with ea.Engine(ea.World.empty(size=(32, 16, 32)), clips) as engine:
        engine.spawn("beep", position=(8, 4, 8))
        engine.tick(1 / 60)
        for wrong in (np.array([9, 4, 9]), np.arange(6.0)[::2], np.zeros(3, np.float32)):
            engine.listener.position = wrong
            with pytest.raises(TypeError):
                engine.tick(1 / 60)
        engine.listener.position = np.array([9.0, 4.0, 9.0])
        engine.tick(1 / 60)
        assert engine.sources.distance[0] == pytest.approx(np.sqrt(2.0))


def test_an_entry_gives_what_the_kernel_gives():
    from ecs_audio.kernels.easing import ease_sends

    rng = np.random.default_rng(3)
    state, target, hf = np.ones(5, np.uint8), rng.random((5, 2)), rng.random((5, 2))
    one, two = (np.zeros((5, 2)), np.zeros((5, 2))), (np.zeros((5, 2)), np.zeros((5, 2)))
    ease_sends(0.3, state, target, hf, *one)
    entry_of(ease_sends)(0.3, state, target, hf, *two)
    assert np.array_equal(one, two)
    assert np.any(one[0])


def test_a_path_is_turned_down_exactly_where_it_would_not_be_laid_out():
    rng, found = np.random.default_rng(8), 0
    for _ in range(3000):
        a, b = np.zeros(WAY), np.zeros(WAY)
        a[: VIA + 3] = b[: VIA + 3] = rng.uniform(-8, 8, VIA + 3)
        first, second = (int(rng.integers(-9, 10)) * 8 + int(rng.integers(0, 6)) for _ in range(2))
        first = POINT if rng.random() < 0.1 else first
        second = NO_PLANE if rng.random() < 0.4 and first != POINT else second
        least = rng.uniform(0, 20)
        side = lay_out(first, second, 0.5, b)
        assert is_longer(first, second, least, 0.5, a) == (side == REFLECTED and b[LENGTH] > least)
        if side == REFLECTED and b[LENGTH] > least:
            found += 1
            assert a[LENGTH] == b[LENGTH]
    assert found > 100
