"""Functions under TensorFlow's names give what TensorFlow gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.names.tensorflow_expressions import EXPRESSIONS, RESULTS, as_data

RECORDED = json.loads(RESULTS.read_text())


def same(found: Any, expected: Any) -> bool:
    """Whether results are equal: floats to 1e-5."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return bool(np.allclose(found, expected, 1e-5, 1e-6, equal_nan=True))
    return bool(found == expected)


def test_all_were_recorded() -> None:
    assert list(RECORDED) == EXPRESSIONS


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("staged", [False, True], ids=["eager", "staged"])
def test_results(text: str, staged: bool) -> None:
    def compute() -> Any:
        return eval(text, {"tf": tf})

    found = tf.function(compute)() if staged else compute()

    assert same(as_data(found), RECORDED[text])


def test_parts_that_are_not_there() -> None:
    for compute in (tf.dynamic_partition, tf.function(tf.dynamic_partition)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="from 0 to 1"):
            compute([1, 2], [0, 2], 2)
