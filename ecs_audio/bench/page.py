"""The dashboard: one file with its data and what draws it; it loads nothing else."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from string import Template
from typing import Any

from ecs_audio.bench.errors import BenchError
from ecs_audio.bench.history import History
from ecs_audio.bench.record import Run
from ecs_audio.bench.targets import Row


def require() -> None:
    """Raise BenchError unless what draws the page is installed."""
    if find_spec("bokeh") is None:
        raise BenchError("the dashboard needs bokeh: pip install 'ecs-audio[report]'")


def page(run: Run, rows: list[Row], history: History) -> str:
    """The dashboard of a run and of those before it, as HTML.

    rows: the run's figures and targets. Raises BenchError without bokeh.
    """
    require()
    from bokeh.embed import components
    from bokeh.resources import Resources

    from ecs_audio.bench import cards, curves, percentiles, tables, trends
    from ecs_audio.report.theme import THEME

    runs = history.runs or [run]
    past = trends.trends(runs, rows)
    models: dict[str, Any] = {f"trend {k}": fig for k, fig in enumerate(trends.charts())}
    models |= {f"curve {k}": curves.chart(curve) for k, curve in enumerate(run.curves)}
    models |= {f"times {k}": fig for k, fig in enumerate(percentiles.charts(run))}
    script, drawn = components(models, theme=THEME)

    def places(kind: str) -> str:
        return "".join(place for name, place in drawn.items() if name.startswith(kind))

    folder, report = files("ecs_audio.bench"), files("ecs_audio.report")
    mood, word = tables.verdict(run, rows)
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        style=(report / "page.css").read_text("utf-8") + (folder / "page.css").read_text("utf-8"),
        mood=mood,
        word=word,
        complaints=tables.complaints(run, rows),
        about=escape(tables.about(run)),
        tiles=tables.tiles(run, rows, runs),
        notes=tables.notes(run, history.damaged),
        targets=tables.targets(rows),
        curves=places("curve") or '<p class="note">This run measured no curve.</p>',
        key=trends.key(past),
        trends=places("trend"),
        cards=cards.cards(rows, past),
        times=places("times") or '<p class="note">This run has no benchmark that passed.</p>',
        past=json.dumps(past).replace("<", "\\u003c"),
        resources=Resources(mode="inline", components=["bokeh"]).render(),
        script=script,
        behaviour=(folder / "page.js").read_text("utf-8"),
    )
