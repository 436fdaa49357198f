"""Structure-of-arrays storage: one array per column, one row per entity.

esper owns identity: it maps an entity to its `Row`. A `Table` owns data: it maps a row to values.
The `Row` is the only link between the two, and the table keeps it true.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

GONE = sys.maxsize
"""The index of a removed row: past the end of every table, so that using it raises IndexError."""


class TableFullError(OverflowError):
    """A table has no free row left; its capacity is a setting."""


class DeadRowError(IndexError):
    """A row was used after its entity was removed."""


class Column:
    """One value, or a small array of values, for every row.

    Reading it from a table gives a writable array of exactly `count` rows. `low` and `high` mark a
    column that the host writes: `ingest` holds its values to that range, both ends included.
    """

    def __init__(
        self, dtype: DTypeLike, *shape: int, default: float = 0, low: float | None = None, high: float = 1e9
    ) -> None:
        self.dtype, self.shape, self.default = dtype, shape, default
        self.low, self.high = low, high

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, table: None, owner: type) -> Column: ...
    @overload
    def __get__(self, table: Table[Any], owner: type) -> NDArray[Any]: ...
    def __get__(self, table: Table[Any] | None, owner: type) -> Column | NDArray[Any]:
        if table is None:
            return self
        return table.storage[self.name][: table.count]

    def __set__(self, table: Table[Any], values: ArrayLike) -> None:
        table.storage[self.name][: table.count] = values


class Row:
    """What esper stores for an entity: where its values are now.

    A row is an index: `sources.position[drone] = (0, 40, 80)`.
    """

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __index__(self) -> int:
        return self.index

    @property
    def alive(self) -> bool:
        """Whether the row still has values."""
        return self.index != GONE

    def __repr__(self) -> str:
        where = f"row {self.index}" if self.alive else "removed"
        return f"<{type(self).__name__} {where}>"


R = TypeVar("R", bound=Row)


class Table(Generic[R]):
    """Rows 0 to count - 1 are alive and contiguous; nothing else is ever visible."""

    columns: ClassVar[dict[str, Column]] = {}
    row_type: type[R]

    def __init_subclass__(cls) -> None:
        cls.columns = {name: c for name, c in vars(cls).items() if isinstance(c, Column)}

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.count = 0
        self.alive: list[R] = []
        """The rows by index."""
        self.storage: dict[str, NDArray[Any]] = {
            name: np.full((capacity, *column.shape), column.default, column.dtype)
            for name, column in self.columns.items()
        }
        self.trusted: dict[str, NDArray[Any]] = {
            name: self.storage[name].copy() for name, column in self.columns.items() if column.low is not None
        }
        """The last good values of the columns that the host writes."""
        self.guarded = [
            (
                name,
                self.storage[name].reshape(capacity, -1),
                good.reshape(capacity, -1),
                column.low,
                column.high,
            )
            for name, good in self.trusted.items()
            if (column := self.columns[name]).low is not None
        ]
        """Those columns: name, values and last good values as (capacity, k), lowest and highest value."""

    def append(self, **values: Any) -> R:
        """Add a row; columns not named start at their defaults. Nothing changes if it raises.

        Raises TableFullError at capacity, TypeError for an unknown column, ValueError for a value
        that does not fit its column.
        """
        if unknown := values.keys() - self.columns.keys():
            raise TypeError(f"{type(self).__name__} has no column {sorted(unknown)[0]!r}")
        if self.count == self.capacity:
            raise TableFullError(f"{type(self).__name__} is full: all {self.capacity} rows are in use")
        for name, column in self.columns.items():
            self.storage[name][self.count] = values.get(name, column.default)
        for name, good in self.trusted.items():
            good[self.count] = self.storage[name][self.count]
        row = self.row_type(self.count)
        self.alive.append(row)
        self.count += 1
        return row

    def remove(self, row: R) -> None:
        """Forget a row; the last row moves into its place. Raises DeadRowError the second time."""
        self.check(row)
        last = self.alive.pop()
        self.count -= 1
        if last is not row:
            for array in (*self.storage.values(), *self.trusted.values()):
                array[row.index] = array[last.index]
            self.alive[row.index] = last
            last.index = row.index
        row.index = GONE

    def check(self, row: R) -> None:
        """Raise DeadRowError unless `row` is a living row of this table."""
        if row.index >= self.count or self.alive[row.index] is not row:
            why = "is of another table" if row.alive else "was removed"
            raise DeadRowError(f"this {type(row).__name__} {why}; it has no values here")

    def rows(self, rows: Iterable[R]) -> NDArray[np.intp]:
        """Indices of several rows, to read or write them at once. Raises DeadRowError."""
        rows = list(rows)
        for row in rows:
            self.check(row)
        return np.fromiter((row.index for row in rows), np.intp, len(rows))
