"""Published values, compared as a reader compares them. Compiled, because the auditor compares on every branch."""

cimport cython

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object it, object name, object value) except -1
    int Py_EnterRecursiveCall(const char *where) except *
    void Py_LeaveRecursiveCall()

from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from math import copysign

from numpy import complexfloating, floating, ndarray

cdef tuple COMPLEX = (complex, complexfloating)
cdef tuple REAL = (float, floating, Decimal)
cdef set AS_THEY_ARE = set()
"""Types known to be compared as they are."""
cdef dict COMPARED = {}
"""For types of values: the names of the fields, which are hashed, which else compared, and whether none is checked."""
cdef Py_ssize_t MOST_TYPES = 1000


class FloatName(str):
    """A float that == does not tell apart, under its name."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, FloatName) and str.__eq__(self, other)

    def __hash__(self):
        return hash((FloatName, str(self)))


@cython.auto_pickle(False)
cdef class Compared:
    """A dataclass compared and hashed by its fields, as a person who sees the fields compares them.

    Fields marked `hash=False` are compared, but not hashed: exact numbers that all of a kind share, and slow to hash.
    """

    cdef object own, shared
    cdef tuple given
    """The values of all fields, if `made` built the object and it was not compared yet."""

    @classmethod
    def made(cls, *values):
        """The same as cls(*values), for all fields: at once, where a frozen dataclass makes a detour for each.

        Not for a class that checks its fields: its constructor does.
        """
        cdef tuple names
        names, _, _, unchecked = COMPARED.get(cls) or compared(cls)
        if not unchecked or len(values) != len(names):
            raise TypeError(f"{cls.__name__} must be built by its constructor, or from all of its fields.")
        cdef Compared made = cls.__new__(cls)
        cdef Py_ssize_t i
        made.given = values
        for i in range(len(names)):
            PyObject_GenericSetAttr(made, names[i], values[i])
        return made

    cdef int look(self) except -1:
        if self.own is None:
            names, own, shared, _ = COMPARED.get(type(self)) or compared(type(self))
            values = self.given or tuple([getattr(self, name, None) for name in names])
            self.shared = hashable(tuple([values[i] for i in shared]))
            self.own = quick([values[i] for i in own])
            self.given = None
        return 0

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        cdef Compared known = other
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

    def __getstate__(self):
        return self.__dict__

    def __reduce_ex__(self, protocol):
        # The oldest protocols know no objects of compiled classes.
        return object.__reduce_ex__(self, max(protocol, 2))


cdef tuple compared(type kind):
    cdef list names = [], own = [], shared = []
    for i, each in enumerate(fields(kind)):
        names.append(each.name)
        if each.compare:
            (shared if each.hash is False else own).append(i)
    known = tuple(names), own, shared, not hasattr(kind, "__post_init__")
    if len(COMPARED) < MOST_TYPES:
        COMPARED[kind] = known
    return known


cdef tuple quick(list own):
    """Each `hashable`, and whole Fractions as integers: they are equal, and far quicker to hash and compare."""
    cdef list each = [whole(one) if type(one) is Fraction else hashable(one) for one in own]
    return tuple(each)


cdef object whole(object fraction):
    above, below = fraction.as_integer_ratio()
    return above if below == 1 else fraction


cpdef object hashable(object value):
    """A published value in a form that can be compared and hashed.

    Arrays become tuples. Whoever sees a number can tell -0.0 from 0.0, and one NaN is like another, so those two are
    replaced by their names: == would say otherwise.
    """
    cdef type kind = type(value)
    if kind is int or kind in AS_THEY_ARE:
        return value
    if kind is tuple:
        return those_of(value)
    if isinstance(value, (tuple, list)):
        return those_of(tuple(value))
    if isinstance(value, frozenset):
        return frozenset(those_of(tuple(value)))
    if isinstance(value, ndarray):
        return hashable(value.tolist())
    if isinstance(value, COMPLEX):
        parts = named(value.real), named(value.imag)
        return (complex, *parts) if FloatName in map(type, parts) else value
    if isinstance(value, REAL):
        return named(value)
    if len(AS_THEY_ARE) < MOST_TYPES:
        AS_THEY_ARE.add(kind)
    return value


cdef tuple those_of(tuple values):
    """Each `hashable`: the same tuple where all are as they are."""
    cdef Py_ssize_t i
    cdef list changed = None
    Py_EnterRecursiveCall(" while comparing an outcome")
    try:
        for i in range(len(values)):
            each = hashable(values[i])
            if changed is None and each is not values[i]:
                changed = list(values)
            if changed is not None:
                changed[i] = each
    finally:
        Py_LeaveRecursiveCall()
    return values if changed is None else tuple(changed)


cdef object named(object value):
    if isinstance(value, Decimal):
        nan, minus_zero = value.is_nan(), value.is_zero() and value.is_signed()
    else:
        nan, minus_zero = value != value, value == 0 and copysign(1, value) < 0
    return FloatName("nan" if nan else "-0.0") if nan or minus_zero else value
