"""Who may stage, as converted functions ask it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograph
from autograph.operators import Backend, register, staging, unregister
from autograph.operators.activity import Staging
from tests.idle import idle


def in_thread(function: Callable[[], None]) -> None:
    """Run a function in a thread of its own, to its end."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


@pytest.fixture
def beside() -> Iterator[None]:
    """As if another thread traced."""
    with idle():
        in_thread(staging.begin)
        yield
        staging._set(0)  # the thread that began has ended


def test_beside_a_trace_a_function_runs_as_written_and_calls_nothing(
    beside: None,
) -> None:
    def sign(x: int) -> int:
        if x > 0:
            return 1
        return -1

    converted = autograph.convert(sign)
    called: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        converted(2)
    finally:
        sys.setprofile(None)

    assert not staging.idle
    assert called == [
        "sign",
        "test_beside_a_trace_a_function_runs_as_written_and_calls_nothing",
    ]


def test_each_thread_is_told_of_its_own() -> None:
    mine = Staging()
    seen: list[bool] = []
    mine.begin()
    in_thread(lambda: seen.append(mine.thread.elsewhere))
    mine.begin(anywhere=True)
    in_thread(lambda: seen.append(mine.thread.elsewhere))
    mine.end()
    mine.end(anywhere=True)

    assert seen == [True, False]
    assert mine.idle
    assert mine.thread.elsewhere


def test_a_library_that_is_asked_whether_it_stages() -> None:
    answers = [False]

    def may_stage() -> bool:
        return answers[0]

    staging = Staging()
    staging.begin(anywhere=True, asking=may_stage)
    idle = staging.idle
    while_asked = []
    for answer in (False, True):
        answers[0] = answer
        while_asked.append(staging.thread.elsewhere)

    assert not idle
    assert while_asked == [True, False]

    answers[0] = False
    staging.begin()
    assert not staging.thread.elsewhere
    staging.end()
    staging.begin(anywhere=True)
    assert not staging.thread.elsewhere
    staging.end(anywhere=True)
    assert staging.thread.elsewhere
    staging.end(anywhere=True, asking=may_stage)
    assert staging.idle
    assert staging.thread.elsewhere


def test_a_class_whose_library_is_asked() -> None:
    class Asked(Backend):
        tells = staticmethod(lambda: bool(traces))

    class Value:
        pass

    traces: list[bool] = []
    with idle():
        register(Value, Asked())
        try:
            assert not staging.idle
            assert staging.thread.elsewhere
            traces.append(True)
            assert not staging.thread.elsewhere
        finally:
            unregister(Value)
        assert staging.idle
