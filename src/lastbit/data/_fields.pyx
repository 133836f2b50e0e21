"""The fields of many lines at once: the one loop over the bytes of a text file.

A line is split by nothing but its own bytes, and a line that does not fit leaves nothing behind.
"""

from libc.string cimport memchr, memcpy

import numpy as np

cdef enum:
    QUOTE = 34
    LINE_END = 10
    CARRIAGE_RETURN = 13

ctypedef const unsigned char* Place


cdef struct Columns:
    unsigned char* text
    Py_ssize_t width
    int* filled


cdef void _write(Columns* columns, int column, Place start, Place stop) noexcept nogil:
    if column >= 0:
        memcpy(columns.text + column * columns.width + columns.filled[column], start, stop - start)
        columns.filled[column] += <int> (stop - start)


cdef bint _fits(Place at, Place end, int separator, bint quotes, const int[::1] places, Columns* columns) noexcept nogil:
    """Write the wanted fields of the line from `at` to `end`; whether it has all its fields and no other."""
    cdef Py_ssize_t field
    cdef Place stop
    for field in range(places.shape[0]):
        if quotes and at < end and at[0] == QUOTE:
            at += 1
            while True:
                stop = <Place> memchr(at, QUOTE, end - at)
                if stop == NULL:
                    return False
                if stop + 1 == end or stop[1] != QUOTE:
                    break
                # Two quotes inside quotes are one.
                _write(columns, places[field], at, stop + 1)
                at = stop + 2
            _write(columns, places[field], at, stop)
            at = stop + 1
            if at < end and at[0] != separator:
                return False
        else:
            stop = <Place> memchr(at, separator, end - at)
            if stop == NULL:
                stop = end
            _write(columns, places[field], at, stop)
            at = stop
        if at == end:
            return field + 1 == places.shape[0]
        at += 1
    return False


def split(const unsigned char[::1] block, int separator, bint quotes, const int[::1] places, int wanted, int longest):
    """How many lines of a block fit, where their wanted fields end, and the bytes of these: a row for each field.

    block: whole lines, each with its end. places: for each field of a line the row it goes to, or -1.

    >>> rows, ends, text = split(b'a,"b""c"\\n"a"x,b\\nd,e\\n', 44, True, np.array([-1, 0], np.int32), 1, 99)
    >>> rows, ends[0, : rows + 1].tolist(), text[0, :4].tobytes()
    (2, [0, 3, 4], b'b"ce')
    """
    cdef Py_ssize_t size = block.shape[0], row = 0, length
    cdef int column
    lines = np.count_nonzero(np.asarray(block) == LINE_END)
    ends = np.zeros((wanted, lines + 1), np.int32)
    # A field is never longer than its line: so much room is always enough.
    text = np.empty((wanted, size), np.uint8)
    if not lines or not wanted:
        return 0, ends, text
    cdef int[:, ::1] ends_view = ends
    cdef unsigned char[:, ::1] text_view = text
    cdef int[::1] filled = np.zeros(wanted, np.int32)
    cdef Columns columns = Columns(&text_view[0, 0], size, &filled[0])
    cdef Place at = &block[0]
    cdef Place last = at + size
    cdef Place end
    with nogil:
        while at < last:
            end = <Place> memchr(at, LINE_END, last - at)
            if end == NULL:
                break
            length = end - at
            if length > 0 and at[length - 1] == CARRIAGE_RETURN:
                length -= 1
            if length <= longest and _fits(at, at + length, separator, quotes, places, &columns):
                row += 1
                for column in range(wanted):
                    ends_view[column, row] = filled[column]
            else:
                for column in range(wanted):
                    filled[column] = ends_view[column, row]
            at = end + 1
    return row, ends, text
