"""Walk through a small town under drones: `pip install pygame-ce`, then `python examples/town.py`.

WASD or the arrows walk, the mouse or Q and E turn, a click breaks walls, the space bar shoots, Escape ends.
The map is the town cut at the height of the ears, so that one sees into the houses. A drone's halo says how
loud it is, and its colour what is in the way: green where it is seen, red behind walls.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

import ecs_audio as ea

EDGE, CUT, EARS = 64, 3, 2.6
"""Edge of the town and height of the cut [cells], height of the ears [m]."""
PIXELS, BAR = 12, 28
"""A cell on the screen, and the text below it."""
PACE, TURN, DRONES = 4.0, 2.5, 20
"""Walking [m/s], turning [rad/s]."""
HOUSES = (
    (4, 4, 12, 9, "bricks"), (19, 4, 9, 11, "oak_planks"), (4, 17, 9, 10, "stone_bricks"),
    (37, 3, 10, 12, "stone_bricks"), (50, 4, 11, 8, "oak_planks"), (49, 16, 12, 11, "bricks"),
    (4, 37, 11, 9, "oak_planks"), (18, 37, 10, 13, "bricks"), (5, 50, 9, 10, "stone_bricks"),
    (37, 37, 13, 8, "stone_bricks"), (37, 50, 8, 10, "oak_planks"),
)  # fmt: skip
"""Corner x and z, edges along x and z [cells], walls."""
TREES = ((16, 21), (25, 20), (39, 20), (44, 24), (29, 57), (20, 57), (60, 40), (53, 38), (49, 60), (2, 33))
COLOURS = {"earth": "#7da352", "gravel": "#9a8f86", "stone": "#a9abb0", "wood": "#b5844f"}
COLOURS |= {"water": "#4d8ad9", "leaves": "#3d7a3a", "glass": "#a5dbe6", "wool": "#d98fb0"}
"""Of each acoustic group on the map."""
NORTH, SOUTH, WEST, EAST = (0, 0, -1), (0, 0, 1), (-1, 0, 0), (1, 0, 0)
STEPS = {
    pygame.K_w: NORTH, pygame.K_s: SOUTH, pygame.K_a: WEST, pygame.K_d: EAST,
    pygame.K_UP: NORTH, pygame.K_DOWN: SOUTH, pygame.K_LEFT: WEST, pygame.K_RIGHT: EAST,
}  # fmt: skip


def build() -> ea.World:
    """Two streets that cross, a pond, trees, houses with a door, windows and a carpet."""
    world = ea.World.empty(size=(EDGE, 24, EDGE))
    world.fill((0, 0, 0), (EDGE, 1, EDGE), "grass_block")
    world.fill((0, 0, 29), (EDGE, 1, 35), "gravel")
    world.fill((30, 0, 0), (35, 1, EDGE), "cobblestone")
    world.fill((51, 0, 48), (60, 1, 57), "water")
    for x, z in TREES:
        world.fill((x - 1, 2, z - 1), (x + 2, 6, z + 2), "oak_leaves")
        world.fill((x, 1, z), (x + 1, 5, z + 1), "oak_log")
    for x, z, dx, dz, walls in HOUSES:
        front = z + dz - 1 if z < 29 else z
        world.fill((x, 0, z), (x + dx, 6, z + dz), walls)
        world.fill((x, 0, z), (x + dx, 1, z + dz), "spruce_planks")
        world.fill((x + 1, 1, z + 1), (x + dx - 1, 5, z + dz - 1), "air")
        world.fill((x + 2, 0, z + 3), (x + dx - 2, 1, z + dz - 3), "red_wool")
        world.fill((x + dx // 2, 1, front), (x + dx // 2 + 2, 3, front + 1), "air")
        for side in (x, x + dx - 1):
            world.fill((side, 2, z + 3), (side + 1, 4, z + 5), "glass")
    return world


def paint(world: ea.World) -> pygame.Surface:
    """The map: the highest block of each column below the cut, lit from the north-west."""
    ids = world.ids((0, 0, 0), (EDGE, CUT, EDGE))
    is_air = world.palette.kind[ids] == world.palette.kind[0]
    top = CUT - 1 - is_air[:, ::-1].argmin(axis=1)
    highest = np.take_along_axis(ids, top[:, None], axis=1)[:, 0]
    groups = [world.palette.group(name) for name in world.palette.names]
    colours = np.array([pygame.Color(COLOURS.get(group, "#c9c0d6"))[:3] for group in groups])
    shadow = np.clip(np.pad(top, 1, mode="edge")[:-2, :-2] - top, 0, 2)
    light = 0.75 + 0.1 * top - 0.14 * shadow
    small = pygame.surfarray.make_surface((colours[highest] * light[:, :, None]).astype(np.uint8))
    return pygame.transform.scale_by(small, PIXELS)


def routes(time: float) -> NDArray[np.float64]:
    """Where the drones are [m], shape (DRONES, 3): each on a round of its own above the roofs."""
    k = np.arange(DRONES)
    angle = time * (0.12 + 0.012 * k) * np.where(k % 2, 1.0, -1.0) + 2.4 * k
    x, z = np.cos(angle + 0.7 * k), np.sin(angle)
    return np.stack((32 + (10 + k) * x, 8 + k % 4 + np.sin(3 * angle), 32 + (28 - 0.9 * k) * z), axis=1)


def walk(engine: ea.Engine, held: set[int], dt: float) -> None:
    """Walk and turn by the keys that are held. Walls stop, but one slides along them."""
    ear, ahead = engine.listener.position.copy(), engine.listener.forward
    for axis in (0, 2):
        wanted = ear.copy()
        wanted[axis] += PACE * dt * sum(STEPS[key][axis] for key in held & STEPS.keys())
        x, y, z = np.floor(wanted).astype(int).tolist()
        is_free = engine.world.material((x, y, z)) == engine.world.material((x, y - 1, z)) == "air"
        if is_free and 0 <= x < EDGE and 0 <= z < EDGE:
            ear = wanted
    turn = (pygame.K_e in held) - (pygame.K_q in held)
    angle = math.atan2(ahead[2], ahead[0]) + TURN * dt * turn
    engine.listener.look(position=ear, forward=(math.cos(angle), 0.0, math.sin(angle)))


def react(engine: ea.Engine, event: pygame.event.Event, held: set[int]) -> None:
    """Do what an event asks for."""
    ear, ahead = engine.listener.position, engine.listener.forward
    if event.type == pygame.MOUSEMOTION:
        engine.listener.look(forward=(event.pos[0] - PIXELS * ear[0], 0.0, event.pos[1] - PIXELS * ear[2]))
    elif event.type == pygame.MOUSEBUTTONDOWN:
        place = (event.pos[0] / PIXELS, 2.5, event.pos[1] / PIXELS)
        engine.world.carve(place, radius=1.5)
        engine.spawn("blast", position=place, volume=0.5, reference=2.0)
    elif event.type == pygame.KEYDOWN:
        held.add(event.key)
        if event.key == pygame.K_SPACE:
            engine.spawn("shot", position=ear + ahead, volume=0.5, priority=1)
    elif event.type == pygame.KEYUP:
        held.discard(event.key)
    elif event.type == pygame.QUIT:
        held.add(pygame.K_ESCAPE)


def draw(screen: pygame.Surface, town: pygame.Surface, engine: ea.Engine, drones: list[ea.Source]) -> None:
    """The town, its drones as they are heard, and the listener."""
    over, sources = pygame.Surface(town.get_size(), pygame.SRCALPHA), engine.sources
    ear, right, ahead = engine.listener.ear()[:, [0, 2]] * PIXELS
    for row in sources.rows(drones):
        place = sources.position[row, [0, 2]] * PIXELS
        colour = pygame.Color("#ff3b30").lerp("#5dff6a", float(sources.transmission[row]))
        level = 20.0 * math.log10(sources.loudness[row] * sources.gain[row] + 1e-6)
        pygame.draw.line(over, (*colour[:3], 70), ear, place, 2)
        pygame.draw.circle(over, (*colour[:3], 80), place, max(8.0, 48.0 + level))
        pygame.draw.circle(over, "#181b21", place, 6)
        pygame.draw.circle(over, colour, place, 4)
    arrow = (ear + 1.4 * ahead, ear - 0.8 * (ahead - right), ear - 0.8 * (ahead + right))
    pygame.draw.polygon(over, "#ffffff", arrow)
    pygame.draw.polygon(over, "#181b21", arrow, 2)
    screen.fill("#181b21")
    screen.blits(((town, (0, 0)), (over, (0, 0))))


def main(
    *,
    seconds: float = math.inf,
    device: int | str | None = None,
    record: str | Path | None = None,
    picture: str | Path | None = None,
) -> None:
    """Open the window until the time is over.

    device: an output, None for the default, "silent" for none. record: a file for what is heard.
    picture: a file for what is seen last.
    """
    # Only what is needed: `pygame.init` would open the sound card, too.
    pygame.display.init()
    pygame.font.init()
    screen = pygame.display.set_mode((EDGE * PIXELS, EDGE * PIXELS + BAR))
    font, clock, held = pygame.font.Font(None, 20), pygame.time.Clock(), set[int]()
    world, clips = build(), ea.Clips()
    for name in ("rotor", "shot", "blast"):
        clips.synthesize(name)
    with ea.Engine(world, clips) as engine:
        print("Warming up; the first time kernels are compiled, which takes a minute.", flush=True)
        engine.warm_up()
        engine.listener.look(position=(32.5, EARS, 45.0), forward=(0.0, 0.0, -1.0))
        drones = [
            engine.spawn("rotor", position=place, looping=True, volume=0.4, reference=3.0, pitch=pitch)
            for place, pitch in zip(routes(0.0), np.linspace(0.8, 1.4, DRONES), strict=True)
        ]
        with ea.Speakers(engine, device=device, record=record) as speakers:
            seen = -1
            clock.tick()
            while (
                engine.time < seconds and pygame.K_ESCAPE not in held and not pygame.event.peek(pygame.QUIT)
            ):
                for event in pygame.event.get():
                    react(engine, event, held)
                dt = clock.tick(60) / 1000.0
                walk(engine, held, dt)
                engine.sources.position[engine.sources.rows(drones)] = routes(engine.time + dt)
                now = engine.tick(dt)
                if seen != world.revision:
                    town, seen = paint(world), world.revision
                draw(screen, town, engine, drones)
                peak = 20.0 * math.log10(max(*speakers.peaks, 1e-6))
                text = f"{now.full} full, {now.direct} direct, {now.free} free   {now.room}   {peak:.0f} dBFS"
                screen.blit(font.render(text, True, "#e8eaee"), (8, EDGE * PIXELS + 7))
                pygame.display.flip()
        if picture is not None:
            pygame.image.save(screen, picture)
    pygame.display.quit()


if __name__ == "__main__":
    main(device=sys.argv[1] if len(sys.argv) > 1 else None)
