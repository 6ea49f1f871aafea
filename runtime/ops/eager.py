"""The quick way of eager operations: straight to the kernel, on arrays.

The public functions of common operations look first whether their arguments are what
they mostly are (eager tensors of one dtype, Python ints for axes and indices) and then
call the kernel themselves. Whatever else there is, and whatever is wrong, is left to
the general way, `runtime.ops.apply.apply`, which gives the same results and says
what is wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

from runtime.core.errors import OpError
from runtime.core.tensor import EagerTensor
from runtime.ops.apply import as_array


class _Quiet(threading.local):
    """``run(kernel, *arrays)`` without NumPy's warnings about infinities and NaNs.

    NumPy's error state is a context variable: a context prepared once for each thread
    costs a tenth of ``np.errstate`` at each call.
    """

    run: Callable[..., Any]

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


quiet = _Quiet()


def use_quick_way(on: bool) -> None:
    """Whether operations of this thread may go straight to the kernel."""
    if on:
        quiet.__init__()  # type: ignore[misc]
    else:
        quiet.run = _no_quick_way


def _no_quick_way(*args: Any, **options: Any) -> Any:
    raise RuntimeError("operations take the general way")


#: What sends a call from the quick way to the general one: operands that do not fit,
#: and a context that is in use already, by the operation that a finalizer interrupted.
FALL_BACK = (
    ValueError, TypeError, IndexError, OverflowError, MemoryError, OpError,
    RuntimeError,
)  # fmt: skip


def attempt(kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The result of a kernel as an eager tensor; None if it takes the general way."""
    try:
        result = quiet.run(kernel, *args, **options)
    except FALL_BACK:
        return None
    return EagerTensor(result if type(result) is np.ndarray else as_array(result))
