"""`trace`: from a Python function to a `Graph`, by one run on placeholders.

Arguments and results are structures (`types.nest`), which `tracing.form` flattens: None
stays None, Python numbers become tensors, and objects with ``__tf_flatten__`` are
flattened and rebuilt. `function.tracer`, data sets and saved models call `trace`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from runtime.core.errors import (
    EndlessRecursionError,
    SymbolicTensorError,
    ends_trace,
    is_python_limit,
    is_raised,
    noting,
)
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.location.frames import frame_at, is_tracing, locating, unlocated
from runtime.core.location.handlers import begins_trace, swallowed, unhandled
from runtime.core.location.user_code import (
    raise_location,
    raise_position,
    show_position,
    user_frames,
)
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.containers.array_parts import check_used
from runtime.ops.staged.flow import raise_error, tells_of
from runtime.staging.tracing.arguments import restored
from runtime.staging.tracing.effects import observing
from runtime.staging.tracing.form import Results, flatten_results
from runtime.staging.tracing.loop_conditions import tidy


class Trace(NamedTuple):
    """A traced function: its graph, and its result as tensors of the graph."""

    graph: Graph
    results: Results

    @property
    def structured_outputs(self) -> Any:
        """The result of the function with the outputs of the graph for its tensors."""
        return self.results.pack(self.graph.outputs)


@begins_trace
def trace(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    name: str,
    parent: Graph | None = None,
    captured: Sequence[EagerTensor] = (),
) -> Trace:
    """Call ``fn(*args, **kwargs)`` with placeholders for the specs among the arguments.

    Placeholders are the graph's inputs, in the order in which `nest` flattens
    ``(args, kwargs)``, and are named as their specs. Then come inputs for `captured`,
    eager tensors that `fn` reads, which would be constants. Tensors of `parent` that
    `fn` uses become further inputs. Raises what `fn` raises; endless recursion is a
    RecursionError that says what to do. An error that tells of tensors is one that the
    graph raises, unless another function is traced, whose ``except`` it may meet.
    """
    is_inner = current_graph() is not None
    graph = Graph(name, parent)
    leaves = [
        graph.add_input(leaf, leaf.name or "input")
        if isinstance(leaf, TensorSpec)
        else leaf
        for leaf in nest.flatten((tuple(args), kwargs))
    ]
    packed = nest.pack_sequence_as((tuple(args), kwargs), leaves)
    arguments, keywords = restored(packed)
    for tensor in captured:
        graph.differentiate(tensor, graph.add_input(tensor.spec, "captured"))
    watched = observing(fn, (arguments, keywords), name)
    with building(graph), unhandled(), noting() as errors, watched:
        try:
            with locating(), debugging():
                result = fn(*arguments, **keywords)
        except RecursionError as error:
            raise _endless(name, error) from None
        except Exception as error:
            if not is_inner and tells_of(error, graph) and not ends_trace(error):
                raise_error(error)  # a call knows the text
                result = None
            else:
                frames = user_frames(error.__traceback__)
                refused = _refused_by_python(error, name)
                if refused is not None:
                    raise refused.with_traceback(frames) from None
                show_position(error)
                error.__traceback__ = frames
                raise
        lost = swallowed(errors)
        if lost is not None:
            raise lost
        tensors, results = flatten_results(result, name)
        graph.outputs = [_output(graph, tensor) for tensor in tensors]
    tidy(graph)
    check_used(graph)
    return Trace(graph, results)


def _output(graph: Graph, tensor: Tensor) -> SymbolicTensor:
    # The outputs of a graph are nodes of their own, as in TensorFlow: an input that is
    # returned as it is, or returned twice, gives an output each time.
    # No line of the user's made it: not the one that called the function.
    with unlocated():
        output: SymbolicTensor = apply("Identity", graph.capture(tensor))
    return output


def _refused_by_python(error: Exception, name: str) -> Exception | None:
    """The error AG302 for a tensor that Python itself does not accept, else None.

    Python's message names the class of the tensor, which the user does not know.
    Messages about operators would be the same for numbers: those are errors of the
    program, and stay.
    """
    cause = error.__cause__
    if isinstance(cause, SymbolicTensorError) and not is_raised(error):
        return cause  # NumPy replaced the error by one about arrays
    class_name, text = f"'{SymbolicTensor.__name__}'", str(error)
    if type(error) is not TypeError or class_name not in text or is_raised(error):
        return None
    if (
        " operand type" in text
        or " not supported " in text
        or " object is not " in text
    ):
        return None
    line = raise_position(error)
    where = "" if line is None else f"{line.filename}:{line.lineno}: "
    excerpt = "" if line is None else line.excerpt()
    return SymbolicTensorError(
        f"{where}AG302: Python does not take a tensor here, which has no value while "
        f"{name!r} is being traced ({text.replace(class_name, 'a tensor')}): use an "
        f"operation on tensors instead, or a Python value{excerpt}",
        "AG302",
        None if line is None else line[:2],
    )


def _endless(name: str, error: RecursionError) -> RecursionError:
    if not is_python_limit(error):
        return error
    location = raise_location(error)
    where = f"{location[0]}:{location[1]}: " if location else ""
    return EndlessRecursionError(
        f"{where}AG211: tracing {name!r} went deeper than Python's recursion limit "
        f"({sys.getrecursionlimit()}). A function that calls itself where a tensor "
        "decides becomes a graph that calls itself if its arguments stay of one kind; "
        "here each call has other ones, or nothing ends it: write a loop, or let a "
        "Python value decide when to stop"
    )


# --- breakpoint() ---------------------------------------------------------------------


class debugging:  # noqa: N801
    """A context in which ``breakpoint()`` enters the debugger of traces.

    A hook that is not Python's own `pdb` stays.
    """

    def __enter__(self) -> None:
        global _traces
        with _lock:
            self._counts = sys.breakpointhook is _enter or _is_pdb()
            if self._counts:
                _traces += 1
                sys.breakpointhook = _enter

    def __exit__(self, *_: object) -> None:
        global _traces
        if self._counts:
            with _lock:
                _traces -= 1
                if not _traces and sys.breakpointhook is _enter:
                    sys.breakpointhook = sys.__breakpointhook__


_lock = threading.Lock()
#: The number of traces under way, in all threads.
_traces = 0


def _is_pdb() -> bool:
    setting = os.environ.get("PYTHONBREAKPOINT", "")
    is_usual = sys.breakpointhook is sys.__breakpointhook__
    return is_usual and setting in ("", "pdb.set_trace")


def _enter(*, header: str | None = None) -> None:
    """Enter `TracePdb` in a thread that traces, else Python's own `pdb`."""
    import pdb  # imported here: few programs need it

    from runtime.core.location.trace_pdb import TracePdb

    debugger = TracePdb() if is_tracing() else pdb.Pdb()
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame_at(1))
