"""The `lastbit` command: from a table to a release in one line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from lastbit.cli.plain_words import expand_arguments, find_plain_question
from lastbit.cli.streams import is_lost_output, say, standard_streams
from lastbit.errors import BudgetExceeded, LastbitError, find_charge_note

USAGE, REFUSED, INTERRUPTED = 2, 3, 130


def main() -> None:
    """Run the command. Every error is one line; `--debug`, anywhere, prints the traceback before this line."""
    closed = sys.stdout is None
    # What is released is charged: a character that the output cannot encode is written out, and stops nothing.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Modules that load make many objects and no garbage: not to look for any saves a tenth of the start.
    gc.disable()
    # NumPy's library for matrices starts a thread for each core, which takes a sixth of the start and is not needed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    with standard_streams() as finish:
        try:
            if closed:
                code = _say("there is nowhere to write: standard output is closed. Nothing was read.", USAGE)
            else:
                code = _run(arguments, debug=len(arguments) != len(sys.argv) - 1)
            code = finish(code)
        except KeyboardInterrupt:
            code = finish(_say("interrupted. A charge that was made stays.", INTERRUPTED))
        except SystemExit as end:  # with another code than a number
            code = finish(end.code)
    sys.exit(code)


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        arguments = expand_arguments(arguments)
        work = find_plain_question(arguments) or _find_command(arguments)
        if not gc.isenabled():
            # What is loaded stays: nobody needs to look at it for garbage again.
            gc.freeze()
            gc.enable()
            gc.set_threshold(50_000)
        code = work()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except SystemExit as stop:  # how a question ends, and how Rich and Typer do where a pipe is closed
        if not isinstance(stop.code, int):
            raise
        return stop.code
    except Exception as error:
        if debug:
            _trace(error)
        if is_lost_output(error):
            return 1
        charged = find_charge_note(error)
        if isinstance(error, LastbitError):
            return _say(f"{error} {charged}".rstrip(), REFUSED if isinstance(error, BudgetExceeded) else USAGE)
        if hasattr(error, "format_message"):  # Typer raises this for a wrong option
            first = arguments[0] if arguments and arguments[0].isalpha() else ""
            command = getattr(getattr(error, "ctx", None), "command_path", f"lastbit {first}".strip())
            message = error.format_message()
            if message.startswith("Usage:"):  # no command was given: the message lists the commands
                print(message, file=sys.stderr)
                return USAGE
            end = "" if message.endswith((".", "?")) else "."  # a hint may be a question
            return _say(f"{message}{end} See: {command} --help", USAGE)
        # The message of an unexpected error may hold a private value: only the kind of error is shown.
        hint = "" if debug else " Run the command again with --debug to see where."
        if charged:
            hint = f" {charged}"
        return _say(f"unexpected {type(error).__name__}.{hint}", 1)


def _find_command(arguments: list[str]) -> Callable[[], Any]:
    """Return what runs the command of these words, with the library that parses them."""
    try:
        from lastbit.cli.app import command_for
        from lastbit.cli.completion import prepare_completion
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"the command needs {error.name}. Install it with: pip install 'lastbit[cli]'") from None
    prepare_completion()
    return partial(command_for(arguments), args=arguments, prog_name="lastbit", standalone_mode=False)


def _trace(error: BaseException) -> None:
    """Print where an error comes from: the calls, the kinds of errors, and lastbit's own messages.

    The messages of other libraries may quote a row, so they are left out even here.
    """
    import traceback

    from lastbit.output.table import one_line

    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None:
        _trace(earlier)
    print("Traceback (most recent call last):", file=sys.stderr)
    traceback.print_tb(error.__traceback__)
    message = f": {error}" if isinstance(error, LastbitError) else ""
    print(f"{type(error).__module__}.{type(error).__qualname__}{one_line(message)}", file=sys.stderr)


def _say(message: str, code: int) -> int:
    say(message)
    return code
