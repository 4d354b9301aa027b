"""What an agent's last message says about what comes next: one sentence of it, found by its form alone."""

from __future__ import annotations

from passdown.evidence.output import compiled, one_line

MAX_STEP = 300

_FENCE = r"(?s)```.*?(?:```|\Z)"
_PARAGRAPHS = r"\n\s*\n"
_SENTENCE = r"(?<=[.!?。！？])(?<!\d\.)\s+|\n+"
_ITEM = r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s+|\||[`*]*★|::)"
_MARKUP = r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s+|\[[ xX]\]\s+)*"
_BOLD = r"(?<![\w*])\*\*([^*\s](?:[^*\n]{0,400}[^*\s])?)\*\*(?![\w*])"
_NEXT = (
    r"(?i)^(?:\W*)(?:the )?(?:next(?: steps?| up| action| thing)?\b|remaining\b|still (?:to do|open|needed)\b"
    r"|to ?dos?(?=\W*$|:)|ready (?:for|to)\b|下一步|接下来)"
)
_WILL = (
    r"(?i)^(?:\W*)(?:(?:now|then|so|ok(?:ay)?|first|good|great|perfect)[,!.]?\s+)?(?:now\s+)?"
    r"(?:i(?:'|’)?ll\b|i will\b|i(?:'|’)m (?:now )?(?:going to|\w+ing)\b|i am (?:now )?(?:going to|\w+ing)\b|let me\b"
    r"|let(?:'|’)s\b|i need to\b|i should\b|we (?:need|should|can now)\b|i(?:'|’)m going\b|我(?:来|将|现在|接下来))"
)
_INLINE = (
    r"(?i)\b(?:next(?:[,:]| i(?:'|’)?ll| i will)|i(?:'|’)ll\b|i will\b|let me\b|going to\b|now i(?:'|’)m\b"
    r"|(?:is|are) ready (?:for|to)\b)"
)
_OFFER = (
    r"(?i)^\W*(?:if you(?:(?:'|’)d| would)? (?:want|like|prefer|rather|wish|need)|let me know|"
    r"(?:would|do) you (?:want|like)|want me to|shall i|should i|"
    r"is there anything|anything else|feel free|happy to|(?:i(?:'|’)m )?ready when you|what(?:(?:'|’)s| is) next\b|"
    r"(?:once|as soon as) you (?:provide|share|tell|give|send|let|confirm|decide|describe|reply|answer)\b|"
    r"i(?:'|’)m (?:standing by|here (?:to|if|for|when)|ready to (?:help|assist)|happy|glad)\b|"
    r"which (?:would|one|do|option)|just (?:say|let|tell)|say the word|enjoy\b)"
)
"""Courtesies that end a message: they leave the next step to the reader."""
_SUBMITS = (
    r"(?i)\bsubmi(?:t|ts|tting|tted|ssion)\b|\bconfirm(?:s|ed|ing)?\b.{0,30}\bcompletion\b|^final confirmation\W*$"
    r"|^(?:the )?task (?:is )?(?:now |already )?completed?\W*$|^no further actions? (?:is |are )?needed\W*$"
)
_LABEL = r"^(?:Analysis|Plan|Thought|THOUGHT|Reasoning): +(?=\S)"
"""What some harnesses have their models put before each part of an answer."""
_AGREES = (
    r"^\W*(?:you(?:(?:'|’)re| were| are) (?:absolutely |completely |quite )?right\b"
    r"|(?:good|great|nice) (?:catch|point|question|find)\b)"
)
"""Courtesies that begin one."""
_OWED = (
    r"(?i)\b(?:still|only) (?:needs?|has to|have to|must)\b|\bneeds? to be \w+ed\b|\bremains? to be\b"
    r"|\bha(?:s|ve) not (?:yet )?been\b"
)
_OPEN = (
    r"(?i)\b(?:still(?! (?:available|there|in place|valid|usable|supported|possible)\b)|not yet|remains?|needs?|until"
    r"|fails?|missing|pending|unless|only|but)\b|还|尚未|仍"
)
"""Words of a sentence about what is not done."""


def next_step(text: str) -> tuple[str, int]:
    """Return the sentence that says what comes next, and what was cut off it.

    Without one: what the closing paragraph still misses, else the sentence that stands for the whole message.
    """
    clean = compiled(_FENCE).sub("\n", text)
    sentences = [stripped for piece in compiled(_SENTENCE).split(clean) if (stripped := _plain(piece))]
    for phrase, search in ((_NEXT, False), (_WILL, False), (_INLINE, True)):
        pattern = compiled(phrase)
        for index in range(len(sentences) - 1, -1, -1):
            found = pattern.search(sentences[index]) if search else pattern.match(sentences[index])
            told_here = phrase != _NEXT and sentences[index].endswith((":", "：")) and index + 1 < len(sentences)
            if found and not told_here and not _leaves_it_open(sentences[index]):
                return _capped(_with_item(sentences, index))
    return _capped(_standing_alone(clean))


def closing_words(text: str) -> str:
    """Return what an agent said with the call that handed its work in, without the sentences that announce it."""
    clean = compiled(_FENCE).sub("\n", text).strip()
    while clean:
        start = max((found.end() for found in compiled(_SENTENCE).finditer(clean)), default=0)
        sentence = _plain(clean[start:])
        announces = (
            sentence.endswith((":", "：")) or compiled(_WILL).match(sentence) or compiled(_SUBMITS).search(sentence)
        )
        if sentence and not announces:
            return clean
        clean = clean[:start].rstrip()
    return ""


def _standing_alone(clean: str) -> str:
    """Return the sentence that best stands for a message which announces nothing.

    That is what its closing paragraph still misses, else how it opens, else any sentence at all.
    """
    paragraphs = [paragraph.lstrip("\n") for paragraph in compiled(_PARAGRAPHS).split(clean) if paragraph.strip()]
    prose = [paragraph for paragraph in paragraphs if not compiled(_ITEM).match(paragraph)]
    for paragraph in reversed(prose[-1:] if paragraphs[-1:] == prose[-1:] else []):
        if owed := _owed(paragraph):
            return owed
        sentence = _first(paragraph)
        if sentence and compiled(_OPEN).search(sentence):
            return sentence
    opening = prose[:1] if prose[:1] == paragraphs[:1] else []
    found = next(filter(None, map(_first, (*opening, *prose[::-1], *paragraphs))), "")
    said = (sentence for sentence in map(_plain, compiled(_SENTENCE).split(clean)) if says_something(sentence))
    return found or next((sentence for sentence in said if not compiled(_OFFER).match(sentence)), "")


def _owed(paragraph: str) -> str:
    """Return a paragraph's last sentence that says what still has to be done, empty when none does."""
    said = [_plain(piece) for piece in compiled(_SENTENCE).split(paragraph)]
    return next((sentence for sentence in reversed(said) if compiled(_OWED).search(sentence)), "")


def _first(paragraph: str) -> str:
    """Return a paragraph's first sentence that can stand alone, empty when it only leads to a list."""
    for piece in compiled(_SENTENCE).split(paragraph):
        sentence = _plain(piece)
        if sentence.endswith((":", "：")) or compiled(_ITEM).match(piece):
            return ""
        if says_something(sentence, 3) and not compiled(f"{_OFFER}|{_AGREES}").match(sentence):
            return sentence
    return ""


def says_something(sentence: str, words: int = 4) -> bool:
    """Say whether a sentence can stand alone: not `Done.`, not `Created:`, not a table row, not a line drawn."""
    if sentence.endswith((":", "：")) or sentence.startswith(("|", "::", "---", "```")):
        return False
    if 3 * sum(map(str.isalnum, sentence)) < len(sentence):
        return False
    return (
        sum(any(map(str.isalnum, word)) for word in sentence.split()) >= words
        or len(sentence.encode()) - len(sentence) >= 16
    )


def _leaves_it_open(sentence: str) -> bool:
    return sentence.endswith(("?", "？")) or compiled(_OFFER).match(sentence) is not None


def _plain(piece: str) -> str:
    """Take list marks and emphasis away: bold wherever it is, italics only where they surround the whole."""
    stripped = compiled(_BOLD).sub(r"\1", compiled(_MARKUP).sub("", piece).strip())
    stripped = compiled(_LABEL).sub("", stripped)
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
