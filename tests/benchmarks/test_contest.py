"""Contests with made-up libraries: who takes part, who is wrong, what is said."""

from __future__ import annotations

import json
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import c, peers
from benchmarks.chart import chart
from benchmarks.contest import Plan, Row, different, hold, quartiles
from benchmarks.libraries import CONTESTANTS, LIBRARIES
from benchmarks.processes import Failed, Team, Worker, default_folder, interpreters
from benchmarks.report import as_json, heading, notes, number, quantity, tables
from benchmarks.session import load, results
from benchmarks.workloads import Workload, chosen

SHORT = Plan(rounds=2, fresh_rounds=1, turn=1e-5, limit=1, size="tiny")
MACHINE = {
    "processor": "CPU", "cores": 2, "system": "Linux", "python": "3.11.7", "load": 0.1,
    "libraries": {"jax": {"version": "1", "python": "3.12.0"}},
}  # fmt: skip


def install(folder: Path, library: str, module: str) -> None:
    """An environment of which the library is this text."""
    home = folder / library / "bin"
    home.mkdir(parents=True)
    (folder / library / f"{library}.py").write_text(module)
    python = home / "python"
    path = f"$PYTHONPATH:{folder / library}"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)


# --- the whole command ----------------------------------------------------------------


@pytest.mark.skipif(
    sys.platform == "win32", reason="the interpreters are shell scripts"
)
def test_the_command(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It times who is right, names who is not, and leaves out who does not start."""
    install(tmp_path, "numba", "__version__ = '7.5'\nnjit = lambda f: f")
    install(tmp_path, "torch", "from numpy import zeros\nas_tensor = lambda x: x + 1")
    install(tmp_path, "jax", "raise OSError('no such processor')")
    monkeypatch.setattr(command, "QUICK", SHORT)
    files = tmp_path / "found.json", tmp_path / "found.svg"

    status = command.main(
        ["--quick", "--only", "tiny_op", "--peers", str(tmp_path)]
        + ["--json", str(files[0]), "--chart", str(files[1])]
    )

    out, err = capsys.readouterr()
    assert status == 0
    assert err == "jax does not start: OSError: no such processor\n"
    assert "numba 7.5" in out
    assert "/ Numba" in out
    assert "tiny_op: PyTorch failed: not what NumPy gives: 100% of the numbers" in out
    found = json.loads(files[0].read_text())
    [record] = found["workloads"]
    assert set(record["values"]) == {"ours", "ours-eager", "numpy", "numba"}
    assert all(len(values) == 2 for values in record["values"].values())
    assert set(record["ratios"]["ours"]["numba"]) == {"low", "median", "high"}
    assert ElementTree.parse(files[1]).getroot().tag.endswith("svg")


def test_ours_on_xla_is_measured_against_jax(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("jax")
    install(tmp_path, "torch", "raise OSError('it takes no part')")
    monkeypatch.setattr(command, "QUICK", SHORT)
    file = tmp_path / "found.json"

    command.main(
        ["--quick", "--executor", "xla", "--only", "tiny_op", "size"]
        + ["--peers", str(tmp_path), "--json", str(file)]
    )

    assert "ours, XLA" in capsys.readouterr().out
    [record] = json.loads(file.read_text())["workloads"]
    assert set(record["values"]) == {"ours-xla", "numpy"}
    row = Row(chosen(["tiny_op"])[0], {"ours-xla": [1.4], "jax": [1.0]})
    assert row.ok
    row = Row(chosen(["gelu"])[0], {"ours-xla": [1.4], "jax": [1.0]})
    assert row.ok is False


def test_native_code_is_judged_by_the_fastest_compiler() -> None:
    gelu, collatz = chosen(["gelu"])[0], chosen(["collatz"])[0]
    values = {"ours-native": [0.7], "jax": [1.0], "numba": [2.0], "torch": [0.1]}
    row = Row(gelu, values, least=0.07)
    assert row.fastest == "jax"
    assert row.ok
    assert Row(collatz, values).ok is False
    [title, line, names, *_] = tables([row]).splitlines()
    assert "/ fastest" in title
    assert "of limit" in title
    assert line.endswith("10%")
    assert "JAX jit" in names


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler of C")
@pytest.mark.parametrize("name", ["collatz", "gelu", "kmeans", "mandelbrot", "rnn"])
def test_programs_in_c_give_what_numpy_gives(name: str) -> None:
    workload = chosen([name])[0]
    module = workload.programs()
    found = [
        results(*load(library, imported, way, module, "tiny"), module)
        for library, imported, way in (("numpy", np, "plain"), ("c", c, "compiled"))
    ]
    assert different(*found, workload) == ""


def test_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    assert "collatz " in capsys.readouterr().out
    assert command.main(["--only", "nothing"]) == 2
    assert "'nothing'" in capsys.readouterr().err


def test_what_is_interrupted_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = iter([FAST])

    def hold(*_: object) -> Row:
        for row in measured:
            return row
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "interpreters", lambda folder: {})
    monkeypatch.setattr(command, "hold", hold)

    assert command.main(["--only", "collatz", "gelu"]) == 1
    out, err = capsys.readouterr()
    assert "Collatz" in out
    assert err.startswith("interrupted")


def test_files_are_looked_at_before(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--json", "no/such/file.json"])
    assert "there is no folder no/such" in capsys.readouterr().err


# --- processes ------------------------------------------------------------------------


def test_measures_of_processes(capfd: pytest.CaptureFixture[str]) -> None:
    """First calls and sizes; a process may end."""
    told: list[str] = []
    with Team({"ours": sys.executable, "numpy": sys.executable}) as team:
        rows = {
            work.name: hold(work, team, SHORT, lambda *where: told.append(where[2]))
            for work in chosen(["chain", "first_call", "size"])
        }
        worker = team["numpy"]
        with pytest.raises(Failed, match="LookupError: nothing is prepared"):
            worker.ask("time", way="later", calls=1)
        worker._process.kill()
        with pytest.raises(Failed, match="the process ended: it said nothing"):
            worker.ask("installed")
        assert not worker.alive

    assert set(rows["chain"].values) == set(rows["first_call"].values) == {"ours"}
    assert rows["size"].values["ours"][0] > rows["size"].values["numpy"][0] > 1e6
    assert sorted(told) == ["NumPy", "ours", "ours", "ours"]


def test_no_answer_is_waited_for_in_vain() -> None:
    with pytest.raises(Failed, match="no answer in 0 s"):
        Worker("numpy", sys.executable, patience=0)


def test_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "jax", "")

    found = interpreters(tmp_path)
    assert found.pop("c", sys.executable) == sys.executable  # where there is a compiler
    assert found == {
        "ours": sys.executable,
        "numpy": sys.executable,
        "jax": str(tmp_path / "jax" / "bin" / "python"),
    }
    monkeypatch.setenv("BENCHMARK_PEERS", str(tmp_path))
    assert default_folder() == tmp_path


def test_contestants_have_their_ways() -> None:
    for each in CONTESTANTS:
        assert each.way in LIBRARIES[each.library].ways


# --- right answers --------------------------------------------------------------------


def test_different() -> None:
    workload, lenient = Workload("w", ""), Workload("w", "", may_differ=0.5)
    right = np.array([1.0, 2.0])

    assert different([right], [right + 1e-6], workload) == ""
    assert different([right], [np.array([1.0, 3.0])], workload) == "50% of the numbers"
    assert different([right], [np.array([1.0, np.nan])], workload) != ""
    assert different([right], [np.array([1.0, 3.0])], lenient) == ""
    assert different([right], [right[:1]], workload) == "shape (1,), not (2,)"
    assert different([right], [], workload) == "0 results, not 1"


# --- reports --------------------------------------------------------------------------


def row(name: str, **values: list[float]) -> Row:
    [workload] = chosen([name])
    return Row(
        workload, {key.replace("_", "-"): found for key, found in values.items()}
    )


FAST = row(
    "collatz",
    ours=[1e-4, 1.2e-4, 0.8e-4],
    tensorflow=[1e-3, 1e-3, 1e-3],
    ours_eager=[0.5e-4] * 3,
    numpy=[2e-4] * 3,
)
SLOW = row("gelu", ours=[2.0], tensorflow=[1.0])
FAILED = Row(chosen(["cnn"])[0], {"numpy": [1.0]}, {"ours": "no conv2d"})


def test_targets() -> None:
    assert FAST.ok is True
    assert SLOW.ok is False
    assert FAILED.ok is False
    assert row("gelu", ours=[2.0], numpy=[1.0]).ok is None


def test_table() -> None:
    found = tables([FAST, SLOW, FAILED]).split("\n\n")

    assert [" ".join(line.split()) for line in found[0].splitlines()] == [
        "workload ours / TensorFlow at most / NumPy / ours, eager",
        "Collatz length of 77031: 350 steps 100 us 0.1 0.25 ok 0.5 2",
        "±10% 0.09–0.11 0.45–0.55 1.8–2.2",
        "GELU of 1,000,000 floats 2 s 2 0.25 OVER",
        "CNN forward, 32 images of 28×28 failed 1 OVER",
    ]
    assert found[1].startswith("workload ")
    assert (
        found[2].splitlines()
        == notes([FAST, FAILED])
        == [
            "cnn: ours failed: no conv2d",
            "collatz: staged takes 2 times as long as eager",
        ]
    )


def test_table_without_others() -> None:
    found = tables([row("gelu", ours=[2.0], numpy=[1.0])])

    assert "TensorFlow" not in found
    assert "at most" not in found


def test_numbers() -> None:
    assert [number(value, 2) for value in (0.123, 99.4, 99.6, 1234)] == [
        "0.12", "99", "100", "1234",
    ]  # fmt: skip
    assert quantity(1.5e-3, "call") == "1.5 ms"
    assert quantity(1.5e9, "size") == "1500 MB"
    assert quartiles([1.0, 3.0]) == (1.5, 2.0, 2.5)


def test_heading() -> None:
    first, second = heading(MACHINE).splitlines()

    assert first == "CPU, 2 cores, Linux, Python 3.11.7"
    assert second.startswith("jax 1 (Python 3.12.0);")
    assert "busy (load 3.0)" in heading({**MACHINE, "load": 3.0})


def test_json() -> None:
    found = json.loads(as_json([FAST, FAILED], MACHINE))

    assert found["machine"] == MACHINE
    [fast, failed] = found["workloads"]
    assert fast["ok"] is True
    assert fast["ratios"]["ours"]["tensorflow"]["median"] == pytest.approx(0.1)
    assert failed["failures"] == {"ours": "no conv2d"}
    assert found["notes"] == notes([FAST, FAILED])


def test_chart() -> None:
    """A bar for each ratio, to the left of 1 if ours is faster."""
    root = ElementTree.fromstring(chart([FAST, SLOW, FAILED], "a <CPU>"))
    space = "{http://www.w3.org/2000/svg}"
    bars = [each for each in root.iter(f"{space}rect") if each.get("height") == "9"]
    texts = [each.text for each in root.iter(f"{space}text")]
    [one] = [each for each in root.iter(f"{space}line") if each.get("class") == "one"]

    assert [float(bar.get("x")) < float(one.get("x1")) for bar in bars] == [
        True, True, False, False,
    ]  # fmt: skip
    assert {"a <CPU>", "TensorFlow", "NumPy", "GELU of 1,000,000 floats"} <= set(texts)
    assert "CNN forward, 32 images of 28×28" not in texts


# --- setting the others up ------------------------------------------------------------


def test_setting_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran: list[list[str]] = []

    def run(arguments: list[str], check: bool) -> None:
        ran.append(arguments)
        if "venv" in arguments:
            install(tmp_path, "jax", "")

    monkeypatch.setattr("subprocess.run", run)

    assert peers.main([str(tmp_path), "--only", "jax", "--python", "py"]) == 0
    assert ran[0] == ["py", "-m", "venv", str(tmp_path / "jax")]
    assert ran[1][1:] == ["-m", "pip", "install", "--upgrade", "jax"]
    assert str(tmp_path) in capsys.readouterr().out
    with pytest.raises(SystemExit):
        peers.main([str(Path(peers.__file__).parent / "here")])
    assert "choose a folder outside" in capsys.readouterr().err
