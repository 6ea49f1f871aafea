"""`tf.function`: Python functions that run as graphs, one for each kind of call."""

from __future__ import annotations

from runtime.function.function import Function, function

__all__ = ["Function", "function"]
