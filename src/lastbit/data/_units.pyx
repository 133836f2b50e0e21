"""One number for each unit of a stream of rows, of which units are whole numbers: what one unit has is added up.

A hash table has an entry for each unit, beside its name: a row looks at one place of memory. The hash has a key that
nobody knows, so that nobody can write names of units that meet in one place. Sums have 128 bits, whatever comes.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport floor
from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int64_t, uint8_t, uint64_t

from numpy import empty, zeros

# The C interface of Arrow, as its specification declares it.
cdef struct ArrowSchema:
    const char *format
    const char *name
    const char *metadata
    int64_t flags
    int64_t n_children
    ArrowSchema **children
    ArrowSchema *dictionary
    void (*release)(ArrowSchema *) noexcept nogil
    void *private_data

cdef struct ArrowArray:
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void **buffers
    ArrowArray **children
    ArrowArray *dictionary
    void (*release)(ArrowArray *) noexcept nogil
    void *private_data

cdef struct ArrowArrayStream:
    int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
    int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
    const char *(*get_last_error)(ArrowArrayStream *) noexcept nogil
    void (*release)(ArrowArrayStream *) noexcept nogil
    void *private_data

cdef enum:
    BLOCK = 256
    FIRST = 1024
    PART_BITS = 2
    PARTS = 1 << PART_BITS

cdef enum Way:
    COUNT
    LARGEST
    TOTAL
    MEAN

WAYS = {"count": COUNT, "any": LARGEST, "total": TOTAL, "mean": MEAN}

cdef enum Side:
    ABOVE = 1
    BELOW = 2
    ROW = 4

# What is kept of a unit: its name; the two halves of its sum, of which the lower may be its largest number; and how many
# rows it has, times four, with its sides in the last two bits.
cdef struct Entry:
    int64_t name
    uint64_t low
    int64_t high
    uint64_t rows


# A table of units whose hashes begin alike: it grows by itself, so that little is in memory twice.
cdef struct Part:
    int64_t *table
    uint64_t places
    uint64_t units
    int shift


cdef class Units:
    """What is kept of each unit: at most so many units, and a key of two words for the hash.

    An entry begins with the name of its unit. A free one has the name 0, and the unit 0 has an entry of its own.
    """

    cdef uint64_t first_key, second_key, units, most
    cdef Part parts[PARTS]
    cdef Entry zero
    cdef bint has_zero
    cdef list held
    cdef uint64_t width
    cdef int64_t touched
    cdef Way way
    cdef int64_t low, high, lowest
    cdef bint floats, keeps_missing
    cdef double least, largest, factor
    cdef int64_t missing

    def __init__(self, str way, uint64_t first_key, uint64_t second_key, uint64_t most):
        cdef uint64_t number
        self.way = WAYS[way]
        self.width = 1 if self.way == COUNT else sizeof(Entry) // sizeof(int64_t)
        # Only odd factors keep every bit of a name.
        self.first_key, self.second_key, self.most = first_key | 1, second_key | 1, most
        self.units, self.has_zero, self.zero = 0, False, Entry(0, 0, 0, 0)
        self.low, self.high, self.lowest = INT64_MIN, INT64_MAX, INT64_MIN
        self.floats = False
        self.held = [None] * PARTS
        for number in range(PARTS):
            self.parts[number] = Part(NULL, 0, 0, 0)
            self.make_room(number, FIRST)

    def set_ends(self, int64_t low, int64_t high, int64_t lowest):
        """Say between which ends a number lies, and below which one its unit is below the bounds."""
        self.low, self.high, self.lowest = low, high, lowest

    def set_floats(self, double least, double largest, double factor, missing):
        """Say that numbers are floats: between which they lie, how many steps 1 is, and the step of a missing one.

        The factor is a power of two, and a float between both ends has fewer than 2^62 steps, so that every step is
        exact. missing: None where a row without a number is left out.
        """
        self.floats, self.least, self.largest, self.factor = True, least, largest, factor
        self.keeps_missing, self.missing = missing is not None, missing or 0

    cdef make_room(self, uint64_t number, uint64_t places):
        """Make a part of so many entries, a power of two, and move those that are there."""
        cdef Part *part = &self.parts[number]
        cdef int64_t *before = part.table
        cdef uint64_t i, k, count = part.places
        cdef int64_t *entry
        # NumPy asks the machine for large pages.
        table = zeros(places * self.width, "int64")
        cdef int64_t[::1] words = table
        part.table, part.places, part.shift = &words[0], places, 65 - int(places).bit_length()
        with nogil:
            for k in range(count):
                if before[k * self.width]:
                    entry = self.find(before[k * self.width])
                    for i in range(self.width):
                        entry[i] = before[k * self.width + i]
        self.held[number] = table

    cdef inline uint64_t hash(self, int64_t name) noexcept nogil:
        cdef uint64_t word = <uint64_t>name * self.first_key
        return (word ^ (word >> 32)) * self.second_key

    cdef inline int64_t *find(self, int64_t name) noexcept nogil:
        """Return the entry of a unit, or the free one that it takes."""
        cdef uint64_t word = self.hash(name), place
        cdef Part *part = &self.parts[word >> (64 - PART_BITS)]
        cdef int64_t *entry
        if name == 0:
            return &self.zero.name
        place = (word << PART_BITS) >> part.shift
        while True:
            entry = part.table + place * self.width
            if entry[0] == name or entry[0] == 0:
                return entry
            place = (place + 1) & (part.places - 1)

    cdef int add_block(self, const int64_t *names, const int64_t *numbers, uint64_t n) except -1 nogil:
        """Add some rows: 0 when it is done, 1 where there are too many units."""
        cdef uint64_t i, word
        cdef int64_t touched = 0
        cdef int64_t *entry
        cdef int64_t *first[BLOCK]
        cdef Part *part
        for i in range(PARTS):
            if self.parts[i].units + n > self.parts[i].places - (self.parts[i].places >> 2):
                with gil:
                    self.make_room(i, 2 * self.parts[i].places)
        # The entries are looked at for the whole block first: the processor waits for many of them at once.
        for i in range(n):
            word = self.hash(names[i])
            part = &self.parts[word >> (64 - PART_BITS)]
            first[i] = part.table + ((word << PART_BITS) >> part.shift) * self.width
            touched ^= first[i][0]
        self.touched = touched
        for i in range(n):
            entry = first[i]
            if entry[0] != names[i] or names[i] == 0:
                entry = self.find(names[i])
            if names[i] == 0:
                self.units += not self.has_zero
                self.has_zero = True
            elif entry[0] == 0:
                entry[0] = names[i]
                self.units += 1
                self.parts[self.hash(names[i]) >> (64 - PART_BITS)].units += 1
            if self.way != COUNT:
                self.add_number(<Entry *>entry, numbers[i])
        return 1 if self.units > self.most else 0

    cdef inline void add_number(self, Entry *entry, int64_t number) noexcept nogil:
        cdef uint64_t above
        entry.rows += ROW
        if self.way == LARGEST:
            if entry.rows < 2 * ROW or number > <int64_t>entry.low:
                entry.low = <uint64_t>number
            return
        if self.way == TOTAL:
            entry.low += <uint64_t>number
            entry.high += (number >> 63) + (entry.low < <uint64_t>number)
            return
        if number > self.high:
            entry.rows |= ABOVE
            number = self.high
        elif number < self.low:
            if number < self.lowest:
                entry.rows |= BELOW
            number = self.low
        above = <uint64_t>number - <uint64_t>self.low
        entry.low += above
        entry.high += entry.low < above

    cdef int add_array(self, const ArrowArray *rows) except -1 nogil:
        """Add the rows of an array of one column of units, or of two: what is missing in one leaves its row out."""
        cdef int64_t names[BLOCK]
        cdef int64_t numbers[BLOCK]
        cdef const ArrowArray *first = rows.children[0]
        cdef const ArrowArray *second = rows.children[rows.n_children - 1]
        cdef const int64_t *units = <const int64_t *>first.buffers[1] + first.offset + rows.offset
        cdef const int64_t *values = <const int64_t *>second.buffers[1] + second.offset + rows.offset
        cdef const double *reals = <const double *>values
        cdef int64_t at = 0
        cdef int64_t n = 0
        cdef int state = 0
        cdef bint whole = first.null_count == 0 and second.null_count == 0 and not self.floats
        while at < rows.length and state == 0:
            if whole:
                n = BLOCK if rows.length - at > BLOCK else rows.length - at
                state = self.add_block(units + at, values + at, <uint64_t>n)
                at += n
                continue
            n = 0
            while n < BLOCK and at < rows.length:
                if is_there(first, rows.offset + at):
                    names[n] = units[at]
                    if not self.floats:
                        numbers[n] = values[at]
                        n += is_there(second, rows.offset + at)
                    elif is_there(second, rows.offset + at) and reals[at] == reals[at]:
                        numbers[n] = self.count_steps(reals[at])
                        n += 1
                    else:
                        numbers[n] = self.missing
                        n += self.keeps_missing
                at += 1
            state = self.add_block(names, numbers, <uint64_t>n)
        return state

    cdef inline int64_t count_steps(self, double number) noexcept nogil:
        if number > self.largest:
            number = self.largest
        elif number < self.least:
            number = self.least
        return <int64_t>floor(number * self.factor)

    def add(self, capsule):
        """Add all rows of a stream of Arrow with a column of units and, but for "count", one of numbers.

        Return whether the units were not too many: where they were, the rest of the rows was not read.
        """
        cdef ArrowArrayStream *stream = <ArrowArrayStream *>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        cdef ArrowArray rows
        cdef int state = 0, failure
        cdef bint ended = False
        check_columns(stream, [b"l"] if self.way == COUNT else [b"l", b"g" if self.floats else b"l"])
        while state == 0:
            with nogil:
                failure = stream.get_next(stream, &rows)
                if failure == 0:
                    ended = rows.release == NULL
                    if not ended:
                        try:
                            state = self.add_array(&rows)
                        finally:
                            rows.release(&rows)
            PyErr_CheckSignals()
            if failure:
                raise RuntimeError("the rows could not be read to their end")
            if ended:
                break
        return state == 0

    def __len__(self):
        return <Py_ssize_t>self.units

    def numbers(self):
        """Return the number of each unit, and its side: 1 for above the bounds, -1 for below them, or 0."""
        cdef uint64_t k, number, n = 0
        cdef Entry *entries
        if self.way == COUNT:
            # Its entries are names alone: what follows would be read beyond the end of the table.
            raise ValueError("units that are counted have no numbers")
        steps, sides = empty(self.units, "int64"), empty(self.units, "int8")
        cdef int64_t[::1] own_steps = steps
        cdef int8_t[::1] own_sides = sides
        with nogil:
            for number in range(PARTS + 1):
                entries = &self.zero if number == PARTS else <Entry *>self.parts[number].table
                for k in range(1 if number == PARTS else self.parts[number].places):
                    if entries[k].rows:
                        self.finish(&entries[k], &own_steps[n], &own_sides[n])
                        n += 1
        return steps, sides

    cdef inline void finish(self, const Entry *entry, int64_t *step, int8_t *side) noexcept nogil:
        cdef int64_t number = <int64_t>entry.low
        if self.way == MEAN:
            step[0] = self.low + <int64_t>divide(entry.high, entry.low, entry.rows >> 2)
            side[0] = 1 if entry.rows & ABOVE else -1 if entry.rows & BELOW else 0
            return
        if self.way == TOTAL and entry.high != number >> 63:
            # Beyond 64 bits, and so beyond every bound.
            number = INT64_MAX if entry.high >= 0 else INT64_MIN
        side[0] = 1 if number > self.high else -1 if number < self.lowest else 0
        step[0] = self.high if number > self.high else self.low if number < self.low else number


cdef inline bint is_there(const ArrowArray *column, int64_t row) noexcept nogil:
    cdef const uint8_t *known = <const uint8_t *>column.buffers[0]
    row += column.offset
    return known == NULL or (known[row >> 3] >> (row & 7)) & 1


cdef uint64_t divide(int64_t high, uint64_t low, uint64_t by) noexcept nogil:
    """Return the floor of a sum of 128 bits by the number of its terms, each of 62 bits at most."""
    cdef uint64_t quotient = 0, rest = <uint64_t>high
    cdef int bit
    if high == 0:
        return low // by
    # The rest is below the number of rows, so that it has room for one bit more.
    for bit in range(63, -1, -1):
        rest = rest << 1 | ((low >> bit) & 1)
        quotient <<= 1
        if rest >= by:
            rest -= by
            quotient |= 1
    return quotient


cdef int check_columns(ArrowArrayStream *stream, list wanted) except -1:
    """Refuse other columns than whole numbers of 64 bits, or floats, and a stream that somebody has read already."""
    cdef ArrowSchema schema
    cdef int64_t k
    if stream.release == NULL or stream.get_schema(stream, &schema):
        raise RuntimeError("the rows could not be read")
    try:
        # Of words that stand for texts in a dictionary the format says only that they are whole numbers.
        formats = [
            schema.children[k].format if schema.children[k].dictionary == NULL else b"" for k in range(schema.n_children)
        ]
    finally:
        schema.release(&schema)
    if formats != wanted:
        raise ValueError(f"the columns must be whole numbers of 64 bits{', and floats' if b'g' in wanted else ''}")
    return 0
