"""``tf.debugging.enable_check_numerics``: find the operation that made a NaN.

While the checks are on, in the thread that switched them on, every operation that
computes has its results looked at. Nothing is asked for this while they are off: the
ways on which operations run are exchanged when the first thread switches them on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Op, get
from runtime.core.location.user_code import user_position
from runtime.core.locks import new_lock
from runtime.core.tensor import Tensor
from runtime.ops import apply, eager

Array = np.ndarray[Any, Any]


class _Thread(threading.local):
    checks = False


_thread = _Thread()
_lock = new_lock()
_callbacks: list[Callable[[bool], None]] = []
_count = 0


def is_checking() -> bool:
    """Whether the results of operations are checked in this thread."""
    return _thread.checks


def on_switch(callback: Callable[[bool], None]) -> None:
    """Have `callback` called with True when a first thread switches the checks on, and
    with False when the last one has switched them off.
    """
    _callbacks.append(callback)


def enable_check_numerics(
    stack_height_limit: int = 30, path_length_limit: int = 50
) -> None:
    """Raise InvalidArgumentError as soon as an operation computes a NaN or an infinity.

    The error names the operation, counts what it found, sums up the inputs, and shows
    the line of the program. It acts in the calling thread, in eager code and in
    functions, those that are traced already included; these run more slowly. What only
    moves values (a reshape, a choice, a constant) is not blamed. The limits are
    accepted for programs that set them.

    >>> from runtime.ops.elementwise.functions import log
    >>> enable_check_numerics()
    >>> try:
    ...     log([0.0, 1.0])
    ... except InvalidArgumentError as error:
    ...     print(error.message.splitlines()[0])
    ... finally:
    ...     disable_check_numerics()
    Log : Tensor had Inf values: 1 of 2 elements (0 NaN, 1 Inf), the first at [0]
    """
    _switch(True)


def disable_check_numerics() -> None:
    """Undo `enable_check_numerics` in the calling thread."""
    _switch(False)


def _switch(on: bool) -> None:
    global _count
    with _lock:
        if _thread.checks is on:
            return
        _thread.checks = on
        eager.use_quick_way(not on)
        _count += 1 if on else -1
        if _count == on:
            # The first thread has switched them on, or the last one off.
            apply.replace_eager(_apply_checked if on else None)
            for callback in _callbacks:
                callback(on)


def _apply_checked(
    definition: Op, tensors: Sequence[Tensor], attrs: dict[str, Any]
) -> Any:
    """As operations run eagerly, with their results checked."""
    results = apply.apply_eagerly(definition, tensors, attrs)
    if _thread.checks:
        values = results if isinstance(results, tuple) else (results,)
        check_eager(definition.name, tensors, values)
    return results


def check_eager(op: str, tensors: Sequence[Any], results: Sequence[Any]) -> None:
    """`check_results` of an operation that the program runs now, on eager tensors."""
    inputs, found = ([tensor._array for tensor in part] for part in (tensors, results))
    check_results(op, inputs, found, _where)


# --- the check ------------------------------------------------------------------------


def check_results(
    op: str,
    inputs: Sequence[Any],
    results: Sequence[Any],
    where: Callable[[], str] | None = None,
) -> None:
    """Raise InvalidArgumentError if an operation computed NaN or infinities.

    `where` gives the end of the message, which says where the operation stands.
    """
    if get(op).moves:
        return
    for number, result in enumerate(results):
        if _is_inexact(result) and not np.isfinite(result).all():
            text = _message(op, number, np.asarray(result), inputs)
            raise InvalidArgumentError(None, op, text + (where() if where else ""))


def _is_inexact(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def _where() -> str:
    position = user_position()
    if position is None:
        return ""
    return f"\n  at {position.filename}:{position.lineno}{position.excerpt()}"


def _message(op: str, number: int, result: Array, inputs: Sequence[Any]) -> str:
    first = np.argwhere(~np.isfinite(result))[0]
    found = (("Inf", np.isinf(result).any()), ("NaN", np.isnan(result).any()))
    kinds = [kind for kind, is_there in found if is_there]
    lines = [
        f"{op} : Tensor had {' and '.join(kinds)} values: {_counts(result)}"
        + (f", the first at {first}" if result.ndim else ""),
        f"  output {number}: {_kind(result)}",
    ]
    lines += [
        f"  input {index}: {_summary(value)}" for index, value in enumerate(inputs)
    ]
    return "\n".join(lines)


def _counts(array: Array) -> str:
    nan, inf = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    return f"{nan + inf} of {array.size} elements ({nan} NaN, {inf} Inf)"


def _kind(value: Any) -> str:
    return f"{value.dtype.name}, shape {value.shape}"


def _summary(value: Any) -> str:
    """What an input is and the range of its numbers."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return f"a {type(value).__name__}"
    kind = "string" if value.dtype.kind == "O" else value.dtype.name
    text = f"{kind}, shape {value.shape}"
    array = np.asarray(value)
    if not array.size or array.dtype.kind not in "fiu":
        return text
    if array.size == 1:
        return f"{text}, value {array.item():.6g}"
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    if finite.size:
        text += f", values {finite.min():.6g} to {finite.max():.6g}"
    if finite.size < array.size:
        text += f"; not finite are {_counts(array)}"
    return text
