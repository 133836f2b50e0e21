"""Words and tables in, draws out. Integers only.

Every function takes its words as they come, writes one value a sample, and lists the samples whose words did not
decide. The caller settles those.
"""

import os

from cpython.buffer cimport PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from numpy import dtype, empty

from lastbit.chance._cells cimport Cells
from lastbit.chance._words cimport hold, multiply, pick, apply_picks

cdef object INT16 = dtype("int16")
cdef object INT64 = dtype("int64")
cdef object UINT64 = dtype("uint64")

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define LASTBIT_UNLIKELY(x) __builtin_expect(!!(x), 0)
    #else
    #define LASTBIT_UNLIKELY(x) (x)
    #endif
    """
    bint unlikely "LASTBIT_UNLIKELY"(bint) noexcept nogil


def system_words(Py_ssize_t n):
    """n words of the operating system, as an array.

    No Python code runs between the system's answer and the return, so no signal handler can fork in between; for up to
    32 words, 256 bytes, the system's answer itself is not interrupted.
    """
    return words_from_bytes(os.urandom(8 * n))


cpdef words_from_bytes(bytes answer):
    """The words that bytes hold, as an array that nobody else holds."""
    cdef Py_ssize_t n = len(answer) // 8
    words = empty(n, UINT64)
    cdef Py_buffer view
    memcpy(hold(words, &view, True), PyBytes_AS_STRING(answer), 8 * n)
    PyBuffer_Release(&view)
    return words


cdef enum:
    CUT = -32768


cdef class Inverter(Cells):
    """A threshold table, held where C can reach it."""

    cdef const uint64_t[::1] thresholds
    cdef const uint32_t[::1] guide
    cdef const int16_t[::1] whole
    """Where few buckets are cut: the cell that all words of a bucket are in, or CUT where a threshold cuts it."""
    cdef int64_t origin
    cdef int64_t direction
    cdef int shift

    def __init__(self, thresholds, guide, int64_t origin, int64_t direction):
        self.thresholds = thresholds
        self.guide = guide
        self.whole = None
        self.origin = origin
        self.direction = direction
        self.shift = 64
        cdef Py_ssize_t size = guide.shape[0] - 1
        while size > 1:
            size >>= 1
            self.shift -= 1
        positions = guide[1:].astype(INT64)
        cut = positions != guide[: len(guide) - 1]
        cells = origin + direction * positions
        if 8 * cut.sum() <= len(cut) and abs(cells).max() < -CUT:
            cells[cut] = CUT
            self.whole = cells.astype(INT16)

    cdef inline Py_ssize_t count(self, uint64_t w) noexcept nogil:
        cdef Py_ssize_t bucket = w >> self.shift, position = self.guide[bucket + 1], middle, high
        # Two steps without a branch: most words need no more, and a guess that fails costs more than a step.
        position += w < self.thresholds[position]
        position += w < self.thresholds[position]
        if w < self.thresholds[position]:
            # By halving, because the tail of a table may fill one bucket.
            high = self.guide[bucket]
            position += 1
            while position < high:
                middle = (position + high) >> 1
                if w < self.thresholds[middle]:
                    position = middle + 1
                else:
                    high = middle
        return position

    cdef Py_ssize_t cells(
        self, const uint64_t *words, Py_ssize_t step, Py_ssize_t k, Py_ssize_t n, int64_t *out
    ) noexcept nogil:
        cdef const int16_t *whole
        cdef const uint64_t *thresholds = &self.thresholds[0]
        cdef int64_t origin = self.origin, direction = self.direction
        cdef int shift = self.shift
        cdef Py_ssize_t position
        cdef uint64_t w
        if self.whole is not None:
            whole = &self.whole[0]
            for k in range(k, n):
                w = words[k * step]
                # No threshold is in most buckets: all their words are in one cell, and none is in doubt.
                out[k] = whole[w >> shift]
                if unlikely(out[k] == CUT):
                    position = self.count(w)
                    out[k] = origin + direction * position
                    if w == thresholds[position]:
                        return k
        else:
            for k in range(k, n):
                w = words[k * step]
                position = self.count(w)
                out[k] = origin + direction * position
                if w == thresholds[position]:
                    return k
        return n

    def finer(self, const uint64_t[::1] words, Py_ssize_t offset, Py_ssize_t step, int bits, int64_t[::1] out):
        """Write the cell of words[offset + k·step] below out[k], as its low bits. Returns the samples in doubt."""
        cdef Py_ssize_t k, position
        cdef uint64_t w
        cdef int64_t mask = (<int64_t>1 << bits) - 1
        cdef list doubts = []
        with nogil:
            for k in range(out.shape[0]):
                w = words[offset + k * step]
                position = self.count(w)
                # Shifts to the left go through uint64, where C defines them for negative numbers too.
                out[k] = <int64_t>(<uint64_t>out[k] << bits) | ((position ^ (out[k] >> 63)) & mask)
                if w == self.thresholds[position]:
                    with gil:
                        doubts.append(k)
        return doubts


def uniform(const uint64_t[::1] words, uint64_t n, uint64_t rise, int64_t[::1] out):
    """out[k] = ⌊U·m⌋ for m = n + k·rise, at most 2^63. Returns the samples in doubt."""
    cdef Py_ssize_t k
    cdef list doubts = []
    with nogil:
        for k in range(out.shape[0]):
            if pick(words[k], n, &out[k]):
                with gil:
                    doubts.append(k)
            n += rise
    return doubts


def below(const uint64_t[::1] words, const int64_t[::1] sizes, int64_t[::1] out):
    """out[k] = ⌊U·sizes[k]⌋ for sizes from 1 on, by two words each. Returns the samples in doubt."""
    cdef Py_ssize_t k
    cdef uint64_t size, high, low = 0, lowest = 0, carry
    cdef list doubts = []
    if not words.shape[0] == 2 * sizes.shape[0] == 2 * out.shape[0]:
        raise ValueError("there must be two words for each sample.")
    with nogil:
        for k in range(out.shape[0]):
            size = <uint64_t>sizes[k]
            carry = multiply(words[2 * k + 1], size, &lowest)
            high = multiply(words[2 * k], size, &low)
            low += carry
            out[k] = <int64_t>(high + (low < carry))
            # [u, u+1)·size crosses a multiple of 2^128 exactly when low·2^64 + lowest + size is above it.
            if low == <uint64_t>-1 and lowest > 0 - size:
                with gil:
                    doubts.append(k)
    return doubts


def rises(const uint64_t[::1] words, const uint64_t[::1] parts, int64_t[::1] out):
    """out[k] = whether U >= 1 - part. Returns the samples in doubt: there the first 64 bits do not decide."""
    cdef Py_ssize_t k
    cdef uint64_t edge
    cdef list doubts = []
    if not words.shape[0] == parts.shape[0] == out.shape[0]:
        raise ValueError("there must be a word and a part for each sample.")
    with nogil:
        for k in range(out.shape[0]):
            edge = ~parts[k]
            out[k] = words[k] > edge
            if words[k] == edge:
                with gil:
                    doubts.append(k)
    return doubts


def permutation(words, out):
    """A permutation from a word for each place but the first. Returns the picks in doubt; then out holds the picks."""
    cdef Py_buffer first_view, second_view
    cdef const uint64_t *read = <const uint64_t *>hold(words, &first_view, False)
    cdef int64_t *picks = <int64_t *>hold(out, &second_view, True)
    cdef Py_ssize_t k, n = second_view.len // 8
    cdef bint enough = first_view.len // 8 >= n - 1
    cdef list doubts = []
    if enough and n:
        picks[0] = 0
        for k in range(1, n):
            if pick(read[k - 1], k + 1, picks + k):
                doubts.append(k - 1)
        if not doubts:
            apply_picks(picks, n)
    PyBuffer_Release(&first_view)
    PyBuffer_Release(&second_view)
    if not enough:
        raise ValueError("there must be a word for each place but the first.")
    return doubts


def shuffle(int64_t[::1] out):
    """Turn picks, out[i] in [0, i], into a permutation in place: the inside-out form of Fisher and Yates."""
    with nogil:
        if out.shape[0]:
            apply_picks(&out[0], out.shape[0])
