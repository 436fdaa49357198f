"""How kernels come to be compiled: laws as parts of them, and processes that share the work."""

import gc
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import ssa
from numba.core.compiler import run_frontend

import ecs_audio.engine  # noqa: F401  defines every kernel
from ecs_audio.kernels import aside, jit, recall
from ecs_audio.kernels.distance import air_gain_hf
from ecs_audio.kernels.jit import F8, F8_1, kernel, law


@law
def doubled(x):
    return x + x


@law
def doubled_root(x):
    return doubled(x) ** 0.5


@pytest.fixture
def fill(monkeypatch):
    monkeypatch.setattr(jit, "KERNELS", [])
    monkeypatch.setattr(jit, "CACHED", False)

    @kernel(F8, F8_1)
    def fill(x, out):
        for i in range(len(out)):
            out[i] = doubled_root(x)

    return fill


def test_a_law_is_a_part_of_kernels_and_of_a_hosts_own_functions(fill):
    jit.prepare(fill)
    out = np.zeros(3)
    fill(8.0, out)
    assert out.tolist() == [4.0, 4.0, 4.0]
    assert numba.njit(lambda x: doubled_root(x) + 1)(8.0) == 5.0


def test_a_law_may_be_called_from_python_with_any_numbers():
    assert doubled_root(8) == doubled_root(8.0) == doubled_root(np.float32(8)) == 4.0


def test_a_kernel_refuses_other_types_once_it_is_ready(fill):
    jit.prepare(fill)
    with pytest.raises(TypeError):
        fill(8.0, np.zeros(3, np.float32))


def test_preparing_leaves_the_hosts_garbage_collection_as_it_was(fill):
    before = gc.get_threshold()
    jit.prepare(fill)
    assert gc.get_threshold() == before


def test_without_numbas_insides_laws_are_plain_numba_functions(monkeypatch):
    monkeypatch.setattr(jit, "lean", None)
    assert isinstance(law(lambda x: x * 3), type(numba.njit(lambda x: x)))


def test_numba_has_its_own_methods_back_once_a_kernel_is_compiled(fill):
    before = [getattr(owner, name) for owner, name, _ in recall._REPLACED]
    jit.prepare(fill)
    assert [getattr(owner, name) for owner, name, _ in recall._REPLACED] == before
    assert not {method for _, _, method in recall._REPLACED} & set(before)


def test_a_numba_that_nobody_has_tried_compiles_plainly_and_to_the_same_result():
    program = """
import types, numba, numpy
numba.version_info = types.SimpleNamespace(short=(0, 99))
from ecs_audio.kernels import jit
from ecs_audio.kernels.distance import air_gain_hf
jit.CACHED = False
assert jit.lean is None
print(float(air_gain_hf(100.0)).hex())
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float.fromhex(said.stdout) == air_gain_hf(100.0)


def test_no_two_processes_claim_one_kernel(tmp_path):
    names = [f"module:kernel_{k}" for k in range(9)]
    one, two = aside.claimed(names, tmp_path), aside.claimed(names, tmp_path)
    taken = [next(one), next(two), next(two), next(one), *two, *one]
    assert taken == names


def test_the_work_of_a_kernel_counts_each_law_it_reaches_once(fill):
    sizes = [len(f.py_func.__code__.co_code) for f in (fill, doubled_root, doubled)]
    assert aside.work_in(fill) == sum(sizes)


def test_what_processes_aside_fail_at_is_left_over(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "CACHED", True)
    monkeypatch.setattr(jit, "CACHE_DIR", tmp_path)
    monkeypatch.setattr(aside, "cores", lambda: 2)
    monkeypatch.setattr(aside, "_start", lambda claims, names: failing(claims, names[0]))
    with aside.shared(jit.KERNELS) as mine:
        here = list(mine)
    assert len(here) == len(jit.KERNELS) - 1


def failing(claims, name):
    """A process that has claimed a kernel and dies."""
    next(aside.claimed([name], aside.Path(claims)))
    return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])


def test_a_cache_that_cannot_be_written_costs_only_the_processes_aside(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "CACHED", False)
    monkeypatch.setattr(jit, "CACHE_DIR", tmp_path)
    monkeypatch.setattr(aside, "_start", None)
    with aside.shared(jit.KERNELS) as mine:
        assert len(list(mine)) > aside.WORTH_IT


BEYOND = """
import numpy as np
from numba import types
from ecs_audio.kernels.jit import F8_1, I8, kernel, prepare
from ecs_audio.kernels.pointers import address_of, caller_of

@kernel(I8, F8_1)
def inner(at, out):
    out[at] = 1.0

call = caller_of(types.none, inner)

@kernel(I8, I8, F8_1)
def outer(address, at, out):
    call(address, at, out)
    out[0] = 2.0

out, address = np.zeros(4), address_of(inner)
prepare(outer)
for kernel, arguments in ((inner, ()), (outer, (address,))):
    kernel(*arguments, 3, out)
    try:
        kernel(*arguments, 4, out[:4])
    except IndexError:
        print("refused", out.tolist())
        out[:] = 0.0
"""


def test_a_run_that_checks_bounds_finds_kernels_that_reach_beyond_an_array_by_address_as_well(tmp_path):
    checked = {"NUMBA_BOUNDSCHECK": "1", "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "beyond.py").write_text(BEYOND)
    done = subprocess.run(
        [sys.executable, tmp_path / "beyond.py"], env=os.environ | checked, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["refused [0.0, 0.0, 0.0, 1.0]", "refused [2.0, 0.0, 0.0, 1.0]"]


@pytest.mark.parametrize(
    "kernel", sorted(jit.KERNELS, key=aside.work_in)[-6:], ids=lambda kernel: kernel.__name__
)
def test_variables_written_to_twice_are_told_apart_as_numba_does(kernel):
    plain = ssa.reconstruct_ssa(run_frontend(kernel.py_func))
    with recall.recalling():
        ours = ssa.reconstruct_ssa(run_frontend(kernel.py_func))
    assert ours.dump_to_string() == plain.dump_to_string()
    assert "phi(" in plain.dump_to_string()
