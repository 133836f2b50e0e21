"""Names in src: a class name means one thing, functions are verbs or nouns, and variables say what they hold."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache

import pytest

from tests.docs.source import modules, nodes

pytestmark = pytest.mark.xdist_group("source")  # one worker reads all files, once


@cache
def functions() -> list[tuple[str, str]]:
    """The name and the file of every function."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    names = [(node.name, path) for path, tree in modules() for node in nodes(tree) if isinstance(node, kinds)]
    return [(name, path) for name, path in names if not name.startswith("__")]


IRREGULAR = {
    "begun", "bought", "broken", "built", "chosen", "done", "drawn", "driven", "found", "given", "gone", "grown",
    "held", "hidden", "kept", "known", "left", "lost", "made", "met", "paid", "said", "seen", "sent", "shown", "sold",
    "spent", "taken", "told", "worn", "written",
}  # fmt: skip
NO_PARTICIPLES = {"need", "speed", "seed", "feed", "embed", "indeed"}
TERMS = {
    "bounded", "clamped", "delimited", "keyed", "listed", "normalized", "printed", "published", "randomized", "squared",
    "truncated", "unlisted", "zoned",
}  # fmt: skip
"""Adjectives of the trade, which stand before a noun: a truncated geometric, the listed items, a published text."""
PUBLIC = {
    "asked", "charged", "done", "exhausted", "left", "measured", "needed", "published", "required", "scored", "spent",
    "tempered", "tried", "error_left", "refunded", "answers_lost", "connection_lost", "connection_made",
    "data_received",
    "variance_left", "variance_weighted", "widened", "expected_found", "accuracy_as_printed",
}  # fmt: skip
"""Names that users call. They stay as they are."""


def is_participle(word: str) -> bool:
    return word in IRREGULAR or (len(word) > 4 and word.endswith("ed") and word not in NO_PARTICIPLES)


def test_no_two_public_classes_share_a_name() -> None:
    homes = defaultdict(set)
    for path, tree in modules():
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_function_is_called_by_a_participle() -> None:
    """A participle may stand before a noun or behind a verb, as in `listed_items` and `is_piped`; never alone."""
    verbs = r"is|has|can|check|count|find|mark|open|read|run|say|takes|unpack"
    odd = {
        f"{path}: {name}"
        for name, path in functions()
        if is_participle(name.split("_")[-1]) and name not in PUBLIC and not re.match(rf"_?({verbs})_", name)
    }
    assert odd == set()
    assert {name for name, _ in functions()} >= PUBLIC, "a name that no longer exists is no exception"


def test_few_names_have_a_participle_at_all() -> None:
    names = [
        name
        for name, _ in functions()
        if name not in PUBLIC and any(is_participle(word) and word not in TERMS for word in name.split("_"))
    ]
    assert len(names) < len(functions()) / 50, sorted(names)


def test_variables_say_what_they_hold() -> None:
    """A field is no variable: users read `verdicts.each`."""
    vague = {"each", "found", "told", "given"}
    for path, tree in modules():
        kinds = [node for node in nodes(tree) if isinstance(node, ast.ClassDef)]
        fields = {field.target for kind in kinds for field in kind.body if isinstance(field, ast.AnnAssign)}
        for node in nodes(tree):
            if isinstance(node, ast.arg):
                assert node.arg not in vague, f"{path}:{node.lineno}"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
                assert node.id not in vague, f"{path}:{node.lineno}"


PHRASES = re.compile(r"(A|About|All|An|Each|Every|For|How|Of|One|The|These|Two|What|Where|Whether|Which|Who)\b")
SENTENCE = re.compile(
    r"(A|All|An|Each|Every|One|The|These|Two)( (?!that|which|who|whose|where|of)\S+){1,4} "
    r"(is|are|has|have|lies|may|means|must)\b"
)


def test_a_function_says_in_a_sentence_what_it_does() -> None:
    """A noun phrase does for a property; of a function one must read whether it returns, writes or charges."""
    odd = {
        f"{path}: {node.name}: {text.splitlines()[0]}"
        for path, tree in modules()
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node))
        and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        and PHRASES.match(text) and not SENTENCE.match(text.replace("\n", " "))
    }  # fmt: skip
    assert odd == set(), "Begin with a verb: Return the …, Yield …, Write …"
