"""Items whose keys are texts with brackets, commas and quotes in them."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


def assign(x: Any) -> Any:
    d = {"a[0]": 0, "b, c": 1, "it's": 2, -1: 3, (1, "q]"): 4, "ü": 5}
    i = 1
    if x > 0:
        d["a[0]"] = x
        d["b, c"] = x
        d["it's"] = x
        d[-1] = x
        d[i, "q]"] = x
        d["ü"] = x
    return list(d.values())


@pytest.mark.parametrize("number", [7, -7])
def test_any_key_may_be_assigned_in_a_branch(number: int) -> None:
    staged = tf.function(assign)(tf.constant(number))
    assert [int(value) for value in staged] == assign(number)
