"""Long work in another thread: a progress bar for a person who waits, or a watcher that can stop it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE: Final = 1.0
"""Seconds before the progress bar appears."""

_ATTEMPTS: Final = 20
"""How often an interrupted reader is told to stop, every tenth of a second."""

Watcher = Callable[[Callable[[], float], Callable[[], None]], None]
"""Is told how far a reader is, from 0 to 100 or below 0 when nobody knows, and how to stop it."""

Result = TypeVar("Result")


def run_with_progress(
    work: Callable[[], Result],
    progress: Callable[[], float],
    *,
    stop: Callable[[], None] = lambda: None,
    watcher: Watcher | None = None,
    patience: float = _PATIENCE,
    console: Console | None = None,
) -> Result:
    """Do the work in another thread, and show its progress once it takes longer than `patience`.

    A watcher is told instead, where there is one. The other thread is used without a terminal too: an engine swallows
    or delays interrupts in its own thread.
    """
    done, results, failures = Event(), list[Result](), list[BaseException]()

    def fill() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)
        done.set()

    # With what is set around the call, as a trial of stability sets the key of a bound.
    Thread(target=copy_context().run, args=(fill,), daemon=True).start()
    try:
        if watcher is not None:
            watcher(progress, stop)
        elif (console is not None or sys.stderr.isatty()) and not done.wait(patience):
            _show_bar(done, progress, console)
        done.wait()
    except KeyboardInterrupt:
        # More than once, because between two queries nothing can be stopped. A reader that goes on is left behind.
        for _ in range(_ATTEMPTS):
            stop()
            if done.wait(0.1):
                break
        raise
    if failures:
        raise failures.pop()
    return results.pop()


def _show_bar(done: Event, progress: Callable[[], float], console: Console | None) -> None:
    """Show a progress bar until the work is done."""
    from rich.console import Console as NewConsole
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("reading"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console or NewConsole(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        while not done.is_set():
            share = progress()
            if share >= 0:
                bar.update(task, total=100, completed=share)
            done.wait(0.1)
