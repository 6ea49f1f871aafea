"""What a statement is refused for: all of its variables at once, by name."""

from __future__ import annotations

import re

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError


def refusal(program) -> str:
    with pytest.raises(StagedStateError) as caught:
        tf.function(program)(tf.constant(3))
    return str(caught.value)


def test_all_variables_of_a_branch_are_named() -> None:
    def program(n):
        a = b = c = 1
        if n > 0:
            a, b, c = program, {"k": 1}, 2
        return a, b, c

    message = refusal(program)

    assert re.findall(r"AG201: ('\w+') is", message) == ["'a'", "'b'"]


def test_all_variables_of_a_loop_are_named() -> None:
    def program(n):
        a = b = c = 1
        while n > 0:
            a, b, c = object(), {"k": 1}, 2
            n -= 1
        return a, b, c

    message = refusal(program)

    assert re.findall(r"AG202: ('\w+') is", message) == ["'a'", "'b'"]


def test_all_dtypes_of_a_branch_are_named() -> None:
    def program(n):
        a = b = c = tf.constant(1)
        if n > 0:
            a, b, c = "text", tf.constant(True), c + 1
        return a, b, c

    message = refusal(program)

    assert re.findall(r"AG206: ('\w+') has", message) == ["'a'", "'b'"]


def test_all_dtypes_of_a_loop_are_named() -> None:
    def program(n):
        a = b = c = tf.constant(1)
        while n > 0:
            a, b, c, n = tf.constant("text"), tf.constant(True), c + 1, n - 1
        return a, b, c

    message = refusal(program)

    assert re.findall(r"AG206: ('\w+') has", message) == ["'a'", "'b'"]


def test_a_value_has_the_name_of_its_variable() -> None:
    def program(n):
        x = program if n > 0 else n
        return x

    assert "AG201: the value chosen here for 'x' is the function" in refusal(program)


def test_a_value_is_unpacked() -> None:
    def program(n):
        x, y = (1, program) if n > 0 else (2, 3)
        return x, y

    assert "AG201: the value chosen here for 'y' is the function" in refusal(program)


def test_a_part_of_a_value() -> None:
    def program(n):
        x = [1, program] if n > 0 else [2, 3]
        return x

    assert "AG201: the value chosen here for 'x[1]' is the function" in refusal(program)


def test_a_value_without_a_name() -> None:
    def program(n):
        return program if n > 0 else n

    assert "AG201: the value chosen here is the function" in refusal(program)


def test_an_attribute() -> None:
    def program(n):
        program.value = program if n > 0 else n

    assert "AG201: the value chosen here for 'program.value' is" in refusal(program)


def test_a_dtype_of_a_value() -> None:
    def program(n):
        x = "text" if n > 0 else n
        return x

    assert "AG206: the value chosen here for 'x' has two" in refusal(program)
