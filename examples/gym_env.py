"""An agent that has only its ears, for Gymnasium: `pip install gymnasium`, then `python examples/gym_env.py`.

Something hisses in a courtyard, behind a wall with a gap. At each step the agent hears a tenth of a second,
as rendered, and turns or walks. Each metre nearer is a reward of 1, and to arrive one of 10. Whoever follows
the louder ear finds the gap: from there come the reflections, so there the source seems to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea

Observation = NDArray[np.float32]
Policy = Callable[[Observation, np.random.Generator], np.int64]

ID = "ecs_audio/FindTheSound-v0"
LEFT, RIGHT, AHEAD = np.arange(3)
RATE, FRAMES, TICKS = 48_000, 4800, 4
"""Frames a second, frames in an observation, ticks of the acoustics in it."""
EDGE, WALL, HEIGHT, GAP = 24, 12, 6, 3
"""Edge of the courtyard, x of the wall in it, height of all walls, how wide the gap is [m]."""
EARS, STRIDE, TURN, ARRIVED = 1.6, 0.5, math.radians(15.0), 1.5
"""Height of ears and source, a step, where the source is found [m]; a turn [rad]."""


class FindTheSound(gymnasium.Env[Observation, np.int64]):
    """Find the source. Same seed and same actions: the same courtyard, and the same sound to the bit."""

    metadata = {"render_modes": ["ansi"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(3)
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (FRAMES, 2), np.float32)
        clips = ea.Clips(RATE)
        clips.add("hiss", 0.2 * np.random.default_rng(0).uniform(-1.0, 1.0, RATE))
        self.engine = ea.Engine(courtyard(gap=3), clips, settings=ea.Settings(max_sources=8, max_voices=8))
        self.engine.warm_up()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Make a new courtyard; the agent stands west of the wall, the source east of it."""
        super().reset(seed=seed)
        gap = int(self.np_random.integers(3, EDGE - 3 - GAP))
        west, east = self.np_random.uniform(3.0, 9.0), self.np_random.uniform(15.0, 21.0)
        self.place = np.array((west, EARS, self.np_random.uniform(3.0, 21.0)))
        self.source = np.array((east, EARS, self.np_random.uniform(3.0, 21.0)))
        self.heading = float(self.np_random.uniform(-math.pi, math.pi))
        self.engine.reset()
        self.engine.world = courtyard(gap)
        self.engine.spawn("hiss", position=self.source, looping=True, reference=2.0)
        self.hear(self.place)  # until the sound has arrived
        return self.hear(self.place), self.info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Turn or step, and hear a tenth of a second on the way."""
        before, start = self.distance, self.place
        if action == AHEAD:
            wanted = self.place + STRIDE * self.ahead
            if self.engine.world.material(wanted.astype(int).tolist()) == "air":
                self.place = wanted
        else:
            self.heading += TURN if action == RIGHT else -TURN
        observation = self.hear(start)
        is_there = self.distance < ARRIVED
        reward = before - self.distance + 10.0 * is_there
        return observation, reward, is_there, False, self.info()

    def hear(self, start: NDArray[np.float64]) -> Observation:
        """What is heard on the way from `start` to where the agent is now."""
        heard = np.zeros((FRAMES, 2), np.float32)
        for k, part in enumerate(np.split(heard, TICKS)):
            way = (k + 1) / TICKS
            self.engine.listener.look(position=start + way * (self.place - start), forward=self.ahead)
            self.engine.tick(FRAMES / TICKS / RATE)
            self.engine.render(len(part), out=part)
        return heard

    @property
    def ahead(self) -> NDArray[np.float64]:
        """Unit vector in which the agent looks; a heading of 0 is east, and it grows to the right."""
        return np.array((math.cos(self.heading), 0.0, math.sin(self.heading)))

    @property
    def distance(self) -> float:
        """From the agent to the source [m]."""
        return math.dist(self.place, self.source)

    def info(self) -> dict[str, Any]:
        """What the agent may not know."""
        return {"distance": self.distance, "transmission": float(self.engine.sources.transmission[0])}

    def render(self) -> str:
        """A map: `#` is the wall, `*` the source, an arrow the agent."""
        solid = self.engine.world.ids((0, 1, 0), (EDGE, 2, EDGE))[:, 0].T != 0
        rows = np.where(solid, "#", ".").tolist()
        rows[int(self.source[2])][int(self.source[0])] = "*"
        rows[int(self.place[2])][int(self.place[0])] = ">v<^"[round(self.heading / (math.pi / 2.0)) % 4]
        return "\n".join("".join(row) for row in rows)

    def close(self) -> None:
        """Release the engine; may be called twice."""
        self.engine.close()


def courtyard(gap: int) -> ea.World:
    """Walls around, no roof, and a wall from north to south that has a gap at z = `gap`."""
    world = ea.World.empty(size=(EDGE, 12, EDGE))
    world.fill((0, 0, 0), (EDGE, HEIGHT, EDGE), "stone")
    world.fill((1, 1, 1), (EDGE - 1, HEIGHT, EDGE - 1), "air")
    world.fill((WALL, 1, 0), (WALL + 1, HEIGHT, EDGE), "stone")
    world.fill((WALL, 1, gap), (WALL + 1, HEIGHT, gap + GAP), "air")
    return world


def by_ear(heard: Observation, rng: np.random.Generator) -> np.int64:
    """Turn to the louder ear, else go on; now and then something else, so as not to stay in a corner."""
    left, right = np.square(heard, dtype=np.float64).sum(axis=0)
    if rng.random() < 0.15:
        return rng.integers(3)
    balance = (right - left) / (right + left)
    return AHEAD if abs(balance) < 0.15 else RIGHT if balance > 0.0 else LEFT


def at_random(heard: Observation, rng: np.random.Generator) -> np.int64:
    """Any action."""
    return rng.integers(3)


def episode(env: gymnasium.Env[Observation, np.int64], policy: Policy, seed: int) -> float:
    """What a policy earns."""
    heard, _ = env.reset(seed=seed)
    rng, total, is_over = np.random.default_rng(seed), 0.0, False
    while not is_over:
        heard, reward, terminated, truncated, _ = env.step(policy(heard, rng))
        total, is_over = total + float(reward), terminated or truncated
    return total


gymnasium.register(ID, entry_point=FindTheSound, max_episode_steps=150)  # type: ignore[arg-type]


def main(*, episodes: int = 10) -> dict[str, float]:
    """Let both policies play the same courtyards; returns the mean of what each earns."""
    env = gymnasium.make(ID, render_mode="ansi")
    env.reset(seed=0)
    print(env.render())
    means = {}
    for policy in (by_ear, at_random):
        means[policy.__name__] = float(np.mean([episode(env, policy, seed) for seed in range(episodes)]))
        print(f"{policy.__name__:10} {means[policy.__name__]:6.2f}")
    env.close()
    return means


if __name__ == "__main__":
    main()
