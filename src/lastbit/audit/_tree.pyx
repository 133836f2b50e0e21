"""The tree of a program's choices, compiled, because the auditor works on it on every branch.

A node is a cell of a draw, taken after the nodes before it. A run replays the path to a node and then takes the first
cell of every new draw; the cells after the taken cell are left open. The mass of a cell is numerator / (odd ·
2^exponent): along a path numerators multiply, exponents add and odd parts multiply, and masses with the same odd part
add up over a power of two. So no greatest common divisor is taken until the very end.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(object)

from heapq import heappop, heappush
from time import monotonic

from gmpy2 import mpz
from numpy import array, dtype, empty

from lastbit._outcomes import hashable
from lastbit.chance.distributions import uniform
from lastbit.errors import AuditError

cdef object ONE = mpz(1)
cdef object INT64 = dtype("int64")

_LOOK_EVERY = 1024
_LONGEST = 1 << 12
"""A run with more draws looks endless, if only the program can end it."""
_UNLIKELY = 12
"""A run is put off when it is less likely than the tolerance by this many bits."""

NOT_A_PROGRAM = (
    "the program did not repeat itself when given the same draws. It must depend on its Draw alone (no other "
    "randomness, no memory of earlier runs) and return a value that == compares by content."
)

_CAUGHT = (
    "the program catches BaseException, which the auditor uses to stop a run. Catch Exception instead, or the errors "
    "that you expect."
)


class StopRun(BaseException):
    """Ends a run from inside. It is not an Exception, because no program should catch it."""


@cython.final
cdef class Cells:
    """The values and masses of a draw, made when they are first asked for."""

    cdef object source
    cdef object bits
    cdef bint endless
    cdef list values, numerators, exponents, odd
    cdef list upper
    """At or above 2^bits · mass."""
    cdef list rest
    """rest[i] is at or above 2^bits · the mass of the cells from i on."""

    def __init__(self, source, bint endless, bits):
        self.source, self.endless, self.bits = source, endless, bits
        self.values, self.numerators, self.exponents, self.odd, self.upper = [], [], [], [], []
        self.rest = [1 << bits]
        if not self.reach(1):
            raise AuditError("a distribution must have mass somewhere.")

    cdef bint reach(self, Py_ssize_t i) except -1:
        """Whether there is a cell i - 1; cells without mass are skipped."""
        while len(self.values) < i:
            value, mass = next(self.source, (0, None))
            if mass is None:
                return False
            if mass:
                above, below = mass.numerator, mass.denominator
                exponent = (below & -below).bit_length() - 1
                floor = (above << self.bits) // below
                self.values.append(value)
                self.numerators.append(mpz(above) if above > 1 else ONE)
                self.exponents.append(exponent)
                self.odd.append(mpz(below >> exponent) if below >> exponent > 1 else ONE)
                self.upper.append(floor + 1)
                self.rest.append(max(0, self.rest[-1] - floor))
        return True


@cython.final
@cython.freelist(64)
@cython.trashcan(True)
cdef class Node:
    """A cell that a run takes."""

    cdef Node before
    cdef Py_ssize_t depth
    cdef Cells cells
    cdef Py_ssize_t i
    cdef object upper
    """At or above 2^bits times the mass of the path to this cell."""


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Open:
    """An open branch: the cells from i on of the draw after a node or, without cells, a run that was put off."""

    cdef object upper
    cdef Py_ssize_t order
    cdef Node node
    cdef Cells cells
    cdef Py_ssize_t i

    def __lt__(Open self, Open other not None):
        return self.order < other.order if self.upper == other.upper else self.upper > other.upper


cdef tuple product(list path, Py_ssize_t start, Py_ssize_t stop):
    """The mass of a part of a path: numerator, odd part and exponent. By halves, because factors of one length are fast."""
    cdef Node node
    cdef Py_ssize_t i, middle, exponent = 0
    if stop - start > 16:
        middle = (start + stop) // 2
        (above, odd, deep), (more, other, further) = product(path, start, middle), product(path, middle, stop)
        return above * more, odd * other, deep + further
    above, odd = ONE, ONE
    for i in range(start, stop):
        node = path[i]
        above = times(above, node.cells.numerators[node.i])
        odd = times(odd, node.cells.odd[node.i])
        exponent += <Py_ssize_t>node.cells.exponents[node.i]
    return above, odd, exponent


cdef inline object times(object a, object b):
    return a if b is ONE else b if a is ONE else a * b


cdef object array_of(list values):
    """An array of int64, or of Python integers where one of them does not fit."""
    cdef Py_ssize_t i
    cdef Py_buffer view
    values_array = empty(len(values), INT64)
    PyObject_GetBuffer(values_array, &view, PyBUF_WRITABLE)
    try:
        for i in range(len(values)):
            (<int64_t *>view.buf)[i] = values[i]
        return values_array
    except OverflowError:
        return array(values, object)
    finally:
        PyBuffer_Release(&view)


@cython.final
cdef class Tree:
    """The part of the tree seen so far, and one run through it. `limit` and `left` are 2^bits times a mass."""

    cdef public object refusal
    """Why the auditor gives up on the program; None while it does not."""
    cdef dict by_object, by_law
    cdef list uniforms
    cdef list open, path
    cdef Node node
    cdef Py_ssize_t at, order, draws, endless, most
    cdef readonly dict outcomes
    """The outcomes by the odd part of their masses, each with a numerator and a power of two."""
    cdef readonly object deadline
    """When the exploration must end, on the monotonic clock."""
    cdef object bits, limit, left, unlikely
    cdef bint may_end

    def __init__(self, bits, limit, bint may_end, deadline):
        self.bits, self.limit, self.unlikely = bits, limit, limit >> _UNLIKELY
        self.may_end, self.deadline = may_end, deadline
        self.by_object, self.by_law, self.uniforms = {}, {}, []
        self.open, self.left, self.outcomes, self.refusal = [], 0, {}, None
        cdef Node root = Node()
        root.upper = 1 << bits
        self.begin(root)

    def outcome(self, value):
        """The outcome of the run, in a form that can be compared."""
        if self.refusal is not None:
            # The program caught an error of the auditor: its outcome after that is no part of its law.
            raise AuditError(self.refusal)
        if self.at < len(self.path):
            raise AuditError(NOT_A_PROGRAM)
        return hashable(value)

    def add(self, outcome):
        """Add the mass of the run to its outcome."""
        numerator, odd, exponent = product(self.path, 0, len(self.path))
        cdef list known, mass = [numerator, exponent]
        try:
            known = (<dict>self.outcomes.setdefault(odd, {})).setdefault(outcome, mass)
        except TypeError:
            raise AuditError(
                f"a program must return a hashable value: got {type(outcome).__name__}. Return a tuple of numbers."
            ) from None
        if known is not mass:
            deeper = exponent - known[1]
            if deeper > 0:
                known[0], known[1] = (known[0] << deeper) + numerator, exponent
            else:
                known[0] += numerator << -deeper

    @property
    def open_share(self):
        """The probability that is still open, roughly."""
        return self.left / (1 << self.bits)

    @property
    def draw_count(self):
        """The number of draws of the run; more if its replay drew more."""
        return len(self.path)

    def rewind(self):
        """Go back to the start of the run, to play it again."""
        self.at = 0

    def next(self, Py_ssize_t branches):
        """Set up the next run, down the heaviest open branch; False when enough was explored.

        `branches` were followed so far. Once the open mass is within the limit, finite draws are followed to the end,
        as long as that does not double the work.
        """
        cdef Open heaviest
        if self.left <= self.limit:
            self.most = self.most or 2 * branches
            if not self.open or (self.limit and (self.endless or branches >= self.most)):
                return False
        heaviest = heappop(self.open)
        self.left -= heaviest.upper
        if heaviest.cells is None:
            # This time the run may go further than when it was put off, or it would never end.
            self.endless -= 1
            self.unlikely = heaviest.node.upper >> _UNLIKELY
            self.begin(heaviest.node)
        else:
            self.endless -= heaviest.cells.endless
            self.unlikely = min(self.limit, heaviest.node.upper) >> _UNLIKELY
            self.begin(self.take(heaviest.node, heaviest.cells, heaviest.i))
        return True

    def one(self, distribution):
        """The value of the next draw."""
        return self.value(self.cells(distribution))

    def many(self, distribution, Py_ssize_t n):
        """The values of the next n draws: an array, of Python integers where one of them does not fit."""
        cdef Cells cells = self.cells(distribution)
        return array_of([self.value(cells) for _ in range(n)])

    def permutation(self, Py_ssize_t n):
        """A uniform permutation: place i is swapped with one of 0, …, i, for each i in turn."""
        cdef Py_ssize_t i, pick
        cdef list order = list(range(n))
        for i in range(1, n):
            while len(self.uniforms) <= i:
                self.uniforms.append(self.cells(uniform(len(self.uniforms) + 1)))
            pick = self.value(self.uniforms[i])
            order[i], order[pick] = order[pick], i
        return array_of(order)

    cdef Cells cells(self, distribution):
        """The cells of a distribution. Two distributions with the same law have the same cells."""
        cells = self.by_object.get(distribution)
        if cells is None:
            levels = distribution.levels
            cells = self.by_law.get(levels)
            if cells is None:
                try:
                    cells = self.by_law[levels] = Cells(distribution.masses(), distribution.endless, self.bits)
                except AuditError as refusal:
                    self.refuse(str(refusal))
            # A distribution made for one call is not remembered by itself: its law finds the cells again.
            if not distribution.cells:
                self.by_object[distribution] = cells
        return cells

    cdef void begin(self, Node node):
        """Set up the replay of the path to a node."""
        self.node, self.at = node, 0
        self.path = [None] * node.depth
        while node.depth:
            self.path[node.depth - 1] = node
            node = node.before

    cdef object value(self, Cells cells):
        """The value of the next draw, from these cells."""
        cdef Node node
        if self.at < len(self.path):
            node = self.path[self.at]
            if node.cells is not cells:
                self.refuse(NOT_A_PROGRAM)
        else:
            node = self.first(cells)
        self.at += 1
        return cells.values[node.i]

    cdef Node first(self, Cells cells):
        """Take the first cell of a new draw."""
        self.draws += 1
        if self.node.upper <= self.unlikely or (self.draws % _LOOK_EVERY == 0 and monotonic() > self.deadline):
            self.leave_open(self.node.upper, self.node, None, 0)
            self.refusal = _CAUGHT
            raise StopRun
        if len(self.path) == _LONGEST and not self.may_end:
            self.refuse(
                f"tolerance must be above 0 for a program that draws more than {_LONGEST:,} values in a run: got 0. "
                "The program may never end. Give a tolerance, or seconds."
            )
        self.node = self.take(self.node, cells, 0)
        self.path.append(self.node)
        return self.node

    cdef Node take(self, Node before, Cells cells, Py_ssize_t i):
        """Cell i of a draw; the cells after it are left open."""
        if len(cells.values) > i + 1 or cells.reach(i + 2):
            self.leave_open((before.upper * cells.rest[i + 1] >> self.bits) + 1, before, cells, i + 1)
        cdef Node node = Node.__new__(Node)
        PyObject_GC_UnTrack(node)
        node.before, node.depth, node.cells, node.i = before, before.depth + 1, cells, i
        node.upper = (before.upper * cells.upper[i] >> self.bits) + 1
        return node

    cdef void leave_open(self, object upper, Node node, Cells cells, Py_ssize_t i):
        cdef bint endless = cells is None or cells.endless
        if endless and not self.may_end:
            self.refuse(
                "tolerance must be above 0 for a program with an endless draw: got 0. Give a tolerance, or seconds."
            )
        self.endless += endless
        self.left += upper
        self.order += 1
        cdef Open rest = Open.__new__(Open)
        rest.upper, rest.order, rest.node, rest.cells, rest.i = upper, self.order, node, cells, i
        heappush(self.open, rest)

    def refuse(self, str message):
        """Give up on the program, even if the program catches this error."""
        self.refusal = message
        raise AuditError(message)
