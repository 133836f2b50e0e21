"""`lastbit watch`: which numbers of a stream are over a threshold, answered line by line as they come."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from lastbit.cli.streams import discard_output, say
from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.kinds import WATCH
from lastbit.questions.streams import RULE, Stream, build_stream, parse_lines

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.answers import Answer
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.output.page import Page
    from lastbit.questions.request import Request


def watch_command() -> Callable[..., None]:
    """Return the command, with the options of a stream."""
    from lastbit.cli.commands import make_command

    return make_command(
        WATCH.options, lambda values: run_watch(WATCH.parse(values, "command")), WATCH.name, WATCH.help
    )  # fmt: skip


def run_watch(request: Request) -> None:
    """Read numbers from standard input, and answer each as it comes."""
    from lastbit.cli.files import check_outputs, inputs_of
    from lastbit.cli.release import close_stream, start_stream, write_file, write_text
    from lastbit.questions.within import buy_accuracy

    request = buy_accuracy(request)
    stream, threshold, html = build_stream(request), request["threshold"], request["html"]
    mechanism, printer = stream.mechanism, AnswerPrinter(stream, request["json"])
    if sys.stdin is None and not request["dry_run"]:
        raise ParameterError("watch reads numbers from standard input, and it is closed. Nothing was charged.")
    check_outputs({"--html": html}, inputs_of(request))
    limit_text = plural(mechanism.limit, f"answer above {threshold}", f"answers above {threshold}")
    more = ", or more where numbers are far above" if request["adaptive"] else ""
    started = start_stream(request, f"{limit_text}{more}")
    if started is not None:
        try:
            if printer.print_answers(started[0], parse_lines(sys.stdin.buffer, request["key"])):
                close_stream(*started)
        finally:
            if html is not None:
                page = printer.page(["lastbit", *sys.argv[1:]]).html()
                write_file("--html", html, lambda name: write_text(name, page))


@dataclass
class AnswerPrinter:
    """Writes the answers of a run, and says how the run ended."""

    stream: Stream
    as_json: bool
    count: int = 0
    above: int = 0
    above_answers: list[dict[str, Any]] = field(default_factory=list)
    """The answers above."""

    def print_answers(self, run: Run, numbers: Iterable[Any]) -> bool:
        """Answer each number as it comes, until the run is spent, the stream ends, or nobody listens.

        Return whether every answer was delivered: an answer that may be lost stays paid for, and so does all that was
        not spent.
        """
        try:
            for number in numbers:
                answer = run.ask(number)
                self.count += 1
                self.above += answer.above
                print(self._render_line(answer), flush=True)
                if run.exhausted:
                    self._say_end("the run is spent, and ends")
                    return True
            self._say_end("the stream ended")
            return True
        except BrokenPipeError:
            discard_output()
            self._say_end("nobody reads the answers any more")
            return False
        except OSError as error:  # such as a full disk
            discard_output()
            self._say_end(f"a line could not be read or written ({error.strerror})")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            self._say_end("stopped")
            raise

    def _render_line(self, answer: Answer) -> str:
        from lastbit.output.json_values import json_text
        from lastbit.questions.report import format_value

        data = self.stream.describe(self.count, answer)
        if data["above"]:
            self.above_answers.append(data)
        if self.as_json:
            return json_text(data)
        if not data["above"]:
            return f"{self.count}: below"
        about = format_value(Fraction(round(data["estimate"] / self._step)) * self._step)
        least = "" if data["at_least"] is None else f", at least {format_value(data['at_least'], 'down')}"
        spent = f", spent {format_value(data['spent'])}" if "spent" in data else ""
        return f"{self.count}: above by {format_value(data['gap'])}, about {about}{least}{spent}"

    def page(self, words: list[str]) -> Page:
        """Return the answers above as one page to send on; `words` are those of the command."""
        from lastbit.output.chart import chart
        from lastbit.output.page import Page
        from lastbit.output.picture import Panel
        from lastbit.output.table import format_cells

        mechanism = self.stream.mechanism
        names = ("query", "gap", "estimate", "at_least")
        columns = {name.replace("_", " "): [answer[name] for answer in self.above_answers] for name in names}
        bars = Panel("above by", columns["query"], columns["gap"], "query")
        notes = [f"{self.above:,} of {self.count:,} numbers were above {self.stream.threshold}.", RULE]
        return Page(
            f"{mechanism.name}, {mechanism.cost.text}",
            notes,
            chart([bars], "Answers above") if self.above_answers else "",
            list(columns),
            list(zip(*format_cells(columns), strict=True)),
            texts=[("The same as a command", shlex.join(words))],
        )

    @property
    def _step(self) -> Fraction:
        return Fraction(self.stream.mechanism.resolution)

    def _say_end(self, reason: str) -> None:
        lines = plural(self.count, "line")
        cost = self.stream.mechanism.cost.text
        say(f"{reason}: {self.above:,} of {lines} above. Another run costs {cost} again.")
