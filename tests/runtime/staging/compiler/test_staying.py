"""Errors of code that is left unconverted: what they say, and advise."""

from __future__ import annotations

import pytest

import runtime as tf


def sees_variables(x):
    total = 0
    if x > 0:
        total = 1
    return total if "x" in locals() else 0


@tf.function
def decorated(x):
    while x > 0:
        x -= 1
    exec("pass")
    return x


def calls_generator(x):
    def items():
        if x > 0:
            yield x

    return sum(list(items()))


def leaves_finally(x):
    while True:
        try:
            x += 1
        finally:
            if x > 0:
                break
    return x


sees_in_lambda = lambda x: (1 if x > 0 else 2, locals())  # noqa: E731


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize(
    ("function", "why", "advice"),
    [
        (sees_variables, "`locals` sees the variables", "name the variables instead"),
        (sees_in_lambda, "`locals` sees the variables", "name the variables instead"),
        (decorated, "`exec` sees the variables", "name the variables instead"),
        (calls_generator, "has a `yield` in it", "make a list in a loop"),
        (leaves_finally, "leaves a `finally`", "jump after the `finally`"),
    ],
)
def test_the_error_says_why(function, why: str, advice: str) -> None:
    staged = function if function is decorated else tf.function(function)

    with pytest.raises(tf.errors.SymbolicTensorError) as raised:
        staged(tf.constant(3))

    text = str(raised.value)
    assert f"AG106: {why}" in text or why in text.partition("AG106: ")[2]
    assert f"is being traced: {advice}" in text
    assert "let the code be converted" not in text
