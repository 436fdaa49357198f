"""Running a scenario's `check` on what was rendered."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ecs_audio.cli.errors import one_line, trace
from ecs_audio.cli.find import Script
from ecs_audio.cli.render import Rendering
from ecs_audio.perform import Recording
from ecs_audio.scenario import Scenario


def require_check(script: Script) -> Callable[[Recording], None]:
    """The scenario's check. Raises UsageError when there is none, or Python would skip what it asserts."""
    if script.check is None:
        raise click.UsageError(f"{script.name} has no function `check`")
    if not __debug__:
        raise click.UsageError("checks are made of assertions, which Python skips when it runs with -O")
    return script.check


def complaint(
    script: Script, rendering: Rendering, make: Callable[..., Scenario], parameters: dict[str, Any]
) -> str | None:
    """What the check has against a rendering whose samples were kept; None when it passes."""
    check, samples, scenario = require_check(script), rendering.samples, rendering.scenario
    assert samples is not None
    recording = Recording(samples, scenario.clips.rate, scenario, rendering.census.rows, make, parameters)
    try:
        with redirect_stdout(sys.stderr):
            check(recording)
    except Exception as error:
        trace(error)
        return reason(error)
    return None


def reason(error: Exception) -> str:
    """An assertion's message, or where it stands if it has none; another error with its type."""
    message = one_line(str(error))
    if not isinstance(error, AssertionError):
        return f"{type(error).__name__}: {message}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name} line {frame.lineno}"
    return message or f"{where}: {one_line(frame.line or 'an assertion')}"
