"""Converted modules through ordinary imports.

`install_import_hook` puts a finder in front of Python's own. For a module of the given
packages it asks the other finders for the spec, and replaces the loader by one that
converts the source. The code runs under the module's own file name and lines, and is
cached (see `disk_cache`).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import threading
import types
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any, cast
from zipimport import zipimporter

from ..diagnostics import Diagnostic
from ..errors import AutographWarning, SourceError
from ..interpreter import no_collection
from ..options import DEFAULT, ConversionOptions, matches, patterns
from . import disk_cache
from . import on_demand as _on_demand  # noqa: F401  (registers the converter)


class ImportHook:
    """A handle on an installed hook, and a context manager that removes it at the end.

    Modules that were imported converted stay so after `uninstall`.
    """

    def __init__(
        self, packages: tuple[str, ...], options: ConversionOptions, exact: bool = False
    ) -> None:
        self.packages = packages
        self.options = options
        self._exact = exact

    def __repr__(self) -> str:
        return f"ImportHook({list(self.packages)})"

    def __enter__(self) -> ImportHook:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.uninstall()

    def uninstall(self) -> None:
        """Convert no further modules. Does nothing the second time."""
        if self in sys.meta_path:
            sys.meta_path.remove(cast(Any, self))

    def matches(self, name: str) -> bool:
        """Whether the hook converts the module of this name."""
        if matches(name, self.options.exclude):
            return False
        if self._exact:
            return name in self.packages
        return any(name == p or name.startswith(p + ".") for p in self.packages)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The other finders' spec, with a loader that converts. `import` calls this."""
        if not self.matches(fullname) or getattr(_busy, "compiling", False):
            return None
        spec = _spec_of_others(fullname, path, target)
        if spec is None or not isinstance(spec.origin, str) or not spec.has_location:
            return spec
        inner: Any = spec.loader
        if type(inner) not in (SourceFileLoader, zipimporter):
            if hasattr(inner, "source_to_code") or hasattr(inner, "get_code"):
                _warn_of_other_loader(fullname, inner)
            return spec
        if spec.origin.endswith(".pyc"):
            return spec  # no source to convert
        loader = ConvertingLoader(fullname, spec.origin, inner, self.options)
        spec.loader = loader
        spec.cached = loader.cache_file
        return spec


def _spec_of_others(
    fullname: str, path: Sequence[str] | None, target: types.ModuleType | None
) -> ModuleSpec | None:
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is not None and not isinstance(finder, ImportHook):
            spec: ModuleSpec | None = find_spec(fullname, path, target)
            if spec is not None:
                return spec
    return None


def _warn_of_other_loader(name: str, loader: object) -> None:
    machinery = importlib.machinery
    if not isinstance(
        loader, (machinery.SourcelessFileLoader, machinery.ExtensionFileLoader)
    ):
        kind = f"{type(loader).__module__}.{type(loader).__qualname__}"
        warnings.warn(
            f"{name} is not converted: it is loaded by {kind}, not by Python itself",
            AutographWarning,
            stacklevel=2,
        )


class ConvertingLoader(SourceFileLoader):
    """Loads one module as converted code."""

    #: What this loader loads needs no conversion: see `autograph.loading.on_demand`.
    converts = True

    def __init__(
        self,
        fullname: str,
        path: str,
        inner: SourceFileLoader | zipimporter,
        options: ConversionOptions,
    ) -> None:
        super().__init__(fullname, path)
        self.inner = inner
        self.options = options
        self.cache_file = disk_cache.cache_file(path, options)
        self.thread = 0

    def get_data(self, path: str) -> bytes:
        """The bytes of a file of the package, also from a zip archive."""
        return self.inner.get_data(path)

    def get_resource_reader(self, name: str | None = None) -> Any:
        """The wrapped loader's reader: conversion does not touch package data."""
        return cast(Any, self.inner).get_resource_reader(name or self.name)

    def get_code(self, fullname: str) -> types.CodeType:
        """The converted code of the module, from the cache where that is valid."""
        self.thread = threading.get_ident()
        data = self.get_data(self.path)
        cached = disk_cache.load(self.cache_file, self.path, data)
        if isinstance(cached, types.CodeType):
            return cached
        code = self._convert(data)
        if not sys.dont_write_bytecode:
            disk_cache.store(self.cache_file, self.path, data, code)
        return code

    def _convert(self, data: bytes) -> types.CodeType:
        # Invalid source raises Python's own SyntaxError.
        plain: types.CodeType = compile(data, self.path, "exec", dont_inherit=True)
        with _compiling():
            try:
                code, diagnostics = self._converted(data)
            except SourceError as error:  # valid Python, but nested too deeply
                _warn_of_refusal(error.diagnostics[0], self.path)
                return plain
        for diagnostic in diagnostics:
            _warn_of_refusal(diagnostic, self.path)
        return code

    @no_collection()
    def _converted(self, data: bytes) -> tuple[types.CodeType, tuple[Diagnostic, ...]]:
        from ..pipeline import convert_module
        from ..source.text import Source

        text = importlib.util.decode_source(data)
        conversion = convert_module(Source(text, self.path), self.options)
        with warnings.catch_warnings():
            # Compiling the source as written has given these warnings.
            warnings.simplefilter("ignore", SyntaxWarning)
            return conversion.code(), conversion.diagnostics


def _warn_of_refusal(diagnostic: Diagnostic, filename: str) -> None:
    line = diagnostic.location.lineno if diagnostic.location else 1
    text = f"{diagnostic.code} {diagnostic.title}"
    if diagnostic.message:
        text += f": {diagnostic.message}"
    warnings.warn_explicit(text, AutographWarning, filename, line)


_busy = threading.local()


@contextmanager
def _compiling() -> Iterator[None]:
    """The context in which this thread converts a module.

    The compiler itself imports modules of Python's library that a hook may be meant
    for, even the very module that is being imported. It gets them unconverted and
    complete; afterwards they are removed, so that the program gets converted ones. All
    other modules stay in `sys.modules`, where other threads look for them.
    """
    nested = getattr(_busy, "compiling", False)
    present = dict(sys.modules)
    unfinished = {
        name: module
        for name, module in present.items()
        if name.partition(".")[0] in sys.stdlib_module_names
        and _is_unfinished_here(module)
    }
    for name in unfinished:
        del sys.modules[name]
    _busy.compiling = True
    try:
        yield
    finally:
        _busy.compiling = nested
        hooks = [finder for finder in sys.meta_path if isinstance(finder, ImportHook)]
        for name in set(sys.modules) - set(present):
            is_plain = not _is_converted(sys.modules.get(name))
            if is_plain and any(hook.matches(name) for hook in hooks):
                del sys.modules[name]
        sys.modules.update(unfinished)


def _is_unfinished_here(module: types.ModuleType) -> bool:
    """Whether this thread has begun but not finished to import a converted module."""
    spec = getattr(module, "__spec__", None)
    loader = getattr(spec, "loader", None)
    return (
        isinstance(loader, ConvertingLoader)
        and getattr(spec, "_initializing", False)
        and loader.thread == threading.get_ident()
    )


def install_import_hook(
    packages: Iterable[str],
    options: ConversionOptions = DEFAULT,
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
) -> ImportHook:
    """Import the modules of `packages`, submodules included, as converted code.

    `include` and `exclude` are patterns of modules, as for `convert`: they select the
    callees to convert. The hook does not convert excluded modules either.

    Returns a handle with `uninstall()`, which is a context manager too. Warns about
    modules that were imported already: they stay as they are. Modules that are not
    Python source (extensions, namespace packages) are imported as ever.

    >>> with install_import_hook(["mypkg"]) as hook:
    ...     hook
    ImportHook(['mypkg'])
    """
    names = _checked_names(packages)
    options = options._replace(
        include=patterns([*options.include, *include], "include"),
        exclude=patterns([*options.exclude, *exclude], "exclude"),
    )
    hook = ImportHook(names, options)
    sys.meta_path.insert(0, cast(Any, hook))
    for name, module in sorted(sys.modules.items()):
        if hook.matches(name) and not _is_converted(module):
            warnings.warn(
                f"{name} was imported before the hook was installed: it stays "
                "unconverted",
                AutographWarning,
                stacklevel=2,
            )
    return hook


def _checked_names(packages: Iterable[str]) -> tuple[str, ...]:
    if isinstance(packages, str):
        packages = [packages]
    names = tuple(packages)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names of packages are strings, not {name!r}")
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{name!r} is not the name of a package")
        if name.partition(".")[0] in disk_cache.COMPILER:
            raise ValueError(f"{name!r} is a part of the compiler: it stays as it is")
    return names


def _is_converted(module: types.ModuleType | None) -> bool:
    spec = getattr(module, "__spec__", None)
    return isinstance(getattr(spec, "loader", None), ConvertingLoader)


_copies: dict[tuple[str, ConversionOptions], types.ModuleType] = {}


def import_module(name: str, options: ConversionOptions = DEFAULT) -> types.ModuleType:
    """Import one module, and only it, as converted code, and return it.

    Its parent packages and its own imports stay unconverted. If the module was imported
    unconverted before, it stays in `sys.modules` and for all who refer to it; the
    converted module is a separate copy, the same at each call.

    Raises ModuleNotFoundError if there is no such module, and SourceError AG406 if it
    has no Python source.

    >>> import statistics
    >>> converted = import_module("statistics")
    >>> converted.median([3, 1, 2])
    2
    >>> converted is statistics
    False
    """
    (name,) = _checked_names([name])
    existing = sys.modules.get(name)
    if existing is None:
        return _import_new(name, options)
    if _is_converted(existing):
        return existing
    if (name, options) not in _copies:
        _copies[name, options] = _import_copy(name, options)
    return _copies[name, options]


def _import_new(name: str, options: ConversionOptions) -> types.ModuleType:
    hook = ImportHook((name,), options, exact=True)
    sys.meta_path.insert(0, cast(Any, hook))
    try:
        module = importlib.import_module(name)
    finally:
        hook.uninstall()
    if not _is_converted(module):
        raise _no_source(name)
    return module


def _import_copy(name: str, options: ConversionOptions) -> types.ModuleType:
    parent = name.rpartition(".")[0]
    path = importlib.import_module(parent).__path__ if parent else None
    spec = ImportHook((name,), options, exact=True).find_spec(name, path)
    if spec is None or not isinstance(spec.loader, ConvertingLoader):
        raise _no_source(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _no_source(name: str) -> SourceError:
    return SourceError(
        Diagnostic(
            "AG406",
            f"module `{name}` cannot be imported converted",
            "it has no Python source, or another tool loads it",
        )
    )
