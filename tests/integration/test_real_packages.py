"""Packages that many people use, converted: nothing fails, and the answers stay."""

from __future__ import annotations

import ast
import contextlib
import fractions
import heapq
import importlib.util
import json
import math
import os
import random
import statistics
import subprocess
import sys
import textwrap
import types
import warnings
import zlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import autograph
from autograph.loading import disk_cache
from autograph.options import DEFAULT
from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests.turns import EVERYTHING, quarter

ROOT = Path(__file__).parents[2]
STANDARD = ["statistics", "heapq", "textwrap", "fractions"]
INSTALLED = quarter(["mpmath", "networkx"])


# --- every function converts ----------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where converted code is kept, so that each module is converted only once here."""
    folder = tmp_path_factory.mktemp("bytecode")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "pycache_prefix", str(folder))
        yield folder


def files_of(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin)
    if path.name != "__init__.py":
        return [path]
    inside = sorted(path.parent.rglob("*.py"))
    # The packages' own tests are as much code again, and plainer.
    return [file for file in inside if EVERYTHING or "tests" not in file.parts]


def is_printed(package: str, path: Path) -> bool:
    sampled = zlib.crc32(path.name.encode()) % 6 == 0
    return EVERYTHING or package in STANDARD or sampled


def failures_in(package: str, path: Path) -> Iterator[str]:
    """What goes wrong when a file is converted, compiled and printed."""
    step = "convert"
    try:
        conversion = convert_module(Source.read(path))
        for diagnostic in conversion.diagnostics:
            if diagnostic.code == "AG199":
                yield f"{path}: {diagnostic.message}"
        step = "compile"
        code = conversion.code()
        disk_cache.store(
            disk_cache.cache_file(str(path), DEFAULT),
            str(path),
            path.read_bytes(),
            code,
        )
        if is_printed(package, path):
            step = "print"
            ast.parse(conversion.text)
    except Exception as error:
        yield f"{path}: {step}: {type(error).__name__}: {error}"


@pytest.mark.parametrize("package", STANDARD + INSTALLED)
def test_every_module_converts(package: str, cache: Path) -> None:
    pytest.importorskip(package, reason="the `test` extra installs it")
    files = files_of(package)
    with warnings.catch_warnings():
        # Raw strings that are missing in the packages are theirs to mend.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.filterwarnings("ignore", "invalid escape", DeprecationWarning)
        failures = [text for path in files for text in failures_in(package, path)]
    assert len(files) >= (40 if package in INSTALLED else 1)
    assert not failures, "\n".join(failures)


# --- standard modules answer the same -------------------------------------------------


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The result with its type, or the error: what a caller can tell apart."""
    try:
        result = function(*args, **kwargs)
        if isinstance(result, Iterator):
            result = list(result)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"{type(result).__name__} {result!r}"


def converted(original: types.ModuleType) -> types.ModuleType:
    module = autograph.import_module(original.__name__)
    assert module is not original
    return module


def test_statistics() -> None:
    ours = converted(statistics)
    random_ = random.Random(1)
    samples: list[list[Any]] = [
        [],
        [7],
        [1, 2],
        [3, 1, 2, 2, 9],
        [5, 5, 5, 5],
        [0, -1, 4],
        [1.5, 2.25, -3.0, 1e6],
        [1e308, 1e308, -1e308],
        [0.1] * 10,
        [1.0, math.nan, 2.0],
        [1.0, math.inf],
        [Fraction(1, 3), Fraction(2, 7), Fraction(5)],
        [Decimal("0.1"), Decimal("0.35"), Decimal("2")],
        [1, Fraction(1, 2), 0.25],
        [1, Decimal(2), Fraction(1, 2)],
        list("abbccc"),
        ["a", 1],
        [None, 2],
        [random_.gauss(10, 3) for _ in range(60)],
        [random_.randrange(50) for _ in range(61)],
    ]
    names = (
        "mean fmean geometric_mean harmonic_mean median median_low median_high "
        "median_grouped mode multimode pstdev pvariance stdev variance quantiles"
    ).split()
    for name in names:
        for sample in samples:
            expected = outcome(getattr(statistics, name), sample)
            assert outcome(getattr(ours, name), sample) == expected, (name, sample)
    for n in [0, 1, 3, 10]:
        for method in ["inclusive", "exclusive", "other"]:
            for sample in samples[2:5]:
                options = {"n": n, "method": method}
                expected = outcome(statistics.quantiles, sample, **options)
                assert outcome(ours.quantiles, sample, **options) == expected


def test_statistics_of_two_samples() -> None:
    ours = converted(statistics)
    pairs: list[tuple[list[Any], list[Any]]] = [
        ([1, 2, 3, 5], [2.0, 4.5, 5.5, 11.0]),
        ([1, 1, 1], [1, 2, 3]),
        ([1, 2], [1, 2, 3]),
        ([1], [1]),
        ([Fraction(1, 2), 3, 4], [Fraction(1, 3), 1, 7]),
    ]
    for name in ["correlation", "covariance", "linear_regression"]:
        for x, y in pairs:
            expected = outcome(getattr(statistics, name), x, y)
            assert outcome(getattr(ours, name), x, y) == expected, (name, x, y)
    for weights in [[1, 2, 3], [0, 0, 0], [1, 2], [-1, 2, 3]]:
        expected = outcome(statistics.harmonic_mean, [40, 60, 5], weights)
        assert outcome(ours.harmonic_mean, [40, 60, 5], weights) == expected
    normal, our_normal = statistics.NormalDist(3, 2), ours.NormalDist(3, 2)
    for x in [-4.0, 0.0, 0.01, 0.5, 0.99, 1.0, 3, 12.5]:
        for name in ["pdf", "cdf", "inv_cdf", "zscore"]:
            expected = outcome(getattr(normal, name), x)
            assert outcome(getattr(our_normal, name), x) == expected, (name, x)
    other, our_other = statistics.NormalDist(4, 3), ours.NormalDist(4, 3)
    assert our_normal.overlap(our_other) == normal.overlap(other)
    assert our_normal.samples(5, seed=2) == normal.samples(5, seed=2)
    assert outcome(ours.NormalDist, 0, -1) == outcome(statistics.NormalDist, 0, -1)


def test_heapq() -> None:
    ours = converted(heapq)
    random_ = random.Random(2)
    for size in [0, 1, 2, 7, 40]:
        items = [random_.randrange(30) for _ in range(size)]
        assert history(ours, items) == history(heapq, items)
        runs = [sorted(items[k::3]) for k in range(3)]
        for options in [{}, {"key": lambda x: x // 5}, {"reverse": True}]:
            if "reverse" in options:
                runs = [run[::-1] for run in runs]
            assert list(ours.merge(*runs, **options)) == list(
                heapq.merge(*runs, **options)
            )
        for n in [-1, 0, 1, 3, size, size + 1]:
            for key in [None, lambda x: -x, lambda x: x % 4]:
                assert ours.nlargest(n, items, key) == heapq.nlargest(n, items, key)
                assert ours.nsmallest(n, items, key) == heapq.nsmallest(n, items, key)
    mixed = [1, "a", 2]
    assert outcome(ours.nlargest, 2, mixed) == outcome(heapq.nlargest, 2, mixed)


def history(module: types.ModuleType, items: list[int]) -> list[Any]:
    """What a heap looks like after each of many operations."""
    heap = list(items)
    module.heapify(heap)
    seen: list[Any] = [list(heap)]
    for k, item in enumerate(items):
        if k % 3 == 0:
            module.heappush(heap, item + 1)
        else:
            seen.append((module.heapreplace, module.heappushpop)[k % 2](heap, item))
        seen.append(list(heap))
    while heap:
        seen.append(module.heappop(heap))
    for name in ["heappop", "heapreplace"]:
        with contextlib.suppress(AttributeError):
            arguments = [0] if name == "heapreplace" else []
            seen.append(outcome(getattr(module, name), heap, *arguments))
    return seen


def test_textwrap() -> None:
    ours = converted(textwrap)
    paragraphs = [
        *(str(m.__doc__) for m in (textwrap, statistics, heapq, json, fractions)),
        str(textwrap.TextWrapper.__doc__),
        "",
        "   ",
        "a-hyphenated-word and an_unbreakable_one_that_is_rather_long -- dashes",
        "\ttabs\tand\n\n    indented\n  lines. Ends.  Two spaces",
    ]
    variants: list[dict[str, Any]] = [
        {},
        {"initial_indent": "* ", "subsequent_indent": "  "},
        {"break_long_words": False, "break_on_hyphens": False},
        {"fix_sentence_endings": True, "expand_tabs": False},
        {"replace_whitespace": False, "drop_whitespace": False},
        {"max_lines": 3, "placeholder": " …"},
    ]
    for text in paragraphs:
        for width in [-1, 0, 1, 5, 12, 31, 70, 200]:
            for options in variants:
                if width <= 2 and "initial_indent" in options:
                    continue  # textwrap does not end where indents fill the line
                expected = outcome(textwrap.wrap, text, width, **options)
                assert outcome(ours.wrap, text, width, **options) == expected
            assert outcome(ours.fill, text, width) == outcome(
                textwrap.fill, text, width
            )
            assert outcome(ours.shorten, text, width) == outcome(
                textwrap.shorten, text, width
            )
        assert ours.dedent(text) == textwrap.dedent(text)
        assert ours.indent(text, "> ") == textwrap.indent(text, "> ")
        chosen = ours.indent(text, "+", lambda line: len(line) % 2 == 0)
        assert chosen == textwrap.indent(text, "+", lambda line: len(line) % 2 == 0)


def test_fractions() -> None:
    ours = converted(fractions)
    literals: list[Any] = [
        *["3", "-3/4", " 7/21 ", "1.25e-3", "+.5", "1_000/3", "1/0", "x", "3/-4", ""],
        *[0, -5, 0.375, math.inf, math.nan, Decimal("1.1"), None, 1j],
    ]
    for value in literals:
        assert outcome(ours.Fraction, value) == outcome(Fraction, value), value
    values = [(0, 1), (1, 3), (-7, 2), (22, 7), (10, 1)]
    operations = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "divmod"]
    for a in values:
        for operation in operations:
            for b in [*values, 3, -2, 0.5, 2j, "s"]:
                expected = calculated(Fraction, operation, a, b)
                assert calculated(ours.Fraction, operation, a, b) == expected
    for a in values:
        plain, our = Fraction(*a), ours.Fraction(*a)
        for name in ["__hash__", "__floor__", "__ceil__", "__round__", "__str__"]:
            assert getattr(our, name)() == getattr(plain, name)()
        assert repr(our.limit_denominator(2)) == repr(plain.limit_denominator(2))
        assert outcome(round, our, 1) == outcome(round, plain, 1)
        assert outcome(format, our, ".3f") == outcome(format, plain, ".3f")


def calculated(kind: Any, operation: str, a: tuple[int, int], b: Any) -> str:
    right = kind(*b) if isinstance(b, tuple) else b
    names = {"a": kind(*a), "b": right}
    text = "divmod(a, b)" if operation == "divmod" else f"a {operation} b"
    return outcome(lambda: eval(text, names))


# --- installed packages answer the same -----------------------------------------------

MPMATH = """
import mpmath as m
m.mp.dps = 50
print(m.zeta(3), m.zeta(m.mpc(0.5, 14)), m.gamma(m.mpf(1) / 3))
print(m.quad(lambda x: m.exp(-x * x), [0, m.inf]))
print(m.findroot(m.cos, 1.5), m.polyroots([1, 0, -2, 5]))
a = m.matrix([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
print(m.eigsy(a)[0], m.eig(m.matrix([[0, 1], [-2, 3]]))[0], m.det(a), a ** -1)
print(m.besselj(2, 3.5), m.hyp2f1(1, 2, 3, 0.25))
print(m.nsum(lambda n: 1 / n**2, [1, m.inf]))
print(m.identify(m.sqrt(2) + 1), m.taylor(m.sin, 0, 5), m.diff(m.exp, 1))
try:
    m.findroot(lambda x: x * x + 1, 1)
except ValueError as error:
    print(str(error)[:40])
"""

NETWORKX = """
import networkx as nx
g = nx.les_miserables_graph()
print(nx.shortest_path(g, "Napoleon", "Marius"))
print(nx.dijkstra_path_length(g, "Javert", "Cosette", weight="weight"))
print(sorted(nx.degree_centrality(g).items())[:5], nx.diameter(g))
print(sorted(map(sorted, nx.biconnected_components(g)))[:3])
print(sorted(round(x, 9) for x in nx.betweenness_centrality(g).values()))
print(sorted(nx.minimum_spanning_tree(g).edges)[:9])
d = nx.DiGraph()
d.add_weighted_edges_from(
    [(0, 1, 3), (0, 2, 2), (1, 2, 1), (1, 3, 2), (2, 3, 4)], weight="capacity")
print(nx.maximum_flow(d, 0, 3), nx.minimum_cut(d, 0, 3))
print(list(nx.topological_sort(d)), nx.dag_longest_path(d))
p = nx.petersen_graph()
print(nx.check_planarity(p)[0], nx.check_planarity(nx.grid_2d_graph(3, 4))[0])
print(nx.is_isomorphic(p, nx.relabel_nodes(p, {k: (k * 3 + 1) % 10 for k in p})))
print(nx.is_isomorphic(nx.cycle_graph(6), nx.path_graph(6)))
print(nx.max_weight_matching(nx.path_graph(5)), nx.greedy_color(p))
print([sorted(c) for c in nx.find_cliques(nx.complete_graph(4))])
try:
    nx.shortest_path(nx.empty_graph(2), 0, 1)
except nx.NetworkXNoPath as error:
    print(error)
"""

HOOKED = """
import autograph
autograph.install_import_hook([{package!r}])
import {package}
assert type({package}.__loader__).__name__ == "ConvertingLoader"
"""


def output_of(program: str, cache: Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(cache),
        # Sets of strings are to be walked in one order.
        "PYTHONHASHSEED": "0",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", INSTALLED)
def test_same_answers_under_the_import_hook(package: str, cache: Path) -> None:
    pytest.importorskip(package, reason="the `test` extra installs it")
    program = {"mpmath": MPMATH, "networkx": NETWORKX}[package]
    plain = output_of(program, cache)
    assert plain.count("\n") > 5
    assert output_of(HOOKED.format(package=package) + program, cache) == plain
