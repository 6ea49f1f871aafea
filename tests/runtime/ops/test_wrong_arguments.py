"""Arguments of the wrong kind: each error names the argument and what it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf


def _two(x: Any, y: Any) -> Any:
    return x


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: tf.function(_two, max_traces="a"),  # type: ignore[call-overload]
        ValueError,
        "max_traces must be 1 or more, not 'a'",
    ),
    (
        lambda: tf.function(_two, input_signature=[tf.TensorSpec([])]),
        TypeError,
        "the input_signature has 1 specs for the arguments: _two() missing a required "
        "argument: 'y'",
    ),
    (lambda: tf.Variable(1, name=3), TypeError, "a name is a string, not 3"),  # type: ignore[arg-type]
    (lambda: tf.Module(3), ValueError, "3 is not the name of a module"),  # type: ignore[arg-type]
    (lambda: tf.print(1, sep=3), TypeError, "sep must be a string, not 3"),  # type: ignore[arg-type]
    (lambda: tf.print(1, end=3), TypeError, "end must be a string, not 3"),  # type: ignore[arg-type]
    (
        lambda: tf.print(1, summarize="a"),  # type: ignore[arg-type]
        TypeError,
        "summarize must be a number of elements or -1, not 'a'",
    ),
    (
        lambda: tf.strings.format(3, 1),
        TypeError,
        "the template must be a Python string, not 3",
    ),
]


@pytest.mark.parametrize(("use", "error", "text"), WRONG)
def test_errors_name_what_is_wrong(
    use: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=re.escape(text)):
        use()
