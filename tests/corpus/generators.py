"""Functions that suspend: generators and coroutines."""

from __future__ import annotations

import asyncio

from tests.corpus_loader import cases


@cases((4,), (0,))
def count_up(n):
    i = 0
    while i < n:
        yield i
        i += 1


@cases((10,), (0,))
def evens(n):
    for i in range(n):
        if i % 2 == 0:
            yield i


@cases(([1, [2, [3]], 4],), ([],))
def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item


@cases((5,), (-5,))
def yield_then_branch(x):
    yield "start"
    if x > 0:
        y = x * 2
    else:
        y = 0
    yield y
    if x < 0:
        return
    yield "end"


@cases((3,), (0,))
def consume_generator(n):
    def numbers(limit):
        for i in range(limit):
            if i != 1:
                yield i * 10

    total = 0
    for value in numbers(n):
        total += value
    return total


@cases((3,), (1,))
def send_values(n):
    def accumulate():
        total = 0
        while True:
            value = yield total
            if value is None:
                break
            if value > 0:
                total += value
        return total

    generator = accumulate()
    out = [next(generator)]
    for i in range(n):
        out.append(generator.send(i))
    try:
        generator.send(None)
    except StopIteration as stop:
        out.append(stop.value)
    return out


@cases((3,), (-3,))
async def coroutine(x):
    await asyncio.sleep(0)
    if x > 0:
        y = x + 1
    else:
        y = 0
    return y


@cases((3,), (0,))
def run_coroutine(n):
    async def numbers():
        for i in range(n):
            if i % 2 == 0:
                yield i

    async def collect():
        out = []
        async for value in numbers():
            if value:
                out.append(value)
        return out

    return asyncio.run(collect())


@cases((3,), (0,))
def generator_with_cleanup(n):
    log = []

    def produce():
        try:
            for i in range(n):
                yield i + 0
        finally:
            log.append("closed")

    for value in produce():
        if value == 1:
            break
        log.append(value)
    return log
