"""Benchmarks: `python -m tests.bench build`, `page` and `save`."""
