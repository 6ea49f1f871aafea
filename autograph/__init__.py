"""Ordinary Python control flow as readable calls of functional operators.

>>> import autograph
>>> def relu(x):
...     return x if x > 0 else 0
>>> print(autograph.to_code(relu))
def relu(x):
    return ag.cond(x > 0, lambda: x, 0)
<BLANKLINE>
>>> autograph.convert(relu)(-2)
0
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import operators
    from .api import convert, to_code
    from .errors import (
        AutographError,
        AutographWarning,
        ConversionError,
        SourceError,
        StagingError,
        VerificationError,
    )
    from .loading.import_hook import import_module, install_import_hook
    from .loading.replace_code import convert_in_place, convert_raising
    from .options import ConversionOptions
    from .ownership import add_library, do_not_convert, unconverted
    from .verification import verify

__all__ = [
    "AutographError",
    "AutographWarning",
    "ConversionError",
    "ConversionOptions",
    "SourceError",
    "StagingError",
    "VerificationError",
    "__version__",
    "add_library",
    "convert",
    "convert_in_place",
    "convert_raising",
    "do_not_convert",
    "import_module",
    "install_import_hook",
    "operators",
    "to_code",
    "unconverted",
    "verify",
]

# The compiler is loaded when it is first used: built modules need the operators only.
_HOMES = {
    "ConversionOptions": "options",
    "add_library": "ownership",
    "convert": "api",
    "convert_in_place": "loading.replace_code",
    "convert_raising": "loading.replace_code",
    "do_not_convert": "ownership",
    "import_module": "loading.import_hook",
    "install_import_hook": "loading.import_hook",
    "to_code": "api",
    "unconverted": "ownership",
    "verify": "verification",
    **{name: "errors" for name in __all__ if name.endswith(("Error", "Warning"))},
}


def __getattr__(name: str) -> Any:
    if name == "operators":
        return importlib.import_module(".operators", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic ``%%autograph``: see `commandline.magic`."""
    importlib.import_module(".commandline.magic", __name__).load(shell)


def _tell_libraries() -> None:
    """Call what tensor libraries that were imported before have for this moment."""
    for name, module in list(sys.modules.items()):
        tell = getattr(module, "__dict__", {}).get("__autograph_library__")
        if tell is not None and "." not in name:
            tell()


_tell_libraries()
