"""Targets, and whether the figures of a run meet them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from ecs_audio.bench.errors import BenchError
from ecs_audio.bench.record import Figure, Run

FILE: Final = "targets.toml"
"""In the folder of the suite."""
PEERS: Final = ("embreex", "cyal", "pyroomacoustics")
INSTALL: Final = "pip install --group peers"
LEFT_OUT: Final = "a short run leaves it out"

Of = Literal["ratio", "value"]
Verdict = Literal["", "met", "within slack", "missed", "not measured"]


class Target(NamedTuple):
    """What a figure should reach."""

    name: str
    of: Of
    number: float
    says: str = ""


class Row(NamedTuple):
    """A figure and what is said of its target."""

    name: str
    figure: Figure | None
    """None if nothing measured it."""
    target: Target | None
    verdict: Verdict
    why: str = ""
    """Of what was not measured."""

    @property
    def decides(self) -> bool:
        """Whether a run is no good by it: only ratios are true on every machine."""
        return self.verdict == "missed" and self.target is not None and self.target.of == "ratio"


def read(suite: Path) -> list[Target]:
    """The targets of a suite, in order; none without its file. Raises BenchError if that is wrong."""
    file = suite / FILE
    if not file.is_file():
        return []
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise BenchError(f"{file}: {error}") from error
    return [target for name, table in _flat(tables) for target in _targets(file, name, table)]


def rows(run: Run, targets: Iterable[Target], *, before: Iterable[Run] = (), slack: float = 1.0) -> list[Row]:
    """Every figure of a run with its targets, then every target that no figure answers.

    before: earlier runs, which know the benchmark that a figure comes from. slack: a ratio is missed only
    below its target over this.
    """
    wanted: dict[str, list[Target]] = {}
    for target in targets:
        wanted.setdefault(target.name, []).append(target)
    found = []
    for name, figure in run.figures.items():
        own = wanted.pop(name, [])
        if figure.target is not None:  # it knows the machine that it was measured on
            says = own[0].says if own else ""
            own = [Target(name, figure.target_of or "value", figure.target, says)]
        found += [_judged(figure, target, slack) for target in own] if own else [Row(name, figure, None, "")]
    homes = {name: home for each in before for name, home in _homes(each).items()}
    for name, unanswered in wanted.items():
        why = _why(run, name, homes)
        found += [Row(name, None, target, "not measured", why) for target in unanswered]
    return found


def missing_peers() -> list[str]:
    """Packages to compare with that are not installed."""
    return [name for name in PEERS if find_spec(name) is None]


def _judged(figure: Figure, target: Target, slack: float) -> Row:
    if target.of == "ratio" and figure.ratio is None:
        why = f"no peer to compare with: {INSTALL}" if missing_peers() else "no peer was measured with it"
        return Row(figure.name, figure, target, "not measured", why)
    reached = share(figure, target)
    verdict: Verdict = "met" if reached >= 1 else "missed"
    if target.of == "ratio" and 1 / slack <= reached < 1:
        verdict = "within slack"
    return Row(figure.name, figure, target, verdict)


def share(figure: Figure, target: Target) -> float:
    """How far a figure reaches: 1 is the target, more is better."""
    if target.of == "ratio":
        return (figure.ratio or 0.0) / target.number
    if figure.better == "higher":
        return figure.value / target.number
    return target.number / figure.value if figure.value > 0 else float("inf")


def _why(run: Run, name: str, homes: dict[str, str]) -> str:
    """Why a run has no such figure, as far as one can know."""
    home = homes.get(name, "")
    for ended in run.ecs_audio.failed:
        if ended.name and home.startswith(ended.name):  # a file that could not be imported, too
            return f"{ended.name} failed"
    is_quick = run.ecs_audio.quick
    if f"{name}.short" in run.figures:
        return f"a short run leaves it out, and has {name}.short"
    if any(each.fullname == home for each in run.benchmarks):
        return LEFT_OUT if is_quick else "its benchmark did not note it"
    group, skipped = name.partition(".")[0], run.ecs_audio.skipped
    likely = [e for e in skipped if e.name == home] or [e for e in skipped if group in e.name]
    if is_quick and not likely and any(each.group == group for each in run.figures.values()):
        return LEFT_OUT
    if likely or skipped:
        return "; ".join(dict.fromkeys(ended.why for ended in likely or skipped))
    if missing := missing_peers():
        return f"perhaps for want of {', '.join(missing)}: {INSTALL}"
    return "no benchmark of this run notes it"


def _homes(run: Run) -> dict[str, str]:
    return {f.name: b.fullname for b in run.benchmarks for f in b.extra_info.figures}


def _flat(tables: dict[str, Any], before: str = "") -> Iterable[tuple[str, dict[str, Any]]]:
    """Tables by their whole names: TOML takes the dots of a bare name for tables within tables."""
    for key, value in tables.items():
        name = before + key
        if not isinstance(value, dict):
            continue
        if any(not isinstance(inner, dict) for inner in value.values()):
            yield name, value
        yield from _flat(value, f"{name}.")


def _targets(file: Path, name: str, table: dict[str, Any]) -> Iterable[Target]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if not {"ratio", "value"} & plain.keys():
        raise BenchError(f"{file}: {name} has neither `ratio` nor `value`")
    kinds: tuple[Of, Of] = ("ratio", "value")
    for of in kinds:
        if of not in plain:
            continue
        number = plain[of]
        if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
            raise BenchError(f"{file}: {name}.{of} is {number!r}; it must be a number above 0")
        yield Target(name, of, float(number), str(plain.get("says", "")))
