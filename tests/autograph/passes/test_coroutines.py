"""Coroutines, which are converted and never staged."""

from __future__ import annotations

import asyncio
import sys

import pytest

import autograph
from autograph.pipeline import convert_module
from autograph.source.text import Source


async def asynchronous_comprehensions(xs):
    async def items():
        for x in xs:
            yield x

    some = xs and [x async for x in items()]
    odd = {x async for x in items() if x % 2} if xs else None
    return some, odd, not {x: y async for y in items() for x in xs}


@pytest.mark.parametrize("xs", [[], [1, 2, 4]])
def test_asynchronous_comprehensions_stay_in_their_coroutine(xs):
    converted = autograph.convert(asynchronous_comprehensions)

    expected = asyncio.run(asynchronous_comprehensions(xs))
    assert asyncio.run(converted(xs)) == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="not Python before")
def test_asynchronous_comprehensions_within_others() -> None:
    text = "async def f(xs, ys):\n    return {sum([x async for x in xs]) for y in ys}\n"
    convert_module(Source(text, "f.py")).code()
