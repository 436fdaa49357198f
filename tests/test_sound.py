"""What comes out, measured in the rendered sound: levels, delays, pitch, direction."""

import math

import naive
import numpy as np
import pytest
from conftest import FRAMES, RATE, TICK, play, wall_world

import ecs_audio as ea
from ecs_audio.analysis import delay_between, frequency, level_db, tone_level_db

SOURCE, LISTENER = (-4.5, 0.5, 0.5), (5.5, 0.5, 0.5)


def tone_behind(walls, clip, frequency, clips, **settings):
    """Level [dB] at the left ear of a tone 10 m away, once everything has settled."""
    with ea.Engine(wall_world(*walls), clips, settings=ea.Settings(**settings)) as engine:
        engine.listener.look(position=LISTENER)
        engine.spawn(clip, position=SOURCE, looping=True)
        heard = play(engine, 1.0)
    return tone_level_db(heard[RATE // 2 :, 0], frequency, RATE)


@pytest.mark.parametrize(
    ("blocks", "clip", "hertz", "expected"),
    [(1, "high", 8000, -37.4), (2, "high", 8000, -66.2), (1, "low", 500, -2.8), (2, "low", 500, -17.5)],
)
def test_tones_behind_blocks_lose_what_the_table_says(blocks, clip, hertz, expected, clips):
    with_wall = tone_behind([(0, blocks)], clip, hertz, clips)
    without = tone_behind([], clip, hertz, clips)
    assert with_wall - without == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("law", ["inverse", "linear", "exponential", "soft_inverse"])
def test_distance_gain_follows_its_law(law, clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        rows = [
            engine.spawn("tone", position=(d, 0, 0), reference=2.0, end=300.0, fade_start=50.0, law=law)
            for d in (0.0, 0.5, 2.0, 10.0, 49.0, 51.0, 200.0, 299.9, 300.0, 400.0)
        ]
        engine.tick(TICK)
        for row in rows:
            d = float(engine.sources.distance[row])
            assert engine.sources.loudness[row] == pytest.approx(
                naive.distance_gain(d, 2.0, 300.0, 50.0, law), rel=1e-12
            )


def test_the_inverse_law_has_its_check_values(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        rows = [engine.spawn("tone", position=(d, 0, 0), end=16.0) for d in (2.0, 8.0, 15.9999)]
        engine.tick(TICK)
        assert engine.sources.loudness[engine.sources.rows(rows)] == pytest.approx(
            [0.49362962962962964, 0.06874074, 8.33335e-12], rel=1e-5
        )


def test_each_doubling_of_distance_costs_six_decibels(clips, open_world):
    levels = []
    for d in 2.0 ** np.arange(9):
        with ea.Engine(open_world, clips, settings=ea.Settings(air=False)) as engine:
            engine.spawn("tone", position=(0, 0, -d), looping=True, fade_start=400.0)
            heard = play(engine, 1.0 + d / 343)
        levels.append(level_db(heard[-24_000:, 0]))
    assert -np.diff(levels) == pytest.approx([6.0206] * 8, abs=0.02)


@pytest.mark.parametrize("d", [0.5, 1.0, 3.43, 10.0, 34.3, 100.0, 300.0, 500.0])
def test_a_click_arrives_after_its_distance_over_the_speed_of_sound(d, clips, open_world):
    dry = ea.Settings(air=False)  # muffling rounds a click, and puts its peak some samples later
    with ea.Engine(open_world, clips, settings=dry) as engine:
        engine.spawn("click", position=(0, 0, -d), volume=20.0, fade_start=505.0)
        heard = play(engine, 0.1 + d / 343)
    peak = int(np.argmax(np.abs(heard[:, 0])))
    assert abs(peak - d / 343 * RATE) <= 1


def test_a_source_without_delay_is_heard_at_once(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("click", position=(0, 0, -100), volume=20, delay=False)
        assert np.argmax(np.abs(play(engine, 0.1)[:, 0])) == 0


def test_a_clip_starts_at_the_very_frame_it_was_told(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("click", start_frame=1234)
        engine.spawn("click", start_frame=100)
        assert np.flatnonzero(np.abs(play(engine, 0.1)[:, 0]) > 0.4).tolist() == [100, 1234]


@pytest.mark.parametrize("rate", [20.0, 60.0, 120.0])
@pytest.mark.parametrize("speed", [-200.0, -50.0, 10.0, 50.0, 200.0])
def test_a_moving_source_shifts_by_c_over_c_minus_v(speed, rate, clips, open_world):
    start = 450.0 if speed > 0 else 30.0
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("tone", position=(0, 0, -start), looping=True, reference=500.0, end=5000.0)

        def move(engine, time):
            engine.sources.position[row] = (0, 0, -start + speed * time)

        heard = play(engine, 2.0, 1 / rate, move)
    heard = heard[int(1.5 * RATE) : int(1.9 * RATE), 0]
    assert frequency(heard, RATE) / 1000 == pytest.approx(343 / (343 - speed), rel=2e-3)


@pytest.mark.parametrize("speed", [-100.0, 10.0, 50.0])
def test_a_moving_listener_shifts_by_c_plus_v_over_c(speed, clips, open_world):
    start = 250.0
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("tone", position=(0, 0, -start), looping=True, reference=500.0, end=5000.0)
        heard = play(engine, 2.0, TICK, lambda e, time: e.listener.look(position=(0, 0, -speed * time)))
    assert frequency(heard[int(1.3 * RATE) : int(1.7 * RATE), 0], RATE) / 1000 == pytest.approx(
        (343 + speed) / 343, rel=2e-3
    )


def sidebands(heard, tick):
    """Strongest line [dB] within three tick rates of the tone, relative to it."""
    window = np.kaiser(len(heard), 14)
    spectrum = np.abs(np.fft.rfft(heard * window))
    hertz = np.fft.rfftfreq(len(heard), 1 / RATE)
    carrier = np.argmax(spectrum)
    away = np.abs(hertz - hertz[carrier])
    return 20 * math.log10(spectrum[(away > tick * 0.7) & (away < tick * 3.5)].max() / spectrum[carrier])


@pytest.mark.parametrize("speed", [50.0, 200.0])
def test_motion_at_twenty_ticks_a_second_makes_no_sidebands(speed, clips, open_world):
    with ea.Engine(open_world, clips, settings=ea.Settings(air=False)) as engine:
        row = engine.spawn("tone", position=(0, 0, -450), looping=True, reference=500.0, end=5000.0)
        heard = play(
            engine, 2.2, 1 / 20, lambda e, t: e.sources.position.__setitem__(row, (0, 0, -450 + speed * t))
        )
    assert sidebands(heard[int(1.5 * RATE) : int(2.0 * RATE), 0], 20) < -60


def test_the_emission_is_the_latest_that_arrives(clips, open_world):
    """Against a dense search over a curved path; the engine knows it only at its ticks."""

    def path(frame):
        t = frame / RATE
        return (60 * math.cos(t), 5.0, -80 + 40 * math.sin(1.3 * t))

    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("tone", position=path(0), looping=True)
        for k in range(120):
            engine.sources.position[row] = path(k * FRAMES)
            engine.tick(TICK)
        now = 119 * FRAMES
        expected = naive.emission_frame(path, (0, 0, 0), now, 343 / RATE, step=0.5)
        assert engine.sources.emission[row] == pytest.approx(expected, abs=3)
        assert engine.sources.heard_position[row] == pytest.approx(path(expected), abs=0.01)


def test_a_supersonic_source_is_silent_and_then_heard_from_its_closest_arrival(clips, open_world):
    mach, side = 1.2 * 343, 30.0
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("tone", position=(-800, 0, side), looping=True, reference=300.0, end=5000.0)
        heard = play(
            engine, 3.5, TICK, lambda e, t: e.sources.position.__setitem__(row, (-800 + mach * t, 0, side))
        )
    t = np.linspace(0, 4, 400_001)
    arrival = (t + np.hypot(-800 + mach * t, side) / 343).min()
    first = np.flatnonzero(np.abs(heard[:, 0]) > 1e-4)[0] / RATE
    assert first == pytest.approx(arrival, abs=2.5 * TICK)


def test_power_is_the_same_all_around(clips, open_world):
    powers = []
    for degrees in range(0, 360, 15):
        a = math.radians(degrees)
        with ea.Engine(open_world, clips, settings=ea.Settings(air=False)) as engine:
            engine.spawn("low", position=(5 * math.sin(a), 0, -5 * math.cos(a)), looping=True)
            heard = play(engine, 0.3)[-9600:]
        powers.append(10 * math.log10(float((heard.astype(float) ** 2).sum(axis=1).mean())))
    assert max(powers) - min(powers) < 0.2
    assert max(abs(p - np.mean(powers)) for p in powers) <= 0.1


@pytest.mark.parametrize(("x", "louder"), [(-5, 0), (5, 1)])
@pytest.mark.parametrize("z", [-1, 0, 1])
def test_sides_are_not_swapped_in_front_or_behind(x, louder, z, clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("tone", position=(x, 0, z), looping=True)
        levels = [level_db(ear) for ear in play(engine, 0.2)[-4800:].T]
    assert levels[louder] > levels[1 - louder] + 6


def test_a_source_passing_through_the_head_makes_no_step(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("low", position=(-2, 0, 0), looping=True)
        heard = play(engine, 1.0, TICK, lambda e, t: e.sources.position.__setitem__(row, (-2 + 4 * t, 0, 0)))
    clip_step = 0.5 * 2 * math.pi * 500 / RATE
    assert np.isfinite(heard).all()
    assert np.abs(np.diff(heard, axis=0)).max() < 1.1 * clip_step


def test_odd_orientations_and_fast_turns_stay_finite_and_steady(clips, open_world):
    odd = [((0, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 1, 0)), ((0, 0, -1), (0, 0, 0)), ((0, -1, 0), (0, 1, 0))]
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("low", position=(3, 0, -3), looping=True)
        engine.spawn("low", position=(0, 0, 0), looping=True)

        def turn(engine, time):
            forward, up = (
                odd[int(time * 60) % 4]
                if time > 0.5
                else ((math.sin(6.28 * time), 0, -math.cos(6.28 * time)), (0, 1, 0))
            )
            engine.listener.look(forward=forward, up=up)

        heard = play(engine, 1.0, TICK, turn)
    assert np.isfinite(heard).all()
    assert np.abs(np.diff(heard[: RATE // 2], axis=0)).max() < 0.1


def test_a_walls_fall_is_eased_without_a_click(clips):
    world = wall_world((0, 1))
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=LISTENER)
        engine.spawn("low", position=SOURCE, looping=True)

        def flip(engine, time):
            world.fill((0, -20, -20), (1, 21, 21), "stone" if int(time * 60) % 2 else "air")

        heard = play(engine, 1.0, TICK, flip)[RATE // 4 :]
    clip_step = 0.05 * 2 * math.pi * 500 / RATE
    assert np.abs(np.diff(heard, axis=0)).max() < 1.05 * clip_step


def test_a_teleport_is_neither_a_chirp_nor_a_click(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        row = engine.spawn("low", position=(0, 0, -5), looping=True, reference=100.0, end=5000.0)

        def jump(engine, time):
            engine.sources.position[row] = (0, 0, -5) if int(time * 5) % 2 == 0 else (0, 0, -90)

        heard = play(engine, 2.0, TICK, jump)[:, 0]
    clip_step = 0.5 * math.sqrt(0.5) * 2 * math.pi * 500 / RATE
    assert np.abs(np.diff(heard)).max() < 1.1 * clip_step
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard))))
    hertz = np.fft.rfftfreq(len(heard), 1 / RATE)
    assert spectrum[hertz > 1500].max() < 1e-3 * spectrum.max()


def test_delay_between_the_doppler_ramps_is_exact_for_a_resting_source(clips, open_world):
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("ramp", position=(0, 0, -34.3))
        heard = play(engine, 0.3)[:, 0]
    start = clips.offset[clips.id("ramp")]
    reference = clips.bank[start : start + 480]
    assert delay_between(heard, reference) == pytest.approx(4800, abs=1)


def test_a_muffled_sound_fades_to_nothing_without_a_step_when_it_is_despawned(clips):
    clips.add("deep", 0.2 * np.sin(2 * np.pi * 100 / RATE * np.arange(RATE)))
    with ea.Engine(wall_world((0, 2)), clips) as engine:
        engine.listener.look(position=(3.5, 0.5, 0.5))
        row = engine.spawn("deep", position=(-1.5, 0.5, 0.5), looping=True, reference=4.0)
        before = play(engine, 0.5)[-4800:, 0]
        engine.despawn(row)
        engine.tick(TICK)
        after = engine.render(FRAMES)[:, 0].copy()
    assert np.abs(before).max() > 0.01
    assert not after[400:].any()
    together = np.concatenate([before, after])
    assert np.abs(np.diff(together)).max() < 1.3 * np.abs(np.diff(before)).max()


def test_flat_music_plays_on_to_the_bit_when_the_listener_teleports(clips, open_world):
    def music(teleports):
        with ea.Engine(open_world, clips) as engine:
            engine.spawn("low", looping=True, category="music")
            return play(
                engine,
                0.5,
                TICK,
                lambda e, t: e.listener.look(position=(90 * (int(t * 5) % 2) * teleports, 0, 0)),
            )

    assert music(1).tobytes() == music(0).tobytes()
