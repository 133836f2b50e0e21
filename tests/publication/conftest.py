"""Publications are paid by a ledger of either kind: the places are those of the tests of the ledger."""

from __future__ import annotations

from tests.ledger.conftest import place as place
