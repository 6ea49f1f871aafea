"""What programs say of the copies of a variable on several devices."""

from __future__ import annotations

import enum


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How updates from several devices become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
