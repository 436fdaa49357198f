"""Looking up once what numba looks up again and again while it compiles.

numba keeps little of what it finds out: the types of `a + b` are looked for among all overloads at each place
in the code, first for typing and then for lowering. While a kernel is compiled, these methods of numba
remember. All of them answer as numba's own would, and what is no part of a kernel goes past them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import base, postproc, ssa, transforms
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack
from numba.core.types import Function
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext


class Steady(Flags):  # type: ignore[misc]
    """Flags that nobody changes, compared by one word; numba compares 30 values each time."""

    alike = ""

    def __hash__(self) -> int:
        return hash(self.alike)

    def __eq__(self, other: object) -> bool:
        return type(other) is Steady and self.alike == other.alike

    def copy(self) -> Any:
        """The same."""
        return self


_steady: dict[str, Steady] = {}
_calls: dict[Any, Any] = {}
_sizes: dict[str, int] = {}
_missing: set[Any] = set()
_named: dict[str, set[Any]] = {}


def steady(flags: Any) -> Steady:
    """The one object for all flags of these values; laws and kernels share what they use of numba's code."""
    key = repr(flags)
    if key not in _steady:
        kept = _steady[key] = Steady(flags)
        kept.alike = repr([value for value in kept.values().items() if value[0] != "no_cpython_wrapper"])
    return _steady[key]


_call_type = BaseFunction.get_call_type
_function_type = BaseContext.resolve_function_type
_function = base.BaseContext.get_function
_size = base.BaseContext.get_abi_sizeof
_process = postproc.PostProcessor.run
_analyse, _rewrite = ssa._run_block_analysis, ssa._run_block_rewrite


def _call_type_once(self: Any, context: Any, args: Any, kws: Any) -> Any:
    flags = ConfigStack.top_or_none()
    if type(flags) is not Steady:
        return _call_type(self, context, args, kws)
    key = self, context, tuple(args), tuple(kws.items()), flags
    if key not in _calls:
        found: Any = _call_type(self, context, args, kws)
        _calls[key] = found, self._impl_keys[found.args]
    found, implementation = _calls[key]
    self._impl_keys[found.args] = implementation
    return found


def _function_type_once(self: Any, func: Any, args: Any, kws: Any) -> Any:
    if type(func) is Function and type(ConfigStack.top_or_none()) is Steady:
        return func.get_call_type(self, args, kws)
    return _function_type(self, func, args, kws)


def _function_once(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
    """What has no implementation is asked for at each index, and numba loads all of its modules then."""
    key = fn, sig
    if key in _missing:
        raise NotImplementedError(f"No definition for lowering {fn}{sig}")
    try:
        return _function(self, fn, sig, _firstcall)
    except NotImplementedError:
        if isinstance(fn, str):
            _missing.add(key)
        raise


def _size_once(self: Any, ty: Any) -> Any:
    """numba lets LLVM read a small module for each."""
    key = str(ty)
    if key not in _sizes:
        _sizes[key] = _size(self, ty)
    return _sizes[key]


def _process_lazily(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Variables' lifetimes are of use after the last pass; numba computes them after many."""
    code = self.func_ir
    if emit_dels or code.is_generator or type(ConfigStack.top_or_none()) is not Steady:
        _process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.variable_lifetime = postproc.VariableLifetime(code.blocks)
    code.generator_info = None


def _analyse_and_note(blocks: Any, states: dict[str, Any], handler: Any) -> None:
    """Note which blocks name a variable."""
    _analyse(blocks, states, handler)
    _named.clear()
    for name, found in states["defs"].items():
        _named[name] = {label for _, label in found}
    for name, found in states["uses"].items():
        _named[name] = _named.get(name, set()) | found


def _rewrite_where_named(blocks: Any, states: dict[str, Any], handler: Any) -> Any:
    """For each variable that is written to twice, numba goes through all code two times."""
    labels = _named[states["varname"]]
    named = {label: block for label, block in blocks.items() if label in labels}
    rewritten = _rewrite(named, states, handler)
    return {label: rewritten.get(label, block) for label, block in blocks.items()}


_REPLACED: list[tuple[Any, str, Callable[..., Any]]] = [
    (BaseFunction, "get_call_type", _call_type_once),
    (BaseContext, "resolve_function_type", _function_type_once),
    (base.BaseContext, "get_function", _function_once),
    (base.BaseContext, "get_abi_sizeof", _size_once),
    (postproc.PostProcessor, "run", _process_lazily),
    (ssa, "_run_block_analysis", _analyse_and_note),
    (ssa, "_run_block_rewrite", _rewrite_where_named),
]


@contextmanager
def recalling() -> Iterator[None]:
    """Let numba remember. Other threads that compile wait until the end."""
    with global_compiler_lock:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in _REPLACED]
        try:
            for owner, name, method in _REPLACED:
                setattr(owner, name, method)
            yield
        finally:
            for owner, name, method in before:
                setattr(owner, name, method)
            _missing.clear()  # others may add implementations
