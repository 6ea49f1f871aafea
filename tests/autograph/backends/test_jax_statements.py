"""What JAX does not do by itself: exceptions, missing values, lists, assignments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
checkify = pytest.importorskip("jax.experimental.checkify")

import autograph  # noqa: E402
import autograph.backends.jax as backend  # noqa: E402
from autograph import StagingError  # noqa: E402


def checked(function: Any, *args: Any) -> Any:
    """The message of the check that failed, or the result."""
    staged = checkify.checkify(jax.jit(autograph.convert(function)))
    error, value = staged(*args)
    return (error.get() or "").partition(" (`check` failed)")[0] or value


def refusal(function: Any, *args: Any) -> StagingError:
    with pytest.raises(StagingError) as caught:
        jax.jit(autograph.convert(function))(*args)
    return caught.value


# --- exceptions -----------------------------------------------------------------------


def root(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x**0.5


def asserted(x):
    assert x > 0, "not positive"
    return x


def test_raise_is_a_check() -> None:
    assert checked(root, -4.0) == "ValueError: -4.0 is negative"
    assert checked(root, 4.0) == 2
    assert checked(asserted, -1.0) == "AssertionError: not positive"


def test_exceptions_without_checkify_are_refused_by_jax() -> None:
    error = refusal(root, 4.0)
    assert error.code == "AG218"
    assert "checkify" in str(error)
    assert error.diagnostics[0].location.lineno == root.__code__.co_firstlineno + 2


def test_both_branches_raise() -> None:
    def program(x):
        if x < 0:
            raise ValueError("negative")
        else:
            raise KeyError("positive")

    assert checked(program, -1.0) == "ValueError: negative"
    assert checked(program, 1.0) == "KeyError: 'positive'"


def test_a_handler_around_a_staged_exception() -> None:
    def program(x):
        try:
            if x < 0:
                raise ValueError
            y = 1
        except ValueError:
            y = 2
        return y

    error = refusal(program, -1.0)
    assert error.code == "AG208"
    assert "if x < 0:" in str(error)


def test_handlers_that_are_none_of_the_statement() -> None:
    def program(x):
        try:
            y = 1
        except ValueError:
            y = 2
        finally:
            if x < 0:
                raise ValueError("negative")
        return y

    try:
        assert checked(program, -1.0) == "ValueError: negative"
    except ValueError:
        pytest.fail("the clause around the call is not the program's")


def test_a_handler_within_the_branch_acts() -> None:
    def program(x):
        y = 0
        if x > 0:
            try:
                raise ValueError
            except ValueError:
                y = 1
        return y

    assert jax.jit(autograph.convert(program))(1.0) == 1


# --- values that may be missing -------------------------------------------------------


def test_a_variable_without_a_value() -> None:
    def program(x):
        if x > 0:
            y = x
        return y + 1

    assert checked(program, 1.0) == 2
    assert checked(program, -1.0).startswith("UnboundLocalError: ")
    assert "'y'" in checked(program, -1.0)


def test_a_variable_that_is_read_only_where_it_has_a_value() -> None:
    def program(x, n):
        if x > 0:
            y = x
            known = True
        else:
            known = False
        for i in range(n):
            if i == 0:
                z = x
            else:
                z = z + 1
        if known:
            return y
        return z

    assert checked(program, 5.0, 3) == 5
    assert checked(program, -5.0, 3) == -3
    assert checked(program, -5.0, 0).startswith("UnboundLocalError: ")


def test_none_in_one_branch() -> None:
    def tested(x):
        y = x if x > 0 else None
        if y is not None and y > 2:
            return y
        return 0.0 if y is None else -y

    def returned(x):
        return x if x > 0 else None

    staged = jax.jit(autograph.convert(tested))
    assert [staged(x) for x in (3.0, 1.0, -1.0)] == [3, -1, 0]
    assert refusal(returned, 1.0).code == "AG209"


# --- loops ----------------------------------------------------------------------------


def test_a_range_that_a_tracer_ends_is_one_loop() -> None:
    def program(x):
        total = 0.0
        for i in range(200):
            if total > x:
                break
            total += i
        return total

    converted = autograph.convert(program)
    jaxpr = jax.make_jaxpr(converted)(50.0)

    assert str(jaxpr).count(" scan[") == 1
    assert len(jaxpr.eqns) < 10
    assert jax.jit(converted)(50.0) == program(50.0)
    assert jax.jit(converted)(-1.0) == program(-1.0)
    assert jax.jit(converted)(1e9) == program(1e9)


def test_a_break_before_the_first_staged_round() -> None:
    def program(n):
        i = 0
        while i < 10:
            i += 1
            if i * i > n:
                break
        for j in range(10**9):
            if j > n:
                break
        return i, j

    staged = jax.jit(autograph.convert(program))

    assert [staged(n) for n in (-7, 5, 200)] == [program(n) for n in (-7, 5, 200)]


def test_the_truth_and_length_of_a_range() -> None:
    def program(n):
        return len(range(n)), len(range(3, n, 2)), 1 if range(n) else 0

    staged = jax.jit(autograph.convert(program))

    assert [staged(n) for n in (-2, 0, 6)] == [program(n) for n in (-2, 0, 6)]


def test_branches_run_once() -> None:
    reading, writing = os.pipe()

    def program(x):
        if x > 0:
            os.write(writing, b"a")
            if x > 1:
                os.write(writing, b"b")
                if x > 2:
                    os.write(writing, b"c")
                    x = x + 1
        return x

    jax.jit(autograph.convert(program))(1.0)
    os.close(writing)

    with open(reading, "rb") as runs:
        assert runs.read() == b"abc"


def test_lists_grow_where_the_number_of_rounds_is_known() -> None:
    def program(xs):
        found = []
        for x in xs:
            if x > 1:
                found.append(x)
            else:
                found.append(-x)
        return found

    assert jax.jit(autograph.convert(program))(jnp.arange(4.0)) == [0, -1, 2, 3]


def test_lists_of_changing_length_are_refused() -> None:
    def in_loop(x, n):
        xs = []
        while n > 0:
            xs.append(x)
            n -= 1
        return xs

    def in_branch(x):
        xs = [0.0]
        if x > 0:
            xs.append(x)
        return xs

    assert refusal(in_loop, 1.0, 3).code == "AG210"
    error = refusal(in_branch, 1.0)
    assert error.code == "AG210"
    assert "if x > 0:" in str(error)


def test_kinds_that_cannot_be_chosen_from_are_refused() -> None:
    def shapes(x):
        if x > 0:
            y = jnp.ones(2)
        else:
            y = jnp.ones(3)
        return y

    def texts(x):
        return "positive" if x > 0 else "negative"

    def grows(x):
        y = jnp.ones(2)
        while x > 0:
            y = jnp.concatenate([y, y])
            x = x - 1
        return y

    def chosen(x):
        a, b = [1], [1]
        c = a if x > 0 else b
        return 1 if c is a else 2

    codes = [refusal(f, 1.0).code for f in (shapes, texts, grows, chosen)]
    assert codes == ["AG201", "AG201", "AG202", "AG210"]


# --- items and arrays -----------------------------------------------------------------


def test_items_of_arrays_are_assigned() -> None:
    def program(xs, n):
        same = xs
        ys = jnp.zeros(4)
        for i in range(n):
            if xs[i] > 0:
                ys[i] = xs[i]
                ys[i + 1] += 1
        xs[0] = 9.0
        return ys, xs, same

    ys, xs, same = jax.jit(autograph.convert(program))(jnp.asarray([1.0, -1, 2, 3]), 3)

    assert list(ys) == [1, 1, 2, 1]
    assert list(xs) == list(same) == [9, -1, 2, 3]


def test_arrays_are_assigned_in_converted_code_alone() -> None:
    def rows(xs):
        xs[0][0] = 1.0
        return xs

    with pytest.raises(TypeError, match="immutable"):
        jnp.zeros(3)[0] = 1.0
    assert refusal(rows, jnp.zeros((2, 2))).code == "AG314"


def test_items_of_lists() -> None:
    def program(x, i):
        items = [1.0, 2.0, 3.0]
        pairs = [(1, 2.0), (3, 4.0)]
        rows = [[1, 2], [3, 4]]
        items[i] = x
        return items, items[i - 1], pairs[i], rows[i][i], x in items, max(items)

    found = checked(program, 7.0, 1)

    assert found == ([1, 7, 3], 1, (3, 4.0), 4, True, 7)
    assert refusal(program, 7.0, 1).code == "AG218"
    error, _ = checkify.checkify(jax.jit(autograph.convert(program)))(7.0, 5)
    assert "IndexError: list assignment index out of range" in error.get()


def test_a_list_that_was_chosen_is_not_changed() -> None:
    def program(x, i):
        buckets = [[1.0], [2.0]]
        buckets[i].append(x)
        return buckets

    assert refusal(program, 7.0, 1).code == "AG210"


def test_truth_within_dicts_and_tuples() -> None:
    def program(x):
        d = {"a": x, "b": (1, x)}
        return d == {"b": (1, 2.0), "a": 2.0}, (x, [x]) != (2.0, [2.0]), d == {"a": x}

    staged = jax.jit(autograph.convert(program))

    assert staged(2.0) == (True, False, False)
    assert staged(3.0) == (False, True, False)


def test_texts_are_refused() -> None:
    def program(x):
        return f"{x}" == "1.0"

    assert refusal(program, 1.0).code == "AG300"


# --- state ----------------------------------------------------------------------------


def test_pytrees_and_objects_are_state() -> None:
    class Counter:
        def __init__(self):
            self.count = 0
            self.seen = {"last": 0.0}

        def add(self, x):
            if x > 0:
                self.count += 1
                self.seen["last"] = x

    def program(xs, params):
        counter = Counter()
        for x in xs:
            counter.add(x)
            params = {"w": params["w"] + x, "b": (params["b"][0], x)}
        return counter.count, counter.seen, params

    rows = jnp.asarray([1.0, -2.0, 3.0])
    params = {"w": jnp.ones(2), "b": (1, 0.0)}
    count, seen, after = jax.jit(autograph.convert(program))(rows, params)

    assert (count, seen["last"]) == (2, 3)
    assert list(after["w"]) == [3, 3]
    assert after["b"] == (1, 3)


def test_keys_of_random_numbers_are_state() -> None:
    def program(key, n):
        while n > 0:
            key, _ = jax.random.split(key)
            n -= 1
        return key

    expected = jax.random.key(3)
    for _ in range(2):
        expected, _ = jax.random.split(expected)

    found = jax.jit(autograph.convert(program))(jax.random.key(3), 2)
    assert jax.random.key_data(found).tolist() == jax.random.key_data(expected).tolist()


# --- functions that JAX calls ---------------------------------------------------------


def clipped(x):
    if x > 1:
        return x * 0 + 1
    return x


def scaled(carry, x):
    if x > carry:
        carry = x
    return carry, carry * 2


def test_functions_given_to_jax_are_converted() -> None:
    def program(xs):
        gradients = jax.vmap(jax.grad(clipped))(xs)
        return gradients, jax.lax.scan(scaled, 0.0, xs)

    gradients, (last, doubled) = jax.jit(backend.convert(program))(jnp.arange(3.0))

    assert list(gradients) == [1, 1, 0]
    assert last == 2
    assert list(doubled) == [0, 2, 4]


ALONE = """
import dis, sys
import jax, jax.numpy as jnp, numpy, autograph, autograph.backends.jax
from jax.sharding import Mesh, PartitionSpec as P

@autograph.convert
def program(xs):
    total = 0.0
    rounds = 0
    for x in xs:
        if x > 3:
            total = total + x
        else:
            total = 0
    while total < 5:
        total += 2
        rounds += 1
    return jax.lax.psum(total, "d"), rounds + 0 * xs

mesh = Mesh(numpy.array(jax.devices()), ("d",))
specs = dict(mesh=mesh, in_specs=P("d"), out_specs=(P(), P("d")))
total, rounds = jax.jit(jax.shard_map(program, **specs))(jnp.arange(8.0))
print(float(total), rounds.tolist())

@autograph.convert
def variables(x):
    inside = sys._getframe(0).f_code.co_freevars, sys._getframe(0).f_code.co_cellvars
    if x > 0:
        x = x + len(inside[1])
    return x

print(variables(1), variables(jnp.asarray(1)), jax.jit(variables)(1) > 1)
print(autograph.operators.staging.idle)
"""


def test_in_a_program(tmp_path: Path) -> None:
    """With four devices; and outside of traces, functions run as they were written."""
    script = tmp_path / "program.py"
    script.write_text(ALONE)
    flags = "--xla_force_host_platform_device_count=4"
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    sharded, alone, idle = done.stdout.splitlines() or [done.stderr, "", ""]
    assert sharded == "34.0 [3.0, 3.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0]"
    assert alone == "1 1 True"
    assert idle == "False"
