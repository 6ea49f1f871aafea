"""Variables, conversion, and control flow."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import (
    KerasVariable,
    is_float_dtype,
    is_int_dtype,
    standardize_dtype,
)
from keras.src.backend.common.dtypes import BIT64_TO_BIT32_DTYPE, result_type
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.name_scope import name_scope as base_name_scope
from keras.src.backend.common.stateless_scope import StatelessScope, in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope

import runtime as tf
from runtime.staging.compiler import conversion

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_RAGGED_TENSORS = False
SUPPORTS_SPARSE_TENSORS = False

# Keras narrows results to 32 bits for backends other than TensorFlow; with tensors of
# TensorFlow's rules, operands of 64 bits keep theirs.
BIT64_TO_BIT32_DTYPE.update(int64="int64", float64="float64")


class Variable(KerasVariable):  # type: ignore[misc]
    """Keras's variable, whose value is a `tf.Variable`."""

    _value: Any

    @classmethod
    def around(cls, variable: Any, name: str) -> Variable:
        """One whose value is a variable that is there already."""
        return cls(
            lambda *args, **kwargs: variable,
            shape=tuple(variable.shape),
            dtype=variable.dtype.name,
            trainable=variable.trainable,
            name=name,
        )

    def _initialize(self, value: Any) -> None:
        if isinstance(value, tf.Variable):
            self._value = value
            return
        how = self.aggregation
        if how == "none" and not self.trainable and is_float_dtype(self._dtype):
            # What replicas find out about their rows: moments of a batch.
            how = "mean"
        self._value = tf.Variable(
            value,
            dtype=self._dtype,
            trainable=self.trainable,
            name=self.name,
            aggregation=getattr(tf.VariableAggregation, how.upper()),
            synchronization=getattr(
                tf.VariableSynchronization, self.synchronization.upper()
            ),
        )

    def _initialize_with_initializer(self, initializer: Any) -> None:
        with tf.init_scope():
            value = initializer(self._shape, dtype=self._dtype)
            if not isinstance(value, tf.Variable):
                value = convert_to_tensor(value, self._dtype)
            self._initialize(value)

    def _deferred_initialize(self) -> None:
        if in_stateless_scope():
            raise ValueError(
                "a variable cannot get its value within a stateless scope: build the "
                "layer or model before"
            )
        super()._deferred_initialize()

    def _direct_assign(self, value: Any) -> None:
        self._value.assign(tf.cast(value, self._value.dtype))

    def _convert_to_tensor(self, value: Any, dtype: Any = None) -> Any:
        return convert_to_tensor(value, dtype=dtype)

    def numpy(self) -> Any:
        """The value now."""
        return convert_to_numpy(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(convert_to_numpy(self.value), dtype)

    def __tf_tensor__(self, dtype: Any = None) -> Any:
        return tf.convert_to_tensor(self.value, dtype)

    def __tf_variable__(self) -> Any:
        return self._value

    def __hash__(self) -> int:
        return id(self)

    @property
    def trainable(self) -> Any:
        """Whether training may change it; tapes watch those that it may."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: Any) -> None:
        self._trainable = bool(value)
        if isinstance(getattr(self, "_value", None), tf.Variable):
            self._value._trainable = self._trainable

    # --- checkpoints ------------------------------------------------------------------

    def _trackable_children(self) -> dict[str, Any]:
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": tf.convert_to_tensor(self._value)}

    def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
        self.assign(tensors["VARIABLE_VALUE"])


# --- conversion -----------------------------------------------------------------------


def convert_to_tensor(
    x: Any, dtype: Any = None, sparse: bool | None = None, ragged: bool | None = None
) -> Any:
    """A tensor of a value, of another dtype if that is asked for."""
    if sparse or ragged:
        kind = "sparse" if sparse else "ragged"
        raise ValueError(f"`{kind}=True` is not supported by this backend")
    wanted = None if dtype is None else standardize_dtype(dtype)
    if isinstance(x, (Variable, tf.Variable, tf.IndexedSlices)):
        x = tf.convert_to_tensor(x)
    if not isinstance(x, tf.Tensor):
        x = _new_tensor(x, wanted)
    if wanted is None or x.dtype.name == wanted:
        return x
    return tf.cast(x, wanted)


def _new_tensor(x: Any, dtype: str | None) -> Any:
    """A tensor of what is none; of the dtype, or of one that can be cast to it."""
    if isinstance(x, (np.ndarray, np.generic)):
        return tf.convert_to_tensor(np.asarray(x))
    if hasattr(x, "__array__") and not hasattr(x, "__tf_tensor__"):
        return tf.convert_to_tensor(np.asarray(x))
    if dtype == "bool" or is_int_dtype(dtype):
        # Floats are cut to ints, and numbers are true or false.
        if isinstance(x, int) and dtype != "bool":
            return tf.convert_to_tensor(x, dtype)
        return tf.convert_to_tensor(x)
    if isinstance(x, (list, tuple)) and tree.is_nested(x):
        leaves = tree.flatten(x)
        if builtins.any(is_tensor(leaf) for leaf in leaves):
            names = {
                standardize_dtype(leaf.dtype) for leaf in leaves if is_tensor(leaf)
            }
            if len(names) > 1 or (dtype is not None and names != {dtype}):
                common = dtype or result_type(*names)
                x = tree.map_structure(lambda leaf: convert_to_tensor(leaf, common), x)
    return tf.convert_to_tensor(x, dtype)


def convert_to_numpy(x: Any) -> Any:
    """A copy of the value as an array."""
    if isinstance(x, (Variable, tf.Variable, tf.IndexedSlices)):
        x = tf.convert_to_tensor(x)
    return np.array(x)


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor or a variable, but none of Keras's symbols."""
    return isinstance(x, (tf.Tensor, tf.Variable, Variable))


def shape(x: Any) -> tuple[Any, ...]:
    """The shape, with tensors for dimensions that are known only when a graph runs."""
    if isinstance(x, KerasTensor):
        return tuple(x.shape)
    tensor = convert_to_tensor(x)
    if tensor.shape.rank is None:
        raise ValueError(f"the rank must be known, but is not: {tensor}")
    dims = tensor.shape.as_list()
    if None not in dims:
        return tuple(dims)
    lengths = tf.shape(tensor)
    return tuple([lengths[i] if d is None else d for i, d in enumerate(dims)])


def cast(x: Any, dtype: Any) -> Any:
    """The tensor with another dtype."""
    wanted = standardize_dtype(dtype)
    if isinstance(x, tf.IndexedSlices):
        return x._replace(values=cast(x.values, wanted))
    if isinstance(x, tf.Tensor) and x.dtype.name == wanted:
        return x
    return convert_to_tensor(x, wanted)


def random_seed_dtype() -> str:
    """The dtype of the two numbers of a seed."""
    return "int64"


def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    """The slices along an axis."""
    return list(tf.unstack(convert_to_tensor(x), num=num, axis=axis))


# --- shapes without values ------------------------------------------------------------

#: Two lengths for each unknown dimension: where the results differ, theirs is unknown.
_TRIAL_LENGTHS = (83, 89)


def compute_output_spec(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function would give, traced into a graph that is thrown away.

    Methods of the user's, which Keras calls, are converted where that is necessary.
    """
    first = traced_for(fn, args, kwargs, _TRIAL_LENGTHS[0])
    if not builtins.any(
        isinstance(leaf, KerasTensor) and None in leaf.shape
        for leaf in tree.flatten((args, kwargs))
    ):
        return tree.map_structure(_symbol, first)
    second = traced_for(fn, args, kwargs, _TRIAL_LENGTHS[1])
    leaves = [
        _common_symbol(x, y) for x, y in zip(tree.flatten(first), tree.flatten(second))
    ]
    return tree.pack_sequence_as(first, leaves)


def traced_for(fn: Any, args: Any, kwargs: Any, length: int | None = None) -> Any:
    """What a function gives for tensors, with this length where one is not known."""
    return conversion.repaired(
        lambda function: _traced(function, args, kwargs, length),
        fn,
        None,
        conversion.new_called_functions(),
    )


def _traced(fn: Any, args: Any, kwargs: Any, length: int | None) -> Any:
    graph = tf.Graph("scratch")

    def placeholder(x: Any) -> Any:
        if isinstance(x, tf.Tensor) and tf.is_symbolic_tensor(x):
            # Of a graph in which a model is called that is not built yet.
            return graph.add_input(x.spec)
        if not isinstance(x, KerasTensor):
            return x
        if x.sparse or x.ragged:
            raise ValueError("this backend has no sparse or ragged tensors")
        dims = [length if dim is None else dim for dim in x.shape]
        return graph.add_input(tf.TensorSpec(dims, x.dtype))

    with StatelessScope(), SymbolicScope(), graph.as_default():
        args, kwargs = tree.map_structure(placeholder, (args, kwargs))
        return fn(*args, **kwargs)


def _symbol(x: Any) -> Any:
    if not is_tensor(x):
        return x
    return KerasTensor(tuple(x.shape), standardize_dtype(x.dtype))


def _common_symbol(x: Any, y: Any) -> Any:
    if not is_tensor(x):
        return x
    dims = [a if a == b else None for a, b in zip(x.shape, y.shape)]
    return KerasTensor(tuple(dims), standardize_dtype(x.dtype))


# --- control flow ---------------------------------------------------------------------


def _static(value: Any) -> Any:
    """The value of what is known now; None for a tensor of a graph."""
    if isinstance(value, (Variable, tf.Variable)):
        value = tf.convert_to_tensor(value)
    if isinstance(value, tf.Tensor):
        return tf.get_static_value(value)
    return value


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """One of two functions, as a tensor says."""
    known = _static(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return tf.cond(tf.cast(pred, tf.bool), true_fn, false_fn)


def switch(index: Any, branches: Any, *operands: Any) -> Any:
    """The branch of a number; numbers outside of the range are the nearest."""
    index = tf.clip_by_value(convert_to_tensor(index, "int32"), 0, len(branches) - 1)
    known = _static(index)
    if known is not None:
        return branches[int(known)](*operands)

    def bound(branch: Any) -> Any:
        return lambda: branch(*operands)

    return tf.switch_case(index, [bound(branch) for branch in branches])


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """A loop over variables, as long as a function of them is true."""
    is_tuple = isinstance(loop_vars, (tuple, list))
    variables = tuple(loop_vars) if is_tuple else (loop_vars,)
    variables = tree.map_structure(convert_to_tensor, variables)

    def step(*values: Any) -> Any:
        found = body(*values)
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)

    results = tf.while_loop(
        cond, step, variables, maximum_iterations=maximum_iterations
    )
    return tuple(results) if is_tuple else results[0]


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any
) -> Any:
    """The body for each number of a range."""
    ends = _static(lower), _static(upper)
    if tf.executing_eagerly() and None not in ends:
        value = init_val
        for i in range(int(ends[0]), int(ends[1])):
            value = body_fun(i, value)
        return value
    _, value = tf.while_loop(
        lambda i, value: i < upper,
        lambda i, value: (i + 1, body_fun(i, value)),
        (convert_to_tensor(lower), tree.map_structure(convert_to_tensor, init_val)),
    )
    return value


def vectorized_map(function: Callable[..., Any], elements: Any) -> Any:
    """The results of a function for each element, stacked."""
    return tf.vectorized_map(function, tree.map_structure(convert_to_tensor, elements))


def map(f: Callable[..., Any], xs: Any) -> Any:
    """The results of a function for each element, stacked."""
    return scan(lambda carry, x: (carry, f(x)), (), xs)[1]


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> Any:
    """``carry, y = f(carry, x)`` along the first axis; the last carry, and all ys."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(
            "`unroll` must be an positive integer or boolean. "
            f"Received: unroll={unroll}"
        )
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    init = tree.map_structure(convert_to_tensor, init)
    xs = None if xs is None else tree.map_structure(convert_to_tensor, xs)
    count = length if length is not None else shape(tree.flatten(xs)[0])[0]
    if isinstance(count, int) and not count:
        empty = tree.map_structure(lambda c: tf.zeros((0, *shape(c)), c.dtype), init)
        return init, empty

    def step(index: Any, carry: Any, _: Any) -> Any:
        place = count - 1 - index if reverse else index
        x = None if xs is None else tree.map_structure(lambda x: x[place], xs)
        carry, y = f(carry, x)
        return tree.map_structure(tf.zeros_like, carry) if y is None else y, carry

    _, ys, carry = run_steps(step, init, count)
    if reverse:
        ys = tree.map_structure(lambda y: tf.reverse(y, [0]), ys)
    return carry, ys


def run_steps(
    step: Callable[[Any, Any, Any], Any],
    states: Any,
    count: Any,
    in_python: bool = False,
    keeps_all: bool = True,
) -> tuple[Any, Any, Any]:
    """``output, states = step(index, states, previous output)``, so many times.

    Gives the last output, all outputs stacked (if they are not kept the last one
    alone), and the last states. For the first step the previous output is None.
    """
    if in_python or tf.executing_eagerly() or (isinstance(count, int) and count == 1):
        outputs: list[Any] = [None]
        for index in range(int(count)):
            output, states = step(index, states, outputs[-1])
            outputs = [*outputs, output] if keeps_all else [output]
        kept = outputs[1:] if keeps_all else outputs
        stacked = tree.map_structure(lambda *parts: tf.stack(parts), *kept)
        return outputs[-1], stacked, states
    # The first step is made outside of the loop, to know what a step gives.
    output, states = step(0, states, None)
    last = [convert_to_tensor(part) for part in tree.flatten(output)]

    def packed(parts: Any) -> Any:
        return tree.pack_sequence_as(output, list(parts))

    arrays = [
        tf.TensorArray(part.dtype, size=count, element_shape=part.shape).write(0, part)
        for part in last
        if keeps_all
    ]

    def body(index: Any, states: Any, last: Any, arrays: Any) -> Any:
        found, states = step(index, states, packed(last))
        last = tree.flatten(found)
        arrays = [array.write(index, part) for array, part in zip(arrays, last)]
        return index + 1, states, last, arrays

    _, states, last, arrays = tf.while_loop(
        lambda index, states, last, arrays: index < count,
        body,
        (1, states, last, arrays),
    )
    stacked = [array.stack() for array in arrays] or [part[None] for part in last]
    return packed(last), packed(stacked), states


def associative_scan(
    f: Callable[..., Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """The results of an associative function of two, from the start to each element.

    In each of log2(n) rounds every element takes in the one that is twice as far away.
    """
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    flat = [convert_to_tensor(elem) for elem in tree.flatten(elems)]
    count = flat[0].shape[axis]
    if builtins.any(elem.shape[axis] != count for elem in flat):
        raise ValueError(
            "Array inputs to associative_scan must have the same first dimension. "
            f"(saw: {[tuple(elem.shape) for elem in flat]})"
        )
    if reverse:
        flat = [tf.reverse(elem, [axis]) for elem in flat]

    def part(x: Any, start: int | None, stop: int | None) -> Any:
        index: list[Any] = [builtins.slice(None)] * len(x.shape)
        index[axis] = builtins.slice(start, stop)
        return x[tuple(index)]

    distance = 1
    while distance < count:
        earlier = [part(x, None, count - distance) for x in flat]
        later = [part(x, distance, None) for x in flat]
        joined = tree.flatten(
            f(
                tree.pack_sequence_as(elems, earlier),
                tree.pack_sequence_as(elems, later),
            )
        )
        flat = [
            tf.concat([part(x, None, distance), new], axis)
            for x, new in zip(flat, joined)
        ]
        distance *= 2
    if reverse:
        flat = [tf.reverse(elem, [axis]) for elem in flat]
    return tree.pack_sequence_as(elems, flat)


# --- parts ----------------------------------------------------------------------------


def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Zeros with values added at indices."""
    indices = convert_to_tensor(indices, "int32")
    return tf.scatter_nd(indices, convert_to_tensor(values), shape)


def scatter_update(
    inputs: Any, indices: Any, updates: Any, reduction: str | None = None
) -> Any:
    """The tensor with other values at indices, or with those combined with its own."""
    inputs = convert_to_tensor(inputs)
    indices = convert_to_tensor(indices, "int32")
    updates = convert_to_tensor(updates, inputs.dtype)
    if reduction == "mul":
        # Factors may repeat: one for each place is made of them first.
        ones = tf.ones_like(inputs)
        flat = tf.reshape(tf.range(tf.size(inputs)), tf.shape(inputs))
        ids = tf.reshape(tf.gather_nd(flat, indices), [-1])
        factors = tf.math.unsorted_segment_prod(
            tf.reshape(updates, [-1]), ids, tf.size(inputs)
        )
        return inputs * (tf.reshape(factors, tf.shape(inputs)) * ones)
    functions = {
        None: tf.tensor_scatter_nd_update,
        "add": tf.tensor_scatter_nd_add,
        "max": tf.tensor_scatter_nd_max,
        "min": tf.tensor_scatter_nd_min,
    }
    if reduction not in functions:
        raise ValueError(f"Unsupported reduction: {reduction}")
    return functions[reduction](inputs, indices, updates)


def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """A block of a tensor."""
    if len(start_indices) != len(shape):
        raise ValueError(
            "Length of `start_indices` must match length of `shape`. "
            f"Received: start_indices={start_indices}, shape={shape}"
        )
    return tf.slice(
        convert_to_tensor(inputs),
        convert_to_tensor(start_indices, "int32"),
        convert_to_tensor(shape, "int32"),
    )


def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """The tensor with another block in the place of one of its own."""
    inputs, updates = convert_to_tensor(inputs), convert_to_tensor(updates)
    starts = tf.unstack(convert_to_tensor(start_indices, "int32"))
    ranges = [tf.range(length) + start for length, start in zip(shape(updates), starts)]
    places = tf.stack(tf.meshgrid(*ranges, indexing="ij"), axis=-1)
    return tf.tensor_scatter_nd_update(inputs, places, tf.cast(updates, inputs.dtype))


# --- gradients and scopes -------------------------------------------------------------


def stop_gradient(variable: Any) -> Any:
    """The value, through which no gradient flows."""
    return tf.stop_gradient(convert_to_tensor(variable))


def custom_gradient(fun: Callable[..., Any]) -> Any:
    """A function that gives its result and a function of the gradient."""
    return tf.custom_gradient(fun)


def remat(f: Callable[..., Any]) -> Any:
    """A function whose values are computed again for its gradient, not kept."""
    return tf.recompute_grad(f)


class name_scope(base_name_scope):  # type: ignore[misc]  # noqa: N801
    """Keras's scope of names, which names the nodes of a graph as well."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._scope = tf.name_scope(name)
        self._named = False

    def __enter__(self) -> Any:
        super().__enter__()
        self._named = self._pop_on_exit and not tf.executing_eagerly()
        if self._named:
            self._scope.__enter__()
        return self

    def __exit__(self, *raised: Any, **kwargs: Any) -> None:
        super().__exit__(*raised)
        if self._named:
            self._scope.__exit__(*raised)


@contextmanager
def device_scope(device_name: str) -> Iterator[None]:
    """Within the block tensors are made on a device."""
    with tf.device(device_name):
        yield
