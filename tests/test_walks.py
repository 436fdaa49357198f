"""Walks through real worlds: a walker goes where a dense scan finds room, and stops only at things."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest
from bodies import Stage
from naive_movement import first_contact, overlap, rest_height
from test_world_files import real

import ecs_audio as ea
from ecs_audio.cli.png import write_png

SIZE = (0.8, 1.8, 0.8)
STEP = 0.6
SPEED = 3.0
NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def floors(world):
    """Heights on which a body may stand with its middle over the middle of a cell, by (x, z) [cells]."""
    heights = world.palette.height[world.ids(world.origin, world.origin + world.size)]
    nx, ny, nz = heights.shape
    # A body reaches so many cells beyond the one under its middle, and so many up.
    reach = math.ceil(SIZE[0] / world.cell_size / 2 - 0.5)
    tall = SIZE[1] / world.cell_size
    tops = np.where(heights > 0, heights + np.arange(ny)[:, None], 0.0)
    wide = np.zeros_like(tops)
    for dx in range(-reach, reach + 1):
        for dz in range(-reach, reach + 1):
            part = np.roll(tops, (dx, dz), (0, 2))
            np.maximum(wide, part, out=wide)
    found: dict[tuple[int, int], list[float]] = {}
    for x, y, z in np.argwhere(wide > 0).tolist():
        if reach <= x < nx - reach and reach <= z < nz - reach:
            top = wide[x, y, z]
            if not wide[x, y + 1 : math.ceil(top + tall - 1e-9), z].any():
                found.setdefault((x, z), []).append(top)
    return found


def way(world, start):
    """Shortest way from a cell and height to the place for which it is longest: cells x, z and heights."""
    found = floors(world)
    up = (STEP - 0.05) / world.cell_size
    first = (*start[:2], min(found[start[:2]], key=lambda top: abs(top - start[2])))
    before, ahead = {first: None}, deque([first])
    at = first
    while ahead:
        at = ahead.popleft()
        x, z, height = at
        for dx, dz in NEIGHBOURS:
            for top in found.get((x + dx, z + dz), ()):
                new = (x + dx, z + dz, top)
                if abs(top - height) <= up and new not in before:
                    before[new] = at
                    ahead.append(new)
    steps = []
    while at is not None:
        steps.append(at)
        at = before[at]
    return steps[::-1]


def corners(steps):
    """Only where a way turns."""
    kept = [steps[0]]
    for before, at, after in zip(steps, steps[1:], steps[2:], strict=False):
        if (at[0] - before[0], at[1] - before[1]) != (after[0] - at[0], after[1] - at[1]):
            kept.append(at)
    return [*kept, steps[-1]]


class Walk:
    """A walker, the way it has gone, and what a dense scan says to it."""

    def __init__(self, world, at):
        self.stage = Stage(world)
        self.mover = self.stage.add(at, walk_speed=SPEED, size=SIZE, step_height=STEP)
        self.movers = self.stage.movers
        self.gone = []

    @property
    def at(self):
        return self.movers.position[self.mover].copy()

    def step(self, direction):
        """Walk for a tick; neither in the ground nor in the air."""
        self.movers.wish_direction[self.mover] = (direction[0], 0, direction[1])
        self.stage.tick()
        world, at = self.stage.world, self.at
        assert overlap(world, at, SIZE) < 1e-3, f"inside something at {at}"
        assert at[1] > 0, f"has fallen out of the world at {at}"
        if self.movers.on_ground[self.mover]:
            below = rest_height(world, np.add(at, (0, 1e-4, 0)), SIZE)
            assert at[1] == pytest.approx(below, abs=2e-3), f"stands on nothing at {at}"
        self.gone.append(at)

    def stop_is_for_a_reason(self, direction):
        """Whether something stands before the walker, too high to be stepped on, on each axis of its wish."""
        world, at = self.stage.world, self.at
        rise = STEP + self.movers.rise[self.mover] * world.cell_size
        lifted = first_contact(world, np.add(at, (0, 1e-3, 0)), SIZE, (0, rise, 0)) * rise
        for axis, share in ((0, direction[0]), (2, direction[1])):
            if abs(share) > 0.3:
                ahead = np.zeros(3)
                ahead[axis] = math.copysign(0.05, share)
                for height in (1e-3, lifted):
                    if first_contact(world, np.add(at, (0, height, 0)), SIZE, ahead) == 1.0:
                        return False
        return True


def picture(path, world, walk, low, high):
    """A map of the cells between two heights [m], with the way in red and its end in blue."""
    heights = world.palette.height[world.ids(world.origin, world.origin + world.size)]
    stands = heights > 0
    lowest, highest = (int(height / world.cell_size) for height in (low, high))
    level = stands[:, lowest:highest].shape[1] - 1 - stands[:, lowest:highest][:, ::-1].argmax(axis=1)
    level = np.where(stands[:, lowest:highest].any(axis=1), level, 0)
    shade = 60 + 190 * level / max(level.max(), 1)
    pixels = np.repeat(shade.astype(np.uint8)[:, :, None], 3, axis=2).repeat(6, axis=0).repeat(6, axis=1)
    for where in walk.gone:
        x, z = (6 * where[[0, 2]] / world.cell_size).astype(int)
        pixels[x - 1 : x + 2, z - 1 : z + 2] = (230, 30, 30)
    x, z = (6 * walk.gone[-1][[0, 2]] / world.cell_size).astype(int)
    pixels[x - 4 : x + 5, z - 4 : z + 5] = (30, 60, 240)
    write_png(path, pixels.transpose(1, 0, 2))


def follow(world, steps):
    """Walk from corner to corner of a way; each within a time that allows for no detour."""
    cell = world.cell_size
    walk = Walk(world, ((steps[0][0] + 0.5) * cell, steps[0][2] * cell + 0.01, (steps[0][1] + 0.5) * cell))
    for x, z, _ in corners(steps)[1:]:
        goal = (np.array([x, z]) + 0.5) * cell
        start = np.linalg.norm(goal - walk.at[[0, 2]])
        for _ in range(round(60 * (1.5 + 1.5 * start / SPEED))):
            away = goal - walk.at[[0, 2]]
            distance = np.linalg.norm(away)
            if distance < 0.06:
                break
            # Slower before a corner, so as not to run beyond it.
            walk.step(away / distance * min(1.0, 0.15 + distance))
        else:
            pytest.fail(f"has not come to {goal} from {start:.2f} m away, but to {walk.at}")
    return walk


def wander(world, start, seed, walks=24):
    """Walk straight ahead in many directions until it goes no farther; every stop must have its reason."""
    rng = np.random.default_rng(seed)
    walk = Walk(world, start)
    stops = 0
    for number in range(walks):
        # Every other time straight at a wall; else it may slide along one for long.
        angle = rng.uniform(0, 2 * math.pi) if number % 2 else rng.integers(4) * math.pi / 2
        direction = math.cos(angle), math.sin(angle)
        for tick in range(600):
            walk.step(direction)
            if tick > 40 and np.linalg.norm(walk.at - walk.gone[-30]) < 1e-3:
                assert walk.stop_is_for_a_reason(direction), f"stops for nothing at {walk.at}, to {direction}"
                stops += 1
                break
    return walk, stops


@pytest.fixture(scope="module")
def station():
    return ea.World.load(real("mcedit_Station.schematic"))


@pytest.fixture(scope="module")
def street():
    world = ea.World.load(real("vox_mmmm_scene_riot.vox"))
    # Its figures are 11 voxels high.
    world.cell_size = 0.17
    # It ends in the air, and so does an alley: a wall all round.
    for low, high in (
        ((2, 0, 80), (126, 24, 81)),
        ((2, 0, 60), (126, 24, 61)),
        ((2, 0, 60), (3, 24, 81)),
        ((125, 0, 60), (126, 24, 81)),
    ):
        world.fill(low, high, "stone")
    return world


def test_a_walker_crosses_the_station_from_end_to_end(station, tmp_path):
    steps = way(station, (5, 5, 31))
    assert len(steps) > 350
    walk = follow(station, steps)
    picture(tmp_path / "station.png", station, walk, 28, 34)
    assert walk.at == pytest.approx([steps[-1][0] + 0.5, steps[-1][2], steps[-1][1] + 0.5], abs=0.1)
    # Up and down steps of half a cell, but never down to the vaults below.
    assert min(at[1] for at in walk.gone) == pytest.approx(30.5, abs=0.01)
    assert max(at[1] for at in walk.gone) == pytest.approx(31.5, abs=0.01)


def test_a_walker_goes_round_the_upper_floor_of_the_station(station, tmp_path):
    steps = way(station, (56, 215, 42))
    assert len(steps) > 100
    walk = follow(station, steps)
    picture(tmp_path / "floor.png", station, walk, 40, 45)
    assert walk.at == pytest.approx([steps[-1][0] + 0.5, 42, steps[-1][1] + 0.5], abs=0.1)


def test_a_walker_crosses_the_street_between_what_lies_there(street, tmp_path):
    steps = way(street, (8, 72, 1))
    walk = follow(street, steps)
    picture(tmp_path / "street.png", street, walk, 0, 2.5)
    assert steps[-1][0] - steps[0][0] > 100
    assert walk.at[0] == pytest.approx((steps[-1][0] + 0.5) * 0.17, abs=0.1)


def test_who_wanders_through_the_station_stops_only_at_things(station, tmp_path):
    walk, stops = wander(station, (100.5, 31.01, 200.5), seed=1)
    picture(tmp_path / "station.png", station, walk, 28, 34)
    assert stops >= 5


def test_who_wanders_through_the_street_stops_only_at_things(street, tmp_path):
    walk, stops = wander(street, (8.5 * 0.17, 0.17, 72.5 * 0.17), seed=2)
    picture(tmp_path / "street.png", street, walk, 0, 2.5)
    assert stops >= 5
