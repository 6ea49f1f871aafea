"""The pages of the site that no file of docs/ has, as Markdown.

- the first page, from README.md;
- the reference: the public names of both packages, by namespace, as they are after the
  import. Many operations are made then: griffe, which mkdocstrings asks, misses a name
  of six;
- a page for each error code, from docs/errors.md;
- examples, benchmarks and the changelog, from their folders.

It needs no MkDocs, so that the tests of the packages can run it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from plots import plotted, ratios

ROOT = Path(__file__).parents[1]
PACKAGES = ["autograph", "autograph.operators", "runtime"]
#: Files outside of docs/ that are pages of the site.
ELSEWHERE = {
    "examples/README.md": "programs.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
_LINK = re.compile(r"(?<![\w\])])\[([^]]*)\]\((?!\w+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^### (AG\d{3}) (.*)\n((?:(?!##).*\n?)*)", re.MULTILINE)
_DOCTEST = re.compile(r"^>>> .*(?:\n.+)*(?:\n\n>>> .*(?:\n.+)*)*", re.MULTILINE)
_SECTION = re.compile(
    r"^(Args|Raises|Returns|Yields):\n((?: {4}.*\n?|\n)+)", re.MULTILINE
)
_VERBATIM = re.compile(r"(^```.*?^```$|``.+?``|`[^`]+`)", re.MULTILINE | re.DOTALL)


def namespaces() -> Iterator[tuple[str, dict[str, Any]]]:
    """The public namespaces, each with its public names but other namespaces."""
    pending = [(name, importlib.import_module(name)) for name in PACKAGES]
    while pending:
        path, space = pending.pop(0)
        members = {name: getattr(space, name) for name in space.__all__}
        inner = {n: one for n, one in members.items() if isinstance(one, ModuleType)}
        pending += [
            (f"{path}.{name}", one)
            for name, one in inner.items()
            if one.__name__.startswith("runtime.") and name != "v2"
        ]
        yield path, {name: members[name] for name in members if name not in inner}


def reference(path: str, members: dict[str, Any]) -> str:
    """The page of a namespace.

    Raises:
        ValueError: a function or class says nothing of itself.
    """
    silent = [
        name
        for name, one in members.items()
        if callable(one) and not (one.__doc__ or "").strip()
    ]
    if silent:
        raise ValueError(f"no docstrings in {path}: {', '.join(silent)}")
    parts = [f"# {path}\n"]
    for name, one in members.items():
        parts.append(_described(f"{path}.{name}", name, one, 2))
        if inspect.isclass(one):
            parts += [
                _described(f"{path}.{name}.{member}", f"{name}.{member}", value, 3)
                for member, value in inspect.getmembers(one)
                if member in vars(one) and not member.startswith("_") and value.__doc__
                if inspect.isroutine(value) or isinstance(value, property)
            ]
    return "\n".join(parts)


def _described(anchor: str, name: str, one: Any, level: int) -> str:
    title = f"{'#' * level} `{name}` {{#{anchor}}}\n"
    if not callable(one) and not isinstance(one, property):
        return f"{title}\n```python\n{one!r}\n```\n"
    code = f"\n```python\n{name}{_signature(one)}\n```\n" if callable(one) else ""
    return f"{title}{code}\n{markdown_of(inspect.getdoc(one) or '')}\n"


def _signature(one: Any) -> str:
    try:
        signature = inspect.signature(one)
    except (TypeError, ValueError):  # built in
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=bare, return_annotation=signature.empty))
    return re.sub(r"<[^<>]*>", "...", text)


def markdown_of(docstring: str) -> str:
    r"""A docstring as Markdown: examples and sections in its form, no markup of HTML.

    >>> markdown_of("A <b>.\n\nRaises:\n    TypeError: it is\n        so.")
    'A &lt;b>.\n\n**Raises**\n\n- TypeError: it is\n    so.'
    >>> markdown_of("Two::\n\n>" + ">> 1 + 1\n2").splitlines()
    ['Two:', '', '```pycon', '>>> 1 + 1', '2', '```']
    """

    def section(found: re.Match[str]) -> str:
        items = re.sub(r"^(?=\S)", "- ", textwrap.dedent(found[2]), flags=re.MULTILINE)
        return f"**{found[1]}**\n\n{items}"

    text = _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", docstring)
    text = re.sub(r"::$", ":", _SECTION.sub(section, text), flags=re.MULTILINE)
    parts = _VERBATIM.split(text)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


def error_pages(text: str) -> dict[str, str]:
    """The pages of the codes in docs/errors.md, by their names."""
    return {
        f"errors/{code}.md": f"# {code} {title}\n\n"
        + _LINK.sub(r"[\1](../\2\3)", body.strip())
        + "\n\n[All error codes](../errors.md)\n"
        for code, title, body in _CODE.findall(text)
    }


def with_links_to_codes(text: str) -> str:
    """docs/errors.md with each code as a link to its page."""
    return _CODE.sub(r"### [\1](errors/\1.md) \2\n\3", text)


def relinked(text: str, source: str, page: str) -> str:
    """The Markdown of a file of the repository, with the links of its page.

    Raises:
        ValueError: a link leads nowhere.

    >>> relinked("[a](../docs/data.md#c), [d](ways.py)", "examples/README.md", "a/b.md")
    '[a](../data.md#c), d'
    """

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(source), found[2]))
        if not (ROOT / target).exists():
            raise ValueError(f"{source}: a link to {target}, which is not there")
        if target.startswith("docs/"):
            new = target.removeprefix("docs/")
        elif target.startswith("examples/") and page == "programs.md":
            return f"[{found[1]}](#{Path(target).stem})"
        elif target in ELSEWHERE:
            new = ELSEWHERE[target]
        elif f"{target}/README.md" in ELSEWHERE:
            new = ELSEWHERE[f"{target}/README.md"]
        else:
            return found[1]
        label = Path(target).stem if found[1].endswith(".md") else found[1]
        place = os.path.relpath(new, os.path.dirname(page) or ".")
        return f"[{label}]({place}{found[3] or ''})"

    parts = _FENCED.split(text)
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def generated() -> dict[str, str]:
    """The pages that no file of docs/ has, by their names."""
    pages = error_pages((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))
    for source, page in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        pages[page] = relinked(text, source, page)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages["index.md"] = relinked(readme, "README.md", "index.md")
    for program in sorted((ROOT / "examples").glob("[a-z]*.py")):
        code = program.read_text(encoding="utf-8")
        pages["programs.md"] += (
            f"\n## {program.name} {{#{program.stem}}}\n\n```python\n{code}```\n"
        )
    measured = re.search(r"^## How fast\n.*?(?=^## )", readme, re.MULTILINE | re.DOTALL)
    assert measured is not None
    pages["ratios.svg"] = plotted(ratios(measured[0]))
    plot = "![Bars: the time here over that of TensorFlow](ratios.svg)"
    text = relinked(measured[0], "README.md", "benchmarks.md")
    pages["benchmarks.md"] += f"\n{text}\n{plot}\n"
    for path, members in namespaces():
        pages[f"api/{path}.md"] = reference(path, members)
    return pages
