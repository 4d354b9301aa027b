"""Secrets that the work added: told by kind and line, never by value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from passdown.clean.content import Source
from passdown.clean.paths import is_document, is_fixture, is_test
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.redact.scan import Redactor

_BY_NAME = frozenset({"password", "token", "secret", "api_key", "credential", "url_password"})
_WORDS = lazy_pattern(r"[\W_]*[A-Za-z]+(?:[\W_]+[A-Za-z]+)+[\W_]*|\W*[$%{<]\S*")
_SAYS_SO = lazy_pattern(r"(?i)\W*[a-z_%0-9]*(?:token|passw|secret|key|session|user|csrf|hunter2|changeme)[a-z_]*\W*")


def secret_findings(sources: Iterable[Source]) -> Iterator[Finding]:
    """Find what looks like a secret in added lines. What only a name gives away, and reads as words, is a warning."""
    for source in sources:
        numbers = sorted(number for number in source.added if number <= len(source.lines))
        text = "\n".join(source.lines[number - 1] for number in numbers)
        whole = Redactor()
        if whole.text(text) == text:
            continue
        found = False
        for number in numbers:
            one, line = Redactor(), source.lines[number - 1]
            masked = one.text(line)
            if masked != line:
                found = True
                yield _secret(source, number, min(one.counts, default="secret"), _masked(line, masked))
        if not found:  # a key of several lines
            number = next((n for n in numbers if "PRIVATE KEY" in source.lines[n - 1]), numbers[0])
            yield _secret(source, number, min(whole.counts, default="secret"), "")


def _masked(line: str, masked: str) -> str:
    """Return what was masked in a line."""
    start = next((at for at, pair in enumerate(zip(line, masked, strict=False)) if pair[0] != pair[1]), 0)
    tail = next((at for at, pair in enumerate(zip(line[::-1], masked[::-1], strict=False)) if pair[0] != pair[1]), 0)
    return line[start : len(line) - min(tail, len(line) - start)]


def _secret(source: Source, line: int, kind: str, value: str) -> Finding:
    words = _WORDS.fullmatch(value[:200]) or _SAYS_SO.fullmatch(value[:200])
    mild = kind in _BY_NAME and bool(
        words or is_test(source.path) or is_fixture(source.path) or is_document(source.path)
    )
    return Finding(
        code="secret.added", severity="warn" if mild else "block", detail=f"looks like a secret ({kind})",
        where=source.path, line=line, fix="take it out, and replace it wherever it is valid", mend_kind="edit",
    )  # fmt: skip
