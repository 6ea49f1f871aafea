"""What ``tf.image`` computes is what TensorFlow computes: see `record`."""

from __future__ import annotations

import numpy as np
import pytest

import runtime as tf
from tests.runtime.ops.pictures import record

CASES = {case.name: case for case in record.cases()}
RECORDED = dict(np.load(record.RECORDED))


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_tensorflow_does(name: str) -> None:
    check_equal(record.results(tf, CASES[name]), RECORDED[name])


def check_equal(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind == "f":
        tolerance = 1e-3 if expected.dtype == np.float16 else 1e-5
        at_zero = tolerance * max(1, np.nanmax(np.abs(expected[np.isfinite(expected)])))
        np.testing.assert_allclose(found, expected, tolerance, at_zero)
    else:
        apart = np.abs(found.astype(np.int64) - expected.astype(np.int64))
        assert apart.max(initial=0) <= 1
