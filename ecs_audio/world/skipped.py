"""One sentence about the parts of a file that had to be left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

_Place = TypeVar("_Place", bound=tuple[int, ...])
_MAX_REASONS: Final = 20
_MAX_PLACES: Final = 8


def sentence(part: str, reasons: Mapping[_Place, str], total: int) -> str:
    """Say which of `total` parts were skipped and why, those with the same reason together.

    `part` is what they are called, as in "chunk"; `reasons` go by place, in the order they shall be named.
    """
    alike: dict[str, list[_Place]] = {}
    for place, reason in reasons.items():
        alike.setdefault(reason, []).append(place)
    listed = []
    for reason, places in list(alike.items())[:_MAX_REASONS]:
        named = ", ".join(map(str, places[:_MAX_PLACES]))
        more = f" and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
        listed.append(f"{part} {named}{more}: {reason}")
    if len(alike) > _MAX_REASONS:
        listed.append(f"and {len(alike) - _MAX_REASONS} other reasons")
    return f"skipped {len(reasons)} of {total} {part}s: {'; '.join(listed)}."
