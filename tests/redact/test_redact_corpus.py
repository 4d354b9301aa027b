"""Redaction on real session files: what is planted is found, what is there already stays."""

from __future__ import annotations

import random
import string
from collections import Counter
from pathlib import Path

from passdown.redact.scan import Redactor

LIMIT = 300_000
ALNUM = string.ascii_letters + string.digits


def texts(corpus: Path) -> list[str]:
    files = sorted(path for path in corpus.rglob("*") if path.suffix in (".jsonl", ".json", ".md", ".traj"))
    return [path.read_text("utf-8", "replace")[:LIMIT] for path in files]


def test_hardly_anything_is_found_in_redacted_logs(corpus: Path) -> None:
    counts: Counter[str] = Counter()
    size = 0
    for text in texts(corpus):
        redactor = Redactor()
        redactor.text(text)
        counts.update(redactor.counts)
        size += len(text)
    assert size > 10_000_000
    assert sum(counts.values()) <= 40, counts


def test_planted_tokens_are_found(corpus: Path) -> None:
    dice = random.Random(11)
    for text in texts(corpus)[::6]:
        spaces = [place for place, character in enumerate(text) if character == " "]
        if len(spaces) < 100:
            continue
        parts, position, planted = [], 0, []
        for place in sorted(dice.sample(spaces, 20)):
            drawn = "".join(dice.choices(ALNUM, k=40))
            token = dice.choice(("gh" + "p_", "gl" + "pat-", "np" + "m_", "h" + "f_", "sk" + "-ant-", "dop" + "_v1_"))
            token += drawn.encode().hex()[:64] if token.startswith("dop") else drawn[:36]
            planted.append(token)
            parts += [text[position : place + 1], token, " "]
            position = place + 1
        clean = Redactor().text("".join([*parts, text[position:]]))
        assert not [token for token in planted if token in clean or token[-12:] in clean]
