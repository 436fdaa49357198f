"""A sound server for tests: its sink plays nowhere, its monitor says to the sample what was played."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from ctypes.util import find_library
from glob import glob
from shutil import which

import numpy as np

RATE = 48_000
_ALSA = "pcm.!default { type pulse }\npcm.pulse { type pulse }\nctl.!default { type pulse }\n"


def missing():
    """What has to be installed before a server can be started, or None."""
    absent = [package for package, there in {
        "libportaudio2": find_library("portaudio"),
        "libasound2-plugins": glob("/usr/lib*/**/alsa-lib/libasound_module_pcm_pulse.so"),
        "pulseaudio": which("pulseaudio"),
        "pulseaudio-utils": which("parec"),
    }.items() if not there]  # fmt: skip
    return f"needs {' '.join(absent)}" if absent else None


def noise(frames):
    """What is played: no two frames are alike."""
    return np.random.default_rng(7).uniform(-0.5, 0.5, (frames, 2)).astype(np.float32)


class Server:
    """A PulseAudio daemon on a socket in a folder; `environment` is for whoever plays on it."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        (folder / "run").mkdir(mode=0o700)
        (folder / "asoundrc").write_text(_ALSA)
        (folder / "client.conf").write_text("autospawn = no\n")
        self.environment = os.environ | {
            "PULSE_SERVER": f"unix:{folder / 'socket'}",
            "PULSE_CLIENTCONFIG": str(folder / "client.conf"),
            "ALSA_CONFIG_PATH": str(folder / "asoundrc"),
            "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]),
        }

    def start(self):
        own = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "run")}
        (self.folder / "socket").unlink(missing_ok=True)
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [
                    "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--disable-shm=yes",
                    "--use-pid-file=no", "--log-target=stderr",
                    "-L", f"module-native-protocol-unix auth-anonymous=1 socket={self.folder / 'socket'}",
                    # A sink that can take back what it has played begins two seconds ahead: norewinds.
                    "-L", f"module-null-sink sink_name=test format=float32le rate={RATE} channels=2 "
                    "norewinds=1",
                ],
                env=os.environ | own, stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + 10
        while subprocess.run(["pactl", "info"], env=self.environment, capture_output=True).returncode:
            assert time.monotonic() < deadline, (self.folder / "server.log").read_text()
            time.sleep(0.02)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def record(self, play, tail=0.3):
        """What the monitor says while `play()` lasts: float32 (frames, 2)."""
        path = self.folder / "monitor.raw"
        with path.open("wb") as file:
            recorder = subprocess.Popen(
                ["parec", "--device=test.monitor", "--format=float32le", f"--rate={RATE}", "--channels=2",
                 "--raw", "--latency-msec=20"], env=self.environment, stdout=file,
            )  # fmt: skip
        try:
            deadline = time.monotonic() + 10
            while not path.stat().st_size:
                assert time.monotonic() < deadline, "parec records nothing"
                time.sleep(0.02)
            play()
            time.sleep(tail)
        finally:
            recorder.terminate()
            recorder.wait()
        data = path.read_bytes()
        return np.frombuffer(data[: len(data) // 8 * 8], np.float32).reshape(-1, 2)


def found(recorded, rendered):
    """For each recorded frame which rendered one it is, to the bit, or -1. Rendered ones are all unlike."""
    keys = np.ascontiguousarray(rendered).view(np.int64).ravel()
    heard = np.ascontiguousarray(recorded).view(np.int64).ravel()
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], heard), len(keys) - 1)]
    return np.where(keys[place] == heard, place, -1)


def align(recorded, rendered):
    """Stretches that are equal sample for sample: the longest one's starts in recorded and rendered, and its
    length; frames of all together. A machine that stands still makes several of one."""
    which_one = found(recorded, rendered)
    goes_on = (which_one[1:] == which_one[:-1] + 1) & (which_one[:-1] >= 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], goes_on, [False]]).astype(int)))
    if not len(edges):
        return 0, 0, 0, 0
    starts, lengths = edges[::2], edges[1::2] - edges[::2] + 1
    best = np.argmax(lengths)
    return int(starts[best]), int(which_one[starts[best]]), int(lengths[best]), int(lengths.sum())
