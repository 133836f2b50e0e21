# The one list of public names: type checkers read it, and __init__.py loads from it what is used.

from lastbit import audit, estimate, ledger, papers
from lastbit.chance.bits import Bits, SystemBits, Tape
from lastbit.chance.draw import Draw
from lastbit.chance.reference import Reference
from lastbit.chance.sampler import Sampler
from lastbit.data.count import count
from lastbit.data.numbers import Numbers
from lastbit.data.per_unit import per_unit
from lastbit.data.table_counting import count_tables
from lastbit.errors import (
    AccountNotFound,
    AlreadyCharged,
    AuditError,
    BitsError,
    BudgetExceeded,
    DataError,
    EntryNotFound,
    LastbitError,
    LedgerError,
    LedgerNotFound,
    MechanismError,
    ParameterError,
    RunBound,
    RunExhausted,
    StudyError,
    TapeEnded,
)
from lastbit.estimate.gaps import Estimate, GapNoise, LowerBound
from lastbit.estimate.selection_plan import SelectionPlan
from lastbit.ledger.account import Account
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.ledger import Ledger
from lastbit.mechanisms.automatic_bounds import AutomaticBounds, ChosenBounds
from lastbit.mechanisms.candidates import scored
from lastbit.mechanisms.discover.histogram import DiscoveredHistogram, DiscoverHistogram
from lastbit.mechanisms.discover.mechanism import Discovered
from lastbit.mechanisms.discover.ranking import DiscoverRanking
from lastbit.mechanisms.discover.spark_histogram import SparkHistogram
from lastbit.mechanisms.discover.top_k import DiscoveredTopK, DiscoverTopK
from lastbit.mechanisms.exponential import Choice, ExponentialMechanism, Ranking
from lastbit.mechanisms.gaussian import DiscreteGaussian
from lastbit.mechanisms.group_mean_values import GroupMeanValues
from lastbit.mechanisms.group_means import GroupMeans
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.mean import MeanAndPeople, NoisyMean
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.noisy_values import NoisyValues
from lastbit.mechanisms.parts import LaterPart, LaterValues, Parts, PartsRelease
from lastbit.mechanisms.private_search import FoundModel, PrivateSearch
from lastbit.mechanisms.private_selection import PrivateSelection, Winner
from lastbit.mechanisms.quantiles.group_quantiles import GroupQuantiles, GroupQuantileValues
from lastbit.mechanisms.quantiles.quantile import Quantile, QuantileValue
from lastbit.mechanisms.quantiles.quantiles import Quantiles, QuantileValues
from lastbit.mechanisms.snapping import SnappedValue, Snapping
from lastbit.mechanisms.sparse_vector.adaptive import AdaptiveSparseVector
from lastbit.mechanisms.sparse_vector.answers import Answer, Answers
from lastbit.mechanisms.sparse_vector.measured import MeasuredAbove
from lastbit.mechanisms.sparse_vector.mechanism import AboveThreshold
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.mechanisms.sparse_vector.standard import SparseVector
from lastbit.mechanisms.tables.mechanism import Tables
from lastbit.mechanisms.tables.release import ConsistentTables
from lastbit.mechanisms.tables.table import ConsistentTable
from lastbit.mechanisms.tables.total import TableTotal
from lastbit.mechanisms.top_k.group_top_k import GroupSelections, GroupTopK
from lastbit.mechanisms.top_k.measurements import MeasuredSet, MeasuredTopK
from lastbit.mechanisms.top_k.noisy_max import Maximum, NoisyMax
from lastbit.mechanisms.top_k.noisy_top_k import NoisyTopK, TopItems, TopK
from lastbit.mechanisms.top_k.select_and_measure import SelectAndMeasure
from lastbit.mechanisms.top_k.subset import SubsetTopK, TopSet, TopSetItems
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.privacy.zcdp import largest_rho
from lastbit.publication.publication import Publication
from lastbit.publication.verify import verify
from lastbit.questions.ask import ask, describe
from lastbit.questions.compare import compare
from lastbit.questions.group_values import bins, months
from lastbit.release import Measurement, Release
from lastbit.values.counts import Counts
from lastbit.values.grid import Grid
from lastbit.values.spark_counts import SparkCounts
from lastbit.values.statistic import Statistic, exact_mean, exact_sum, exact_variance, histogram, mean_sums
from lastbit.values.table_counts import TableCounts
from lastbit.values.unlisted import UNKNOWN, Unlisted

__version__: str

__all__ = [
    "UNKNOWN",
    "AboveThreshold",
    "Account",
    "AccountNotFound",
    "AdaptiveSparseVector",
    "AlreadyCharged",
    "Answer",
    "Answers",
    "AuditError",
    "AutomaticBounds",
    "Bits",
    "BitsError",
    "BudgetExceeded",
    "Charge",
    "Choice",
    "ChosenBounds",
    "ConsistentTable",
    "ConsistentTables",
    "Cost",
    "Counts",
    "DataError",
    "DiscoverHistogram",
    "DiscoverRanking",
    "DiscoverTopK",
    "Discovered",
    "DiscoveredHistogram",
    "DiscoveredTopK",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Draw",
    "Entry",
    "EntryNotFound",
    "Estimate",
    "Eta",
    "ExponentialMechanism",
    "FoundModel",
    "GapNoise",
    "Grid",
    "GroupMeanValues",
    "GroupMeans",
    "GroupQuantileValues",
    "GroupQuantiles",
    "GroupSelections",
    "GroupTopK",
    "LastbitError",
    "LaterPart",
    "LaterValues",
    "Ledger",
    "LedgerError",
    "LedgerNotFound",
    "LowerBound",
    "Maximum",
    "MeanAndPeople",
    "MeasuredAbove",
    "MeasuredSet",
    "MeasuredTopK",
    "Measurement",
    "Mechanism",
    "MechanismError",
    "NoisyMax",
    "NoisyMean",
    "NoisyTopK",
    "NoisyValues",
    "Numbers",
    "ParameterError",
    "Parts",
    "PartsRelease",
    "PrivateSearch",
    "PrivateSelection",
    "Publication",
    "Quantile",
    "QuantileValue",
    "QuantileValues",
    "Quantiles",
    "Ranking",
    "Rate",
    "Reference",
    "Release",
    "Run",
    "RunBound",
    "RunExhausted",
    "Sampler",
    "SelectAndMeasure",
    "SelectionPlan",
    "SnappedValue",
    "Snapping",
    "SparkCounts",
    "SparkHistogram",
    "SparseVector",
    "Statistic",
    "StudyError",
    "SubsetTopK",
    "SystemBits",
    "TableCounts",
    "TableTotal",
    "Tables",
    "Tape",
    "TapeEnded",
    "TopItems",
    "TopK",
    "TopSet",
    "TopSetItems",
    "Unlisted",
    "Winner",
    "ask",
    "audit",
    "bins",
    "compare",
    "count",
    "count_tables",
    "describe",
    "estimate",
    "exact_mean",
    "exact_sum",
    "exact_variance",
    "histogram",
    "largest_rho",
    "ledger",
    "mean_sums",
    "months",
    "papers",
    "per_unit",
    "scored",
    "verify",
]
