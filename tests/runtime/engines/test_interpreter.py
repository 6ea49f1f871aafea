"""The interpreter calls plain kernels, whose results are those of the fast ones."""

import threading

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.ops.kernels import buffers, threads

IMAGES = np.random.default_rng(0).normal(size=(8, 64, 64, 16)).astype(np.float32)
FILTERS = np.random.default_rng(1).normal(size=(3, 3, 16, 16)).astype(np.float32)


@tf.function
def network(x, filters):
    for _ in tf.range(2):
        x = tf.nn.conv2d(x, filters, 1, "SAME")
        x = tf.nn.depthwise_conv2d(x, filters[..., :1], [1, 1, 1, 1], "SAME")
        x = tf.where(x > 0.5, x, tf.maximum(x, 0.0))
    pooled = tf.nn.max_pool2d(x, 2, 2, "VALID")
    return tf.nn.softmax(tf.reshape(x, [-1, 64])), tf.nn.elu(pooled), tf.math.erf(x)


@pytest.fixture
def traced(monkeypatch):
    monkeypatch.setattr(threads, "CORES", 2)
    monkeypatch.setattr(threads, "_workers", [])
    monkeypatch.setattr(buffers, "_results", [])
    monkeypatch.setattr(buffers, "_spare", {})
    return network.get_concrete_function(IMAGES, FILTERS).graph


def test_it_starts_no_thread_and_uses_no_memory_again(traced, monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("start"))

    interpreter.run(traced, [IMAGES, FILTERS])

    assert (buffers._results, buffers._spare) == ([], {})


def test_fast_kernels_have_the_same_results_to_the_last_bit(traced):
    expected = interpreter.run(traced, [IMAGES, FILTERS])

    found = compile_graph(traced)([IMAGES, FILTERS])

    assert threads._workers
    assert buffers._results
    assert buffers._spare
    assert [x.tobytes() for x in found] == [x.tobytes() for x in expected]


def test_kernels_are_fast_again_after_an_error(traced):
    with pytest.raises(ValueError, match="shorter"):
        interpreter.run(traced, [IMAGES])

    assert not threads.is_plain()
