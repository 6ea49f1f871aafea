"""``while`` and ``for`` on tensors: what the loop carries, and what stays Python.

A variable is carried as tensors if a tensor can hold it; any other object must be the
same after each iteration. A variable that is unbound before the loop and assigned in it
is carried with a flag. The layout is found by tracing: if the body turns out to need
another one, it is traced again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.errors import TracingError, ends_trace
from runtime.graph import Graph
from runtime.graph.context import building, current_graph
from runtime.location.findings import Findings
from runtime.location.user_code import state_error
from runtime.ops.staged.flow import raise_error, require_bound
from runtime.staging.lists.elements import Element
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import check_fresh, unwatched
from runtime.staging.state.common_form import (
    Side,
    adopted,
    common_form,
    with_open_lists,
    without_none,
)
from runtime.staging.state.loop_options import LoopOptions, collecting
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
from runtime.tensor import SymbolicTensor
from runtime.tracing.form import Form
from runtime.tracing.joins import check_invariant
from runtime.tracing.stage_while import SpecMemory, stage_while
from runtime.tracing.subgraph import (
    predicate,
    set_outputs,
    state_tensor,
    trace_subgraph,
)
from runtime.types.shapes import TensorShape
from runtime.types.specs import TensorSpec
from runtime.variable import Variable

__all__ = ["Leaf", "LoopMemory", "Slot", "read_at_end", "slot_of"]

# --- What a loop was found to carry, for the next time that it is staged


class LoopMemory(SpecMemory):
    """The last layout and specs of the state of a loop."""

    def __init__(self) -> None:
        super().__init__()
        #: The elements of lists that an iteration makes longer or shorter, by name.
        self._elements: dict[str, Element] = {}

    @property
    def known(self) -> bool:
        """Whether the loop has been staged before."""
        return super().known or bool(self._elements)

    def forget(self) -> None:
        """Begin with nothing known again."""
        super().forget()
        self._elements = {}

    def opened(self, name: str, value: Any) -> None:
        """Note what a variable became that the loop could not carry as it was."""
        if type(value) is StagedList:
            self._elements[name] = value.element

    def begin(self, name: str, value: Any) -> Any:
        """A variable before the loop, in the form that it had to have last."""
        element = self._elements.get(name)
        if element is None or type(value) is not list:
            return value
        return StagedList.of(value, name, element)


# --- How a variable lies in the state of a loop: as leaves, each of them a tensor


@dataclass
class Leaf:
    """One value of a variable in the loop.

    ``carried``: it is a tensor of the loop's state, which begins as ``start`` (a spec
    where there is nothing yet). ``flagged``: a bool beside it tells whether it is
    bound, at first ``bound``.
    """

    start: Any
    carried: bool
    flagged: bool = False
    bound: Any = True


@dataclass
class Slot:
    """One variable: its leaves, and how they make up its value."""

    name: str
    leaves: list[Leaf]
    form: Form
    template: Any = None


def slot_of(name: str, value: Any) -> Slot:
    """A variable with this value before the loop."""
    form, leaves = Form.of(value, composed)
    return Slot(name, list(map(_leaf, leaves)), form, None if form.is_leaf else value)


def _leaf(value: Any) -> Leaf:
    parts = checked_parts(value)
    if parts is not None:
        return Leaf(parts[0], carried=True, flagged=True, bound=parts[1])
    return Leaf(value, carried=can_be_tensor(value))


def read_at_end(leaf: Leaf, part: Any) -> Any:
    """A `tf.Variable` as its value at the end of an iteration, where it was none."""
    starts_without = leaf.carried or leaf.start is MISSING
    return part.read_value() if isinstance(part, Variable) and starts_without else part


State = tuple[Any, ...]
#: One iteration: from the state to whether to go on, and the new state.
Step = Callable[[State], tuple[Any, State]]

_LAYOUT_LIMIT = 20


# --- what is carried ------------------------------------------------------------------


class _Relayout(TracingError):
    """The body needs another layout of the state."""


class _Misfit(Exception):
    """What a variable was before an iteration does not go with what it is after it."""

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
        for slot, value in zip(self.slots, after, strict=True):
            try:
                check_fresh(value)
                # The compiler watches what an iteration begins with.
                value = unwatched(value)
                value = adopted(slot.template, value, slot.name)
                value = with_open_lists(slot.template, value, slot.name)
                parts = self._parts(slot, value)
                parts = [read_at_end(*pair) for pair in zip(slot.leaves, parts)]
                fits = [self._fit(slot, *pair) for pair in zip(slot.leaves, parts)]
            except _Misfit as misfit:
                if not self._settle(slot, value):
                    findings.of(_refuse, slot, misfit.before, misfit.after)
                parts, fits = [], [False]
            changed |= not all(fits)
            for leaf, part in zip(slot.leaves, parts):
                if changed or not leaf.carried:
                    continue
                old = next(remaining)
                raw, bound = checked_parts(part) or (part, True)
                if part is MISSING:
                    raw, bound = old, False
                values.append(raw)
                if leaf.flagged:
                    next(remaining)
                    values.append(bound)
        findings.check()
        if changed:
            raise _Relayout
        return values

    def open_lists(self, state: State) -> None:
        """Begin again if the length of a list in ``state`` was changed in it.

        What Python refuses of a list of tensors (to search it, say), a list in a graph
        may do.
        """
        opened = False
        for slot, value in zip(self.slots, state, strict=True):
            if type(slot.template) is list and type(value) is list:
                if len(value) != len(slot.template):
                    opened |= self._settle(slot, value)
        if opened:
            raise _Relayout from None

    def _settle(self, slot: Slot, after: Any) -> bool:
        """Give the slot a form that both values of the variable can take, if any."""
        body = current_graph()
        starts = [leaf.start for leaf in slot.leaves]
        if self._graph is None or body is None or isinstance(after, Marker):
            return False
        if any(isinstance(start, Marker) for start in starts):
            return False
        with building(self._graph):
            starts = [placeholder(s) if type(s) is TensorSpec else s for s in starts]
            value = slot.form.pack(starts)
        sides = Side(value, self._graph), Side(after, body)
        common = common_form(*sides, slot.name)
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
        """The leaves of a new value; `_Misfit` if it has other ones."""
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
            before = slot.template  # maybe an empty tuple
            raise _Misfit(slot.leaves[0].start if before is None else before, value)
        return leaves

    def _fit(self, slot: Slot, leaf: Leaf, part: Any) -> bool:
        """Make the leaf able to hold what it is after an iteration; was it already?"""
        is_member = not slot.name.isidentifier()  # an attribute or item of an object
        if leaf.carried:
            if part is MISSING and is_member:
                raise _Misfit(leaf.start, part)
            needs_flag = part is MISSING or checked_parts(part) is not None
            if needs_flag and not leaf.flagged:
                leaf.flagged = True
                return False
            if part is not MISSING and not can_be_tensor(part):
                raise _Misfit(leaf.start, part)
            return True
        if same_object(leaf.start, part):
            return True
        if isinstance(leaf.start, Variable) and can_be_tensor(part):
            assert self._graph is not None
            with building(self._graph):
                leaf.start = leaf.start.read_value()
            leaf.carried = True
            return False
        if leaf.start is not MISSING or is_member or not can_be_tensor(part):
            raise _Misfit(leaf.start, part)
        parts = checked_parts(part)
        leaf.start = state_tensor(part if parts is None else parts[0]).spec
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
    """Stage ``while test: test, state = step(state)``; gives the state after the loop.

    ``memory`` is of the last time that the loop was staged.

    Raises:
        StagedStateError: the loop cannot carry a variable; the message names it.
    """
    memory = memory or LoopMemory()
    known = memory.known
    try:
        return _stage(test, step, _Layout(names, state, memory), memory)
    except Exception:
        if not known:
            raise
        # It may not be what it was.
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
        found = LoopOptions()
        with collecting(found):
            body, values = trace_subgraph(self._body, specs, "body")
        self._note_options(found, body)
        set_outputs(body, values)
        self._check_shapes(body)
        return cond, body

    def shapes(self) -> list[TensorShape | None] | None:
        """The shapes that the loop's own invariants ask for, in the flat order."""
        if not self._options.shape_invariants:
            return None
        by_index = dict(self._options.shape_invariants)
        count = len(self._layout.flat()[0]) + 1
        return [by_index.get(index) for index in range(count)]

    def _check_shapes(self, body: Graph) -> None:
        """Raise ValueError if a shape that the loop asks for does not hold."""
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

    def _note_options(self, found: LoopOptions, body: Graph) -> None:
        """Start again if the body asks for options that the loop does not have yet."""
        position = {id(tensor): i for i, tensor in enumerate(body.inputs)}
        invariants: list[tuple[Any, TensorShape]] = []
        for variable, shape in found.shape_invariants:
            tensor = (checked_parts(variable) or (variable,))[0]
            if id(tensor) in position:
                invariants.append((position[id(tensor)], shape))
            elif isinstance(tensor, SymbolicTensor) and tensor.graph is body:
                raise ValueError(
                    f"set_loop_options: shape_invariants names {variable!r}, which is "
                    "no variable of the loop but made in it; call set_loop_options "
                    "first thing in the body"
                )
        wanted = LoopOptions(found.maximum_iterations, invariants)
        if wanted != self._options:
            self._options.maximum_iterations = wanted.maximum_iterations
            self._options.shape_invariants = wanted.shape_invariants
            raise _Relayout
