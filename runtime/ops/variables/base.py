"""The class of variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from runtime.core.errors import (
    ConversionError,
    ImmutableTensorError,
    UnhashableTensorError,
)
from runtime.core.graph import context
from runtime.core.graph.recording import when_recording
from runtime.core.locks import new_reentrant_lock
from runtime.core.tensor import EagerTensor, OperatorMixin, Reference, Tensor, operators
from runtime.core.tensor.device import explained_errors
from runtime.core.tensor.eager import value_text
from runtime.core.types.classes import defines
from runtime.core.types.devices import CPU, place_of
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply_one
from runtime.ops.convert import convert_to_tensor
from runtime.ops.elementwise.factories import array_holders
from runtime.ops.operands import run
from runtime.ops.variables.copies import VariableAggregation, VariableSynchronization
from runtime.ops.variables.initial import initial_tensor
from runtime.ops.variables.parts import PartialUpdates, VariablePart
from runtime.ops.variables.updates import assign_quickly, check_arithmetic

Array = np.ndarray[Any, Any]


class Held:
    """A value on a device, and its copy in NumPy's memory, once there is one."""

    __slots__ = ("fetched", "value")

    def __init__(self, value: Any, fetched: Array | None = None) -> None:
        self.value = value
        self.fetched = fetched

    def copy(self) -> Array:
        """The value as an array of NumPy, which no compiled program writes to."""
        if self.fetched is None:
            with explained_errors():
                self.fetched = np.array(self.value)
        return self.fetched


class Variable(PartialUpdates, OperatorMixin):
    """A tensor whose value can be replaced; it outlives the functions that use it.

    >>> v = Variable(1.5, name="rate")
    >>> v.assign_add(0.5)
    <tf.Variable 'rate:0' shape=() dtype=float32, numpy=2.0>

    Args:
        initial_value: a value, or a function that gives one. Created while a function
            is traced, the variable gets its value at once, outside of the graph.
        trainable: whether training may change it; True, unless `synchronization` is
            ON_READ.
        name: the name, which need not be unique.
        dtype: that of the elements; the one of the value if it is left out.
        constraint: kept for optimizers, which apply it to the value after an update.
        shape: the static shape, where later values may differ in shape from the first:
            it may leave dimensions, or the rank, open.
        synchronization: kept, as `aggregation` is: there is one copy of a variable.

    `validate_shape`, `caching_device`, `variable_def`, `import_scope` and
    `experimental_enable_variable_lifting` are TensorFlow's, and mean nothing here.

    Raises:
        ConversionError: the value does not fit the dtype.
        ValueError: there is no value, it does not fit the shape, or it is not known
            before the function that is being traced runs.
    """

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]
    #: How all values lie on the devices of a mesh; None: on no mesh.
    layout: Any = None

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "a variable needs an initial value: tf.Variable(value), or a function "
                "that gives one"
            )
        scoped = context.scoped_name(name or "Variable")
        value = initial_tensor(initial_value, dtype)
        self._array = value._array
        self._lock = new_reentrant_lock()
        self._dtype = value.dtype
        self._shape = value.shape if shape is None else as_shape(shape)
        self._name = scoped
        on_read = synchronization is VariableSynchronization.ON_READ
        self._trainable = not on_read if trainable is None else bool(trainable)
        self._constraint = constraint
        self._synchronization = VariableSynchronization(synchronization)
        self._aggregation = VariableAggregation(aggregation)
        self._check_shape(value.shape)
        context.variable_created(self)

    # --- what it is -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, as ``weights:0``."""
        return f"{self._name}:0"

    @property
    def dtype(self) -> DType:
        """The type of the elements, which no assignment changes."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape, which all values have."""
        return self._shape

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        return TensorSpec(self._shape, self._dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def trainable(self) -> bool:
        """Whether training may change the value."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """What optimizers apply to the value after an update."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """What was asked for: there is one copy of the variable."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """What was asked for: there is one copy of the variable."""
        return self._aggregation

    @property
    def device(self) -> str:
        """The device that holds the value; several with commas between."""
        value = self.on_device()
        return CPU if isinstance(value, np.ndarray) else place_of(value)

    @property
    def graph_text(self) -> str:
        """How the graph prints it."""
        return f"<{self._name}>"

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    def ref(self) -> Reference:
        """A hashable reference to this variable, for dicts and sets."""
        return Reference(self)

    def is_initialized(self, name: str | None = None) -> bool:
        """True: a variable has a value from the start."""
        return True

    # --- the value on a device --------------------------------------------------------

    # A compiled program leaves a new value where it made it. Then there is no attribute
    # ``_array``, and who reads it is given a copy. An assignment by NumPy makes the
    # attribute again, and that is the value.

    def on_device(self, put: Callable[[Array], Any] | None = None) -> Any:
        """The value for a compiler: an array of JAX, or of NumPy.

        With `put`, which takes a copy of it to the device, it stays there as well.
        """
        own = vars(self)
        held = own.get("_held")
        if held is not None and own.get("_array", held.fetched) is held.fetched:
            return held.value
        put = put if self.layout is None else self.layout.place
        array = self._array
        if put is None:
            return array
        self._held = Held(put(array), array)
        return self._held.value

    def keep_on_device(self, value: Any) -> None:
        """Replace the value by an array of JAX."""
        self._held = Held(value)
        vars(self).pop("_array", None)

    def to_save(self) -> Any:
        """The value for a file: an array of NumPy, or what this process has of one."""
        if self.layout is None:
            return self._array
        return self.layout.to_save(self.on_device())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            own = vars(self)
            held = own.get("_held") if name == "_array" else None
            if held is None:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}"
                )
            try:
                return held.copy()
            except RuntimeError:
                if not held.value.is_deleted():
                    raise
            # A program of another thread was given the array, to write to it. It has
            # the lock until there is a new value.
            with self._lock:
                if "_array" in own:
                    return own["_array"]
                return own["_held"].copy()

    # --- reading ----------------------------------------------------------------------

    def read_value(self) -> Tensor:
        """The value now: a tensor that later assignments do not change."""
        return apply_one("ReadVariableOp", variable=self)

    def value(self) -> Tensor:
        """The value now."""
        return self.read_value()

    def numpy(self) -> Any:
        """The value now as a NumPy array or scalar.

        Raises AttributeError, as a tensor does, while a function is traced.
        """
        return self.read_value().numpy()

    def convert(self, value: Any) -> Tensor:
        """A value as a tensor of the variable's dtype. Raises ConversionError."""
        try:
            return convert_to_tensor(value, self._dtype)
        except ConversionError as error:
            reason = error.args[0] if error.args else ""
            error.args = (
                f"{reason}, for the variable {self.name!r}: {self.spec.describe()}",
            )
            raise

    def __tf_tensor__(self, dtype: Any = None) -> Tensor:
        return convert_to_tensor(self.read_value(), dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.read_value(), dtype)

    def __getitem__(self, key: Any) -> Any:
        """What is there now. It can be assigned, too: ``v[1:3].assign(x)``."""
        picked = operators.getitem(self.read_value(), key)
        picked._part = VariablePart(self, key)
        return picked

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise ImmutableTensorError(
            "AG314: a variable does not support item assignment; write "
            "v[i].assign(value), v[i].assign_add(value) or v[i].assign_sub(value)"
        )

    # --- assigning --------------------------------------------------------------------

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replace the value. Gives the variable, or None without `read_value`.

        An assignment is done at once for all threads, whatever `use_locking` says.

        Raises ConversionError or ValueError if the dtype or the shape does not fit.
        """
        return self._assign("AssignVariableOp", value, name, read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`, which has the shape of the variable: see `assign`."""
        check_arithmetic(self._dtype, "+", self.name)
        return self._assign("AssignAddVariableOp", delta, name, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`, which has the shape of the variable: see `assign`."""
        check_arithmetic(self._dtype, "-", self.name)
        return self._assign("AssignSubVariableOp", delta, name, read_value)

    def _assign(self, op: str, value: Any, name: str | None, read: bool) -> Any:
        is_eager = context.current_graph() is None
        if is_eager and self.layout is None and assign_quickly(op, self, value):
            return self if read else None
        tensor = self.convert(value)
        self._check_shape(tensor.shape)
        if is_eager and self.layout is not None and op == "AssignVariableOp":
            with self._lock:
                self.keep_on_device(self.layout.placed(tensor))
            return self if read else None
        apply_one(op, tensor, variable=self, name=name)
        return self if read else None

    def _check_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self._shape):
            raise ValueError(
                f"a value of shape {shape} does not fit the variable {self.name!r} of "
                f"shape {self._shape}"
            )

    def count_up_to(self, limit: int) -> Tensor:
        """Add 1 to a scalar of integers, and give what it was before.

        Raises OutOfRangeError where it has reached `limit`.
        """
        if not self._dtype.is_integer or self._shape.rank != 0:
            raise ValueError(
                f"only a scalar of integers counts, not the variable {self.name!r}: "
                f"{self.spec.describe()}"
            )
        old: Tensor = run("ResourceCountUpTo", variable=self, limit=limit)
        return old

    # --- Python -----------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __index__(self) -> int:
        return operator.index(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def _read(self) -> Any:
        """The value, of which Python asks what the value itself knows how to answer."""
        return self.read_value()

    def __format__(self, format_spec: str) -> str:
        return format(self.numpy(), format_spec) if format_spec else str(self)

    def __iadd__(self, other: Any) -> Any:
        raise _in_place("+=", "assign_add")

    def __isub__(self, other: Any) -> Any:
        raise _in_place("-=", "assign_sub")

    def __imul__(self, other: Any) -> Any:
        raise _in_place("*=", "assign")

    def __itruediv__(self, other: Any) -> Any:
        raise _in_place("/=", "assign")

    def __hash__(self) -> int:
        raise UnhashableTensorError(
            "AG313: variables are not hashable, because == compares their elements; "
            "use variable.ref() as the key"
        )

    def __copy__(self) -> Variable:
        # A shallow copy of what holds variables shares them.
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        if not context.executing_eagerly():
            raise NotImplementedError(
                f"the variable {self.name!r} cannot be copied while a function is "
                "traced, since its value then is not known; copy it outside"
            )
        make, arguments = self.__reduce__()
        copied: Variable = make(*arguments)
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {
            "trainable": self._trainable,
            "constraint": self._constraint,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
            "shape": self._shape,
        }
        return _restored, (type(self), self._array, self._name, settings)

    def __repr__(self) -> str:
        head = (
            f"<tf.Variable '{self.name}' shape={self._shape} dtype={self._dtype.name}"
        )
        if not context.executing_eagerly():
            return head + ">"
        return f"{head}, numpy={value_text(self._array, represent=True)}>"


def _restored(
    kind: type[Variable], array: Array, name: str, settings: dict[str, Any]
) -> Variable:
    """A copy of a variable, with its name whatever scope is in force."""
    made = kind.__new__(kind)
    Variable.__init__(made, EagerTensor(array), **settings)
    made._name = name
    return made


def _in_place(symbol: str, method: str) -> RuntimeError:
    return RuntimeError(
        f"a variable cannot be the target of {symbol}: use variable.{method}(...) to "
        f"change it, or write variable = variable {symbol[0]} value for a new tensor"
    )


def underlying(value: Any) -> Any:
    """The variable that an object keeps its value in; other objects themselves.

    An object says so by a method ``__tf_variable__()``, as variables of Keras have it.
    """
    if defines(type(value), "__tf_variable__"):
        return value.__tf_variable__()
    return value


# Operators read the value of a variable as they read that of an eager tensor.
array_holders.add(Variable)


def _hide_arrays(is_recording: bool) -> None:
    """Have each use of a variable be a read that tapes hear of, or no longer."""
    (array_holders.discard if is_recording else array_holders.add)(Variable)


when_recording(_hide_arrays)
