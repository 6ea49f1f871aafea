"""The one door to JAX: imported when XLA is first needed, and set up for exact numbers.

JAX computes with 32 bits unless it is told otherwise, for the whole process. Graphs
have 64-bit integers and float64, so this tells it.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from runtime.errors import UnimplementedError

__all__ = ["MINIMUM", "load"]

#: The oldest JAX whose functions the rules call.
MINIMUM = (0, 4, 35)


@cache
def load() -> Any:
    """The module ``jax``, ready for the dtypes of graphs.

    Raises UnimplementedError that names the extra where JAX is missing or too old.
    """
    try:
        jax = importlib.import_module("jax")
    except ImportError as error:
        raise UnimplementedError(
            f"XLA runs through JAX, which cannot be imported ({error}): "
            "pip install 'autograph-compiler[xla]'"
        ) from None
    found = tuple([int(part) for part in re.findall(r"\d+", jax.__version__)[:3]])
    if found < MINIMUM:
        needed = ".".join(map(str, MINIMUM))
        raise UnimplementedError(
            f"XLA needs JAX {needed} or later, and {jax.__version__} is installed: "
            "pip install --upgrade 'autograph-compiler[xla]'"
        )
    jax.config.update("jax_enable_x64", True)
    return jax
