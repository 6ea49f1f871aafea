"""Conditionals, loops and assertions as functions: what converted statements call.

On Python values an operator calls its bodies as the statement would have run them. When
a test or an iterable belongs to a tensor library, the library's backend stages the
statement (see `autograph.operators.dispatch`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import StagingError
from ..ownership import user_location
from .dispatch import (
    UNROLL_LIMIT,
    Backend,
    Constant,
    Later,
    LoopOver,
    State,
    backend_of,
)
from .generators import (
    Ready,
    Recipe,
    StagedGenerator,
    Stream,
    is_generated,
    passes,
    python_iterates,
)
from .logical import staged_and
from .merge.perhaps import assuming
from .merge.raising import or_raised
from .protocols import call_bool
from .state.retired import check_in_use
from .state.variables import Variables
from .unbound import raise_as_python

Body = Callable[[], Any]
#: A branch: a function, or a constant that it would give.
Branch = Body | Constant
ItemBody = Callable[[Any], Any]
Until = Callable[[], Any] | None


def cond(
    test: Any, if_true: Branch, if_false: Branch = None, *, state: str = ""
) -> Any:
    """``if test: … else: …``, also as an expression: the result of the branch taken.

    Args:
        test: decides, by its truth value; staged if it belongs to a tensor library.
        if_true, if_false: the branches, functions without parameters, or constants.
        state: the variables that the branches may assign and that are observed later,
            and the attributes, items and containers that they may change, as in
            ``"n, self.count, out"``.

    >>> text = "yes"
    >>> cond(2 > 1, lambda: text.upper(), "no")
    'YES'
    """
    if test is not True and test is not False:
        test = call_bool(test)
        backend = backend_of(test)
        if backend is not None:
            variables = Variables(state, (if_true, if_false))
            return staged_cond(backend, test, if_true, if_false, variables)
    try:
        branch = if_true if test else if_false
        return branch() if callable(branch) else branch
    except NameError as error:
        raise_as_python(error)
        raise


def case(
    *branches: tuple[Callable[[], Any], Branch],
    default: Branch = None,
    state: str = "",
) -> Any:
    """``if … elif … else``: the result of the first branch whose test holds.

    Args:
        branches: pairs ``(test, body)``; a test is called when those before it failed.
            A body is a function or a constant, as for `cond`.
        default: the ``else`` branch.
        state: as for `cond`.

    >>> case((lambda: 1 > 2, "a"), (lambda: 2 > 1, "b"))
    'b'
    """
    try:
        for position, (test, body) in enumerate(branches):
            value = test()
            if value is not True and value is not False:
                value = call_bool(value)
                backend = backend_of(value)
                if backend is not None:
                    left = branches[position:]
                    return _staged_case(backend, value, left, default, state)
            if value:
                return body() if callable(body) else body
        return default() if callable(default) else default
    except NameError as error:
        raise_as_python(error)
        raise


def while_loop(
    test: Callable[[], Any],
    body: Body,
    *,
    until: Until = None,
    state: str = "",
) -> None:
    """``while test(): body()``, stopping early once ``until()`` holds after a round.

    Args:
        test: the condition, evaluated before each iteration.
        body: the statements of the loop.
        until: tells whether the body ended with a ``break``; None where it has none.
        state: the variables that the loop may change and that are observed later or in
            the next iteration.

    A loop that starts with Python values and meets a tensor in its condition runs in
    Python up to there; the rest is staged.
    """
    try:
        while True:
            value = test()
            if value is not True:
                value = call_bool(value)
                backend = backend_of(value)
                if backend is not None:
                    _staged_while(backend, value, test, body, until, state)
                    return
                if not value:
                    return
            body()
            if until is not None:
                stop = call_bool(until())
                if stop is not False:
                    backend = backend_of(stop)
                    if backend is not None:
                        go_on = staged_and(backend, backend.not_(stop), test)
                        _staged_while(backend, go_on, test, body, until, state, stop)
                        return
                    if stop:
                        return
    except NameError as error:
        raise_as_python(error)
        raise


def for_loop(
    iterated: Any,
    body: ItemBody,
    *,
    until: Until = None,
    state: str = "",
) -> None:
    """``for item in iterated: body(item)``, stopping early once ``until()`` holds.

    Args:
        iterated: a Python iterable, or what a tensor library can iterate over.
        body: the statements of the loop; its parameter is the item.
        until, state: as for `while_loop`.

    When a tensor decides whether a loop over a Python iterable stops, the remaining
    iterations are staged one by one, each under the condition.
    """
    try:
        backend = backend_of(iterated)
        if is_generated(iterated):
            _loop_over_generator(iterated, body, until, state)
        elif backend is not None:
            _staged_for(backend, iterated, body, until, state)
        else:
            _python_for(iterated, body, until, state)
    except NameError as error:
        raise_as_python(error)
        raise
    finally:
        # An exception keeps this frame alive: a generator must be closed all the same.
        del iterated


_watch_loop: Callable[[], Callable[[Any], None] | None] = lambda: None  # noqa: E731


def set_loop_watcher(watch: Callable[[], Callable[[Any], None] | None]) -> None:
    """Let a tensor library know of the loops that Python runs.

    ``watch()`` is called before each. If it gives a function, that is called with the
    iterable when the loop has ended.
    """
    global _watch_loop
    _watch_loop = watch


def _python_for(iterated: Any, body: ItemBody, until: Until, state: str) -> None:
    """A loop over a Python iterable."""
    ended = _watch_loop()
    try:
        if until is None:
            for item in iterated:
                check_in_use(item)
                body(item)
        else:
            items = iter(iterated)
            for item in items:
                check_in_use(item)
                body(item)
                stop = until()
                if stop is not False:
                    if backend_of(stop) is not None:
                        staged_rest(items, body, until, state)
                        break
                    if stop:
                        break
        if ended is not None:
            ended(iterated)
    finally:
        # As in `for_loop`.
        iterated = items = None


def holds(test: Any, message: Callable[[], Any] | str | None = None) -> Any:
    """The test of an ``assert`` statement; with a message, the error is raised here.

    The statement stays an ``assert``, so that ``python -O`` leaves all of it out::

        assert x > 0, f"{x} is not positive"
        assert ag.holds(x > 0, lambda: f"{x} is not positive")

    Args:
        test: what is asserted. If it belongs to a tensor library, the error is staged:
            it is raised when the graph runs, if the test fails then.
        message: what the error says, or a function that is called to know it.

    Without a message, and on Python values, that is ``test``: Python does the rest.

    Raises:
        AssertionError: the test fails, and there is a message.

    >>> holds(2 > 1, lambda: "never asked for")
    True
    """
    __tracebackhide__ = True  # pytest ends its tracebacks at the user's line

    def fail() -> None:
        raise _assertion_error(message)

    test = call_bool(test)
    backend = backend_of(test)
    if backend is not None:
        variables = Variables("", (fail,), "assert")
        staged_cond(backend, test, None, fail, variables)
        return True
    if message is None:
        return test
    if test:
        return True
    try:
        error = _assertion_error(message)
    except NameError as caught:
        raise_as_python(caught)
        raise
    raise error


def _assertion_error(message: Callable[[], Any] | str | None) -> AssertionError:
    if message is None:
        return AssertionError()
    return AssertionError(message() if callable(message) else message)


def staged_cond(
    backend: Backend,
    test: Any,
    if_true: Branch,
    if_false: Branch,
    variables: Variables,
    *arguments: tuple[str, Any],
) -> Any:
    """The result of a branch, where a tensor library decides which is taken.

    ``arguments`` are the names and values of what the branches are called with.
    """

    def trial(branch: Branch, holds: bool) -> Callable[[State], tuple[Any, State]]:
        body = branch if callable(branch) else lambda: branch

        def run(state: State) -> tuple[Any, State]:
            with assuming(test, holds):
                result, after = variables.trial(state, body, *arguments)
                return backend.settled(result), tuple(map(backend.settled, after))

        return or_raised(backend, run)

    def attempt() -> Any:
        branches = trial(if_true, True), trial(if_false, False)
        result, state = backend.cond(test, *branches, variables.read(), variables.names)
        variables.write(state)
        return result

    return variables.stage(attempt, backend)


def _staged_case(
    backend: Backend,
    test: Any,
    branches: tuple[tuple[Callable[[], Any], Branch], ...],
    default: Branch,
    state: str,
) -> Any:
    """Stage a branch whose test is a tensor, and those after it in its ``else``."""

    def others() -> Any:
        return case(*later, default=default, state=state)

    (_, body), *later = branches
    functions = [part for branch in branches for part in branch]
    variables = Variables(state, (*functions, default))
    if_false = others if later else default
    return staged_cond(backend, test, body, if_false, variables)


def _staged_while(
    backend: Backend,
    first: Any,
    test: Callable[[], Any],
    body: Body,
    until: Until,
    state: str,
    stopped: Any = False,
) -> None:
    variables = Variables(state, (test, body, until), "while")
    rounds = Rounds(backend, variables, test, body, until)
    rounds.stopped = stopped

    def attempt() -> None:
        state = variables.read()
        variables.write(backend.while_loop(first, rounds, state, variables.names))

    variables.stage(attempt, backend)


class Rounds:
    """The rounds of a ``while`` loop: the body of a backend's `while_loop`.

    Called with a state, it runs the body and then the test. Its methods are these two
    by themselves.
    """

    #: Whether a round that Python ran ended with a ``break``.
    stopped: Any = False

    def __init__(
        self,
        backend: Backend,
        variables: Variables,
        test: Callable[[], Any],
        body: Body,
        until: Until,
    ) -> None:
        def stops() -> Any:
            body()
            return None if until is None else call_bool(until())

        def once() -> Any:
            body()
            return _goes_on(test, until)

        def trial(run: Callable[[], Any]) -> Callable[[State], tuple[Any, State]]:
            def tried(state: State) -> tuple[Any, State]:
                return variables.trial(state, run, repeats=True)

            return or_raised(backend, tried)

        self._both = trial(once)
        #: The value of the test, and the state after it.
        self.test = trial(lambda: call_bool(test()))
        #: Whether the body ended with a ``break`` (None where it has none), and the
        #: state after it.
        self.once = trial(stops)

    def __call__(self, state: State) -> tuple[Any, State]:
        """Whether the loop goes on after a round, and the state then."""
        return self._both(state)


def _goes_on(test: Callable[[], Any], until: Until) -> Any:
    if until is None:
        return call_bool(test())
    stop = call_bool(until())
    backend = backend_of(stop)
    if backend is not None:
        return staged_and(backend, backend.not_(stop), test)
    return False if stop else call_bool(test())


def _staged_for(
    backend: Backend,
    iterated: Any,
    body: ItemBody,
    until: Until,
    state: str,
) -> None:
    variables = Variables(state, (body, until), "for")

    def step(item: Any, values: State) -> tuple[Any, State]:
        return or_raised(backend, lambda values: tried(item, values))(values)

    def tried(item: Any, values: State) -> tuple[Any, State]:
        def once() -> Any:
            body(item.make() if type(item) is Later else item)
            return None if until is None else until()

        inside = item.functions if type(item) is Later else (item,)
        name = _parameter(body)
        arguments = ((name, part) for part in inside)
        return variables.trial(values, once, *arguments, repeats=True)

    def attempt() -> None:
        state = variables.read()
        variables.write(backend.for_loop(iterated, step, state, variables.names))

    try:
        variables.stage(attempt, backend)
    except LoopOver as other:
        for_loop(other.items, body, until=until, state=state)


def staged_rest(
    items: Iterator[Any] | Iterable[Any],
    body: ItemBody,
    until: Callable[[], Any],
    state: str,
) -> None:
    """Stage what is left of a Python iterable, one conditional for each item.

    What counts without an end is one loop of the graph, and so is what the library
    takes as a whole.
    """
    backend = backend_of(until())
    if type(items) is itertools.count:
        items = _counted_on(items, backend)
    elif backend is not None:
        offered = backend.rest(items)
        items = items if offered is None else offered
    if backend_of(items) is not None:

        def others() -> None:
            for_loop(items, body, until=until, state=state)

        others.__wrapped__ = body  # type: ignore[attr-defined]
        cond(until(), None, others, state=state)
        return
    variables = Variables(state, (body, until), "for")
    for count, item in enumerate(items):
        check_in_use(item)
        stop = until()
        backend = backend_of(stop)
        if backend is None:
            if stop:
                return
            body(item)
            continue
        if count >= UNROLL_LIMIT:
            raise StagingError(
                Diagnostic(
                    "AG203",
                    "an endless staged loop over a Python iterable",
                    "a tensor decides when this loop over a Python iterable stops, and "
                    f"after {UNROLL_LIMIT:,} staged iterations it has not ended",
                    user_location(),
                    "loop with `while`, or over a tensor or a tensor range",
                )
            )
        one = functools.partial(body, item)
        staged_cond(backend, stop, None, one, variables, (_parameter(body), item))


def _counted_on(items: Iterator[Any], backend: Backend | None) -> Any:
    """The numbers that are left, as the library counts them if it can."""
    start, following = next(items), next(items)
    count = None if backend is None else backend.builtin("itertools.count")
    if count is None or type(start) is not int or type(following) is not int:
        return itertools.chain([start, following], items)
    return count(start, following - start)


def _parameter(body: Any) -> str:
    """The name of what a body takes, for messages."""
    code = getattr(body, "__code__", None)
    return code.co_varnames[0] if code is not None else "the item"


# --- loops over generators ------------------------------------------------------------


def _loop_over_generator(items: Any, body: ItemBody, until: Until, state: str) -> None:
    """``for item in items: body(item)`` for a generator; see `for_loop`.

    The items that Python computes come first; what is left is staged.
    """
    stream = Stream(items)
    try:
        for_loop(stream, body, until=until, state=state)
        rest = stream.rest
    finally:
        # An exception keeps this frame alive: a generator must be closed all the same.
        del items, stream
    if rest is not None:
        loop_on(rest, body, until, state)


def loop_on(rest: StagedGenerator, body: ItemBody, until: Until, state: str) -> None:
    """What is left of a loop after Python's part of it, unless it has stopped."""
    recipe, iterated = rest.take()
    step = _step(recipe, body, until, state)
    stop = False if until is None else until()
    if until is None or backend_of(stop) is None:
        for_loop(iterated, step, until=until, state=state)
    elif python_iterates(iterated):
        staged_rest(iterated, step, until, state)
    else:

        def others() -> None:
            for_loop(iterated, step, until=until, state=state)

        others.__wrapped__ = body  # type: ignore[attr-defined]
        cond(stop, None, others, state=state)


def _step(recipe: Recipe, body: ItemBody, until: Until, state: str) -> ItemBody:
    """One iteration of a loop over what a generator iterates over."""
    element, conditions, unpack, flat = recipe

    def step(item: Any) -> None:
        if type(item) is Ready:
            passed, value = item
        else:
            args = unpack(item)
            passed = passes(conditions, args)

        def run() -> None:
            made = value() if type(item) is Ready else element(*args)
            if flat:
                for_loop(made, body, until=until, state=state)
            else:
                body(made)

        run.__wrapped__ = body  # type: ignore[attr-defined]
        if passed is True:
            run()
        elif passed is not False:
            cond(passed, run, state=state)

    step.__wrapped__ = body  # type: ignore[attr-defined]
    return step
