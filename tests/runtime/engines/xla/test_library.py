"""JAX as it is found: missing, old, with a cache of its own or without."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import runtime as tf
from runtime.engines.xla.library import _keep_programs, load


class Config(SimpleNamespace):
    """The settings of JAX."""

    jax_compilation_cache_dir: Any = None

    def update(self, name: str, value: Any) -> None:
        setattr(self, name, value)


@pytest.fixture
def fresh_load() -> Iterator[None]:
    load.cache_clear()
    yield
    load.cache_clear()


def imports(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    original = importlib.import_module

    def fake(name: str, *package: Any) -> Any:
        if name != "jax":
            return original(name, *package)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(importlib, "import_module", fake)


@pytest.mark.usefixtures("fresh_load")
def test_no_jax_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imports(monkeypatch, ImportError("No module named 'jax'"))
    f = tf.function(lambda x: x + 1.0, executor="xla")
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"pip install 'autograph-compiler\[xla\]'"
    ):
        f(tf.constant(1.0))
    concrete = tf.function(lambda x: x).get_concrete_function(tf.constant(1.0))
    for ask in (concrete.to_jax, concrete.stablehlo):
        with pytest.raises(tf.errors.UnimplementedError, match="No module named 'jax'"):
            ask()


@pytest.mark.usefixtures("fresh_load")
def test_an_old_jax_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    imports(monkeypatch, SimpleNamespace(__version__="0.4.9", config=Config()))
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"needs JAX 0\.4\.35 .* 0\.4\.9 is"
    ):
        load()


def test_programs_are_kept_on_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax: Any = SimpleNamespace(config=Config())
    _keep_programs(jax)
    assert jax.config.jax_compilation_cache_dir is None  # AUTOGRAPH_NO_CACHE in tests

    monkeypatch.delenv("AUTOGRAPH_NO_CACHE")
    _keep_programs(jax)
    folder = jax.config.jax_compilation_cache_dir
    assert os.path.isdir(folder)
    assert Path(folder).parent == tmp_path / "autograph-compiler" / "xla"

    jax.config.jax_compilation_cache_dir = "/chosen"
    _keep_programs(jax)
    assert jax.config.jax_compilation_cache_dir == "/chosen"
