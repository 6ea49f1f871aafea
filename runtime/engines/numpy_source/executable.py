"""Graphs as Python source over NumPy: the executor that runs functions.

The source is straight-line code with real ``if`` and ``while`` statements, in the
names of the user's variables as far as the lines that made the nodes tell them. It is
compiled under a name of its own and registered with `linecache`, so that debuggers and
tracebacks show it; errors point to the user's line (see `runtime.engines.failure`).
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import weakref
from collections.abc import Callable, Sequence
from contextvars import Context
from types import FrameType, TracebackType
from typing import Any, NoReturn

import numpy as np

from runtime.core.errors import IntegerRangeError, is_python_limit
from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import Effects, find_live, is_recursive_call
from runtime.core.graph.record import get
from runtime.core.tensor import EagerTensor
from runtime.core.types.identity import IdentityMap
from runtime.engines import interpreter
from runtime.engines.failure import (
    called_by,
    kernel_failure,
    raise_from_node,
    run_node,
    too_deep,
)
from runtime.engines.numpy_source.blocks import with_regions
from runtime.engines.numpy_source.nested import Block
from runtime.engines.numpy_source.program import Program, clean
from runtime.engines.numpy_source.scalars import Scalars
from runtime.engines.numpy_source.text import Line, Step, Text, wrapped_lines
from runtime.ops.apply import as_array
from runtime.ops.checks.numerics import is_checking, on_switch
from runtime.ops.python_ints import CHECKS

#: The file names of sources whose graphs are gone.
_freed: list[str] = []

#: The modules of functions that are called by their names.
HELPERS = {
    "erf": "kernels.special",
    "extreme": "kernels.extremes",
    "select": "kernels.select",
    **{f"as_{name}": "python_ints" for name in CHECKS},
}

#: Wider calls are written with one argument on each line.
WIDTH = 88

_numbers = itertools.count(1)

# What NumPy warns of is a context variable. A context prepared once is much cheaper
# than np.errstate; but it hides the caller's, which effects may depend on.
_quiet = Context()
_quiet.run(np.seterr, all="ignore")


class Executable:
    """The source of a graph and what it compiles to; made by `compile_graph`."""

    #: What runs it.
    executor = "numpy"

    def __init__(
        self,
        graph: Graph,
        source: str,
        function: Callable[..., Any],
        steps: dict[int, tuple[Step, ...]],
        results: int,
        pure: bool,
        recursive_call: Node | None,
    ) -> None:
        self.name = graph.name
        self.graph = graph
        self.source = source
        self._function = function
        #: What the source is called.
        self.filename = function.__code__.co_filename
        self._steps = steps
        self._results = results
        self._pure = pure
        self._recursive_call = recursive_call
        #: What of it is native code: see `runtime.engines.native.report`.
        self.native: Any = None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs: arrays, or NumPy scalars."""
        result = self.run(arrays)
        if self._results == 1:
            return (result,)
        return result if self._results else ()

    @staticmethod
    def inputs(tensors: Sequence[Any]) -> list[Any]:
        """What a call takes for eager tensors."""
        return [tensor._array for tensor in tensors]

    @staticmethod
    def tensor(result: Any) -> EagerTensor:
        """A result of a call as a tensor."""
        return EagerTensor(as_array(result))

    def run(self, arrays: Sequence[Any]) -> Any:
        """As a call; a single result as it is."""
        try:
            if self._pure:
                return _quiet.copy().run(self._function, *arrays)
            with np.errstate(all="ignore"):
                return self._function(*arrays)
        except Exception as error:
            failure = error
        try:
            # Not while the error is handled: it is no context of what is raised. Inputs
            # are evaluated once more, as silently as before.
            with np.errstate(all="ignore"):
                self._explain(failure)
        finally:
            del failure

    def places(self) -> dict[int, tuple[str, int]]:
        """The line of the user's program for each line of the source that has one."""
        return {line: found[-1] for line, found in self.all_places().items()}

    def all_places(self) -> dict[int, list[tuple[str, int]]]:
        """As `places`, with all lines of the program that a line computes."""
        found = {
            line: [(p[0], p[1]) for step in steps if (p := step.node.location)]
            for line, steps in self._steps.items()
        }
        return {line: places for line, places in found.items() if places}

    def _explain(self, error: Exception) -> NoReturn:
        """Raise what the interpreter would have raised where the source failed."""
        call = self._recursive_call
        if call and isinstance(error, RecursionError) and is_python_limit(error):
            raise too_deep(error, self.name, call) from None
        *outer, (frame, lineno) = self._failed_lines(error.__traceback__)
        try:
            self._repeat(frame, lineno, error)
        except Exception as found:
            if not outer:
                raise
            failure = found
        try:
            calls = [call for place in outer for call in self._call_at(*place)]
            raise failure.with_traceback(called_by(calls, failure))
        finally:
            del failure

    def _call_at(self, frame: FrameType, lineno: int) -> list[Node]:
        """The call of a graph that a line of the source is at; none if it has none."""
        values = dict(frame.f_globals) | frame.f_locals
        for step in self._steps.get(lineno, ()):
            if is_recursive_call(step.node):
                if all(eval(guard, values) for guard in step.guards):
                    return [step.node]
        return []

    def _repeat(self, frame: FrameType, lineno: int, error: Exception) -> NoReturn:
        """Evaluate the nodes of a line that raised `error`, so that one raises it."""
        values = dict(frame.f_globals) | frame.f_locals
        for step in self._steps.get(lineno, ()):
            if not all(eval(guard, values) for guard in step.guards):
                continue
            if is_recursive_call(step.node):
                continue  # it did not fail, or there would be a line of it
            try:
                arrays = [eval(arg, values) for arg in step.args]
            except IntegerRangeError as too_large:
                raise_from_node(too_large, step.node, self.name)
            if get(step.node.op).stateful:
                found = kernel_failure(step.node, arrays, error)
                raise_from_node(found, step.node, self.name)
            run_node(step.node, arrays, self.name)
        raise error

    def _failed_lines(
        self, traceback: TracebackType | None
    ) -> list[tuple[FrameType, int]]:
        """The lines of the source that the error came through: calls, and the last."""
        found = []
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.filename:
                found.append((traceback.tb_frame, traceback.tb_lineno))
            elif found:
                break  # what a kernel calls is not of this run
            traceback = traceback.tb_next
        assert found, "the error did not pass through the generated source"
        return found


def _watch(on: bool) -> None:
    """Exchange what a call does: it then costs nothing while no thread checks."""
    run = _run_watched if on else _run
    Executable.run = run  # type: ignore[assignment, method-assign]


_run = Executable.run


def _run_watched(executable: Executable, arrays: Sequence[Any]) -> Any:
    if not is_checking():
        return _run(executable, arrays)
    return _interpreted(executable.graph, arrays)


def _interpreted(graph: Graph, arrays: Sequence[Any]) -> Any:
    """What `Executable.run` gives, node by node."""
    results = interpreter.run(graph, arrays)
    return results[0] if len(results) == 1 else results


on_switch(_watch)


class Interpreted(Executable):
    """A graph that is nested too deeply for Python: it takes 20 loops, 100 blocks."""

    def __init__(self, graph: Graph, source: str = "") -> None:
        self.name = graph.name
        self.graph = graph
        self.source = source
        self._results = len(graph.outputs)

    def all_places(self) -> dict[int, list[tuple[str, int]]]:
        """None: there is no source."""
        return {}

    def run(self, arrays: Sequence[Any]) -> Any:
        """The results, node by node."""
        return _interpreted(self.graph, arrays)


def compile_graph(graph: Graph) -> Executable:
    """Write and compile the source of a graph."""
    program = Program()
    name = program.function(graph)
    functions = _write_all(program)
    head = ["import numpy as np"]
    if program.uses_dtypes:
        head.append("from runtime import dtypes as tf")
    if program.blocks:
        head.append("from runtime.engines.numpy_source.blocks import in_blocks")
    written = [line.code for _, lines in functions for line in lines]
    written += [line for lines in program.blocks for line in lines]
    called: dict[str, list[str]] = {}
    for helper, module in HELPERS.items():
        if any(f"{helper}(" in code for code in written):
            called.setdefault(module, []).append(helper)
    for module, helpers in called.items():
        head.append(f"from runtime.ops.{module} import {', '.join(helpers)}")
    if program.header:
        head += ["", *program.header]
    for block in program.blocks:
        head += ["", "", *block]
    steps: dict[int, tuple[Step, ...]] = {}
    text = head.copy()
    for definition, lines in functions:
        text += ["", "", definition]
        for line in lines:
            indent = "    " * (line.indent + 1)
            for part in wrapped_lines(line.code, WIDTH - len(indent)):
                text.append(indent + part)
                steps[len(text)] = line.steps
    source = "\n".join([*text, ""])
    namespace = program.namespace()
    filename = f"<graph {graph.name} {next(_numbers)}>"
    try:
        code = compile(source, filename, "exec")
    except (SyntaxError, RecursionError, MemoryError):
        return Interpreted(graph, source)
    exec(code, namespace)
    executable = Executable(
        graph,
        source,
        namespace[name],
        steps,
        len(graph.outputs),
        not any(map(Effects().of, graph.nodes)),
        program.recursive_call,
    )
    _register(filename, source, executable)
    return executable


def _write_all(program: Program) -> list[tuple[str, list[Line]]]:
    """The functions of the program, those that are called before the first one."""
    written: list[tuple[str, list[Line]]] = []
    while len(written) < len(program.functions):
        graph, name = list(program.functions.items())[len(written)]
        lines, parameters = _write(program, graph)
        written.append((f"def {name}({', '.join(parameters)}):", lines))
    return written[::-1]


def _write(program: Program, graph: Graph) -> tuple[list[Line], list[str]]:
    """The body of the function, and its parameters."""
    parameters: list[str] = []
    inputs = IdentityMap[Any, Text]()
    for tensor in graph.inputs:
        name = clean(tensor.node.name)
        while program.is_global(name) or name in parameters:
            name += "_"
        program.add_local(name)
        parameters.append(name)
        inputs[tensor] = Text(name, names=frozenset({name}))
    live = with_regions(graph, find_live(graph, counted=True))
    program.scalars = Scalars(graph, live)
    block = Block(program, graph, live, inputs, {})
    block.write()
    lines = block.lines
    if graph.outputs:
        results = block.numpy_results()
        steps = program.in_order([step for text in results for step in text.steps])
        lines.append(Line(f"return {', '.join(t.code for t in results)}", steps))
    return lines or [Line("pass")], parameters


def _register(filename: str, source: str, executable: Executable) -> None:
    """Let tracebacks and debuggers show the source as long as it is in use."""
    lines = source.splitlines(keepends=True)
    # Not removed where it is freed: somebody may be walking through the cache.
    # Other threads take from the list at the same time.
    with contextlib.suppress(IndexError):
        while True:
            linecache.cache.pop(_freed.pop(), None)
    linecache.cache[filename] = len(source), None, lines, filename
    weakref.finalize(executable, _freed.append, filename)
