"""A call of a function that calls itself: what it takes, gives and changes.

While `recursion`, which alone uses this module, traces the function, a `Level` tells
which calls within it are the same call, and adds those to the graph as nodes. Signals
pass from such a call to where its level is traced. What calls change is found by the
compiler, as `State` and `Watch` describe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from runtime.core.errors import StagedStateError, UnknownResultError
from runtime.core.graph import Graph, Node
from runtime.core.graph.context import current_graph
from runtime.core.location.frames import locating
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import cast_number, convert_to_tensor
from runtime.staging.state.common_form import Side, common_form
from runtime.staging.state.optional import alike, composed
from runtime.staging.state.values import can_be_tensor, same_object
from runtime.staging.tracing.form import Composition, Form
from runtime.staging.tracing.signature import Signature
from runtime.staging.tracing.subgraph import join_specs, state_tensor

# --- values ---------------------------------------------------------------------------

#: Whether an object is not taken apart, since each call is given that very object.
Whole = Callable[[Any], bool]


def _nothing(value: Any) -> bool:
    return False


class Leaves(NamedTuple):
    """The leaves of a value, with a pattern for each.

    A pattern is the spec of a tensor of the graph, or a Python value that stays itself.
    """

    form: Form
    leaves: list[Any]
    patterns: list[Any]

    @classmethod
    def of(
        cls, value: Any, tensors: type[Tensor] = Tensor, whole: Whole = _nothing
    ) -> Leaves:
        """Take a value apart; ``tensors`` are those that may be others each time."""
        form, leaves = Form.of(value, _unless(whole))
        patterns = [leaf.spec if isinstance(leaf, tensors) else leaf for leaf in leaves]
        return cls(form, leaves, patterns)

    @classmethod
    def of_state(cls, values: Sequence[Any]) -> Leaves:
        """Take apart what calls change: all that can be a tensor may be another."""
        form, leaves = Form.of(tuple(values), composed)
        patterns = [leaf if (s := _spec_of(leaf)) is None else s for leaf in leaves]
        return cls(form, leaves, patterns)

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of the tensors."""
        return [spec for spec in self.patterns if isinstance(spec, TensorSpec)]

    def pack(
        self,
        tensors: Sequence[Any],
        present: Callable[[Any], Any] = lambda value: value,
    ) -> Any:
        """The value around other tensors; what stays itself is ``present(value)``."""
        values = iter(tensors)
        return self.form.pack(
            [
                next(values) if isinstance(p, TensorSpec) else present(p)
                for p in self.patterns
            ]
        )

    def tensors(self, leaves: Sequence[Any]) -> list[Tensor]:
        """The leaves that a call gives for the tensors, in the dtypes of the specs."""
        return [
            with_dtype(state_tensor(leaf), pattern)
            for pattern, leaf in zip(self.patterns, leaves)
            if isinstance(pattern, TensorSpec)
        ]

    def with_originals(self, original: Callable[[Any], Any]) -> Leaves:
        """The leaves, with the program's objects in place of what stands for them."""
        leaves = [
            leaf if isinstance(pattern, TensorSpec) else original(leaf)
            for leaf, pattern in zip(self.leaves, self.patterns)
        ]
        patterns = [
            pattern if isinstance(pattern, TensorSpec) else leaf
            for leaf, pattern in zip(leaves, self.patterns)
        ]
        return self._replace(leaves=leaves, patterns=patterns)

    def is_settled(self, before: Leaves) -> bool:
        """Whether the form and the patterns are those of the previous trace."""
        return self.form is before.form and self.patterns == before.patterns

    def take(self, other: Leaves) -> bool:
        """Whether a graph that was traced for these leaves accepts the others."""
        same = self.form.is_like(other.form)
        return same and all(map(_takes, self.patterns, other.leaves))

    def joined(self, other: Leaves, whole: Whole = _nothing) -> Leaves | None:
        """The leaves with patterns that accept both; None if there are none.

        Of two objects that are not taken apart, the first one is the pattern.
        """
        if not self.form.is_like(other.form):
            return None
        patterns = [
            one if whole(one) and whole(another) else _joined(one, another)
            for one, another in zip(self.patterns, other.patterns)
        ]
        pairs = zip(patterns, self.patterns)
        if any(new is None and old is not None for new, old in pairs):
            return None
        return self._replace(patterns=patterns)


class Outcome(NamedTuple):
    """The results of a call, and the values of the places that it changes after it."""

    results: Leaves
    leaving: Leaves


class Arguments(NamedTuple):
    """The arguments of a call, taken apart, and the names of the leaves."""

    signature: Signature
    #: ``(args, kwargs)`` in canonical form, and taken apart.
    bound: tuple[tuple[Any, ...], dict[str, Any]]
    values: Leaves
    labels: list[str]

    @classmethod
    def of(cls, signature: Signature, bound: Any, whole: Whole = _nothing) -> Arguments:
        """The arguments of a call, as the signature binds them."""
        labels = [
            name
            for name, value in signature.named(*bound)
            for _ in range(Form.of(value, _unless(whole))[0].size)
        ]
        values = Leaves.of(bound, SymbolicTensor, whole)
        return cls(signature, bound, values, labels)

    @property
    def named(self) -> list[tuple[str, Any]]:
        """The arguments by name."""
        return list(self.signature.named(*self.bound))

    def sharing(self, whole: Whole) -> Arguments:
        """The arguments, with shared objects of the caller as leaves."""
        args, kwargs = self.bound
        return self.of(
            self.signature,
            (args, kwargs),
            lambda value: value is not kwargs and whole(value),
        )


def _unless(whole: Whole) -> Callable[[Any], Composition | None]:
    if whole is _nothing:
        return composed
    return lambda value: None if whole(value) else composed(value)


# --- patterns -------------------------------------------------------------------------


def _takes(pattern: Any, value: Any) -> bool:
    """Whether a graph that was traced for a pattern accepts a value."""
    if not isinstance(pattern, TensorSpec):
        return same_object(pattern, value)
    spec = _spec_of(value)
    if spec is None:
        return False
    if spec.weak and pattern.weak:
        if (spec.dtype.kind, pattern.dtype.kind) == ("i", "f"):
            spec = TensorSpec(spec.shape, pattern.dtype, weak=True)
    return spec.is_subtype_of(pattern)


def _joined(one: Any, other: Any) -> Any:
    """The pattern that accepts the values of two patterns; None if there is none.

    Raises:
        StagedStateError: tensors of different dtypes.
    """
    if same_object(one, other):
        return one
    specs = _spec_of(one), _spec_of(other)
    if specs[0] is None or specs[1] is None:
        return None
    wide = join_specs(specs[0], specs[1], "the value")
    return TensorSpec(wide.shape, wide.dtype, weak=wide.weak)


#: The dtypes of Python's values in a graph.
_OF_PYTHON = {int: dtypes.int64, float: dtypes.float64, str: dtypes.string}


def _spec_of(value: Any) -> TensorSpec | None:
    """The spec of a pattern, or of a value as a tensor; None for any other object."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, SymbolicTensor):
        return value.spec
    if type(value) in _OF_PYTHON:
        return TensorSpec((), _OF_PYTHON[type(value)], weak=True)
    if not can_be_tensor(value):
        return None
    spec: TensorSpec = convert_to_tensor(value).spec
    return spec


def with_dtype(tensor: Tensor, spec: TensorSpec) -> Tensor:
    """A weak tensor in the dtype in which it was found to be used."""
    return cast_number(tensor, spec.dtype, spec.weak, exactly=True)


# --- what staging asks of the compiler ------------------------------------------------


class State(Protocol):
    """The places that calls of a function change, as the compiler finds them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the places, as the user's code has them."""

    @property
    def rebound(self) -> bool:
        """Whether a place is given another list, dict or object than the one there."""

    def read(self) -> tuple[Any, ...]:
        """The values of the places."""

    def write(self, values: tuple[Any, ...]) -> None:
        """Put other values there: into the lists and dicts that are there."""

    def stage(self, attempt: Callable[[], Any]) -> Any:
        """Call ``attempt`` until the trials that it makes find no further places."""

    def trial(self, values: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """The result of ``run()`` and the values after it; then all is put back."""

    def present(self, value: Any) -> Any:
        """The value, with what is in the place of an object by now for the object."""

    def original(self, value: Any) -> Any:
        """The object that was there before the call, for what is in its place."""

    def knows(self, value: Any) -> bool:
        """Whether an object was there before the call."""

    def note_changes(self) -> str | None:
        """Have the call that is tried staged again with what it has changed so far.

        Gives what cannot be part of the state, in words.
        """

    def own(self, arguments: Sequence[Any]) -> bool:
        """Have calls take and give all that is in some arguments, if that is possible.

        The call that is tried is staged again if that is new.
        """

    def can_be_given(self, mine: Sequence[Any], others: Sequence[Any]) -> bool:
        """Whether a call may have other objects for those that are arguments."""

    def given(self, pairs: Sequence[tuple[Any, Any]]) -> AbstractContextManager[None]:
        """A block in which the places are those of a call with other arguments."""

    def unbound(self) -> str | None:
        """The name of a place that has no value."""

    def shares(self, before: tuple[Any, ...], result: Any) -> bool:
        """Whether the call that is tried has given an object a further name."""


class Watch(Protocol):
    """Watches what a function and its arguments, given by name, can reach."""

    def __init__(self, function: Any, arguments: Sequence[tuple[str, Any]]) -> None: ...

    def change(self) -> str | None:
        """What has changed since, in words."""

    def restore(self) -> None:
        """Put everything back as it was."""

    def variables(self) -> State:
        """The places that calls of the function change."""

    def knows_part(self, value: Any) -> bool:
        """Whether a value is, or contains, an object that was there before."""

    @staticmethod
    def is_shared(value: Any) -> bool:
        """Whether a value is an object that a call may change for its caller."""


# --- a call that is being traced ------------------------------------------------------


class _Signal(BaseException):
    """Passes from a call, through the user's code, to where its level is traced."""

    def __init__(self, level: Level) -> None:
        self.level = level


class RecursiveCall(_Signal):
    """A call that is traced in place was made again."""


class Wider(_Signal):
    """A call was made with arguments or a state that its graph does not take yet."""


class NeedsState(_Signal):
    """A call that is traced without state changes or gives objects of its caller's."""


class Level:
    """A call that is being traced, in place at first, and perhaps as a graph.

    It tells which calls within it are the same call, and adds those to the graph.
    """

    def __init__(
        self,
        function: Any,
        arguments: Arguments,
        graph: Graph,
        watch: type[Watch],
        exact: bool = False,
    ) -> None:
        self.watch = watch
        self.function = function
        #: Whether numbers are not to be taken for tensors.
        self.exact = exact
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.arguments = arguments
        #: The graph that the call is traced into.
        self.graph = graph
        self.outer = graph
        self.start = len(graph.nodes)
        #: Whether the call was made again while it was traced in place.
        self.repeated = False
        self.as_graph = False
        self.captures: tuple[SymbolicTensor, ...] = ()
        #: What the calls are expected to give and leave; None until one has ended.
        self.outcome: Outcome | None = None
        #: The values that the function gave and left when it was traced before.
        self.traced: tuple[Side, ...] = ()
        #: Names an object that has changed since the function was traced.
        self.changed: Callable[[], str | None] = lambda: None
        #: Whether calls with the same objects are the same, whatever these contain.
        self.shares = False
        #: The arguments of another call, which the graph is to accept as well.
        self.wider: Arguments | None = None
        #: Whether calls can be given the objects of other arguments, beside new ones.
        self.exchanges = False
        #: The places that the calls change.
        self.state: State | None = None
        #: The values there before the outermost call, and the patterns of all calls.
        self.begin: tuple[Any, ...] = ()
        self.entering = Leaves.of_state(())

    def is_around(self, graph: Graph | None) -> bool:
        """Whether `graph` is that of the call, or written in it."""
        while graph is not None and graph is not self.graph:
            graph = graph.parent
        return graph is not None

    def decides(self, graph: Graph) -> bool:
        """Whether a tensor decides, within the call, about a call made in `graph`."""
        return graph is not self.graph or may_end(graph.nodes[self.start :])

    def is_made_by(self, arguments: Arguments) -> bool:
        """Whether a call within this one is the same call."""
        if self.state is not None:
            return self._given_by(arguments) is not None
        if self.arguments.values.take(arguments.values):
            return True
        if self.exact or self.as_graph:
            return False
        mine = self.arguments.sharing(self.watch.is_shared).values
        if not mine.take(arguments.sharing(self.watch.is_shared).values):
            return False
        self.shares = True
        return True

    def _given_by(self, arguments: Arguments) -> list[tuple[Any, Any]] | None:
        """The arguments of this call for which another one is given other objects.

        None if it is not the same call.
        """
        assert self.state is not None
        given, mine = self._values_of(arguments), self.arguments.values
        if not mine.form.is_like(given.form):
            return None
        pairs = []
        for pattern, leaf in zip(mine.patterns, given.leaves):
            if self.watch.is_shared(pattern) and self.watch.is_shared(leaf):
                pairs.append((pattern, leaf))
            elif not _takes(pattern, leaf):
                return None
        new = [pair for pair in pairs if pair[0] is not pair[1]]
        if any(self.state.knows(leaf) for _, leaf in new) and not self.exchanges:
            return None
        if new and not self.state.can_be_given(*zip(*pairs)):
            return None
        return new

    def differs_in_numbers(self, arguments: Arguments) -> bool:
        """Whether a call is the same but for numbers that can be tensors."""
        if self.exact or self.wider is not None:
            return False
        given = self._values_of(arguments)
        try:
            joined = self.arguments.values.joined(given)
        except StagedStateError:
            return False
        return joined is not None

    def _values_of(self, arguments: Arguments) -> Leaves:
        """Arguments taken apart; with state, into objects from before the call."""
        if self.state is None:
            return arguments.values
        values = arguments.sharing(self.watch.is_shared).values
        return values._replace(leaves=list(map(self.state.original, values.leaves)))

    def run(self, args: Any, kwargs: Any) -> Any:
        """Call the function.

        None if every way through the function calls it again.
        """
        try:
            with locating():
                return self.function(*args, **kwargs)
        except UnknownResultError:
            return None

    def repeat(self, arguments: Arguments) -> Any:
        """The same call, made within itself."""
        if not self.as_graph:
            self.repeated = True
            raise RecursiveCall(self)
        pairs = None if self.state is None else self._given_by(arguments)
        if self.state is not None and pairs:
            if not self.state.own([mine for mine, _ in pairs]):
                raise self.refusal("it is given another object in each call")
        if self.outcome is None:
            raise UnknownResultError
        captured = [self.graph.captures[tensor] for tensor in self.captures]
        if self.state is None:
            if self.changed() is not None:
                raise NeedsState(self)
            return self.emit(arguments, captured)
        changed = self.state.note_changes()
        if changed is not None:
            raise self.refusal(f"{changed} is not as it was before")
        with self.state.given(pairs or ()):
            now = self.state.read()
            if not self.entering.take(Leaves.of_state(now)):
                now = self._widened(now)
            return self.emit(arguments, captured, now)

    def emit(
        self,
        arguments: Arguments,
        captured: Sequence[Tensor],
        before: tuple[Any, ...] = (),
    ) -> Any:
        """Add the call of the graph to the graph being built, and give its result.

        What the call changes, which is ``before`` in front of it, is changed.
        """
        assert self.outcome is not None
        results, leaving = self.outcome
        tensors = self.arguments.values.tensors(self._values_of(arguments).leaves)
        entering = self.entering.tensors(Leaves.of_state(before).leaves)
        graph = current_graph()
        assert graph is not None
        inputs, attrs = (*tensors, *entering, *captured), {"graph": self.graph}
        specs = [*results.specs, *leaving.specs]
        outputs: Any = graph.add("PartitionedCall", inputs, attrs, specs, self.name)
        if self.state is None:
            return results.pack(outputs)
        count = len(results.specs)
        self.state.write(leaving.pack(outputs[count:]))
        return results.pack(outputs[:count], self.state.present)

    def _widened(self, now: tuple[Any, ...]) -> tuple[Any, ...]:
        """The state ``now`` in the form that calls begin with.

        If there is none, the call is traced again, and begins with what takes it, too.
        """
        assert self.state is not None
        inner = current_graph()
        assert inner is not None
        pairs: list[Any] = []
        for name, one, other in zip(self.state.names, self.begin, now):
            pair: Any = one, other
            if not alike(one, other):
                pair = common_form(Side(one, self.outer), Side(other, inner), name)
            if pair is None:
                raise self.refusal(f"`{name}` changes its structure")
            pairs.append(pair)
        self.begin = tuple(one for one, _ in pairs)
        try:
            wide = Leaves.of_state(self.begin)
            for other in (Leaves.of_state([p[1] for p in pairs]), self.entering):
                wide = wide.joined(other) or wide
        except StagedStateError as error:
            raise self.refusal(str(error)) from None
        is_same = wide.patterns == self.entering.patterns
        if not is_same or not wide.form.is_like(self.entering.form):
            self.entering = wide
            raise Wider(self)
        return tuple(other for _, other in pairs)

    def refusal(self, why: str) -> Exception:
        """The error AG211 about the call, which says why."""
        return state_error(
            "AG211",
            f"the function {self.name!r} calls itself where a tensor decides, and "
            f"{why}, which a graph that calls itself cannot do",
            "return values of one kind, change only objects that all calls share or "
            "that a call is given under one name and does not keep, or write a loop",
        )


def may_end(nodes: Sequence[Node]) -> bool:
    """Whether some of the nodes raise what the program raises, in a branch."""
    return any(
        inner.op == "Raise" or may_end([inner])
        for node in nodes
        for _, body in node.subgraphs()
        if not body.is_recursive
        for inner in body.nodes
    )
