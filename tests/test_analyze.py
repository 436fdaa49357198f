"""ecs-audio analyze, and its figures beside those of other tools."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner
from rooms import hear, shoebox
from scipy import signal

from ecs_audio import analysis
from ecs_audio.cli import cli
from ecs_audio.cli.measures import NOMINAL_THIRDS
from ecs_audio.perform import record
from scenarios import field

RATE = 48_000


def ask(*arguments, status=0):
    result = CliRunner().invoke(cli, ["analyze", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def refused(*arguments, status=1):
    result = ask(*arguments, status=status)
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
    return lines[-1]


def measured(*arguments):
    answer = json.loads(ask(*arguments, "--json").stdout)
    assert answer["errors"] == []
    (found,) = answer["files"]
    return found


def noise(seconds, seed=0):
    return np.random.Generator(np.random.PCG64(seed)).normal(0.0, 0.1, round(seconds * RATE))


@pytest.fixture
def room(tmp_path):
    """A clap at −30° in a room of RT60 0.7 s, an echo 80 ms later, half a second of silence around."""
    t = np.arange(round(0.9 * RATE)) / RATE
    angle = (math.sin(math.radians(-30)) + 1) * math.pi / 4
    x = np.zeros((round(1.9 * RATE), 2), np.float32)
    start = RATE // 2
    clap = noise(0.02) * np.exp(-np.arange(960) / 100)
    for frame, gain in ((start, 5.0), (start + 3840, 2.5)):
        x[frame : frame + 960] += gain * np.outer(clap, (math.cos(angle), math.sin(angle)))
    for ear, gain in enumerate((math.cos(angle), math.sin(angle))):
        x[start : start + len(t), ear] += 0.02 * gain * noise(0.9, seed=ear) * 10 ** (-3 * t / 0.7)
    file = tmp_path / "room.wav"
    soundfile.write(file, x, RATE, subtype="FLOAT")
    return file


# What it says


def test_json_has_every_figure_and_they_are_right(room):
    found = measured(room)
    x, _ = soundfile.read(room)
    assert (found["rate"], found["channels"], found["frames"]) == (RATE, 2, round(1.9 * RATE))
    assert found["peak_db"] == pytest.approx(analysis.peak_db(x))
    assert found["true_peak_db"] >= found["peak_db"]
    assert found["loudness_lufs"] == pytest.approx(analysis.loudness_lufs(x, RATE))
    assert found["silence"]["start"] == pytest.approx(0.5, abs=0.001)
    assert found["silence"]["end"] > 0.4
    (echo,) = found["echoes"]
    assert (echo["time"], echo["level_db"]) == pytest.approx((0.08, -6.0), abs=0.2)
    assert echo["time"] == pytest.approx(0.08, abs=1e-4)
    assert found["direction"]["overall"] == pytest.approx(-30, abs=1)
    assert len(found["direction"]["times"]) == len(found["direction"]["azimuth"]) <= 200
    assert found["clicks"] == []
    assert len(found["dc"]) == 2
    assert found["non_finite"] == 0
    assert [band["band"] for band in found["bands"]] == list(analysis.OCTAVES)
    total = 10 * math.log10(sum(10 ** (band["level_db"] / 10) for band in found["bands"]))
    assert total == pytest.approx(found["level_db"], abs=0.5)  # 44 Hz to 22.6 kHz


def test_a_click_an_offset_and_nan_are_named(tmp_path):
    x = 0.3 * np.sin(2 * np.pi * 100 * np.arange(RATE) / RATE) + 0.01
    x[30_000] += 0.5
    soundfile.write(tmp_path / "x.wav", x, RATE, subtype="FLOAT")
    found = measured(tmp_path / "x.wav")
    assert found["clicks"] == pytest.approx([30_000 / RATE], abs=1e-4)
    assert found["dc"] == pytest.approx([0.01], abs=1e-4)
    assert found["direction"] is None
    x[100] = math.nan
    soundfile.write(tmp_path / "x.wav", x, RATE, subtype="FLOAT")
    found = measured(tmp_path / "x.wav")
    assert found["non_finite"] == 1
    assert found["level_db"] is None
    assert found["echoes"] is None
    assert "NaN" in ask(tmp_path / "x.wav").stdout


def test_the_table_tells_the_same_to_people(room):
    text = ask(room).stdout
    for words in ("1.900 s", "2 channels at 48,000 Hz", "LUFS", "dBTP", "80.0 ms -6.1 dB", "-30° overall"):
        assert words in text
    assert "RT60" in text
    assert "16000" in text


def test_third_octaves_have_the_names_that_people_know(room):
    found = measured(room, "--bands", "third")
    names = [band["band"] for band in found["bands"]]
    assert names == list(NOMINAL_THIRDS)
    assert names[:3] == [25, 31.5, 40]
    assert names[-1] == 20_000
    for band, centre in zip(found["bands"], analysis.THIRDS, strict=True):
        assert band["low"] < band["band"] < band["high"]
        assert band["band"] == pytest.approx(centre, rel=0.02)


def test_a_part_is_measured_as_if_it_were_all(room):
    x, _ = soundfile.read(room, dtype="float32")
    found = measured(room, "--from", "0.5", "--to", "0.75")
    assert found["frames"] == RATE // 4
    assert found["from"] == 0.5
    assert found["level_db"] == pytest.approx(analysis.level_db(x[RATE // 2 : 3 * RATE // 4]))
    assert measured(room, "--to", "99")["frames"] == len(x)
    assert "at least 0.4 s" in measured(room, "--to", "0.2")["notes"][0]


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "mp3", "aiff", "au", "caf"])
def test_any_format_is_read(tmp_path, ending):
    file = tmp_path / f"x.{ending}"
    soundfile.write(file, 0.5 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE), RATE)
    found = measured(file)
    assert found["level_db"] == pytest.approx(20 * math.log10(0.5) - 3.01, abs=0.3)


def test_more_than_two_channels_are_measured_too(tmp_path):
    soundfile.write(tmp_path / "x.wav", np.stack([noise(0.5, k) for k in range(5)], axis=1), RATE)
    found = measured(tmp_path / "x.wav")
    assert found["channels"] == 5
    assert len(found["dc"]) == 5
    assert found["direction"] is None


def test_silence_and_a_single_sample_are_no_error(tmp_path):
    for samples in (np.zeros(RATE), np.zeros((RATE, 2)), np.ones(1)):
        soundfile.write(tmp_path / "x.wav", samples, RATE)
        found = measured(tmp_path / "x.wav")
        assert found["decay"]["rt60"] is None
        assert found["echoes"] == []
        ask(tmp_path / "x.wav")


def test_in_a_long_recording_decays_and_echoes_are_left_out_with_a_note(tmp_path):
    soundfile.write(tmp_path / "x.flac", noise(61.0)[::6], RATE // 6)
    found = measured(tmp_path / "x.flac")
    assert found["decay"] is found["echoes"] is found["repeats"] is None
    assert "60 s" in found["notes"][0]
    assert measured(tmp_path / "x.flac", "--to", "10")["echoes"] is not None
    assert "left out" in ask(tmp_path / "x.flac").stdout


# What it refuses


def test_wrong_files_and_options_get_a_sentence(room, tmp_path):
    (tmp_path / "text.wav").write_text("no sound")
    assert "gone.wav" in refused(tmp_path / "gone.wav")
    assert "text.wav: cannot be decoded" in refused(tmp_path / "text.wav")
    assert "is not a file" in refused(tmp_path)
    assert "nothing of it is after 5 s" in refused(room, "--from", "5")
    assert "from < to" in refused(room, "--from", "2", "--to", "1", status=2)
    assert "from < to" in refused(room, "--from", "nan", status=2)
    assert "one file, not 2" in refused(room, room, "--plot", "x.png", status=2)
    assert "must end in .png" in refused(room, "--plot", "x.jpeg", status=2)
    assert "third" in refused(room, "--bands", "half", status=2)
    assert "FILE" in refused(status=2)


def test_of_several_files_the_good_ones_are_measured_and_the_bad_named(room, tmp_path):
    result = ask(room, tmp_path / "gone.wav", room, "--json", status=1)
    answer = json.loads(result.stdout)
    assert len(answer["files"]) == 2
    assert "gone.wav" in answer["errors"][0]
    assert "gone.wav" in result.stderr


def test_without_pyloudnorm_only_the_loudness_is_missing(room, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyloudnorm", None)
    found = measured(room)
    assert found["loudness_lufs"] is None
    assert "ecs-audio[analysis]" in found["notes"][0]


def test_without_scipy_one_sentence_says_what_to_install(room, monkeypatch):
    for name in ("scipy", "scipy.signal", "scipy.ndimage"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'ecs-audio[analysis]'" in refused(room)


# The picture


def test_without_matplotlib_a_plot_is_refused_in_a_sentence(room, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'ecs-audio[plot]'" in refused(room, "--plot", tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_drawn(room, tmp_path, ending):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    ask(room, "--plot", tmp_path / f"x.{ending}", "--bands", "third")
    assert (tmp_path / f"x.{ending}").stat().st_size > 5000


# Beside other tools

REAL = ("perc_impact1.flac", "tnt_explode.ogg", "misc_cineboom.flac", "ambi_drone.flac")
CENTRES = (250.0, 500.0, 1000.0, 2000.0, 4000.0)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory, shared_data):
    """Rendered and real recordings as float files, half of full scale, with their samples and rates."""
    sounds = {
        "stone room": (hear(shoebox((5, 3, 4), ("stone",) * 3), (1.5, 1.7, 2.4), (3.1, 1.4, 1.4), 1.6), RATE),
        "oak hall": (hear(shoebox((30, 12, 20), ("oak_planks",) * 3), (9, 1.7, 12), (19, 1.4, 7), 3.0), RATE),
    }
    heard = record(field.scenario, what="clap")
    sounds["field"] = (heard.samples, heard.rate)
    for name in REAL:
        sounds[name] = soundfile.read(shared_data / "audio" / name, dtype="float32")
    folder = tmp_path_factory.mktemp("recordings")
    made = {}
    for name, (samples, rate) in sounds.items():
        x = (samples * (0.5 / np.abs(samples).max())).astype(np.float32)
        soundfile.write(folder / f"{name}.wav", x, rate, subtype="FLOAT")
        made[name] = (folder / f"{name}.wav", x, rate)
    return made


def sox(file: Path, *effects: str) -> dict[str, float]:
    """What `sox FILE -n ... stat` prints."""
    command = ["sox", str(file), "-n", *effects, "stat"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs = [line.split(":") for line in done.stderr.splitlines() if line.count(":") == 1]
    return {" ".join(name.split()): float(value) for name, value in pairs if "WARN" not in name}


def test_levels_and_bands_are_those_of_sox_within_5_percent(recordings):
    if shutil.which("sox") is None:
        pytest.skip("sox is not installed")
    for name, (file, x, rate) in recordings.items():
        whole = sox(file)
        assert 10 ** (analysis.level_db(x) / 20) == pytest.approx(whole["RMS amplitude"], rel=0.05), name
        assert 10 ** (analysis.peak_db(x) / 20) == pytest.approx(whole["Maximum amplitude"], rel=0.05) or (
            10 ** (analysis.peak_db(x) / 20) == pytest.approx(-whole["Minimum amplitude"], rel=0.05)
        )
        faint = 10 ** (analysis.level_db(x) / 20 - 3.5)
        for centre in CENTRES:
            low, high = centre / math.sqrt(2), centre * math.sqrt(2)
            theirs = sox(file, "pad", "0", "1", "sinc", "-n", "16383", f"{low:.3f}-{high:.3f}")
            ours = 10 ** (analysis.band_level_db(x, low, high, rate) / 20) * math.sqrt(
                len(x) / (len(x) + rate)
            )
            assert ours == pytest.approx(theirs["RMS amplitude"], rel=0.05, abs=faint), (name, centre)


def test_third_octaves_are_those_of_steep_filters_within_5_percent(recordings):
    for name, (_, x, rate) in recordings.items():
        levels = analysis.third_octave_levels_db(x, rate, centres=CENTRES)
        padded = np.pad(x.astype(np.float64).reshape(len(x), -1), ((rate, rate), (0, 0)))
        for centre, level in zip(CENTRES, levels, strict=True):
            edges = (centre * 10**-0.05, centre * 10**0.05)
            sos = signal.cheby2(
                16, 80, (edges[0] * 0.985, edges[1] * 1.015), "bandpass", fs=rate, output="sos"
            )
            through = signal.sosfilt(sos, padded, axis=0)
            theirs = math.sqrt(np.sum(through**2) / (len(x) * padded.shape[1]))
            # 70 dB below the whole, what is cut off at the ends and what the filter leaves decide.
            faint = 10 ** (analysis.level_db(x) / 20 - 3.5)
            assert 10 ** (level / 20) == pytest.approx(theirs, rel=0.05, abs=faint), (name, centre)


def test_reverberation_times_are_those_of_pyroomacoustics_within_5_percent(recordings):
    peer = pytest.importorskip("pyroomacoustics.experimental", reason="pyroomacoustics is not installed")
    compared = 0
    for name in ("stone room", "oak hall", "perc_impact1.flac", "tnt_explode.ogg", "misc_cineboom.flac"):
        _, x, rate = recordings[name]
        one = x.reshape(len(x), -1)[:, 0].astype(np.float64)
        one = one[analysis.onset(one, -20.0) :]
        for centre in (None, *CENTRES):
            band, through = None, one
            if centre is not None:
                band = (centre / math.sqrt(2), centre * math.sqrt(2))
                sos = signal.butter(4, band, "bandpass", fs=rate, output="sos")
                through = signal.sosfilt(sos, one)
            found = analysis.decay(one, rate, band)
            if found.rt60 == found.rt60 and found.range_db > 45:  # theirs does not see the noise
                theirs = peer.measure_rt60(through, rate, decay_db=found.span_db)
                assert found.rt60 == pytest.approx(theirs, rel=0.05), (name, centre, found)
                compared += 1
    assert compared >= 20


def test_a_field_has_no_reverberation_time(recordings):
    _, x, rate = recordings["field"]
    assert not analysis.rt60(x, rate) > 0.1
