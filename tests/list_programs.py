"""Programs whose lists grow where a number decides, seen by several names.

Each is called with one number, and must give the same in plain Python and staged.
"""

from __future__ import annotations

import types

history = []


class Recorder:
    def __init__(self):
        self.items = []

    def add(self, x):
        self.items.append(x)

    def size(self):
        return len(self.items)


def method_appends_in_a_loop(n):
    recorder = Recorder()
    for i in range(n):
        recorder.add(i * i)
    return recorder.size() * 100 + sum(recorder.items)


def method_appends_in_a_branch(n):
    recorder = Recorder()
    recorder.add(4)
    if n > 5:
        recorder.add(n)
    return recorder.size() * 100 + recorder.items[-1]


def helper_appends_to_a_captured_list(n):
    items = [1]

    def note(x):
        items.append(x)

    while n > 3:
        note(n)
        n -= 1
    return len(items) * 100 + sum(items)


def global_list(n):
    global history
    history = []

    def note(x):
        history.append(x)

    for i in range(n):
        if i % 2 == 0:
            note(i)
    return len(history)


def alias_in_a_dict(n):
    items = [5]
    table = {"all": items, "other": [1]}
    if n > 5:
        items.append(n)
    else:
        table["all"].append(1)
        table["all"].append(2)
    return len(table["all"]) * 100 + sum(items)


def two_statements(n):
    items = []

    def note(x):
        items.append(x)

    if n > 3:
        note(1)
    if n > 6:
        note(2)
    for i in range(n):
        note(i)
    if n > 7:
        items.pop()
    return len(items) * 100 + sum(items)


def nested_statements(n):
    recorder = Recorder()
    for i in range(n):
        if i > 2:
            recorder.add(i)
            if i > 4:
                recorder.add(0 - i)
    return recorder.size() * 100 + sum(recorder.items)


def popped_by_a_helper(n):
    items = [1, 2, 3, 4]

    def take():
        return items.pop()

    total = 0
    while len(items) > 1 and total < n:
        total += take()
    return total * 10 + len(items)


def stack_machine(n):
    stack = []

    def push(x):
        stack.append(x)

    def pop():
        return stack.pop()

    push(0)
    for i in range(n):
        push(i)
        if i % 3 == 2:
            push(pop() + pop())
    return stack[-1] * 100 + len(stack)


def two_lists(n):
    even, odd = [], []
    for i in range(n):
        even.append(i)
        odd.append(1)
    return len(even) * 100 + sum(odd)


def list_of_pairs(n):
    recorder = Recorder()
    i = 0
    while i < n:
        recorder.add((i, i * 2))
        i += 1
    total = 0
    for a, b in recorder.items:
        total += a * b
    return total


def cleared_in_a_branch(n):
    items = [1, 2, 3]
    same = {"items": items}
    if n > 5:
        items.clear()
    same["items"].append(9)
    return len(items)


def sorted_by_a_helper(n):
    items = [3, 1, 2]

    def order():
        items.sort()
        items.append(n)

    if n > 5:
        order()
    return items[0] * 100 + items[-1]


def rest_of_a_python_loop(n):
    found = []

    def note(x):
        found.append(x)

    for i in range(6):
        note(i)
        if i > n:
            break
    return len(found)


def nested_with_an_alias(n):
    recorder = Recorder()
    owner = types.SimpleNamespace(items=recorder.items)
    for i in range(n):
        if i > 2:
            recorder.add(i)
    owner.items.append(1)
    return recorder.size() * 100 + len(owner.items)


def assigned_in_a_loop(n):
    recorder = Recorder()
    for i in range(n):
        recorder.items = [i, n, 2]
    return len(recorder.items)


PROGRAMS = [
    value for value in list(globals().values()) if isinstance(value, types.FunctionType)
]
