"""The scanner: one search over all anchors, a closer look where one stands, one marker for each secret.

Everything but private keys is found within a line, so long texts are worked through in pieces of whole lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from heapq import merge
from typing import Any

from msgspec import Struct

from passdown.model.pattern import compile_pattern, lazy_pattern
from passdown.redact.assignments import CONTEXT_WORDS, MARKER, Patience, Span, kind_of_value, spans_by_context
from passdown.redact.folders import Folders
from passdown.redact.names import before_cut, is_harmless, is_placeholder, is_secret_name, is_varied, secret_word
from passdown.redact.pem import pem_spans
from passdown.redact.rules import RULES, Rule

PIECE = 1 << 16
"""Characters after which a long text is cut at the next line end."""

_SHORT = 1024
"""Characters up to which looking for each anchor by itself costs less than making the search for all."""

_ALL_AT_ONCE = 512
"""Characters from which one search for each first letter costs less than one for all words."""

_REMEMBERED = 4096
_REMEMBERED_SHORT = 512
"""How many texts in which nothing was found are remembered, and of how many characters: many are redacted twice."""

_MARKS = "_~=:-/."
"""Characters of anchors, the rarest in texts first."""

KEY_MARKS = ("PRIVATE KEY", "PuTTY-User-Key", "Private-MAC")
"""A text without any of these holds no private key: every line of it can be redacted by itself."""

_PASSES = 6
_DEEPEST = 128
_SHORTEST_ENVIRONMENT_VALUE = 8
_BOUNDARY = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfu])|(?<=%[0-9A-Fa-f]{2}))"
_URL_PASSWORD = lazy_pattern(r"://[^\s/:@]*:([^\s/]+)@")
_CURL = lazy_pattern(r"\bcurl\b[^\n]{0,512}\Z")
_LOWER = {code: code + 32 for code in range(65, 91)}


class _Row(Struct, frozen=True):
    """A rule and its rank in the table. Its expressions are compiled when its anchor first turns up in a text."""

    rank: int
    rule: Rule


class Redactor:
    """Replaces secrets by `[redacted:<kind>]`. `counts` says how many of each kind it has replaced so far.

    The values of the variables in `environ` whose names announce a secret are known secrets, whatever their shape.
    `folders` maps absolute folders to their names in a packet (see `Folders`). Redacting twice changes nothing.
    `many` is for a process that redacts many texts: the searches are made at once, and short texts cost less.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        folders: Mapping[str, str] | None = None,
        *,
        many: bool = False,
    ) -> None:
        self.counts: dict[str, int] = {}
        self._short = 0 if many else _SHORT
        self._plain: set[str] = set()
        self._folders = Folders(folders or {})
        self._known = _known_values(environ or {})
        alternatives = "|".join(re.escape(value) for value in self._known)
        self._known_pattern = re.compile(f"{MARKER.pattern}|(?P<known>{alternatives})") if alternatives else None

    def text(self, value: str) -> str:
        """Return the text with every secret replaced, and every known folder."""
        if value in self._plain:
            return value
        clean = self._redacted(value)
        if clean == value and len(value) <= _REMEMBERED_SHORT and len(self._plain) < _REMEMBERED:
            self._plain.add(value)
        return clean

    def _redacted(self, value: str) -> str:
        value = self._folders.text(value)
        if self._known_pattern is not None and any(known in value for known in self._known):
            value = self._known_pattern.sub(self._replace_known, value)
        if any(mark in value for mark in KEY_MARKS):
            value = self._replace(value, pem_spans(value))
        if len(value) <= PIECE:
            return self._line_secrets(value)
        return "".join(self._line_secrets(piece) for piece in _pieces(value))

    def tree(self, value: Any) -> Any:
        """Return a plain structure (dict, list, tuple, str, numbers) with every secret replaced, keys included.

        A text under a secret-like key, or after a flag such as `--token` in a list, is judged by that name as well.
        """
        return self._tree(value, 0)

    def _tree(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if depth > _DEEPEST and isinstance(value, dict | list | tuple):
            return self._marker("too_deep")
        if isinstance(value, dict):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple):
            return type(value)(self._sequence(value, depth))
        return value

    def _mapping(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, item in value.items():
            name = value.get("name") if key == "value" else key
            clean = self._named(name, item) if isinstance(name, str) and isinstance(item, str) else None
            new_key = self.text(key) if isinstance(key, str) else key
            while new_key in result:
                new_key = f"{new_key}'"
            result[new_key] = self._tree(item, depth + 1) if clean is None else clean
        return result

    def _sequence(self, value: Iterable[Any], depth: int) -> Iterator[Any]:
        flag, key_open = "", False
        for item in value:
            if not isinstance(item, str):
                yield self._tree(item, depth + 1)
                continue
            if key_open:
                key_open = "-----END" not in item
                yield self._marker("private_key") if item.strip() and not MARKER.fullmatch(item) else item
                continue
            key_open = "-----BEGIN" in item and "PRIVATE KEY-----" in item and "-----END" not in item
            clean = self._named(flag.lstrip("-"), item) if flag else None
            flag = item if re.fullmatch(r"--?[A-Za-z][A-Za-z-]{2,40}", item) else ""
            yield self.text(item) if clean is None else clean

    def _named(self, name: str, value: str) -> str | None:
        """The marker for a value whose own name gives it away, or None."""
        word = secret_word(name)
        if not word or len(value) > 4096 or MARKER.search(value):
            return None
        kind = kind_of_value(name, word, value, quoted=True, tight=False, sure=name.isupper())
        return self._marker(kind) if kind and self.text(value) == value else None

    def _line_secrets(self, text: str) -> str:
        for _ in range(_PASSES):
            cleaned = self._replace(text, _line_spans(text, self._short))
            if cleaned == text:
                break
            text = cleaned
        return text

    def _replace(self, text: str, spans: Iterable[Span]) -> str:
        parts, position = [], 0
        for span in _merged(spans):
            parts += [text[position : span.start], self._marker(span.kind)]
            position = span.end
        if not parts:
            return text
        return "".join([*parts, text[position:]])

    def _replace_known(self, found: re.Match[str]) -> str:
        return self._marker("environment") if found["known"] else found.group()

    def _marker(self, kind: str) -> str:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"[redacted:{kind}]"


def _known_values(environ: Mapping[str, str]) -> list[str]:
    values: set[str] = set()
    for name, value in environ.items():
        found = {value} if is_secret_name(name) and not is_harmless(value) else set()
        if "://" in value:
            found |= set(_URL_PASSWORD.findall(value))
        if found:
            values |= _forms(found)
    return sorted((value for value in values if not _is_common(value)), key=lambda value: (-len(value), value))


def _forms(secrets: set[str]) -> set[str]:
    """The ways a known secret may be written: bare, as in a URL, as in JSON."""
    import json
    from urllib.parse import quote, unquote

    plain = {form for secret in secrets for form in (secret, unquote(secret))}
    kept = {form for form in plain if len(form) >= _SHORTEST_ENVIRONMENT_VALUE and not is_harmless(form)}
    spelt = {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in kept for ascii_only in (True, False)}
    return kept | spelt | {quote(form, safe="") for form in kept} | {form.strip() for form in kept}


def _is_common(value: str) -> bool:
    """A value that would blot out ordinary text."""
    return len(value) < _SHORTEST_ENVIRONMENT_VALUE or is_placeholder(value) or value in "[redacted:environment]"


def _pieces(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        end = text.find("\n", position + PIECE) + 1 or len(text)
        yield text[position:end]
        position = end


def _line_spans(text: str, short: int) -> Iterator[Span]:
    searches, rules, words = _tables()
    for anchors, search in searches:
        if len(text) < short and not _holds(anchors, text):
            continue
        position, patience = 0, Patience(text)
        while found := search.search(text, position):
            position = found.start() + 1
            for row in rules[found.group()]:
                span = _span_of(row, text, found.start())
                if span is None:
                    continue
                if span.kind:
                    position = max(position, span.end)
                    yield span
                    break
                position = max(position, patience.spent(found.start()))
    lowered = _lowered(text)
    if len(text) >= short or any(word in lowered for word in CONTEXT_WORDS):
        yield from spans_by_context(text, _found(words, lowered))


def _found(words: _Words, lowered: str) -> Iterable[re.Match[str]]:
    if len(lowered) < _ALL_AT_ONCE:
        return words.together.finditer(lowered)
    return merge(*(search.finditer(lowered) for search in words.apart), key=re.Match.start)


def _holds(anchors: tuple[_Marked, ...], text: str) -> bool:
    for mark, these in anchors:
        if mark in text:
            for anchor in these:
                if anchor in text:
                    return True
    return False


def _span_of(row: _Row, text: str, anchor: int) -> Span | None:
    """What the rule finds at the anchor; of no kind when it has the shape but is no secret."""
    rule = row.rule
    pattern, more = _compiled(rule)
    for back in rule.back:
        found = pattern.match(text, anchor - back) if anchor >= back else None
        if found is None:
            continue
        group = "s" if "s" in pattern.groupindex else 0
        start, end = found.span(group)
        body = found["s"] if group else found[0] if rule.head else found["body"]
        if not _is_real(rule, body, found[0], text, anchor):
            return Span(start, end, "")
        if more is not None and group == 0 and (rest := more.match(text, end)):
            end = rest.end()
        return Span(start, end, rule.kind, row.rank)
    return None


def _is_real(rule: Rule, body: str, whole: str, text: str, anchor: int) -> bool:
    if rule.kind != "url_password" and len(set(whole)) < 8:
        return False
    if is_placeholder(before_cut(body)) or MARKER.search(body):
        return False
    if rule.check == "curl":
        return _CURL.search(text, max(0, anchor - 520), anchor) is not None
    return rule.check != "random" or is_varied(body)


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Join what overlaps; the most telling kind wins."""
    current: Span | None = None
    for span in sorted(spans):
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current = span
            continue
        kind, rank = min((current.rank, current.kind), (span.rank, span.kind))[::-1]
        current = Span(current.start, max(current.end, span.end), kind, rank)
    if current is not None:
        yield current


def _lowered(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWER)


_Marked = tuple[str, tuple[str, ...]]
"""Anchors that all hold one character, and that character: most texts have it not."""

_Search = tuple[tuple[_Marked, ...], re.Pattern[str]]
"""Anchors, and the expression that finds them all. It is not made for a short text that holds none of them."""


class _Words(Struct, frozen=True, gc=False):
    """The search for all telling words, and one for each first letter: to go through a long text with each is faster.

    None of them holds another with its own first letter, so both find the same.
    """

    together: re.Pattern[str]
    apart: tuple[re.Pattern[str], ...]


@cache
def _tables() -> tuple[tuple[_Search, ...], dict[str, list[_Row]], _Words]:
    """The searches for all anchors, the rules behind each, and the search for telling words; built on first use."""
    rules: dict[str, list[_Row]] = {anchor: [] for anchor in _shortest(a for rule in RULES for a in rule.anchors)}
    for rank, rule in enumerate(RULES):
        row = _Row(rank, rule)
        for anchor in {next(a[:end] for end in range(1, len(a) + 1) if a[:end] in rules) for a in rule.anchors}:
            rules[anchor].append(row)
    return tuple(_searches(set(rules))), rules, _words(_shortest(CONTEXT_WORDS))


def _words(words: list[str]) -> _Words:
    letters = sorted({word[0] for word in words})
    apart = [_search(word for word in words if word[0] == letter)[1] for letter in letters]
    return _Words(lazy_pattern(lambda: _trie(words)), tuple(apart))


def _shortest(words: Iterable[str]) -> list[str]:
    """The words that begin with no other: in order, a longer one stands right behind its beginning."""
    kept: list[str] = []
    for word in sorted(set(words)):
        if not kept or not word.startswith(kept[-1]):
            kept.append(word)
    return kept


def _searches(anchors: set[str]) -> Iterator[_Search]:
    """One search for each small first letter, one for all the rest: measured to be twice as fast as one for all."""
    small = {anchor[0] for anchor in anchors if anchor[0] in "acdeghilnoprstx"}
    for letter in sorted(small):
        yield _search(anchor for anchor in anchors if anchor[0] == letter)
    yield _search(anchor for anchor in anchors if anchor[0] not in small)


def _search(anchors: Iterable[str]) -> _Search:
    these = tuple(sorted(anchors))
    marked: dict[str, list[str]] = {}
    for anchor in these:
        marked.setdefault(next((mark for mark in _MARKS if mark in anchor), ""), []).append(anchor)
    return tuple((mark, tuple(some)) for mark, some in marked.items()), lazy_pattern(lambda: _trie(these))


@cache
def _compiled(rule: Rule) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    first = (rule.head or rule.anchors[0])[0]
    boundary = _BOUNDARY if rule.head or first.isalnum() else ""
    prefix = "|".join(re.escape(anchor) for anchor in sorted(rule.anchors, reverse=True))
    pattern = compile_pattern(f"{boundary}{rule.head}(?:{prefix})(?P<body>{rule.tail})", re.ASCII)
    return pattern, compile_pattern(f"{rule.more}+") if rule.more else None


def _trie(literals: Iterable[str]) -> str:
    """An expression for many literals that decides letter by letter: several times faster than a plain alternation."""
    root: dict[str, Any] = {}
    for literal in literals:
        node = root
        for character in literal:
            node = node.setdefault(character, {})

    def write(node: dict[str, Any]) -> str:
        branches = [re.escape(character) + write(child) for character, child in sorted(node.items())]
        return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""

    return write(root)
