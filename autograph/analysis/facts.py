"""`Facts`: the analysis of one function, which passes read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..interpreter import cached_property
from .collect import collect
from .containers import Containers
from .provably_python import ProvablyPython
from .tables import Tables


def analyze(
    fn: Any, *, enclosing: Iterable[str] = (), shadowed: Iterable[str] = ()
) -> Facts:
    """The facts about a function: a gast ``FunctionDef``, ``AsyncFunctionDef`` or
    ``Lambda``.

    ``enclosing`` are the local names of the functions around it, ``shadowed`` the
    names of builtins that the module defines anew. The function's own decorators,
    defaults and annotations belong to the scope around it and are not analysed.

    >>> import gast
    >>> tree = gast.parse('''
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         m = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         n, steps = m, steps + 1
    ...     return steps
    ... ''')
    >>> facts = analyze(tree.body[0])
    >>> loop = tree.body[0].body[1]
    >>> facts.writes(loop)
    {m, n, steps}
    >>> facts.live_head(loop)
    {n, steps}
    >>> facts.live_out(loop)
    {steps}
    """
    enclosing, shadowed = frozenset(enclosing), frozenset(shadowed)
    log = collect(fn, enclosing | shadowed)
    return Facts(log, enclosing, shadowed, {})


class Facts(Tables):
    """Facts about one function: its `Tables`, and what can be proved of its nodes."""

    def is_python_bool(self, expr: Any) -> bool:
        """Whether no tensor can affect the truth of an expression."""
        self._span(expr)
        return self._prove(ProvablyPython.truth, expr)

    def is_plain(self, expr: Any) -> bool:
        """Whether no tensor can be the value of an expression, or within it."""
        self._span(expr)
        return self._prove(ProvablyPython.value, expr)

    def is_never_staged_none(self, expr: Any) -> bool:
        """Whether no tensor can affect whether an expression is None."""
        self._span(expr)
        return self._prove(ProvablyPython.never_staged_none, expr)

    def is_python_iterable(self, expr: Any) -> bool:
        """Whether plain Python surely drives a loop over an expression."""
        self._span(expr)
        return self._prove(ProvablyPython.iterable, expr)

    def python_type(self, expr: Any) -> type | None:
        """The Python type that the value of an expression surely has, else None: for
        literals, displays, comprehensions, and names bound to these.
        """
        self._span(expr)
        if expr not in self._types:
            self._types[expr] = self._question().type_of(expr)
        return self._types[expr]

    def is_python_comprehension(self, expr: Any) -> bool:
        """Whether plain Python surely decides which items a comprehension has."""
        return self._prove(ProvablyPython.comprehension, expr)

    def python_iterations(self, expr: Any) -> list[bool]:
        """For each ``for`` of a comprehension, whether plain Python drives it."""
        return list(self._question().iterations(expr))

    def is_python_none_test(self, operand: Any) -> bool:
        """Whether ``operand is None`` is taken for a test that plain Python decides."""
        return self._prove(ProvablyPython.decides_none_test, operand)

    def may_depend_on_tensor(self, left: Any, right: Any) -> bool:
        """Whether a tensor may have selected either operand of ``left is right``."""
        return self._question().may_depend_on_tensor(left, right)

    @cached_property
    def _containers(self) -> Containers:
        return Containers(self)

    @cached_property
    def _types(self) -> dict[Any, type | None]:
        return {}

    @cached_property
    def _answers(self) -> dict[tuple[Any, Any], bool]:
        """The answers so far, by question and node."""
        return {}

    @cached_property
    def _proven(self) -> set[Any]:
        """The assumptions of the questions that were answered by yes, which hold."""
        return set()

    def _question(self) -> ProvablyPython:
        return ProvablyPython(self, self._containers, self._proven)

    def _prove(
        self, question: Callable[[ProvablyPython, Any], bool], about: Any
    ) -> bool:
        key = (question, about)
        if key not in self._answers:
            python = self._question()
            answer = self._answers[key] = question(python, about)
            if answer:
                self._proven.update(python.assumptions())
        return self._answers[key]
