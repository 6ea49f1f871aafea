"""``tf.experimental``: NumPy's view, and tensors that are divided over many devices."""

from typing import TYPE_CHECKING

from runtime.core.missing import advise as _advise
from runtime.training.distribute import dtensor as dtensor

if TYPE_CHECKING:
    from runtime.names import numpy_view as numpy

__all__ = ["dtensor", "numpy"]

#: Has Python ask the finder of namespaces: ``import runtime.experimental.numpy``.
__path__: list[str] = []
_LATER = {"numpy": "runtime.names.numpy_view"}
_advise(dtensor, "tf.experimental.dtensor")
