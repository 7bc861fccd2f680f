"""The corpus of `language_model`: this book's own English prose, frozen in experiments/data/.

    python -m experiments.corpus freeze      # write corpus.txt anew from content/*/en.md

Freezing makes the records of language_model and transformer_update stale: they say so themselves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "experiments" / "data" / "corpus.txt"
REFERENCE = frozenset({"about", "cases", "glossary", "home", "records", "sources"})
SPECIALS = ("<pad>", "<bos>", "<eos>")
NUM_MERGES = 128
HELD_OUT_FRACTION = 0.1
WINDOW = 96
TAIL = 40
NUM_WINDOWS = 4

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_FENCE = re.compile(r"^```.*?^```$\n?", re.S | re.M)
_DISPLAY = re.compile(r"\$\$.*?\$\$", re.S)
_MATH_BLOCK = re.compile(r"^:::+\{math\}.*?^:::+$\n?", re.S | re.M)
_DIRECTIVE = re.compile(r"^:{3,}.*$\n?|^:[a-z_]+:.*$\n?|^\{#[^}]*\}$\n?|^\|.*$\n?", re.M)
_BOUND = re.compile(r"\{(?:calc|record|cite|eq)\}`[^`]*`")
_NAMED = re.compile(r"\{(?:term|chapter)\}`([^`<]*?)(?:\s*<[^>]*>)?`")
_SPACES = re.compile(r"[ \t]+")


def prose(markdown: str) -> str:
    """The running text of a chapter: no front matter, code, display formulas, roles or options."""
    text = _FRONT.sub("", markdown)
    for pattern in (_FENCE, _MATH_BLOCK, _DISPLAY, _DIRECTIVE):
        text = pattern.sub("", text)
    text = _NAMED.sub(r"\1", _BOUND.sub("", text))
    text = text.replace("**", "").replace("`", "").replace("{", "").replace("}", "")
    lines = [_SPACES.sub(" ", line).strip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def freeze(target: Path = CORPUS) -> str:
    """Write the corpus from every English chapter, in the order of their folders' names."""
    pages = [page for page in sorted((ROOT / "content").glob("*/en.md"))
             if page.parent.name not in REFERENCE]  # fmt: skip
    text = "\n".join(prose(page.read_text("utf-8")) for page in pages)
    target.write_text(text, "utf-8")
    return text


def train_tokenizer(text: str) -> Tokenizer:
    """A byte-level BPE of 256 bytes, 128 merges and 3 specials: 387 tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + NUM_MERGES + len(SPECIALS),
        special_tokens=list(SPECIALS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def tokens(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int]]:
    """Token ids of the text: the training part and the held-out end."""
    ids = tokenizer.encode(text).ids
    cut = round(len(ids) * (1 - HELD_OUT_FRACTION))
    return ids[:cut], ids[cut:]


def windows(held_out: Sequence[int]) -> list[list[int]]:
    """Three windows of 96 positions and a short tail one, with the label that follows each."""
    full = [list(held_out[i * (WINDOW + 1) : (i + 1) * (WINDOW + 1)]) for i in range(3)]
    return [*full, list(held_out[-(TAIL + 1) :])]


if __name__ == "__main__":
    if sys.argv[1:] != ["freeze"]:
        sys.exit("usage: python -m experiments.corpus freeze")
    print(f"{CORPUS}: {len(freeze())} characters")
