"""`autograph.verify`: what agrees, what differs, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import pytest

import autograph
from autograph.verification import Verification, Verifier, comparison, verifier
from autograph.verification.library import Library, libraries

tf = pytest.importorskip("runtime", exc_type=ImportError)  # WebAssembly has no NumPy
pytest_plugins = ["pytester"]


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def total(prices: Any, limit: Any) -> Any:
    result, dear = 0, []
    for price in prices:
        result += price * 100_000
        if price > limit:
            dear.append(price)
    return result, dear


def positive(n: Any) -> Any:
    if n < 0:
        raise ValueError(f"{n} is negative")
    print(f"fine: {n}")
    return n


def squares(n: Any) -> Any:
    def inner() -> Iterator[Any]:
        for i in range(n):
            if i > 2:
                yield i * i

    return sum(inner())


@dataclass
class Account:
    balance: Any = 0

    def deposit(self, amount: Any) -> Any:
        if amount > 0:
            self.balance = self.balance + amount
        return self

    def after(self, amount: Any) -> Any:
        return self.balance + amount if amount > 0 else self.balance


def verdicts(error: autograph.VerificationError) -> set[str]:
    return set(re.findall(r"^ +(same|different|refused) ", str(error), re.MULTILINE))


def test_this_library_is_known_by_its_entry_point() -> None:
    assert "runtime" in {p.name for p in entry_points(group="autograph.libraries")}
    assert "staged, numpy" in libraries()["runtime"].stagers()


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (collatz, (27,), "111"),
        (total, ([1, 2, 3], 1), "(600000, [2, 3])"),
        (positive, (3,), "3"),
        (positive, (-3,), "ValueError: -3 is negative"),
        (Account(5).after, (2,), "7"),
        (tf.function(collatz), (6,), "8"),
    ],
)
def test_ways_that_agree(
    function: Callable[..., Any], arguments: tuple[Any, ...], expected: str
) -> None:
    verification = autograph.verify(function, *arguments)

    assert verification.agrees
    assert verification.expected == expected
    ways = [result.way for result in verification.results]
    assert ways[:3] == ["converted", "eager", "staged, numpy"]
    assert len(str(verification).splitlines()) == 2


def test_the_first_statement_that_differs_is_named() -> None:
    with pytest.raises(autograph.VerificationError, match="AG410") as caught:
        autograph.verify(total, [10_000, 20_000, 30_000], 1)

    text = str(caught.value)
    assert verdicts(caught.value) == {"same", "different"}
    assert "gives (1705032704, [10000, 20000, 30000]), not (6000000000, " in text
    assert "`result` is -1294967296, not 3000000000" in text
    assert text.splitlines()[1].endswith("|         result += price * 100_000")


def grow(prices: Any, limit: Any) -> Any:
    result, dear = 0, []
    for price in prices:
        if price > limit:
            dear = [*dear, price]
        result = result + price * 100_000
    return result, len(dear)


def test_what_a_graph_cannot_show_is_no_difference() -> None:
    with pytest.raises(autograph.VerificationError) as caught:
        autograph.verify(grow, [10_000, 20_000, 30_000], 15_000)

    text = str(caught.value)
    assert "runs next" not in text
    assert text.count("`result` is -1294967296, not 3000000000") == 1


def test_a_refusal_is_told_with_its_code_and_line() -> None:
    with pytest.raises(AssertionError, match=r"refused +staged, numpy") as caught:
        autograph.verify(squares, 5)

    assert "AG303" in str(caught.value)
    assert "same       converted; eager" in str(caught.value)


def test_changes_of_arguments_are_compared() -> None:
    def add(numbers: Any, n: Any) -> Any:
        numbers["sum"] = numbers["sum"] + n
        return n

    with pytest.raises(autograph.VerificationError) as caught:
        autograph.verify(add, {"sum": 1}, 2)

    text = str(caught.value)
    assert "leaves the arguments ({'sum': 1}, 2), not ({'sum': 3}, 2)" in text
    assert "same       converted; eager" in text


def test_each_way_gets_a_copy_of_the_object_of_a_method() -> None:
    account = Account(5)
    with pytest.raises(autograph.VerificationError) as caught:
        autograph.verify(account.deposit, 2)

    assert account.balance == 5
    assert "deposit(2) gives {'Account': {'balance': 7}}" in str(caught.value)
    # A graph changes an object while it is traced, and not when it runs.
    assert "same       converted; eager" in str(caught.value)


def test_output_is_compared() -> None:
    def shows(n: Any) -> Any:
        print(type(n).__name__)
        return n

    with pytest.raises(autograph.VerificationError, match=r"prints '.*', not 'int"):
        autograph.verify(shows, 2)


def test_the_arguments_stay_as_they_are() -> None:
    def first(items: Any) -> Any:
        return items.pop()

    given = [1, 2]
    with pytest.raises(autograph.VerificationError):
        autograph.verify(first, given)
    assert given == [1, 2]


def test_an_executor_that_lacks_an_operation_is_told_and_no_difference() -> None:
    pytest.importorskip("jax")

    def name(n: Any) -> Any:
        return "large" if n > 2 else "small"

    verification = autograph.verify(name, 3)
    verdicts = {result.way: result.verdict for result in verification.results}
    assert verdicts["staged, xla"] == "unable"
    assert verdicts["staged, numpy"] == "same"


def test_where_no_way_is_able_nothing_was_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unable(*args: Any) -> Any:
        raise tf.errors.UnimplementedError(None, None, "no such operation")

    library = libraries()["runtime"]
    monkeypatch.setattr(library, "stagers", lambda: {"staged": lambda f: unable})
    monkeypatch.setattr(verifier, "convert", lambda f: f)
    verification = Verifier(positive).compare(verifier.Call((3,), {}))
    assert verification.agrees  # eager code was able to

    results = verification.results[:1] + verification.results[2:]
    assert not verification._replace(results=results).agrees


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n: Any) -> None:
        self.n = n


def test_what_objects_hold_is_compared() -> None:
    def as_python(value: Any) -> Any:
        return value

    def values(n: int) -> list[Any]:
        return [Slotted(n), (i for i in range(n)), {n}, [n], "text", None, Account(n)]

    for one, again, other in zip(values(1), values(1), values(2), strict=True):
        shown = [
            comparison.described(value, as_python) for value in (one, again, other)
        ]
        assert comparison.same(shown[0], shown[1], exact=True)
        is_constant = one in ("text", None)
        assert comparison.same(shown[0], shown[2], exact=True) == is_constant
    assert comparison.described(lambda: 1, as_python) == comparison.described(
        lambda: 2, as_python
    )


def test_an_error_where_the_original_has_another_is_no_refusal() -> None:
    def divided(n: Any, by: Any) -> Any:
        return n // by

    with pytest.raises(autograph.VerificationError) as caught:
        autograph.verify(divided, 1, 0)
    assert verdicts(caught.value) == {"same", "different"}


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'limit'"):
        autograph.verify(total, [1])


class Wrong:
    """A library whose staged functions take another way at 3."""

    def __init__(self, real: Library) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def stagers(self) -> dict[str, Any]:
        def staged(function: Any) -> Any:
            return lambda n: function(n + 1 if n == 3 else n)

        return {"staged": staged}


def test_another_path_is_a_difference_even_before_values_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def halves(n: Any) -> Any:
        if n % 2:
            odd = True
        else:
            odd = False
        return odd

    wrong = Wrong(libraries()["runtime"])
    monkeypatch.setattr(verifier, "libraries", lambda: {"wrong": wrong})

    found: Verification = Verifier(halves).compare(verifier.Call((3,), {}))
    (result,) = [one for one in found.results if one.way == "staged"]
    assert result.verdict == "different"
    assert re.search(r"line \d+ runs next, not line \d+$", result.text)
    assert all(one.verdict == "same" for one in found.results if one != result)


SUITE = """
    import shop

    def test_clip():
        assert shop.clip(30) == 10
        assert shop.ag.__name__ == "autograph.operators"

    def test_ways(autograph_verify):
        autograph_verify(shop.clip, 30)

    def test_difference(autograph_verify):
        autograph_verify(shop.shift, 30)
"""


def test_the_plugin_of_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        shop="""
            def clip(x):
                if x > 10:
                    x = 10
                return x

            def shift(x):
                return x << 30
        """,
        test_shop=SUITE,
        conftest="import shop",
    )
    pytester.syspathinsert()

    plugin = "-p", "autograph.verification.pytest_plugin", "-p", "no:cacheprovider"
    result = pytester.runpytest_subprocess(*plugin, "--autograph=shop")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["autograph: shop imported as converted code", "*AG410*"]
    )

    plain = pytester.runpytest_subprocess(*plugin, "-k", "clip")
    plain.assert_outcomes(failed=1, deselected=2)

    wrong = pytester.runpytest_subprocess(*plugin, "--autograph=a-b")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(["*'a-b' is not the name of a package*"])
