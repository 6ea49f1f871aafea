"""Run many cases as native code and by the interpreter, and compare.

All cases that are given at once become functions of one module of LLVM. Each runs as
programs do, and in memory that ends, and that begins, where nothing may be touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.ir as ir

from runtime.engines.native.executable import Program
from runtime.engines.native.flow import NotNative
from runtime.engines.native.library import load
from runtime.engines.native.machine import assemble, text_of
from runtime.passes.lowering.prepare import prepare
from tests.runtime import sweep
from tests.runtime.engines.native.guarded import in_guarded_memory
from tests.runtime.engines.numpy_source.agreement import bits
from tests.runtime.ops.comparison import Case
from tests.runtime.sweep import Outcome, Run

__all__ = ["compare"]


def outcomes(runs: list[Run]) -> list[Outcome]:
    """What native code gives for each run; all are in one module."""
    load()
    module = ir.Module("sweep")
    programs: list[Any] = []
    for number, run in enumerate(runs):
        graph = prepare(run.graph, [x.shape for x in run.inputs], holds_state=True)
        # What is half written must not be compiled.
        own = ir.Module("one")
        try:
            Program(own, "run", graph)
            with in_guarded_memory(at_end=number % 2 == 0):
                programs.append(Program(module, f"run{number}", graph))
        except NotNative as error:
            programs.append(f"{error.node.op}: {error.reason}")
    code = assemble(text_of(module))
    return [_outcome(program, code, run) for program, run in zip(programs, runs)]


def _outcome(program: Any, code: Any, run: Run) -> Outcome:
    if isinstance(program, str):
        return Outcome([], False, program)
    program.bind(code)
    results = program.call(run.inputs)
    for at_end in (True, False):
        with in_guarded_memory(at_end):
            program.bind(code)
            others = program.call(run.inputs)
        assert (results is None) is (others is None), run.note
        assert [*map(bits, results or [])] == [*map(bits, others or [])], run.note
    return Outcome(results or [], results is None)


def compare(
    cases: Iterable[Case], allowed: Callable[[Run, str], bool] = lambda run, why: False
) -> None:
    """All cases give the same; ``allowed(run, reason)``: whether one may be refused."""
    sweep.compare(cases, outcomes, allowed)
