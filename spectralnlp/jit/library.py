"""Load compiled kernels from disk as machine code, without parsing numba's bitcode.

Numba parses the bitcode of each kernel that it loads, because another kernel might inline it. For the kernels
of a first parse, this takes as long as the parse. This module loads only the machine code, and parses the
bitcode when a kernel that calls the loaded one is compiled.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompileResult


class LoadedLibrary(JITCodeLibrary):
    """Machine code of one loaded kernel.

    Args:
        codegen: numba's code generator for this processor.
        name: mangled name of the kernel.
        machine_code: contents of an object file.
        bitcode: LLVM bitcode of the kernel, for compiling it into other kernels.
    """

    def __init__(self, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> None:
        CodeLibrary.__init__(self, codegen, name)  # not JITCodeLibrary's, which builds a module
        self._linking_libraries: list[Any] = []
        self._bitcode = bitcode
        self._shared_module: Any = None
        engine = codegen._engine._ee
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
        engine.finalize_object()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of one of the library's functions."""
        return int(self._codegen._engine.get_function_address(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


def loaded_kernel(context: Any, content: tuple[Any, ...]) -> Any:
    """Return a compiled kernel, ready to be called, from the fields that numba stores on disk.

    Args:
        context: numba's target context for this processor.
        content: fields that were read from disk, as `CompileResult._reduce` returns them.
    """
    library, described, environment, signature, objectmode, lifted, annotation, initialise, others = content
    name, _, codes = library
    for each in initialise:
        each()
    code = LoadedLibrary(context.codegen(), name, *codes)
    for each in others:
        code.codegen.set_env(each.env_name, each)
    fields = {
        **dict.fromkeys(CompileResult._fields),
        "typing_context": context.typing_context,
        "target_context": context,
        "entry_point": context.get_executable(code, described, environment),
        "type_annotation": annotation,
        "signature": signature,
        "objectmode": objectmode,
        "lifted": lifted,
        "fndesc": described,
        "library": code,
        "environment": environment,
        "reload_init": initialise,
        "referenced_envs": others,
    }
    return CompileResult(**fields)
