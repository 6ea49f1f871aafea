"""Programs whose accesses to arrays are all checked: see `Builder.checks_accesses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import RULES, Step, rule
from runtime.engines.native.nests import moved
from runtime.engines.native.types import number
from tests import op_fuzz
from tests.op_programs import random_program
from tests.runtime.autodiff.models import MODELS, check, gradients
from tests.runtime.random_programs import MAKERS, SEEDS, Program, differences
from tests.turns import quarter


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Builder, "checks_accesses", True)


@mock.patch.dict(RULES)
def test_an_access_outside_of_an_array_says_where() -> None:
    @rule("Reverse", "ReverseV2")
    def shifted(step: Step, x: Any, **_: Any) -> Any:
        add = step.builder.ir.add
        return moved(step.builder, x.shape, x, lambda at: (add(at[0], number(1)),))

    function = tf.function(lambda x: tf.reverse(x, [0]), executor="native")
    with pytest.raises(tf.errors.InternalError, match=r"test_accesses.py:\d+: native"):
        function(tf.constant(np.zeros(100, np.float32)))


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs(make: Callable[[int], Program]) -> None:
    found = {seed: list(differences(make(seed), "native")) for seed in SEEDS}
    assert not {seed: texts for seed, texts in found.items() if texts}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_about_operations(seed: int) -> None:
    ways = [(shapes, "native") for shapes in ("static", "open")]
    assert not list(op_fuzz.differences(random_program(seed), ways))


def test_models() -> None:
    cases = quarter(MODELS)
    parameters = [p for _, p in cases]
    found = tf.function(lambda p: gradients(cases, p), executor="native")(parameters)
    check(cases, found, tf.function(lambda p: gradients(cases, p))(parameters))
