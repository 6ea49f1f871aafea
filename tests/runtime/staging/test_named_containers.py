"""Containers in ``state=`` are for readers: graphs and errors are as without them."""

from __future__ import annotations

import linecache
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

import autograph
import runtime as tf
from autograph.analysis import Facts

_BODIES = {
    "a list in a branch": "out = [1]\nif n > 2:\n    out.append(n)\nreturn out",
    "a list in a loop": (
        "out = [n]\nfor i in tf.range(n):\n    out.append(i)\nreturn out"
    ),
    "an item": (
        "out = [1, 2, 3]\nfor i in tf.range(n):\n    out[i % 3] = n\n    out[0] += 1\n"
        "return out"
    ),
    "an attribute": (
        "self = Namespace(items=[1], count=0)\nif n > 2:\n    self.items.append(n)\n"
        "    self.count += 1\nreturn self.items, self.count"
    ),
    "a list by two names": (
        "out = [1]\nother = out\nif n > 2:\n    out.append(n)\nelse:\n    other.pop()\n"
        "return out, other"
    ),
    "keys": (
        "d = {'a': [1], 'b': 2}\nif n > 2:\n    d['a'].append(n)\n    d['b'] = n\n"
        "    d.update(b=n + 1)\nreturn d['a'], d['b']"
    ),
    "a stack": (
        "stack, seen = [n], 0\nwhile stack and (last := stack.pop()) > 0:\n"
        "    stack.append(last - 1)\n    seen += 1\nreturn seen"
    ),
    "rows": (
        "rows = [[1], [2]]\nif n > 2:\n    rows[0].append(n)\n    rows.reverse()\n"
        "return rows"
    ),
    "a case that Python decides": (
        "out, k = [1], 3\nif k > 5:\n    out = [n]\nelif n > 2:\n    out.append(n)\n"
        "else:\n    out.clear()\nreturn out"
    ),
    "a deque": "q = deque([n])\nif n > 2:\n    q.appendleft(n)\nreturn q.popleft()",
    "a set of Python": "s = {1, 2}\nif n > 2:\n    s.add(7)\nreturn 7 in s",
    "a list that is assigned": (
        "out, log = [1], []\nif n > 2:\n    out = [2]\n    log.append(n)\n"
        "    out.append(n)\nreturn out, log"
    ),
    "a refusal": "b = bytearray(b'x')\nif n > 2:\n    b.append(1)\nreturn len(b)",
    "an iterated list": (
        "out = [1, 2]\nfor x in out:\n    if n > x:\n        out.append(n)\nreturn out"
    ),
}


def _assigned(facts: Facts, node: Any) -> list[str]:
    """The state without containers."""
    written = facts.writes(node)
    targets = (t for t in facts.targets(node) if not t.opaque)
    return [t.text for t in targets if written.isdisjoint(t.names)]


def _traced(body: str) -> tuple[str, list[str]]:
    """The printed code; and the graph and what it gives, or the error."""
    text = "def f(n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"<named {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"__name__": "named", "tf": tf, "Namespace": SimpleNamespace}
    names["deque"] = deque
    exec(compile(text, file, "exec"), names)
    f: Any = names["f"]
    try:
        staged = tf.function(f)
        found = [str(staged.get_concrete_function(tf.constant(1)).graph)]
        found += [str(staged(tf.constant(n))) for n in range(5)]
    except autograph.StagingError as error:
        found = [str(error)]
    return autograph.to_code(f), found


@pytest.mark.parametrize("name", _BODIES)
def test_graphs_are_as_without_the_names(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, found = _traced(_BODIES[name])
    monkeypatch.setattr(Facts, "changes", _assigned)
    code_before, expected = _traced(_BODIES[name])

    assert code != code_before
    assert found == expected
