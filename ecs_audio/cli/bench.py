"""ecs-audio bench: run the benchmarks, judge them by their targets and their past, and draw the page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from ecs_audio.cli import show
from ecs_audio.cli.progress import say

if TYPE_CHECKING:
    from ecs_audio.bench.compare import Comparison
    from ecs_audio.bench.history import History
    from ecs_audio.bench.record import Run
    from ecs_audio.bench.targets import Row

_FILE = click.Path(path_type=Path, dir_okay=False)
_THERE = click.Path(path_type=Path, dir_okay=False, exists=True)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(short_help="Measure beside peers and targets; a page of the history.")
@click.argument("taken", metavar="[RUN.json]", type=_THERE, required=False)
@click.option("--quick", is_flag=True, help="Fewer rounds and smaller sizes, but every ratio with a target.")
@click.option("--suite", type=_FOLDER, default=Path("perf"), show_default=True, help="The benchmarks.")
@click.option("-k", "only", metavar="EXPRESSION", help="Only benchmarks that pytest's -k takes.")
@click.option(
    "--slack", type=click.FloatRange(min=1.0), default=1.0, show_default=True,
    help="A ratio is missed only below its target over this.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=_FOLDER, default=Path("out/bench"), show_default=True,
    help="Where run.json and index.html go.",
)  # fmt: skip
@click.option("--history", type=_FOLDER, help="Where runs are kept [history in the output].")
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Keep only the newest N runs.")
@click.option("--page-only", is_flag=True, help="Draw the page of the history; measure nothing.")
@click.option("--compare", metavar="OLD.json", type=_THERE, help="Say what changed since an older run.")
@click.option("--bencher", type=_FILE, help="Write Bencher Metric Format.")
@click.option("--action", type=_FILE, help="Write lists for github-action-benchmark.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bench(
    taken: Path | None, quick: bool, suite: Path, only: str | None, slack: float, output: Path,
    history: Path | None, keep: int | None, page_only: bool, compare: Path | None, bencher: Path | None,
    action: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run the benchmarks of this clone, and show every figure beside its peer and its target.

    A RUN.json of pytest-benchmark is judged instead of a new run, which writes nothing but what is asked for:
    `bench --compare old.json new.json` compares two, `bench --bencher bmf.json run.json` translates one.

    A peer is measured in turn with ours, so the ratio of both stays true on a busy machine. Times and other
    values are shown as met or missed, too, but depend on the machine.

    --compare takes the ratio where there is a peer, and values elsewhere. A change counts if the 99 %
    interval of the rounds excludes none, and from 10 % on (values: 25 %, bytes: 5 %). Times of another
    processor are not judged. On a busy machine single figures change by more: measure again before you
    believe it.

    --action FILE.json writes FILE.smaller.json for its tool customSmallerIsBetter, and FILE.bigger.json for
    customBiggerIsBetter.

    Exits with 1 if a benchmark failed, if the ratio of one misses its target, or if something is slower than
    in OLD.json beyond the noise. Of a RUN.json that is compared or translated, targets do not count.
    """
    from ecs_audio.bench import compare as comparing
    from ecs_audio.bench import formats, record, targets
    from ecs_audio.bench import history as past
    from ecs_audio.bench.page import require

    if page_only:
        if taken is not None or compare or bencher or action or as_json:
            raise click.UsageError("--page-only draws the history and does nothing else")
        require()
    older = None if compare is None else record.read(compare)
    if older is not None and taken is None:  # before measuring, not after it
        comparing.require_same_kind(older, quick)
    wanted = targets.read(suite)
    folder = history or output / "history"
    if taken is not None:
        run = record.read(taken)
    elif not page_only:
        raw = _measured(suite, quick=quick, only=only or "")
        run = record.run_of(raw, "the run")
        say(f"Wrote {past.write(raw, output / 'run.json')} and {past.store(raw, folder)}.")
        if keep is not None:
            past.keep(folder, keep)
    found = past.load(folder)
    for sentence in found.damaged:
        say(f"Skipped: {sentence}")
    if page_only:
        if not found.runs:
            raise click.ClickException(f"no runs in {folder}: `ecs-audio bench` measures and keeps one")
        run = found.runs[-1]
    rows = targets.rows(run, wanted, before=found.runs, slack=slack)
    if taken is None:
        _draw(run, rows, found, output / "index.html")
    if page_only:
        return
    comparison = None if older is None else comparing.compare(older, run)
    for write, file in ((formats.write_bencher, bencher), (formats.write_action, action)):
        if file is not None:
            say(f"Wrote {' and '.join(map(str, write(run, file)))}.")
    _show(run, rows, comparison, as_json=as_json)
    is_judged = taken is None or not (compare or bencher or action)
    if complaint := _complaint(run, rows, comparison, is_judged=is_judged):
        raise click.ClickException(complaint)


def _measured(suite: Path, *, quick: bool, only: str) -> dict[str, Any]:
    from ecs_audio.bench.suite import find, measure

    with _progress() as watch:
        return measure(find(suite), watch, quick=quick, only=only)


def _draw(run: Run, rows: list[Row], found: History, file: Path) -> None:
    from ecs_audio.bench import BenchError
    from ecs_audio.bench.page import page
    from ecs_audio.output.atomic import replacing

    try:
        text = page(run, rows, found)
    except BenchError as error:  # what was measured is worth showing without a page
        say(f"No page: {error}")
        return
    with replacing(file) as part:
        part.write_text(text, "utf-8")
    say(f"Wrote {file}.")


def _show(run: Run, rows: list[Row], comparison: Comparison | None, *, as_json: bool) -> None:
    from ecs_audio.bench import lines

    if as_json:
        show.json(lines.summary(run, rows, comparison))
        return
    show.table(lines.FIGURES, lines.figures(rows), right=(1, 3))
    if run.curves:
        show.text()
        show.table(lines.CURVES, lines.curves(run), right=(2, 3))
    if comparison is not None:
        show.text()
        show.table(lines.CHANGES, lines.changes(comparison), right=(2, 3))
        for names, where in ((comparison.only_old, "old"), (comparison.only_new, "new")):
            if names:
                show.text(f"Only in the {where} run: {', '.join(names)}.")
    for ended in run.ecs_audio.skipped:
        show.text(f"Skipped {ended.name}: {ended.why}")
    for ended in run.ecs_audio.failed:
        show.text(f"\nFailed: {ended.name}\n{ended.why}")


def _complaint(run: Run, rows: list[Row], comparison: Comparison | None, *, is_judged: bool) -> str:
    """Why the command fails, or nothing."""
    from ecs_audio.bench.compare import worse
    from ecs_audio.bench.lines import missed

    found = (
        ("failed", [ended.name for ended in run.ecs_audio.failed] if is_judged else []),
        ("slower beyond the noise", worse(comparison) if comparison else []),
        ("below the target", missed(rows) if is_judged else []),
    )
    return "; ".join(f"{what}: {', '.join(dict.fromkeys(names))}" for what, names in found if names)


@contextmanager
def _progress() -> Iterator[Callable[[dict[str, Any]], None]]:
    """What runs, of how many and for how long: a bar at a terminal, a line for each benchmark in a log."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    is_terminal, console = sys.stderr.isatty(), Console(file=sys.stderr)
    name_column = TextColumn("{task.description}", markup=False)  # parameters stand in brackets
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), name_column)
    begin = perf_counter()
    count, done, start, failed = 0, 0, begin, False
    with Progress(*columns, console=console, transient=True, disable=not is_terminal) as bar:
        task = bar.add_task("collecting", total=None)

        def watch(event: dict[str, Any]) -> None:
            nonlocal count, done, start, failed
            name = event.get("name", "")
            if event["event"] == "collected":
                count = event["count"]
                bar.update(task, total=count)
            elif event["event"] == "started":
                start, failed = perf_counter(), False
                bar.update(task, description=name)
            elif event["event"] == "failed":
                failed = True
                console.print(f"Failed: {name}", markup=False, highlight=False, soft_wrap=True)
            elif event["event"] == "finished":
                done += 1
                bar.update(task, completed=done)
                now = perf_counter()
                if not is_terminal and not failed:
                    say(f"[{done}/{count}, {now - begin:.0f} s] {name} took {now - start:.1f} s")

        yield watch
