"""The model's files for the page: the record's tensors, cut in two without a bit changed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import brotli
import numpy as np
import pytest

from calculators import transformer_data
from pipeline import model_data


@pytest.fixture(scope="module")
def files(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[bytes, dict[str, bytes]]]:
    """The data files, compressed once for all tests."""
    return model_data.data_files(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def placed(
    files: dict[str, tuple[bytes, dict[str, bytes]]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the files where the page puts them."""
    root = tmp_path_factory.mktemp("page")
    for name, (body, _) in files.items():
        path = root / model_data.PLACES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return root


def test_both_files_hold_the_record_tensor_by_tensor(placed: Path) -> None:
    whole = transformer_data.read_safetensors(transformer_data.WEIGHTS)
    weights = transformer_data.read_safetensors(placed / model_data.PLACES["weights"])
    state = transformer_data.read_safetensors(placed / model_data.PLACES["state"])
    assert len(weights) == 28
    assert len(state) == 56
    assert weights.keys() | state.keys() == whole.keys()
    for name, array in (weights | state).items():
        assert np.array_equal(array, whole[name]), name


def test_windows_and_token_texts_are_those_of_the_records(placed: Path) -> None:
    found = json.loads((placed / model_data.PLACES["windows"]).read_text("utf-8"))
    rows, texts = transformer_data.windows()
    assert (found["windows"], found["tokens"]) == ([list(row) for row in rows], list(texts))


def test_compressed_forms_unpack_to_the_same_bytes(
    files: dict[str, tuple[bytes, dict[str, bytes]]],
) -> None:
    for body, forms in files.values():
        assert brotli.decompress(forms["br"]) == body
        assert gzip.decompress(forms["gz"]) == body
    assert len(files["weights"][1]["br"]) < 1_200_000


def test_without_the_records_there_is_nothing_to_publish(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(transformer_data, "WEIGHTS", tmp_path / "absent")
    assert model_data.data_files(tmp_path) == {}
