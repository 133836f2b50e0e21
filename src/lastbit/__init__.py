"""lastbit: differential privacy that holds to the last bit."""

from importlib import import_module
from typing import TYPE_CHECKING

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.counts import Counts
from lastbit.draw import Draw, Sampler
from lastbit.errors import (
    AuditError,
    BitsError,
    BudgetExceeded,
    DataError,
    LastbitError,
    LedgerError,
    ParameterError,
    RunBound,
    RunExhausted,
    TapeEnded,
)
from lastbit.exact import Eta, Rate
from lastbit.measurement import Measurement
from lastbit.mechanisms.adaptive_sparse_vector import AdaptiveSparseVector
from lastbit.mechanisms.exponential import Choice, ExponentialMechanism, Ranking
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.private_selection import PrivateSelection, scored
from lastbit.mechanisms.select_and_measure import SelectAndMeasure
from lastbit.mechanisms.snapping import Snapping
from lastbit.mechanisms.sparse_vector import SparseVector
from lastbit.mechanisms.stream import Answer, Answers, Run
from lastbit.mechanisms.top_k import NoisyMax, NoisyTopK
from lastbit.reference import Reference
from lastbit.release import Release
from lastbit.sums import Exact, exact_mean, exact_sum, exact_variance, histogram

if TYPE_CHECKING:
    from lastbit.data import count
    from lastbit.ledger import Ledger

__version__ = "0.1.0"

__all__ = [
    "AdaptiveSparseVector",
    "Answer",
    "Answers",
    "AuditError",
    "Bits",
    "BitsError",
    "BudgetExceeded",
    "Choice",
    "Counts",
    "DataError",
    "DiscreteLaplace",
    "Draw",
    "Eta",
    "Exact",
    "ExponentialMechanism",
    "LastbitError",
    "Ledger",
    "LedgerError",
    "Measurement",
    "NoisyMax",
    "NoisyTopK",
    "ParameterError",
    "PrivateSelection",
    "Ranking",
    "Rate",
    "Reference",
    "Release",
    "Run",
    "RunBound",
    "RunExhausted",
    "Sampler",
    "SelectAndMeasure",
    "Snapping",
    "SparseVector",
    "SystemBits",
    "Tape",
    "TapeEnded",
    "audit",
    "count",
    "exact_mean",
    "exact_sum",
    "exact_variance",
    "histogram",
    "scored",
]

_LOADED_WHEN_USED = {"count": "lastbit.data", "Ledger": "lastbit.ledger"}


if not TYPE_CHECKING:  # a type checker would take every name for one of these

    def __getattr__(name: str) -> object:
        """Load what needs an extra when it is first used; without the extra that says what to install."""
        if name in _LOADED_WHEN_USED:
            return getattr(import_module(_LOADED_WHEN_USED[name]), name)
        raise AttributeError(f"module 'lastbit' has no attribute {name!r}")
