"""``tf.test``: what tests of programs ask."""

from __future__ import annotations

from runtime.autodiff.check import compute_gradient

__all__ = ["compute_gradient"]
