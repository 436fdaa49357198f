"""ecs-audio run: render a scenario to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ecs_audio.cli import show
from ecs_audio.cli.find import load
from ecs_audio.cli.parameters import split
from ecs_audio.cli.window import spelled_window, window_options

if TYPE_CHECKING:
    from ecs_audio.perform import Census
    from ecs_audio.report import Diary
    from ecs_audio.scenario import Scenario


@click.command(short_help="Render a scenario to a file.")
@click.argument("name", metavar="NAME|FILE.py")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A .wav, .flac or .ogg file [out/NAME.wav]."
)
@click.option("--no-output", is_flag=True, help="Write neither sound nor summary.")
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="A parameter of the scenario; repeatable."
)
@click.option("--setting", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the engine.")
@click.option("--world", type=click.Path(exists=True), help="A world file: --set world=FILE.")
@window_options
@click.option("--seconds", metavar="N", help="How long: --set seconds=N.")
@click.option(
    "--block", type=click.IntRange(min=1), default=4096, show_default=True,
    help="Longest block [frames]; a tick ends one in any case.",
)  # fmt: skip
@click.option(
    "--acoustics", type=click.Choice(["off", "direct", "reflect", "full"]), help="How much is traced."
)
@click.option("--check", is_flag=True, help="Run the scenario's check on what was rendered.")
@click.option(
    "--telemetry", type=click.Path(path_type=Path, dir_okay=False), help="A .csv file, one row a tick."
)
@click.option(
    "--trace", type=click.Path(path_type=Path, dir_okay=False), help="A .json file for ui.perfetto.dev."
)
@click.option("--explain", metavar="SOURCE", help="Tell how a source, by name or number, comes to sound so.")
@click.option("--at", type=click.FloatRange(min=0.0), help="When, in seconds [when it is loudest].")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="An .html page of all that happened."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def run(
    name: str, output: Path | None, no_output: bool, sets: tuple[str, ...], settings: tuple[str, ...],
    world: str | None, around: tuple[float, float, float] | None, radius: float | None,
    cell_size: float | None, seconds: str | None, block: int, acoustics: str | None, check: bool,
    telemetry: Path | None, trace: Path | None, explain: str | None, at: float | None, report: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Render a scenario, a shipped one by NAME or your own FILE.py.

    The sound goes to out/NAME.wav or where -o says, and beside it a .json file with the summary that is
    printed at the end.
    """
    if no_output and output is not None:
        raise click.UsageError("--output and --no-output exclude each other")
    if at is not None and explain is None:
        raise click.UsageError("--at says when to --explain a source: name one")
    script = load(name)

    from ecs_audio.cli.explain import Question
    from ecs_audio.cli.make import build, maker, parameters_from, settings_from
    from ecs_audio.cli.render import render
    from ecs_audio.cli.summary import summary
    from ecs_audio.cli.trace import tracing
    from ecs_audio.cli.verdict import complaint, require_check

    target = None if no_output else _sound_file(output or Path("out", f"{script.name}.wav"))
    given = (*sets, *_spelled("world", world), *_spelled("seconds", seconds))
    window = spelled_window(around, radius, cell_size, "world" in split(given, "--set"))
    texts = split((*given, *window), "--set")
    parameters = parameters_from(script, texts)
    make = maker(script, settings_from(split((*settings, *_spelled("acoustics", acoustics)), "--setting")))
    if check:
        require_check(script)
    scenario, keep = build(script, make, parameters), check or report is not None
    diary = None if report is None else _diary(scenario)
    question = None if explain is None else Question(explain, at, scenario)
    with tracing(trace, script.name) as make_engine:
        rendering = render(
            script.name, scenario, block=block, output=target, keep=keep, census=diary, watch=question,
            make_engine=make_engine,
        )  # fmt: skip
    wrong = complaint(script, rendering, make, parameters) if check else None
    found = summary(script, parameters, rendering, block=block, output=target)
    found["check"] = {"passed": wrong is None, "message": wrong} if check else None
    if question is not None:
        found["explain"] = question.result(lambda: build(script, make, parameters))
    if target is not None:
        _write(target.with_suffix(".json"), show.json_bytes(found))
    if telemetry is not None:
        _write(telemetry, _csv(rendering.census))
    if report is not None and diary is not None and rendering.samples is not None:
        from ecs_audio.report import page

        _write(report, page(found, diary, rendering.samples, rendering.mix_microseconds).encode())
    show.json(found) if as_json else _show(found)
    if wrong is not None:
        raise click.ClickException(f"the check of {script.name} failed: {wrong}")


def _spelled(key: str, value: str | None) -> tuple[str, ...]:
    return () if value is None else (f"{key}={value}",)


def _sound_file(path: Path) -> Path:
    from ecs_audio.output.files import FORMATS

    if path.suffix.lower() not in FORMATS:
        raise click.UsageError(f"the output {str(path)!r} must end in {', '.join(FORMATS)}")
    if path.exists() and not path.is_file():
        raise click.UsageError(f"the output {str(path)!r} is there and not a regular file")
    return path


def _write(path: Path, data: bytes) -> None:
    from ecs_audio.output.atomic import replacing

    with replacing(path) as part:
        part.write_bytes(data)


def _diary(scenario: Scenario) -> Diary:
    from ecs_audio.report import Diary, require

    require()
    return Diary(scenario)


def _csv(census: Census) -> bytes:
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, census.rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(census.rows)
    return text.getvalue().encode()


def _show(found: dict[str, Any]) -> None:
    from ecs_audio.cli.summary import lines, times

    passed = [("check", "passed" if found["check"]["passed"] else "failed")] if found["check"] else []
    show.pairs([*lines(found), *passed])
    show.text()
    show.table(("system", "median µs", "p99 µs"), times(found), right=(1, 2))
    if "explain" in found:
        from ecs_audio.cli.explained import show_explained

        show_explained(found["explain"])
