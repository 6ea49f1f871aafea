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
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

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
    (
        re.compile(r"from keras.src.utils.module_utils import tensorflow as tf"),
        "import runtime as tf",
    ),
    (re.compile(r"import tensorflow as"), "import runtime as"),
    (re.compile(r"from tensorflow import"), "from runtime import"),
    (re.compile(r"import tensorflow.summary as"), "from runtime import summary as"),
    (
        re.compile(r"from tensorflow.compat.v1 import SummaryMetadata"),
        "from tensorboard.compat.proto.summary_pb2 import SummaryMetadata",
    ),
    (
        re.compile(r"from tensorflow.core.util import"),
        "from tensorboard.compat.proto import",
    ),
    (
        re.compile(r"from tensorflow.python.lib.io import"),
        "from tests.keras_suite import",
    ),
    # The context is asked for in tests of several devices alone.
    (re.compile(r"from tensorflow.python.eager import context"), "context = None"),
    (
        re.compile(
            r'backend.backend\(\) != "tensorflow"(,\s+reason=\(?\s*'
            r'"The (?:tf.Variable|IndexedSlices) test)'
        ),
        r"False\1",
    ),
    # IndexedSlices and layers of saved models, which tests of TensorFlow use, exist.
    (
        re.compile(
            r"not backend.SUPPORTS_SPARSE_TENSORS(,\s+reason=[^)]*\)\s+"
            r"class OptimizerSparseTest)"
        ),
        r"False\1",
    ),
    (
        re.compile(r'if backend.backend\(\) == "tensorflow":(\s+import runtime as)'),
        r"if True:\1",
    ),
)
#: What the tests of summaries read event files with.
tf_record = SimpleNamespace(
    tf_record_iterator=lambda path: (
        _runtime().data.TFRecordDataset(path).as_numpy_iterator()
    )
)
_OUTCOMES: dict[str, str] = {}


def _runtime() -> Any:
    import runtime

    return runtime


def of_ours(source: str) -> str:
    """The text of a test, which skips nothing for the name of the backend."""
    for pattern, text in (*CONDITIONS, *IMPORTS):
        source = pattern.sub(text, source)
    return source


class Tests(MetaPathFinder):
    """Imports the tests of Keras, and its test case, without their conditions."""

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith("keras.src.") and fullname.endswith(("_test", "_case")):
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.origin is not None:
                spec.loader = Changed(fullname, spec.origin)
                return spec
        return None


class Changed(SourceFileLoader):
    """A module whose text is changed before it is compiled."""

    def get_code(self, fullname: str) -> CodeType:
        text = of_ours(Path(self.path).read_text())
        return compile(text, self.path, "exec")


# --- the plugin: within the processes that run the tests ------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Import Keras with our backend, and its tests without conditions."""
    config.addinivalue_line("markers", "requires_trainable_backend: as ours is")
    if os.environ.get("KERAS_BACKEND") == "tensorflow":
        return
    sys.meta_path.insert(0, Tests())
    import runtime as tf

    assert tf.keras.backend.backend() == "numpy"


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
    spec = importlib.util.find_spec("keras")
    if spec is None or spec.origin is None:
        raise SystemExit("Keras is not installed: pip install -e '.[keras]'")
    source = Path(spec.origin).parent / "src"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        (Path(folder) / "conftest.py").write_text(CONFTEST)
        result = Path(folder) / "result.json"
        environment = dict(os.environ, KERAS_SUITE_RESULT=str(result))
        # The bytecode of the changed tests is not to be kept.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT), folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        if arguments.tensorflow:
            environment["KERAS_BACKEND"] = "tensorflow"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.keras_suite"]
        command += ["-c", f"{folder}/pytest.ini", f"--rootdir={source}"]
        command += ["-o", "python_files=*_test.py", "--assert=plain", "--tb=short"]
        command += ["-p", "no:cacheprovider", "-W", "ignore"]
        command += ["-n", os.environ.get("KERAS_SUITE_WORKERS", "2")]
        command += ["-k", arguments.match] if arguments.match else []
        command += [str(source / name) for name in folders]
        subprocess.run(command, cwd=folder, env=environment, check=False)
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
