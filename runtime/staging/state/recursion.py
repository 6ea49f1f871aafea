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

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from runtime.errors import StagedStateError, UnknownResultError, noted
from runtime.graph import Graph
from runtime.graph.context import building, current_graph
from runtime.location.handlers import swallowed
from runtime.location.user_code import locating
from runtime.staging.state.call_state import State, Watch
from runtime.staging.state.call_values import (
    Arguments,
    Leaves,
    with_dtype,
)
from runtime.staging.state.common_form import Side, common_form
from runtime.staging.state.recursive_call import (
    Again,
    Level,
    NeedsState,
    Wider,
    refused,
)
from runtime.tensor import SymbolicTensor, Tensor
from runtime.tracing.signature import Signature
from runtime.tracing.subgraph import set_outputs
from runtime.types.specs import TensorSpec

__all__ = ["call", "check_known"]

#: Calls within calls of one function that are traced one by one. Beyond that, Python
#: numbers and shapes that differ from call to call are taken for tensors.
LEVELS = 12
#: How often the graph of a function is traced until its result is settled.
PASSES = 12
#: Calls with state within each other that are given other objects.
NESTED = 3


_levels: ContextVar[tuple[Level, ...]] = ContextVar("recursion levels", default=())


def call(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], watch: type[Watch]
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
        if level.decides(graph) and level.is_made_by(arguments):
            return level.repeat(arguments)
    for level in _finished(function, graph):
        if level.arguments.values.take(arguments.values) and level.changed() is None:
            return level.emit(arguments, level.captures)
    _widen(levels, arguments)
    graphs = [level for level in levels if level.as_graph]
    if graphs and graphs[0].differs_in_numbers(arguments):
        graphs[0].wider = arguments
        raise Wider(graphs[0])
    with_state = [level for level in graphs if level.state is not None]
    if len(with_state) == NESTED:
        first = with_state[0]
        if not first.exchanges:
            first.exchanges = True
            raise Wider(first)
        raise refused(
            first,
            "it changes what it is given, and is given another object in each call",
        )
    return _in_place(Level(function, arguments, graph, watch))


def _finished(function: Any, graph: Graph | None) -> Iterator[Level]:
    """The calls of a function that are graphs which `graph` can call."""
    while graph is not None:
        for level in graph.recursive:
            if level.function == function:
                yield level
        graph = graph.parent


def _widen(levels: Sequence[Level], arguments: Arguments) -> None:
    """Where calls go very deep: begin again with arguments that take all of them."""
    in_place = [level for level in levels if not level.as_graph]
    if len(in_place) < LEVELS or in_place[0].exact:
        return
    first = in_place[0]
    try:
        wide = first.arguments.values.joined(arguments.values)
        if wide is None:
            found = (
                a.sharing(first.watch.is_shared) for a in (first.arguments, arguments)
            )
            one, other = (a.values for a in found)
            first.shares = one.joined(other) is not None
    except StagedStateError:
        return
    if wide is not None:
        first.arguments = first.arguments._replace(values=wide)
    if wide is not None or first.shares:
        first.wider = arguments
        first.repeated = True
        raise Again(first)


def _in_place(level: Level) -> Any:
    """Trace the call into the graph being built, unless it makes itself again."""
    given = level.arguments
    mark = level.graph.mark()
    args, kwargs = given.bound
    before = level.watch(level.function, list(given.signature.named(args, kwargs)))
    with _tracing(level):
        try:
            result = level.function(*args, **kwargs)
        except Again as signal:
            if signal.level is not level:
                raise
        if not level.repeated:
            return result
    level.outer.roll_back(mark)
    before.restore()
    seen = len(noted())
    is_wider = level.arguments is not given or level.shares
    try:
        result = _as_graph(level, given, before)
        is_wider = is_wider or level.wider is not None
        if not is_wider or swallowed(noted()[seen:]) is None:
            return result
    except Exception as error:
        if not is_wider and level.wider is None:
            raise
        of_state: Exception | None = None if level.state is None else error
    else:
        of_state = None
    # A number was needed as one: Python decides how deep the calls go.
    del noted()[seen:]
    level.outer.roll_back(mark)
    before.restore()
    try:
        return _in_place(
            Level(level.function, given, level.outer, level.watch, exact=True)
        )
    except Exception:
        if of_state is None:
            raise
    raise of_state


@contextmanager
def _tracing(level: Level) -> Iterator[None]:
    token = _levels.set((*_levels.get(), level))
    try:
        yield
    finally:
        _levels.reset(token)


# --- as a graph -----------------------------------------------------------------------


def _as_graph(level: Level, given: Arguments, before: Watch) -> Any:
    """Trace the function as a graph that calls itself, and call that."""
    level.as_graph = True
    if not level.shares:
        mark = level.outer.mark()
        try:
            return _without_state(level, given)
        except NeedsState as signal:
            if signal.level is not level:
                raise
            level.outer.roll_back(mark)
    level.state = state = before.variables()
    return state.stage(lambda: _with_state(level, given, state))


def _without_state(level: Level, given: Arguments) -> Any:
    for _ in range(PASSES):
        try:
            with _tracing(level):
                value = _trace(level)
        except Wider as signal:
            if signal.level is not level or level.wider is None:
                raise
            wide = given.values.joined(level.wider.values) or given.values
            level.arguments = given._replace(values=wide)
            level.results, level.captures = None, ()
            continue
        found = Leaves.of(value)
        side = Side(value, level.graph)
        if level.results is None:
            level.results, level.found = found, side
            continue
        results = _settled(level, level.results, found, level.found, side)
        level.found = side
        captures = tuple(level.graph.captures)
        if results.is_settled(level.results) and captures == level.captures:
            _set_outputs(level, [(level.results, found)])
            _owner(level).recursive.append(level)
            return level.emit(given, captures)
        level.results, level.captures = results, captures
    raise refused(level, "what it gives changes with each call within a call")


def _with_state(level: Level, given: Arguments, state: State) -> Any:
    """As `_without_state`, of a function that changes what is in ``state``."""
    if state.rebound:
        raise refused(level, "it puts another list, dict or object in place of one")
    if state.unbound():
        raise refused(level, f"it makes `{state.unbound()}`, which is not there before")
    args, kwargs = given.bound
    bound = state.present(args), {k: state.present(v) for k, v in kwargs.items()}
    level.arguments = _shared_arguments(level, given.at(bound))
    level.entering = Leaves.of_state(state.read())
    # Copies: what is in the lists changes while the function is tried.
    level.begin = level.entering.form.pack(level.entering.leaves)
    level.results, level.captures = None, ()
    for _ in range(PASSES):
        try:
            with _tracing(level):
                found, after = _trace_with_state(level, state)
        except Wider as signal:
            if signal.level is not level:
                raise
            level.arguments = _shared_arguments(level, given.at(bound))
            level.results, level.captures = None, ()
            continue
        left = Leaves.of_state(after)
        with building(level.graph):  # what may be None is a node more
            value = found.form.pack(found.leaves)
        sides = Side(value, level.graph), Side(after, level.graph)
        if level.results is None:
            level.results, level.leaving = found, left
            level.found, level.left = sides
            continue
        results = _settled(level, level.results, found, level.found, sides[0])
        leaving = _settled(level, level.leaving, left, level.left, sides[1])
        level.found, level.left = sides
        captures = tuple(level.graph.captures)
        settled = results.is_settled(level.results)
        settled = settled and leaving.is_settled(level.leaving)
        if settled and captures == level.captures:
            _set_outputs(level, [(results, found), (leaving, left)])
            return level.emit_with_state(given.at(bound), captures, level.begin)
        level.results, level.leaving, level.captures = results, leaving, captures
    raise refused(level, "what it gives changes with each call within a call")


def _shared_arguments(level: Level, given: Arguments) -> Arguments:
    """The arguments that all calls have, with the objects that they share."""
    is_shared = level.watch.is_shared
    arguments = given.sharing(is_shared)
    if level.wider is None:
        return arguments
    other = level.wider.sharing(is_shared)
    wide = arguments.values.joined(other.values, is_shared)
    return arguments if wide is None else arguments._replace(values=wide)


def _owner(level: Level) -> Graph:
    """The outermost graph in which the graph of a call can be used."""
    graph = level.outer
    if not level.captures and not any(other.as_graph for other in _levels.get()):
        while graph.parent is not None:
            graph = graph.parent
    return graph


def _begin_graph(level: Level) -> list[Any]:
    """Begin a graph of the function; gives the leaves of its arguments."""
    graph = level.graph = Graph(level.name, parent=level.outer)
    level.start = 0
    graph.is_recursive = True
    arguments = level.arguments
    return [
        graph.add_input(pattern, label) if isinstance(pattern, TensorSpec) else pattern
        for pattern, label in zip(arguments.values.patterns, arguments.labels)
    ]


def _trace(level: Level) -> Any:
    """Trace the function once, in a new graph; gives its result."""
    leaves = _begin_graph(level)
    for tensor in level.captures:
        level.graph.capture(tensor)
    arguments = level.arguments
    with building(level.graph):
        args, kwargs = arguments.values.form.pack(leaves)
        watch = level.watch(
            level.function, list(arguments.signature.named(args, kwargs))
        )
        level.changed = watch.change
        try:
            with locating():
                result = level.run(args, kwargs)
        except UnknownResultError:
            result = None  # every way through the function calls it again
        except (NeedsState, Wider):
            watch.restore()
            raise
    if watch.change() is not None or watch.knows_part(result):
        watch.restore()
        raise NeedsState(level)
    return result


def _trace_with_state(level: Level, state: State) -> tuple[Leaves, tuple[Any, ...]]:
    """Trace the function once, in a new graph; gives its result and the state."""
    leaves = _begin_graph(level)
    graph = level.graph
    entering = [graph.add_input(spec, "x") for spec in level.entering.specs]
    for tensor in level.captures:
        graph.capture(tensor)

    def is_known(value: Any) -> bool:
        return level.watch.is_shared(value) and state.knows(value)

    def run() -> Callable[[], Leaves]:
        before = state.read()
        args, kwargs = level.arguments.values.form.pack(
            [
                leaf if isinstance(leaf, Tensor) else state.present(leaf)
                for leaf in leaves
            ]
        )
        try:
            with locating():
                result = level.run(args, kwargs)
        except UnknownResultError:
            result = None
        if state.shares(before, result):
            raise refused(level, "it gives an object another name")
        found = Leaves.of(result, whole=is_known).with_originals(state.original)
        return lambda: found

    with building(graph):
        found, after = state.trial(level.entering.pack(entering), run)
    return found(), after


def _settled(
    level: Level, known: Leaves, found: Leaves, before: Side | None, side: Side
) -> Leaves:
    """What the function gives, and what its calls were taken to give, in one."""
    try:
        results = known.joined(found)
    except StagedStateError as error:
        raise refused(level, str(error)) from None
    if results is None and before is not None:
        pair = common_form(before, side, "the result")
        results = None if pair is None else Leaves.of(pair[1])
    if results is None:
        raise refused(
            level, "it gives values of different structure, or different objects"
        )
    return results


def _set_outputs(level: Level, given: Sequence[tuple[Leaves, Leaves]]) -> None:
    """Have the graph give some values, in the specs of others."""
    graph = level.graph
    leaves = [
        (leaf, pattern)
        for wanted, found in given
        for leaf, pattern in zip(found.leaves, wanted.patterns)
        if isinstance(pattern, TensorSpec)
    ]
    set_outputs(graph, [leaf for leaf, _ in leaves])
    with building(graph):
        graph.outputs = [
            cast(SymbolicTensor, with_dtype(tensor, spec))
            for tensor, (_, spec) in zip(graph.outputs, leaves)
        ]


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
