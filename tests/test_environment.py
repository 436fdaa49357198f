"""What reflections say of a source: shared air, sends, where it seems to be, echoes, and the room."""

import math

import numpy as np
import pytest
from conftest import TICK

import ecs_audio as ea
from ecs_audio.components import Tier

SILENT_HF = 0.0498


def engine_in(world, clips, listener, **settings):
    engine = ea.Engine(world, clips, settings=ea.Settings(**settings))
    engine.listener.look(position=listener)
    return engine


def settle(engine, seconds=2.0):
    for _ in range(round(seconds / TICK)):
        engine.tick(TICK)


def box(low, high, walls="stone", size=(64, 32, 64)):
    """A hollow shoebox whose inside spans low to high."""
    world = ea.World.empty(size=size, origin=(-8, -8, -8))
    world.fill([x - 1 for x in low], [x + 1 for x in high], walls)
    world.fill(low, high, "air")
    return world


def angle(a, b):
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return math.degrees(math.acos(min(max(cosine, -1.0), 1.0)))


def two_rooms():
    """Two rooms of 10 x 10 x 3 m side by side with a door of 2 x 2 m."""
    world = box((0, 0, 0), (10, 3, 10), size=(48, 24, 32))
    world.fill((10, -1, -1), (22, 4, 11), "stone")
    world.fill((11, 0, 0), (21, 3, 10), "air")
    world.fill((10, 0, 4), (11, 2, 6), "air")
    return world, np.array([10.5, 1.0, 5.0])


def test_everything_in_one_room_shares_the_listeners_air(clips):
    with engine_in(box((0, 0, 0), (10, 5, 10)), clips, (3, 1.6, 3)) as engine:
        row = engine.spawn("tone", position=(7, 2, 6), looping=True)
        engine.tick(TICK)
        s = engine.sources
        assert s.coupling[row] == 1.0
        assert s.openness[row].tolist() == [1.0, 1.0]
        assert s.send_hf_target[row].tolist() == [1.0, 1.0]
        assert engine.probe.room_gain[0] > 0.5


def test_a_sealed_source_enters_the_reverb_as_its_direct_sound_does(clips):
    world = box((0, 0, 0), (10, 5, 10))
    world.fill((10, -1, -1), (16, 6, 11), "stone")
    world.fill((11, 0, 0), (15, 5, 10), "air")
    with engine_in(world, clips, (4.5, 2.5, 5.5)) as engine:
        row = engine.spawn("tone", position=(13.5, 2.5, 5.5), looping=True, volume=0.7, end=100.0)
        settle(engine)
        s, d = engine.sources, 9.0
        assert s.tier[row] == Tier.FULL
        assert s.coupling[row] == 0.0
        assert s.transmission[row] == pytest.approx(SILENT_HF, rel=2e-3)
        gain = s.loudness[row]  # volume times distance gain
        assert gain == pytest.approx(0.7 / d * (1 - smooth_step((d - 1) / 99)), rel=1e-6)
        expected = engine.probe.room_gain * gain * 0.741 * (1 - d / 150)
        assert s.send_target[row] == pytest.approx(expected, rel=2e-3)
        assert s.send_hf_target[row] == pytest.approx([SILENT_HF] * 2, rel=2e-3)


def smooth_step(x):
    return x * x * (3 - 2 * x)


@pytest.mark.parametrize("material", ["stone", "oak_planks", "white_wool"])
@pytest.mark.parametrize("dims", [(7, 4, 5), (10, 5, 10), (17, 5, 14), (20, 8, 30)])
def test_the_reverberant_level_of_a_source_is_that_of_room_acoustics(clips, dims, material):
    world = box((0, 0, 0), dims, material)
    x, y, z = dims
    volume, surface = x * y * z, 2 * (x * y + y * z + x * z)
    absorption = world.palette.absorption[world.palette.id(material)]
    alpha = (absorption[1] + absorption[2]) / 2
    theory = math.sqrt(16 * math.pi * (1 - alpha) / (surface * alpha))
    air = np.array([0.000101, 0.000628, 0.00228, 0.0242])
    eyring = 13.816 / (343 * (-surface / (4 * volume) * np.log(1 - absorption) + air))
    with engine_in(world, clips, (x / 2 - 1.5, y * 0.4, z / 2)) as engine:
        row = engine.spawn("tone", position=(x / 2 + 1.5, y * 0.4, z / 2), looping=True)
        engine.tick(TICK)
        send = np.linalg.norm(engine.sources.send_target[row]) / (1 - 3 / (1.5 * 512))
        assert abs(20 * math.log10(send / theory)) < 3
        main = engine.probe.share.argmax()
        assert engine.probe.rt60[main] == pytest.approx(np.clip(eyring, 0.1, 5), rel=0.15)


def test_a_loud_source_is_never_sent_above_the_rooms_own_level_or_1(clips):
    with engine_in(box((0, 0, 0), (5, 3, 4)), clips, (1, 1.6, 1)) as engine:
        row = engine.spawn("tone", position=(3, 1.6, 2), looping=True, reference=50.0)
        settle(engine)
        assert (engine.sources.send_target[row] <= np.maximum(1.0, engine.probe.room_gain)).all()
        assert engine.sources.send_target[row].max() > 0.9


def test_a_field_has_no_reverberation_and_no_echo(clips):
    world = ea.World.empty(size=(256, 32, 256))
    world.fill((0, 0, 0), (256, 1, 256), "grass_block")
    with engine_in(world, clips, (128, 2.6, 128)) as engine:
        row = engine.spawn("tone", position=(138, 3, 128), looping=True)
        settle(engine)
        assert engine.probe.room_gain.tolist() == [0.0, 0.0]
        assert engine.probe.name == "field"
        assert engine.sources.send_target[row].tolist() == [0.0, 0.0]
        assert not engine.sources.tap_delay[row].any()


def test_wool_for_stone_lowers_both_tail_and_level(clips):
    rooms = []
    for material in ("stone", "white_wool"):
        with engine_in(box((0, 0, 0), (10, 5, 10), material), clips, (3, 1.6, 3)) as engine:
            engine.tick(TICK)
            rooms.append((engine.probe.rt60[0, 1], engine.probe.room_gain[0]))
    assert rooms[1][0] < 0.5 * rooms[0][0]
    assert rooms[1][1] < 0.5 * rooms[0][1]


def test_from_full_to_direct_nothing_in_a_room_moves_by_3_db(clips):
    with engine_in(box((0, 0, 0), (10, 5, 10)), clips, (3, 1.6, 3), full_count=1) as engine:
        row = engine.spawn("tone", position=(7, 2, 6), looping=True)
        settle(engine, 1.0)
        s = engine.sources
        assert s.tier[row] == Tier.FULL
        before = s.send_target[row].copy(), s.gain_hf_target[row] * s.gain_target[row]
        engine.spawn("tone", position=(3, 1.6, 3.5), looping=True)  # louder: it takes the only FULL place
        sends, levels = [], []
        for _ in range(180):
            engine.tick(TICK)
            sends.append(s.send_target[row].copy())
            levels.append(s.gain_hf_target[row] * s.gain_target[row])
        assert s.tier[row] == Tier.DIRECT
        near = np.array(sends)[:, 0]
        assert 20 * np.log10(near / before[0][0]) == pytest.approx(np.zeros(180), abs=3)
        assert 20 * np.log10(np.array(levels) / before[1]) == pytest.approx(np.zeros(180), abs=3)


def test_behind_a_wall_a_source_seems_to_be_in_the_doorway(clips):
    world, door = two_rooms()
    rng = np.random.default_rng(0)
    errors = []
    with engine_in(world, clips, (5, 1.6, 5)) as engine:
        for _ in range(200):
            engine.reset()
            listener = rng.uniform([0.2, 0.5, 0.2], [9.8, 2.5, 9.8])
            source = rng.uniform([11.2, 0.2, 0.2], [20.8, 2.8, 9.8])
            engine.listener.look(position=listener)
            row = engine.spawn("tone", position=source, looping=True)
            engine.tick(TICK)
            s = engine.sources
            if s.path[row, 0] < 0.5 and s.coupling[row] > 0.0:
                apparent = s.apparent_position[row] - listener
                assert np.linalg.norm(apparent) == pytest.approx(np.linalg.norm(source - listener))
                errors.append(angle(apparent, door - listener))
    assert len(errors) > 100
    assert np.median(errors) < 10
    assert np.percentile(errors, 90) < 30


def test_an_open_straight_path_has_the_source_at_its_place_within_a_fifth_of_a_second(clips):
    world, _ = two_rooms()
    listener, behind, visible = (5.0, 1.6, 2.0), (14.0, 1.6, 1.0), (6.0, 1.6, 8.0)
    with engine_in(world, clips, listener, delay=False) as engine:
        row = engine.spawn("tone", position=behind, looping=True)
        settle(engine, 1.0)
        engine.render(800)
        s = engine.sources
        assert angle(s.apparent_position[row] - listener, np.subtract(behind, listener)) > 5
        s.position[row] = visible
        for _ in range(36):  # its next turn comes within a tenth of a second, and 0.2 s more
            engine.tick(TICK)
        assert s.apparent_position[row] == pytest.approx(visible)


def test_shared_air_lets_a_muffled_remainder_through(clips):
    world, _ = two_rooms()
    with engine_in(world, clips, (5, 1.6, 1.0)) as engine:
        row = engine.spawn("tone", position=(13, 1.6, 1.5), looping=True)
        settle(engine)
        s = engine.sources
        assert s.transmission[row] < 0.06
        assert s.coupling[row] > 0.02
        heard = 0.2 * math.sqrt(s.openness[row].mean())
        assert s.gain_target[row] == pytest.approx(heard**0.1, rel=1e-6)


def canyon():
    """Two stone walls 40 m apart and 60 m high over grass."""
    world = ea.World.empty(size=(64, 80, 256))
    world.fill((0, 0, 0), (64, 1, 256), "grass_block")
    world.fill((10, 1, 0), (12, 61, 256), "stone")
    world.fill((52, 1, 0), (54, 61, 256), "stone")
    return world


def images(source, listener):
    """Ways [m] of all echoes of first and second order between the planes of the canyon."""
    planes = [(0, 12.0), (0, 52.0), (1, 1.0)]
    ways = []
    for axis, at in planes:
        once = source.copy()
        once[axis] = 2 * at - once[axis]
        ways.append(math.dist(once, listener))
        for other, there in planes:
            twice = once.copy()
            twice[other] = 2 * there - twice[other]
            ways.append(math.dist(twice, listener))
    return np.array(ways)


def test_the_canyon_answers_at_the_delays_of_image_sources(clips):
    rng = np.random.default_rng(0)
    counts = []
    with engine_in(canyon(), clips, (30, 2, 128)) as engine:
        for _ in range(50):
            engine.reset()
            listener = rng.uniform([13, 1.6, 90], [51, 20, 160])
            source = rng.uniform([13, 1.6, 90], [51, 20, 160])
            engine.listener.look(position=listener)
            row = engine.spawn("tone", position=source, looping=True)
            settle(engine, 0.5)
            delays = engine.sources.tap_delay[row]
            delays = delays[delays > 0]
            counts.append(len(delays))
            exact = images(source, listener) / 343
            for delay in delays:
                assert np.abs(exact - delay).min() < 1 / 48_000
                assert delay - math.dist(source, listener) / 343 > 0.005
        assert engine.probe.name == "canyon"
        assert 2 < engine.probe.rt60[1, 1] < 5
    assert np.mean(counts) > 2


def test_a_lone_wall_answers_exactly_once(clips):
    world = ea.World.empty(size=(64, 64, 64))
    world.fill((40, 10, 12), (41, 50, 52), "stone")
    with engine_in(world, clips, (20.0, 30.0, 32.0)) as engine:
        row = engine.spawn("click", position=(20.0, 30.0, 32.5))
        engine.tick(TICK)
        assert engine.sources.tap_delay[row] == pytest.approx([math.hypot(40, 0.5) / 343, 0, 0, 0], abs=1e-9)
        assert engine.sources.tap_level[row, 0] == 1.0
        reflectivity = world.palette.reflectivity[world.palette.id("stone")]
        strength = 0.25 * (0.75 * reflectivity + 0.25)
        assert engine.sources.tap_gain[row, 0] == pytest.approx(strength / 40, rel=0.05)


def test_echoes_glide_with_moving_ends(clips):
    with engine_in(canyon(), clips, (30, 3, 100)) as engine:
        row = engine.spawn("tone", position=(20.0, 4.0, 110.0), looping=True)
        before, serial = None, None
        for tick in range(360):
            engine.sources.position[row] = (20 + 5 * TICK * tick, 4, 110 + 3 * TICK * tick)
            engine.listener.look(position=(30, 3, 100 + 2 * TICK * tick))
            engine.tick(TICK)
            delay, number = engine.sources.tap_delay[row].copy(), engine.sources.tap_serial[row].copy()
            if before is not None:
                same = (number == serial) & (delay > 0) & (before > 0)
                assert (np.abs(delay - before)[same] <= (math.hypot(5, 3) + 2) * TICK / 343 * 1.05).all()
                assert (before[(number != serial)] == 0).all()  # another echo begins in an empty slot
            before, serial = delay, number
        assert (before > 0).sum() >= 2


def test_what_is_no_longer_full_has_no_echoes(clips):
    with engine_in(canyon(), clips, (30, 3, 100), full_count=1) as engine:
        row = engine.spawn("tone", position=(20.0, 4.0, 110.0), looping=True)
        settle(engine, 0.5)
        assert engine.telemetry.taps >= 2
        engine.spawn("tone", position=(30, 3, 101), looping=True)
        settle(engine, 1.0)
        assert engine.sources.tier[row] == Tier.DIRECT
        assert not engine.sources.tap_delay[row].any()


def test_taps_are_no_more_than_may_sound_and_the_loudest_have_them(clips):
    with engine_in(canyon(), clips, (30, 3, 100), max_taps=3) as engine:
        rows = [engine.spawn("tone", position=(20, 4, 100 + 8 * k), looping=True) for k in range(4)]
        settle(engine, 1.0)
        assert 0 < engine.telemetry.taps <= 3
        assert engine.sources.tap_delay[rows[0]].any()


@pytest.mark.parametrize("mode", ["off", "direct", "reflect", "full"])
@pytest.mark.parametrize("switch", ["coupling", "echoes", "reverberation", "cache", "occlusion", "air", None])
def test_any_mode_and_any_switch_renders_finite_sound(clips, mode, switch):
    settings = {"acoustics": mode} | ({switch: False} if switch else {})
    world, _ = two_rooms()
    with engine_in(world, clips, (5, 1.6, 5), **settings) as engine:
        rows = [engine.spawn("tone", position=p, looping=True) for p in ((7, 1, 7), (14, 1, 2), (5, 8, 5))]
        for _ in range(30):
            engine.tick(TICK)
            assert np.isfinite(engine.render(800)).all()
        s, t = engine.sources, engine.telemetry
        reflected = mode in ("reflect", "full")
        assert (t.taps > 0) <= (reflected and switch != "echoes")
        assert s.send_target.any() == (mode == "full" and switch != "reverberation")
        assert s.openness[s.rows(rows)].any() == (reflected and switch != "coupling")
        assert (engine.probe.room_gain > 0).any() == (mode == "full" and switch != "reverberation")
        elsewhere = np.abs(s.apparent_position - s.heard_position).max() > 0.1
        assert elsewhere == (reflected and switch not in ("coupling", "occlusion"))


def test_another_world_forgets_rooms_echoes_and_environments(clips):
    with engine_in(box((0, 0, 0), (10, 5, 10)), clips, (3, 1.6, 3)) as engine:
        row = engine.spawn("tone", position=(7, 2, 6), looping=True)
        settle(engine, 1.0)
        assert engine.sources.tap_delay[row].any()
        engine.world = ea.World.empty(size=(32, 32, 32))
        assert not engine.sources.tap_delay[row].any()
        assert engine.probe.room_gain.tolist() == [0.0, 0.0]
        engine.tick(TICK)
        assert engine.sources.coupling[row] == 0.0
        assert engine.probe.name == "field"


def test_the_probe_keeps_its_room_while_the_listener_is_inside_rock(clips):
    with engine_in(box((0, 0, 0), (10, 5, 10)), clips, (5, 2, 5)) as engine:
        engine.tick(TICK)
        room = engine.probe.rt60.copy(), engine.probe.room_gain.copy()
        engine.listener.look(position=(-0.5, 2, 5))
        settle(engine, 1.0)
        assert (engine.probe.rt60 == room[0]).all()
        assert (engine.probe.room_gain == room[1]).all()


def test_a_change_of_rooms_takes_about_a_second_and_no_step(clips):
    world = box((0, 0, 0), (5, 3, 4), "oak_planks", size=(96, 48, 96))
    world.fill((20, 0, 20), (62, 22, 62), "stone")
    world.fill((21, 1, 21), (61, 21, 61), "air")
    with engine_in(world, clips, (2.5, 1.5, 2)) as engine:
        settle(engine, 1.0)
        engine.listener.look(position=(41, 5, 41))
        gains = []
        for _ in range(90):
            engine.tick(TICK)
            gains.append(np.linalg.norm(engine.probe.room_gain))
        steps = np.abs(np.diff(gains))
        assert steps.max() < 0.1 * gains[0]
        assert abs(gains[60] - gains[-1]) < 0.06 * abs(gains[0] - gains[-1])
        assert engine.probe.name == "hall"


def test_a_camera_flown_through_a_hill_hears_no_step_of_3_db_in_20_ms(clips):
    world = ea.World.empty(size=(128, 64, 64))
    world.fill((0, 0, 0), (128, 2, 64), "grass_block")
    for height in range(2, 32):  # 30 m high, 60 m long at its foot
        world.fill((64 - (32 - height), height, 0), (64 + (32 - height), height + 1, 64), "stone")
    with engine_in(world, clips, (10, 12, 32)) as engine:
        rows = [
            engine.spawn("tone", position=p, looping=True)
            for p in ((20, 4, 20), (100, 4, 40), (64, 40, 32), (30, 20, 30))
        ]
        levels = []
        for tick in range(int(5.4 * 50)):
            engine.listener.look(position=(10 + 20 * tick / 50, 12.3, 32.4), forward=(1, 0, 0))
            engine.tick(1 / 50)
            assert np.isfinite(engine.render(960)).all()
            s = engine.sources
            levels.append(s.loudness[s.rows(rows)] * s.gain[s.rows(rows)])
    steps = np.abs(np.diff(20 * np.log10(np.array(levels)[5:]), axis=0))
    assert steps.max() < 3


def test_tails_stand_in_the_order_of_their_places(clips):
    def tail(world, listener):
        with engine_in(world, clips, listener) as engine:
            engine.tick(TICK)
            probe = engine.probe
            main = probe.room_gain.argmax()
            return (probe.rt60[main, 1] if probe.room_gain.any() else 0.0), probe.name

    field = ea.World.empty(size=(128, 32, 128))
    field.fill((0, 0, 0), (128, 1, 128), "grass_block")
    tunnel = ea.World.empty(size=(16, 16, 160))
    tunnel.fill((4, 2, 20), (10, 8, 140), "stone")
    tunnel.fill((5, 3, 20), (9, 7, 140), "air")
    places = {
        "field": tail(field, (64, 2.6, 64)),
        "room": tail(box((0, 0, 0), (5, 3, 4), "oak_planks"), (2.2, 1.6, 1.7)),
        "tunnel": tail(tunnel, (7.2, 4.6, 80)),
        "canyon": tail(canyon(), (30, 2.6, 128)),
    }
    assert [name for _, name in places.values()] == list(places)
    times = [time for time, _ in places.values()]
    assert times == sorted(times)
    assert times[0] == 0.0
    assert times[1] == pytest.approx(0.87, rel=0.15)
    assert 0.8 < times[2] < 1.8
    assert 2.0 < times[3] < 5.0


def test_the_layers_of_an_event_share_one_survey(clips):
    with engine_in(box((0, 0, 0), (10, 5, 10)), clips, (3, 1.6, 3), cache=False) as engine:
        crack = engine.spawn("click", position=(7, 2, 6), full_within=400.0)
        debris = [engine.spawn("click", position=(1, 2, 9), full_within=400.0, event=crack) for _ in range(3)]
        engine.tick(TICK)
        assert engine.telemetry.surveys == 1
        s = engine.sources
        assert (s.environment[s.rows(debris)] == s.environment[crack]).all()
        assert (s.coupling[s.rows(debris)] == 1.0).all()
        engine.despawn(crack)
        with pytest.raises(ea.DeadRowError):
            engine.spawn("click", position=(1, 2, 9), event=crack)


def test_the_survey_of_an_event_goes_around_its_first_source_whoever_asks(clips):
    with engine_in(box((0, 0, 0), (20, 5, 20)), clips, (3, 1.6, 3), full_count=1) as engine:
        crack = engine.spawn("click", position=(15, 2, 15), volume=0.1)
        engine.spawn("click", position=(2, 2, 2), event=crack)  # louder: only this one is FULL and asks
        engine.tick(TICK)
        begun = engine.entries.number >= 0
        assert engine.entries.source[begun].tolist() == [[15, 2, 15]]
