"""Functions as methods: for each instance one of its own, which keeps none alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runtime.signature import method_of

if TYPE_CHECKING:
    from runtime.function import Function

__all__ = ["BoundFunction", "Methods"]


class Methods:
    """The functions of the instances of a class, made when they are first asked for."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        make: Callable[[Callable[..., Any]], Function],
    ) -> None:
        self._python_function = python_function
        self._make = make
        self._found: dict[int, tuple[Any, Function]] = {}

    def of(self, instance: Any) -> Function:
        """The function of an instance."""
        found = self._found.get(id(instance))
        return self._new(instance) if found is None else found[1]

    def _new(self, instance: Any) -> Function:
        key, functions = id(instance), self._found

        def forget(_: Any) -> None:
            functions.pop(key, None)

        try:
            reference = weakref.ref(instance, forget)
        except TypeError:
            # An instance with __slots__: it and its traces live as long as the class.
            def reference() -> Any:  # type: ignore[misc]
                return instance

        function = self._make(method_of(self._python_function, reference))
        return functions.setdefault(key, (reference, function))[1]


class BoundFunction:
    """A `Function` as a method of an instance: ``model.predict``."""

    __slots__ = ("__self__", "_function")

    def __init__(self, function: Function, instance: Any) -> None:
        self._function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f"<bound {self._function!r} of {self.__self__!r}>"
