"""`ecs-audio play`, `devices` and `doctor`: real processes, silent where a machine has no device."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import ecs_audio as ea
from ecs_audio.cli import cli, closing, doctor, meters, screen
from ecs_audio.output import devices
from ecs_audio.telemetry import Telemetry

ROOT = Path(__file__).parents[1]

BROOK = '''"""A tone that goes by."""

import numpy as np

import ecs_audio as ea

print("loading")


def scenario(*, seconds: float = 0.5, seed: int = 0) -> ea.Scenario:
    clips = ea.Clips()
    clips.add("tone", 0.5 * np.sin(np.arange(48000) * 0.1))
    spawn = ea.Spawn("tone", lambda time: (2.0, 2.0, time), options={"looping": True})
    return ea.Scenario(
        ea.World.empty(size=(16, 16, 16)), clips, seconds,
        listener=lambda time: ea.Pose((0.0, 2.0, 0.0)), spawns=[spawn], tick_rate=20.0, seed=seed,
    )
'''

ABSENT = """import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "sounddevice":
            raise OSError("PortAudio library not found")

sys.meta_path.insert(0, Absent())
"""

# A parent may have told its children to ignore SIGINT.
RUN = """import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
from ecs_audio.cli import main; main()"""


@pytest.fixture
def brook(tmp_path, monkeypatch):
    """A scenario file in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    Path("brook.py").write_text(BROOK, encoding="utf-8")
    return "brook.py"


def process(*arguments, path=()):
    """Run the command as a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, path), str(ROOT)])}
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments], env=environment, capture_output=True, text=True, timeout=300
    )


def played(*arguments):
    """The summary of a play in this process."""
    result = CliRunner().invoke(cli, ["play", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments, status=2, **options):
    """The one sentence that a wrong use gets."""
    done = process(*arguments, **options)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    lines = [line for line in done.stderr.splitlines() if line != "loading"]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.fixture
def without_portaudio(tmp_path):
    """A folder for PYTHONPATH with which `import sounddevice` fails as without the library."""
    folder = tmp_path / "absent"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(ABSENT, encoding="utf-8")
    return [folder]


# Playing.


def test_a_play_takes_its_time_and_ends_with_a_summary(brook):
    start = time.monotonic()
    done = process("play", brook, "--silent", "--seconds", "1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert time.monotonic() - start > 1.0
    assert (found["played"], found["interrupted"], found["seconds"]) == ("brook", False, 1.0)
    assert (found["ticks"], found["tick_rate"], found["voices"]["playing"]) == (20, 20.0, 1)
    assert found["parameters"] == {"seconds": 1.0, "seed": 0}
    assert found["settings"] == {"workers": 1, "stream_patience": 0.0}
    assert found["speakers"]["state"] == "silent"
    assert found["speakers"]["total_duration"] > 0.5
    assert found["governor"].keys() == {
        "step", "held_back", "lowest_step", "most_held_back", "seconds_held_back"
    }  # fmt: skip


def test_settings_that_are_given_win_over_those_of_live_use(brook):
    found = played(brook, "--silent", "--seconds", "0.1", "--setting", "workers=0", "--acoustics", "off")
    assert found["settings"] == {"acoustics": "off", "stream_patience": 0.0}


def test_a_recording_has_what_was_played(brook):
    import soundfile

    found = played(brook, "--silent", "--seconds", "1", "--record", "new/brook.flac")
    samples, rate = soundfile.read("new/brook.flac", dtype="float32")
    assert found["record"] == str(Path("new/brook.flac"))
    assert rate == 48_000
    assert 0.9 * rate < len(samples) < 5 * rate
    assert np.abs(samples).max() > 0.05


def test_a_log_gets_a_line_a_second_and_stdout_the_summary(brook):
    done = process("play", brook, "--silent", "--seconds", "1.3")
    lines = [line for line in done.stderr.splitlines() if " s: tick " in line]
    assert len(lines) in (1, 2)
    assert "1 voices" in lines[-1]
    assert "underruns" in done.stdout
    assert "brook, 1.30 s" in done.stdout
    assert "loading" not in done.stdout


def test_ctrl_c_ends_a_play_well_and_its_recording_is_complete(brook):
    import soundfile

    arguments = ["play", brook, "--silent", "--seconds", "1000", "--json", "--record", "b.wav"]
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        for told in child.stderr:
            if told.startswith(("1.", "2.")):
                break
        child.send_signal(signal.SIGINT)
        printed, rest = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 0, rest
    assert "Traceback" not in rest
    found = json.loads(printed)
    assert found["interrupted"] is True
    assert 1.0 < found["seconds"] < 60.0
    assert soundfile.info("b.wav").frames > 24_000
    assert sorted(file.name for file in Path().iterdir() if file.is_file()) == ["b.wav", "brook.py"]


def test_a_sound_file_plays_to_its_end_and_no_longer(brook):
    import soundfile

    soundfile.write("tone.wav", 0.25 * np.sin(np.arange(24_000) * 0.1), 48_000)
    found = played("tone.wav", "--silent", "--record", "again.wav")
    assert found["played"] == "tone.wav"
    assert found["seconds"] == pytest.approx(0.5, abs=0.2)
    assert found["settings"]["acoustics"] == "off"
    again, _ = soundfile.read("again.wav")
    assert np.abs(again).max() == pytest.approx(0.25, abs=0.02)
    assert played("tone.wav", "--silent", "--seconds", "0.2")["seconds"] == pytest.approx(0.2, abs=0.02)


def test_a_file_that_does_not_know_its_length_ends_when_it_is_over(brook):
    import soundfile

    if "MP3" not in soundfile.available_formats():
        pytest.skip("this libsndfile writes no MP3")
    soundfile.write("tone.mp3", 0.25 * np.sin(np.arange(24_000) * 0.1), 48_000)
    assert 0.4 < played("tone.mp3", "--silent")["seconds"] < 5.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["brook.py", "--silent", "--device", "3"], "--device and --silent exclude each other"),
        (["brook.py", "--silent", "--record", "x.mp3"], "no sound file ends in '.mp3'"),
        (["brook.py", "--silent", "--record", "folder.wav"], "is there and not a regular file"),
        (["brook.py", "--silent", "--block", "3"], "--block"),
        (["brook.py", "--silent", "--set", "sead=3"], "did you mean 'seed'?"),
        (["tone.wav", "--silent", "--set", "seed=3"], "tone.wav has no parameter 'seed'"),
        (["brook.py", "--silent", "--seconds", "0"], "brook lasts 0 s: there is nothing to play"),
        (["brok", "--silent"], "there is no scenario 'brok'"),
        (["nowhere.ogg", "--silent"], "there is no file 'nowhere.ogg'"),
    ],
)
def test_wrong_use_is_one_sentence_and_status_2(brook, arguments, words):
    Path("folder.wav").mkdir()
    ea.write_wav("tone.wav", np.zeros((480, 2), np.float32))
    result = CliRunner().invoke(cli, ["play", *arguments])
    assert result.exit_code == 2
    assert words in result.stderr.splitlines()[-1]


def test_a_file_that_is_no_sound_is_one_sentence_and_status_1(brook):
    Path("noise.wav").write_bytes(b"no sound at all" * 10)
    result = CliRunner().invoke(cli, ["play", "noise.wav", "--silent"])
    assert result.exit_code == 1
    assert "noise.wav" in result.stderr.splitlines()[-1]


# Without PortAudio.


def test_without_portaudio_a_play_is_refused_unless_it_is_silent_or_recorded(brook, without_portaudio):
    assert "PortAudio" in refused("play", brook, status=1, path=without_portaudio)
    for wanted in (["--silent"], ["--record", "x.wav"]):
        done = process("play", brook, "--json", *wanted, path=without_portaudio)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["speakers"]["state"] == "silent"
    assert Path("x.wav").stat().st_size > 48_000


def test_without_portaudio_there_are_no_devices_and_the_doctor_says_why(without_portaudio):
    told = refused("devices", status=1, path=without_portaudio)
    assert "PortAudio" in told
    done = process("doctor", "--json", path=without_portaudio)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is False
    for name in ("PortAudio", "default device", "route"):
        assert report["findings"][name]["verdict"].startswith("missing: ")
    assert report["findings"]["sounddevice"]["verdict"] == "ok"
    assert report["findings"]["kernels"]["verdict"] == "ok"


# Devices and the doctor.


def test_on_a_device_a_play_sounds_until_it_is_lost_and_ticks_go_on(brook, tmp_path):
    pulse = pytest.importorskip("pulse")
    if (absent := pulse.missing()) is not None:
        pytest.skip(absent)
    server = pulse.Server(tmp_path)
    server.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in server.environment.items():
                patch.setenv(name, value)
            listed = json.loads(process("devices", "--json").stdout)["devices"]
            assert [device["name"] for device in listed if device["is_default"]] == ["default"]
            findings = json.loads(process("doctor", "--json").stdout)["findings"]
            assert findings["default device"]["value"]["host_api"] == "ALSA"
            assert findings["route"]["value"] in ("compiled", "python")
            child = subprocess.Popen(
                [sys.executable, "-c", RUN, "play", brook, "--seconds", "4", "--json"],
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            for told in child.stderr:
                if told.startswith(("1.", "2.")):
                    break
            server.kill()
            printed, rest = child.communicate(timeout=60)
    finally:
        server.kill()
    assert child.returncode == 0, rest
    found = json.loads(printed)
    assert told.rstrip().endswith("playing")
    assert (found["speakers"]["state"], found["speakers"]["losses"]) == ("lost", 1)
    assert (found["ticks"], found["seconds"]) == (80, 4.0)
    assert found["speakers"]["reports"][0] in rest


def test_devices_are_listed_with_the_default_marked(monkeypatch):
    found = [
        devices.Device(0, "Loudspeakers [hw]", "ALSA", 2, 48_000.0, 0.0087, False),
        devices.Device(4, "pulse", "ALSA", 32, 44_100.0, 0.01, True),
    ]
    monkeypatch.setattr(devices, "devices", lambda: found)
    result = CliRunner().invoke(cli, ["devices"])
    assert [line.split() for line in result.stdout.splitlines()][1:] == [
        ["0", "Loudspeakers", "[hw]", "ALSA", "2", "48000", "8.7"],
        ["4", "pulse", "ALSA", "32", "44100", "10.0", "default"],
    ]
    listed = json.loads(CliRunner().invoke(cli, ["devices", "--json"]).stdout)["devices"]
    assert listed == [device._asdict() for device in found]


def test_the_doctor_reports_versions_processor_kernels_and_sound():
    done = process("doctor", "--json")
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert list(findings) == list(doctor.PROBES)
    assert findings["numpy"]["value"] == np.__version__
    assert findings["kernels"]["value"]["compiled"] == findings["kernels"]["value"]["kernels"] > 50
    assert findings["cores"]["value"] >= 1
    told = CliRunner().invoke(cli, ["doctor"]).stdout
    assert [line.split("  ")[0] for line in told.splitlines()[1 : 1 + len(findings)]] == list(findings)


def test_a_broken_probe_costs_only_its_line(monkeypatch):
    def broken():
        raise ValueError("no\nway")

    def absent():
        importlib.import_module("no_such_package_at_all.part")

    monkeypatch.setitem(doctor.PROBES, "soxr", broken)
    monkeypatch.setitem(doctor.PROBES, "esper", absent)
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    findings = json.loads(result.stdout)["findings"]
    assert findings["soxr"] == {"value": None, "verdict": "broken: ValueError: no way"}
    assert findings["esper"]["verdict"] == (
        "missing: no_such_package_at_all (python -m pip install no_such_package_at_all)"
    )
    assert findings["numpy"]["verdict"] == "ok"


def test_help_of_the_live_commands_imports_nothing_heavy():
    code = """import sys
from ecs_audio.cli import cli
for name in ("play", "devices", "doctor"):
    try:
        cli([name, "--help"])
    except SystemExit:
        pass
print(sorted({"numba", "sounddevice", "soundfile", "rich"} & set(sys.modules)))"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# The screen.

STATUS = {
    "state": "playing", "device": "HDA Intel PCH: ALC257 Analog (hw:0,0)", "host_api": "ALSA",
    "route": "compiled", "reason": None, "rate": 48_000, "block_frames": 512, "total_duration": 20.0,
    "underrun_events": 2, "underrun_duration": 0.013, "average_latency": 0.043, "minimum_latency": 0.04,
    "maximum_latency": 0.055, "load": 0.22, "peak_load": 0.55, "losses": 1, "late_ticks": 1,
    "skipped_ticks": 0, "reports": ["The device was lost at 12.3 s."],
}  # fmt: skip


@pytest.fixture
def busy():
    """Meters of a play in the middle of a raid."""
    telemetry = Telemetry(
        full=16, direct=84, free=12, queue=23, deferred=4, rays=1834, oldest_age=0.12, taps=34, room="street",
        rt60_near=0.84, rt60_far=1.53, reverbs=2, voices_playing=112, voices_virtual=3, voices_refused=1,
        quality=3, held_back="echoes 0 of 64, full sources 8 of 16, voices 32 of 128",
    )  # fmt: skip
    telemetry.microseconds["trace"] = 1e6 / 240  # a quarter of a tick
    scenario = ea.Scenario(ea.World.empty(size=(1, 1, 1)), ea.Clips(), 125.0)
    speakers = SimpleNamespace(status=lambda: STATUS, peaks=(0.5, 0.05))
    made = meters.Meters("raid", scenario, speakers, telemetry)
    made(SimpleNamespace(time=72.0), telemetry)
    return made


def drawn(busy, width):
    from rich.console import Console

    console = Console(width=width, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    with console.file:
        console.print(screen.picture(busy, width))
    return console.export_text().splitlines()


@pytest.mark.parametrize(("width", "lines"), [(80, 16), (120, 11)])
def test_the_screen_fits_a_terminal_of_80_and_of_120_columns(busy, width, lines):
    picture = drawn(busy, width)
    assert len(picture) == lines
    assert max(map(len, picture)) <= width
    text = "\n".join(picture)
    for words in (
        "1:12.0 of 2:05.0", "16 full, 84 direct, 12 free", "112 playing, 3 virtual, 1 refused", "34 of 64",
        "1,834 of 2,048", "23 due, 4 deferred, oldest path 0.12 s", "street, RT60 0.84 s near, 1.53 s far",
        "2, 0.013 s in all", "43 ms, 40 to 55", "voices 32 of 128", "(ALSA), compiled", "-6.0 dBFS",
        "The device was lost", "25 % of 16.7 ms", "22 % of 10.7 ms, worst 55 %",
    ):  # fmt: skip
        assert words in text


def test_a_narrow_terminal_shows_everything_too(busy):
    picture = drawn(busy, 50)
    assert max(map(len, picture)) <= 50
    assert "worst 55 %" in "\n".join(picture)


def test_bars_are_as_long_as_their_share_with_a_mark_at_the_worst():
    assert screen.bar(0.5, 0.8, 10, "red").plain == "█████··│··"
    assert screen.bar(0.5, 0.5, 10, "red").plain == "█████·····"
    assert screen.bar(7.0, 9.0, 10, "red").plain == "██████████"
    assert screen.bar(0.0, 0.0, 10, "red").plain == "··········"
    assert (screen.height(1.0), screen.height(0.0)) == (1.0, 0.0)
    assert screen.height(10 ** (-30 / 20)) == pytest.approx(0.5)


def test_a_peak_is_held_until_a_louder_one_or_for_a_while(busy, monkeypatch):
    now = time.monotonic()
    for after, peak, held in (
        (0.0, 0.5, 0.5),
        (1.0, 0.1, 0.5),
        (1.4, 0.7, 0.7),
        (2.8, 0.1, 0.7),
        (3.0, 0.2, 0.2),
    ):
        monkeypatch.setattr(meters, "monotonic", lambda after=after: now + after)
        busy.speakers.peaks = (peak, 0.0)
        busy.look()
        assert busy.held[0] == held


def test_a_play_of_days_keeps_the_last_ten_thousand_ticks(busy):
    for k in range(meters.KEPT_TICKS + 500):
        busy(SimpleNamespace(time=k / 60), busy.telemetry)
    assert meters.KEPT_TICKS <= len(busy.census.rows) < meters.KEPT_TICKS + 100
    assert busy.seconds_held_back == pytest.approx((meters.KEPT_TICKS + 501) / 60)
    assert busy.lowest_step == 3


def test_the_closing_summary_says_it_in_words(busy):
    busy.look()
    found = closing.closing(busy, Path("raid.flac"), interrupted=True)
    told = "\n".join(f"{name} {value}" for name, value in closing.lines(found))
    for words in (
        "raid, 72.02 s, until Ctrl-C", "raid.flac", "HDA Intel PCH: ALC257 Analog (hw:0,0) (ALSA), compiled",
        "load 22 %, 55 % at most", "1, 1 late, 0 skipped", "25 % of their time in the median",
        "echoes 0 of 64, full sources 8 of 16, voices 32 of 128 at most", "The device was lost",
    ):  # fmt: skip
        assert words in told


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_at_a_terminal_a_screen_is_drawn_and_wiped(brook):
    import pty

    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, "play", brook, "--silent", "--seconds", "1"], stderr=theirs,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65_536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    printed = child.communicate(timeout=60)[0].decode()
    assert child.returncode == 0
    text = shown.decode()
    assert text.count("sources") >= 3
    assert "Ctrl-C ends it" in text
    assert text.rstrip("\r").endswith("\x1b[2K")
    assert "brook, 1.00 s" in printed
