"""Sound files become clips, or are refused by name: every format, and what is broken or hostile."""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from test_clips import AUDIO, samples, sine

from ecs_audio import analysis
from ecs_audio.clips import ClipError, Clips
from ecs_audio.clips.decode import decode


def write(path, data=None, rate=48_000, **options):
    soundfile.write(path, sine(rate=rate) if data is None else data, rate, **options)
    return path


@pytest.mark.parametrize(
    ("ending", "options", "exact"),
    [
        (".wav", {"subtype": "FLOAT"}, 1e-7),
        (".wav", {"subtype": "PCM_U8"}, 1e-2),
        (".wav", {"subtype": "PCM_24"}, 1e-6),
        (".aiff", {}, 1e-4),
        (".flac", {}, 1e-4),
        (".ogg", {}, 0.05),
        (".opus", {"format": "OGG", "subtype": "OPUS"}, None),
        (".mp3", {}, None),
    ],
)
def test_every_format_is_decoded(tmp_path, ending, options, exact):
    path = write(tmp_path / f"tone{ending}", **options)
    clips = Clips()
    assert clips.load(path) == ["tone"]
    heard = samples(clips, "tone")
    assert analysis.tone_level_db(heard, 1000, 48_000) == pytest.approx(20 * np.log10(0.5), abs=0.2)
    if exact is not None:
        np.testing.assert_allclose(heard, sine(), atol=exact)


def test_a_file_at_another_rate_is_resampled_once(tmp_path):
    clips = Clips()
    clips.load(write(tmp_path / "a.flac", sine(1000, 1.0, 44_100), 44_100))
    assert clips.length[0] == 48_000
    assert analysis.frequency(samples(clips, "a")[2_400:-2_400], 48_000) == pytest.approx(1000, rel=1e-5)


def test_a_name_without_ending_finds_its_file_in_a_fixed_order(tmp_path):
    write(tmp_path / "boom.wav", np.full(10, 0.25))
    clips = Clips()
    assert clips.load(tmp_path / "boom") == ["boom"]
    assert samples(clips, "boom")[0] == 0.25
    write(tmp_path / "boom.flac", np.full(10, 0.5))
    assert clips.load(str(tmp_path / "boom"), name="other") == ["other"]
    assert samples(clips, "other")[0] == 0.5
    write(tmp_path / "step.1.ogg")
    assert clips.load(tmp_path / "step.1") == ["step.1"]


def test_a_missing_file_is_named_with_what_was_tried(tmp_path):
    with pytest.raises(ClipError, match=r"boom: no such file, nor with .flac, .ogg, .opus, .mp3, .wav"):
        Clips().load(tmp_path / "boom")


def test_a_folder_gives_every_sound_file_in_it_by_its_stem(tmp_path):
    for name in ("b.wav", "a.FLAC", "c.ogg", ".hidden.wav"):
        write(tmp_path / name)
    (tmp_path / "readme.txt").write_text("no sound")
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "d.wav")
    clips = Clips()
    assert clips.load(tmp_path) == ["a", "b", "c"] == list(clips.names)


def test_a_broken_file_in_a_folder_costs_only_itself(tmp_path):
    write(tmp_path / "a.wav")
    (tmp_path / "b.wav").write_bytes(b"broken")
    write(tmp_path / "c.wav")
    write(tmp_path / "c.flac")
    clips = Clips()
    with pytest.raises(ClipError, match=r"b\.wav: cannot be decoded.*c\.wav: a clip called 'c'"):
        clips.load(tmp_path)
    assert clips.names == ("a", "c")


def test_a_folder_without_sounds_and_a_name_for_a_folder_are_refused(tmp_path):
    with pytest.raises(ClipError, match="holds no sound file"):
        Clips().load(tmp_path)
    with pytest.raises(ClipError, match="is a folder"):
        Clips().load(tmp_path, name="all")


# Hostile files


def refusal(clips, path):
    """What the ClipError says, None if there is none."""
    try:
        clips.load(path)
    except ClipError as error:
        return str(error)
    return None


def whole_file(folder, ending):
    path = write(folder / f"whole{ending}", sine(seconds=1.0))
    return path.read_bytes()


@pytest.mark.parametrize("ending", [".wav", ".flac", ".aiff", ".w64", ".au"])
@pytest.mark.parametrize("share", [0.0005, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused_by_name(tmp_path, ending, share):
    data = whole_file(tmp_path, ending)
    path = tmp_path / f"cut{ending}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ClipError, match=f"cut\\{ending}"):
        Clips().load(path)


@pytest.mark.parametrize("ending", [".ogg", ".mp3"])
def test_a_truncated_stream_without_a_length_is_refused_or_taken_as_far_as_it_goes(tmp_path, ending):
    data = whole_file(tmp_path, ending)
    for share in (0.01, 0.3, 0.9):
        path = tmp_path / f"cut{ending}"
        path.write_bytes(data[: int(len(data) * share)])
        clips = Clips()
        said = refusal(clips, path)
        assert f"cut{ending}" in said if said else 0 < clips.length[0] <= 48_000


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([b"", b"RIFF", b"RIFF\xff\xff\xff\xffWAVE", b"fLaC", b"OggS", b"ID3", b"FORM", b"caff"]),
    st.binary(max_size=600),
    st.sampled_from([".wav", ".flac", ".ogg", ".mp3", ".raw", ".txt"]),
)
def test_random_bytes_are_refused_by_name_whatever_they_begin_with(tmp_path_factory, head, tail, ending):
    path = tmp_path_factory.getbasetemp() / f"noise{ending}"
    path.write_bytes(head + tail)
    with pytest.raises(ClipError, match=f"noise\\{ending}"):
        Clips().load(path)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), ending=st.sampled_from([".wav", ".flac", ".ogg", ".aiff"]))
def test_a_file_with_broken_bytes_is_refused_or_gives_finite_samples(tmp_path_factory, data, ending):
    folder = tmp_path_factory.getbasetemp()
    path = folder / f"short{ending}"
    if not path.exists():
        write(path, sine(seconds=0.05))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, min(len(content) - 1, 400)))] = data.draw(st.integers(0, 255))
    broken = folder / f"broken{ending}"
    broken.write_bytes(content)
    clips = Clips()
    said = refusal(clips, broken)
    assert said is None or f"broken{ending}" in said
    assert np.isfinite(clips.bank).all()


@pytest.mark.parametrize("content", [b"", b"this is no sound\n" * 100])
def test_an_empty_file_and_a_text_are_refused(tmp_path, content):
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    with pytest.raises(ClipError, match=r"a\.wav"):
        Clips().load(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_a_float_file_with_nan_infinity_or_absurd_values_is_refused(tmp_path, value):
    data = sine().astype(np.float32)
    data[77] = value
    with pytest.raises(ClipError, match=r"a\.wav: clip 'a'"):
        Clips().load(write(tmp_path / "a.wav", data, subtype="FLOAT"))


def wav(frames, claimed_frames, channels=1, bits=16, rate=48_000):
    fmt = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    data = bytes(frames * channels * bits // 8)
    claimed = claimed_frames * channels * bits // 8
    head = struct.pack("<4sI4s4sI", b"RIFF", (36 + claimed) & 0xFFFFFFFF, b"WAVE", b"fmt ", 16) + fmt
    return head + struct.pack("<4sI", b"data", claimed & 0xFFFFFFFF) + data


def test_a_header_that_claims_more_frames_than_there_are_is_refused(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 1_000_000))
    with pytest.raises(ClipError, match=r"a\.wav: ends after 1000 frames"):
        Clips().load(tmp_path / "a.wav")


def test_a_header_from_a_pipe_that_could_not_know_its_size_is_taken(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav(1000, 0x7FFFFFF0))
    clips = Clips()
    clips.load(tmp_path / "a.wav")
    assert clips.length[0] == 1000


def png():
    """A picture of one grey pixel."""

    def chunk(kind, data):
        return struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = chunk(b"IDAT", zlib.compress(b"\0\x80"))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixel + chunk(b"IEND", b"")


def endless_flac(folder):
    """Real samples under a header that claims 2^36 - 1 frames: 256 GiB as float32."""
    data = bytearray(write(folder / "whole.flac").read_bytes())
    data[21] |= 0x0F  # of the stream's 36 bits of total samples, the upper four
    data[22:26] = b"\xff" * 4
    return bytes(data)


def au(claimed_bytes, channels=1):
    return struct.pack(">4sIIIII", b".snd", 24, claimed_bytes, 6, 48_000, channels) + bytes(4_000)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("bits13.wav", wav(1000, 1000, bits=13), "has 13 bits a sample"),
        ("bits36.wav", wav(1000, 1000, bits=36), "cannot be decoded"),
        ("bits0.wav", wav(1000, 1000, bits=0), "cannot be decoded"),
        ("picture.wav", png(), "cannot be decoded"),
        ("picture.flac", png(), "cannot be decoded"),
        ("rate0.wav", wav(1000, 1000, rate=0), "cannot be decoded"),
        ("none.wav", wav(0, 0), "no frames"),
        ("channels0.wav", wav(1000, 1000, channels=0), "cannot be decoded"),
        ("channels6.wav", wav(1000, 1000, channels=6), "has 6 channels"),
        ("channels1024.wav", wav(10, 10, channels=1024), "has 1024 channels"),
    ],
)
def test_a_file_that_is_no_sound_for_us_is_refused_by_name(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    clips = Clips()
    with pytest.raises(ClipError, match=f"{name}.*{says}"):
        clips.load(tmp_path / name)
    assert clips.count == 0


def test_seven_bits_a_sample_are_refused_by_name(tmp_path):
    data = bytes([0, 64, 128, 192, 254])
    fmt = struct.pack("<HHIIHH", 1, 1, 48_000, 48_000, 1, 7)
    head = struct.pack("<4sI4s4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16) + fmt
    (tmp_path / "a.wav").write_bytes(head + struct.pack("<4sI", b"data", len(data)) + data)
    with pytest.raises(ClipError, match=r"a\.wav: has 7 bits a sample, and 4, 8, 12"):
        Clips().load(tmp_path / "a.wav")


def many_channels():
    """65 535 channels of 16 bits."""
    fmt = struct.pack("<HHIIHH", 1, 65_535, 48_000, 0xFFFFFFFF, 0xFFFF, 16)
    head = struct.pack("<4sI4s4sI", b"RIFF", 0x7FFFFFFF, b"WAVE", b"fmt ", 16) + fmt
    return head + struct.pack("<4sI", b"data", 0x7FFFFF00) + bytes(200_000)


IN_LITTLE_MEMORY = """
import resource, sys
import soundfile, soxr
from ecs_audio.clips import ClipError, Clips
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    clips = Clips()
    try:
        clips.load(path)
        print("taken:", clips.length[0])
    except ClipError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no limit of memory to set here")
def test_headers_that_claim_gigabytes_cost_no_memory(tmp_path):
    bombs = {
        "frames.flac": endless_flac(tmp_path),
        "channels.wav": many_channels(),
        "frames.wav": wav(1000, 0x3FFF0000),
        "frames.au": au(0x7FFF0000),
        "channels.au": au(0x7FFF0000, channels=65_535),
        "more.au": au(0x7FFF0000, channels=0x7FFFFFFF),
    }
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", IN_LITTLE_MEMORY, *(str(tmp_path / name) for name in bombs)]
    done = subprocess.run(command, check=True, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    for name, line in zip(bombs, done.stdout.splitlines(), strict=True):
        assert name in line


def test_a_file_is_counted_while_it_is_read_and_not_read_to_its_end(tmp_path):
    path = write(tmp_path / "long.flac", np.zeros(300_000))
    with pytest.raises(ClipError, match=r"long\.flac: goes on after 100000 frames"):
        decode(path, max_frames=100_000)
    assert len(decode(path, max_frames=300_000)[0]) == 300_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(ClipError, match=r"pipe\.wav: is not a file"):
        Clips().load(tmp_path / "pipe.wav")


def test_decoders_are_imported_only_when_a_file_or_another_rate_needs_them():
    code = (
        "import sys, ecs_audio.clips, ecs_audio.output, ecs_audio.analysis\n"
        "ecs_audio.clips.Clips().synthesize('clap')\n"
        "assert not {'soundfile', 'soxr', 'scipy', 'pyloudnorm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


# Real recordings


@pytest.mark.skipif(not AUDIO.is_dir(), reason=f"the real recordings are not at {AUDIO}")
def test_real_recordings_are_decoded_resampled_and_kept_whole():
    clips = Clips()
    names = clips.load(AUDIO)
    assert "tnt_explode" in names
    assert len(names) == len(clips.names) >= 7
    for path in AUDIO.iterdir():
        if path.stem in clips:
            info = soundfile.info(path)
            heard = samples(clips, path.stem)
            assert len(heard) == pytest.approx(info.frames * 48_000 / info.samplerate, abs=1)
            original = soundfile.read(path, always_2d=True)[0].mean(axis=1)
            assert analysis.level_db(heard) == pytest.approx(analysis.level_db(original), abs=0.05)
            assert -60 < analysis.level_db(heard) < 0
            assert (clips.side[clips.id(path.stem)] >= 0) <= (info.channels == 2)
