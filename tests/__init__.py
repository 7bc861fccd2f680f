"""Tests of Same Update."""
