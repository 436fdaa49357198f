"""Running the suite: pytest in a process of its own, watched while it runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Final

from ecs_audio.bench.errors import BenchError
from ecs_audio.bench.record import Ended, Own, fit, raw_of
from ecs_audio.bench.watch import FILE

PAUSE: Final = 0.1
"""Between two looks at the process [s]: seldom enough not to be measured with it."""
PATIENCE: Final = 5.0
"""Until a process that was asked to end is ended [s]."""
TAIL: Final = 12
"""Lines shown of what a failed benchmark printed."""
NOT_ASKED: Final = "--benchmark-only"
"""Stands in the reason for which plain tests among the benchmarks are skipped."""

Watch = Callable[[dict[str, Any]], None]


def find(suite: Path) -> Path:
    """The folder of the suite. Raises BenchError if there is none, or nothing to run it with."""
    if not any(suite.glob("test_*.py")):
        raise BenchError(
            f"no benchmarks in {suite.absolute()}: they come with the source and not with the installed "
            "package; run this in a clone of the repository, or say where they are: --suite FOLDER"
        )
    missing = [name for name in ("pytest", "pytest_benchmark") if find_spec(name) is None]
    if missing:
        names = " ".join(name.replace("_", "-") for name in missing)
        raise BenchError(f"benchmarks need {names}: python -m pip install {names}")
    return suite


def measure(suite: Path, watch: Watch, *, quick: bool = False, only: str = "") -> dict[str, Any]:
    """Run the suite, and return its JSON object as it is kept.

    watch: told of every event, as `watch.py` notes them. only: what pytest's -k takes. Leaves no file behind,
    and nothing that runs when it is interrupted. Raises BenchError if there is nothing to return.
    """
    with TemporaryDirectory(prefix="ecs-audio-bench-") as name:
        folder = Path(name)
        result, events, log = folder / "run.json", folder / "events", folder / "log"
        events.touch()
        command = [sys.executable, "-m", "pytest", str(suite), "-p", "ecs_audio.bench.watch"]
        command += ["--benchmark-only", f"--benchmark-json={result}", "--continue-on-collection-errors"]
        command += ["--quick"] * quick + (["-k", only] if only else [])
        failed, skipped, running = [], [], ""
        with log.open("wb") as output, events.open(encoding="utf-8") as lines:
            process = _start(command, output, events)
            try:
                for event in _events(process, lines):
                    watch(event)
                    kind, name = event["event"], event.get("name", "")
                    running = {"started": name, "finished": ""}.get(kind, running)
                    if kind == "failed":
                        failed.append(Ended(name, tail(event["why"])))
                    elif kind == "skipped" and NOT_ASKED not in event["why"]:
                        skipped.append(Ended(name, event["why"]))
            finally:
                _end(process)
        said = log.read_text("utf-8", errors="replace")
        if running:
            died = f"the process of the benchmarks ended with {process.returncode} in {running}"
            raise BenchError(f"{died}, and what it had measured went with it; it said last: {tail(said)}")
        if not result.exists() or not result.stat().st_size:
            if not failed:
                raise BenchError(f"no benchmark ran; pytest said last: {tail(said)}")
            raise BenchError(f"no benchmark ran: {'; '.join(f'{each.name}: {each.why}' for each in failed)}")
        return fit(raw_of(result), Own(quick=quick, failed=failed, skipped=skipped))


def tail(text: str) -> str:
    """The last lines of a text that say something."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-TAIL:])


def _start(command: list[str], output: Any, events: Path) -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C comes to this process alone, which then ends it and all that it began.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=_surroundings() | {FILE: str(events)},
        start_new_session=True,
    )


def _surroundings() -> dict[str, str]:
    """The environment without what tells of workers that run tests: benchmarks take no time beside those."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}


def _events(process: subprocess.Popen[bytes], lines: Any) -> Iterator[dict[str, Any]]:
    """What the plugin notes, until the process has ended."""
    part = ""
    while True:
        over = process.poll() is not None  # asked before reading, so that the last lines are read
        while text := lines.readline():
            part += text
            if part.endswith("\n"):
                yield json.loads(part)
                part = ""
        if over:
            return
        sleep(PAUSE)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    _signal(process, signal.SIGINT)  # pytest tidies up after itself
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
