"""Results on stdout: tables at a terminal, plain columns in files and pipes, JSON for machines."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence
from typing import Any

import click

Cells = Sequence[str]


def table(headers: Cells, rows: Sequence[Cells], *, right: Container[int] = (), colours: Cells = ()) -> None:
    """Print rows under headers.

    right: the numbers of the columns that are aligned at their right. colours: one `#rrggbb` a row, for a
    swatch before it at a terminal.
    """
    numeric = [k in right for k in range(len(headers))]
    if sys.stdout.isatty():
        _rich_table(headers, rows, numeric, colours)
        return
    lines = [headers, *rows] if any(headers) else rows
    widths = [max((len(line[k]) for line in lines), default=0) for k in range(len(headers))]
    for line in lines:
        cells = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, numeric, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())


def pairs(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with their values."""
    table(("", ""), rows)


def text(line: str = "") -> None:
    """Print a line."""
    click.echo(line)


def json_bytes(content: dict[str, Any]) -> bytes:
    """A JSON object with a line break at its end; what JSON does not know is written as its text."""
    import msgspec

    encoded = msgspec.json.encode(content, enc_hook=lambda value: getattr(value, "tolist", value.__str__)())
    return msgspec.json.format(encoded, indent=2) + b"\n"


def json(content: dict[str, Any]) -> None:
    """Print a JSON object."""
    click.echo(json_bytes(content).decode(), nl=False)


def _rich_table(headers: Cells, rows: Sequence[Cells], numeric: Sequence[bool], colours: Cells) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD if any(headers) else None, show_header=any(headers), pad_edge=False)
    for k, (header, is_number) in enumerate(zip(headers, numeric, strict=True)):
        drawn.add_column(
            header,
            justify="right" if is_number else "left",
            style="bold" if k == 0 else "",
            no_wrap=k == 0,
            overflow="fold",  # a hash or a path must be whole to be copied
        )
    for k, row in enumerate(rows):
        cells = [Text(cell) for cell in row]  # not a str: brackets are no markup
        if colours:
            cells[0] = Text.assemble(("■ ", colours[k]), row[0])
        drawn.add_row(*cells)
    Console(highlight=False).print(drawn)
