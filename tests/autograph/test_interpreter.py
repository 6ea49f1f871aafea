"""What can be converted does not depend on how deep the caller is."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograph
from autograph.errors import SourceError
from autograph.interpreter import no_collection, recursion_room
from autograph.pipeline import convert_module
from autograph.source.text import Source

ELIFS = "if x == 0:\n        y = 0\n" + "".join(
    f"    elif x == {i}:\n        y = {i}\n" for i in range(1, 158)
)
#: Whether the last test is plain depends on all the lines before.
COUNTED = "y = 0\n" + "    y = y + 1\n    if y > 3:\n        z = x\n" * 157
NESTED = "".join(f"{' ' * i}    if x >= {i}:\n" for i in range(60)).strip()
NESTED += f"\n{' ' * 70}y = x\n"


def function(tmp_path: Path, body: str) -> Any:
    path = tmp_path / "room.py"
    path.write_text(f"def f(x):\n    {body}    return y\n")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace["f"]


def below(frames: int, call: Callable[[], Any]) -> Any:
    return below(frames - 1, call) if frames else call()


def depth() -> int:
    frame, found = sys._getframe(), 0
    while frame is not None:
        frame, found = frame.f_back, found + 1  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(
    ("body", "result"),
    [(ELIFS, 77), (COUNTED, 157), (NESTED, 77)],
    ids=["elifs", "counted", "nested"],
)
@pytest.mark.parametrize("frames", [100, 900])
def test_depth_of_the_caller_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, result: int, frames: int
) -> None:
    monkeypatch.setenv("AUTOGRAPH_NO_CACHE", "1")
    f = function(tmp_path, body)
    frames = sys.getrecursionlimit() - 1000 + frames - depth()
    converted = below(frames, lambda: autograph.convert(f))

    assert converted(77) == result
    assert "def f(x):" in below(frames, lambda: autograph.to_code(f))


def test_what_is_nested_too_deeply_is_said_anywhere(tmp_path: Path) -> None:
    f = function(tmp_path, ELIFS.replace("x", " + ".join("x" * 800), 1))
    frames = sys.getrecursionlimit() - 100 - depth()
    with pytest.raises(SourceError, match="AG105"):
        below(frames, lambda: autograph.to_code(f))


def test_a_module_is_converted_near_the_limit() -> None:
    frames = sys.getrecursionlimit() - 100 - depth()
    source = Source(f"def f(x):\n    {ELIFS}    return y\n", "room.py")
    conversion = below(frames, lambda: convert_module(source))
    code = below(frames, conversion.code)

    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert not conversion.diagnostics
    assert namespace["f"](99) == 99


def test_the_limit_is_restored() -> None:
    limit = sys.getrecursionlimit()
    with recursion_room():
        assert sys.getrecursionlimit() >= depth() + 1900
        with pytest.raises(KeyError), recursion_room():
            raise KeyError
        assert sys.getrecursionlimit() >= depth() + 1900
    assert sys.getrecursionlimit() == limit

    with recursion_room():
        sys.setrecursionlimit(limit + 7)  # somebody else's wish
    assert sys.getrecursionlimit() == limit + 7
    sys.setrecursionlimit(limit)


def test_the_collector_waits_and_goes_on() -> None:
    assert gc.isenabled()
    with no_collection():
        with pytest.raises(KeyError), no_collection():
            raise KeyError
        assert not gc.isenabled()
    assert gc.isenabled()

    gc.disable()  # the program wants it so
    with no_collection():
        pass
    assert not gc.isenabled()
    gc.enable()
