"""Made-up wikis of any size: bilingual chapters with formulas, calculators and bindings."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from pipeline.parse import text_digest
from tests.wikis import WIKI

FORMULAS = 8
WORDS = (
    "rank step loss update gradient token batch mean sum shard replica process normalizer of the a "
    "each every one two when then is was and or not before after between inside over under"
).split()
CALCULATORS = ("two_replica_ledger", "clip_vector", "lr_schedule", "metric_reduction")
COPIED = ("sources", "glossary", "records", "about")
TABLES = ("glossary.toml", "sources.toml", "locales.toml")
HEAD = """---
title: {title}
question: What does ${symbol}$ become in chapter {number}?
checks:
  - that $N_{{{number}}}$ is counted once
  - that a {{term}}`rank` knows it
mistake: "{{calc}}`two_replica_ledger.implemented_gradient .1f`"
mistake_label: gradient at the defaults
{follows}---
"""
BODY = """
{{#situation}}
## Situation {number}

{prose}

{{#run}}
## Run

Two ranks hold {{calc}}`two_replica_ledger(counts=[1, {count}]).total_count d` tokens, and the run
gave {{record}}`tiny.gloo results.sum.total .1f`. Before this: {{chapter}}`{previous}`.

:::{{calculator}} {calculator}
:id: machine
Change it.
:::

:::{{math}}
:label: main
{symbol} = \\frac{{S_{{{number}}}}}{{N_{{{number}}}}}
:::

By {{eq}}`main` it is so.

{{#limits}}
## Limits

{more}

{{#checklist}}
## Checklist

:::{{check}}
- Count once in chapter {number}.
:::

{{#exercises}}
## Exercises

{exercises}
{{#sources}}
## Sources

As {{cite}}`manual` says.
"""
EXERCISE = """::::{{exercise}} ex-{number}
:answer: two_replica_ledger(counts=[{number}, 3]).total_count
How many tokens?
:::{{answer}}
{number} and three.
:::
::::
"""


def slug_of(number: int) -> str:
    """The slug of the chapter with this number, from 1."""
    return f"chapter-{number}"


def formula(number: int, index: int) -> str:
    """A formula that is in no other place of the wiki."""
    shapes = (
        rf"\sum_{{r=1}}^{{{index + 2}}} w_r g_{{r,{number}}}",
        rf"\frac{{a_{{{number}}} + {index}}}{{b_{{{index}}}}}",
        rf"\sqrt{{x_{{{number}}}^2 + {index}}}",
        rf"\lVert g_{{{number}}} \rVert_2 \le c_{{{index}}}",
    )
    return shapes[index % len(shapes)]


def prose(number: int, salt: str, formulas: range) -> str:
    """Paragraphs of made-up words, one formula in each; equal for equal arguments."""
    chance = random.Random(f"{number} {salt}")
    return "\n\n".join(
        f"{' '.join(chance.choices(WORDS, k=40)).capitalize()} ${formula(number, index)}$ "
        f"{' '.join(chance.choices(WORDS, k=20))}."
        for index in formulas
    )


def chapter(number: int, language: str, follows: str = "") -> str:
    """The text of a chapter; both languages hold the same formulas, bindings and ids."""
    symbol = rf"L_{{{number}}}"
    name = "Chapter" if language == "en" else "第几章"
    values = {
        "title": f"{name} {number}",
        "number": number,
        "symbol": symbol,
        "follows": f"follows: {follows}\n" if follows else "",
        "count": number % 97 + 2,
        "calculator": CALCULATORS[number % len(CALCULATORS)],
        "previous": slug_of(max(1, number - 1)),
        "prose": prose(number, language, range(FORMULAS // 2)),
        "more": prose(number, f"{language} more", range(FORMULAS // 2, FORMULAS)),
        "exercises": "\n".join(EXERCISE.format(number=index) for index in (1, 2, 3)),
    }
    return HEAD.format(**values) + BODY.format(**values)


def plain(number: int, language: str, follows: str = "") -> str:
    """The same without calculators, records and bindings: what other builders can build, too."""
    text = chapter(number, language, follows)
    head, _, rest = text.partition("\n---\n")
    head = re.sub(r"\nmistake(_label)?: .*", "", head).replace("{term}`rank`", "rank")
    before, _, after = rest.partition("{#run}")
    _, _, after = after.partition("{#limits}")
    run = f"{{#run}}\n## Run\n\n$$\n{formula(number, 1)}\n$$\n\n{{#limits}}"
    after = re.sub(r":answer: .*\n", "", after).replace("{cite}`manual`", "the manual")
    return f"{head}\n---\n{before}{run}{after}"


def make(root: Path, chapters: int, text: Callable[..., str] = chapter) -> Path:
    """A wiki in `root` with so many chapters in each of two languages."""
    content = root / "content"
    content.mkdir(parents=True)
    for name in TABLES:
        shutil.copy(WIKI / "content" / name, content / name)
    for name in COPIED:
        shutil.copytree(WIKI / "content" / name, content / name)
    if text is chapter:
        shutil.copytree(WIKI / "experiments", root / "experiments")
        for name in ("experiments.toml", "recompute.toml"):
            shutil.copy(WIKI / "content" / name, content / name)
    listed = ", ".join(f'"{slug_of(number)}"' for number in range(1, chapters + 1))
    part = 'id = "all"\ntitle.en = "All"\ntitle.zh-cn = "全部"'
    (content / "summary.toml").write_text(f"[[part]]\n{part}\nchapters = [{listed}]\n", "utf-8")
    for number in range(1, chapters + 1):
        folder = content / slug_of(number)
        folder.mkdir()
        original = text(number, "en")
        (folder / "en.md").write_text(original, "utf-8")
        translation = text(number, "zh-cn", text_digest(original))
        (folder / "zh-cn.md").write_text(translation, "utf-8")
    return root
