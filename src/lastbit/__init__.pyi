# The one list of public names: type checkers read it, and __init__.py loads from it what is used.

from lastbit import audit
from lastbit.chance.bits import Bits, SystemBits, Tape
from lastbit.chance.draw import Draw, Sampler
from lastbit.chance.reference import Reference
from lastbit.data.counting import count
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
from lastbit.exact.numbers import Eta, Rate
from lastbit.ledger import Ledger
from lastbit.measurement import Measurement
from lastbit.mechanisms.exponential import Choice, ExponentialMechanism, Ranking
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.private_selection import PrivateSelection, scored
from lastbit.mechanisms.snapping import Snapping
from lastbit.mechanisms.sparse_vector.adaptive import AdaptiveSparseVector
from lastbit.mechanisms.sparse_vector.answers import Answer, Answers
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.mechanisms.sparse_vector.standard import SparseVector
from lastbit.mechanisms.top_k.noisy_top_k import NoisyMax, NoisyTopK
from lastbit.mechanisms.top_k.select_and_measure import SelectAndMeasure
from lastbit.release import Release
from lastbit.values.counts import Counts
from lastbit.values.statistic import Exact, exact_mean, exact_sum, exact_variance, histogram

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
