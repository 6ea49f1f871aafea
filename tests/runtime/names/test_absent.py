"""Ragged and sparse tensors: refused where they are made, with what to use instead."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest

import runtime as tf

USES: list[tuple[Any, str]] = [
    (lambda: tf.RaggedTensor.from_row_lengths([1], [1]), "tf.RaggedTensor.from_row_"),
    (lambda: tf.RaggedTensor([1], [1]), "tf.RaggedTensor: there are no ragged"),
    (lambda: tf.RaggedTensorSpec([None, None]), "tf.RaggedTensorSpec: "),
    (lambda: tf.SparseTensor([[0]], [1], [2]), "tf.SparseTensor: .*tf.scatter_nd"),
    (lambda: tf.SparseTensorSpec([2]), "tf.SparseTensorSpec: there are no sparse"),
]


@pytest.mark.parametrize(("use", "message"), USES)
def test_uses_are_refused(use: Any, message: str) -> None:
    for run in (use, tf.function(use)):
        with pytest.raises(tf.errors.UnimplementedError, match=message):
            run()


def test_namespaces_are_not_there() -> None:
    with pytest.raises(AttributeError, match=r"tf.ragged does not .*tf.boolean_mask"):
        tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(AttributeError, match=r"tf.sparse does not .*tf.scatter_nd"):
        tf.function(lambda: tf.sparse.from_dense([0, 1]))()


def test_asking_is_allowed() -> None:
    assert not isinstance(tf.constant(1), (tf.RaggedTensor, tf.SparseTensor))
    assert not hasattr(tf.RaggedTensor, "__wrapped__")
    assert inspect.unwrap(tf.SparseTensor) is tf.SparseTensor
    assert not hasattr(tf, "ragged")
    assert not hasattr(tf, "sparse")
    assert copy.copy(tf.RaggedTensor) is tf.RaggedTensor
