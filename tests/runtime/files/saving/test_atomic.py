"""Files are replaced as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.files.saving.atomic import replacing_file, write_text
from tests.turns import by_turns

HERE = Path(__file__).parent
ROOT = HERE.parents[3]


def test_a_file_is_replaced(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "f", "one")
    write_text(tmp_path / "a" / "f", "two")

    assert (tmp_path / "a" / "f").read_text() == "two"
    assert os.listdir(tmp_path / "a") == ["f"]


def test_an_error_leaves_the_file(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "one")

    def fail() -> None:
        with replacing_file(tmp_path / "f") as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "f").read_text() == "one"
    assert os.listdir(tmp_path) == ["f"]


def test_files_can_be_read_by_others(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "")
    (tmp_path / "usual").touch()

    assert (tmp_path / "f").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends processes that it forks")
@pytest.mark.parametrize(
    ("what", "seed", "count"),
    by_turns(
        [
            *(("checkpoints", seed, 100) for seed in range(8)),
            *(("models", seed, 30) for seed in range(4)),
        ]
    ),
)
def test_a_killed_process_leaves_whole_files(
    tmp_path: Path, what: str, seed: int, count: int
) -> None:
    """Processes are killed while they save, 200 on a Python: see `killing.py`."""
    pytest.importorskip("safetensors")

    folder, numbers = str(tmp_path / "saved"), [str(seed), str(count)]
    done = subprocess.run(
        [sys.executable, str(HERE / "killing.py"), what, folder, *numbers],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )

    assert done.returncode == 0, done.stderr
    # Some of them were in the middle of a file.
    assert int(done.stdout) > 0
