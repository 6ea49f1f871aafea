"""Converted code as it runs while nothing can be staged.

The tests run with `staging` begun (see conftest.py): what conversion makes of the
statements is to be tested on Python values, too, not the statements as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograph.operators import staging

__all__ = ["idle"]


@contextmanager
def idle() -> Iterator[None]:
    """Within the block nothing is staged, as in a program without tensors."""
    own, always = staging._own.count, staging._always
    staging._add(-own)
    staging._add(-always, anywhere=True)
    try:
        yield
    finally:
        staging._add(own)
        staging._add(always, anywhere=True)
