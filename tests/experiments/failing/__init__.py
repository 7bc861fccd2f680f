"""Experiments that go wrong on purpose, each in one way; `works` is the one that does not."""
