"""The trained model: its corpus, tokenizer and tensors are what the record says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from experiments import corpus
from experiments.language_model import SETTINGS, batch, held_out_loss, parameters_sha256, vocabulary
from experiments.transformer import CONTEXT, NUM_PARAMETERS, Transformer
from tests.experiments.helpers import record

RECORD = record("language_model")
RESULTS = RECORD.results
TENSORS = corpus.ROOT / "experiments" / "records" / "language_model.gloo.safetensors"


@pytest.fixture(scope="module")
def model() -> Iterator[Transformer]:
    """The recorded model in float32, as it was trained."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    found = Transformer()
    tensors = load_file(TENSORS)
    names = [name for name, _ in found.named_parameters()]
    found.load_state_dict({name: tensors[name] for name in names})
    yield found
    torch.set_default_dtype(before)


def test_the_record_is_of_800_updates_of_298176_parameters() -> None:
    assert RESULTS["num_parameters"] == NUM_PARAMETERS
    assert (RESULTS["num_tensors"], RESULTS["steps"]) == (28, 800)
    assert len(RESULTS["losses"]) == 40
    assert RESULTS["held_out_loss"]["after"] < RESULTS["held_out_loss"]["before"] - 2
    assert RECORD.tensors is not None
    assert len(RECORD.tensors["names"]) == 3 * 28


def test_the_kept_weights_are_those_both_ranks_ended_with(model: Transformer) -> None:
    assert RESULTS["parameters_sha256"] == [parameters_sha256(model)] * 2


def test_the_kept_weights_give_the_recorded_held_out_loss(model: Transformer) -> None:
    text = corpus.CORPUS.read_text("utf-8")
    held_out = torch.tensor(corpus.tokens(corpus.train_tokenizer(text), text)[1])
    assert len(held_out) == RESULTS["tokens"]["held_out"]
    after = RESULTS["held_out_loss"]["after"]
    assert held_out_loss(model, held_out) == pytest.approx(after, rel=1e-5)


def test_the_tokenizer_is_trained_again_to_the_same_merges() -> None:
    text = corpus.CORPUS.read_text("utf-8")
    tokenizer = corpus.train_tokenizer(text)
    assert tokenizer.get_vocab_size() == 387
    assert vocabulary(tokenizer) == RESULTS["tokenizer"]
    assert tokenizer.decode(tokenizer.encode("AllReduce, 词元").ids) == "AllReduce, 词元"


def test_the_corpus_is_frozen() -> None:
    digest = hashlib.sha256(corpus.CORPUS.read_bytes()).hexdigest()
    assert RECORD.sources["experiments/data/corpus.txt"] == digest
    assert set(SETTINGS.files) <= set(RECORD.sources)


def test_windows_are_three_of_96_and_a_tail_of_40() -> None:
    rows = corpus.windows(range(1000))
    assert [len(row) - 1 for row in rows] == [96, 96, 96, 40]
    assert rows[1][0] == 97
    assert rows[3][-1] == 999


def test_labels_are_the_tokens_that_follow() -> None:
    tokens, labels = batch(torch.arange(300), torch.tensor([0, 50]))
    assert tokens.shape == labels.shape == (2, CONTEXT)
    assert torch.equal(labels, tokens + 1)


def test_prose_leaves_out_what_is_not_prose() -> None:
    page = (
        "---\ntitle: x\n---\n{#a}\n## Head\n\n"
        "A {term}`rank <rank>` has {calc}`x.y .2f` **now**.\n\n"
        "$$\ng = 1\n$$\n\n:::{calculator} infonce\n:id: a\nCaption.\n:::\n\n"
        "```python\ncode()\n```\n| a | b |\nEnd.\n"
    )
    assert corpus.prose(page) == "## Head\n\nA rank has now.\n\nCaption.\n\nEnd.\n"


def test_freezing_writes_every_chapter(tmp_path: Path) -> None:
    text = corpus.freeze(tmp_path / "corpus.txt")
    assert (tmp_path / "corpus.txt").read_text("utf-8") == text
    assert "{calc}" not in text
    assert "token" in text
