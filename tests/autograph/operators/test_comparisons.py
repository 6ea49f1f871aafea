"""``x is y``, where objects answer themselves."""

from __future__ import annotations

import pytest

import autograph
from autograph import operators as ag
from autograph.operators.comparisons import is_, is_not


class Answering(type):
    """A metaclass that answers for every name."""

    def __getattr__(cls, name):
        return lambda *args: "answered"


class Odd(metaclass=Answering):
    pass


class Equal:
    def __eq__(self, other):
        return True

    __hash__ = None


class Standing:
    """Stands for an object."""

    def __init__(self, value):
        self.value = value

    def __autograph_is__(self, other):
        return self.value is other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1),
        ([], []),
        (None, None),
        (None, 0),
        ((), ()),
        (Odd(), Odd()),
        (Odd, Odd),
        (Equal(), Equal()),
        (float("nan"), 1.0),
        (NotImplemented, ...),
    ],
)
def test_python_values_are_what_python_says(one, other):
    for left, right in ((one, other), (other, one), (one, one)):
        assert is_(left, right) is (left is right)
        assert is_not(left, right) is (left is not right)


def test_what_stands_for_an_object_answers():
    value = []

    assert is_(Standing(value), value) is True
    assert is_(value, Standing(value)) is True
    assert is_(Standing(value), []) is False
    assert is_not(Standing(value), value) is False
    assert is_not([], Standing(value)) is True


def asked(a, b, rows):
    return a is b, rows[0] is not a, a.x is b


def of_fixed_objects(a, b):
    class Local:
        pass

    import math

    return (
        a is True,
        type(a) is int,
        a is ...,
        a.__class__ is Local,
        b is Local,
        b is math,
        a is not NotImplemented,
    )


def test_what_a_tensor_may_have_chosen_is_asked():
    text = autograph.to_code(asked)

    assert "ag.is_(a, b), ag.is_not(rows[0], a), ag.is_(a.x, b)" in text


def test_a_name_in_capitals_may_be_of_what_a_tensor_chose():
    text = autograph.to_code(lambda a: (a is Equal.KIND, a is ONE))

    assert "ag.is_(a, Equal.KIND), ag.is_(a, ONE)" in text


ONE = [1]


def test_what_no_tensor_chooses_stays_as_it_is():
    text = autograph.to_code(of_fixed_objects)

    assert "ag.is_(" not in text


def values_that_python_chose(flag):
    a = [1]
    b = [2]
    if a is b:
        return 1
    return 2


def test_what_python_chose_stays_as_it_is():
    assert "ag." not in autograph.to_code(values_that_python_chose)


def test_the_operators_are_public():
    assert {"is_", "is_not"} <= set(ag.__all__)
