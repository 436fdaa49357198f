"""ecs-audio analyze: what is in a recording, in numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import click

from ecs_audio.cli import show
from ecs_audio.cli.errors import sentence

PICTURES: Final = (".png", ".svg", ".pdf")

SHOWN: Final = 8
"""Echoes and clicks that the table names."""

STRAIGHT: Final = 10.0
"""A decay that bends more is no single exponential (ISO 3382-2, annex B)."""


@click.command(short_help="What is in a recording: levels, bands, decay, echoes, clicks.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--bands", type=click.Choice(["octave", "third"]), default="octave", show_default=True, help="Of levels."
)
@click.option("--from", "start", type=float, default=0.0, metavar="S", help="Begin there [seconds].")
@click.option("--to", "end", type=float, default=None, metavar="S", help="End there [seconds].")
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="A picture of one FILE, by matplotlib."
)
def analyze(
    files: tuple[Path, ...], as_json: bool, bands: str, start: float, end: float | None, plot: Path | None
) -> None:
    """Measure recordings: WAV, FLAC, OGG, MP3, AIFF and what else libsndfile reads.

    Reverberation times and echoes are those of one short sound, as a clap. For those of a longer recording
    choose a part with --from and --to; above 60 s they are left out.
    """
    if plot is not None and len(files) > 1:
        raise click.UsageError(f"--plot draws one file, not {len(files)}")
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise click.UsageError(f"the picture {str(plot)!r} must end in {', '.join(PICTURES)}")
    if not (0.0 <= start < (math.inf if end is None else end)):
        raise click.UsageError(f"--from {start:g} --to {end}: 0 ≤ from < to is needed")

    found: list[dict[str, Any]] = []
    problems: list[str] = []
    for file in files:
        try:
            found.append(_analyzed(file, bands, start, end, plot))
        except (OSError, ValueError) as error:
            if len(files) == 1:
                raise
            problems.append(sentence(error))
    if as_json:
        show.json({"files": found, "errors": problems})
    else:
        for k, one in enumerate(found):
            if k:
                show.text()
            _show(one)
    if problems:
        raise click.ClickException("; ".join(problems))


def _analyzed(file: Path, bands: str, start: float, end: float | None, plot: Path | None) -> dict[str, Any]:
    from ecs_audio.cli.measures import MAX_CHANNELS, measures
    from ecs_audio.clips.decode import decode

    samples, rate = decode(file, max_channels=MAX_CHANNELS)
    seconds = len(samples) / rate
    first, last = round(start * rate), len(samples) if end is None else min(round(end * rate), len(samples))
    if first >= last:
        raise click.ClickException(f"{file}: lasts {seconds:g} s, and nothing of it is after {start:g} s")
    part = samples[first:last]
    found = {"file": str(file), "from": first / rate, **measures(part, rate, bands), "plot": None}
    if plot is not None:
        from ecs_audio.cli.plot import draw

        draw(plot, part, rate, found)
        found["plot"] = str(plot)
    return found


def _show(found: dict[str, Any]) -> None:
    silence, decay = found["silence"], found["decay"]
    rows = [
        ("file", found["file"]),
        ("length", f"{found['seconds']:.3f} s, {found['frames']:,} frames{_begin(found['from'])}"),
        ("format", f"{found['channels']} {_plural('channel', found['channels'])} at {found['rate']:,} Hz"),
        ("peak", f"{_number(found['peak_db'])} dBFS, true peak {_number(found['true_peak_db'])} dBTP"),
        ("level", f"{_number(found['level_db'])} dBFS RMS, {_loudness(found)}"),
        ("offset", ", ".join("–" if value is None else f"{value:+.6f}" for value in found["dc"])),
        ("silence", f"{silence['start']:.3f} s at the beginning, {silence['end']:.3f} s at the end"),
        ("decay", _decay(decay)),
        ("later onsets", _echoes(found["echoes"])),
        ("repeats", _echoes(found["repeats"])),
        ("clicks", _times(found["clicks"])),
    ]
    if found["direction"] is not None:
        rows.append(("direction", _direction(found["direction"])))
    rows += [("note", note) for note in found["notes"]]
    show.pairs(rows)
    show.text()
    show.table(
        ("band Hz", "level dBFS", "RT60 s", "remark"),
        [
            (f"{b['band']:g}", _number(b["level_db"]), _seconds(b["decay"]), _remark(b["decay"]))
            for b in found["bands"]
        ],
        right=(0, 1, 2),
    )
    if found["plot"] is not None:
        show.text(f"drawn to {found['plot']}")


def _begin(start: float) -> str:
    return f", from {start:g} s on" if start else ""


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _number(level: float | None) -> str:
    return "−∞" if level is None else f"{level:.1f}"


def _loudness(found: dict[str, Any]) -> str:
    return "no loudness" if found["loudness_lufs"] is None else f"{found['loudness_lufs']:.1f} LUFS"


def _seconds(decay: dict[str, Any] | None) -> str:
    return "–" if decay is None or decay["rt60"] is None else f"{decay['rt60']:.2f}"


def _remark(decay: dict[str, Any] | None) -> str:
    if decay is None:
        return ""
    if decay["rt60"] is None:
        return str(decay["reason"])
    bent = f", bent: {decay['bend']:.0f} ‰" if decay["bend"] > STRAIGHT else ""
    return f"T{decay['span_db']:.0f}{bent}"


def _decay(decay: dict[str, Any] | None) -> str:
    if decay is None:
        return "left out"
    return (
        f"{_seconds(decay)} s ({_remark(decay)})" if decay["rt60"] is not None else f"none: {decay['reason']}"
    )


def _echoes(echoes: list[dict[str, float]] | None) -> str:
    if echoes is None:
        return "left out"
    loudest = sorted(sorted(echoes, key=lambda e: -e["level_db"])[:SHOWN], key=lambda e: e["time"])
    listed = ", ".join(f"{1000.0 * e['time']:.1f} ms {e['level_db']:.1f} dB" for e in loudest)
    more = f"; {len(echoes) - SHOWN} softer ones" if len(echoes) > SHOWN else ""
    return f"{listed}{more}" if echoes else "none"


def _times(times: list[float]) -> str:
    if not times:
        return "none"
    more = ", …" if len(times) > SHOWN else ""
    return f"{len(times)}: at {', '.join(f'{time:.3f}' for time in times[:SHOWN])}{more} s"


def _direction(direction: dict[str, Any]) -> str:
    def degrees(azimuth: float | None) -> str:
        return "–" if azimuth is None else f"{azimuth:+.0f}°"

    course = [direction["azimuth"][int(k * len(direction["azimuth"]) / SHOWN)] for k in range(SHOWN)]
    return f"{degrees(direction['overall'])} overall; in turn {' '.join(map(degrees, course))}"
