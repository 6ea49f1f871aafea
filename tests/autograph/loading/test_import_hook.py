"""Imports of converted modules, and what their cache may and may not do."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import statistics
import subprocess
import sys
import traceback
import types
import warnings
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import autograph.operators
from autograph import ownership
from autograph.errors import AutographWarning, SourceError
from autograph.loading import disk_cache, import_hook
from autograph.loading.import_hook import import_module, install_import_hook
from autograph.options import ConversionOptions
from tests.toybackend import toy

BODY = """\
# A comment, so that lines count.
def clip(x):
    if x > 10:
        x = 10
    return x
"""


def is_converted(module: types.ModuleType) -> bool:
    return any(value is autograph.operators for value in vars(module).values())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `shop` with `shop.till`, and a module `depot`, ready to be imported."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "__init__.py").write_text(BODY)
    (folder / "till.py").write_text(
        "import depot\nfrom . import clip as outer\n" + BODY
    )
    (tmp_path / "depot.py").write_text(BODY)
    (tmp_path / "shopping.py").write_text(BODY)
    yield folder
    forget()
    sys.path_importer_cache.pop(str(tmp_path), None)


def forget() -> None:
    """As in a new process: the package was never imported."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("shop", "depot", "shopping"):
            del sys.modules[name]
    import_hook._copies.clear()
    importlib.invalidate_caches()


def cache_files(folder: Path, stem: str = "") -> list[str]:
    """The names of the hook's own cache files."""
    return sorted(p.name for p in folder.glob(f"__pycache__/{stem}*.autograph-*"))


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the modules that were converted rather than read from the cache."""
    converted: list[str] = []
    convert = import_hook.ConvertingLoader._convert

    def counting(loader: import_hook.ConvertingLoader, data: bytes) -> types.CodeType:
        converted.append(loader.name)
        return convert(loader, data)

    monkeypatch.setattr(import_hook.ConvertingLoader, "_convert", counting)
    return converted


# --- what is converted ----------------------------------------------------------------


def test_package_and_submodules_and_nothing_else(package: Path) -> None:
    with install_import_hook(["shop"]):
        import depot
        import shop.till
        import shopping

    assert is_converted(shop)
    assert is_converted(shop.till)
    assert not is_converted(depot)
    assert not is_converted(shopping)
    assert [m.clip(99) for m in (shop, shop.till, depot)] == [10, 10, 10]


def test_one_submodule_only(package: Path) -> None:
    with install_import_hook("shop.till"):
        import shop.till

    assert is_converted(shop.till)
    assert not is_converted(shop)


def test_uninstall_ends_it_and_may_be_repeated(package: Path) -> None:
    before = list(sys.meta_path)
    hook = install_import_hook(["shop"])
    import shop

    hook.uninstall()
    hook.uninstall()
    import shop.till

    assert sys.meta_path == before
    assert is_converted(shop)
    assert not is_converted(shop.till)


def test_hooks_stand_side_by_side(package: Path) -> None:
    with install_import_hook(["shop"]), install_import_hook(["depot"]):
        import depot
        import shop

    assert is_converted(depot)
    assert is_converted(shop)


def test_already_imported_is_warned_about(package: Path) -> None:
    import shop

    with pytest.warns(AutographWarning, match="shop was imported before") as warned:
        hook = install_import_hook(["shop"])
    hook.uninstall()

    assert warned[0].filename == __file__
    assert not is_converted(shop)


def test_imported_converted_is_no_reason_to_warn(package: Path) -> None:
    with install_import_hook(["shop"]):
        import shop  # noqa: F401
    with install_import_hook(["shop"]):
        pass


def test_modules_without_source_are_imported_as_ever() -> None:
    sys.modules.pop("xxsubtype", None)
    with install_import_hook(["xxsubtype", "no_such_package"]):
        import xxsubtype

        assert not is_converted(xxsubtype)
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            importlib.import_module("no_such_package")


@pytest.mark.parametrize("name", ["", "a b", ".shop", "shop.", "autograph", "gast.x"])
def test_wrong_names_are_refused(name: str) -> None:
    before = list(sys.meta_path)
    with pytest.raises(ValueError, match=r"is not the name|part of the compiler"):
        install_import_hook([name])

    assert sys.meta_path == before


def test_names_are_strings() -> None:
    with pytest.raises(TypeError, match="names of packages are strings, not 3"):
        install_import_hook([3])  # type: ignore[list-item]


def test_another_tools_loader_is_left_alone_aloud(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loader(importlib.machinery.SourceFileLoader):
        pass

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> object:
            if name != "depot":
                return None
            file = str(package.parent / "depot.py")
            return importlib.util.spec_from_file_location(
                name, loader=Loader(name, file)
            )

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    with install_import_hook(["depot"]):
        with pytest.warns(AutographWarning, match="loaded by .*Loader"):
            import depot

    assert not is_converted(depot)


def test_zip_archives(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "lib.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("shop/__init__.py", BODY)
        file.writestr("shop/data.txt", "data")
        file.writestr("shop/till.py", BODY)
    monkeypatch.syspath_prepend(str(archive))
    with install_import_hook(["shop"]):
        import shop.till

    assert str(archive) in shop.till.__file__
    assert is_converted(shop.till)
    assert shop.till.clip(99) == 10
    assert "if x > 10" in inspect.getsource(shop.till.clip)
    assert importlib.resources.files("shop").joinpath("data.txt").read_text() == "data"


# --- the module looks like itself -----------------------------------------------------


def test_positions_and_source_are_the_users(package: Path) -> None:
    (package / "till.py").write_text(
        "def fail(x):\n"
        "    if x:\n"
        "        y = x + 1\n"
        "        return y / 0\n"
        "    return x\n"
    )
    with install_import_hook(["shop"]):
        import shop.till

    with pytest.raises(ZeroDivisionError) as caught:
        shop.till.fail(1)
    frames = [
        (frame.lineno, frame.line)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == str(package / "till.py")
    ]
    assert frames[-1] == (4, "return y / 0")
    assert shop.till.__file__ == str(package / "till.py")
    assert inspect.getsource(shop.till.fail).startswith("def fail(x):\n    if x:")


def test_syntax_errors_are_pythons_own(package: Path) -> None:
    (package / "till.py").write_text("x = 1\ny = = 2\n")
    with install_import_hook(["shop"]), pytest.raises(SyntaxError) as caught:
        importlib.import_module("shop.till")

    assert (caught.value.filename, caught.value.lineno) == (str(package / "till.py"), 2)
    assert "shop.till" not in sys.modules


#: Hundreds of operators are nested too deeply.
ZEROS = " + ".join(["0"] * 900)


def test_only_what_is_nested_too_deeply_is_imported_as_it_is(package: Path) -> None:
    branches = "".join(f"        elif x == {i}: y = {i}\n" for i in range(300))
    (package / "deep.py").write_text(
        "total = " + " + ".join(["1"] * 900) + "\n"
        "def clip(x):\n    if x > total:\n        x = total\n    return x\n"
        "class Picker:\n    @staticmethod\n    def pick(x):\n"
        f"        if x == -1: y = -1\n{branches}        return y + {ZEROS}\n"
        "    def clip(self, x):\n        if x > 1: x = 1\n        return clip(x)\n"
    )
    with (
        install_import_hook(["shop"]),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        module = importlib.import_module("shop.deep")

    # Nothing in the sum would be converted.
    assert [str(w.message)[:5] for w in caught] == ["AG105"]
    assert (module.clip(901), module.Picker.pick(299)) == (900, 299)
    assert module.Picker().clip(3) == 1
    assert is_converted(module)
    names = module.clip.__code__.co_names + module.Picker.clip.__code__.co_names
    assert names.count("ag") == 2
    assert "ag" not in module.Picker.pick.__code__.co_names


def test_code_that_is_nested_too_deeply_is_imported_as_it_is(package: Path) -> None:
    branches = "".join(f"    elif x == {i}: y = {i}\n" for i in range(300))
    text = f"def pick(x):\n    if x == -1: y = -1\n{branches}    return y + {ZEROS}\n"
    (package / "deep.py").write_text(text)

    with install_import_hook(["shop"]), pytest.warns(AutographWarning, match="AG105"):
        module = importlib.import_module("shop.deep")
    assert module.pick(299) == 299


def test_encoding_declarations_and_bom(package: Path) -> None:
    (package / "till.py").write_bytes(b"# coding: latin-1\nname = 'caf\xe9'\n")
    (package / "bom.py").write_bytes(b"\xef\xbb\xbfname = '\xc3\xa9'\n")
    with install_import_hook(["shop"]):
        from shop import bom, till

    assert (till.name, bom.name) == ("café", "é")


# --- the cache ------------------------------------------------------------------------


def test_second_import_reads_the_cache(package: Path, conversions: list[str]) -> None:
    for _ in range(2):
        with install_import_hook(["shop"]):
            import shop.till
        assert is_converted(shop.till)
        forget()

    assert conversions == ["shop", "shop.till"]
    assert len(cache_files(package, "till.")) == 1


def test_same_size_edit_within_one_second(
    package: Path, conversions: list[str]
) -> None:
    """Neither the time nor the length of a file says that it is the same."""
    path = package / "till.py"
    for value in ("1", "2"):
        path.write_text(f"value = {value}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        with install_import_hook(["shop"]):
            import shop.till
        assert shop.till.value == int(value)
        forget()

    assert conversions == ["shop", "shop.till", "shop.till"]


def test_no_poisoning_between_hooked_and_plain(package: Path) -> None:
    """What one process imports plain, another one may want converted; and back."""
    with install_import_hook(["shop"]):
        import shop.till  # imports depot, plain

    assert cache_files(package.parent, "depot") == []
    forget()
    with install_import_hook(["shop", "depot"]):
        import depot
        import shop.till

        assert is_converted(depot)
    forget()
    import depot
    import shop.till

    assert not is_converted(depot)
    assert not is_converted(shop.till)


def test_patterns_choose_modules_and_what_they_call(package: Path) -> None:
    (package / "shelf.py").write_text(
        "import statistics\nfrom . import till\n"
        "def middle(xs):\n"
        "    return statistics.median(xs), till.clip(30), till.clip\n"
    )
    with install_import_hook(
        ["shop"], include=["statistics"], exclude=["shop.till"]
    ) as hook:
        from shop import shelf

    assert hook.options == ConversionOptions(True, ("statistics",), ("shop.till",))
    assert shelf.middle([1, 3, 2]) == (2, 10, shelf.till.clip)
    assert not is_converted(shelf.till)
    assert shelf.ag is autograph.operators.scoped("statistics", "shop.till")
    assert shelf.ag.call(statistics.median) is not statistics.median
    assert shelf.ag.call(shelf.till.clip) is shelf.till.clip
    assert autograph.operators.call(statistics.median) is statistics.median


def test_what_is_library_code_is_a_part_of_the_key(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_packages", set(ownership._packages))
    ownership.is_library_module.cache_clear()
    text = "import depot\ndef f(x):\n    return depot.clip(x)\n"
    (package / "shelf.py").write_text(text)
    with install_import_hook(["shop"]):
        from shop import shelf
    forget()
    autograph.add_library("depot")
    with install_import_hook(["shop"]):
        from shop import shelf as other

    assert len(cache_files(package, "shelf")) == 2
    assert (shelf.ag, hasattr(other, "ag")) == (autograph.operators, False)
    ownership.is_library_module.cache_clear()


def test_options_and_compiler_have_caches_of_their_own(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with install_import_hook(["shop"]):
        import shop
    forget()
    with install_import_hook(["shop"], ConversionOptions(recursive=False)):
        import shop
    forget()
    monkeypatch.setattr(disk_cache, "__version__", "0.0.0")
    monkeypatch.setattr(disk_cache, "_digests", {})
    with install_import_hook(["shop"]):
        import shop

    assert len(cache_files(package, "__init__")) == 3
    assert shop.__cached__.endswith(tuple(cache_files(package, "__init__")))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:40],
        lambda data: data[:16] + b"N",
        lambda data: bytes(4) + data[4:],
        lambda data: data[:8] + bytes(8) + data[16:],
    ],
    ids=["empty", "header", "cut", "not code", "other python", "other source"],
)
def test_damaged_cache_is_replaced(
    package: Path, conversions: list[str], damage: Callable[[bytes], bytes]
) -> None:
    with install_import_hook(["shop"]):
        import shop
    path = Path(shop.__cached__)
    good = path.read_bytes()
    path.write_bytes(damage(good))
    forget()
    with install_import_hook(["shop"]):
        import shop

    assert is_converted(shop)
    assert conversions == ["shop", "shop"]
    assert path.read_bytes() == good


def test_cache_folder_is_a_file(package: Path) -> None:
    (package / "__pycache__").write_text("in the way")
    with install_import_hook(["shop"]):
        import shop

    assert is_converted(shop)


def test_read_only_cache(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening for writing fails; file modes would not stop a test that runs as root."""

    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied", arguments[0])

    monkeypatch.setattr(disk_cache, "write_atomically", refuse)
    with install_import_hook(["shop"]):
        import shop

    assert is_converted(shop)
    assert cache_files(package) == []


def test_dont_write_bytecode(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with install_import_hook(["shop"]):
        import shop

    assert is_converted(shop)
    assert not (package / "__pycache__").exists()


def test_cache_elsewhere(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    with install_import_hook(["shop"]):
        import shop

    assert is_converted(shop)
    assert not (package / "__pycache__").exists()
    assert shop.__cached__.startswith(str(tmp_path / "cache"))


def test_moved_files_show_their_new_place(package: Path) -> None:
    with install_import_hook(["shop"]):
        import shop.till
    forget()
    package.joinpath("till.py").rename(package / "desk.py")
    old, new = cache_files(package, "till.")[0], package / "__pycache__"
    (new / old).rename(new / old.replace("till", "desk"))
    with install_import_hook(["shop"]):
        import shop.desk

    assert shop.desk.clip.__code__.co_filename == str(package / "desk.py")


def test_no_files_are_left_behind(package: Path) -> None:
    with install_import_hook(["shop"]):
        importlib.import_module("shop.till")

    assert [p for p in package.rglob("*") if p.name.endswith(".tmp")] == []


# --- one module -----------------------------------------------------------------------


def test_import_module_converts_only_that_one(package: Path) -> None:
    till = import_module("shop.till")

    assert is_converted(till)
    assert till is sys.modules["shop.till"]
    assert till is import_module("shop.till")
    assert sys.modules["shop"].till is till
    assert not is_converted(sys.modules["shop"])
    assert not is_converted(sys.modules["depot"])


def test_import_module_leaves_what_is_there(package: Path) -> None:
    import depot

    converted = import_module("depot")

    assert is_converted(converted)
    assert sys.modules["depot"] is depot
    assert not is_converted(depot)
    assert import_module("depot") is converted


def test_import_module_of_what_cannot_be(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_module("no_such_module")
    with pytest.raises(SourceError, match="AG406 module `sys`"):
        import_module("sys")
    sys.modules.pop("xxsubtype", None)
    with pytest.raises(SourceError, match="AG406 module `xxsubtype`"):
        import_module("xxsubtype")


def test_threads_that_import_at_once(package: Path) -> None:
    """What one thread hides from the compiler, the others must not miss."""
    names = [f"shop.part{i}" for i in range(8)]
    for name in names:
        body = "import time; time.sleep(0.01)\n" + BODY
        (package / f"{name.partition('.')[2]}.py").write_text(body)
    with install_import_hook(["shop"]), ThreadPoolExecutor(4) as pool:
        modules = list(pool.map(importlib.import_module, names))

    assert [is_converted(module) for module in modules] == [True] * 8
    assert [sys.modules[name] for name in names] == modules


def test_a_package_stays_where_other_threads_look_for_it(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python asks for the parent of a module more than once while it imports it."""
    from autograph import pipeline

    there: list[bool] = []

    def noted(*args: Any) -> Any:
        there.append("shop" in sys.modules)
        return convert(*args)

    convert = pipeline.convert_module
    monkeypatch.setattr(pipeline, "convert_module", noted)
    with install_import_hook(["shop"]):
        importlib.import_module("shop.till")

    assert there == [True, True]


# --- a process of its own -------------------------------------------------------------


def python(folder: Path, code: str, *options: str) -> str:
    """Run code in a fresh interpreter that writes bytecode; return what it printed."""
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(folder), *sys.path, environment.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, *options, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


REPORT = """
import sys
from autograph.loading.import_hook import install_import_hook
with install_import_hook(["shop"]):
    import shop.till
print(shop.till.clip(99), sorted({"gast", "astor", "numpy"} & set(sys.modules)))
"""


def test_cached_modules_need_no_compiler(package: Path) -> None:
    first = python(package.parent, REPORT)
    second = python(package.parent, REPORT)
    without = python(
        package.parent, "import sys; sys.modules['gast'] = None\n" + REPORT
    ).replace("'gast'", "")  # the None is in the way of an import, and listed

    assert "gast" in first
    assert second == "10 []\n"
    assert without == "10 []\n"


def test_optimized_has_a_cache_of_its_own(package: Path) -> None:
    (package / "till.py").write_text(
        "debug = __debug__\nassert not debug\ndef clip(x): 0\n"
    )
    code = REPORT + "print(shop.till.debug)"
    assert python(package.parent, code, "-O").endswith("False\n")
    assert python(package.parent, code, "-O").endswith("False\n")
    (package / "till.py").write_text(
        "debug = __debug__\nassert debug\ndef clip(x): 0\n"
    )
    assert python(package.parent, code).endswith("True\n")

    assert [".opt-1." in name for name in cache_files(package, "till.")] == [
        False,
        True,
    ]


def test_modules_that_the_compiler_itself_uses(package: Path) -> None:
    """The compiler imports plain ones for itself and leaves no trace of them."""
    output = python(
        package.parent,
        "import sys\n"
        "from autograph.loading.import_hook import install_import_hook\n"
        "from autograph import operators\n"
        "used = [n for n in ('textwrap', 'inspect', 'ast') if n not in sys.modules]\n"
        "with install_import_hook(used):\n"
        "    import textwrap, inspect, ast\n"
        "print(textwrap.dedent('  a'), *[\n"
        "    operators in vars(sys.modules[n]).values() for n in used])\n",
    )

    assert output.split()[0] == "a"
    assert "False" not in output


def test_lambdas_in_no_function(package: Path) -> None:
    (package / "till.py").write_text(
        "clip = lambda x: x if x < 3 else 3\n"
        "class Till:\n    full = lambda self, x: 1 if x > 5 else 0\n"
        "def best(x, key=lambda y: 0 - y if y < 0 else y):\n    return key(x)\n"
    )
    with install_import_hook(["shop"]):
        till = importlib.import_module("shop.till")
    functions = (till.clip, till.Till().full, till.best)

    parameter = toy.Parameter()
    staged = [function(parameter) for function in functions]

    for value in (-4, 2, 7):
        expected = [function(value) for function in functions]
        assert [toy.evaluate(one, {parameter: value}) for one in staged] == expected
