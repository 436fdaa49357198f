"""move: bodies go where they wish, fly or fall, and take their sources or the listener along."""

from __future__ import annotations

from ecs_audio.components import Listener, Movers, Sources
from ecs_audio.kernels.bodies import MoverColumns
from ecs_audio.kernels.movement import advance, carry
from ecs_audio.kernels.sweep import Ground
from ecs_audio.settings import Settings
from ecs_audio.systems.ingest import BadValueError, restore
from ecs_audio.world import World


def move(
    movers: Movers, sources: Sources, listener: Listener, world: World, settings: Settings, *, dt: float
) -> BadValueError | None:
    """Move every body by dt, the time since the last tick; then sources and listener are where they are.

    What the host wrote is checked first; returns an error to be raised once the tick is done.
    """
    complaint = restore(movers)
    columns = MoverColumns(*[movers.storage[name] for name in MoverColumns._fields])
    advance(
        movers.count, dt, 1.0 / settings.units_per_metre, float(world.cell_size), columns,
        _ground(movers, world), movers.reals, movers.wholes,
    )  # fmt: skip
    for name in ("position", "velocity"):  # these are good, whatever the host writes next
        movers.guard.good[name][: movers.count] = movers.views[name]
    led = carry(
        movers.count, movers.storage["position"], movers.storage["eye"], movers.storage["serial"],
        movers.storage["place"], sources.serial, sources.position,
    )  # fmt: skip
    if led >= 0:
        x, y, z = movers.position[led].tolist()
        listener.look(position=(x, y + float(movers.eye[led]), z))
    return complaint


def _ground(movers: Movers, world: World) -> Ground:
    """The world's arrays as they are now: an edit may have replaced them."""
    movers.box[:3], movers.box[3:] = world.section_origin, world.slots.shape
    movers.box[:3] *= 16
    palette = world.palette
    return Ground(movers.box, world.slots.reshape(-1), world.cells.reshape(-1), palette.height, palette.rise)
