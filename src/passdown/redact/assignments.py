"""Secrets that only their surroundings give away: assigned to a telling name, sent in a header, named in prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from passdown.model.pattern import lazy_pattern
from passdown.redact.names import (
    NAME_WORDS,
    SECRET_WORD,
    before_cut,
    entropy,
    is_code,
    is_cut,
    is_harmless,
    is_password_name,
    is_placeholder,
    looks_random,
)
from passdown.redact.rules import BY_NAME

MARKER = lazy_pattern(r"\[redacted:[a-z0-9_]{1,40}\]")
"""What stands where a secret was."""

CONTEXT_WORDS = (*NAME_WORDS, "bearer", "basic", "cookie")

_QUOTE = r"(?:'\"'\"'|'\\''|\\{0,3}[\"'`])"  # also a quote within quotes, as a shell writes it
_ASSIGNED = lazy_pattern(
    rf"(?P<word>{SECRET_WORD})(?P<close>{_QUOTE}?)\]?"
    r"(?P<op>"
    r":[ \t]{0,4}[A-Za-z_][\w.\[\]|?]{0,40}[ \t]{0,4}=(?!=)[ \t]{0,4}(?=[\"'`])"  # name: type = "value"
    rf"|[ \t]{{0,4}},[ \t]{{0,4}}{_QUOTE}value{_QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}"  # "name": "X", "value": "…"
    r"|[ \t]{0,8}(?:=>|:=|[=!]?={1,2}|:)[ \t]{0,8}"
    r"|>(?=[^<\s])"  # <password>value</password>
    r"|,[ \t]{0,4}(?=\\{0,3}[\"'])"  # ["--password", "value"]
    r"|[ \t]{1,4}(?=[^\s=:])"  # --password value, or prose
    r")(?:(?:bearer|token|basic|apikey|digest|pat|key)[ \t]+(?=[\w\"'])(?<=\w[ \t]))?"
    rf"[rbufRBUF]{{0,2}}(?P<quote>{_QUOTE}?)",
    re.IGNORECASE | re.ASCII,
)
_RUN = lazy_pattern(r"[^\s\"'`,;&<>(){}\[\]\\|]{1,512}")
_REST = lazy_pattern(r"[^\s\"'`,;&<>(){}\[\]\\|]+")
_NAME_START = lazy_pattern(r"[A-Za-z0-9_.$-]{0,48}\Z", re.ASCII)
_PROSE = lazy_pattern(
    r"(?P<word>" + SECRET_WORD + r")[ \t]+(?:(?:is|was|are|to|as|of|the|for|now|here|value)[ \t]+){0,3}[:=]?[ \t]*"
    r"[\"'`(]{0,2}(?P<s>[A-Za-z0-9+/_=-]{20,512})",
    re.IGNORECASE | re.ASCII,
)
_BEARER = lazy_pattern(r"bearer[ \t]{1,4}[\"']?(?P<s>[A-Za-z0-9._~+/=-]{12,1024})", re.IGNORECASE)
_BASIC = lazy_pattern(r"basic[ \t]{1,4}(?P<s>[A-Za-z0-9+/_-]{8,1024}={0,2})", re.IGNORECASE)
_COOKIE = lazy_pattern(
    rf"cookies?{_QUOTE}?[ \t]{{0,4}}[:=, ][ \t]{{0,4}}{_QUOTE}?(?P<s>[\w.%-]{{1,64}}=[^\r\n\"'`\\]{{4,4096}})",
    re.IGNORECASE | re.ASCII,
)
_BY_NAME = tuple((lazy_pattern(name, re.IGNORECASE), lazy_pattern(shape), kind) for name, shape, kind in BY_NAME)
_WORDS_ONLY = lazy_pattern(r"[^\W\d_]+(?:[-_. ][^\W\d_]+)+[.!?]?|\S*\s.*")
_KINDS = (("token", "token"), ("jwt", "token"), ("pat", "token"), ("secret", "secret"), ("key", "api_key"))
_JUDGED = 512
_LOOKS = 4
_LONGEST_VALUE = 4096


class Span(Struct, frozen=True, order=True):
    """A piece of a text that holds a secret: from `start` to before `end`, in characters."""

    start: int
    end: int
    kind: str
    rank: int = 1000


def spans_by_context(text: str, found: Iterable[re.Match[str]]) -> Iterator[Span]:
    """Yield what the surroundings give away. `found` are the telling words in order, as they stand in small letters."""
    position, patience = 0, Patience(text)
    for word in found:
        if word.start() < position:
            continue
        span = _span_at(text, word.start(), word.group())
        position = word.end() if span is None else max(word.end(), span.end)
        if span is None:
            position = max(position, patience.spent(word.start()))
        else:
            yield span


class Patience:
    """Stops looking at a run of characters after a few vain looks, so that no text can cost more than its length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._looks = 0

    def spent(self, position: int) -> int:
        """Note a vain look at `position`; return where to go on: 0 for right there, else the end of the run."""
        if position >= self._end:
            run = _REST.match(self._text, position)
            self._end, self._looks = run.end() if run else position, 0
        self._looks += 1
        return self._end if self._looks > _LOOKS else 0


def _span_at(text: str, start: int, word: str) -> Span | None:
    if word == "bearer":
        return _header(_BEARER, text, start, "bearer_token")
    if word == "basic":
        return _header(_BASIC, text, start, "basic_credentials")
    if word == "cookie":
        return _cookie(text, start)
    found = _ASSIGNED.match(text, start)
    if found is None:
        return None
    return _assigned(text, start, found) or (None if found["op"].strip() else _prose(text, start))


def _assigned(text: str, start: int, found: re.Match[str]) -> Span | None:
    operator = found["op"].strip()
    if operator in ("", ",") and not (start and (text[start - 1].isalnum() or text[start - 1] in "_.$-")):
        return None  # no flag, as the name begins here: most prose ends so
    before = _NAME_START.search(text, max(0, start - 48), start)
    name = (before.group() if before else "") + found["word"]
    flag = name.startswith("-")
    if (not operator or operator == ",") and not flag:
        return None
    begin, quote = found.end(), found["quote"]
    end = _value_end(text, begin, quote)
    value = text[begin : min(end, begin + _JUDGED)]
    tight = found["op"] in ("=", ">") or flag
    opened = not quote and text[end : end + 1] in ("(", "[", "{")
    if opened and not text.startswith("[redacted:", end) and not is_cut(text, end):
        return None
    parameter = flag or text[max(0, start - len(name) + len(found["word"]) - 1)] in ";?&"
    sure = name.isupper() or (parameter and found["op"] == "=")
    kind = kind_of_value(name, found["word"], value, quoted=bool(quote), tight=tight, sure=sure)
    if not kind:
        return None
    rest = _REST.match(text, end) if end - begin >= _JUDGED else None
    return Span(begin, rest.end() if rest else end, kind)


def _value_end(text: str, begin: int, quote: str) -> int:
    if quote:
        end = text.find(quote, begin, begin + _LONGEST_VALUE)
        line_end = text.find("\n", begin, begin + _LONGEST_VALUE)
        if end >= 0 and (line_end < 0 or end < line_end):
            return end
    run = _RUN.match(text, begin)
    return run.end() if run else begin


def kind_of_value(name: str, word: str, value: str, *, quoted: bool, tight: bool, sure: bool = False) -> str:
    """Judge a value assigned to a secret-like name: its kind, or nothing when it is no secret.

    `word` is the telling part of the name; `tight` marks `name=value` and `--name value`, where a bare word is a value;
    `sure` the names of environment variables and parameters, whose values need not look like secrets.
    """
    rest = before_cut(MARKER.sub("", value).strip())
    password = is_password_name(word)
    if len(rest) < (4 if password and quoted else 6 if password else 8):
        return ""
    for named, shape, kind in _BY_NAME:
        if named.search(name) and shape.fullmatch(rest) and not is_placeholder(rest):
            return kind
    if is_harmless(rest) or _same_words(name, rest):
        return ""
    if not quoted and is_code(rest) and not (sure and tight) and not (rest.isalpha() and looks_random(rest, 10)):
        return ""
    secret = _is_password(rest, quoted) if password else _is_token(rest, quoted)
    if secret or (sure and (tight or quoted) and (password or not _WORDS_ONLY.fullmatch(rest))):
        return _kind_of_name(word, password)
    return ""


def _is_password(value: str, quoted: bool) -> bool:
    digits = any(c.isdigit() for c in value)
    symbols = any(c in "!@#$%^&*+=~?/" for c in value)
    if any(c.isspace() for c in value):
        return digits and symbols and len(value) < 64
    return quoted or digits or symbols or looks_random(value, 10)


def _is_token(value: str, quoted: bool) -> bool:
    if any(c.isspace() for c in value):
        return False
    changes = len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]", value))
    return looks_random(value, 12) or (quoted and changes >= 2 and entropy(value) > 2.5)


def _same_words(name: str, value: str) -> bool:
    plain_name, plain_value = (re.sub(r"[^a-z0-9]", "", part.lower()) for part in (name, value))
    return plain_value in plain_name or (plain_value.isalpha() and plain_name in plain_value)


def _kind_of_name(word: str, password: bool) -> str:
    lower = word.lower()
    if password:
        return "password"
    return next((kind for part, kind in _KINDS if part in lower), "credential")


def _prose(text: str, start: int) -> Span | None:
    found = _PROSE.match(text, start)
    if found is None:
        return None
    value = found["s"]
    if re.fullmatch(r"[0-9a-f-]+", value) and len(value) in (36, 40, 64):
        return None
    if entropy(value) < 3.5 or not looks_random(value, 20) or is_harmless(value):
        return None
    return Span(found.start("s"), found.end("s"), "high_entropy")


def _header(pattern: re.Pattern[str], text: str, start: int, kind: str) -> Span | None:
    found = pattern.match(text, start)
    value = before_cut(found["s"]) if found else ""
    if found is None or is_placeholder(value):
        return None
    real = _is_pair(value) if kind == "basic_credentials" else looks_random(value, 12) or len(value) >= 200
    return Span(found.start("s"), found.end("s"), kind) if real else None


def _is_pair(value: str) -> bool:
    import base64
    import binascii

    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_" if set(value) & {"-", "_"} else None)
    except (binascii.Error, ValueError):
        return False
    name, colon, secret = plain.partition(b":")
    return bool(colon and secret) and all(32 <= byte < 127 or byte > 160 for byte in name)


def _cookie(text: str, start: int) -> Span | None:
    found = _COOKIE.match(text, start)
    if found is None:
        return None
    for pair in found["s"].split(";")[:32]:
        name, _, value = before_cut(pair.strip()).partition("=")
        telling = re.search(r"sess|sid\b|auth|token|csrf|xsrf|jwt|remember", name, re.IGNORECASE) is not None
        if MARKER.search(value) is None and (looks_random(value, 16) or (telling and looks_random(value, 8))):
            return Span(found.start("s"), found.end("s"), "cookie")
    return None
