"""A backend for libraries of functions of arrays: see `ArrayBackend`."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..errors import StagingError
from .calls import call
from .control_flow import cond
from .dispatch import (
    UNROLL_LIMIT,
    Backend,
    LoopOver,
    Names,
    State,
    tracing_by,
)
from .merge.counting import Counting
from .merge.forms import (
    BLANK,
    UNSHARED,
    Carried,
    Form,
    Forms,
    Known,
    Maybe,
    Sharing,
    Traced,
    Tree,
    Values,
)
from .merge.messages import Located, Text, changed, refused, told
from .merge.noted import ends_of, note_ends, noted, outcomes_of
from .merge.perhaps import Perhaps, fact
from .merge.raising import Raised
from .sequences import Items
from .state.frames import trace_variables
from .state.kinds import objects_in, structure_of
from .state.mutations import may_change
from .state.snapshot import Snapshot

Arrays = list[Any]
_RANGE: type = type(iter(range(0)))
_ITERATORS: tuple[type, ...] = (type(iter(())), type(iter([])), _RANGE)


class ArrayBackend(Backend):
    """Stages statements by a library's functions of arrays.

    A library with a conditional, a loop and a loop over rows as functions of functions
    supplies these, and describes its arrays with ``values``. This class converts
    Python's variables to arrays and back. It traces each branch once, and the body of a
    loop until the state keeps its form, which is mostly once.
    """

    takes_raised = True
    #: Whether arrays change in place: then their items are no state, the arrays are.
    is_mutable = False
    #: The class of sequences for loops, which has this object as its backend.
    sequence: type[Items]

    def __init__(self, values: Values) -> None:
        self._forms = Forms(values)

    # --- operations of the library

    def choose(
        self, test: Any, if_true: Callable[[], Arrays], if_false: Callable[[], Arrays]
    ) -> Arrays:
        """The arrays that one of two functions returns, selected by a value's truth."""
        raise NotImplementedError

    def repeat(
        self,
        test: Callable[[Arrays], Any],
        body: Callable[[Arrays], Arrays],
        arrays: Arrays,
    ) -> Arrays:
        """The arrays after rounds of the body while the test holds."""
        raise NotImplementedError

    def scan(
        self, body: Callable[[Arrays, Any], Arrays], arrays: Arrays, rows: Any
    ) -> Arrays:
        """The arrays after a round of the body for each of the rows."""
        raise NotImplementedError

    def row(self, rows: Any) -> Any:
        """A stand-in for each of the rows."""
        raise NotImplementedError

    def indices(self, length: int) -> Any:
        """The rows 0, 1, …, ``length - 1``."""
        raise NotImplementedError

    def rows_of(self, iterated: Any) -> Items:
        """The rows of an array, of the class that `sequence` is."""
        raise NotImplementedError

    def where(self, test: Any, one: Any, other: Any) -> Any:
        """An elementwise choice between two arrays of one shape."""
        raise NotImplementedError

    def stack(self, items: list[Any]) -> Any:
        """An array with these items, of one kind, for rows."""
        raise NotImplementedError

    def truth(self, value: Any) -> Any:
        """The truth of an array, as a bool of the library."""
        raise NotImplementedError

    def copied(self, value: Any) -> Any:
        """What a branch gets for a variable: a copy, if ``+=`` would change it."""
        return value

    def check(self, holds: Any, template: str, *values: Any) -> None:
        """Have the program raise an error when it runs, unless the condition holds.

        The text of the error is ``template.format(*values)``.
        """
        raise NotImplementedError

    def check_index(self, holds: Any, message: str) -> None:
        """Treat an index out of range as the library does; by default as `check`."""
        self.check(holds, message)

    # --- statements

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """One conditional for the result and all variables."""
        sides = [self._branch(side, state) for side in (if_true, if_false)]
        going = [side for side in sides if not _raises(side)]
        if not going:
            self.choose(self.is_true(test), *(_checks(side) for side in sides))
            return None, state
        form, sharing = self._forms.merged(going[0], going[-1], names)

        def run(side: Traced) -> Arrays:
            value = side.run()
            return self._forms.arrays(BLANK if _raises(side) else value, form, sharing)

        branches = (functools.partial(run, side) for side in sides)
        arrays = iter(sharing.all_of(self.choose(self.is_true(test), *branches)))
        result, after = form.items
        return self._forms.value(result, arrays), self._state(after, arrays, names)

    def _branch(
        self, branch: Callable[[State], tuple[Any, State]], state: State
    ) -> Traced:
        def run() -> tuple[Any, State]:
            result, after = branch(tuple(map(self.copied, state)))
            self._check_objects((result, *after))
            if isinstance(result, Raised):
                if result.handled:
                    raise result.refusal()
                text, *values = told(result.error)
                self.check(False, Located.of(text, result.place), *values)
            return result, after

        return self._traced(run, (), UNSHARED)

    def _check_objects(self, values: Iterable[Any]) -> None:
        """Refuse structures of a library that the program may change in place: branches
        and rounds give copies of them, which `chosen` is not asked about.
        """
        for value in values:
            is_own = isinstance(value, (tuple, Perhaps, Known, Raised))
            if is_own or structure_of(type(value)) is not None:
                continue
            if isinstance(self._forms.of(value), Tree) and may_change([value]):
                raise changed(value)

    def _traced(
        self, function: Callable[..., Any], forms: Sequence[Form], sharing: Sharing
    ) -> Traced:
        token = tracing_by.set(self)
        try:
            return self._forms.traced(function, forms, sharing)
        except RecursionError:
            raise refused(
                "AG211",
                "recursion that a graph cannot do",
                "a tensor decides when the recursion ends: to trace it is to call on",
                "write it as a loop, with a list or an array for what is left to do",
            ) from None
        finally:
            tracing_by.reset(token)

    def while_loop(
        self,
        test: Any,
        body: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A loop; its test is a function apart from the body if it changes nothing."""
        rounds: Any = body
        form, sharing, step = self._settled(rounds.once, state, names)
        if _raises(step):
            return self.cond(test, rounds.once, _unchanged, state, names)[1]
        asked = self._traced(rounds.test, (form,), sharing)
        arrays = self._forms.arrays(state, form, sharing)
        if not asked.is_unchanged(self._forms):
            return self._carried(test, body, state, names)
        may_stop = step.form.items[0] != Known(None)
        flags = [self.is_true(rounds.stopped)] if may_stop else []

        def goes_on(inside: Arrays) -> Any:
            go_on = self.is_true(asked.run(*inside[len(flags) :])[0])
            return ~inside[0] & go_on if flags else go_on

        def run(inside: Arrays) -> Arrays:
            stop, after = step.run(*inside[len(flags) :])
            done = [self.is_true(stop)] if flags else []
            return [*done, *self._forms.arrays(after, form, sharing)]

        arrays = self.repeat(goes_on, run, [*flags, *arrays])[len(flags) :]
        after = sharing.all_of(arrays)
        asks = asked.form.items[0]
        if may_stop and isinstance(asks, Known) and asks.value:
            # It ended with a `break` or `return`: so say the flags of these.
            stops = self._forms.leaves(step.value[0], step.form.items[0])
            last = self._forms.leaves(step.value[1], form)
            before = self._forms.leaves(state, form)
            for index, (flag, first) in enumerate(zip(last, before)):
                if any(flag is s for s in stops) and first is rounds.stopped:
                    after[index] = True
        return self._state(form, iter(after), names)

    def _carried(
        self,
        test: Any,
        body: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A loop that carries the value of its test."""
        form, sharing, step = self._settled(body, state, names)

        def run(inside: Arrays) -> Arrays:
            go_on, after = step.run(*inside[1:])
            return [self.is_true(go_on), *self._forms.arrays(after, form, sharing)]

        first = [self.is_true(test), *self._forms.arrays(state, form, sharing)]
        _, *arrays = self.repeat(lambda inside: inside[0], run, first)
        return self._state(form, iter(sharing.all_of(arrays)), names)

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A loop over rows where their number is known, else one that counts."""
        items = self.items(iterated)
        if not isinstance(items.length, int):
            counting: Any = Counting(items, body)
            first = items.length > 0
            every = ("the index", *names)
            return self.while_loop(first, counting, (0, *state), every)[1:]
        if not items.length:
            return state
        try:
            return self._scanned(items, body, state, names)
        except StagingError as error:
            if error.code not in ("AG202", "AG210"):
                raise
        # The state grows: Python loops over the items.
        raise LoopOver(map(items.at, range(items.length)))

    def _scanned(
        self,
        items: Items,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        if items.rows is None:
            rows, row = self.indices(items.length), self._forms.of(0, carried=True)
        else:
            rows = items.rows()
            row = self._forms.of(self.row(rows))

        def once(given: Any, before: State) -> tuple[Any, State]:
            item = items.at(given) if items.rows is None else given
            note_ends(item, items.ends)
            return body(item, before)

        form, sharing, step = self._settled(once, state, names, row)
        if _raises(step):
            raise step.value[0].error
        flags = [] if step.form.items[0] == Known(None) else [self.is_true(False)]

        def run(inside: Arrays, given: Any) -> Arrays:
            args = self._forms.arrays(given, row, UNSHARED)
            stop, after = step.run(*args, *inside[len(flags) :])
            done = [self.is_true(stop)] if flags else []
            return [*done, *self._forms.arrays(after, form, sharing)]

        def unless_done(inside: Arrays, given: Any) -> Arrays:
            return self.choose(inside[0], lambda: inside, lambda: run(inside, given))

        arrays = [*flags, *self._forms.arrays(state, form, sharing)]
        arrays = self.scan(unless_done if flags else run, arrays, rows)[len(flags) :]
        values = self._state(form, iter(sharing.all_of(arrays)), names)
        # At least one round has run: every variable that a round binds is bound.
        bound = (not isinstance(kept, Maybe) for kept in step.state.items)
        return tuple(
            value.value if is_bound and isinstance(value, Perhaps) else value
            for value, is_bound in zip(values, bound)
        )

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """A conditional; where it holds, the left side does."""
        return noted(super().and_(left, right), {True: (left, True)})

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """A conditional; where it does not hold, nor does the left side."""
        return noted(super().or_(left, right), {False: (left, False)})

    def not_(self, value: Any) -> Any:
        """The opposite of the truth."""
        test = self.is_true(value)
        return noted(~test, {True: (test, False), False: (test, True)})

    def consequences(self, test: Any, holds: bool) -> Iterable[tuple[Any, bool]]:
        """What `and_`, `or_` and `not_` are made of."""
        outcomes = outcomes_of(test)
        return [outcomes[holds]] if holds in outcomes else []

    def settled(self, value: Any) -> Any:
        """The value of a `Perhaps` that is known to be present; a truth that is."""
        if isinstance(value, Perhaps):
            return self.settled(value.value) if value.is_there() else value
        known = fact(value)
        return value if known is None or self.truth(value) is not value else known

    def is_true(self, value: Any) -> Any:
        """The truth of a value that may be missing."""
        if isinstance(value, Perhaps) and value.absent is None:
            return value.present & self.is_true(value.value)
        if isinstance(value, Items):
            value = value.length > 0
        return self.truth(value.read() if isinstance(value, Perhaps) else value)

    def items(self, iterated: Any) -> Items:
        """The sequence that a loop over a value iterates."""
        if isinstance(iterated, Perhaps):
            return self.items(iterated.read())
        if isinstance(iterated, range):
            return self.sequence.range(iterated.start, iterated.stop, iterated.step)
        if isinstance(iterated, (list, tuple)):
            iterated = self.stack(list(iterated))
        return iterated if isinstance(iterated, Items) else self.rows_of(iterated)

    def rest(self, iterator: Any) -> Items | None:
        """The remaining items of an iterator over a list or a range of one kind."""
        count = operator.length_hint(iterator)
        if type(iterator) not in _ITERATORS or count < 2:
            return None
        rest = copy.copy(iterator)
        if type(iterator) is _RANGE:
            start, following = next(rest), next(rest)
            # A longer length becomes a value of the library: the loop is not unrolled.
            length = count if count <= UNROLL_LIMIT else self.stack([count])[0]
            ends = (start, start + (count - 1) * (following - start))
            return self.sequence(
                length, lambda i: start + i * (following - start), ends=ends
            )
        items = list(rest)
        forms = [self._forms.of(item, carried=True) for item in items]
        if not isinstance(forms[0], Carried) or any(f != forms[0] for f in forms):
            return None
        return self.rows_of(self.stack(items))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The builtins that are written in terms of the library's operations."""
        return _BUILTINS[name].__get__(self) if name in _BUILTINS else None

    def _range(self, *args: Any) -> Items:
        return self.sequence.range(*args)

    def _len(self, value: Any) -> Any:
        if not isinstance(value, Items):
            return len(value)
        length = value.length
        is_static = isinstance(length, int)
        return max(length, 0) if is_static else self.where(length > 0, length, 0)

    def _zip(self, *sequences: Any) -> Items:
        return self.sequence.zip([*map(self.items, sequences)], self._least)

    def _enumerate(self, sequence: Any, start: Any = 0) -> Items:
        items = self.items(sequence)
        rows = items.rows and (lambda: start + self.indices(items.length))
        is_known = isinstance(items.length, int) and isinstance(start, int)
        ends = (start, start + items.length - 1) if is_known else None
        numbers = self.sequence(items.length, lambda index: start + index, rows, ends)
        return self.sequence.zip([numbers, items], self._least)

    def _reversed(self, sequence: Any) -> Items:
        return self.items(sequence).reversed()

    def _is_none(self, value: Any) -> Any:
        if not isinstance(value, Perhaps) or value.absent is not None:
            return False
        return self.not_(value.present)

    def _is_not_none(self, value: Any) -> Any:
        if not isinstance(value, Perhaps) or value.absent is not None:
            return True
        return value.present

    def _settled(
        self,
        body: Callable[..., tuple[Any, State]],
        state: State,
        names: Names,
        *others: Form,
    ) -> tuple[Tree, Sharing, Traced]:
        def once(*args: Any) -> tuple[Any, State]:
            result, after = body(*args)
            self._check_objects(after)
            return result, after

        def trace(form: Tree, sharing: Sharing) -> Traced:
            return self._traced(once, (*others, form), sharing)

        return self._forms.kept(state, names, trace)

    def _state(self, form: Form, arrays: Iterator[Any], names: Names) -> State:
        state: State = self._forms.value(form, arrays, *names)
        return state

    def _least(self, one: Any, other: Any) -> Any:
        return self.where(one < other, one, other)

    def _extreme(
        self, is_better: Any, args: Any, key: Any = None, **default: Any
    ) -> Any:
        if isinstance(args[0], Items):
            return NotImplemented
        items = list(args if len(args) > 1 else args[0])
        if not items and default:
            return default["default"]
        best, *others = items
        key = key or (lambda item: item)
        for other in others:
            test = self.is_true(is_better(key(other), key(best)))
            either = functools.partial(self.where, test)
            best = self._forms.mapped(either, other, best)
        return best

    def _max(self, *args: Any, **options: Any) -> Any:
        return self._extreme(operator.gt, args, **options)

    def _min(self, *args: Any, **options: Any) -> Any:
        return self._extreme(operator.lt, args, **options)

    def _sum(self, items: Any, start: Any = 0) -> Any:
        if isinstance(items, Items):
            return NotImplemented
        return functools.reduce(operator.add, items, start)

    def _any(self, items: Any) -> Any:
        if isinstance(items, Items):
            return NotImplemented
        return functools.reduce(operator.or_, map(self.is_true, items), False)

    def _all(self, items: Any) -> Any:
        if isinstance(items, Items):
            return NotImplemented
        return functools.reduce(operator.and_, map(self.is_true, items), True)

    def _in(self, item: Any, items: Any) -> Any:
        return self._any([item == other for other in items])

    def _getitem(self, items: Any, index: Any) -> Any:
        if isinstance(index, slice) or not isinstance(items, (list, tuple)):
            return items[index]
        position = self._place(items, index, "")
        if items and all(map(callable, items)):
            return functools.partial(self._called, [*items], position)
        return self.picked(items, position)

    def picked(self, items: Any, position: Any) -> Any:
        """The item of a list or tuple at a position in it: a copy, if it has parts."""
        dicts = [item for item in items if isinstance(item, dict)]
        if dicts and may_change(dicts):
            raise changed(items[0])
        return self._forms.mapped(lambda *rows: self.stack([*rows])[position], *items)

    def _called(self, functions: Any, position: Any, *args: Any, **options: Any) -> Any:
        """``functions[position](*args)``: a conditional for each but the last."""
        function, *others = functions
        if not others:
            return call(function)(*args, **options)
        return cond(
            position == 0,
            lambda: call(function)(*args, **options),
            lambda: self._called(others, position - 1, *args, **options),
        )

    def _setitem(self, items: list[Any], indices: Any, value: Any) -> None:
        index, *inner = indices
        if inner or isinstance(index, slice):
            raise refused(
                "AG210",
                "a list in a graph cannot do this",
                "a tensor decides which items are assigned, in a list within another "
                "or as a slice",
                "make it an array: `xs = jnp.asarray(xs)`, then `xs[i, j] = x`",
            )
        position = self._place(items, index, "assignment ")
        for number, item in enumerate(items):
            either = functools.partial(self.where, position == number)
            items[number] = self._forms.mapped(either, value, item)

    def _place(self, items: Any, index: Any, what: str) -> Any:
        ends = ends_of(index)
        if ends is None or min(ends) < -len(items) or max(ends) >= len(items):
            is_inside = (-len(items) <= index) & (index < len(items))
            kind = type(items).__name__
            self.check(is_inside, f"IndexError: {kind} {what}index out of range")
        return self.where(index < 0, index + len(items), index)

    def _chosen(self, value: Any, objects: Any = ()) -> Any:
        """The value, if no variable leads to an object that it may be a copy of, or
        nobody changes it or such an object.

        Otherwise a change of one would have to be a change of the other, and structures
        of arrays cannot refuse changes: AG210.
        """
        reachable = Snapshot(trace_variables()) if objects else None
        if reachable is not None and not any(map(reachable.has, objects)):
            return value
        parts: dict[int, Any] = {}
        for whole in (value, *objects):
            parts.update(objects_in(whole))
        if not may_change(parts.values()):
            return value
        raise changed(value)


_BUILTINS: dict[str, Any] = {
    "all": ArrayBackend._all,
    "any": ArrayBackend._any,
    "getitem": ArrayBackend._getitem,
    "in": ArrayBackend._in,
    "len": ArrayBackend._len,
    "max": ArrayBackend._max,
    "min": ArrayBackend._min,
    "setitem": ArrayBackend._setitem,
    "sum": ArrayBackend._sum,
    "chosen": ArrayBackend._chosen,
    "reference": lambda self, value: Known(value),
    "bool": ArrayBackend.is_true,
    "enumerate": ArrayBackend._enumerate,
    "fstring": lambda self, *args: Text(*args),
    "format": lambda self, value, spec="": Text(f"{{:{spec}}}", value),
    "str": lambda self, value: Text("{}", value),
    "repr": lambda self, value: Text("{!r}", value),
    "is_none": ArrayBackend._is_none,
    "is_not_none": ArrayBackend._is_not_none,
    "range": ArrayBackend._range,
    "reversed": ArrayBackend._reversed,
    "zip": ArrayBackend._zip,
}


def _checks(side: Traced) -> Callable[[], Arrays]:
    """A branch reduced to its checks."""

    def run() -> Arrays:
        side.run()
        return []

    return run


def _raises(side: Traced) -> bool:
    return isinstance(side.value[0], Raised)


def _unchanged(state: State) -> tuple[Any, State]:
    return None, state
