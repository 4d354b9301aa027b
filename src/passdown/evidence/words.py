"""What people and agents said: directives verbatim, refusals, the agent's last stated step, the harness's summaries."""

from __future__ import annotations

from collections import deque
from typing import Literal

from passdown.evidence.output import compiled
from passdown.evidence.said import closing_words, next_step, says_something
from passdown.model.evidence import Answer, Directive, Rejection, Source, Statement
from passdown.model.session import AssistantMessage, Compaction, UserMessage

MAX_DIRECTIVE = 600
MAX_SUMMARY = 4000
MAX_STATEMENT = 600
FIRST_DIRECTIVES = 5
LAST_DIRECTIVES = 35
MAX_REJECTIONS = 20
MAX_ANSWERS = 20
MAX_SUMMARIES = 4
MAX_STATEMENTS = 8
_SAID = 8000
GAP = "\n[…]\n"
_OURS = r'(?m)^"?\[passdown\] '
_PADDING = r"(?<=\S)[ \t]{3,}(?=\S)"
_THOUGHT = r"(?s)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)"
"""What some models put among their words where the program between does not take it out."""
_CONTEXT = r"(?s)\A(?:\s*<([a-z][\w-]{0,40})>.*?(?:</\1>|\Z))+"
"""What a program puts before the words that an agent gives to its subagent."""
_INSTALLED = r"/[\w-]+:[\w:-]+\s+\S"
"""A command that no program has by itself (`/plan:phase 14`): what it is given is a wish, however short."""
_OWN = r"/?passdown\b"
"""A command of passdown's own is no wish for the work."""
_BRIEF_FILE = r'(?s)<file name="[^"\n]{0,4096}/passdown/launch/[^"\n]{0,200}">.*</file>\s*'


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
        self._answers: deque[Answer] = deque(maxlen=MAX_ANSWERS)
        self._answered = 0
        self._summaries: deque[Statement] = deque(maxlen=MAX_SUMMARIES)
        self._summarised = 0
        self._statements: deque[Statement] = deque(maxlen=MAX_STATEMENTS)
        self._closed = 0
        self._said: tuple[str, AssistantMessage, Source] | None = None
        self._tentative: tuple[str, AssistantMessage, Source] | None = None
        self._handed_in: tuple[str, AssistantMessage, Source] | None = None
        self._beside = ""
        self._done = False
        self._about_own = False
        self._stopped = False
        self._working = False
        self.cut_off = False
        self.turn_closed = False
        self.assignment: Statement | None = None

    def _omit(self, name: str, count: int = 1) -> None:
        if count > 0:
            self.omitted[name] = self.omitted.get(name, 0) + count

    def user(self, event: UserMessage, source: Source) -> bool:
        """Take a message in the user's role; returns True when it is a directive.

        That is what a person typed, the request a slash command was given, else the command itself where it stands for
        a prompt, and the plan a session was begun with.
        """
        if event.origin == "subagent" and not event.agent_id and self.assignment is None:
            told = compiled(_CONTEXT).sub("", event.text, count=1).strip()
            kept, cut = cut_middle(told, MAX_STATEMENT)
            self.assignment = Statement(text=kept, by="agent", at=event.at, cut=cut, source=source)
        command = _command_alone(event)
        if event.agent_id or not (command or _directs(event)):
            if event.origin == "queued":
                self._omit("directives_queued")
            return False
        self._close_turn()
        self._working = False
        if not event.active:
            self._omit("directives_rewound")
            return False
        text = command or own_words(event.text).strip("\r\n")
        if not text.strip():
            return False
        if len(text) > MAX_DIRECTIVE:  # what was copied from a screen is padded: blanks have to go before words
            text = compiled(_PADDING).sub("  ", text)
        kept, cut = cut_middle(text, MAX_DIRECTIVE)
        origin: Literal["human", "plan", "command"] = "command" if command else "human"
        origin = "plan" if event.origin == "plan" else origin
        self._direct(Directive(text=kept, at=event.at, cut=cut, source=source, origin=origin))
        return True

    def _direct(self, directive: Directive) -> None:
        """Keep a directive; one that a person stopped and put in other words counts once, as said last."""
        stopped, self._stopped = self._stopped, False
        kept = self._latest or self._first
        if stopped and kept and _reworded(kept[-1], directive):
            kept[-1] = directive
            self._omit("directives_resent")
            return
        self._directives += 1
        self.turn_closed = False
        if len(self._first) < FIRST_DIRECTIVES:
            self._first.append(directive)
        else:
            self._latest.append(directive)

    def assistant(self, event: AssistantMessage, source: Source) -> None:
        """Take what the main agent said. What it says about passdown's own commands is not about the work."""
        if event.agent_id or event.reasoning or not event.active or self._about_own:
            return
        if text := _aloud(event.text[-_SAID:]).strip():
            nod = not any(map(str.isalnum, text))  # closes the turn, and leaves what was said before standing
            self._settle()
            self._tentative = self._said if nod and self._said is not None else (text, event, source)

    def acted(self, *, own: bool, last: bool = False, call_id: str = "") -> None:
        """Take note that the agent called a tool; `own` when it ran passdown, `last` when it handed the work in."""
        if own:
            self._tentative = None
        elif last:
            self._handed_in = self._without_announcement() or self._handed_in
            self._tentative, self._said = self._handed_in, None
            self._working = False
            self.turn_closed = True
        else:
            if self._tentative is not None:
                self._beside, self._done = call_id, False
            self._settle()
            self._working = True
            self.turn_closed = False
        self._about_own = own

    def ended(self, call_id: str) -> None:
        """Take note that a call did what it was to do: the words beside it are no longer of what is to come."""
        self._done = self._done or (bool(call_id) and call_id == self._beside)

    def _without_announcement(self) -> tuple[str, AssistantMessage, Source] | None:
        """Return what was said right before the work was handed in, without the words that announced just that."""
        if self._tentative is None:
            return None
        text, event, source = self._tentative
        kept = closing_words(text)
        return (kept, event, source) if kept else None

    def _settle(self) -> None:
        if self._tentative is not None:
            self._said, self._tentative = self._tentative, None

    def _close_turn(self) -> None:
        """A human speaks: what the agent said last was its closing word."""
        closing = self._tentative
        if closing is not None:
            self._beside, self._done = "", False
        self._settle()
        self._handed_in = None
        self._about_own = False
        if closing is not None:
            text, event, source = closing
            kept, cut = cut_middle(text.strip(), MAX_STATEMENT)
            self._closed += 1
            self._statements.append(Statement(text=kept, by="agent", at=event.at, cut=cut, source=source))

    def end_session(self) -> None:
        """Take note that a session's log ends here; `cut_off` says that the agent had not closed its turn."""
        self.cut_off = self._working and self._tentative is None and not self._about_own
        self.turn_closed = self.turn_closed or self._tentative is not None
        self._working = False
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

    def rejection(self, rejection: Rejection, *, again: bool = False) -> None:
        """Take a refusal or an interruption. Its reason stays empty when none was given.

        `again` says that it tells the one before it more exactly.
        """
        if again and self._rejections:
            self._rejections.pop()
            self._rejected -= 1
        self._rejected += 1
        self._rejections.append(rejection)
        self._stopped = self._stopped or rejection.kind == "interrupted"

    def answer(self, answer: Answer) -> None:
        """Take what a person answered to an agent's question."""
        self._answered += 1
        self._answers.append(answer)

    def answers(self) -> tuple[Answer, ...]:
        """Return the newest answers."""
        self._omit("answers", self._answered - len(self._answers))
        return tuple(self._answers)

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
        return Statement(text=step, at=event.at, cut=cut, source=source, done=self._done) if step else None


def _aloud(text: str) -> str:
    """Return what an agent said without what it only thought."""
    if "</think" not in text and "<think" not in text:
        return text
    text = compiled(_THOUGHT).sub("", text)
    return text.rpartition("</think>")[2]


def own_words(text: str) -> str:
    """Return what a message holds before passdown's own words: a brief that a session began with is nobody's wish.

    Pi puts the file with the brief before the message.
    """
    if "[passdown] " not in text:
        return text
    text = compiled(_BRIEF_FILE).sub("", text)
    ours = compiled(_OURS).search(text)
    return text[: ours.start()] if ours else text


def _directs(event: UserMessage) -> bool:
    """Say whether a message in the user's role carries a person's own wish."""
    if event.origin == "command" and compiled(_INSTALLED).match(event.text):
        return True
    if event.origin == "command":
        return not event.text.lstrip().startswith("/") and says_something(event.text.strip().rstrip(":"))
    return event.origin in {"human", "plan"}


def _command_alone(event: UserMessage) -> str:
    """Return a slash command with its arguments, where it stands for a prompt and the arguments are no wish."""
    if not event.command or event.origin != "command" or _directs(event) or compiled(_OWN).match(event.command):
        return ""
    arguments = "" if event.text == event.command else event.text
    return " ".join(f"{event.command} {arguments}".split())


def _reworded(before: Directive, after: Directive) -> bool:
    """Say whether two messages in a row are the same one, sent again with a few words changed."""
    one, other = before.text.strip(), after.text.strip()
    short, long = sorted((one, other), key=len)
    if before.origin != after.origin or len(short) < 12 or len(long) > 3 * len(short):
        return False
    if any(name not in long for name in compiled(_NAME).findall(short)):
        return False
    ahead = _shared(one, other)
    behind = _shared(one[ahead:][::-1], other[ahead:][::-1])
    return (ahead + behind) * 10 >= 8 * len(short)


_NAME = r"[!-~]*[\d/_][!-~]*"
"""What names one thing and no other: a number, a path, an identifier."""


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
