"""The numbers that instructions compute, as expressions with names.

A number that is used once is written where it is used; others have the name of their
op. An instruction that has no form of its own is shown by its name in LLVM.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from itertools import count as count_from
from typing import Any

import llvmlite.ir as ir
import numpy as np
from llvmlite.ir.instructions import AllocaInstr, GEPInstr

from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.types import dtypes
from runtime.engines.native import blas, outlined
from runtime.engines.native.loops.record import Record
from runtime.engines.native.types import BIT, F64, in_memory, number
from runtime.engines.native.values import Buffer, Index, Shape, same_shape

#: A text, and how tightly it binds.
Text = tuple[str, int]
_CHOICE, _OR, _AND, _NOT, _COMPARED, _BITS, _SUM, _PRODUCT, SIGN, ATOM = range(10)
#: Operators by their names in LLVM: how tightly the result binds, and how tightly the
#: operands have to.
_INFIX = {
    name: (sign, strengths)
    for strengths, operators in {
        (_OR, _OR, _OR): "or: or i1",
        (_AND, _AND, _AND): "and: and i1",
        (_COMPARED, _SUM, _SUM): "==: eq, oeq; !=: ne, une, xor i1; <: slt, olt; "
        "<=: sle, ole; >: sgt, ogt; >=: sge, oge",
        (_BITS, SIGN, SIGN): "<<: shl; >>: ashr; &: and; |: or; ^: xor",
        (_SUM, _SUM, _SUM + 1): "+: add, fadd; -: sub, fsub",
        (_PRODUCT, _PRODUCT, _PRODUCT + 1): "*: mul, fmul; /: fdiv",
    }.items()
    for sign, _, names in [each.partition(": ") for each in operators.split("; ")]
    for name in names.split(", ")
}
_OPPOSITE = {"eq": "ne", "slt": "sge", "sle": "sgt"}
_OPPOSITE |= {other: one for one, other in _OPPOSITE.items()}
#: The operands that change nothing.
_NEUTRAL = {"add": "0", "sub": "0", "mul": "1", "and i1": "True"}
_CASTS = {"sext", "zext", "trunc", "fpext", "fptrunc", "sitofp", "fptosi", "inttoptr"}
_CALLED = {"smax": "max", "smin": "min", "fabs": "abs"}
_PURE = outlined.PLAIN | {"alloca", "inttoptr", "ptrtoint"}
#: Names that mean something in the text.
_WORDS = {"range", "parallel", "stack", "empty", "check", "view", "isnan", "abs"}


class Expressions:
    """The texts of the registers of a program."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._used = _WORDS | {called(each) for each in record.module.functions}
        #: By the ids of registers: texts, the regions that use them, stores to them.
        self._texts: dict[int, Text] = {}
        self._uses: dict[int, list[Any]] = {}
        self._stored: dict[int, Any] = {}
        #: What the slots are called, and the ids of what points to them.
        self._slots, self._slot_args = ["arena"], set[int]()
        #: Whether uses are counted, of what those of its own are not, and what reads
        #: something that may change before it is written.
        self._is_counting = True
        self._waiting: list[Any] = []
        self._pending: dict[int, Any] = {}
        self._reads = False
        #: The region that is written, and the loops around each by their first blocks.
        self._here: Any = None
        self._around: dict[Any, tuple[int, ...]] = {}
        #: By ids: what other registers some are; and the phis that have these values
        #: behind a loop that counts, with the id of its first block.
        self._same = dict(record.outside)
        self._results: dict[int, tuple[Any, int]] = {}
        #: Lines of the user's program by their numbers: all of them, those of what was
        #: written since the last line of text, and those of texts, by ids of registers.
        self.places: dict[tuple[str, int], int] = {}
        self._origin = set[int]()
        self._origins: dict[int, set[int]] = {}

    # --- names ------------------------------------------------------------------------

    def _fresh(self, name: str) -> str:
        name = re.sub(r"\W", "_", name.strip("<>"))
        name = f"_{name}" if not name or name[0].isdigit() else name
        name = f"{name}_" if keyword.iskeyword(name) else name
        return self._first_free(f"{name}_{i}" if i else name for i in count_from(0))

    def _first_free(self, names: Iterable[str]) -> str:
        found = next(each for each in names if each not in self._used)
        self._used.add(found)
        return found

    def _name(self, register: Any) -> str:
        """The name of a register: that of its tensor, or of the op that it is of."""
        if id(register) not in self._texts:
            self._texts[id(register)] = self._fresh(self._hint(register)), ATOM
        return self._texts[id(register)][0]

    def _hint(self, register: Any) -> str:
        if id(register) in self._record.names:
            return self._record.names[id(register)][1]
        if isinstance(register, ir.Argument):
            return "out"
        if not register.name.startswith("."):
            return str(register.name)
        if register.opname == "load":
            return re.sub(r"\W+", "_", self._place(register.operands[0])).strip("_")
        stored = self._stored.get(id(register))
        for each in (stored and stored.operands[0], stored, register):
            origin = getattr(each, "metadata", {}).get("dbg")
            if origin and origin.node.outputs and origin.node.op not in CONTROL_FLOW:
                return self._record.name_of(origin.node.outputs[0])
        return "t"

    # --- values -----------------------------------------------------------------------

    def _real(self, value: Any) -> Any:
        """A register as it is called here: in a loop, others stand for it."""
        while id(value) in self._same:
            value = self._same[id(value)]
        phi, head = self._results.get(id(value), (None, 0))
        is_behind = phi is not None and head not in self._around[self._here]
        return self._real(phi) if is_behind else value

    def _value(self, value: Any, least: int = 0) -> str:
        """The text of a value, in brackets unless it binds as tightly as asked."""
        return _bracketed(self._text(self._real(value)), least)

    def _values(self, values: Iterable[Any], least: int = 0) -> str:
        return ", ".join([self._value(value, least) for value in values])

    def _text(self, value: Any) -> Text:
        if self._is_counting and isinstance(value, ir.Instruction):
            uses = self._uses.setdefault(id(value), [])
            if not uses and not is_statement(value):
                self._waiting.append(value)
            uses.append(self._here)
            return "", ATOM
        if self._pending.pop(id(value), None) is not None:
            self._reads = True
        if isinstance(value, ir.Instruction):
            self._name(value)
        self._origin |= self._origins.get(id(value), set())
        return self._texts.get(id(value)) or (constant(value), ATOM)

    def _expression(self, each: Any) -> Text:
        """What an instruction computes."""
        self._note(each)
        name, given = each.opname, each.operands
        if self._is_memory(each):
            return self._memory(each), ATOM
        if name == "load":
            return self._load(each), ATOM
        if name == "getelementptr":
            return f"&{self._place(each)}", SIGN
        if name in ("icmp", "fcmp") or name in _INFIX:
            return self._infix(each, getattr(each, "op", name))
        if name == "select":
            test, one = (self._value(x, _CHOICE + 1) for x in given[:2])
            return f"{one} if {test} else {self._value(given[2])}", _CHOICE
        if name == "fneg":
            return f"-{self._value(given[0], SIGN)}", SIGN
        if name == "extractvalue":
            return f"{self._value(given[0], ATOM)}[{each.indices[0]}]", ATOM
        if name == "bitcast":
            return f"view({self._value(given[0])}, {_type(each.type)})", ATOM
        if name == "call":
            name, given = called(each.callee), each.args
            if name in blas.symbols().values():
                return self._product(given), ATOM
        elif name in _CASTS:
            name = _type(each.type)
        elif name == "shufflevector" and (one := _repeated(each)) is not None:
            name, given = f"repeat{each.type.count}", [one]
        return f"{name}({self._values(given)})", ATOM

    def _note(self, each: Any) -> None:
        """The line that is written is of that of the instruction's node, too."""
        origin = each.metadata.get("dbg")
        if origin and origin.node.location:
            place = origin.node.location[0], origin.node.location[1]
            self._origin.add(self.places.setdefault(place, len(self.places)))

    def _product(self, given: Sequence[Any]) -> str:
        """A product of matrices by BLAS: see `blas.call_product`."""
        flips = [".T" if each.constant == blas.FLIPPED else "" for each in given[1:3]]
        x, y, into = (self._value(given[place]) for place in (7, 9, 12))
        adds = "+" if given[11].constant else ""
        return f"matmul({x}{flips[0]}, {y}{flips[1]}) {adds}-> {into}"

    def _is_memory(self, each: Any) -> bool:
        is_array = id(each) in self._record.arrays and each.opname != "load"
        return is_array or bool(each.opname == "alloca")

    def _memory(self, each: Any) -> str:
        """New memory: of an array, or of a number."""
        kind = "stack" if each.opname == "alloca" else "empty"
        if id(each) in self._record.arrays:
            array = self._record.arrays[id(each)]
            return f"{kind}({array.dtype.name}[{self._dims(array.shape)}])"
        count = f"[{self._values(each.operands)}]" if each.operands else ""
        return f"{kind}({_type(each.allocated_type)}{count})"

    def _dims(self, shape: Shape) -> str:
        return self._values(number(d) if isinstance(d, int) else d for d in shape)

    def _infix(self, each: Any, op: str) -> Text:
        one, other = each.operands
        op = f"{op} i1" if each.type == BIT and f"{op} i1" in _INFIX else op
        first, known = (getattr(value, "constant", None) for value in (one, other))
        if op == "xor i1" and known == -1:
            return self._negated(one)
        if op == "xor" and known == -1:
            return f"~{self._value(one, SIGN)}", SIGN
        if op == "sub" and first == 0:
            return f"-{self._value(other, SIGN)}", SIGN
        if op == "ne" and known == 0 and self._is_bool(one):
            return self._text(self._real(one))
        if op == "uno" and one is other:
            return f"isnan({self._value(one)})", ATOM
        is_natural = each.opname == "icmp" and isinstance(known, int) and known > 0
        if op == "ult" and is_natural:
            return f"0 <= {self._value(one, _SUM)} < {known}", _COMPARED
        if op not in _INFIX:
            return f"{op}({self._values((one, other))})", ATOM
        sign, (strength, *least) = _INFIX[op]
        texts = [self._text(self._real(value)) for value in (one, other)]
        (left, _), (right, _) = texts
        if op == "mul" and "0" in (left, right):
            return "0", ATOM
        neutral = _NEUTRAL.get(op)
        if right == neutral or (left == neutral and op != "sub"):
            return texts[right != neutral]
        return f" {sign} ".join(map(_bracketed, texts, least)), strength

    def _negated(self, condition: Any) -> Text:
        real, text = self._real(condition), self._value(condition, _NOT)
        is_whole_number = getattr(real, "opname", "") == "icmp"
        if is_whole_number and real.op in _OPPOSITE and not text.isidentifier():
            return self._infix(real, _OPPOSITE[real.op])
        if text.startswith("not "):
            return text.removeprefix("not "), _COMPARED
        return f"not {text}", _NOT

    def _is_bool(self, each: Any) -> bool:
        """Whether an instruction reads or writes a byte of an array of bools."""
        is_access = getattr(each, "opname", "") in ("load", "store")
        pointer = each.operands[-1] if is_access else None
        buffer, _ = self._record.accesses.get(id(pointer), (None, None))
        return buffer is not None and buffer.dtype is dtypes.bool

    # --- memory -----------------------------------------------------------------------

    def _place(self, pointer: Any) -> str:
        """What lies where a pointer points to."""
        pointer = self._real(pointer)
        if id(pointer) in self._record.accesses:
            return self._element(*self._record.accesses[id(pointer)])
        if isinstance(pointer, GEPInstr) and id(pointer) not in self._record.arrays:
            base = self._real(pointer.pointer)
            if id(base) in self._slot_args:
                place: int = pointer.indices[0].constant
                return self._slots[place]
            return self._beyond(pointer, base)
        text = self._value(pointer)
        return text.removeprefix("&") if is_cell(pointer) else f"{text}[0]"

    def _element(self, buffer: Buffer, index: Index) -> str:
        is_row = id(self._real(buffer.pointer)) in self._record.accesses
        base, shape = (
            self._value(buffer.pointer, SIGN if is_row else ATOM),
            buffer.shape,
        )
        own = self._record.buffers[id(buffer.pointer)].shape
        if not shape and not own:
            return self._value(buffer.pointer).removeprefix("&")
        if index.flat is not None:
            flat = ".flat" if len(own) > 1 else ""
            return f"{base}{flat}[{self._value(index.flat)}]".removeprefix("&")
        assert index.axes is not None
        if base.startswith("&"):
            return f"{base[1:-1]}, {self._values(index.axes)}]"
        if not same_shape(own, shape):
            base = f"{base}.reshape({self._dims(shape)})"
        return f"{base}[{self._values(index.axes)}]"

    def _beyond(self, pointer: Any, base: Any) -> str:
        """What lies some elements behind another pointer."""
        text, places = self._value(base, SIGN), self._values(pointer.indices, _SUM)
        own, array = pointer.source_etype, self._record.buffers.get(id(base))
        known = in_memory(array.dtype) if array else getattr(base, "source_etype", own)
        if known == own and re.match(r"&.*\]$", text):
            return f"{text[1:-1]} + {places}]"
        text = text if known == own else f"view({text}, {_type(own)})"
        return f"{text}[{places}]"

    def _load(self, each: Any) -> str:
        self._reads = True
        place = self._place(each.operands[0])
        is_vector = isinstance(each.type, ir.VectorType)
        return f"load{each.type.count}(&{place})" if is_vector else place

    def _store(self, each: Any) -> str:
        self._note(each)
        value, pointer = each.operands
        place = self._place(pointer)
        if self._is_bool(each) and getattr(value, "opname", "") == "zext":
            (value,) = value.operands
        if isinstance(value.type, ir.VectorType):
            return f"store{value.type.count}(&{place}, {self._value(value)})"
        return f"{place} = {self._value(value)}"


def _bracketed(text: Text, least: int) -> str:
    return f"({text[0]})" if text[1] < least else text[0]


def called(function: Any) -> str:
    """What a function is called: of ours, or of LLVM, without the type of numbers."""
    name = str(function.name)
    if name.startswith("maths."):
        is_double = function.function_type.return_type == F64
        return name[6:] if is_double else name[6:-1]
    if name.startswith("llvm."):
        name = re.sub(r"(\.[vfipx\d]*\d+)+$", "", name[5:]).replace(".", "_")
    return _CALLED.get(name, name)


def is_cell(pointer: Any) -> bool:
    """Whether one number lies there."""
    is_one = isinstance(pointer, AllocaInstr) and not pointer.operands
    return is_one and not isinstance(pointer.allocated_type, ir.ArrayType)


def is_statement(each: Any) -> bool:
    """Whether an instruction does more than to compute a number of others."""
    if each.opname != "call":
        return each.opname not in _PURE
    types = [value.type for value in (each, *each.args)]
    is_plain = not any(isinstance(typ, (ir.PointerType, ir.VoidType)) for typ in types)
    return not (is_plain and each.args)


def _repeated(shuffle: Any) -> Any:
    """The number that all numbers of a vector are."""
    first, _, mask = shuffle.operands
    is_first = all(each.constant == 0 for each in mask.constant)
    is_single = getattr(first, "opname", "") == "insertelement"
    return first.operands[1] if is_first and is_single else None


def _type(typ: Any) -> str:
    text = re.sub(r"\bi1\b", "bool", re.sub(r"\bfloat\b", "float32", str(typ)))
    text = re.sub(r"\bi(\d+)", r"int\1", text.replace("double", "float64"))
    return re.sub(r"[\[<](\d+) x (\w+)[\]>]", r"\2[\1]", text.replace("ptr", "pointer"))


def constant(value: Any) -> str:
    """The text of what is known, or the name of a function."""
    if not isinstance(value, ir.Constant):
        return str(getattr(value, "name", value))
    known = 0 if value.constant is None else value.constant
    if isinstance(known, (list, tuple)):
        texts = list(map(constant, known))
        return f"[{texts[0]}, ...]" if len(set(texts)) == 1 else f"[{', '.join(texts)}]"
    if known is ir.Undefined:
        return "undefined"
    if value.type == BIT:
        return str(bool(known))
    return str(np.float32(known) if isinstance(value.type, ir.FloatType) else known)
