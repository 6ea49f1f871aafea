"""From the text of a module of LLVM to the address of a function."""

from __future__ import annotations

import re
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm

from runtime.engines.native import cache as disk

#: Code that takes longer to make, in seconds, is kept on disk.
WORTH_KEEPING = 0.005

#: How hard LLVM tries, as the options ``-O1`` to ``-O3`` say, and with them the names
#: of the cache: to be counted up with changes of `_optimized`.
LEVEL = 2
_VERSION = "1"


class Code:
    """Machine code in memory, which stays there as long as this object."""

    def __init__(self, text: str, engine: Any, native_object: Any) -> None:
        self._text = text
        self._engine = engine
        self._object = native_object

    def address(self, name: str) -> int:
        """Where a function of the module begins."""
        return int(self._engine.get_function_address(name))

    @property
    def llvm_ir(self) -> str:
        """The module after LLVM's passes."""
        return str(_optimized(self._text, _target()))

    @property
    def asm(self) -> str:
        """The module in the language of the processor."""
        target = _target()
        return str(target.emit_assembly(_optimized(self._text, target)))


def text_of(module: Any) -> str:
    """A module as text.

    llvmlite cannot say that a node of metadata is unlike all others, which those of
    loops and of their accesses have to be: they have names, which go here.
    """
    text = str(module)
    text = re.sub(r'= !\{ !"accesses \d+" \}', "= distinct !{}", text)
    return re.sub(r'(!\d+) = !\{ !"loop \d+",', r"\1 = distinct !{ \1,", text)


def assemble(text: str) -> Code:
    """Compile the text of a module for this processor, or find it on disk."""
    key = disk.key_of([text, *_dependencies()])
    machine_code = disk.load(key)
    if machine_code is None:
        start = perf_counter()
        target = _target()
        machine_code = target.emit_object(_optimized(text, target))
        if perf_counter() - start > WORTH_KEEPING:
            disk.store(key, machine_code)
    # The engine of a module without functions, which has its own target machine.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
    native_object = llvm.ObjectFileRef.from_data(machine_code)
    engine.add_object_file(native_object)
    engine.finalize_object()
    return Code(text, engine, native_object)


class Processor(NamedTuple):
    """What code is made for."""

    name: str
    #: What it has, or has not, beside what all of its name have.
    features: dict[str, bool]

    @property
    def options(self) -> str:
        """The features as LLVM takes them."""
        pairs = sorted(self.features.items())
        return ",".join(f"{'+' if has else '-'}{name}" for name, has in pairs)


@cache
def processor() -> Processor:
    """The one at hand."""
    # A machine that prefers vectors of 32 bytes is asked for its widest ones all the
    # same: loops of numbers are all that runs here.
    features = {**llvm.get_host_cpu_features(), "prefer-256-bit": False}
    return Processor(llvm.get_host_cpu_name(), features)


def has_fma() -> bool:
    """Whether the processor multiplies and adds in one rounding."""
    is_arm = llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return is_arm or bool(processor().features.get("fma"))


def _target() -> Any:
    made_for = processor()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=made_for.name, features=made_for.options, opt=LEVEL
    )


def _dependencies() -> list[str]:
    """What the machine code of a text depends on."""
    versions = [llvmlite.__version__, *map(str, llvm.llvm_version_info)]
    made_for = processor()
    return [
        *(_VERSION, str(LEVEL), *versions, llvm.get_process_triple()),
        *(made_for.name, made_for.options),
    ]


def _optimized(text: str, target: Any) -> Any:
    """A module after LLVM's passes."""
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(target.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    passes = llvm.create_pass_builder(target, options).getModulePassManager()
    passes.run(module, llvm.create_pass_builder(target, options))
    _free(passes)
    return module


def _free(passes: Any) -> None:
    """Free the memory of passes: 50 kB for each module, which llvmlite never frees.

    Their class has two bases with a method `_dispose`. It inherits that of `ObjectRef`,
    which does nothing; that of `NewPassManager` frees them.
    """
    if type(passes)._dispose is llvm.ffi.ObjectRef._dispose:
        llvm.newpassmanagers.NewPassManager._dispose(passes)
