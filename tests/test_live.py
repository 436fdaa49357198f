"""An engine whose loop renders ahead: what is heard is what would be rendered block by block."""

import gc
import threading

import numpy as np
import pytest
from conftest import RATE, TICK
from lockstep import PREFILL, Device, live, offline

import ecs_audio as ea
from ecs_audio.analysis import clicks
from ecs_audio.components import Lane


def town(clips, **settings):
    """A court with a thick wall in it, and twelve loops around the listener; returns engine and rows."""
    world = ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))
    world.fill((-32, -16, -32), (32, -14, 32), "stone")
    world.fill((-30, -16, -32), (-28, 16, 32), "stone")
    world.fill((4, -16, -10), (6, 8, 10), "stone")
    engine = ea.Engine(world, clips, settings=ea.Settings(**settings), seed=3)
    engine.listener.look(position=(0, 0, 0))
    names = ("low", "noise")
    rows = [
        engine.spawn(names[k % 2], position=(3 + k, 0, k - 4), looping=True, volume=0.3) for k in range(12)
    ]
    return engine, rows


def story(engine, rows):
    """Things that happen before tick k."""

    def before(k):
        t = k * TICK
        engine.sources.position[rows[0]] = (3 + 4 * t, 0, -4 + 6 * t)
        engine.listener.look(position=(t, 0, 0), forward=(np.sin(t), 0, -np.cos(t)))
        if k == 8:
            engine.despawn(rows[3])
            engine.pause(rows[4])
        if k == 10:
            engine.spawn("click", position=(2, 0, 2), volume=0.8)
            engine.sources.pitch[rows[5]] = 1.5
        if k == 20:
            engine.spawn("noise", position=(2, 0, -2))
            engine.resume(rows[4])
        if k == 25:
            engine.despawn(rows[6], ring_out=True)
        if k == 30:
            engine.world.carve((5, 0, 0), radius=3)
            engine.sources.position[rows[7]] = (-25, 0, 9)

    return before


@pytest.fixture
def noisy(clips):
    clips.add("noise", 0.2 * np.random.default_rng(1).normal(size=30_000))
    return clips


@pytest.mark.parametrize("acoustics", ["full", "direct", "off"])
def test_what_is_heard_live_is_what_is_rendered_block_by_block_to_the_bit(noisy, acoustics):
    engine, rows = town(noisy, acoustics=acoustics)
    with engine:
        expected = offline(engine, 60, story(engine, rows))
        states = engine.sources.state[engine.sources.rows(row for row in rows if row.alive)]
    engine, rows = town(noisy, acoustics=acoustics)
    with engine:
        heard, _ = live(engine, 60, story(engine, rows))
        assert np.array_equal(heard[: len(expected)], expected)
        assert engine.live.pace.late_ticks == engine.live.skipped_ticks == 0
        told = engine.sources.state[engine.sources.rows(row for row in rows if row.alive)]
        assert told.tolist() == states.tolist()
    assert np.abs(expected).max() > 0.05


@pytest.mark.parametrize("tick", [1 / 20, 1 / 120, 1 / 144])
def test_the_rate_of_ticks_does_not_matter(noisy, tick):
    engine, _ = town(noisy, acoustics="direct")
    with engine:
        expected = offline(engine, round(0.5 / tick), tick=tick)
    engine, _ = town(noisy, acoustics="direct")
    with engine:
        heard, _ = live(engine, round(0.5 / tick), tick=tick)
        assert np.array_equal(heard[: len(expected)], expected)


def test_an_engine_goes_live_in_the_midst_of_sound_and_comes_back(noisy):
    engine, rows = town(noisy)
    with engine:
        expected = offline(engine, 40, story(engine, rows))
    engine, rows = town(noisy)
    with engine:
        act = story(engine, rows)
        first = offline(engine, 20, act)
        heard, device = live(engine, 20, lambda k: act(20 + k))
        device.rest()
        assert np.array_equal(np.concatenate([first, heard])[: len(expected)], expected)
        engine.leave_live()
        device.rest()
        assert not device.heard[-1:].round(3).any()
        assert engine.sources.voice.max() >= 0
        assert engine.frame == len(first) + len(device.heard)
        after = offline(engine, 20)
        assert not len(clicks(after[480:, 0], RATE))
        assert np.abs(after).max() > 0.05


def tone(clips, **settings):
    world = ea.World.empty(size=(64, 32, 64), origin=(-32, -16, -32))
    engine = ea.Engine(world, clips, settings=ea.Settings(acoustics="direct", **settings))
    return engine, engine.spawn("low", position=(0, 0, -3), looping=True)


def pitch_and_steps(heard):
    """Least and largest frequency of a tone [Hz], and its largest step between two frames."""
    x = heard[:, 0].astype(float)
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    at = up + x[up] / (x[up] - x[up + 1])
    cycles = RATE / np.diff(at)
    return cycles.min(), cycles.max(), np.abs(np.diff(x)).max()


@pytest.mark.parametrize("seed", range(4))
def test_a_host_that_ticks_when_it_comes_to_it_is_heard_without_wavering_or_clicks(clips, seed):
    rng = np.random.default_rng(seed)
    engine, _ = tone(clips)
    with engine:
        device, time, taken = Device(engine), 0.0, 0
        while time < 2.0:  # its ticks come late, or several at once, by its own measure of time
            elapsed = rng.choice([0.002, 0.010, 0.017, 0.030])
            engine.tick(elapsed)
            time += elapsed
            frames = round(time * RATE)
            device.take(frames - taken)
            taken = frames
        heard = device.heard[RATE // 4 :]
    low, high, step = pitch_and_steps(heard)
    assert low == pytest.approx(500, rel=1e-3)
    assert high == pytest.approx(500, rel=1e-3)
    assert step < 1.02 * np.abs(heard).max() * 2 * np.pi * 500 / RATE


@pytest.mark.parametrize("pause", [0.05, 0.4, 3.0])
def test_a_host_that_hangs_is_heard_on_without_a_click_and_comes_back(clips, pause):
    engine, row = tone(clips)
    with engine:
        device = Device(engine)
        for k in range(120):
            engine.sources.position[row] = (0, 0, -3)
            engine.tick(TICK)
            device.take(round((pause if k == 60 else TICK) * RATE))  # and then says no more of it
        click = engine.spawn("click")
        began = len(device.heard)
        for _ in range(12):
            engine.tick(TICK)
            device.take(800)
        heard = device.heard
        assert engine.live.pace.late_ticks == pytest.approx(3, abs=3)
        assert not click.alive
        assert engine.telemetry.voices_playing == 1
    low, high, step = pitch_and_steps(heard[RATE // 4 : began])
    assert low == pytest.approx(500, rel=2e-3)
    assert high == pytest.approx(500, rel=2e-3)
    assert step < 1.02 * np.abs(heard[:began]).max() * 2 * np.pi * 500 / RATE
    # The ring and the slack, and what ticks that are not moved yet lag.
    loud = began + np.abs(heard[began:, 0]).argmax()
    assert loud - began < PREFILL + 0.1 * RATE + 2 * 800


def test_a_host_in_slow_motion_or_fast_forward_does_not_fall_behind_or_run_away(clips):
    for speed in (0.5, 2.0):
        engine, _ = tone(clips)
        with engine:
            device = Device(engine)
            for _ in range(240):
                engine.tick(speed * TICK)
                device.take(800)
            assert abs(engine.live.pace.lead) < 0.2 * RATE
            low, high, _ = pitch_and_steps(device.heard[RATE:])
            assert (low, high) == pytest.approx((500, 500), rel=5e-3)


def test_clips_added_while_it_plays_are_heard_and_none_moves_under_the_loop(clips):
    engine, _ = tone(clips)
    with engine:
        device = Device(engine)
        for k in range(40):
            if k == 20:  # the bank is replaced by a larger one
                clips.add("long", 0.1 * np.random.default_rng(0).normal(size=20 * RATE))
                gc.collect()
                engine.spawn("long", volume=0.5)
            engine.tick(TICK)
            device.take(800)
        heard = device.heard
    early, late = heard[8000:16_000, 0], heard[20 * 800 + 400 : 30 * 800, 0]
    assert np.std(late) > 1.1 * np.std(early)
    assert not len(clicks(early, RATE))


def test_what_ended_is_given_back_and_what_found_no_voice_is_told(clips):
    engine, row = tone(clips, max_voices=2)
    with engine:
        device = Device(engine)
        other = engine.spawn("low", position=(0, 0, -2), looping=True)
        refused = engine.spawn("ramp", position=(0, 0, -2))
        for _ in range(6):
            engine.tick(TICK)
            device.take(800)
        assert not refused.alive
        assert engine.telemetry.voices_refused == 1
        stealing = engine.spawn("ramp", position=(0, 0, -2), priority=5)
        for _ in range(6):
            engine.tick(TICK)
            device.take(800)
        assert not stealing.alive
        states = sorted(ea.State(engine.sources.state[r]).name for r in (row, other))
        assert states in (["PLAYING", "PLAYING"], ["PLAYING", "VIRTUAL"])
        engine.despawn(row)
        engine.despawn(other)
        for _ in range(6):
            engine.tick(TICK)
            device.take(800)
        assert (engine.voices.lane == Lane.FREE).all()


def test_stop_all_and_another_world_are_silent_soon_and_reset_begins_anew(noisy):
    engine, _ = town(noisy)
    with engine:
        device = Device(engine)
        for _ in range(30):
            engine.tick(TICK)
            device.take(800)
        engine.stop_all()
        for _ in range(10):
            engine.tick(TICK)
            device.take(800)
        heard = device.heard
        assert heard[28 * 800 : 29 * 800].any()
        assert not heard[30 * 800 + round(0.022 * RATE) :].any()
        engine.reset()
        assert engine.time == 0.0
        assert not engine.sources.count
        row = engine.spawn("low", looping=True)
        before = len(device.heard)
        for _ in range(10):
            engine.tick(TICK)
            device.take(800)
        assert row.alive
        assert device.heard[before + PREFILL :].any()
    assert not [t.name for t in threading.enumerate() if t.name == "ecs_audio render"]


def test_a_stream_plays_seeks_and_pauses_live(clips, tmp_path):
    t = np.arange(4 * RATE) / RATE
    ea.write_wav(tmp_path / "song.wav", (0.3 * np.sin(2 * np.pi * 500 * t)).astype(np.float32))
    world = ea.World.empty(size=(16, 16, 16))
    with ea.Engine(world, clips, settings=ea.Settings(stream_patience=2.0)) as engine:
        song = engine.stream(tmp_path / "song.wav")
        device = Device(engine)

        def go(ticks):
            start = len(device.heard) if len(device.blocks) > 12 else 0
            for _ in range(ticks):
                engine.tick(TICK)
                device.take(800)
            return device.heard[start + PREFILL :]

        assert np.std(go(40)[:, 0]) > 0.1
        engine.seek(song, 2.0)
        after = go(40)
        assert np.std(after[4000:, 0]) > 0.1
        assert np.abs(np.diff(after[:, 0])).max() < 0.05
        engine.pause(song)
        assert not go(20)[2000:].any()
        engine.resume(song)
        assert np.std(go(20)[:, 0]) > 0.1
        go(240)
        assert not song.alive


def test_more_ticks_than_the_queue_holds_are_counted_and_their_jumps_are_not_lost(clips):
    engine, row = tone(clips)
    with engine:
        device = Device(engine)
        for _ in range(20):
            engine.tick(TICK)
            device.take(800)
        for k in range(14):  # at once, the device takes nothing meanwhile
            engine.sources.position[row] = (0, 0, -3) if k != 10 else (0, 0, -40)
            engine.tick(0.001)
        engine.sources.position[row] = (0, 0, -40)
        assert engine.live.skipped_ticks > 0
        for _ in range(30):
            engine.sources.position[row] = (0, 0, -40)
            engine.tick(TICK)
            device.take(800)
        low, high, _ = pitch_and_steps(device.heard[-8000:])
        assert (low, high) == pytest.approx((500, 500), rel=2e-3)


def test_a_live_tick_takes_no_memory(noisy):
    import tracemalloc

    engine, _ = town(noisy)
    with engine:
        device = Device(engine)
        for _ in range(40):
            engine.tick(TICK)
            device.take(800)
        grown = []
        for _ in range(20):
            tracemalloc.start()
            start = tracemalloc.get_traced_memory()[0]
            engine.tick(TICK)
            grown.append(tracemalloc.get_traced_memory()[1] - start)
            domain = [
                trace
                for trace in tracemalloc.take_snapshot().traces
                if trace.domain == np.lib.tracemalloc_domain
            ]
            tracemalloc.stop()
            assert sum(trace.size for trace in domain) < 1024
            device.take(800)


def test_a_live_engine_renders_no_blocks_and_has_one_loop(clips):
    engine, _ = tone(clips)
    with engine:
        device = Device(engine)
        with pytest.raises(RuntimeError, match="close them to render"):
            engine.render(64)
        with pytest.raises(RuntimeError, match="live already"):
            Device(engine)
        device.take(800)
        engine.leave_live()
        engine.leave_live()
        engine.render(64)


def test_fewer_voices_than_sound_are_enforced_from_the_weakest_on(clips):
    engine, _ = tone(clips, max_voices=64)
    with engine:
        rows = [engine.spawn("low", position=(0, 0, -2), looping=True, priority=k) for k in range(40)]
        device = Device(engine)
        for k in range(60):
            if k == 20:
                for _ in range(20):  # overloaded for long
                    engine._governor.note(1.0, 2.0, 0.0, 0)
            if k >= 20:
                engine._governor._since_step = 0.0
            engine.tick(TICK)
            device.take(800)
        assert engine.telemetry.quality == engine._governor.last_step
        assert "voices 16 of 64" in engine.telemetry.held_back
        assert engine.telemetry.voices_playing == 16
        playing = {k for k, row in enumerate(rows) if engine.sources.state[row] == ea.State.PLAYING}
        assert playing == set(range(24, 40))
        assert not len(clicks(device.heard[10 * 800 :, 0], RATE))
