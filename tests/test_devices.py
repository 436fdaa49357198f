"""Devices are found by name, and without one sound goes by at the pace of real time."""

import os
import subprocess
import sys
import threading
import time
import warnings
from ctypes.util import find_library

import numpy as np
import pytest

from ecs_audio.output.devices import Device, DeviceError, pick
from ecs_audio.output.outlet import Outlet
from ecs_audio.output.ring import (
    DELIVERED,
    LATENCY_LOW,
    READ,
    UNDERRUN_EVENTS,
    UNDERRUN_FRAMES,
    WRITTEN,
    Ring,
)
from ecs_audio.output.silence import PERIOD, Silence
from ecs_audio.output.stream import open_stream

RATE = 48_000


def device(index, name, host_api="ALSA", channels=2, is_default=False):
    return Device(index, name, host_api, channels, 48_000.0, 0.01, is_default)


CARDS = [
    device(1, "HDA Intel PCH: ALC257 Analog (hw:0,0)"),
    device(4, "USB Audio: Headset (hw:1,0)"),
    device(5, "pulse"),
    device(6, "default", is_default=True),
    device(7, "USB Audio: Headset", "JACK Audio Connection Kit"),
]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (None, 6),
        (4, 4),
        ("pulse", 5),
        ("PULSE", 5),
        ("analog", 1),
        ("usb headset hw", 4),
        ("headset jack", 7),
    ],
)
def test_a_device_is_found_by_number_name_or_words_of_it(wanted, index):
    assert pick(wanted, CARDS).index == index


def test_what_several_devices_have_in_common_is_no_name_unless_one_is_reached_as_the_default_is():
    assert pick("headset", CARDS).index == 4
    with pytest.raises(DeviceError, match=r"several devices are named 'a', take a number: 1 'HDA.*, 4 'USB"):
        pick("a", CARDS)


@pytest.mark.parametrize("wanted", [2, "pulze", "kazoo"])
def test_a_device_that_is_not_there_is_named_with_those_that_are(wanted):
    with pytest.raises(
        DeviceError, match=f"there is no device {wanted!r} to play on; there is .*5 'pulse'"
    ) as error:
        pick(wanted, CARDS)
    assert ("HDA" in str(error.value)) == (wanted != "pulze")  # the nearest only, where one is near


def test_no_device_at_all_is_one_sentence():
    with pytest.raises(DeviceError, match="PortAudio finds no device to play on"):
        pick(None, [])


def test_one_channel_is_refused_and_so_is_an_unknown_callback():
    with pytest.raises(DeviceError, match=r"horn \(ALSA\) has one channel, and sound has two"):
        open_stream(Ring(RATE), device(0, "horn", channels=1))
    with pytest.raises(ValueError, match="callback is 'fast': take 'auto', 'compiled' or 'python'"):
        open_stream(Ring(RATE), device(0, "horn"), callback="fast")


def reads(silence, ring, times, fill=None):
    """Read at these times; the ring is filled up to `fill` frames before each."""
    for now in times:
        if fill is not None:
            ring.clock[WRITTEN] = ring.clock[READ] + fill
        silence.read(now)
    return ring.clock


def test_silence_takes_a_second_of_sound_in_a_second():
    ring = Ring(RATE)
    clock = reads(Silence(ring, 5.0), ring, 5 + PERIOD * np.arange(1, 101), fill=1920)
    assert clock[READ] == clock[DELIVERED] == RATE
    assert clock[UNDERRUN_EVENTS] == 0
    assert clock[LATENCY_LOW] == 1920


def test_silence_that_comes_late_catches_up_and_calls_it_no_underrun():
    ring = Ring(RATE)
    times = np.concatenate([PERIOD * np.arange(1, 11), 0.6 + PERIOD * np.arange(41)])
    clock = reads(Silence(ring, 0.0), ring, times, fill=1920)
    assert clock[READ] == clock[DELIVERED] == RATE
    assert clock[UNDERRUN_EVENTS] == clock[UNDERRUN_FRAMES] == 0


def test_sound_that_is_not_rendered_in_time_is_an_underrun_in_silence_too():
    ring = Ring(RATE)
    silence = Silence(ring, 0.0)
    reads(silence, ring, PERIOD * np.arange(1, 51), fill=1920)
    clock = reads(silence, ring, PERIOD * np.arange(51, 101))
    assert clock[DELIVERED] == RATE
    assert clock[UNDERRUN_EVENTS] == 1
    assert clock[UNDERRUN_FRAMES] == RATE - clock[READ] == RATE // 2 - 1440


def test_an_outlet_that_is_asked_to_be_silent_keeps_time_and_says_nothing():
    ring = Ring(RATE)
    ring.clock[WRITTEN] = 60_000
    outlet = Outlet(ring, device="silent")
    assert outlet.status()["state"] == "closed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outlet.open()
    began, first = time.perf_counter(), int(ring.clock[READ])
    time.sleep(0.5)
    status, read, took = outlet.status(), int(ring.clock[READ]) - first, time.perf_counter() - began
    assert read == pytest.approx(took * RATE, abs=0.1 * RATE)
    assert (status["state"], status["reason"], status["route"], status["reports"]) == ("silent", "", None, [])
    assert status["underrun_events"] == 0
    assert status["total_duration"] == pytest.approx(took, abs=0.1)
    outlet.close()
    outlet.close()
    assert outlet.state == "closed"
    assert not [t for t in threading.enumerate() if t.name.startswith("ecs_audio")]
    read = int(ring.clock[READ])
    outlet.open()  # once more
    time.sleep(0.1)
    outlet.close()
    assert ring.clock[READ] > read


FALL_SILENT = """
import threading, time, warnings
from ecs_audio.output.outlet import Outlet
from ecs_audio.output.ring import READ, WRITTEN, Ring
ring = Ring(48000)
ring.clock[WRITTEN] = 60000
outlet = Outlet(ring)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    outlet.open()
time.sleep(0.3)
print(outlet.state, ring.clock[READ] > 4800, len(caught), caught[0].category.__name__)
print(outlet.status()["reason"])
outlet.close()
print([t.name for t in threading.enumerate()])
"""


def fall_silent(**environment):
    done = subprocess.run(
        [sys.executable, "-c", FALL_SILENT], env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    state, reason, threads = done.stdout.splitlines()
    assert state == "silent True 1 DeviceWarning"
    assert threads == "['MainThread']"
    return reason


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            "OSError('PortAudio library not found')",
            "PortAudio is not installed: install libportaudio2 (Debian",
        ),
        ("RuntimeError('host error')", "PortAudio does not start: host error. Sound goes on unheard."),
    ],
)
def test_without_portaudio_an_outlet_says_what_to_install_and_keeps_time(tmp_path, error, sentence):
    (tmp_path / "sounddevice.py").write_text(f"raise {error}\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert fall_silent(PYTHONPATH=path).startswith(sentence)


@pytest.mark.skipif(
    sys.platform != "linux" or not find_library("portaudio"), reason="needs ALSA and libportaudio2"
)
def test_without_a_device_an_outlet_says_so_once_and_keeps_time(tmp_path):
    (tmp_path / "asoundrc").write_text("pcm.!default { type pulse }\n")
    reason = fall_silent(
        ALSA_CONFIG_PATH=str(tmp_path / "asoundrc"), PULSE_SERVER=f"unix:{tmp_path / 'nobody'}"
    )
    assert reason.startswith("PortAudio finds no device to play on")
