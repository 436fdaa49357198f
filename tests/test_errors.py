"""Bad input gets one clear sentence, loses nothing, and the next tick works."""

import math

import numpy as np
import pytest
from conftest import FRAMES, TICK

import ecs_audio as ea


@pytest.fixture
def engine(clips, open_world):
    with ea.Engine(open_world, clips, settings=ea.Settings(max_sources=8)) as engine:
        yield engine


def ticks_on(engine):
    engine.tick(TICK)
    assert np.isfinite(engine.render(FRAMES)).all()


@pytest.mark.parametrize(
    ("column", "value"),
    [("position", (math.nan, 0, 0)), ("position", (0, math.inf, 0)), ("volume", math.nan), ("volume", -1.0),
     ("pitch", 100.0), ("reference", 0.0), ("end", math.inf), ("full_within", math.nan)],
)  # fmt: skip
def test_a_bad_value_in_a_column_is_named_and_undone_and_the_tick_completes(engine, column, value):
    bad = engine.spawn("tone", position=(1, 2, 3), looping=True)
    good = engine.spawn("tone", position=(4, 5, 6), looping=True)
    engine.tick(TICK)
    before = np.array(getattr(engine.sources, column)[bad])
    getattr(engine.sources, column)[bad] = value
    engine.sources.position[good] = (7, 8, 9)
    with pytest.raises(ea.BadValueError, match=column) as caught:
        engine.tick(TICK)
    assert str(engine.sources.entity[bad]) in str(caught.value)
    assert np.array_equal(getattr(engine.sources, column)[bad], before)
    assert engine.sources.history[good, 1, 1:4].tolist() == [7, 8, 9]
    assert engine.telemetry.tick == 1
    ticks_on(engine)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": (math.nan, 0, 0)}, "position must be three finite numbers"),
        ({"position": (1, 2)}, "position must be three finite numbers"),
        ({"volume": -0.5}, "volume must be a finite number from 0"),
        ({"pitch": math.nan}, "pitch"),
        ({"reference": 0}, "reference"),
        ({"reference": 5.0, "end": 4.0}, "must rise from reference to fade_start to end"),
        ({"fade_start": 600.0}, "must rise"),
        ({"law": "cubic"}, "law must be one of inverse, linear"),
        ({"category": "noise"}, "category must be one of effects"),
        ({"start_frame": -3}, "start_frame"),
    ],
)
def test_a_bad_option_of_spawn_is_named_and_nothing_is_added(engine, options, message):
    with pytest.raises(ValueError, match=message):
        engine.spawn("tone", **options)
    assert engine.sources.count == 0
    ticks_on(engine)


def test_an_unknown_clip_or_option_is_named(engine):
    with pytest.raises(ea.ClipError, match=r"tonne.*did you mean 'tone'"):
        engine.spawn("tonne")
    with pytest.raises(TypeError, match="no option 'loud', only position"):
        engine.spawn("tone", loud=3)
    ticks_on(engine)


def test_a_full_table_refuses_and_goes_on(engine):
    for _ in range(8):
        engine.spawn("tone", looping=True)
    with pytest.raises(ea.TableFullError, match="all 8 rows"):
        engine.spawn("tone")
    assert engine.sources.count == 8
    ticks_on(engine)


def test_a_dead_row_raises(engine):
    row = engine.spawn("tone", looping=True)
    engine.despawn(row)
    for use in (engine.despawn, engine.pause, engine.resume, lambda r: engine.sources.rows([r])):
        with pytest.raises(ea.DeadRowError, match="was removed"):
            use(row)
    with pytest.raises(IndexError):
        engine.sources.position[row]
    ticks_on(engine)


@pytest.mark.parametrize("dt", [-0.01, math.nan, math.inf])
def test_a_bad_dt_is_refused_and_time_stands(engine, dt):
    engine.tick(TICK)
    with pytest.raises(ValueError, match="dt must be a finite number"):
        engine.tick(dt)
    assert engine.time == TICK
    ticks_on(engine)


def test_a_bad_listener_is_refused_and_stays(engine):
    engine.listener.look(position=(1, 2, 3))
    for wrong in ((math.nan, 0, 0), (1, 2), "ab", (1e300, 0, 0)):
        with pytest.raises(ValueError, match="listener position"):
            engine.listener.look(position=wrong)
    assert engine.listener.position.tolist() == [1, 2, 3]
    ticks_on(engine)


def test_a_listener_position_broken_by_hand_is_put_back(engine):
    engine.listener.look(position=(1, 2, 3))
    engine.tick(TICK)
    engine.listener.position[0] = math.nan
    with pytest.raises(ea.BadValueError, match="listener position"):
        engine.tick(TICK)
    assert engine.listener.position.tolist() == [1, 2, 3]
    ticks_on(engine)


def test_bad_gains_are_named_and_the_last_good_ones_play(engine):
    engine.spawn("tone", looping=True)
    engine.tick(TICK)
    engine.gains["effects"] = math.nan
    with pytest.raises(ea.BadValueError, match="gain of effects"):
        engine.tick(TICK)
    engine.gains["effects"] = 1.0
    ticks_on(engine)


def test_blocks_that_cannot_be_are_refused(engine):
    with pytest.raises(ValueError, match="max_block"):
        engine.render(10**9)
    with pytest.raises(ValueError, match="max_block"):
        engine.render(-1)
    with pytest.raises(ValueError, match="float32 of shape"):
        engine.render(64, out=np.zeros((64, 2)))
    assert engine.frame == 0
    mine = np.ones((64, 2), np.float32)
    assert engine.render(64, out=mine) is mine


def test_a_block_is_read_only(engine):
    block = engine.render(64)
    with pytest.raises(ValueError, match="read-only"):
        block[0] = 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("acoustics", "loud"), ("interpolation", "cubic"), ("direct_paths", 7), ("max_rays", -1),
     ("max_voices", 5000), ("reach", math.nan), ("max_sources", 2.5), ("air", "yes")],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        ea.Settings(**{name: value})


def test_a_closed_engine_says_so(clips, open_world):
    engine = ea.Engine(open_world, clips)
    engine.close()
    engine.close()
    for use in (lambda: engine.tick(TICK), lambda: engine.render(64), lambda: engine.spawn("tone")):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.mca"):
        ea.World.load(tmp_path / "nowhere.mca")
    with pytest.raises(ea.ClipError, match="nothing"):
        ea.Clips().load(tmp_path / "nothing.wav")


@pytest.mark.parametrize("wrong", [{"efects": 1.0}, {"effects": "loud"}, {"voice": None}])
def test_gains_under_wrong_names_or_of_wrong_kinds_are_named(engine, wrong):
    engine.spawn("tone", looping=True)
    engine.gains.update(wrong)
    with pytest.raises(ea.BadValueError, match=next(iter(wrong))):
        engine.tick(TICK)
    assert engine.telemetry.voices_playing == 1
    for name in wrong:
        engine.gains.pop(name)
    engine.gains |= dict.fromkeys(("effects", "voice"), 1.0)
    ticks_on(engine)


def test_numbers_that_no_category_or_clip_has_harm_nothing(engine):
    row = engine.spawn("tone", looping=True)
    engine.sources.category[row] = 250
    ticks_on(engine)
    lost = engine.spawn("tone", looping=True)
    engine.sources.clip[lost] = 10**9
    ticks_on(engine)
    ticks_on(engine)
    assert not lost.alive
