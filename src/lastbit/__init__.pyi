# The one list of public names: type checkers read it, and __init__.py loads from it what is used.

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.counts import Counts
from lastbit.data import count
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
from lastbit.ledger import Ledger
from lastbit.measurement import Measurement
from lastbit.mechanisms.adaptive_sparse_vector import AdaptiveSparseVector
from lastbit.mechanisms.answers import Answer, Answers
from lastbit.mechanisms.exponential import Choice, ExponentialMechanism, Ranking
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.private_selection import PrivateSelection, scored
from lastbit.mechanisms.select_and_measure import SelectAndMeasure
from lastbit.mechanisms.snapping import Snapping
from lastbit.mechanisms.sparse_vector import SparseVector
from lastbit.mechanisms.stream import Run
from lastbit.mechanisms.top_k import NoisyMax, NoisyTopK
from lastbit.reference import Reference
from lastbit.release import Release
from lastbit.sums import Exact, exact_mean, exact_sum, exact_variance, histogram

__version__: str

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
