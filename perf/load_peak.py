"""What loading a world takes: `python load_peak.py FILE` prints CPU seconds, bytes and cells as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import ecs_audio as ea


def peak():
    """The most memory that this process has had so far [bytes]; `getrusage` begins with its parent's."""
    told = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(told.split("VmHWM:")[1].split()[0])


def main(path):
    ea.World.empty(size=(16, 16, 16))  # modules are loaded before
    before, start = peak(), time.process_time()
    world = ea.World.load(path)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "bytes": peak() - before, "cells": int(world.size.prod())}))


if __name__ == "__main__":
    main(sys.argv[1])
