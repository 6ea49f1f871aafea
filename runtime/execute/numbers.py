"""Writing operations on numbers of Python: see `scalars` for which these are."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.execute.precedence import ATOM, filled, marker
from runtime.execute.program import Program
from runtime.execute.scalars import FORMS, SUMS
from runtime.execute.text import Text
from runtime.graph import Node
from runtime.ops.define import code

__all__ = ["bool_operation", "choice", "python_operation", "range_source"]

Written = tuple[str, int]

_BOOLS = {
    "LogicalAnd": "{0} & {1}",
    "LogicalOr": "{0} | {1}",
    "LogicalXor": "{0} ^ {1}",
    "LogicalNot": "not {0}",
}


def python_operation(
    program: Program, node: Node, args: Sequence[Text]
) -> tuple[str, Written]:
    """The form and the source of an operation on Python ints."""
    operands = []
    (output,) = node.outputs
    for tensor, arg in zip(node.inputs, args):
        is_wide = arg.form == "wide" and node.op in SUMS
        operand = program.fit(arg, tensor, "wide" if is_wide else "int")
        operands.append((operand.code, operand.level))
    written = operands[0] if node.op == "Cast" else _filled(FORMS[node.op], operands)
    if output.dtype.is_bool:
        return "bool", written
    if program.scalars.wraps(node):
        return "int", (f"{program.wrap(output.dtype)}({written[0]})", ATOM)
    return program.scalars.form(output) or "int", written


def _filled(source: str, operands: Sequence[tuple[str, int]]) -> Written:
    return filled(source.format(*map(marker, range(len(operands)))), operands)


def bool_operation(node: Node, args: Sequence[Text]) -> Written | None:
    """The source of an operation on bools; None if it is none."""
    source = _BOOLS.get(node.op)
    if source is None or any(tensor.shape.rank != 0 for tensor in node.inputs):
        return None
    return _filled(source, [(arg.code, arg.level) for arg in args])


def choice(program: Program, node: Node, args: Sequence[Text]) -> tuple[str, Written]:
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


def range_source(node: Node, args: Sequence[Text]) -> Written:
    """A ``Range`` of which a loop takes the elements, as a range of Python."""
    texts = [arg.code for arg in args]
    start, limit, delta = (
        code(node.attrs[key], texts) for key in ("start", "limit", "delta")
    )
    bounds = limit if (start, delta) == ("0", "1") else f"{start}, {limit}"
    step = "" if delta == "1" else f", {delta}"
    if not args:
        return f"range({bounds}{step})", ATOM
    first = "0, " if step and bounds == limit else ""
    return f"checked_range({first}{bounds}{step})", ATOM
