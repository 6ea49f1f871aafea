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

import copy
import functools
import html
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from runtime.autodiff.calls import captured_by
from runtime.core.config import check_executor
from runtime.core.graph import leak_error
from runtime.core.graph.context import current_graph, functions_run_eagerly
from runtime.core.graph.recording import recorders, unrecorded
from runtime.core.location.user_code import user_frames
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import nest
from runtime.function.cache import MAX_TRACES, Entry, TraceCache
from runtime.function.call import Call
from runtime.function.concrete import ConcreteFunction
from runtime.function.explanation import Explanation
from runtime.function.fast_key import fast_key
from runtime.function.input_signature import InputSignature, annotated, given
from runtime.function.retraces import Retrace, RetraceLog
from runtime.function.tracer import Tracer, TracingAlone
from runtime.staging import compiler
from runtime.staging.tracing.form import flatten_results
from runtime.staging.tracing.signature import Signature, parameters_of

# --- functions as methods: one for each instance, to which it refers weakly


def _method_of(
    python_function: Callable[..., Any], reference: Callable[[], Any]
) -> Callable[..., Any]:
    """The method bound to an instance through a reference."""

    @functools.wraps(python_function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return python_function(reference(), *args, **kwargs)

    parameters = parameters_of(python_function)
    _, *others = parameters.parameters.values()
    method.instance = reference  # type: ignore[attr-defined]
    method.__signature__ = parameters.replace(parameters=others)  # type: ignore[attr-defined]
    return method


class Methods:
    """The functions of the instances of a class, each made at its first use."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        make: Callable[[Callable[..., Any]], Function],
    ) -> None:
        self._python_function = python_function
        self._make = make
        self._functions: dict[int, tuple[Any, Function]] = {}

    def of(self, instance: Any) -> Function:
        """The function of an instance."""
        entry = self._functions.get(id(instance))
        return self._new(instance) if entry is None else entry[1]

    def _new(self, instance: Any) -> Function:
        key, functions = id(instance), self._functions

        def forget(_: Any) -> None:
            functions.pop(key, None)

        try:
            reference = weakref.ref(instance, forget)
        except TypeError:
            # An instance with __slots__ and its traces live as long as the class.
            def reference() -> Any:  # type: ignore[misc]
                return instance

        function = self._make(_method_of(self._python_function, reference))
        return functions.setdefault(key, (reference, function))[1]


class BoundFunction:
    """A `Function` as a method of an instance: ``model.predict``."""

    __slots__ = ("__self__", "_method", "bound_function")

    def __init__(self, method: Function, function: Function, instance: Any) -> None:
        self.bound_function = function
        self.__self__ = instance
        self._method = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self.bound_function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bound_function, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._method.__get__(copy.deepcopy(self.__self__, memo))

    def __repr__(self) -> str:
        return f"<bound {self.bound_function!r} of {self.__self__!r}>"


class Function:
    """A Python function that is traced once for each kind of arguments.

    A call looks up the `ConcreteFunction` for the dtypes and shapes of its tensors and
    the values of its other arguments; where there is none yet the Python function runs
    once to build its graph. Made by `function`.
    """

    __wrapped__: Callable[..., Any]
    __name__: str

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        name: str | None = None,
        input_signature: Sequence[Any] | None = None,
        follow_type_hints: bool | None = None,
        autograph: bool = True,
        autograph_options: Any = None,
        reduce_retracing: bool = False,
        guards: bool = True,
        max_traces: int = MAX_TRACES,
        executor: str | None = None,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"tf.function takes a callable, not {python_function!r}")
        if not isinstance(max_traces, int) or max_traces < 1:
            raise ValueError(f"max_traces must be 1 or more, not {max_traces!r}")
        inner = python_function
        while isinstance(inner, functools.partial):
            inner = inner.func
        functools.update_wrapper(self, inner)
        self.__wrapped__ = python_function
        self._name = self.__name__ = name or _name_of(python_function)
        self._python_function = python_function
        self._signature = Signature(python_function, self._name)
        if input_signature is not None:
            self._inputs = given(input_signature, self._signature)
        elif follow_type_hints is not False:
            hints = bool(follow_type_hints)
            self._inputs = annotated(python_function, self._signature, hints)
        else:
            self._inputs = InputSignature(self._signature)
        self._tracer = Tracer(
            python_function,
            self._signature,
            autograph=autograph,
            options=autograph_options,
            guards=guards,
            executor=executor,
        )
        self._cache = TraceCache(reduce_retracing, max_traces)
        self._retraces = RetraceLog(self._signature, reduce_retracing, self._cache)
        #: Makes a function of another callable, with the same options.
        self._make = functools.partial(
            Function,
            name=self._name,
            input_signature=input_signature,
            follow_type_hints=follow_type_hints,
            autograph=autograph,
            autograph_options=autograph_options,
            reduce_retracing=reduce_retracing,
            guards=guards,
            max_traces=max_traces,
            executor=executor,
        )
        self._methods = Methods(python_function, self._make)

    # --- calling ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments, tracing it first if it is new.

        While another function is traced, the Python function is traced into its graph.
        """
        if current_graph() is not None or functions_run_eagerly():
            return self._inline(args, kwargs)
        cache = self._cache
        cache.calls += 1
        try:
            written = None if recorders() else fast_key(args, kwargs)
            if written is None:
                return self._call(args, kwargs)
            key, arrays = written
            fast = cache.fast.get(key)
            if fast is None or (fast.holds is not None and not fast.holds()):
                return self._call(args, kwargs)
            fast.entry.used = cache.calls
            if fast.order is not None:
                arrays = [arrays[index] for index in fast.order]
            return fast.run(arrays)
        except Exception as error:
            error.__traceback__ = user_frames(error.__traceback__)
            if sys.version_info < (3, 11):
                raise error  # a bare `raise` would restore the original traceback
            raise

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the Python function eagerly, or as a part of the graph being built."""
        args, kwargs = self._inputs.bind(args, kwargs)
        converted = self._tracer.converted
        if current_graph() is None:
            return converted(*args, **kwargs)
        result = compiler.watching.call_again(converted, args, kwargs)
        tensors, results = flatten_results(result, self._name)
        return results.pack(tensors)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call whose form is not in the first table of the cache."""
        if recorders():
            return self._recorded(args, kwargs)
        bound = fast_key(*self._inputs.bind(args, kwargs))
        fast = None if bound is None else self._cache.fast.get(bound[0])
        if bound is not None and fast is not None and fast.entry.holds():
            fast.entry.used = self._cache.calls
            order = fast.order
            return fast.run(bound[1] if order is None else [bound[1][i] for i in order])
        call = Call.of(self._inputs, args, kwargs)
        inputs = [array for array in call.arrays if array is not None]
        if len(inputs) != len(call.arrays):
            raise self._no_value(args, kwargs)
        entry = self._entry(call)
        self._retraces.warn()
        # Fix the executor now: tf.config.set_executor may change before the call.
        executor = entry.concrete.executable.executor
        self._cache.remember(call, entry)
        if executor != "xla":
            inputs = [np.asarray(array) for array in inputs]
        return entry.concrete.call_flat(inputs)

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call under open tapes."""
        call = Call.of(self._inputs, args, kwargs)
        if any(array is None for array in call.arrays):
            raise self._no_value(args, kwargs)
        tapes = recorders()
        with unrecorded():
            concrete = self._entry(call).concrete
            captured = [
                tensor
                for tensor in captured_by(concrete.graph)
                if any(tape.wants(tensor) for tape in tapes)
            ]
            for tape in tapes:
                tape.called(concrete.graph)
            if captured:
                with TracingAlone(self._name):
                    concrete = concrete.capturing(
                        captured, self._tracer.trace_capturing
                    )
        self._retraces.warn()
        args, kwargs = self._inputs.bind(args, kwargs)
        return concrete(*args, **kwargs)

    def _no_value(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
        for leaf in nest.flatten((args, kwargs)):
            if isinstance(leaf, SymbolicTensor):
                return leak_error(leaf, None)
        return TypeError(
            f"{self._name}() was called with a TensorSpec, which has no value; "
            "get_concrete_function() takes specs"
        )

    # --- traces -----------------------------------------------------------------------

    def _entry(self, call: Call, is_asked_for: bool = False) -> Entry:
        """The trace for a call, found or made; `is_asked_for` without a call."""
        entry = self._cache.find(call)
        if entry is None:
            with TracingAlone(self._name):
                # Another thread may have made it in the meantime.
                entry = self._cache.find(call)
                if entry is None:
                    entry = self._new_entry(call)
                    if not is_asked_for:
                        self._retraces.count()
        entry.used = self._cache.calls
        return entry

    def _new_entry(self, call: Call) -> Entry:
        changes = self._cache.changes(call)
        traced = self._tracer.trace(self._cache.specs(call))
        return self._cache.add(call, *traced, changes)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, without running it; they may be `TensorSpec`s.

        With an ``input_signature`` the arguments may be left out.
        """
        if not args and not kwargs:
            args, kwargs = self._inputs.call
        call = Call.of(self._inputs, args, kwargs)
        return self._entry(call, is_asked_for=True).concrete

    def current_traces(self) -> list[ConcreteFunction]:
        """The traces whose guards hold in the present state of Python.

        With an ``input_signature`` there is one, which is made if need be.
        """
        if self._inputs.has_specs:
            return [self.get_concrete_function()]
        return self._cache.current()

    def experimental_get_tracing_count(self) -> int:
        """The number of times that the Python function was traced."""
        return self._tracer.count

    def explain_retrace(self) -> Retrace:
        """Why the function was traced last: which argument differed, and what to do.

        The record is readable when printed; it has ``changes``, ``fixes``, ``place``
        and ``to_json()``.
        """
        return self._retraces.last

    def explain(self) -> Explanation:
        """The statements that tensors decide, what each changes, and the traces.

        A statement's state are the variables, attributes and containers that its text
        names (``state=`` in printed code), and the places that traces have found
        besides, with the lines of called functions that change them. Of each trace it
        says its guards, the lines that became many operations, where dtypes were
        promoted, and what runs it. The result is readable when printed, iteration gives
        the records of the statements, and it has ``traces`` and ``to_json()``.
        """
        return Explanation(self._tracer.report, self._cache.entries())

    def converted_callees(self) -> Any:
        """The functions that this one calls, and the rule that converts each or not.

        Methods of objects, and functions that Python calls implicitly, are known after
        the first trace. The result is a tuple of records, readable when printed; it has
        ``converted``, ``skipped`` and ``to_json()``.
        """
        return compiler.conversion.converted_callees(
            self._python_function, self._tracer.options, self._tracer.called
        )

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, in the order in which they were made."""
        return "\n\n".join(
            concrete.pretty_printed_signature(verbose)
            for concrete in self._cache.traces()
        )

    # --- being a Python function ------------------------------------------------------

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function as it was written."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs of the arguments, if they were given."""
        return self._inputs.specs if self._inputs.has_specs else None

    @property
    def function_signature(self) -> inspect.Signature:
        """The parameters of the Python function."""
        return self._signature.parameters

    def __repr__(self) -> str:
        return f"<tf.function {self._name}>"

    def _repr_html_(self) -> str:
        """The traces, each with its graph and source, for notebooks."""
        traces = [
            f"<div><code>{html.escape(repr(each))}</code></div>{each._repr_html_()}"
            for each in self._cache.traces()
        ]
        return "".join(traces) or f"<code>{html.escape(repr(self))}, not traced</code>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """A new function for the copied callable.

        It has no traces: those of this function refer to its own variables.
        """
        python_function = copy.deepcopy(self._python_function, memo)
        if id(self) in memo:  # The object that it is bound to holds this function.
            copied: Function = memo[id(self)]
            return copied
        fresh = memo[id(self)] = self._make(python_function)
        others = vars(self).keys() - vars(fresh).keys()
        attributes = {name: vars(self)[name] for name in others}
        vars(fresh).update(copy.deepcopy(attributes, memo))
        return fresh

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method: a function with traces of its own for each instance."""
        if instance is None:
            return self
        return BoundFunction(self, self._methods.of(instance), instance)


def _name_of(python_function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of another callable."""
    if isinstance(python_function, functools.partial):
        return _name_of(python_function.func)
    return str(getattr(python_function, "__name__", type(python_function).__name__))


# --- the decorator --------------------------------------------------------------------

#: What `jit_compile` asks for: see `runtime.engines.door`.
COMPILER = "jit"


@overload
def function(
    func: Callable[..., Any],
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    executor: str | None = None,
    reduce_retracing: bool = False,
    guards: bool = True,
    max_traces: int = MAX_TRACES,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Function: ...


@overload
def function(
    func: None = None,
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    executor: str | None = None,
    reduce_retracing: bool = False,
    guards: bool = True,
    max_traces: int = MAX_TRACES,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    *,
    autograph: bool = True,
    jit_compile: bool | None = None,
    executor: str | None = None,
    reduce_retracing: bool = False,
    guards: bool = True,
    max_traces: int = MAX_TRACES,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Function | Callable[[Callable[..., Any]], Function]:
    """Make a Python function run as a graph; also as a decorator with arguments.

    Args:
        func: the function, method, lambda or other callable.
        input_signature: specs of the tensors it takes; others are a ValueError.
            Parameters that are annotated with a `tf.TensorSpec` have one without it.
        autograph: whether Python control flow that depends on tensors is converted.
        jit_compile: True compiles the graph before it runs: to native code where
            llvmlite is installed (the extra ``native``), with XLA elsewhere and for
            GPUs. False runs it as NumPy code whatever `tf.config.set_executor` says.
        executor: what runs the graph, ``"numpy"``, ``"native"`` or ``"xla"``; None
            leaves it to `jit_compile` and `tf.config.set_executor`.
        reduce_retracing: trace for unknown dimensions once shapes begin to vary.
        guards: whether calls check that what the traced code read of Python's state
            (globals, attributes, ...) is as it was, and trace again where it is not.
        max_traces: how many traces are kept; those used last stay.
        experimental_autograph_options: `tf.autograph.options`, which say what of
            the code that it calls is converted; TensorFlow's features are passed over.
        experimental_follow_type_hints: True makes tensors of what is passed for
            parameters annotated as `tf.Tensor`; False passes over all annotations.

    ``experimental_relax_shapes`` and ``experimental_compile`` are older names of
    `reduce_retracing` and `jit_compile`; the other parameters change nothing.
    """
    if executor is not None:
        check_executor(executor)
    elif jit_compile or experimental_compile:
        executor = COMPILER
    elif jit_compile is False:
        executor = "numpy"
    decorate = functools.partial(
        Function,
        input_signature=input_signature,
        follow_type_hints=experimental_follow_type_hints,
        autograph=autograph,
        autograph_options=experimental_autograph_options,
        reduce_retracing=reduce_retracing or bool(experimental_relax_shapes),
        guards=guards,
        max_traces=max_traces,
        executor=executor,
    )
    return decorate if func is None else decorate(func)
