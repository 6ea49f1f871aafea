from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

import runtime.user_code
from runtime.user_code import raise_location

OURS = runtime.user_code.__file__
STANDARD = collections.__file__


def function_of(filename: str, body: str, **names: Any) -> Callable[[], Any]:
    exec(compile(f"def function():\n    {body}", filename, "exec"), names)
    return names["function"]


@pytest.mark.parametrize(
    ("files", "where"),
    [
        (["user.py"], "user.py"),
        (["user.py", OURS], "user.py"),
        (["user.py", OURS, STANDARD], "user.py"),
        (["user.py", OURS, STANDARD, "callback.py"], "callback.py"),
        (["user.py", STANDARD], STANDARD),
    ],
)
def test_the_standard_library_is_the_users_where_they_call_it(
    files: list[str], where: str
) -> None:
    function = function_of(files[-1], "raise ValueError")
    for filename in reversed(files[:-1]):
        function = function_of(filename, "inner()", inner=function)

    with pytest.raises(ValueError, match="^$") as caught:
        function()

    assert raise_location(caught.value) == (where, 2)
