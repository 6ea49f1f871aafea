"""From ordinary functions to functions that call operators: tree to tree."""

from __future__ import annotations

from .functions import Context, convert_function

__all__ = ["Context", "convert_function"]
