"""Who writes a summary: a callable that is given the evidence and returns text, which is held against the evidence."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from passdown.errors import PassdownError
from passdown.model.pattern import lazy_pattern

MAX_WORDS = 500

_UNCHANGED = lazy_pattern(
    r"(?i)\bno (?:source |code )?(?:changes?|edits?|modifications?|files?) (?:were|was|have been|has been|are|is)? ?"
    r"(?:yet )?(?:made|changed|modified|edited|present)\b"
    r"|\bnothing (?:was|has been|is) (?:changed|modified|edited)\b"
    r"|\b(?:has|have|did) not (?:yet )?(?:made|make|changed?|modif(?:y|ied)|edit(?:ed)?) (?:any|a|the)? ?"
    r"(?:source |code )?(?:files?|changes?|code)\b"
)
_GREEN = lazy_pattern(r"(?i)\ball (?:the )?tests? (?:now )?(?:pass|are passing|are green|passed)\b")
_RED = lazy_pattern(r"(?i)\b(?:the )?(?:tests?|validation) (?:still |now )?(?:fails?|is failing|are failing|failed)\b")
_WORD = r"(?:(?:all )?done|completed?|finished|solved|fixed|resolved|success(?:ful)?|ok|passed)"
_BARE = lazy_pattern(rf"(?i)\W*{_WORD}\W*")
_BARE_LINE = lazy_pattern(rf"(?im)^\W*(?:status|state|result)\W{{1,4}}{_WORD}\W*$")


class Request(Struct, frozen=True, kw_only=True):
    """What a writer is given: what to do, the evidence to do it from, and what must not be contradicted."""

    instructions: str
    evidence: str
    changed_files: tuple[str, ...] = ()
    validation: str = "none"


class Writer(Protocol):
    """Writes a summary. `name` goes into the view as its provenance."""

    name: str

    def __call__(self, request: Request) -> str:
        """Return the text; plain words, no more than the evidence holds."""


class WriterError(PassdownError):
    """A writer gave no usable text: it could not be reached, or contradicts what was observed."""


def problems(text: str, request: Request) -> tuple[str, ...]:
    """Return what is wrong with a text: empty, too long, contradicting the evidence, or sure in one word."""
    found = []
    if len(text.split()) < 5 or _BARE.fullmatch(text):
        found.append("it is a bare word of status instead of notes")
    if len(text.split()) > MAX_WORDS:
        found.append(f"it has more than {MAX_WORDS} words")
    if request.changed_files and _UNCHANGED.search(text):
        found.append("it says that nothing was changed, but files were: " + ", ".join(request.changed_files[:5]))
    if request.validation != "passed" and _BARE_LINE.search(text):
        found.append("it calls the work done though no validation passed after the latest edit")
    if request.validation == "failed" and _GREEN.search(text):
        found.append("it says that all tests pass, but the last validation failed")
    if request.validation == "passed" and not _GREEN.search(text) and _RED.search(text) and "earlier" not in text:
        found.append("it says that tests fail, but the last validation passed")
    return tuple(found)


def written(writer: Writer, request: Request) -> str:
    """Return the writer's text once it holds: asked again one time, with what was wrong. Raises `WriterError`."""
    wrong: tuple[str, ...] = ()
    for _ in range(2):
        more = f"\n\nYour last answer was refused: {'; '.join(wrong)}." if wrong else ""
        text = writer(Request(
            instructions=request.instructions + more, evidence=request.evidence,
            changed_files=request.changed_files, validation=request.validation,
        ))  # fmt: skip
        wrong = problems(text, request)
        if not wrong:
            return text.strip()
    raise WriterError(
        f"the writer {writer.name} gave no usable text: {'; '.join(wrong)}",
        next_step="Use another model, or the extractive writer (no writer at all).",
    )
