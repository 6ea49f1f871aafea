"""Errors of parsing: each has a place in the source."""

from __future__ import annotations

import re
from typing import Any

import pytest

from autograph.errors import SourceError
from autograph.pipeline import convert_module
from autograph.source.parse import parse_module
from autograph.source.text import Source


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = é = = 2\n", "2:9: AG100"),
        ("def f(:\n  pass", "1:7: AG100"),
        ("x = '''", "1:5: AG100"),
        ("a = 1\0", ": AG100"),
        ("return" + "(" * 500, ": AG100"),
    ],
)
def test_syntax_errors_are_located(text: str, place: str) -> None:
    with pytest.raises(SourceError) as raised:
        parse_module(Source(text, "f.py"))

    assert place in str(raised.value)
    assert str(raised.value).startswith("f.py:")


def test_code_that_is_nested_too_deeply_is_valid_python() -> None:
    branches = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(300))
    zeros = " + ".join(["0"] * 900)
    text = (
        f"def f(x):\n    if x < 0:\n        y = 0\n{branches}    return y + {zeros}\n"
    )
    compile(text, "deep.py", "exec")

    conversion = convert_module(Source(text, "deep.py"))

    (refusal,) = conversion.diagnostics
    assert re.match(r"deep\.py:\d+:1: AG105", str(refusal))
    assert "split it into functions" in str(refusal)
    namespace: dict[str, Any] = {}
    exec(conversion.code(), namespace)
    assert namespace["f"](299) == 299


def test_invalid_escapes_do_not_warn() -> None:
    parse_module(Source(r"x = '\d'"))
