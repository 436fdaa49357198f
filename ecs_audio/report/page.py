"""The page: one file with its data, its pictures, its sound and what draws them; it loads nothing else."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.report.diary import Diary
from ecs_audio.report.errors import ReportError


def require() -> None:
    """Raise ReportError unless what draws a report is installed: before a long run, not after it."""
    if find_spec("bokeh") is None:
        raise ReportError("a report needs bokeh: pip install 'ecs-audio[report]'")


def page(
    found: dict[str, Any], diary: Diary, samples: NDArray[np.float32], mixing: NDArray[np.float64]
) -> str:
    """The report of a run as HTML.

    found: the summary of the run. samples: what was heard, shape (frames, 2). mixing: time that each block
    took [µs]. Raises ReportError without bokeh.
    """
    require()
    from bokeh.document import Document
    from bokeh.embed import components
    from bokeh.models import Range1d
    from bokeh.resources import Resources

    from ecs_audio.report import choices, cost, map, rooms, sound, tables
    from ecs_audio.report.theme import THEME
    from ecs_audio.report.ticks import ticks_of

    scenario, rate = diary.scenario, found["rate"]
    settings, length = scenario.settings, found["seconds"]
    times = Range1d(0.0, length, bounds=(0.0, length))
    ticks = ticks_of(diary.rows)
    parts = {
        "map": [map.map_of(diary)],
        "sound": sound.sound(samples, rate, times),
        "cost": cost.cost(ticks, times, settings, scenario.tick_rate),
        "choices": choices.choices(diary.rows, ticks, times, settings),
        "rooms": rooms.rooms(diary, times),
    }
    models = {f"{name} {k}": fig for name, figs in parts.items() for k, fig in enumerate(figs)}
    document = Document()
    with document.models.freeze():  # or each one would be looked through again for every other
        for fig in models.values():
            document.add_root(fig)
    script, drawn = components(models, theme=THEME)
    places = {name: [drawn[f"{name} {k}"] for k in range(len(figs))] for name, figs in parts.items()}

    mood, word, complaint = tables.verdict(found)
    bands = ("125 Hz", "500 Hz", "2 kHz", "8 kHz", "level [dB]")
    known, heard = rooms.reference_rows(diary)
    url = sound.audio_url(samples, rate)
    folder = files("ecs_audio.report")
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        title=f"{escape(found['scenario'])}, {word}",
        style=(folder / "page.css").read_text("utf-8"),
        name=escape(found["scenario"]),
        mood=mood,
        word=word,
        complaint=f'<p class="complaint">{escape(complaint)}</p>' if complaint else "",
        about=escape(_about(found)),
        tiles=tables.tiles(tables.headline(found, _loudness(samples, rate))),
        facts=tables.pairs(tables.facts(found, scenario.seed)),
        last=f"{diary.looks[-1]:.1f}",
        middle=f"{diary.looks[len(diary.looks) // 2]:.1f}",
        events="".join(f'<option value="{event.at:.1f}"></option>' for event in scenario.events),
        audio=f'<audio id="audio" controls preload="auto" src="{url}"></audio>' if url else "",
        map=places["map"][0],
        key=map.key(),
        ground="".join(f'<i style="background:{c}"></i>{escape(g)}' for g, c in diary.ground.groups.items()),
        sound="".join(places["sound"]),
        times=places["cost"][0],
        systems=tables.table(
            ("system", "p50 [ms]", "p99 [ms]", "max [ms]", "share"),
            tables.system_rows(diary.rows, mixing, scenario.tick_rate),
            "systems",
        ),
        cost="".join(places["cost"][1:]),
        choices="".join(places["choices"]),
        place=places["rooms"][0],
        rooms="".join(places["rooms"][1:]),
        heard=tables.table(("place, reverb", *bands, "of the time"), heard, "heard"),
        references=tables.table(("place", *bands, "mean free path"), known, "references"),
        scene=json.dumps(map.scene(diary)).replace("<", "\\u003c"),
        resources=Resources(mode="inline", components=["bokeh"]).render(),
        script=script,
        behaviour=(folder / "page.js").read_text("utf-8"),
    )


def _about(found: dict[str, Any]) -> str:
    cache = found["cache"]
    return (
        f"{found['ticks']:,} ticks at {found['tick_rate']:g} Hz, {found['rate'] / 1000:g} kHz in blocks of"
        f" at most {found['block']:,} frames;"
        f" edits of the world: {found['edits']:,}; {cache['hit_rate']:.0%} of"
        f" {cache['hits'] + cache['misses']:,} environments came from the cache"
    )


def _loudness(samples: NDArray[np.float32], rate: int) -> float | None:
    from ecs_audio.analysis import loudness_lufs

    try:
        return loudness_lufs(samples, rate)
    except (ImportError, ValueError):  # without pyloudnorm, or too short
        return None
