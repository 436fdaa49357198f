"""Errors: one sentence on stderr, and exit status 2 for wrong use, 1 for what went wrong, 130 for Ctrl-C."""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Iterable
from typing import Any

import click

INTERRUPTED = 130


class SentenceGroup(click.Group):
    """A group of commands whose errors are sentences; tracebacks only with its option `debug`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever it raises becomes a ClickException."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            trace(error)
            if isinstance(error, click.ClickException):
                raise
            raise click.ClickException(sentence(error)) from error

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command with arguments, say what was wrong, and exit."""
        try:
            code = super().main(*args, **(extra | {"standalone_mode": False}))
        except click.ClickException as error:
            click.echo(f"Error: {one_line(error.format_message())}", err=True)
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted: what was not complete has been removed.", err=True)
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def trace(error: BaseException) -> None:
    """Print an error's traceback if the user asked for it."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.find_root().params.get("debug"):
        traceback.print_exception(error)


def sentence(error: BaseException) -> str:
    """What an error says, for people."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if type(error).__module__.startswith("ecs_audio"):
        return one_line(str(error))
    return f"{type(error).__name__}: {one_line(str(error))} (`ecs-audio --debug ...` shows where)"


def one_line(text: str) -> str:
    """The text with every run of spaces and line breaks as one space."""
    return " ".join(text.split())


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing when no known name is like this one."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
