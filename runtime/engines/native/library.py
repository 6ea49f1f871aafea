"""The one door to llvmlite: imported when native code is first needed."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from runtime.core.errors import UnimplementedError

#: The oldest llvmlite that the tests pass with: LLVM has pointers without types alone.
MINIMUM = (0, 46)


@cache
def load() -> Any:
    """The module ``llvmlite``, whose LLVM is ready to compile for this processor.

    Raises UnimplementedError that names the extra where it is missing or too old.
    """
    try:
        llvmlite = importlib.import_module("llvmlite")
    except ImportError as error:
        raise UnimplementedError(
            f"native code is made by llvmlite, which cannot be imported ({error}): "
            "pip install 'autograph-compiler[native]'"
        ) from None
    found = tuple([int(part) for part in re.findall(r"\d+", llvmlite.__version__)[:2]])
    if found < MINIMUM:
        needed = ".".join(map(str, MINIMUM))
        raise UnimplementedError(
            f"native code needs llvmlite {needed} or later, and "
            f"{llvmlite.__version__} is installed: "
            "pip install --upgrade 'autograph-compiler[native]'"
        )
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return llvmlite
