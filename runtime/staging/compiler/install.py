"""All hooks between the floors of the runtime, and between it and the compiler.

A lower floor cannot import a higher one. Where it needs one, it has a hook: a class
attribute or a setter. `install` fills all hooks when this module is first imported,
which `compiler.connect` does.
"""

from __future__ import annotations

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
from runtime.core.graph.context import set_begin_and_end
from runtime.core.location.handlers import Clauses
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.ops.apply import set_reading
from runtime.ops.staged import flow
from runtime.ops.variables import Variable
from runtime.staging.builtins.truth import StagedTruth
from runtime.staging.compiler import unrolling
from runtime.staging.compiler.backend import LISTS, OPTIONAL, STAGING
from runtime.staging.compiler.watching import observe
from runtime.staging.library import dict_conversion, ordering
from runtime.staging.library.deques import StagedDeque
from runtime.staging.library.ordinary import Ordinary
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists import staged_list
from runtime.staging.lists.elements import Element
from runtime.staging.lists.items import repeated
from runtime.staging.lists.list_methods import method_of_list
from runtime.staging.lists.parts import set_exchange
from runtime.staging.lists.sequences import StagedSequence
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.kinds import note_replaced
from runtime.staging.state.optional import StagedOptional, is_same
from runtime.staging.texts import method_of_text
from runtime.staging.tracing.effects import set_observer


def install() -> None:
    """Fill all hooks by which a floor refers to a higher one."""
    _graphs()
    _staging()
    _tensors()
    _backends()
    _compiler()


def _graphs() -> None:
    """The lowest floors: graphs and ops."""
    # The methods that print and export a graph are written in terms of ops.
    Graph.exports = export
    # Any op may read a value that a branch has not set. The check is an op itself.
    set_reading(flow.as_read)
    # Whether a variable is local or global is known from the compiled code.
    flow.set_scope_of(conversion.scope_of_variable)


def _staging() -> None:
    """Containers of a graph, any of which may hold any other."""
    # A row of a list is a list.
    Element.list_of_row = staticmethod(staged_list.list_of_row)
    Element.ragged_of = staticmethod(staged_list.ragged_of)
    # Lists are sorted by keys that are computed in loops, which carry lists.
    StagedList.in_order = staticmethod(ordering.sort)
    StagedList.listed = staticmethod(ordering.listed)
    # Where one branch gives a table and one a Python dict, both become tables.
    StagedTable.made_of = staticmethod(dict_conversion.table_of)


def _tensors() -> None:
    """Operators of tensors that return lists or texts, or that ask the compiler."""
    SymbolicTensor.method_of_text = staticmethod(method_of_text)
    SymbolicTensor.method_of_list = staticmethod(method_of_list)
    SymbolicTensor.repeated = staticmethod(repeated)
    SymbolicTensor.has_written_form = staticmethod(has_written_form)
    SymbolicTensor.__autograph_is__ = StagedOptional.__autograph_is__ = is_same


def _backends() -> None:
    """The backends of the classes that converted code may meet: see `Backend`."""
    SymbolicTensor.__autograph_backend__ = STAGING
    StagedSequence.__autograph_backend__ = STAGING
    StagedTruth.__autograph_backend__ = STAGING
    StagedList.__autograph_backend__ = LISTS
    StagedDeque.__autograph_backend__ = LISTS
    StagedTable.__autograph_backend__ = LISTS
    StagedOptional.__autograph_backend__ = OPTIONAL
    Variable.__autograph_backend__ = STAGING
    # Python answers for eager tensors, as for numbers.
    EagerTensor.__autograph_backend__ = None


def _compiler() -> None:
    """Calls of the runtime into the compiler, and reports of the compiler to it."""
    autograph.add_library("runtime")
    # A user's `except` may swallow errors of the compiler, too.
    listen(note)
    # Converted functions run as plain Python while no graph is being built.
    set_begin_and_end(ag.staging.begin, ag.staging.end)
    # What tests say about values that may be missing is noted in the operators.
    Graph.fact = staticmethod(ag.fact)
    # Only the compiler knows the names that a function can reach.
    set_observer(observe)
    # The library of containers is ordinary Python that calls the user's functions.
    Ordinary.convert = staticmethod(autograph.convert)
    Ordinary.called = staticmethod(lambda function: ag.call(aware(function)))
    # Where the compiler opens a choice, other objects may refer to it, too.
    set_exchange(all_opened)
    set_listener(note_replaced)
    # Loops that Python runs make graphs long.
    set_loop_watcher(unrolling.watch)
    # Which `except` would catch an error is one question, of all backends.
    for name in handlers.__all__:
        setattr(Clauses, name, staticmethod(getattr(handlers, name)))


install()
