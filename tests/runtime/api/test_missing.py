"""Names of TensorFlow that are not here: the error says what to use."""

from __future__ import annotations

import importlib.util
import re
from functools import reduce

import pytest

import runtime as tf
from runtime.api.missing import ADVICE


def test_a_name_that_is_not_here() -> None:
    with pytest.raises(AttributeError, match=r"tf\.Session does not exist here: "):
        tf.Session
    assert not hasattr(tf, "distribute")


def test_a_name_that_is_misspelt() -> None:
    with pytest.raises(AttributeError, match="did you mean 'reduce_sum'"):
        tf.reduce_sums


def test_the_names_are_missing() -> None:
    assert [name for name in ADVICE if name in tf.__all__] == []


@pytest.mark.parametrize("name", ADVICE)
def test_what_is_advised_is_there(name: str) -> None:
    for path in re.findall(r"\btf((?:\.\w+)+)", ADVICE[name]):
        if path.startswith(".keras") and not importlib.util.find_spec("keras"):
            pytest.skip("Keras is not installed")
        if path != ".experimental.numpy":
            reduce(getattr, path[1:].split("."), tf)
