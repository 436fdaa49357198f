"""Movers: what walks, flies and falls through the world, with a source or the listener."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.table import Column, Row, Table

LISTENER = -1
"""In place of a source's serial: the listener."""


class Kind(IntEnum):
    """How a mover moves."""

    WALKER = 0  # on its feet: it wishes, steps up, slides along walls, jumps
    PROJECTILE = 1  # flies until it hits, and stays there
    DEBRIS = 2  # falls, bounces, slides, and lies


class Mover(Row):
    """The row of a body that moves."""


class Movers(Table[Mover]):
    """Where each body is, what it wishes, and what it met. A body is a box that never turns.

    Between ticks the host may write all that says so, also `position`, to put a body elsewhere. The source or
    the listener is where its mover has it: what the host writes there is replaced by the next tick.
    """

    row_type = Mover

    entity = Column(np.int64)
    """The esper entity this row belongs to, its source's own. Set by the engine."""
    serial = Column(np.int64, default=LISTENER)
    """Serial of the source that it moves, -1 for the listener. Set by the engine."""
    place = Column(np.int64)
    """Row where that source was last. Set by the engine, `move`."""
    kind = Column(np.uint8)
    """Kind. Set by the engine."""

    # What the host wants.
    position = Column(np.float64, 3, low=-1e9)
    """Middle of the body's floor, a walker's soles [m]. Set by the host, `move`."""
    velocity = Column(np.float64, 3, low=-1e9)
    """[m/s]. Set by the host, `move`."""
    wish_direction = Column(np.float64, 3, low=-1e9)
    """Where a walker wishes to go, horizontally; a length below 1 is a share of `walk_speed`. Set by the
    host."""
    jump = Column(np.uint8)
    """1 while a walker's jump is pressed; holding it does not repeat. Set by the host."""
    gravity = Column(np.float64, low=-1e6, high=1e6)
    """Acceleration downwards [m/s²]. Set by the host."""
    size = Column(np.float64, 3, default=0.1, low=1e-6, high=64)
    """Edges [m]. Set by the host."""
    eye = Column(np.float64, low=-64, high=64)
    """Height of the source or the listener above `position` [m]. Set by the host."""
    walk_speed = Column(np.float64, low=0, high=1e6)
    """Speed that a walker wishes for [m/s]. Set by the host."""
    jump_speed = Column(np.float64, low=0, high=1e6)
    """Speed upwards at the beginning of a jump [m/s]. Set by the host."""
    step_height = Column(np.float64, low=0, high=64)
    """A walker walks up ledges of this height [m]. Set by the host."""
    bounce = Column(np.float64, low=0, high=1)
    """Share of its speed into a surface that debris has after a bounce. Set by the host."""
    friction = Column(np.float64, low=0, high=1e6)
    """Force along a surface over force into it, for debris. Set by the host."""

    # What became of it.
    fresh = Column(np.uint8, default=1)
    """1 until the first tick, which finds it where it begins. Set by `move`."""
    held = Column(np.uint8)
    """`jump` as it was at the last tick. Set by `move`."""
    rise = Column(np.float64)
    """How much higher a walker may step from what it stands on, such as stairs [cells]. Set by `move`."""
    on_ground = Column(np.uint8)
    """1 if a walker stands, or debris lies or slides, on something. Set by `move`."""
    resting = Column(np.uint8)
    """1 where a projectile has hit and stays, or debris lies still. Set by `move`."""
    hit = Column(np.uint8)
    """1 in the tick in which a projectile hit, or debris bounced. Set by `move`."""
    hit_point = Column(np.float64, 3)
    """Where it last hit, on the surface [m]. Set by `move`."""
    hit_normal = Column(np.float64, 3)
    """Unit vector out of that surface, zero without a hit in this tick. Set by `move`."""
    hit_cell = Column(np.int64, 3)
    """The cell that it last hit: `world.material(hit_cell)` says what it is of. Set by `move`."""
    hit_speed = Column(np.float64)
    """Speed into the surface [m/s], 0 without a hit in this tick. Set by `move`."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.box: NDArray[np.int64] = np.zeros(6, np.int64)
        """Lowest cell of the world, and sections along each axis."""
        self.reals: NDArray[np.float64] = np.zeros(48)
        """Scratch of the body that moves."""
        self.wholes: NDArray[np.int64] = np.zeros(32, np.int64)
        """Scratch of the body that moves."""

    def clear(self) -> None:
        """Forget all rows."""
        for mover in reversed(list(self.alive)):
            self.remove(mover)
