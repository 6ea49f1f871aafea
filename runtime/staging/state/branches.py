"""``if`` on a tensor: both branches are traced, their variables are merged.

A variable that is the same Python object after both branches stays that object. One
that a branch leaves unbound becomes a value with a flag: reading it raises Python's own
error when the graph runs, if the flag is off. A branch that raises becomes a branch
that raises when it is run. The staging backend and the staged builtins call
`stage_cond`, which adds an ``If`` node to the graph being built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.errors import ends_trace
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.location.findings import RESULT, Findings, named
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.ops.staged.flow import raise_error, require_bound
from runtime.ops.variables import Variable
from runtime.staging.objects.copy import check_fresh
from runtime.staging.state.common_form import Side, absent, common_form
from runtime.staging.state.optional import alike, as_optional, composed
from runtime.staging.state.recursion import check_not_waiting
from runtime.staging.state.values import (
    MISSING,
    RAISED,
    Marker,
    can_be_tensor,
    checked_name,
    checked_parts,
    describe,
    list_of_tensor,
    missing_keys,
    placeholder,
    same_object,
)
from runtime.staging.tracing.subgraph import (
    emit_if,
    predicate,
    set_outputs,
    state_tensor,
    trace_subgraph,
)

State = tuple[Any, ...]
Branch = Callable[[State], tuple[Any, State]]
_Rebuild = Callable[[Sequence[Tensor]], Any]

_ANY = object()  # a value that takes the spec of the other branch's value


def stage_cond(
    test: Any, if_true: Branch, if_false: Branch, state: State, names: Sequence[str]
) -> tuple[Any, State]:
    """Stage both branches under ``test``; returns the merged result and state.

    Raises:
        StagedStateError: a variable cannot be merged; the message names it.
    """
    then_graph, then_values = trace_branch(if_true, state, "if_true")
    else_graph, else_values = trace_branch(if_false, state, "if_false")
    if then_values is RAISED and else_values is RAISED:
        emit_if(test, then_graph, else_graph)
        check_not_waiting(then_graph, else_graph)
        return None, state
    findings = Findings()
    merge = _Merge(then_graph, else_graph)
    labels = [RESULT, *names]
    count = len(labels)
    ones = [RAISED] * count if then_values is RAISED else then_values
    others = [RAISED] * count if else_values is RAISED else else_values
    rebuild: list[_Rebuild | None] = [None] * count
    # Variables that one branch leaves unbound come last: they may share their list with
    # a variable that both branches bind.
    for i in sorted(
        range(count), key=lambda i: ones[i] is MISSING or others[i] is MISSING
    ):
        rebuild[i] = findings.of(merge.variable, ones[i], others[i], labels[i])
    findings.check()
    merge.set_outputs()
    outputs = emit_if(test, then_graph, else_graph, names=merge.names, promote=True)
    result, *new_state = [build(outputs) for build in rebuild if build is not None]
    return result, tuple(new_state)


def trace_branch(branch: Branch, state: State, name: str) -> tuple[Graph, Any]:
    """The graph of a branch, and its result and state in one list, or `RAISED`."""

    def run() -> Any:
        try:
            result, new_state = branch(state)
            check_fresh((result, new_state))
        except BaseException as error:
            if ends_trace(error):
                raise
            # The error of the user's code is raised when the graph runs the branch.
            raise_error(error)
            return RAISED
        return [result, *new_state]

    graph, values = trace_subgraph(run, (), name)
    return graph, values


class _Merge:
    """Collects the outputs of two branches; their ``names`` are for messages."""

    def __init__(self, then_graph: Graph, else_graph: Graph) -> None:
        self._graphs = then_graph, else_graph
        self._then: list[Any] = []
        self._else: list[Any] = []
        self.names: list[str] = []
        self._structures: dict[tuple[int, int], tuple[Any, Any, _Rebuild]] = {}
        self._lists: dict[tuple[int, int], _Rebuild] = {}

    def variable(self, one: Any, other: Any, name: str) -> _Rebuild:
        """Merge a variable; refuses an attribute or item that one branch alone adds."""
        missing = (one is MISSING) != (other is MISSING)
        if missing and not (name.isidentifier() or one is RAISED or other is RAISED):
            raise _different(one, other, name)
        return self.value(one, other, name)

    def value(self, one: Any, other: Any, name: str) -> _Rebuild:
        """Merge the two values of a variable; returns the function that rebuilds it."""
        if same_object(one, other):
            return lambda outputs: one
        one, other = as_optional(one), as_optional(other)
        if one is RAISED or other is RAISED:
            value = other if one is RAISED else one
            if value is MISSING:
                return lambda outputs: MISSING
        if one is MISSING and other is None:
            other = absent(name)
        elif one is None and other is MISSING:
            one = absent(name)
        build = None
        if other is MISSING:
            build = self._lists.get((0, id(one)))
        elif one is MISSING:
            build = self._lists.get((1, id(other)))
        if build is not None:
            return build
        if composed(one) is not None or composed(other) is not None:
            return self._once(one, other, lambda: self._structure(one, other, name))
        return self._leaf(one, other, name)

    def _once(self, one: Any, other: Any, merge: Callable[[], _Rebuild]) -> _Rebuild:
        """Merge a pair of structures once, for all the variables that share it."""
        key = id(one), id(other)
        if key not in self._structures:
            build = merge()
            built: list[Any] = []

            def once(outputs: Sequence[Tensor]) -> Any:
                if not built:
                    built.append(build(outputs))
                return built[0]

            # Holding both objects keeps their ids from being reused.
            self._structures[key] = one, other, once
            for side, value in enumerate((one, other)):
                if type(value) is list:
                    self._lists[side, id(value)] = once
        return self._structures[key][2]

    def _structure(self, one: Any, other: Any, name: str) -> _Rebuild:
        """Merge two values part by part, or the parts of a value with a marker."""
        first, second = composed(one), composed(other)
        whole = first or second
        assert whole is not None
        if isinstance(one, Marker) or isinstance(other, Marker):
            pairs = [
                (one, part) if first is None else (part, other) for part in whole.parts
            ]
        elif first is not None and second is not None and alike(one, other):
            pairs = list(zip(first.parts, second.parts, strict=True))
        else:
            return self._common(one, other, name)
        labels = whole.labels(name)
        builders = [self.value(*pair, label) for pair, label in zip(pairs, labels)]
        return lambda outputs: whole.rebuild([part(outputs) for part in builders])

    def _leaf(self, one: Any, other: Any, name: str) -> _Rebuild:
        if one is not RAISED and other is not RAISED:
            then_graph, else_graph = self._graphs
            one, other = (
                _read(then_graph, one, other),
                _read(else_graph, other, one),
            )
        raw_one, bound_one = _split(one)
        raw_other, bound_other = _split(other)
        for raw in (raw_one, raw_other):
            if raw is not _ANY and not can_be_tensor(raw):
                if one is RAISED or other is RAISED:
                    return lambda outputs: raw
                return self._common(one, other, name)
        index = self._output(raw_one, raw_other, name)
        if bound_one is True and bound_other is True:
            return lambda outputs: outputs[index]
        flag = self._output(bound_one, bound_other, f"whether {name} is bound")
        variable = checked_name(one) or checked_name(other) or name
        return lambda outputs: require_bound(outputs[index], outputs[flag], variable)

    def _common(self, one: Any, other: Any, name: str) -> _Rebuild:
        """Merge values of different structures in a form that holds both."""
        then_graph, else_graph = self._graphs
        common = None
        if not isinstance(one, Marker) and not isinstance(other, Marker):
            common = common_form(Side(one, then_graph), Side(other, else_graph), name)
        if common is None:
            raise _different(one, other, name)
        return self.value(*common, name)

    def _output(self, one: Any, other: Any, name: str) -> int:
        self._then.append(one)
        self._else.append(other)
        self.names.append(name)
        return len(self._then) - 1

    def set_outputs(self) -> None:
        """Make the collected values the outputs of the two graphs."""
        then_graph, else_graph = self._graphs
        then = _tensors(then_graph, self._then)
        other = _tensors(else_graph, self._else)
        for i, (a, b) in enumerate(zip(then, other, strict=True)):
            if a is None:
                with building(then_graph):
                    then[i] = placeholder(b.spec)
            elif b is None:
                with building(else_graph):
                    other[i] = placeholder(a.spec)
        set_outputs(then_graph, then)
        set_outputs(else_graph, other)


def _tensors(graph: Graph, values: list[Any]) -> list[Any]:
    with building(graph):
        return [None if value is _ANY else state_tensor(value) for value in values]


def _read(graph: Graph, value: Any, opposite: Any) -> Any:
    """Read a `tf.Variable` at the end of its branch if the other value is a tensor."""
    if isinstance(value, Variable) and (opposite is MISSING or can_be_tensor(opposite)):
        with building(graph):
            return value.read_value()
    return value


def _split(value: Any) -> tuple[Any, Any]:
    """A value and whether it is bound (True, False or a tensor)."""
    if value is MISSING:
        return _ANY, False
    if value is RAISED:
        return _ANY, True
    return checked_parts(value) or (value, True)


def _different(one: Any, other: Any, name: str) -> Exception:
    label = named(name) if name.startswith(RESULT) else repr(name)
    first, second = describe(one), describe(other)
    second = "another one" if second == first else second
    return state_error(
        "AG201",
        f"{label} is {first} where the condition holds and "
        f"{second} where it does not, and a graph cannot choose between them",
        missing_keys(one, other, name)
        or _assigned_before(one, other, name)
        or list_of_tensor(one, other)
        or "give values of the same kind in both branches",
    )


def _assigned_before(one: Any, other: Any, name: str) -> str | None:
    """The advice for an attribute or item that one branch adds; else None."""
    if one is not MISSING and other is not MISSING:
        return None
    return f"a graph adds no keys or attributes: assign {name} before the statement"


# --- one value or another, and errors, where a tensor decides -------------------------


def either(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    """``if_true() if test else if_false()``."""
    if not isinstance(test, SymbolicTensor):
        return if_true() if test else if_false()
    result, _ = stage_cond(
        predicate(test), lambda _: (if_true(), ()), lambda _: (if_false(), ()), (), ()
    )
    return result


def raise_if(test: Any, error: Exception) -> None:
    """Raise the error where the test holds, when the graph runs."""
    either(test, lambda: raise_error(error), lambda: None)
