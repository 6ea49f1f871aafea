"""Memory of which native code may touch no more than its arrays."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import flow
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import moved
from runtime.engines.native.types import number
from tests.runtime.engines.native.guarded import guarded, in_guarded_memory, is_possible

if not is_possible():
    pytest.skip("no pages to take away", allow_module_level=True)


def outcome(run: Callable[[], Any]) -> int:
    """The signal that ends another process that runs something, or 0."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        run()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("shape", [(3,), (0,), (), (1024,), (5, 333)])
def test_an_array_lies_beside_a_page(at_end: bool, shape: Any) -> None:
    array = guarded(shape, np.float32, at_end)
    array[...] = 1
    place = array.ctypes.data + (array.nbytes if at_end else -1)

    assert outcome(lambda: ctypes.string_at(place, 1)) == signal.SIGSEGV
    assert array.shape == shape


@mock.patch.dict(flow.RULES)
@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("makes", [lambda x: x, lambda x: tf.cumsum(x)])
def test_what_reads_too_far_ends(makes: Callable[..., Any], by: int) -> None:
    @rule("ReverseV2")
    def shifted(step: Step, x: Any, **_: Any) -> Any:
        add = step.builder.ir.add
        return moved(step.builder, x.shape, x, lambda at: (add(at[0], number(by)),))

    with in_guarded_memory(at_end=by > 0):
        function = tf.function(lambda x: tf.reverse(makes(x), [0]), executor="native")
        x = tf.constant(np.ones(100, np.float32))
        function.get_concrete_function(x).executable

        assert outcome(lambda: function(x)) == signal.SIGSEGV
