"""Keras's own tests, run on our backend: ``python -m tests.keras_suite [FOLDER …]``.

The tests are those that the installed package of Keras brings along. Some are skipped
where the backend is called ``numpy``, since the one of that name cannot train; ours
can, so these conditions are taken out of the copies that run.

    --save FILE       write the outcome of each test, as JSON
    --compare FILE    say which of the tests that passed there do not pass here
    --tensorflow      run on Keras's TensorFlow backend, for such a comparison
    --match TEXT      run the tests whose names match, as pytest's -k does
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "activations initializers regularizers losses metrics optimizers layers models "
    "trainers callbacks"
).split()
#: Where tests ask for the backend that cannot train.
CONDITIONS = (
    (re.compile(r'backend\.backend\(\) == "numpy"(?!:\n    from)'), "False"),
    (re.compile(r'"numpy",(\s+"openvino")'), r"\1"),
    (re.compile(r'\("openvino", "numpy"\)'), '("openvino",)'),
    (re.compile(r'\("numpy", "(\w+)"\)'), r'("\1",)'),
    (re.compile(r"CPU_DEVICES\[backend.backend\(\)\]"), '"/CPU:0"'),
)
#: What the tests import from the conftest of Keras's repository.
CONFTEST = """
import os
import pytest

def skip_if_backend(name, reason):
    skipped = name == os.environ.get("KERAS_BACKEND")
    return pytest.mark.skipif(skipped, reason=reason)
"""
#: What the tests take from TensorFlow, they take from us.
IMPORTS = (
    (re.compile(r"import tensorflow as"), "import runtime as"),
    (re.compile(r"from tensorflow import"), "from runtime import"),
    (
        re.compile(r"from keras.src.utils.module_utils import tensorflow as tf"),
        "import runtime as tf",
    ),
)
_OUTCOMES: dict[str, str] = {}


def without_conditions(source: str) -> str:
    """The text of a test, which skips nothing for the name of the backend."""
    for pattern, text in CONDITIONS:
        source = pattern.sub(text, source)
    return source


def copied(folders: list[str], target: Path, ours: bool) -> None:
    """Copy the tests of Keras's folders."""
    spec = importlib.util.find_spec("keras")
    if spec is None or spec.origin is None:
        raise SystemExit("Keras is not installed: pip install -e '.[keras]'")
    source = Path(spec.origin).parent / "src"
    for folder in folders:
        found = source / folder
        for path in [found] if found.suffix else sorted(found.rglob("*_test.py")):
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text()
            for pattern, text_of_ours in (*CONDITIONS, *IMPORTS) if ours else ():
                text = pattern.sub(text_of_ours, text)
            copy.write_text(text)


# --- the plugin: within the processes that run the tests ------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Import Keras with our backend, and its test case without conditions."""
    config.addinivalue_line("markers", "requires_trainable_backend: as ours is")
    if os.environ.get("KERAS_BACKEND") == "tensorflow":
        return
    import runtime as tf

    assert tf.keras.backend.backend() == "numpy"
    package = importlib.import_module("keras.src.testing")
    module = importlib.import_module("keras.src.testing.test_case")
    path = str(module.__file__)
    text = without_conditions(Path(path).read_text())
    exec(compile(text, path, "exec"), vars(module))
    for name in vars(package).keys() & vars(module).keys():
        if not name.startswith("__"):
            setattr(package, name, vars(module)[name])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the outcome of a test."""
    if report.when == "call" or report.outcome != "passed":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _OUTCOMES[report.nodeid] = report.outcome + (reason and f": {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes down, in the process that collects them."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["KERAS_SUITE_RESULT"]).write_text(json.dumps(_OUTCOMES))


# --- the command ----------------------------------------------------------------------


def run(folders: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """Run the tests of folders, and give the outcome of each."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "tests"
        copied(folders, target, ours=not arguments.tensorflow)
        (target / "pytest.ini").write_text("[pytest]\n")
        (target / "conftest.py").write_text(CONFTEST)
        result = Path(folder) / "result.json"
        environment = dict(os.environ, KERAS_SUITE_RESULT=str(result))
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT), str(target), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        if arguments.tensorflow:
            environment["KERAS_BACKEND"] = "tensorflow"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.keras_suite"]
        command += ["--import-mode=importlib", "-o", "python_files=*_test.py"]
        command += [
            "-p",
            "no:cacheprovider",
            "--tb=short",
            "-W",
            "ignore",
            *["-n", os.environ.get("KERAS_SUITE_WORKERS", "2")],
        ]
        command += ["-k", arguments.match] if arguments.match else []
        subprocess.run([*command, "."], cwd=target, env=environment, check=False)
        outcomes: dict[str, str] = json.loads(result.read_text())
        return outcomes


def main() -> int:
    """Run, count and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--tensorflow", action="store_true")
    parser.add_argument("--match")
    arguments = parser.parse_args()
    outcomes = run(arguments.folders or FOLDERS, arguments)
    if arguments.save:
        arguments.save.write_text(json.dumps(outcomes, indent=0, sort_keys=True))
    counts = Counter(
        (name.partition("/")[0], how.partition(":")[0])
        for name, how in outcomes.items()
    )
    for folder in sorted({name for name, _ in counts}):
        ways = ", ".join(
            f"{counts[folder, how]} {how}" for how in ("passed", "failed", "skipped")
        )
        print(f"{folder:14} {ways}")
    skips = Counter(how for how in outcomes.values() if how.startswith("skipped"))
    for how, count in skips.most_common():
        print(f"  {count} {how}")
    if arguments.compare:
        wanted = json.loads(arguments.compare.read_text())
        passing = [name for name, how in wanted.items() if how == "passed"]
        passing = [
            name for name in passing if name in outcomes or not arguments.folders
        ]
        missing = [name for name in passing if outcomes.get(name) != "passed"]
        for name in missing:
            print(f"  {outcomes.get(name, 'absent')}: {name}")
        share = 1 - len(missing) / max(1, len(passing))
        print(f"{len(passing) - len(missing)} of {len(passing)} pass: {share:.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
