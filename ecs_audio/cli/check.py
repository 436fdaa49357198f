"""ecs-audio check: render scenarios and run their checks."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from ecs_audio.cli import show
from ecs_audio.cli.errors import one_line, trace
from ecs_audio.cli.find import load, locate, shipped


@click.command(short_help="Render scenarios and run their checks.")
@click.argument("names", metavar="[NAME|FILE.py]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(names: tuple[str, ...], as_json: bool) -> None:
    """Render each scenario, all shipped ones if none is named, and run its check. Writes no files.

    Exits with 1 if a check failed.
    """
    names = names or tuple(shipped())
    for name in names:
        locate(name)
    results = [_result(name) for name in names]
    failed = [result["name"] for result in results if not result["passed"]]
    if as_json:
        show.json({"passed": not failed, "results": results})
    else:
        rows = [
            (r["name"], "passed" if r["passed"] else "failed", f"{r['seconds']:.1f}", r["message"] or "")
            for r in results
        ]
        show.table(("scenario", "check", "seconds", "message"), rows, right=(2,))
    if failed:
        raise click.ClickException(f"{len(failed)} of {len(results)} checks failed: {', '.join(failed)}")


def _result(name: str) -> dict[str, Any]:
    from ecs_audio.cli.make import build, maker, parameters_from
    from ecs_audio.cli.render import render
    from ecs_audio.cli.verdict import complaint, reason, require_check

    start, sha256 = perf_counter(), None
    try:
        script = load(name)
        require_check(script)
        make, parameters = maker(script, {}), parameters_from(script, {})
        rendering = render(script.name, build(script, make, parameters), block=4096, output=None, keep=True)
        sha256 = rendering.written.sha256
        message = complaint(script, rendering, make, parameters)
    except click.ClickException as error:
        trace(error)
        message = one_line(error.format_message())
    except Exception as error:  # a broken scenario is a failed one, and the others go on
        trace(error)
        message = reason(error)
    seconds = round(perf_counter() - start, 3)
    return {"name": name, "passed": message is None, "seconds": seconds, "message": message, "sha256": sha256}
