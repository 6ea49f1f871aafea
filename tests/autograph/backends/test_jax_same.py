"""Programs under `jax.jit`: the same as in Python, or refused at the line."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import math
import operator
import sys
from typing import Any, NamedTuple

import pytest

np = pytest.importorskip("numpy")
jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
checkify = pytest.importorskip("jax.experimental.checkify")

import autograph  # noqa: E402
import autograph.backends.jax as backend  # noqa: E402
from autograph import StagingError  # noqa: E402

PARAMS = {"w": np.zeros(3, "float32"), "b": np.float32(0)}
SAME: list[Any] = []
REFUSED: list[Any] = []


def same(*args: Any) -> Any:
    """Mark a program that gives the same under JAX."""
    return lambda f: SAME.append(pytest.param(f, args, id=f.__name__)) or f


def refused(code: str, *args: Any) -> Any:
    """Mark a program that is refused with a code."""
    return lambda f: REFUSED.append(pytest.param(f, args, code, id=f.__name__)) or f


def plain(value: Any) -> Any:
    return jax.tree.map(np.asarray, value)


# --- what training loops do with their parameters -------------------------------------


def step(params, x):
    return jax.tree.map(lambda p: p + x, params)


@same(PARAMS, 0.5)
def best_of_a_known_number(params, x):
    best, best_loss = params, jnp.inf
    for i in range(4):
        params = step(params, x)
        loss = jnp.sum((params["w"] - 1) ** 2)
        if loss < best_loss:
            best, best_loss = params, loss
    return best, best_loss


@same(PARAMS, 5)
def best_of_a_traced_number(params, n):
    best, best_loss = params, jnp.inf
    for i in range(n):
        params = step(params, 0.5)
        loss = jnp.sum((params["w"] - 1) ** 2)
        if loss < best_loss:
            best, best_loss = params, loss
    return best


@same(PARAMS, 2.0)
def original_or_new(params, s):
    original = params
    params = {k: v + s for k, v in params.items()}
    if s > 3:
        params = original
    return params


@same([PARAMS], 3.0)
def updates_applied_in_a_branch(models, t):
    m = models[0]
    if t > 2:
        m = step(m, t)
    return m


@same(PARAMS, 2.0)
def losses_beside_the_best(params, x):
    losses, layers = [], [(params["w"], params["b"])]
    best = layers
    for i in range(3):
        layers = [(w + x, b) for w, b in layers]
        losses.append(layers[0][0].sum())
        if losses[-1] > 10:
            best = layers
    return best, losses


class Optimizer:
    def update(self, grads, state):
        return step(grads, -0.1), state


@same(PARAMS, 1.0)
def update_of_an_optimizer(params, t):
    optimizer, best = Optimizer(), params
    for i in range(3):
        updates, _ = optimizer.update(params, None)
        params = jax.tree.map(lambda p, u: p + u, params, updates)
        if params["b"] < -0.25 * t:
            best = params
    return best


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Model:
    w: Any
    b: Any


@same(np.ones(2, "float32"), 1.0)
def dataclasses_chosen(w, t):
    best, other = Model(w, w * 2), Model(w + 1, w)
    if t > 0:
        best = other
    return best.w, best.b


class State(NamedTuple):
    params: Any
    step: int


@same(PARAMS, 3)
def named_tuples(params, n):
    s = State(params, 0)
    while s.step < n:
        s = State(step(s.params, 1.0), s.step + 1)
    return s


@refused("AG210", PARAMS, 1.0)
def copy_changed(params, t):
    other = step(params, 1.0)
    best = params if t > 0 else other
    best["b"] = best["b"] + 5
    return best, params


@refused("AG210", PARAMS, 1.0)
def original_changed(params, t):
    best = step(params, 1.0)
    if t > 0:
        best = params
    params["w"] = params["w"] * 10
    return best


@refused("AG210", PARAMS, 3)
def changed_in_a_loop(params, n):
    best = step(params, 7.0)
    for i in range(n):
        params["w"] = params["w"] + 1
        if params["w"].sum() > 4:
            best = params
    return best


def bump(p):
    p["w"] = p["w"] + 1


@refused("AG210", PARAMS, 3)
def changed_by_a_helper(params, n):
    best = step(params, 1.0)
    if n > 2:
        best = params
    bump(params)
    return best


class Box:
    def bump(self, p):
        p.update(w=p["w"] + 1)


@refused("AG210", PARAMS, 3)
def changed_by_a_method(params, n):
    box, best = Box(), step(params, 1.0)
    if n > 2:
        best = params
    box.bump(params)
    return best


@jax.tree_util.register_pytree_node_class
class Net:
    def __init__(self, w):
        self.w = w

    def tree_flatten(self):
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _, items):
        return cls(*items)


@same(np.ones(2, "float32"), 1.0)
def nodes_chosen(w, t):
    best, other = Net(w), Net(w + 1)
    if t > 0:
        best = other
    return best.w


@refused("AG210", np.ones(2, "float32"), 1.0)
def node_changed(w, t):
    best, other = Net(w), Net(w + 1)
    if t > 0:
        best = other
    other.w = other.w * 10
    return best.w


@refused("AG210", PARAMS, 1.0)
def changed_by_a_bound_method(params, t):
    new = step(params, 1.0)
    x = new if t > 0 else params
    change = x.update
    change(w=params["b"])
    return params, new


@refused("AG210", PARAMS, 1.0)
def changed_by_an_operator(params, t):
    new = step(params, 1.0)
    x = new if t > 0 else params
    operator.setitem(x, "w", params["b"])
    return params, new


@refused("AG210", PARAMS, 3)
def told_apart(params, n):
    best = step(params, 1.0)
    if n > 2:
        best = params
    return 1 if best is params else 0


# --- the order of keys ----------------------------------------------------------------


@same(4)
def values_of_a_loop(n):
    s = {"count": 0, "avg": 0.0}
    for i in range(n):
        s = {"count": s["count"] + 1, "avg": s["avg"] + 0.5}
    count, avg = s.values()
    return count, avg


@same(4)
def values_of_a_branch(n):
    if n > 2:
        s = {"z": 1, "a": 2}
    else:
        s = {"z": 3, "a": 4}
    z, a = s.values()
    return z - a


@same(4)
def values_of_a_defaultdict(n):
    d = collections.defaultdict(int, {"z": n, "a": 1})
    if n > 2:
        d = collections.defaultdict(int, {"z": 2 * n, "a": 2})
    z, a = d.values()
    return z, a


@refused("AG201", 4)
def orders_that_differ(n):
    if n > 2:
        s = {"z": 1, "a": 2}
    else:
        s = {"a": 3, "z": 4}
    return list(s.values())[0]


@refused("AG201", 1)
def order_seen_by_a_loop(n):
    d = {"b": 1, "a": 2}
    if n > 2:
        d = {"a": 5, "b": 7}
    out = []
    for k in d:
        out.append(d[k])
    return out


@same(PARAMS, 1.0)
def order_that_nobody_sees(p, t):
    best = {"w": p["w"] + 1, "b": p["b"]}
    for i in range(3):
        p = step(p, t)
        if i > t:
            best = p
    return best


# --- classes of numbers ---------------------------------------------------------------


@same(3)
def classes_of_a_loop(n):
    k, x = 0, 1.0
    while k < n:
        k, x = k + 1, x * 2
    for i in range(5):
        if i > n:
            break
    of_x = type(x) is float, isinstance(x, int)
    return of_x, isinstance(k, int), type(k) is int, isinstance(i, int)


@same(3.7)
def classes_of_conversions(x):
    n, f = int(x), float(round(x))
    return isinstance(n, int), n, isinstance(f, float), round(x), type(round(x)) is int


@same(3)
def patterns_of_classes(n):
    match n * 2:
        case float():
            return 1
        case int():
            return 2
    return 3


@same(np.ones(3, "float32"))
def classes_of_arrays(x):
    return isinstance(x, float), isinstance(x.sum() > 2, (str, tuple)), type(x) is float


@refused("AG300", 3)
def class_of_a_truth(n):
    return isinstance(n > 2, bool)


# --- what does not fit ----------------------------------------------------------------


@refused("AG216", 3)
def constant_too_large(n):
    x = 0
    if n > 2:
        x = 3**40
    return x


@refused("AG216", 3)
def operand_too_large(n):
    return n + 2**40


@refused("AG216", 1)
def int_too_large_for_its_array(n):
    y = jnp.int8(3)
    if n > 0:
        y = 1000
    return y


@refused("AG206", 1)
def number_rounded_by_its_array(n):
    x = 2.000001
    if n > 2:
        x = jnp.float16(1.5)
    return x


@refused("AG206", 1.5)
def traced_number_rounded(x):
    y = jnp.float16(3)
    if x > 0:
        y = x * 1.0001
    return y


@refused("AG206", 1)
def int_rounded_by_a_float(n):
    y = 0.5
    if n > 0:
        y = 2**24 + 1
    return y


@same(1)
def widths_that_fit(n):
    x, y = jnp.float16(1.5), 0.0
    if n > 0:
        x = jnp.float32(2.000001)
    for i in range(n + 2):
        y = y + jnp.float16(0.5)
    return x, y


# --- items of lists -------------------------------------------------------------------


@same(np.arange(5, dtype="float32"), 4)
def items_in_reach(xs, n):
    weights, total = [1.0, 2.0, 3.0, 4.0, 5.0], 0.0
    for i, x in enumerate(xs):
        total += weights[i] * x
    for k in range(1, 5):
        if xs[k] > 3:
            break
        total += weights[-1 - 0] + weights[k]
    return total, weights[n % 5]


@refused("AG218", 7)
def item_past_the_end(n):
    return [1, 2, 3][n]


@same(5, 1.0)
def functions_in_a_list(n, x):
    return [jnp.sin, lambda v: v * 2, jnp.cos][n % 3](x)


@same(3, 5)
def orders(x, y):
    items = [x, y, 4]
    items.sort(reverse=True)
    pairs = [(x, 1), (y, 2)]
    by_key = sorted(pairs, key=lambda p: -p[0]), max(pairs, key=lambda p: p[0])
    return sorted([y, x, 4]), items, by_key, min([x, y], default=0)


@same(np.asarray([3.0, 1.0, 2.0], "float32"))
def sorted_rows(xs):
    return sorted(xs), sum(range(3)), sum(x for x in xs if x > 1)


@same(1)
def rows_that_are_results(i):
    return [[1, 2], [3, 4]][i % 2]


@same(1, np.ones(2, "float32"))
def dicts_in_a_list(i, x):
    experts = [{"w": jnp.ones(2)}, {"w": jnp.zeros(2)}]
    return experts[i % 2]["w"] @ x


@refused("AG210", 0)
def row_read_after_a_change(i):
    rows = [[1, 2], [3, 4]]
    row = rows[i % 2]
    rows[0][0] = 9
    return row[0]


@refused("AG210", 0)
def dict_read_after_a_change(i):
    rows = [{"a": 1}, {"a": 2}]
    row = rows[i % 2]
    rows[0]["a"] = 9
    return row["a"]


class Showing:
    def __init__(self, n):
        self.n = n

    def __str__(self):
        return f"<{self.n}>"


@refused("AG300", 5)
def object_that_shows_itself(n):
    print(Showing(n))
    return n


@refused("AG310", 5)
def negative_power(n):
    return n**-1


@refused("AG302", np.arange(6), 3)
def slice_of_traced_ends(xs, n):
    return xs[0:n].sum()


@refused("AG302", np.ones((3, 6)), 3)
def slice_among_indexes(xs, n):
    return xs[:, 0:n].sum()


@refused("AG302", 7, 2)
def range_of_a_traced_step(n, k):
    return [i for i in range(0, n, k)]


@refused("AG210", 3)
def list_of_a_traced_length(n):
    return [0] * n


@refused("AG210", 1, 2)
def item_in_a_list_in_a_list(i, j):
    rows = [[1, 2], [3, 4]]
    rows[i][j] = 5
    return rows


@refused("AG313", 3)
def key_of_a_dict(n):
    return {1: 2, 3: 4}[n]


@refused("AG302", 3)
def item_of_a_text(n):
    return "abcdef"[n]


@refused("AG303", 3)
def items_given_to_python(n):
    return dict.fromkeys(range(n))


@refused("AG314", np.zeros((2, 2)))
def row_assigned(xs):
    xs[0][0] = 1.0
    return xs


@refused("AG314", np.ones(2, "float32"), 3)
def array_with_two_names(xs, n):
    ys = xs
    if n > 2:
        ys[0] = 5.0
    return xs, ys


# --- nothing can be missing -----------------------------------------------------------


@same(np.arange(3), 2)
def found_in_a_loop(xs, t):
    for i in range(3):
        if xs[i] == t:
            return i
    return -1


@same(3)
def loop_that_returns(u):
    n = 0
    while True:
        u, n = u * 2, n + 1
        if u > 100:
            return {"u": u, "n": n}


@same(3)
def loop_that_breaks(u):
    while 1:
        u = u * 2
        if u > 100:
            last = u + 1
            break
    return last


@same(3)
def dict_returned_from_a_loop(n):
    for i in range(10):
        if i == n:
            return {"i": i}
    return {"i": -1}


@same(0.5)
def last_index(c):
    z = 0.0
    for n in range(50):
        if abs(z) > 2:
            return n
        z = z * z + c
    return n


@refused("AG209", np.arange(3), 2)
def may_find_nothing(xs, t):
    for i in range(3):
        if xs[i] == t:
            return i


@refused("AG218", 2)
def may_be_unbound(x):
    if x > 3:
        y = 1
    return y


@refused("AG211", 5)
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


# --- functions of libraries -----------------------------------------------------------


@same(2.0)
def functions_of_math(x):
    found = [math.sqrt(x), math.exp(x), math.floor(x * 1.3), math.ceil(x * 1.3)]
    found += [math.log(x), math.log(x, 2), math.hypot(x, 1.0), math.atan2(x, 1.0)]
    return [*found, math.pow(x, 2), math.fabs(-x), math.erf(x), math.isnan(x)]


@same(2.0)
def functions_of_numpy(x):
    return np.sqrt(x), np.maximum(x, 1), np.linalg.norm(np.stack([x, x * 2]))


@refused("AG305", 2.0)
def array_of_numpy(x):
    return np.array(x)


@refused("AG302", 5)
def function_that_has_no_twin(n):
    return math.factorial(n)


# --- the tests ------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def narrow() -> Any:
    """32 bits: other tests may have switched on 64."""
    with jax.enable_x64(False):
        yield


@pytest.mark.parametrize(("function", "args"), SAME)
def test_the_same(function: Any, args: Any) -> None:
    expected = plain(function(*args))
    found = plain(jax.jit(autograph.convert(function))(*args))
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=2e-5), found, expected
    )


@pytest.mark.parametrize(("function", "args", "code"), REFUSED)
def test_refused_at_the_line(function: Any, args: Any, code: str) -> None:
    with pytest.raises(StagingError) as caught:
        jax.jit(autograph.convert(function))(*args)

    place = caught.value.diagnostics[0].location
    assert caught.value.code == code
    assert place is not None
    assert place.filename == __file__
    assert "PyTreeDef" not in str(caught.value)
    assert "why: the result" not in str(caught.value)


def test_64_bits() -> None:
    def program(params, n):
        best, count = jnp.inf, 3**30
        for i in range(n):
            loss = jnp.sum((params - i) ** 2)
            if loss < best:
                best, count = loss, count * 3
        return best, count

    with jax.enable_x64(True):
        args = jnp.zeros(3, jnp.float32), 4
        found = jax.jit(autograph.convert(program))(*args)
        assert found == program(*args)


def test_the_variable_is_named() -> None:
    def program(x):
        kind = "positive" if x > 0 else "negative"
        return kind

    with pytest.raises(StagingError, match="`kind` is 'positive' in one branch"):
        jax.jit(autograph.convert(program))(1.0)


def test_print(capsys: Any) -> None:
    def program(n, xs):
        for i in range(n):
            print(f"{i}: {i * 0.5:.2f}", n, sep="|", end=";\n")
        return xs.sum()

    def branches(n):
        if n > 2:
            text = f"{{{n:>3}}}"
            print("large", "{n}", {"n": n}, n / 4, text)
            print()
        else:
            print("small")

    for function, args in (program, (3, np.float32([0.5]))), (branches, (3,)):
        jax.jit(autograph.convert(function))(*args)
        jax.effects_barrier()
        found = capsys.readouterr().out
        function(*args)

        assert found == capsys.readouterr().out


def test_the_line_of_an_exception() -> None:
    def program(x):
        if x < 0:
            y = -x
            raise ValueError(f"{y} below 0")
        return x

    with pytest.raises(StagingError, match=r"y\} below 0|\{\} below 0") as caught:
        jax.jit(autograph.convert(program))(1.0)

    place = caught.value.diagnostics[0].location
    assert place.lineno == program.__code__.co_firstlineno + 3


def test_domain_errors_of_math_are_those_of_checkify() -> None:
    staged = jax.jit(autograph.convert(lambda x: math.sqrt(x)))
    error, _ = checkify.checkify(staged)(-1.0)

    assert math.isnan(staged(-1.0))
    assert "ValueError: math domain error" in error.get()


def test_traced_bounds_of_mapped_loops() -> None:
    def program(x, n):
        for i in range(n):
            if x > 3:
                break
            x = x + i
        return x

    xs, ns = jnp.arange(4.0), jnp.arange(4)
    found = jax.vmap(autograph.convert(program))(xs, ns)
    assert list(found) == [program(float(x), int(n)) for x, n in zip(xs, ns)]

    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.PartitionSpec("i")
    one = autograph.convert(lambda x, n: program(x[0], n[0])[None])
    staged = jax.shard_map(one, mesh=mesh, in_specs=(rows, rows), out_specs=rows)
    assert list(staged(xs[2:3], ns[2:3])) == [3]


def test_references_of_jax() -> None:
    def program(x):
        r = jax.new_ref(jnp.zeros(3))
        r[0] = 1.0
        if x > 0:
            r[1] = 2.0
        for i in range(3):
            r[i] = r[i] + x
        return r[...]

    assert list(jax.jit(autograph.convert(program))(1.0)) == [2, 3, 1]


def test_classes_in_functions_that_jax_calls_are_not_sure() -> None:
    def program(x):
        return x**2 if isinstance(x, float) else x**3

    with pytest.raises(StagingError) as caught:
        jax.grad(autograph.convert(program))(3.0)
    assert caught.value.code == "AG300"


def test_the_same_function_is_converted_once() -> None:
    def program(x):
        return x if x > 0 else -x

    assert backend.convert(program) is backend.convert(program)
    wrapped = functools.wraps(program)(lambda x: 0)
    assert backend.convert(wrapped) is not backend.convert(program)


@pytest.mark.parametrize(
    "change",
    [
        "chosen = chosen.update(w=x * 100) or chosen",
        "_ = chosen.update(w=x * 100)",
        "(lambda d: d.update(w=x * 100))(chosen)",
        "chosen.__setitem__('w', x * 100)",
        "dict.update(chosen, w=x * 100)",
        "operator.methodcaller('update', w=x * 100)(chosen)",
        "assign(chosen, 'w', x * 100)",
        "import heapq; heapq.heapify([chosen])",
        "return id(chosen) == id(params)",
        "pick({'z': 1}).update(w=x * 100)",
    ],
)
def test_what_may_change_a_chosen_dict_is_refused(
    change: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "changing_params.py").write_text(
        "import operator\nfrom operator import setitem as assign\n\n\n"
        "def f(x):\n"
        "    params, other = {'w': x}, {'w': x + 1}\n\n"
        "    def pick(chosen):\n"
        "        chosen = params if x > 0 else other\n"
        "        return chosen\n\n"
        "    chosen = params if x > 0 else other\n"
        f"    {change}\n"
        "    return params['w']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "changing_params", raising=False)
    program = importlib.import_module("changing_params")

    with pytest.raises(StagingError) as caught:
        jax.jit(autograph.convert(program.f))(3.0)
    assert caught.value.code == "AG210"
