"""Set up the other libraries: ``python -m benchmarks.peers [FOLDER]``.

Each gets an environment of its own in the folder; peers.md says more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.libraries import LIBRARIES
from benchmarks.processes import ROOT, default_folder, interpreters

__all__ = ["main", "set_up"]


def set_up(library: str, folder: Path, python: str) -> None:
    """Make the environment if there is none, and install what is newest.

    `subprocess.CalledProcessError` says that one of the two did not work.
    """
    rules = LIBRARIES[library]
    if library not in interpreters(folder):
        subprocess.run([python, "-m", "venv", str(folder / library)], check=True)
    install = ["-m", "pip", "install", "--upgrade", *rules.options, *rules.packages]
    subprocess.run([interpreters(folder)[library], *install], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status: 1 if one could not be installed."""
    others = [name for name, rules in LIBRARIES.items() if rules.packages]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder())
    parser.add_argument(
        "--only", nargs="+", choices=others, default=others, metavar="NAME"
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to use")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    if folder.is_relative_to(ROOT):
        parser.error(f"{folder} is in the repository: choose a folder outside")
    failed = []
    for library in options.only:
        try:
            set_up(library, folder, options.python)
        except (OSError, subprocess.CalledProcessError) as error:
            failed.append(f"{library}: {error}")
    print("\n".join(failed) or f"ready: python -m benchmarks --peers {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
