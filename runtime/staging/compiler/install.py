"""The hooks between the rooms of the runtime, and between it and the compiler.

A lower room cannot import a higher one. Where it calls one, it has a hook: an attribute
of `core.hooks.hooks` or `staging.hooks.hooks`. `install` assigns all of them when this
module is first imported, which `compiler.connect` does. Converted code calls
`watch_loop` before each loop over a Python iterable, to warn of long ones (AG323).
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from functools import partial
from typing import Any

import autograph
import runtime.staging.compiler.conversion as conversion
from autograph import handlers
from autograph import operators as ag
from autograph.errors import listen
from autograph.operators.activity import has_written_form
from autograph.operators.builtins import aware
from autograph.operators.control_flow import set_loop_watcher
from autograph.operators.state.trials import all_opened, set_listener
from runtime import export
from runtime.core.errors import note
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.hooks import hooks as core
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.ops.staged.flow import as_read
from runtime.ops.variables import Variable
from runtime.staging.builtins.truth import StagedTruth
from runtime.staging.compiler.backend import LISTS, OPTIONAL, STAGING
from runtime.staging.compiler.watching import observe
from runtime.staging.control_flow.while_loops import while_loop
from runtime.staging.hooks import hooks as staging
from runtime.staging.library import dict_conversion, ordering
from runtime.staging.library.deques import StagedDeque
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists import staged_list
from runtime.staging.lists.items import repeated
from runtime.staging.lists.list_methods import method_of_list
from runtime.staging.lists.sequences import StagedSequence
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.kinds import note_replaced
from runtime.staging.state.loop_options import calls_bodies
from runtime.staging.state.optional import StagedOptional, is_same
from runtime.staging.texts import method_of_text
from runtime.staging.tracing.notes import note as note_for_later

#: The backends of the classes that converted code may meet: see `Backend`. Python
#: answers for eager tensors, as for numbers.
_BACKENDS = {
    STAGING: (SymbolicTensor, StagedSequence, StagedTruth, Variable),
    LISTS: (StagedList, StagedDeque, StagedTable),
    OPTIONAL: (StagedOptional,),
    None: (EagerTensor,),
}


def install() -> None:
    """Assign all hooks."""
    # Converted functions run as plain Python while no graph is being built.
    core.begin, core.end = ag.staging.begin, ag.staging.end
    # What tests say about values that may be missing is noted in the operators.
    core.fact = ag.fact
    core.exports = export
    core.statements_at = handlers.statements_at
    core.statements_around = handlers.statements_around
    core.catching, core.classes_named = handlers.catching, handlers.classes_named
    core.has_written_form = has_written_form
    core.method_of_text, core.method_of_list = method_of_text, method_of_list
    core.repeated = repeated
    core.is_same = is_same
    core.as_read = as_read
    core.scope_of = conversion.scope_of_variable

    staging.list_of_row = staged_list.list_of_row
    staging.ragged_of = staged_list.ragged_of
    staging.sort, staging.listed = ordering.sort, ordering.listed
    staging.table_of = dict_conversion.table_of
    staging.convert = autograph.convert
    staging.called = lambda function: ag.call(aware(function))
    # Where the compiler opens a choice, other objects may refer to it, too.
    staging.exchange = all_opened
    # Only the compiler knows the names that a function can reach.
    staging.observe = observe

    for backend, kinds in _BACKENDS.items():
        for kind in kinds:
            kind.__autograph_backend__ = backend
    _listen()


def _listen() -> None:
    """Register the functions by which the compiler reports to the runtime."""
    autograph.add_library("runtime")
    # A user's `except` may swallow errors of the compiler, too.
    listen(note)
    set_listener(note_replaced)
    # Loops that Python runs make graphs long.
    set_loop_watcher(watch_loop)
    for loop in (ag.for_loop, ag.while_loop, while_loop):
        calls_bodies(loop, is_staged=False)


# --- unrolled loops -------------------------------------------------------------------

#: Loops with fewer iterations are not warned of: only their bodies are long.
_ITERATIONS = 80
#: Loops that add fewer nodes take less than a second.
_NODES = 2_000


def watch_loop() -> Callable[[Any], None] | None:
    """The function to call with the iterable after a loop; None outside of graphs."""
    graph = current_graph()
    return None if graph is None else partial(_warn_of_length, graph, len(graph.nodes))


def _warn_of_length(graph: Graph, start: int, iterated: Any) -> None:
    """Warn if a loop that began at node number `start` has added too many nodes."""
    if isinstance(iterated, Sized) and len(iterated) >= _ITERATIONS:
        count = _nodes_from(graph, start)
        if count > _NODES:
            note_for_later("AG323", _unrolled(len(iterated), count))


def _nodes_from(graph: Graph, start: int) -> int:
    """The number of nodes of a graph from `start` on, with those of sub-graphs."""
    count = 0
    pending = graph.nodes[start:]
    while pending:
        count += len(pending)
        inner = [graph for node in pending for _, graph in node.subgraphs()]
        pending = [node for graph in inner for node in graph.nodes]
    return count


def _unrolled(iterations: int, nodes: int) -> str:
    return (
        f"unrolls this loop: its {iterations:,} iterations have added {nodes:,} nodes "
        "to the graph, which takes time at the first call. Loop over a tensor or over "
        "tf.range(n): that is one node, whatever n is"
    )


install()
