"""The public names of TensorFlow 2.21, and the part of docs/tensorflow.md made of them.

Run with a Python that has TensorFlow, this module writes the names of each namespace
into ``tensorflow_names.json``::

    python tests/runtime/names/tensorflow_names.py

With our tensors it says which of them are here, for `test_tensorflow_page`.
"""

from __future__ import annotations

import inspect
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

NAMES = Path(__file__).with_name("tensorflow_names.json")
#: What the modules of namespaces are named, which tell them from imported ones.
MODULES = ("tensorflow._api.", "tensorflow.experimental", "keras.")
#: Namespaces that get a line of their own, with what is to be said about them.
WHOLE = {
    "tf.compat": "`tf.compat.v1` has what programs of TensorFlow 2 still use "
    "of TensorFlow 1; other names say what to use",
    "tf.keras": "the real Keras: extra `keras`, see [keras.md](keras.md)",
    "tf.raw_ops": "the public functions are what there is",
}
#: The extras that names need, by the modules that define these.
EXTRAS = {"keras": "keras", "runtime.ops.pictures.codecs": "images"}


def recorded(space: str, module: Any) -> Iterator[tuple[str, str]]:
    """The names of a namespace of TensorFlow, and of those inside."""
    inner, names = [], []
    for name in sorted(set(dir(module))):
        value = getattr(module, name)
        if name[0] == "_" or f"{space}.{name}" in WHOLE:
            continue
        if not inspect.ismodule(value):
            names.append(name)
        elif value.__name__.startswith(MODULES):
            inner.append(name)
    if names:
        yield space, " ".join(names)
    for name in inner:
        yield from recorded(f"{space}.{name}", getattr(module, name))


class Namespace:
    """What is here of a namespace of TensorFlow."""

    def __init__(self, space: str, names: list[str]) -> None:
        self.space, self.names = space, names
        #: The names that are here, by the extra that they need, and those that are not,
        #: by what to use.
        self.here: dict[str, list[str]] = defaultdict(list)
        self.missing: dict[str, list[str]] = defaultdict(list)
        found, advice = _look(space)
        if advice is not None:
            self.missing[advice] = names
            return
        for name in names:
            value, advice = _look(f"{space}.{name}", found)
            if advice is None:
                self.here[_extra(value)].append(name)
            else:
                self.missing[advice].append(name)

    @property
    def count(self) -> int:
        """How many names are here."""
        return sum(map(len, self.here.values()))

    def needs_section(self) -> bool:
        """Whether a line of the table of namespaces is too little for it."""
        few = self.count == 0 or len(self.names) - self.count <= 3
        return bool(self.missing) and not (few and len(self.missing) == 1)

    def row(self) -> str:
        """The line of the table of namespaces."""
        note = ""
        if self.needs_section():
            note = f"[names](#{self.space.replace('.', '')})"
        elif self.missing:
            ((note, names),) = self.missing.items()
            if self.count:
                note = f"not {_listed(names)}: {note}"
        elif "keras" in self.here:
            note = "Keras's: extra `keras`"
        count = "all" if not self.missing else self.count or "none"
        return f"| `{self.space}` | {len(self.names)} | {count} | {note} |"

    def section(self) -> list[str]:
        """Which names are here, and what to use in place of the others."""
        here = []
        for extra, names in sorted(self.here.items()):
            through = f"Through the extra `{extra}`" if extra else "Here"
            here.append(f"{through}: {_listed(names)}.")
        lines = [f"### {self.space}", " ".join(here) or "Nothing is here.", ""]
        lines += ["| not here | instead |", "|---|---|"]
        for advice, names in self.missing.items():
            lines.append(f"| {_listed(names)} | {advice} |")
        return [*lines, ""]


def _look(path: str, space: Any = None) -> tuple[Any, str | None]:
    """What a name stands for; or None, and what to use in its place."""
    import runtime as tf
    from runtime.core.missing.advice import advice_for
    from runtime.names import absent

    first, _, name = path.rpartition(".")
    try:
        names = [name] if space is not None else path.split(".")[1:]
        value = reduce(getattr, names, tf if space is None else space)
    except AttributeError as error:
        text = str(error).partition(" does not exist here: ")[2]
        return None, text or advice_for(first, name) or "—"
    if inspect.getmodule(value) is absent:
        return None, advice_for("tf", value.space)
    return value, None


def _extra(value: Any) -> str:
    module = getattr(value, "__module__", None) or ""
    fit = (e for m, e in EXTRAS.items() if module == m or module.startswith(f"{m}."))
    return next(fit, "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """The part of docs/tensorflow.md that says which names are here."""
    recorded = json.loads(NAMES.read_text(encoding="utf-8"))
    spaces: list[Namespace] = []
    for name, names in recorded.items():
        space = Namespace(name, names.split())
        outer = spaces[-1] if spaces else space
        # One line for a namespace that is not here, and those inside.
        if (
            name.startswith(f"{outer.space}.")
            and outer.missing.keys() == space.missing.keys()
            and not outer.count
        ):
            outer.names += space.names
        else:
            spaces.append(space)
    rows = [space.row() for space in spaces]
    rows += [f"| `{space}` | | | {note} |" for space, note in WHOLE.items()]
    count = sum(space.count for space in spaces)
    total = sum(len(space.names) for space in spaces)
    lines = [
        "",
        f"Of {total} public names of TensorFlow 2.21 {count} are here, by namespace:",
        "",
        "| namespace | names | here | |",
        "|---|---|---|---|",
        *sorted(rows, key=lambda row: row.split("`")[1]),
        "",
    ]
    for space in spaces:
        if space.needs_section():
            lines += space.section()
    return "\n".join(lines)


def main() -> None:
    """Record the names of the TensorFlow of this Python."""
    import tensorflow as tf

    assert tf.__version__.startswith("2.21"), tf.__version__
    text = json.dumps(dict(sorted(recorded("tf", tf))), indent=0)
    NAMES.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
