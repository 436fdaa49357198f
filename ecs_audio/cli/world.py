"""ecs-audio world: what is in a world file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ecs_audio.cli import show
from ecs_audio.cli.window import RADIUS, require_around, window_options

if TYPE_CHECKING:
    from ecs_audio.world import World


@click.command(short_help="What is in a world file.")
@click.argument("file", type=click.Path(readable=False, path_type=Path))
@window_options
@click.option(
    "--png", type=click.Path(path_type=Path, dir_okay=False), help="A map from above, north at the top."
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A .npz or .schem file of what was loaded.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def world(
    file: Path, around: tuple[float, float, float] | None, radius: float | None, cell_size: float | None,
    png: Path | None, save: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Tell what is in a world FILE, or in a part of it, draw it, or convert it.

    FILE is a .mca or .mcr region, a Minecraft world's folder, a .schem, .schematic, .litematic or .vox, a
    Luanti world's map.sqlite or folder, a mesh (.obj, .glb, .stl), or a .npz.
    """
    require_around(around, radius)
    if png is not None and png.suffix.lower() != ".png":
        raise click.UsageError(f"the map {str(png)!r} must end in .png")
    if save is not None and save.suffix.lower() not in (".npz", ".schem"):
        raise click.UsageError(f"the world {str(save)!r} must end in .npz or .schem")

    from ecs_audio.cli.contents import contents

    loaded = _load(file, around, RADIUS if radius is None else radius, cell_size)
    found: dict[str, Any] = {"file": str(file), **contents(loaded), "png": None, "saved": None}
    if save is not None:
        found["saved"] = str(save)
        _save(loaded if around is None else _trimmed(loaded), save)
    if png is not None:
        from ecs_audio.cli.png import write_png
        from ecs_audio.world.picture import picture

        pixels, low, high = picture(loaded)
        write_png(png, pixels)
        height, width, _ = pixels.shape
        found["png"] = {"file": str(png), "width": width, "height": height, "low": low, "high": high}
    show.json(found) if as_json else _show(found)


def _load(
    file: Path, around: tuple[float, float, float] | None, radius: float, cell_size: float | None
) -> World:
    """Load a world; a file that cannot be read is told as one that makes no sense."""
    from ecs_audio.world import OutsideError, World

    try:
        return World.load(file, around=around, radius=radius, cell_size=cell_size)
    except OutsideError as error:
        raise click.UsageError(str(error)) from error
    except FileNotFoundError as error:
        raise click.UsageError(f"there is no file or folder {str(file)!r}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise click.ClickException(f"{file} cannot be read as a world: {reason}.") from error


def _trimmed(loaded: World) -> World:
    """The part of a world that is known, without the rest of its declared box."""
    import numpy as np

    from ecs_audio.world import World

    sections = np.argwhere(loaded.slots != -1) + loaded.section_origin
    low = np.maximum(16 * sections.min(axis=0), loaded.origin)
    high = np.minimum(16 * sections.max(axis=0) + 16, loaded.origin + loaded.size)
    part = World.unknown(size=high - low, origin=low, cell_size=loaded.cell_size)
    part.load_more(loaded)
    return part


def _save(loaded: World, path: Path) -> None:
    from ecs_audio.world import WorldWarning

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", WorldWarning)
        try:
            loaded.save(path)
        except ValueError as error:  # too large for the format
            raise click.ClickException(str(error)) from error
    for warning in told:
        click.echo(f"{warning.message}.", err=True)


def _show(found: dict[str, Any]) -> None:
    from ecs_audio.world.picture import colour

    sections, png = found["sections"], found["png"]
    share = found["filled_cells"] / max(found["cells"], 1)
    rows = [
        ("file", found["file"]),
        ("size", f"{_edges(found['size'], 'd')} cells, {_edges(found['size_metres'], '.6g')} m"),
        ("origin", ", ".join(map(str, found["origin"]))),
        ("cell size", f"{found['cell_size']:g} m"),
        ("sections", ", ".join(f"{count:,} {kind}" for kind, count in sections.items())),
        ("memory", f"{found['memory_bytes'] / 1e6:.1f} MB"),
        ("cells", f"{found['cells']:,}, of which {found['filled_cells']:,} are filled ({100 * share:.1f} %)"),
    ]
    if png is not None:
        (x0, z0), (x1, z1) = png["low"], png["high"]
        rows.append(("map", f"{png['file']}, {png['width']} × {png['height']} pixels, north at the top"))
        rows.append(("", f"x from {x0} to {x1 - 1}, z from {z0} to {z1 - 1}"))
    if found["saved"] is not None:
        rows.append(("saved", found["saved"]))
    rows += [("", line) for line in found["report"]]
    show.pairs(rows)
    show.text()
    groups = found["groups"]
    show.table(
        ("group", "cells", "share %", "on the map"),
        [(g["group"], f"{g['cells']:,}", f"{100 * g['share']:.2f}", colour(g["group"])) for g in groups],
        right=(1, 2),
        colours=[colour(g["group"]) for g in groups],
    )
    show.text()
    common = [(b["name"], b["group"], f"{b['cells']:,}") for b in found["blocks"]]
    show.table(("most common", "group", "cells"), common, right=(2,))
    if found["unknown_names"]:
        show.text()
        unknown = [(b["name"], f"{b['cells']:,}") for b in found["unknown_names"]]
        show.table(("unknown name", "cells"), unknown, right=(1,))


def _edges(edges: list[Any], form: str) -> str:
    return " × ".join(format(edge, form) for edge in edges)
