"""Taps: echoes that sound fade, glide with their ends, and remember where they set out."""

import math

import naive_echoes as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from taps import HISTORY, RATE, C, Ears, columns, heard

import ecs_audio as ea
from ecs_audio.kernels.images import NO_PLANE, POINT
from ecs_audio.kernels.taps import fade_taps, glide
from ecs_audio.systems.smooth import TAP_FADE

FACES = st.integers(0, 5)
PLACE = st.tuples(*[st.floats(-50, 50)] * 3)
PLANE = st.builds(lambda c, f: c * 8 + f, st.integers(-40, 40), FACES)
PATH = st.one_of(st.tuples(PLANE), st.tuples(PLANE, PLANE), st.tuples(st.just(POINT), PLANE))


def tap(path, q, strength=0.5):
    e = columns()
    e.plane[0] = NO_PLANE
    e.plane[0, 2, : len(path)] = path
    if path[0] == POINT:
        e.plane_point[0, 2] = q
    e.strength[0, 2] = strength
    return e


@given(PATH, PLACE, PLACE, PLACE, st.floats(0, 1), st.sampled_from([1.0, 0.25]))
@settings(max_examples=200)
def test_taps_are_heard_as_the_mirrored_source_would_be(path, q, source, listener, level, cell_size):
    e = tap(path, q)
    got = heard(e, source, listener, level, cell_size=cell_size, air=1)
    origin = np.array(q) if path[0] == POINT else naive.image(source, path, cell_size)
    away = np.linalg.norm(origin - listener)
    length = away + math.dist(source, q) if path[0] == POINT else away
    assert got.delay == pytest.approx([length / C])
    assert got.hf == pytest.approx([max(0.99426**length, 0.001)])
    if away > 1e-9:
        assert got.direction[0] == pytest.approx((origin - listener) / away)
    assert np.isfinite(got.direction).all()
    real = path[0] == POINT or naive.specular_points(source, listener, path, cell_size) is not None
    loud = level * 0.5 / (1 + length / 50)
    if real:
        assert got.gain == pytest.approx([loud])
    elif len(path) == 1:
        assert got.gain == [0.0]
    else:  # round a corner the same echo goes on by way of the other wall first
        assert got.gain[0] in (0.0, pytest.approx(loud))


@given(PATH, PLACE, st.lists(st.tuples(PLACE, PLACE), min_size=2, max_size=6))
@settings(max_examples=100)
def test_a_delay_changes_no_faster_than_the_ends_move(path, q, ends):
    e = tap(path, q)
    delays = [heard(e, source, listener).delay[0] for source, listener in ends]
    for k in range(1, len(ends)):
        moved = math.dist(ends[k - 1][0], ends[k][0]) + math.dist(ends[k - 1][1], ends[k][1])
        assert abs(delays[k] - delays[k - 1]) <= moved / C + 1e-12


@given(PATH, PLACE, PLACE, PLACE, st.floats(0.0, 8.0), st.booleans())
@settings(max_examples=100)
def test_an_echo_reads_the_clip_where_it_was_when_the_echo_set_out(path, q, source, listener, pitch, late):
    e = tap(path, q)
    got = Ears(e, delayed=late, pitch=pitch).hear(0, 9600, source, listener)
    spent = got.delay[0] * RATE - (0 if late else math.dist(source, listener) / C * RATE)
    assert got.clock == pytest.approx([(9600 - max(spent, 0)) * pitch], abs=1e-6)


def emitted_by_trying(source_at, planes, listener, now, longest=48_000):
    """Latest whole frame whose echo has arrived, by trying them all."""
    frames = now - np.arange(longest)
    images = source_at(frames[:, None])
    for plane in planes:
        axis, on, _ = naive.mirror_of(plane)
        images[:, axis] = 2 * on - images[:, axis]
    arrived = frames + np.linalg.norm(images - listener, axis=1) / C * RATE <= now
    return int(frames[np.argmax(arrived)])


@pytest.mark.parametrize("hertz", [20, 60])
@pytest.mark.parametrize("velocity", [(15.0, 0, 0), (0, 0, 30.0), (0, 0, -30.0), (50.0, 0, 0)])
@pytest.mark.parametrize("planes", [(60 * 8 + 4,), (60 * 8 + 4, -60 * 8 + 5)])
def test_a_moving_source_is_mirrored_where_it_was_when_the_echo_set_out(planes, velocity, hertz):
    ears, listener, v = Ears(tap(planes, None)), (3.0, 1.6, 0.0), np.array(velocity)
    start, frames = np.array([-10.0, 1.6, 10.0]) - v * 0.5, RATE // hertz

    def source(frame):
        return start + v * np.maximum(frame, 0) / RATE

    delays = []
    for tick in range(round(1.2 * hertz)):
        now = tick * frames
        got = ears.hear(tick, now, source(now), listener)
        delays.append(got.delay[0])
        if tick >= 0.8 * hertz:
            expected = emitted_by_trying(source, planes, listener, now)
            # one step of a fixed point a tick: behind by (v/c)^2 of a tick, the same at each tick
            mach = np.linalg.norm(v) / C
            most = (mach / (1 - mach)) ** 2 * frames + 2
            assert abs(got.clock[0] - expected) <= most
            assert got.delay[0] * RATE == pytest.approx(now - expected, abs=most)
            assert abs(got.delay[0] - (now - expected) / RATE) < 1.1e-3
            image = naive.image(source(got.clock[0]), planes)
            toward = (image - listener) / np.linalg.norm(image - listener)
            assert got.direction[0] == pytest.approx(toward, abs=2e-3)
    bends = np.abs(np.diff(delays[round(0.85 * hertz) :], 2)).max() * RATE
    assert bends < np.linalg.norm(v) ** 2 / C / 40 * RATE / hertz**2 + 0.5


def test_the_first_delay_of_an_echo_is_right_at_once():
    ears, path = Ears(tap((60 * 8 + 4,), None)), (60 * 8 + 4,)
    places = [np.array([0.0, 1.6, 10 + 0.5 * tick]) for tick in range(30)]  # 30 m/s at 60 Hz
    for tick, place in enumerate(places[:-1]):
        ears.history[0, tick % HISTORY] = tick * 800, *place, tick * 800
    now = 29 * 800
    got = ears.hear(29, now, places[-1], (0.0, 1.6, 0.0))
    v = np.array([0.0, 0.0, 30.0])
    expected = emitted_by_trying(lambda frame: (0, 1.6, 10) + v * frame / RATE, path, (0, 1.6, 0), now)
    assert got.clock[0] == pytest.approx(expected, abs=0.01 * (now - expected))


def test_a_source_without_taps_is_left_alone():
    ears = Ears(tap((8 * 5,), None))
    out, none = np.full((1, 4), 7.0), np.zeros(1, np.uint8)
    glide(
        0.0, 0, float(RATE), *ears.fixed, np.zeros(3), np.full((1, 3), np.nan), np.ones(1), none, *ears.shape,
        ears.pitch, np.zeros(1, np.int64), ears.history, none, np.full((1, 4, 2), NO_PLANE),
        np.zeros((1, 4, 3)), np.zeros((1, 4)), np.zeros((1, 4)), *ears.scratch, out, out, out, out,
        np.zeros((1, 4, 3)),
    )  # fmt: skip
    assert (out == 7).all()


POOL = [((k * 8 + 4, NO_PLANE), (0, 0, 0)) for k in range(3)] + [((8, 19), (0, 0, 0)), ((19, 8), (0, 0, 0))]
POOL += [((POINT, 8), (1.0, 2.0, 3.0)), ((POINT, 8), (1.0, 2.5, 3.0))]
WANTED = st.lists(st.integers(0, len(POOL) - 1), max_size=4, unique=True)


@given(st.lists(st.tuples(WANTED, st.integers(1, 6)), min_size=1, max_size=8), st.floats(0.002, 0.05))
@settings(max_examples=200)
def test_taps_fade_as_the_naive_twin_says_and_never_change_while_heard(changes, dt):
    plane, point = np.full((2, 4, 2), NO_PLANE), np.zeros((2, 4, 3))
    strength, level, serial = np.zeros((2, 4)), np.zeros((2, 4)), np.zeros((2, 4), np.int64)
    count, slots = np.zeros(2, np.uint8), [None] * 4
    for wanted, ticks in [*changes, (changes[-1][0], math.ceil(TAP_FADE / dt) * 2 + 3)]:
        wants = np.full((2, 4, 2), NO_PLANE), np.zeros((2, 4, 3)), np.zeros((2, 4))
        for slot, k in enumerate(wanted):
            wants[0][1, slot], wants[1][1, slot], wants[2][1, slot] = *POOL[k], 0.1 * (k + 1)
        for _ in range(ticks):
            planes, levels = plane.copy(), level.copy()
            heard = np.ones(len(plane), np.uint8)
            fade_taps(dt, TAP_FADE, heard, *wants, plane, point, strength, level, serial, count)
            slots = naive.fade(slots, {k: 0.1 * (k + 1) for k in wanted}, min(dt / TAP_FADE, 1))
            for a, slot in enumerate(slots):
                k = None if slot is None else slot["path"]
                assert tuple(plane[1, a]) == (POOL[k][0] if k is not None else (NO_PLANE, NO_PLANE))
                assert k is None or tuple(point[1, a]) == POOL[k][1]
                assert level[1, a] == pytest.approx(slot["level"] if slot else 0, abs=1e-9)
                assert strength[1, a] == pytest.approx(slot["strength"] if slot else 0)
            changed = (planes != plane).any(axis=2)
            assert not level[changed].any()
            assert ((planes[:, :, 0] == NO_PLANE) | (plane[:, :, 0] == NO_PLANE))[changed].all()
            assert ((level >= 0) & (level <= 1)).all()
            assert (np.abs(level - levels) <= dt / TAP_FADE + 1e-9).all()
            either = (planes[:, :, 0] != NO_PLANE) | (plane[:, :, 0] != NO_PLANE)
            assert (count == either.sum(axis=1)).all()
    assert sorted(slot["path"] for slot in slots if slot) == sorted(changes[-1][0])
    assert (level[1, plane[1, :, 0] != NO_PLANE] == 1).all()
    assert serial[1].sum() >= len(changes[-1][0])
    assert not serial[0].any()


@pytest.mark.parametrize(("state", "level"), [(0, 1.0), (1, 0.0)])
def test_echoes_of_a_source_that_was_not_heard_before_begin_at_once(state, level):
    wanted = np.full((1, 4, 2), NO_PLANE)
    wanted[0, 0, 0] = 8 * 5
    plane, point = np.full((1, 4, 2), NO_PLANE), np.zeros((1, 4, 3))
    levels, serial, count = np.zeros((1, 4)), np.zeros((1, 4), np.int64), np.zeros(1, np.uint8)
    fade_taps(
        1 / 60, TAP_FADE, np.array([state], np.uint8), wanted, point, np.ones((1, 4)), plane, point.copy(),
        np.zeros((1, 4)), levels, serial, count,
    )  # fmt: skip
    assert levels[0].tolist() == [level, 0, 0, 0]


@pytest.mark.parametrize(("speed", "ticks", "frames"), [(15, 20, 0.1), (50, 60, 0.1), (100, 60, 3.0)])
def test_the_echo_of_a_source_that_passes_comes_by_the_way_that_it_takes(speed, ticks, frames):
    world = ea.World.empty(size=(256, 64, 256), origin=(-128, -32, -128))
    world.fill((-128, -32, 40), (128, 32, 44), "stone")
    clips = ea.Clips()
    clips.add("noise", 0.2 * np.random.default_rng(0).normal(size=RATE))
    off = []
    with ea.Engine(world, clips, settings=ea.Settings(acoustics="reflect", cache=False)) as engine:
        engine.listener.look(position=(0, 0, 0))
        row = engine.spawn("noise", position=(-40, 0, 10), looping=True, reference=5)
        for k in range(round(1.5 * ticks)):
            time = k / ticks
            engine.sources.position[row] = (speed * time - 40, 0, 10)
            engine.tick(1 / ticks)
            engine.render(round((k + 1) / ticks * RATE) - engine.frame)
            delay = 0.2
            for _ in range(60):  # from where it was then, by a mirror at z = 40, to the listener
                delay = math.hypot(speed * (time - delay) - 40, 70) / C
            heard = engine.sources.tap_delay[row]
            nearest = np.abs(heard[heard > 0] - delay).min(initial=1.0) * RATE
            if time > 0.6 and nearest < 200:
                off.append(nearest)
    assert len(off) > ticks / 2
    assert max(off) < frames
