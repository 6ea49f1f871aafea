"""Forms of values: how Python's variables become arrays of a library, and back.

`ArrayBackend` traces the bodies of a statement as functions of arrays; after either
branch, and after each round, a variable must have one form. The library describes its
arrays with a `Values`: their kinds, the kind that two are converted to, and how its
structures are flattened. `Forms` flattens a value into arrays (`leaves`), joins the
forms after two branches, and finds a form that a round of a loop does not change.

An object that is the same in both branches, or an equal number, does not become an
array. A variable that one branch leaves unbound or None becomes a `Perhaps`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import is_
from typing import Any, NamedTuple, Protocol

from ...diagnostics import Diagnostic
from ...errors import StagingError
from ...frames import frame_at, outwards
from ...ownership import is_user_frame, user_location
from ..dispatch import UNBOUND, Names, State
from .messages import changed, deferring, raise_if_settled
from .perhaps import Perhaps

#: The name of the result of a statement.
RESULT = "the result"
#: How often the body of a loop is traced, at most, until its state keeps its form.
_LIMIT = 20
_NUMBERS = (bool, int, float, complex)
_STRUCTURES = (dict, list, tuple)


class Values(Protocol):
    """A library's description of its arrays and structures.

    A kind is any object that is compared by ``==``: a dtype with a shape, for example.
    """

    #: The class for values that may be missing.
    perhaps: type[Perhaps]

    def kind(self, value: Any, carried: bool) -> Any:
        """The kind of an array; None for any other value.

        Python's numbers have a kind where they are ``carried`` from round to round, or
        differ from branch to branch.
        """

    def join(self, one: Any, other: Any) -> Any:
        """The kind to which arrays of both kinds are converted; None if none is."""

    def flatten(self, value: Any) -> tuple[Sequence[Any], Hashable] | None:
        """The items of a structure, and the structure; None for any other value."""

    def unflatten(self, structure: Any, items: Sequence[Any]) -> Any:
        """The structure with other items."""

    def convert(self, value: Any, kind: Any) -> Any:
        """An array or number as an array of a kind."""

    def blank(self, kind: Any) -> Any:
        """An array of a kind with any contents."""

    def trace(
        self, function: Callable[..., list[Any]], kinds: Sequence[Any]
    ) -> tuple[Callable[..., list[Any]], Sequence[Any], Sequence[Any]]:
        """Trace a function of arrays of these kinds, by one run on stand-ins.

        Returns a function that computes the same for other arrays, the stand-ins for
        the arguments, and those for the results. The same array has the same stand-in
        everywhere; an array from outside of the function stands for itself.
        """


class Known:
    """The form of an object that is the same on every path.

    As a value it stands for a structure that existed before the statement.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if type(other) is not Known or type(self.value) is not type(other.value):
            return False
        if self.value is other.value:
            return True
        if isinstance(self.value, _NUMBERS):
            return repr(self.value) == repr(other.value)  # 0.0 is not -0.0
        return isinstance(self.value, (str, bytes)) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        is_plain = self.value is UNBOUND or not isinstance(self.value, _STRUCTURES)
        return repr(self.value) if is_plain else f"a {type(self.value).__name__}"


class Carried(NamedTuple):
    """The form of an array of a kind."""

    kind: Any

    def __str__(self) -> str:
        return f"an array {self.kind}"


class Tree(NamedTuple):
    """The form of a structure, with the forms of its items."""

    structure: Hashable
    items: tuple[Form, ...]

    def __str__(self) -> str:
        return f"{self.structure} of {len(self.items)} items"


class Maybe(NamedTuple):
    """The form of a value that may be missing: a flag, and the value."""

    absent: Any
    form: Form

    def __str__(self) -> str:
        return f"{self.form}, or {self.absent}"


Form = Known | Carried | Tree | Maybe


class Traced(NamedTuple):
    """A traced function of arrays that returns a pair: a result and the new state.

    ``form`` is the form of the pair. ``value`` is the pair of the trace, with one
    stand-in for each array. ``run`` computes the pair for other arrays.
    """

    form: Tree
    value: Any
    run: Callable[..., Any]
    #: The arrays of the state, and its form, if the function has one.
    given: Sequence[Any] = ()
    given_form: Form | None = None

    @property
    def state(self) -> Tree:
        """The form of the new state."""
        state = self.form.items[1]
        assert isinstance(state, Tree)
        return state

    def is_unchanged(self, forms: Forms) -> bool:
        """Whether the function returns its state unchanged."""
        if self.given_form != self.state:
            return False
        after = forms.leaves(self.value[1], self.state)
        return all(map(_same, after, self.given))


class Row(tuple[Any, ...]):
    """A read-only copy of a list that the library selected; of one of ``sources``."""

    sources: Sequence[tuple[list[Any], list[Any]]] = ()

    def _check(self) -> None:
        for source, items in self.sources:
            if len(source) != len(items) or not all(map(is_, source, items)):
                raise changed(source)

    def __getitem__(self, index: Any) -> Any:
        self._check()
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        self._check()
        return super().__iter__()

    def __getattr__(self, name: str) -> Any:
        if hasattr(list, name):
            raise refusal_of_items("list")
        raise AttributeError(name)


class MixedForms(Exception):
    """Two values have no common form."""

    def __init__(self, one: Form, other: Form) -> None:
        super().__init__(one, other)
        self.one, self.other = one, other


class _Blank:
    """Stands for the array of a missing value."""


BLANK = _Blank()


class Forms:
    """The forms of the values of a library."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def of(self, value: Any, carried: bool = False) -> Form:
        """The form of a value."""
        if isinstance(value, Perhaps):
            return Maybe(value.absent, self.of(value.value, carried))
        if isinstance(value, Known):
            return value
        if value is None or value is UNBOUND:
            return Known(value)
        kind = self._values.kind(value, carried)
        if kind is not None:
            return Carried(kind)
        flattened = self._values.flatten(value)
        if flattened is None:
            return Known(value)
        items, structure = flattened
        return Tree(structure, tuple(self.of(item, carried) for item in items))

    def join(self, one: Form, other: Form) -> Form:
        """The form to which values of both forms can be converted.

        Raises:
            MixedForms: there is none.
        """
        if type(one) is type(other) and one == other:
            return one
        for absent in (UNBOUND, None):
            if _may_be(one, absent) or _may_be(other, absent):
                ours, theirs = _without(one, absent), _without(other, absent)
                if ours is None or theirs is None:
                    joined_form = theirs if ours is None else ours
                else:
                    joined_form = self.join(ours, theirs)
                assert joined_form is not None
                return Maybe(absent, joined_form)
        one, other = self._opened(one), self._opened(other)
        if isinstance(one, Tree) and isinstance(other, Tree):
            items = self._ordered(other.items, other.structure, one.structure, True)
            if items is None:
                raise MixedForms(one, other)
            return Tree(one.structure, tuple(map(self.join, one.items, items)))
        kinds = self._kind(one), self._kind(other)
        joined = None if None in kinds else self._values.join(*kinds)
        if joined is None:
            raise MixedForms(one, other)
        return Carried(joined)

    def _ordered(
        self, items: Sequence[Any], structure: Any, wanted: Any, joins: bool = False
    ) -> Sequence[Any] | None:
        """The items of a structure in the order of another; None where they differ in
        more, or where this ``joins`` two and the program may see the order. A library
        may have structures that differ in the order alone: `Values.reorder`.
        """
        if structure == wanted:
            return items
        reorder = getattr(self._values, "reorder", None)
        found: Sequence[Any] | None = None
        if reorder is not None:
            found = reorder(items, structure, wanted, joins)
        return found

    def _opened(self, form: Form) -> Form:
        """The form of the items of a structure that there was before: see `chosen`."""
        if not isinstance(form, Known) or self._values.flatten(form.value) is None:
            return form
        return self.of(form.value)

    def _kind(self, form: Form) -> Any:
        if isinstance(form, Known):
            return self._values.kind(form.value, carried=True)
        return form.kind if isinstance(form, Carried) else None

    def leaves(self, value: Any, form: Form) -> list[Any]:
        """The arrays of a value in a form; `BLANK` for those of missing values."""
        if isinstance(form, Known):
            return []
        if isinstance(form, Carried):
            return [BLANK if value is UNBOUND else value]
        if isinstance(form, Maybe):
            flag: Any = True
            if isinstance(value, Perhaps) and value.absent is form.absent:
                flag, value = value.present, value.value
            elif value is form.absent:
                flag, value = False, BLANK
            elif value is BLANK:
                flag = BLANK
            return [flag, *self.leaves(value, form.form)]
        if value is BLANK:
            items: Sequence[Any] = [BLANK] * len(form.items)
        else:
            value = value.value if isinstance(value, Known) else value
            flattened = self._values.flatten(value)
            assert flattened is not None
            items = self._ordered(*flattened, form.structure) or ()
        return [x for item, f in zip(items, form.items) for x in self.leaves(item, f)]

    def kinds(self, form: Form) -> list[Any]:
        """The kinds of the arrays of a form, in the order of `leaves`."""
        if isinstance(form, Known):
            return []
        if isinstance(form, Carried):
            return [form.kind]
        if isinstance(form, Maybe):
            return [self._values.kind(True, carried=True), *self.kinds(form.form)]
        return [kind for item in form.items for kind in self.kinds(item)]

    def value(self, form: Form, leaves: Iterator[Any], *names: str) -> Any:
        """The value of a form with these arrays; ``names`` name its items."""
        if isinstance(form, Known):
            return form.value
        if isinstance(form, Carried):
            return next(leaves)
        if isinstance(form, Maybe):
            present = next(leaves)
            value = self.value(form.form, leaves, *names)
            if present is True:
                return value
            return self._values.perhaps(present, value, form.absent, *names[:1])
        labels = names if len(names) == len(form.items) else names[:1] * len(form.items)
        labels = labels or ("",) * len(form.items)
        items = [self.value(f, leaves, n) for f, n in zip(form.items, labels)]
        return self._values.unflatten(form.structure, items)

    def arrays(self, value: Any, form: Form, sharing: Sharing) -> list[Any]:
        """The arrays of a value converted to a form, without those that are shared."""
        converted = [
            self._values.blank(kind)
            if leaf is BLANK
            else self._values.convert(leaf, kind)
            for leaf, kind in zip(self.leaves(value, form), self.kinds(form))
        ]
        return sharing.without(converted)

    def traced(
        self, function: Callable[..., Any], forms: Sequence[Form], sharing: Sharing
    ) -> Traced:
        """Trace a function of values of these forms; ``sharing`` is of the last one."""
        kinds = [self.kinds(form) for form in forms]
        if kinds:
            kinds[-1] = sharing.without(kinds[-1])
        split = sum(map(len, kinds[:-1]))
        forms_of_results: list[Any] = []

        def run(*arrays: Any) -> list[Any]:
            stand_ins = iter([*arrays[:split], *sharing.all_of(arrays[split:])])
            result = function(*(self.value(form, stand_ins) for form in forms))
            forms_of_results.append(self.of(result))
            return self.arrays(result, forms_of_results[0], UNSHARED)

        rerun, stand_ins, results = self._values.trace(
            run, [kind for part in kinds for kind in part]
        )
        form = forms_of_results[0]
        return Traced(
            form,
            self.value(form, iter(results)),
            lambda *arrays: self.value(form, iter(rerun(*arrays))),
            sharing.all_of(stand_ins[split:]),
            forms[-1] if forms else None,
        )

    def mapped(self, function: Callable[..., Any], *values: Any) -> Any:
        """Apply a function to the corresponding arrays of values of one structure.

        A list in the result is read-only, since it is no list of the program.

        Raises:
            StagingError: the values differ in structure, or are no arrays; AG210.
        """
        flat = (self._values.flatten(v) for v in values if not isinstance(v, Perhaps))
        structured = [part for part in flat if part is not None]
        if not structured:
            return function(*values)
        structures = [structure for _, structure in structured]
        alike = all(structure == structures[0] for structure in structures)
        if len(structured) < len(values) or not alike:
            raise refusal_of_items(type(values[0]).__name__)
        columns = zip(*(items for items, _ in structured))
        items = [self.mapped(function, *column) for column in columns]
        if isinstance(values[0], list):
            row = Row(items)
            row.sources = [(v, [*v]) for v in values if isinstance(v, list)]
            return row
        return self._values.unflatten(structures[0], items)

    def merged(self, one: Traced, other: Traced, names: Names) -> tuple[Tree, Sharing]:
        """The common form of the results and states of two branches, and the arrays
        that both of them share.

        Raises:
            StagingError: a variable has two kinds of values; AG201 or AG210.
        """
        results = one.form.items[:1], other.form.items[:1]
        states = one.state.items, other.state.items
        (result,) = self._joined(*results, (RESULT,), "AG201")
        state = Tree(one.state.structure, self._joined(*states, names, "AG201"))
        form = Tree(one.form.structure, (result, state))
        return form, shared(*(self.leaves(side.value, form) for side in (one, other)))

    def _joined(
        self, one: Sequence[Form], other: Sequence[Form], names: Names, code: str
    ) -> tuple[Form, ...]:
        """The common forms of variables; ``code`` is the error for the statement."""
        joined = []
        for ours, theirs, name in zip(one, other, names):
            try:
                joined.append(self.join(ours, theirs))
            except MixedForms as error:
                raise _refusal(name, error, code) from None
        return tuple(joined)

    def kept(
        self, state: State, names: Names, trace: Callable[[Tree, Sharing], Traced]
    ) -> tuple[Tree, Sharing, Traced]:
        """The form of a loop's state that a round keeps, and the traced round.

        ``trace`` runs the body on a state of a form; its result is a pair, of which the
        second item is the new state.
        """
        form = self.of(state, carried=True)
        assert isinstance(form, Tree)
        refuted: set[tuple[int, int]] = set()
        for _ in range(_LIMIT):
            leaves = self.leaves(state, form)
            sharing = Sharing.of(leaves, self._flags(form), refuted)
            with deferring() as errors:
                traced = trace(form, sharing)
            items = self._joined(form.items, traced.state.items, names, "AG202")
            if Tree(form.structure, items) != form:
                form, refuted = Tree(form.structure, items), set()
                continue
            failed = sharing.refuted_by(self.leaves(traced.value[1], form))
            if not failed:
                for error in errors:
                    raise_if_settled(error)
                return form, sharing, traced
            refuted |= failed
        raise StagingError(
            Diagnostic(
                "AG205",
                "a staged loop does not settle",
                "its variables keep changing their structure from round to round",
                user_location(),
                "keep the structure the same",
            )
        )

    def _flags(self, form: Form) -> list[bool]:
        """Which of the arrays of a form are flags."""
        if isinstance(form, Maybe):
            return [True, *self._flags(form.form)]
        if isinstance(form, Tree):
            return [flag for item in form.items for flag in self._flags(item)]
        return [False] * len(self.kinds(form))


class Sharing(NamedTuple):
    """Which arrays of a state are duplicates: the index of each, and its original's."""

    others: dict[int, int]

    @classmethod
    def of(
        cls, leaves: Sequence[Any], flags: Sequence[bool], refuted: set[tuple[int, int]]
    ) -> Sharing:
        """Guess duplicates: flags that equal another bool before the first round.

        An example is the flag of a value that a loop returns, and ``did_return``.
        """
        others: dict[int, int] = {}
        for index, leaf in enumerate(leaves):
            if not flags[index] or leaf is BLANK:
                continue
            for other, candidate in enumerate(leaves):
                is_free = other not in others and (not flags[other] or other < index)
                if is_free and candidate is leaf and (index, other) not in refuted:
                    others[index] = other
                    break
        return cls(others)

    def refuted_by(self, leaves: Sequence[Any]) -> set[tuple[int, int]]:
        """The pairs whose arrays differ after a round."""
        return {
            (index, other)
            for index, other in self.others.items()
            if not _same(leaves[index], leaves[other])
        }

    def without(self, leaves: Sequence[Any]) -> list[Any]:
        """The arrays without duplicates."""
        return [x for index, x in enumerate(leaves) if index not in self.others]

    def all_of(self, leaves: Sequence[Any]) -> list[Any]:
        """The arrays with duplicates, from those without; the inverse of `without`."""
        remaining = iter(leaves)
        count = len(leaves) + len(self.others)
        present = {i: next(remaining) for i in range(count) if i not in self.others}
        return [present[self.others.get(index, index)] for index in range(count)]


#: The sharing of a state without duplicates.
UNSHARED = Sharing({})


def shared(*branches: Sequence[Any]) -> Sharing:
    """The arrays that are duplicates in each of several branches."""
    others: dict[int, int] = {}
    count = len(branches[0])
    for index in range(count):
        for other in range(index):
            if other not in others and all(_same(b[index], b[other]) for b in branches):
                others[index] = other
                break
    return Sharing(others)


def _same(one: Any, other: Any) -> bool:
    if type(one) is bool or type(other) is bool:
        return one is other
    return one is other and one is not BLANK


def _may_be(form: Form, absent: Any) -> bool:
    if isinstance(form, Known):
        return form.value is absent
    return isinstance(form, Maybe) and form.absent is absent


def _without(form: Form, absent: Any) -> Form | None:
    """The form of the value if it is present; None if it is always absent."""
    if isinstance(form, Known) and form.value is absent:
        return None
    is_maybe = isinstance(form, Maybe) and form.absent is absent
    return form.form if is_maybe and isinstance(form, Maybe) else form


def refusal_of_items(kind: str) -> StagingError:
    """The error AG210, for items that cannot be chosen from."""
    return StagingError(
        Diagnostic(
            "AG210",
            "a list in a graph cannot do this",
            f"a tensor decides which item this is, and the items ({kind}) are not "
            "arrays or tuples of one structure, or one of them is changed",
            user_location(),
            "keep the numbers in arrays",
        )
    )


def _refusal(name: str, error: MixedForms, code: str) -> StagingError:
    one, other = error.one, error.other
    in_loop = code == "AG202"
    when = (
        "before a round and {} after it"
        if in_loop
        else "in one branch and {} in the other"
    )
    title = (
        "a loop changes the kind of a variable"
        if in_loop
        else "a branch leaves a variable in two kinds"
    )
    fix = "give it values of one kind"
    if (
        isinstance(one, Tree)
        and isinstance(other, Tree)
        and len(one.items) != len(other.items)
    ):
        code, title = "AG210", "a list in a graph cannot do this"
        fix = "keep its length the same: make it of the full length first"
    name = _assigned() or name if name == RESULT else name
    name = name if name == RESULT else f"`{name}`"
    message = f"{name} is {one} {when.format(other)}"
    return StagingError(Diagnostic(code, title, message, user_location(), fix))


def _assigned() -> str | None:
    """The variable that gets the result of the operator that the user's code calls."""
    import dis  # not at once: a program's first call would wait for it

    frame = next(filter(is_user_frame, outwards(frame_at(1))), None)
    steps = () if frame is None else dis.get_instructions(frame.f_code)
    later = (s for s in steps if frame and s.offset > frame.f_lasti)
    step = next((s for s in later if s.opname != "CACHE"), None)
    if step is None or not step.opname.startswith("STORE_"):
        return None
    return step.argval if isinstance(step.argval, str) else None
