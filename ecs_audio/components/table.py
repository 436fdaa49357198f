"""Structure-of-arrays storage: one array per column, one row per entity.

esper owns identity: it maps an entity to its `Row`. A `Table` owns data: it maps a row to values.
The `Row` is the only link between the two, and the table keeps it true.
"""

from __future__ import annotations

import math
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
        return table.views[self.name]

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


class Guard:
    """The columns that a host writes, one after another in one array, so that one look checks them all.

    It moves them there: `table.storage` holds views of it from then on.
    """

    def __init__(self, table: Table[Any]) -> None:
        self.names = [name for name, column in table.columns.items() if column.low is not None]
        columns = [table.columns[name] for name in self.names]
        self.width = np.array([math.prod(column.shape) for column in columns], np.int64)
        """Values in a row, for each column."""
        self.start = np.concatenate([[0], np.cumsum(self.width * table.capacity)]).astype(np.int64)
        """Where each column begins; the last is the end."""
        self.low = np.array([column.low for column in columns], np.float64)
        self.high = np.array([column.high for column in columns], np.float64)
        self.values = np.zeros(self.start[-1])
        """What the host wrote."""
        for k, name in enumerate(self.names):
            place = self.values[self.start[k] : self.start[k + 1]].reshape(table.storage[name].shape)
            place[:] = table.storage[name]
            table.storage[name] = place
        self.trusted = self.values.copy()
        """The last good values."""
        self.first = np.zeros(2, np.int64)
        """Column and row of the first bad value that was found. Set by `ingest`."""
        self.good = {
            name: self.trusted[self.start[k] : self.start[k + 1]].reshape(table.storage[name].shape)
            for k, name in enumerate(self.names)
        }
        """The same by column."""


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
        self.views: dict[str, NDArray[Any]] = {}
        """The living rows of each column: what reading a column gives."""
        self.alive: list[R] = []
        """The rows by index."""
        self.storage: dict[str, NDArray[Any]] = {
            name: np.full((capacity, *column.shape), column.default, column.dtype)
            for name, column in self.columns.items()
        }
        self.guard = Guard(self)
        self.resize(0)

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
        for name, good in self.guard.good.items():
            good[self.count] = self.storage[name][self.count]
        row = self.row_type(self.count)
        self.alive.append(row)
        self.resize(self.count + 1)
        return row

    def remove(self, row: R) -> None:
        """Forget a row; the last row moves into its place. Raises DeadRowError the second time."""
        self.check(row)
        last = self.alive.pop()
        self.resize(self.count - 1)
        if last is not row:
            for array in (*self.storage.values(), *self.guard.good.values()):
                array[row.index] = array[last.index]
            self.alive[row.index] = last
            last.index = row.index
        row.index = GONE

    def replace(self, row: R) -> R:
        """Give a row's values to a new one, in the same place; the old one is removed. Raises
        DeadRowError."""
        self.check(row)
        new = self.row_type(row.index)
        self.alive[row.index] = new
        row.index = GONE
        return new

    def resize(self, count: int) -> None:
        """Set how many rows are alive."""
        self.count = count
        self.views = {name: array[:count] for name, array in self.storage.items()}

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
