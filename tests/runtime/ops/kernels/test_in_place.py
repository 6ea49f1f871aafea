"""When kernels change the array that their caller gives away."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.ops.kernels.in_place import in_place


@in_place
def is_given(array, owned):
    return owned


def test_an_array_of_one_variable_is_given_away():
    array = np.zeros(3)

    assert is_given(array)


def test_an_array_of_two_variables_is_not():
    array = np.zeros(3)
    other = array

    assert not is_given(array)
    assert other is array


def test_the_only_view_of_an_array_is_given_away():
    view = np.zeros(4)[1:]

    assert is_given(view)


def test_the_view_of_a_view_is_given_away():
    view = np.zeros(4)[1:][1:]

    assert is_given(view)


def test_a_view_of_an_array_that_somebody_holds_is_not():
    array = np.zeros(4)
    view = array[1:]

    assert not is_given(view)
    assert not is_given(array)


def test_one_of_two_views_is_not():
    array = np.zeros(4)
    view, other = array[1:], array[:1]
    del array

    assert not is_given(view)
    del other
    assert is_given(view)


@pytest.mark.parametrize("make", [bytes, bytearray])
def test_a_view_of_what_is_no_array_is_not(make):
    view = np.frombuffer(make(16))

    assert not is_given(view)
