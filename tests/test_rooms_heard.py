"""What rooms do to a clap, measured on the recording against formulas and image sources."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import FRAMES, RATE, TICK
from rooms import BANDS, CLAP_AT, C, band_of, eyring, hear, shoebox, sounds, t30, tail_gain
from scipy.signal import find_peaks

import ecs_audio as ea
from ecs_audio.analysis import clicks, level_db, tone_level_db
from ecs_audio.presets import PRESETS

ROOMS = [
    ((5, 3, 4), ("oak_planks",) * 3),
    ((5, 3, 4), ("stone",) * 3),
    ((5, 3, 4), ("stone", "stone", "white_wool")),
    ((10, 5, 10), ("stone",) * 3),
    ((30, 12, 20), ("oak_planks",) * 3),
    ((30, 12, 20), ("stone",) * 3),
]


@pytest.mark.parametrize(("size", "names"), ROOMS, ids=str)
def test_a_clap_in_a_shoebox_dies_away_as_eyring_says(size, names):
    times, _ = eyring(size, names)
    source, ear = (0.3 * size[0], 1.7, 0.6 * size[2]), (0.63 * size[0], 1.4, 0.35 * size[2])
    heard = hear(shoebox(size, names), source, ear, 0.3 + 0.8 * max(times))
    for centre, expected in zip(BANDS, times, strict=True):
        assert t30(heard, centre) == pytest.approx(expected, rel=0.15), centre


@pytest.mark.parametrize(("size", "names"), ROOMS, ids=str)
def test_the_tail_is_as_loud_as_theory_says(size, names):
    times, gain = eyring(size, names)
    source, ear = (0.3 * size[0], 1.7, 0.6 * size[2]), (0.63 * size[0], 1.4, 0.35 * size[2])
    heard = tail_gain(shoebox(size, names), source, ear, 0.3 + 0.5 * max(times))
    assert abs(20 * math.log10(heard / min(gain, 3.0))) < 3


def test_wool_on_the_walls_shortens_and_softens_the_tail():
    size, source, ear = (10, 5, 10), (3.0, 1.7, 6.0), (6.3, 1.4, 3.5)
    bare, lined = (shoebox(size, ("stone", "stone", walls)) for walls in ("stone", "white_wool"))
    assert t30(hear(lined, source, ear, 1.2), 500) < 0.6 * t30(hear(bare, source, ear, 1.8), 500)
    assert tail_gain(lined, source, ear, 1.0) < 0.7 * tail_gain(bare, source, ear, 1.5)


@pytest.mark.parametrize("floor", ["grass_block", "stone"])
def test_a_field_is_silent_after_the_clap(floor):
    world, rows = ea.World.empty(size=(256, 32, 256), origin=(-128, 0, -128)), []
    world.fill((-128, 0, -128), (128, 1, 128), floor)
    heard = hear(world, (10.5, 2.5, 0.5), (0.5, 2.6, 0.5), 1.0, rows=rows)
    after = round((CLAP_AT + 12 / C + 0.01) * RATE)
    assert np.abs(heard[after:]).max() < 1e-4 * np.abs(heard).max()
    assert all(row["reverbs"] == 0 for row in rows)


def test_a_tunnel_outlasts_a_small_room():
    world = ea.World.empty(size=(32, 32, 160), origin=(-16, -16, -80))
    world.fill((-4, -4, -60), (4, 4, 60), "stone")
    world.fill((-2, -2, -60), (2, 2, 60), "air")
    tunnel = t30(hear(world, (0.5, -0.4, 6.0), (0.7, -0.3, 0.0), 1.8), 500)
    room = t30(hear(shoebox((5, 3, 4), ("oak_planks",) * 3), (1.5, 1.7, 2.4), (3.1, 1.4, 1.4), 1.2), 500)
    assert room < tunnel
    assert 0.8 < tunnel < 1.8


WIDE, TALL = 40, 60


@pytest.fixture(scope="module")
def canyon():
    world = ea.World.empty(size=(96, 80, 512), origin=(-28, -8, -256))
    for low, high in (((-8, -2, -256), (0, TALL, 256)), ((WIDE, -2, -256), (WIDE + 8, TALL, 256))):
        world.fill(low, high, "stone")
    world.fill((0, -2, -256), (WIDE, 0, 256), "grass_block")
    return world


def images(source, orders=3):
    """Image sources in the two walls and the ground, without the source itself."""
    x, y, z = source
    across = [2 * WIDE * n + s * x for n, s in product(range(-orders, orders + 1), (1, -1))]
    return [(a, b, z) for a in across for b in (y, -y) if (a, b) != (x, y)]


def delays_of(source, ear):
    return np.array([math.dist(image, ear) / C for image in images(source)])


def echoes_alone(*place, **how):
    """What echoes add to the recording, direct sound and reverb included; one amplitude a frame."""
    with_echoes, without = (hear(*place, **how, echoes=echoes) for echoes in (True, False))
    return np.abs(with_echoes - without).sum(axis=1)


def peaks_of(sound):
    return find_peaks(sound, height=sound.max() / 30, distance=RATE // 500)[0] / RATE


def test_a_canyon_answers_when_geometry_says(canyon):
    source, ear, rows = (14.0, 1.6, 15.0), (22.0, 1.6, -15.0), []
    echoes = peaks_of(echoes_alone(canyon, source, ear, 0.8)) - CLAP_AT
    hear(canyon, source, ear, 0.8, rows=rows)
    assert len(echoes) == max(row["taps"] for row in rows) >= 2
    for echo in echoes:
        assert np.abs(delays_of(source, ear) - echo).min() < 0.001


def test_a_canyon_rings_for_seconds(canyon):
    heard = hear(canyon, (14.0, 1.6, 15.0), (22.0, 1.6, -15.0), 4.0)
    late = heard[round((CLAP_AT + 0.5) * RATE) :]  # behind direct sound and echoes
    assert 2 < t30(late, 500) < 5


def test_echoes_glide_when_the_listener_walks(canyon):
    source, speed = (14.0, 1.6, 5.0), 6.0

    def walk(time):
        return (18.0 + speed * time, 1.6, -5.0)

    heard = echoes_alone(canyon, source, walk(0.0), 3.0, walk=walk, clip="ticks")
    made = CLAP_AT + 0.2 * np.arange(3, 12)
    arrivals = np.array([[arrival(image, t, walk) for t in made] for image in images(source)])
    peaks = peaks_of(heard)
    late = peaks[(peaks > made[0] + 0.3) & (peaks < made[-1])]
    assert len(late) > 8
    assert all(np.abs(arrivals - at).min() < 0.001 for at in late)
    # Those images that answered every time came nearer, or went away, just as fast as they should.
    gliding = 0
    for row in arrivals:
        nearest = peaks[np.abs(peaks[:, None] - row).argmin(axis=0)]
        if np.abs(nearest - row).max() < 0.001:
            rate, expected = (np.polyfit(made, at - made, 1)[0] for at in (nearest, row))
            assert rate == pytest.approx(expected, abs=2e-4)
            gliding += abs(expected) > 0.01  # 6 m/s along the path are 0.0175
    assert gliding >= 2


def arrival(place, made, walk):
    """When a listener who walks hears what was emitted somewhere at a time [s]."""
    at = made
    for _ in range(8):
        at = made + math.dist(place, walk(at)) / C
    return at


def two_rooms(door):
    """A wooden room, x from -5 to 0, and a stone hall, x from 1 on, with a wall of 1 m between."""
    world = ea.World.empty(size=(64, 32, 48), origin=(-16, -8, -24))
    world.fill((-6, -1, -11), (31, 13, 11), "stone")
    world.fill((1, 0, -10), (30, 12, 10), "air")
    world.fill((-6, -1, -3), (1, 4, 3), "oak_planks")
    world.fill((-5, 0, -2), (0, 3, 2), "air")
    if door:
        world.fill((0, 0, 0), (1, 2, 1), "air")
    return world


def test_a_source_that_is_sealed_off_sounds_dull_in_the_room():
    world, ear = two_rooms(door=False), (12.0, 1.6, 3.0)
    dull, clear = (hear(world, source, ear, 1.0) for source in ((-2.0, 1.6, 0.5), (6.0, 1.6, 0.5)))
    tails = [x[round((CLAP_AT + 0.2) * RATE) :] for x in (dull, clear)]
    low, high = ([level_db(band_of(x, b)) for x in tails] for b in (500, 8000))
    assert high[0] - low[0] < high[1] - low[1] - 15
    assert low[0] < low[1] - 10


def test_walking_from_a_room_into_a_hall_goes_from_its_tail_to_the_other_without_a_click():
    times = {}
    for name, stays in (("room", -3.0), ("hall", 14.0)):
        heard = hear(two_rooms(door=True), (stays - 1, 1.7, 1.0), (stays, 1.5, 0.4), 3.5)
        times[name] = t30(heard, 500)
    assert times["room"] < 0.6 * times["hall"]
    walked = hear(
        two_rooms(door=True), (2.5, 1.6, 0.5), (-4.0, 1.5, 0.5), 5.0, clip="tone",
        walk=lambda time: (-4.0 + 4.0 * time, 1.5, 0.4),
    )  # fmt: skip
    assert not len(clicks(walked[round((CLAP_AT + 0.1) * RATE) :], RATE))


@pytest.mark.parametrize("height", [20.5, 40.5])
def test_what_flies_over_a_court_hardly_fills_it_even_if_no_reflections_were_traced(height):
    world, sends = ea.World.empty(size=(64, 80, 64), origin=(-32, -8, -32)), []
    world.fill((-12, -1, -12), (12, 10, 12), "stone")
    world.fill((-10, 0, -10), (10, 10, 10), "air")
    for full in (0, 16):
        with ea.Engine(world, sounds(), settings=ea.Settings(full_count=full)) as engine:
            engine.listener.look(position=(2.3, 1.6, -3.1))
            source = engine.spawn("tone", position=(1.5, height, 0.5), looping=True)
            for _ in range(300):
                engine.tick(TICK)
            sends.append(float(np.hypot(*engine.sources.send[source])))
    assert abs(20 * math.log10(sends[0] / sends[1])) < 1


@pytest.mark.parametrize("name", ["hall", "room", "cathedral"])
def test_a_preset_is_heard_where_there_is_nothing(name, open_world):
    place = PRESETS[name]
    times = place.rt60[int(place.room_gain[1] > 0)]
    heard = hear(open_world, (2.0, 0.5, 0.5), (0.5, 0.5, 0.5), 0.3 + 0.8 * max(times), reverb=name)
    for centre, expected in zip(BANDS, times, strict=True):
        assert t30(heard, centre) == pytest.approx(expected, rel=0.12), centre


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"reverb": "hal"}, "did you mean 'hall'"),
        ({"reverb": "zzz"}, "there are room, "),
        ({"reverb": "hall", "acoustics": "direct"}, "acoustics 'full'"),
        ({"reverb": "hall", "reverberation": False}, "reverberation"),
    ],
)
def test_a_preset_that_cannot_be_heard_is_refused(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        ea.Settings(**settings)


class Ringing:
    """A hall that rings for 4 s, half a second after a clap in it."""

    def __init__(self, tone=False):
        self.engine = ea.Engine(shoebox((30, 12, 20), ("stone",) * 3), sounds())
        self.engine.listener.look(position=(19.0, 1.4, 7.0))
        self.play(3)
        self.engine.spawn("impulse", position=(9.0, 1.7, 12.0), reference=4.0)
        if tone:
            self.engine.spawn("tone", position=(17.0, 1.7, 12.0), looping=True)
        assert level_db(self.play(30)[-RATE // 10 :]) > -80

    def play(self, ticks):
        blocks = []
        for _ in range(ticks):
            self.engine.tick(TICK)
            blocks.append(self.engine.render(FRAMES).copy())
        return np.concatenate(blocks)


@pytest.mark.parametrize("how", ["world", "stop_all", "reset"])
def test_a_tail_is_silent_within_20_ms_where_it_is_ended(how):
    hall = Ringing()
    with hall.engine as engine:
        if how == "world":
            engine.world = ea.World.empty(size=(64, 32, 64), origin=(-16, -8, -16))
        else:
            getattr(engine, how)()
        after = hall.play(30)
        assert not after[RATE // 50 :].any()
        assert engine.telemetry.reverbs == 0
        assert np.abs(np.diff(after[:960], axis=0)).max() < 0.02  # and without a click


def test_what_sounds_directly_goes_on_in_another_world():
    hall, nothing = Ringing(tone=True), ea.World.empty(size=(64, 32, 64), origin=(-16, -8, -16))
    with hall.engine as engine:
        engine.world = nothing
        after = hall.play(60)
        assert engine.telemetry.reverbs == engine.telemetry.taps == 0
    assert not len(clicks(after, RATE))
    distance = math.dist((17.0, 1.7, 12.0), (19.0, 1.4, 7.0))
    for first in (RATE // 50, RATE // 5, RATE // 2):
        level = 10 * math.log10(
            sum(10 ** (tone_level_db(side[first : first + RATE // 5], 500.0, RATE) / 10) for side in after.T)
        )
        fade = 1 - (lambda x: x * x * (3 - 2 * x))((distance - 1) / 511)
        assert level == pytest.approx(20 * math.log10(0.2 * fade / distance), abs=0.1)


def test_after_a_reset_in_a_tail_the_bytes_are_those_of_a_new_engine():
    used, new = Ringing(), Ringing()
    first = []
    for hall, fresh in ((used, False), (new, True)):
        with hall.engine as engine:
            if fresh:
                engine = hall.engine = ea.Engine(engine.world, sounds())
            else:
                engine.reset()
            engine.listener.look(position=(19.0, 1.4, 7.0))
            engine.spawn("impulse", position=(9.0, 1.7, 12.0))
            first.append(hall.play(60).tobytes())
    assert first[0] == first[1]
    assert any(first[0])


def test_reverbs_sleep_once_nothing_sounds():
    world, rows = shoebox((5, 3, 4), ("stone", "stone", "white_wool")), []
    heard = hear(world, (1.5, 1.7, 2.4), (3.1, 1.4, 1.4), 5.0, rows=rows)
    awake = [row["reverbs"] for row in rows]
    assert max(awake) > 0
    assert awake[0] == awake[-1] == 0
    assert not heard[-FRAMES:].any()
