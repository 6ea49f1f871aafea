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

`staging.compiler.watching` asks `is_staged_again` about each call and makes it by
`call`; `branches` asks `check_not_waiting`. A call may roll back the graph being built
to where the function was first called, and puts back the objects that it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from runtime.core.errors import StagedStateError, UnknownResultError, noted
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.location.frames import frame_at, outwards
from runtime.core.location.handlers import swallowed
from runtime.core.location.user_code import function_behind
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types.specs import TensorSpec
from runtime.staging.state.common_form import Side, common_form
from runtime.staging.state.recursive_call import (
    Arguments,
    Leaves,
    Level,
    NeedsState,
    Outcome,
    RecursiveCall,
    State,
    Watch,
    Wider,
    may_end,
    with_dtype,
)
from runtime.staging.tracing.signature import Signature
from runtime.staging.tracing.subgraph import set_outputs
from runtime.staging.tracing.trace import trace

#: Calls within calls of one function that are traced one by one. Beyond that, Python
#: numbers and shapes that differ from call to call are taken for tensors.
LEVELS = 12
#: How often the graph of a function is traced until its result is settled.
PASSES = 12
#: Calls with state within each other that are given other objects.
NESTED = 3


# --- which calls are recursive --------------------------------------------------------


def is_staged_again(function: Any) -> bool:
    """Whether `function` is being traced, and a tensor decides whether it is called.

    The branch may be around both calls: then it does not decide how often the function
    is called, but this one does not come back either.
    """
    graph = current_graph()
    if graph is None or not _is_running(function):
        return False
    return graph.parent is not None or may_end(graph.nodes)


def _is_running(function: Any) -> bool:
    """Whether a call of `function` is being traced, somewhere up the stack."""
    plain = function_behind(function)
    # Generators and coroutines run when somebody asks for what they yield.
    if plain is None or plain.__code__.co_flags & (0x20 | 0x80 | 0x200):
        return False
    for frame in outwards(frame_at(1)):
        if frame.f_code is trace.__code__:
            return False
        if frame.f_code is plain.__code__:
            return True
    return False


def check_not_waiting(*graphs: Graph) -> None:
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


# --- in place -------------------------------------------------------------------------


#: The calls around the one that is made, from the outermost.
_levels: ContextVar[tuple[Level, ...]] = ContextVar("recursion levels", default=())


@contextmanager
def _tracing(level: Level) -> Iterator[None]:
    token = _levels.set((*_levels.get(), level))
    try:
        yield
    finally:
        _levels.reset(token)


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
    arguments = Arguments.of(signature, signature.bind(args, kwargs))
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
        raise first.refusal(
            "it changes what it is given, and is given another object in each call"
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
            one, other = (
                a.sharing(first.watch.is_shared) for a in (first.arguments, arguments)
            )
            first.shares = one.values.joined(other.values) is not None
    except StagedStateError:
        return
    if wide is not None:
        first.arguments = first.arguments._replace(values=wide)
    if wide is not None or first.shares:
        first.wider = arguments
        first.repeated = True
        raise RecursiveCall(first)


def _in_place(level: Level) -> Any:
    """Trace the call into the graph being built, unless it makes itself again."""
    given = level.arguments
    args, kwargs = given.bound
    mark = level.graph.mark()
    before = level.watch(level.function, given.named)
    with _tracing(level):
        try:
            result = level.function(*args, **kwargs)
        except RecursiveCall as signal:
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


# --- as a graph -----------------------------------------------------------------------


def _as_graph(level: Level, given: Arguments, before: Watch) -> Any:
    """Trace the function as a graph that calls itself, and call that."""
    level.as_graph = True
    if not level.shares:
        mark = level.outer.mark()
        try:
            _settle(level, given, lambda: _trace(level))
            _owner(level).recursive.append(level)
            return level.emit(given, level.captures)
        except NeedsState as signal:
            if signal.level is not level:
                raise
            level.outer.roll_back(mark)
    level.state = state = before.variables()
    return state.stage(lambda: _with_state(level, given, state))


def _with_state(level: Level, given: Arguments, state: State) -> Any:
    """As `_as_graph`, of a function that changes what is in ``state``."""
    if state.rebound:
        raise level.refusal("it puts another list, dict or object in place of one")
    if state.unbound():
        raise level.refusal(f"it makes `{state.unbound()}`, which is not there before")
    args, kwargs = given.bound
    bound = state.present(args), {k: state.present(v) for k, v in kwargs.items()}
    given = given._replace(bound=bound)
    level.arguments = _common_arguments(level, given)
    level.entering = Leaves.of_state(state.read())
    # Copies: what is in the lists changes while the function is tried.
    level.begin = level.entering.form.pack(level.entering.leaves)
    _settle(level, given, lambda: _trace_with_state(level, state))
    return level.emit(given, level.captures, level.begin)


def _settle(
    level: Level, given: Arguments, trace_once: Callable[[], tuple[Any, Any, Outcome]]
) -> None:
    """Trace the function until what it gives is what its calls were taken to give."""
    level.outcome, level.captures = None, ()
    for _ in range(PASSES):
        try:
            with _tracing(level):
                *values, outcome = trace_once()
        except Wider as signal:
            if signal.level is not level:
                raise
            level.arguments = _common_arguments(level, given)
            level.outcome, level.captures = None, ()
            continue
        sides = tuple(Side(value, level.graph) for value in values)
        if level.outcome is None:
            level.outcome, level.traced = outcome, sides
            continue
        pairs = zip(level.outcome, outcome, level.traced, sides)
        joined = Outcome(*(_joined(level, *pair) for pair in pairs))
        captures = tuple(level.graph.captures)
        is_settled = all(map(Leaves.is_settled, joined, level.outcome))
        is_settled = is_settled and captures == level.captures
        level.outcome, level.captures, level.traced = joined, captures, sides
        if is_settled:
            return _set_outputs(level, zip(joined, outcome))
    raise level.refusal("what it gives changes with each call within a call")


def _common_arguments(level: Level, given: Arguments) -> Arguments:
    """The arguments that all calls have; with state, the objects that they share."""
    wider = level.wider
    if level.state is None:
        values = wider and given.values.joined(wider.values)
    else:
        is_shared = level.watch.is_shared
        given = given.sharing(is_shared)
        other = wider and wider.sharing(is_shared)
        values = other and given.values.joined(other.values, is_shared)
    return given if values is None else given._replace(values=values)


def _owner(level: Level) -> Graph:
    """The outermost graph in which the graph of a call can be used."""
    graph = level.outer
    if not level.captures and not any(other.as_graph for other in _levels.get()):
        while graph.parent is not None:
            graph = graph.parent
    return graph


def _begin_graph(level: Level) -> tuple[list[Any], list[Any]]:
    """Begin a graph of the function: the leaves of its arguments, and its state."""
    graph = level.graph = Graph(level.name, parent=level.outer)
    level.start = 0
    graph.is_recursive = True
    arguments = level.arguments
    leaves = [
        graph.add_input(pattern, label) if isinstance(pattern, TensorSpec) else pattern
        for pattern, label in zip(arguments.values.patterns, arguments.labels)
    ]
    entering = [graph.add_input(spec, "x") for spec in level.entering.specs]
    for tensor in level.captures:
        graph.capture(tensor)
    return leaves, entering


def _trace(level: Level) -> tuple[Any, Any, Outcome]:
    """Trace the function once, in a new graph: its result, no state, their leaves."""
    leaves, _ = _begin_graph(level)
    arguments = level.arguments
    with building(level.graph):
        bound = arguments.values.form.pack(leaves)
        watch = level.watch(level.function, arguments._replace(bound=bound).named)
        level.changed = watch.change
        try:
            result = level.run(*bound)
        except (NeedsState, Wider):
            watch.restore()
            raise
    if watch.change() is not None or watch.knows_part(result):
        watch.restore()
        raise NeedsState(level)
    return result, (), Outcome(Leaves.of(result), Leaves.of_state(()))


def _trace_with_state(level: Level, state: State) -> tuple[Any, Any, Outcome]:
    """As `_trace`, with what is in ``state`` after the call."""
    leaves, entering = _begin_graph(level)

    def is_whole(value: Any) -> bool:
        return level.watch.is_shared(value) and state.knows(value)

    def run() -> Callable[[], Leaves]:
        before = state.read()
        result = level.run(
            *level.arguments.values.form.pack(
                [
                    leaf if isinstance(leaf, Tensor) else state.present(leaf)
                    for leaf in leaves
                ]
            )
        )
        if state.shares(before, result):
            raise level.refusal("it gives an object another name")
        results = Leaves.of(result, whole=is_whole).with_originals(state.original)
        return lambda: results  # a function: staging takes nothing in it apart

    with building(level.graph):
        give, after = state.trial(level.entering.pack(entering), run)
    results, leaving = give(), Leaves.of_state(after)
    with building(level.graph):  # what may be None is a node more
        value = results.form.pack(results.leaves)
    return value, after, Outcome(results, leaving)


def _joined(
    level: Level, expected: Leaves, leaves: Leaves, before: Side, now: Side
) -> Leaves:
    """What the function gives, and what its calls were taken to give, in one."""
    try:
        joined = expected.joined(leaves)
    except StagedStateError as error:
        raise level.refusal(str(error)) from None
    if joined is None:
        pair = common_form(before, now, "the result")
        joined = None if pair is None else Leaves.of(pair[1])
    if joined is None:
        raise level.refusal(
            "it gives values of different structure, or different objects"
        )
    return joined


def _set_outputs(level: Level, pairs: Iterable[tuple[Leaves, Leaves]]) -> None:
    """Have the graph give the second leaves of each pair, in the specs of the first."""
    graph = level.graph
    leaves = [
        (leaf, pattern)
        for expected, given in pairs
        for leaf, pattern in zip(given.leaves, expected.patterns)
        if isinstance(pattern, TensorSpec)
    ]
    set_outputs(graph, [leaf for leaf, _ in leaves])
    with building(graph):
        graph.outputs = [
            cast(SymbolicTensor, with_dtype(tensor, spec))
            for tensor, (_, spec) in zip(graph.outputs, leaves)
        ]
