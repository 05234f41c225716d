"""`inner`: the decorator of kernels that only kernels call.

numba makes a finished piece of machine code of every kernel, also of one that no Python code calls,
and optimises it with all that it calls: what is called ten calls deep is optimised ten times. An
inner kernel is kept as it was lowered; who calls it takes it in, and the outermost one is optimised
and translated, once. A fresh machine compiles half as long, and kernels are as fast.

It rests on parts of numba that are not for everybody, hence the narrow range of versions in
`pyproject.toml`.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoEnvironment:
    """Has no place for the environment of a kernel: nothing here uses one, not even to raise."""

    @staticmethod
    def set_env(name: str, env: Any) -> None:
        """Nothing to set."""


class _TakenIn(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, to be linked into that of others and never to be run by itself."""

    codegen = _NoEnvironment

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _InnerCompiler(Compiler):  # type: ignore[misc]
    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _TakenIn(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


inner = njit(
    nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler
)
"""As `njit`, for kernels that only kernels call; Python must not. It needs no cache: callers have
it in theirs. A loop that is to be done several at a time is better off with `njit`, by which it is
optimised by itself."""

leaf = njit(
    nogil=True,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    pipeline_class=_InnerCompiler,
    _nrt=False,
)
"""As `inner`, and without counting who holds arrays, whose atomic increments would cost more than
what a short kernel does. It must not make an array, nor return one."""

melting = njit(
    nogil=True,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    pipeline_class=_InnerCompiler,
    _nrt=False,
    forceinline=True,
)
"""As `leaf`, and melted into the kernel that calls it: to hand over tuples of arrays takes longer
than the few lines that it has."""
