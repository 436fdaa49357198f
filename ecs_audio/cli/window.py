"""Options that say which part of a large world is loaded."""

from __future__ import annotations

from collections.abc import Callable

import click

from ecs_audio.cli.parameters import parse

RADIUS = 256.0
"""Of a window whose radius is not given [cells]."""


def _point(
    _ctx: click.Context, _param: click.Parameter, text: str | None
) -> tuple[float, float, float] | None:
    try:
        return None if text is None else parse(text, tuple[float, float, float])
    except ValueError:
        raise click.BadParameter(f"{text!r} is not three numbers between commas") from None


def window_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--around` and `--radius`."""
    for option in (
        click.option(
            "--radius", type=click.FloatRange(min=0.0), metavar="N",
            help=f"How far around [{RADIUS:g} cells].",
        ),
        click.option(
            "--around", metavar="X,Y,Z", callback=_point, help="A cell: load only what lies around."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def require_around(around: object, radius: object) -> None:
    """Raise UsageError for a radius around nothing."""
    if radius is not None and around is None:
        raise click.UsageError("--radius needs --around: say of which cell")


def spelled_window(
    around: tuple[float, float, float] | None, radius: float | None, has_world: bool
) -> tuple[str, ...]:
    """What the two options set of a scenario's parameters. Raises UsageError where they make no sense."""
    require_around(around, radius)
    if around is None:
        return ()
    if not has_world:
        raise click.UsageError("--around says which part of a world file to load: give one with --world")
    place = f"around={','.join(map(repr, around))}"
    return (place,) if radius is None else (place, f"radius={radius!r}")
