"""The classes of answers for a quantile in one pass: see `rank_error`, whose words these are."""

from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint64_t

from numpy import empty

from lastbit.chance._classes cimport ClassWeights, add, below
from lastbit.chance._words cimport hold, multiply

cdef enum:
    MOST_RANKS = 65536


def tally(const int64_t[::1] steps, int64_t low, int64_t[::1] counts):
    """Add 1 to the count of the point of each step, where point 0 is `low`."""
    cdef Py_ssize_t i, n = steps.shape[0]
    cdef int64_t point, last = counts.shape[0] - 1
    with nogil:
        for i in range(n):
            # Steps lie on the points. Whatever comes, nothing is written beside the counts.
            point = steps[i] - low
            point = point if point > 0 else 0
            counts[point if point < last else last] += 1


def gap_sizes(const int64_t[::1] values, int64_t low, int64_t high):
    """Return the number of points of 2n + 1 classes of sorted values, and which values differ from the one before."""
    cdef Py_ssize_t i, n = values.shape[0]
    cdef int64_t last = low - 1, value
    sizes, first = empty(2 * n + 1, "int64"), empty(n, "bool")
    cdef int64_t[::1] points = sizes
    cdef uint8_t[::1] differs = first.view("uint8")
    with nogil:
        for i in range(n):
            value = values[i]
            # Without a branch: the time must not tell how many values are equal.
            differs[i] = value > last
            points[2 * i + 1] = value > last
            points[2 * i] = (value - last - 1) * (value > last)
            last = value
        points[2 * n] = high - last
    return sizes, first


def rank_errors(const uint8_t[::1] first_of_equals, int64_t a, int64_t b):
    """Return the rank error of 2n + 1 classes for the quantile a/b, from the last one on."""
    cdef Py_ssize_t i, n = first_of_equals.shape[0]
    # b·L - a·n, where L values are below; and b·(L + E) - a·n, which is that of the next value that differs.
    cdef int64_t below = (b - a) * n, beyond = (b - a) * n, most
    errors = empty(2 * n + 1, "int64")
    cdef int64_t[::1] found = errors
    with nogil:
        found[2 * n] = below if below > 0 else -below
        for i in range(n - 1, -1, -1):
            below -= b
            most = below if below > -beyond else -beyond
            found[2 * i + 1] = most if most > 0 else 0
            found[2 * i] = below if below > 0 else -below
            beyond = below if first_of_equals[i] else beyond
    return errors


def pick_point(
    values, int64_t low, int64_t high, int64_t a, int64_t b, ClassWeights weights, uint64_t weight_error, words
):
    """The point that three words pick among the classes of sorted values for the quantile a/b; None in doubt.

    The first word decides the class as `ClassWeights.place` does, the others the point in it. A class whose error is
    beyond the tables weighs 0 there. Which ranks have no other classes follows from the number of values and a/b: only
    the ranks between are looked at, where they are not too many.
    """
    cdef Py_buffer sorted_view, word_view
    cdef const int64_t *v = <const int64_t *>hold(values, &sorted_view, False)
    cdef const uint64_t *u
    cdef Py_ssize_t n = sorted_view.len // 8, first, beyond
    cdef int64_t rank = a * n, reach = <int64_t>weights.last if weights.last < <uint64_t>1 << 61 else <int64_t>1 << 61
    cdef int64_t point = 0
    cdef uint64_t *sums = NULL
    cdef bint decided = False
    try:
        u = <const uint64_t *>hold(words, &word_view, False)
        try:
            if word_view.len < 24:
                raise ValueError("there must be three words.")
            first = (rank - reach) // b if rank > reach else 0
            beyond = (rank + reach) // b + 1
            beyond = beyond if beyond < n else n
            if beyond - first > MOST_RANKS:
                return None
            sums = <uint64_t *>PyMem_Malloc(3 * (2 * (beyond - first) + 1) * sizeof(uint64_t))
            if sums is NULL:
                raise MemoryError
            with nogil:
                weights.warm_up()
                weigh(v, n, low, high, rank, b, first, beyond, weights, sums)
                decided = find_point(v, n, low, high, first, beyond, weights, weight_error, u, sums, &point)
            return point if decided else None
        finally:
            PyBuffer_Release(&word_view)
    finally:
        PyMem_Free(sums)
        PyBuffer_Release(&sorted_view)


cdef void weigh(
    const int64_t *v, Py_ssize_t n, int64_t low, int64_t high, int64_t rank, int64_t b, Py_ssize_t first,
    Py_ssize_t last, ClassWeights weights, uint64_t *sums
) noexcept nogil:
    """The weights of the classes from the gap below value `first` to the gap below value `last`, three words each."""
    cdef Py_ssize_t i
    # b·L - a·n, where L values are below; and b·(L + E) - a·n, which is that of the next value that differs.
    cdef int64_t under = b * last - rank, beyond = b * last - rank, most, before, size
    cdef uint64_t *sum = sums + 6 * (last - first)
    cdef bint differs
    sum[0] = sum[1] = sum[2] = 0
    before = v[last - 1] if last else low - 1
    size = (v[last] if last < n else high + 1) - before - 1
    weights.gather(<uint64_t>(under if under > 0 else -under), <uint64_t>(size * (size > 0)), sum)
    for i in range(last - 1, first - 1, -1):
        before = v[i - 1] if i else low - 1
        differs = v[i] > before
        under -= b
        most = under if under > -beyond else -beyond
        sum -= 3
        sum[0] = sum[1] = sum[2] = 0
        # Equal values that begin before `first` have their point here: of their error, only where they end counts.
        weights.gather(<uint64_t>(most if most > 0 else 0), differs | (i == first), sum)
        sum -= 3
        sum[0] = sum[1] = sum[2] = 0
        weights.gather(<uint64_t>(under if under > 0 else -under), <uint64_t>((v[i] - before - 1) * differs), sum)
        beyond = under if differs else beyond


cdef bint find_point(
    const int64_t *v, Py_ssize_t n, int64_t low, int64_t high, Py_ssize_t first, Py_ssize_t last,
    ClassWeights weights, uint64_t weight_error, const uint64_t *words, uint64_t *sums, int64_t *point
) noexcept nogil:
    """Whether the words decide a point, and the point."""
    cdef Py_ssize_t k, count = 2 * (last - first) + 1, place = 0
    cdef uint64_t running[3]
    cdef uint64_t before[3]
    cdef uint64_t start[3]
    cdef uint64_t stop[3]
    cdef uint64_t error_high, error_low = 0, mask, lower = 0, middle = 0, cell, carry, size
    cdef int64_t begin, end
    cdef bint inside, clear, is_value
    running[0] = running[1] = running[2] = 0
    for k in range(count):
        add(running, sums[3 * k], sums[3 * k + 1], sums[3 * k + 2])
    # So many points are off by the error of a weight each, those beyond the ranks too.
    error_high = multiply(weight_error, <uint64_t>(high - low) + 1, &error_low)
    weights.aim(words[0], running, error_high, error_low, start, stop)
    inside = not below(running, stop)
    running[0] = running[1] = running[2] = 0
    before[0] = before[1] = before[2] = 0
    for k in range(count):
        add(running, sums[3 * k], sums[3 * k + 1], sums[3 * k + 2])
        # All ones where the sum is still below the goal. Sums rise, so the last such sum is the one to keep.
        mask = 0 - <uint64_t>below(running, stop)
        before[0] ^= mask & (before[0] ^ running[0])
        before[1] ^= mask & (before[1] ^ running[1])
        before[2] ^= mask & (before[2] ^ running[2])
        place += mask & 1
    add(before, 0, error_high, error_low)
    # Only the very first class has nothing below it that may be off.
    clear = ((place == 0) & (first == 0)) | (not below(start, before))
    if not (inside & clear):
        return False
    is_value, k = place & 1, first + place // 2
    begin = (v[k - 1] + 1 if k else low) if not is_value else v[k]
    end = begin + 1 if is_value else (v[k] if k < n else high + 1)
    # ⌊U·size⌋ for U of two words, where both ends of the interval have the same.
    size = <uint64_t>end - <uint64_t>begin
    carry = multiply(words[2], size, &lower)
    cell = multiply(words[1], size, &middle)
    middle += carry
    cell += middle < carry
    carry = lower + (size - 1) < lower
    point[0] = begin + <int64_t>cell
    return not (carry & (middle + 1 == 0))
