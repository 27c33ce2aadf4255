"""Link kernels such that the functions they call are optimised together with them, not separately.

Numba optimises, and generates machine code for, each function that it compiles. For functions that only
kernels call, such as `np.empty`, `max` and every kernel part, this is unnecessary; it took a fifth of the
compile time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment

_ENVIRONMENT = "_ZN08NumbaEnv"


class KernelLibrary(JITCodeLibrary):
    """LLVM code of one function, which is compiled to machine code only when its address is requested."""

    _codegen: Any

    @property
    def codegen(self) -> Any:
        """Numba's code generator; a stand-in (`_Later`) until machine code is generated."""
        return self._codegen if self._finalized else _Later

    def add_linking_library(self, library: Any) -> None:
        """Add a library whose functions this library calls."""
        if not isinstance(library, KernelLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, generating machine code if needed; 0 if it does not exist."""
        if not self._finalized:
            try:
                self._final_module.get_function(name)
            except NameError:
                return 0
        return int(super().get_pointer_to_function(name))

    def finalize(self) -> None:
        """Link this library with those that it calls, optimise the result, and generate machine code."""
        self._linking_libraries = list(self._needed())
        super().finalize()
        self._shared_module = None

    def _needed(self) -> Iterator[Any]:
        """Yield all libraries whose functions this library calls, directly or indirectly."""
        seen: set[Any] = {self}
        waiting = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library in seen:
                continue
            seen.add(library)
            yield library
            if not library._finalized:
                waiting += library._linking_libraries

    def _get_module_for_linking(self) -> Any:
        if self._finalized:
            return super()._get_module_for_linking()
        if self._shared_module is None:
            module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            name = variable.name
            if name.startswith(_ENVIRONMENT) and (environment := lookup_environment(name)) is not None:
                self._codegen.set_env(name, environment)


class _Later:
    """Stand-in for numba's code generator while a library has no machine code.

    Numba would attach environments (constants that compiled code reads) to functions; this has to wait until
    there is machine code, so requests to do it earlier are ignored.
    """

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: `KernelLibrary` sets environments when it generates machine code."""
