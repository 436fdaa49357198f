"""Echoes by image sources: what the kernels choose, and that it glides."""

import itertools
import math

import naive_echoes as naive
import numpy as np
import pytest
from taps import C, columns, heard

import ecs_audio as ea
from ecs_audio.components.geometry import Geometry
from ecs_audio.components.waves import Wave
from ecs_audio.kernels.echoes import find_candidates
from ecs_audio.kernels.hits import trace_hits
from ecs_audio.kernels.images import NO_PLANE, POINT, WAY
from ecs_audio.kernels.judge import CLAIMS, judge
from ecs_audio.kernels.proofs import place_legs, take_legs
from ecs_audio.kernels.sphere import fibonacci
from ecs_audio.systems.geometry import follow as follow_world
from ecs_audio.systems.geometry import sections_of

EXCESS = 0.005 * C
APART = math.cos(math.radians(30))
TURN = 2.399963229728653
ROW = np.zeros(1, np.int32)
NONE = np.zeros(0, np.int64)


GEOMETRY = Geometry()


def first_hits(world, origins, directions, reach):
    """Time, face, cell, point and material of first hits."""
    follow_world(GEOMETRY, world)
    wave = Wave(max(len(origins), 1))
    wave.origin[: len(origins)], wave.direction[: len(origins)] = origins, directions
    wave.reach[: len(origins)] = reach
    traced = trace_hits(
        sections_of(GEOMETRY), len(origins), 1 << 40, wave.origin, wave.direction, wave.reach, wave.segments,
        wave.first, wave.found, wave.cells, wave.unknown, wave.time, wave.face, wave.cell, wave.point,
        wave.material,
    )  # fmt: skip
    assert traced == len(origins)
    return tuple(a[:traced] for a in (wave.time, wave.face, wave.cell, wave.point, wave.material))


def mirror(directions, face):
    axis = np.where(face >= 0, face, 0) >> 1
    flipped = directions.copy()
    rays = np.arange(len(face))
    flipped[rays, axis] *= np.where(face >= 0, -1.0, 1.0)
    step = np.zeros_like(directions)
    step[rays, axis] = np.where(face < 0, 0.0, np.where(face & 1, 1e-3, -1e-3))
    return flipped, step


def follow(world, e, turn=0.0):
    """Trails of the environment rays, written into row 0."""
    origin, direction = np.tile(e.source[0], (16, 1)), fibonacci(16, turn)
    going = np.ones(16, bool)
    for hit in range(3):
        _, face, cell, point, material = first_hits(world, origin, direction, np.where(going, 512.0, 0.0))
        going &= face >= 0
        direction, step = mirror(direction, face)
        origin = point + step
        _, seen, *_ = first_hits(world, origin, e.listener[0] - origin, 1.0)
        at = np.arange(16) * 3 + hit
        e.face[0, at], e.cell[0, at], e.point[0, at] = np.where(going, face, -1), cell, point
        e.material[0, at], e.couples[0, at] = material, going & (seen < 0)


def prove(world, e, cell_size=1.0, grant=48, known=NONE, audible=1e-3):
    """All stages after the trails; returns how many legs were traced."""
    origin, direction, reach = np.zeros((48, 3)), np.zeros((48, 3)), np.zeros(48)
    owner, index = np.zeros(48, np.int64), np.zeros(48, np.int64)
    e.candidates[0], e.legs_done[0] = -1, 0
    find_candidates(1, ROW, EXCESS, cell_size, known, e, np.zeros(WAY), np.zeros(16))
    traced = 0
    while e.legs_done[0] < 48:
        n = place_legs(
            1, ROW, np.array([[0, 0, grant]]), cell_size, e.source, e.listener, e.candidates,
            e.candidate_plane, e.candidate_point, e.legs_done, np.zeros(WAY),
            origin, direction, reach, owner, index,
        )  # fmt: skip
        time, face, cell, _, material = first_hits(world, origin[:n], direction[:n], reach[:n])
        take_legs(
            n, owner, index, time, face, cell, material,
            e.leg_time, e.leg_face, e.leg_cell, e.leg_material, e.legs_done,
        )  # fmt: skip
        judge(
            1, ROW, EXCESS, APART, audible, cell_size, world.palette.reflectivity, e,
            np.zeros(WAY), np.zeros((CLAIMS, 6)),
        )  # fmt: skip
        traced += n
    return traced


def look(world, source, listener, turns=1, **options):
    """Surveys of a pair, one after another, each knowing what the last one chose."""
    e = columns()
    e.source[0], e.listener[0] = source, listener
    for turn in range(turns):
        follow(world, e, turn * TURN)
        prove(world, e, world.cell_size, **options)
        e.sounding_plane[:], e.sounding_point[:] = e.plane, e.plane_point
    return e


def paths(planes, points):
    """[(planes, point)] of those in use."""
    return [
        ((int(a),) if b == NO_PLANE else (int(a), int(b)), tuple(map(float, q)) if a == POINT else None)
        for (a, b), q in zip(planes, points, strict=True)
        if a != NO_PLANE
    ]


def chosen(e):
    """[(planes, point, strength)] of the taps of row 0."""
    taps = paths(e.plane[0], e.plane_point[0])
    return [(*path, float(strength)) for path, strength in zip(taps, e.strength[0], strict=False)]


def built(boxes, size=(96, 96, 96), origin=(-48, -48, -48)):
    world = ea.World.empty(size=size, origin=origin)
    for low, high, material in boxes:
        world.fill(tuple(low), tuple(high), material)
    return world


CANYON = [
    ((-100, -8, -60), (100, 0, 60), "grass_block"),
    ((-100, 0, -28), (100, 60, -20), "stone"),
    ((-100, 0, 20), (100, 60, 28), "stone"),
]
WALL = [((-15, -10, 30), (15, 10, 31), "stone")]


@pytest.fixture(scope="module")
def canyon():
    return built(CANYON, (208, 80, 64), (-104, -8, -32))


def assert_apart(e, source, listener):
    cosines = np.triu((d := heard(e, source, listener).direction) @ d.T, 1)
    assert (cosines <= APART + 1e-12).all()


def canyon_images(source, listener):
    """Lengths of all paths of one bounce or two between floor and walls, as if they had no end."""
    planes = [0 * 8 + 3, -20 * 8 + 5, 20 * 8 + 4]
    paths = [(p,) for p in planes] + [(p, q) for p in planes for q in planes if p != q]
    return np.array([np.linalg.norm(np.subtract(listener, naive.image(source, path))) for path in paths])


def test_in_a_canyon_every_delay_is_that_of_an_image_source(canyon):
    rng = np.random.default_rng(1)
    taps = []
    for pair in range(50):
        source, listener = rng.uniform((-40, 1, -18), (40, 40, 18), (2, 3))
        e = look(canyon, source, listener, turns=1 + pair % 3)
        delay = heard(e, source, listener).delay
        images = canyon_images(source, listener)
        for path in delay * C:
            assert np.abs(images - path).min() < 1e-9 * C
        assert (delay > math.dist(source, listener) / C + 0.005).all()
        assert (e.plane[0, :, 0] != POINT).all()
        taps.append(len(delay))
        assert_apart(e, source, listener)
    assert min(taps) >= 1
    assert np.mean(taps) > 3


def trails_of(world, e):
    """What the rays of row 0 met, as the naive twin takes it."""
    trails = []
    for ray in range(16):
        trail = []
        for hit in range(ray * 3, ray * 3 + 3):
            face = int(e.face[0, hit])
            if face < 0:
                break
            plane = (int(e.cell[0, hit, face // 2]) + face % 2) * 8 + face
            name = world.palette.names[e.material[0, hit]]
            trail.append((plane, tuple(map(float, e.point[0, hit])), bool(e.couples[0, hit]), name))
        trails.append(trail)
    return trails


def free_place(rng, boxes, half=20.0):
    while True:
        p = rng.uniform(-half, half, 3)
        if naive.material_at(boxes, p) is None:
            return p


def scene(rng, count):
    boxes = [((-24, -24, -24), (24, int(rng.integers(-20, 0)), 24), "grass_block")]
    for _ in range(count):
        low = rng.integers(-22, 16, 3)
        high = low + rng.integers(1, 9, 3)
        boxes.append((tuple(map(int, low)), tuple(map(int, high)), str(rng.choice(["stone", "oak_planks"]))))
    return boxes


def test_surveys_choose_what_the_naive_twin_chooses():
    kinds = dict.fromkeys(("planes", "points", "twice", "kept", "full"), 0)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        boxes = scene(rng, 4 * (seed + 1))
        world = built(boxes, (64, 64, 64), (-32, -32, -32))
        reflectivity = {name: world.palette.reflectivity[k] for k, name in enumerate(world.palette.names)}
        plain = [int(plane) for plane in rng.permutation(naive.planes_of(boxes))[: 8 * seed]]
        for _ in range(12):
            e, sounding = columns(), []
            source, listener = free_place(rng, boxes), free_place(rng, boxes)
            e.source[0], e.listener[0] = source, listener
            for turn in range(3):
                follow(world, e, turn)
                prove(world, e, known=np.array([*plain, NO_PLANE]))
                expected, tried = naive.survey(
                    boxes, source, listener, trails_of(world, e), plain, sounding,
                    lambda path: 1 / (1 + path / 50),
                    lambda name, r=reflectivity: 0.25 * (0.75 * r[name] + 0.25),
                )  # fmt: skip
                taps = chosen(e)
                now = [t[:2] for t in taps]
                n = e.candidates[0]
                assert paths(e.candidate_plane[0, :n], e.candidate_point[0, :n]) == tried
                assert now == [t[:2] for t in expected]
                assert [t[2] for t in taps] == pytest.approx([t[2] for t in expected])
                assert_apart(e, source, listener)
                kinds["planes"] += sum(len(t[0]) == 1 for t in now)
                kinds["points"] += sum(t[0][0] == POINT for t in now)
                kinds["twice"] += sum(len(t[0]) == 2 and t[0][0] != POINT for t in now)
                kinds["kept"] += sum(t in sounding for t in now)
                kinds["full"] += (e.candidate_plane[0, : e.candidates[0], 1] == NO_PLANE).sum() >= 10
                sounding = now
                e.sounding_plane[:], e.sounding_point[:] = e.plane, e.plane_point
    assert min(kinds.values()) > 20, kinds


@pytest.mark.parametrize("d", [10.0, 25.5, 29.0])
def test_a_lone_wall_answers_once_after_the_way_there_and_back(d):
    world = built(WALL)
    listener = np.array([0.4, 1.6, 30 - d])
    source = listener + np.array([0.2, 0.0, 0.0])
    e = look(world, source, listener, turns=12)
    taps = heard(e, source, listener)
    assert taps.delay == pytest.approx([2 * d / C], abs=1 / 48_000)
    assert taps.delay == pytest.approx([math.hypot(2 * d, 0.2) / C], abs=1e-12)
    assert taps.gain == pytest.approx([0.34375 / (1 + C * taps.delay[0] / 50)])
    assert taps.hf == pytest.approx([0.99426 ** (C * taps.delay[0])])
    assert taps.direction[0] == pytest.approx([0, 0, 1], abs=0.01)


def test_a_wall_that_is_taken_away_is_silent_after_the_next_survey():
    world = built(WALL)
    e = look(world, (0.6, 1.6, 5), (0.4, 1.6, 5), turns=12)
    assert len(chosen(e)) == 1
    world.fill((-15, -10, 30), (15, 10, 31), "air")
    follow(world, e)
    prove(world, e)
    assert chosen(e) == []


def test_the_probes_planes_need_no_ray_of_the_source():
    world = built(WALL)
    e = columns()
    e.source[0], e.listener[0] = (0.6, 1.6, 5), (0.4, 1.6, 5)
    prove(world, e, known=np.array([NO_PLANE, 30 * 8 + 4, 30 * 8 + 4, 31 * 8 + 5]))
    assert [t[0] for t in chosen(e)] == [(30 * 8 + 4,)]


@pytest.mark.parametrize(
    ("name", "clear"), [("hole", False), ("ear", False), ("mouth", False), ("beside", True)]
)
def test_a_plane_that_does_not_reflect_where_it_should_gives_no_echo(name, clear):
    world = built(WALL)
    source, listener = (8.5, 0.5, 5.5), (-7.5, 0.5, 5.5)  # the specular point is (0.5, 0.5, 30)
    if name == "hole":
        world.set((0, 0, 30), "air")
    else:
        world.set({"ear": (-4, 0, 17), "mouth": (4, 0, 17), "beside": (0, 2, 17)}[name], "stone")
    for turn in range(8):
        e = look(world, source, listener, turn + 1, known=np.array([30 * 8 + 4]))
        assert ((30 * 8 + 4,) in [t[0] for t in chosen(e)]) == clear


@pytest.mark.parametrize("block", [None, (19, 5, 10)])
def test_the_way_between_two_bounces_must_be_clear(canyon, block):
    world = built(CANYON, (208, 80, 64), (-104, -8, -32))
    if block:
        world.set(block, "stone")
    near, far = -20 * 8 + 5, 20 * 8 + 4
    e = columns()
    e.source[0], e.listener[0] = (0.5, 5.5, 0.5), (30.5, 5.5, 0.5)
    e.face[0, :2], e.cell[0, :2, 2] = (5, 4), (-21, 20)  # as if a ray had met the one wall and then the other
    prove(world, e)
    assert ((near, far) in [t[0] for t in chosen(e)]) == (block is None)


def test_a_plane_and_a_point_of_it_never_sound_together():
    world = built(WALL)
    world.set((0, 0, 30), "air")
    plane, q = 30 * 8 + 4, (12.25, 0.5, 30.0)
    e = columns()
    e.source[0], e.listener[0] = (0.5, 0.5, 20.5), (0.5, 0.5, 20.5)
    e.sounding_plane[0, 0], e.sounding_point[0, 0] = (POINT, plane), q
    prove(world, e)
    assert [t[:2] for t in chosen(e)] == [((POINT, plane), q)]
    world.set((0, 0, 30), "stone")
    prove(world, e)
    assert [t[:2] for t in chosen(e)] == [((plane,), None)]
    world.fill((-15, -10, 30), (15, 10, 31), "air")
    world.set((0, 0, 40), "stone")
    prove(world, e)
    assert chosen(e) == []


def test_flat_ground_answers_late_enough_or_not_at_all():
    world = built([((-48, -8, -48), (48, 0, 48), "grass_block")])
    for height, count in ((3.03, 0), (3.07, 1)):  # the echo is 5 ms late at 3.051 m
        for turn in range(1, 9):
            e = look(world, (0.5, height, 0.5), (10.5, height, 0.5), turn)
            assert len(chosen(e)) == count


def test_an_echo_must_be_audible():
    world = built(WALL)
    quietest = 1e-3 / 0.34375 * (1 + 50 / 50)
    for volume, count in ((quietest * 1.01, 1), (quietest * 0.99, 0)):
        e = columns()
        e.loudness[0, 0] = volume
        e.source[0], e.listener[0] = (0.5, 1.6, 5), (0.5, 1.6, 5)
        prove(world, e, known=np.array([30 * 8 + 4]))
        assert len(chosen(e)) == count


def test_two_bounces_are_tried_only_where_a_ray_made_them_in_turn(canyon):
    rng = np.random.default_rng(4)
    tried = 0
    for turn in range(20):
        e = columns()
        e.source[0], e.listener[0] = rng.uniform((-40, 1, -18), (40, 40, 18), (2, 3))
        follow(canyon, e, turn)
        prove(canyon, e)
        planes = [[hit[0] for hit in trail] for trail in trails_of(canyon, e)]
        made = {pair for trail in planes for pair in itertools.pairwise(trail)}
        pairs = {tuple(map(int, p)) for p in e.candidate_plane[0, : e.candidates[0]] if p[1] != NO_PLANE}
        assert pairs <= made
        tried += len(pairs)
        e.face.reshape(16, 3)[:, 1:] = -1
        prove(canyon, e)
        assert (e.candidate_plane[0, : e.candidates[0], 1] == NO_PLANE).all()
    assert tried > 20


def test_a_survey_over_many_ticks_finds_the_same(canyon):
    e = look(canyon, (-3, 5, 4), (20, 9, -11), turns=3)
    whole = chosen(e)
    for grant in (1, 2, 7):
        assert prove(canyon, e, grant=grant) <= 38
        assert chosen(e) == whole


@pytest.mark.parametrize(("shift", "cell_size"), [(29_999_872, 1.0), (-29_999_872, 1.0), (0, 0.5)])
def test_far_and_finely_made_worlds_answer_alike(canyon, shift, cell_size):
    far = ea.World.empty(
        size=tuple(int(n / cell_size) for n in (208, 80, 64)),
        origin=tuple(int(n / cell_size) + shift for n in (-104, -8, -32)),
        cell_size=cell_size,
    )
    for low, high, name in CANYON:
        corners = [tuple(int(x / cell_size) + shift for x in corner) for corner in (low, high)]
        far.fill(*corners, name)
    source, listener = np.array([-3.25, 5.5, 4.125]), np.array([20.0625, 9.5, -11.25])
    near = look(canyon, source, listener, turns=3)
    taps = heard(near, source, listener)
    there = look(far, source + shift, listener + shift, turns=3)
    found = heard(there, source + shift, listener + shift, cell_size=cell_size)
    assert len(taps.delay) >= 3
    assert found.delay == pytest.approx(taps.delay, abs=1e-9)
    assert found.direction == pytest.approx(taps.direction, abs=1e-6)


@pytest.fixture(scope="module")
def rough():
    world = ea.World.empty(size=(96, 48, 96), origin=(-48, 0, -48))
    for (x, z), top in np.ndenumerate(np.random.default_rng(3).integers(1, 10, (96, 96))):
        world.fill((x - 48, 0, z - 48), (x - 47, int(top), z - 47), "stone")
    return world


def test_rough_ground_answers_by_way_of_points_that_stay(rough):
    rng = np.random.default_rng(2)
    planes = points = 0
    for _ in range(10):
        e = columns()
        e.source[0], e.listener[0] = rng.uniform((-20, 14, -20), (20, 30, 20), (2, 3))
        before = []
        for turn in range(6):
            follow(rough, e, turn * TURN)
            prove(rough, e)
            e.sounding_plane[:], e.sounding_point[:] = e.plane, e.plane_point
            taps = chosen(e)
            rigid = sum(q is None for _, q, _ in taps)
            if rigid == sum(q is None for _, q, _ in before):
                assert {t for t in before if t[1]} <= set(taps)
            before, planes, points = taps, planes + rigid, points + len(taps) - rigid
        ends = e.source[0], e.listener[0]
        for (_, q, _), delay in zip(taps, heard(e, *ends).delay, strict=True):
            assert q is None or delay * C == pytest.approx(math.dist(ends[0], q) + math.dist(q, ends[1]))
    assert points > 4 * planes
    assert points > 60
