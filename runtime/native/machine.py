"""From the text of a module of LLVM to the address of a function."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

__all__ = ["Code", "assemble"]


class Code:
    """Machine code in memory, which stays there as long as this object."""

    def __init__(self, engine: Any, module: Any, target: Any) -> None:
        self._engine = engine
        self._module = module
        self._target = target

    def address(self, name: str) -> int:
        """Where a function of the module begins."""
        return int(self._engine.get_function_address(name))

    @property
    def llvm_ir(self) -> str:
        """The module after LLVM's passes."""
        return str(self._module)

    @property
    def asm(self) -> str:
        """The module in the language of the processor."""
        return str(self._target.emit_assembly(self._module))


def _target() -> Any:
    # A machine that prefers vectors of 32 bytes is asked for its widest ones all the
    # same: loops of numbers are all that runs here.
    features = llvm.get_host_cpu_features().flatten() + ",-prefer-256-bit"
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3
    )


def assemble(text: str) -> Code:
    """Compile the text of a module for this processor."""
    target = _target()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(target.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(target, options).getModulePassManager()
    passes.run(module, llvm.create_pass_builder(target, options))
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return Code(engine, module, target)
