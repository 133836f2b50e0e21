"""A published folder is checked without the data: one changed byte anywhere is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys

import pytest

import lastbit as lb
from lastbit.errors import ParameterError
from lastbit.publication.certificate import canonical_bytes, digest_certificate, read_document
from lastbit.publication.folder import digest_files
from lastbit.publication.signature import create_keys, read_private_key, sign
from lastbit.publication.small_audits import list_small_instances
from tests import processes
from tests.publication.studies import TEXT, make_study


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    create_keys(folder / "key")
    text = TEXT.replace('"svg"]', '"svg", "png", "parquet"]\nregistry = true')
    lb.Publication.from_file(make_study(folder, text)).run(key=folder / "key")
    return folder


@pytest.fixture(params=[True, False], ids=["signed", "unsigned"])
def is_signed(request, copy):
    """Whether the folder of a test is signed: it is made unsigned where it shall not be."""
    if not request.param:
        forge(copy, lambda document: None)
    return request.param


@pytest.fixture
def copy(published, tmp_path):
    shutil.copytree(published / "report", tmp_path / "report")
    return tmp_path / "report"


def test_a_folder_verifies_on_a_machine_without_data_or_books(published, copy):
    verdict = lb.verify(copy, key=published / "key.pub")
    assert verdict.holds, verdict
    assert verdict.fingerprint
    assert any("Every cost follows" in line for line in verdict.proved)
    assert any("drawn honestly" in line for line in verdict.not_proved)


def test_another_machine_verifies_a_folder_with_the_command_alone(published, copy, tmp_path):
    """Another process in another folder, without table, books or home."""
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(published / "key.pub", tmp_path)
    command = [sys.executable, "-m", "lastbit", "verify", str(copy), "--key", str(tmp_path / "key.pub"), "--json"]
    variables = {"HOME": str(tmp_path / "nowhere")}
    result = processes.run(command, cwd=tmp_path / "elsewhere", variables=variables, capture_output=True, check=True)
    verdict = json.loads(result.stdout)
    assert verdict["holds"]
    assert verdict["fingerprint"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def change_byte(content: bytes, place: int) -> bytes:
    """Turn one bit of one byte: which one depends on the place."""
    return content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]


def test_one_changed_byte_anywhere_is_noticed(copy, is_signed):
    """A full check with a change at the start, in the middle and at the end of every file."""
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    assert {path.suffix for path in files} == {".json", ".html", ".yaml", ".csv", ".parquet", ".svg", ".png"}
    for path in files:
        content = path.read_bytes()
        for place in (0, len(content) // 2, len(content) - 1):
            path.write_bytes(change_byte(content, place))
            problems = lb.verify(copy, audit=False).problems
            assert any(path.name in problem for problem in problems), (path.name, place)
        path.write_bytes(content)
    assert lb.verify(copy, audit=False).holds


def test_every_byte_of_the_certificate_counts(copy, is_signed):
    """All places, one by one: all before the signature without one, and all of the signature, in upper case too."""
    content = (copy / "release.json").read_bytes()
    assert read_document(content)[1] == []
    places = range(content.index(b'"signature"') if is_signed else 0, len(content))
    assert [place for place in places if not read_document(change_byte(content, place))[1]] == []
    if is_signed:
        upper = [content[:place] + content[place : place + 1].upper() + content[place + 1 :] for place in places]
        assert all(read_document(other)[1] for other in upper if other != content)


def test_every_byte_of_every_other_file_counts(copy, tmp_path):
    """All places of all files, one by one, with the digests that a full check compares."""
    stated = json.loads((copy / "release.json").read_bytes())["files"]
    assert digest_files(copy) == stated
    (tmp_path / "one").mkdir()
    for name in stated:
        content = (copy / name).read_bytes()
        path = tmp_path / "one" / "file"
        path.write_bytes(content)
        assert digest_files(path.parent) == {"file": stated[name]}
        before = hashlib.sha256()
        for place in range(len(content)):
            changed = before.copy()
            changed.update(change_byte(content[place : place + 1], 0) + content[place + 1 :])
            assert changed.hexdigest() != stated[name], (name, place)
            before.update(content[place : place + 1])


def test_a_missing_and_a_foreign_file_are_noticed(copy):
    (copy / "extra.txt").write_text("?")
    assert "extra.txt is not part" in str(lb.verify(copy, audit=False))
    (copy / "extra.txt").unlink()
    (copy / "answers" / ".hidden").symlink_to(copy.parent, target_is_directory=True)
    assert "answers/.hidden is not part" in str(lb.verify(copy, audit=False))
    (copy / "answers" / ".hidden").unlink()
    os.mkfifo(copy / "pipe")
    assert "pipe is not part" in str(lb.verify(copy, audit=False))
    (copy / "pipe").unlink()
    for name in json.loads((copy / "release.json").read_bytes())["files"]:
        content = (copy / name).read_bytes()
        (copy / name).unlink()
        assert f"{name} is missing" in str(lb.verify(copy, audit=False))
        (copy.parent / "elsewhere").write_bytes(content)
        (copy / name).symlink_to(copy.parent / "elsewhere")
        assert f"{name} was changed" in str(lb.verify(copy, audit=False))
        (copy / name).unlink()
        (copy / name).write_bytes(content)
    assert lb.verify(copy, audit=False).holds


def forge(copy, change, key=None):
    """Change the certificate and make everything around it fit again, as somebody would who has no data."""
    path = copy / "release.json"
    document = json.loads(path.read_bytes())
    change(document)
    document.pop("signature")
    document["digest"] = digest_certificate(document)
    signature = None if key is None else sign(read_private_key(key), canonical_bytes(document))
    path.write_bytes(canonical_bytes({**document, "signature": signature}))


FORGERIES = {
    "a smaller total": (lambda document: document["plan"].update(cost="rho 1/1000000"), "add up to"),
    "a smaller budget": (lambda document: document["plan"]["budget"].update(epsilon="1/10"), "more than the budget"),
    "another price": (
        lambda document: document["plan"]["questions"][0]["options"].update(rho="1/1000000"), "states another",
    ),
    "another bound": (
        lambda document: document["plan"]["questions"][1]["options"].update(bounds=["0", "10"]), "states another",
    ),
    "another edition": (lambda document: document["plan"].update(edition="2023"), "hash of the plan"),
    "another time in the books": (
        lambda document: document["books"]["entries"][0].update(time="2020-01-01T00:00:00+00:00"), "digest",
    ),
    "a part left out of the books": (lambda document: document["books"]["entries"].pop(), "no entry for"),
    "another answer": (
        lambda document: document["answers"]["patients"].update(
            published=document["answers"]["patients"]["published"].replace("0x", "0x1", 1)
        ),
        "books kept",
    ),
    "another number for programs": (
        lambda document: document["answers"]["patients"]["columns"].update(value=[1]), "do not follow",
    ),
    "another charge in the books": (
        lambda document: document["books"]["entries"][0].update(cost="rho 1/1000000"), "charged rho 1/1000000",
    ),
    "a file of the reader as a domain": (
        lambda document: document["plan"]["questions"][2]["options"].update(domain="/etc/hosts"), "a list of items",
    ),
    "a ledger of the reader": (
        lambda document: document["plan"]["questions"][2]["options"].update(ledger="budget.db"), "no question of it",
    ),
    "another title": (lambda document: document["answers"]["patients"].update(title="Doctors"), "the title of"),
    "another budget text": (lambda document: document["study"].update(why="it is little"), "report.html"),
    "no questions": (lambda document: document["plan"].update(questions=[]), "cannot be checked"),
    "rubbish": (lambda document: document.update(plan=[1, 2]), "cannot be checked"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_certificate_is_noticed_although_it_is_signed_again(tmp_path, copy, name):
    change, words = FORGERIES[name]
    create_keys(tmp_path / "other")
    forge(copy, change, tmp_path / "other")
    verdict = lb.verify(copy, audit=False)
    assert not verdict.holds
    assert any(words in problem for problem in verdict.problems), verdict


def test_a_changed_report_or_table_is_noticed_although_its_digest_fits(tmp_path, copy):
    create_keys(tmp_path / "other")
    changes = {
        "report.html": lambda content: content.replace(b"patients", b"people  ", 1),
        "deployment.yaml": lambda content: content.replace(b"epsilon: 3", b"epsilon: 2", 1),
        "answers/regions.svg": lambda content: content.replace(b"north", b"south", 1),
        "answers/regions.csv": lambda content: content.replace(b"north", b"south", 1),
        "answers/regions.parquet": lambda _: (copy / "answers" / "cost.parquet").read_bytes(),
    }
    for name, change in changes.items():
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(change(content))
        digest = hashlib.sha256((copy / name).read_bytes()).hexdigest()
        forge(copy, lambda document, name=name, digest=digest: document["files"].update({name: digest}))
        verdict = lb.verify(copy, audit=False)
        assert any(f"{name} does not follow" in problem for problem in verdict.problems), verdict
        (copy / name).write_bytes(content)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"NaN", b"[" * 100_000, b'{"schema": "lastbit-publication-1", "plan": NaN}', b"\xff"]
)
def test_a_certificate_that_is_none_is_a_verdict(copy, content):
    (copy / "release.json").write_bytes(content)
    assert not lb.verify(copy).holds


def test_another_key_and_no_key_are_noticed(tmp_path, published, copy):
    create_keys(tmp_path / "other")
    assert "another key" in str(lb.verify(copy, key=tmp_path / "other.pub", audit=False))
    forge(copy, lambda document: None)
    assert lb.verify(copy, audit=False).holds
    assert "  not proved  Who made this folder: it is unsigned." in str(lb.verify(copy, audit=False))
    assert "unsigned, and a key was named" in str(lb.verify(copy, key=published / "key.pub", audit=False))


def test_the_folder_holds_no_path_and_no_row(published):
    for path in (published / "report").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for private in (str(published), "visits.csv", "budget.db", "p399"):
            assert private.encode() not in content, path


def test_what_is_no_folder_or_key_is_refused(tmp_path, copy):
    with pytest.raises(ParameterError, match="cannot be read"):
        lb.verify(tmp_path / "nowhere")
    (tmp_path / "key").write_text("no key")
    with pytest.raises(ParameterError, match="no public key"):
        lb.verify(copy, key=tmp_path / "key")
    with pytest.raises(ParameterError, match="never overwritten"):
        create_keys(tmp_path / "key")


@pytest.mark.parametrize("name", list_small_instances())
def test_a_small_instance_is_small_and_keeps_its_cost(name):
    mechanism, values, tolerance = list_small_instances()[name]()
    assert mechanism.name == name
    assert lb.audit.check_all(mechanism, values, tolerance=tolerance).holds
