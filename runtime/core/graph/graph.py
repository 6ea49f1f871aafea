"""Programs as data: a `Graph` holds `Node` records in the order in which they ran.

A graph is built by tracing: while it is the current graph (`building`), every
operation appends a node and gives symbolic tensors, which later operations take as
inputs. The bodies of control flow are graphs of their own, whose ``parent`` is the
graph that they are written in; what they use from outside becomes an input, a
*capture*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from runtime.core.errors import InaccessibleTensorError
from runtime.core.graph.graph_def import GraphDef, NodeDef
from runtime.core.graph.recording import recorders
from runtime.core.graph.text import graph_lines
from runtime.core.hooks import hooks
from runtime.core.location.user_code import (
    Location,
    SourcePosition,
    user_location,
    user_position,
)
from runtime.core.missing import near
from runtime.core.types.devices import current_device, requested_device
from runtime.core.types.dtypes import of_array
from runtime.core.types.identity import IdentityMap
from runtime.core.types.specs import TensorSpec

if TYPE_CHECKING:
    from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor


class Node:
    """One operation of a graph.

    ``op`` is the name of its `Op`, ``name`` is unique in the graph, ``attrs`` are
    the static arguments of the kernel (sub-graphs among them), ``location`` is the
    user's ``(filename, lineno)`` where it was written, ``device`` is by `tf.device`.
    """

    __slots__ = (
        "attrs",
        "device",
        "graph",
        "inputs",
        "location",
        "name",
        "op",
        "outputs",
    )

    op: str
    inputs: tuple[SymbolicTensor, ...]
    attrs: dict[str, Any]
    outputs: tuple[SymbolicTensor, ...]
    name: str
    location: Location | None
    graph: Graph

    def __init__(
        self,
        graph: Graph,
        op: str,
        inputs: tuple[SymbolicTensor, ...],
        attrs: dict[str, Any],
        name: str,
        location: Location | None,
    ) -> None:
        self.graph = graph
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = ()
        self.name = name
        self.location = location
        self.device = "" if op == "Placeholder" else current_device()

    @property
    def type(self) -> str:
        """The name of the op in TensorFlow: ``Fill`` for our ``Zeros``."""
        name: str = hooks.exports.op_type(self)
        return name

    @property
    def node_def(self) -> NodeDef:
        """The node as data, as `Graph.as_graph_def` has it."""
        definition: NodeDef = hooks.exports.node_def(self)
        return definition

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow names it, such as ``T``: see `node_def`.

        Raises ValueError if the node has none of that name.
        """
        attrs = self.node_def.attr
        if name not in attrs:
            hint = near(name, attrs)
            raise ValueError(f"{self!r} has no attribute {name!r}{hint}")
        return attrs[name].value

    @property
    def where(self) -> str:
        """The user's line as messages begin with it; nothing where none is known."""
        return f"{self.location[0]}:{self.location[1]}: " if self.location else ""

    def subgraphs(self) -> Iterator[tuple[str, Graph]]:
        """The graphs among the attributes, as ``(label, graph)``."""
        for key, value in self.attrs.items():
            if isinstance(value, Graph):
                yield key, value
            elif isinstance(value, (tuple, list)):
                for index, item in enumerate(value):
                    if isinstance(item, Graph):
                        yield f"{key}[{index}]", item

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.op}>"


class Mark(NamedTuple):
    """A graph as it was at some time: see `Graph.mark`."""

    length: int
    names: dict[str, int]
    constants: dict[int, tuple[EagerTensor, SymbolicTensor]]
    checked: IdentityMap[Tensor, SymbolicTensor]
    differentiated: dict[int, tuple[EagerTensor, SymbolicTensor]]


class Graph:
    """A traced program: inputs, nodes in program order, outputs.

    ``captures`` maps tensors of the parent to the inputs of this graph that stand for
    them. ``str(graph)`` is the readable text.
    """

    #: Makes the outputs of nodes; `runtime.core.tensor` fills it in.
    tensor_type: ClassVar[type[SymbolicTensor]]
    #: Ops that give back a value that may be read, and raise where it may not;
    #: `runtime.core.graph.record` adds them.
    guards: ClassVar[set[str]] = set()
    #: What nodes are called where that is not the name of their op; `record` adds it.
    node_names: ClassVar[dict[str, str]] = {}

    def __init__(self, name: str = "graph", parent: Graph | None = None) -> None:
        self.name = name
        self.parent = parent
        self.inputs: list[SymbolicTensor] = []
        self.captures: IdentityMap[SymbolicTensor, SymbolicTensor] = IdentityMap()
        self.nodes: list[Node] = []
        self.outputs: list[SymbolicTensor] = []
        self._names: dict[str, int] = {}
        self._constants: dict[int, tuple[EagerTensor, SymbolicTensor]] = {}
        self._differentiated: dict[int, tuple[EagerTensor, SymbolicTensor]] = {}
        #: Nodes that staging left over, to be removed where nothing uses them.
        self.left_over: set[Node] = set()
        self._checked: IdentityMap[Tensor, SymbolicTensor] = IdentityMap()
        #: Whether the graph may be called by nodes in it.
        self.is_recursive = False
        #: What has to run of a recursive graph, once an executor has found out.
        self.live: Any = None
        #: What tells if the results of some nodes are used: see `array_parts`.
        self.changes: dict[Node, Any] = {}
        #: The names of the user's variables, where rewrites have kept them: see
        #: `runtime.core.graph.labels`, which reads them off the lines of traced nodes.
        self.labels: IdentityMap[SymbolicTensor, str] | None = None
        #: What staging knows of the recursive graphs that were written in this one.
        self.recursive: list[Any] = []
        #: What gradients know of the graph, by topic. Not in a weak dictionary: values
        #: refer to the graph, which would never go.
        self.gradient_facts: dict[str, Any] = {}
        #: The executor that is to run it, or ``jit``; None: the one set for all.
        self.executor: str | None = None

    # --- building ---------------------------------------------------------------------

    def unique_name(self, name: str) -> str:
        """A name not used yet: `name` in the name scope, numbered if it is taken."""
        name = scoped_name(name)
        # Names that differ only in case count as one, as in TensorFlow.
        key = name.lower()
        count = self._names.get(key)
        if count is None:
            self._names[key] = 1
            return name
        while f"{key}_{count}" in self._names:
            count += 1
        self._names[key] = count + 1
        self._names[f"{key}_{count}"] = 1
        return f"{name}_{count}"

    def add_input(self, spec: TensorSpec, name: str = "x") -> SymbolicTensor:
        """Append an input: the output of a ``Placeholder``, not among the nodes."""
        return self._add_input(spec, name, user_location())

    def stand_in(self, outer: SymbolicTensor) -> SymbolicTensor:
        """Append the input for a tensor of the parent, and note it as captured."""
        name, location = outer.node.name.rpartition("/")[2], outer.node.location
        inner = self.captures[outer] = self._add_input(outer.spec, name, location)
        return inner

    def _add_input(
        self, spec: TensorSpec, name: str, location: Location | None
    ) -> SymbolicTensor:
        node = Node(self, "Placeholder", (), {}, self.unique_name(name), location)
        tensor = self.tensor_type(self, node, 0, spec)
        node.outputs = (tensor,)
        self.inputs.append(tensor)
        return tensor

    def add(
        self,
        op: str,
        inputs: Iterable[Tensor],
        attrs: dict[str, Any],
        specs: Iterable[TensorSpec],
        name: str | None = None,
    ) -> tuple[SymbolicTensor, ...]:
        """Append a node and give its outputs, one for each of `specs`.

        Inputs from elsewhere are captured. `name` is made unique unless it ends with a
        slash, which says that it is (`unique_name` made it).
        """
        own_inputs = tuple([self.capture(tensor) for tensor in inputs])
        if name is not None and name.endswith("/"):
            unique = name[:-1]
        else:
            unique = self.unique_name(name or self.node_names.get(op, op))
        node = Node(self, op, own_inputs, attrs, unique, user_location())
        tensor_type = self.tensor_type
        node.outputs = tuple(
            [tensor_type(self, node, index, spec) for index, spec in enumerate(specs)]
        )
        self.nodes.append(node)
        for recorder in recorders():
            recorder.record(node)
        return node.outputs

    def capture(self, tensor: Tensor) -> SymbolicTensor:
        """The tensor of this graph that stands for `tensor`.

        A tensor of an enclosing graph becomes an input here (and, on the way, of the
        graphs between); an eager tensor becomes a constant, one for each object. Raises
        InaccessibleTensorError for a tensor of any other graph.
        """
        if isinstance(tensor, self.tensor_type):
            if tensor.graph is self:
                return tensor
            return self._capture_symbolic(tensor)
        return self.capture_constant(tensor)  # type: ignore[arg-type]

    def capture_constant(self, tensor: EagerTensor) -> SymbolicTensor:
        """The constant that stands for an eager tensor."""
        known = self._constants.get(id(tensor))
        if known is not None:
            return known[1]
        graph: Graph | None = self
        while graph is not None:
            if id(tensor) in graph._differentiated:
                return self.capture(graph._differentiated[id(tensor)][1])
            graph = graph.parent
        array = tensor._array
        spec = TensorSpec(array.shape, of_array(array), weak=tensor.spec.weak)
        (constant,) = self.add("Const", (), {"value": array}, (spec,))
        # The tensor is kept alive, so that no other object can get its id.
        self._constants[id(tensor)] = tensor, constant
        return constant

    def differentiate(
        self, tensor: EagerTensor, own: SymbolicTensor | None = None
    ) -> SymbolicTensor:
        """The one tensor that stands for `tensor` from now on, here and in the graphs
        within: gradients are taken with respect to it. It is `own`, or a constant.
        """
        if own is None:
            own = self.capture_constant(tensor)
        self._differentiated[id(tensor)] = tensor, own
        return own

    def constants(self) -> Iterator[EagerTensor]:
        """The eager tensors that are constants here."""
        return (tensor for tensor, _ in self._constants.values())

    def _capture_symbolic(self, tensor: SymbolicTensor) -> SymbolicTensor:
        ancestor = self.parent
        while ancestor is not None and ancestor is not tensor.graph:
            ancestor = ancestor.parent
        if ancestor is None:
            raise leak_error(tensor, self)
        graphs: list[Graph] = []  # up to the one below the tensor's own
        graph: Graph | None = self
        while graph is not None and graph is not ancestor:
            graphs.append(graph)
            graph = graph.parent
        for graph in reversed(graphs):
            tensor = graph._captured(tensor)
        return tensor

    def _captured(self, outer: SymbolicTensor) -> SymbolicTensor:
        """The tensor here that stands for one of the parent."""
        if outer.node.op in self.guards:
            return self._check_here(outer)
        inner = self.captures.get(outer)
        return self.stand_in(outer) if inner is None else inner

    def _check_here(self, outer: SymbolicTensor) -> SymbolicTensor:
        """A check of the parent once more, in this graph.

        The check belongs where the value is read: not in front of a branch that is not
        taken, or of a loop that does not run.
        """
        inner = self._checked.get(outer)
        if inner is None:
            node = outer.node
            (inner,) = self.add(
                node.op, node.inputs, node.attrs, (outer.spec,), node.op
            )
            self._checked[outer] = inner
        return inner

    def mark(self) -> Mark:
        """What `roll_back` needs to drop the nodes that are added from now on."""
        names, constants = dict(self._names), dict(self._constants)
        checked = IdentityMap(self._checked)
        differentiated = dict(self._differentiated)
        return Mark(len(self.nodes), names, constants, checked, differentiated)

    def roll_back(self, mark: Mark) -> None:
        """Drop the nodes that were added since; inputs for captures remain."""
        for node in self.nodes[mark.length :]:
            for tensor in node.outputs:
                tensor._left_out()
        del self.nodes[mark.length :]
        self._names = dict(mark.names)
        self._names.update((t.node.name.lower(), 1) for t in self.inputs)
        self._constants = dict(mark.constants)
        self._checked = IdentityMap(mark.checked)
        self._differentiated = dict(mark.differentiated)

    # --- reading ----------------------------------------------------------------------

    def get_operations(self) -> list[Node]:
        """The placeholders and the nodes, in order."""
        return [tensor.node for tensor in self.inputs] + self.nodes

    def get_operation_by_name(self, name: str) -> Node:
        """The node of that name. Raises KeyError if there is none."""
        node: Node = hooks.exports.operation(self, name)
        return node

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The output of that name, as ``add:0``: that of the node, and which output.

        Raises KeyError if there is none, ValueError for what is not such a name.
        """
        tensor: SymbolicTensor = hooks.exports.tensor(self, name)
        return tensor

    def as_graph_def(self) -> GraphDef:
        """The graph as a list of nodes that name their inputs, as TensorFlow has it."""
        definition: GraphDef = hooks.exports.graph_def(self)
        return definition

    def to_svg(self, limit: int = 200) -> str:
        """A drawing of the graph, as the text of an SVG file; notebooks show it.

        Where the graph has more nodes than `limit`, the drawing says how many it
        leaves out.
        """
        text: str = hooks.exports.to_svg(self, limit)
        return text

    def to_dot(self, limit: int = 200) -> str:
        """The drawing in the language of Graphviz: see `to_svg`."""
        text: str = hooks.exports.to_dot(self, limit)
        return text

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        text: str = hooks.exports.to_html(self, {"The graph as text": str(self)})
        return text

    def as_default(self) -> Any:
        """A context manager: operations in its block become nodes of this graph."""
        return building(self)

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.nodes)} nodes>"

    def __str__(self) -> str:
        return "\n".join(graph_lines(self))


def leak_error(tensor: SymbolicTensor, graph: Graph | None) -> InaccessibleTensorError:
    """The error for a tensor that `graph` (None: eager code) cannot reach."""
    maker = tensor.graph
    function = repr(outermost(maker).name)
    if graph is None:
        reader = "eager code"
    elif outermost(graph) is outermost(maker):
        reader = "the code outside of it"
    elif outermost(graph).name == maker.name:
        reader = f"another trace of {function}"
    else:
        reader = repr(outermost(graph).name)
    if maker.parent is not None:
        function = f"a branch or a loop body of {function}"
    position, made = user_position(), tensor.node.location
    start = "" if position is None else f"{position.filename}:{position.lineno}: "
    where = "" if made is None else f" at {made[0]}:{made[1]}"
    is_argument = tensor.node.op == "Placeholder" and maker.parent is None
    origin = f"an argument of {maker.name!r}, called" if is_argument else "made"
    line = "" if made is None else SourcePosition(*made).excerpt()
    return InaccessibleTensorError(
        f"{start}AG306: {described(tensor)}, made{where} while tracing {function}, "
        f"is out of scope: {reader} cannot use "
        "it. Return it from the function (or branch, or loop body) that makes it, or "
        "keep it in a tf.Variable or tf.TensorArray; a global, an attribute or a list "
        "does not carry a traced value out."
        + ("" if position is None else position.excerpt())
        + (line and f"\n  it is {origin} here:{line}")
    )


def described(tensor: SymbolicTensor) -> str:
    """A tensor in a message: what it is, and the name of an argument or a variable."""
    kind = tensor.spec.describe().rstrip("*")
    is_named = tensor.node.op == "Placeholder"
    name = tensor.node.name.rpartition("/")[2]
    return f"the tensor {name!r} ({kind})" if is_named else f"a tensor ({kind})"


def outermost(graph: Graph) -> Graph:
    """The graph of the function that a graph is written in."""
    while graph.parent is not None:
        graph = graph.parent
    return graph


# --- the graph being built ----------------------------------------------------------

_graph: ContextVar[Graph | None] = ContextVar("graph", default=None)
#: The name scope in force, which ends in a slash where there is one.
name_prefix: ContextVar[str] = ContextVar("name scope", default="")

#: The graph being built, or None when operations run at once. (The bare C function of
#: the variable: every operation asks.)
current_graph = _graph.get


class building:  # noqa: N801
    """Within the block operations become nodes of `graph`, or run at once if None.

    Scopes of names begin anew. So do those of devices, except in the bodies of control
    flow: a trace must not depend on where it happens to be made.
    """

    __slots__ = ("_device", "_name", "_outer", "graph")

    def __init__(self, graph: Graph | None) -> None:
        self.graph = graph

    def __enter__(self) -> Graph | None:
        graph = self.graph
        self._outer, self._name = _graph.set(graph), name_prefix.set("")
        is_body = graph is not None and graph.parent is not None
        self._device = None if is_body else requested_device.set("")
        if graph is not None:
            hooks.begin()
        return graph

    def __exit__(self, *_: object) -> None:
        if self.graph is not None:
            hooks.end()
        if self._device is not None:
            requested_device.reset(self._device)
        name_prefix.reset(self._name)
        _graph.reset(self._outer)


def scoped_name(name: str) -> str:
    """`name` under the name scope in force."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a string, not {name!r}")
    return name_prefix.get() + name
