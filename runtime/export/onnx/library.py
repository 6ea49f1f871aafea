"""The one door to the package ``onnx``, which writes the files."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from runtime.core.errors import UnimplementedError

#: The first set of ops with integers bit by bit and reductions along computed axes.
OPSET = 18
#: The version of the file format that goes with it.
IR_VERSION = 8


@cache
def load() -> Any:
    """The module ``onnx``. Raises UnimplementedError, which names the extra."""
    try:
        importlib.import_module("onnx.helper")
        return importlib.import_module("onnx")
    except ImportError as error:
        raise UnimplementedError(
            f"ONNX models are written by a package that cannot be imported ({error}): "
            "pip install 'autograph-compiler[onnx]'"
        ) from None
