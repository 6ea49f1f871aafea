"""The record of an operation, and the table of all records.

All that is true of an op is said once, where the op is defined. Executors, rewrites and
exports ask the record. How an engine writes it is a rule of that engine.

>>> get("AddV2").family, get("AddV2").is_symmetric
('elementwise', True)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Literal, TypeVar

from runtime.core.errors import InternalError
from runtime.core.graph import Graph
from runtime.core.types.dtypes import DType

Kernel = Callable[..., Any]

#: What an op does with the elements of its inputs.
Family = Literal[
    "elementwise",  # computes each element from those in its place
    "movement",  # moves elements and computes none
    "creation",  # makes elements of attributes and shapes
    "scatter",  # writes elements to places that an input names
    "reduction",  # makes fewer elements: of rows, of groups
    "row",  # makes each element of all those of its row
    "scan",  # makes each element of those before it
    "order",  # sorts or searches
    "contraction",  # adds products
    "window",  # looks at neighbours: convolutions and pools
    "linalg",  # decomposes matrices and solves equations
    "random",  # draws numbers
    "buffer",  # reads or writes growing arrays and lists
    "state",  # reads or writes variables and generators
    "check",  # raises where a condition does not hold
    "text",  # strings
    "python",  # calls code of Python
    "structure",  # inputs, calls, branches, loops: executors know how they run
]


class Fails(Enum):
    """When an op raises for operands of numbers or bools."""

    NEVER = "never"
    UNFIT = "for shapes that do not broadcast"
    DIVISOR = "as `UNFIT`, and for integers if the second operand has a zero"
    UNKNOWN = "unless shapes and attributes are known, and no operand is empty"
    EXPONENT = "as `UNFIT`, and for integers if the second operand has a negative"
    VALUES = "for values that only its kernel checks"


#: In `Export.types`: the result, in place of the number of an input.
RESULT = -1


@dataclass(frozen=True)
class Export:
    """How a GraphDef of TensorFlow has the nodes of an op."""

    #: The name of the op there, perhaps by the attributes; "": its own name.
    op: str | Callable[[dict[str, Any]], str] = ""
    #: ``(position, attribute, name)``: the attribute becomes an input, which is called
    #: ``node/name`` if it is a constant. Position -1 is the end.
    inputs: tuple[tuple[int, str, str], ...] = ()
    #: Other names for attributes.
    renamed: dict[str, str] = field(default_factory=dict)
    #: The name of the output, as in ``add:z:0``.
    output: str = "output"
    #: Attributes for dtypes, each with the number of the input that has it.
    types: tuple[tuple[str, int], ...] = (("T", 0),)
    #: Attributes that are not written.
    unwritten: tuple[str, ...] = ()
    #: Whether the attribute ``N`` counts the inputs.
    is_counted: bool = False


AXIS_INPUT = Export(inputs=((-1, "axis", "axis"),))
SHAPE_INPUT = Export(inputs=((-1, "shape", "shape"),))
REDUCTION = Export(
    inputs=((-1, "axis", "reduction_indices"),), renamed={"keepdims": "keep_dims"}
)


@dataclass(frozen=True)
class Op:
    """One operation.

    ``kernel(*arrays, **attrs)`` gives an array or a tuple of arrays;
    ``infer(*specs, **attrs)`` gives their TensorSpec, or a tuple of them, from partial
    ones.
    """

    name: str
    kernel: Kernel
    infer: Callable[..., Any]
    #: Whether it has effects: then it is neither removed, repeated nor reordered.
    stateful: bool = False
    #: Whether results are never weak, whatever the inputs are.
    strong: bool = False
    #: Whether the kernel runs functions of the program.
    calls_python: bool = False
    family: Family = field(kw_only=True)
    #: The dtypes that the first input may have; empty: any.
    takes: tuple[DType, ...] = ()
    #: What nodes are called where the program does not name them; "": like the op.
    label: str = ""
    export: Export = Export()
    #: Whether compilers cannot know the op though it is about numbers.
    is_host: bool = False

    # --- facts that rewrites use ---

    fails: Fails = Fails.VALUES
    #: Whether two operands may be swapped, NaNs aside.
    is_symmetric: bool = False
    #: Whether an op that is not of the family "movement" moves elements all the same.
    picks: bool = False
    #: Whether the results of two equal nodes are two objects: nodes change what this
    #: one made, or call code outside of this package.
    is_own: bool = False
    #: An exception that the op is there to raise.
    raises: Exception | None = None
    #: Whether exceptions of the kernel are for the program, as they are.
    raises_for_program: bool = False
    #: Whether the result is the first input, which may be missing: whoever captures it
    #: checks it again.
    guards_input: bool = False

    # --- facts that executors use ---

    #: The kernel without the tensors among the attributes, for ops without effects.
    bare_kernel: Kernel | None = None
    #: The kernel for a first input that the caller gives away.
    kernel_in_place: Kernel | None = None
    #: Whether the result is the first input itself.
    is_alias: bool = False
    #: What Python computes on its own ints, where a result may need more bits than they
    #: have.
    exact: Callable[..., int] | None = None
    #: The attribute that is a function of the inputs, which generated source calls in
    #: place of the kernel. Its errors tell of the place in the program already.
    called_attribute: str = ""

    @property
    def decomposition(self) -> Callable[..., Any] | None:
        """``decomposition(*tensors, **attrs)`` computes what the kernel does by other
        ops, and gives NotImplemented where too little is known of the shapes.

        Attributes may be tensors, as those of public functions may.
        """
        return _decompositions.get(self.name)

    @property
    def moves(self) -> bool:
        """Whether results are elements of the inputs: a NaN comes from another op."""
        return self.picks or self.family == "movement"

    @cached_property
    def numbers(self) -> frozenset[int]:
        """NumPy's numbers of the dtypes in `takes`."""
        return frozenset(dtype.np_dtype.num for dtype in self.takes)


_ops: dict[str, Op] = {}
_decompositions: dict[str, Callable[..., Any]] = {}


def register(definition: Op) -> Op:
    """Add an operation to the table. A name can be used once."""
    if definition.name in _ops:
        raise ValueError(f"the op {definition.name!r} is registered already")
    _ops[definition.name] = definition
    if definition.guards_input:
        Graph.guards.add(definition.name)
    if definition.label:
        Graph.node_names[definition.name] = definition.label
    return definition


def register_structure(name: str, label: str = "") -> None:
    """Add an op that has no kernel: executors and rewrites know it themselves."""

    def unknown(*args: Any, **attrs: Any) -> Any:
        raise InternalError(f"{name} has no kernel")

    register(Op(name, unknown, unknown, family="structure", label=label))


_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def decomposes(name: str) -> Callable[[_Rule], _Rule]:
    """Make the decorated function the decomposition of the op `name`.

    It stands beside the op, and names other ops by the module `ops.late`.
    """

    def add(rule: _Rule) -> _Rule:
        if name in _decompositions or name not in _ops:
            raise ValueError(f"{name!r} is no op that needs a decomposition")
        _decompositions[name] = rule
        return rule

    return add


def get(name: str) -> Op:
    """The operation of that name. Raises InternalError if there is none."""
    try:
        return _ops[name]
    except KeyError:
        raise InternalError(f"no op is registered as {name!r}") from None


def names() -> list[str]:
    """The names of all operations, sorted."""
    return sorted(_ops)
