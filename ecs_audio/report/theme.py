"""How the page looks: its colours and letters."""

from __future__ import annotations

from typing import Final

from bokeh.themes import Theme

INK: Final = "#1d2733"
SOFT: Final = "#5b6776"
GRID: Final = "#e4e8ed"
ACCENT: Final = "#d1495b"

SERIES: Final = (
    "#3b6fb6", "#e08e2b", "#3d9970", "#a05195", "#d1495b", "#5fb3ce", "#8a6d4b", "#9aa5b1", "#4f5d2f",
)  # fmt: skip
"""Colours of things without an order, of which neighbours differ also to the colour-blind."""
BANDS: Final = ("#1f4e79", "#3b8ea5", "#e0a030", "#c8553d")
"""125, 500, 2000 and 8000 Hz, from low to high."""
PLACES: Final = {
    "field": "#a9cf8a",
    "street": "#c9b79c",
    "canyon": "#d98f4e",
    "tunnel": "#7d6b91",
    "hall": "#6d9dc5",
    "room": "#d97b93",
    "unknown": "#d5dae0",
}
"""Of the kinds of places."""

FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
THEME: Final = Theme(
    json={
        "attrs": {
            "Plot": {
                "background_fill_color": "#ffffff",
                "border_fill_color": "#ffffff",
                "outline_line_color": None,
            },
            "Title": {"text_font": FONT, "text_font_size": "13px", "text_color": INK},
            "Axis": {
                "axis_label_text_font": FONT,
                "axis_label_text_font_size": "11px",
                "axis_label_text_font_style": "normal",
                "axis_label_text_color": SOFT,
                "axis_label_standoff": 6,
                "major_label_text_font": FONT,
                "major_label_text_font_size": "11px",
                "major_label_text_color": SOFT,
                "axis_line_color": GRID,
                "major_tick_line_color": GRID,
                "minor_tick_line_color": None,
            },
            "Grid": {"grid_line_color": GRID},
            "BaseColorBar": {
                "title_text_font": FONT,
                "title_text_font_size": "11px",
                "title_text_font_style": "normal",
                "title_text_color": SOFT,
                "major_label_text_font": FONT,
                "major_label_text_font_size": "11px",
                "major_label_text_color": SOFT,
                "background_fill_alpha": 0.0,
            },
            "Legend": {
                "label_text_font": FONT,
                "label_text_font_size": "11px",
                "label_text_color": INK,
                "border_line_color": None,
                "background_fill_alpha": 0.0,
                "glyph_width": 16,
                "glyph_height": 12,
                "label_height": 14,
                "spacing": 12,
                "padding": 2,
                "margin": 0,
            },
        }
    }
)
