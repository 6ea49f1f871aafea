"""Programs whose lengths come from values, or are said by `set_shape`, wrongly, and
calls within calls that have little stack.

``python -m tests.runtime.engines.native.hostile`` runs all of them as native code and
as NumPy source, and prints what differs. A program that reads or writes outside of its
arrays ends the process, so tests run it in one of its own: the last line that was
printed names the program.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator
from itertools import islice, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

import runtime as tf
from runtime.core.graph import record
from runtime.engines.native import executable
from runtime.engines.native.background import Background
from runtime.engines.native.flow import Flow
from runtime.passes.lowering.lower import kind_of

__all__ = ["LENGTHS", "programs"]

#: What lengths and places may turn out to be.
LENGTHS = (3, 0, -1, -(2**63), 2**31, 2**62 + 1, 2**63 - 1)
#: What is said of lengths that are 3.
SAID = (2, 100_000)

_X = np.array([0.5, -1.0, 2.0, -0.25, 3.0, -7.0], np.float32)
_IDS = np.array([0, 2, 1, 0, 2, 1], np.int32)
_ROW = tf.TensorSpec([None], tf.float32)
_PLACES = tf.TensorSpec([None], tf.int32)
_LENGTH = tf.TensorSpec([], tf.int64)
#: So many elements of results are compared.
_FEW = 100
#: Memory that a program may have, in bytes: less than 2**31 numbers need.
MEMORY = 6 << 30


class Program(NamedTuple):
    """A function of vectors, perhaps of lengths, and the calls that are made of it."""

    name: str
    function: Callable[..., Any]
    signature: tuple[Any, ...]
    calls: tuple[tuple[Any, ...], ...]


def _of_one(name: str, function: Callable[..., Any]) -> Program:
    calls = tuple((_X, _IDS, np.int64(n)) for n in LENGTHS)
    return Program(name, function, (_ROW, _PLACES, _LENGTH), calls)


def _of_two(name: str, function: Callable[..., Any]) -> Program:
    pairs = [*product(LENGTHS, (2, 4, -1)), (2, 2**62), (2**32, 2**32), (6, 1)]
    calls = tuple((_X, np.int64(n), np.int64(m)) for n, m in pairs)
    return Program(name, function, (_ROW, _LENGTH, _LENGTH), calls)


def _grown(index: Any) -> Any:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    return array.write(0, 1.0).write(tf.cast(index, tf.int32), 2.0).stack()


def _written(size: Any, index: Any) -> Any:
    array = tf.TensorArray(tf.float32, tf.cast(size, tf.int32), element_shape=[2])
    return array.write(tf.cast(index, tf.int32), tf.ones([2])).stack()


def _of_list(index: Any) -> Any:
    items = [1.0]
    for i in tf.range(4):
        items.append(tf.cast(i, tf.float32))
    items.insert(index, 5.0)
    items[index] = 2.0
    return items[index]


def _extended(x: Any, length: Any) -> Any:
    items = [1.0]
    for i in tf.range(2):
        items.append(tf.cast(i, tf.float32))
    items.extend(x[:length])
    return tf.stack(items)


def _read(x: Any, index: Any) -> Any:
    array = tf.TensorArray(tf.float32, 6, element_shape=[]).unstack(x)
    return array.read(tf.cast(index, tf.int32))


def _popped(index: Any) -> Any:
    items = [1.0]
    for i in tf.range(4):
        items.append(tf.cast(i, tf.float32))
    del items[index]
    return tf.stack(items)


#: Of a vector, places, and a length.
_OF_ONE: dict[str, Callable[..., Any]] = {
    "BroadcastTo": lambda x, ids, n: tf.broadcast_to(x, [n, 6]),
    "BroadcastTo of one": lambda x, ids, n: tf.broadcast_to(x[:1], [n]),
    "ConcatV2": lambda x, ids, n: tf.concat([tf.zeros([n], tf.int8)] * 4, 0),
    "Conv2DBackpropInput": lambda x, ids, n: tf.nn.conv2d_transpose(
        tf.reshape(x, [3, 2, 1, 1]), tf.ones([1, 1, 1, 1]), [n, 2, 1, 1], 1
    ),
    "Conv3DBackpropInputV2": lambda x, ids, n: tf.nn.conv3d_transpose(
        tf.reshape(x, [3, 2, 1, 1, 1]), tf.ones([1, 1, 1, 1, 1]), [n, 2, 1, 1, 1], 1
    ),
    "Cross": lambda x, ids, n: tf.linalg.cross(x[:n], x[:n]),
    "Cumprod": lambda x, ids, n: tf.math.cumprod(tf.zeros([n, 2])),
    "Fill": lambda x, ids, n: tf.fill([n], 3.0),
    "GatherNd": lambda x, ids, n: tf.gather_nd(x, [[n]]),
    "GatherV2": lambda x, ids, n: tf.gather(x, [n, 0]),
    "GatherV2 of one": lambda x, ids, n: tf.gather(x, n),
    "list": lambda x, ids, n: _of_list(n),
    "list, del": lambda x, ids, n: _popped(n),
    "list, extend": lambda x, ids, n: _extended(x, n),
    "MatMul": lambda x, ids, n: tf.matmul(tf.zeros([n, 0]), tf.ones([0, 4])),
    "MatMul of batches": lambda x, ids, n: tf.matmul(
        tf.reshape(x, [n, 2, -1]), tf.reshape(x, [n, -1, 2])
    ),
    "MatrixBandPart": lambda x, ids, n: tf.linalg.band_part(tf.eye(3), n, 0),
    "MirrorPad": lambda x, ids, n: tf.pad(x, tf.ones([n, 2], tf.int32), "REFLECT"),
    "OneHot": lambda x, ids, n: tf.one_hot(ids, tf.cast(n, tf.int32)),
    "PadV2": lambda x, ids, n: tf.pad(x, [[n, 1]]),
    "RandomUniform": lambda x, ids, n: tf.random.stateless_uniform([n], [1, 2]),
    "Range": lambda x, ids, n: tf.range(n),
    "Range, backwards": lambda x, ids, n: tf.range(n, 0, -1),
    "Range of floats": lambda x, ids, n: tf.range(0.0, tf.cast(n, tf.float32)),
    "Repeat": lambda x, ids, n: tf.repeat(x, n),
    "Repeat of four": lambda x, ids, n: tf.repeat(x[:4], n),
    "Repeat, each": lambda x, ids, n: tf.repeat(x, tf.stack([n, 1, 2, 0, 3, 1])),
    "Reshape": lambda x, ids, n: tf.reshape(x, [n, -1]),
    "Reverse": lambda x, ids, n: tf.reverse(x[n:], [0]),
    "Roll": lambda x, ids, n: tf.roll(x, n, 0),
    "SegmentSum": lambda x, ids, n: tf.math.unsorted_segment_sum(x, ids, n),
    "SequenceMask": lambda x, ids, n: tf.sequence_mask(ids, tf.cast(n, tf.int32)),
    "Slice, vectors": lambda x, ids, n: tf.slice(x, ids[:n], ids[:n]),
    "StridedSlice": lambda x, ids, n: x[n:],
    "StridedSlice, end": lambda x, ids, n: x[:n],
    "StridedSlice, steps": lambda x, ids, n: x[n::-2],
    "StridedSlice of one": lambda x, ids, n: x[n],
    "TensorArray, read": lambda x, ids, n: _read(x, n),
    "TensorArray": lambda x, ids, n: _written(n, 1),
    "TensorArray, grown": lambda x, ids, n: _grown(n),
    "TensorArray, place": lambda x, ids, n: _written(3, n),
    "Tile": lambda x, ids, n: tf.tile(x, [n]),
    "Tile, vector": lambda x, ids, n: tf.tile(x, ids[:n]),
    "TopKV2": lambda x, ids, n: tf.math.top_k(x, tf.cast(n, tf.int32))[0],
}

#: Of a vector and two lengths.
_OF_TWO: dict[str, Callable[..., Any]] = {
    "Reshape, two": lambda x, n, m: tf.reshape(x, [n, m]),
    "Reshape, read": lambda x, n, m: tf.reshape(x, [n, m])[n // 2, 0],
    "Reshape, three": lambda x, n, m: tf.reshape(x, [n, m, -1]),
    "Reshape of nothing": lambda x, n, m: tf.reshape(x[:0], [0, n, m]) + 1.0,
    "ScatterNd": lambda x, n, m: tf.scatter_nd([[m]], [1.0], [n]),
    "Repeat, two": lambda x, n, m: tf.repeat(x[:2], tf.stack([n, m])),
    "SplitV": lambda x, n, m: tf.split(x, tf.stack([n, m]))[0],
    "Slice": lambda x, n, m: tf.slice(x, [n], [m]),
    "StridedSlice, two": lambda x, n, m: x[n:m],
    "TensorScatterAdd": lambda x, n, m: tf.tensor_scatter_nd_add(
        x, [[n], [m]], [1.0, 2.0]
    ),
    "TensorScatterUpdate": lambda x, n, m: tf.tensor_scatter_nd_update(
        x, [[n], [m]], [1.0, 2.0]
    ),
    "Zeros": lambda x, n, m: tf.zeros([n, m]),
    "Zeros of all": lambda x, n, m: tf.zeros([n, m, n, 0]) + 1.0,
}


def _after_a_loop(x: Any, n: Any, said: int) -> Any:
    y = x[:0]
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(y, tf.TensorShape([None]))]
        )
        y = tf.concat([y, x[i : i + 1]], 0)
    y.set_shape([said])
    return y + 1.0


def _in_a_branch(x: Any, n: Any, said: int) -> Any:
    if n > 0:
        y = x[:n]
        y.set_shape([said])
    else:
        y = tf.ones([said])
    return y


def _after_a_branch(x: Any, n: Any, said: int) -> Any:
    if n > 1:
        y = x[:n]
    else:
        y = tf.sort(x)[n:]
    y.set_shape([said])
    return y


def _argument(x: Any, n: Any, said: int) -> Any:
    x.set_shape([2 * said])
    return tf.sort(x) + 1.0


#: Of a vector, a length that is 3, and what is said of a shape.
_SAID: dict[str, Callable[[Any, Any, int], Any]] = {
    "set_shape: after a branch": _after_a_branch,
    "set_shape: after a loop": _after_a_loop,
    "set_shape: in a branch": _in_a_branch,
    "set_shape: of an argument": _argument,
}


def _images(x: Any, n: Any) -> Any:
    return tf.reshape(x, [n, 2, 1, 1])


def _of_images(convolve: Any, x: Any, n: Any, space: int) -> Any:
    images = tf.reshape(x, [n, 2, *[1] * space])
    return convolve(images, tf.ones([1] * (space + 2)), [1] * (space + 2), "SAME")


def _depthwise(x: Any, n: Any) -> Any:
    return tf.nn.depthwise_conv2d(
        _images(x, n), tf.ones([1, 1, 1, 2]), [1, 1, 1, 1], "SAME"
    )


def _said(name: str, make: Callable[[Any, Any], Any]) -> None:
    def function(x: Any, n: Any, said: int) -> Any:
        y = make(x, n)
        y.set_shape([said, *y.shape[1:]])
        return y

    _SAID[f"set_shape: {name}"] = function


_said("ArgMax", lambda x, n: tf.argmax(tf.reshape(x, [n, 2]), 1))
_said("ArgSort", lambda x, n: tf.argsort(x[:n]))
_said("BooleanMask", lambda x, n: tf.boolean_mask(x, x > 0.0))
_said("BroadcastTo", lambda x, n: tf.broadcast_to(x[:1], [n]))
_said("ConcatV2", lambda x, n: tf.concat([x[:n], x[:0]], 0))
_said("Cumsum", lambda x, n: tf.cumsum(x[:n]))
_said("elementwise", lambda x, n: tf.sin(x[:n]) + 1.0)
_said("GatherV2", lambda x, n: tf.gather(x, tf.range(n)))
_said("Conv2D", lambda x, n: _of_images(tf.nn.conv2d, x, n, 2))
_said("MatMul", lambda x, n: tf.matmul(tf.reshape(x, [n, 2]), tf.ones([2, 5])))
_said("MatMul of batches", lambda x, n: tf.matmul(_images(x, n), tf.ones([1, 1, 4])))
_said("AvgPool", lambda x, n: tf.nn.avg_pool2d(_images(x, n), 1, 1, "SAME"))
_said("Conv3D", lambda x, n: _of_images(tf.nn.conv3d, x, n, 3))
_said("CumulativeLogsumexp", lambda x, n: tf.math.cumulative_logsumexp(x[:n]))
_said("DepthwiseConv2dNative", lambda x, n: _depthwise(x, n))
_said("RandomShuffle", lambda x, n: tf.random.shuffle(x[:n]))
_said("MaxPool", lambda x, n: tf.nn.max_pool2d(_images(x, n), 1, 1, "SAME"))
_said("PadV2", lambda x, n: tf.pad(x[: n - 1], [[1, 0]]))
_said("RandomUniform", lambda x, n: tf.random.stateless_uniform([n], [1, 2]))
_said("Range", lambda x, n: tf.range(n))
_said("Reshape", lambda x, n: tf.reshape(x, [n, 2]))
_said("ScatterNd", lambda x, n: tf.scatter_nd([[1]], [2.0], [n]))
_said("SelectV2", lambda x, n: tf.where(x[:n] > 0.0, x[:n], 0.0))
_said("Sort", lambda x, n: tf.sort(x[:n]))
_said("StridedSlice", lambda x, n: x[:n])
_said("Sum", lambda x, n: tf.reduce_sum(tf.reshape(x, [n, 2]), 1))
_said("TopKV2", lambda x, n: tf.math.top_k(x, tf.cast(n, tf.int32))[0])
_said("Transpose", lambda x, n: tf.transpose(tf.reshape(x, [2, n])))
_said("Unique", lambda x, n: tf.unique(tf.sign(x[: n - 1]) + x[0])[0])
_said("Where", lambda x, n: tf.where(x > 0.0))
_said("Zeros", lambda x, n: tf.zeros([n]))


def programs() -> Iterator[Program]:
    """All programs."""
    for name, function in _OF_ONE.items():
        yield _of_one(name, function)
    for name, function in _OF_TWO.items():
        yield _of_two(name, function)
    calls = ((_X, np.int64(3)),)
    for (name, function), said in product(_SAID.items(), SAID):

        def of_said(x: Any, n: Any, function: Any = function, said: int = said) -> Any:
            return function(x, n, said)

        yield Program(f"{name}, {said}", of_said, (_ROW, _LENGTH), calls)


# --- runs -----------------------------------------------------------------------------


def _outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The result, or the type of the error."""
    try:
        found = np.asarray(function(*map(tf.constant, arguments)))
    except (tf.errors.OpError, IndexError) as error:  # that of Python's lists
        return type(error).__name__
    except Exception as error:
        return f"{type(error).__name__} without a code: {error}"
    return found.dtype.name, found.shape, list(islice(found.flat, _FEW))


def differences(program: Program) -> Iterator[str]:
    """What differs between native code and NumPy source."""
    ways = [
        tf.function(
            program.function,
            input_signature=program.signature,
            autograph=True,
            executor=executor,
        )
        for executor in ("native", "numpy")
    ]
    try:
        ways[0].get_concrete_function()
    except (tf.errors.OpError, ValueError):
        return  # what is said contradicts what is known
    for arguments in program.calls:
        native, numpy = (_outcome(way, arguments) for way in ways)
        if native != numpy or "without a code" in numpy:
            shown = ", ".join(str(a) for a in arguments if np.ndim(a) == 0)
            yield f"{program.name}({shown}): native {native}, NumPy {numpy}"


# --- stacks ---------------------------------------------------------------------------

#: The stacks of threads, in bytes.
STACKS = (1 << 16, 1 << 18, 1 << 23)
#: How many numbers the frame of a call has.
_WIDE = 60


def _deep(n: Any, *xs: Any) -> Any:
    if n <= 0:
        return tf.add_n(list(xs))
    ys = [x * 0.5 + float(i) for i, x in enumerate(xs)]
    found = _deep(n - 1, *ys)
    for i, y in enumerate(ys):
        found = found * 0.5 + y * tf.cos(found + float(i))
    return found


def _rows(x: Any) -> Any:
    deviation = tf.math.reduce_std(tf.exp(x), -1, keepdims=True)
    return tf.nn.softmax(tf.sin(x) * 2.0, -1) + deviation


def in_threads() -> Iterator[str]:
    """What goes wrong where calls within calls, or large rows, meet small stacks."""
    number = tf.TensorSpec([])
    signature = [tf.TensorSpec([], tf.int32), *[number] * _WIDE]
    deep = tf.function(_deep, input_signature=signature, jit_compile=True)
    rows = tf.function(_rows, jit_compile=True)
    x = tf.constant(np.linspace(0, 1, 80_000, dtype=np.float32).reshape(10, -1))
    given = [tf.constant(900), *[tf.constant(1.0)] * _WIDE]
    expected, of_rows = deep(*given), rows(x)

    def run() -> None:
        try:
            wrong.append(None if deep(*given) == expected else "a deep call differs")
        except RecursionError:
            wrong.append(None)
        if not np.allclose(rows(x), of_rows, rtol=1e-5):
            wrong.append("rows differ")

    for size in STACKS:
        print(f"a stack of {size} bytes", flush=True)
        wrong: list[str | None] = []
        before = threading.stack_size(size)
        thread = threading.Thread(target=run)
        thread.start()
        threading.stack_size(before)
        thread.join()
        yield from [text for text in wrong or ["the thread ended early"] if text]


# --- all ------------------------------------------------------------------------------

#: The families of ops whose lengths, or places, may come from values.
_FAMILIES = {
    "buffer", "contraction", "creation", "gather", "movement", "order", "scan",
    "scatter", "window",
}  # fmt: skip
#: Those that other ops of these stand for, or that take nothing from values.
_WITHOUT = {
    "Bitcast", "ConvolutionBackpropFilter", "Identity", "ListFind", "ListSetRows",
    "StopGradient", "TensorScatterMax", "TensorScatterMin",
}  # fmt: skip


def _without_program(seen: Collection[str]) -> set[str]:
    """The primitives that no program has."""
    names = {name for name in record.names() if kind_of(name) == "primitive"}
    asked = {name for name in names if record.get(name).family in _FAMILIES}
    return asked - _WITHOUT - {*seen}


class _Flow(Flow):
    """Notes of which ops code was written."""

    seen: ClassVar[set[str]] = set()

    def _results(self, node: Any, scope: Any) -> Any:
        self.seen.add(node.op)
        return super()._results(node, scope)


def main() -> int:
    """Run all programs; 1 if one differs."""
    import resource

    executable.Flow = _Flow  # type: ignore[misc]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    Background.is_enabled = False
    wrong = 0
    for program in programs():
        print(program.name, flush=True)
        for text in differences(program):
            wrong += 1
            print("   ", text, flush=True)
    for text in in_threads():
        wrong += 1
        print("   ", text, flush=True)
    missing = _without_program(_Flow.seen)
    if missing:
        print("there is no program of", *sorted(missing))
    print("all were run", flush=True)
    return int(wrong > 0 or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
