"""Programs that walk over tensors of texts, in eager code and on every executor."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.engines.numpy_source import executable as numpy_source

WORDS = ["alpha", "beta", "", "g\0", "é"]
#: Graphs that run with NumPy carry their texts through native code, too.
EXECUTORS = ["interpreter", "numpy", "native"]

Texts = Any


def counted(words: Texts) -> Any:
    n = 0
    for w in words:
        if w == "beta":
            n += 1
    return n


def returned_from_a_loop(words: Texts) -> Any:
    for w in words:
        if tf.strings.length(w) == 4:
            return w
    return tf.constant("none")


def found_with_break(words: Texts) -> Any:
    found, place = tf.constant("none"), -1
    for i, w in enumerate(words):
        if tf.strings.regex_full_match(w, "b.*"):
            found, place = w, i
            break
    return found, place


def concatenated(words: Texts) -> Any:
    text = tf.constant("")
    for w in words:
        text = text + w + ","
    return text


def longest(words: Texts) -> Any:
    best = words[0]
    for w in words:
        if tf.strings.length(w) > tf.strings.length(best):
            best = w
    return best


def searched(words: Texts) -> Any:
    i = tf.constant(0)
    while words[i] != "beta":
        i += 1
    return i, tf.strings.upper(words[i])


def written(words: Texts) -> Any:
    found, i = tf.TensorArray(tf.string, 0, dynamic_size=True), 0
    for w in words:
        found = found.write(i, tf.strings.upper(w))
        i += 1
    return found.stack()


def listed(words: Texts) -> Any:
    found = []
    for w in words:
        found.append(w + "!")
    last = found.pop()
    return tf.strings.length(last), found[0] + last, len(found)


def comprehended(words: Texts) -> Any:
    return tf.stack([tf.strings.length(w) for w in words])


def members(words: Texts) -> Any:
    n = 0
    for w in words:
        if w in ["beta", "alpha"]:
            n += 1
    return n, words[1] in words, "q" not in words


def looked_up(words: Texts) -> Any:
    values, n = {"alpha": 10, "beta": 3}, 0
    for w in words[:2]:
        n += values[w]
    return n, tf.strings.length(["x", "yyy"][n - 12])


def numbered(words: Texts) -> Any:
    total = tf.constant(0)
    for w in tf.strings.split("3 4 5"):
        total = total * 10 + tf.strings.to_number(w, tf.int32)
    return tf.strings.as_string(total)


def turned(words: Texts) -> Any:
    text = tf.constant("")
    for character in tf.strings.bytes_split(words[0]):
        text = character + text
    return text


def rolled(words: Texts) -> Any:
    first, last = words[0], words[1]
    for w in words:
        first, last = last, w
    return first, last


def gathered(words: Texts) -> Any:
    hashes = tf.constant(0, tf.int64)
    for i in tf.range(tf.size(words)):
        w = tf.gather(words, i)
        hashes = hashes * 31 + tf.strings.to_hash_bucket_fast(w, 100)
    return hashes


def chosen(words: Texts) -> Any:
    w = words[0] if tf.strings.length(words[1]) > 9 else words[1]
    return tf.strings.join([w, tf.strings.substr(w, -1, 1)])


def none_of_them(words: Texts) -> Any:
    text = tf.constant("x")
    for w in words[:0]:
        text += w
    return text


def paired(words: Texts) -> Any:
    text = tf.constant("")
    for one, other in zip(words, words[1:]):  # noqa: RUF007
        text += one + other
    return text


def mapped(words: Texts) -> Any:
    lengths = tf.map_fn(tf.strings.length, words, fn_output_signature=tf.int32)
    return lengths, tf.map_fn(lambda w: tf.strings.join([w, "?"]), words)


def differentiated(words: Texts) -> Any:
    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = x
        for w in words:
            y = y * x if tf.strings.length(w) > 2 else y + x
    return tape.gradient(y, x)


#: With what TensorFlow gives where it runs them, in eager code at least.
PROGRAMS: dict[Callable[[Texts], Any], Any] = {
    counted: [1],
    returned_from_a_loop: [b"beta"],
    found_with_break: [b"beta", 1],
    concatenated: ["alpha,beta,,g\0,é,".encode()],
    longest: [b"alpha"],
    searched: [1, b"BETA"],
    written: [[b"ALPHA", b"BETA", b"", b"G\0", "é".encode()]],
    listed: [3, "alpha!é!".encode(), 4],
    comprehended: [[5, 4, 0, 2, 2]],
    members: [2, True, True],
    looked_up: [13, 3],
    numbered: [b"345"],
    turned: [b"ahpla"],
    rolled: [b"g\0", "é".encode()],
    gathered: [62206237],
    chosen: [b"betaa"],
    none_of_them: [b"x"],
    paired: ["alphabetabetag\0g\0é".encode()],
    mapped: [[5, 4, 0, 2, 2], [f"{word}?".encode() for word in WORDS]],
    differentiated: [15.0],
}


def values(result: Any) -> list[Any]:
    leaves = nest.flatten(result)
    return [tf.convert_to_tensor(leaf)._array.tolist() for leaf in leaves]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_texts_are_walked_over(program: Callable[[Texts], Any]) -> None:
    words = tf.constant(WORDS)

    assert values(program(words)) == PROGRAMS[program]
    for length in (len(WORDS), None):
        for executor in EXECUTORS:
            spec = tf.TensorSpec([length], tf.string)
            assert values(run(program, spec, executor, words)) == PROGRAMS[program]


def run(program: Callable[[Texts], Any], spec: Any, executor: str, *args: Any) -> Any:
    if executor == "interpreter":
        with mock.patch.object(numpy_source.Executable, "run", interpreted):
            return tf.function(program, input_signature=[spec])(*args)
    jit_compile = executor == "native"
    if jit_compile:
        pytest.importorskip("llvmlite")
    function = tf.function(program, input_signature=[spec], jit_compile=jit_compile)
    return function(*args)


def interpreted(executable: Any, arrays: Any) -> Any:
    graph: Graph = executable.graph
    results = interpreter.run(graph, arrays)
    return results[0] if len(results) == 1 else results


@pytest.mark.parametrize("executor", EXECUTORS)
def test_texts_are_printed(executor: str) -> None:
    stream = io.StringIO()

    def program(words: Texts) -> None:
        for w in words:
            tf.print(w, [w], tf.strings.length(w), output_stream=stream)

    spec = tf.TensorSpec([None], tf.string)
    run(program, spec, executor, tf.constant(["a b", 'q"\n']))

    assert stream.getvalue() == '"a b" ["a b"] 3\n"q\\"\\n" ["q\\"\\n"] 3\n'
