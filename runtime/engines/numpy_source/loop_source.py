"""Writing loops: as ``while``, or as ``for`` where they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import (
    CountedLoop,
    Shifted,
    constant_int,
    shifted,
    trip_count,
)
from runtime.core.graph.prune import Live
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.engines.numpy_source import loop_arrays
from runtime.engines.numpy_source.precedence import ATOM, filled, marker
from runtime.engines.numpy_source.program import clean
from runtime.engines.numpy_source.statements import END, StraightBlock
from runtime.engines.numpy_source.text import Line, Text, negated
from runtime.ops.operands import Operand

#: The kinds of arrays of rank 0 that are slower than the scalars in them.
_NUMBERS = "biufc"


class LoopBlock(StraightBlock):
    """The statements of one graph, with its loops."""

    #: What the body of an outermost loop has from outside: none of its arrays is
    #: written to while the loop runs.
    unchanged: IdentitySet[SymbolicTensor] = IdentitySet()

    def _operation(self, node: Node) -> None:
        program = self.program
        if node.op == "TensorArrayV3":
            filled = loop_arrays.filled_by(node, self.users, self.live, self.scalars)
            if filled is not None:
                self._new_array(node, filled)
                return
        elif node.op == "ListGet" and loop_arrays.is_there(node, self.scalars):
            self._get_item(node, Operand(2))
            return
        elif node.op == "TensorArrayReadV3":
            if loop_arrays.is_row_there(node, self.scalars):
                self._get_item(node, node.attrs["index"])
                return
        elif node in program.row_writes:
            self._write_row(node)
            return
        elif node.op == "TensorArrayStackV3":
            length = program.filled.get(node.inputs[0])
            if length is not None and node.attrs["size"] in (None, length):
                self._alias(node)
                return
        super()._operation(node)

    def _child(
        self,
        graph: Graph,
        live: Live,
        inputs: Mapping[SymbolicTensor, Text],
        held: Mapping[str, float],
        targets: Mapping[int, str],
        forms: Mapping[int, str] | None = None,
    ) -> LoopBlock:
        """The statements of a sub-graph, whose outputs get these names and forms."""
        child = type(self)(self.program, graph, live, inputs, held, targets)
        child.write()
        child.assign_targets(targets, forms or {})
        return child

    def _captured(
        self, graph: Graph, live: Live, outer: Sequence[SymbolicTensor], first: int = 0
    ) -> IdentityMap[SymbolicTensor, Text]:
        """How the inputs of a sub-graph from number `first` on are written."""
        return IdentityMap(
            (graph.inputs[first + position], self.texts[tensor])
            for position, tensor in enumerate(outer)
            if first + position in live.inputs
        )

    def _kept(self) -> dict[str, float]:
        """The variables that sub-graphs must leave alone: those read afterwards."""
        return {name: END for name, until in self.held.items() if until > self.index}

    def _while(self, node: Node) -> None:
        """Write a ``While`` as a statement."""
        loop = self.live.loops.get(node)
        _, body_live = self.live.bodies[node]
        graph = node.attrs["body_graph"]
        state = sorted(body_live.outputs)
        self._settle_inputs(node, state, loop)
        names = self._state_names(node, state)
        forms = {i: self.scalars.form(graph.inputs[i]) for i in state}
        lists = self._new_lists(node, names)
        given = [i for i in state if i not in lists]
        pairs = [(names[i], node.inputs[i], forms[i]) for i in given]
        known = self._captures(node, pairs)
        self.assign(pairs)
        self.lines += lists.values()
        for text in known.values():
            self.hold(text, self.index + 0.5)
        variables = {i: _variable(names[i], forms[i]) for i in state}
        known |= variables
        inputs = IdentityMap((graph.inputs[i], text) for i, text in known.items())
        stop: list[Line] = []
        shift = None
        if loop is None:
            head, stop = self._while_head(node, known)
        else:
            shift = self._shifted(node, loop, body_live)
            counters = self._counters(node, loop, body_live, shift)
            inputs.update(counters)
            head = [self._for_head(node, loop, counters, shift)]
        kept = {k: END for k in self._kept() if k not in names.values()}
        body = type(self)(self.program, graph, body_live, inputs, kept, names)
        if node in self.scalars.outermost:
            body.unchanged = IdentitySet(graph.inputs[len(node.outputs) :])
        body.written |= {shift.node} if shift else set()
        if loop is not None and loop.flag is not None:
            # The test at the end reads it again, after what its operands become.
            body.users.setdefault(loop.flag, []).append((END, None))
        body.write()
        after = body.assign_and_test(names, forms, loop)
        self.lines += [*head, *indented([*stop, *body.lines, *after])]
        self._results(node, variables)

    def _while_head(
        self, node: Node, known: Mapping[int, Text]
    ) -> tuple[list[Line], list[Line]]:
        """The head of a loop that tests, and what its body begins with."""
        graph, live = node.attrs["cond_graph"], self.live.bodies[node][0]
        inputs = IdentityMap((graph.inputs[i], text) for i, text in known.items())
        test = type(self)(self.program, graph, live, inputs, self._kept())
        # The line of the loop names what it takes, and not its test.
        test.labels.pop(graph.outputs[0], None)
        test.write()
        (condition,) = test.results()
        limit = node.attrs["maximum_iterations"]
        if limit is None and not test.lines:
            return [Line(f"while {condition.code}:", condition.steps)], []
        head = "while True:" if limit is None else f"for _ in range({limit}):"
        stop = Line(f"if {negated(condition)}:", condition.steps)
        return [Line(head)], [*test.lines, stop, Line("break", indent=1)]

    def assign_and_test(
        self,
        targets: Mapping[int, str],
        forms: Mapping[int, str],
        loop: CountedLoop | None,
    ) -> list[Line]:
        """Give the outputs to their variables; the test at the end, if there is one."""
        if loop is None or loop.flag is None:
            self.assign_targets(targets, forms)
            return []
        flag = loop.flag
        pairs = [(targets[i], self.graph.outputs[i], forms[i]) for i in targets]
        names = [name for name, tensor, _ in pairs if tensor is flag]
        text = self.texts[flag]
        if not names and text.code in text.names - set(targets.values()):
            names = [text.code]
        elif not names:
            names = [self.free_name(self.hint(flag), END)]
            pairs.append((names[0], flag, "bool"))
        self.assign(pairs)
        test = names[0] if loop.stop else f"not {names[0]}"
        return [Line(f"if {test}:"), Line("break", indent=1)]

    # --- in front of loops ------------------------------------------------------------

    def _settle_inputs(
        self, node: Node, state: Sequence[int], loop: CountedLoop | None
    ) -> None:
        """Assign expressions that wait for something else than to start the loop."""
        waiting = IdentitySet(node.inputs[position] for position in state)
        if loop is not None:
            rows = loop.elements
            first = node.inputs[loop.counter] if rows is None else rows
            # A range may wait for the head of the loop, if nothing else waits.
            if rows is None or len(self.pending) > 1:
                self.flush_inputs([first])
            waiting.add(first)
            self.hold(self.texts[first], self.index + 0.5)
        others = [i for i, tensor in enumerate(self.pending) if tensor not in waiting]
        if others:
            self.flush(others[-1] + 1)
        count = len(node.outputs)
        for position in self.live.reads[node]:
            # What the loop reads besides its state has to last for all iterations.
            if position >= count or position not in state:
                self.hold(self.texts[node.inputs[position]], self.index + 0.5)

    def _state_names(self, node: Node, state: Sequence[int]) -> dict[int, str]:
        """The variables that hold the state of a loop."""
        given = (position for position in state if self._is_given_to(node, position))
        names = {position: self.texts[node.inputs[position]].code for position in given}
        self.held.update(dict.fromkeys(names.values(), self.index + 0.5))
        for position in state:
            if position in names:
                continue
            hint = node.attrs["body_graph"].inputs[position].node.name
            name = names[position] = self.free_name(hint, self.index + 0.5)
            self.held[name] = self.index + 0.5
        return names

    def _is_given_to(self, node: Node, position: int) -> bool:
        """Whether a loop writes to a variable that nobody else reads from now on.

        Under another name the array would be copied, since this one would hold it.
        """
        tensor, inner = node.inputs[position], node.attrs["body_graph"].inputs[position]
        is_written = any(
            user.inputs and user.inputs[0] is inner and get(user.op).kernel_in_place
            for user in self.live.bodies[node][1].nodes
        )
        is_alone = is_written and self._reads(node, tensor) == 1
        return is_alone and self._is_last_use(self.texts[tensor])

    def _captures(
        self, node: Node, pairs: list[tuple[str, SymbolicTensor, str]]
    ) -> dict[int, Text]:
        """What the test and the body read from outside, by its position.

        Arrays of rank 0 become scalars in front of the loop: adds those to `pairs`.
        """
        graph, found = node.attrs["body_graph"], {}
        loop = self.live.loops.get(node)
        for position in sorted(self.live.reads[node]):
            outer, inner = node.inputs[position], graph.inputs[position]
            text = self.texts[outer]
            if position < len(node.outputs):
                continue
            inside = any(position in live.inputs for live in self.live.bodies[node])
            form = self.scalars.form(inner)
            if inside and node in self.scalars.outermost:
                if form in ("int", "wide") and not text.form and text.number is None:
                    name = self._name_of_number(outer, text)
                    pairs.append((name, outer, "int"))
                    text = _variable(name, "int")
                elif self._is_array_of_a_number(outer, text):
                    line = Line(f"{text.code} = {text.code}[()]")
                    self.lines.append(line)
                    self.scalar_names.add(text.code)
                else:
                    text = self._widened(node, inner, text)
            if loop is None or inside:
                found[position] = text
        return found

    def _name_of_number(self, tensor: SymbolicTensor, text: Text) -> str:
        """A variable for the value of a tensor as a Python int."""
        hint = text.code if text.code.isidentifier() else self.hint(tensor)
        name = self.free_name(hint, self.index + 0.5)
        self.held[name] = self.index + 0.5
        return name

    def _is_array_of_a_number(self, tensor: SymbolicTensor, text: Text) -> bool:
        """Whether a variable holds an argument that may be an array of rank 0."""
        return (
            tensor.node.op == "Placeholder"
            and tensor.shape.rank == 0
            and tensor.dtype.kind in _NUMBERS
            and text.form == ""
            and text.code in text.names
            and text.code not in self.scalar_names
        )

    # --- arrays -----------------------------------------------------------------------

    def _new_array(self, node: Node, filled: loop_arrays.Filled) -> None:
        """Make the array that a loop fills."""
        code = self._zeros(filled)
        self.program.filled[filled.result] = filled.shape[0]
        steps = (self.program.step(node, []),)
        (output,) = node.outputs
        self.deliver(output, Text(code, ATOM, steps=steps), self.may_wait(output))

    def _new_lists(self, node: Node, names: Mapping[int, str]) -> dict[int, Line]:
        """The lines that make the lists that a loop fills, by their positions."""
        found = {}
        for position, name in names.items():
            filled = loop_arrays.appended_by(node, position, self.live, self.scalars)
            if filled is not None:
                found[position] = Line(f"{name} = {self._zeros(filled)}")
        return found

    def _zeros(self, filled: loop_arrays.Filled) -> str:
        """An array for the rows that a node writes: it is an assignment from now on."""
        self.program.row_writes[filled.write] = filled.place, filled.row
        dtype = filled.result.dtype
        kind = "bool" if dtype.is_bool else f"np.{dtype.name}"
        return f"np.zeros({filled.shape}, {kind})"

    def _get_item(self, node: Node, place: Operand | int) -> None:
        """Read an item that is known to be in a list or array."""
        (output,) = node.outputs
        # A list is copied where an item of it is still to be read.
        inline = self.may_wait(output) and not self._is_changed_before(output)
        taken = self.take(node.inputs, statement=not inline)
        index = (
            self.program.fit(taken[place.index], node.inputs[place.index], "int")
            if isinstance(place, Operand)
            else Text(str(place))
        )
        is_int = self.scalars.form(output) == "int"
        # A number of Python, where the loop has such.
        code = (
            f"{taken[0].wrapped}.item({index.code})"
            if is_int
            else f"{taken[0].wrapped}[{index.code}]"
        )
        if output.shape.rank != 0 and node.inputs[0] not in self.unchanged:
            code += ".copy()"  # a view would keep the list from being changed in place
        names = taken[0].names | index.names
        steps = self.program.in_order([step for text in taken for step in text.steps])
        form = "int" if is_int else ""
        self.deliver(output, Text(code, ATOM, None, names, steps, form), inline)

    def _is_changed_before(self, item: SymbolicTensor) -> bool:
        """Whether something might change a list before an item of it is used."""
        ((user, _),) = self.users[item]
        between = self.live.nodes[self.index + 1 : None if user == END else int(user)]
        bodies = self.live.bodies
        return any(node in bodies or get(node.op).kernel_in_place for node in between)

    def _write_row(self, node: Node) -> None:
        """Assign a row of an array that the loop fills."""
        taken = self.take(node.inputs, statement=True)
        texts = [
            self.program.fit(text, tensor, "int") if text.form == "wide" else text
            for text, tensor in zip(taken, node.inputs)
        ]
        index, row = self.program.row_writes[node]
        code = f"{texts[0].code}[{texts[index].code}] = {texts[row].code}"
        steps = self.program.in_order([step for text in taken for step in text.steps])
        self.lines.append(Line(code, steps))
        (output,) = node.outputs
        self.texts[output] = taken[0]
        self.hold(taken[0], self.last_use(output))

    def _widened(self, node: Node, captured: SymbolicTensor, text: Text) -> Text:
        """What a loop captures, in the shape to which each iteration broadcasts it."""
        live = self.live.bodies[node][1]
        shape = loop_arrays.wide_shape(live, captured)
        if shape is None or trip_count(node) in (0, 1):
            return text
        # What the loop begins with may still be read below.
        name = self.free_name(f"{clean(text.code)}_rows", self.index)
        self.held[name] = self.index + 0.5
        self.lines.append(Line(f"{name} = np.full({shape}, {text.code})"))
        return _variable(name, "")

    # --- for --------------------------------------------------------------------------

    def _shifted(self, node: Node, loop: CountedLoop, live: Live) -> Shifted | None:
        """How the body shifts the index, where only the shifted number is of use."""
        graph = node.attrs["body_graph"]
        index = graph.inputs[loop.counter]
        if loop.elements is not None or self.scalars.form(index) != "int":
            return None
        if any(graph.outputs[position] is index for position in live.outputs):
            return None
        reads = [
            user
            for user in live.nodes
            if any(used is index for used in live.inputs_of(user))
        ]
        found = shifted(index, reads)
        if found is None or loop.start is None:
            return None
        (number,) = found.node.outputs
        is_int = self.scalars.form(number) in ("int", "wide")
        return found if is_int and self.scalars.fits(found.node) else None

    def _counters(
        self, node: Node, loop: CountedLoop, live: Live, shift: Shifted | None
    ) -> IdentityMap[SymbolicTensor, Text]:
        """The variables that the ``for`` statement assigns."""
        graph = node.attrs["body_graph"]
        found = IdentityMap[SymbolicTensor, Text]()
        index = graph.inputs[loop.counter]
        labels = self.labels_of(graph)
        if shift is not None:
            (number,) = shift.node.outputs
            hint = labels.get(number, shift.node.name)
            return IdentityMap([(number, self._counter(hint, "int"))])
        if loop.element is not None and self._is_read(live, loop.element):
            hint = labels.get(loop.element, "element")
            form = self.scalars.form(loop.element)
            found[loop.element] = self._counter(hint, form)
        if loop.counter in live.inputs:
            form = self.scalars.form(index)
            # Only Python counts the rows of an array.
            form = form if form or loop.elements is None else "int"
            found[index] = self._counter(labels.get(index, index.node.name), form)
        return found

    def _counter(self, hint: str, form: str) -> Text:
        name = self.free_name(hint, self.index + 0.5)
        self.held[name] = self.index + 0.5
        return _variable(name, form)

    def _is_read(self, live: Live, tensor: SymbolicTensor) -> bool:
        """Whether the body uses a tensor."""
        outputs = tensor.graph.outputs
        return any(
            used is tensor for node in live.nodes for used in live.inputs_of(node)
        ) or any(outputs[position] is tensor for position in live.outputs)

    def _for_head(
        self,
        node: Node,
        loop: CountedLoop,
        counters: Mapping[SymbolicTensor, Text],
        shift: Shifted | None,
    ) -> Line:
        """The first line of a loop that counts."""
        if shift is not None:
            (number,) = counters.values()
            return Line(
                f"for {number.code} in {self._shifted_range(node, loop, shift)}:"
            )
        element = counters.get(loop.element) if loop.element is not None else None
        index = counters.get(node.attrs["body_graph"].inputs[loop.counter])
        if loop.elements is None:
            numbers = self._numbers(node, loop)
            return Line(f"for {index.code if index else '_'} in {numbers}:")
        rows = self.texts[loop.elements]
        target, source = "_", rows.code
        if element is not None:
            target = element.code
            if element.form and rows.form != "range":
                source = f"{rows.wrapped}.tolist()"
            if index is not None:
                target, source = f"{index.code}, {target}", f"enumerate({source})"
        elif index is not None:
            target, source = index.code, f"range(len({source}))"
        return Line(f"for {target} in {source}:", rows.steps)

    def _shifted_range(self, node: Node, loop: CountedLoop, shift: Shifted) -> str:
        """The numbers that the body would make of those of `_numbers`."""
        first = loop.start or 0
        number = constant_int(loop.limit)
        if number is not None:
            stop = str(shift.start + shift.step * number)
        else:
            text = self.texts[loop.limit]
            if text.form in ("int", "wide"):
                text = self.program.fit(text, loop.limit, "int")
            else:
                text = Text(f"int({text.code})")
            sign = "+" if shift.step == 1 else "-"
            source = f"{shift.start} {sign} {marker(0)}"
            stop, _ = filled(source, [(text.code, text.level)])
        start = shift.start + shift.step * first
        return f"range({start}, {stop}{'' if shift.step == 1 else ', -1'})"

    def _numbers(self, node: Node, loop: CountedLoop) -> str:
        """The numbers from the start of a loop up to its limit."""
        index = node.attrs["body_graph"].inputs[loop.counter]
        bounds = []
        for tensor in (node.inputs[loop.counter], loop.limit):
            number = constant_int(tensor)
            if number is not None:
                bounds.append(str(number))
            else:
                text = self.texts[tensor]
                form = "int" if text.form == "wide" else text.form
                bounds.append(self.program.fit(text, tensor, form).code)
        if bounds[0] == "0":
            del bounds[0]
        numbers = f"range({', '.join(bounds)})"
        if self.scalars.form(index):
            return numbers
        return f"map(np.{index.dtype.name}, {numbers})"

    # --- behind loops -----------------------------------------------------------------

    def _results(self, node: Node, variables: Mapping[int, Text]) -> None:
        """Note what holds the state after the loop."""
        for position, text in variables.items():
            output = node.outputs[position]
            self.texts[output] = text
            self.held[text.code] = max(self.last_use(output), self.index)
            if text.form and node in self.scalars.outermost:
                if self.users.get(output) and not self.goes_inline(output):
                    value = self.program.fit(text, output, "")
                    self.lines.append(Line(f"{text.code} = {value.code}"))
                    self.own(text.code, output, "")


def _variable(name: str, form: str) -> Text:
    return Text(name, names=frozenset({name}), form=form)


# --- lines ----------------------------------------------------------------------------


def indented(lines: Sequence[Line]) -> list[Line]:
    """The lines one level further in; a statement, if there are none."""
    return [line.indented() for line in lines] or [Line("pass", indent=1)]
