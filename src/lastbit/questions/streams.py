"""Streams: sparse-vector runs as people ask for them, the number of each line, and each answer as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Any, Final

from lastbit.exact.numbers import number, probability
from lastbit.questions.option import COMMAND, Option
from lastbit.questions.output_options import PRESENTATION
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.shared_options import COST, LEDGER, LIMIT, OUTPUT, THRESHOLD
from lastbit.questions.value_types import Flag, Number, Text

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.answers import Answer
    from lastbit.questions.request import Request

RULE: Final = (
    "A line without a number counts as the lowest number there is, and is answered below. Numbers are rounded down to "
    "whole steps."
)

LONGEST: Final = 1 << 16
"""A line of more bytes is no number. So memory stays small, whatever comes."""

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)

_HELP: Final = {
    "epsilon": "The cost of the whole run, such as 1, 0.5 or 1/3.",
    "rho": "The cost of the whole run in zCDP instead.",
    "level": "The probability that an 'at least' is empty or true.",
    "html": "Write a report to send on when the run ends.",
    "dry_run": "Show the cost and the accuracy. Read nothing and spend nothing.",
}

OPTIONS: Final = (
    replace(THRESHOLD, help="Say which numbers are above this one."),
    replace(LIMIT, help="End after this many answers above."),
    Option("sensitivity", Number(), "How far one person can move a number of the stream.", "1"),
    Option("monotone", Flag(), "One person who comes moves no number down, as in counts: half the noise.", False),
    Option("adaptive", Flag(), "Numbers far above cost less, so that more of them are answered.", False),
    Option("resolution", Number(), "The step of numbers, noise and gaps. The threshold is on a step.", "1"),
    Option("key", Text("NAME"), "The key of the number, where lines are JSON.", "value"),
    *(
        replace(option, help=_HELP.get(option.name, option.help))
        for option in (*COST, *LEDGER, *OUTPUT)
        if option.name not in ("reuse", "json", "plot", "people", "noun", "row_noun") and option not in PRESENTATION
    ),
    Option("json", Flag(), "Print one JSON object for each line.", False, "output", COMMAND),
)


@dataclass(frozen=True)
class Stream:
    """A mechanism that answers a stream, with the threshold and the level of its bounds."""

    mechanism: Any
    threshold: Fraction
    level: str

    @classmethod
    def of(cls, *, threshold: str, level: str, adaptive: bool = False, **parameters: Any) -> Stream:
        """Return the stream with these parameters, refused before anything is spent where they cannot work."""
        import lastbit as lb
        from lastbit.estimate.gaps import parse_level

        kind: Any = lb.AdaptiveSparseVector if adaptive else lb.SparseVector
        mechanism = kind(threshold=threshold, **parameters)
        parse_level(level)
        return cls(mechanism, number(threshold, "threshold"), level)

    def describe(self, query: int, answer: Answer) -> dict[str, Any]:
        """Return an answer as data: where it is above, with its gap, an estimate, and a bound that holds at the level.

        >>> stream = Stream.of(threshold="100", level="0.95", limit=1, epsilon=1)
        >>> run = stream.mechanism.start()
        >>> stream.describe(1, run.ask(0)), sorted(stream.describe(2, run.ask(10**6)))
        ({'query': 1, 'above': False}, ['above', 'at_least', 'estimate', 'gap', 'level', 'query'])
        """
        if answer.gap is None:
            return {"query": query, "above": False}
        kind: Any = self.mechanism.gap_noise
        noise = kind(answer) if callable(kind) else kind
        return {
            "query": query,
            "above": True,
            "gap": answer.gap,
            "estimate": noise.estimate(self.threshold, answer.gap).value,
            "at_least": noise.listed_bound(self.threshold, answer.gap, self.level),
            "level": probability(self.level, "level"),
            # Branches have prices of their own. What was unspent may come back only where each price is published.
            **({"spent": answer.spent} if callable(kind) else {}),
        }


def build_stream(request: Request) -> Stream:
    """Return the stream that a request asks for."""
    names = ("threshold", "level", "adaptive", "limit", "sensitivity", "monotone", "resolution")
    return Stream.of(**{name: request[name] for name in names}, **request.cost)


def watch(request: Request) -> Question:
    """Read numbers from standard input, one a line, and say of each at once whether it is above a threshold.

    The whole cost is charged at the start. Answers below cost nothing more, however many there are. A number that is
    above comes with its gap, and the run ends after the last answer that was paid for. A line without a number
    counts as the lowest number there is. No line is ever shown.
    """
    from lastbit.questions.report import format_bound, format_percent

    stream = build_stream(request)
    within = stream.mechanism.decisive(request.level)
    sentence = (
        f"Before the run begins, the probability is {format_percent(request.level)} that a number that is "
        f"{format_bound(within, whole=False)} above or below the threshold is told rightly, if the run gets to it"
        + (" and can still pay for its most precise answer." if request["adaptive"] else ".")
    )
    meaning = "How far from the threshold a number is answered rightly"

    def no_table(*_: Any) -> Any:
        raise NotImplementedError("a stream is started, and not read")

    return Question(
        stream.mechanism,
        reading=None,
        report=no_table,
        sample=no_table,
        accuracy=lambda units: Accuracy(within, "the stream's unit", sentence, meaning),
        notes=[RULE],
    )


def parse_lines(stream: IO[bytes], key: str) -> Iterator[Decimal | None]:
    """Yield the number of each line, as soon as the line is there; None for a line without one.

    >>> from io import BytesIO
    >>> list(parse_lines(BytesIO(b'12.5\\n{"value": 1e3}\\n\\nn/a\\n-7'), "value"))
    [Decimal('12.5'), Decimal('1E+3'), None, None, Decimal('-7')]
    """
    while line := stream.readline(LONGEST):
        whole = line.endswith(b"\n") or len(line) < LONGEST
        while not whole:
            more = stream.readline(LONGEST)
            whole = more.endswith(b"\n") or len(more) < LONGEST
            line = b""
        yield parse_line(line.decode("utf-8-sig", "replace").strip(), key)


def parse_line(text: str, key: str) -> Decimal | None:
    """Return the number of a line: a decimal, or the number under a key of a JSON object; None where there is none.

    True and false are no numbers, nor is text that reads NaN or Infinity. A number in quotes counts, as databases write
    it. When an object has a key twice, the first one counts.

    >>> parse_line('{"n": "3", "n": 4}', "n"), parse_line("1,000", "n"), parse_line("Infinity", "n")
    (Decimal('3'), None, None)
    """
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    if not text.startswith("{"):
        return None
    try:
        fields = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_keep_first)
    except (ValueError, RecursionError):
        return None
    value = fields.get(key)
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else None


def _keep_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object in which the first of two equal keys counts."""
    return dict(reversed(pairs))
