"""Making a scenario of what the command line says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import fields
from typing import Any, get_type_hints

import click

from ecs_audio.cli.errors import one_line, sentence
from ecs_audio.cli.find import Script
from ecs_audio.cli.parameters import REQUIRED, Parameter, parameters_of, values
from ecs_audio.clips import ClipError
from ecs_audio.perform import with_settings
from ecs_audio.scenario import Scenario
from ecs_audio.settings import Settings
from ecs_audio.world import WorldFormatError

Make = Callable[..., Scenario]


def parameters_from(script: Script, texts: Mapping[str, str]) -> dict[str, Any]:
    """All parameters of a scenario: those given as texts, the others at their defaults.

    Raises UsageError for an unknown one, a bad value, and one that has no default and is not given.
    """
    known = parameters_of(script.make)
    for name in texts:
        if name not in known and name in _settings():
            raise click.UsageError(
                f"{name} is no parameter of {script.name} but a setting: use --setting {name}=..."
            )
    found = {name: parameter.default for name, parameter in known.items()}
    found |= values(texts, known, script.name, "parameter")
    if missing := [name for name, value in found.items() if value is REQUIRED]:
        raise click.UsageError(f"{script.name} needs the parameter {missing[0]}: --set {missing[0]}=...")
    return found


def settings_from(texts: Mapping[str, str]) -> dict[str, Any]:
    """The settings given as texts. Raises UsageError for an unknown one and a bad value."""
    found = values(texts, _settings(), "the engine", "setting")
    try:
        Settings(**found)
    except ValueError as error:
        raise click.UsageError(f"setting {error}") from error
    return found


def maker(script: Script, changes: Mapping[str, Any]) -> Make:
    """The scenario's function, with these settings of the engine in place of its own."""

    def make(**parameters: Any) -> Scenario:
        scenario = script.make(**parameters)
        if not isinstance(scenario, Scenario):
            raise TypeError(
                f"scenario() of {script.name} gave {scenario!r:.60}, which is no ecs_audio.Scenario"
            )
        return with_settings(scenario, **changes) if changes else scenario

    return make


def build(script: Script, make: Make, parameters: Mapping[str, Any]) -> Scenario:
    """Make the scenario; what it prints goes to stderr.

    Raises UsageError for a value that the scenario refuses and a file that is not there.
    """
    try:
        with redirect_stdout(sys.stderr):
            return make(**parameters)
    except (WorldFormatError, ClipError):
        raise
    except FileNotFoundError as error:
        raise click.UsageError(sentence(error)) from error
    except ValueError as error:
        raise click.UsageError(f"{script.name}: {one_line(str(error))}") from error


def _settings() -> dict[str, Parameter]:
    kinds = get_type_hints(Settings)
    return {f.name: Parameter(f.name, kinds[f.name], f.default) for f in fields(Settings)}
