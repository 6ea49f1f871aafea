"""Native code as loops: the text, and that it says what the code does."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import llvmlite.ir as ir
import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.native import blas, machine, outlined, threads
from runtime.engines.native.builder import Builder
from runtime.engines.native.executable import Program
from runtime.engines.native.loops import expressions, statements
from runtime.engines.native.loops.record import Record
from runtime.passes.lowering.prepare import prepare
from tests import golden
from tests.runtime.engines.native import loop_text

FILE = Path(__file__).parent / "golden" / "loops.test"

_random = np.random.default_rng(0)


def _floats(*shape: int) -> Any:
    return _random.normal(size=shape).astype("f")


#: Arrays by the names of arguments.
INPUTS: dict[str, Any] = {
    "x": _floats(6),
    "n": np.int32(5),
    "c": np.float32(0.26),
    "m": _floats(20, 6),
    "open": _floats(4, 3),
    "long": np.abs(_floats(1_000_000)),
    "left": _floats(4, 3),
    "right": _floats(3, 5),
    "bias": _floats(5),
    "square": _floats(300, 300),
    "places": np.array([3, 0, 2], np.int32),
    "ints": np.arange(-5, 5, dtype=np.int32),
    "divisors": np.array([3, -2, 5, 7, -1, 2, 1, 3, -4, 9], np.int32),
}


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is written for one processor, and may be shared by threads."""
    if not threads.is_available() or not blas.has_product(tf.float32):
        pytest.skip("code is written otherwise here")
    features = {"fma": True, "avx": True}
    own = machine.processor()
    fixed = machine.Processor(own.name, own.features | features | {"avx512f": False})
    monkeypatch.setattr(machine, "processor", lambda: fixed)


def traced(case: golden.Case) -> tuple[Any, list[Any]]:
    """The function of a case, and arrays for its arguments."""
    filename = f"{case.name}.py"
    lines = case.source.splitlines(keepends=True)
    linecache.cache[filename] = len(case.source), None, lines, filename
    namespace: dict[str, Any] = {
        "tf": tf,
        "state": tf.Variable(np.ones(6, "f"), name="rate"),
    }
    exec(compile(case.source, filename, "exec"), namespace)
    f = namespace["f"]
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    inputs = [INPUTS[name] for name in names]
    specs = [
        tf.TensorSpec([None, None] if name == "open" else array.shape, array.dtype)
        for name, array in zip(names, inputs)
    ]
    # A function that calls itself finds what is traced.
    namespace["f"] = tf.function(f, input_signature=specs, executor="native")
    return namespace["f"].get_concrete_function(), inputs


@golden.parametrize(FILE)
def test_text(case: golden.Case, update_golden: bool) -> None:
    concrete, _ = traced(case)

    case.check(update_golden, out=concrete.loops())


@golden.parametrize(FILE)
def test_results(case: golden.Case) -> None:
    """Native code gives what the interpreter gives, and so does the text."""
    concrete, inputs = traced(case)
    state = [variable.numpy() for variable in concrete.variables]
    expected = interpreter.run(concrete.graph, inputs)
    after = [variable.numpy() for variable in concrete.variables]
    for variable, value in zip(concrete.variables, state):
        variable.assign(value)

    results = tf.nest.flatten(concrete(*map(tf.constant, inputs)))

    assert concrete.executor == "native"
    for found, one in zip(results, expected, strict=True):
        np.testing.assert_allclose(found, one, rtol=2e-5, atol=1e-6)
    for variable, one in zip(concrete.variables, after):
        np.testing.assert_allclose(variable, one, rtol=2e-5)
    text = concrete.loops()
    if loop_text.runs(text):
        wanted = [*expected, *after]
        found = loop_text.run(text, [*inputs, *state], wanted)
        for name, one in zip(found, wanted):
            np.testing.assert_allclose(found[name], one, rtol=1e-3, atol=1e-6)


def test_texts_that_run() -> None:
    """Of the cases above, so that none is passed over."""
    texts = [case.expected["out"] for case in golden.cases(FILE)]
    left_out = [text.split("(")[0] for text in texts if not loop_text.runs(text)]

    assert len(left_out) < 10, left_out


def network(x: Any, w: Any) -> Any:
    """Loops that threads share, tiles, a sort, random numbers, checks, a list."""
    y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")) + tf.random.normal([6])
    steps, sums = 0, []
    while tf.reduce_sum(y) > 1.0:
        y = y / 2.0
        sums.append(tf.reduce_max(y))
        steps += 1
    order = tf.argsort(tf.reshape(y, [-1]))
    assert steps < 50
    return tf.gather(tf.reshape(y, [-1]), order[:steps]), tf.cumsum(y, 1), sums[0]


@pytest.mark.parametrize("long", [outlined.LONG, 1])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("has_more_checks", [False, True])
def test_all_of_the_code_is_in_the_text(
    monkeypatch: pytest.MonkeyPatch, long: int, is_open: bool, has_more_checks: bool
) -> None:
    """Each store, call and check, once, also of loops that are functions."""
    monkeypatch.setattr(outlined, "LONG", long)
    monkeypatch.setattr(Builder, "checks_accesses", has_more_checks)
    written: list[tuple[Any, str]] = []

    def spied(name: str) -> None:
        original = getattr(statements._Program, name)

        def spy(program: Any, each: Any, *rest: Any) -> Any:
            found = original(program, each, *rest)
            text = found if isinstance(found, str) else found[0]
            if not program._is_counting and each.opname in ("store", "call"):
                written.append((each, text))
            return found

        monkeypatch.setattr(statements._Program, name, spy)

    spied("_store")
    spied("_expression")
    batch = None if is_open else 40
    specs = [tf.TensorSpec([batch, 9, 8, 3]), tf.TensorSpec([3, 3, 3, 6])]
    graph = tf.function(network).get_concrete_function(*specs).graph
    module = ir.Module("module")
    record = Record(module)
    Program(module, "run", prepare(graph, holds_state=True), record)
    text = statements.text_of_loops(record)

    code = [f for f in module.functions if f.blocks and f.name.startswith("run")]
    assert any(function.name.startswith("run.loop") for function in code)
    all_code = [x for f in code for block in f.blocks for x in block.instructions]
    expected = [
        each
        for each in all_code
        if (each.opname == "store" and not statements._is_context(each.operands[1]))
        or (expressions.is_statement(each) and each.opname == "call")
    ]
    expected = [each for each in expected if not _is_of_a_loop(each, record)]
    found = [id(each) for each, _ in written if expressions.is_statement(each)]
    assert sorted(found) == sorted(map(id, expected))
    assert all(part in text for _, part in written)
    assert "goto" not in text
    failing = [
        block
        for function in code
        for block in function.blocks
        if block.terminator.opname == "br"
        and any(map(_is_failure, block.terminator.operands[1:]))
        and not any(_is_of_a_loop(each, record) for each in block.instructions)
    ]
    assert len(re.findall(r"^ *check\(", text, re.MULTILINE)) == len(failing) > 5


def _is_failure(block: Any) -> bool:
    """Whether a block only returns that something failed."""
    last = block.terminator
    is_failure = last.opname == "ret" and getattr(last.return_value, "constant", 1) != 0
    return is_failure and block.instructions == [last]


def _is_of_a_loop(each: Any, record: Record) -> bool:
    """Whether a call is that of a loop, which is written in its place."""
    return each.opname == "call" and any(id(x) in record.moved for x in each.operands)


def test_the_code_is_the_same_whether_it_is_recorded() -> None:
    specs = [tf.TensorSpec([4, 9, 8, 3]), tf.TensorSpec([3, 3, 3, 6])]
    graph = tf.function(network).get_concrete_function(*specs).graph
    prepared = prepare(graph, holds_state=True)
    texts = []
    for is_recorded in (False, True):
        module = ir.Module("module")
        Program(module, "run", prepared, Record(module) if is_recorded else None)
        text = machine.text_of(module).replace(", !dbg !node", "")
        texts.append([line.rstrip() for line in text.splitlines()])

    assert texts[0] == texts[1]


def test_what_has_no_form_of_its_own_is_shown_by_its_name_in_llvm() -> None:
    module = ir.Module("module")
    record = Record(module)
    graph = (
        tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([3])).graph
    )
    Program(module, "run", prepare(graph, holds_state=True), record)
    (function, *_), *_ = record.programs
    block = function.blocks[-1]
    write = ir.IRBuilder(block)
    write.position_before(block.terminator)
    slot = write.gep(function.args[0], [ir.IntType(64)(2)], source_etype=ir.IntType(64))
    number = write.load(slot, typ=ir.IntType(64))
    write.store(write.cttz(number, ir.IntType(1)(0)), slot)
    write.atomic_rmw("add", slot, number, "monotonic")

    text = statements.text_of_loops(record)

    assert "out = cttz(out, False)" in text
    assert "atomicrmw(" in text
