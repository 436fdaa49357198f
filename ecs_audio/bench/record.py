"""A run of the benchmarks: what a pytest-benchmark JSON of ours says, as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from ecs_audio.bench.errors import BenchError

OURS: Final = "ecs_audio"
"""The key under which a run's own facts stand in the JSON; other readers of the format skip it."""
POINTS: Final = 201
"""Rounds kept of a benchmark at most, in the order in which they were measured."""

_Kind = TypeVar("_Kind")


class Figure(msgspec.Struct, frozen=True):
    """One number that people care about, beside a peer's of the same run."""

    name: str
    title: str
    group: str
    value: float
    unit: str
    """`s`, `1/s`, `B`, `B/cell` or nothing."""
    better: Literal["lower", "higher"]
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    """How many times better than the peer, the median of `ratios`."""
    ratios: list[float] = []
    """Of each round in which both were measured in turn."""
    values: list[float] = []
    target: float | None = None
    target_of: Literal["ratio", "value"] | None = None


class Curve(msgspec.Struct, frozen=True):
    """How a cost grows."""

    name: str
    title: str
    group: str
    x: str
    unit: str
    xs: list[float]
    ys: list[float]
    order: float
    """Fitted exponent of y over x, where x is large."""
    declared: float
    limit: float
    worse: bool


class Extra(msgspec.Struct, frozen=True):
    """What a benchmark says beside its times."""

    figures: list[Figure] = []
    curve: Curve | None = None


class Stats(msgspec.Struct, frozen=True):
    """Times of the rounds of a benchmark [s]."""

    min: float
    q1: float
    median: float
    q3: float
    max: float
    rounds: int
    data: list[float] = []


class Benchmark(msgspec.Struct, frozen=True):
    """One benchmark; `fullname` is pytest's name of it."""

    name: str
    fullname: str
    stats: Stats
    extra_info: Extra = Extra()


class Ended(msgspec.Struct, frozen=True):
    """A benchmark that gave nothing, and why."""

    name: str
    why: str


class Own(msgspec.Struct, frozen=True):
    """Facts that pytest-benchmark does not note."""

    quick: bool | None = None
    failed: list[Ended] = []
    skipped: list[Ended] = []


class Run(msgspec.Struct, frozen=True):
    """A run of the suite."""

    datetime: str
    benchmarks: list[Benchmark]
    machine_info: dict[str, Any] = {}
    commit_info: dict[str, Any] = {}
    ecs_audio: Own = Own()

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by name, in the order of the suite."""
        return {f.name: f for benchmark in self.benchmarks for f in benchmark.extra_info.figures}

    @property
    def curves(self) -> list[Curve]:
        """Curves, in the order of the suite."""
        return [b.extra_info.curve for b in self.benchmarks if b.extra_info.curve is not None]

    @property
    def commit(self) -> str:
        """The first twelve characters of the commit, `+` behind them if files differed from it."""
        found = str(self.commit_info.get("id") or "unversioned")[:12]
        return found + "+" * bool(self.commit_info.get("dirty"))

    @property
    def processor(self) -> str:
        """The processor's name; runs on the same one may be compared by their times."""
        cpu = self.machine_info.get("cpu") or {}
        named = cpu.get("brand_raw") or self.machine_info.get("processor") or self.machine_info.get("machine")
        return " ".join(str(named or "unknown processor").split())


def read(file: Path) -> Run:
    """The run in a file. Raises BenchError if it is none, OSError if it cannot be read."""
    return run_of(raw_of(file), str(file))


def raw_of(file: Path) -> dict[str, Any]:
    """What stands in a JSON file, with nothing for what is no number."""
    try:
        raw = json.loads(file.read_text("utf-8"), parse_constant=lambda _: None)
    except ValueError as error:
        raise BenchError(f"{file} is damaged or no JSON: {error}") from error
    if not isinstance(raw, dict) or "benchmarks" not in raw:
        raise BenchError(f"{file} is no JSON of pytest-benchmark: it has no `benchmarks`")
    return raw


def run_of(raw: dict[str, Any], name: str) -> Run:
    """The run that a JSON object says; `name` stands in the BenchError if it does not."""
    return _converted(raw, Run, name)


def fit(raw: dict[str, Any], own: Own) -> dict[str, Any]:
    """The JSON object of a fresh run as it is kept: small, and without what cannot be read again.

    Benchmarks that failed have no times worth keeping; one that notes something unreadable has failed, too.
    """
    kept, failed = [], list(own.failed)
    gone = {ended.name for ended in failed}
    for each in raw["benchmarks"]:
        if each["fullname"] in gone:
            continue
        try:
            found = _converted(each, Benchmark, "what it notes")
        except BenchError as error:
            failed.append(Ended(each["fullname"], str(error)))
            continue
        kept.append({**each, "stats": {**each["stats"], "data": thinned(found.stats.data)}})
    facts = Own(quick=own.quick, failed=failed, skipped=own.skipped)
    return {**raw, "benchmarks": kept, OURS: msgspec.to_builtins(facts)}


def thinned(times: list[float], most: int = POINTS) -> list[float]:
    """The times, or as many of them as may be kept, from the first to the last, equally far apart."""
    if len(times) <= most:
        return times
    return [times[round(k * (len(times) - 1) / (most - 1))] for k in range(most)]


def _converted(raw: Any, kind: type[_Kind], name: str) -> _Kind:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise BenchError(f"{name} does not fit: {error}") from error
