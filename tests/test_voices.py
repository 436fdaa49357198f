"""Who gets a voice: priorities, refusal, and loops that wait in silence and come back in phase."""

import heapq
import itertools

import numpy as np
import pytest
from conftest import FRAMES, RATE, TICK, play

import ecs_audio as ea
from ecs_audio.analysis import tone_level_db
from ecs_audio.components import Lane

FADE = 240
"""5 ms."""
STATES = ea.State


@pytest.fixture
def clips(clips):
    """Constants show every gain and fade by themselves."""
    clips.add("one", np.full(RATE, 0.5))
    clips.add("short", np.full(300, 0.5))
    clips.add("long", np.full(40 * RATE, 0.01))
    clips.add("saw", np.arange(RATE) / RATE)
    return clips


@pytest.fixture
def pool(clips, open_world):
    """A function that makes an engine with so many voices, acoustics off unless it is told."""
    with_voices = []

    def make(voices, **settings):
        wanted = ea.Settings(**{"acoustics": "off", "max_voices": voices, **settings})
        with_voices.append(ea.Engine(open_world, clips, settings=wanted))
        return with_voices[-1]

    yield make
    for engine in with_voices:
        engine.close()


def step(engine):
    """One tick, and the frames until the next."""
    engine.tick(TICK)
    return engine.render(FRAMES).copy()


def states(engine, rows):
    return [STATES(int(engine.sources.state[row])).name if row.alive else "GONE" for row in rows]


def lanes(engine, kind):
    return int((engine.voices.lane[: engine.voices.echoes] == kind).sum())


# Priority alone takes a voice.


def test_of_two_voices_the_lower_one_goes_to_nine_and_one_is_refused(pool):
    engine = pool(2)
    rows = []
    for priority in (5, 2, 9, 1):
        rows.append(engine.spawn("one", priority=priority))
        engine.tick(TICK)
        if priority == 2:
            lane = engine.sources.voice[rows[1]]
            assert {int(engine.sources.voice[row]) for row in rows} == {0, 1}
        engine.render(FRAMES)
    assert states(engine, rows) == ["PLAYING", "GONE", "PLAYING", "REFUSED"]
    assert engine.voices.priority[engine.voices.lane == Lane.PLAYING].tolist() == [5, 9]
    assert engine.sources.voice[rows[0]] != lane
    step(engine)
    assert (engine.telemetry.voices_stolen, engine.telemetry.voices_refused) == (1, 1)
    assert not rows[3].alive


@pytest.mark.parametrize("volume", [1.0, 1e6])
def test_a_fourth_equal_is_refused_however_loud_and_a_higher_one_takes_the_oldest(volume, pool):
    engine = pool(3)
    rows = [engine.spawn("one", priority=3, volume=1e-3) for _ in range(3)]
    step(engine)
    fourth = engine.spawn("one", priority=3, volume=volume)
    engine.tick(TICK)
    assert states(engine, [*rows, fourth]) == ["PLAYING"] * 3 + ["REFUSED"]
    engine.render(FRAMES)
    above = engine.spawn("one", priority=4, volume=1e-3)
    engine.tick(TICK)
    assert states(engine, [*rows, above]) == ["STOLEN", "PLAYING", "PLAYING", "PLAYING"]


def test_rapid_footsteps_never_cut_one_another(pool):
    engine = pool(4)
    steps = []
    for _ in range(12):
        steps.append(engine.spawn("one", priority=1))
        step(engine)
    assert states(engine, steps[:4]) == ["PLAYING"] * 4
    assert engine.telemetry.voices_stolen == 0
    assert engine.telemetry.voices_refused == 7  # the last one is counted by the next tick


def test_a_loop_that_is_refused_or_stolen_from_is_virtual(pool):
    engine = pool(1)
    loop = engine.spawn("one", looping=True, priority=1)
    step(engine)
    equal, shot = engine.spawn("one", looping=True, priority=1), engine.spawn("one", priority=2)
    engine.tick(TICK)
    assert states(engine, [loop, equal, shot]) == ["VIRTUAL", "VIRTUAL", "PLAYING"]
    assert (engine.telemetry.voices_playing, engine.telemetry.voices_virtual) == (1, 2)


def twin(requests, voices):
    """Who plays after requests (priority, looping) one after the other: by the rule alone."""
    states, playing = [], []
    for priority, looping in requests:
        me, victim = len(states), min(playing, default=None)
        states.append("PLAYING")
        if len(playing) < voices or priority > victim[0]:
            if len(playing) == voices:
                playing.remove(victim)
                states[victim[1]] = "VIRTUAL" if requests[victim[1]][1] else "STOLEN"
            playing.append((priority, me))
        else:
            states[me] = "VIRTUAL" if looping else "REFUSED"
    return states


@pytest.mark.parametrize("seed", [0, 1])
def test_four_hundred_requests_on_sixty_four_voices_follow_the_rule(seed, pool):
    rng = np.random.default_rng(seed)
    requests = [
        (int(p), bool(q)) for p, q in zip(rng.integers(-3, 6, 400), rng.random(400) < 0.3, strict=True)
    ]
    engine, rows, became = pool(64), [], {}
    for priority, looping in requests:
        volume = rng.uniform(0.85, 1.15)  # less than 3 dB, by which loops would be exchanged
        rows.append(engine.spawn("long", priority=priority, looping=looping, volume=volume))
        engine.tick(TICK)
        for k, row in enumerate(rows):
            if row.alive:
                became[k] = STATES(int(engine.sources.state[row])).name
        assert lanes(engine, Lane.PLAYING) <= 64
        engine.render(FRAMES)
    expected = twin(requests, 64)
    assert [became[k] for k in range(400)] == expected
    assert set(expected) == {"PLAYING", "VIRTUAL", "STOLEN", "REFUSED"}


@pytest.mark.parametrize("seed", [0, 1])
def test_of_four_hundred_requests_at_once_the_highest_sixty_four_play(seed, pool):
    priorities = np.random.default_rng(seed).integers(-20, 20, 400).tolist()
    engine = pool(64)
    for priority in priorities:
        engine.spawn("long", priority=priority)
    for _ in range(5):
        step(engine)
        assert lanes(engine, Lane.PLAYING) <= 64
    playing = engine.voices.priority[engine.voices.lane == Lane.PLAYING].tolist()
    assert sorted(playing, reverse=True) == heapq.nlargest(64, priorities)
    assert engine.sources.count == 64
    assert engine.telemetry.voices_refused + engine.telemetry.voices_stolen == 400 - 64


def test_a_thousand_virtual_beside_a_hundred_and_twenty_eight_that_sound(pool):
    engine = pool(128, max_sources=1200)
    rows = [engine.spawn("long", looping=True) for _ in range(1128)]
    for _ in range(3):
        step(engine)
    assert (engine.telemetry.voices_playing, engine.telemetry.voices_virtual) == (128, 1000)
    assert states(engine, rows) == ["PLAYING"] * 128 + ["VIRTUAL"] * 1000
    assert np.ptp(engine.sources.clock) == 0.0


def test_no_more_sound_than_there_are_voices_when_others_end_at_the_same_time(pool):
    engine = pool(2)
    engine.spawn("short")
    engine.spawn("short")
    step(engine)
    more = [engine.spawn("one") for _ in range(5)]
    engine.tick(TICK)
    assert lanes(engine, Lane.PLAYING) == 2
    assert sorted(states(engine, more)) == ["PLAYING"] * 2 + ["REFUSED"] * 3


def test_a_lane_whose_clip_is_over_is_free_again_when_its_row_is_despawned_first(pool):
    engine = pool(2)
    for _ in range(60):  # more than there are lanes
        row = engine.spawn("short", volume=0.1)
        step(engine)
        engine.despawn(row)
    assert lanes(engine, Lane.FREE) == engine.voices.echoes
    engine.spawn("one")
    assert step(engine).max() == 0.5


def test_stop_all_frees_the_lanes_of_what_is_over(pool, clips):
    clips.add("both", np.array([[0.5, 0.1]] * 300))
    engine = pool(2)
    for _ in range(60):
        engine.spawn("both")
        step(engine)
        engine.stop_all()
    step(engine)
    assert not engine.voices.lane.any()


# Attack and release.


def test_four_frames_of_attack_give_a_quarter_a_half_three_quarters_and_one(open_world):
    clips = ea.Clips(800)  # 5 ms are 4 frames
    clips.add("one", np.full(800, 0.5))
    with ea.Engine(open_world, clips, settings=ea.Settings(acoustics="off", max_voices=1)) as engine:
        first, _ = (engine.spawn("one", looping=True) for _ in range(2))
        engine.tick(0.16)
        assert (engine.render(128) == 0.5).all()
        engine.sources.volume[1] = 0.25
        engine.despawn(first)
        engine.tick(0.16)
        heard = engine.render(128)[:, 0]
        down, up = np.array([0.75, 0.5, 0.25, 0.0]), np.array([0.25, 0.5, 0.75, 1.0])
        at = np.flatnonzero(heard != 0.5)[0]
        assert heard[at : at + 4].tolist() == (0.5 * down + 0.125 * up).tolist()
        assert (heard[at + 4 :] == 0.125).all()


def test_the_victim_is_heard_falling_while_the_newcomer_is_there_from_its_first_frame(pool):
    engine = pool(1)
    engine.spawn("tone")
    step(engine)
    engine.spawn("high", priority=1)
    start = -(-(FRAMES + 64) // 64) * 64  # the first quantum that is not mixed yet
    x = play_on(engine, 2)[start - FRAMES :, 0]
    t = np.arange(FADE)
    victim = 0.5 * np.sin(2 * np.pi * 1000 * (start + t) / RATE) * (1 - (t + 1) / FADE)
    newcomer = 0.5 * np.sin(2 * np.pi * 8000 * t / RATE)
    assert x[:FADE] == pytest.approx(victim + newcomer, abs=2e-6)
    assert tone_level_db(x[FADE : FADE + 480], 1000, RATE) < -100


def play_on(engine, ticks):
    return np.concatenate([step(engine) for _ in range(ticks)])


# Virtual voices keep their place.


def against_twin(pool, spawn, seconds, hide, show):
    """What an engine in which a source is hidden from one time to another renders, and one in which not."""
    heard = []
    for hiding in (True, False):
        engine = pool(1)
        row = spawn(engine)

        def change(engine, time, row=row, hiding=hiding):
            if hiding and round(time, 6) == hide:
                engine.sources.volume[row] = 0.0
            if hiding and round(time, 6) == show:
                assert states(engine, [row]) == ["VIRTUAL"]
                engine.sources.volume[row] = 1.0

        heard.append(play(engine, seconds, TICK, change)[:, 0])
    return heard


@pytest.mark.parametrize("pitch", [1.0, 0.37, 1.7, 5.3])
def test_a_virtual_loop_comes_back_at_the_sample_it_would_have_reached(pitch, pool):
    hidden, never = against_twin(
        pool, lambda e: e.spawn("tone", looping=True, pitch=pitch), 2.0, round(0.25, 6), round(1.25, 6)
    )
    back = int(1.25 * RATE)
    assert not hidden[back - 4800 : back].any()
    assert hidden[back + 128 + FADE :] == pytest.approx(never[back + 128 + FADE :], abs=2e-6)
    rising = hidden[back : back + 128 + FADE]
    assert (np.abs(rising) <= np.abs(never[back : back + 128 + FADE]) + 1e-6).all()


def test_a_loop_that_was_crowded_out_goes_on_where_it_would_be_and_never_restarts(pool):
    engine = pool(1)
    loop = engine.spawn("saw", looping=True)
    play_on(engine, 30)
    shot = engine.spawn("long", priority=1)
    play_on(engine, 100)
    assert states(engine, [loop, shot]) == ["VIRTUAL", "PLAYING"]
    engine.despawn(shot)
    engine.tick(TICK)
    start = engine.frame
    heard = engine.render(FRAMES)[128 + FADE :, 0]
    expected = (np.arange(start + 128 + FADE, start + FRAMES) % RATE) / RATE
    assert heard == pytest.approx(expected, abs=1e-6)


def test_a_one_shot_nobody_heard_ends_when_it_would_have(pool):
    engine = pool(1)
    shot = engine.spawn("one", volume=0.0)
    lived = 0
    while shot.alive:
        step(engine)
        lived += 1
    assert lived == 61 + 1  # a second, and the tick that finds it
    assert engine.sources.count == 0


# What is inaudible.


def level_until(engine, row, volume, ticks):
    """States at each tick of a source with a volume."""
    engine.sources.volume[row] = volume
    found = []
    for _ in range(ticks):
        step(engine)
        found.append(int(engine.sources.state[row]))
    return found


def test_half_a_second_below_minus_a_hundred_decibels_makes_virtual_and_six_above_come_back(pool):
    engine = pool(4, acoustics="direct", air=False)
    row = engine.spawn("one", looping=True, delay=False)
    step(engine)
    assert set(level_until(engine, row, 1.001e-5, 60)) == {STATES.PLAYING}
    found = level_until(engine, row, 0.999e-5, 40)
    assert found.index(STATES.VIRTUAL) in (30, 31)  # more than half a second
    assert set(level_until(engine, row, 1.999e-5, 60)) == {STATES.VIRTUAL}
    assert level_until(engine, row, 2.001e-5, 1) == [STATES.PLAYING]


def test_less_than_half_a_second_of_silence_keeps_the_voice(pool):
    engine = pool(1, acoustics="direct")
    row = engine.spawn("one", looping=True)
    step(engine)
    for _ in range(4):
        level_until(engine, row, 0.0, 28)
        assert set(level_until(engine, row, 1.0, 2)) == {STATES.PLAYING}


def test_with_acoustics_off_only_exact_silence_is_inaudible(pool):
    engine = pool(1)
    row = engine.spawn("one", looping=True)
    step(engine)
    assert set(level_until(engine, row, 1e-30, 60)) == {STATES.PLAYING}
    assert level_until(engine, row, 0.0, 60)[-1] == STATES.VIRTUAL
    assert level_until(engine, row, 1e-30, 1) == [STATES.PLAYING]


@pytest.mark.parametrize("acoustics", ["off", "direct"])
def test_a_muted_category_costs_no_voice_and_comes_back(acoustics, pool):
    engine = pool(1, acoustics=acoustics)
    music = engine.spawn("one", looping=True, category="music")
    other = engine.spawn("one", looping=True, volume=0.5)
    step(engine)
    engine.gains["music"] = 0.0
    play_on(engine, 40)
    assert states(engine, [music, other]) == ["VIRTUAL", "PLAYING"]
    engine.despawn(other)
    engine.gains["music"] = 0.8
    play_on(engine, 3)
    assert step(engine)[-1, 0] == pytest.approx(0.4, abs=1e-7)


# Exchange of loops.


@pytest.mark.parametrize(
    ("decibels", "seconds", "swapped"), [(3.01, 0.6, True), (2.99, 2.0, False), (20.0, 0.45, False)]
)
def test_loops_of_equal_priority_are_exchanged_for_three_decibels_and_half_a_second(
    decibels, seconds, swapped, pool
):
    engine = pool(1)
    first, second = (engine.spawn("one", looping=True, volume=0.1) for _ in range(2))
    play_on(engine, 10)
    engine.sources.volume[second] = 0.1 * 10 ** (decibels / 20)
    play_on(engine, round(seconds / TICK))
    engine.sources.volume[second] = 0.1
    play_on(engine, 2)
    assert states(engine, [first, second]) == (["VIRTUAL", "PLAYING"] if swapped else ["PLAYING", "VIRTUAL"])


@pytest.mark.parametrize(("looping", "priority"), [(False, 0), (True, 1)])
def test_neither_a_one_shot_nor_a_higher_priority_is_exchanged_for_being_quiet(looping, priority, pool):
    engine = pool(1)
    quiet = engine.spawn("long", looping=looping, priority=priority, volume=0.01)
    engine.spawn("one", looping=True)
    play_on(engine, 60)
    assert states(engine, [quiet]) == ["PLAYING"]


def test_the_quietest_is_exchanged_first_and_one_at_a_time(pool):
    engine = pool(3)
    playing = [engine.spawn("one", looping=True, volume=v) for v in (0.03, 0.01, 0.02)]
    waiting = [engine.spawn("one", looping=True, volume=0.1) for _ in range(3)]
    seen = []
    for _ in range(45):
        step(engine)
        seen.append(tuple(states(engine, playing)))
        assert lanes(engine, Lane.PLAYING) == 3
    order = [key for key, _ in itertools.groupby(seen)]
    assert order[:2] == [("PLAYING",) * 3, ("PLAYING", "VIRTUAL", "PLAYING")]
    assert order[-1] == ("VIRTUAL",) * 3
    assert states(engine, waiting) == ["PLAYING"] * 3


def test_a_loop_is_not_taken_twice_in_one_tick(pool):
    engine = pool(2)
    engine.spawn("one", looping=True, volume=0.1)
    engine.spawn("one", looping=True, volume=0.3)
    step(engine)
    thief = engine.spawn("one", looping=True, volume=0.1, priority=-1)
    louder = engine.spawn("one", looping=True, volume=0.2)
    while engine.sources.hush[louder] + TICK < 0.5:
        step(engine)
    engine.sources.priority[thief] = 5  # takes the very loop that the louder one is about to be given
    engine.tick(TICK)
    assert lanes(engine, Lane.PLAYING) == 2
