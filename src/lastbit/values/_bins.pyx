"""How many numbers lie between which thresholds: comparisons alone decide, exactly.

A cell of equal width says where to look: `cell_of` rounds, but a higher number never has a lower cell. So thresholds in
lower cells are below a number, and those in higher cells above: only the thresholds in its own cell are compared.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t

from numpy import append, zeros

ctypedef fused Number:
    double
    int64_t


cdef inline Py_ssize_t cell_of(double value, double low, double scale, Py_ssize_t cells) noexcept nogil:
    cdef double place = (value - low) * scale
    # Where the scale is 0 there is one cell; infinity times 0 is NaN, which is above nothing.
    if not place > 0:
        return 0
    return cells - 1 if place >= cells else <Py_ssize_t>place


cdef void count_each(
    const Number *thresholds, const int32_t *first, double low, double scale, Py_ssize_t cells,
    const Number *values, Py_ssize_t n, int64_t *counts, Py_ssize_t missing,
) noexcept nogil:
    cdef Py_ssize_t k, at, end, middle, cell
    cdef Number value
    for k in range(n):
        value = values[k]
        if Number is double:
            if value != value:
                counts[missing] += 1
                continue
        cell = cell_of(<double>value, low, scale, cells)
        at, end = first[cell], first[cell + 1]
        while end - at > 4:
            middle = (at + end) >> 1
            if thresholds[middle] <= value:
                at = middle + 1
            else:
                end = middle
        # One threshold or none in most cells: counted without a branch, which would be a guess for the processor.
        at += (at < end) & (thresholds[at] <= value)
        while at < end and thresholds[at] <= value:
            at += 1
        counts[at] += 1


cdef class Thresholds:
    """Thresholds in order, none of them NaN: an array of float64, or of int64. Equal ones are no fault."""

    cdef bint floats
    cdef object held
    cdef const double[::1] reals
    cdef const int64_t[::1] wholes
    cdef int32_t[::1] first
    cdef double low, scale
    cdef Py_ssize_t n, cells

    def __init__(self, thresholds):
        cdef Py_ssize_t k
        self.n = len(thresholds)
        # One more than there are: `count_each` reads it, and does not use it.
        self.held = append(thresholds, thresholds.dtype.type(0))
        self.floats = self.held.dtype.kind == "f"
        if self.floats:
            self.reals = self.held
        else:
            self.wholes = self.held
        self.cells = 2 * self.n + 1
        self.low, self.scale = (self._at(0) if self.n else 0.0), 0.0
        if self.n > 1:
            self.scale = self.cells / (self._at(self.n - 1) - self.low) if self._at(self.n - 1) > self.low else 0.0
        if not isfinite(self.scale):
            self.scale = 0.0
        self.first = zeros(self.cells + 1, "int32")
        for k in range(self.n):
            self.first[cell_of(self._at(k), self.low, self.scale, self.cells) + 1] += 1
        for k in range(self.cells):
            self.first[k + 1] += self.first[k]

    cdef double _at(self, Py_ssize_t place):
        return self.reals[place] if self.floats else <double>self.wholes[place]

    def count(self, values, int64_t[::1] counts):
        """Add to counts how many values, of the thresholds' type, reach so many thresholds; last, how many are NaN."""
        cdef const double[::1] reals
        cdef const int64_t[::1] wholes
        if counts.shape[0] != self.n + 2:
            raise ValueError("there must be a count for each number of thresholds, and one for NaN.")
        if len(values) == 0:
            return
        if self.floats:
            reals = values
            with nogil:
                count_each[double](
                    &self.reals[0], &self.first[0], self.low, self.scale, self.cells,
                    &reals[0], reals.shape[0], &counts[0], self.n + 1,
                )
        else:
            wholes = values
            with nogil:
                count_each[int64_t](
                    &self.wholes[0], &self.first[0], self.low, self.scale, self.cells,
                    &wholes[0], wholes.shape[0], &counts[0], self.n + 1,
                )
