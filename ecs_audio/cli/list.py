"""ecs-audio list: the scenarios and their parameters."""

from __future__ import annotations

from typing import Any

import click

from ecs_audio.cli import show
from ecs_audio.cli.errors import one_line
from ecs_audio.cli.find import load, shipped
from ecs_audio.cli.parameters import REQUIRED, Parameter, parameters_of


@click.command("list", short_help="The scenarios, a line each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_scenarios(as_json: bool) -> None:
    """List the scenarios that come with the package, with their parameters, types and defaults."""
    found = [_described(name) for name in shipped()]
    if as_json:
        show.json({"scenarios": found})
        return
    rows = [(s["name"], s["title"] or s["error"] or "", ", ".join(_written(s["parameters"]))) for s in found]
    show.table(("scenario", "what happens", "parameters"), rows)


def _described(name: str) -> dict[str, Any]:
    try:
        script = load(name)
        parameters = [_as_dict(parameter) for parameter in parameters_of(script.make).values()]
    except Exception as error:  # one broken file must not hide the others
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        return {"name": name, "title": "", "parameters": [], "error": one_line(message)}
    return {"name": name, "title": script.title, "parameters": parameters, "error": None}


def _as_dict(parameter: Parameter) -> dict[str, Any]:
    is_required = parameter.default is REQUIRED
    return {
        "name": parameter.name,
        "type": parameter.type_name,
        "required": is_required,
        "default": None if is_required else parameter.default,
    }


def _written(parameters: list[dict[str, Any]]) -> list[str]:
    return [f"{p['name']}: {p['type']}" + ("" if p["required"] else f" = {p['default']}") for p in parameters]
