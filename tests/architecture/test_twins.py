"""What two packages need that may not import each other is the same in both.

The lowest floors of the runtime run without the compiler, as in a program that loads a
saved model, and the compiler knows no tensor library.
"""

from __future__ import annotations

import inspect

import pytest

from autograph.operators import classes as of_the_compiler
from runtime.types import classes as of_the_runtime


@pytest.mark.parametrize("name", ["defines", "remembered"])
def test_both_have_the_same_text(name: str) -> None:
    one, other = (getattr(m, name) for m in (of_the_compiler, of_the_runtime))

    assert inspect.getsource(one) == inspect.getsource(other)
