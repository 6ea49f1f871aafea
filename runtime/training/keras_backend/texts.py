"""The layers that Keras computes with TensorFlow's tables and texts, with ours instead.

Their modules name TensorFlow `tf`; here that becomes `runtime`. Words of several texts
are ragged in TensorFlow. Here they are an array, filled up with empty strings, which
the layers take for no word.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

from keras.src.layers.preprocessing import (
    discretization,
    feature_space,
    hashed_crossing,
    hashing,
    index_lookup,
    integer_lookup,
    string_lookup,
    text_vectorization,
)
from keras.src.utils import backend_utils, tf_utils

import runtime as tf
from runtime.core.tensor import EagerTensor
from runtime.ops.text.patterns import cross_hashed, ngrams_padded, split_padded

_MODULES: tuple[Any, ...] = (
    discretization,
    feature_space,
    hashed_crossing,
    hashing,
    index_lookup,
    integer_lookup,
    string_lookup,
    text_vectorization,
    tf_utils,
)


class _Names:
    """A namespace with some names changed."""

    def __init__(self, space: Any, **changed: Any) -> None:
        self._space = space
        vars(self).update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)


class _NoItems:
    """What initializes a table that is empty until a model is loaded."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self.key_dtype, self.value_dtype = map(tf.as_dtype, (key_dtype, value_dtype))

    def items(self) -> tuple[()]:
        return ()


def install() -> None:
    """Let the layers compute with `runtime`."""
    strings = _Names(
        tf.strings,
        split=split_padded,
        unicode_split=split_padded,
        ngrams=ngrams_padded,
    )
    # What is crossed is dense here at once.
    sparse = SimpleNamespace(cross_hashed=cross_hashed, to_dense=tf.identity)
    names = _Names(tf, available=True, strings=strings, sparse=sparse)
    for module in _MODULES:
        module.tf = names
    lookup: Any = index_lookup
    lookup.get_null_initializer = _NoItems
    # What it computes is a tensor of Keras's backend already.
    space: Any = feature_space
    space.backend_utils = _Names(backend_utils, in_tf_graph=lambda: True)
    vectorization: Any = text_vectorization.TextVectorization
    vectorization._apply_standardize_with_np_arrays = _standardizing(
        vectorization._apply_standardize_with_np_arrays
    )


def _standardizing(of_arrays: Any) -> Any:
    """The use of a function that standardizes, which gets symbolic tensors as such.

    Keras gives it an array of texts, of functions of NumPy. Those of `tf.strings` take
    that as well.
    """

    @functools.wraps(of_arrays)
    def standardize(layer: Any, inputs: Any) -> Any:
        if isinstance(inputs, tf.Tensor) and not isinstance(inputs, EagerTensor):
            return layer._standardize(inputs)
        return of_arrays(layer, inputs)

    return standardize
