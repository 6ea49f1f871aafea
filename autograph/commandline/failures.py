"""What went wrong in a command: its exit status and the diagnostics to print."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence

from ..diagnostics import Diagnostic
from ..errors import AutographError, TargetError


def failure(error: Exception) -> tuple[int, Sequence[Diagnostic]]:
    """The exit status after an error, and the diagnostics to print."""
    if isinstance(error, AutographError):
        return 2 if isinstance(error, TargetError) else 1, error.diagnostics
    return 1, [_internal_error(error)]


def _internal_error(error: Exception) -> Diagnostic:
    if os.environ.get("AUTOGRAPH_DEBUG"):
        traceback.print_exception(error)
    return Diagnostic(
        "AG400",
        "internal error: this is a fault of autograph, not of your code",
        f"{type(error).__name__}: {error}",
        fix="report it with the source; AUTOGRAPH_DEBUG=1 shows the traceback",
    )
