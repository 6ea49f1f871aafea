"""``while`` and ``for`` on tensors: which variables the loop carries as tensors.

A variable is carried as tensors if a tensor can hold it; any other object must be the
same after each iteration. A variable that is unbound before the loop and assigned in it
is carried with a flag. The layout is found by tracing: if the body turns out to need
another one, it is traced again. The staging backend calls `stage_loop`, which adds a
``While`` node to the graph being built and returns the new state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.core.errors import TracingError, ends_trace
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.location.findings import Findings
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.staged.flow import raise_error, require_bound
from runtime.ops.variables import Variable
from runtime.staging.lists.elements import Element
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import check_fresh, chosen, plain_class, unwatched
from runtime.staging.state.common_form import Side, common_form, without_none
from runtime.staging.state.loop_options import LoopOptions, calls_bodies, collecting
from runtime.staging.state.optional import composed
from runtime.staging.state.values import (
    MISSING,
    Marker,
    can_be_tensor,
    checked_parts,
    describe,
    list_of_tensor,
    missing_keys,
    placeholder,
    same_object,
)
from runtime.staging.tracing.form import Form
from runtime.staging.tracing.joins import check_invariant
from runtime.staging.tracing.stage_while import SpecMemory, stage_while
from runtime.staging.tracing.subgraph import (
    predicate,
    set_outputs,
    state_tensor,
    trace_subgraph,
)

# --- the layout of a loop, for the next time that it is staged


class LoopMemory(SpecMemory):
    """The last layout and specs of the state of a loop."""

    def __init__(self) -> None:
        super().__init__()
        #: The elements of lists that an iteration makes longer or shorter, by name.
        self._elements: dict[str, Element] = {}

    @property
    def has_specs(self) -> bool:
        """Whether the loop has been staged before."""
        return super().has_specs or bool(self._elements)

    def forget(self) -> None:
        """Drop the layout and the specs."""
        super().forget()
        self._elements = {}

    def opened(self, name: str, value: Any) -> None:
        """Note the form that a variable had to take to be carried."""
        if type(value) is StagedList:
            self._elements[name] = value.element

    def begin(self, name: str, value: Any) -> Any:
        """A variable before the loop, in the form that it last had to take."""
        element = self._elements.get(name)
        if element is None or plain_class(value) is not list:
            return value
        opened = StagedList.of(unwatched(value), name, element)
        return opened if type(value) is list else chosen(opened)


# --- a variable in the state of a loop: its leaves, each of them a tensor


@dataclass
class Leaf:
    """One value of a variable in the loop.

    ``carried``: the leaf is a tensor of the loop's state, with the initial value
    ``start`` (a spec if the variable is unbound before the loop). ``flagged``: a bool
    tensor beside it tells whether the variable is bound, initially ``bound``.
    """

    start: Any
    carried: bool
    flagged: bool = False
    bound: Any = True


@dataclass
class Slot:
    """One variable: its leaves, and the form that packs them into its value."""

    name: str
    leaves: list[Leaf]
    form: Form
    template: Any = None

    def holds(self, value: Any) -> bool:
        """Whether a value has the form of the variable."""
        return self.form.is_like(Form.of(value, composed)[0])


def slot_of(name: str, value: Any) -> Slot:
    """A variable with this value before the loop."""
    form, leaves = Form.of(value, composed)
    return Slot(name, list(map(_leaf, leaves)), form, None if form.is_leaf else value)


def _leaf(value: Any) -> Leaf:
    checked = checked_parts(value)
    if checked is not None:
        return Leaf(checked[0], carried=True, flagged=True, bound=checked[1])
    return Leaf(value, carried=can_be_tensor(value))


def read_at_end(leaf: Leaf, value: Any) -> Any:
    """Read a `tf.Variable` at the end of an iteration if the leaf began as a tensor."""
    if isinstance(value, Variable) and (leaf.carried or leaf.start is MISSING):
        return value.read_value()
    return value


State = tuple[Any, ...]
#: One iteration: takes the state, returns whether to go on and the new state.
Step = Callable[[State], tuple[Any, State]]

_LAYOUT_LIMIT = 20


# --- the layout -----------------------------------------------------------------------


class _Relayout(TracingError):
    """The body needs another layout of the state."""


class _Misfit(Exception):
    """The values of a variable before and after an iteration have no common form."""

    def __init__(self, before: Any, after: Any) -> None:
        super().__init__()
        self.before = before
        self.after = after


class _Layout:
    """How the variables of a loop lie in the flat list of its carried tensors."""

    def __init__(self, names: Sequence[str], state: State, memory: LoopMemory) -> None:
        state = tuple(map(memory.begin, names, state))
        self.slots = [slot_of(n, v) for n, v in zip(names, state, strict=True)]
        self._graph = current_graph()
        self._memory = memory

    def flat(self) -> tuple[list[Any], list[str]]:
        """The tensors before the loop, and their names."""
        values: list[Any] = []
        names: list[str] = []
        for slot in self.slots:
            for leaf, label in zip(slot.leaves, slot.form.labels(slot.name)):
                if not leaf.carried:
                    continue
                start = leaf.start
                if isinstance(start, TensorSpec):
                    start = placeholder(start)
                values.append(start)
                names.append(label)
                if leaf.flagged:
                    values.append(leaf.bound)
                    names.append(f"whether {slot.name} is bound")
        return values, names

    def state(self, tensors: Sequence[SymbolicTensor]) -> State:
        """The values of the variables, from the flat list."""
        remaining = iter(tensors)
        return tuple(
            slot.form.pack([self._value(slot, leaf, remaining) for leaf in slot.leaves])
            for slot in self.slots
        )

    def _value(self, slot: Slot, leaf: Leaf, tensors: Iterator[Any]) -> Any:
        if not leaf.carried:
            return leaf.start
        tensor = next(tensors)
        return (
            require_bound(tensor, next(tensors), slot.name) if leaf.flagged else tensor
        )

    def outputs(self, after: State, current: Sequence[SymbolicTensor]) -> list[Any]:
        """The flat list of the state after an iteration; `_Relayout` if it differs."""
        changed = False
        findings = Findings()
        values: list[Any] = []
        remaining = iter(current)
        for slot, value in zip(self.slots, self._in_form(after, current), strict=True):
            try:
                new = self._parts(slot, value)
                new = [read_at_end(*pair) for pair in zip(slot.leaves, new)]
                fits = [self._fit(slot, *pair) for pair in zip(slot.leaves, new)]
            except _Misfit as misfit:
                if not self._settle(slot, value):
                    findings.of(_refuse, slot, misfit.before, misfit.after)
                new, fits = [], [False]
            changed |= not all(fits)
            for leaf, value_after in zip(slot.leaves, new):
                if changed or not leaf.carried:
                    continue
                current_tensor = next(remaining)
                raw, bound = checked_parts(value_after) or (value_after, True)
                if value_after is MISSING:
                    raw, bound = current_tensor, False
                values.append(raw)
                if leaf.flagged:
                    next(remaining)
                    values.append(bound)
        findings.check()
        if changed:
            raise _Relayout
        return values

    def _in_form(self, after: State, current: Sequence[SymbolicTensor]) -> list[Any]:
        """The values after an iteration, in the forms that the slots have already."""
        body = current_graph()
        assert body is not None
        before: State = ()
        values = []
        for index, (slot, value) in enumerate(zip(self.slots, after, strict=True)):
            check_fresh(value)
            # The compiler watches the state at the start of an iteration.
            value = unwatched(value)
            if not (slot.template is None or value is MISSING or slot.holds(value)):
                before = before or self.state(current)
                sides = Side(before[index], body), Side(value, body)
                ours, new = common_form(*sides, slot.name) or (None, value)
                value = new if slot.holds(ours) else value
            values.append(value)
        return values

    def open_lists(self, state: State) -> None:
        """Start over if the iteration changed the length of a list in ``state``.

        A list in a graph may then allow the operation that raised: to search a list of
        tensors, for example.
        """
        opened = False
        for slot, value in zip(self.slots, state, strict=True):
            if type(slot.template) is list and type(value) is list:
                if len(value) != len(slot.template):
                    opened |= self._settle(slot, value)
        if opened:
            raise _Relayout from None

    def _settle(self, slot: Slot, after: Any) -> bool:
        """Give the slot a form that holds both values of the variable, if one does."""
        body = current_graph()
        starts = [leaf.start for leaf in slot.leaves]
        if self._graph is None or body is None or isinstance(after, Marker):
            return False
        if any(isinstance(start, Marker) for start in starts):
            return False
        with building(self._graph):
            starts = [placeholder(s) if type(s) is TensorSpec else s for s in starts]
            value = slot.form.pack(starts)
        pair = Side(value, self._graph), Side(after, body)
        common = common_form(*pair, slot.name)
        if common is None:
            return False
        self._memory.opened(slot.name, common[0])
        flagged = [leaf for leaf in slot.leaves if leaf.flagged]
        new = slot_of(slot.name, common[0])
        slot.leaves, slot.form, slot.template = new.leaves, new.form, new.template
        for leaf in slot.leaves:
            if flagged and leaf.carried:
                leaf.flagged, leaf.bound = True, flagged[0].bound
        return True

    def _parts(self, slot: Slot, value: Any) -> list[Any]:
        """The leaves of a new value; `_Misfit` if its form differs from the slot's."""
        missing = slot.template is None and slot.leaves[0].start is MISSING
        if missing:
            value = without_none(value, slot.name)
        form, leaves = Form.of(value, composed)
        if form.is_leaf:
            if slot.template is not None and value is not MISSING:
                raise _Misfit(slot.template, value)
            return [value] * len(slot.leaves)
        if missing:
            slot.leaves = [Leaf(MISSING, carried=False) for _ in leaves]
            slot.form, slot.template = form, value
            return leaves
        if slot.template is None or not slot.form.is_like(form):
            template = slot.template  # maybe an empty tuple
            raise _Misfit(slot.leaves[0].start if template is None else template, value)
        return leaves

    def _fit(self, slot: Slot, leaf: Leaf, value: Any) -> bool:
        """Extend the leaf to hold its new value; True if it already could."""
        is_member = not slot.name.isidentifier()  # an attribute or item of an object
        if leaf.carried:
            if value is MISSING and is_member:
                raise _Misfit(leaf.start, value)
            needs_flag = value is MISSING or checked_parts(value) is not None
            if needs_flag and not leaf.flagged:
                leaf.flagged = True
                return False
            if value is not MISSING and not can_be_tensor(value):
                raise _Misfit(leaf.start, value)
            return True
        if same_object(leaf.start, value):
            return True
        if isinstance(leaf.start, Variable) and can_be_tensor(value):
            assert self._graph is not None
            with building(self._graph):
                leaf.start = leaf.start.read_value()
            leaf.carried = True
            return False
        if leaf.start is not MISSING or is_member or not can_be_tensor(value):
            raise _Misfit(leaf.start, value)
        checked = checked_parts(value)
        leaf.start = state_tensor(value if checked is None else checked[0]).spec
        leaf.carried, leaf.flagged, leaf.bound = True, True, False
        return False


def _refuse(slot: Slot, before: Any, after: Any) -> None:
    if isinstance(before, TensorSpec):
        before_text = f"a tensor {before.describe()}"
    else:
        before_text = describe(before)
    raise state_error(
        "AG202",
        f"{slot.name!r} is {before_text} before an iteration of the loop and "
        f"{describe(after)} after it, which a graph cannot carry",
        missing_keys(before, after, slot.name)
        or list_of_tensor(before, after, slot.name)
        or f"keep {slot.name!r} a value of one kind, or assign it before the loop",
    )


# --- staging --------------------------------------------------------------------------


def stage_loop(
    test: Any,
    step: Step,
    state: State,
    names: Sequence[str],
    memory: LoopMemory | None = None,
) -> State:
    """Stage ``while test: test, state = step(state)``; returns the state after it.

    ``memory`` holds the layout of the last time that the loop was staged.

    Raises:
        StagedStateError: the loop cannot carry a variable; the message names it.
    """
    memory = memory or LoopMemory()
    had_memory = memory.has_specs
    try:
        return _stage(test, step, _Layout(names, state, memory), memory)
    except Exception:
        if not had_memory:
            raise
        # The remembered layout may no longer fit.
        memory.forget()
        return _stage(test, step, _Layout(names, state, memory), memory)


def _stage(test: Any, step: Step, layout: _Layout, memory: LoopMemory) -> State:
    options = LoopOptions()
    for _ in range(_LAYOUT_LIMIT):
        values, labels = layout.flat()
        trace = _Trace(step, layout, options)
        try:
            outputs = stage_while(
                trace,
                [predicate(test), *values],
                maximum_iterations=options.maximum_iterations,
                shape_invariants=trace.shapes(),
                names=["condition", *labels],
                promote=True,
                memory=memory,
            )
        except _Relayout:
            continue
        return layout.state(outputs[1:])
    names = ", ".join(slot.name for slot in layout.slots)
    raise state_error(
        "AG205",
        f"the variables of the loop ({names}) do not settle on one layout",
        "keep their structure the same in each iteration",
    )


class _Trace:
    """Traces the test and the body of a loop for a state of given specs."""

    def __init__(self, step: Step, layout: _Layout, options: LoopOptions) -> None:
        self._step = step
        self._layout = layout
        self._options = options

    def __call__(self, specs: list[TensorSpec]) -> tuple[Graph, Graph]:
        cond, go_on = trace_subgraph(lambda test, *_: test, specs, "test")
        set_outputs(cond, [go_on])
        options = LoopOptions()
        with collecting(options):
            body, values = trace_subgraph(self._body, specs, "body")
        self._note_options(options, body)
        set_outputs(body, values)
        self._check_shapes(body)
        return cond, body

    def shapes(self) -> list[TensorShape | None] | None:
        """The shape invariants of the loop in the flat order; None if it has none."""
        if not self._options.shape_invariants:
            return None
        by_index = dict(self._options.shape_invariants)
        count = len(self._layout.flat()[0]) + 1
        return [by_index.get(index) for index in range(count)]

    def _check_shapes(self, body: Graph) -> None:
        """Raise ValueError if a shape invariant does not hold after an iteration."""
        for index, shape in self._options.shape_invariants:
            label = repr(self._layout.flat()[1][index - 1])
            check_invariant(body.outputs[index].shape, shape, label)

    def _body(self, _: SymbolicTensor, *tensors: SymbolicTensor) -> list[Any]:
        state = self._layout.state(tensors)
        try:
            go_on, after = self._step(state)
        except BaseException as error:
            if ends_trace(error):
                self._layout.open_lists(state)
                raise
            raise_error(error)
            return [False, *tensors]
        return [predicate(go_on), *self._layout.outputs(after, tensors)]

    def _note_options(self, options: LoopOptions, body: Graph) -> None:
        """Start over if the body asks for options that this trace did not have."""
        position = {id(tensor): i for i, tensor in enumerate(body.inputs)}
        invariants: list[tuple[Any, TensorShape]] = []
        for variable, shape in options.shape_invariants:
            tensor = (checked_parts(variable) or (variable,))[0]
            if id(tensor) in position:
                invariants.append((position[id(tensor)], shape))
            elif isinstance(tensor, SymbolicTensor) and tensor.graph is body:
                raise ValueError(
                    f"set_loop_options: shape_invariants names {variable!r}, which is "
                    "no variable of the loop but made in it; call set_loop_options "
                    "first thing in the body"
                )
        wanted = LoopOptions(options.maximum_iterations, invariants)
        if wanted != self._options:
            self._options.maximum_iterations = wanted.maximum_iterations
            self._options.shape_invariants = wanted.shape_invariants
            raise _Relayout


calls_bodies(_Trace.__call__, is_staged=True)
