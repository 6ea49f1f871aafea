"""The ops behind ``tf.debugging``: checks that run with the program.

They are stateful, so that none is optimised away, and raise InvalidArgumentError with
the values at fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph, init_scope
from runtime.core.graph.record import decomposes
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.convert import as_tensor, convert_to_tensor, is_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, spec
from runtime.ops.staged.printing import formatted, parse, tensor_text
from runtime.ops.static import static_value

Array = np.ndarray[Any, Any]

# --- Assert ---------------------------------------------------------------------------


def _assert(
    condition: Array, *data: Array, template: tuple[str, ...], summarize: int
) -> tuple[()]:
    if not condition.all():
        raise _failed(
            "Assert", "assertion failed: " + formatted(data, template, summarize)
        )
    return ()


def _infer_assert(condition: TensorSpec, *data: TensorSpec, **attrs: Any) -> tuple[()]:
    return ()


define(
    "Assert",
    _assert,
    _infer_assert,
    takes="b",
    stateful=True,
    family="check",
    raises=InvalidArgumentError("an assertion"),
)


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise InvalidArgumentError that shows `data` unless the condition holds.

    >>> Assert(True, ["x must be positive"])
    """
    values = data if isinstance(data, (list, tuple)) else [data]
    shown = [
        f"[{value}]" if isinstance(value, str) else _shown(value) for value in values
    ]
    template, tensors = parse(shown, " ")
    run(
        "Assert",
        as_tensor(condition),
        *tensors,
        template=template,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


def _shown(value: Any) -> Any:
    """What is no array yet gets brackets, as the texts have."""
    return value if is_tensor(value) and value.shape.rank else [value]


def _failed(op: str, message: str) -> InvalidArgumentError:
    # With the op named the message is the program's own and stays as it is.
    return InvalidArgumentError(None, op, message)


# --- comparisons ----------------------------------------------------------------------


def _assert_relation(
    holds: Array,
    x: Array,
    y: Array,
    *,
    relation: str,
    message: str,
    summarize: int,
) -> tuple[()]:
    if not holds.all():
        lines = [message] if message else []
        lines.append(f"Condition {relation} did not hold.")
        shown = {"x": x, "y": y} if "y" in relation else {"x": x}
        lines += _differences(holds, shown, summarize)
        raise _failed("AssertRelation", "\n".join(lines))
    return ()


def _differences(
    holds: Array, shown: dict[str, Array], summarize: int
) -> Iterator[str]:
    """The elements that are wrong, then the first ones of all."""
    if holds.ndim:
        wrong = np.argwhere(~holds)
        wrong = wrong if summarize < 0 else wrong[:summarize]
        yield f"Indices of first {len(wrong)} different values:"
        yield tensor_text(wrong, -1)
        for label, array in shown.items():
            yield f"Corresponding {label} values:"
            wide = np.broadcast_to(array, holds.shape)
            yield tensor_text(wide[tuple(wrong.T)], -1)
    for label, array in shown.items():
        flat = array.reshape(-1)
        part = flat if summarize < 0 else flat[:summarize]
        yield f"First {len(part)} elements of {label}:"
        yield tensor_text(part, -1)


define(
    "AssertRelation",
    _assert_relation,
    _infer_assert,
    takes="b",
    stateful=True,
    family="check",
    raises=InvalidArgumentError("an assertion"),
)


def assert_relation(
    function: Any,
    relation: str,
    x: Any,
    y: Any,
    message: str | None,
    summarize: int | None,
    name: str | None,
) -> None:
    """Raise unless ``function(x, y)``, which is the `relation`, holds everywhere.

    While a function is traced this is a part of the graph. It is nothing where tracing
    knows that it holds, and raises at once where a whole function cannot succeed.
    """
    left, right = together((_value(x), _value(y)), "AssertRelation", name)
    attrs = {
        "relation": relation,
        "message": message or "",
        "summarize": 3 if summarize is None else summarize,
    }
    graph = current_graph()
    if graph is not None and _holds_already(
        function, left, right, name, attrs, may_wait=graph.parent is not None
    ):
        return
    run("AssertRelation", function(left, right), left, right, name=name, **attrs)


def _holds_already(
    function: Any,
    left: Any,
    right: Any,
    name: str | None,
    attrs: dict[str, Any],
    may_wait: bool,
) -> bool:
    """Whether tracing knows that the condition holds. Raises if it knows the contrary,
    unless that `may_wait`: a branch or a loop body may not run at all.
    """
    known = [_known_array(tensor) for tensor in (left, right)]
    if any(array is None for array in known):
        return False
    with init_scope():
        constants = [convert_to_tensor(array) for array in known]
        holds = function(*constants)
        if may_wait and not holds._array.all():
            return False
        run("AssertRelation", holds, *constants, name=name, **attrs)
    return True


@decomposes("AssertRelation")
def _assert_relation_decomposed(
    holds: Any, x: Any, y: Any, *, relation: str, message: str, summarize: int
) -> tuple[()]:
    shown = ["x:", x, "y:", y] if "y" in relation else ["x:", x]
    condition = f"Condition {relation} did not hold."
    Assert(tf.reduce_all(holds), [message, condition, *shown], summarize)
    return ()


def _value(x: Any) -> Any:
    """A shape is compared as the vector that it is."""
    return x.as_list() if isinstance(x, TensorShape) else x


def _known_array(tensor: Any) -> Any:
    """The value of a tensor as far as tracing knows it whole, else None."""
    value, complete = static_value(tensor)
    return np.array(value, tensor.dtype.np_dtype) if complete else None


# --- NaN and infinity -----------------------------------------------------------------


def _infer_check(x: TensorSpec, *, message: str) -> TensorSpec:
    return spec(dims_of(x), x.dtype)


def _check_numerics(x: Array, *, message: str) -> Array:
    troubles: Sequence[str] = [
        word
        for word, found in (("Inf", np.isinf(x).any()), ("NaN", np.isnan(x).any()))
        if found
    ]
    if troubles:
        text = f"{message} : Tensor had {' and '.join(troubles)} values"
        raise _failed("CheckNumericsV2", text)
    return x


define(
    "CheckNumericsV2",
    _check_numerics,
    _infer_check,
    takes="fc",
    stateful=True,
    family="check",
    raises=InvalidArgumentError("a check"),
)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor. Raises InvalidArgumentError if it holds NaN or an infinity.

    >>> print(check_numerics([1.0], "after the division"))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    return run("CheckNumericsV2", as_tensor(tensor), message=message, name=name)


@linear("CheckNumericsV2")
def _check_numerics_gradient(node: Applied, g: Any) -> Any:
    return [tf.identity(g)]
