"""What people and agents said: directives verbatim, refusals, the agent's last stated step, the harness's summaries."""

from __future__ import annotations

import re
from collections import deque

from passdown.evidence.output import compiled, one_line
from passdown.model.evidence import Directive, Rejection, Source, Statement
from passdown.model.session import AssistantMessage, Compaction, UserMessage

MAX_DIRECTIVE = 600
MAX_SUMMARY = 4000
MAX_STATEMENT = 600
MAX_STEP = 300
FIRST_DIRECTIVES = 5
LAST_DIRECTIVES = 35
MAX_REJECTIONS = 20
MAX_SUMMARIES = 4
MAX_STATEMENTS = 8
_SAID = 8000
GAP = "\n[…]\n"


def cut_middle(text: str, limit: int) -> tuple[str, int]:
    """Return a text cut to `limit` characters in its middle, and how many characters are missing."""
    if len(text) <= limit:
        return text, 0
    room = limit - len(GAP)
    head = room - room // 3
    return text[:head] + GAP + text[len(text) - room // 3 :], len(text) - room


class Words:
    """Collects what was said in all sessions, bounded by caps."""

    def __init__(self) -> None:
        self.omitted: dict[str, int] = {}
        self._first: list[Directive] = []
        self._latest: deque[Directive] = deque(maxlen=LAST_DIRECTIVES)
        self._directives = 0
        self._rejections: deque[Rejection] = deque(maxlen=MAX_REJECTIONS)
        self._rejected = 0
        self._summaries: deque[Statement] = deque(maxlen=MAX_SUMMARIES)
        self._summarised = 0
        self._statements: deque[Statement] = deque(maxlen=MAX_STATEMENTS)
        self._closed = 0
        self._said: tuple[str, AssistantMessage, Source] | None = None
        self._tentative: tuple[str, AssistantMessage, Source] | None = None
        self._about_own = False

    def _omit(self, name: str, count: int = 1) -> None:
        if count > 0:
            self.omitted[name] = self.omitted.get(name, 0) + count

    def user(self, event: UserMessage, source: Source) -> bool:
        """Take a message in the user's role; returns True when it is a directive."""
        if event.agent_id or event.origin != "human":
            if event.origin == "queued":
                self._omit("directives_queued")
            return False
        self._close_turn()
        if not event.active:
            self._omit("directives_rewound")
            return False
        text = event.text.strip("\r\n")
        if not text.strip():
            return False
        kept, cut = cut_middle(text, MAX_DIRECTIVE)
        directive = Directive(text=kept, at=event.at, cut=cut, source=source)
        self._directives += 1
        if len(self._first) < FIRST_DIRECTIVES:
            self._first.append(directive)
        else:
            self._latest.append(directive)
        return True

    def assistant(self, event: AssistantMessage, source: Source) -> None:
        """Take what the main agent said. What it says about passdown's own commands is not about the work."""
        if event.agent_id or event.reasoning or not event.active or self._about_own or not event.text.strip():
            return
        self._tentative = (event.text[-_SAID:], event, source)

    def acted(self, *, own: bool) -> None:
        """Take note that the agent called a tool; `own` when the tool ran passdown itself."""
        if own:
            self._tentative = None
        else:
            self._settle()
        self._about_own = own

    def _settle(self) -> None:
        if self._tentative is not None:
            self._said, self._tentative = self._tentative, None

    def _close_turn(self) -> None:
        """A human speaks: what the agent said last was its closing word."""
        closing = self._tentative
        self._settle()
        self._about_own = False
        if closing is not None:
            text, event, source = closing
            kept, cut = cut_middle(text.strip(), MAX_STATEMENT)
            self._closed += 1
            self._statements.append(Statement(text=kept, by="agent", at=event.at, cut=cut, source=source))

    def end_session(self) -> None:
        """Take note that a session's log ends here."""
        self._close_turn()

    def compaction(self, event: Compaction, source: Source) -> None:
        """Take the harness's own summary; an encrypted or absent one is counted."""
        if event.micro or event.agent_id:
            return
        if not event.summary.strip():
            self._omit("harness_summaries_opaque")
            return
        kept, cut = cut_middle(event.summary.strip(), MAX_SUMMARY)
        self._summarised += 1
        self._summaries.append(Statement(text=kept, by="harness", at=event.at, cut=cut, source=source))

    def rejection(self, rejection: Rejection) -> None:
        """Take a refusal or an interruption. Its reason stays empty when none was given."""
        self._rejected += 1
        self._rejections.append(rejection)

    def directives(self) -> tuple[Directive, ...]:
        """Return the first directives and the newest ones; the count of the rest goes to `omitted`."""
        kept = (*self._first, *self._latest)
        self._omit("directives", self._directives - len(kept))
        return kept

    def rejections(self) -> tuple[Rejection, ...]:
        """Return the newest refusals."""
        self._omit("rejections", self._rejected - len(self._rejections))
        return tuple(self._rejections)

    def harness_summaries(self) -> tuple[Statement, ...]:
        """Return the newest summaries of compactions."""
        self._omit("harness_summaries", self._summarised - len(self._summaries))
        return tuple(self._summaries)

    def statements(self) -> tuple[Statement, ...]:
        """Return the agent's newest closing words of a turn."""
        self._omit("statements", self._closed - len(self._statements))
        return tuple(self._statements)

    def last_step(self) -> Statement | None:
        """Return the agent's last stated next step."""
        self._settle()
        if self._said is None:
            return None
        text, event, source = self._said
        step, cut = next_step(text)
        return Statement(text=step, by="agent", at=event.at, cut=cut, source=source) if step else None


_FENCE = r"(?s)```.*?(?:```|\Z)"
_SENTENCE = r"(?<=[.!?。！？])(?<!\d\.)\s+|\n+"
_MARKUP = r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s+|\[[ xX]\]\s+)*"
_NEXT = (
    r"(?i)^(?:\W*)(?:the )?(?:next(?: steps?| up| action| thing)?\b|remaining\b|still (?:to do|open|needed)\b|to ?do\b"
    r"|下一步|接下来)"
)
_WILL = (
    r"(?i)^(?:\W*)(?:(?:now|then|so|ok(?:ay)?|first|good|great|perfect)[,!.]?\s+)?(?:now\s+)?"
    r"(?:i(?:'|’)?ll\b|i will\b|i(?:'|’)m (?:now )?(?:going to|\w+ing)\b|i am (?:now )?(?:going to|\w+ing)\b|let me\b"
    r"|let(?:'|’)s\b|i need to\b|i should\b|we (?:need|should|can now)\b|i(?:'|’)m going\b|我(?:来|将|现在|接下来))"
)
_INLINE = r"(?i)\b(?:next(?:,| i(?:'|’)?ll| i will)|i(?:'|’)ll\b|i will\b|let me\b|going to\b|now i(?:'|’)m\b)"


def next_step(text: str) -> tuple[str, int]:
    """Return the sentence that says what comes next, else the last paragraph's first one; and what was cut off it."""
    clean = compiled(_FENCE).sub("\n", text)
    sentences = [stripped for piece in compiled(_SENTENCE).split(clean) if (stripped := _plain(piece))]
    if not sentences:
        return "", 0
    for phrase, search in ((_NEXT, False), (_WILL, False), (_INLINE, True)):
        pattern = compiled(phrase)
        for index in range(len(sentences) - 1, -1, -1):
            found = pattern.search(sentences[index]) if search else pattern.match(sentences[index])
            if found:
                return _capped(_with_item(sentences, index))
    for paragraph in reversed(re.split(r"\n\s*\n", clean)):
        for piece in compiled(_SENTENCE).split(paragraph):
            sentence = _plain(piece)
            if _says_something(sentence):
                return _capped(sentence)
    return "", 0


def _says_something(sentence: str) -> bool:
    """Say whether a sentence can stand alone: not `Done.`, not `Created:`, not a table row."""
    if sentence.endswith((":", "：")) or sentence.startswith(("|", "::", "---", "```")):
        return False
    return len(sentence.split()) >= 4 or len(sentence.encode()) - len(sentence) >= 16


def _plain(piece: str) -> str:
    return compiled(_MARKUP).sub("", piece).strip().strip("*_").strip()


def _with_item(sentences: list[str], index: int) -> str:
    """A heading such as `Next steps:` says nothing without the item under it."""
    sentence = sentences[index]
    if len(sentence.rstrip(":* ").split()) <= 3 and index + 1 < len(sentences):
        return f"{sentence.rstrip(':* ')}: {sentences[index + 1]}"
    return sentence


def _capped(sentence: str) -> tuple[str, int]:
    line = " ".join(sentence.split())
    return one_line(line, MAX_STEP), max(0, len(line) - MAX_STEP)
