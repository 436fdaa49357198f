"""Rays a second: the section-skipping kernel, and the naive walk over the same world, interleaved."""

import naive
import numpy as np
import pytest

from ecs_audio.kernels.bundle import trace_paths
from ecs_audio.kernels.first_hit import first_hits
from ecs_audio.systems.trace import voxels_of


@pytest.fixture(scope="module")
def rays(hills):
    world, ground = hills
    rng = np.random.default_rng(3)
    x, z = rng.integers(60, 450, (2, 20_000))
    origin = np.stack([x, ground[x, z] + rng.integers(1, 40, 20_000), z], axis=1) + 0.5
    direction = rng.normal(size=(20_000, 3))
    return world, origin, direction / np.linalg.norm(direction, axis=1)[:, None]


def test_first_hits(benchmark, rays):
    world, origin, direction = rays
    n = len(origin)
    out = np.zeros(n), np.zeros(n, np.int64), np.zeros((n, 3), np.int64), np.zeros(n, np.int64)
    reach = np.full(n, 512.0)
    benchmark(first_hits, voxels_of(world), origin, direction, reach, *out)
    benchmark.extra_info |= {"rays": n, "looked": int(out[3].sum()), "hits": int((out[1] >= 0).sum())}


def test_first_hits_naive(benchmark, rays):
    world, origin, direction = rays
    few = 20

    def walk():
        for o, d in zip(origin[:few].tolist(), direction[:few].tolist(), strict=True):
            naive.first_hit(world, o, d, 512.0)

    benchmark.pedantic(walk, rounds=3)
    benchmark.extra_info |= {"rays": few}


def test_occlusion_of_paths(benchmark, rays):
    world, origin, _ = rays
    n = 5000
    source, path = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    listener = np.array([256.5, 40.5, 256.5])
    out = np.zeros(n), np.zeros(n, np.int32), np.zeros(n, np.int32)
    scratch = np.zeros((3, 3)), np.zeros((2, 3), np.int64)
    benchmark(trace_paths, voxels_of(world), listener, origin, source, path, 1 << 40, *scratch, *out)
    benchmark.extra_info |= {"rays": n, "cells": int(out[1].sum())}
