"""Published values, told apart as whoever sees them would. Compiled, because the auditor asks on every branch."""

cimport cython

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char *where) except *
    void Py_LeaveRecursiveCall()

from decimal import Decimal
from math import copysign

from numpy import complexfloating, floating, ndarray

cdef tuple COMPLEX = (complex, complexfloating)
cdef tuple REAL = (float, floating, Decimal)
cdef set AS_THEY_ARE = set()
"""Types known to be compared as they are."""


class FloatName(str):
    """A float that == does not tell apart, under its name."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, FloatName) and str.__eq__(self, other)

    def __hash__(self):
        return hash((FloatName, str(self)))


@cython.auto_pickle(False)
cdef class Published:
    """Compared and hashed by what it publishes: `_compared()` gives what it is hashed by, and what else it compares."""

    cdef object own, shared

    cdef int look(self) except -1:
        if self.own is None:
            own, shared = self._compared()
            self.shared = hashable(shared)
            self.own = hashable(own)
        return 0

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        cdef Published known = other
        self.look()
        known.look()
        return self.own == known.own and (self.shared is known.shared or self.shared == known.shared)

    def __hash__(self):
        self.look()
        Py_EnterRecursiveCall(" while hashing an outcome")
        try:
            return hash(self.own)
        finally:
            Py_LeaveRecursiveCall()

    def __reduce_ex__(self, protocol):
        # The oldest protocols know no objects of compiled classes.
        return object.__reduce_ex__(self, max(protocol, 2))


cpdef object hashable(object value):
    """A published value in a form that can be compared and hashed.

    Arrays become tuples. Whoever sees a number can tell -0.0 from 0.0, and one NaN is like another, so those two are
    replaced by their names: == would say otherwise.
    """
    cdef type kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if isinstance(value, (tuple, list)):
        return tuple(each_of(value))
    if isinstance(value, frozenset):
        return frozenset(each_of(value))
    if isinstance(value, ndarray):
        return hashable(value.tolist())
    if isinstance(value, COMPLEX):
        parts = named(value.real), named(value.imag)
        return (complex, *parts) if FloatName in map(type, parts) else value
    if isinstance(value, REAL):
        return named(value)
    if len(AS_THEY_ARE) < 1000:
        AS_THEY_ARE.add(kind)
    return value


cdef list each_of(object values):
    Py_EnterRecursiveCall(" while comparing an outcome")
    try:
        return [hashable(each) for each in values]
    finally:
        Py_LeaveRecursiveCall()


cdef object named(object value):
    if isinstance(value, Decimal):
        nan, minus_zero = value.is_nan(), value.is_zero() and value.is_signed()
    else:
        nan, minus_zero = value != value, value == 0 and copysign(1, value) < 0
    return FloatName("nan" if nan else "-0.0") if nan or minus_zero else value
