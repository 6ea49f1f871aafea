"""The operators that converted code calls, under the name ``ag``.

They mean what the Python statements and expressions they stand for mean; values of a
tensor library are answered by its backend (see `Backend` and `register`). This package
imports neither the compiler nor a tensor library: built modules run with it alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ownership import user_location
from .activity import Staging, staging
from .builtins import dict_of, list_of, set_of, unpacked
from .builtins import functions as _builtin_functions
from .calls import call, scoped, set_converter
from .classes import class_of
from .comparisons import (
    compare,
    eq,
    in_,
    is_,
    is_none,
    is_not,
    is_not_none,
    not_eq,
    not_in,
)
from .comprehensions import generator, list_comp, unrolled
from .control_flow import case, cond, for_loop, holds, while_loop
from .dispatch import (
    UNBOUND,
    Backend,
    Later,
    LoopOver,
    Unbound,
    backend_of,
    register,
    unregister,
)
from .items import item, target
from .items import slice_ as slice
from .library import of_library
from .logical import all_of, and_, any_of, not_, or_, truth
from .matching import is_bool, match, subject
from .merge.perhaps import Perhaps, fact
from .merge.raising import Raised
from .state.trials import replaced
from .text import fstring, join, percent
from .unbound import unbound_local_error, unbound_locals

__all__ = [
    "UNBOUND",
    "Backend",
    "Later",
    "LoopOver",
    "Perhaps",
    "Raised",
    "Staging",
    "Unbound",
    "all_of",
    "and_",
    "any_of",
    "backend_of",
    "call",
    "case",
    "class_of",
    "compare",
    "cond",
    "dict_of",
    "eq",
    "fact",
    "for_loop",
    "fstring",
    "generator",
    "holds",
    "in_",
    "is_",
    "is_bool",
    "is_none",
    "is_not",
    "is_not_none",
    "item",
    "join",
    "list_comp",
    "list_of",
    "match",
    "not_",
    "not_eq",
    "not_in",
    "of_library",
    "or_",
    "percent",
    "register",
    "replaced",
    "scoped",
    "set_converter",
    "set_of",
    "slice",
    "staging",
    "subject",
    "target",
    "truth",
    "unbound_local_error",
    "unbound_locals",
    "unpacked",
    "unregister",
    "unrolled",
    "user_location",
    "while_loop",
]
__all__ += sorted(_builtin_functions)
globals().update(_builtin_functions)


if TYPE_CHECKING:
    # The builtins above are set by name. At run time, Python would find the operators
    # of a module with such a function more slowly.
    def __getattr__(name: str) -> Any: ...
