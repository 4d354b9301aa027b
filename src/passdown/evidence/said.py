"""What an agent's last message says about what comes next: one sentence of it, found by its form alone."""

from __future__ import annotations

import re

from passdown.evidence.output import compiled, one_line

MAX_STEP = 300

_FENCE = r"(?s)```.*?(?:```|\Z)"
_SENTENCE = r"(?<=[.!?。！？])(?<!\d\.)\s+|\n+"
_ITEM = r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s+|\||★|::)"
_MARKUP = r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s+|\[[ xX]\]\s+)*"
_NEXT = (
    r"(?i)^(?:\W*)(?:the )?(?:next(?: steps?| up| action| thing)?\b|remaining\b|still (?:to do|open|needed)\b|to ?do\b"
    r"|ready (?:for|to)\b|下一步|接下来)"
)
_WILL = (
    r"(?i)^(?:\W*)(?:(?:now|then|so|ok(?:ay)?|first|good|great|perfect)[,!.]?\s+)?(?:now\s+)?"
    r"(?:i(?:'|’)?ll\b|i will\b|i(?:'|’)m (?:now )?(?:going to|\w+ing)\b|i am (?:now )?(?:going to|\w+ing)\b|let me\b"
    r"|let(?:'|’)s\b|i need to\b|i should\b|we (?:need|should|can now)\b|i(?:'|’)m going\b|我(?:来|将|现在|接下来))"
)
_INLINE = (
    r"(?i)\b(?:next(?:,| i(?:'|’)?ll| i will)|i(?:'|’)ll\b|i will\b|let me\b|going to\b|now i(?:'|’)m\b"
    r"|(?:is|are) ready (?:for|to)\b)"
)
_OFFER = (
    r"(?i)^\W*(?:if you(?:(?:'|’)d| would)? (?:want|like|prefer|rather|wish|need)|let me know|"
    r"(?:would|do) you (?:want|like)|want me to|shall i|should i|"
    r"is there anything|anything else|feel free|happy to|(?:i(?:'|’)m )?ready when you|"
    r"which (?:would|one|do|option)|just (?:say|let|tell)|say the word|enjoy\b)"
)
"""Courtesies that end a message: they leave the next step to the reader."""


def next_step(text: str) -> tuple[str, int]:
    """Return the sentence that says what comes next, and what was cut off it.

    Without one: the first sentence of a closing paragraph of prose, else the message's own first sentence.
    """
    clean = compiled(_FENCE).sub("\n", text)
    sentences = [stripped for piece in compiled(_SENTENCE).split(clean) if (stripped := _plain(piece))]
    for phrase, search in ((_NEXT, False), (_WILL, False), (_INLINE, True)):
        pattern = compiled(phrase)
        for index in range(len(sentences) - 1, -1, -1):
            found = pattern.search(sentences[index]) if search else pattern.match(sentences[index])
            if found and not _leaves_it_open(sentences[index]):
                return _capped(_with_item(sentences, index))
    return _capped(_standing_alone(clean))


def _standing_alone(clean: str) -> str:
    """Return the sentence that best stands for a message which announces nothing."""
    paragraphs = [paragraph for paragraph in re.split(r"\n\s*\n", clean) if paragraph.strip()]
    prose = [paragraph for paragraph in paragraphs[-2:] if not compiled(_ITEM).match(paragraph.lstrip("\n"))]
    for paragraph in (*reversed(prose), *paragraphs):
        for piece in compiled(_SENTENCE).split(paragraph):
            sentence = _plain(piece)
            if says_something(sentence) and not compiled(_OFFER).match(sentence):
                return sentence
    return ""


def says_something(sentence: str) -> bool:
    """Say whether a sentence can stand alone: not `Done.`, not `Created:`, not a table row, not a line drawn."""
    if sentence.endswith((":", "：")) or sentence.startswith(("|", "::", "---", "```")):
        return False
    if 3 * sum(map(str.isalnum, sentence)) < len(sentence):
        return False
    return len(sentence.split()) >= 4 or len(sentence.encode()) - len(sentence) >= 16


def _leaves_it_open(sentence: str) -> bool:
    return sentence.endswith(("?", "？")) or compiled(_OFFER).match(sentence) is not None


def _plain(piece: str) -> str:
    """Take list marks and emphasis away: bold and italics only where they surround the whole or stand unpaired."""
    stripped = compiled(_MARKUP).sub("", piece).strip()
    if stripped.count("**") % 2:
        stripped = stripped.replace("**", "")
    return stripped.strip().strip("*_").strip()


def _with_item(sentences: list[str], index: int) -> str:
    """A heading such as `Next steps:` says nothing without the item under it."""
    sentence = sentences[index]
    if len(sentence.rstrip(":* ").split()) <= 3 and index + 1 < len(sentences):
        return f"{sentence.rstrip(':* ')}: {sentences[index + 1]}"
    return sentence


def _capped(sentence: str) -> tuple[str, int]:
    line = " ".join(sentence.split())
    return one_line(line, MAX_STEP), max(0, len(line) - MAX_STEP)
