"""`Counter(items)`, `deque(items)`, and dicts that are compared or ordered."""

from __future__ import annotations

from collections import Counter, deque

import pytest

from tests import modes


def counted(xs):
    counts = Counter(xs)
    most = counts.most_common(1)[0][0]
    return counts, counts[3], counts[9], most, max(counts, key=counts.get)


def counted_as_they_come(xs):
    counts = Counter(x % 3 for x in xs if x != 4)
    return counts, sum(counts.values()), counts.most_common(2)


def counted_from_a_list(xs):
    return Counter([xs[0], xs[1], xs[0]]), Counter((x, 1) for x in xs)


def same_counts(xs):
    other = Counter(xs[::-1])
    fewer = Counter(xs[1:])
    fewer[77] += 0
    return Counter(xs) == other, Counter(xs) != fewer, fewer == Counter(xs[1:])


def same_dicts(xs):
    def places(items):
        found = {}
        for i, x in enumerate(items):
            found[x] = i
        return found

    found, other = places(xs), places(xs[::-1])
    return found == places(xs), found == other, other != found, found == {3: 1}


def in_the_order_of_counts(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    by_count = sorted(counts, key=counts.get)
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return by_count, pairs, sorted(counts.items(), key=lambda pair: pair[1])


def in_the_order_of_what_is_missing(xs):
    counts = {}
    for x in xs:
        counts[x] = x
    return sorted([1, xs[0], 77], key=counts.get)


def queue_of_some(xs):
    queue = deque(x for x in xs if x > 2)
    queue.append(0)
    return list(queue), queue.popleft(), len(queue), deque(xs).count(3)


XS = ([3, 4, 3, 1, 3, 1],)
PROGRAMS = [
    *((program, XS) for program in (counted, counted_as_they_come, same_counts)),
    *((program, XS) for program in (counted_from_a_list, same_dicts, queue_of_some)),
    (in_the_order_of_counts, XS),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_as_python(program, arguments, mode):
    modes.check_as_python(program, arguments, mode)


def test_none_has_no_order():
    for mode in ("converted", "staged", "interpreted"):
        found = modes.run(in_the_order_of_what_is_missing, XS, mode)
        assert found.error == "TypeError"
        assert "'<' not supported" in found.message


def letters(first, second):
    counts = Counter(first)
    return counts, counts["l"], counts.most_common(1), counts == Counter(second)


@pytest.mark.parametrize("mode", ["converted", "staged", "interpreted"])
def test_letters_of_texts(mode):
    texts = ("listens", "silents")

    assert modes.run(letters, texts, mode).value == letters(*texts)
