"""The pages that the site adds to those of docs/, and its navigation."""

from __future__ import annotations

import doctest
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, str(SITE))  # as MkDocs does for hooks
pages = load(SITE / "pages.py")
plots = sys.modules["plots"]
sys.path.remove(str(SITE))


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    found: dict[str, str] = pages.generated()
    return found


def test_examples() -> None:
    assert doctest.testmod(pages).failed == 0
    assert doctest.testmod(plots).failed == 0


def test_every_page_is_in_the_navigation(generated: dict[str, str]) -> None:
    text = (SITE / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/]+\.md", text.partition("\nnav:\n")[2])
    written = [str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")]
    added = [name for name in generated if name.endswith(".md")]
    added = [name for name in added if not name.startswith(("api/", "errors/"))]

    assert sorted(listed) == sorted({*written, *added})


def test_every_code_has_a_page(generated: dict[str, str]) -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    codes = re.findall(r"^### (AG\d+)", text, re.MULTILINE)

    assert [f"errors/{code}.md" for code in codes] == [
        name for name in generated if name.startswith("errors/")
    ]
    assert generated["errors/AG103.md"].startswith(
        "# AG103 the function cannot be told apart\n\nSeveral functions of the file fit"
    )
    assert "### [AG103](errors/AG103.md) the function" in pages.with_links_to_codes(
        text
    )


def test_links_between_pages_lead_somewhere(generated: dict[str, str]) -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        name = str(path.relative_to(ROOT / "docs"))
        text = path.read_text(encoding="utf-8")
        generated.setdefault(name, pages.relinked(text, f"docs/{name}", name))
    lost = [
        (name, link)
        for name, text in generated.items()
        for link in re.findall(r"\]\(([\w./]+\.md)(?:#[^)]*)?\)", text)
        if str((Path("/") / name).parent.joinpath(link).resolve())[1:] not in generated
    ]

    assert lost == []


def test_a_link_that_leads_nowhere_is_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"README.md: a link to docs/none.md, which is"
    ):
        pages.relinked("[it](docs/none.md)", "README.md", "index.md")


def test_code_is_no_link() -> None:
    text = "`f[0](x)`\n\n```python\na = [f](x)\n```\n"

    assert pages.relinked(text, "README.md", "index.md") == text


def test_the_reference_has_every_public_name(generated: dict[str, str]) -> None:
    spaces = dict(pages.namespaces())

    assert {"autograph", "runtime", "runtime.math", "runtime.io.gfile"} <= set(spaces)
    for path, members in spaces.items():
        text = generated[f"api/{path}.md"]
        assert [n for n in members if f"{{#{path}.{n}}}\n" not in text] == []
    convert = generated["api/autograph.md"].partition("{#autograph.convert}")[2]
    assert convert.startswith("\n\n```python\nconvert(f=None, *, recursive=True,")


def test_a_name_without_a_docstring_is_an_error() -> None:
    with pytest.raises(ValueError, match="no docstrings in lib: silent"):
        pages.reference("lib", {"silent": lambda: None, "number": 3})


def test_the_ratios_are_plotted(generated: dict[str, str]) -> None:
    drawing = ElementTree.fromstring(generated["ratios.svg"])
    texts = [
        "".join(one.itertext()) for one in drawing.iter() if one.tag.endswith("text")
    ]
    bars = [one for one in drawing.iter() if one.tag.endswith("rect")]

    assert len(bars) == 12
    assert "x + 1 on three floats" in texts
    assert "ratios.svg" in generated["benchmarks.md"]
