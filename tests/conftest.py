"""Every run is the same run, and every run ends.

Hypothesis derives its examples from the test, never from the clock or a database. Where lastbit raises its
precision until a floor is certain, a loop that would go on for ever fails here instead.
"""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from lastbit.audit import verdict
from lastbit.audit.broken import gallery
from lastbit.chance import inversion
from lastbit.exact import rounding
from tests.processes import environment

settings.register_profile(
    "lastbit",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lastbit")

ENOUGH_BITS = 1 << 14
"""More than any tape or parameter of these tests can need."""


@pytest.fixture(scope="session", autouse=True)
def loops_end() -> Iterator[None]:
    def bounded(function: Callable[..., Any]) -> Callable[..., Any]:
        def checked(first: Any, second: Any, bits: int) -> Any:
            assert bits <= ENOUGH_BITS, f"{function.__name__} was asked for {bits} bits: this loop may never end"
            return function(first, second, bits)

        return checked

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(inversion, "power", bounded(inversion.power))
        changed.setattr(rounding, "exp_bounds", bounded(rounding.exp_bounds))
        yield


_LAWS: dict[tuple[Any, ...], Any] = {}


@pytest.fixture
def laws_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Several tests hear the whole gallery, in one group: each of its laws is computed once."""
    compute = gallery.law

    def once(program: Any, tolerance: Any = gallery.TOLERANCE, **limits: Any) -> Any:
        key = program, tolerance
        if key not in _LAWS:
            _LAWS[key] = compute(program, tolerance, **limits)
        return _LAWS[key]

    monkeypatch.setattr(gallery, "law", once)
    monkeypatch.setattr(verdict, "law", once)
    return once


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """One Spark in local mode for the whole run: a Java machine takes seconds to start."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "ERROR")
    # A short life: compile little, and collect with one thread.
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    needed = {name: os.environ[name] for name in ("JAVA_HOME", "SPARK_LOCAL_IP") if name in os.environ}
    # PySpark hands its whole environment on to Java, and Java to the workers.
    with patch.dict(os.environ, environment(PYSPARK_PYTHON=sys.executable, **needed), clear=True):
        session = builder.getOrCreate()
    yield session
    session.stop()
