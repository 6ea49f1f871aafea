"""Objects that have several names, and tensors as keys: right or refused in graphs."""

from __future__ import annotations

import pytest

import runtime as tf
from runtime.errors import UnhashableTensorError


def new_key(n):
    table = {}
    table[n] = 1
    return len(table)


def known_key(n):
    table = {1: 0, 2: 0}
    table[1 if n > 0 else 2] = 5
    return table[1]


def text_key(n):
    table = {"even": 0, "odd": 0}
    for i in range(n):
        table["even" if i % 2 == 0 else "odd"] += 1
    return table["even"]


@pytest.mark.parametrize("program", [new_key, known_key, text_key])
def test_a_tensor_in_a_graph_is_no_key(program):
    with pytest.raises(UnhashableTensorError, match="AG313"):
        tf.function(program)(tf.constant(1))
