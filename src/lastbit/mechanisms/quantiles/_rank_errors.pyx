"""The classes of answers for a quantile in one pass: see `rank_error`, whose words these are."""

from libc.stdint cimport int64_t, uint8_t

from numpy import empty


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
