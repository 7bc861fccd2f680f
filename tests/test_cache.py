"""The cache of texts: many keys at once, whole writes, and a damaged file replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cache import TextCache, content_key


def test_what_is_put_is_got_and_the_rest_is_left_out(tmp_path: Path) -> None:
    cache = TextCache(tmp_path / "deep" / "texts.sqlite")
    texts = {content_key(index): f"词元 {index}" for index in range(1200)}
    cache.put_many(texts)
    assert cache.get_many([*texts, "absent", *texts]) == texts


def test_a_key_depends_on_values_and_not_on_the_order_of_fields() -> None:
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key(1) != content_key("1")


def test_a_number_that_is_not_finite_has_no_key() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_key(float("nan"))


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "texts.sqlite"
    path.write_bytes(b"this is no database" * 100)
    cache = TextCache(path)
    assert cache.get_many(["key"]) == {}
    cache.put_many({"key": "value"})
    assert cache.get_many(["key"]) == {"key": "value"}


def test_a_write_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    cache = TextCache(tmp_path / "texts.sqlite")
    with pytest.raises(Exception, match="type"):
        cache.put_many({"first": "text", "second": object()})  # type: ignore[dict-item]
    assert cache.get_many(["first", "second"]) == {}
