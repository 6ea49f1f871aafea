"""Names that functions read: those of their texts, and what Python lists of code."""

from __future__ import annotations

import ast
import dis
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import autograph
import runtime as tf
from autograph.loading import disk_cache
from autograph.loading.name_uses import name_uses
from runtime.function import guards
from runtime.function.guards.names import names_of

X = tf.constant(10.0)


def traces(function: Any) -> int:
    return int(function.experimental_get_tracing_count())


def test_no_instructions_are_read() -> None:
    folder = Path(guards.__file__).parent
    modules = [*folder.glob("*.py"), Path(sys.modules[name_uses.__module__].__file__)]
    for path in modules:
        tree = ast.parse(path.read_text())
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        names |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        assert not names & {"dis", "opname", "co_code", "get_instructions"}, path


scale: Any = 1.0
sizes: Any = [1.0]


@pytest.mark.parametrize("converts", [True, False])
def test_a_renamed_opcode_hides_no_change(
    monkeypatch: pytest.MonkeyPatch, converts: bool
) -> None:
    monkeypatch.setattr(dis, "opname", [f"NEW_{name}" for name in dis.opname])
    monkeypatch.setattr(dis, "hasname", [])
    monkeypatch.setitem(globals(), "scale", 1.0)
    model = types.SimpleNamespace(rate=1.0)
    f = tf.function(lambda x: x * scale * model.rate, autograph=converts)
    assert float(f(X)) == 10.0
    monkeypatch.setitem(globals(), "scale", 2.0)
    assert float(f(X)) == 20.0
    model.rate = 3.0
    assert float(f(X)) == 60.0


def test_code_without_text_reads_all_of_its_names() -> None:
    model = types.SimpleNamespace(rate=1.0)
    variables: dict[str, Any] = {"tf": tf, "model": model, "scale": 1.0}
    source = "def f(x):\n    return x * scale * (lambda: getattr(model, 'rate'))()"
    exec(source, variables)
    f = tf.function(variables["f"])
    assert float(f(X)) == 10.0
    variables["scale"] = 2.0
    assert float(f(X)) == 20.0
    model.rate = 3.0
    assert float(f(X)) == 60.0
    assert traces(f) == 3


def test_names_that_the_text_does_not_show_are_read() -> None:
    def f() -> Any:
        return scale

    def other() -> Any:
        return sizes.rate

    f.__code__ = other.__code__.replace(
        co_firstlineno=f.__code__.co_firstlineno, co_name="f"
    )
    assert {"sizes", "rate"} <= {*names_of(f).globals, *names_of(f).attributes}


class Private:
    def __init__(self) -> None:
        self.__rate = 1.0

    def change(self, rate: float) -> None:
        self.__rate = rate

    @property
    def rate(self) -> float:
        return self.__rate

    def scaled(self, x: Any) -> Any:
        return x * self.__rate * self.rate


def test_private_names() -> None:
    model = Private()
    f = tf.function(lambda x: model.scaled(x))
    assert float(f(X)) == 10.0
    model.change(2.0)
    assert float(f(X)) == 40.0
    line = Private.scaled.__code__.co_firstlineno + 1
    assert names_of(Private.scaled).lines["_Private__rate"] == line


def test_a_chain_with_a_constant_index() -> None:
    config = types.SimpleNamespace(
        layers=[types.SimpleNamespace(size=1.0), types.SimpleNamespace(size=5.0)]
    )
    f = tf.function(lambda x: x * config.layers[0].size)
    assert float(f(X)) == 10.0
    config.layers[0].size = 2.0
    assert float(f(X)) == 20.0
    config.layers[0] = types.SimpleNamespace(size=3.0)
    assert float(f(X)) == 30.0
    config.layers = [types.SimpleNamespace(size=4.0)]
    assert float(f(X)) == 40.0


def test_what_a_helper_in_another_module_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "scale = 1.0\n\ndef scaled(x):\n    return x * scale\n"
    (tmp_path / "helpers_of_the_user.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    helpers = __import__("helpers_of_the_user")
    monkeypatch.setitem(sys.modules, "helpers_of_the_user", helpers)
    f = tf.function(lambda x: helpers.scaled(x))
    assert float(f(X)) == 10.0
    helpers.scale = 2.0
    assert float(f(X)) == 20.0
    (change,) = f.explain_retrace().changes
    assert (change.name, change.old, change.new) == ("global `scale`", "1.0", "2.0")
    assert str(change.place).endswith("helpers_of_the_user.py:4")


def test_a_captured_variable_is_told_with_its_line() -> None:
    rate = 1.0

    def f(x: Any) -> Any:
        y = x + 1
        return y * rate

    traced = tf.function(f)
    assert float(traced(X)) == 11.0
    rate = 2.0
    assert float(traced(X)) == 22.0
    (change,) = traced.explain_retrace().changes
    assert str(change.place).endswith(f":{f.__code__.co_firstlineno + 2}")


class Shape:
    sides = 3.0


def test_an_attribute_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tf.function(lambda x: x * Shape.sides)
    assert float(f(X)) == 30.0
    monkeypatch.setattr(Shape, "sides", 4.0)
    assert float(f(X)) == 40.0


REGISTRY: Any = {}


def register(function: Any) -> Any:
    REGISTRY[function.__name__] = function
    return function


@register
def doubled(x: Any) -> Any:
    return x * scale * 2.0


def test_a_loop_over_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function
    def f(x: Any) -> Any:
        for function in REGISTRY.values():
            x = function(x)
        return x

    monkeypatch.setitem(globals(), "scale", 1.0)
    assert float(f(X)) == 20.0
    monkeypatch.setitem(globals(), "scale", 3.0)
    assert float(f(X)) == 60.0
    monkeypatch.setitem(REGISTRY, "more", lambda x: x + scale)
    assert float(f(X)) == 63.0
    monkeypatch.setitem(globals(), "scale", 1.0)
    assert float(f(X)) == 21.0


def test_names_are_kept_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.delenv("AUTOGRAPH_NO_CACHE", raising=False)
    path = tmp_path / "program.py"
    path.write_text("def f(x):\n    return x.rate is scale\n")

    def uses() -> Any:
        disk_cache._write()
        disk_cache._files.clear()
        variables: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), variables)
        return name_uses(variables["f"]).uses

    first = uses()
    assert ("attribute", "rate", "read", (), 2) in first
    monkeypatch.setattr("autograph.pipeline.uses_of", None)
    assert uses() == first


def makers() -> Any:
    first, second = (lambda x: x * scale), (lambda x: x * sum(sizes))
    return first, second


def test_lambdas_of_converted_code_that_stand_on_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "scale", 1.0)
    monkeypatch.setitem(globals(), "sizes", [1.0])
    for function in autograph.convert(makers)():
        f = tf.function(lambda x, function=function: function(x))
        assert float(f(X)) == 10.0
        monkeypatch.setitem(globals(), "scale", 2.0)
        monkeypatch.setitem(globals(), "sizes", [2.0])
        assert float(f(X)) == 20.0
        monkeypatch.setitem(globals(), "scale", 1.0)
        monkeypatch.setitem(globals(), "sizes", [1.0])
        if sys.version_info < (3, 11):
            continue  # Which of the two it is cannot be told: all names count.
        names = names_of(function)
        assert not {"call", "cond", "idle"} & {*names.globals, *names.attributes}
