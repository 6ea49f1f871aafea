"""Functions that call themselves where a tensor decides: graphs that call themselves.

Tracing follows a recursive call as any other: where Python decides when to stop, it
ends. Where a tensor decides, the same call comes back within a branch of itself. Then
what was traced of it is dropped, and the function is traced once more as a graph of its
own, in which that call is a node that refers to the graph::

    def fact(n):
        return n * fact(n - 1) if n > 1 else 1

What the call gives is not known at first: the branch that makes it is traced as one
that gives nothing, the others tell. Then the function is traced again, until what it
gives is what its calls were taken to give.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any, NamedTuple, cast

from runtime.errors import StagedStateError, UnknownResultError, noted
from runtime.graph import Graph, Node
from runtime.graph.context import building, current_graph
from runtime.ops.convert import cast_number, convert_to_tensor
from runtime.staging.state.common_form import Side, common_form
from runtime.staging.state.optional import composed
from runtime.staging.state.values import can_be_tensor, same_object
from runtime.tensor import SymbolicTensor, Tensor
from runtime.tracing.form import Form
from runtime.tracing.signature import Signature
from runtime.tracing.subgraph import join_specs, set_outputs, state_tensor
from runtime.tracing.trace import trace
from runtime.types import dtypes
from runtime.types.specs import TensorSpec
from runtime.where.handlers import swallowed
from runtime.where.user_code import function_behind, state_error

__all__ = ["call", "check_known", "is_staged_again"]

#: Calls within calls of one function that are traced one by one. Beyond that, Python
#: numbers and shapes that differ from call to call are taken for tensors.
LEVELS = 12
#: How often the graph of a function is traced until its result is settled.
PASSES = 12

#: Begins to watch what a function can reach; the result says what has changed since.
Watch = Callable[[Any, Sequence[tuple[str, Any]]], Callable[[], str | None]]


class _Again(BaseException):
    """A call that is being traced was made again: passes through the user's code."""

    def __init__(self, level: _Level) -> None:
        self.level = level


class _Level:
    """A call that is being traced, in place at first, and perhaps as a graph."""

    def __init__(
        self, function: Any, arguments: Arguments, graph: Graph, exact: bool = False
    ) -> None:
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

    def is_around(self, graph: Graph | None) -> bool:
        """Whether `graph` is that of the call, or written in it."""
        while graph is not None and graph is not self.graph:
            graph = graph.parent
        return graph is not None

    def decides(self, graph: Graph) -> bool:
        """Whether a tensor decides, within the call, about a call made in `graph`."""
        return graph is not self.graph or _may_end(graph.nodes[self.start :])

    def repeat(self, arguments: Arguments) -> Any:
        """The same call, made within itself."""
        if not self.as_graph:
            self.repeated = True
            raise _Again(self)
        if self.results is None:
            raise UnknownResultError
        captured = [self.graph.captures[tensor] for tensor in self.captures]
        return self.emit(arguments, captured)

    def emit(self, arguments: Arguments, captured: Sequence[Tensor]) -> Any:
        """Add the call of the graph to the graph being built."""
        graph = current_graph()
        assert graph is not None
        assert self.results is not None
        tensors = self.arguments.values.tensors(arguments.values.leaves)
        specs = self.results.specs
        attrs = {"graph": self.graph}
        outputs = graph.add(
            "PartitionedCall", (*tensors, *captured), attrs, specs, self.name
        )
        return self.results.pack(outputs)


_levels: ContextVar[tuple[_Level, ...]] = ContextVar("recursion levels", default=())


def is_staged_again(function: Any) -> bool:
    """Whether `function` is being traced, and a tensor decides whether it is called.

    The branch may be around both calls: then it does not decide how often the function
    is called, but this one does not come back either.
    """
    graph = current_graph()
    if graph is None or not _is_running(function):
        return False
    return graph.parent is not None or _may_end(graph.nodes)


def _may_end(nodes: Sequence[Node]) -> bool:
    """Whether some of the nodes raise what the program raises, in a branch."""
    return any(
        inner.op == "Raise" or _may_end([inner])
        for node in nodes
        for _, body in node.subgraphs()
        if not body.is_recursive
        for inner in body.nodes
    )


def _is_running(function: Any) -> bool:
    """Whether a call of `function` is being traced, somewhere up the stack."""
    code = _code_of(function)
    frame = sys._getframe(1) if code is not None else None
    while frame is not None and frame.f_code is not trace.__code__:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _code_of(function: Any) -> CodeType | None:
    found = function_behind(function)
    # Generators and coroutines run when somebody asks for what they yield.
    lazy = 0x20 | 0x80 | 0x200
    if found is None or found.__code__.co_flags & lazy:
        return None
    return found.__code__


def call(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], watch: Watch
) -> Any:
    """``function(*args, **kwargs)``, which is being traced already.

    Raises:
        StagedStateError: AG211, a graph cannot do what the recursive function does.
    """
    graph = current_graph()
    assert graph is not None
    signature = Signature(function, getattr(function, "__name__", "function"))
    arguments = Arguments.of(signature, args, kwargs)
    levels = [
        level
        for level in _levels.get()
        if level.function == function and level.is_around(graph)
    ]
    for level in reversed(levels):
        if level.decides(graph) and level.arguments.values.take(arguments.values):
            return level.repeat(arguments)
    for level in _finished(function, graph):
        if level.arguments.values.take(arguments.values) and level.changed() is None:
            return level.emit(arguments, level.captures)
    _widen(levels, arguments)
    level = _Level(function, arguments, graph)
    return _in_place(level, watch)


def _finished(function: Any, graph: Graph | None) -> Iterator[_Level]:
    """The calls of a function that are graphs which `graph` can call."""
    while graph is not None:
        for level in graph.recursive:
            if level.function == function:
                yield level
        graph = graph.parent


def _widen(levels: Sequence[_Level], arguments: Arguments) -> None:
    """Where calls go very deep: begin again with arguments that take all of them."""
    in_place = [level for level in levels if not level.as_graph]
    if len(in_place) < LEVELS or in_place[0].exact:
        return
    try:
        wide = in_place[0].arguments.values.joined(arguments.values)
    except StagedStateError:
        return
    if wide is not None:
        in_place[0].arguments = in_place[0].arguments._replace(values=wide)
        in_place[0].repeated = True
        raise _Again(in_place[0])


def _in_place(level: _Level, watch: Watch) -> Any:
    """Trace the call into the graph being built, unless it makes itself again."""
    given = level.arguments
    mark = level.graph.mark()
    args, kwargs = given.bound
    with _tracing(level):
        try:
            result = level.function(*args, **kwargs)
        except _Again as signal:
            if signal.level is not level:
                raise
        if not level.repeated:
            return result
    level.outer.roll_back(mark)
    before = len(noted())
    try:
        result = _as_graph(level, given, watch)
        if level.arguments is given or swallowed(noted()[before:]) is None:
            return result
    except Exception:
        if level.arguments is given:
            raise
    # A number was needed as one: Python decides how deep the calls go.
    del noted()[before:]
    level.outer.roll_back(mark)
    return _in_place(_Level(level.function, given, level.outer, exact=True), watch)


@contextmanager
def _tracing(level: _Level) -> Iterator[None]:
    token = _levels.set((*_levels.get(), level))
    try:
        yield
    finally:
        _levels.reset(token)


# --- as a graph -----------------------------------------------------------------------


def _as_graph(level: _Level, given: Arguments, watch: Watch) -> Any:
    """Trace the function as a graph that calls itself, and call that."""
    level.as_graph = True
    for _ in range(PASSES):
        with _tracing(level):
            value = _trace(level, watch)
        found = Leaves.of(value)
        side = Side(value, level.graph)
        if level.results is None:
            level.results, level.found = found, side
            continue
        results = _settled(level, found, side)
        level.found = side
        captures = tuple(level.graph.captures)
        settled = results.form is level.results.form
        settled = settled and results.patterns == level.results.patterns
        if settled and captures == level.captures:
            _set_outputs(level, found)
            _owner(level).recursive.append(level)
            return level.emit(given, captures)
        level.results, level.captures = results, captures
    raise _refused(level, "what it gives changes with each call within a call")


def _owner(level: _Level) -> Graph:
    """The outermost graph in which the graph of a call can be used."""
    graph = level.outer
    if not level.captures and not any(other.as_graph for other in _levels.get()):
        while graph.parent is not None:
            graph = graph.parent
    return graph


def _trace(level: _Level, watch: Watch) -> Any:
    """Trace the function once, in a new graph; gives its result."""
    graph = level.graph = Graph(level.name, parent=level.outer)
    level.start = 0
    graph.is_recursive = True
    arguments = level.arguments
    leaves = [
        graph.add_input(pattern, label) if isinstance(pattern, TensorSpec) else pattern
        for pattern, label in zip(arguments.values.patterns, arguments.labels)
    ]
    for tensor in level.captures:
        graph.capture(tensor)
    with building(graph):
        args, kwargs = arguments.values.form.pack(leaves)
        named = list(arguments.signature.named(args, kwargs))
        level.changed = watch(level.function, named)
        try:
            result = level.function(*args, **kwargs)
        except UnknownResultError:
            return None  # every way through the function calls it again
    what = level.changed()
    if what is not None:
        raise _refused(level, f"it changes {what}")
    return result


def _settled(level: _Level, found: Leaves, side: Side) -> Leaves:
    """What the function gives, and what its calls were taken to give, in one."""
    assert level.results is not None
    try:
        results = level.results.joined(found)
    except StagedStateError as error:
        raise _refused(level, str(error)) from None
    if results is None and level.found is not None:
        pair = common_form(level.found, side, "the result")
        results = None if pair is None else Leaves.of(pair[1])
    if results is None:
        raise _refused(
            level, "it gives values of different structure, or different objects"
        )
    return results


def _set_outputs(level: _Level, found: Leaves) -> None:
    assert level.results is not None
    graph = level.graph
    wanted = level.results.specs
    leaves = [
        leaf
        for leaf, pattern in zip(found.leaves, level.results.patterns)
        if isinstance(pattern, TensorSpec)
    ]
    set_outputs(graph, leaves)
    with building(graph):
        graph.outputs = [
            cast(SymbolicTensor, with_dtype(tensor, spec))
            for tensor, spec in zip(graph.outputs, wanted)
        ]


def _refused(level: _Level, why: str) -> Exception:
    return state_error(
        "AG211",
        f"the function {level.name!r} calls itself where a tensor decides, and {why}, "
        "which a graph that calls itself cannot do",
        "return values of one kind and change nothing else, or write a loop",
    )


def check_known(*graphs: Graph) -> None:
    """Go on only if no branch waits for the result of a recursive call.

    Called where all branches raise: one that does so because it waits for the result
    gives nothing, and so does what follows.
    """
    for graph in graphs:
        last = graph.nodes[-1] if graph.nodes else None
        if last is not None and isinstance(
            last.attrs.get("exception"), UnknownResultError
        ):
            raise UnknownResultError


# --- what calls take and give ---------------------------------------------------------


class Leaves(NamedTuple):
    """The leaves of a value, with a pattern for each.

    A pattern is the spec of a tensor of the graph, or a Python value that stays itself.
    """

    form: Form
    leaves: list[Any]
    patterns: list[Any]

    @classmethod
    def of(cls, value: Any, tensors: type[Tensor] = Tensor) -> Leaves:
        """Take a value apart; ``tensors`` are those that may be others each time."""
        form, leaves = Form.of(value, composed)
        patterns = [leaf.spec if isinstance(leaf, tensors) else leaf for leaf in leaves]
        return cls(form, leaves, patterns)

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of the tensors."""
        return [spec for spec in self.patterns if isinstance(spec, TensorSpec)]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The value around other tensors."""
        values = iter(tensors)
        return self.form.pack(
            [next(values) if isinstance(p, TensorSpec) else p for p in self.patterns]
        )

    def tensors(self, leaves: Sequence[Any]) -> list[Tensor]:
        """Those of other leaves that are tensors here, in the dtypes that they have."""
        return [
            with_dtype(state_tensor(leaf), pattern)
            for pattern, leaf in zip(self.patterns, leaves)
            if isinstance(pattern, TensorSpec)
        ]

    def take(self, other: Leaves) -> bool:
        """Whether a graph made for these can be used for the others."""
        same = self.form.is_like(other.form)
        return same and all(map(takes, self.patterns, other.leaves))

    def joined(self, other: Leaves) -> Leaves | None:
        """Leaves of patterns that take both; None if there are none."""
        if not self.form.is_like(other.form):
            return None
        patterns = list(map(joined, self.patterns, other.patterns))
        pairs = zip(patterns, self.patterns)
        if any(new is None and old is not None for new, old in pairs):
            return None
        return self._replace(patterns=patterns)


class Arguments(NamedTuple):
    """The arguments of a call taken apart, and what the leaves are called."""

    signature: Signature
    #: ``(args, kwargs)`` in canonical form, and taken apart.
    bound: tuple[tuple[Any, ...], dict[str, Any]]
    values: Leaves
    labels: list[str]

    @classmethod
    def of(cls, signature: Signature, args: Any, kwargs: Any) -> Arguments:
        """The arguments of a call."""
        bound = signature.bind(args, kwargs)
        labels = [
            name
            for name, value in signature.named(*bound)
            for _ in range(Form.of(value, composed)[0].size)
        ]
        return cls(signature, bound, Leaves.of(bound, SymbolicTensor), labels)


def takes(pattern: Any, value: Any) -> bool:
    """Whether what was traced for a pattern can be used for a value."""
    if not isinstance(pattern, TensorSpec):
        return same_object(pattern, value)
    spec = spec_of(value)
    if spec is None:
        return False
    if spec.weak and pattern.weak:
        if (spec.dtype.kind, pattern.dtype.kind) == ("i", "f"):
            spec = TensorSpec(spec.shape, pattern.dtype, weak=True)
    return spec.is_subtype_of(pattern)


def joined(one: Any, other: Any) -> Any:
    """The pattern that takes what either of two takes; None if there is none.

    Raises:
        StagedStateError: tensors of different dtypes.
    """
    if same_object(one, other):
        return one
    specs = spec_of(one), spec_of(other)
    if specs[0] is None or specs[1] is None:
        return None
    wide = join_specs(specs[0], specs[1], "the value")
    return TensorSpec(wide.shape, wide.dtype, weak=wide.weak)


def spec_of(value: Any) -> TensorSpec | None:
    """The spec of a pattern, or of a value as a tensor; None for any other object."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, SymbolicTensor):
        return value.spec
    if type(value) is int:
        return TensorSpec((), dtypes.int64, weak=True)
    if type(value) is float:
        return TensorSpec((), dtypes.float64, weak=True)
    if not can_be_tensor(value):
        return None
    found: TensorSpec = convert_to_tensor(value).spec
    return found


def with_dtype(tensor: Tensor, spec: TensorSpec) -> Tensor:
    """A weak tensor in the dtype in which it was found to be used."""
    return cast_number(tensor, spec.dtype, spec.weak, exactly=True)
