"""The room estimate against its naive twin, Eyring's theory, and the places it must tell apart."""

import math
import statistics

import naive_room as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio.components.probes import CLASSES, PROBE_HITS, PROBE_RAYS, Probes
from ecs_audio.kernels import room
from ecs_audio.kernels.sphere import direction_of, fibonacci

NEAR, FAR, AT_500 = 0, 1, 1
MIXED = ("stone", "wood", "wood", "wool", "glass", "stone")
SHOEBOXES = (
    (3, 3, 3), (5, 3, 4), (7, 4, 5), (6, 4, 12), (9, 3, 11), (10, 5, 10),
    (12, 10, 12), (13, 6, 9), (17, 5, 14), (20, 8, 30), (25, 20, 25), (30, 12, 40),
)  # fmt: skip
TUNNEL = naive.box((0, 0, -60), (4, 4, 60), ("stone",) * 4 + (None, None))
KEYS = ("rt60", "gain", "share", "path", "reach", "classes")


def estimate(hits, absorption=naive.ABSORPTION, speed=naive.SPEED):
    """Run the kernel on found, time, face, point, material: a dict like the twin's."""
    out = {"rt60": np.full((2, 4), np.nan)}
    out |= {key: np.full(2, np.nan) for key in KEYS[1:5]} | {"classes": np.full(6, np.nan)}
    out["volume"] = room.room_of(*hits, absorption, speed, *(out[key] for key in KEYS))
    return out


def hear(sides, position, turn=0.0):
    return estimate(naive.trace(sides, position, turn=turn))


def classes(sides, position):
    return dict(zip(CLASSES, hear(sides, position)["classes"], strict=True))


def inside(dimensions, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array(dimensions) * rng.uniform(0.1, 0.9, (count, 3))


def level(out):
    return math.hypot(*out["gain"])


def slope(out, band):
    """T20 of both buses together: the time their decay takes from -5 to -25 dB, times three."""
    t = np.linspace(0, 5, 5001)
    energy = sum(
        g * g * 10 ** (-6 * t / rt60[band]) for g, rt60 in zip(out["gain"], out["rt60"], strict=True)
    )
    fallen = -10 * np.log10(energy / energy[0])
    return 3 * np.subtract(*np.interp((25, 5), fallen, t))


def random_hits(seed):
    """Trails that no room could make, with segments of all sizes and some of no length."""
    rng = np.random.default_rng(seed)
    n = PROBE_RAYS * PROBE_HITS
    found = rng.integers(0, PROBE_HITS + 1, PROBE_RAYS)
    found[rng.random(PROBE_RAYS) < rng.choice([0.0, 0.5, 1.0])] = PROBE_HITS
    time = 10 ** rng.uniform(-2, rng.choice([1.0, 2.0, 2.7]), n)
    time[rng.random(n) < 0.1] = 0.0
    trails = time.reshape(PROBE_RAYS, PROBE_HITS)
    trails[rng.random(PROBE_RAYS) < 0.1] = 0.0
    absorption = rng.uniform(0.02, 1, (8, 4))
    absorption[rng.random((8, 4)) < 0.1] = 1.0
    face, point = rng.integers(0, 6, n), rng.normal(size=(n, 3)) * 10 ** rng.uniform(-1, 2, 3)
    # What lies behind a ray's last hit must not be looked at.
    unused = np.arange(PROBE_HITS) >= found[:, None]
    trails[unused], face[unused.ravel()], point[unused.ravel()] = np.inf, -1, np.nan
    return (found, time, face, point, rng.integers(0, 8, n)), absorption


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_the_estimate_equals_its_naive_twin(seed):
    hits, absorption = random_hits(seed)
    out, twin = estimate(hits, absorption), naive.room_of(*hits, absorption)
    for key in (*KEYS, "volume"):
        np.testing.assert_allclose(out[key], twin[key], rtol=1e-12, atol=1e-12, err_msg=key)
    assert sum(out["classes"]) == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0]))
@settings(max_examples=100)
def test_whatever_the_rays_met_the_estimate_is_finite_and_within_its_limits(seed, everywhere):
    hits, absorption = random_hits(seed)
    out = estimate(hits, np.full_like(absorption, everywhere))
    assert (out["rt60"] >= 0.1).all()
    assert (out["rt60"] <= 5).all()
    assert (out["gain"] >= 0).all()
    assert (out["gain"] <= 3).all()
    assert (out["classes"] >= 0).all()
    assert all(np.isfinite(out[key]).all() for key in (*KEYS, "volume"))
    if everywhere == 1.0:
        assert not out["gain"].any()


@pytest.mark.parametrize("walls", ["stone", "wood", "wool", MIXED], ids=["stone", "wood", "wool", "mixed"])
@pytest.mark.parametrize("dimensions", SHOEBOXES, ids=str)
def test_shoeboxes_ring_as_long_and_as_loud_as_theory_says(dimensions, walls):
    rt60, gain = naive.eyring(dimensions, walls)
    for position in inside(dimensions, 12):
        out = hear(naive.shoebox(dimensions, walls), position)
        for band in range(4):
            for scale in (NEAR, FAR):
                if out["share"][scale] > 0:
                    assert out["rt60"][scale, band] == pytest.approx(rt60[band], rel=0.15)
            assert slope(out, band) == pytest.approx(rt60[band], rel=0.15)
        assert abs(20 * math.log10(level(out) / gain)) < 3
        assert sum(out["share"]) == pytest.approx(1)


def test_levels_stay_within_about_one_decibel_of_theory_on_the_whole():
    errors = []
    for dimensions in SHOEBOXES:
        gain = naive.eyring(dimensions, "stone")[1]
        errors += [
            20 * math.log10(level(hear(naive.shoebox(dimensions, "stone"), position)) / gain)
            for position in inside(dimensions, 8, seed=1)
        ]
    assert abs(statistics.fmean(errors)) < 0.3
    assert statistics.pstdev(errors) < 1


def test_the_first_hits_sound_out_the_volume():
    for position in inside((10, 5, 10), 8):
        assert hear(naive.shoebox((10, 5, 10), "stone"), position)["volume"] == pytest.approx(500, rel=0.3)


def test_an_open_field_has_no_reverberation():
    out = hear(naive.field(), (0, 1.6, 0))
    assert not out["gain"].any()
    assert not out["share"].any()
    assert (out["rt60"] == 0.1).all()
    assert list(out["classes"]) == [1, 0, 0, 0, 0, 0]


def test_rays_that_all_escape_leave_nothing_but_a_field():
    n = PROBE_RAYS * PROBE_HITS
    nothing = np.zeros(PROBE_RAYS, np.int64), np.full(n, np.inf), np.full(n, -1), np.zeros((n, 3))
    out = estimate((*nothing, np.zeros(n, np.int64)))
    assert out["volume"] == 0
    assert not out["gain"].any()
    assert list(out["classes"]) == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("hits", range(10))
def test_one_ray_alone_can_be_judged(hits):
    found, *rest = (a.copy() for a in naive.trace(naive.shoebox((5, 3, 4), "wood"), (2, 1.6, 2)))
    found[:] = 0
    found[7] = hits
    out, twin = estimate((found, *rest)), naive.room_of(found, *rest)
    for key in (*KEYS, "volume"):
        np.testing.assert_allclose(out[key], twin[key], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("x", [3, 12, 20, 35])
@pytest.mark.parametrize("height", [1.6, 10, 20])
def test_a_canyon_rings_for_seconds(x, height):
    out = hear(naive.trough(40, 60), (x, height, 0))
    assert 2 < out["rt60"][FAR, AT_500] < 5
    assert 0.02 < out["gain"][FAR] < 0.1
    assert out["share"][FAR] > out["share"][NEAR]


def test_tails_grow_from_the_field_over_the_wooden_room_and_the_tunnel_to_the_canyon():
    wooden = hear(naive.shoebox((5, 3, 4), "wood"), (2, 1.6, 2.5))
    tunnel = hear(TUNNEL, (2, 1.6, 5))
    canyon = hear(naive.trough(40, 60), (20, 1.6, 0))
    assert wooden["rt60"][NEAR, AT_500] == pytest.approx(0.87, rel=0.1)
    assert tunnel["rt60"][NEAR, AT_500] == pytest.approx(1.5, rel=0.15)
    assert wooden["rt60"][NEAR, AT_500] < tunnel["rt60"][NEAR, AT_500] < canyon["rt60"][FAR, AT_500]
    assert not hear(naive.field(), (0, 1.6, 0))["gain"].any()


@pytest.mark.parametrize("dimensions", [(5, 3, 4), (10, 5, 10), (30, 12, 40)])
def test_wool_on_the_walls_lowers_tail_and_level(dimensions):
    for position in inside(dimensions, 4):
        bare = hear(naive.shoebox(dimensions, "stone"), position)
        lined = hear(naive.shoebox(dimensions, ("wool",) * 4 + ("stone",) * 2), position)
        assert lined["rt60"][NEAR, AT_500] < 0.6 * bare["rt60"][NEAR, AT_500]
        assert level(lined) < 0.7 * level(bare)


@pytest.mark.parametrize("z", [0.05, 0.5])
def test_a_room_is_known_from_its_corners_too(z):
    assert classes(naive.shoebox((10, 5, 10), "stone"), (z, 1.6, z))["room"] > 0.9
    assert classes(naive.shoebox((17, 5, 14), "wood"), (z, 1.6, z))["room"] > 0.9


def test_places_have_their_names():
    for x in (2, 6, 10):
        assert classes(naive.trough(12, 8), (x, 1.6, 0))["street"] > 0.9
        assert classes(naive.trough(40, 60), (3 * x, 1.6, 0))["canyon"] > 0.9
    for z in (-50, -20, 5, 50):
        assert classes(TUNNEL, (2, 1.6, z))["tunnel"] > 0.9
    for position in inside((30, 12, 40), 6):
        assert classes(naive.shoebox((30, 12, 40), "wood"), position)["hall"] > 0.9
    for dimensions in ((3, 3, 3), (5, 3, 4), (10, 5, 10), (6, 3, 20)):
        for position in inside(dimensions, 6):
            assert classes(naive.shoebox(dimensions, "stone"), position)["room"] > 0.9


def test_a_doorway_between_two_rooms_sounds_like_something_between():
    sides = naive.two_rooms((5, 3, 4), (30, 12, 40), (2, 2), "wood", "stone")
    wooden, door, hall = (hear(sides, (x, 1.6, 0.3)) for x in (-3, 0, 14))
    assert level(hall) < level(door) < level(wooden)
    for band in range(4):
        assert slope(wooden, band) < slope(door, band) < slope(hall, band)
    weight = door["classes"][CLASSES.index("room")]
    assert wooden["classes"][CLASSES.index("room")] >= weight >= hall["classes"][CLASSES.index("room")]


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0])
def test_a_ray_through_an_open_door_does_not_take_the_room_away(turn):
    alone = hear(naive.shoebox((5, 3, 4), "wood"), (2, 1.6, 2.3), turn)
    sides = naive.two_rooms((5, 3, 4), (30, 12, 40), (1, 2), "wood", "stone")
    beside = hear(sides, (-3, 1.6, 0.3), turn)
    assert abs(20 * math.log10(level(beside) / level(alone))) < 6
    assert slope(beside, AT_500) == pytest.approx(slope(alone, AT_500), rel=0.5)


def test_the_way_out_of_a_room_leads_over_something_between():
    walls = ("wood", None, "wood", "wood", "wood", "wood")
    within, without = naive.shoebox((5, 3, 4), "wood"), naive.shoebox((5, 3, 4), walls)
    closed, porch = hear(within, (2.5, 1.6, 2)), hear(without, (4.9, 1.6, 2))
    assert 0 < level(porch) < 0.7 * level(closed)
    assert porch["rt60"][NEAR, AT_500] < closed["rt60"][NEAR, AT_500]
    assert 0.2 < porch["share"][NEAR] < closed["share"][NEAR]


def test_the_estimate_hardly_depends_on_how_the_rays_are_turned():
    sides = naive.shoebox((7, 4, 5), "wood")
    times = [hear(sides, (3, 1.6, 2), turn)["rt60"][NEAR, AT_500] for turn in np.linspace(0, 6, 12)]
    assert max(times) < 1.1 * min(times)


def there(gain, target):
    """A level within -100 dB of its target is at it."""
    return np.where(np.abs(gain - target) < 1e-5, target, gain)


@given(st.floats(0, 1), st.integers(0, 2**32))
@settings(max_examples=100)
def test_a_tween_moves_times_by_equal_factors_and_levels_by_equal_steps(share, seed):
    rng = np.random.default_rng(seed)
    rt60, gain, weights = rng.uniform(0.1, 5, (2, 4)), rng.uniform(0, 3, 2), rng.dirichlet(np.ones(6))
    targets = rng.uniform(0.1, 5, (2, 4)), rng.uniform(0, 3, 2), rng.dirichlet(np.ones(6))
    expected = (
        np.exp(np.log(rt60) * (1 - share) + np.log(targets[0]) * share),
        there(gain + (targets[1] - gain) * share, targets[1]),
        weights + (targets[2] - weights) * share,
    )
    room.tween(share, *targets, rt60, gain, weights)
    for now, wanted in zip((rt60, gain, weights), expected, strict=True):
        np.testing.assert_allclose(now, wanted, rtol=1e-12, atol=1e-12)


def test_a_whole_tween_is_there_exactly_and_one_from_nothing_at_once():
    targets = np.full((2, 4), 0.7), np.array([0.3, 0.1]), np.full(6, 1 / 6)
    now = np.full((2, 4), 3.3), np.array([1.7, 0.9]), np.array([1.0, 0, 0, 0, 0, 0])
    room.tween(1.0, *targets, *now)
    assert all((a == b).all() for a, b in zip(now, targets, strict=True))
    nothing = np.zeros((2, 4)), np.zeros(2), np.zeros(6)
    room.tween(0.25, *targets, *nothing)
    assert (nothing[0] == 0.7).all()
    assert nothing[1] == pytest.approx([0.075, 0.025])


def test_a_scale_that_falls_silent_keeps_its_times_until_then_and_ends_exactly_at_0():
    targets = np.full((2, 4), 0.1), np.zeros(2), np.full(6, 1 / 6)
    now = np.full((2, 4), 3.3), np.array([1.7, 0.9]), np.array([1.0, 0, 0, 0, 0, 0])
    room.tween(0.25, *targets, *now)
    assert (now[0] == 3.3).all()
    for _ in range(60):
        room.tween(0.25, *targets, *now)
    assert (now[1] == 0.0).all()


def test_directions_are_unit_vectors_that_cover_the_sphere_evenly():
    for n in (1, 16, 24, 200):
        directions = fibonacci(n, 0.3)
        assert np.linalg.norm(directions, axis=1) == pytest.approx(np.ones(n))
        assert directions == pytest.approx(naive.directions(n, 0.3), abs=1e-12)
        assert [direction_of(i, n, 0.3) for i in range(n)] == [
            pytest.approx(d, abs=1e-15) for d in directions
        ]
    assert abs(fibonacci(200).mean(axis=0)).max() < 0.01


def test_a_turn_rotates_directions_about_the_vertical():
    still, turned = fibonacci(24), fibonacci(24, math.pi / 2)
    assert turned[:, 1] == pytest.approx(still[:, 1])
    assert turned[:, 0] == pytest.approx(-still[:, 2])
    assert turned[:, 2] == pytest.approx(still[:, 0])


def test_the_table_and_the_kernel_agree_on_sizes_and_classes():
    probes = Probes(1)
    probe = probes.alive[0]
    assert room.HITS == PROBE_HITS
    assert [getattr(room, name.upper()) for name in CLASSES] == list(range(6))
    assert probes.rt60[probe].shape == probes.rt60_target[probe].shape == (2, 4)
    room.tween(
        1.0,
        np.full((2, 4), 2.0), np.ones(2), np.full(6, 1 / 6),
        probes.rt60[probe], probes.room_gain[probe], probes.classes[probe],
    )  # fmt: skip
    assert (probes.rt60[0] == 2).all()
    assert probes.evaluated[probe] == -np.inf
