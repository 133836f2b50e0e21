"""Questions that people ask of sensitive tables, collected from tutorials, issues and statistics: each is one command.

Each is of another shape: two that the ledger would take for one question are a mistake here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lastbit.questions.identity import identity_of
from lastbit.questions.plan import make_plan
from tests.questions.test_twins_of_commands import parse_words

HEADER = "patient,region,sex,age,department,day,left_on,kind,diagnosis,stay,wait,cost"
REGIONS = "--by region --domain region=north,south,east,west"
LISTED = "--by diagnosis --domain diagnosis=I10,J06,M54,E11"
COST = "--of cost --bounds 0 20000"
QUESTIONS = {
    "How many patients were there?": "count",
    "How many visits were there?": "count --rows --most-rows 12",
    "How many patients of each region?": f"count {REGIONS} --one-each",
    "How many visits in each region?": f"count --rows --most-rows 12 {REGIONS}",
    "How many patients with each listed diagnosis?": f"count {LISTED}",
    "Which diagnoses occur, and how often, without a list?": (
        "count --by diagnosis --discover --most-items 3 --delta 1e-6"
    ),
    "How many patients a month?": "count --month day --domain 2024-01..2024-12",
    "How many patients a week?": "count --week day --domain 2024-W01..2024-W52 --most-items 4",
    "How many patients on each day of January?": "count --day day --domain 2024-01-01..2024-01-31",
    "How many patients each year?": "count --year day --domain 2020..2024",
    "On which days of the week do patients come?": "count --weekday day",
    "At which hours do they come?": "count --hour arrived",
    "How many patients of each age group?": "count --edges age 0,18,40,65,80 --one-each",
    "How many patients by region and age?": f"count {REGIONS} --edges age 18,40,65,80 --one-each",
    "How many by decade of age?": "count --by 'age // 10 as decade' --domain decade=0..9 --one-each",
    "How many patients have a long stay?": "count --where 'stay >= 10'",
    "How many emergencies in each region?": f"count --where \"kind = 'emergency'\" {REGIONS}",
    "How many patients of listed pairs of region and sex?": "count --by region,sex --domain pairs.csv",
    "How many patients come at least five times?": ("count --let 'visits = count(*)' --edges visits 1,2,5 --one-each"),
    "How many patients were ever an emergency?": ("count --let \"ever = any(kind = 'emergency')\" --where ever"),
    "How many patients have no region?": f"count {REGIONS} --missing show",
    "How many are from elsewhere?": f"count {REGIONS} --others show --one-each",
    "How many patient days of use?": "count --unit day",
    "Stays in bins of seven days?": "count --bin stay 7 --domain stay=0..84:7",
    "A histogram of costs?": "histogram --of cost --bounds 0 5000 --bins 20",
    "What share of patients had an emergency?": "share --of \"kind = 'emergency'\"",
    "What share by region?": f"share --of \"kind = 'emergency'\" {REGIONS} --one-each",
    "What share of visits is an emergency?": "share --of \"kind = 'emergency'\" --rows --most-rows 5",
    "What share stays long, month by month?": "share --of 'stay > 7' --month day --domain 2024-01..2024-12",
    "What is the mean cost of a patient?": f"mean {COST}",
    "What is the mean cost of a visit?": f"mean {COST} --rows --most-rows 5",
    "What does a patient cost in all, on average?": f"mean {COST} --per total",
    "What did the latest visit cost?": f"mean {COST} --per latest --latest-by day",
    "What did the first visit cost?": f"mean {COST} --per first --first-by day",
    "What was the dearest visit of each patient?": f"mean {COST} --per any",
    "Mean cost by region?": f"mean {COST} {REGIONS} --one-each",
    "Mean cost by region and sex?": f"mean {COST} {REGIONS} --by sex --domain sex=f,m,x --one-each",
    "Mean cost by age?": f"mean {COST} --edges age 0,18,40,65,80 --one-each",
    "Mean and standard deviation of the stay?": "mean --of stay --bounds 0 60 --sd",
    "Mean cost and mean stay at once?": "mean --of cost,stay --bounds 0 20000",
    "Mean cost, nobody knows the range?": "mean --of cost --bounds auto auto",
    "Total cost by region?": f"sum {COST} {REGIONS}",
    "Total stay of visits by month?": (
        "sum --of stay --rows --most-rows 6 --bounds 0 60 --month day --domain 2024-01..2024-12"
    ),
    "The median stay?": "median --of stay --bounds 0 90",
    "The median stay in each region?": f"median --of stay --bounds 0 90 {REGIONS} --one-each",
    "The quartiles of the age?": "quantile --of age --at 0.25,0.5,0.75 --bounds 0 120",
    "The 90th percentile of the wait by region?": f"quantile --of wait --at 0.9 --bounds 0 365 {REGIONS} --one-each",
    "The median cost where nobody knows the range?": "median --of cost --resolution 0.01",
    "The ten most common diagnoses?": "top --by diagnosis --discover -k 10 --delta 1e-6",
    "The same with their numbers?": ("top --by diagnosis --discover -k 10 --numbers --most-items 5 --delta 1e-6"),
    "The most common of a list?": f"top {LISTED} -k 2",
    "The most common in each region?": f"top {LISTED} -k 2 --in-each region --domain region=north,south --one-each",
    "The diagnoses that cost most?": f"top {LISTED} -k 2 {COST}",
    "The three most common as a set?": f"top {LISTED} -k 3 --set",
    "Which diagnoses do more than 100 patients have?": f"above {LISTED} --threshold 100 --limit 3",
    "Which one is the most common?": f"choose {LISTED}",
    "A table of region by sex that adds up?": (
        "tables --by region,sex --domain region=north,south,east,west --domain sex=f,m,x --one-each --delta 1e-6"
    ),
    "What is in this table?": "describe --numbers age --numbers cost --dates day",
    "Which diagnoses go with which region?": (
        f"count {LISTED} --by region --domain region=north,south,east,west --most-items 3"
    ),
}
AT_LEAST = 50


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("region,sex\nnorth,f\nsouth,m\n", encoding="utf-8")
    Path("visits.csv").write_text(f"{HEADER},arrived\n", encoding="utf-8")


def test_at_least_fifty_questions_are_one_command_each() -> None:
    identities = {}
    for question, words in QUESTIONS.items():
        kind, _, rest = words.partition(" ")
        request = parse_words(f"{kind} visits.csv --unit patient {rest} --epsilon 1")
        plan = make_plan(request)
        assert plan.accuracy.within > 0, question
        assert plan.title, question
        identities[json.dumps(identity_of(request), sort_keys=True)] = question
    assert len(identities) == len(QUESTIONS) >= AT_LEAST
