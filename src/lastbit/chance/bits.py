"""Random words: where every draw begins. A source is any object whose `words(n)` gives n uint64.

`SystemBits` is the one to use. `Tape` replays chosen words, for tests and proofs only.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from operator import index
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from lastbit.chance._draws import system_words, words_from_bytes
from lastbit.errors import BitsError, ParameterError, TapeEnded

Words = NDArray[np.uint64]

_BLOCK: Final = 1 << 16
"""Words per call of the cipher: 512 KB stays in the second caches, and is much work for one call."""

_FEW: Final = 32
"""So many words the operating system gives as fast as a cipher that is told where to start, and in one piece."""

_COPIED: Final = 1024
"""So many words the cipher gives sooner as bytes than it fills an array."""

_KEY_LIFE: Final = 1 << 21
"""Words under one key: 16 MB, then the operating system gives a new one."""

_ZEROS: Final = memoryview(bytes(8 * _BLOCK))
_SLACK: Final = 2  # update_into wants room for one more AES block, which it leaves alone

_NO_SYSTEM: Final = (
    "the operating system gives no random words. Mend that first: /dev/urandom must be there, and the process must be "
    "allowed to open a file."
)
_zeros: Final = lru_cache(maxsize=64)(bytes)
"""So many zeros. Most releases of a program take one of a few numbers of words, and bytes are quicker than a view."""


class Bits(Protocol):
    """A source of randomness, as draws read it.

    >>> import lastbit as lb
    >>> class Always7:  # for a test
    ...     def words(self, n):
    ...         return np.full(n, 7, np.uint64)
    >>> lb.Sampler(Always7()).integer(10)
    0
    """

    def words(self, n: int, /) -> Any:
        """Return the next n words, uniform on [0, 2^64), as an array of uint64."""
        ...


def read_words(source: Bits, n: int) -> Words:
    """Read n words of a source. A short or misshapen answer must not pass as randomness: it raises BitsError."""
    if type(source) is SystemBits:
        return source.words(n)
    answer = source.words(n)
    if not isinstance(answer, np.ndarray) or answer.dtype != np.uint64 or answer.shape != (n,):
        raise BitsError(f"words({n}) must give a NumPy array of {n} uint64. Nothing was drawn; mend the source.")
    return np.ascontiguousarray(answer if answer.flags.aligned else answer.copy())


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_count_fork)


def current_process() -> tuple[int, int]:
    """Return the identity of this process: what must not be used on both sides of a fork remembers it."""
    # The count tells processes apart when an id is used again; the id catches forks that Python did not see.
    return os.getpid(), _forks


def _system_bytes(n: int) -> bytes:
    """Return n random bytes of the operating system, or raise BitsError."""
    try:
        return os.urandom(n)
    except (OSError, NotImplementedError):
        raise BitsError(_NO_SYSTEM) from None


def check_system() -> None:
    """Raise BitsError where the operating system gives no random words: to be called before anything is charged.

    >>> check_system()
    """
    # What is charged is drawn with the cipher: if its library does not load, it should be now.
    import cryptography.hazmat.primitives.ciphers  # noqa: F401

    try:
        os.urandom(8)
    except (OSError, NotImplementedError):
        raise BitsError(f"{_NO_SYSTEM} Nothing was drawn and nothing was charged.") from None


class _Stream:
    """AES-256-CTR under one key. Used by one caller at a time, in the process that made it."""

    __slots__ = ("_encryptor", "left", "process")

    def __init__(self) -> None:
        # Few words come from the operating system: a program that needs no more does not load the library.
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self.process = current_process()
        self.left = _KEY_LIFE
        self._encryptor = Cipher(algorithms.AES256(_system_bytes(32)), modes.CTR(bytes(16))).encryptor()

    def take(self, n: int) -> Words | bytes:
        """Return n words from a place of the keystream that the operating system draws anew; n is at most one block.

        So the state that a snapshot keeps, the key, does not tell which words come after it is resumed. Two calls
        meet with a probability of about 2^-100 in the life of a key.
        """
        self.left -= n
        self._encryptor.reset_nonce(_system_bytes(16))
        if n <= _COPIED:
            return self._encryptor.update(_zeros(8 * n))
        room = np.empty(n + _SLACK, np.uint64)
        self._encryptor.update_into(_ZEROS[: 8 * n], room.view(np.uint8).data)
        return room[:n]


class SystemBits:
    """Words of AES-256-CTR, keyed and re-keyed by the operating system. Threads, forks and snapshots are safe.

    A few words come from the operating system itself. For more, a call takes a keystream out of a pool and puts it
    back when done. So no two callers ever hold the same one (threads, signal handlers), no lock can be left locked by
    a fork, and a stream that crossed into another process is thrown away. Each call starts at a fresh random place of
    its keystream: a virtual machine that is resumed twice from one snapshot does not draw the same words twice, but
    for those of a call that was under way. So it is with a fork from a signal handler, in the middle of a release:
    both processes may then end that one release, with the same values and the same noise, and no other.

    >>> SystemBits().words(3).dtype
    dtype('uint64')
    """

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: deque[_Stream] = deque()

    def words(self, n: int) -> Words:
        """Return the next n words, as an array of uint64 that nobody else holds."""
        if 0 <= n <= _FEW:
            try:
                return system_words(n)
            except (OSError, NotImplementedError):
                raise BitsError(_NO_SYSTEM) from None
        words = self.raw(n)
        return words_from_bytes(words) if isinstance(words, bytes) else words

    def raw(self, n: int) -> Words | bytes:
        """Return the next n words, as bytes where there are few: to make an array takes as long as to make a few words.

        >>> len(SystemBits().raw(3))
        24
        """
        if 0 <= n <= _FEW:
            return _system_bytes(8 * n)
        if n < 0:
            raise ParameterError(f"words(n) needs n of at least 0: got {n}.")
        if n <= _BLOCK:
            return self._take(n)
        while True:
            owner, words = current_process(), np.empty(n, np.uint64)
            for start in range(0, n, _BLOCK):
                part = words[start : start + _BLOCK]
                part[:] = np.frombuffer(self._take(len(part)), np.uint64)
            # A fork between two blocks leaves those before it in both processes: drop them.
            if owner == current_process():
                return words

    def _take(self, n: int) -> Words | bytes:
        """Return n words, at most one block, that no other process holds."""
        while True:
            try:
                stream = self._pool.pop()
            except IndexError:
                stream = _Stream()
            if stream.left >= n:
                words = stream.take(n)
                # A fork before this call leaves the stream in both processes, and one during it (from a signal
                # handler) the words too: the child drops them.
                if stream.process == current_process():
                    self._pool.append(stream)
                    return words

    def __repr__(self) -> str:
        return "SystemBits()"

    def __reduce__(self) -> tuple[type[SystemBits], tuple[()]]:
        # A copy or a pickle carries no key: it starts anew.
        return SystemBits, ()


class Tape:
    """Chosen words, replayed and counted: for tests and proofs, never for a release.

    >>> tape = Tape([5, 7])
    >>> int(tape.words(1)[0]), tape.consumed
    (5, 1)
    """

    def __init__(self, words: Iterable[int]) -> None:
        try:
            self._words = np.fromiter((index(word) for word in words), np.uint64)
        except (TypeError, OverflowError):
            raise ParameterError("a tape must hold integers from 0 to 2^64 - 1, one for each word.") from None
        self.consumed = 0

    def words(self, n: int) -> Words:
        """Return the next n words. When fewer are left the tape is used up and TapeEnded is raised."""
        if n < 0:
            raise ParameterError(f"words(n) needs n of at least 0: got {n}.")
        start, self.consumed = self.consumed, min(self.consumed + n, len(self._words))
        if start + n > len(self._words):
            raise TapeEnded(f"the tape ended: {start} words were read, {n} more asked, {len(self._words)} there.")
        return self._words[start : start + n].copy()

    def __repr__(self) -> str:
        return f"<Tape: {self.consumed} of {len(self._words)} words consumed>"


class ReadAhead:
    """Words that were read ahead, each once, and then those of the source that they came from.

    >>> ahead = ReadAhead(np.array([5, 7], np.uint64), Tape([9]))
    >>> ahead.words(1), ahead.words(2)
    (array([5], dtype=uint64), array([7, 9], dtype=uint64))
    """

    def __init__(self, words: Words, source: Bits) -> None:
        self._words = words
        self._source = source

    def words(self, n: int) -> Words:
        """Return the next n words."""
        first, self._words = self._words[:n].copy(), self._words[n:]
        more = n - len(first)
        return np.concatenate((first, read_words(self._source, more))) if more else first
