"""Gradients as native code: as by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.models import MODELS, check, gradients
from tests.runtime.autodiff.programs import PROGRAMS
from tests.runtime.autodiff.test_programs import X, on_tape, plain
from tests.turns import by_turns, quarter


def test_models() -> None:
    cases = quarter(MODELS)
    parameters = [p for _, p in cases]
    found = tf.function(lambda p: gradients(cases, p), executor="native")(parameters)
    check(cases, found, tf.function(lambda p: gradients(cases, p))(parameters))


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_programs(name: str) -> None:
    x = tf.constant(X)
    found: Any = tf.function(on_tape(plain(name)), executor="native")(x)
    expected = tf.function(on_tape(plain(name)))(x)
    np.testing.assert_allclose(found, expected, 1e-9, 1e-11)
