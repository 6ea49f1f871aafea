"""Which files are of libraries."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from autograph import ownership
from autograph.ownership import user_location

STDLIB = sysconfig.get_path("stdlib")

ASK = """\
import site
site.getsitepackages = lambda: ["/usr/lib/python3/dist-packages"]
from autograph.ownership import is_library_path
print(is_library_path("/usr/lib/python3/dist-packages/six.py"))
print(is_library_path("/home/me/dist-packages-of-mine/six.py"))
"""


def test_packages_that_the_system_installed_are_library_code() -> None:
    """Debian's are in a folder with a name of its own."""
    run = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["True", "False"]


def test_a_folder_with_a_longer_name_is_another() -> None:
    assert ownership.is_library_path(os.path.join(STDLIB, "queue.py"))
    assert not ownership.is_library_path(STDLIB + "-of-mine/queue.py")


def test_a_folder_of_a_similar_name_is_the_users(tmp_path: Path) -> None:
    assert not ownership.is_library_path(
        str(tmp_path / "my-site-packages-fork" / "a.py")
    )
    assert ownership.is_library_path(str(tmp_path / "site-packages" / "a.py"))


def test_the_expression_that_runs_is_found() -> None:
    found = [0, user_location()][1]
    assert found is not None
    assert found.filename == __file__
    assert (
        found.lineno
        == test_the_expression_that_runs_is_found.__code__.co_firstlineno + 1
    )
    if sys.version_info >= (3, 11):
        assert (found.col, found.end_col) == (16, 31)
        assert found.end_lineno == found.lineno
    else:
        assert (found.col, found.end_col) == (0, None)
