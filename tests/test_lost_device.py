"""What happens when a sound server goes away, hangs, and comes back."""

import json
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pulse
import pytest

pytestmark = pytest.mark.skipif(pulse.missing() is not None, reason=str(pulse.missing()))

KEEP = """
import json, sys, threading, time
import numpy as np
from ecs_audio.output.outlet import Outlet
from ecs_audio.output.ring import CALLBACKS, READ, WRITTEN, Ring

ring = Ring(48000)
ring.frames[:] = 0.01
outlet = Outlet(ring, device="pulse")
over = threading.Event()

def write():
    while not over.wait(0.002):
        ring.clock[WRITTEN] = ring.clock[READ] + 4096

def tell(**more):
    read, now = int(ring.clock[READ]), time.monotonic()
    print(json.dumps(outlet.status() | {"read": read, "time": now} | more), flush=True)

def obey():
    sys.stdin.readline()
    over.set()

writer = threading.Thread(target=write)
writer.start()
outlet.open()
threading.Thread(target=obey, daemon=True, name="obey").start()
while not over.wait(0.02):
    tell()
began = time.monotonic()
outlet.close()
took = time.monotonic() - began
writer.join()
calls = int(ring.clock[CALLBACKS])
time.sleep(0.1)
threads = [t.name for t in threading.enumerate() if t.name not in ("MainThread", "obey")]
tell(took=took, threads=threads, late_calls=int(ring.clock[CALLBACKS]) - calls)
"""


@pytest.fixture
def server(tmp_path):
    server = pulse.Server(tmp_path)
    server.start()
    yield server
    server.kill()


class Player:
    """A process that plays and says every 20 ms how it is."""

    def __init__(self, server):
        self.process = subprocess.Popen(
            [sys.executable, "-c", KEEP], env=server.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def until(self, state, seconds=8.0):
        """The first status in a state from now on."""
        end = time.monotonic() + seconds
        for line in self.process.stdout:
            status = json.loads(line)
            if status["state"] == state and status["time"] > end - seconds:
                return status
            assert time.monotonic() < end, f"still {status['state']} after {seconds} s, not {state}"
        raise AssertionError(self.process.stderr.read())

    def after(self, seconds):
        """The first status after so many seconds."""
        end = time.monotonic() + seconds
        return next(status for line in self.process.stdout if (status := json.loads(line))["time"] > end)

    def pace(self, windows=5, seconds=0.4):
        """Frames a second: the median of windows, as a machine that stands still spoils one or two."""
        all_of_them = [self.after(0.0)]
        all_of_them += [self.after(seconds) for _ in range(windows)]
        return np.median([
            (after["read"] - before["read"]) / (after["time"] - before["time"])
            for before, after in pairwise(all_of_them)
        ])  # fmt: skip

    def close(self):
        """The last status, and what the process said on the terminal."""
        out, err = self.process.communicate("close\n", timeout=20)
        return json.loads(out.splitlines()[-1]), err


@pytest.fixture
def player(server):
    player = Player(server)
    yield player
    player.process.kill()
    player.process.communicate()


def test_a_killed_server_is_reported_once_and_sound_is_back_within_two_seconds(server, player):
    before = player.until("playing")
    assert player.after(0.5)["read"] > before["read"]
    server.kill()
    player.until("lost", 3.0)
    assert player.pace() == pytest.approx(48_000, rel=0.05)
    later = player.after(0.5)
    assert later["state"] == "lost"
    assert [later["losses"], len(later["reports"])] == [1, 1]
    assert later["reports"][0].startswith("pulse (ALSA) is lost: ")

    returned = time.monotonic()
    server.start()
    back = player.until("playing", 10.0)
    print(f"back after {back['time'] - returned:.2f} s")
    assert back["time"] - returned < 4.0  # 2 s on a machine that does nothing else
    assert player.pace() == pytest.approx(48_000, rel=0.15)
    end, said = player.close()
    assert [end["state"], end["threads"], end["late_calls"], len(end["reports"])] == ["closed", [], 0, 1]
    assert end["underrun_events"] <= 1
    assert "ALSA" not in said
    print(said)


def test_a_server_that_hangs_keeps_neither_close_nor_the_end_of_the_process(server, player):
    player.until("playing")
    player.after(0.5)
    server.freeze()
    frozen = time.monotonic()
    lost = player.until("lost", 5.0)
    assert lost["time"] - frozen < 1.5
    assert "it has not called for 0.4 s" in lost["reason"]
    assert player.pace() == pytest.approx(48_000, rel=0.1)

    server.thaw()
    player.until("playing", 4.0)
    assert player.after(0.6)["state"] == "playing"
    server.freeze()
    end, _ = player.close()  # before the loss is noticed
    assert end["took"] < 3
    assert end["reports"][1:] == ["pulse (ALSA) has not answered within 1 s and is left behind"]
    assert player.process.returncode == 0


def test_a_device_that_has_gone_when_it_is_closed_leaves_no_thread(server, player):
    player.until("playing")
    server.kill()
    player.until("lost", 3.0)
    end, _ = player.close()
    assert [end["threads"], end["late_calls"]] == [[], 0]
    assert end["took"] < 1.5
