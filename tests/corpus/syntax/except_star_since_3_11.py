"""``except*``."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((1,), (2,), (3,))
def exception_groups(x):
    log = []
    try:
        if x > 1:
            raise ExceptionGroup("group", [ValueError(x), TypeError(x)])
        log.append("fine")
    except* ValueError as group:
        log.append(len(group.exceptions))
        if x == 3:
            log.append("three")
    except* TypeError:
        log.append("type")
    return log
