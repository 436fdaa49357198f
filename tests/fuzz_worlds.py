"""Look for files that hurt: `python tests/fuzz_worlds.py --format schem --minutes 10 --seed 1`.

Small files are changed at random, also behind their checksums; those that reach new lines of the readers, or
a new sentence, are changed further. What is neither a good world nor a typed error, or takes too long, is
kept with its seed beside the corpus. A run is a child process with bounded memory, so that it may die.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from types import CodeType, FrameType
from typing import Any

import hostile
import hostile_folders

import ecs_audio.world
from ecs_audio.world import OutsideError, World, WorldFormatError

READERS = str(Path(ecs_audio.world.__file__).parent)
SECONDS = 10
"""Of the processor for one input."""
PATIENCE = 120
"""Seconds after which the child ends, wherever it hangs."""


WINDOW = {"around": (8, 8, 8), "radius": 24}
"""What every fourth input is loaded around."""
FOLDER = "folder"


class TooLong(BaseException):
    """An input takes longer than it may."""


def cover() -> set[tuple[CodeType, int]]:
    """Return a set to which each line of the readers is added when it first runs."""
    seen: set[tuple[CodeType, int]] = set()
    if sys.version_info >= (3, 12):
        events = sys.monitoring.events.LINE

        def at_line(code: CodeType, line: int) -> object:
            if code.co_filename.startswith(READERS):
                seen.add((code, line))
            return sys.monitoring.DISABLE

        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "fuzz")
        sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, events, at_line)
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, events)
        return seen
    left: dict[CodeType, set[int]] = {}

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if event == "line" and frame.f_lineno in left[code]:
            left[code].discard(frame.f_lineno)
            seen.add((code, frame.f_lineno))
        elif event == "call" and code not in left:
            is_ours = code.co_filename.startswith(READERS)
            left[code] = {line for *_, line in code.co_lines() if line} if is_ours else set()
        return trace if left[code] else None

    sys.settrace(trace)
    return seen


def run(kind: str, seed: int, until: float, folder: Path, memory: int) -> None:
    """Change files of a format until a time, and keep what is new and what hurts."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    where = Path(mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    path = where / ("world" if kind == FOLDER else hostile.FILES[kind])
    damaged = hostile_folders.damaged if kind == FOLDER else hostile.damaged
    rng = random.Random(seed)
    corpus = hostile_folders.small() if kind == FOLDER else [*hostile.small(kind), *hostile.real(kind)]
    corpus += [file.read_bytes() for file in sorted((folder / "corpus").iterdir())]
    seen, sentences, finds = cover(), set[str](), set[str]()
    slowest, count, peak = 0.0, 0, _peak()

    def stop(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    warnings.simplefilter("error")
    while time.time() < until:
        data = corpus[count] if count < len(corpus) else b""
        if not data:
            # Those that came last lead on most often.
            some = corpus if rng.random() < 0.5 else corpus[-40:]
            with suppress(sqlite3.Error):  # what is damaged too much to be changed within
                data = damaged(rng.choice(some), rng, rng.sample(corpus, min(3, len(corpus))))
        if not data:
            continue
        if kind == FOLDER:
            hostile_folders.write(path, data)
        else:
            path.write_bytes(data)
        (folder / "running").write_bytes(data)
        known, began, problem, said = len(seen), time.process_time(), "", set[str]()
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            hostile.check(World.load(path, **(WINDOW if count % 4 == 3 else {})))
        except (WorldFormatError, OutsideError, OSError) as error:
            said = set(re.split("[:;,]", re.sub(r"\d+|['\"].*", "", str(error).replace(str(path), ""))))
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{type(error).__name__} at {where.filename}:{where.lineno}"
            report = f"{WINDOW if count % 4 == 3 else ''}\n{traceback.format_exc()}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        took = time.process_time() - began
        name = f"{seed}-{count}-{hashlib.sha256(data).hexdigest()[:8]}"
        if problem and problem not in finds:
            finds.add(problem)
            (folder / "finds" / name).write_bytes(data)
            (folder / "finds" / f"{name}.txt").write_text(report)
            print(f"{kind}: {problem}: {name}", flush=True)
        is_new = len(seen) > known or not said <= sentences
        sentences |= said
        if is_new and count >= len(corpus):
            corpus.append(data)
            (folder / "corpus" / name).write_bytes(data)
        if took > slowest:
            slowest = took
            (folder / "slowest").write_bytes(data)
        if (now := _peak()) > peak:
            peak = now
            (folder / "largest").write_bytes(data)
        count += 1
    sys.settrace(None)
    lines = {(code.co_filename, line) for code, line in seen}
    by_file = {
        Path(file).name: sum(one == file for one, _ in lines) for file in sorted({f for f, _ in lines})
    }
    print(
        f"{kind}, seed {seed}: {count} inputs, {len(corpus)} kept, {len(lines)} lines,"
        f" {len(sentences)} sentences, slowest {slowest:.2f} s, peak {peak >> 20} MiB, {len(finds)} finds\n"
        f"  {by_file}",
        flush=True,
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Run children, one after the other, until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=[*hostile.FILES, FOLDER], required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="a folder that keeps what was found between runs")
    parser.add_argument("--memory", type=int, default=3 * 2**30, help="bytes of address space")
    asked = parser.parse_args()
    folder = asked.corpus or Path(mkdtemp(prefix=f"fuzz-{asked.format}-"))
    for part in ("corpus", "finds"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    print(f"{asked.format}: kept in {folder}", flush=True)
    until = time.time() + 60 * asked.minutes
    for seed in range(asked.seed, asked.seed + 1000):
        child = os.fork()
        if not child:
            run(asked.format, seed, until, folder, asked.memory)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not status or time.time() > until:
            break
        name = f"{seed}-died-{status}"
        (folder / "finds" / name).write_bytes((folder / "running").read_bytes())
        print(f"{asked.format}: the child died with {status}: {name}", flush=True)


if __name__ == "__main__":
    main()
