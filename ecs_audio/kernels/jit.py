"""How kernels are compiled: one decorator, one reason for each flag."""

from __future__ import annotations

import gc
import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import config, types
from numpy.typing import NDArray

try:
    from ecs_audio.kernels import lean
    from ecs_audio.kernels.recall import recalling
except (ImportError, AttributeError):  # a numba with other insides, which takes three times as long
    lean, recalling = None, nullcontext

Array = NDArray[Any]
"""An argument of a kernel; its element type and dimensions stand in the kernel's signature."""

F = TypeVar("F", bound=Callable[..., Any])

# The types that kernels are declared with: C-contiguous arrays of one, two or three dimensions.
F8, F4, I8, I4, U1 = types.float64, types.float32, types.int64, types.int32, types.uint8
F8_1, F8_2, F8_3 = F8[::1], F8[:, ::1], F8[:, :, ::1]
F4_1, F4_2, F4_3 = F4[::1], F4[:, ::1], F4[:, :, ::1]
I8_1, I8_2, I8_3 = I8[::1], I8[:, ::1], I8[:, :, ::1]
I4_1, I4_2 = I4[::1], I4[:, ::1]
U1_1, U1_2 = U1[::1], U1[:, ::1]

KERNELS: list[Any] = []
"""Every kernel in the order of definition: what `warm_up` compiles."""


def digest_of(folder: Path) -> str:
    """Name for the state of all Python sources in a folder."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_dir() -> Path:
    """Folder of compiled kernels, one for each state of the kernels' sources.

    numba's own cache notices an edit of the file that holds a function, but not of a file that the
    function calls into; a folder named after all sources together cannot be stale.
    """
    home = config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ecs_audio" / digest_of(Path(__file__).parent)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


CACHE_DIR = _cache_dir()
CACHED = _writable(CACHE_DIR)

_FLAGS = {
    "nogil": True,  # a host's threads go on meanwhile
    "error_model": "numpy",  # dividing by zero gives inf as in numpy: no hidden branch in each loop
    "fastmath": False,  # reordered or contracted sums would differ between processors
    # Kernels allocate nothing, so arrays need not be counted, which is atomic, at each call of a law:
    # 217 us for 48 voices, 80 without.
    "_nrt": False,
    "no_cfunc_wrapper": True,  # nobody calls them from C; each wrapper takes time to compile
}

_LEAN: dict[str, Any] = {} if lean is None else {"pipeline_class": lean.KernelCompiler}


RARELY = (50_000, 20, 50)
"""Garbage collection while numba compiles, which makes much that lives: it took an eighth of the time."""


def law(function: F) -> F:
    """Compile a scalar formula that kernels call; it becomes a part of their code."""
    if config.DISABLE_JIT:
        return function
    if lean is None:
        return numba.njit(**_FLAGS)(function)
    return cast(F, lean.Law(function, _FLAGS))


# Whole-array assignments (`out[:] = 0`) take numba seconds to compile: kernels write loops instead.


def kernel(*signature: Any) -> Callable[[F], F]:
    """Compile a function over arrays for exactly one signature, given as numba types.

    Nothing is compiled at import. `warm_up` or the first call compiles; a call with other types
    raises TypeError from then on instead of compiling inside a tick.
    """

    def decorate(function: F) -> F:
        if config.DISABLE_JIT:
            return function
        before, config.CACHE_DIR = config.CACHE_DIR, str(CACHE_DIR)
        try:  # numba reads the setting when it decorates; a host's own kernels keep theirs
            compiled = numba.njit(cache=CACHED, **_LEAN, **_FLAGS)(function)
        finally:
            config.CACHE_DIR = before
        compiled.wanted = signature
        KERNELS.append(compiled)
        return compiled

    return decorate


def pending() -> list[Any]:
    """The kernels that this process has neither compiled nor loaded from the cache yet."""
    return [k for k in KERNELS if not k.signatures]


def prepare_all(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Compile or load every pending kernel, on all cores where that saves time.

    progress: called with a kernel's name, how many are done, and how many there are.
    """
    from ecs_audio.kernels.aside import shared

    waiting = pending()
    done = 0

    def ready(compiled: Any) -> None:
        nonlocal done
        if progress is not None:
            progress(compiled.__name__, done, len(waiting))
        prepare(compiled)
        done += 1

    with shared(waiting) as mine:
        for compiled in mine:
            ready(compiled)
    for compiled in waiting:
        if not compiled.signatures:
            ready(compiled)


def prepare(compiled: Any) -> None:
    """Compile one kernel for its signature, or load it, and refuse any other from now on."""
    before = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        with recalling():
            compiled.compile(compiled.wanted)
    finally:
        gc.set_threshold(*before)
    compiled.disable_compile()
