"""Names that tensors have not, and what there is in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.errors import TensorMethodError

#: What the behavior of NumPy adds to tensors: see `tf.experimental.numpy`.
array_attributes: dict[str, Callable[[Any], Any]] = {}

#: The methods of lists that a tensor of a dimension or more has in a graph, where it
#: stands for a list: they leave the list as it is.
METHODS_OF_LISTS = frozenset({"copy", "count", "index"})
_CHANGING = frozenset(
    {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}
)
_OF_VARIABLES = frozenset({"assign", "assign_add", "assign_sub"})

#: What does in a tensor's case what the attributes and methods of arrays do.
_OF_ARRAYS = {
    **{
        name: f"tf.reduce_{name}(x)"
        for name in ("all", "any", "max", "mean", "min", "prod", "sum")
    },
    **{
        name: f"tf.{name}(x)"
        for name in (
            "argmax",
            "argmin",
            "argsort",
            "cumsum",
            "round",
            "size",
            "squeeze",
            "transpose",
        )
    },
    "T": "tf.transpose(x)",
    "astype": "tf.cast(x, dtype)",
    "clip": "tf.clip_by_value(x, low, high)",
    "conj": "tf.math.conj(x)",
    "cumprod": "tf.math.cumprod(x)",
    "diagonal": "tf.linalg.diag_part(x)",
    "dot": "tf.tensordot(x, y, 1)",
    "fill": "tf.fill(tf.shape(x), value)",
    "flatten": "tf.reshape(x, [-1])",
    "imag": "tf.math.imag(x)",
    "item": "int(x) or float(x)",
    "nonzero": "tf.where(x)",
    "ravel": "tf.reshape(x, [-1])",
    "real": "tf.math.real(x)",
    "repeat": "tf.repeat(x, repeats)",
    "reshape": "tf.reshape(x, shape)",
    "std": "tf.math.reduce_std(x)",
    "swapaxes": "tf.transpose(x, perm)",
    "take": "tf.gather(x, indices)",
    "tolist": "list(x)",
    "trace": "tf.linalg.trace(x)",
    "var": "tf.math.reduce_variance(x)",
}


def no_attribute(tensor: Any, name: str) -> AttributeError:
    """The error for a name that tensors have not, with what there is in its place.

    >>> import runtime as tf
    >>> print(no_attribute(tf.constant(1.5), "astype"))
    'Tensor' object has no attribute 'astype': use tf.cast(x, dtype)
    >>> print(no_attribute(tf.constant([1, 2]), "append"))
    AG314: 'Tensor' object has no attribute 'append': a tensor never changes; ...
    """
    # The text is TensorFlow's; the class is not told apart from eager tensors.
    text = f"'Tensor' object has no attribute {name!r}"
    if name in _CHANGING and tensor.shape.rank != 0:
        return TensorMethodError(
            f"AG314: {text}: a tensor never changes; make a list of it first: "
            "`items = list(items)`"
        )
    if name in METHODS_OF_LISTS and tensor.shape.rank != 0:
        text += f": use list(x).{name}" if name != "copy" else ": use list(x)"
    elif name in _OF_ARRAYS:
        text += f": use {_OF_ARRAYS[name]}"
    elif name in _OF_VARIABLES:
        text += (
            f": variables have, and what an index reads of one, as in v[0].{name}(x)"
        )
    elif name == "name":
        text = "an eager tensor has no name"
    return AttributeError(text)
