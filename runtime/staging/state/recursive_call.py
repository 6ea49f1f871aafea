"""A call of a function that calls itself: the same call, made again within it.

While the function is traced, a `Level` tells which calls are the same, and adds those
to the graph. Signals pass from such a call to where its level is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.errors import StagedStateError, UnknownResultError
from runtime.graph import Graph
from runtime.graph.context import current_graph
from runtime.location.user_code import state_error
from runtime.staging.state.call_state import State, Watch
from runtime.staging.state.call_values import Arguments, Leaves, takes
from runtime.staging.state.common_form import Side, common_form
from runtime.staging.state.optional import alike
from runtime.staging.state.running_calls import may_end
from runtime.tensor import Tensor
from runtime.types.specs import TensorSpec

__all__ = ["Again", "Level", "NeedsState", "Wider", "refused"]


class Again(BaseException):
    """A call that is being traced was made again: passes through the user's code."""

    def __init__(self, level: Level) -> None:
        self.level = level


class Wider(BaseException):
    """A call that is being traced is made with another state than it begins with."""

    def __init__(self, level: Level) -> None:
        self.level = level


class NeedsState(BaseException):
    """A call that is being traced changes or gives objects of its caller's."""

    def __init__(self, level: Level) -> None:
        self.level = level


class Level:
    """A call that is being traced, in place at first, and perhaps as a graph."""

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
        self.captures: tuple[Tensor, ...] = ()
        #: What the calls give: None while that is not known.
        self.results: Leaves | None = None
        #: What it gave when it was traced before.
        self.found: Side | None = None
        #: Says what the function can reach that has changed since it was traced.
        self.changed: Callable[[], str | None] = lambda: None
        #: Whether calls are the same that are given the same objects, whatever is in
        #: them, and the arguments of another call that the graph is made for, too.
        self.shares = False
        self.wider: Arguments | None = None
        #: Whether calls can be given the objects of other arguments, beside new ones.
        self.exchanges = False
        #: What the calls change, and what is in there before the outermost one.
        self.state: State | None = None
        self.begin: tuple[Any, ...] = ()
        #: What calls begin with there, and leave; what one left when it was traced.
        self.entering = Leaves.of_state(())
        self.leaving = Leaves.of_state(())
        self.left: Side | None = None

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
        given, mine = self._sharing(arguments), self.arguments.values
        if not mine.form.is_like(given.form):
            return None
        pairs = []
        for pattern, leaf in zip(mine.patterns, given.leaves):
            if self.watch.is_shared(pattern) and self.watch.is_shared(leaf):
                pairs.append((pattern, leaf))
            elif not takes(pattern, leaf):
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
        mine, given = self.arguments.values, arguments.values
        if self.state is not None:
            given = self._sharing(arguments)
        try:
            return mine.joined(given) is not None
        except StagedStateError:
            return False

    def _sharing(self, arguments: Arguments) -> Leaves:
        """Arguments taken apart, with the objects that were there before the call."""
        assert self.state is not None
        found = arguments.sharing(self.watch.is_shared).values
        return found._replace(leaves=list(map(self.state.original, found.leaves)))

    def run(self, args: Any, kwargs: Any) -> Any:
        """Call the function, of which the callers can still see what they gave it."""
        with self.watch.seen_by_callers((self.function, *args, *kwargs.values())):
            return self.function(*args, **kwargs)

    def repeat(self, arguments: Arguments) -> Any:
        """The same call, made within itself."""
        if not self.as_graph:
            self.repeated = True
            raise Again(self)
        pairs = None if self.state is None else self._given_by(arguments)
        if self.state is not None and pairs:
            if not self.state.own([mine for mine, _ in pairs]):
                raise refused(self, "it is given another object in each call")
        if self.results is None:
            raise UnknownResultError
        captured = [self.graph.captures[tensor] for tensor in self.captures]
        if self.state is None:
            if self.changed() is not None:
                raise NeedsState(self)
            return self.emit(arguments, captured)
        changed = self.state.note_changes()
        if changed is not None:
            raise refused(self, f"{changed} is not as it was before")
        with self.state.given(pairs or ()):
            now = self.state.read()
            if not self.entering.take(Leaves.of_state(now)):
                now = self._widened(now)
            return self.emit_with_state(arguments, captured, now)

    def emit(self, arguments: Arguments, captured: Sequence[Tensor]) -> Any:
        """Add the call of the graph to the graph being built."""
        assert self.results is not None
        tensors = self.arguments.values.tensors(arguments.values.leaves)
        return self.results.pack(self._call((*tensors, *captured), self.results.specs))

    def emit_with_state(
        self, arguments: Arguments, captured: Sequence[Tensor], state: tuple[Any, ...]
    ) -> Any:
        """As `emit`, and change what the call changes, which is ``state`` before."""
        assert self.results is not None
        assert self.state is not None
        tensors = self.arguments.values.tensors(self._sharing(arguments).leaves)
        entering = self.entering.tensors(Leaves.of_state(state).leaves)
        specs = [*self.results.specs, *self.leaving.specs]
        outputs = self._call((*tensors, *entering, *captured), specs)
        count = len(self.results.specs)
        self.state.write(self.leaving.pack(outputs[count:]))
        return self.results.pack(outputs[:count], self.state.present)

    def _call(self, inputs: Sequence[Any], specs: Sequence[TensorSpec]) -> Any:
        graph = current_graph()
        assert graph is not None
        attrs = {"graph": self.graph}
        return graph.add("PartitionedCall", inputs, attrs, specs, self.name)

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
                raise refused(self, f"`{name}` changes its structure")
            pairs.append(pair)
        self.begin = tuple(one for one, _ in pairs)
        try:
            wide = Leaves.of_state(self.begin)
            for other in (Leaves.of_state([p[1] for p in pairs]), self.entering):
                wide = wide.joined(other) or wide
        except StagedStateError as error:
            raise refused(self, str(error)) from None
        known = wide.patterns == self.entering.patterns
        if not known or not wide.form.is_like(self.entering.form):
            self.entering = wide
            raise Wider(self)
        return tuple(other for _, other in pairs)


def refused(level: Level, why: str) -> Exception:
    """The error AG211 about a call, which says why."""
    return state_error(
        "AG211",
        f"the function {level.name!r} calls itself where a tensor decides, and {why}, "
        "which a graph that calls itself cannot do",
        "return values of one kind, change only objects that all calls share or that a "
        "call is given under one name and does not keep, or write a loop",
    )
