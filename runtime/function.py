"""`function`: Python functions that run as graphs.

>>> from runtime.ops.convert import constant
>>> @function(autograph=False)
... def double(a):
...     print("tracing with", a)
...     return a + a
>>> double(constant(1))
tracing with Tensor("a:0", shape=(), dtype=int32)
<tf.Tensor: shape=(), dtype=int32, numpy=2>
>>> double(constant(2))
<tf.Tensor: shape=(), dtype=int32, numpy=4>
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from runtime import bridge, nest
from runtime.concrete import ConcreteFunction
from runtime.context import (
    current_graph,
    functions_run_eagerly,
    watch_variables,
)
from runtime.errors import UnimplementedError
from runtime.graph import leak_error
from runtime.input_signature import InputSignature
from runtime.signature import FlatCall, ObjectRef, Signature, flatten_call
from runtime.specs import TensorSpec
from runtime.tensor import EagerTensor, SymbolicTensor
from runtime.tracing import flatten_results, trace

__all__ = ["BoundFunction", "Function", "function"]

Array = np.ndarray[Any, Any]

#: Calls remembered by their plain form; beyond that they are forgotten.
FAST_CALLS = 1024


class _Fast(NamedTuple):
    """What a call with arguments of known types leads to."""

    concrete: ConcreteFunction
    #: Where the graph's inputs are among the tensors as they are written in the call;
    #: None if they are in order.
    order: tuple[int, ...] | None


class _Entry(NamedTuple):
    """A trace, and what keeps it valid: references to the objects in its key."""

    concrete: ConcreteFunction
    references: tuple[Any, ...]


class Function:
    """A Python function that is traced once for each kind of arguments.

    A call looks up the `ConcreteFunction` for the dtypes and shapes of its tensors and
    the values of its other arguments; where there is none yet the Python function runs
    once to build its graph. Made by `function`.
    """

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        input_signature: Sequence[Any] | None = None,
        autograph: bool = True,
        reduce_retracing: bool = False,
        name: str | None = None,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self._name = str(name or getattr(python_function, "__name__", "function"))
        self._python_function = python_function
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._signature = Signature(python_function, self._name)
        self._input_signature = (
            None
            if input_signature is None
            else InputSignature(input_signature, self._signature)
        )
        self._lock = threading.RLock()
        self._fast: dict[tuple[Hashable, ...], _Fast] = {}
        self._entries: dict[Hashable, _Entry] = {}
        self._relaxed: dict[Hashable, ConcreteFunction] = {}
        self._identity_types: set[type] = set()
        self._count = 0
        self._bound: dict[int, tuple[Any, Function]] = {}

    # --- calling ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments, tracing it first if it is new.

        While another function is traced, the Python function is traced into its graph.
        """
        if current_graph() is None and not functions_run_eagerly():
            found = _fast_key(args, kwargs, self._identity_types)
            if found is None:
                return self._call(args, kwargs, None, [])
            key, arrays = found
            fast = self._fast.get(key)
            if fast is None:
                return self._call(args, kwargs, key, arrays)
            if fast.order is not None:
                arrays = [arrays[index] for index in fast.order]
            return fast.concrete.call_flat(arrays)
        return self._inline(args, kwargs)

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the Python function, as a part of what is going on."""
        args, kwargs = self._signature.bind(args, kwargs)
        if self._input_signature is not None:
            args = self._input_signature.fit(args)
        result = self._converted(*args, **kwargs)
        if current_graph() is None:
            return result
        tensors, results = flatten_results(result, self._name)
        return results.pack(tensors)

    def _call(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        key: tuple[Hashable, ...] | None,
        arrays: list[Array],
    ) -> Any:
        call = self._flatten(args, kwargs)
        inputs = [array for array in call.arrays if array is not None]
        if len(inputs) != len(call.arrays):
            raise self._no_value(args, kwargs)
        concrete = self._concrete(call)
        if key is not None:
            self._remember(key, concrete, arrays, inputs)
        return concrete.call_flat(inputs)

    def _no_value(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
        for leaf in nest.flatten((args, kwargs)):
            if isinstance(leaf, SymbolicTensor):
                return leak_error(leaf, None)
        return TypeError(
            f"{self._name}() was called with a TensorSpec, which has no value; "
            "get_concrete_function() takes specs"
        )

    def _remember(
        self,
        key: tuple[Hashable, ...],
        concrete: ConcreteFunction,
        given: list[Array],
        inputs: list[Array],
    ) -> None:
        """Let the next call of this plain form go straight to its trace."""
        positions = {id(array): index for index, array in enumerate(given)}
        if not all(id(array) in positions for array in inputs):
            return  # An argument was converted, or is a default.
        order = tuple([positions[id(array)] for array in inputs])
        if len(self._fast) >= FAST_CALLS:
            self._fast.clear()
        in_order = order == tuple(range(len(given)))
        self._fast[key] = _Fast(concrete, None if in_order else order)

    @functools.cached_property
    def _converted(self) -> Callable[..., Any]:
        """The function that is traced: the user's, its control flow converted."""
        if not self._autograph:
            return self._python_function
        converted: Callable[..., Any] = bridge.convert(self._python_function)
        return converted

    # --- traces -----------------------------------------------------------------------

    def _concrete(self, call: FlatCall) -> ConcreteFunction:
        """The trace for a call, found or made."""
        with self._lock:
            entry = self._entries.get(call.key)
            if entry is not None:
                return entry.concrete
            relaxed = self._relaxed.get(call.shapeless)
            if relaxed is not None and _accepts(relaxed, call):
                return relaxed
            specs = call.specs if relaxed is None else _wider(relaxed, call)
            concrete = self._trace(specs)
            if self._reduce_retracing:
                self._relaxed[call.shapeless] = concrete
            self._identity_types.update(map(type, call.objects))
            references = tuple([self._reference(value) for value in call.objects])
            self._entries[call.key] = _Entry(concrete, references)
            return concrete

    def _trace(self, specs: tuple[tuple[Any, ...], dict[str, Any]]) -> ConcreteFunction:
        leaves = [
            leaf.get() if isinstance(leaf, ObjectRef) else leaf
            for leaf in nest.flatten(specs)
        ]
        args, kwargs = nest.pack_sequence_as(specs, leaves)
        created: list[Any] = []
        with watch_variables(self._refuse if self._count else created.append):
            traced = trace(self._converted, args, kwargs, self._name)
        self._count += 1
        if created:
            # The trace to keep is one of a later call, which creates none.
            with watch_variables(self._refuse):
                traced = trace(self._converted, args, kwargs, self._name)
        return ConcreteFunction(traced, self._signature, specs)

    def _refuse(self, variable: Any) -> None:
        raise ValueError(
            f"{self._name!r} creates the variable {variable.name!r} on a later call "
            "than its first. A function may create variables on its first call only, "
            "and must keep them: create it outside, or where an attribute is still None"
        )

    def _reference(self, value: Any) -> Any:
        """A weak reference that drops the traces of an object when it is gone.

        What cannot be referred to weakly is kept alive, so that its id stays its own.
        """
        function = weakref.ref(self)

        def drop(reference: Any) -> None:
            self = function()
            if self is not None:
                self._drop(reference)

        try:
            return weakref.ref(value, drop)
        except TypeError:
            return value

    def _drop(self, reference: Any) -> None:
        for key, entry in list(self._entries.items()):
            if any(reference is other for other in entry.references):
                self._entries.pop(key, None)
        self._fast.clear()
        self._relaxed.clear()

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, without running it; they may be `TensorSpec`s.

        With an ``input_signature`` the arguments may be left out.
        """
        if self._input_signature is not None and not args and not kwargs:
            args = self._input_signature.specs
        return self._concrete(self._flatten(args, kwargs))

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function has been traced."""
        return self._count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, in the order in which they were made."""
        return "\n\n".join(
            concrete.pretty_printed_signature(verbose)
            for concrete in dict.fromkeys(e.concrete for e in self._entries.values())
        )

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatCall:
        args, kwargs = self._signature.bind(args, kwargs)
        if self._input_signature is not None:
            return self._input_signature.flatten(args, kwargs)
        return flatten_call(self._signature, args, kwargs)

    # --- being a Python function ------------------------------------------------------

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function as it was written."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs of the arguments, if they were given."""
        return None if self._input_signature is None else self._input_signature.specs

    @property
    def function_signature(self) -> inspect.Signature:
        """The parameters of the Python function."""
        return self._signature.parameters

    def __repr__(self) -> str:
        return f"<tf.function {self._name}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method: a function with traces of its own for each instance."""
        if instance is None:
            return self
        found = self._bound.get(id(instance))
        if found is None:
            found = self._bind_to(instance)
        return BoundFunction(found[1], instance)

    def _bind_to(self, instance: Any) -> tuple[Any, Function]:
        key, bound = id(instance), self._bound

        def forget(_: Any) -> None:
            bound.pop(key, None)

        try:
            reference = weakref.ref(instance, forget)
        except TypeError:
            # An instance with __slots__: it and its traces live as long as the class.
            def reference() -> Any:  # type: ignore[misc]
                return instance

        function = Function(
            _method(self._python_function, reference),
            input_signature=self.input_signature,
            autograph=self._autograph,
            reduce_retracing=self._reduce_retracing,
            name=self._name,
        )
        return bound.setdefault(key, (reference, function))


class BoundFunction:
    """A `Function` as a method of an instance: ``model.predict``."""

    __slots__ = ("__self__", "_function")

    def __init__(self, function: Function, instance: Any) -> None:
        self._function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f"<bound {self._function!r} of {self.__self__!r}>"


def _method(
    python_function: Callable[..., Any], reference: Callable[[], Any]
) -> Callable[..., Any]:
    """The method of an instance that is only referred to."""

    @functools.wraps(python_function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return python_function(reference(), *args, **kwargs)

    parameters = inspect.signature(python_function)
    _, *others = parameters.parameters.values()
    method.__signature__ = parameters.replace(parameters=others)  # type: ignore[attr-defined]
    return method


# --- the fast path --------------------------------------------------------------------


def _fast_key(
    args: tuple[Any, ...], kwargs: dict[str, Any], identity_types: set[type]
) -> tuple[tuple[Hashable, ...], list[Array]] | None:
    """A key for a call as it is written, and the arrays of its tensors.

    None where the arguments need a closer look: nested ones, and floats that are equal
    to others they differ from.
    """
    key: list[Any] = []
    arrays: list[Array] = []
    for value in args:
        kind = type(value)
        if kind is EagerTensor:
            array = value._array
            key.append(array.dtype)
            key.append(array.shape)
            arrays.append(array)
        elif kind is int or kind is bool or kind is str or value is None:
            key.append(kind)
            key.append(value)
        elif kind in identity_types:
            key.append(kind)
            key.append(id(value))
        else:
            return None
    if kwargs:
        found = _fast_key(tuple(kwargs.values()), {}, identity_types)
        if found is None:
            return None
        key.append(tuple(kwargs))
        key += found[0]
        arrays += found[1]
    return tuple(key), arrays


# --- relaxed shapes -------------------------------------------------------------------


def _specs_of(concrete: ConcreteFunction) -> list[TensorSpec]:
    return [tensor.spec for tensor in concrete.graph.inputs]


def _tensor_specs(call: FlatCall) -> list[TensorSpec]:
    return [leaf for leaf in nest.flatten(call.specs) if isinstance(leaf, TensorSpec)]


def _accepts(concrete: ConcreteFunction, call: FlatCall) -> bool:
    """Whether a trace for wider shapes takes the tensors of a call."""
    pairs = zip(_tensor_specs(call), _specs_of(concrete))
    return all(new.is_subtype_of(known) for new, known in pairs)


def _wider(
    concrete: ConcreteFunction, call: FlatCall
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The specs of a call; dimensions that differ from the last trace are unknown."""
    known = iter(_specs_of(concrete))
    leaves = []
    for leaf in nest.flatten(call.specs):
        if isinstance(leaf, TensorSpec):
            shape = leaf.shape.most_specific_common_shape(next(known).shape)
            leaf = TensorSpec(shape, leaf.dtype, leaf.name)
        leaves.append(leaf)
    specs: tuple[tuple[Any, ...], dict[str, Any]]
    specs = nest.pack_sequence_as(call.specs, leaves)
    return specs


# --- the decorator --------------------------------------------------------------------


@overload
def function(
    func: Callable[..., Any],
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_relax_shapes: bool | None = None,
    experimental_autograph_options: Any = None,
) -> Function: ...


@overload
def function(
    func: None = None,
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_relax_shapes: bool | None = None,
    experimental_autograph_options: Any = None,
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_relax_shapes: bool | None = None,
    experimental_autograph_options: Any = None,
) -> Function | Callable[[Callable[..., Any]], Function]:
    """Make a Python function run as a graph; also as a decorator with arguments.

    Args:
        func: the function, method, lambda or other callable.
        input_signature: specs of the tensors it takes; it is then traced once, and
            raises ValueError for others.
        autograph: whether Python control flow that depends on tensors is converted.
        jit_compile: True asks for native code, which does not exist yet.
        reduce_retracing: trace for unknown dimensions once shapes begin to vary.
        experimental_relax_shapes: the older name of `reduce_retracing`.
        experimental_autograph_options: accepted and passed over.

    Raises:
        UnimplementedError: for ``jit_compile=True``.
        TypeError: `input_signature` holds something else than specs.
    """
    if jit_compile:
        raise UnimplementedError(
            "jit_compile=True needs the executor for native code, which does not exist "
            "yet; leave it out to run the graph as NumPy code"
        )

    def decorate(python_function: Callable[..., Any]) -> Function:
        return Function(
            python_function,
            input_signature=input_signature,
            autograph=autograph,
            reduce_retracing=reduce_retracing or bool(experimental_relax_shapes),
        )

    return decorate if func is None else decorate(func)
