"""How an answer was made, in words: one sentence below it, and a paragraph for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lastbit
from lastbit.output.methods import cite, describe_privacy, find_method
from lastbit.output.words import plural
from lastbit.questions.reading_notes import count_rows_of, describe_numbers, describe_one, describe_sd
from lastbit.questions.report import format_percent, format_value
from lastbit.questions.titles import name_different
from lastbit.questions.unit_types import join_names

if TYPE_CHECKING:
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


def method_sentence(request: Request, published: Any, report: Report) -> str:
    """Return the method in one sentence: the noise, the cost, whom it protects, and what an interval is about."""
    noise = _noise(request, published)
    words = request.words
    end = f"; intervals are for these {words.people}, not for {words.people} in general" if report.has_intervals else ""
    return f"Method: {noise}, drawn exactly; {published.cost.text} protects {_whom(request)}{end}."


def methods_paragraph(request: Request, published: Any, report: Report) -> str:
    """Return the paragraph for a paper: what was counted, by which rules, at which cost, and whom to cite."""
    words = request.words
    sentences = [f"{report.title}.", *_rules(request, published)]
    whom = _whom(request)
    privacy = describe_privacy(published.cost.text, whom, together=request.rows.unit is not None)
    sentences.append(f"{privacy} ({_noise(request, published)}, exact sampling, lastbit {lastbit.__version__}).")
    if report.has_intervals:
        level = format_percent(report.level or request.level)
        whose = "of this table" if request.rows.most_units is None else "that count here"
        sentences.append(
            f"Intervals contain the value for the {words.people} {whose}, not for {words.people} in general, "
            f"with probability {level} each; they describe the added noise and the limits above, not sampling."
        )
    sentences += [*report.post_processing, cite(_mechanisms(published), lastbit.__version__)]
    return " ".join(sentences)


def _whom(request: Request) -> str:
    """Return what is protected together."""
    words, unit = request.words, request.rows.unit
    if request.values.get("counts") is not None:
        return "any one person"
    if unit is None:
        return f"any single {words.row}"
    if request.rows.unit_parts:
        names = request.rows.unit_names
        if request.rows.most_units is not None:
            return f"all {words.rows} with the same {names[0]}"
        return f"all {words.rows} with the same {join_names(names)} (not all with the same {names[0]})"
    return f"all {words.rows} of any one {words.person}"


def _rules(request: Request, published: Any) -> list[str]:
    """Return by which public rules people and their numbers count."""
    from lastbit.questions.sums import choose_rule

    get, words = request.values.get, request.words
    if request.asks_several:
        from lastbit.questions.several_numbers import describe_share, join_notes, split_request

        rules = join_notes({column: _rules(part, published) for column, part in split_request(request).items()})
        return [describe_share(request), *rules]
    rules = []
    if request.kind.name in ("sum", "mean", "median", "quantile"):
        rule = choose_rule(request, "total" if request.kind.name == "sum" else "mean")
        rules.append(describe_numbers(request, rule)[0])
    bounds = get("bounds")
    if isinstance(bounds, tuple) and len(bounds) == 2 and not (get("every") or request.kind.name == "histogram"):
        low, high = (_write_bound(end) for end in bounds)
        rules.append(f"Numbers were limited to {low} to {high}.")
    if get("sd"):
        of_rows = choose_rule(request, request.kind.name) == "row" and request.rows.unit is not None
        rules.append(describe_sd(words.rows if of_rows else words.people))
    most = 1 if get("one_each") else get("most_items")
    if request.each_in_one:
        rules += describe_one(request.items.by, "group", words)
        most = None
    if isinstance(most, int) and get("different") is not None:
        values = plural(most, *name_different(request))
        rules.append(f"Each {words.person} brought at most {values}, chosen at random where there were more.")
    elif isinstance(most, int) and request.rows.unit is not None:
        where = "one group" if most == 1 else f"at most {plural(most, 'group')}"
        rules.append(f"Each {words.person} counted in {where}, chosen at random where there were more.")
    if request.kind.name in ("count", "share") and get("most_rows") is not None:
        rules.append(f"At most {count_rows_of(words, request['most_rows'])}, chosen at random where there are more.")
    if get("where"):
        rules.append(f"Only {words.rows} where {get('where')} were read.")
    return rules


def _write_bound(text: Any) -> str:
    from lastbit.errors import ParameterError
    from lastbit.exact.numbers import number

    try:
        return format_value(number(text, "bounds"))
    except ParameterError:  # a date
        return str(text)


def _mechanisms(published: Any) -> list[str]:
    """Return the names of the mechanisms of a release, each once: of a release of parts, those of its parts."""
    parts = getattr(published, "parts", None)
    if not isinstance(parts, tuple):
        return [published.mechanism]
    return [*dict.fromkeys(name for _, part in reversed(parts) for name in _mechanisms(part))]


def _noise(request: Request, published: Any) -> str:
    """Return what the mechanism of the answer did; of a description, those of all its parts."""
    if request.kind.name == "describe":
        return ", ".join(dict.fromkeys(find_method(name).noise for name in _mechanisms(published)))
    return find_method(getattr(published, "main", published).mechanism).noise
