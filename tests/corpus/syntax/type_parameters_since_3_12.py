"""Type parameters, ``type`` statements and f-strings without their old limits."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases(([3, 1, 2],), ([],))
def largest[T](values: list[T]) -> T | None:
    best: T | None = None
    for value in values:
        if best is None or value > best:
            best = value
    return best


@cases((2,), (-2,))
def local_alias(x):
    type Number = int | float

    def scaled[T: Number](value: T) -> T:
        if value > 0:
            return value * 2
        return value

    return scaled(x), Number.__name__


@cases((2,), (-2,))
def nested_quotes(x):
    return f"{"plus" if x > 0 else "minus"} {f"{x and f"{x}"}"}"
