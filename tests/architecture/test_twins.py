"""What two packages need that may not import each other is the same in both.

The lowest floors of the runtime run without the compiler, as in a program that loads a
saved model, and the compiler knows no tensor library.
"""

from __future__ import annotations

import inspect

import pytest

from autograph import frames
from autograph.operators import classes
from runtime.core.location import frames as frames_of_the_runtime
from runtime.core.types import classes as classes_of_the_runtime

CLASSES = classes, classes_of_the_runtime
TWINS = {
    "defines": CLASSES,
    "outwards": (frames, frames_of_the_runtime),
    "remembered": CLASSES,
}


@pytest.mark.parametrize("name", TWINS)
def test_both_have_the_same_text(name: str) -> None:
    one, other = (getattr(module, name) for module in TWINS[name])

    assert inspect.getsource(one) == inspect.getsource(other)
