"""Variables: tensors whose value changes, and modules, the objects that hold them.

A graph refers to a variable itself, not to its value: reading and assigning are
stateful ops (``ReadVariableOp``, ``AssignVariableOp``) that carry it as an attribute.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from runtime import context
from runtime.dtypes import DType
from runtime.errors import InvalidArgumentError, UnhashableTensorError
from runtime.ops.convert import convert_to_tensor
from runtime.ops.pointwise import array_holders
from runtime.ops.registry import OpDef, apply_one, as_array, register
from runtime.shapes import TensorShape, as_shape
from runtime.specs import TensorSpec
from runtime.tensor import (
    EagerTensor,
    OperatorMixin,
    Reference,
    SymbolicTensor,
    Tensor,
    operators,
)
from runtime.tensor.eager import value_text

__all__ = ["Module", "Variable"]

Array = np.ndarray[Any, Any]


class Variable(OperatorMixin):
    """A tensor whose value can be replaced; it outlives the functions that use it.

    >>> v = Variable(1.5, name="rate")
    >>> v.assign_add(0.5)
    <tf.Variable 'rate:0' shape=() dtype=float32, numpy=2.0>

    `initial_value` is a value, or a function that gives one. `shape` may leave
    dimensions open that later values may fill differently. Created while a function is
    traced, the variable gets its value at once, outside of the graph.
    """

    #: The staging protocol of the compiler; `runtime.bridge` fills it in.
    __autograph_backend__: ClassVar[Any]

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        shape: Any = None,
    ) -> None:
        scoped = context.scoped_name(name or "Variable")
        with context.init_scope():
            if callable(initial_value):
                initial_value = initial_value()
            _refuse_symbolic(initial_value)
            value = convert_to_tensor(initial_value, dtype)
        assert isinstance(value, EagerTensor)
        self._array = value._array
        self._dtype = value.dtype
        self._shape = value.shape if shape is None else as_shape(shape)
        self._name = scoped
        self.trainable = trainable
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
    def device(self) -> str:
        """The device that holds the value, by TensorFlow's full name."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

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

    # --- reading ----------------------------------------------------------------------

    def read_value(self) -> Tensor:
        """The value now: a tensor that later assignments do not change."""
        return apply_one("ReadVariableOp", variable=self)

    def value(self) -> Tensor:
        """The value now."""
        return self.read_value()

    def numpy(self) -> Any:
        """The value now as a NumPy array or scalar. Raises TypeError while tracing."""
        return EagerTensor(self._array).numpy()

    def __tf_tensor__(self, dtype: Any = None) -> Tensor:
        return convert_to_tensor(self.read_value(), dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.read_value(), dtype)

    # --- assigning --------------------------------------------------------------------

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Replace the value. Gives the variable; while tracing, the new value.

        Raises ConversionError or ValueError if the dtype or the shape does not fit.
        """
        return self._assign("AssignVariableOp", value, name)

    def assign_add(self, delta: Any, name: str | None = None) -> Any:
        """Add `delta`, which has the shape of the variable: see `assign`."""
        return self._assign("AssignAddVariableOp", delta, name)

    def assign_sub(self, delta: Any, name: str | None = None) -> Any:
        """Subtract `delta`, which has the shape of the variable: see `assign`."""
        return self._assign("AssignSubVariableOp", delta, name)

    def _assign(self, op: str, value: Any, name: str | None) -> Any:
        tensor = convert_to_tensor(value, self._dtype)
        self._check_shape(tensor.shape)
        result = apply_one(op, tensor, variable=self, name=name)
        return self if isinstance(result, EagerTensor) else result

    def _check_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self._shape):
            raise ValueError(
                f"a value of shape {shape} does not fit the variable {self.name!r} of "
                f"shape {self._shape}"
            )

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

    def __getitem__(self, key: Any) -> Any:
        return operators.getitem(self.read_value(), key)

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

    def __deepcopy__(self, memo: Any) -> Variable:
        with context.init_scope():
            copied = Variable(
                self.read_value(), self.trainable, None, None, self._shape
            )
        copied._name = self._name
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        head = (
            f"<tf.Variable '{self.name}' shape={self._shape} dtype={self._dtype.name}"
        )
        if not context.executing_eagerly():
            return head + ">"
        return f"{head}, numpy={value_text(self._array, represent=True)}>"


def _in_place(symbol: str, method: str) -> RuntimeError:
    return RuntimeError(
        f"a variable cannot be the target of {symbol}: use variable.{method}(...) to "
        f"change it, or write variable = variable {symbol[0]} value for a new tensor"
    )


def _refuse_symbolic(value: Any) -> None:
    if isinstance(value, SymbolicTensor):
        raise ValueError(
            "the initial value of a variable made while tracing must be known at once, "
            f"but {value.name!r} has its value only when the function runs; give a "
            "number, an array, or a function that computes it from such"
        )


# Operators read the value of a variable as they read that of an eager tensor.
array_holders.add(Variable)

# --- ops ------------------------------------------------------------------------------


def _read_infer(variable: Variable) -> TensorSpec:
    return variable.spec


def _assign_infer(value: TensorSpec, variable: Variable) -> TensorSpec:
    if value.dtype is not variable.dtype or not variable.shape.is_compatible_with(
        value.shape
    ):
        raise InvalidArgumentError(
            f"{value.describe()} does not fit the variable {variable.name!r}, which is "
            f"{variable.spec.describe()}"
        )
    return TensorSpec(variable.shape.merge_with(value.shape), value.dtype)


def _assigning(compute: Callable[[Array, Array], Any] | None) -> Callable[..., Any]:
    """A kernel that stores what `compute` makes of the old value and the argument."""

    def kernel(value: Array, variable: Variable) -> Array:
        if not variable.shape.is_compatible_with(value.shape):
            raise InvalidArgumentError(
                f"a value of shape {value.shape} does not fit the variable "
                f"{variable.name!r} of shape {variable.shape}"
            )
        # A new array each time: tensors that were read before keep theirs.
        if compute is not None:
            value = compute(variable._array, value)
        variable._array = as_array(value)
        return variable._array

    return kernel


register(
    OpDef(
        "ReadVariableOp",
        kernel=lambda variable: variable._array,
        infer=_read_infer,
        stateful=True,
        strong=True,
    )
)
for _op, _compute in (
    ("AssignVariableOp", None),
    ("AssignAddVariableOp", np.add),
    ("AssignSubVariableOp", np.subtract),
):
    register(
        OpDef(_op, _assigning(_compute), _assign_infer, stateful=True, strong=True)
    )


# --- modules --------------------------------------------------------------------------


class Module:
    """An object that finds the variables and modules in its attributes.

    >>> class Linear(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight, self.layers = Variable(2.0), [Variable(1.0, name="bias")]
    >>> [v.name for v in Linear().trainable_variables]
    ['bias:0', 'Variable:0']
    """

    def __init__(self, name: str | None = None) -> None:
        self._module_name = name or _snake_case(type(self).__name__)

    @property
    def name(self) -> str:
        """The name given, or that of the class in snake case."""
        return getattr(self, "_module_name", _snake_case(type(self).__name__))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables in the attributes, by attribute name, then in submodules."""
        return tuple(item for item in _reachable(self) if isinstance(item, Variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training may change."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training leaves alone."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in the attributes, and in those."""
        return tuple(item for item in _reachable(self) if isinstance(item, Module))


def _snake_case(name: str) -> str:
    text = "".join("_" + c.lower() if c.isupper() else c for c in name)
    return text.lstrip("_")


def _reachable(module: Module) -> Iterator[Any]:
    """The variables and modules that a module holds, each once: its own come first."""
    seen = {id(module)}
    modules = [module]
    while modules:
        found: list[Any] = []
        attributes = vars(modules.pop(0))
        for name in sorted(attributes):
            _collect(attributes[name], found)
        for item in found:
            if id(item) not in seen:
                seen.add(id(item))
                yield item
                if isinstance(item, Module):
                    modules.append(item)


def _collect(value: Any, found: list[Any]) -> None:
    """Append the variables and modules in a value or in its lists, tuples and dicts."""
    if isinstance(value, (Variable, Module)):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)
