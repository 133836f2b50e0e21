"""Published values, told apart as whoever sees them would. Compiled, because the auditor asks on every branch."""

cimport cython

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char *where) except *
    void Py_LeaveRecursiveCall()

from decimal import Decimal
from math import copysign

from numpy import complexfloating, floating, ndarray

cdef tuple _COMPLEX = (complex, complexfloating)
cdef tuple _REAL = (float, floating, Decimal)


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
            own, self.shared = self._compared()
            self.own = hashable(own)
        return 0

    def __eq__(self, other):
        if type(other) is not type(self):
            return False
        cdef Published known = other
        self.look()
        known.look()
        return self.own == known.own and (self.shared is known.shared or self.shared == known.shared)

    def __hash__(self):
        self.look()
        return hash(self.own)


cpdef object hashable(object value):
    """A published value in a form that can be compared and hashed.

    Arrays become tuples. Whoever sees a number can tell -0.0 from 0.0, and one NaN is like another, so those two are
    replaced by their names: == would say otherwise.
    """
    cdef type kind = type(value)
    if kind is int or kind is str or kind is bool or value is None or isinstance(value, Published):
        return value
    if isinstance(value, (tuple, list)):
        Py_EnterRecursiveCall(" while comparing an outcome")
        try:
            return tuple([hashable(each) for each in value])
        finally:
            Py_LeaveRecursiveCall()
    if isinstance(value, ndarray):
        return hashable(value.tolist())
    if isinstance(value, _COMPLEX):
        parts = named(value.real), named(value.imag)
        return parts if FloatName in map(type, parts) else value
    return named(value) if isinstance(value, _REAL) else value


cdef object named(object value):
    if isinstance(value, Decimal):
        nan, minus_zero = value.is_nan(), value.is_zero() and value.is_signed()
    else:
        nan, minus_zero = value != value, value == 0 and copysign(1, value) < 0
    return FloatName("nan" if nan else "-0.0") if nan or minus_zero else value
