"""The part of the package's metadata that is computed: see pyproject.toml for the rest.

The long description is README.md for readers elsewhere: on the page of a package index
its links to files of this repository would lead nowhere.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["long_description"]

#: Where the repository can be read, such as ``https://host/owner/name``; it has no
#: public home yet.
HOME = ""

_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^]]*)\]\((?!https?://)(?P<path>[^)]+)\)")


def long_description(readme: str, home: str = HOME) -> str:
    """The text with links into the repository at `home`; without one, no such links."""

    def link(found: re.Match[str]) -> str:
        text, path = found["text"], found["path"]
        if not home:
            return "" if found["mark"] else f"`{text}`" if text == path else text
        kind = "raw" if found["mark"] else "blob"
        return f"{found['mark']}[{text}]({home}/{kind}/main/{path})"

    return _LINK.sub(link, readme)


def main() -> None:
    """Build what the command line asks for."""
    from setuptools import setup  # of the build's own environment

    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    setup(
        long_description=long_description(readme),
        long_description_content_type="text/markdown",
        project_urls={"Source": HOME} if HOME else {},
    )


if __name__ == "__main__":
    main()
