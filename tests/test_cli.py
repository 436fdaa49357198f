"""The command line: what it prints, writes and refuses, and with which exit status."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal, Optional

import click
import numpy as np
import pytest
from click.testing import CliRunner

import ecs_audio as ea
from ecs_audio.cli import cli, progress
from ecs_audio.cli.find import shipped
from ecs_audio.cli.parameters import Parameter, parameters_of, parse, split, type_name, values
from ecs_audio.kernels import jit

ROOT = Path(__file__).parents[1]

STORM = '''"""A tone behind a wall.

More about it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ecs_audio as ea

print("loading")


def scenario(
    *, sources: int = 1, seconds: float = 0.1, volume: float | None = None, quiet: bool = False,
    world: Path | None = None, seed: int = 0,
) -> ea.Scenario:
    print("building")
    if sources < 0:
        raise ValueError(f"sources must not be negative, not {sources}")
    if world is None:
        place = ea.World.empty(size=(32, 16, 32), origin=(-16, 0, -16))
        place.fill((-16, 0, -16), (16, 1, 16), "grass_block")
        place.fill((4, 0, -16), (5, 16, 16), "stone")
    else:
        place = ea.World.load(world)
    clips = ea.Clips()
    clips.add("tone", 0.5 * np.sin(np.arange(4800) * 0.1))
    options = {"looping": True, "volume": volume or 1.0}
    spawn = ea.Spawn("tone", lambda time: (6.0, 2.0, time), options=options)
    return ea.Scenario(
        place,
        clips,
        seconds,
        listener=lambda time: ea.Pose((0.0, 2.0, 0.0)),
        spawns=[] if quiet else [spawn] * sources,
        events=[ea.Event(0.05, lambda stage: stage.engine.world.carve((4.5, 2.5, 0.5), 2.0))],
        seed=seed,
    )


def check(heard: ea.Recording) -> None:
    print("checking")
    assert heard.samples.shape == (round(heard.parameters["seconds"] * heard.rate), 2)
    assert heard.scenario.settings.acoustics == heard.again().scenario.settings.acoustics
    assert np.abs(heard.samples).max() > 1e-4, "nothing is heard"
'''


@pytest.fixture
def storm(tmp_path, monkeypatch):
    """A scenario file in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    Path("storm.py").write_text(STORM, encoding="utf-8")
    return "storm.py"


def ask(*arguments, status=0):
    """Run the command in this process."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def refused(*arguments, status=2):
    """The one sentence that a wrong use gets."""
    result = ask(*arguments, status=status)
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
    return lines[-1]


def summary_of(*arguments):
    return json.loads(ask("run", *arguments, "--json").stdout)


def process(*arguments, folder, **options):
    """Run the command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ecs_audio", *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, **options,
    )  # fmt: skip


# Running.


def test_run_writes_the_sound_and_beside_it_what_json_prints(storm):
    printed = summary_of(storm)
    assert sorted(file.name for file in Path("out").iterdir()) == ["storm.json", "storm.wav"]
    assert json.loads(Path("out/storm.json").read_text(encoding="utf-8")) == printed
    assert printed["output"] == str(Path("out/storm.wav"))
    assert (printed["scenario"], printed["rate"], printed["frames"], printed["seconds"]) == (
        "storm",
        48_000,
        4800,
        0.1,
    )


def test_the_summary_has_every_promised_key(storm):
    printed = summary_of(storm, "--no-output", "--set", "sources=3")
    promised = """
        scenario parameters output rate frames seconds sha256 peak_db realtime_factor compile_seconds
        render_seconds block settings versions ticks per_tick max_rays max_cells budget unknown_share
        oldest_age voices edits limiter_gain limiter_reduction_db microseconds mix_microseconds check
    """
    assert set(promised.split()) <= printed.keys()
    assert set(printed["versions"]) == {"python", "numpy", "numba", "ecs_audio"}
    assert printed["parameters"] == {
        "sources": 3, "seconds": 0.1, "volume": None, "quiet": False, "world": None, "seed": 0
    }  # fmt: skip
    assert printed["sources"] == 3
    assert printed["edits"] == 1
    assert printed["mix_microseconds"]["blocks"] == 6  # one a tick
    assert printed["realtime_factor"] == pytest.approx(0.1 / printed["render_seconds"], rel=0.01)


def test_the_hash_is_that_of_the_samples_as_rendered(storm):
    import hashlib

    printed = summary_of(storm)
    samples = Path("out/storm.wav").read_bytes()[-4800 * 2 * 4 :]
    assert hashlib.sha256(samples).hexdigest() == printed["sha256"]
    assert 20 * np.log10(np.abs(np.frombuffer(samples, "<f4")).max()) == pytest.approx(
        printed["peak_db"], abs=1e-3
    )


def test_the_hash_does_not_depend_on_the_block(storm):
    short, long = (summary_of(storm, "--no-output", "--block", block) for block in (64, 1000))
    assert (short["block"], long["block"]) == (64, 1000)
    assert short["sha256"] == long["sha256"]


def test_the_printed_summary_says_the_same_in_words(storm):
    result = ask("run", storm, "--check")
    sha256 = json.loads(Path("out/storm.json").read_text(encoding="utf-8"))["sha256"]
    for words in ("sources=1", "dBFS", "idle", sha256, "real time", "median µs", "batch_rays", "passed"):
        assert words in result.stdout
    assert "building" not in result.stdout


def test_silence_has_no_peak(storm):
    assert summary_of(storm, "--no-output", "--set", "quiet=true")["peak_db"] is None
    assert "silence" in ask("run", storm, "--no-output", "--set", "quiet=true").stdout


def test_no_output_writes_no_file(storm):
    assert summary_of(storm, "--no-output")["output"] is None
    assert [
        file.name for file in Path().iterdir() if file.suffix != ".py" and file.name != "__pycache__"
    ] == []


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg"])
def test_the_ending_decides_the_format(storm, ending):
    import soundfile

    ask("run", storm, "-o", f"deep/er/x.{ending}")
    assert soundfile.info(f"deep/er/x.{ending}").format == ending.upper()
    assert Path("deep/er/x.json").is_file()


def test_telemetry_has_a_row_for_each_tick(storm):
    ask("run", storm, "--no-output", "--telemetry", "ticks.csv")
    with Path("ticks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["tick"]) for row in rows] == list(range(6))
    assert float(rows[3]["time"]) == pytest.approx(0.05)
    assert float(rows[0]["us_trace"]) > 0


def test_world_and_seconds_set_the_parameters_of_these_names(storm):
    ea.World.empty(size=(8, 8, 8)).save("air.npz")
    printed = summary_of(storm, "--no-output", "--world", "air.npz", "--seconds", "0.05")
    assert printed["parameters"]["world"] == "air.npz"
    assert printed["frames"] == 2400


def test_settings_are_set_and_reported(storm):
    assert summary_of(storm, "--no-output")["settings"] == {}
    printed = summary_of(storm, "--no-output", "--acoustics", "off", "--setting", "max_rays=7", "--check")
    assert printed["settings"] == {"acoustics": "off", "max_rays": 7}
    assert printed["budget"]["rays"] == 7
    assert printed["check"] == {"passed": True, "message": None}


def test_a_scenario_finds_its_neighbours(storm):
    Path("neighbour_of_a_test.py").write_text("SECONDS = 0.05", encoding="utf-8")
    Path("next.py").write_text(
        "import ecs_audio as ea\nfrom neighbour_of_a_test import SECONDS\n"
        "def scenario():\n    return ea.Scenario(ea.World.empty(size=(4, 4, 4)), ea.Clips(), SECONDS)\n",
        encoding="utf-8",
    )
    assert summary_of("next.py", "--no-output")["seconds"] == 0.05


# Checks.


def test_a_failed_check_exits_with_1_and_its_message(storm):
    assert refused("run", storm, "--check", "--set", "quiet=yes", status=1) == (
        "Error: the check of storm failed: nothing is heard"
    )
    assert (
        json.loads(Path("out/storm.json").read_text(encoding="utf-8"))["check"]["message"]
        == "nothing is heard"
    )


def test_an_assertion_without_a_message_is_named_by_its_line(storm):
    text = STORM.replace(', "nothing is heard"', " > 2").replace("1e-4", "1")
    Path(storm).write_text(text, encoding="utf-8")
    line = text[: text.index(" > 1 > 2")].count("\n") + 1
    assert refused("run", storm, "--check", "--no-output", status=1).endswith(
        f"failed: storm.py line {line}: assert np.abs(heard.samples).max() > 1 > 2"
    )


def test_check_renders_each_and_exits_with_1_if_one_fails(storm):
    Path("calm.py").write_text(STORM.replace("quiet: bool = False", "quiet: bool = True"), encoding="utf-8")
    Path("broken.py").write_text(
        "def scenario():\n    return 3\ndef check(heard):\n    pass\n", encoding="utf-8"
    )
    assert json.loads(ask("check", storm, "--json").stdout)["passed"] is True
    result = ask("check", "calm.py", "broken.py", storm, "--json", status=1)
    calm, broken, stormy = json.loads(result.stdout)["results"]
    assert (calm["name"], calm["passed"], calm["message"]) == ("calm.py", False, "nothing is heard")
    assert (broken["passed"], stormy["passed"]) == (False, True)
    assert "no ecs_audio.Scenario" in broken["message"]
    table = ask("check", "calm.py", storm, status=1).stdout
    assert "nothing is heard" in table
    assert "passed" in table
    assert sorted(file.suffix for file in Path().iterdir() if file.is_file()) == [".py"] * 3


def test_a_scenario_without_a_check_cannot_be_checked(storm):
    Path("mute.py").write_text(STORM.replace("def check", "def listen"), encoding="utf-8")
    assert "mute has no function `check`" in refused("run", "mute.py", "--check")


# Wrong use.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "sorces=2"], "storm has no parameter 'sorces'; there are sources, seconds, volume"),
        (["--set", "sorces=2"], "did you mean 'sources'?"),
        (["--set", "sources=many"], "sources of storm must be a whole number (int), not 'many'"),
        (["--set", "seconds=nan"], "seconds of storm must be a finite number (float), not 'nan'"),
        (["--set", "volume=x"], "volume of storm must be float | None, not 'x'"),
        (["--set", "quiet=maybe"], "quiet of storm must be true or false (bool), not 'maybe'"),
        (["--set", "sources=-1"], "storm: sources must not be negative, not -1"),
        (["--set", "sources"], "--set takes key=value, not 'sources'"),
        (["--set", "seed=1", "--set", "seed=2"], "seed is given twice"),
        (
            ["--set", "max_rays=3"],
            "max_rays is no parameter of storm but a setting: use --setting max_rays=...",
        ),
        (["--setting", "max_ray=3"], "the engine has no setting 'max_ray'"),
        (["--setting", "max_rays=-3"], "setting max_rays must lie between"),
        (["--setting", "air=perhaps"], "air of the engine must be true or false"),
        (["--acoustics", "loud"], "'loud' is not one of 'off', 'direct', 'reflect', 'full'"),
        (["--block", "0"], "--block"),
        (["--world", "nowhere.schem"], "nowhere.schem"),
        (["--set", "world=nowhere.schem"], "nowhere.schem: No such file"),
        (["--seconds", "0"], "storm lasts 0 s: there is nothing to render"),
        (["-o", "x.mp3"], "the output 'x.mp3' must end in .wav, .flac, .ogg"),
        (["-o", "folder.wav"], "is there and not a regular file"),
        (["-o", "x.wav", "--no-output"], "exclude each other"),
        (["--loud"], "--loud"),
    ],
)
def test_wrong_use_is_one_sentence_and_status_2(storm, arguments, words):
    Path("folder.wav").mkdir()
    assert words in refused("run", storm, *arguments)
    assert not Path("out").exists()


def test_an_option_for_a_parameter_that_is_not_there_says_so(storm):
    Path("fixed.py").write_text("def scenario():\n    pass\n", encoding="utf-8")
    assert "fixed has no parameter 'seconds'; it has none" in refused("run", "fixed.py", "--seconds", "3")
    Path("asking.py").write_text("def scenario(*, size: int):\n    pass\n", encoding="utf-8")
    assert "asking needs the parameter size" in refused("run", "asking.py")


def test_an_unknown_scenario_suggests_the_nearest(storm, monkeypatch):
    monkeypatch.setattr(
        "ecs_audio.cli.find.shipped", lambda: {"raid": Path("raid.py"), "wall": Path("wall.py")}
    )
    assert refused("run", "riad") == "Error: there is no scenario 'riad'; did you mean 'raid'?"
    assert refused("run", "xyzzy") == "Error: there is no scenario 'xyzzy'; there are raid, wall"
    assert refused("check", storm, "riad") == "Error: there is no scenario 'riad'; did you mean 'raid'?"
    assert "the shipped scenario is called 'raid'" in refused("run", "raid.py")
    assert "there is no file" in refused("run", f"some{os.sep}raid")


def test_a_file_that_is_no_scenario_is_refused(storm):
    Path("empty.py").touch()
    assert "it has no function `scenario`" in refused("run", "empty.py")
    Path("bad.py").write_text("x = (", encoding="utf-8")
    assert "bad.py cannot be loaded: SyntaxError" in refused("run", "bad.py", status=1)
    assert "No such command" in refused("ran", storm)


def test_a_traceback_is_shown_only_with_debug(storm):
    Path("bug.py").write_text("def scenario():\n    return {}['x']\n", encoding="utf-8")
    assert "KeyError: 'x'" in refused("run", "bug.py", status=1)
    result = ask("--debug", "run", "bug.py", status=1)
    assert "Traceback" in result.stderr
    assert "return {}['x']" in result.stderr


def test_a_world_that_cannot_be_read_is_status_1(storm):
    Path("noise.mca").write_bytes(b"noise" * 100)
    assert "noise.mca cannot be read as a world" in refused("run", storm, "--world", "noise.mca", status=1)
    assert "noise.mca cannot be read as a world" in refused("world", "noise.mca", status=1)
    assert "nothing.mca" in refused("world", "nothing.mca")
    assert "must end in .png" in refused("world", "noise.mca", "--png", "map.jpg")


# Parameters.


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12", int, 12), ("-3", int, -3), ("1e3", float, 1000.0), ("3", float, 3.0), ("yes", bool, True),
        ("OFF", bool, False), ("a b", str, "a b"), ("none", str, "none"), ("none", str | None, None),
        ("none", Optional[int], None),  # noqa: UP045
        ("4", int | None, 4), ("4", str | int, 4), ("x", str | int, "x"),
        ("a/b", Path, Path("a/b")), ("two", Literal["one", "two"], "two"), ("2", Literal[1, 2], 2),
        ("TRUE", Literal["auto", True], True), ("None", Literal["auto", None], None),
        ("No", bool | None, False), ("none", bool | None, None),
        ("1,-2", tuple[int, int], (1, -2)), ("(1, 2.5)", tuple[int, float], (1, 2.5)),
        ("0,1.5,3", tuple[float, ...], (0.0, 1.5, 3.0)), ("", tuple[int, ...], ()), ("4,", tuple[int], (4,)),
        ("[a, b]", tuple[str, str], ("a", "b")), ("none", tuple[int, int] | None, None),
        ("3,4", tuple[int, int] | None, (3, 4)), ("x,y", tuple[int, int] | str, "x,y"),
        ("yes,off", tuple[bool, Literal["on", "off"]], (True, "off")),
    ],
)  # fmt: skip
def test_values_are_read_by_their_annotation(text, kind, value):
    assert parse(text, kind) == value
    assert type(parse(text, kind)) is type(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", int),
        ("1.5", int),
        ("inf", float),
        ("2", bool),
        ("x", int | None),
        ("three", Literal["one", "two"]),
        ("True", Literal[1, 2]),
        ("1", tuple[int, int]),
        ("1,2,3", tuple[int, int]),
        ("1,x", tuple[int, int]),
        ("1,,2", tuple[int, ...]),
        ("1,2", tuple[int, int, int] | None),
    ],
)
def test_texts_that_are_no_value_are_refused(text, kind):
    with pytest.raises(click.UsageError, match=r"x of storm must be .*, not"):
        values({"x": text}, {"x": Parameter("x", kind, 0)}, "storm", "parameter")


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("stoen", Literal["stone", "wool"], "must be 'stone' | 'wool', not 'stoen'; did you mean 'stone'?"),
        ("ture", bool, "must be true or false (bool), not 'ture'; did you mean 'true'?"),
        ("1,2", tuple[int, int, int], "must be 3 values between commas (tuple[int, int, int]), not '1,2'"),
        ("a", tuple[float, ...], "must be values between commas (tuple[float, ...]), not 'a'"),
        ("autp", Literal["auto"] | float, "must be 'auto' | float, not 'autp'; did you mean 'auto'?"),
    ],
)
def test_a_refusal_says_what_is_wanted_and_what_may_be_meant(text, kind, words):
    with pytest.raises(click.UsageError) as refusal:
        values({"x": text}, {"x": Parameter("x", kind, 0)}, "storm", "parameter")
    assert refusal.value.message == f"x of storm {words}"


def test_types_that_no_text_can_give_are_refused(storm):
    Path("odd.py").write_text(
        "def scenario(*, where: dict[int, int] = {1: 2}):\n    pass\n", encoding="utf-8"
    )
    assert "where of odd is dict[int, int], which cannot be given as text" in refused(
        "run", "odd.py", "--set", "where=1,2"
    )


def test_an_annotation_that_is_not_there_is_named(storm):
    Path("odd.py").write_text(
        "from __future__ import annotations\ndef scenario(*, size: Size = 1):\n    pass\n", encoding="utf-8"
    )
    assert "the parameter size has the annotation 'Size'" in refused("run", "odd.py")


def test_parameters_without_annotation_have_the_type_of_their_default():
    def make(*, a=1, b=None, c: int | None = None, **rest):
        pass

    assert [type_name(p.kind) for p in parameters_of(make).values()] == ["int", "str", "int | None"]


def test_a_value_may_hold_an_equals_sign():
    assert split(["a=b=c", " d = "], "--set") == {"a": "b=c", "d": ""}
    with pytest.raises(click.UsageError):
        split(["=3"], "--set")


# Listing.


def test_list_names_the_shipped_scenarios_with_their_parameters():
    names = list(shipped())
    if not names:
        pytest.skip("no scenario is there yet")
    listed = json.loads(ask("list", "--json").stdout)["scenarios"]
    assert [s["name"] for s in listed] == names
    assert not any(name.startswith("_") for name in names)
    good = next(s for s in listed if s["error"] is None and s["parameters"])
    assert good["title"]
    assert {"name", "type", "default", "required"} == good["parameters"][0].keys()
    line = next(line for line in ask("list").stdout.splitlines() if line.startswith(good["name"]))
    assert f"{good['parameters'][0]['name']}: {good['parameters'][0]['type']}" in line


def test_a_broken_scenario_does_not_hide_the_others(storm, monkeypatch):
    monkeypatch.setattr(
        "ecs_audio.cli.list.shipped", lambda: {"storm.py": Path(storm), "bad.py": Path("bad.py")}
    )
    Path("bad.py").write_text("import nothing_of_this_name", encoding="utf-8")
    stormy, bad = json.loads(ask("list", "--json").stdout)["scenarios"]
    assert stormy["title"] == "A tone behind a wall."
    assert stormy["parameters"][2] == {
        "name": "volume",
        "type": "float | None",
        "required": False,
        "default": None,
    }
    assert "ModuleNotFoundError" in bad["error"]


# Progress.


class _Slow:
    """An engine whose kernels take long."""

    def warm_up(self, note):
        note("mix", 0, 1)
        time.sleep(0.2)


def test_a_long_compilation_is_told_in_a_log_and_a_short_one_is_not(monkeypatch, capsys):
    class Kernel:
        class stats:
            cache_misses: dict[str, int] = {"x": 1}  # noqa: RUF012

    monkeypatch.setattr(jit, "pending", lambda: [Kernel()])
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    assert progress.warm_up(_Slow()) >= 0.2
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    progress.warm_up(_Slow())
    first, last = capsys.readouterr().err.splitlines()
    assert first == "Compiling 1 kernels, once for this version and machine ..."
    assert last.startswith("Compiled 1 kernels in ")


# Processes.


def test_json_is_all_that_stands_on_stdout(storm, tmp_path):
    done = process("run", storm, "--check", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["check"]["passed"] is True
    # Beside lines on kernels, if these take long, what the scenario itself prints.
    told = [word for word in done.stderr.split() if word in ("loading", "building", "checking")]
    assert told == ["loading", "building", "checking", "building"]


def test_a_package_of_the_same_name_in_the_current_folder_hides_no_scenario(tmp_path):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "__init__.py").touch()
    (tmp_path / "scenarios" / "mine.py").write_text("def scenario():\n    pass\n", encoding="utf-8")
    done = process("list", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [s["name"] for s in json.loads(done.stdout)["scenarios"]] == list(shipped())


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_no_file(storm, tmp_path, number, status):
    # A parent may have told its children to ignore SIGINT.
    code = """import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
from ecs_audio.cli import main; main()"""
    child = subprocess.Popen(
        [sys.executable, "-c", code, "run", storm, "--seconds", "100000", "-o", "new/long.flac"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 180
        while not any(part.stat().st_size for part in tmp_path.glob("new/.*")):
            assert child.poll() is None, child.stderr.read()
            assert time.monotonic() < end, "no rendering has begun"
            time.sleep(0.02)
        child.send_signal(number)
        _, told = child.communicate(timeout=30)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == status
    assert list((tmp_path / "new").iterdir()) == []
    assert "Traceback" not in told
    if number == signal.SIGINT:
        assert told.splitlines()[-1] == "Interrupted: what was not complete has been removed."


def test_python_m_ecs_audio_is_the_command(tmp_path):
    done = process("--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"ecs-audio {ea.__version__}\n")
    done = process("run", "nothing_like_it", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


_IMPORTS = """
import sys
{before}
from ecs_audio.cli import cli
for arguments in (["--help"], ["run", "--help"], ["run", "nothing_like_it"]):
    try:
        cli(arguments)
    except SystemExit:
        pass
print(sorted({{"numba", "numpy", "rich", "msgspec"}} & set(sys.modules)))
"""


def _imported(before):
    code = _IMPORTS.format(before=before)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()[-1]


def test_help_and_wrong_use_import_nothing_heavy():
    # Without the package's own `__init__`, which may import what it exports.
    bare = f"""import types
sys.modules["ecs_audio"] = types.ModuleType("ecs_audio")
sys.modules["ecs_audio"].__path__ = [{str(ROOT / "ecs_audio")!r}]"""
    assert _imported(bare) == "[]"


def test_help_imports_no_numba_through_the_package_either():
    assert "numba" not in _imported("")
