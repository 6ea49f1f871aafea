"""Private names (``__x``) as the class around them spells them.

A function that is compiled alone is outside of its class, so Python would no longer
turn ``self.__x`` into ``self._C__x``. The rules, in the language reference:
https://docs.python.org/3/reference/expressions.html#private-name-mangling
"""

from __future__ import annotations

from typing import Any

import gast

from .visitors import Transformer, clone


def mangled(node: Any, class_name: str) -> Any:
    """The tree with the private names of the class spelled out.

    >>> tree = gast.parse("self.__x = __y + __init__")
    >>> print(gast.unparse(mangled(tree, "_Point")))
    self._Point__x = _Point__y + __init__
    """
    stripped = class_name.lstrip("_")
    if not stripped:
        return node
    return _Mangler(stripped).visit(node)


class _Mangler(Transformer):
    def __init__(self, class_name: str) -> None:
        super().__init__()
        self._class_name = class_name

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._class_name}{name}" if private else name

    def visit_ClassDef(self, node: Any) -> Any:
        # The body belongs to the inner class; what is evaluated outside does not.
        node = clone(node, name=self._name(node.name))
        for field in ("bases", "keywords", "decorator_list"):
            node = clone(node, **{field: self.visit_list(getattr(node, field))})
        return node

    def generic_visit(self, node: Any) -> Any:
        node = super().generic_visit(node)
        for field in ("id", "attr", "arg", "name", "rest", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str) and self._name(value) != value:
                node = clone(node, **{field: self._name(value)})
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            return clone(node, names=[self._name(name) for name in node.names])
        return node
