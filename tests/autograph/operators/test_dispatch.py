"""Which library answers for a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autograph import operators as ag
from tests.toybackend.toy import Call, Expr, Parameter, Toy, evaluate


class Foreign:
    """A type of a library that knows nothing of autograph."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Derived(Foreign):
    pass


class Unwrapping(Toy):
    """Answers with the choice that the foreign value will make."""

    def cond(self, test: Any, *args: Any) -> Any:
        return super().cond(test.value, *args)


@pytest.fixture
def backend() -> Iterator[Toy]:
    backend = Unwrapping()
    ag.register(Foreign, backend)
    yield backend
    ag.unregister(Foreign)


def test_types_carry_their_backend() -> None:
    assert ag.backend_of(Parameter()) is Expr.__autograph_backend__


@pytest.mark.parametrize("value", [1, None, "a", [Parameter()], object(), Expr, len])
def test_plain_python(value: Any) -> None:
    assert ag.backend_of(value) is None


def test_a_registered_type_and_its_subclasses(backend: Toy) -> None:
    assert ag.backend_of(Foreign(1)) is backend
    assert ag.backend_of(Derived(1)) is backend
    assert ag.backend_of(object()) is None

    x = Parameter()
    result = ag.cond(Derived(x > 1), lambda: "yes", lambda: "no")
    assert [evaluate(result, {x: n}) for n in (1, 2)] == ["no", "yes"]


def test_a_second_backend_is_refused(backend: Toy) -> None:
    with pytest.raises(ValueError, match="already registered for Foreign"):
        ag.register(Foreign, Toy())

    ag.register(Foreign, backend)  # the same once more changes nothing
    assert ag.backend_of(Foreign(1)) is backend


@pytest.mark.parametrize("cls", [bool, int, list, type(None)])
def test_python_answers_for_its_own_types(cls: type) -> None:
    with pytest.raises(ValueError, match="Python itself answers"):
        ag.register(cls, Toy())


def test_unregister() -> None:
    with pytest.raises(KeyError):
        ag.unregister(Foreign)

    ag.register(Foreign, Toy())
    ag.unregister(Foreign)

    assert ag.backend_of(Foreign(1)) is None
    assert ag.cond(Foreign(1), lambda: "an object is true") == "an object is true"


def test_a_backend_may_leave_a_value_to_python() -> None:
    class Sometimes(Toy):
        def stages(self, value: Any) -> bool:
            return value.value is None

    backend = Sometimes()
    ag.register(Foreign, backend)
    try:
        assert ag.backend_of(Foreign(1)) is None
        assert ag.backend_of(Foreign(None)) is backend
    finally:
        ag.unregister(Foreign)


def test_builtins() -> None:
    x = Parameter()

    assert ag.len([1, 2]) == 2
    assert ag.max(1, 2, key=lambda n: -n) == 1
    assert list(ag.range(1, 3)) == [1, 2]
    assert isinstance(ag.max(1, x), Call)
    assert evaluate(ag.max(1, x), {x: 7}) == 7
    assert ag.zip.__name__ == "zip"
