"""What is packed: all files of the repository, and metadata that hold elsewhere."""

from __future__ import annotations

import email
import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import autograph

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
#: Of no use outside of a repository.
UNPACKED = {".gitignore"}


def setup() -> Any:
    spec = importlib.util.spec_from_file_location("project_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tracked() -> set[str]:
    """The files of the repository; skips the test where there is none."""
    if not (ROOT / ".git").exists():
        pytest.skip("no repository")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in found.stdout.splitlines() if (ROOT / name).exists()}


# --- the long description -------------------------------------------------------------


def test_the_long_description_has_no_link_into_nowhere() -> None:
    text = setup().long_description(README)

    assert not re.findall(r"\]\((?!https?://)", text)
    assert "[" not in re.sub(r"(?s)```.*?```|`[^`]*`|\[`?[^]]*\]\(https?:", "", text)
    assert "- `docs/tutorial.md`: from a function to a graph" in text


def test_links_are_absolute_once_there_is_a_home() -> None:
    home = "https://host.example/owner/name"
    text = setup().long_description(
        "[a page](docs/a.md#part) ![drawn](docs/b.svg) [far](https://far.example)", home
    )

    assert text == (
        f"[a page]({home}/blob/main/docs/a.md#part) "
        f"![drawn]({home}/raw/main/docs/b.svg) [far](https://far.example)"
    )


# --- what is promised -----------------------------------------------------------------


def test_the_classifiers_name_the_pythons_that_are_tested() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    supported = re.search(r"^SUPPORTED := (.*)$", makefile, re.MULTILINE)
    assert supported is not None

    found = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)

    assert found == supported[1].split()


def test_the_changelog_begins_with_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"## [{autograph.__version__}]" == re.findall(r"## \[[^]]*\]", changelog)[0]


# --- the files ------------------------------------------------------------------------


def test_the_source_distribution_is_told_of_all_files() -> None:
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = {
        name
        for line in lines
        if line.startswith(("include ", "graft "))
        for name in line.split()[1:]
    }

    assert {name.partition("/")[0] for name in tracked()} - UNPACKED == named


@pytest.mark.slow
def test_the_distributions_have_all_files(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    files = tracked() - UNPACKED
    source = tmp_path / "source"
    for name in files:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(ROOT / name)
    build = (
        "from setuptools import build_meta as b; b.build_sdist('out');"
        "b.build_wheel('out')"
    )
    subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, check=True
    )
    (packed,), (wheel,) = (source / "out").glob("*.gz"), (source / "out").glob("*.whl")

    with tarfile.open(packed) as archive:
        inside = {n.partition("/")[2] for n in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        modules = {n for n in archive.namelist() if ".dist-info/" not in n}
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))

    assert files - inside == set()
    assert modules == {n for n in files if n.startswith(("autograph/", "runtime/"))}
    assert (metadata["Name"], metadata["Version"], metadata["Author"]) == (
        "autograph-compiler",
        autograph.__version__,
        "The autograph developers",
    )
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip().startswith("# autograph")
