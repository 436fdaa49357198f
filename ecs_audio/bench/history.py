"""Runs that are kept: a folder of their JSON files, each named by date, commit and machine."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ecs_audio.bench.errors import BenchError
from ecs_audio.bench.record import Run, read, run_of
from ecs_audio.output.atomic import replacing


class History(NamedTuple):
    """What a folder holds."""

    runs: list[Run]
    """From the oldest to the newest."""
    files: list[Path]
    """Of these runs."""
    damaged: list[str]
    """A sentence for each file that is none."""


def write(raw: dict[str, Any], file: Path) -> Path:
    """Write a run's JSON object, and return the file."""
    with replacing(file) as part:
        part.write_bytes(msgspec.json.encode(raw) + b"\n")
    return file


def store(raw: dict[str, Any], folder: Path) -> Path:
    """Keep a run under a name of its own, and return its file."""
    name = _name(run_of(raw, "the run"))
    file, k = folder / f"{name}.json", 1
    while file.exists():
        k += 1
        file = folder / f"{name}-{k}.json"
    return write(raw, file)


def load(folder: Path) -> History:
    """Every run in a folder; one that is not there is empty."""
    found, damaged = [], []
    for file in sorted(folder.glob("*.json")):
        try:
            run = read(file)
            found.append((datetime.fromisoformat(run.datetime), file, run))
        except (BenchError, OSError, ValueError) as error:
            damaged.append(str(error) if isinstance(error, BenchError) else f"{file}: {error}")
    found.sort(key=lambda each: (each[0].timestamp(), each[1].name))
    return History([run for _, _, run in found], [file for _, file, _ in found], damaged)


def keep(folder: Path, count: int) -> list[Path]:
    """Remove all runs but the newest ones, and return what was removed. Damaged files stay."""
    gone = load(folder).files[:-count]
    for file in gone:
        file.unlink()
    return gone


def _name(run: Run) -> str:
    date = datetime.fromisoformat(run.datetime).strftime("%Y-%m-%dT%H%M%S")
    words = f"{run.commit.rstrip('+')}_{run.processor}".lower()
    return f"{date}_{re.sub(r'[^a-z0-9_.]+', '-', words).strip('-')}"
