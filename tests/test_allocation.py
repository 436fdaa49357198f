"""`tick` and `render` take no memory once warm."""

import ctypes

import numpy as np
import pytest
import soundfile
from conftest import FRAMES, TICK, wall_world

import ecs_audio as ea

MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
CALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
REALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
SET_HANDLER = 304  # PyDataMem_SetHandler in numpy's table of C functions (NEP 49)


class Handler(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", MALLOC), ("calloc", CALLOC), ("realloc", REALLOC), ("free", FREE),
    )  # fmt: skip


class Watch:
    """Every byte that numpy asks for, exactly: tracemalloc keeps one peak for all of Python."""

    def __init__(self):
        self.now = self.peak = 0
        self.sizes = {}
        libc = ctypes.CDLL(None)
        for name, result in (
            ("malloc", ctypes.c_void_p),
            ("calloc", ctypes.c_void_p),
            ("realloc", ctypes.c_void_p),
        ):
            getattr(libc, name).restype = result

        def took(pointer, size):
            self.sizes[pointer] = size
            self.now += size
            self.peak = max(self.peak, self.now)
            return pointer

        def gave(pointer):
            self.now -= self.sizes.pop(pointer, 0)

        def malloc(_, size):
            return took(libc.malloc(ctypes.c_size_t(size)), size)

        def calloc(_, count, size):
            return took(libc.calloc(ctypes.c_size_t(count), ctypes.c_size_t(size)), count * size)

        def realloc(_, pointer, size):
            gave(pointer)
            return took(libc.realloc(ctypes.c_void_p(pointer), ctypes.c_size_t(size)), size)

        def free(_, pointer, size):
            gave(pointer)
            libc.free(ctypes.c_void_p(pointer))

        self.handler = Handler(
            b"watch", 1, None, MALLOC(malloc), CALLOC(calloc), REALLOC(realloc), FREE(free)
        )
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(ctypes.addressof(self.handler), b"mem_handler", None)
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(
            pointer(np._core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p)
        )
        self.set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[SET_HANDLER])

    def __enter__(self):
        self.before = self.set(self.capsule)
        return self

    def __exit__(self, *_):
        self.set(self.before)

    def peak_of(self, call, *arguments):
        start = self.peak = self.now
        call(*arguments)
        return self.peak - start


def test_the_watch_sees_a_temporary_array():
    with Watch() as watch:
        assert watch.peak_of(lambda: np.ones(100) + 1) >= 1600
        assert watch.peak_of(lambda: None) == 0


@pytest.mark.parametrize("sources", [100, 400])
def test_a_thousand_warm_ticks_and_blocks_allocate_nothing(sources, clips):
    world = wall_world((0, 1))
    with ea.Engine(world, clips) as engine:
        engine.listener.look(position=(5.5, 0.5, 0.5))
        rows = [
            engine.spawn("tone", position=(-5 - k % 17, k % 5, k % 23), looping=True, volume=0.02)
            for k in range(sources)
        ]
        where = engine.sources.rows(rows)
        steps = np.random.default_rng(0).uniform(-0.3, 0.3, (sources, 3))
        worst = {"tick": 0, "render": 0}
        with Watch() as watch:
            for k in range(1060):
                engine.sources.position[where] += steps * (1 if k // 50 % 2 else -1)
                engine.listener.look(position=(5.5 + 0.01 * (k % 100), 0.5, 0.5))
                if k % 70 == 0:
                    engine.listener.look(position=(9.5, 0.5, 0.5))  # a jump: every turn at once
                if k % 10 == 0:
                    world.set((0, k % 20, 3), "air" if k % 20 else "stone")
                peaks = watch.peak_of(engine.tick, TICK), watch.peak_of(engine.render, FRAMES)
                if k >= 60:
                    worst = {n: max(worst[n], p) for n, p in zip(worst, peaks, strict=True)}
    assert worst["tick"] < 1024, worst
    assert worst["render"] < 1024, worst


def test_a_room_with_echoes_reverbs_a_stream_and_flat_stereo_allocates_nothing(clips, tmp_path):
    left = 0.1 * np.sin(np.arange(48_000) * 0.1)
    clips.add("stereo", np.stack([left, 0.3 * left[::-1]], axis=1))
    soundfile.write(tmp_path / "song.wav", np.stack([left, -left], axis=1), 44_100)
    world = ea.World.empty(size=(64, 32, 80), origin=(-32, -8, -40))
    world.fill((-24, -2, -30), (24, 16, 30), "stone")
    world.fill((-22, 0, -28), (22, 14, 28), "air")
    with ea.Engine(world, clips, settings=ea.Settings(max_voices=24)) as engine:
        engine.listener.look(position=(-6.5, 1.6, 0.5))
        rows = [
            engine.spawn(
                "tone", position=(k % 17 - 8, 2, k % 23 - 9), looping=True, volume=0.05, pitch=1 + k % 3
            )
            for k in range(40)
        ]
        engine.spawn("stereo", looping=True)
        engine.stream(tmp_path / "song.wav", looping=True, volume=0.1)
        where, worst = engine.sources.rows(rows), {"tick": 0, "render": 0}
        steps = np.random.default_rng(0).uniform(-0.3, 0.3, (len(rows), 3))
        steps[:, 1] = 0
        with Watch() as watch:
            for k in range(400):
                engine.sources.position[where] += steps * (1 if k // 20 % 2 else -1)
                if k % 10 == 0:
                    world.set((3, k % 14, 3), "stone" if k % 20 else "air")
                peaks = watch.peak_of(engine.tick, TICK), watch.peak_of(engine.render, FRAMES)
                if k >= 100:
                    worst = {n: max(worst[n], p) for n, p in zip(worst, peaks, strict=True)}
                    assert engine.telemetry.taps > 0
                    assert engine.telemetry.reverbs == 2
        assert engine.telemetry.starved_frames == 0
    assert worst["tick"] < 1024, worst
    assert worst["render"] < 1024, worst
