"""Forms of values: for libraries that trace the bodies of a statement as functions of
arrays, to give their variables one form after either branch and after each round.

The state of a statement holds Python's objects. A library of functions of arrays says
with a `Values` what its arrays are like, which kind stands for two, and how its
structures are taken apart. The rest is here: `Forms` takes a value apart into arrays
(`leaves`), joins the forms that two branches leave, and finds those that a loop keeps.

What is the same object, or an equal number, in both branches is no array. A variable
that has a value after one of them only, or None after one, becomes a `Perhaps`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ..diagnostics import Diagnostic
from ..errors import StagingError
from ..ownership import user_location
from .dispatch import UNBOUND, Names, State
from .perhaps import Perhaps

#: The name of what a statement gives.
RESULT = "the result"
#: How often a loop's body is traced until its state keeps its form.
_LIMIT = 20
_NUMBERS = (bool, int, float, complex)


class Values(Protocol):
    """What a library tells of its values.

    A kind is an object that is compared by ``==``: a dtype with a shape, say.
    """

    #: What stands for a value that there may not be.
    perhaps: type[Perhaps]

    def kind(self, value: Any, carried: bool) -> Any:
        """The kind of an array; None for what is none.

        Python's numbers are arrays where they are ``carried`` from round to round, or
        differ from branch to branch.
        """

    def join(self, one: Any, other: Any) -> Any:
        """The kind that both are converted to; None if there is none."""

    def flatten(self, value: Any) -> tuple[Sequence[Any], Hashable] | None:
        """The items of a structure, and the structure; None for what is none."""

    def unflatten(self, structure: Any, items: Sequence[Any]) -> Any:
        """The structure with other items."""

    def convert(self, value: Any, kind: Any) -> Any:
        """An array or number as an array of a kind."""

    def blank(self, kind: Any) -> Any:
        """An array of a kind, whatever is in it."""

    def trace(
        self, function: Callable[..., list[Any]], kinds: Sequence[Any]
    ) -> tuple[Callable[..., list[Any]], Sequence[Any], Sequence[Any]]:
        """A function of arrays of these kinds, run once on what stands for them.

        Gives what computes the same for other arrays, and what stands for the arguments
        and for the results: the same object wherever the same array is. An array from
        outside of the function is itself.
        """


class Known:
    """The form of an object that is the same each time."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if type(other) is not Known or type(self.value) is not type(other.value):
            return False
        if self.value is other.value:
            return True
        if isinstance(self.value, Reference):
            same: bool = self.value.value is other.value.value
            return same
        if isinstance(self.value, _NUMBERS):
            return repr(self.value) == repr(other.value)  # 0.0 is not -0.0
        return isinstance(self.value, (str, bytes)) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return repr(self.value)


class Reference:
    """Stands for an object that was there before: for that object alone."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"the {type(self.value).__name__} that there was before"


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
        return f"a structure of {len(self.items)} items {self.structure}"


class Maybe(NamedTuple):
    """The form of a value that there may not be: a flag, and the value."""

    absent: Any
    form: Form

    def __str__(self) -> str:
        return f"{self.form}, or {self.absent}"


Form = Known | Carried | Tree | Maybe


class Traced(NamedTuple):
    """A function of arrays whose value is a pair: a result and the new state.

    ``form`` is the form of that pair. ``value`` is the pair as it was traced, with the
    same object wherever the same array is. ``run`` gives it for given arrays.
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
        """Whether the state is what was given."""
        if self.given_form != self.state:
            return False
        after = forms.leaves(self.value[1], self.state)
        return all(map(_same, after, self.given))


class _Row(tuple[Any, ...]):
    """A copy of a list that the library chose, which is read and never changed."""


class MixedForms(Exception):
    """Two values have no common form."""

    def __init__(self, one: Form, other: Form) -> None:
        super().__init__(one, other)
        self.one, self.other = one, other


class _Blank:
    """Stands for an array where there is no value."""


BLANK = _Blank()


class Forms:
    """The forms of the values of a library."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def of(self, value: Any, carried: bool = False) -> Form:
        """The form of a value."""
        if isinstance(value, Perhaps):
            return Maybe(value.absent, self.of(value.value, carried))
        if value is None or value is UNBOUND:
            return Known(value)
        kind = self._values.kind(value, carried)
        if kind is not None:
            return Carried(kind)
        parts = self._values.flatten(value)
        if parts is None:
            return Known(value)
        items, structure = parts
        return Tree(structure, tuple(self.of(item, carried) for item in items))

    def join(self, one: Form, other: Form) -> Form:
        """The form that values of either form can be given.

        Raises:
            MixedForms: there is none.
        """
        if type(one) is type(other) and one == other:
            return one
        for absent in (UNBOUND, None):
            if _may_be(one, absent) or _may_be(other, absent):
                here, there = _without(one, absent), _without(other, absent)
                if here is None or there is None:
                    inside = there if here is None else here
                else:
                    inside = self.join(here, there)
                assert inside is not None
                return Maybe(absent, inside)
        if isinstance(one, Tree) and isinstance(other, Tree):
            if one.structure != other.structure:
                raise MixedForms(one, other)
            return Tree(one.structure, tuple(map(self.join, one.items, other.items)))
        kinds = self._kind(one), self._kind(other)
        joined = None if None in kinds else self._values.join(*kinds)
        if joined is None:
            raise MixedForms(one, other)
        return Carried(joined)

    def _kind(self, form: Form) -> Any:
        if isinstance(form, Known):
            return self._values.kind(form.value, carried=True)
        return form.kind if isinstance(form, Carried) else None

    def leaves(self, value: Any, form: Form) -> list[Any]:
        """The arrays of a value of a form; `BLANK` for those that are not there."""
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
            parts = self._values.flatten(value)
            assert parts is not None
            items = parts[0]
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
        """The value of a form with these arrays; ``names`` are those of its items."""
        if isinstance(form, Known):
            known = form.value
            return known.value if isinstance(known, Reference) else known
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
        """The arrays of a value of a form, converted; each of those once."""
        found = [
            self._values.blank(kind)
            if leaf is BLANK
            else self._values.convert(leaf, kind)
            for leaf, kind in zip(self.leaves(value, form), self.kinds(form))
        ]
        return sharing.without(found)

    def traced(
        self, function: Callable[..., Any], forms: Sequence[Form], sharing: Sharing
    ) -> Traced:
        """A function of values of these forms, traced; ``sharing`` is of the last."""
        own = [self.kinds(form) for form in forms]
        if own:
            own[-1] = sharing.without(own[-1])
        first = sum(map(len, own[:-1]))
        found: list[Any] = []

        def run(*arrays: Any) -> list[Any]:
            given = iter([*arrays[:first], *sharing.all_of(arrays[first:])])
            result = function(*(self.value(form, given) for form in forms))
            found.append(self.of(result))
            return self.arrays(result, found[0], UNSHARED)

        again, given, results = self._values.trace(
            run, [kind for part in own for kind in part]
        )
        form = found[0]
        return Traced(
            form,
            self.value(form, iter(results)),
            lambda *arrays: self.value(form, iter(again(*arrays))),
            sharing.all_of(given[first:]),
            forms[-1] if forms else None,
        )

    def mapped(self, function: Callable[..., Any], *values: Any) -> Any:
        """A function of the arrays at each place of values of one structure.

        What was a list can be read alone: it is no list of the program.

        Raises:
            StagingError: they differ in structure, or are no arrays; AG210.
        """
        flat = (self._values.flatten(v) for v in values if not isinstance(v, Perhaps))
        parts = [part for part in flat if part is not None]
        if not parts:
            return function(*values)
        structures = [structure for _, structure in parts]
        alike = all(structure == structures[0] for structure in structures)
        if len(parts) < len(values) or not alike or isinstance(values[0], dict):
            raise _refusal_of_items(type(values[0]).__name__)
        columns = zip(*(items for items, _ in parts))
        items = [self.mapped(function, *column) for column in columns]
        if isinstance(values[0], list):
            return _Row(items)
        return self._values.unflatten(structures[0], items)

    def copied(self, value: Any) -> Any:
        """The value with containers of its own, in which the same arrays are."""
        form = self.of(value)
        return self.value(form, iter(self.leaves(value, form)))

    def merged(self, one: Traced, other: Traced, names: Names) -> tuple[Tree, Sharing]:
        """The form of what either branch of a statement gives, and which arrays of it
        are others in both.

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
        """The common forms of variables; ``code`` says of what statement they are."""
        joined = []
        for here, there, name in zip(one, other, names):
            try:
                joined.append(self.join(here, there))
            except MixedForms as error:
                raise _refusal(name, error, code) from None
        return tuple(joined)

    def kept(
        self, state: State, names: Names, trace: Callable[[Tree, Sharing], Traced]
    ) -> tuple[Tree, Sharing, Traced]:
        """The form of a loop's state that a round keeps, and the round traced with it.

        ``trace`` runs the body on a state of a form; its result is a pair, of which the
        second item is the new state.
        """
        form = self.of(state, carried=True)
        assert isinstance(form, Tree)
        refuted: set[tuple[int, int]] = set()
        for _ in range(_LIMIT):
            leaves = self.leaves(state, form)
            sharing = Sharing.of(leaves, self._flags(form), refuted)
            traced = trace(form, sharing)
            items = self._joined(form.items, traced.state.items, names, "AG202")
            if Tree(form.structure, items) != form:
                form, refuted = Tree(form.structure, items), set()
                continue
            wrong = sharing.refuted_by(self.leaves(traced.value[1], form))
            if not wrong:
                return form, sharing, traced
            refuted |= wrong
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
    """Which arrays of a state are others of it: by index, the index of the other."""

    others: dict[int, int]

    @classmethod
    def of(
        cls, leaves: Sequence[Any], flags: Sequence[bool], refuted: set[tuple[int, int]]
    ) -> Sharing:
        """Flags that are as another bool is at first, and perhaps in each round.

        Such is the flag of a value that is returned out of a loop, and whether that
        happened.
        """
        others: dict[int, int] = {}
        for index, leaf in enumerate(leaves):
            if not flags[index] or leaf is BLANK:
                continue
            for other, beside in enumerate(leaves):
                is_free = other not in others and (not flags[other] or other < index)
                if is_free and beside is leaf and (index, other) not in refuted:
                    others[index] = other
                    break
        return cls(others)

    def refuted_by(self, leaves: Sequence[Any]) -> set[tuple[int, int]]:
        """The pairs that do not hold after a round."""
        return {
            (index, other)
            for index, other in self.others.items()
            if not _same(leaves[index], leaves[other])
        }

    def without(self, leaves: Sequence[Any]) -> list[Any]:
        """The arrays of which the others are."""
        return [x for index, x in enumerate(leaves) if index not in self.others]

    def all_of(self, leaves: Sequence[Any]) -> list[Any]:
        """All of the arrays again."""
        rest = iter(leaves)
        count = len(leaves) + len(self.others)
        found = {i: next(rest) for i in range(count) if i not in self.others}
        return [found[self.others.get(index, index)] for index in range(count)]


#: Of a state in which each array is its own.
UNSHARED = Sharing({})


def shared(*branches: Sequence[Any]) -> Sharing:
    """Which arrays that some branches leave are others in each of them."""
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
    """The form of the value that there may be; None if there is none."""
    if isinstance(form, Known) and form.value is absent:
        return None
    is_it = isinstance(form, Maybe) and form.absent is absent
    return form.form if is_it and isinstance(form, Maybe) else form


def _refusal_of_items(kind: str) -> StagingError:
    return StagingError(
        Diagnostic(
            "AG210",
            "a list in a graph cannot do this",
            f"a tensor decides which item this is, and the items ({kind}) are not "
            "arrays or tuples of one structure",
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
    name = name if name == RESULT else f"`{name}`"
    message = f"{name} is {one} {when.format(other)}"
    return StagingError(Diagnostic(code, title, message, user_location(), fix))
