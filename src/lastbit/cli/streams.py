"""Standard output and standard error of a command: what they could not take is said before Python ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

ExitCode = Any
"""A number, or what else `sys.exit` takes."""
_LONGEST: Final = 500
"""A longer word of a message is cut. Names of files seldom are so long."""


class Output:
    """A stream that remembers why it could not be written. All else is as the stream has it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.failure: OSError | None = None
        self.explain: Callable[[], str] = str
        """Returns what to say besides where the output is lost."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, and remember a failure."""
        return int(self._attempt(lambda: self._stream.write(text)))

    def flush(self) -> None:
        """Write what is in the buffer, and remember a failure."""
        self._attempt(self._stream.flush)

    def discard(self) -> None:
        """Forget the failure and the buffer, which Python would try to write once more when it ends."""
        self.failure = None
        with suppress(OSError), open(os.devnull, "wb") as nowhere:  # a stream in memory has no number, and needs none
            os.dup2(nowhere.fileno(), self._stream.fileno())
            self._stream.flush()

    def _attempt(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except OSError as error:
            self.failure = error
            raise


class Notes(Output):
    """Standard error. What it cannot take stops nothing: a release that is charged is still shown."""

    def _attempt(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except OSError as error:
            self.failure = error
            return 0


def say(message: str) -> None:
    """Print a line of the command on standard error: one line, whatever is in the names that it quotes."""
    from lastbit.output.table import one_line

    words = (word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…" for word in message.split())
    print("lastbit:", one_line(" ".join(words)), file=sys.stderr, flush=True)


@contextmanager
def standard_streams() -> Iterator[Callable[[ExitCode], ExitCode]]:
    """Watch both streams. The function empties their buffers; it takes the exit code, and returns it or another."""
    with open(os.devnull, "w") as nowhere:
        # Where standard error is closed, `print` would write the notes to standard output.
        output, notes = Output(sys.stdout or nowhere), Notes(sys.stderr or nowhere)
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = output, notes
        try:
            yield lambda code: _finish(output, notes, code)
        finally:
            sys.stdout, sys.stderr = before


def _finish(output: Output, notes: Notes, code: ExitCode) -> ExitCode:
    with suppress(OSError):  # it is remembered
        output.flush()
    if output.failure is not None:
        code = _report_loss(output, code)
    notes.flush()
    if notes.failure is not None:
        notes.discard()
        code = code or 1
    return code


def _report_loss(output: Output, code: ExitCode) -> ExitCode:
    failure = output.failure
    output.discard()
    sentence = output.explain()
    if isinstance(failure, BrokenPipeError):  # whoever reads has seen enough
        if sentence:
            say(sentence)
        return code or 1
    problem = f"the output could not be written: {getattr(failure, 'strerror', None) or type(failure).__name__}."
    say(f"{problem} {sentence}")
    return 1


def is_lost_output(error: BaseException) -> bool:
    """Return whether this is the failure of standard output, of which the command speaks at its end."""
    return isinstance(sys.stdout, Output) and error is sys.stdout.failure


def explain_loss(explain: Callable[[], str]) -> None:
    """Add the sentence that this function returns where standard output turns out to be lost."""
    if isinstance(sys.stdout, Output):
        sys.stdout.explain = explain


def discard_output() -> None:
    """Write no more, and say nothing about it: the command has said it."""
    if isinstance(sys.stdout, Output):
        sys.stdout.discard()
