"""No module of the compiler needs, by whatever detour, a module that needs it.

Imports count wherever they stand: at the top, in a function, and under TYPE_CHECKING.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

Graph = dict[str, set[str]]


def modules_of(folder: Path) -> dict[str, Path]:
    """The files of a package by the dotted names of their modules."""
    names = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        names[".".join(parts).removesuffix(".__init__")] = path
    return names


def imports(name: str, path: Path) -> Iterator[str]:
    """The dotted names that a module imports, of modules or of things in modules."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            yield from (f"{source}.{alias.name}" for alias in node.names)


def import_graph(folder: Path) -> Graph:
    modules = modules_of(folder)
    graph: Graph = {}
    for name, path in modules.items():
        found = imports(name, path)
        known = (n if n in modules else n.rpartition(".")[0] for n in found)
        graph[name] = {other for other in known if other in modules and other != name}
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """The groups of modules that need each other; what is left once all others went."""
    rest = {name: set(needed) for name, needed in graph.items()}
    while True:
        needed = set().union(*rest.values())
        free = {name for name in rest if not rest[name] or name not in needed}
        if not free:
            break
        rest = {name: rest[name] - free for name in rest.keys() - free}
    groups: list[list[str]] = []
    for name in sorted(rest):
        group = sorted({name, *(reached(rest, name) & reached_from(rest, name))})
        if len(group) > 1 and group not in groups:
            groups.append(group)
    return groups


def reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        for other in graph[pending.pop()] - found:
            found.add(other)
            pending.append(other)
    return found


def reached_from(graph: Graph, end: str) -> set[str]:
    return {name for name in graph if end in reached(graph, name)}


def test_modules_of_the_compiler_form_no_circle() -> None:
    assert circles(import_graph(ROOT / "autograph")) == []


def test_a_circle_is_found_however_it_is_hidden(tmp_path: Path) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    for name, text in {
        "__init__": "",
        "typed": "if TYPE_CHECKING:\n    from .late import f",
        "late": "def f():\n    from pkg import absolute",
        "absolute": "import pkg.typed",
        "above": "from . import typed",
        "below": "",
    }.items():
        (folder / f"{name}.py").write_text(text)

    assert circles(import_graph(folder)) == [["pkg.absolute", "pkg.late", "pkg.typed"]]
