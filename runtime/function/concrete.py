"""`ConcreteFunction`: one traced graph as a callable.

`Tracer` makes them, `TraceCache` keeps them; users get them from
`get_concrete_function`. The graph stays as it was traced; the executable is made at the
first call.
"""

from __future__ import annotations

import copy
import pprint
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, InvalidArgumentError
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.graph.editing import copy_graph, nested_graphs, note_captures
from runtime.core.graph.recording import recorders
from runtime.core.missing import near
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.engines.door import compiled, executor_of
from runtime.engines.native.library import load as load_llvmlite
from runtime.engines.numpy_source.profile import Profile, profile
from runtime.engines.xla.library import load
from runtime.function.call import ObjectRef, Specs, with_array_parts
from runtime.function.exports import Exports
from runtime.ops.convert import convert_to_tensor, narrowed
from runtime.ops.staged.flow import optional_parts
from runtime.ops.variables import Variable
from runtime.passes.optimize import chosen_passes
from runtime.passes.optimize.dump import PassDump, dump_passes
from runtime.staging.tracing.arguments import restored, taken_apart
from runtime.staging.tracing.signature import Signature
from runtime.staging.tracing.trace import Trace

Array = np.ndarray[Any, Any]
Executor = Callable[[Sequence[Any]], Sequence[Any]]


class ConcreteFunction(Exports):
    """A graph with the structures of the arguments and the result of its trace.

    It is called with tensors of the traced dtypes and shapes. Python arguments are
    baked in: a call may leave them out, or must pass equal ones.
    """

    def __init__(
        self,
        trace: Trace,
        signature: Signature,
        specs: Specs,
        captured: Sequence[EagerTensor] = (),
    ) -> None:
        self._trace = trace
        self._signature = signature
        self._specs = specs
        #: The eager tensors that the last inputs of the graph stand for.
        self._captured = captured
        #: Variants of the program with inputs for captured tensors, by their ids.
        self._capturing: dict[tuple[int, ...], ConcreteFunction] = {}
        self._executable: Any = None
        self._one_tensor = trace.results.is_tensor
        self._kinds = _kinds(specs)
        self.__name__ = signature.name

    # --- properties -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._signature.name

    @property
    def graph(self) -> Graph:
        """The traced program."""
        return self._trace.graph

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The placeholders of the graph."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The results of the graph, flat."""
        return list(self.graph.outputs)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the graph reads or assigns, in the order of first use."""
        by_id: dict[int, Variable] = {}
        _collect_variables(self.graph, by_id, set())
        return tuple(by_id.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The `variables` that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def captured_inputs(self) -> list[Variable]:
        """The `variables`, to which the graph refers besides its inputs.

        Other tensors from outside are constants of the graph.
        """
        return list(self.variables)

    @property
    def structured_input_signature(self) -> Specs:
        """``(args, kwargs)`` with a TensorSpec for each tensor."""
        leaves = [
            leaf.get() if isinstance(leaf, ObjectRef) else leaf
            for leaf in nest.flatten(self._specs)
        ]
        signature: Specs
        signature = restored(nest.pack_sequence_as(self._specs, leaves))
        return signature

    @property
    def structured_outputs(self) -> Any:
        """The result with symbolic tensors in it."""
        return self._trace.structured_outputs

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the result, in its structure; None for a None."""
        return nest.map_structure(_shape_of, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the result, in its structure; None for a None."""
        return nest.map_structure(_dtype_of, self.structured_outputs)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The call with the types of its tensors and of its results."""
        if not verbose:
            return header(self._signature, self._specs)
        return pretty_signature(self._signature, self._specs, self.structured_outputs)

    @property
    def executor(self) -> str:
        """What runs the graph: ``"numpy"``, ``"native"`` or ``"xla"``.

        `tf.config.set_executor` changes that until the graph is first run.
        """
        executable = self._executable
        return executor_of(self.graph) if executable is None else executable.executor

    def to_source(self) -> str:
        """The Python source that runs the graph; on XLA, the jaxpr.

        Of native code it is the module of LLVM, or, where this is a part of the graph,
        the Python source that calls it.
        """
        return str(self.executable.source)

    def stablehlo(self) -> str:
        """The StableHLO program of the graph, whichever executor runs it.

        Raises:
            UnimplementedError: JAX is not installed, or XLA cannot run an op.
            ValueError: the shape of an input is not known.
        """
        load()
        from runtime.engines.xla.compilation import compile_graph

        return compile_graph(self.graph).stablehlo

    def llvm_ir(self, optimized: bool = True) -> str:
        """The LLVM module of the graph, whichever executor runs it.

        Comments have the lines of the program. With `optimized` it is the output of
        LLVM's passes, else their input.

        Raises:
            UnimplementedError: llvmlite is not installed.
            ValueError: nothing of the graph is native code: see `explain`.
        """
        load_llvmlite()
        from runtime.engines.native.show import llvm_ir

        return llvm_ir(self.graph, optimized)

    def loops(self) -> str:
        """The native code of the graph as loops, before LLVM makes vectors of them.

        >>> import runtime as tf
        >>> double = tf.function(lambda x: x * 2.0)
        >>> print(double.get_concrete_function(tf.TensorSpec([9])).loops())
        def lambda_(x: float32[9], out: float32[9]):
            for i in range(9):
                out[i] = x[i] * 2.0

        Raises what `llvm_ir` raises.
        """
        load_llvmlite()
        from runtime.engines.native.show import loops

        return loops(self.graph)

    def asm(self) -> str:
        """The native code as assembly: see `llvm_ir`."""
        load_llvmlite()
        from runtime.engines.native.show import asm

        return asm(self.graph)

    def explain(self) -> str:
        """Which parts of the graph run as native code, and why the others do not.

        Compiles the graph if it was not called yet.
        """
        executable = self.executable
        report = getattr(executable, "native", None)
        name = self.graph.name
        if report is not None:
            return str(report.explain(name))
        if executable.executor == "xla":
            return f"{name}() runs on XLA as a whole: stablehlo() shows the program."
        return (
            f"{name}() runs as NumPy source, which to_source() shows: its executor is "
            "'numpy'."
        )

    def to_jax(self, checks: bool = False) -> Any:
        """The graph as a pure function of JAX, to be jitted, vmapped, differentiated.

        It takes what the function takes, with arrays of JAX for tensors, or the tensors
        alone; Python arguments are baked in. It returns the same structure, of arrays
        of JAX. A function that has variables takes a dict of their values before its
        arguments; ``fn.variables`` has those of now. If it assigns to any, it returns
        ``(result, variables)``.

        A failed check of the function (an ``assert``, an index out of range) raises
        InvalidArgumentError where arrays have values; under a transformation of JAX it
        makes the floats of the result NaN. With `checks` nothing is raised, and what is
        returned is ``(what is said above, whether a check failed)``.

        Raises UnimplementedError where JAX is not installed, or XLA cannot run an op.
        """
        load()
        from runtime.engines.xla.pure import JaxFunction, as_argument

        def bind(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
            tensors = self._bind(args, kwargs, as_argument)
            return [*tensors, *[tensor._array for tensor in self._captured]]

        return JaxFunction(self.graph, self.variables, bind, self._packing(), checks)

    def gradient_memory(self) -> Any:
        """The memory kept for the gradient, in bytes and tensor by tensor, with lines.

        It covers the gradients in the function or, if it has none, those of a tape
        around its call.

        >>> import runtime as tf
        >>> @tf.function
        ... def f(x):
        ...     for _ in tf.range(1000):
        ...         x = tf.sin(x) * x
        ...     return x
        >>> concrete = f.get_concrete_function(tf.TensorSpec([], tf.float64))
        >>> memory = concrete.gradient_memory()
        >>> memory.bytes, memory.bytes_per_step
        (8000, 8)

        Raises GradientError where there is no gradient.
        """
        # Imported here: programs without tapes need no gradient rules.
        from runtime.autodiff import branches, custom, loop_gradients, rules  # noqa: F401
        from runtime.autodiff.memory import gradient_memory
        from runtime.passes.lowering import lower  # noqa: F401

        return gradient_memory(self.graph)

    def profile(self, *args: Any, repeat: int = 1, **kwargs: Any) -> Profile:
        """Run the graph `repeat` times and measure the time of each line.

        A table to print; in notebooks it has bars. Takes and raises what a call does.
        """
        tensors = self._bind(args, kwargs)
        arrays = [tensor._array for tensor in tensors]
        return profile(self.executable, arrays, repeat)

    def dump_passes(self) -> PassDump:
        """The changes that the optimiser makes to the graph, pass by pass.

        A text to print; its ``passes`` have the name, the numbers of nodes and the
        graph before and after for each pass that changed something.
        """
        return dump_passes(self.graph, chosen_passes())

    def __repr__(self) -> str:
        return f"<ConcreteFunction {header(self._signature, self._specs)}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> ConcreteFunction:
        """The same program on copies of the variables and objects that it refers to."""
        graph = copy_graph(self.graph)
        note_captures(graph)
        graphs = list(nested_graphs(graph))
        memo.update({id(inner): inner for inner in graphs})
        for node in [node for inner in graphs for node in inner.nodes]:
            if node.op != "Const":  # whose array nobody changes
                node.attrs = copy.deepcopy(node.attrs, memo)
        specs = nest.map_structure(
            lambda leaf: leaf.copied(memo) if isinstance(leaf, ObjectRef) else leaf,
            self._specs,
        )
        trace = Trace(graph, self._trace.results)
        copied = memo[id(self)] = ConcreteFunction(trace, self._signature, specs)
        return copied

    # --- calling ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph.

        The arguments are those of the Python function, or the tensors among them alone,
        by position. Raises InvalidArgumentError for a tensor that does not fit and
        TypeError for another Python argument than it was traced with.
        """
        if self._kinds and not kwargs and current_graph() is None and not recorders():
            arrays = [arg._array for arg in args if type(arg) is EagerTensor]
            kinds = [(array.dtype, array.shape) for array in arrays]
            if kinds == self._kinds and len(args) == len(arrays):
                return self.call_flat(arrays)
        return self._call_on_tensors(self._bind(args, kwargs))

    def call_flat(self, arrays: Sequence[Array]) -> Any:
        """Run the graph on arrays of the traced dtypes and shapes, unchecked."""
        executable = self._executable or self.executable
        if self._one_tensor:
            result = executable.run(arrays)
            if type(result) is np.ndarray:
                return EagerTensor(result)
            return executable.tensor(result)
        results = executable(arrays)
        return self._trace.results.pack([executable.tensor(r) for r in results])

    @property
    def executable(self) -> Any:
        """The compiled graph, compiled at the first use."""
        executable = self._executable
        if executable is None:
            executable = self._executable = compiled(self.graph)
        return executable

    def capturing(
        self,
        tensors: Sequence[EagerTensor],
        trace: Callable[[Specs, Sequence[EagerTensor]], ConcreteFunction],
    ) -> ConcreteFunction:
        """The variant with inputs for `tensors`, constants in this program."""
        key = tuple([id(tensor) for tensor in tensors])
        variant = self._capturing.get(key)
        if variant is None:
            variant = self._capturing[key] = trace(self._specs, tensors)
        return variant

    def _call_on_tensors(self, tensors: list[Tensor]) -> Any:
        tensors = [*tensors, *self._captured]
        graph = current_graph()
        if graph is None and recorders():
            from runtime.autodiff.calls import run_call

            results = run_call(self.graph, tensors)
            return self._trace.results.pack(results)
        if graph is None:
            return self.call_flat(self.executable.inputs(tensors))
        specs = [
            TensorSpec(tensor.shape, tensor.dtype) for tensor in self.graph.outputs
        ]
        attrs = {"graph": self.graph}
        outputs = graph.add("PartitionedCall", tensors, attrs, specs, self.name)
        return self._trace.results.pack(outputs)

    # --- arguments --------------------------------------------------------------------

    def _bind(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        convert: Callable[[Any, TensorSpec], Any] | None = None,
    ) -> list[Any]:
        """The tensors of a call, checked, in the order of the graph's inputs.

        `convert` replaces `_fit`: it makes the value for a spec, or raises.
        """
        fit = self._fit if convert is None else lambda a, s, name: convert(a, s)
        try:
            arguments = self._complete(args, kwargs)
            return self._matched(arguments, fit)
        except TypeError:
            # The call may pass the tensors only, without the Python arguments.
            specs = [s for s in nest.flatten(self._specs) if isinstance(s, TensorSpec)]
            if kwargs or len(args) != len(specs) or not self._may_be_flat(args):
                raise
            return [fit(a, s, s.name or "") for a, s in zip(args, specs)]

    def _may_be_flat(self, args: Sequence[Any]) -> bool:
        """Whether the arguments may be the tensors only, rather than a wrong call."""
        return len(args) != len(self._specs[0]) or all(
            isinstance(arg, Tensor) for arg in args
        )

    def _complete(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, with the traced ones for those left out."""
        parameters = self._signature.parameters
        try:
            bound = parameters.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._call_text()}: {error}") from None
        args, kwargs = taken_apart((bound.args, bound.kwargs))
        bound = parameters.bind_partial(*args, **kwargs)
        traced = parameters.bind_partial(*self._specs[0], **self._specs[1])
        for name, value in traced.arguments.items():
            bound.arguments.setdefault(name, value)
        bound.apply_defaults()
        return dict(self._signature.named(bound.args, bound.kwargs))

    def _matched(
        self, given: dict[str, Any], fit: Callable[[Any, TensorSpec, str], Any]
    ) -> list[Any]:
        """The tensors among `given`; all other arguments must equal the traced ones."""
        tensors = []
        expected = dict(self._signature.named(*self._specs))
        extra = [name for name in given if name not in expected]
        if extra:
            hint = near(extra[0], expected)
            raise TypeError(f"{self._call_text()} has no argument {extra[0]!r}{hint}")
        for name, spec in expected.items():
            value = with_array_parts(given.get(name, spec))
            specs = nest.flatten(spec)
            # An argument that is left out has its spec for a value.
            if value is spec and any(isinstance(leaf, TensorSpec) for leaf in specs):
                raise TypeError(f"{self._call_text()} needs the argument {name!r}")
            try:
                leaves = nest.flatten_up_to(spec, value)
            except ValueError as error:
                raise TypeError(
                    f"{self._call_text()} was traced with another structure for "
                    f"{name!r}: {error}"
                ) from None
            for (path, traced), leaf in zip(nest.flatten_with_paths(spec), leaves):
                if isinstance(traced, TensorSpec):
                    tensors.append(fit(leaf, traced, name + path))
                else:
                    self._check_baked(leaf, traced, name + path)
        return tensors

    def _check_baked(self, value: Any, baked: Any, name: str) -> None:
        if value is baked:
            return
        if isinstance(baked, ObjectRef):
            if baked.get() is value:
                return
        elif type(value) is type(baked) and value == baked:
            return
        kind = baked.type_name if isinstance(baked, ObjectRef) else type(baked).__name__
        raise TypeError(
            f"{self._call_text()} was traced with the {kind} value {baked!r} for "
            f"{name!r}, and was called with the {type(value).__name__} value {value!r}"
        )

    def _fit(self, value: Any, spec: TensorSpec, name: str) -> Tensor:
        """The argument as a tensor of the traced dtype and shape."""
        try:
            if isinstance(value, Tensor):
                tensor = narrowed(value)
            else:
                tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
        except ConversionError as error:
            raise TypeError(f"{self._call_text()}: {name!r}: {error}") from None
        if tensor.dtype is not spec.dtype or not spec.shape.is_compatible_with(
            tensor.shape
        ):
            raise InvalidArgumentError(
                f"{self._call_text()} was traced with {name!r} as "
                f"{_described(spec)}, and was called with {_described(tensor)}"
            )
        return tensor

    def _call_text(self) -> str:
        return f"ConcreteFunction {header(self._signature, self._specs)}"


def _kinds(
    specs: Specs,
) -> list[tuple[np.dtype[Any], tuple[int | None, ...]]]:
    """The dtypes and shapes of the arguments if all are tensors of known shapes.

    Calls with such tensors skip the binding of arguments. Else the list is empty.
    """
    kinds = []
    for spec in specs[0]:
        if not isinstance(spec, TensorSpec) or not spec.shape.is_fully_defined():
            return []
        kinds.append((spec.dtype.np_dtype, tuple(spec.shape)))
    return [] if specs[1] else kinds


def _described(value: TensorSpec | Tensor) -> str:
    name = value.dtype.name
    article = "an" if name.startswith("int") else "a"
    return f"{article} {name} tensor of shape {value.shape}"


def _shape_of(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else None


def _dtype_of(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else None


def _collect_variables(
    graph: Graph, variables: dict[int, Variable], seen: set[Graph]
) -> None:
    """Add the variables of a graph and of the graphs in it."""
    seen.add(graph)
    for node in graph.nodes:
        for value in node.attrs.values():
            if isinstance(value, Variable):
                variables.setdefault(id(value), value)
        graphs = [inner for _, inner in node.subgraphs()]
        if node.op == "ReplicaRun":
            graphs.append(node.attrs["program"].traced)
        for inner in graphs:
            if inner not in seen:
                _collect_variables(inner, variables, seen)


# --- printing -------------------------------------------------------------------------


class _Marker:
    def __init__(self, number: int) -> None:
        self.text = f"<{number}>"

    def __repr__(self) -> str:
        return self.text


def pretty_signature(
    signature: Signature,
    specs: Specs,
    outputs: Any,
) -> str:
    """The call and the types of its tensors, as TensorFlow prints them."""
    args, kwargs = specs
    lines = [header(signature, specs), "  Args:"]
    for name, value in signature.named(args, kwargs):
        if _has_tensor(value):
            lines.append(f"    {name}: {_type_text(value)}")
    if len(lines) == 2:
        lines.pop()
    lines += ["  Returns:", f"    {_type_text(outputs)}"]
    return "\n".join(lines)


def header(signature: Signature, specs: Specs) -> str:
    """``name(a, b=2)``: tensors by name, Python values as they are."""
    args, kwargs = specs
    texts = [_part(signature.name_of(i), value) for i, value in enumerate(args)]
    if kwargs:
        texts += ["*", *(_part(name, kwargs[name]) for name in sorted(kwargs))]
    return f"{signature.name}({', '.join(texts)})"


def _part(name: str, value: Any) -> str:
    return name if _has_tensor(value) else f"{name}={value!r}"


def _has_tensor(value: Any) -> bool:
    return any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(value))


def _type_text(value: Any) -> str:
    """A spec or tensor in words; a structure with a line for each leaf."""
    if isinstance(value, (TensorSpec, SymbolicTensor)):
        maybe = "" if optional_parts(value) is None else ", or None"
        return f"{value.dtype.name} Tensor, shape={value.shape}{maybe}"
    if not nest.is_nested(value):
        return repr(value)
    leaves = nest.flatten(value)
    markers = [_Marker(number) for number in range(1, len(leaves) + 1)]
    # pprint sorts the keys of dicts, as the numbers of the markers are.
    lines = [pprint.pformat(nest.pack_sequence_as(value, markers), width=10_000)]
    for marker, leaf in zip(markers, leaves):
        lines.append(f"      {marker}: {_type_text(leaf)}")
    return "\n".join(lines)
