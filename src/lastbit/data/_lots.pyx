"""The lots of many units at once: which of its items comes first, second and so on, where items are bits of a word."""

from libc.stdint cimport int64_t, uint64_t

from numpy import zeros

cdef enum:
    MOST = 63


cdef inline uint64_t mix_bits(uint64_t word) noexcept nogil:
    """Return a word of which every bit depends on all bits: the last steps of SplitMix64, as `hashing.mix_bits`."""
    word = (word ^ (word >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    word = (word ^ (word >> 27)) * <uint64_t>0x94D049BB133111EB
    return word ^ (word >> 31)


cdef void draw_each(
    const int64_t *masks, const uint64_t *units, Py_ssize_t n, const uint64_t *items, Py_ssize_t size, int64_t *counts
) noexcept nogil:
    cdef uint64_t marks[MOST]
    cdef Py_ssize_t order[MOST]
    cdef Py_ssize_t i, k, rank, place
    cdef uint64_t mark
    cdef int64_t mask
    for i in range(n):
        mask, rank = masks[i], 0
        for place in range(size):
            if not (mask >> place) & 1:
                continue
            mark = mix_bits(items[place] ^ units[i])
            k = rank
            # Strictly: of two items with one mark the first stays first.
            while k > 0 and marks[k - 1] > mark:
                marks[k], order[k] = marks[k - 1], order[k - 1]
                k -= 1
            marks[k], order[k] = mark, place
            rank += 1
        for k in range(rank):
            counts[order[k] * size + k] += 1


def count_ranks(const int64_t[::1] masks, const uint64_t[::1] units, const uint64_t[::1] items):
    """Count how many units have each item at each rank of their lots, from the first on.

    masks: for each unit the items that it has, the first as the lowest bit. units and items: a hash of each. A lot has
    the items in the order of their hashes with the unit.
    """
    cdef Py_ssize_t size = items.shape[0]
    if masks.shape[0] != units.shape[0] or size > MOST:
        raise ValueError("every unit has one mask, of at most 63 items")
    counts = zeros((size, size), "int64")
    cdef int64_t[:, ::1] found = counts
    if size and masks.shape[0]:
        with nogil:
            draw_each(&masks[0], &units[0], masks.shape[0], &items[0], size, &found[0, 0])
    return counts
