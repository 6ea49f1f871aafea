"""What a tensor chooses among objects is read while they stay as they are."""

from __future__ import annotations

import copy
import heapq
from dataclasses import dataclass

import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError
from tests.names_fuzz import is_right, outcome, verdict
from tests.turns import by_turns
from tests.view_world import KINDS, load, load_aliases, load_second_names

ARGUMENTS = (0, 1)


@dataclass
class P:
    x: int
    y: int


# --- right ----------------------------------------------------------------------------


def read_after_a_write_of_the_original(n):
    g = [[3, 4], [5, 6]]
    r = g[n]
    g[n][0] = 9
    return r[0]


def another_row_written(n):
    g = [[3, 4], [5, 6]]
    r = g[n]
    g[0][0] = 9
    return (r[0], sum(r))


def row_written(n):
    g = [[3, 4], [5, 6]]
    r = g[n]
    r[0] = 9
    return g


def item_chosen_in_a_chosen_row(n):
    g = [[3, 4], [5, 6]]
    r = g[n]
    r[n] += 9
    return (g, r)


def previous_row_of_a_table(n):
    g = [[0] * 4 for _ in range(4)]
    for i in range(1, n + 1):
        prev = g[i - 1]
        for j in range(1, 4):
            g[i][j] = prev[j - 1] + prev[j] + 1
    return g


def rows_of_a_table_by_name(n):
    g = [[0] * 4 for _ in range(4)]
    for i in range(1, n + 1):
        prev = g[i - 1]
        row = g[i]
        for j in range(1, 4):
            row[j] = prev[j - 1] + prev[j] + 1
    return g


def row_looped_over_and_table_written(n):
    g = [[1, 2], [3, 4], [5, 6]]
    t = 0
    for i in range(n):
        for x in g[i]:
            t += x
        g[i][0] = t
    return (t, g)


def neighbours(n):
    adj = [[1, 2], [2, 0], [0, 1]]
    dist = [9, 9, 9]
    for u in range(n):
        for v in adj[u]:
            dist[v] = u
    return dist


def first_of_two_changed(n):
    a = [1, 2]
    b = [3, 4]
    t = a if n > 0 else b
    a[0] = 7
    return t[0]


def chosen_by_a_statement(n):
    a = [1, 2]
    b = [3, 4]
    if n > 0:
        t = a
    else:
        t = b
    a[0] = 7
    return t[0]


def object_chosen_and_changed(n):
    p, q = (P(1, 2), P(3, 4))
    t = p if n > 0 else q
    t.x = 9
    return (p.x, q.x)


def object_changed_and_chosen_read(n):
    p, q = (P(1, 2), P(3, 4))
    t = p if n > 0 else q
    p.x = 9
    return t.x


def one_path_rebinds(n):
    items = [1, 2]
    alias = items
    if n > 0:
        items = [5, 6]
    items[0] = 4
    return (alias, items)


def older_name_changed(n):
    items = [1, 2]
    alias = items
    if n > 0:
        items = [5, 6]
    alias[0] = 4
    return (alias, items)


def value_of_a_dict(n):
    d = {1: [1, 2], 2: [3, 4]}
    r = d[n]
    d[1][0] = 9
    return r[0]


def value_of_a_dict_changed(n):
    d = {1: [1, 2], 2: [3, 4]}
    r = d[n]
    r[0] = 9
    return d


def outer_list_grows(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    g.append([1, 1])
    g[0][1] = 5
    return r[1]


def changed_in_a_branch(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    if n > 0:
        g[1][0] = 8
    return r[0]


def carried_by_a_loop(n):
    g = [[1, 2], [3, 4]]
    r = g[0]
    for i in range(n):
        r = g[i]
        g[0][0] += 1
    return (r[0], r)


def changed_in_a_loop(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    for i in range(n + 2):
        g[n][0] += r[0]
    return (r[0], g)


def row_of_a_row(n):
    g = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    r = g[n]
    s = r[n]
    g[n][n][0] = 9
    return (s[0], r[0][0])


def rows_of_a_row_changed(n):
    g = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    r = g[n]
    s = r[n]
    q = r[0]
    s[0] = 9
    q[1] = 10
    return g


def two_names_for_rows(n):
    g = [[1, 2], [3, 4]]
    x, y = (g[n], g[1 - n])
    x[0] = 10
    return (y[0], x[0], g)


def kept_in_another_list(n):
    g = [[1, 2], [3, 4]]
    rows = [g[n], g[0]]
    g[n][0] = 7
    return rows


def rows_swapped(n):
    g = [[1, 2], [3, 4]]
    g[n], g[1 - n] = (g[1 - n], g[n])
    return g


def row_replaced(n):
    g = [[1, 2], [3, 4]]
    g[n] = [7, 8]
    return g


def changed_by_a_helper(n):
    g = [[1, 2], [3, 4]]

    def f(row):
        row[0] = 5

    f(g[n])
    return g


def copied_before_a_write(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    s = list(r)
    g[n][0] = 9
    return (s, r)


def unpacked(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    x, y = r
    g[n][0] = 9
    a, b = r
    return (x, y, a, b)


def asked_in_all_ways(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    g[n][0] = 9
    return (
        [v * 2 for v in r],
        max(r),
        min(r),
        9 in r,
        len(r),
        r == [9, 2],
        r + [1],
        [1] + r,
        r[1:],
        r * 2,
    )


def object_of_a_list(n):
    objs = [P(1, 2), P(3, 4)]
    o = objs[n]
    objs[0].x = 5
    return o.x


def object_of_a_list_changed(n):
    objs = [P(1, 2), P(3, 4)]
    objs[n].x = 5
    return (objs[0].x, objs[1].x)


def dict_of_a_list(n):
    g = [{"a": 1}, {"a": 2}]
    r = g[n]
    g[0]["a"] = 7
    return r["a"]


def dict_of_a_list_changed(n):
    g = [{"a": 1}, {"a": 2}]
    r = g[n]
    r["a"] = 7
    return g


def item_of_a_chosen_dict(n):
    g = [{"a": 1}, {"a": 2}]
    g[n]["a"] += 7
    return g


def row_of_a_tuple(n):
    x = [1, 2]
    g = ([3, 4], x)
    r = g[n]
    x[0] = 5
    return r[0]


def row_sorted(n):
    g = [[3, 1, 2], [6, 5, 4]]
    r = g[n]
    r.sort()
    return g


def row_deleted_from_the_list(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    del g[0]
    g[0][0] = 7
    return (r, g)


def row_or_a_new_list(n):
    g = [[1, 2], [3, 4]]
    r = g[n]
    r = [5, 5] if n > 0 else r
    g[0][0] = 7
    return r


def rows_of_two_tables(n):
    g = [[1, 2], [3, 4]]
    q = [[9, 9], [8, 8]]
    r = g[n] if n > 0 else q[n]
    g[1][0] = 7
    return r


def kept_in_an_attribute(n):
    g = [[1, 2], [3, 4]]

    class C:
        pass

    c = C()
    c.row = g[n]
    g[n][0] = 7
    return c.row


def chosen_or_none(n):
    a = [1, 2]
    t = a if n > 0 else None
    a[0] = 7
    if t is not None:
        return t[0]
    return 0


def new_list_of_lists(n):
    a = [1, 2]
    b = [3, 4]
    t = [a, b]
    u = t if n > 0 else [b, a]
    a[0] = 7
    return u[0][0]


def object_rebound(n):
    p = P(1, 2)
    alias = p
    if n > 0:
        p = P(3, 4)
    p.x = 8
    return (alias.x, p.x)


def rolling_table(n):
    dp = [[0] * 5 for _ in range(2)]
    for i in range(1, n + 1):
        cur = dp[i % 2]
        prev = dp[(i - 1) % 2]
        for j in range(1, 5):
            cur[j] = prev[j - 1] + prev[j] + j
    return dp[n % 2]


def changed_then_rebound(n):
    c = L = [1, 2]
    best = L
    if n > 0:
        best[0] = 5
        best = [7, 7]
    return (c, best)


def row_carried_and_changed(n):
    g = [[1, 5], [7, 2], [3, 3]]
    cur = g[0]
    k = 0
    while k < n:
        cur = g[k]
        cur[1] += 1
        k += 1
    g[0][1] += 100
    return (cur, g)


def attribute_rebound(n):

    class Box:
        pass

    box = Box()
    box.items = [1, 2]
    other = [3, 4]
    keep = box.items
    if n > 0:
        box.items = other
    box.items[0] = 9
    return (keep, other, box.items)


def alias_of_an_object(n):
    p = P(1, 2)
    q = P(3, 4)
    alias = p
    if n > 0:
        p = q
    p.x += 10
    return (alias.x, q.x, p.x)


def objects_in_a_loop(n):
    objs = [P(1, 2), P(3, 4)]
    for i in range(n + 1):
        o = objs[i]
        o.x += o.y
    return (objs[0].x, objs[1].x)


def memo_of_rows(n):
    memo = {0: [0, 0], 1: [1, 1]}
    x = memo[n]
    memo[0][0] = 7
    x[1] = 8
    return memo


def row_of_a_closure(n):
    g = [[1, 2], [3, 4]]

    def f(k):
        return g[k]

    f(n)[0] = 5
    x = f(n)
    g[0][0] += 1
    return x[0]


def chosen_in_a_loop(n):
    a, b = ([1, 2], [3, 4])
    for i in range(n + 1):
        t = a if i % 2 == 0 else b
        t[0] += 10
    return (a, b)


def rows_of_two_matrices(n):
    mat = [[1, 2], [3, 4]]
    res = [[0, 0], [0, 0]]
    for i in range(n + 1):
        r = mat[i]
        o = res[i]
        for j in range(2):
            o[j] = r[j] * 2
    return res


def changed_or_rebound(n):
    x = [1]
    a = x
    if n > 0:
        x = [7]
    else:
        x[0] += 5
    return (a, x)


def item_replaced_or_changed(n):
    g = [[1, 2], [3, 4]]
    a, u = (g[0], [7, 8])
    if n > 0:
        g[0] = u
    else:
        g[0][0] += 9
    return (a, g, u)


def value_replaced_or_changed(n):
    d = {"k": [1]}
    a = d["k"]
    if n > 0:
        d["k"] = [4]
    else:
        d["k"][0] += 1
    return (a, d)


def best_or_none(n):
    best = None
    g = [[1, 5], [7, 2], [3, 3]]
    for i in range(n + 1):
        row = g[i]
        if best is None or row[1] < best[1]:
            best = row
    return sum(best)


def rows_made_in_a_loop(n):
    prev = [0] * 4
    for i in range(n):
        cur = [0] * 4
        for j in range(1, 4):
            cur[j] = prev[j] + cur[j - 1] + i
        prev = cur
    return prev


def lists_swapped_in_a_loop(n):
    a, b = ([0] * 4, [1] * 4)
    for i in range(n):
        for j in range(4):
            a[j] = b[j] + i
        a, b = (b, a)
    return (a, b)


def best_object(n):
    objs = [P(1, 2), P(3, 4)]
    best = objs[0]
    for i in range(n + 1):
        if objs[i].y > best.y:
            best = objs[i]
    return best.x


def rows_without_other_names_sorted(n):
    rows = [[3, n], [1, 2]]
    rows.sort()
    rows[0][1] = 7
    taken = rows.pop(n % 2)
    taken[0] = 9
    return rows, taken


def deleted_beside_a_name_for_another_row(n):
    grid, row = [[1, 2], [3, 4]], [5, 6]
    if n > 0:
        row = grid[-1]
    else:
        del grid[n % 2]
    return row[0]


RIGHT = [
    row_looped_over_and_table_written,
    neighbours,
    rows_swapped,
    row_replaced,
    changed_then_rebound,
    changed_or_rebound,
    item_replaced_or_changed,
    value_replaced_or_changed,
    best_or_none,
    rows_made_in_a_loop,
    best_object,
    deleted_beside_a_name_for_another_row,
]


@pytest.mark.parametrize(
    "program", by_turns(RIGHT), ids=lambda program: program.__name__
)
def test_what_a_tensor_chooses_is_no_copy(program):
    staged = tf.function(program)

    for n in ARGUMENTS:
        assert outcome(staged, tf.constant(n)) == outcome(program, n)


# --- refused --------------------------------------------------------------------------


def length_of_one_path(n):
    items = [1, 2]
    alias = items
    if n > 0:
        items = items + [3]
    items.append(4)
    return (alias, items)


def list_kept_in_a_loop(n):
    cur = [0]
    prev = [1]
    t = 0
    for i in range(n):
        cur[0] += 1
        t += prev[0]
        prev = cur
    return (t, prev, cur)


def element_read_before_a_change(n):
    x = [1, 2]
    g = []
    for i in range(n + 2):
        g.append(x)
    y = g[0]
    x[0] = 9
    return y[0]


def swapped_beside_an_alias(n):
    a, b = ([1], [2])
    c = a
    if n > 1:
        a, b = (b, a)
    a.append(3)
    return (a, b, c)


def elements_of_rows(n):
    g = [[1, 2], [3, 4]]
    q = []
    for i in range(n + 1):
        q.append(g[i])
    g[0][0] = 7
    return q


def slice_of_rows(n):
    g = [[1, 2], [3, 4]]
    r = g[n:]
    g[1][0] = 9
    return r[0]


def swapped_in_a_loop_beside_an_alias(n):
    a, b = ([1], [2])
    c = a
    for i in range(n):
        a, b = (b, a)
        a[0] += 1
    return (a, b, c)


def two_names_after_a_loop(n):
    x = [1]
    y = [2]
    for i in range(n):
        x = [i]
        y = x
    y[0] = 9
    return (x, y)


def chosen_of_new_lists(n):
    if n > 0:
        tbl = [[n, 2], [3, 4]]
        t = tbl[n - 1]
    else:
        tbl = [[0, 0], [1, 1]]
        t = tbl[n]
    tbl[0][0] = 77
    return t


def rebound_in_a_loop(n):
    a = [1, 2]
    b = a
    while n > 0:
        b = [n, n]
        n -= 1
    b[0] = 7
    return (a, b)


def older_name_of_a_loop_changed(n):
    a = [1, 2]
    b = a
    while n > 0:
        b = [n, n]
        n -= 1
    a[0] = 7
    return (a, b)


def last_of_a_longer_list(n):
    st = [[0, 0]]
    top = st[-1]
    if n > 0:
        st = st + [[1, 1]]
        top = st[-1]
    top[0] = 5
    return (st, top)


def rows_in_another_order(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    if n > 0:
        grid = grid[::-1]
    row[0] = 99
    return grid


def rows_in_a_new_list(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    if n > 0:
        grid = list(grid)
    row[0] = 99
    return grid


def rows_in_a_slice(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    if n > 0:
        grid = grid[:]
    row[0] = 99
    return grid


def rows_in_a_shallow_copy(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    if n > 0:
        grid = copy.copy(grid)
    row[0] = 99
    return grid


def rows_unpacked(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    if n > 0:
        grid = [*grid]
    grid[0][0] = 99
    return grid, row


def row_beside_a_new_one(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    rows = grid
    if n > 0:
        rows = [row, [5, 6]]
    row[0] = 99
    return rows


def objects_in_another_order(n):
    points = [P(1, 2), P(3, 4)]
    first = points[0]
    if n > 0:
        points = points[::-1]
    first.x = 99
    return [point.x for point in points]


def values_in_a_new_dict(n):
    table = {"a": [1], "b": [2]}
    row = table["a"]
    if n > 0:
        table = dict(table)
    row[0] = 99
    return table


def rows_turned_round_in_a_loop(n):
    grid, i = [[1, 2], [3, 4]], 0
    row = grid[0]
    while i < n:
        grid = grid[::-1]
        i += 1
    row[0] = 99
    return grid


def field_of_a_chosen_object(n):
    p, q = P([1], 2), P([3], 4)
    t = p if n > 0 else q
    t.x.append(5)
    return p, q


def rows_sorted(n):
    grid = [[n, 2], [1, 4]]
    row = grid[0]
    grid.sort()
    row[0] = 99
    return grid


def row_of_sorted_rows_written(n):
    grid = [[n, 2], [1, 4]]
    rows = sorted(grid)
    rows[0][0] = 99
    return grid


def rows_sorted_by_a_key(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    row = grid[1]
    grid.sort(key=lambda row: -row[0])
    row[0] = 7
    return grid


def row_taken_out(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    row = grid[1]
    taken = grid.pop(n)
    row[0] = 7
    return grid, taken


def row_put_in(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    row = grid[0]
    grid.insert(n, [7, 8])
    row[0] = 99
    return grid


def row_deleted(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    row = grid[0]
    del grid[n]
    row[0] = 99
    return grid


def greatest_row_written(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    row = max(grid)
    row[0] = 99
    return grid


def smallest_rows_written(n):
    grid = [[n, 2], [1, 4], [5, 6]]
    rows = heapq.nsmallest(2, grid)
    rows[0][0] = 99
    return grid


def list_that_grows_beside_what_was_chosen_twice(n):
    a, b, c = [2, 3], [2, 3, 7], [4, 5]
    if n > 0:
        b = [1]
    else:
        c = b
    b = c if n == 2 else a
    c += [n]
    return b, c


def value_taken_out_of_a_dict(n):
    table = {0: [1], 1: [2], 2: [3]}
    row = table[1]
    taken = table.pop(n)
    row[0] = 7
    return taken


def best_copied(n):
    best, cur = ([0], [0])
    for i in range(n):
        cur[0] += i
        if cur[0] > best[0]:
            best = cur[:]
    best[0] += 1
    return (best, cur)


def set_sorted_after_a_change(n):
    one = {1}
    chosen = one if n < 1 else {5}
    one.add(7)
    return sorted(chosen)


def keys_of_a_dict_after_a_change(n):
    one = {1: 2}
    one[n] = 3
    chosen = one if n < 1 else dict(one)
    one[9] = 4
    return sorted(chosen)


def row_changed_beside_a_sort(n):
    grid = [[1, 2], [3, 4]]
    row = grid[0]
    for _ in range(n):
        row[0] += 9
        grid.sort()
    return grid, row


REFUSED = [
    lists_swapped_in_a_loop,
    row_changed_beside_a_sort,
    set_sorted_after_a_change,
    keys_of_a_dict_after_a_change,
    length_of_one_path,
    list_kept_in_a_loop,
    element_read_before_a_change,
    swapped_beside_an_alias,
    elements_of_rows,
    slice_of_rows,
    swapped_in_a_loop_beside_an_alias,
    two_names_after_a_loop,
    chosen_of_new_lists,
    rebound_in_a_loop,
    older_name_of_a_loop_changed,
    last_of_a_longer_list,
    read_after_a_write_of_the_original,
    another_row_written,
    row_written,
    item_chosen_in_a_chosen_row,
    previous_row_of_a_table,
    rows_of_a_table_by_name,
    first_of_two_changed,
    chosen_by_a_statement,
    object_chosen_and_changed,
    object_changed_and_chosen_read,
    one_path_rebinds,
    older_name_changed,
    value_of_a_dict,
    value_of_a_dict_changed,
    outer_list_grows,
    changed_in_a_branch,
    carried_by_a_loop,
    changed_in_a_loop,
    row_of_a_row,
    rows_of_a_row_changed,
    two_names_for_rows,
    kept_in_another_list,
    changed_by_a_helper,
    copied_before_a_write,
    unpacked,
    asked_in_all_ways,
    object_of_a_list,
    object_of_a_list_changed,
    dict_of_a_list,
    dict_of_a_list_changed,
    item_of_a_chosen_dict,
    row_of_a_tuple,
    row_sorted,
    row_deleted_from_the_list,
    row_or_a_new_list,
    rows_of_two_tables,
    kept_in_an_attribute,
    chosen_or_none,
    new_list_of_lists,
    object_rebound,
    rolling_table,
    row_carried_and_changed,
    attribute_rebound,
    alias_of_an_object,
    objects_in_a_loop,
    memo_of_rows,
    row_of_a_closure,
    chosen_in_a_loop,
    rows_of_two_matrices,
    rows_in_another_order,
    rows_in_a_new_list,
    rows_in_a_slice,
    rows_in_a_shallow_copy,
    rows_unpacked,
    row_beside_a_new_one,
    objects_in_another_order,
    values_in_a_new_dict,
    rows_turned_round_in_a_loop,
    field_of_a_chosen_object,
    rows_sorted,
    row_of_sorted_rows_written,
    rows_sorted_by_a_key,
    row_taken_out,
    row_put_in,
    row_deleted,
    greatest_row_written,
    smallest_rows_written,
    list_that_grows_beside_what_was_chosen_twice,
    value_taken_out_of_a_dict,
    best_copied,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_would_be_a_copy_that_differs_is_refused(program):
    staged = tf.function(program)

    with pytest.raises((AutographError, TracingError), match="AG210"):
        staged(tf.constant(1))


# --- random programs ------------------------------------------------------------------


@pytest.mark.parametrize("seed", by_turns(range(60)))
def test_a_random_program_gives_what_python_gives_or_is_refused(seed):
    check_random(load(seed))


@pytest.mark.parametrize("seed", by_turns(range(20)))
@pytest.mark.parametrize("kind", KINDS)
def test_a_random_program_of_containers_with_several_names(kind, seed):
    check_random(load_aliases(kind, seed))


@pytest.mark.parametrize("seed", by_turns(range(120)))
def test_a_random_program_of_second_names(seed):
    check_random(load_second_names(seed))


def check_random(function):
    found = verdict(function)

    assert is_right(found), found


@dataclass
class Held:
    items: list[int]


def given_another_list(n):
    one, two = Held([5, 6]), Held([5, 6])
    held = one if n > 0 else two
    held.items.append(1)
    held.items = [7]
    shown = one.items, held.items, two.items
    held.items.append(n)
    return [list(items) for items in (*shown, one.items, held.items, two.items)]


def given_to_two(n):
    one, two, new = Held([5]), Held([6, 7]), [8, 9, 10]
    held = one if n > 0 else two
    held.items = new
    other = one if n == 2 else two
    other.items.append(n)
    new.append(4)
    return [list(items) for items in (one.items, held.items, other.items, two.items)]


def read_after_a_change(n):
    rows = [[1], [2, 3]]
    row, again = rows[n % 2], rows[n % 2]
    again.append(n)
    return list(row), rows


def a_list_that_grows(n):
    rows = [[1], [2, 3]]
    row = rows[n]
    row.append(4)
    return rows, row


@pytest.mark.parametrize(
    "program",
    [given_another_list, given_to_two, read_after_a_change, a_list_that_grows],
)
def test_a_chosen_list_of_several_lengths_does_not_grow(program) -> None:
    with pytest.raises(TracingError, match="AG210"):
        tf.function(program)(tf.constant(1))


def test_a_list_with_another_name_does_not_become_a_copy_in_a_row() -> None:
    def program(n):
        rows, row, i = [[1, 2], [3, 4], [5, 6]], [7, 8], 0
        rows[2 - n] = rows[-1]
        if n < 3:
            rows[i % 3] = row
        rows[2 - n][0] += 18
        return rows, row

    with pytest.raises((AutographError, TracingError), match="AG210"):
        tf.function(program)(tf.constant(2))


def test_what_a_tensor_chooses_is_unlike_what_python_says_it_is() -> None:
    def program(n):
        rows, table = [[1, 2], [3, 4]], {0: {"a": 1}, 1: {"a": 2}}
        row, entry = rows[n], table[n]
        return row != [3, 4], row != [1, 2], entry != {"a": 1}, row != 5, row != [1]

    for n in (0, 1):
        found = tf.function(program)(tf.constant(n))
        assert tf.nest.map_structure(bool, found) == program(n)
