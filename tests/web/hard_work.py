"""Work for workers that no page would do: without an end, with too much memory, or with the end of the process."""

from __future__ import annotations

import os
import signal
import time

from starlette.responses import Response

from lastbit.web.visit import Visit


def compute(visit: Visit) -> Response:
    while True:
        pass


def sleep(visit: Visit) -> Response:
    time.sleep(3600)
    raise AssertionError


def take_memory(visit: Visit) -> Response:
    return Response(bytes(3 << 30))


def grow(visit: Visit) -> Response:
    KEPT.append(b"x" * (64 << 20))
    return say(visit)


def end(visit: Visit) -> Response:
    os.kill(os.getpid(), signal.SIGKILL)
    return Response()


def say(visit: Visit) -> Response:
    """Which process answers, and for whom."""
    print("this goes to standard error")
    return Response(f"{os.getpid()} {visit.asker} {visit.role} {visit.query}")


KEPT: list[bytes] = []
