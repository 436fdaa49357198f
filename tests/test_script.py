"""Sound scripts: names for sets of files; what is drawn at a start; and every mistake named."""

import os
import warnings

import numpy as np
import pytest
import soundfile
from conftest import TICK
from hypothesis import given, settings
from hypothesis import strategies as st

import ecs_audio as ea
from ecs_audio.clips import SOUNDS, ClipError, Clips, ClipWarning
from ecs_audio.clips import entries as entries_module
from ecs_audio.clips import script as script_module
from ecs_audio.clips.script import Sound
from ecs_audio.components import Law, Sources
from ecs_audio.settings import CATEGORIES
from ecs_audio.spawn import DEFAULTS

EXAMPLE = """
[footstep_stone]
files = ["step_1.wav", "step_2", "more/step_3.ogg"]
far = ["step_far.wav"]
volume = 0.8
pitch = [0.95, 1.05]
reference = 1.0
end = 40.0
fade_start = 2
law = "linear"
priority = 2
category = "voice"
looping = false
far_from = 30.0

[shot]
synth = "shot"
seed = 3
volume = [0.5, 1]
"""
FILES = ("step_1.wav", "step_2.flac", "more/step_3.ogg", "step_far.wav")


def write(path, level=0.5, frames=480):
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, np.full(frames, level), 48_000)
    return path


def load(folder, text, clips=None):
    """The clips after a script of this text, in a folder."""
    clips = Clips() if clips is None else clips
    (folder / "sounds.toml").write_text(text)
    clips.load(folder / "sounds.toml")
    return clips


@pytest.fixture
def folder(tmp_path):
    """The files of EXAMPLE, each at a level of its own."""
    for number, name in enumerate(FILES, start=1):
        write(tmp_path / name, level=number / 10)
    return tmp_path


@pytest.fixture
def variants():
    """Four variants, near and far, with ranges of volume and pitch, of clips made by hand."""
    clips = Clips()
    for name in "abcdef":
        clips.add(name, np.full(64, 0.5))
    clips.sounds["step"] = Sound(
        (0, 1, 2, 3), far=(4, 5), volume=(0.5, 1.5), pitch=(0.9, 1.1), options={"end": 40.0}
    )
    clips.sounds["one"] = Sound((2,), volume=(0.25, 0.25))
    clips.sounds["nothing"] = Sound(())
    return clips


def engine_of(clips, seed=0, **changes):
    return ea.Engine(ea.World.empty(size=(16, 16, 16)), clips, settings=ea.Settings(**changes), seed=seed)


def starts(clips, names, seed=0, position=(1, 0, 0), options=None, **changes):
    """Clip, volume and pitch of sources spawned one after another in a fresh engine, (n, 3)."""
    with engine_of(clips, seed, **{"max_sources": 4096, **changes}) as engine:
        for name in names:
            engine.spawn(name, position=position, **(options or {}))
        s = engine.sources
        return np.stack((s.clip, s.volume, s.pitch), axis=1)


# What a script gives


def test_a_script_gives_its_sounds_with_all_that_it_says_of_them(folder):
    clips = Clips()
    (folder / "sounds.toml").write_text(EXAMPLE)
    assert clips.load(str(folder / "sounds.toml")) == ["footstep_stone", "shot"] == list(clips.sounds)
    step, shot = clips.sounds.values()
    level = [round(float(clips.bank[clips.offset[clip] + 100]), 1) for clip in (*step.near, *step.far)]
    assert level == [0.1, 0.2, 0.3, 0.4]
    assert (step.volume, step.pitch, step.far_from) == ((0.8, 0.8), (0.95, 1.05), 30.0)
    assert step.options == {
        "reference": 1.0, "end": 40.0, "fade_start": 2.0, "law": "linear", "priority": 2, "category": "voice",
        "looping": False,
    }  # fmt: skip
    assert shot == Sound((4,), volume=(0.5, 1.0))
    start = clips.offset[4]
    np.testing.assert_array_equal(clips.bank[start : start + clips.length[4]], SOUNDS["shot"](48_000, 3))


def test_a_source_of_a_sound_has_what_the_script_says_unless_spawn_says_otherwise(folder):
    clips = load(folder, EXAMPLE)
    with engine_of(clips) as engine:
        engine.spawn("footstep_stone", position=(1, 2, 3))
        engine.spawn("footstep_stone", volume=0.3, pitch=2.0, end=90.0, law="inverse", priority=-1,
                     category="effects", looping=True, fade_start=None)  # fmt: skip
        s = engine.sources
        assert s.clip[0] in clips.sounds["footstep_stone"].near
        assert s.volume.tolist() == [0.8, 0.3]
        assert 0.95 <= s.pitch[0] <= 1.05
        assert s.pitch[1] == 2.0
        assert s.end.tolist() == [40, 90]
        assert s.fade_start.tolist() == [2, 1]
        assert s.law.tolist() == [Law.LINEAR, Law.INVERSE]
        assert s.priority.tolist() == [2, -1]
        assert s.category.tolist() == [CATEGORIES.index("voice"), CATEGORIES.index("effects")]
        assert s.looping.tolist() == [0, 1]
        assert s.position[0].tolist() == [1, 2, 3]


def test_what_neither_says_is_as_for_a_clip(variants):
    variants.sounds["plain"] = Sound((1,))
    with engine_of(variants) as engine:
        sound, clip = engine.spawn("plain", position=(1, 2, 3)), engine.spawn("b", position=(1, 2, 3))
        for name, column in engine.sources.views.items():
            if name not in ("entity", "serial"):
                np.testing.assert_array_equal(column[sound], column[clip], err_msg=name)


def test_a_file_named_by_several_sounds_and_ways_is_decoded_once(folder, monkeypatch):
    decoded = []
    decode = script_module.decode
    monkeypatch.setattr(script_module, "decode", lambda path: decoded.append(path) or decode(path))
    whole = folder / "step_1.wav"
    os.symlink(whole, folder / "link.wav")
    clips = load(
        folder,
        f'[a]\nfiles = ["step_1", "step_1.wav", "link"]\nfar = ["more/../step_1"]\n[b]\nfiles = ["{whole}"]',
    )
    (folder / "more" / "again.TOML").write_text('[c]\nfiles = ["../step_1.wav"]\n')
    assert clips.load(folder / "more" / "again.TOML") == ["c"]
    assert decoded == [whole.resolve()]
    assert clips.names == (str(whole.resolve()),)
    assert [clips.sounds[name].near for name in "abc"] == [(0, 0, 0), (0,), (0,)]


def test_a_built_in_sound_stands_beside_files_and_is_made_once(folder):
    clips = load(
        folder,
        '[a]\nfiles = ["step_1"]\nsynth = "clap"\n[b]\nsynth = "clap"\n[c]\nsynth = "clap"\nseed = 7',
    )
    assert clips.names[1:] == ("clap:0", "clap:7")
    assert [clips.sounds[name].near for name in "abc"] == [(0, 1), (1,), (2,)]


# What is drawn


def test_the_same_seed_draws_the_same_and_another_one_does_not(variants):
    names = ["step", "one", "step", "a"] * 20
    first = starts(variants, names, seed=5)
    np.testing.assert_array_equal(first, starts(variants, names, seed=5))
    assert (first != starts(variants, names, seed=6)).any()


def test_clip_volume_and_pitch_are_drawn_in_this_order_where_there_is_a_choice(variants):
    twin = np.random.Generator(np.random.PCG64(9))
    wanted = []
    for name in ["step", "one", "a", "step", "nothing", "step"]:
        if name == "step":
            wanted.append((int(4 * twin.random()), 0.5 + twin.random(), twin.uniform(0.9, 1.1)))
        else:
            wanted.append({"one": (2, 0.25, 1), "a": (0, 1, 1), "nothing": (-1, 1, 1)}[name])
    heard = starts(variants, ["step", "one", "a", "step", "nothing", "step"], seed=9)
    np.testing.assert_allclose(heard, wanted, rtol=1e-12)


def test_a_value_told_to_spawn_is_no_choice_and_takes_no_chance(variants):
    twin = np.random.Generator(np.random.PCG64(1))
    heard = starts(variants, ["step"] * 3, seed=1, options={"volume": 0.125})
    for row in heard:
        np.testing.assert_allclose(row, (int(4 * twin.random()), 0.125, twin.uniform(0.9, 1.1)), rtol=1e-12)


def test_a_start_that_fails_draws_nothing(variants):
    with engine_of(variants, max_sources=1) as engine:
        before = engine.rng.bit_generator.state
        for wrong in ({"volume": -1}, {"position": (1, 2)}, {"reference": 50.0}, {"law": "cubic"}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                engine.spawn("step", **wrong)
        with pytest.raises(TypeError, match="loud"):
            engine.spawn("step", loud=1)
        engine.spawn("one")
        with pytest.raises(ea.TableFullError):
            engine.spawn("step")
        assert engine.rng.bit_generator.state == before
        assert engine.sources.count == 1


def test_variants_are_equally_likely_and_values_fill_their_range(variants):
    clip, volume, pitch = starts(variants, ["step"] * 4000, seed=2).T
    counts = np.bincount(clip.astype(int), minlength=4)
    assert len(counts) == 4
    assert ((counts - 1000) ** 2 / 1000).sum() < 16.3  # chi-square, 3 degrees of freedom: 1 in 1000
    for values, low, high in ((volume, 0.5, 1.5), (pitch, 0.9, 1.1)):
        assert low <= values.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < values.max() <= high
        share = np.sort((values - low) / (high - low))  # Kolmogorov and Smirnov: 1.95 / sqrt(n) is 1 in 1000
        assert np.abs(share - np.arange(4000) / 4000).max() < 1.95 / np.sqrt(4000)
    assert abs(np.corrcoef(np.stack((clip, volume, pitch)))[np.triu_indices(3, 1)]).max() < 0.06


def test_a_file_listed_twice_is_taken_twice_as_often(folder):
    clips = load(folder, '[a]\nfiles = ["step_1", "step_2", "step_1"]')
    counts = np.bincount(starts(clips, ["a"] * 3000)[:, 0].astype(int))
    assert abs(counts[0] - 2000) < 4 * np.sqrt(3000 * 2 / 9)


@settings(deadline=None, max_examples=50)
@given(st.floats(0, 8), st.floats(0, 8), st.integers(0, 1000))
def test_what_is_drawn_never_leaves_its_range(a, b, seed):
    clips = Clips()
    clips.add("a", np.ones(4))
    low, high = min(a, b), max(a, b)
    clips.sounds["s"] = Sound((0,), volume=(low, high), pitch=(low, high))
    heard = starts(clips, ["s"] * 5, seed=seed, max_sources=8)
    assert heard[:, 1:].min() >= low
    assert heard[:, 1:].max() <= high


def test_the_greatest_number_of_the_generator_leads_to_the_last_variant_and_not_beyond_the_range():
    class Last:
        def random(self):
            return 1.0 - 2.0**-53

    clips, twin = Clips(), np.random.Generator(np.random.PCG64(0))
    for number in range(20):
        clips.add(str(number), np.ones(4))
    with engine_of(clips) as engine:
        engine.rng = Last()
        for variants in range(1, 21):
            low = twin.uniform(0.0, 8.0)
            high = twin.uniform(low, 8.0)
            clips.sounds["s"] = Sound(tuple(range(variants)), pitch=(low, high))
            source = engine.spawn("s")
            assert engine.sources.clip[source] == variants - 1
            assert engine.sources.pitch[source] <= high


# Near and far


@pytest.mark.parametrize("acoustics", ["off", "direct", "reflect", "full"])
def test_far_variants_are_taken_beyond_half_of_end_with_acoustics_off_alone(variants, acoustics):
    near = starts(variants, ["step"] * 40, position=(20, 0, 0), acoustics=acoustics)[:, 0]
    far = starts(variants, ["step"] * 40, position=(20.001, 0, 0), acoustics=acoustics)[:, 0]
    assert set(near) == {0, 1, 2, 3}
    assert set(far) == ({4, 5} if acoustics == "off" else {0, 1, 2, 3})


def test_far_is_measured_from_the_listener_and_follows_what_spawn_says_of_end(variants):
    variants.sounds["given"] = Sound((0,), far=(4,), far_from=5.0)
    with engine_of(variants, acoustics="off") as engine:
        engine.listener.look(position=(100, 0, 0))
        for x in (104, 106, 0):
            engine.spawn("given", position=(x, 0, 0))
        engine.spawn("given")
        engine.spawn("step", position=(75, 0, 0))
        engine.spawn("step", position=(75, 0, 0), end=60.0)
        taken = engine.sources.clip
        assert taken[:4].tolist() == [0, 4, 4, 0]
        assert taken[4] in (4, 5)
        assert taken[5] in (0, 1, 2, 3)


# What cannot be used


def test_a_missing_or_broken_file_is_reported_once_and_costs_only_its_variant(folder):
    (folder / "broken.wav").write_bytes(b"no sound")
    write(folder / "nan.wav")
    soundfile.write(folder / "nan.wav", np.array([0.1, np.nan]), 48_000, subtype="FLOAT")
    text = """
[a]
files = ["step_1", "gone", "broken.wav", "nan", "more"]
[b]
files = ["step_2", "gone", "broken"]
far = ["gone"]
"""
    clips = Clips()
    with pytest.warns(ClipWarning) as caught:
        load(folder, text, clips)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 4
    for name, message in zip(
        ("gone: no such file", "broken.wav", "nan.wav", "more: is not a file"), said, strict=True
    ):
        assert str(folder / name.split(":")[0]) in message
        assert name in message
    assert {warning.filename for warning in caught} == {__file__}
    assert (clips.sounds["a"].near, clips.sounds["b"].near, clips.sounds["b"].far) == ((0,), (1,), ())
    load(folder, text.replace("[a]", "[c]").replace("[b]", "[d]"), clips)  # warnings are errors here
    assert clips.sounds["c"] == clips.sounds["a"]
    assert len(clips.broken) == 4


def test_where_warnings_are_errors_nothing_is_added_and_the_report_comes_again(folder):
    clips = Clips()
    for _ in range(2):
        with pytest.raises(ClipWarning, match="gone"):
            load(folder, '[a]\nfiles = ["step_1", "gone"]', clips)
        assert not clips.sounds
        assert not clips.broken


def test_names_that_no_file_can_have_cost_only_their_variant(folder):
    names = ("x" * 5000, "..", ".", "é" * 200, "step_1.wav/step_2.wav", "sounds.toml", "~nobody", "\u2028")
    clips = Clips()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load(folder, "[a]\nfiles = [" + ", ".join(f'"{name}"' for name in (*names, "step_1")) + "]", clips)
    assert len(caught) == len(names)
    assert clips.sounds["a"].near == (0,)


@pytest.mark.parametrize("looping", ["true", "false"])
@pytest.mark.parametrize("acoustics", ["off", "full"])
def test_a_sound_without_any_file_left_is_known_silent_and_over_at_the_next_tick(folder, acoustics, looping):
    clips = Clips()
    with pytest.warns(ClipWarning, match="gone"):
        load(folder, f'[a]\nfiles = ["gone"]\nvolume = [1, 2]\nlooping = {looping}\npriority = 9', clips)
    assert clips.count == 0
    with engine_of(clips, acoustics=acoustics, max_rays=0) as engine:
        sources = [engine.spawn("a", position=(300, 0, 0)), engine.spawn("a", start_frame=10**9)]
        engine.tick(TICK)
        assert engine.sources.state.tolist() == [ea.State.ENDED] * 2
        assert not engine.render(800).any()
        engine.tick(TICK)
        assert engine.sources.count == 0
        assert not any(source.alive for source in sources)
        assert engine.telemetry.voices_refused == engine.telemetry.voices_stolen == 0


def test_a_sound_of_a_script_is_heard_at_the_level_of_its_file(folder):
    clips = load(folder, '[a]\nfiles = ["step_2"]\nvolume = 0.5')
    with engine_of(clips, acoustics="off") as engine:
        engine.spawn("a")
        engine.tick(TICK)
        heard = engine.render(400).max()
    assert heard == pytest.approx(0.5 * 0.2, rel=1e-3)


# Names


def test_a_sound_and_a_clip_share_no_name(folder):
    clips = Clips()
    clips.synthesize("shot")
    with pytest.raises(ClipError, match=r"sounds\.toml: sound 'shot': a clip of this name is there already"):
        load(folder, EXAMPLE, clips)
    assert clips.names == ("shot",)
    load(folder, EXAMPLE.replace("[shot]", "[gun]"), clips)
    with pytest.raises(ClipError, match="a sound called 'gun' is there already"):
        clips.add("gun", np.ones(8))
    with pytest.raises(ClipError, match="sound 'footstep_stone': a sound of this name is there already"):
        load(folder, EXAMPLE.replace("[shot]", "[bow]"), clips)
    assert list(clips.sounds) == ["footstep_stone", "gun"]
    own = folder / "step_1.wav"
    with pytest.raises(ClipError, match=r"step_1\.wav': a clip of this name"):
        load(folder, f'["{own.resolve()}"]\nfiles = ["step_1.wav"]', Clips())


def test_an_unknown_name_suggests_sounds_and_clips(folder):
    clips = load(folder, EXAMPLE)
    with engine_of(clips) as engine, pytest.raises(ClipError, match="did you mean 'footstep_stone'"):
        engine.spawn("footstep_stome")
    with pytest.raises(ClipError, match="script, which names its sounds itself, not 'all'"):
        clips.load(folder / "sounds.toml", name="all")


# Mistakes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("volum = 1", "there is no key 'volum' .did you mean 'volume'.., only files, synth"),
        ("xyzzy = 1", "there is no key 'xyzzy', only files, synth"),
        ("sub.a = 1", "there is no key 'sub'"),
        ('files = "step_1.wav"', "files must be a list of at least one file name, .*not 'step_1.wav'"),
        ("files = []", "files must be a list of at least one"),
        ('files = ["a", 3]', "files must hold names of files, not 3"),
        ('files = [""]', "files must hold names of files, not ''"),
        (r'files = ["a\u0000"]', "files must hold names of files"),
        ("far = [1.5]", "far must hold names of files, not 1.5"),
        ('volume = "loud"', "volume must be a number from 0 to 1e.09, or two that rise, .*not 'loud'"),
        ("volume = -0.1", r"volume must be .*not -0\.1"),
        ("volume = true", "volume must be .*not True"),
        ("volume = nan", "volume must be .*not nan"),
        ("volume = [1, inf]", r"volume must be .*not \[1, inf\]"),
        ("pitch = 8.01", r"pitch must be a number from 0 to 8, .*not 8\.01"),
        ("pitch = [1.1, 0.9]", r"pitch must be .*two that rise, \[least, greatest\], not \[1\.1, 0\.9\]"),
        ("pitch = [1]", r"pitch must be .*not \[1\]"),
        ("pitch = [1, 2, 3]", r"pitch must be .*not \[1, 2, 3\]"),
        ("reference = 0", "reference must be a number from 1e-06 to 1e.09, not 0"),
        ("reference = 600", "must rise from reference to fade_start to end, not 600, 600, 512"),
        ("reference = 5\nend = 5", "must rise from reference to fade_start to end, not 5, 5, 5"),
        ("fade_start = 0.5", r"must rise .*not 1, 0\.5, 512"),
        ("fade_start = 10\nend = 10", "must rise .*not 1, 10, 10"),
        ("end = 1e400", "end must be a number from .*not inf"),
        ('law = "invers"', "law must be one of inverse, linear, .*not 'invers' .did you mean 'inverse'"),
        ("law = 3", "law must be one of inverse, linear, .*not 3"),
        ('category = "noise"', "category must be one of effects, voice, .*not 'noise'"),
        ("priority = 1.5", r"priority must be a whole number from .*not 1\.5"),
        ("priority = 2147483648", "priority must be a whole number from -2147483648 to 2147483647, not"),
        ("priority = true", "priority must be a whole number"),
        ("looping = 1", "looping must be true or false, not 1"),
        ('synth = "shoot"', "synth must be one of .*not 'shoot' .did you mean 'shot'"),
        ("seed = 3", "seed means nothing without synth"),
        ('synth = "shot"\nseed = -1', "seed must be a whole number from 0"),
        ("far_from = 3", "far_from means nothing without far"),
        ('far = ["a"]\nfar_from = -3', "far_from must be a number from 0"),
        ("volume = 1979-05-27", "volume must be .*not datetime.date"),
        ("seed = 0x" + "f" * 9000, "seed must be .*very many digits"),
        ("files" + ".a" * 150 + " = 1", "files must be a list .*not {'a'"),
        ("volume = " + ("[\n{a" + ".a" * 150 + "=") * 60 + "1" + "}]" * 60, r"volume must be .*not \[{"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_file_sound_key_and_what_is_allowed(tmp_path, line, says):
    files = "" if line.startswith("files") else 'files = ["gone.wav"]\n'
    clips = Clips()
    with pytest.raises(ClipError, match=rf"sounds\.toml: sound 'bad': (distances )?{says}"):
        load(tmp_path, f'[good]\nsynth = "clap"\n[bad]\n{files}{line}\n', clips)
    assert not clips.sounds
    assert clips.count == 0  # all is checked before anything is decoded


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no sound"),
        ("# nothing\n", "holds no sound"),
        ("[a]\nvolume = 1", "sound 'a': files or synth is needed"),
        ('[a]\nfar = ["x"]', "sound 'a': files or synth is needed"),
        ("a = 3", "sound 'a': must be a table, such as .a. with keys below it, not 3"),
        ('[[a]]\nfiles = ["x"]', "sound 'a': must be a table"),
        ('[""]\nsynth = "shot"', "sound '': a sound cannot be called like this"),
        ("[a]\n[a]\n", "is not valid TOML: .*line 2"),
        ("[a]\nvolume = \n", "is not valid TOML: .*line 2"),
        ("[a]\nfiles = " + "[" * 5000, "holds an absurdly long number or absurdly deep lists"),
        ("[a]\nseed = " + "9" * 5000, "holds an absurdly long number or absurdly deep lists"),
        ("\n[" + "a." * 300 + "a]", "line 2 has more than 200 dots"),
        ("#" * 1_000_001, "is larger than the 1000000 bytes"),
    ],
)
def test_what_is_no_script_is_refused(tmp_path, text, says):
    with pytest.raises(ClipError, match=rf"sounds\.toml: {says}"):
        load(tmp_path, text)


def test_a_script_that_is_none_or_no_text_is_refused_by_name(tmp_path):
    with pytest.raises(ClipError, match=r"gone\.toml: no such file"):
        Clips().load(tmp_path / "gone.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ClipError, match=r"folder\.toml: is not a file"):
        Clips().load(tmp_path / "folder.toml")
    (tmp_path / "bytes.toml").write_bytes(b'[a]\nsynth = "\xff"')
    with pytest.raises(ClipError, match=r"bytes\.toml: is not UTF-8 text in line 2"):
        Clips().load(tmp_path / "bytes.toml")
    with pytest.raises(ClipError, match=r"cannot be read"):
        Clips().load(tmp_path / f"{'x' * 5000}.toml")


def test_a_script_with_a_byte_order_mark_and_windows_line_ends_is_taken(tmp_path):
    (tmp_path / "a.toml").write_bytes(b'\xef\xbb\xbf[a]\r\nsynth = "clap"\r\n')
    assert Clips().load(tmp_path / "a.toml") == ["a"]


def test_the_limits_of_scripts_are_those_of_spawn():
    for name, (low, high) in entries_module.LIMITS.items():
        assert (Sources.columns[name].low, Sources.columns[name].high) == (low, high), name
    assert tuple(law.name.lower() for law in Law) == entries_module.LAWS
    assert entries_module.CATEGORIES == CATEGORIES
    assert (DEFAULTS["reference"], DEFAULTS["end"]) == (entries_module.REFERENCE, entries_module.END)
    whole = np.iinfo(Sources.columns["priority"].dtype)
    assert (whole.min, whole.max) == entries_module.PRIORITIES
    assert set(script_module.OPTIONS) <= DEFAULTS.keys()


# Hostile scripts


def refusal(clips, path):
    """What the ClipError says, None if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClipWarning)
        try:
            assert clips.load(path) == list(clips.sounds)
        except ClipError as error:
            return str(error)
    return None


def is_refused_or_every_sound_can_be_spawned(path):
    clips = Clips()
    if (said := refusal(clips, path)) is not None:
        assert str(path) in said
        assert not clips.sounds
        return
    with engine_of(clips) as engine:
        for name, sound in clips.sounds.items():
            source = engine.spawn(name, position=(1, 2, 3))
            assert engine.sources.clip[source] in (*sound.near, *([] if sound.near else [-1]))
            for column in Sources.columns.values():
                if column.low is not None:
                    value = engine.sources.views[column.name][source]
                    assert (value >= column.low).all() or column.name == "position"
                    assert (value <= column.high).all()


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([b"", b"[a]\n", b'[a]\nsynth = "clap"\n', b"[a]\nfiles = ["]), st.binary(max_size=200))
def test_random_bytes_are_refused_or_taken(tmp_path_factory, head, tail):
    path = tmp_path_factory.getbasetemp() / "noise.toml"
    path.write_bytes(head + tail)
    is_refused_or_every_sound_can_be_spawned(path)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_script_cut_or_with_broken_bytes_is_refused_or_taken(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "cut.toml"
    content = bytearray(EXAMPLE.replace('"shot"', '"clap"').encode())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    is_refused_or_every_sound_can_be_spawned(path)


VALUES = st.one_of(
    st.sampled_from(["1", "[0.5, 1]", "true", '"linear"', '"clap"', '["gone"]', "[]", "{a = 1}", '"voice"']),
    st.sampled_from(
        ["nan", "-inf", "1e308", "0x" + "f" * 5000, "1979-05-27", "[[1]]", "9223372036854775808"]
    ),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.lists(st.floats(0, 9), min_size=2, max_size=2).map(repr),
)
KEYS = st.sampled_from([*entries_module._CHECKS, "volum", "position", "event"])


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_value_of_any_key_is_refused_or_taken(tmp_path_factory, table):
    path = tmp_path_factory.getbasetemp() / "values.toml"
    lines = ({"synth": '"beep"'} | table).items()
    path.write_text("[a]\n" + "\n".join(f"{key} = {value}" for key, value in lines))
    is_refused_or_every_sound_can_be_spawned(path)
