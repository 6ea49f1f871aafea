"""The hooks of MkDocs: the pages of pages.py, the playground, links out of docs/."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pages import ROOT, generated, namespaces, relinked, with_links_to_codes

#: What `.ci/playground` has built, if it could.
PLAYGROUND = ROOT / "build" / "playground"


def on_config(config: MkDocsConfig) -> None:
    """Put the reference into the navigation, and leave out what is not built."""
    spaces = [{path: f"api/{path}.md"} for path, _ in namespaces()]
    assert config.nav is not None
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] += spaces
    if not (PLAYGROUND / "index.html").exists():
        config.nav = [entry for entry in config.nav if "Playground" not in entry]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that are made, and the playground."""
    for name, text in generated().items():
        existing = files.get_file_from_path(name)
        if existing is not None:
            files.remove(existing)
        files.append(File.generated(config, name, content=text))
    if (PLAYGROUND / "index.html").exists():
        for path in sorted(PLAYGROUND.rglob("*")):
            if path.is_file():
                name = f"playground/{path.relative_to(PLAYGROUND).as_posix()}"
                files.append(File.generated(config, name, abs_src_path=str(path)))


def on_page_markdown(markdown: str, page: Page, **kwargs: Any) -> str:
    """Lead links out of docs/ to their pages, and codes to theirs."""
    name = page.file.src_uri
    if page.file.generated_by is not None:
        return markdown
    markdown = relinked(markdown, f"docs/{name}", name)
    return with_links_to_codes(markdown) if name == "errors.md" else markdown
