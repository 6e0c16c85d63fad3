"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import settings

# Timings of a shared machine say nothing about correctness, and a failure must come back on the next run.
settings.register_profile("default", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("default")
