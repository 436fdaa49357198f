"""What numba does to compile kernels and laws, without what they have no use for.

A law is always part of a kernel, which optimises it together with the rest of its code. numba by itself would
optimise each law alone before that, turn it into machine code and wrap it for Python, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from numba import njit, types
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

SKIPPED = {
    untyped_passes.InlineClosureLikes,  # no closures, no comprehensions
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,  # no expressions of whole arrays
}
"""Passes that find nothing to do in kernels, and go through all of the code to find that out."""


class LawLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a law as numba wrote it: to be linked into kernels, never run by itself."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Takes the environment of the law's wrapper, which it does not have."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: the engine would end the process over a symbol that it does not know."""


_known: dict[Any, Any] = {}


def _remembering(context: Any) -> Any:
    """A view of a typing context that looks up an operator on the same types once; numba does at each use."""

    class Remembering(type(context)):  # type: ignore[misc]
        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            if type(func) is not types.Function:
                return super().resolve_function_type(func, args, kws)
            key = func, tuple(args), tuple(kws.items())
            found = known.get(key)
            if found is None:
                found = super().resolve_function_type(func, args, kws)
                if found is not None:
                    known[key] = found
            return found

    known: dict[Any, Any] = {}
    view = Remembering.__new__(Remembering)
    view.__dict__ = context.__dict__
    return view


class KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler with fewer passes and a memory for the types of operators."""

    def __init__(self, typingctx: Any, *rest: Any):
        if typingctx not in _known:
            _known[typingctx] = _remembering(typingctx)
        super().__init__(_known[typingctx], *rest)

    def define_pipelines(self) -> list[Any]:
        """numba's own passes in their order."""
        (full,) = super().define_pipelines()
        lean = PassManager("lean")
        for compiler_pass, description in full.passes:
            if compiler_pass not in SKIPPED:
                lean.add_pass(compiler_pass, description)
        lean.finalize()
        return [lean]


class LawCompiler(KernelCompiler):
    """The same, into a `LawLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a law."""
        self.state.library = LawLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class Law:
    """A formula that kernels call. Called from Python it is compiled once more, as a function of its own."""

    def __init__(self, function: Callable[..., Any], flags: dict[str, Any]):
        self.py_func, self._flags = function, flags
        self._part = njit(pipeline_class=LawCompiler, no_cpython_wrapper=True, **flags)(function)
        self._alone: Any = None
        update_wrapper(self, function)

    @property
    def _numba_type_(self) -> Any:
        return self._part._numba_type_

    def __call__(self, *args: Any) -> Any:
        """The law's value."""
        if self._alone is None:
            self._alone = njit(**self._flags)(self.py_func)
        return self._alone(*args)
