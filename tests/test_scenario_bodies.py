"""Scenarios whose sources and listener move by themselves."""

import numpy as np
import pytest

import ecs_audio as ea
from ecs_audio.perform import record


def at_a_wall(**changes):
    """A wall at x = 10 m on a floor at y = 4 m; where the listener is at each tick is a fact."""
    world = ea.World.empty(size=(64, 32, 64), origin=(-32, 0, -32))
    world.fill((-32, 0, -32), (32, 4, 32), "stone")
    world.fill((10, 4, -32), (11, 10, 32), "stone")
    clips = ea.Clips()
    clips.synthesize("missile", 0)
    return ea.Scenario(world, clips, 2.0, **changes)


class TestASpawnWithABody:
    def test_it_flies_from_its_place_and_its_hit_is_told_once_in_the_next_tick(self):
        hits = []

        def hit(stage, source, mover):
            hits.append(
                (stage.time, *stage.engine.movers.hit_point[mover], stage.engine.sources.position[source][0])
            )

        body = {"kind": "projectile", "velocity": (40.0, 0.0, 0.0), "gravity": 0.0}
        spawn = ea.Spawn("missile", (0.0, 8.0, 0.0), at=0.5, body=body, on_hit=hit)
        record(lambda: at_a_wall(spawns=[spawn]))
        (time, x, y, z, middle), *others = hits
        assert not others
        # 9.95 m at 40 m/s, up to a tick for the hit and one until it is told.
        assert 0.5 + 9.95 / 40.0 < time <= 0.5 + 9.95 / 40.0 + 2 / 60
        assert (x, y, z) == pytest.approx((10.0, 8.0, 0.0), abs=1e-9)
        assert middle == pytest.approx(9.95, abs=1e-3)

    def test_a_path_only_says_where_it_begins(self):
        places = []
        body = {"kind": "projectile", "velocity": (2.0, 0.0, 0.0), "gravity": 0.0}
        spawn = ea.Spawn("missile", lambda time: (time, 8.0, 0.0), at=1.0, body=body, name="it")
        look = ea.Event(
            1.5, lambda stage: places.append(stage.engine.sources.position[stage.sources["it"]].copy())
        )
        record(lambda: at_a_wall(spawns=[spawn], events=[look]))
        assert places[0] == pytest.approx((1.0 + 2.0 * 29 / 60, 8.0, 0.0), abs=1e-9)

    def test_one_that_is_taken_away_tells_nothing(self):
        body = {"kind": "projectile", "velocity": (40.0, 0.0, 0.0), "gravity": 0.0}
        spawn = ea.Spawn("missile", (0.0, 8.0, 0.0), until=0.2, body=body, on_hit=lambda *hit: 1 / 0)
        record(lambda: at_a_wall(spawns=[spawn]))


class TestAWalker:
    def test_it_begins_where_it_should_walks_into_the_wall_and_looks_where_it_is_told(self):
        soles, ears = [], []

        def wish(time, at):
            soles.append(at)
            return (1.0, 0.0, 0.0), False

        def note(stage):
            ears.append((stage.engine.listener.position.copy(), stage.engine.listener.forward.copy()))

        walker = ea.Walker((2.0, 4.0, 0.0), wish, lambda time: (time, 0.0, 1.0))
        record(lambda: at_a_wall(walker=walker, events=[ea.Event(1.98, note)]))
        assert len(soles) == 120
        assert soles[0] == pytest.approx((2.0, 4.0, 0.0))
        assert soles[-1] == pytest.approx((9.6, 4.0, 0.0), abs=2e-3)
        position, forward = ears[0]
        assert position == pytest.approx((9.6, 5.6, 0.0), abs=2e-3)
        assert forward == pytest.approx(np.array((2.0, 0.0, 1.0)) / 5.0**0.5, abs=0.02)

    def test_it_jumps_while_it_is_told_to(self):
        heights = []

        def wish(time, at):
            heights.append(at[1])
            return (0.0, 0.0, 0.0), time > 0.5

        record(lambda: at_a_wall(walker=ea.Walker((2.0, 4.0, 0.0), wish)))
        assert max(heights[:31]) == pytest.approx(4.0, abs=1e-3)
        assert max(heights) == pytest.approx(5.52, abs=0.02)
        assert heights[-1] == pytest.approx(4.0, abs=1e-3)
