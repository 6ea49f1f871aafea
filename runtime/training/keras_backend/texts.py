"""The layers that Keras computes with TensorFlow's tables and texts, with ours instead.

Their modules name TensorFlow `tf`; here that becomes `runtime`. Words of several texts
are ragged in TensorFlow. Here they are an array, filled up with empty strings, which
the layers take for no word.
"""

from __future__ import annotations

from typing import Any, NoReturn

from keras.src.layers.preprocessing import (
    discretization,
    hashed_crossing,
    hashing,
    index_lookup,
    integer_lookup,
    string_lookup,
    text_vectorization,
)
from keras.src.utils import tf_utils

import runtime as tf
from runtime.ops.text.patterns import split_padded

_MODULES: tuple[Any, ...] = (
    discretization,
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
    strings = _Names(tf.strings, split=split_padded, unicode_split=split_padded)
    names = _Names(tf, available=True, strings=strings)
    for module in _MODULES:
        module.tf = names
    lookup: Any = index_lookup
    lookup.get_null_initializer = _NoItems
    crossing: Any = hashed_crossing.HashedCrossing
    crossing.__init__ = _refuse


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "keras.layers.HashedCrossing is computed with sparse tensors, which do not "
        "exist here: give keras.layers.Hashing what tf.strings.join makes of the parts"
    )
