"""Programs whose control flow a tensor decides, exported by `autograph.backends.torch`.

Each must do what the plain function, or module, does on all of its inputs. `make
torch`, a part of `make matrix`, installs PyTorch; without it these tests are skipped.
"""

from __future__ import annotations

import copy
import importlib.util
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

from autograph.backends.torch import export  # noqa: E402
from autograph.errors import StagingError  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    *map(
        pytest.mark.filterwarnings,
        ("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    ),
]

#: The functions and modules, and their inputs, by name.
PROGRAMS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {}


def program(*inputs: Any) -> Callable[[Any], Any]:
    """A function, or a module's class, with inputs: tensors, or tuples of these."""

    def note(made: Any) -> Any:
        cases = [x if isinstance(x, tuple) else (x,) for x in inputs]
        PROGRAMS[made.__name__] = made, cases
        return made

    return note


def t(*values: Any) -> Any:
    return torch.tensor(values if len(values) != 1 else values[0])


# --- numbers --------------------------------------------------------------------------


@program(t(1), t(6), t(27))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(t(12, 18), t(7, 7), t(5, 0))
def gcd(pair):
    a, b = pair[0], pair[1]
    while b != 0:
        a, b = b, a % b
    return a


@program(t(2.0), t(9.0), t(1e-3))
def newton(x):
    guess = x
    while (guess * guess - x).abs() > 1e-6 * x:
        guess = (guess + x / guess) / 2
    return guess


@program(t(2.0), t(7.0))
def bisection(x):
    low, high = torch.zeros(()), x.clamp(min=1.0)
    for _ in range(40):
        middle = (low + high) / 2
        if middle * middle > x:
            high = middle
        else:
            low = middle
        if high - low < 1e-6:
            break
    return low


@program(t(0), t(1), t(10))
def fibonacci(n):
    a, b, i = 0, 1, 0
    while i < n:
        a, b = b, a + b
        i += 1
    return a


@program(t(2), t(97), t(91))
def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


@program(t(0.3, 0.5), t(-0.1, 0.65), t(2.0, 2.0))
def mandelbrot(c):
    x, y, count = torch.zeros(()), torch.zeros(()), 0
    while x * x + y * y <= 4 and count < 50:
        x, y = x * x - y * y + c[0], 2 * x * y + c[1]
        count += 1
    return count


@program(t(3), t(0))
def to_range(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += i * 2
    return total


# --- branches -------------------------------------------------------------------------


@program(t(-1.0, 2.0), t(3.0, 4.0), t(-3.0, -4.0))
def early_return(x):
    if x.sum() < 0:
        return x * 0
    if x[0] < 0:
        return x - 1
    return x + 1


@program(t(1.0), t(-2.0), t(0.0))
def elif_chain(x):
    if x > 0:
        sign = 1
    elif x < 0:
        sign = -1
    else:
        sign = 0
    return sign * 2


@program(t(1), t(2), t(9))
def matched(n):
    match n:
        case 1:
            return torch.ones(2)
        case 2:
            return torch.zeros(2)
        case _:
            return torch.full((2,), 7.0)


@program(t(1.0, 2.0), t(-1.0, 2.0), t(-5.0, -2.0))
def nested_branches(x):
    if x.sum() > 0:
        y = x * 2
        if x[0] > 0:
            y = y + 1
    else:
        y = x - 1
    return y


@program(t(1.0, 2.0), t(-1.0, 2.0), t(-5.0, 2.0))
def logic(x):
    if (x[0] > 0 and x[1] > 0) or not x.sum() > -1:
        return x * 2
    return x


@program((t(1.0), t(2.0)), (t(-1.0), t(2.0)))
def clipped(x, limit):
    y = limit if x > limit else x
    return y if y > 0 else y * 0.1


@program(t(1.0, 5.0), t(-1.0, -5.0))
def none_until_found(x):
    best = None
    for value in x:
        if value > 0:
            if best is None or value > best:
                best = value
    return best if best is not None else torch.tensor(-1.0)


@program(t(3.0, 1.0), t(1.0, 3.0))
def dict_state(x):
    state = {"low": x[0], "high": x[1]}
    if state["low"] > state["high"]:
        state["low"], state["high"] = state["high"], state["low"]
    return state


# --- loops over tensors ---------------------------------------------------------------


@program((t(1.0, 3.0, 5.0), t(2.0)), (t(1.0, 3.0, 5.0), t(9.0)))
def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x
    return limit * 0 - 1


@program(t(3, 1, 2), t(5, 5, -1), t(-4, 0, 0))
def running_break(xs):
    total = 0
    for x in xs:
        if x < 0:
            break
        total = total + x
    return total


@program(torch.arange(6.0).reshape(3, 2), -torch.ones(3, 2))
def appended(x):
    out = []
    state = torch.zeros(2)
    for row in x:
        if row.sum() > 2:
            state = state + row
        else:
            state = state * 0.5
        out.append(state)
    return torch.stack(out)


@program(t(5, 2, 9, 1), t(1, 2, 3, 4))
def bubble(x):
    x = x.clone()
    for i in range(4):
        for j in range(3 - i):
            if x[j] > x[j + 1]:
                left, right = x[j].clone(), x[j + 1].clone()
                x[j], x[j + 1] = right, left
    return x


@program(t(1.0, 2.0), t(0.01, 0.02))
def doubled_in_place(x):
    x = x.clone()
    while x.sum() < 10:
        x *= 2
        x += 0.5
    return x


@program((torch.tensor([1, 2, 3, 4, 5, 6]), t(4)), (torch.arange(6), t(9)))
def binary_search(xs, wanted):
    low, high = 0, 6
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@program(t([1.0, 2.0], [3.0, -4.0]), t([1.0, -2.0], [3.0, 4.0]))
def nested(x):
    count = 0
    for row in x:
        for value in row:
            while value > 0.5:
                value = value / 2
                count += 1
    return count


@program(t(1.0, -2.0, 3.0), t(-1.0, -2.0, -3.0))
def masks(x):
    mask = x > 0
    if mask.any():
        return torch.where(mask, x, 0.0).sum() / mask.sum()
    return x.abs().max()


@program(t(3), t(1), t(5))
def written_rows(n):
    out = torch.zeros(5, 2)
    i = 0
    while i < n:
        out[i] = i + 1
        out[i, 1] = -1.0
        i += 1
    return out


@program(torch.eye(3), torch.full((3, 3), 0.5))
def power_iteration(a):
    v = torch.ones(3)
    for i in range(100):
        new = a @ v
        new = new / new.norm()
        if (new - v).abs().max() < 1e-6:
            break
        v = new
    return v, i


@program((t(0.1, 0.2), 0.1), (t(3.0, -2.0), 0.1))
def python_step(x, step):
    scale = step
    while (x * scale).abs().max() < 1:
        scale = scale * 2
    return x * scale


@program(t(0), t(1), t(-1))
def items_put(i):
    items = [torch.zeros(2), torch.ones(2)]
    value = torch.full((2,), 7.0)
    items[i] = value
    items[i] = items[i] + value
    items[1] += 1
    for item in items:
        if item.sum() > 2:
            items[0] = items[0] * 2
    return items, max(items[0][0], items[1][0]) + 1


# --- modules --------------------------------------------------------------------------


@program(torch.ones(4), -torch.ones(4))
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if x.sum() > 0:
            return self.one(x)
        return self.two(x).relu()


@program(torch.ones(2, 4), torch.arange(8.0).reshape(2, 4) - 3)
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        out = []
        for token in x:
            choice = self.gate(token).argmax()
            y = token
            for i, expert in enumerate(self.experts):
                if choice == i:
                    y = expert(token)
            out.append(y)
        return torch.stack(out)


@program(t(1), t(3))
class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 8), nn.Linear(8, 5)

    def forward(self, start):
        tokens = torch.zeros(6, dtype=torch.long)
        tokens[0] = start
        token, length = start, 1
        while length < 6 and token != 0:
            token = self.head(self.embedding(token)).argmax()
            tokens[length] = token
            length += 1
        return tokens, length


@program(torch.ones(3), torch.full((3,), 4.0))
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.calls += 1
        if x.sum() > 5:
            self.seen = self.seen + x
        return self.seen * 2, self.calls + 0


@program(torch.ones(3), torch.full((3,), 4.0))
class InPlaceBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        if x.sum() > 5:
            self.seen.add_(x)
        self.seen[0] += 1
        return self.seen * 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.stop = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        return torch.tanh(self.linear(x))

    def is_done(self, x):
        return bool(torch.sigmoid(self.stop(x)) > 0.5)


@program(torch.ones(3), -torch.ones(3), torch.zeros(3))
class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(4))

    def forward(self, x):
        used = 0
        for layer in self.layers:
            x = layer(x)
            used += 1
            if layer.is_done(x):
                break
        return x, used


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) if x.sum() > 0 else x


class Derived(Base):
    def forward(self, x):
        y = super().forward(x)
        return y * 2 if y[0] > 0 else y


class Inherits(Base):
    pass


@program(t(1.0, 2.0), t(-1.0, -2.0), t(0.1, -0.2))
class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Inherits(), nn.ReLU(), Derived(), nn.Linear(2, 2))

    def forward(self, x):
        return self.parts(x)


class Pair:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return self.x if self.x > 0 else -self.x


@program(t(1.0, 2.0), t(-1.0, -2.0))
def properties(x):
    return Pair(x[0]).size + Pair(x[1]).size


@program(torch.ones(5, 3), -torch.ones(5, 3))
class MaskedRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, xs):
        h = torch.zeros(1, 4)
        for x in xs:
            new = self.cell(x[None], h)
            if x.sum() > 0:
                h = new
        return h


# --- numbers that Python asks for -----------------------------------------------------


@program(t(1.5, 3.0), t(9.5, 2.0))
def items(x):
    n = int(x[0])
    largest = x.max().item()
    while largest > 1:
        largest = largest / 2
        n += 1
    return x * n + largest


@program(t(5), t(0))
def numbers_are_copies(n):
    n = n.clone()
    before, is_positive = n.item(), bool(n > 0)
    n += 1
    return before, int(n), is_positive


@program(t(4, 7), t(7, 4))
def is_instance(x):
    n = x.argmax().item()
    if n > 0:
        n = n * 2
    return x + (n if isinstance(n, int) else 0.5)


@program(t(1.0, 2.0), t(5.0, -2.0))
def aliases_stay(x):
    total = torch.zeros(2)
    other = total
    for value in x:
        if value > 0:
            total += value
    return total, other


@program(t(1), t(4))
def numbers_are_rebound(n):
    i = 0
    start = before = i
    while i < n:
        before = i
        i += 1
    return start, before, i


@program(t(7), t(-7), t(4))
def quotients(n):
    k = int(n)
    return divmod(k, 2), divmod(-9, k), divmod(k, -2.5), divmod(k, k)


@program(t(1.0), t(-1.0))
def least_int(x):
    k = 2**62
    if x > 0:
        k = -2 * k
    return k


# --- they do the same -----------------------------------------------------------------


def plain_and_exported(name: str) -> tuple[Any, Any, list[tuple[Any, ...]]]:
    made, cases = PROGRAMS[name]
    torch.manual_seed(0)
    plain = made().eval() if isinstance(made, type) else made
    return plain, export(copy.deepcopy(plain), copy.deepcopy(cases[0])), cases


def check_same(found: Any, expected: Any) -> None:
    ours, theirs = pytree.tree_leaves(found), pytree.tree_leaves(expected)

    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        if isinstance(other, torch.Tensor):
            assert one.dtype == other.dtype
        arrays = torch.as_tensor(one).detach(), torch.as_tensor(other).detach()
        torch.testing.assert_close(*arrays, check_dtype=False)


def check_equal(run: Any, plain: Any, cases: list[tuple[Any, ...]]) -> None:
    """The results, and what becomes of arguments and of buffers, call after call."""
    plain = copy.deepcopy(plain)
    for case in cases:
        ours, theirs = copy.deepcopy(case), copy.deepcopy(case)
        check_same(run(*ours), plain(*theirs))
        check_same(ours, theirs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_exported(name: str) -> None:
    plain, exported, cases = plain_and_exported(name)

    check_equal(exported.module(), plain, cases)


#: Each kind of operator, alone and in another; all are compiled when asked for.
COMPILED = ["collatz", "first_above", "nested_branches", "Greedy", "InPlaceBuffer"]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    if importlib.util.find_spec("torch._inductor") is None or not compiler():
        pytest.skip("Inductor needs a C++ compiler")
    plain, exported, cases = plain_and_exported(name)

    check_equal(torch.compile(exported.module(), fullgraph=True), plain, cases)


def compiler() -> bool:
    import shutil

    return any(map(shutil.which, ("g++", "clang++")))


@pytest.mark.parametrize("name", PROGRAMS)
def test_saved(name: str) -> None:
    plain, exported, cases = plain_and_exported(name)
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)

    check_equal(torch.export.load(file).module(), plain, cases)


@pytest.mark.parametrize("name", ["gcd", "early_return", "Gate", "appended"])
def test_onnx(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime")
    plain, exported, cases = plain_and_exported(name)
    torch.onnx.export(exported, dynamo=True, verbose=False).save(tmp_path / "it.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "it.onnx")
    names = [given.name for given in session.get_inputs()]
    for case in cases:
        found = session.run(None, dict(zip(names, (x.numpy() for x in case))))

        check_same([torch.as_tensor(x) for x in found], plain(*case))


# --- they are refused -----------------------------------------------------------------

REFUSED: dict[str, tuple[str, Any]] = {}


def refused(code: str) -> Callable[[Any], Any]:
    """A function or module, of a tensor of two floats, that is refused with a code."""

    def note(made: Any) -> Any:
        REFUSED[made.__name__] = code, made
        return made

    return note


@refused("AG207")
def two_views(x):
    y = x.clone()
    first = y[0:1]
    if x.sum() > 0:
        y += 1
        first *= 2
    return y


@refused("AG207")
def returned_and_changed(x):
    y = x.clone()
    z = y if x.sum() > 0 else y * 2
    z += 1
    return y, z


@refused("AG207")
def best_is_the_same(x):
    x = x.clone()
    best = x
    while x.sum() < 10:
        if x[0] > best[0] - 5:
            best = x
        x += 1
    return best


@refused("AG207")
def previous(x):
    x = x.clone()
    before = x
    while x.sum() < 10:
        before = x
        x += 1
    return before


@refused("AG207")
def changed_then_replaced(x):
    x = x.clone()
    first = x
    while x.sum() < 10:
        x += 1
        x = x * 2
    return x, first


@refused("AG207")
def rows_changed(x):
    y = x.clone()
    for value in y:
        if value > 0:
            value += 1
    return y


@refused("AG207")
def row_that_the_run_knows(x):
    y = x.clone()
    row = y[x.argmax()]
    row += 1
    return y


@refused("AG207")
def item_changed(x):
    items = [torch.zeros(2), torch.ones(2)]
    item = items[x.argmax()]
    item.add_(5)
    return items, item


@refused("AG207")
def first_of_items_changed(x):
    first = torch.zeros(2)
    items = [first, torch.ones(2)]
    i = x.argmax()
    items[i] = items[i] + 1
    first += 10
    return items


@refused("AG207")
def item_put_and_changed(x):
    items = [torch.zeros(2), torch.ones(2)]
    value = torch.full((2,), 7.0)
    items[x.argmax()] = value
    value += 1
    return items


@refused("AG207")
def item_of_both_changed(x):
    first = torch.zeros(2)
    items = [first, torch.ones(2)]
    items[x.argmax()] = torch.ones(2)
    items[0] += 1
    return items, first


@refused("AG207")
def greatest_changed(x):
    one, other = x[0].clone(), x[1].clone()
    greatest = max(one, other)
    greatest += 1
    return one, other, greatest


@refused("AG207")
def least_of_list_changed(x):
    items = [x[0].clone(), x[1].clone()]
    least = min(items)
    items[0] += 1
    return items, least


@refused("AG207")
def data(x):
    y = x.clone()
    if x[0] > 0:
        y.data.fill_(3)
    return y


@refused("AG207")
def data_assigned(x):
    y = torch.zeros(2)
    if x[0] > 0:
        y.data = x + 1
    return y


@refused("AG207")
def data_set(x):
    y = torch.zeros(2)
    if x[0] > 0:
        y.set_(x + 1)
    return y


@refused("AG216")
def too_large(x):
    k = 2**62
    if x[0] > 0:
        k = k * 2
    return k


@refused("AG216")
def too_small(x):
    k = int(x[0])
    return k + (-(2**63) - 1)


@refused("AG207")
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        if x.sum() > 0:
            self.count += 1
        return x * self.count


@refused("AG218")
def raises(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x


@refused("AG218")
def asserts(x):
    assert x[0] > 0
    return x


@refused("AG209")
def unbound(x):
    if x[0] > 0:
        y = x
    return y


@refused("AG302")
def length(x):
    n = 1
    if x[0] > 0:
        n = 2
    return x[:n].sum()


@refused("AG302")
def prints(x):
    print(x)
    return x


@refused("AG330")
def mapped(x):
    return torch.vmap(lambda value: value * 2 if value > 0 else value)(x)


@refused("AG330")
def differentiated(x):
    return torch.func.grad(lambda value: value.sum() if value[0] > 0 else value[1])(x)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    code, made = REFUSED[name]
    program = made() if isinstance(made, type) else made
    with pytest.raises(StagingError) as caught:
        export(program, (torch.tensor([1.0, 2.0]),))

    assert caught.value.code == code
    assert caught.value.diagnostics[0].location.filename == __file__


def test_an_index_out_of_range_fails_when_the_program_runs() -> None:
    def item(x, i):
        items = [10, 20, 30]
        return x[i], items[i.item()]

    run = export(item, (torch.ones(3), torch.tensor(0))).module()

    check_same(run(torch.ones(3), torch.tensor(-1)), (torch.tensor(1.0), 30))
    for wrong in (3, -4):
        with pytest.raises(Exception, match=r"out of (bounds|range)"):
            run(torch.ones(3), torch.tensor(wrong))


def test_a_dynamic_length_is_refused() -> None:
    def total(x):
        found = 0.0
        for value in x:
            if value > 0:
                found = found + value
        return found

    lengths = ({0: torch.export.Dim.DYNAMIC},)
    with pytest.raises(StagingError) as caught:
        export(total, (torch.ones(4),), dynamic_shapes=lengths)

    assert caught.value.code == "AG304"


def test_results_have_no_gradients() -> None:
    def cubed(x):
        power, i = x, 0
        while i < x.detach():
            power, i = power * x, i + 1
        return power + x

    result = export(cubed, (torch.tensor(2.0),)).module()(
        torch.tensor(2.0, requires_grad=True)
    )

    assert result.item() == 10
    assert not result.requires_grad


def test_the_module_stays_as_it_was() -> None:
    made, cases = PROGRAMS["Counter"]
    module = made()
    before = (
        copy.deepcopy(module.state_dict()),
        type(module).forward,
        dict(vars(module)),
    )
    export(module, cases[0])

    check_same(module.state_dict(), before[0])
    assert type(module).forward is before[1]
    assert vars(module).keys() == before[2].keys()
