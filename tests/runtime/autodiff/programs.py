"""Differentiable programs, in plain Python: each takes operations `m` and a vector.

`m` is the tensor library (``runtime``), whose loops and branches are staged, or JAX,
with which they are Python's own.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["PROGRAMS", "TWICE"]

PROGRAMS: dict[str, Callable[..., Any]] = {}
#: Those whose second derivatives are compared, too.
TWICE: set[str] = set()


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS[f.__name__] = f
    return f


def twice(f: Callable[..., Any]) -> Callable[..., Any]:
    TWICE.add(f.__name__)
    return program(f)


# --- branches -------------------------------------------------------------------------


@twice
def branch(m: Any, x: Any) -> Any:
    if m.sum(x) > 0:
        y = m.exp(x) * x
    else:
        y = m.sin(x)
    return m.sum(y)


@program
def other_branch(m: Any, x: Any) -> Any:
    y = x * 2.0
    if m.sum(x) < -100:
        y = m.exp(y) * x
    return m.sum(y * x)


@twice
def branch_without_else(m: Any, x: Any) -> Any:
    y = x
    if y[0] > 0:
        y = y * m.tanh(y)
    return m.sum(y)


@twice
def nested_branches(m: Any, x: Any) -> Any:
    y = m.sin(x)
    if y[0] > 0:
        z = m.exp(y)
        if y[1] > 0.2:
            z = z * y
        else:
            z = z + m.cos(z)
    elif y[2] > 0:
        z = y
    else:
        z = x
    return m.sum(z * x)


@program
def branch_of_one_element(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    if x[0] > x[1]:
        total = total + x[0] * x[1]
    else:
        total = total - x[1] / x[0]
    return total


@program
def early_return(m: Any, x: Any) -> Any:
    y = m.sum(x * x)
    if y > 1:
        return m.sqrt(y)
    return y * 3.0


@program
def many_returns(m: Any, x: Any) -> Any:
    s = m.sum(x)
    if s < -5:
        return s
    if s < 0:
        return s * s
    if s < 1:
        return m.exp(s)
    return m.log(s)


@program
def conditional_expression(m: Any, x: Any) -> Any:
    y = x[0] * x[1] if x[0] > 0 else x[1]
    z = x[2] if y > 100 else m.sin(y)
    return y * z


@program
def huber(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in m.steps(4):
        e = x[i] - 0.3
        if abs(e) < 0.5:
            total = total + 0.5 * e * e
        else:
            total = total + 0.5 * (abs(e) - 0.25)
    return total


@program
def boolean_operators(m: Any, x: Any) -> Any:
    y = m.sum(x)
    if (y > 0 and x[0] > 0) or not x[1] > 0:
        y = y * x[0]
    return y * y


@program
def chained_comparison(m: Any, x: Any) -> Any:
    s = m.sum(x)
    if -10 < s < 10:
        s = m.sin(s) * x[0]
    return s


# --- counted loops --------------------------------------------------------------------


@twice
def repeated(m: Any, x: Any) -> Any:
    for _ in m.steps(5):
        x = m.sin(x) * x + 0.5
    return m.sum(x)


@twice
def power(m: Any, x: Any) -> Any:
    result = m.ones_like(x)
    for _ in m.steps(4):
        result = result * x
    return m.sum(result)


@program
def uses_the_counter(m: Any, x: Any) -> Any:
    total = x * 0.0
    for i in m.steps(6):
        total = total + m.sin(x * m.float(i))
    return m.sum(total)


@program
def range_with_start_and_step(m: Any, x: Any) -> Any:
    total = x[0]
    for i in m.steps(1, 9, 3):
        total = total * x[1] + m.float(i) * x[2]
    return total


@twice
def elements_by_index(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in m.steps(3):
        total = total * 0.5 + x[i] * x[i + 1]
    return total


@program
def over_elements(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for v in x:
        total = m.sin(total + v) * v
    return total


@program
def horner(m: Any, x: Any) -> Any:
    value = x[0] * 0.0
    for i in m.steps(4):
        value = value * x[3] + x[i]
    return value


@program
def cumulative_products(m: Any, x: Any) -> Any:
    product, total = x[0] * 0.0 + 1.0, x[0] * 0.0
    for i in m.steps(4):
        product = product * x[i]
        total = total + product
    return total


@twice
def nested_loops(m: Any, x: Any) -> Any:
    for _ in m.steps(3):
        for _ in m.steps(2):
            x = m.tanh(x) * 1.5 + x * 0.1
        x = x * x + 0.2
    return m.sum(x)


@program
def inner_count_by_outer(m: Any, x: Any) -> Any:
    y = x
    for i in m.steps(4):
        for j in m.steps(i):
            y = m.sin(y) + x * m.float(j)
    return m.sum(y)


@program
def three_loops(m: Any, x: Any) -> Any:
    y = x
    for i in m.steps(2):
        for j in m.steps(3):
            for k in m.steps(2):
                y = m.sin(y * x) + m.float(i + j + k) * 0.1
    return m.sum(y)


@program
def matrix_products(m: Any, x: Any) -> Any:
    a = m.reshape(x, [2, 2])
    b = a
    for _ in m.steps(3):
        b = m.matmul(b, a) * 0.5
    return m.sum(b)


@program
def fibonacci(m: Any, x: Any) -> Any:
    a, b = x[0], x[1]
    for _ in m.steps(7):
        a, b = b, a * 0.5 + b
    return a * b


@program
def unused_results(m: Any, x: Any) -> Any:
    y, z = x, x
    for _ in m.steps(3):
        z = m.exp(z * 0.1)
        y = y * 0.5 + m.sin(y)
    return m.sum(y)


@program
def passed_through(m: Any, x: Any) -> Any:
    y, z = x * 2.0, x * 3.0
    for i in m.steps(3):
        if i > 5:
            z = z * z
        y = y + z
    return m.sum(y * z)


@program
def ints_beside_floats(m: Any, x: Any) -> Any:
    n, flag, y = 0, True, x
    for i in m.steps(5):
        if flag:
            y = y * 1.5
            n = n + 1
        else:
            y = m.sin(y)
        flag = not flag
    return m.sum(y) * m.float(n)


@program
def texts_beside_floats(m: Any, x: Any) -> Any:
    state, y = "up", x
    for _ in m.steps(6):
        if state == "up":
            y = y * 1.3
            if y[0] > 1.5:
                state = "down"
        else:
            y = m.sin(y)
            state = "up"
    return m.sum(y)


# --- loops that end by themselves -----------------------------------------------------


@twice
def while_small(m: Any, x: Any) -> Any:
    y = x
    while m.sum(y * y) < 100:
        y = y * 1.7 + 0.1 * x * y
    return m.sum(y)


@program
def while_never(m: Any, x: Any) -> Any:
    y = x * x
    while m.sum(y) < -1:
        y = m.exp(y)
    return m.sum(y)


@program
def zero_steps(m: Any, x: Any) -> Any:
    y = x * x
    for i in m.steps(m.int(m.sum(y)) * 0):
        y = m.exp(y) * m.float(i)
    return m.sum(y)


@program
def collatz(m: Any, x: Any) -> Any:
    n, y = 7, x
    n = m.int(x[0]) * 0 + 7
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            y = y * 0.9
        else:
            n = 3 * n + 1
            y = y + x * x * 0.1
    return m.sum(y)


@twice
def newton(m: Any, x: Any) -> Any:
    a = abs(x[0]) + 1.0
    y = a
    while abs(y * y - a) > 1e-12:
        y = 0.5 * (y + a / y)
    return y


@program
def newton_with_break(m: Any, x: Any) -> Any:
    a, y = x[0] * x[0] + 2.0, x[1] * 0.0 + 1.0
    for _ in m.steps(50):
        new = y - (y * y * y - a) / (3.0 * y * y)
        if abs(new - y) < 1e-13:
            break
        y = new
    return y


@program
def fixed_point(m: Any, x: Any) -> Any:
    y, change = x[0], x[0] * 0.0 + 1.0
    while change > 1e-13:
        new = m.cos(y * 0.5 + x[1] * 0.1)
        change = abs(new - y)
        y = new
    return y


@twice
def breaks(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in m.steps(10):
        total = total + x[0] * x[1] * m.float(i)
        if total > 2:
            break
        total = total * 1.1
    return total * x[2]


@program
def continues(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in m.steps(8):
        if i % 3 == 1:
            continue
        total = m.sin(total + x[1]) * x[2]
    return total


@program
def while_true(m: Any, x: Any) -> Any:
    y, n = x, 0
    while True:
        y = y * m.exp(-0.1 * y)
        n += 1
        if n > 3 or m.sum(y) < 0:
            break
    return m.sum(y)


@program
def returns_from_a_loop(m: Any, x: Any) -> Any:
    y = x[0]
    for i in m.steps(20):
        y = y * 1.3 + x[1] * 0.1
        if abs(y) > 3:
            return y * m.float(i)
    return y * x[2]


@program
def loop_with_else(m: Any, x: Any) -> Any:
    y = x[0]
    for _ in m.steps(5):
        y = m.sin(y) + x[1]
        if y > 100:
            break
    else:
        y = y * x[2]
    return y


@program
def nested_breaks(m: Any, x: Any) -> Any:
    total = x[0] * 0.0
    for i in m.steps(4):
        for j in m.steps(5):
            total = total + x[0] * x[1] * m.float(i + j)
            if total > 3:
                break
            total = total + m.sin(total)
        total = total * 0.5
    return total * x[3]


@program
def bisection(m: Any, x: Any) -> Any:
    low, high = x[0] * 0.0, x[0] * 0.0 + 3.0
    for _ in m.steps(8):
        middle = (low + high) / 2.0
        if middle * middle < abs(x[0]) + 1.0:
            low = middle + x[1] * 0.001
        else:
            high = middle - x[2] * 0.001
    return low + high


# --- numerics -------------------------------------------------------------------------


@twice
def euler(m: Any, x: Any) -> Any:
    y, v = x[0], x[1]
    for _ in m.steps(20):
        y, v = y + 0.1 * v, v - 0.1 * m.sin(y) * x[2]
    return y * v


@program
def runge_kutta(m: Any, x: Any) -> Any:
    def slope(y: Any) -> Any:
        return m.sin(y) * x[0] - y * x[1]

    y = x
    for _ in m.steps(5):
        a = slope(y)
        b = slope(y + 0.05 * a)
        y = y + 0.1 * b
    return m.sum(y)


@program
def adaptive_steps(m: Any, x: Any) -> Any:
    y, t, h = x, x[0] * 0.0, x[0] * 0.0 + 0.1
    while t < 1.0:
        one = y - h * y * y
        half = y - 0.5 * h * y * y
        two = half - 0.5 * h * half * half
        if m.sum(abs(one - two)) < 0.01:
            y, t = two, t + h
            h = h * 1.2
        else:
            h = h * 0.5
    return m.sum(y)


@program
def logistic_map(m: Any, x: Any) -> Any:
    y = 0.3 + 0.1 * x[0]
    for _ in m.steps(30):
        y = (2.5 + 0.1 * x[1]) * y * (1.0 - y)
    return y


@program
def gradient_descent(m: Any, x: Any) -> Any:
    w = x * 0.0
    for _ in m.steps(10):
        w = w - 0.1 * (2.0 * w - x + m.sin(w))
    return m.sum(w * w)


@program
def momentum(m: Any, x: Any) -> Any:
    w, v = x, x * 0.0
    for _ in m.steps(6):
        v = 0.9 * v - 0.1 * (w * w * w - x)
        w = w + v
    return m.sum(w)


@program
def continued_fraction(m: Any, x: Any) -> Any:
    y = x[0] + 3.0
    for i in m.steps(6):
        y = x[i % 4] + 3.0 + 1.0 / y
    return y


@program
def agm(m: Any, x: Any) -> Any:
    a, b = abs(x[0]) + 1.0, abs(x[1]) + 0.5
    while abs(a - b) > 1e-12:
        a, b = (a + b) / 2.0, m.sqrt(a * b)
    return a


@program
def power_iteration(m: Any, x: Any) -> Any:
    a = m.reshape(x, [2, 2])
    s = m.matmul(a, m.transpose(a)) + 0.1
    v = m.reshape(x[:2], [2, 1])
    for _ in m.steps(6):
        v = m.matmul(s, v)
        v = v / m.sqrt(m.sum(v * v))
    return m.sum(v * m.matmul(s, v))


@program
def softmax_by_hand(m: Any, x: Any) -> Any:
    largest, total = x[0], x[0] * 0.0
    for i in m.steps(4):
        if x[i] > largest:
            largest = x[i]
    for i in m.steps(4):
        total = total + m.exp(x[i] - largest)
    return m.log(total) + largest


@program
def compare_and_swap(m: Any, x: Any) -> Any:
    a, b, c = x[0], x[1], x[2]
    for _ in m.steps(2):
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
    return a + 2.0 * b * b + 3.0 * c * c * c


# --- recurrent networks, arrays -------------------------------------------------------


@twice
def rnn(m: Any, x: Any) -> Any:
    w = m.reshape(x, [2, 2])
    h = x[:2]
    for i in m.steps(4):
        h = m.tanh(m.sum(w * h, 1) + x[i])
    return m.sum(h)


@program
def rnn_with_outputs(m: Any, x: Any) -> Any:
    w, h = m.reshape(x, [2, 2]), x[:2]
    outputs = m.array(4)
    for i in m.steps(4):
        h = m.tanh(m.sum(w * h, 1) + x[i])
        outputs = outputs.write(i, h * x[0])
    return m.sum(outputs.stack() * m.reshape(x, [4, 1]))


@program
def gated(m: Any, x: Any) -> Any:
    h, c = x, x * 0.0
    for _ in m.steps(3):
        f = 1.0 / (1.0 + m.exp(-h))
        c = f * c + (1.0 - f) * m.tanh(h * x)
        h = f * m.tanh(c)
    return m.sum(h)


@twice
def array_of_states(m: Any, x: Any) -> Any:
    states, y = m.array(5), x
    for i in m.steps(5):
        y = m.sin(y) * x
        states = states.write(i, y)
    return m.sum(states.stack() * states.stack())


@program
def array_read_in_a_loop(m: Any, x: Any) -> Any:
    values = m.array(6)
    values = values.write(0, x[0])
    values = values.write(1, x[1])
    for i in m.steps(2, 6):
        values = values.write(i, values.read(i - 1) * values.read(i - 2) + x[2])
    return values.read(5)


@program
def array_written_twice(m: Any, x: Any) -> Any:
    values = m.array(2)
    for i in m.steps(5):
        values = values.write(i % 2, x[i % 4] * m.float(i))
    return m.sum(values.stack() * x[:2])


@program
def growing_array(m: Any, x: Any) -> Any:
    values, y, n = m.growing_array(), x, 0
    while m.sum(y * y) < 50:
        y = y * 1.5 + 0.1
        values = values.write(n, y)
        n = n + 1
    return m.sum(values.stack() * x)


# --- lists ----------------------------------------------------------------------------


@twice
def list_that_grows(m: Any, x: Any) -> Any:
    found, y = [], x
    for _ in m.steps(4):
        y = m.sin(y) * x
        found.append(y)
    return m.sum(m.stack(found) * x)


@program
def list_in_while(m: Any, x: Any) -> Any:
    found, y = [x[0]], x[0]
    while abs(y) < 10:
        y = y * 1.6 + x[1]
        found.append(y * y)
    total = x[0] * 0.0
    for v in found:
        total = total + m.sin(v)
    return total


@program
def list_of_some(m: Any, x: Any) -> Any:
    found = [x[1]]
    for i in m.steps(4):
        if x[i] > 0:
            found.append(x[i] * x[i])
    return m.sum(m.stack(found))


@program
def list_items(m: Any, x: Any) -> Any:
    values = [x[0], x[1]]
    for i in m.steps(6):
        values.append(values[i] * values[-1] + x[2])
    return values[-1] * values[3]


@program
def list_set(m: Any, x: Any) -> Any:
    values = [x[0], x[1], x[2]]
    for i in m.steps(7):
        values[i % 3] = values[(i + 1) % 3] * 0.5 + values[i % 3] * x[3]
    return values[0] * values[1] + values[2]


@program
def stack_machine(m: Any, x: Any) -> Any:
    stack = [x[0], x[1]]
    for i in m.steps(6):
        if i % 3 == 2:
            a = stack.pop()
            b = stack.pop()
            stack.append(a * b)
        else:
            stack.append(m.sin(stack[-1]) + x[i % 4])
    return stack.pop() + stack[0]


@program
def queue(m: Any, x: Any) -> Any:
    waiting = [x[0], x[1], x[2]]
    for _ in m.steps(5):
        first = waiting.pop(0)
        waiting.append(first * waiting[0])
    return waiting[0] + waiting[1] * waiting[2]


@program
def list_insert(m: Any, x: Any) -> Any:
    values = [x[0]]
    for i in m.steps(4):
        values.insert(0, values[0] * x[i] + 1.0)
    return values[0] + values[1] * values[-1]


@program
def list_extend(m: Any, x: Any) -> Any:
    values = [x[0]]
    for i in m.steps(3):
        values.extend([values[-1] * x[1], values[0] + x[i]])
    total = x[0] * 0.0
    for i in m.steps(7):
        total = total + values[i] * m.float(i)
    return total


@program
def list_slice(m: Any, x: Any) -> Any:
    values = [x[0]]
    for i in m.steps(5):
        values.append(values[-1] * x[2] + x[i % 4])
    total = x[0] * 0.0
    for v in values[1:4]:
        total = total + v * v
    return total


@program
def bubble_sort(m: Any, x: Any) -> Any:
    values = [x[0]]
    for i in m.steps(1, 4):
        values.append(x[i])
    for _ in m.steps(3):
        for j in m.steps(3):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    total = x[0] * 0.0
    for i in m.steps(4):
        total = total * 0.7 + values[i] * values[i]
    return total


@program
def list_comprehension(m: Any, x: Any) -> Any:
    squares = [m.sin(v) * x[0] for v in x if v > 0]
    total = x[0]
    for v in squares:
        total = total * 0.5 + v
    return total


@program
def sum_of_generator(m: Any, x: Any) -> Any:
    return sum(m.sin(v) * v for v in x)


@program
def largest(m: Any, x: Any) -> Any:
    return max(x[0] * x[1], x[2], m.sin(x[3])) * x[0]


# --- dicts, records, functions --------------------------------------------------------


@program
def dict_of_sums(m: Any, x: Any) -> Any:
    sums = {"even": x[0] * 0.0, "odd": x[0]}
    for i in m.steps(4):
        if i % 2 == 0:
            sums["even"] += x[i] * x[i]
        else:
            sums["odd"] *= x[i]
    return sums["even"] * sums["odd"]


@program
def dict_with_staged_keys(m: Any, x: Any) -> Any:
    table = {}
    for i in m.steps(6):
        key = i % 3
        table[key] = table.get(key, x[0]) * x[i % 4] + 0.5
    return table[0] * table[1] + table[2]


Pair = namedtuple("Pair", "a b")


@program
def record_chosen(m: Any, x: Any) -> Any:
    one, two = Pair(x[0], m.sin(x)), Pair(x[1] * x[1], x)
    chosen = one if m.sum(x) > 0 else two
    return chosen.a * m.sum(chosen.b)


@dataclass
class Layer:
    scale: Any
    shift: Any

    def __call__(self, x: Any) -> Any:
        return x * self.scale + self.shift


@program
def objects_chosen(m: Any, x: Any) -> Any:
    first, second = Layer(x[0], x[1]), Layer(x[2], x[3] * x[3])
    y = x
    for i in m.steps(4):
        layer = first if i % 2 == 0 else second
        y = m.tanh(layer(y))
    return m.sum(y)


@program
def object_state(m: Any, x: Any) -> Any:
    layer = Layer(x[0], x[1])
    for i in m.steps(4):
        layer.scale = layer.scale * x[i]
        if layer.scale > 0:
            layer.shift = layer.shift + layer.scale
    return m.sum(layer(x))


@program
def recursion(m: Any, x: Any) -> Any:
    def power(y: Any, n: int) -> Any:
        if n == 0:
            return y * 0.0 + 1.0
        return y * power(y, n - 1)

    return m.sum(power(x, 5))


@twice
def recursion_of_a_tensor(m: Any, x: Any) -> Any:
    def power(y: Any, n: Any) -> Any:
        if n == 0:
            return y
        return m.sin(y) * power(y * x, n - 1) + y

    return m.sum(power(x, m.int(m.sum(x) + 3.0)))


@program
def recursion_until_it_is_small(m: Any, x: Any) -> Any:
    def halved(y: Any, z: Any) -> Any:
        if m.sum(y * y) < 0.1:
            return y, z * x
        a, b = halved(y * 0.5, z + m.tanh(y))
        return a + y * b, m.cos(b)

    one, other = halved(x, x * x)
    return m.sum(one * other)


@program
def recursion_of_two(m: Any, x: Any) -> Any:
    def even(y: Any, n: Any) -> Any:
        if n == 0:
            return m.exp(y)
        return odd(y * x, n - 1) * y

    def odd(y: Any, n: Any) -> Any:
        if n == 0:
            return y * y
        total = y
        for v in x:
            total = total * v + even(m.sin(y), n - 1)
        return total

    return m.sum(even(x, m.int(m.sum(x) + 2.0)))


@program
def recursion_over_a_tree(m: Any, x: Any) -> Any:
    def product(low: Any, high: Any) -> Any:
        if high - low < 1:
            return x[low] * x[low]
        middle = (low + high) // 2
        return product(low, middle) * product(middle + 1, high) + m.sin(x[middle])

    return product(m.int(x[0] * 0.0), m.int(x[0] * 0.0 + 3.0))


@program
def closure(m: Any, x: Any) -> Any:
    total = x[0] * 0.0

    def add(v: Any) -> None:
        nonlocal total
        total = total + v * m.sin(total + v)

    for i in m.steps(5):
        if i != 2:
            add(x[i % 4])
    return total


@program
def assertion_in_a_loop(m: Any, x: Any) -> Any:
    y = x
    for _ in m.steps(4):
        y = m.sin(y) * x
        assert m.sum(y) < 1000, "diverges"
    return m.sum(y)


@program
def scan_by_hand(m: Any, x: Any) -> Any:
    carry, results = x[0], []
    for v in x:
        carry = carry * v + m.sin(carry)
        results.append(carry)
    return m.sum(m.stack(results) * x)
