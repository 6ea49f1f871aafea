"""``match`` whose subject, parts or guards are tensors."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support import construct


@dataclass
class Point:
    x: int
    y: int


@construct("values", (0,), (1,), (7,))
def values(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2:
            return "few"
        case _:
            return "many"


@construct("guards", (5,), (50,), (-5,))
def guards(x):
    match x:
        case n if n < 0:
            y = -n
        case n if n > 10:
            y = 10
        case n:
            y = n
    return y


@construct("sequences", ((0, 3),), ((3, 0),), ((3, 4),))
def sequences(point):
    match point:
        case (0, y):
            return y
        case (x, 0):
            return x
        case (x, y):
            return x * y


@construct("sequences with `*rest`", ((0, 3, 4),), ((1, 3, 4),))
def starred(items):
    match items:
        case (0, *rest):
            return sum(rest)
        case (first, *_):
            return first


@construct("classes", (3, 0), (0, 4), (2, 2))
def classes(x, y):
    match Point(x, y):
        case Point(x=0, y=y):
            return y
        case Point(x, 0):
            return x
        case Point() as p:
            return p.x + p.y


@construct("mappings", (1,), (5,))
def mappings(x):
    match {"kind": 1, "value": x}:
        case {"value": 1}:
            return -1
        case {"value": v, **rest}:
            return v + len(rest)


@construct("captures used afterwards", (0,), (5,))
def captured(x):
    match x:
        case 0:
            n = 1
        case n:
            pass
    return n


@construct("`break` and `return` in a case", (3,), (30,))
def jumps(n):
    for i in range(10):
        match i:
            case k if k > n:
                break
            case 7:
                return -1
    return i
