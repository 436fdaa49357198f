"""What numba does to compile kernels and laws, without what they have no use for.

A law is always part of a kernel, which optimises it together with the rest of its code. numba by itself would
optimise each law alone before that, turn it into machine code and wrap it for Python, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from llvmlite import binding as llvm
from numba import __version__, njit, types, version_info
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

from ecs_audio.kernels.recall import steady

if not (0, 61) <= version_info.short < (0, 69):
    raise ImportError(f"what follows was written for the insides of numba 0.61 to 0.68, not {__version__}")

SKIPPED = {
    untyped_passes.InlineClosureLikes,  # no closures, no comprehensions
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,  # no expressions of whole arrays
    typed_passes.IRLegalization,  # ends the lives of variables, which matters where arrays are counted
}
"""Passes that find nothing to do in kernels, and go through all of the code to find that out."""


class PartsLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked with all laws that it comes to call, each taken once."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Done later, when laws are part of it."""
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        """Take a law, and those that it calls."""
        library._ensure_finalized()
        taken = library.parts() if isinstance(library, LawLibrary) else [library]
        self._linking_libraries += [part for part in taken if part not in self._linking_libraries]


class Part:
    """The code of one law without those that it calls."""

    def __init__(self, library: Any):
        self._library = library
        self._reload_init: set[Any] = getattr(library, "_reload_init", set())

    def _get_module_for_linking(self) -> Any:
        return self._library._final_module


class KernelLibrary(PartsLibrary):
    """Code of a kernel, to be run and kept."""

    def serialize_using_object_code(self) -> Any:
        """Machine code, and the names of what is in it; numba keeps all LLVM code to link it with others."""
        self._ensure_finalized()
        module = self._final_module
        names = [f.name for f in module.functions if not f.is_declaration]
        stubs = llvm.parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in names))
        return self.name, "object", (self._get_compiled_object(), stubs.as_bitcode())


class LawLibrary(PartsLibrary):
    """Code of a law as numba wrote it: to be linked into kernels, never run by itself."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take the law's code as it is."""
        module = llvm.parse_assembly(str(ir_module))
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Leave all work to the kernels."""
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # to be inlined, and not kept besides
        self._part, self._finalized = Part(self), True

    def parts(self) -> list[Any]:
        """This law, and those that it calls."""
        return [self._part, *self._linking_libraries]

    def _get_module_for_linking(self) -> Any:
        """All of it, for a host's own functions."""
        whole = self._final_module.clone()
        for part in self._linking_libraries:
            whole.link_in(part._get_module_for_linking(), preserve=True)
        return whole

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """Takes the environment of the law's wrapper, which it does not have."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: the engine would end the process over a symbol that it does not know."""


class Passes(PassManager):  # type: ignore[misc]
    """Passes that run, and nothing else: numba describes each to listeners, of which there are none."""

    def _runPass(self, _index: int, compiler_pass: Any, state: Any) -> None:
        compiler_pass.analysis = self._analysis
        compiler_pass.run_initialization(state)
        compiler_pass.run_pass(state)
        compiler_pass.run_finalizer(state)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler with fewer passes."""

    def __init__(self, *given: Any):
        *most, flags, variables = given
        super().__init__(*most, steady(flags), variables)

    def define_pipelines(self) -> list[Any]:
        """numba's own passes in their order."""
        (full,) = super().define_pipelines()
        lean = Passes("lean")
        for compiler_pass, description in full.passes:
            if compiler_pass not in SKIPPED:
                lean.add_pass(compiler_pass, description)
        lean.finalize()
        return [lean]

    def compile_extra(self, func: Any) -> Any:
        """Compile a kernel."""
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class LawCompiler(KernelCompiler):
    """The same, into a `LawLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a law."""
        self.state.library = LawLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return Compiler.compile_extra(self, func)


def _plainly(template: Callable[..., Any]) -> Callable[..., Any]:
    """A law is compiled once for all numbers of a type; numba would do it for each that is written out."""

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(tuple(map(types.unliteral, args)), {name: types.unliteral(kws[name]) for name in kws})

    return get_call_template


class Law:
    """A formula that kernels call. Called from Python it is compiled once more, as a function of its own."""

    def __init__(self, function: Callable[..., Any], flags: dict[str, Any]):
        self.py_func, self._flags = function, flags
        self._part = njit(pipeline_class=LawCompiler, no_cpython_wrapper=True, **flags)(function)
        self._part.get_call_template = _plainly(self._part.get_call_template)
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
