"""Between the compiler and the runtime: the only module that knows both.

It implements the compiler's staging protocol (`autograph.operators.Backend`) for
symbolic tensors, and converts the functions that `runtime.function` traces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import autograph
from autograph import ConversionError, SourceError
from autograph import operators as ag
from runtime import dtypes
from runtime.context import current_graph
from runtime.control_flow import cond
from runtime.errors import SymbolicTensorError
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.elementwise import equal, maximum, minimum
from runtime.ops.flow import raise_error
from runtime.ops.logical import logical_not
from runtime.ops.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_sum,
)
from runtime.ops.sorting import sort
from runtime.staging import (
    MISSING,
    StagedSequence,
    as_sequence,
    sequences,
    stage_cond,
    stage_loop,
)
from runtime.subgraph import predicate
from runtime.tensor import EagerTensor, SymbolicTensor
from runtime.variable import Variable

State = tuple[Any, ...]
Names = tuple[str, ...]


class Staging:
    """Stages converted statements as nodes of the graph being built."""

    def stages(self, value: Any) -> bool:
        """Symbolic tensors always; variables have a value outside of graphs."""
        return not isinstance(value, Variable) or current_graph() is not None

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """An ``If`` node."""
        result, after = stage_cond(
            predicate(test), _branch(if_true), _branch(if_false), _inside(state), names
        )
        return result, _outside(after)

    def while_loop(
        self,
        test: Any,
        body: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A ``While`` node."""
        return _outside(stage_loop(test, _branch(body), _inside(state), names))

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A ``While`` node that counts through the items."""
        sequence = as_sequence(iterated)

        def step(inside: State) -> tuple[Any, State]:
            index, *values = inside
            stop, after = body(sequence.item(index), _outside(tuple(values)))
            following = index + 1
            go_on = following < sequence.length
            if stop is not None:
                go_on = self.and_(self.not_(stop), lambda: go_on)
            return go_on, (following, *_inside(after))

        start = convert_to_tensor(0)
        inside = (start, *_inside(state))
        after = stage_loop(start < sequence.length, step, inside, ("index", *names))
        return _outside(after[1:])

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left and right()``: the right side is computed only if it is needed."""
        result, _ = stage_cond(
            predicate(left), lambda _: (right(), ()), lambda _: (left, ()), (), ()
        )
        return result

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left or right()``: the right side is computed only if it is needed."""
        result, _ = stage_cond(
            predicate(left), lambda _: (left, ()), lambda _: (right(), ()), (), ()
        )
        return result

    def not_(self, value: Any) -> Any:
        """``not value``."""
        return logical_not(predicate(value))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The staged form of a builtin function."""
        return _BUILTINS.get(name)


def _branch(
    body: Callable[[State], tuple[Any, State]],
) -> Callable[[State], tuple[Any, State]]:
    def run(state: State) -> tuple[Any, State]:
        result, after = body(_outside(state))
        return result, _inside(after)

    return run


def _inside(state: State) -> State:
    return tuple(MISSING if value is ag.UNBOUND else value for value in state)


def _outside(state: State) -> State:
    return tuple(ag.UNBOUND if value is MISSING else value for value in state)


# --- builtins -------------------------------------------------------------------------


def _len(value: Any) -> Any:
    if isinstance(value, StagedSequence):
        return sequences.weakened(maximum(value.length, 0))
    return sequences.length_of(value)


def _int(value: Any) -> Any:
    return sequences.weakened(cast(value, dtypes.int32))


def _float(value: Any) -> Any:
    return sequences.weakened(cast(value, dtypes.float32))


def _vector(values: Any, name: str) -> Any:
    """The tensor, whose elements can be compared; a matrix has rows."""
    tensor = convert_to_tensor(values)
    if tensor.shape.rank not in (1, None):
        raise TypeError(
            f"{name}() takes a tensor of rank 1 or several scalars, not a tensor of "
            f"shape {tensor.shape}; use tf.reduce_{name}"
        )
    return tensor


def _extreme(
    name: str, two: Callable[[Any, Any], Any], all_of: Callable[..., Any]
) -> Callable[..., Any]:
    def empty() -> None:
        raise_error(ValueError(f"{name}() arg is an empty sequence"))

    def extreme(*args: Any, **options: Any) -> Any:
        if options:
            raise TypeError(
                f"{name}() of tensors takes no {' or '.join(options)}; "
                f"tf.reduce_{name} and tf.arg{name} may do what it is for"
            )
        if len(args) == 1:
            values = _vector(args[0], name)
            # Reductions of nothing give the limit of the dtype; Python's raises.
            cond(equal(sequences.length_of(values), 0), empty, lambda: None)
            return all_of(values, axis=0)
        result, *rest = args
        for value in rest:
            result = two(result, value)
        return result

    return extreme


def _sum(values: Any, start: Any = 0) -> Any:
    return reduce_sum(values, axis=0) + start


def _sorted(values: Any, *, key: None = None, reverse: bool = False) -> Any:
    if key is not None:
        raise TypeError("sorted() of a tensor takes no key: use tf.argsort")
    return sort(values, direction="DESCENDING" if reverse else "ASCENDING")


_BUILTINS: dict[str, Callable[..., Any]] = {
    "all": lambda values: reduce_all(cast(values, dtypes.bool)),
    "any": lambda values: reduce_any(cast(values, dtypes.bool)),
    "bool": predicate,
    "enumerate": sequences.staged_enumerate,
    "float": _float,
    "int": _int,
    "len": _len,
    "map": sequences.staged_map,
    "max": _extreme("max", maximum, reduce_max),
    "min": _extreme("min", minimum, reduce_min),
    "range": sequences.staged_range,
    "reversed": sequences.staged_reversed,
    "sorted": _sorted,
    "sum": _sum,
    "zip": sequences.staged_zip,
}


# --- functions ------------------------------------------------------------------------

#: The code of the error for what is not written in Python.
_NOT_PYTHON = "AG101"


def convert(python_function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is traced: converted, where its source can be had.

    Without source, or written in C, it is traced as it is: exact for Python control
    flow, and an error that says so for control flow on tensors.
    """
    try:
        return autograph.convert(python_function)
    except SourceError as error:
        return _unconverted(python_function, error.diagnostics[0].message)
    except ConversionError as error:
        if error.code != _NOT_PYTHON:
            raise
        return _unconverted(python_function, error.diagnostics[0].message)


def _unconverted(
    python_function: Callable[..., Any], reason: str
) -> Callable[..., Any]:
    @functools.wraps(python_function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        try:
            return python_function(*args, **kwargs)
        except SymbolicTensorError as error:
            message = f"{error} The code was not converted: {reason}."
            raise SymbolicTensorError(message, error.code, error.location) from None

    return traced


def to_code(entity: Any, recursive: bool) -> str:
    """The converted code of ``entity``, which may be a Function."""
    python_function = getattr(entity, "python_function", entity)
    return autograph.to_code(python_function, recursive=recursive)


def to_graph(entity: Any, recursive: bool) -> Any:
    """The converted form of ``entity``, which may be a Function."""
    python_function = getattr(entity, "python_function", entity)
    return autograph.convert(python_function, recursive=recursive)


do_not_convert = autograph.do_not_convert

autograph.add_library("runtime")
_STAGING = Staging()
SymbolicTensor.__autograph_backend__ = _STAGING
StagedSequence.__autograph_backend__ = _STAGING
Variable.__autograph_backend__ = _STAGING
EagerTensor.__autograph_backend__ = None
