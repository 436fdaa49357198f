"""Options that say which part of a large world is loaded, and how large its cells are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

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


def _edge(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None

    from ecs_audio.world.limits import MAX_CELL_SIZE, MIN_CELL_SIZE

    with suppress(ValueError):
        if MIN_CELL_SIZE <= (edge := parse(text, float)) <= MAX_CELL_SIZE:
            return float(edge)
    raise click.BadParameter(f"{text!r} is no number from {MIN_CELL_SIZE:g} to {MAX_CELL_SIZE:g}")


def window_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--around`, `--radius` and `--cell-size`."""
    for option in (
        click.option(
            "--cell-size", metavar="N", callback=_edge,
            help="Edge of a cell [m; what the file says, or 1].",
        ),
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
    around: tuple[float, float, float] | None, radius: float | None, cell_size: float | None, has_world: bool
) -> tuple[str, ...]:
    """What the options set of a scenario's parameters. Raises UsageError where they make no sense."""
    require_around(around, radius)
    if around is not None and not has_world:
        raise click.UsageError("--around says which part of a world file to load: give one with --world")
    if cell_size is not None and not has_world:
        raise click.UsageError("--cell-size is of a world file: give one with --world")
    place = None if around is None else ",".join(map(repr, around))
    spelled = {"around": place, "radius": radius, "cell_size": cell_size}
    return tuple(f"{key}={value}" for key, value in spelled.items() if value is not None)
