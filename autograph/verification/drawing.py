"""Arguments for the specs of a target: ``float32[?,3]``.

`sampled` draws a few by itself; `falsified` draws many by Hypothesis, and makes those
for which two ways differ as small as it can.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .library import Library, Spec
from .verifier import Call, Verification, Verifier

#: Sizes that may be any, and the values of numbers, are small: what overflows differs.
_LARGEST_SIZE = 5
_LARGEST = 100
_LETTERS = "abc é"

Specs = tuple[Sequence[Any], Mapping[str, Any]]


def sampled(specs: Specs, library: Library, seed: int) -> Call:
    """Arguments for the specs, the same for the same seed; positive for seed 0."""
    generator = random.Random(seed)
    least = -24 if seed else 1

    def size(known: int | None) -> int:
        return generator.randint(1, 3) if known is None else known

    def draw(spec: Spec) -> Any:
        values = _nested(_shape(spec), size, lambda: _number(spec, generator, least))
        return library.array(values, spec)

    return _call(specs, draw, library)


def falsified(
    specs: Specs,
    library: Library,
    count: int,
    verifier: Verifier,
) -> Verification | None:
    """What the ways give where they differ, for the smallest arguments that were found;
    None if they agree on all of ``count`` draws.

    Raises:
        TargetError: AG411, Hypothesis is not installed.
    """
    if find_spec("hypothesis") is None:
        why, fix = "random arguments need Hypothesis", "pip install hypothesis"
        raise TargetError(Diagnostic("AG411", "a library is missing", why, fix=fix))
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    @st.composite
    def arguments(draw: Any) -> Call:
        sizes = st.integers(0, _LARGEST_SIZE)

        def size(known: int | None) -> int:
            return int(draw(sizes)) if known is None else known

        def drawn(spec: Spec) -> Any:
            numbers = _strategy(spec, st)
            values = _nested(_shape(spec), size, lambda: draw(numbers))
            return library.array(values, spec)

        return _call(specs, drawn, library)

    found: list[Verification] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(arguments())
    def agree(drawn: Call) -> None:
        verification = verifier.compare(drawn)
        if not verification.agrees:
            found.append(verification)  # Hypothesis ends with the smallest
            raise verification.error()

    try:
        agree()
    except Exception:
        if not found:
            raise
    return found[-1] if found else None


def _call(specs: Specs, draw: Callable[[Spec], Any], library: Library) -> Call:
    args = _filled(list(specs[0]), draw, library)
    return Call(args, _filled(dict(specs[1]), draw, library), specs)


def _filled(structure: Any, draw: Callable[[Spec], Any], library: Library) -> Any:
    """The structure with drawn values in place of its specs."""
    if library.is_spec(structure):
        return draw(structure)
    if isinstance(structure, dict):
        return {key: _filled(part, draw, library) for key, part in structure.items()}
    if isinstance(structure, (list, tuple)):
        return type(structure)(_filled(part, draw, library) for part in structure)
    return structure


def _shape(spec: Spec) -> list[int | None]:
    sizes = spec.shape
    try:
        return list(sizes)
    except (TypeError, ValueError):  # the number of dimensions is not known, either
        return [None]


def _nested(
    shape: Sequence[int | None], size: Callable[[Any], int], draw: Callable[[], Any]
) -> Any:
    """A number, or lists of them in lists; rows have one length."""
    sizes = [size(known) for known in shape]

    def build(depth: int) -> Any:
        if depth == len(sizes):
            return draw()
        return [build(depth + 1) for _ in range(sizes[depth])]

    return build(0)


def _number(spec: Spec, generator: random.Random, least: int) -> Any:
    kind = _kind(spec)
    if kind == "bool":
        return generator.random() < 0.5
    if kind == "string":
        return "".join(generator.choices(_LETTERS, k=generator.randint(0, 4)))
    if kind == "int":
        return generator.randint(least, 24)
    if kind == "uint":
        return generator.randint(max(least, 0), 24)
    number = generator.randint(least, 24) / 8  # exact in every dtype
    return (
        complex(number, generator.randint(-24, 24) / 8) if kind == "complex" else number
    )


def _strategy(spec: Spec, st: Any) -> Any:
    kind = _kind(spec)
    floats = st.floats(-_LARGEST, _LARGEST, width=16)
    return {
        "bool": st.booleans(),
        "string": st.text(_LETTERS, max_size=8),
        "int": st.integers(-_LARGEST, _LARGEST),
        "uint": st.integers(0, _LARGEST),
        "complex": st.builds(complex, floats, floats),
    }.get(kind, floats)


def _kind(spec: Spec) -> str:
    """``int32`` → ``int``, and so on."""
    name = str(spec.dtype.name).rstrip("0123456789")
    return name if name in ("bool", "string", "int", "uint", "complex") else "float"
