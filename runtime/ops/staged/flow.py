"""Ops that staged control flow needs: raise an exception, check for unbound names and
for values that are None.
"""

from __future__ import annotations

import builtins
import copy
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnknownResultError
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import (
    Export,
    Fails,
    Op,
    decomposes,
    register,
    register_structure,
)
from runtime.core.hooks import hooks
from runtime.core.location.handlers import check_raise
from runtime.core.location.user_code import raise_location, show_position
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply
from runtime.ops.derivatives import Applied, linear
from runtime.ops.staged.python_text import shown_values

Array = np.ndarray[Any, Any]
#: Nothing is one before Python 3.11.
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())


def _raise_kernel(
    *arrays: Array, exception: BaseException, weak: Sequence[bool] = ()
) -> Any:
    # A copy, because a graph runs many times and each raise hangs a traceback on it.
    if not weak:
        raise _fresh(exception)
    values = shown_values(arrays, weak)
    raise _shown(exception, dict(zip(map(id, tensors_of(exception)), values)))


def _exit_status(*args: Any) -> Any:
    """What ``SystemExit`` takes of its arguments, which Python reads, as a number."""
    if len(args) != 1:
        return args or None
    (code,) = args
    return code.numpy().item() if isinstance(code, Tensor) and not code.ndim else code


def tensors_of(value: Any, seen: dict[int, Any] | None = None) -> list[SymbolicTensor]:
    """The tensors that an exception tells about: the inputs of its `Raise`, in order.

    They are found in tuples, lists, dicts and other exceptions, too.
    """
    seen = {} if seen is None else seen
    if id(value) in seen:
        return []
    seen[id(value)] = value
    if isinstance(value, SymbolicTensor):
        return [value]
    return [tensor for part in _parts(value) for tensor in tensors_of(part, seen)]


def _parts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, BaseException):
        return *value.args, *vars(value).values()
    if type(value) in (tuple, list):
        return tuple(value)
    return tuple(value.values()) if type(value) is dict else ()


def tells_of(exception: BaseException, graph: Graph) -> bool:
    """Whether an exception tells about tensors, all of which are of the graph."""
    tensors = tensors_of(exception)
    return bool(tensors) and all(tensor.graph is graph for tensor in tensors)


def _shown(value: Any, found: dict[int, Any]) -> Any:
    """A part of an exception with the values of its tensors; itself if it has none."""
    if id(value) in found:
        return found[id(value)]
    if not tensors_of(value):
        return value
    found[id(value)] = value  # Its parts may refer to it.
    shown: Any
    if isinstance(value, BaseException):
        shown = _shown_exception(value, found)
    elif type(value) is dict:
        shown = {key: _shown(item, found) for key, item in value.items()}
    else:
        shown = type(value)([_shown(item, found) for item in value])
    found[id(value)] = shown
    return shown


def _shown_exception(exception: BaseException, found: dict[int, Any]) -> BaseException:
    fresh = _fresh(exception)
    if isinstance(exception, _GROUP):  # It has what it was made of.
        args = [_shown(value, found) for value in exception.args]
        fresh = _made_of(exception, args)
    elif fresh is exception:  # It keeps its tensors, for the next time.
        fresh = _made_of(exception, exception.args)
    found[id(exception)] = fresh
    fresh.args = tuple([_shown(value, found) for value in exception.args])
    if isinstance(fresh, SystemExit):
        fresh.code = _exit_status(*fresh.args)
    for name, value in vars(exception).items():
        shown = _shown(value, found)
        if shown is not value:
            setattr(fresh, name, shown)
    return fresh


def _fresh(exception: BaseException) -> BaseException:
    """A copy of the exception with its arguments, attributes and cause, or itself."""
    try:
        fresh = copy.copy(exception)
    except Exception:
        # Its constructor takes something else than what it put into ``args``.
        fresh = exception
    fresh.__traceback__ = None
    fresh.__cause__ = exception.__cause__
    fresh.__suppress_context__ = exception.__suppress_context__
    return fresh


def _made_of(exception: BaseException, args: Sequence[Any]) -> BaseException:
    """An exception of the same class and attributes, without its constructor."""
    fresh = type(exception).__new__(type(exception), *args)
    vars(fresh).update(vars(exception))
    fresh.__cause__ = exception.__cause__
    fresh.__suppress_context__ = exception.__suppress_context__
    return fresh


register(
    Op(
        "Raise",
        _raise_kernel,
        lambda *specs, **attrs: (),
        stateful=True,
        family="check",
        raises_for_program=True,
    )
)


for _op, _label in (
    ("Placeholder", ""),
    ("PartitionedCall", ""),
    ("If", "cond"),
    ("Case", "indexed_case"),
    ("While", "while"),
):
    register_structure(_op, _label)

register(
    Op(
        # Results of a function, then its arguments, then what its own gradient uses.
        "CustomGradient",
        lambda *arrays, rule: arrays[: rule.count],
        lambda *specs, rule: specs[: rule.count],
        family="structure",
    )
)

_IS_NEW = sys.version_info >= (3, 11)
#: As Python itself says it, by whose variable it is.
_UNBOUND = {
    "local": "cannot access local variable '{}' where it is not associated with a value"
    if _IS_NEW
    else "local variable '{}' referenced before assignment",
    "captured": "cannot access free variable '{}' where it is not associated with a "
    "value in enclosing scope"
    if _IS_NEW
    else "free variable '{}' referenced before assignment in enclosing scope",
    "global": "name '{}' is not defined",
}


def _require_bound_kernel(
    value: Array, bound: Array, variable: str, scope: str = "local"
) -> Array:
    if not bound:
        kind = UnboundLocalError if scope == "local" else NameError
        raise kind(_UNBOUND[scope].format(variable))
    return value


def _require_some_kernel(value: Array, some: Array, variable: str) -> Array:
    if not some:
        what = repr(variable) if variable.isidentifier() else "the value"
        raise TypeError(f"unsupported operand: {what} is None")
    return value


def _checked_infer(
    value: TensorSpec, flag: TensorSpec, variable: str, scope: str = "local"
) -> TensorSpec:
    _flag_infer(flag)
    return value


def _flag_infer(flag: TensorSpec) -> TensorSpec:
    if not flag.dtype.is_bool:
        raise InvalidArgumentError(f"a flag must be a bool, not {flag.dtype.name}")
    return flag


register(
    Op(
        "RequireBound",
        _require_bound_kernel,
        _checked_infer,
        family="check",
        picks=True,
        guards_input=True,
        raises=UnboundLocalError("a variable without a value"),
        raises_for_program=True,
    )
)
register(
    Op(
        "RequireSome",
        _require_some_kernel,
        _checked_infer,
        family="check",
        picks=True,
        guards_input=True,
        raises=TypeError("a variable that is None"),
        raises_for_program=True,
    )
)
register(
    Op(
        "IsNone",
        np.logical_not,
        _flag_infer,
        family="elementwise",
        fails=Fails.NEVER,
        export=Export("LogicalNot", types=()),
    )
)
register(
    Op(
        "IsNotNone",
        np.asarray,
        _flag_infer,
        family="movement",
        fails=Fails.NEVER,
        is_alias=True,
        export=Export("Identity"),
    )
)


def raise_error(exception: BaseException) -> None:
    """Raise `exception` when the graph being built runs up to here.

    Each run raises a fresh copy with the same type and arguments. Outside of a graph it
    is raised at once. If the exception has been raised already, it points there again.
    Tensors among its arguments and attributes have their values then.
    """
    show_position(exception)
    if not isinstance(exception, UnknownResultError):
        check_raise(exception)
    location = raise_location(exception)
    tensors = tensors_of(exception)
    if tensors:
        weak = tuple(tensor.spec.weak for tensor in tensors)
        apply("Raise", *tensors, exception=exception, weak=weak)
    else:
        apply("Raise", exception=exception)
    graph = current_graph()
    if graph is not None and location is not None:
        graph.nodes[-1].location = location


def require_bound(value: Tensor, bound: Tensor, variable: str) -> Tensor:
    """`value`, once it is read; reading it while `bound` is false is an error.

    The error is Python's UnboundLocalError for `variable`. A value that nobody reads is
    not checked; within a branch or a loop body that reads it the check is made there.
    It is as weak as `value`.
    """
    return _checked("RequireBound", value, bound, variable)


def require_some(value: Tensor, some: Tensor, variable: str) -> Tensor:
    """A tensor that is None while `some` is false: its `optional_parts` are these.

    Reading it then is a TypeError that names `variable`; a value that nobody reads is
    not checked. It is as weak as `value`.
    """
    return _checked("RequireSome", value, some, variable)


def as_read(tensor: Tensor) -> Tensor:
    """What stands for a tensor where an operation reads it.

    A variable without a value is another error where it is not local.
    """
    if not isinstance(tensor, SymbolicTensor) or tensor.op_name != "RequireBound":
        return tensor
    variable = tensor.node.attrs["variable"]
    scope = "local" if "scope" in tensor.node.attrs else hooks.scope_of(variable)
    if scope == "local":
        return tensor
    value, bound = tensor.node.inputs
    return _checked("RequireBound", value, bound, variable, scope=scope)


def _checked(
    op: str, value: Tensor, flag: Tensor, variable: str, **attrs: Any
) -> Tensor:
    graph = current_graph()
    if graph is None:
        checked: Tensor = apply(op, value, flag, variable=variable, **attrs)
        return checked
    _flag_infer(flag.spec)
    attrs["variable"] = variable
    spec = TensorSpec(value.shape, value.dtype, weak=value.spec.weak)
    (tensor,) = graph.add(op, (value, flag), attrs, (spec,))
    return tensor


def optional_parts(value: Any) -> tuple[Tensor, Tensor] | None:
    """``(value, some)`` of a tensor that may be None, None for any other value."""
    if isinstance(value, SymbolicTensor) and value.op_name == "RequireSome":
        raw, some = value.node.inputs
        return raw, some
    return None


@linear("RequireBound", "RequireSome")
def _checked_gradient(node: Applied, g: Any) -> Any:
    return [tf.identity(g), None]


def none_test(some: Tensor, negated: bool = False) -> Tensor:
    """Whether what the flag `some` stands beside is None, or is not."""
    test: Tensor = apply("IsNotNone" if negated else "IsNone", some)
    return test


@decomposes("IsNone")
def _is_none_decomposed(some: Any) -> Any:
    return tf.logical_not(some)


@decomposes("IsNotNone")
def _is_not_none_decomposed(some: Any) -> Any:
    return tf.identity(some)
