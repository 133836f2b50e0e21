"""The wanted values of many lines of JSON at once, where a line is plain: what is not plain is left to the engine.

A line is plain where it is one object of plain texts, short numbers, true, false, null, and lists and objects of these.
A plain text has no backslash. A short number is a whole one of at most 18 digits, or has at most 15 digits, a point and
no exponent, and is no minus zero and not nearer to zero than 1/10,000. Then its shortest float has its own digits, and
the engine writes them as they are, without zeros at the end. Whether a line is plain depends on its own bytes alone, and
the engine gives the same values of a plain line.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

cdef enum:
    LINE_END = 10
    CARRIAGE_RETURN = 13
    TAB = 9
    BLANK = 32
    QUOTE = 34
    BACKSLASH = 92
    DEEPEST = 32
    MOST_DIGITS = 18
    EXACT_DIGITS = 15
    SMALLEST = 4

ctypedef const unsigned char* Place

cdef enum Kind:
    NOTHING
    TEXT
    NUMBER
    NESTED

cdef enum Form:
    NO_OBJECT
    PLAIN
    UNUSUAL

# A value as it is written, without quotes, and without zeros at the end of a number; and the number that it is.
cdef struct Value:
    Kind kind
    Place start
    Place stop
    double number

cdef double[23] POWERS
for _power in range(23):
    POWERS[_power] = 10.0 ** _power  # each is exact


cdef inline Place skip_blanks(Place at) noexcept nogil:
    while at[0] == BLANK or at[0] == TAB:
        at += 1
    return at


cdef inline Place end_of_text(Place at) noexcept nogil:
    """Return where the closing quote is; NULL where a text is not plain. The end of a line ends every loop."""
    while at[0] != QUOTE:
        if at[0] < BLANK or at[0] == BACKSLASH:
            return NULL
        at += 1
    return at


cdef inline bint is_digit(unsigned char sign) noexcept nogil:
    return 48 <= sign <= 57


cdef inline Place read_number(Place at, Value *value) noexcept nogil:
    """Read a short number, and return where it ends; NULL where it is none."""
    cdef bint negative = at[0] == 45
    cdef uint64_t digits = 0
    cdef int length = 0, places = 0, zeros = 0
    value.kind, value.start = NUMBER, at
    at += negative
    if not is_digit(at[0]) or (at[0] == 48 and is_digit(at[1])):
        return NULL
    while is_digit(at[0]):
        digits = 10 * digits + (at[0] - 48)
        length += digits != 0
        at += 1
        if length > MOST_DIGITS:
            return NULL
    value.stop = at
    if at[0] == 46:
        at += 1
        if not is_digit(at[0]):
            return NULL
        # Of zeros alone one stays.
        value.stop = at + 1
        while is_digit(at[0]):
            zeros += 1
            if at[0] != 48:
                if digits == 0 and zeros > SMALLEST:
                    return NULL
                length += zeros if digits else 1
                places += zeros
                if length > EXACT_DIGITS:
                    return NULL
                while zeros > 0:
                    digits *= 10
                    zeros -= 1
                digits += at[0] - 48
                value.stop = at + 1
            at += 1
        if length > EXACT_DIGITS:
            return NULL
    if (negative and digits == 0) or at[0] == 101 or at[0] == 69:
        return NULL
    # Both are exact, so that the quotient is the nearest float.
    value.number = <double> digits / POWERS[places]
    if negative:
        value.number = -value.number
    return at


cdef Place read_value(Place at, Value *value, int depth) noexcept nogil:
    """Read a value, and return where it ends; NULL where it is not plain."""
    cdef Value inner
    cdef unsigned char first = at[0], closing
    if first == QUOTE:
        value.kind, value.start = TEXT, at + 1
        value.stop = end_of_text(at + 1)
        if value.stop == NULL:
            return NULL
        return value.stop + 1
    if first == 45 or is_digit(first):
        return read_number(at, value)
    if first == 123 or first == 91:
        if depth == DEEPEST:
            return NULL
        value.kind, closing = NESTED, first + 2
        at = skip_blanks(at + 1)
        if at[0] == closing:
            return at + 1
        while True:
            if first == 123:
                if at[0] != QUOTE:
                    return NULL
                at = end_of_text(at + 1)
                if at == NULL:
                    return NULL
                at = skip_blanks(at + 1)
                if at[0] != 58:
                    return NULL
                at = skip_blanks(at + 1)
            at = read_value(at, &inner, depth + 1)
            if at == NULL:
                return NULL
            at = skip_blanks(at)
            if at[0] == closing:
                return at + 1
            if at[0] != 44:
                return NULL
            at = skip_blanks(at + 1)
    value.start = at
    # The end of the line stops every comparison before the end of the block.
    if first == 116 and at[1] == 114 and at[2] == 117 and at[3] == 101:
        value.kind, value.stop = TEXT, at + 4
    elif first == 102 and at[1] == 97 and at[2] == 108 and at[3] == 115 and at[4] == 101:
        value.kind, value.stop = TEXT, at + 5
    elif first == 110 and at[1] == 117 and at[2] == 108 and at[3] == 108:
        value.kind, value.stop = NOTHING, at + 4
    else:
        return NULL
    return value.stop


cdef struct Keys:
    Place text
    const int *ends
    int count
    int number
    int longest
    int digest


cdef inline bint may_change(Py_ssize_t length, const Keys *keys) noexcept nogil:
    """Whether the normal form of a text of this length may be another text."""
    return length > keys.longest or length == keys.digest


cdef Form read_line(Place at, Place end, const Keys *keys, Value *values, bint *seen) noexcept nogil:
    """Read the wanted values of a line that ends at `end`: of a key that is there twice the first counts."""
    cdef Place key, stop
    cdef Value value
    cdef int column, length
    for column in range(keys.count):
        values[column].kind, seen[column] = NOTHING, False
    at = skip_blanks(at)
    if at[0] == CARRIAGE_RETURN:
        while at[0] == CARRIAGE_RETURN or at[0] == BLANK or at[0] == TAB:
            at += 1
        return UNUSUAL if at[0] == 123 else NO_OBJECT
    if at[0] != 123:
        return NO_OBJECT
    at = skip_blanks(at + 1)
    while at[0] != 125:
        if at[0] != QUOTE:
            return UNUSUAL
        key, stop = at + 1, end_of_text(at + 1)
        if stop == NULL:
            return UNUSUAL
        at = skip_blanks(stop + 1)
        if at[0] != 58:
            return UNUSUAL
        at = read_value(skip_blanks(at + 1), &value, 0)
        if at == NULL:
            return UNUSUAL
        length = <int> (stop - key)
        for column in range(keys.count):
            if (
                keys.ends[column + 1] - keys.ends[column] == length
                and not seen[column]
                and memcmp(keys.text + keys.ends[column], key, length) == 0
            ):
                if value.kind == NESTED or (column == keys.number and value.kind == TEXT):
                    return UNUSUAL
                if value.kind == TEXT and may_change(value.stop - value.start, keys):
                    return UNUSUAL
                values[column] = value
                seen[column] = True
        at = skip_blanks(at)
        if at[0] == 44:
            at = skip_blanks(at + 1)
            # A comma behind the last value is left to the engine.
            if at[0] != QUOTE:
                return UNUSUAL
        elif at[0] != 125:
            return UNUSUAL
    return PLAIN if skip_blanks(at + 1) == end else UNUSUAL


def split_objects(const unsigned char[::1] block, list names, int number, int longest, int longest_text, int digest):
    """Return the rows of plain lines of a block, and for each wanted key the ends, the bytes and the presence of values.

    block: whole lines, each with its end. names: the wanted keys, in UTF-8. number: the key whose values are numbers, or
    -1: of it no bytes are returned, but the numbers. Lines that are not plain are texts of one column more; how many
    rows are before each of them comes last. A text of more than `longest_text` bytes, or of `digest`, is not plain. A
    line that is no object, or is longer than `longest`, is left out.

    >>> lines = b'{"a": 1.50, "b": null}\n[]\n{"a": "\\u00e9"}\n'
    >>> rows, unusual, ends, text, known, numbers, places = split_objects(lines, [b"a"], -1, 99, 99, 98)
    >>> rows, unusual, ends[:, :2].tolist(), text[0, :3].tobytes(), known[:, :rows].tolist()
    (1, 1, [[0, 3], [0, 15]], b'1.5', [[1]])
    """
    cdef Py_ssize_t size = block.shape[0], row = 0, unusual = 0
    cdef int column, wanted = len(names), length
    lines = np.count_nonzero(np.asarray(block) == LINE_END)
    ends = np.zeros((wanted + 1, lines + 1), np.int32)
    known = np.zeros((wanted, lines), np.uint8)
    # A value is never longer than its line: so much room is always enough.
    text = np.empty((wanted + 1, size), np.uint8)
    numbers = np.zeros(lines if number >= 0 else 0, np.float64)
    places = np.empty(lines, np.int64)
    if not lines:
        return 0, 0, ends, text, known, numbers, places
    cdef int[:, ::1] ends_view = ends
    cdef uint8_t[:, ::1] known_view = known
    cdef unsigned char[:, ::1] text_view = text
    cdef double[::1] numbers_view = numbers
    cdef int64_t[::1] places_view = places
    cdef const int[::1] key_ends = np.cumsum([0, *map(len, names)], dtype=np.int32)
    cdef const unsigned char[::1] key_text = b"".join(names) + b"\0"
    cdef Keys keys = Keys(&key_text[0], &key_ends[0], wanted, number, longest_text, digest)
    cdef unsigned char[::1] values_room = np.empty((wanted + 1) * sizeof(Value), np.uint8)
    cdef unsigned char[::1] seen_room = np.empty((wanted + 1) * sizeof(bint), np.uint8)
    cdef Value *values = <Value *> &values_room[0]
    cdef bint *seen = <bint *> &seen_room[0]
    cdef Place at = &block[0]
    cdef Place last = at + size
    cdef Place end, stop
    cdef Form form
    with nogil:
        while at < last:
            end = <Place> memchr(at, LINE_END, last - at)
            if end == NULL:
                break
            stop = end
            if end > at and (end - 1)[0] == CARRIAGE_RETURN:
                stop = end - 1
            form = NO_OBJECT
            if stop - at <= longest:
                form = read_line(at, stop, &keys, values, seen)
            if form == UNUSUAL:
                length = <int> (stop - at)
                memcpy(&text_view[wanted, ends_view[wanted, unusual]], at, length)
                ends_view[wanted, unusual + 1] = ends_view[wanted, unusual] + length
                places_view[unusual] = row
                unusual += 1
            elif form == PLAIN:
                for column in range(wanted):
                    ends_view[column, row + 1] = ends_view[column, row]
                    if values[column].kind == NOTHING:
                        continue
                    known_view[column, row] = 1
                    if column == number:
                        numbers_view[row] = values[column].number
                        continue
                    length = <int> (values[column].stop - values[column].start)
                    memcpy(&text_view[column, ends_view[column, row]], values[column].start, length)
                    ends_view[column, row + 1] += length
                row += 1
            at = end + 1
    return row, unusual, ends, text, known, numbers, places
