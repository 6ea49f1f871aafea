"""``is`` tells which object a tensor chose, or is refused where a graph cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError

ARGUMENTS = (0, 1)
FIRST, SECOND = [1], [2]


@dataclass(eq=False)
class P:
    x: int


class Pair:
    def __init__(self):
        self.head = P(1)
        self.tail = P(2)
        self.current = self.head


def same(one, other):
    return one is other


# --- right ----------------------------------------------------------------------------


def row_of_a_list(n):
    rows = [[1], [1]]
    t = rows[n]
    return t is rows[0], rows[1] is t, t is not rows[n], rows[n] is rows[1 - n]


def chosen_by_an_expression(n):
    a, b = [1], [1]
    t = a if n > 0 else b
    return t is a, b is t, t is not a, t is not b, t is FIRST


def chosen_by_a_statement(n):
    a, b = {"k": 1}, {"k": 1}
    t = a
    if n > 0:
        t = b
    return t is a, t is b


def in_a_test(n):
    a, b = P(1), P(1)
    t = a if n > 0 else b
    if t is a:
        return 5
    return 6


def in_a_while(n):
    g = [P(1), P(2), P(3)]
    s, t = 0, g[0]
    while t is not g[n]:
        s += 1
        t = g[s]
    return s


def in_a_chain_and_logic(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    return 0 if t is a is not b else 1, t is a or t is b, not (t is a and n > 0)


def in_a_lambda_and_a_comprehension(n):
    g = [P(1), P(2)]
    t = g[n]
    return (lambda p: p is t)(g[0]), [p is t for p in g], any(p is t for p in g)


def in_a_guard(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    match t:
        case P() if t is a:
            return 1
    return 2


def asked_by_a_helper(n):
    a, b = P(1), P(2)
    return same(a if n > 0 else b, a)


def two_chosen_among_others(n):
    a, b, c = P(1), P(2), P(3)
    t = a if n > 0 else b
    u = b if n > 0 else c
    v = c if n > 0 else b
    return t is u, t is v, t is c


def same_object_twice(n):
    a, b = P(1), P(2)
    g = [a, b, a]
    return g[n + 1] is a, g[n + 1] is g[0], g[n] is g[2 - n]


def item_of_a_table(n):
    a, b = P(1), P(2)
    g = [[a, b], [b, a]]
    return g[n][0] is a, g[n][n] is g[0][0], g[n] is g[0]


def part_of_a_tuple(n):
    a, b = P(1), P(2)
    t = (a, 1) if n > 0 else (b, 2)
    return t[0] is a


def attribute(n):
    t = Pair()
    if n > 0:
        t.current = t.tail
    return t.current is t.head, t.current is not t.tail


def one_or_none(n):
    a = P(1)
    t = None if n > 0 else a
    u = None
    if n > 1:
        u = a
    return t is a, t is None, t is u, u is not t


def number_or_none(n):
    x = y = None
    if n > 0:
        x = n
    if n > 1:
        y = n
    return x is y, x is not y


def found_in_a_list(n):
    a, b = P(1), P(2)
    t = None
    for p in [a, b]:
        if p.x == n + 1:
            t = p
            break
    return t is a, t is b, t is None


def new_beside_an_old_one(n):
    a, b = P(1), P(2)
    t = a if n > 0 else P(9)
    return t is a, t is b


def item_assigned(n):
    a, b = [1], [2]
    g = [a, b]
    t = g[n]
    g[n] = [5]
    return t is a, g[0] is a, g[n] is a, t is g[n]


def changed_by_another_name(n):
    a, b = [1], [2]
    t = a if n > 0 else b
    t[0] = 7
    return t is a, a, b


def one_new_object_of_two_names(n):
    a, c = [1], [2]
    t = c
    if n > 0:
        a = t = [3]
    return a is t, t is c


def change_of_a_new_object_of_two_names(n):
    a, c = [1], [2]
    t = c
    if n > 0:
        a = t = [3]
    a[0] = 7
    return a, t


def change_of_a_new_object_beside_one_of_two_names(n):
    a = c = P(0)
    if n > 0:
        a = c = P(3)
    a.x = 5
    return a is c, c.x


def new_object_in_two_attributes(n):
    t = Pair()
    if n > 0:
        t.current = P(3)
        t.tail = t.current
    return t.current is t.tail


def equal_by_identity(n):
    a, b = P(1), P(1)
    t = a if n > 0 else b
    return t == a, a == t, t != b


RIGHT = [
    number_or_none,
]


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_is_tells_which_object_was_chosen(program):
    staged = tf.function(program)

    for n in ARGUMENTS:
        found = tf.nest.map_structure(
            lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf,
            staged(tf.constant(n)),
        )
        assert found == program(n)


# --- refused --------------------------------------------------------------------------


def of_lists_of_several_lengths(n):
    a, b = [1], [1, 2]
    t = a if n > 0 else b
    return t is a


def of_what_a_loop_rebinds(n):
    a, b = P(1), P(2)
    t = a
    for i in range(n + 1):
        if i > 0:
            t = b
        if t is a:
            t = b
    return t.x


def of_elements_of_an_open_list(n):
    g = []
    for i in range(n + 2):
        g.append([i])
    return g[0] is g[n]


def of_two_new_objects(n):
    if n > 0:
        a = c = [3]
    else:
        a, c = [4], [5]
    return a is c


def of_a_new_object_and_a_part(n):
    a, c = [[1]], [5]
    if n > 0:
        a = [[3]]
        c = a[0]
    return a[0] is c


def key_of_a_dict(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    return {a: 1, b: 2}[t]


def member_of_a_set(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    return t in {a}


def of_a_global_in_capitals(n):
    t = FIRST if n > 0 else SECOND
    return t is FIRST


REFUSED = [
    of_a_global_in_capitals,
    of_lists_of_several_lengths,
    of_what_a_loop_rebinds,
    of_elements_of_an_open_list,
    of_two_new_objects,
    of_a_new_object_and_a_part,
    key_of_a_dict,
    member_of_a_set,
    row_of_a_list,
    chosen_by_an_expression,
    chosen_by_a_statement,
    in_a_test,
    in_a_while,
    in_a_chain_and_logic,
    in_a_lambda_and_a_comprehension,
    in_a_guard,
    asked_by_a_helper,
    two_chosen_among_others,
    same_object_twice,
    item_of_a_table,
    part_of_a_tuple,
    attribute,
    one_or_none,
    found_in_a_list,
    new_beside_an_old_one,
    item_assigned,
    changed_by_another_name,
    one_new_object_of_two_names,
    change_of_a_new_object_of_two_names,
    change_of_a_new_object_beside_one_of_two_names,
    new_object_in_two_attributes,
    equal_by_identity,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_a_graph_cannot_tell_is_refused(program):
    with pytest.raises((AutographError, TracingError), match="AG210"):
        tf.function(program)(tf.constant(1))


def index_of_a_chosen_object(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    return [a, b].index(t)


def chosen_object_removed(n):
    a, b = P(1), P(2)
    t = a if n > 0 else b
    items = [a, b]
    items.remove(t)
    return items[0].x


@pytest.mark.parametrize("program", [index_of_a_chosen_object, chosen_object_removed])
def test_a_search_that_python_would_decide_is_refused(program):
    with pytest.raises((AutographError, TracingError), match="AG210"):
        tf.function(program)(tf.constant(1))


def test_a_copy_is_no_object_that_cannot_be_a_copy_of_it():
    marker = object()

    @tf.function
    def f(n):
        a, b = [1], [1, 2]
        t = a if n > 0 else b
        return t is marker, t is n, t is not None

    assert f(tf.constant(1)) == (False, False, True)


def test_tensors_are_themselves():
    @tf.function
    def f(x):
        y = x
        return x is y, x is not y, x is x + 0

    assert f(tf.constant(1)) == (True, False, False)
