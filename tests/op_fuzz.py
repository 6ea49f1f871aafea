"""Random programs about operations, eagerly and by every executor: who differs?

The eager result says what is expected. A program is traced with known shapes, with
open lengths and with an open rank. Each graph is run by the interpreter, as NumPy
source, as native code and by XLA, and where shapes are open with a second set of
arguments, of other shapes.

Integers, bools and what is computed exactly are the same bit for bit. Where floats are
not, the traced graph is run again with errors of rounding in what each op gives: as far
as these move a result, an executor may be off.

``python -m tests.op_fuzz FIRST COUNT`` tries programs by number.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import itertools
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import runtime as tf
from runtime.core.errors import UnimplementedError
from runtime.core.graph import record
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.engines.door import numpy_source
from runtime.passes.lowering.prepare import prepare
from tests.op_programs import Program, function_of, random_program

__all__ = ["WAYS", "Difference", "differences", "ways_of"]

SHAPES = ("static", "open", "any rank")
EXECUTORS = ("interpreter", "numpy", "native", "xla")

#: What is known of the shapes while tracing, and what runs the graph.
Way = tuple[str, str]
WAYS: list[Way] = list(itertools.product(SHAPES, EXECUTORS))

#: What tracing may say where shapes are open.
_UNKNOWN = re.compile(
    "must be known|not known|a known rank|(<unknown>|None).* not differ"
    # What follows a statement that is refused finds an empty list.
    "|tf.stack needs at least one tensor"
)

Run = Callable[[Sequence[Any]], Sequence[Any]]


class Difference(NamedTuple):
    """Where a program gives something else than it gives eagerly."""

    shapes: str
    executor: str
    run: int
    text: str


def differences(program: Program, ways: Iterable[Way] = WAYS) -> Iterator[Difference]:
    """What tracing and the executors make of a program."""
    try:
        function = function_of(program.text)
    except SyntaxError:
        return
    expected = [outcome(lambda r=run: function(*_tensors(r))) for run in program.runs]
    if not all(map(_is_expected, expected)):
        return
    for kind, group in itertools.groupby(ways, lambda way: way[0]):
        runs = range(len(program.runs) if kind != "static" else 1)
        concrete = _traced(function, program, kind)
        for _, executor in group:
            made = concrete
            if not isinstance(concrete, Exception):
                made = outcome(lambda e=executor, c=concrete: compiled(c, e))
            for number in runs:
                inputs = list(program.runs[number])
                found = made
                if not isinstance(made, Exception):
                    found = outcome(lambda m=made, i=inputs: m(i))
                if isinstance(found, Exception) and _is_refusal(found, executor):
                    continue
                text = _difference(found, expected[number], concrete, inputs, executor)
                if text:
                    yield Difference(kind, executor, number, text)


def _is_expected(found: Any) -> bool:
    """Whether a program can be meant to give this."""
    if isinstance(found, Exception):
        return not isinstance(found, (NameError, AttributeError, TypeError))
    return all(array.dtype.kind in "biufc" for array in found)


def _is_refusal(error: Exception, executor: str) -> bool:
    """Whether a program may be refused by this error, whatever eager code gives."""
    if executor == "xla" and isinstance(error, UnimplementedError):
        return True
    if getattr(error, "code", None) == "AG206":
        return True
    return bool(_UNKNOWN.search(str(error)))


def outcome(run: Callable[[], Any]) -> Any:
    """The arrays that a run gives, or its error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = run()
        except Exception as error:
            return error
    if callable(found):
        return found
    return [np.asarray(getattr(x, "_array", x)) for x in nest.flatten(found)]


def _tensors(arrays: Sequence[Any]) -> list[Any]:
    return [tf.constant(array) for array in arrays]


def _traced(f: Any, program: Program, kind: str) -> Any:
    """What is traced for shapes of which so much is known, or why nothing is."""
    specs = []
    for array in program.runs[0]:
        dims: Any = None
        if kind != "any rank":
            dims = array.shape if kind == "static" else [None] * array.ndim
        specs.append(tf.TensorSpec(dims, array.dtype))
    function = tf.function(f, input_signature=specs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function.get_concrete_function()
    except Exception as error:
        return error


def compiled(concrete: Any, executor: str) -> Run:
    """A traced function as an executor runs it, on arrays."""
    graph, pack = concrete.graph, concrete._trace.results.pack
    executable: Any
    if executor == "interpreter":
        return lambda arrays: pack(interpreter.run(graph, arrays))
    if executor == "numpy":
        executable = numpy_source(graph)
    elif executor == "native":
        from runtime.engines.native import compilation, library

        library.load()
        executable = compilation.compile_graph(graph, numpy_source)
    else:
        from runtime.engines.xla import compilation as xla
        from runtime.engines.xla import library as jax

        jax.load()
        executable = xla.compile_graph(graph)
    return lambda arrays: pack(executable(arrays))


# --- comparing ------------------------------------------------------------------------


def _difference(
    found: Any, expected: Any, concrete: Any, inputs: list[Any], executor: str
) -> str:
    """What is wrong in what a run gave; "" if nothing is."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        if _is_same_error(found, expected):
            return ""
        if _is_unused_failure(found, concrete, inputs):
            return ""
        return f"{_told(found)}, not {_told(expected)}"
    envelope: list[Any] | None = None
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"output {place}: {_told(one)}, not {_told(other)}"
        if _same(one, other):
            continue
        if envelope is None:
            envelope = _perturbed(concrete, inputs)
        if executor == "xla" and one.dtype.kind == "c":
            # XLA knows that 1 * x is x, also of infinite complex numbers.
            one = np.where(np.isfinite(other), one, other)
        if not _within(one, other, [each[place] for each in envelope]):
            return f"output {place}: {_told(one)}, not {_told(other)}"
    return ""


def _is_same_error(found: Any, expected: Any) -> bool:
    # What is known while tracing is an error of its own kind.
    return isinstance(expected, Exception) and isinstance(found, type(expected))


def _told(value: Any) -> str:
    if isinstance(value, Exception):
        return (
            f"{type(value).__name__} {str(value).splitlines()[0] if str(value) else ''}"
        )
    if isinstance(value, list):
        return str([_told(part) for part in value])
    return f"{value.dtype}{list(value.shape)} {value.tolist()}"


def _is_unused_failure(found: Any, concrete: Any, inputs: Any) -> bool:
    """Whether eager code fails in what no result of the graph needs."""
    if isinstance(found, Exception) or isinstance(concrete, Exception):
        return False
    graph, pack = (
        prepare(concrete.graph, holds_state=True),
        concrete._trace.results.pack,
    )
    lower = outcome(lambda: pack(interpreter.run(graph, inputs)))
    return not isinstance(lower, Exception)


def _same(one: Any, other: Any) -> bool:
    if one.dtype.kind in "fc":
        return bool(np.array_equal(one, other, equal_nan=True))
    return bool(np.array_equal(one, other))


def _within(found: Any, expected: Any, others: list[Any]) -> bool:
    """Whether a result is as far off as errors of rounding make it."""
    if any(other.shape != expected.shape for other in others):
        return len({other.shape for other in others}) > 1
    if expected.dtype.kind not in "fc":
        unsteady = np.zeros(expected.shape, bool)
        for other in others[1:]:
            unsteady |= other != others[0]
        return bool(((found == expected) | unsteady).all())
    if expected.dtype.kind == "c":
        parts = [(a.real, a.imag) for a in (found, expected, *others)]
        with np.errstate(all="ignore"):
            size = np.abs(expected).astype(np.float64)
        return all(_near(one, other, rest, size) for one, other, *rest in zip(*parts))
    return _near(found, expected, others, 0.0)


def _near(found: Any, expected: Any, others: list[Any], size: Any) -> bool:
    """Whether real numbers are near, beside numbers of the least `size` given."""
    info = np.finfo(expected.dtype)
    one, other, *moved = (a.astype(np.float64) for a in (found, expected, *others))
    with np.errstate(all="ignore"):
        spread = np.zeros(expected.shape)
        unsteady = np.zeros(expected.shape, bool)
        for each in moved[1:]:
            finite = np.isfinite(each) & np.isfinite(moved[0])
            unsteady |= ~finite & ~_equal(each, moved[0])
            spread = np.fmax(spread, np.abs(each - moved[0]))
        size = np.fmax(np.abs(other), size)
        unsteady |= size > 0.5 * float(info.max)
        allowed = 8 * spread + 6 * float(info.eps) * size + float(info.tiny)
        right = _equal(one, other) | (np.abs(one - other) <= allowed) | unsteady
    return bool(right.all())


def _equal(one: Any, other: Any) -> Any:
    return (one == other) | (np.isnan(one) & np.isnan(other))


#: What is computed with errors that grow with the elements.
_SUMS = {"reduction", "contraction", "window", "scan"}
#: What is computed without any, or is no number of the program.
_EXACT = {"movement", "creation", "order", "structure", "check", "state", "buffer"}


def _perturbed(concrete: Any, inputs: list[Any]) -> list[Any]:
    """What the graph gives, and where each op is off by errors of rounding."""
    if isinstance(concrete, Exception):
        return []
    run_interpreted = compiled(concrete, "interpreter")
    run_node = interpreter.run_node
    found = [outcome(lambda: run_interpreted(inputs))]
    for seed in range(4):
        rng = np.random.default_rng(seed)

        def run(node: Any, arrays: Any, name: str, rng: Any = rng) -> Any:
            results = run_node(node, arrays, name)
            op = record.get(node.op)
            if op.family in _EXACT or op.moves:
                return results
            size = 1.0
            bounds = results
            if op.family in _SUMS:
                size = max([1, *(np.size(a) for a in arrays)])
                try:
                    bounds = run_node(node, [*map(_absolute, arrays)], name)
                except Exception:
                    bounds = results
            if isinstance(results, tuple):
                pairs = zip(results, bounds, strict=True)
                return tuple(_moved(r, b, size, rng) for r, b in pairs)
            return _moved(results, bounds, size, rng)

        with mock.patch.object(interpreter, "run_node", run):
            result = outcome(lambda: run_interpreted(inputs))
        found.append(result)
    return [result for result in found if not isinstance(result, Exception)]


def _absolute(array: Any) -> Any:
    return np.abs(array) if np.asarray(array).dtype.kind == "f" else array


def _moved(result: Any, bound: Any, size: float, rng: Any) -> Any:
    array = np.asarray(result)
    if array.dtype.kind not in "fc":
        return result
    info = np.finfo(array.dtype)
    step = 3 * size * float(info.eps) * np.abs(np.asarray(bound)) + float(info.tiny)
    sides = rng.choice([-1, 1], array.shape)
    with np.errstate(all="ignore"):
        moved = array + np.where(np.isfinite(step), step * sides, 0)
    return moved.astype(array.dtype)


# --- printing what differs ------------------------------------------------------------


def listing(program: Program, run: int, shapes: str, executor: str) -> str:
    """A Python program that shows by itself what `program` gives, and what eagerly."""
    arrays = program.runs[run]
    specs = []
    for array in program.runs[0]:
        dims = {"static": list(array.shape), "open": [None] * array.ndim}.get(shapes)
        specs.append(f"tf.TensorSpec({dims}, tf.{array.dtype})")
    values = []
    for array in arrays:
        flat = repr(array.ravel().tolist()).replace("nan", "float('nan')")
        flat = flat.replace("inf", "float('inf')")
        values.append(f"tf.constant({flat}, tf.{array.dtype}, {list(array.shape)})")
    lines = ["import runtime as tf", "from runtime.ops.apply import apply", ""]
    lines += ["", program.text.rstrip(), "", ""]
    lines += [f"specs = [{', '.join(specs)}]", f"values = [{', '.join(values)}]"]
    lines += ["print(f(*values))"]
    call = f"tf.function(f, input_signature=specs, executor={executor!r})(*values)"
    if executor == "interpreter":
        lines.insert(0, "from runtime.engines import interpreter")
        lines += ["graph = tf.function(f, input_signature=specs)"]
        lines[-1] += ".get_concrete_function().graph"
        call = "interpreter.run(graph, [value.numpy() for value in values])"
    return "\n".join([*lines, f"print({call})", ""])


def shrunk(program: Program, differs: Callable[[Program], bool]) -> Program:
    """The program with lines left out and expressions replaced while it `differs`."""
    found = True
    while found:
        found = False
        for text in filter(_ends, _smaller(program.text)):
            candidate = program._replace(text=text)
            if differs(candidate):
                program, found = candidate, True
                break
    return program


def _ends(text: str) -> bool:
    """Whether each ``while`` still counts its steps."""
    counts = re.findall(r"while (\w+) < .*\n *(\w+) = (\w+) \+ 1", text)
    return text.count("while ") == sum(len(set(names)) == 1 for names in counts)


def _smaller(text: str) -> Iterator[str]:
    """Texts with less in them, those with the least first."""
    lines = text.splitlines()
    for start in range(1, len(lines)):
        depth = _depth(lines[start])
        end = start + 1
        while end < len(lines) and _depth(lines[end]) > depth:
            end += 1
        inner = [line[4:] for line in lines[start + 1 : end]]
        yield "\n".join([*lines[:start], *lines[end:], ""])
        if inner:
            yield "\n".join([*lines[:start], *inner, *lines[end:], ""])
    names = re.findall(r"\bv\d+", lines[-1])
    if len(names) > 1:
        for name in names:
            yield "\n".join([*lines[:-1], f"    return [{name}]", ""])
    for place, line in enumerate(lines):
        if found := re.match(r"( *\w+ = )(.+)", line):
            for name in dict.fromkeys(re.findall(r"\b(?:v\d+|[abcn])\b", found[2])):
                if name != found[2]:
                    changed = [*lines[:place], found[1] + name, *lines[place + 1 :], ""]
                    yield "\n".join(changed)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


# --- trying many ----------------------------------------------------------------------


def ways_of(seed: int) -> list[Way]:
    """Ways for a program: compilers take long, and do not take all of them."""
    random = Random(seed)
    found = [(kind, "interpreter") for kind in SHAPES]
    found.append((random.choice(SHAPES), "numpy"))
    if seed % 8 == 0 and find_spec("llvmlite"):
        found.append((random.choice(SHAPES), "native"))
    if seed % 40 == 1 and find_spec("jax"):
        found.append((random.choice(SHAPES), "xla"))
    return sorted(found, key=WAYS.index)


def report(program: Program, found: Difference) -> str:
    """The smallest program that differs likewise, by itself."""
    way = (found.shapes, found.executor)

    def differs(candidate: Program) -> bool:
        others = differences(candidate, [way])
        return any(_cause(other) == _cause(found) for other in others)

    program = shrunk(program, differs)
    again = next(differences(program, [way]), found)
    text = listing(program, again.run, found.shapes, found.executor)
    return f"# {again.shapes}, {again.executor}: {again.text}\n{text}"


def _cause(found: Difference) -> list[str]:
    """What tells one fault from another: the error and its op, or a wrong result."""
    words = found.text.split()
    if words[0] != "output":
        return words[:4]
    return re.findall(r"\b(?:u?int|float|complex|bool)\d*(?=\[)", found.text)[:2]


def main() -> int:
    """Try programs by number."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--executors", default="", help="those to try, in all shapes")
    parser.add_argument("--known", help="what is not to be shown: a pattern")
    options = parser.parse_args()
    known = options.known and re.compile(options.known)
    tally: collections.Counter[str] = collections.Counter()
    chosen = [way for way in WAYS if way[1] in options.executors.split(",")]
    for seed in range(options.first, options.first + options.count):
        faulthandler.dump_traceback_later(_LONGEST, exit=True)
        print(seed, end="\r", file=sys.stderr)
        program = random_program(seed)
        for found in itertools.islice(differences(program, chosen or ways_of(seed)), 1):
            if known and known.search(found.text):
                tally[found.text[:60]] += 1
                continue
            tally[f"{found.shapes}, {found.executor}"] += 1
            print(f"# --- {seed}\n{report(program, found)}", flush=True)
        faulthandler.cancel_dump_traceback_later()
    print(f"# {options.count} programs, {tally.total()} differ: {dict(tally)}")
    return bool(tally)


#: What a program may take, in seconds.
_LONGEST = 120

if __name__ == "__main__":
    faulthandler.enable()
    raise SystemExit(main())
