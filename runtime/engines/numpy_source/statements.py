"""Writing one graph as a block of statements.

The statements follow the program order of the nodes strictly, so that effects and
errors come in the same order as in the interpreter. Within this a block reads as a
person would write it: a value that is used once, by the next statement, is written in
its place; the others get the name that the user gave them, and names are used again
when the value that they had is dead.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.graph.prune import CONTROL_FLOW, Live, is_recursive_call
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.engines.numpy_source.blocks import FUSED
from runtime.engines.numpy_source.precedence import ATOM, filled, marker
from runtime.engines.numpy_source.program import Program, clean
from runtime.engines.numpy_source.rules import RULES
from runtime.engines.numpy_source.rules import code as attribute_code
from runtime.engines.numpy_source.scalars import CASTS, SUMS
from runtime.engines.numpy_source.text import (
    Line,
    Text,
    is_choice,
    repeated_arguments,
    template,
)

END = math.inf

#: Arrays with so many elements take much memory: their variables are used again.
LARGE = 1 << 14

#: A longer expression is not written inside another one.
LONG = 60

#: What tells names of nodes apart.
_NUMBER = re.compile(r"_\d+$")


_WITH_BODIES = CONTROL_FLOW | {FUSED}


class StraightBlock:
    """The statements of one graph, but for control flow (see `nested`).

    ``inputs`` says how the inputs of the graph are written, ``held`` until which node
    each local variable keeps its value (`END`: throughout the block), and ``targets``
    which variables are to hold the outputs in the end.
    """

    def __init__(
        self,
        program: Program,
        graph: Graph,
        live: Live,
        inputs: Mapping[SymbolicTensor, Text],
        held: Mapping[str, float],
        targets: Mapping[int, str] | None = None,
    ) -> None:
        self.program = program
        self.graph = graph
        self.live = live
        self.lines: list[Line] = []
        self.texts = IdentityMap(inputs)
        self.held = dict(held)
        self.targets = IdentityMap(
            (graph.outputs[i], name) for i, name in (targets or {}).items()
        )
        self.pending = IdentitySet[SymbolicTensor]()
        self.labels = self.labels_of(graph)
        self.scalars = program.scalars
        #: Nodes whose values the statement around the block gives.
        self.written: set[Node] = set()
        #: The arguments of rank 0 that are scalars already, and no arrays.
        self.scalar_names: set[str] = set()
        self.index = 0
        self.users: IdentityMap[SymbolicTensor, list[tuple[float, Node | None]]]
        self.users = IdentityMap()
        for index, node in enumerate(live.nodes):
            for tensor in live.inputs_of(node):
                self.users.setdefault(tensor, []).append((index, node))
        for position in live.outputs:
            self.users.setdefault(graph.outputs[position], []).append((END, None))
        for tensor, text in inputs.items():
            self.hold(text, self.last_use(tensor))

    # --- the nodes in order -----------------------------------------------------------

    def write(self) -> None:
        """Write all nodes."""
        for index, node in enumerate(self.live.nodes):
            self.index = index
            if node in self.written:
                continue
            if node.op == "Const":
                (output,) = node.outputs
                hint = self.labels.get(output, clean(node.name).lower())
                self.texts[output] = self.program.constant(node.attrs["value"], hint)
            elif get(node.op).is_alias:
                self._alias(node)
            elif node.op not in _WITH_BODIES:
                self._operation(node)
            else:
                self.control_flow(node)
        self.index = len(self.live.nodes)

    def control_flow(self, node: Node) -> None:
        """Write a node with sub-graphs."""
        raise NotImplementedError

    def results(self) -> list[Text]:
        """The outputs that are live, after `write`; they can be evaluated once."""
        return [self.texts[self.graph.outputs[i]] for i in sorted(self.live.outputs)]

    def numpy_results(self) -> list[Text]:
        """As `results`, with numbers as NumPy's."""
        outputs = [self.graph.outputs[i] for i in sorted(self.live.outputs)]
        return [self.program.fit(self.texts[t], t, "") for t in outputs]

    def assign_targets(
        self, targets: Mapping[int, str], forms: Mapping[int, str]
    ) -> None:
        """Give the outputs to their variables of these forms, after `write`."""
        self.assign(
            [(targets[i], self.graph.outputs[i], forms.get(i, "")) for i in targets]
        )

    # --- plain operations -------------------------------------------------------------

    def _alias(self, node: Node) -> None:
        (source,), (output,) = node.inputs, node.outputs
        if source in self.pending:
            if self.goes_inline(output):
                self.pending = IdentitySet(
                    output if tensor is source else tensor for tensor in self.pending
                )
            else:
                self.flush_inputs([source])
        text = self.texts[output] = self.texts[source]
        self.hold(text, self.last_use(output))

    def _operation(self, node: Node) -> None:
        definition = get(node.op)
        value = not definition.stateful and len(node.outputs) == 1
        inline = value and self.may_wait(node.outputs[0])
        if any(self.texts[tensor].steps for tensor in node.inputs):
            repeated = repeated_arguments(node)
            self.flush_inputs([node.inputs[index] for index in repeated])
        in_place = get(node.op).kernel_in_place is not None
        if in_place:
            # Only what is a variable can be given away.
            self.flush_inputs(node.inputs[:1])
        taken = self.take(node.inputs, statement=not inline)
        args, form, written = self._written(node, taken)
        gives_away = bool(args) and self._is_last_use(args[0])
        if in_place and gives_away:
            # No other variable is left that would hold the array in the next iteration.
            self.targets.setdefault(node.outputs[0], args[0].code)
        code, level = written or (self.program.call(node, args, gives_away), ATOM)
        steps = [step for arg in args for step in arg.steps]
        names = frozenset().union(*(arg.names for arg in args))
        again = self.as_numpy(node, taken)
        order = self.program.in_order([*steps, self.program.step(node, again)])
        text = Text(code, level, None, names, order, form)
        if value:
            if not form and self.scalars.form(node.outputs[0]) == "int":
                text = self.program.fit(text, node.outputs[0], "int")
            self.deliver(node.outputs[0], text, inline)
        else:
            self.statement(node, text)

    def _written(
        self, node: Node, args: list[Text]
    ) -> tuple[list[Text], str, tuple[str, int] | None]:
        """The operands as the node takes them, the form of its result, and its source.

        The source is None where the kernel is to be called.
        """
        program, scalars = self.program, self.scalars
        if is_choice(node):
            return args, *_choice(program, node, args)
        if not any(arg.form for arg in args):
            if _becomes_int(node):
                is_python = bool(scalars.form(node.outputs[0]))
                kind, form = ("int", "int") if is_python else ("np.int64", "")
                return args, form, (f"{kind}({args[0].code})", ATOM)
            if node.op == "GatherV2" and scalars.is_row(node):
                return args, *_row(node, args, scalars.form(node.outputs[0]))
            if node.op == "CastExactly" and _is_number(node):
                dtype = node.outputs[0].dtype.name
                return args, "", (f"np.{dtype}(as_{dtype}({args[0].code}))", ATOM)
            if node.op == "Range" and self._is_python_range(node):
                return args, "range", _range_source(node, args)
            if not scalars.is_python(node):
                return args, "", template(node, args, scalars.fits(node))
        if node.op == "CastExactly" and args[0].form in ("int", "wide"):
            if node.outputs[0].dtype.is_integer:
                return args, *_python_operation(program, node, args)
        if scalars.is_python(node):
            return args, *_python_operation(program, node, args)
        if all(arg.form in ("", "bool") for arg in args):
            written = _bool_operation(node, args)
            if written is not None:
                return args, "bool", written
        found = []
        for position, (tensor, arg) in enumerate(zip(node.inputs, args)):
            is_int = arg.is_int(tensor.dtype) and scalars.takes_int(node, position)
            found.append(program.fit(arg, tensor, "int" if is_int else ""))
        if node.op in CASTS and found[0].form == "int":
            return found, *_cast_of_int(program, node, found[0])
        if node.op == "GatherV2" and scalars.is_row(node):
            return found, *_row(node, found, scalars.form(node.outputs[0]))
        if node.op == "Range" and self._is_python_range(node):
            return found, "range", _range_source(node, found)
        return found, "", template(node, found, scalars.fits(node))

    def as_numpy(self, node: Node, args: Sequence[Text]) -> list[Text]:
        """The operands as arrays and scalars of NumPy."""
        pairs = zip(node.inputs, args)
        return [self.program.fit(arg, tensor, "") for tensor, arg in pairs]

    def _is_last_use(self, text: Text) -> bool:
        """Whether this is a variable that nothing reads after the present node."""
        return text.code in text.names and self.is_free(text.code, self.index + 0.5)

    def statement(self, node: Node, text: Text) -> None:
        """An operation with effects, or with several results."""
        if not any(tensor in self.users for tensor in node.outputs):
            self.lines.append(Line(text.code, text.steps))
            return
        names = [self._name(tensor, self.index + 0.5) for tensor in node.outputs]
        self.lines.append(Line(f"{', '.join(names)} = {text.code}", text.steps))

    def deliver(self, output: SymbolicTensor, text: Text, inline: bool) -> None:
        """The value of a node: to be written where it is used, or assigned here."""
        if inline and len(text.code) <= LONG:
            self.texts[output] = text
            self.pending.add(output)
            self.hold(text, self.users[output][0][0])
            return
        self.flush(len(self.pending))
        name = self._name(output, self.index + 0.5, text.form)
        self.lines.append(Line(f"{name} = {text.code}", text.steps))

    # --- waiting expressions ----------------------------------------------------------

    def may_wait(self, output: SymbolicTensor) -> bool:
        """Whether the value may be written in the place where it is used."""
        if output in self.labels or not self.goes_inline(output):
            return False
        target = self.targets.get(output)
        return target is None or not self.is_free(target, self.index + 0.5)

    def goes_inline(self, output: SymbolicTensor) -> bool:
        """Whether the value is used once, in a place that takes an expression."""
        users = self.users.get(output, [])
        if len(users) != 1:
            return False
        node = users[0][1]
        if node is None or node.op not in _WITH_BODIES or is_recursive_call(node):
            return True
        if node.op == "While":
            loop, inits = self.live.loops.get(node), node.inputs[: len(node.outputs)]
            if loop is not None and loop.elements is not None:
                inits = *inits, loop.elements
            return any(tensor is output for tensor in inits)
        return node.op == "If" and node.inputs[0] is output

    def take(self, tensors: Sequence[SymbolicTensor], *, statement: bool) -> list[Text]:
        """The texts of a node's inputs.

        To keep the order of evaluation, other pending expressions are assigned first:
        those in front of a pending input, and before a statement all of them.
        """
        waiting = IdentitySet(t for t in tensors if t in self.pending)
        # Of thousands of pending expressions few are inputs: search from the end.
        last = itertools.takewhile(waiting.__contains__, reversed(self.pending))
        at_end = sum(1 for _ in last)
        if statement or at_end < len(waiting):
            self.flush(len(self.pending) - at_end)
        for tensor in waiting:
            self.pending.discard(tensor)
        return [self.texts[tensor] for tensor in tensors]

    def flush_inputs(self, tensors: Sequence[SymbolicTensor]) -> None:
        """Assign pending expressions up to the last of `tensors` that is pending."""
        wanted = IdentitySet(tensors)
        places = [i for i, tensor in enumerate(self.pending) if tensor in wanted]
        if places:
            self.flush(places[-1] + 1)

    def flush(self, count: int) -> None:
        """Assign the first `count` pending expressions."""
        for tensor in list(itertools.islice(self.pending, count)):
            text = self.texts[tensor]
            name = self._name(tensor, self.index, text.form)
            self.lines.append(Line(f"{name} = {text.code}", text.steps))
            self.pending.discard(tensor)

    def labels_of(self, graph: Graph) -> IdentityMap[SymbolicTensor, str]:
        """The user's names for the values of a graph."""
        return IdentityMap(find_labels(graph.nodes))

    def _reads(self, node: Node, tensor: SymbolicTensor) -> int:
        """How often a node reads a tensor."""
        return sum(used is tensor for used in self.live.inputs_of(node))

    def _is_python_range(self, node: Node) -> bool:
        """Whether loops take all ints of a ``Range``, and nobody else reads it."""
        loops = self.live.loops
        for _, user in self.users[node.outputs[0]]:
            if user is None or self._reads(user, node.outputs[0]) > 1:
                return False
            loop = loops.get(user)
            if loop is None or loop.elements is not node.outputs[0]:
                return False
            if loop.element is not None and self.scalars.form(loop.element) != "int":
                return False
        return all(tensor.dtype.is_integer for tensor in node.inputs)

    # --- names ------------------------------------------------------------------------

    def _name(self, tensor: SymbolicTensor, at: float, form: str = "") -> str:
        """A variable for the value of `tensor`, to be assigned at this position."""
        target = self.targets.get(tensor)
        if target is not None and self.is_free(target, at):
            name = target
        else:
            hint = self.hint(tensor)
            if tensor not in self.labels and _may_be_large(tensor):
                # A name without a number is used again, which frees the old array.
                hint = _NUMBER.sub("", hint)
            name = self.free_name(hint, at)
        self.own(name, tensor, form)
        return name

    def own(self, name: str, tensor: SymbolicTensor, form: str = "") -> None:
        """Note that a variable holds `tensor` from now on."""
        self.texts[tensor] = Text(name, names=frozenset({name}), form=form)
        self.held[name] = max(self.last_use(tensor), self.index)

    def hint(self, tensor: SymbolicTensor) -> str:
        """A good name for `tensor`: the user's, or that of its op."""
        if tensor in self.labels:
            return self.labels[tensor]
        if tensor.node.op in CONTROL_FLOW:
            return "result"
        return clean(tensor.node.name).lower()

    def free_name(self, hint: str, at: float) -> str:
        """A variable whose value is not needed any more at this position."""
        base = name = clean(hint)
        number = 1
        while not self.is_free(name, at):
            name, number = f"{base}_{number}", number + 1
        self.program.add_local(name)
        return name

    def is_free(self, name: str, at: float) -> bool:
        """Whether a variable may be assigned at this position."""
        return not self.program.is_global(name) and self.held.get(name, -1) < at

    def hold(self, text: Text, until: float) -> None:
        """Keep the variables that an expression reads up to this position."""
        for name in text.names:
            self.held[name] = max(self.held.get(name, -1), until)

    def last_use(self, tensor: SymbolicTensor) -> float:
        """The position of the last node that reads `tensor`; -1 if none does."""
        return max((index for index, _ in self.users.get(tensor, [])), default=-1)

    def assign(self, pairs: Iterable[tuple[str, SymbolicTensor, str]]) -> None:
        """Give values to variables of these forms.

        All at once where one would overwrite another.
        """
        found = []
        for name, tensor, form in pairs:
            text = self.program.fit(self.texts[tensor], tensor, form)
            if text.code != name:
                found.append((name, tensor, text))
        clash = any(
            name in text.names
            for place, (name, _, _) in enumerate(found)
            for other, (_, _, text) in enumerate(found)
            if place != other
        )
        if clash:
            steps = [step for _, _, text in found for step in text.steps]
            left = ", ".join(name for name, _, _ in found)
            right = ", ".join(text.code for _, _, text in found)
            self.lines.append(Line(f"{left} = {right}", self.program.in_order(steps)))
        else:
            # Expressions that wait are evaluated in the order of the program.
            waiting = IdentityMap(
                (tensor, place) for place, tensor in enumerate(self.pending)
            )
            found.sort(key=lambda item: waiting.get(item[1], END))
            for name, _, text in found:
                self.lines.append(Line(f"{name} = {text.code}", text.steps))
        self.pending = IdentitySet()


def _may_be_large(tensor: SymbolicTensor) -> bool:
    """Whether the tensor may be an array that takes much memory."""
    size = tensor.shape.num_elements()
    return size is None or size >= LARGE


# --- numbers of Python ----------------------------------------------------------------
#
# See `scalars` for which these are.

Written = tuple[str, int]


def _python_operation(
    program: Program, node: Node, args: Sequence[Text]
) -> tuple[str, Written]:
    """The form and the source of an operation on Python ints."""
    operands = []
    any_wide = False
    (output,) = node.outputs
    for tensor, arg in zip(node.inputs, args):
        is_wide = arg.form == "wide" and (node.op in SUMS or tensor.spec.weak)
        any_wide |= is_wide
        operand = program.fit(arg, tensor, "wide" if is_wide else "int")
        operands.append((operand.code, operand.level))
    written = operands[0]
    if node.op == "CastExactly":
        if not program.scalars.fits(node):
            written = f"as_{output.dtype.name}({written[0]})", ATOM
        return "int", written
    if node.op != "Cast":
        written = _filled(RULES[node.op].python, operands)
    if output.dtype.is_bool:
        return "bool", written
    if program.scalars.wraps(node):
        return "int", (f"{program.wrap(output.spec)}({written[0]})", ATOM)
    is_wide = any_wide and output.spec.weak
    return "wide" if is_wide else program.scalars.form(output) or "int", written


def _is_number(node: Node) -> bool:
    """Whether the node casts one integer to another."""
    one, other = node.inputs[0], node.outputs[0]
    is_integer = one.dtype.is_integer and other.dtype.is_integer
    return is_integer and other.shape.rank == 0


def _becomes_int(node: Node) -> bool:
    """Whether the node makes an int of Python of an integer tensor."""
    return node.op == "Cast" and node.outputs[0].spec.weak and _is_number(node)


def _row(node: Node, args: Sequence[Text], form: str) -> tuple[str, Written]:
    """The form and the source of an item; of a vector the loop may have it as int."""
    array, index = args[0].wrapped, args[1].code
    if form == "int" and node.outputs[0].spec.weak:
        return "int", (f"{array}.item({index})", ATOM)
    return "", (f"{array}[{index}]", ATOM)


def _cast_of_int(program: Program, node: Node, arg: Text) -> tuple[str, Written | None]:
    """The form and the source of a Python int as a float."""
    dtype = node.outputs[0].dtype
    lowest, highest = program.scalars.bounds(node.inputs[0])
    code = arg.code
    if not -(2**53) <= lowest <= highest <= 2**53:
        if node.op == "CastExactly":
            return "", None
        if dtype is not dtypes.float64:
            code = f"np.int64({code})"  # or it would be rounded twice
    return "", (f"np.{dtype.name}({code})", ATOM)


def _filled(source: str, operands: Sequence[tuple[str, int]]) -> Written:
    return filled(source.format(*map(marker, range(len(operands)))), operands)


def _bool_operation(node: Node, args: Sequence[Text]) -> Written | None:
    """The source of an operation on bools; None if it is none."""
    python = RULES[node.op].python
    if get(node.op).takes != (dtypes.bool,) or not python:
        return None
    if any(tensor.shape.rank != 0 for tensor in node.inputs):
        return None
    return _filled(python, [(arg.code, arg.level) for arg in args])


def _choice(program: Program, node: Node, args: Sequence[Text]) -> tuple[str, Written]:
    """The form and the source of a choice between two numbers."""
    (output,) = node.outputs
    form = program.scalars.form(output)
    test, *values = args
    parts = [(test.code, test.level)]
    for value in values:
        value = program.fit(value, output, form)
        parts.append((value.code, value.level))
    source = f"{marker(1)} if {marker(0)} else {marker(2)}"
    return form, filled(source, parts)


def _range_source(node: Node, args: Sequence[Text]) -> Written:
    """A ``Range`` of which a loop takes the elements, as a range of Python."""
    texts = [arg.code for arg in args]
    start, limit, delta = (
        attribute_code(node.attrs[key], texts) for key in ("start", "limit", "delta")
    )
    bounds = limit if (start, delta) == ("0", "1") else f"{start}, {limit}"
    step = "" if delta == "1" else f", {delta}"
    if not args:
        return f"range({bounds}{step})", ATOM
    first = "0, " if step and bounds == limit else ""
    return f"checked_range({first}{bounds}{step})", ATOM
