"""Structure-of-arrays tables: what the simulation knows, one row per entity."""

from ecs_audio.components.batch import Batch
from ecs_audio.components.entries import CacheEntries, CacheEntry
from ecs_audio.components.listener import Listener
from ecs_audio.components.movers import Kind, Mover, Movers
from ecs_audio.components.probes import Probe, Probes
from ecs_audio.components.rays import Ray, Rays
from ecs_audio.components.sources import BUNDLE, HISTORY, Law, Source, Sources, State, Tier
from ecs_audio.components.table import GONE, Column, DeadRowError, Row, Table, TableFullError
from ecs_audio.components.voices import Lane, Voice, Voices

__all__ = [
    "BUNDLE",
    "GONE",
    "HISTORY",
    "Batch",
    "CacheEntries",
    "CacheEntry",
    "Column",
    "DeadRowError",
    "Kind",
    "Lane",
    "Law",
    "Listener",
    "Mover",
    "Movers",
    "Probe",
    "Probes",
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
