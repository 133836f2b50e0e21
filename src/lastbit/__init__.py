"""lastbit: differential privacy that holds to the last bit."""

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.draw import Draw, Sampler
from lastbit.errors import (
    AuditError,
    BitsError,
    LastbitError,
    ParameterError,
    RunBound,
    RunExhausted,
    TapeEnded,
)
from lastbit.exact import Eta, Rate
from lastbit.mechanisms.adaptive_sparse_vector import AdaptiveSparseVector
from lastbit.mechanisms.answers import Answer, Answers
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.sparse_vector import SparseVector
from lastbit.mechanisms.stream import Run
from lastbit.reference import Reference
from lastbit.release import Release

__version__ = "0.1.0"

__all__ = [
    "AdaptiveSparseVector",
    "Answer",
    "Answers",
    "AuditError",
    "Bits",
    "BitsError",
    "DiscreteLaplace",
    "Draw",
    "Eta",
    "LastbitError",
    "ParameterError",
    "Rate",
    "Reference",
    "Release",
    "Run",
    "RunBound",
    "RunExhausted",
    "Sampler",
    "SparseVector",
    "SystemBits",
    "Tape",
    "TapeEnded",
    "audit",
]
