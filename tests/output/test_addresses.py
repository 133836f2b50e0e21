"""Addresses as they may be printed: no secret, wherever it stands."""

from __future__ import annotations

import pytest

from lastbit.output.addresses import public_address

UNREADABLE = "://…"

SECRET = "hunter2"

WITH_A_SECRET = [
    "postgresql://bob:hunter2@db/clinic",
    "postgres://bob:hunter2@db:5432/clinic",
    "postgresql+psycopg://bob:hunter2@db/clinic",
    "postgresql://db/clinic?user=bob&password=hunter2",
    "postgresql://db/clinic?password=hunter2&user=bob&host=/run",
    "postgresql://bob@db/clinic?sslpassword=hunter2",
    "postgresql://bob@db/clinic?passfile=/home/hunter2",
    "postgresql://bob@db/clinic?oauth_client_secret=hunter2",
    "postgresql://bob@db/clinic?a_parameter_of_tomorrow=hunter2",
    "postgresql://bob@db/clinic?PASSWORD=hunter2",
    "postgresql://bob@db/clinic?pass%77ord=hunter2",
    "postgresql://bob@db/clinic?password=a&password=hunter2",
    "postgresql://bob:x/hunter2@db/clinic",
    "postgresql://bob:x@hunter2@db/clinic",
    "postgresql://bob:hunter2@@db/clinic",
    "postgresql://bob:x?hunter2@db/clinic",
    "postgresql://bob:x#hunter2@db/clinic",
    "postgresql://bob:hunter2/clinic",
    "postgresql://bob:hunter2",
    "postgresql://bob@db/clinic#hunter2",
    "postgresql://bob@db/clinic/hunter2",
    "postgresql://:hunter2@db/clinic",
    "mysql://bob:hunter2@db/clinic",
    "sqlite:///budget.db?key=hunter2",
    "host=db password=hunter2://",
]


@pytest.mark.parametrize("address", WITH_A_SECRET)
def test_no_secret_is_in_a_public_address(address: str) -> None:
    assert SECRET not in public_address(address)


def test_what_is_meant_stays() -> None:
    for spellings in (
        ("postgresql://bob@db/clinic", "postgres://bob:x@db/clinic", "postgresql://db/clinic?user=bob&password=x",
         "postgresql://bob:x@/?host=db&dbname=clinic", "postgresql://b%6Fb@db/clinic?sslkey=/k"),
        ("postgresql://bob@db:5433/bob", "postgresql://bob@db:5433", "postgresql://bob@db:5433/?"),
        ("postgresql://db,other/clinic", "postgresql:///clinic?host=db,other"),
        ("postgresql:///clinic?host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/clinic"),
        ("postgresql://[::1]:5433/clinic", "postgresql:///clinic?host=::1&port=5433"),
    ):  # fmt: skip
        assert len({public_address(address) for address in spellings}) == 1, spellings
        assert public_address(public_address(spellings[0])) == public_address(spellings[0])
        assert UNREADABLE not in public_address(spellings[0])
    several = ["@one/a", "@two/a", "@one/b", "@one:1/a", "@one/a?options=-cx", "@one/a?hostaddr=10.0.0.1", "one/a"]
    assert len({public_address(f"postgresql://{address}") for address in several}) == len(several) - 1
    assert public_address("postgresql://@one/a") == public_address("postgresql://one/a")


def test_names_of_files_stay_as_they_are() -> None:
    for name in ("visits.csv", "a@b:c.csv", "/tmp/x?y", "-", "", "sqlite:///budget.db", "sqlite:////tmp/budget.db"):
        assert public_address(name) == name
