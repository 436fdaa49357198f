"""How loud the sources of a raid are, how far they carry, and who matters more."""

from __future__ import annotations

from typing import Any

Options = dict[str, dict[str, Any]]

VOICES = 128
"""How many sources an engine lets sound at once, unless told otherwise."""
LEVEL = 0.65
"""What all volumes have in common: streets and rooms add 5 dB to what arrives directly."""
MUSIC = {"category": "music", "acoustics": True}
"""It comes from a house, and through its walls."""

MIX: Options = {
    "drones": {"volume": 0.42, "reference": 6.0, "end": 300.0, "priority": 2},
    "missiles": {"volume": 0.8, "reference": 10.0, "end": 500.0, "priority": 7},
    "blasts": {"volume": 0.7, "reference": 22.0, "end": 900.0, "priority": 9, "full_within": 400.0},
    "debris": {"volume": 0.35, "reference": 4.0, "end": 200.0, "priority": 3},
    "guns": {"volume": 0.65, "reference": 7.0, "end": 500.0, "priority": 5},
    "sirens": {"volume": 0.09, "reference": 9.0, "end": 500.0, "priority": 4},
    "engines": {"volume": 0.35, "reference": 3.0, "end": 250.0, "priority": 2},
    "voices": {"volume": 0.42, "reference": 2.2, "end": 120.0, "priority": 3, "category": "voice"},
    "steps": {"volume": 0.4, "reference": 1.5, "end": 60.0, "priority": 1},
    "music": {"volume": 0.5, "reference": 4.0, "end": 200.0, "priority": 4, **MUSIC},
    "wind": {"volume": 0.09, "priority": 8, "category": "ambient"},
}
"""Role -> options of its sources. Priority decides who is heard when voices run out; footsteps go first."""


def mix(sources: int, only: str | None) -> Options:
    """The options of the roles that `only` names, by commas, or of all.

    More than a hundred sources share the loudness of a hundred, as far as there are voices for them.
    """
    roles = list(MIX) if only is None else [role.strip() for role in only.split(",")]
    for role in roles:
        if role not in MIX:
            raise ValueError(f"only may name {', '.join(MIX)}, not {role!r}")
    share = LEVEL * min(1.0, (100.0 / min(sources, VOICES)) ** 0.5)
    return {role: {**MIX[role], "volume": share * MIX[role]["volume"]} for role in roles}
