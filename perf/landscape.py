"""A large landscape to trace rays through: hills, mountains, a canyon, caves, a town and woods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import ecs_audio as ea

WIDE, HIGH = 1024, 256
TOWN = 420, 640, 40, 220  # from x to x, from z to z
PLATEAU = 64


class Landscape(NamedTuple):
    """The world, and where its parts are. x and z are cells of the world's, whatever part of it is built."""

    world: ea.World
    ground: np.ndarray
    """y of the highest cell of earth, (x, z)."""
    canyon: np.ndarray
    """z of the canyon's middle, for each x."""
    houses: np.ndarray
    """(n, 6) lowest cell and size of each house."""


def noise(rng, cell):
    """Random heights on a grid of so many cells, in between by smooth steps, (WIDE, WIDE)."""
    knots = rng.standard_normal((WIDE // cell + 2, WIDE // cell + 2))
    at, share = np.divmod(np.arange(WIDE) / cell, 1)
    at, share = at.astype(int), share * share * (3 - 2 * share)
    rows = knots[at] * (1 - share)[:, None] + knots[at + 1] * share[:, None]
    return rows[:, at] * (1 - share) + rows[:, at + 1] * share


def rough(rng, cell, octaves):
    """Noise with finer and fainter noise on it."""
    return sum(noise(rng, max(2, cell >> k)) * 0.5**k for k in range(octaves))


def terrain(rng):
    """Heights of the ground, and the middle line of the canyon."""
    x = np.arange(WIDE)
    ground = 62 + 5 * rough(rng, 128, 5)
    ground += 55 * np.clip(rough(rng, 256, 6) + 0.4, 0, None) * np.clip((x - 420) / 250, 0, 1)
    middle = 300 + 60 * np.sin(x / 140) + 20 * np.sin(x / 37)
    depth = np.clip((26 - np.abs(x - middle[:, None])) / 9, 0, 1)
    ground += (20 + 2 * noise(rng, 16) - ground) * depth
    x0, x1, z0, z1 = TOWN
    away = np.hypot(
        np.maximum(0, np.maximum(x0 - x, x - x1))[:, None], np.maximum(0, np.maximum(z0 - x, x - z1))
    )
    ground += (PLATEAU - ground) * np.clip(1 - away / 24, 0, 1)
    return np.clip(np.rint(ground), 4, HIGH - 11).astype(int), middle.astype(int)


def lay(world, ground):
    """Stone, three cells of dirt, and grass."""
    stone, dirt, grass = (world.palette.id(name) for name in ("stone", "dirt", "grass_block"))
    y = np.arange(HIGH)[None, :, None]
    (x0, _, z0), (x1, _, z1) = world.origin, world.origin + world.size
    for x in range(x0, x1, 64):
        top = ground[x : x + 64, None, z0:z1]
        earth = np.where(y < top - 3, stone, np.where(y < top, dirt, grass))
        world.put((x, 0, z0), np.where(y <= top, earth, 0).astype(np.uint16))


def build_town(world, rng):
    """Houses of one to three floors with doors, windows and holes for the stairs."""
    houses, (x0, x1, z0, z1) = [], TOWN
    for x in range(x0 + 4, x1 - 16, 20):
        for z in range(z0 + 4, z1 - 16, 20):
            (wide, deep), floors = rng.integers(8, 15, 2), int(rng.integers(1, 4))
            world.fill(
                (x, PLATEAU, z),
                (x + wide, PLATEAU + 5 * floors + 1, z + deep),
                str(rng.choice(["oak_planks", "bricks"])),
            )
            for y in range(PLATEAU + 1, PLATEAU + 5 * floors, 5):
                world.fill((x + 1, y, z + 1), (x + wide - 1, y + 4, z + deep - 1), "air")
                for wall in (x, x + wide - 1):
                    world.fill((wall, y + 1, z + 2), (wall + 1, y + 3, z + 4), "glass")
                if y > PLATEAU + 1:
                    world.set((x + 2, y - 1, z + 2), "air")
            world.fill((x + wide // 2, PLATEAU + 1, z), (x + wide // 2 + 1, PLATEAU + 3, z + 1), "air")
            houses.append((x, PLATEAU, z, wide, 5 * floors, deep))
    return np.array(houses)


def dig_caves(world, rng, ground):
    """Winding tunnels, and a straight one through the mountains."""
    for _ in range(120):
        x, z = rng.uniform(30, WIDE - 30, 2)
        at, way = np.array((x, ground[int(x), int(z)] - rng.uniform(4, 40), z)), rng.normal(size=3)
        for _ in range(40):
            world.carve(at, rng.uniform(1.5, 3.5))
            way += rng.normal(size=3) * (0.5, 0.2, 0.5)
            at = np.clip(at + 2.5 * way / np.linalg.norm(way), 5, (WIDE - 5, HIGH - 5, WIDE - 5))
    world.fill((700, 66, 430), (705, 71, 900), "air")


def plant(world, rng, ground, middle):
    """Trees, outside town and canyon."""
    x0, x1, z0, z1 = TOWN
    for x, z in rng.integers(4, WIDE - 4, (4000, 2)):
        if (x0 - 4 <= x <= x1 + 4 and z0 - 4 <= z <= z1 + 4) or abs(z - middle[x]) < 28:
            continue
        y = int(ground[x, z])
        world.fill((x - 2, y + 4, z - 2), (x + 3, y + 6, z + 3), "oak_leaves")
        world.fill((x - 1, y + 6, z - 1), (x + 2, y + 8, z + 2), "oak_leaves")
        world.fill((x, y + 1, z), (x + 1, y + 6, z + 1), "oak_log")


def landscape(seed=7, low=(0, 0), wide=WIDE):
    """Build it, or a square of it with town and canyon: `wide` cells from `low` on, in some seconds."""
    rng = np.random.default_rng(seed)
    world = ea.World.empty(size=(wide, HIGH, wide), origin=(low[0], 0, low[1]))
    ground, middle = terrain(rng)
    lay(world, ground)
    dig_caves(world, rng, ground)
    houses = build_town(world, rng)
    plant(world, rng, ground, middle)
    return Landscape(world, ground, middle, houses)


def places(land, count=25, seed=3):
    """Where rays begin [m], by kind of place: (count, 3) each."""
    rng = np.random.default_rng(seed)
    (x0, _, z0), (x1, _, z1) = land.world.origin + 30, land.world.origin + land.world.size - 30

    def around(x, y, z):
        return np.stack([x, y, z], axis=1) + rng.uniform(0, 1, (count, 3))

    x, z = rng.integers(x0, x1, 40 * count), rng.integers(z0, z1, 40 * count)
    y = land.ground[x, z]
    open_air = [k for k in range(len(x)) if land.world.material((x[k], y[k] + 2, z[k])) == "air"]
    open_air = [k for k in open_air if abs(z[k] - land.canyon[x[k]]) > 30][:count]
    high = slice(-count, None)
    house = land.houses[rng.permutation(len(land.houses))[:count]]
    along = rng.integers(x0, x1, count)
    across = land.canyon[along] + rng.integers(-8, 8, count)
    return {
        "open": around(x[open_air], y[open_air] + 2, z[open_air]),
        "altitude": around(x[high], np.minimum(250, y[high] + rng.integers(40, 100, count)), z[high]),
        "houses": house[:, :3]
        + 1
        + rng.uniform(0, 1, (count, 3)) * (house[:, 3:] - 2) * (1, 0, 1)
        + (0, 1.2, 0),
        "canyon": around(along, land.ground[along, across] + rng.integers(1, 6, count), across),
    }


def sphere(count=256):
    """Directions that fill a sphere evenly, (count, 3)."""
    i = np.arange(count)
    turn, up = i * np.pi * (1 + 5**0.5), 2 * (i + 0.5) / count - 1
    flat = np.sqrt(1 - up * up)
    return np.stack([flat * np.cos(turn), up, flat * np.sin(turn)], axis=1)


def dense(world):
    """A world as an array of uint8 ids (x, y, z)."""
    out, (x0, y0, z0) = np.zeros(world.size, np.uint8), world.origin
    for x in range(0, len(out), 64):
        wide = min(64, len(out) - x)
        out[x : x + wide] = world.ids((x0 + x, y0, z0), (x0 + x + wide, *(world.origin + world.size)[1:]))
    return out
