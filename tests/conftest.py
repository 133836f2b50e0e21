"""Every run is the same run: Hypothesis derives its examples from the test, never from the clock or a database."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "lastbit",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lastbit")
