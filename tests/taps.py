"""Taps for tests: rows that nothing is known of, and `glide` from tick to tick."""

import math
from types import SimpleNamespace

import numpy as np

from ecs_audio.components import Sources
from ecs_audio.kernels.echoes import Surveys
from ecs_audio.kernels.images import NO_PLANE, WAY
from ecs_audio.kernels.taps import glide

C = 343.0
RATE = 48_000
HISTORY = Sources.columns["history"].shape[0]


class Ears:
    """What `glide` takes beside the taps of row 0, and what it gives, from tick to tick."""

    def __init__(self, e, cell_size=1.0, law=3, reference=50.0, end=2000.0, air=1, delayed=1, pitch=1.0):
        self.e, self.delayed = e, np.array([delayed], np.uint8)
        self.fixed = cell_size, C, air
        self.shape = np.array([law], np.uint8), np.array([reference]), np.array([end]), np.array([end - 1.0])
        self.pitch, self.history = np.array([pitch]), np.zeros((1, HISTORY, 5))
        self.delay, self.gain, self.hf, self.clock = (np.full((1, 4), 0.0) for _ in range(4))
        self.direction, self.scratch = np.zeros((1, 4, 3)), (np.zeros(WAY), np.zeros((1, 3)))

    def hear(self, tick, now, source, listener, level=1.0, heard=None):
        """A tick at frame `now` with the ends here; heard: where the direct sound was emitted."""
        self.history[0, tick % HISTORY] = now, *source, now * self.pitch[0]
        heard = np.array([source if heard is None else heard], float)
        far = np.array([math.dist(heard[0], listener)])
        glide(
            float(now), tick, float(RATE), *self.fixed, np.array(listener, float), heard, far, self.delayed,
            *self.shape, self.pitch, np.zeros(1, np.int64), self.history, np.array([4], np.uint8),
            self.e.plane, self.e.plane_point, self.e.strength, np.full((1, 4), level), *self.scratch,
            self.delay, self.gain, self.hf, self.clock, self.direction,
        )  # fmt: skip
        used = self.e.plane[0, :, 0] != NO_PLANE
        for column in (self.delay, self.gain, self.hf, self.clock):
            assert not column[0, ~used].any()
        return SimpleNamespace(
            delay=self.delay[0, used], gain=self.gain[0, used], hf=self.hf[0, used],
            clock=self.clock[0, used], direction=self.direction[0, used],
        )  # fmt: skip


def heard(e, source, listener, level=1.0, **options):
    """What glide says of the taps of row 0 while nothing moves, a row for each in use."""
    return Ears(e, **options).hear(0, 0, source, listener, level)


def columns(rows=1):
    """Columns of entries that nothing is known of."""
    f, i = (lambda *s: np.zeros((rows, *s))), (lambda *s: np.zeros((rows, *s), np.int64))
    e = Surveys(
        source=f(3), listener=f(3), done=i(16) + 3, face=i(48) - 1, cell=i(48, 3), point=f(48, 3),
        material=i(48), couples=np.zeros((rows, 48), np.uint8), candidates=i() - 1,
        candidate_plane=i(16, 2), candidate_point=f(16, 3), legs_done=i(), leg_time=f(48), leg_face=i(48),
        leg_cell=i(48, 3), leg_material=i(48), loudness=f(5), sounding_plane=i(4, 2) + NO_PLANE,
        sounding_point=f(4, 3), plane=i(4, 2), plane_point=f(4, 3), strength=f(4),
    )  # fmt: skip
    e.loudness[:] = 1.0, 3, 50.0, 2000.0, 1999.0
    return e
