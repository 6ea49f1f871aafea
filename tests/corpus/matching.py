"""``match`` statements."""

from __future__ import annotations

from dataclasses import dataclass

from tests.corpus_loader import cases


@dataclass
class Point:
    """Something to match."""

    x: int
    y: int


@cases((0,), (1,), (5,))
def match_value(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2:
            return "few"
        case _:
            return "many"


@cases((5,), (-5,), (0,))
def match_guard(x):
    match x:
        case n if n > 0:
            result = n * 2
        case n if n < 0:
            result = -n
        case _:
            result = 0
    return result


@cases(([1, 2, 3],), ([],), ([7],), ((1, 2),))
def match_sequence(items):
    match items:
        case []:
            return "empty"
        case [one]:
            return one
        case [first, *rest]:
            if first > 0:
                return first, rest
            return rest


@cases(({"kind": "a", "n": 3},), ({"kind": "b"},), ({},))
def match_mapping(table):
    match table:
        case {"kind": "a", **rest}:
            return rest
        case {"kind": kind}:
            return kind
    return None


@cases((1, 2), (0, 2), (0, 0))
def match_class(x, y):
    match Point(x, y):
        case Point(x=0, y=0):
            return "origin"
        case Point(x=0, y=other):
            return other
        case Point() as point:
            return point.x


@cases(([1, "stop", 2],), ([1, 2],), (["skip", 3],))
def match_in_loop(commands):
    total = 0
    for command in commands:
        match command:
            case "stop":
                break
            case "skip":
                continue
            case int():
                if command > 1:
                    total += command
                else:
                    total -= 1
    return total


@cases((1,), (2,), (3,))
def branch_in_case(x):
    log = []
    match x:
        case 1:
            if log:
                return "never"
            log.append("one")
        case 2:
            for i in range(x):
                log.append(i)
        case other:
            log.append(other)
    return log
