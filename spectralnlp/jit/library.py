"""Compiled kernels loaded from disk as machine code, without parsing numba's bitcode.

Numba reads the bitcode of each kernel that it loads, so that others can be compiled with it inside, and lists
all its symbols; for the kernels of a first parse that takes as long as the parse. Here machine code alone is
loaded, and bitcode is read when a kernel is compiled that calls this one.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompileResult


class LoadedLibrary(JITCodeLibrary):
    """Machine code of one loaded kernel.

    Args:
        codegen: of the processor.
        name: of the kernel, mangled.
        machine_code: an object file.
        bitcode: LLVM's, to compile into other kernels.
    """

    def __init__(self, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> None:
        CodeLibrary.__init__(self, codegen, name)  # not the parents', which build a module
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
    """Return a kernel to call, from what numba keeps of a compiled one (`CompileResult._reduce`).

    Args:
        context: numba's, of the processor.
        content: as it was read.
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
