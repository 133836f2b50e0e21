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
from lastbit.output.words import several
from lastbit.questions.kinds import WATCH
from lastbit.questions.streams import RULE, Stream, stream_of

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.answers import Answer
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.output.page import Page
    from lastbit.questions.request import Request


def command() -> Callable[..., None]:
    """Return the command, with the options of a stream."""
    from lastbit.cli.commands import make_command

    return make_command(
        WATCH.options, lambda values: run_watch(WATCH.parse(values, "command")), WATCH.name, WATCH.help
    )  # fmt: skip


def run_watch(request: Request) -> None:
    """Read numbers from standard input, and answer each as it comes."""
    from lastbit.cli.files import check_outputs, inputs_of
    from lastbit.cli.release import start_stream, write_html

    stream, threshold, html = stream_of(request), request["threshold"], request["html"]
    mechanism, answers = stream.mechanism, Answers(stream, request["as_json"])
    if sys.stdin is None and not request["dry_run"]:
        raise ParameterError("watch reads numbers from standard input, and it is closed. Nothing was charged.")
    check_outputs({"--html": html}, inputs_of(request))
    often = several(mechanism.limit, f"answer above {threshold}", f"answers above {threshold}")
    more = ", or more where numbers are far above" if request["adaptive"] else ""
    run = start_stream(request, f"{often}{more}")
    if run is not None:
        from lastbit.questions.lines import numbers_of

        try:
            answers.give(run, numbers_of(sys.stdin.buffer, request["key"]))
        finally:
            if html is not None:
                write_html(html, answers.page(["lastbit", *sys.argv[1:]]))


@dataclass
class Answers:
    """Writes the answers of a run, and says how the run ended."""

    stream: Stream
    as_json: bool
    asked: int = 0
    above: int = 0
    listed: list[dict[str, Any]] = field(default_factory=list)
    """The answers above."""

    def give(self, run: Run, numbers: Iterable[Any]) -> None:
        """Answer each number as it comes, until the run is spent, the stream ends, or nobody listens."""
        try:
            for each in numbers:
                answer = run.ask(each)
                self.asked += 1
                self.above += answer.above
                print(self._line(answer), flush=True)
                if run.exhausted:
                    self._end("the run is spent, and ends")
                    return
            self._end("the stream ended")
        except BrokenPipeError:
            discard_output()
            self._end("nobody reads the answers any more")
        except OSError as error:  # such as a full disk
            discard_output()
            self._end(f"a line could not be read or written ({error.strerror})")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            self._end("stopped")
            raise

    def _line(self, answer: Answer) -> str:
        from lastbit.output.plain import json_text
        from lastbit.questions.report import shown

        found = self.stream.describe(self.asked, answer)
        if found["above"]:
            self.listed.append(found)
        if self.as_json:
            return json_text(found)
        if not found["above"]:
            return f"{self.asked}: below"
        about = shown(Fraction(round(found["estimate"] / self._step)) * self._step)
        least = "" if found["at_least"] is None else f", at least {shown(found['at_least'], 'down')}"
        return f"{self.asked}: above by {shown(found['gap'])}, about {about}{least}"

    def page(self, words: list[str]) -> Page:
        """The answers above as one page to send on; `words` are those of the command."""
        from lastbit.output.chart import chart
        from lastbit.output.page import Page
        from lastbit.output.picture import Panel
        from lastbit.output.table import cells

        mechanism = self.stream.mechanism
        names = ("query", "gap", "estimate", "at_least")
        columns = {name.replace("_", " "): [each[name] for each in self.listed] for name in names}
        bars = Panel("above by", columns["query"], columns["gap"], "query")
        said = [f"{self.above:,} of {self.asked:,} numbers were above {self.stream.threshold}.", RULE]
        return Page(
            f"{mechanism.name}, {mechanism.cost.text}",
            said,
            chart([bars], "Answers above") if self.listed else "",
            list(columns),
            list(zip(*cells(columns), strict=True)),
            texts=[("The same as a command", shlex.join(words))],
        )

    @property
    def _step(self) -> Fraction:
        return Fraction(self.stream.mechanism.resolution)

    def _end(self, how: str) -> None:
        lines = several(self.asked, "line")
        cost = self.stream.mechanism.cost.text
        say(f"{how}: {self.above:,} of {lines} above. Another run costs {cost} again.")
