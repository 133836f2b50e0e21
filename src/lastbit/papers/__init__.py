"""The papers' algorithms, line by line on a Draw: to read, to teach, and to compare the mechanisms with.

`registry` maps every algorithm of the papers to the call that users make, and `errata` lists where the print is wrong.
"""

from lastbit.papers import (
    base2_exponential,
    base2_sampling,
    errata,
    free_gap_sparse,
    free_gap_top_k,
    private_selection,
    registry,
    secure_top_k,
    snapping,
    sparse_vector,
    sparse_vector_sampling,
)

__all__ = [
    "base2_exponential",
    "base2_sampling",
    "errata",
    "free_gap_sparse",
    "free_gap_top_k",
    "private_selection",
    "registry",
    "secure_top_k",
    "snapping",
    "sparse_vector",
    "sparse_vector_sampling",
]
