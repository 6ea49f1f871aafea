"""The user's variables, reached through the closures of generated bodies."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from autograph import StagingError
from autograph.operators import UNBOUND
from autograph.operators.state.slots import parse_state
from autograph.operators.state.variables import Variables

#: Variables of this module that a body changes.
GLOBAL = 1


def test_parse_state() -> None:
    assert parse_state("") == ()
    assert parse_state("a") == ("a",)
    assert parse_state("a, self.b.c, d[i], e['k']") == (
        *("a", "self.b.c", "d[i]", "e['k']"),
    )
    assert parse_state("""d['a[0]'], e["it's, b"], f[i, -1].g, ü""") == (
        *("d['a[0]']", """e["it's, b"]""", "f[i, -1].g", "ü"),
    )


def test_items_of_all_keys() -> None:
    i = 1
    d: dict[Any, Any] = {"a[0]": 1, "b, c": 2, (1, "]", -2): 3, True: 4, (0, (1,)): 5}

    def body() -> Any:
        return d, i

    state = "d['a[0]'], d['b, c'], d[i, ']', -2], d[True], d[0, (i,)]"
    variables = Variables(state, (body,))
    assert variables.read() == (1, 2, 3, 4, 5)
    variables.write((6, 7, 8, 9, UNBOUND))
    assert list(d.values()) == [6, 7, 8, 9]


def test_read_and_write_cells() -> None:
    a, b = 1, 2

    def body() -> None:
        nonlocal a, b
        a, b = b, a

    variables = Variables("b, a", (None, body))

    assert variables.names == ("b", "a")
    assert variables.read() == (2, 1)
    variables.write((20, 10))
    assert (a, b) == (10, 20)


def test_unbound_cells() -> None:
    value: object

    def body() -> Any:
        return value

    def assign() -> None:
        nonlocal value
        value = 1

    variables = Variables("value", (body, assign))

    assert variables.read() == (UNBOUND,)
    variables.write((UNBOUND,))
    variables.write((1,))
    assert body() == 1
    variables.write((UNBOUND,))
    with pytest.raises(NameError):
        body()


def test_unbound_prints_itself() -> None:
    assert repr(UNBOUND) == "UNBOUND"


def test_attributes_and_items() -> None:
    owner = SimpleNamespace(a=1, inner=SimpleNamespace(b=2))
    items, key = {"k": 3, 0: 4}, "k"

    def body() -> Any:
        return owner, items, key

    def assign() -> None:
        owner.a = owner.inner.b = owner.c = 0

    names = "owner.a, owner.inner.b, items[key], items[0], items['x'], owner.c"
    variables = Variables(names, (body, assign))

    assert variables.read() == (1, 2, 3, 4, UNBOUND, UNBOUND)
    variables.write((10, 20, 30, 40, 50, 60))
    assert vars(owner) == {"a": 10, "inner": SimpleNamespace(b=20), "c": 60}
    assert items == {"k": 30, 0: 40, "x": 50}
    variables.write((UNBOUND, UNBOUND, UNBOUND, 40, UNBOUND, UNBOUND))
    assert vars(owner) == {"inner": SimpleNamespace()}
    assert items == {0: 40}


def test_places_of_an_unbound_owner() -> None:
    owner: Any

    def body() -> Any:
        return owner  # noqa: F821

    def assign() -> None:
        owner.a = owner.b.c = 1  # noqa: F821

    variables = Variables("owner.a, owner.b.c", (body, assign))

    assert variables.read() == (UNBOUND, UNBOUND)
    variables.write((UNBOUND, UNBOUND))


def test_containers_that_get_other_contents_are_no_places() -> None:
    owner, items, counts, n = SimpleNamespace(a=1, log=[]), [1], {"k": 1}, 0

    def operand() -> Any:
        nonlocal n
        return (n := n + 1)

    def test() -> Any:
        return n < 3 and operand()

    def body() -> None:
        items.append(1)
        owner.log.append(1)
        counts["k"] += 1
        del owner.a

    state = "n, items, owner.log, counts, counts['k'], owner.a"
    variables = Variables(state, (test, body))

    assert variables.names == ("n", "counts['k']", "owner.a")


def test_a_place_is_not_any_expression() -> None:
    with pytest.raises(ValueError, match="names no variable"):
        Variables("f(x)", ()).read()


def test_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "GLOBAL", 1)

    def body() -> None:
        global GLOBAL, MISSING
        GLOBAL = MISSING = 5

    variables = Variables("GLOBAL, MISSING", (body,))

    assert variables.read() == (1, UNBOUND)

    def run() -> Any:
        read = variables.read()
        body()
        return read

    assert variables.trial((2, 3), run) == ((2, 3), (5, 5))
    assert variables.read() == (1, UNBOUND)
    assert "MISSING" not in globals()


def test_a_trial_restores_everything() -> None:
    a, b = 1, 2
    owner, items = SimpleNamespace(x=1), [1, 2]
    new: object

    def body() -> None:
        nonlocal a, b, new
        a, b, new = a + 10, 20, 30
        owner.x = items[0] = 40

    variables = Variables("a, owner.x, items[0]", (body,))

    def run() -> Any:
        read = a, owner.x, [*items]
        body()
        return read

    assert variables.trial((5, 6, 7), run) == ((5, 6, [7, 2]), (15, 40, 40))
    # b and new are no state: nobody observes them, and they are restored all the same.
    assert (a, b, owner.x, items) == (1, 2, 1, [1, 2])
    assert Variables("new", (body,)).read() == (UNBOUND,)


def test_a_trial_restores_after_an_exception() -> None:
    a = 1

    def body() -> None:
        nonlocal a
        a = 2
        raise LookupError("mine")

    variables = Variables("a", (body,))

    with pytest.raises(LookupError, match="mine"):
        variables.trial((5,), body)
    assert a == 1


def test_a_trial_notices_what_is_no_state() -> None:
    items, seen = [1], {1}

    def body() -> None:
        items.append(2)
        seen.add(2)

    variables = Variables("", (body,))
    with pytest.raises(StagingError, match="the set `seen` is changed") as caught:
        variables.trial((), body)

    assert [d.code for d in caught.value.diagnostics] == ["AG207"]
    assert (items, seen) == ([1], {1})


def test_what_a_trial_finds_becomes_state() -> None:
    items, tried = [1], []

    def body() -> None:
        items.append(2)

    variables = Variables("", (body,))

    def attempt() -> Any:
        tried.append(variables.names)
        return variables.trial(variables.read(), body)

    assert variables.stage(attempt) == (None, ([1, 2],))
    assert tried == [(), ("items",)]
    assert items == [1]
    same = items
    variables.write(([1, 2, 3],))
    assert items is same == [1, 2, 3]


def test_bodies_that_reach_the_same_are_looked_at_once():
    x = y = 0
    bodies = [lambda: x + y, lambda: y - x, lambda: x, lambda: x + len("a"), lambda: 1]
    named = Variables("", bodies)._roots()
    assert [body for _, body in named] == [bodies[i] for i in (0, 2, 3, 4)]

    def counted(step=x):
        return x + step

    def marked():
        return x

    marked.total = 0
    roots = Variables("", [bodies[2], counted, marked])._roots()
    assert [body for _, body in roots] == [bodies[2], counted, marked]
