"""The statements of programs: what the finished functions do, in nested loops.

A statement is one instruction, or several, of the functions as they are compiled, after
`outlined` has moved loops. `Record` says which array and which axes an address was
computed of, and what is called how.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import count as count_from
from typing import Any

import llvmlite.ir as ir
import numpy as np
from llvmlite.ir.instructions import Terminator

from runtime.core.graph import Graph
from runtime.engines.native import outlined, status
from runtime.engines.native.loops.expressions import (
    ATOM,
    SIGN,
    Expressions,
    constant,
    is_cell,
    is_statement,
)
from runtime.engines.native.loops.record import Record
from runtime.engines.native.loops.ways import Ways, fails, incoming, phis, targets
from runtime.engines.native.memory import Given, InputDim

_STATUSES: dict[Any, str] = {status.FULL: "FULL", status.INTERRUPTED: "INTERRUPTED"}
_GIVEN = {Given.STACK: "stack_begin", Given.STACK_END: "stack_end"}
#: The names of what loops count.
_LETTERS = "ijklmnpq"
#: The longest text that is written where it is used.
_LONGEST = 56


#: A line of code, and the lines of the user's program that it computes.
Placed = tuple[str, list[tuple[str, int]]]
#: What stands between a line and the numbers of its places.
_MARK = "\0"


def loop_lines(record: Record) -> list[Placed]:
    """The programs of a module, line by line."""
    found = []
    for each in record.programs:
        program = _Program(record, *each)
        parts = [text.partition(_MARK) for text in program.lines()]
        places = list(program.places)
        found += [
            (line, [places[int(number)] for number in numbers.split()])
            for line, _, numbers in parts
        ]
    return found


def text_of_loops(record: Record) -> str:
    """The programs of a module."""
    return "\n".join(line for line, _ in loop_lines(record))


class _Program(Expressions):
    """The text of one program, with the functions that are of it alone."""

    def __init__(self, record: Record, function: Any, *about: Any) -> None:
        super().__init__(record)
        self._texts[id(function.args[0])] = "slots", ATOM
        #: The texts of conditions that say the opposite.
        self._opposite: dict[str, str] = {}
        #: The regions of blocks, and of ways between blocks, by the ids of the blocks.
        self._region_of: dict[Any, Any] = {}
        self._ways: dict[Any, Ways] = {}
        self._headers = {function: self._parameters(function, *about)}
        self._add(function)

    def lines(self) -> Iterator[str]:
        """The functions, statement by statement."""
        for function in self._headers:
            self._around[id(function)] = ()
            self._body(function)
        while self._waiting:
            each = self._waiting.pop()
            ways = each.incomings if each.opname == "phi" else ()
            for value, source in ways:
                self._here = self._region_of.get((id(source), id(each.parent)))
                if self._here is not None:
                    self._value(value)
            if not ways:
                self._here = self._region_of[id(each.parent)]
                self._expression(each)
        self._is_counting = False
        self._origin, self._origins = set(), {}
        for function, header in self._headers.items():
            yield from (f"def {header}:", *self._body(function), "")

    def _body(self, function: Any) -> list[str]:
        lines = self._region(function.entry_basic_block, id(function), {})
        return _indented([*lines] or ["pass"])

    # --- functions and names ----------------------------------------------------------

    def _parameters(
        self, function: Any, graph: Graph, assigned: Sequence[str], held: Sequence[Any]
    ) -> str:
        """The header of a program; what its slots are called is known from here on."""
        tensors = [*graph.inputs, *graph.outputs]
        names = [self._fresh(self._record.name_of(tensor)) for tensor in graph.inputs]
        results = ["out"] * (len(graph.outputs) - len(assigned))
        names += map(self._fresh, [*results, *(f"new_{name}" for name in assigned)])
        self._slots += names
        self._slot_args.add(id(function.args[0]))
        for what in held:
            if isinstance(what, InputDim):
                self._slots.append(f"{names[what.place]}.shape[{what.axis}]")
            elif isinstance(what, Given):
                self._slots.append(self._fresh(_GIVEN.get(what, "length")))
            else:
                is_array = isinstance(what, np.ndarray)
                self._slots.append(self._fresh("constant" if is_array else "room"))
        pairs = [f"{n}: {t.spec.describe()}" for n, t in zip(names, tensors)]
        is_whole = function.name == "run"
        name = self._fresh(graph.name) if is_whole else function.name
        return f"{name}({', '.join(pairs)})"

    def _arguments(self, function: Any) -> str:
        """The header of a function that the program calls."""
        self._slot_args.add(id(function.args[0]))
        for argument, name in zip(
            function.args, ("slots", "countdown", "depth", "limit")
        ):
            self._texts[id(argument)] = self._fresh(name), ATOM
        return f"{function.name}({', '.join(map(self._name, function.args))})"

    def _add(self, function: Any) -> None:
        """Look through a function, and those of the program that it calls."""
        self._ways[function] = Ways(function)
        for each in [x for block in function.blocks for x in block.instructions]:
            if each.opname == "store":
                pointer = getattr(each.operands[1], "pointer", None)
                self._stored.setdefault(id(pointer), each)
            elif each.opname == "call" and (loop := self._loop_of(each)) is not None:
                self._add(loop)
            elif each.opname == "call" and id(each.callee) in self._record.called:
                if each.callee not in self._headers:
                    self._headers[each.callee] = self._arguments(each.callee)
                    self._add(each.callee)

    def _loop_of(self, each: Any) -> Any:
        """The loop that an instruction runs, if it is a function of its own."""
        given = each.operands[:2] if getattr(each, "opname", "") == "call" else ()
        return next((x for x in given if id(x) in self._record.moved), None)

    # --- statements -------------------------------------------------------------------

    def _region(
        self, block: Any, region: Any, ends: dict[int, str], is_head: bool = False
    ) -> Iterator[str]:
        """What is run from a block on, until one that ends it with a word."""
        while block is not None:
            if not is_head and id(block) in ends:
                yield from [word] if (word := ends[id(block)]) else ()
                return
            if not is_head and id(block) in self._ways[block.function].exits:
                yield from self._loop(block, region)
                block = self._ways[block.function].behind(block)
                continue
            is_head = False
            self._region_of[id(block)] = region
            for each in block.instructions:
                self._here = region
                yield from self._straight(each)
            self._here = region
            block = yield from self._end(block, region, ends)

    def _end(
        self, block: Any, region: Any, ends: dict[int, str]
    ) -> Generator[str, None, Any]:
        """How a block ends; returns the one that the region goes on with."""
        last, found = block.terminator, targets(block)
        loop = self._record.loops.get(id(found[0])) if found else None
        if not found:
            if fails(block):
                yield from self._flushed(f"return {self._status(last.return_value)}")
            return None
        if loop is not None and loop.again.parent is block:
            yield from self._go(block, found[0], region)
            return None
        # Of a loop that counts, the text needs no test whether there is an iteration.
        if len(found) == 1 or (loop is not None and loop.done is found[1]):
            yield from self._go(block, found[0], region)
            return found[0]
        for way, other in zip(found, found[1::-1]):
            if last.opname == "br" and fails(other) and len(other.instructions) == 1:
                yield from self._check(last.operands[0], way is found[0], other)
                yield from self._go(block, way, region)
                return way
        join = self._ways[block.function].join(block)
        is_end = join is None or id(join) in ends
        if not is_end:
            # A loop goes on without a word at its end alone.
            later = dict.fromkeys(self._around[region][-1:], "continue")
            ends = {**ends, **later, id(join): ""}
        yield from self._branch(block, region, ends)
        return None if is_end else join

    def _check(self, test: Any, expected: bool, other: Any) -> Iterator[str]:
        """Leave with what a block returns, unless a test is as expected."""
        value = other.terminator.return_value
        if self._loop_of(value) is None:  # otherwise it is written in the loop
            text = self._value(test) if expected else self._negated(test)[0]
            is_failure = getattr(value, "constant", 0) == status.FAILED
            code = "" if is_failure else f", {self._status(value)}"
            yield self._marked(f"check({text}{code})")

    def _branch(self, block: Any, region: Any, ends: dict[int, str]) -> Iterator[str]:
        last, numbers = block.terminator, getattr(block.terminator, "cases", None)
        texts = [self._value(last.operands[0])]
        if numbers is not None:
            texts = [f"{texts[0]} == {constant(number)}" for number, _ in numbers]
        elif not self._is_counting:
            texts.append(self._negated(last.operands[0])[0])
            self._opposite |= {texts[0]: texts[1], texts[1]: texts[0]}
        mark = self._marked("")
        yield from self._flushed()
        bodies = []
        for place, way in enumerate(targets(block)):
            inner = id(block), place
            self._around[inner] = self._around[region]
            lines = [*self._go(block, way, inner), *self._region(way, inner, ends)]
            bodies.append(_indented(lines))
        first, *_, other = bodies
        if numbers is None and (not first or _leaves(other) > _leaves(first)):
            texts, bodies = texts[::-1], bodies[::-1]
        if any(bodies):
            for word, text, body in zip(
                ("if", *["elif"] * len(texts)), texts, bodies[:-1]
            ):
                yield from (f"{word} {text}:{mark}", *(body or ["    pass"]))
        if len(bodies) == 2 and _leaves(bodies[0]):
            yield from (line[4:] for line in bodies[1])
        elif bodies[-1]:
            yield from ("else:", *bodies[-1])

    def _loop(self, head: Any, region: Any, values: str = "") -> Iterator[str]:
        yield from self._flushed()
        self._here, inner = region, id(head)
        loop, done = (
            self._record.loops.get(inner),
            self._ways[head.function].behind(head),
        )
        self._around[inner] = (*self._around[region], inner)
        ends = {inner: "", id(done): "break"}
        if loop is None:
            body = _indented(self._region(head, inner, ends, True)) or ["    pass"]
            word = "True"
            test, mark, places = body[0].partition(_MARK)
            if body[1:2] == ["        break"] and test.startswith("    if "):
                word, body = self._opposite.get(test[7:-1], ""), body[2:]
                yield from (f"while {word}:{mark}{places}", *body)
            else:
                yield from (f"while {word}:", *body)
            return
        (start,) = [
            x for x, block in loop.i.incomings if block is not loop.again.parent
        ]
        is_zero = getattr(start, "constant", None) == 0
        end = loop.again.operands[1]
        values = values or f"range({self._values((end,) if is_zero else (start, end))})"
        mark = self._marked("")
        names = (f"{each}{n or ''}" for n in count_from(0) for each in _LETTERS)
        letter = self._first_free(names)
        self._texts[id(loop.i)] = letter, ATOM
        body = _indented(self._region(head, inner, ends, True)) or ["    pass"]
        if not mark:  # that of what it computes
            mark = "".join(body[-1].partition(_MARK)[1:])
        yield from (f"for {letter} in {values}:{mark}", *body)
        self._used.discard(letter)
        self._know_results(loop)

    def _know_results(self, loop: outlined.Loop) -> None:
        """Know which variables have which values behind a loop."""
        carried, last = phis(loop.head)[1:], loop.again.parent
        self._same |= {id(after): phi for phi, after in zip(carried, phis(loop.done))}
        for phi in carried:
            value = incoming(phi, last)
            region = self._region_of.get(id(getattr(value, "parent", None)))
            if id(loop.head) in self._around.get(region, ()):
                self._results[id(value)] = phi, id(loop.head)

    def _shared(self, function: Any, call: Any, region: Any) -> Iterator[str]:
        """A loop that is a function of a range of its iterations."""
        entry, is_shared = function.entry_basic_block, function is call.args[0]
        values = f"(0, {self._value(call.args[2])}"
        outer = [
            b for b in function.blocks if b is entry or b.terminator.opname == "ret"
        ]
        if not {x.opname for b in outer for x in b.instructions} & {"store", "alloca"}:
            word = "parallel" if is_shared else "range"
            yield from self._loop(targets(entry)[0], region, f"{word}{values})")
            return
        for argument, name in zip(function.args[1:], ("start", "stop")):
            if id(argument) not in self._texts:
                self._texts[id(argument)] = self._fresh(name), ATOM
        names, inner = self._values(function.args[1:]), id(function)
        chunk = self._value(call.args[-1])
        values = f"parallel{values}, {chunk})" if is_shared else f"[{values})]"
        yield f"for {names} in {values}:"
        self._around[inner] = self._around[region]
        yield from _indented(self._region(entry, inner, {}))

    def _status(self, value: Any) -> str:
        return _STATUSES.get(getattr(value, "constant", None)) or self._value(value)

    def _straight(self, each: Any) -> Iterator[str]:
        """What an instruction does, if it is not written where its result is used."""
        is_used = not self._is_counting and id(each) in self._uses
        if (loop := self._loop_of(each)) is not None:
            yield from self._flushed()
            yield from self._shared(loop, each, self._here)
        elif each.opname == "store":
            if not _is_context(each.operands[1]):
                yield from self._flushed(self._store(each))
        elif isinstance(each, Terminator) or each.opname == "phi":
            return
        elif is_statement(each):
            text, _ = self._expression(each)
            yield from self._flushed(
                f"{self._name(each)} = {text}" if is_used else text
            )
        elif is_used:
            yield from self._defined(each)

    def _defined(self, each: Any) -> Iterator[str]:
        """Write a number where it is used, or give it a name."""
        self._reads = False
        found, uses = self._expression(each), self._uses[id(each)]
        is_short = uses == [self._here] and len(found[0]) <= _LONGEST
        is_fixed = found[0] in self._slots or found[0].isdigit()
        if is_cell(each):
            self._texts[id(each)] = f"&{self._fresh(self._hint(each))}", SIGN
            self._marked("")
        elif self._is_memory(each) or not (
            is_short or is_fixed or id(each) in self._record.accesses
        ):
            yield self._marked(f"{self._name(each)} = {found[0]}")
        else:
            self._texts[id(each)] = found
            self._origins[id(each)], self._origin = self._origin, set()
            if self._reads and not is_fixed:
                self._pending[id(each)] = each

    def _flushed(self, *statement: str) -> Iterator[str]:
        """A statement that changes memory, behind names for what was read before."""
        pending, self._pending = list(self._pending.values()), {}
        for each in pending:
            text, _ = self._texts.pop(id(each))
            origin = self._origins.pop(id(each), ())
            yield self._marked(f"{self._name(each)} = {text}", origin)
        yield from map(self._marked, statement)

    def _marked(self, text: str, origin: Iterable[int] | None = None) -> str:
        """A line with the places that it computes: those met since the last one."""
        if origin is None:
            origin, self._origin = self._origin, set()
        return f"{text}{_MARK}{' '.join(map(str, sorted(origin)))}" if origin else text

    def _go(self, source: Any, target: Any, region: Any) -> Iterator[str]:
        """Give the variables of a block their values, at once if need be."""
        self._here = self._region_of[id(source), id(target)] = region
        loop = self._record.loops.get(id(target))
        pairs = [
            (self._name(phi), self._value(incoming(phi, source)), self._marked(""))
            for phi in phis(target)
            if not self._is_counting and id(phi) in self._uses
            if id(phi) not in self._same and not (loop and loop.i is phi)
        ]
        pairs = [pair for pair in pairs if pair[0] != pair[1]]
        words = [set(re.findall(r"\w+", text)) for _, text, _ in pairs]
        if any(pairs[i][0] in words[j] for j in range(len(pairs)) for i in range(j)):
            names, texts, marks = zip(*pairs)
            pairs = [(", ".join(names), ", ".join(texts), max(marks))]
        yield from (f"{name} = {text}{mark}" for name, text, mark in pairs)


def _is_context(pointer: Any) -> bool:
    """Whether a pointer is to what a shared loop is given."""
    typ = getattr(getattr(pointer, "pointer", None), "allocated_type", None)
    return isinstance(typ, ir.LiteralStructType)


def _leaves(body: Sequence[str]) -> bool:
    """Whether nothing that follows a body is run after it."""
    return bool(body) and body[-1].split()[0] in ("break", "continue", "return")


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
