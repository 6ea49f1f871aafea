"""Models as saved models."""

from __future__ import annotations

from typing import Any

__all__ = ["SavedModelExportArchive"]


class SavedModelExportArchive:
    """What ``model.export`` writes."""

    def track(self, resource: Any) -> None:
        """Raise: there is no such format yet."""
        raise NotImplementedError("exporting models is not supported by this backend")

    def add_endpoint(
        self, name: str, fn: Any, input_signature: Any = None, **kwargs: Any
    ) -> Any:
        """Raise: there is no such format yet."""
        raise NotImplementedError("exporting models is not supported by this backend")
