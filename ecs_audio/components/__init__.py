"""Structure-of-arrays tables: what the simulation knows, one row per entity."""

from ecs_audio.components.listener import Listener
from ecs_audio.components.rays import Ray, Rays
from ecs_audio.components.sources import BUNDLE, HISTORY, Law, Source, Sources, State, Tier
from ecs_audio.components.table import GONE, Column, DeadRowError, Row, Table, TableFullError
from ecs_audio.components.voices import Lane, Voice, Voices

__all__ = [
    "BUNDLE",
    "GONE",
    "HISTORY",
    "Column",
    "DeadRowError",
    "Lane",
    "Law",
    "Listener",
    "Ray",
    "Rays",
    "Row",
    "Source",
    "Sources",
    "State",
    "Table",
    "TableFullError",
    "Tier",
    "Voice",
    "Voices",
]
