"""Nothing clicks: tones that are cut, moved, muffled, paused and stolen have no step but their own."""

import math
import wave

import numpy as np
import pytest
from conftest import RATE, play, wall_world

import ecs_audio as ea

TONE = 200.0
OWN = 2 * math.pi * TONE / RATE
"""Largest step of a tone of amplitude 1."""
NEAR, SIDE = 0.5 * 0.5 * math.sqrt(0.5), 0.25
"""Amplitude at an ear of the tone 2 m away, ahead and on the ear's side, but for the fade to the end."""
BANDS = {4000: -60.0, 12_000: -70.0}
"""What 1 ms may hold above a frequency, relative to the tone at its loudest [dB]. The corner of a fade in
5 ms has up to -62.7 and -74.4, a step of 1 % -56 and -62."""
CORNER = 1 / 240 / OWN
FADES = math.hypot(1.0, CORNER) + CORNER
"""How much steeper two tones are that cross in 5 ms: by the slope of what falls, and that of what rises."""
TAPS = 129


def high_pass(hertz):
    t = np.arange(TAPS) - TAPS // 2
    band = -2 * hertz / RATE * np.sinc(2 * hertz / RATE * t) * np.kaiser(TAPS, 11.0)
    band[TAPS // 2] += 1.0
    return band


FILTERS = {hertz: high_pass(hertz) for hertz in BANDS}


def above(heard, hertz, loudest):
    """Level [dB] of the loudest millisecond above a frequency, relative to a tone of amplitude `loudest`."""
    worst = 1e-30
    for ear in heard.T:
        high = np.convolve(ear.astype(float), FILTERS[hertz], "valid")
        worst = max(worst, np.convolve(high * high, np.ones(48) / 48, "valid").max())
    return 10 * math.log10(2 * worst / loudest**2)


def steepest(heard):
    return float(np.abs(np.diff(heard.astype(float), axis=0)).max())


def assert_no_click(heard, loudest, pace=1.0, crossing=1.0):
    """No step above the tone's own, read at `pace`, and nothing high. A step of 0.002 would be found."""
    assert np.isfinite(heard).all()
    assert np.abs(heard).max() > 0.3 * loudest
    assert steepest(heard) <= 1.02 * crossing * loudest * OWN * pace
    middle = len(heard) // 2
    piece = heard[middle - 400 : middle + 400].copy()
    piece[400:] += 0.002
    for hertz, limit in BANDS.items():
        assert above(heard, hertz, loudest) < limit, hertz
        assert above(piece, hertz, loudest) > limit, hertz


WAYS = [
    (120, "off", "linear"),
    (20, "direct", "linear"),
    (20, "full", "sinc8"),
    (60, "full", "linear"),
    (120, "full", "sinc8"),
]
RATES = pytest.mark.parametrize("rate", [20, 60, 120])
"""Ticks a second."""


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(map(str, way)))
def case(request):
    return request.param


@pytest.fixture
def rate(case):
    return case[0]


@pytest.fixture
def way(case):
    return {"acoustics": case[1], "interpolation": case[2]}


def tones():
    clips = ea.Clips(RATE)
    sine = 0.5 * np.sin(2 * np.pi * TONE * np.arange(RATE) / RATE)
    edge = np.minimum(1.0, np.minimum(np.arange(RATE), np.arange(RATE)[::-1]) / 2400)
    bell = np.sin(np.pi * np.arange(7200) / 7200) ** 2
    clips.add("tone", sine)
    clips.add("turn", sine[:2400])
    clips.add("long", sine * np.sin(np.pi / 2 * edge) ** 2)
    clips.add("shot", sine[:7200] * bell)
    return clips


def sky():
    return ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))


def engine_in(world, **settings):
    return ea.Engine(world, tones(), settings=ea.Settings(**settings))


def record(world, rate, way, scene, seconds=0.5, after=0.1, **settings):
    """What is heard from `after` on while scene(engine, tick) acts ahead of each tick."""
    with engine_in(world, **way, **settings) as engine:
        heard = play(engine, seconds, 1 / rate, lambda e, t: scene(e, round(t * rate)))
    return heard[round(after * RATE) :]


def one(rate, way, act, seconds=0.5, after=0.1, world=None, **options):
    """The same with one tone: act(engine, row, tick)."""
    world = sky() if world is None else world
    row = []

    def scene(engine, tick):
        if not row:
            row.append(engine.spawn("tone", **{"position": (0, 0, -2), "looping": True, **options}))
        act(engine, row[0], tick)

    return record(world, rate, way, scene, seconds, after)


# The detector.


def test_the_detector_finds_a_step_of_one_percent_and_passes_a_fade_of_five_milliseconds():
    sine = np.sin(OWN * np.arange(RATE))[:, None]
    fade = np.clip((np.arange(RATE) - 20_060) / 240, 0, 1)[:, None]
    assert_no_click(0.1 * sine * fade, 0.1)
    assert_no_click(0.1 * sine * (1.0 - fade), 0.1)
    for hertz, limit in BANDS.items():
        assert above(sine, hertz, 1.0) < -110
        for at in range(20_000, 20_240, 7):
            assert above(sine + 0.01 * (np.arange(RATE) >= at)[:, None], hertz, 1.0) > limit + 3


# Voices.


def test_twenty_shots_a_second_of_one_clip_do_not_click(rate, way):
    def shoot(engine, tick):
        if tick * 20 % rate == 0:
            engine.spawn("shot", position=(0, 0, -2), volume=0.5)

    heard = record(sky(), rate, way, shoot)
    assert_no_click(heard, NEAR)  # three overlap, and their levels add up to 3/2 at most


def test_stealing_at_the_voice_limit_does_not_click(rate, way):
    def steal(engine, tick):
        if tick * 20 % rate == 0:
            engine.spawn("long", position=(0, 0, -2), volume=0.5, priority=tick)

    heard = record(sky(), rate, way, steal, 0.8, max_voices=2)
    assert_no_click(heard, NEAR)


def test_stopping_does_not_click(rate, way):
    rows = []

    def stop(engine, tick):
        if tick % 4 == 0:
            rows.append(engine.spawn("long", position=(0, 0, -2)))
        if tick % 4 == 3:
            engine.despawn(rows.pop())

    assert_no_click(record(sky(), rate, way, stop, 0.8, 0.0), NEAR)


def test_stopping_everything_does_not_click(rate, way):
    def stop(engine, tick):
        if tick % 8 == 0:
            for z in (-2, 2):
                engine.spawn("long", position=(0, 0, z), volume=0.5)
        if tick % 8 == 6:
            engine.stop_all()

    world = wall_world((-12, -8), (8, 12))
    assert_no_click(record(world, rate, way, stop, 0.9, 0.0), 1.1 * NEAR)  # echoes add a tenth


@pytest.mark.parametrize("ticks", [1, 3])
def test_pausing_and_going_on_does_not_click(ticks, rate, way):
    def pause(engine, row, tick):
        (engine.pause if tick // ticks % 2 else engine.resume)(row)

    assert_no_click(one(rate, way, pause), NEAR)


@pytest.mark.parametrize("pitch", [1.0, 1.37])
def test_a_loop_goes_on_without_a_step_where_it_begins_again(pitch, rate, way):
    def wrap(engine, tick):
        if tick == 0:
            engine.spawn("turn", position=(0, 0, -2), looping=True, pitch=pitch)

    assert_no_click(record(sky(), rate, way, wrap), NEAR, pitch)


def test_a_stream_that_starves_fades_out_and_in(tmp_path, rate, way):
    path = tmp_path / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
        n = np.arange(4 * RATE)
        sine = 0.5 * np.sin(OWN * n) * np.sin(np.minimum(n / 4800, 1.0) * np.pi / 2) ** 2
        file.writeframes((sine * 32767).round().astype("<i2").tobytes())
    ready, starved = [0], []

    def ration(engine, tick):
        if tick == 0:
            stream = engine._tracks[engine.stream(path, looping=True, volume=0.5)].stream
            assert stream.wait(RATE // 4, 10.0)
            whole = stream.pull

            def pull(out):
                count = whole(out[: ready[0]])
                ready[0] -= count
                return count

            stream.pull = pull
        ready[0] += round(0.6 * RATE / rate)
        starved.append(engine.telemetry.starved_frames)

    heard = record(sky(), rate, way, ration, 1.5, 0.0, stream_patience=0.0)
    silent = np.abs(heard).reshape(-1, 240, 2).max(axis=(1, 2)) == 0.0
    assert max(starved) > 0
    assert np.count_nonzero(np.diff(silent.astype(int)) > 0) >= 2  # it starved, came back, and starved again
    assert_no_click(heard, 0.25)


# Motion.


@pytest.mark.parametrize("who", ["source", "listener"])
@pytest.mark.parametrize("ticks", [1, 3])
def test_teleports_do_not_click(who, ticks, rate, way):
    def jump(engine, row, tick):
        there = 27.3 * (tick // ticks % 2)
        if who == "source":
            engine.sources.position[row] = (0, 0, -2 - there)
        else:
            engine.listener.look(position=(0, 0, there))

    heard = one(rate, way, jump, volume=0.5, reference=100.0, end=5000.0)
    assert_no_click(heard, NEAR, crossing=FADES)


def test_turning_by_360_degrees_a_second_does_not_click(rate, way):
    def turn(engine, _, tick):
        angle = 2 * math.pi * tick / rate
        engine.listener.look(forward=(math.sin(angle), 0, -math.cos(angle)))

    assert_no_click(one(rate, way, turn, 0.8), SIDE)


def test_turning_around_in_one_tick_does_not_click(rate, way):
    def turn(engine, _, tick):
        engine.listener.look(forward=(0, 0, 1 - 2 * (tick % 2)))

    assert_no_click(one(rate, way, turn, position=(2, 0, -0.1)), SIDE)


@pytest.mark.parametrize(("low", "high"), [(0.5, 2.0), (1.05, 1.25), (1.9, 2.5)])
def test_jumps_in_pitch_turn_the_tone_but_do_not_step(low, high, rate, way):
    """A tone that goes on at another pitch has a corner, whose high frequencies are its own."""

    def bend(engine, row, tick):
        engine.sources.pitch[row] = (low, high)[tick // 3 % 2]

    heard = one(rate, way, bend, delay=False)
    # A tick is heard up to two quanta late, and what is missed is made up for until the next.
    overshoot = high + (high - low) * 128 / (RATE / rate)
    assert steepest(heard) <= 1.02 * NEAR * OWN * overshoot
    corner = (overshoot - low) * OWN  # a corner of k a frame has k / sqrt(6 pi) above 12 kHz
    assert above(heard, 12_000, NEAR) < 20 * math.log10(corner * math.sqrt(2 / (6 * math.pi * 48))) + 6.0


def test_a_jump_in_pitch_is_heard_from_its_tick_on_at_the_pitch_it_was_set_to():
    """Not as if it had been set a tick before: then the voice would hurry after what it never missed."""
    speeds = []

    def bend(engine, row, tick):
        engine.sources.pitch[row] = 2.0 if tick >= 4 else 0.5
        speeds.append(float(engine._lanes.speed[engine.sources.voice[row]]) / 2**32 if tick else 0.5)

    one(20, {}, bend, delay=False)
    assert speeds[:5] == pytest.approx([0.5] * 5)
    assert 2.0 <= speeds[5] <= 2.0 + 1.5 * 128 / 2400
    assert speeds[6:] == pytest.approx([2.0] * len(speeds[6:]), rel=0.04)


# Levels.


@pytest.mark.parametrize("what", ["volume", "category"])
def test_jumps_in_volume_do_not_click(what, rate, way):
    def jump(engine, row, tick):
        if what == "volume":
            engine.sources.volume[row] = tick % 2
        else:
            engine.gains["effects"] = tick % 2

    assert_no_click(one(rate, way, jump), NEAR)


def test_a_wall_that_comes_and_goes_every_tick_does_not_click(rate, way):
    world = wall_world((0, 1))

    def flip(engine, _, tick):
        world.fill((0, -20, -20), (1, 21, 21), "stone" if tick % 2 else "air")
        engine.listener.look(position=(1.5, 0.5, 0.5))

    assert_no_click(one(rate, way, flip, 0.6, 0.2, world, position=(-0.5, 0.5, 0.5)), SIDE)


@pytest.mark.parametrize("ticks", [1, 4])
@pytest.mark.parametrize("column", ["acoustics", "delayed"])
def test_columns_that_switch_acoustics_and_delay_do_not_click(column, ticks, rate, way):
    world = wall_world((0, 1))

    def switch(engine, row, tick):
        if tick > 0 and way["acoustics"] != "off":
            engine.sources.storage[column][row.index] = tick // ticks % 2
        engine.listener.look(position=(5.5, 0.5, 0.5))
        if column == "delayed" and tick == 0:
            world.fill((0, -20, -20), (1, 21, 21), "air")

    where = {"position": (-4.5, 0.5, 0.5), "reference": 10.0, "end": 5000.0}
    heard = one(rate, way, switch, 0.6, 0.2, world, volume=0.5, **where)
    assert_no_click(heard, SIDE, crossing=FADES if column == "delayed" else 1.0)


# Rooms.


def hall():
    """A small room of stone, a larger one of wool behind a passage, and the open beyond."""
    world = sky()
    world.fill((-10, -4, -10), (12, 6, 10), "stone")
    world.fill((2, -2, -4), (11, 5, 4), "wool")
    for low, high in (((-5, -1, -3), (1, 3, 3)), ((3, -1, -3), (10, 4, 3)), ((-1, -1, -1), (32, 1, 1))):
        world.fill(low, high, "air")
    return world


@RATES
def test_walking_from_stone_through_wool_into_the_open_does_not_click(rate):
    def walk(engine, row, tick):
        x = -3 + 14 * tick / rate
        engine.listener.look(position=(x, 0.5, 0.5))
        engine.sources.position[row] = (x + 1, 0.5, -0.5)

    heard = one(rate, {"room_time": 0.3}, walk, 1.4, 0.1, hall(), position=(-2, 0, 0), volume=0.35)
    assert_no_click(heard, SIDE)


@RATES
def test_echoes_that_come_and_go_do_not_click(rate):
    world, echoes = wall_world((-12, -8)), []

    def carve(engine, row, tick):
        if tick % (rate // 2) == 0:
            world.fill((-12, -20, -20), (-7, 21, 21), ("stone", "air")[tick // (rate // 2) % 2])
        echoes.append(float(engine.sources.tap_mix_gain[row].max()) > 0.1)

    settings, where = {"reverberation": False, "cache": False}, {"position": (0, 0, -14), "reference": 14.0}
    heard = one(rate, settings, carve, 2.0, 0.1, world, volume=0.5, **where)
    assert np.count_nonzero(np.diff(np.array(echoes).astype(int))) >= 3
    assert_no_click(heard, SIDE)


@RATES
@pytest.mark.parametrize("ticks", [1, 10])
def test_another_world_does_not_click(ticks, rate):
    worlds = wall_world((-12, -8), (8, 12)), hall(), sky()

    def change(engine, _, tick):
        if tick % ticks == 0:
            engine.world = worlds[tick // ticks % 3]
        engine.listener.look(position=(-3, 0.5, 0.5))

    assert_no_click(one(rate, {}, change, 0.8, 0.1, position=(-2, 0.5, -1), volume=0.5), 0.25)
