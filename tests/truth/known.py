"""What is false today: each line names the cases, the claims, and why. A line goes when the words are true."""

from __future__ import annotations

import re

KNOWN = [
    (
        r".*",
        r"with all every interval is narrower",
        "the width of the middle interval decides, and the sentence speaks of all of them",
    ),
    (
        r"count by weights.*",
        r"noise with one each",
        "the noise of --one-each is named at the full cost, and --one-each spends a share of it on the spread",
    ),
    (
        r"(mean|median|quantile|sum) of .*of crowd",
        r"people (below|above) the bounds",
        "who has numbers on both sides of the bounds is counted on one side only",
    ),
    (
        r"above .*",
        r"the estimate",
        "the estimate is the threshold and the gap less the mean of the noise",
    ),
    (
        r"count rows by .*",
        r"rows are called rows",
        "without a unit rows are counted, and the column is called units",
    ),
    (
        r"mean of .*of tenths",
        r"people below the bounds",
        "a number at a lower bound that lies between two steps is taken for one below it",
    ),
    (
        r"(median|quantile) by .*(one_each|most_items).*of torn",
        r"ranks: .*",
        "the first sentence is about the numbers counted, and says so nowhere",
    ),
    (
        r"median .*of a hair below a step",
        r"ranks: .*",
        "a number less than three fine steps below a step is taken to be at the step, and not floored",
    ),
    (
        r"(count|histogram) unlisted .*most_items.*",
        r"needed, of all people: .*",
        "what an item needs to be listed is a number of units counted, and the sentence says so nowhere",
    ),
]


def reason_of(case: str, claim: str) -> str | None:
    """Return why a claim of a case is false today; None where it must hold."""
    for cases, claims, reason in KNOWN:
        if re.fullmatch(cases, case) and re.fullmatch(claims, claim):
            return reason
    return None
