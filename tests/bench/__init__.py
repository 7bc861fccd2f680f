"""Benchmarks: `python -m tests.bench build` and `python -m tests.bench page`."""
