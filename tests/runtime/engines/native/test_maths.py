"""Functions of native code: their errors, their special values, their vectors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import runtime as tf
from benchmarks import accuracy
from benchmarks.accuracy import FUNCTIONS, largest_error, native, of_any_size
from runtime.engines.native import machine
from runtime.engines.native.maths import functions

DTYPES = ["float32", "float64"]
BOTH = pytest.mark.parametrize("dtype", DTYPES)
EACH = pytest.mark.parametrize("name", FUNCTIONS)


def special(dtype):
    """Numbers that are unlike others, with their neighbours, of both signs."""
    info = np.finfo(dtype)
    found = [0, info.smallest_subnormal, info.tiny, info.eps, info.max, np.inf]
    found += [0.25, 0.5, np.sqrt(0.5), 1, np.sqrt(2), np.pi / 4, np.pi / 2, np.pi, 2, 3]
    found += [2.0**k for k in range(2, 64, 3)] + [10.0**k for k in range(-30, 31, 6)]
    found += [np.log(float(info.max)), -np.log(float(info.smallest_subnormal))]
    exact = np.array(found, dtype)
    with np.errstate(all="ignore"):
        near = [exact, *(np.nextafter(exact, dtype(end)) for end in (0, np.inf))]
    return np.array([*np.concatenate(near), np.nan], dtype)


def both_signs(x):
    return np.concatenate([x, -x])


@BOTH
@EACH
def test_errors(name, dtype):
    known, random = FUNCTIONS[name], np.random.default_rng(0)
    dtype = np.dtype(dtype)
    x = [
        np.concatenate(
            [
                of_any_size(random, dtype, 3000),
                random.uniform(known.low, known.high, 3000).astype(dtype),
            ]
        )
        for _ in range(known.count)
    ]
    found = largest_error(name, native(name, dtype.name), tuple(x))
    assert found.ulps <= known.limit, found


@BOTH
@EACH
def test_special_values(name, dtype):
    x = both_signs(special(np.dtype(dtype).type))
    pairs = [each.ravel() for each in np.meshgrid(*[x] * FUNCTIONS[name].count)]
    with np.errstate(all="ignore"):
        expected = getattr(tf.math, name)(*map(tf.constant, pairs)).numpy()
    found = native(name, dtype)(*pairs)
    for kind in (np.isnan, np.isinf):
        np.testing.assert_array_equal(kind(found), kind(expected))
    zero = found == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))
    for each in pairs:
        each[~np.isfinite(each)] = 1
    error = largest_error(name, native(name, dtype), tuple(pairs))
    assert error.ulps <= FUNCTIONS[name].limit, error


needs_fma = pytest.mark.skipif(not machine.has_fma(), reason="left to the C library")


@needs_fma
@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_a_loop_of_elements_is_one_of_vectors(name):
    dtype, typ = ("float64", "double") if len(name) == 3 else ("float32", "float")
    text = native(name, dtype).function.llvm_ir()
    assert re.search(rf"load <\d+ x {typ}>", text)
    assert re.search(rf"store <\d+ x {typ}>", text)
    assert "maths." not in text


def test_without_fma_it_is_the_function_of_the_library(monkeypatch):
    monkeypatch.setattr(machine, "has_fma", lambda: False)
    library = native.__wrapped__("tanh", "float32")
    assert "@tanhf(" in library.function.llvm_ir()
    assert library(np.float32([0.5]))[0] == pytest.approx(np.tanh(0.5))


@needs_fma
def test_numbers_alone_are_left_to_the_library_where_that_is_faster():
    def run(x):
        return tf.tanh(x) + tf.pow(x, x)

    made = tf.function(run, jit_compile=True)
    text = made.get_concrete_function(tf.TensorSpec([])).llvm_ir(optimized=False)
    assert '"powf"(' in text
    assert "maths.tanhf" in text
    text = made.get_concrete_function(tf.TensorSpec([5])).llvm_ir(optimized=False)
    assert '"powf"(' not in text
    assert made(tf.constant(0.5)).numpy() == pytest.approx(np.tanh(0.5) + 0.5**0.5)


@BOTH
@pytest.mark.parametrize("exponent", [3, 7, 8, 9, 2.5, -2])
def test_powers_of_few_factors_are_products(exponent, dtype):
    made = tf.function(lambda x: x**exponent, jit_compile=True)
    made = made.get_concrete_function(tf.TensorSpec([None], dtype))
    is_product = exponent in (3, 7, 8)
    assert ("pow" in made.llvm_ir(optimized=False)) is not is_product
    x = of_any_size(np.random.default_rng(0), np.dtype(dtype), 500)
    x = np.concatenate([x, both_signs(special(np.dtype(dtype).type))])
    x = np.concatenate([x, np.linspace(-3, 3, 500, dtype=dtype)])
    found = accuracy.Library(made, tf.constant)(x)
    with np.errstate(all="ignore"):
        expected = np.power(x, np.dtype(dtype).type(exponent))
        errors = accuracy.apart(found, np.power(x.astype(np.longdouble), exponent))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    zero = found == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))
    assert errors.max() <= FUNCTIONS["pow"].limit
