"""Names that announce a secret, and values that are none although their name says so."""

from __future__ import annotations

import math
import re
from collections import Counter

from passdown.model.pattern import lazy_pattern

NAME_WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "authorization", "auth", "dsn", "key",
    "connectionstring", "connection_string", "jwt", "pat",
)  # fmt: skip
"""Where a secret's name may begin; lower case."""

_KEY_BEFORE = (
    "access", "account", "admin", "api", "app", "application", "auth", "client", "consumer", "deploy",
    "deployment", "encryption", "hmac", "ingest", "ingestion", "integration", "jwt", "license", "licence",
    "live", "master", "merchant", "private", "project", "publish", "root", "secret", "server", "service",
    "session", "shared", "signature", "signing", "storage", "subscription", "team", "user", "vault", "webhook",
    "write", "x-api", "x-goog-api", "x-functions",
)  # fmt: skip
_PASSWORD = lazy_pattern(r"pass(?:word|wd|phrase)|pwd|(?:^|[_-])pass$", re.IGNORECASE)
_ENV_ENDINGS = (
    "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_PASS", "_PWD", "CREDENTIALS", "CREDENTIAL", "AUTH",
    "DSN", "PRIVATE", "_PAT", "SECRETS", "_TOKENS", "_KEYS",
)  # fmt: skip

_QUALIFIED = "".join(f"|(?<={word}{joint})" for word in _KEY_BEFORE for joint in ("", "[_. -]"))[1:]
_BARE = "(?<![A-Za-z])"
_SUFFIX = (
    r"(?:[_-]?(?:base|value|prod|production|dev|development|test|testing|staging|stage|live|main|master|current|old|new|"
    r"text|plain|raw|b64|base64|string|str|pem|data|ci|local|primary|secondary|v?\d{1,3}))?"
)
SECRET_WORD = (
    r"(?:passwords?|passwd|passphrase|pwd|(?:client|shared|app)?[_-]?secrets?(?:[_-]?(?:access)?[_-]?key)?|"
    rf"tokens?|credentials?|{_BARE}(?:proxy-)?authorization|(?<![A-Za-z0-9])auth|(?<=_)auth|{_BARE}dsn|(?<=_)dsn|"
    rf"connection_?string|jwt|(?<=_)pat|(?:{_QUALIFIED})keys?){_SUFFIX}"
)
"""The end of a name that announces a secret; matched, without case, where one of `NAME_WORDS` stands."""

_WHOLE_NAME = lazy_pattern(rf"(?:[A-Za-z0-9_.@/ -]*?)(?P<word>{SECRET_WORD})\Z", re.IGNORECASE | re.ASCII)

_PLACEHOLDER = lazy_pattern(
    r"[xX]{4}|\*{3}|\.{3}|…|•{3}|_{4}|#{4}|\A<[^>]*>\Z|\A[$%]|\A\{|\A\[|\{\{|\$\{|\A@|\A&|\A(?:op|vault|ref|aws-sm|file)[:+]|"
    r"EXAMPLE(?:KEY)?\Z|\A(.)\1+\Z|0{8}|1{8}|12345678(?:90?)?\Z|\A0?123456789",
    re.DOTALL,
)
_PLACEHOLDER_WORDS = frozenset((
    "your", "my", "the", "an", "example", "examples", "placeholder", "changeme", "change", "me", "redacted",
    "removed", "masked", "hidden", "dummy", "fake", "sample", "insert", "replace", "todo", "here", "none",
    "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "string", "str", "text", "int",
    "integer", "number", "bool", "boolean", "any", "object", "bytes", "required", "optional", "default",
    "enabled", "disabled", "empty", "missing", "invalid", "unset", "password", "passwd", "pass", "passphrase",
    "secret", "secrets", "token", "tokens", "key", "keys", "credential", "credentials", "auth", "authorization",
    "bearer", "basic", "digest", "jwt", "oauth", "oauth2", "api", "apikey", "access", "refresh", "private",
    "public", "client", "server", "user", "username", "admin", "root", "guest", "postgres", "mysql", "redis",
    "localhost", "development", "production", "staging", "test", "testing", "local", "demo", "value", "name",
    "type", "field", "input", "inherit", "unknown", "secretstr", "optionalstr", "anonymous", "github", "gitlab",
    "env", "var", "variable", "config", "settings",
))  # fmt: skip
_CUT = lazy_pattern(r"…|\.{3}|[\[(<][^\[(<\n]{0,40}(?:truncated|omitted|elided)", re.IGNORECASE)
_LEAST_LEFT = 16
_WORDS = lazy_pattern(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_PATH = lazy_pattern(
    r"(?:~|\.{0,2})(?:/[\w.@+ -]{1,80})+/?|[A-Za-z]:[\\/][^\n]*|[\w.-]{1,64}(?:/[\w.@-]{1,64})*\.[a-z]{1,5}", re.ASCII
)
_URL = lazy_pattern(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)
_UUID = lazy_pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_CODE = lazy_pattern(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+", re.ASCII)
_CHANGE = lazy_pattern(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_IDENTIFIER = lazy_pattern(r"[A-Za-z_$][A-Za-z_$-]*", re.ASCII)


def is_secret_name(name: str) -> bool:
    """Say whether an environment variable's name announces a secret."""
    upper = name.upper().rstrip("0123456789_")
    return upper.endswith(_ENV_ENDINGS) or upper in ("PASS", "PWD_SECRET", "PAT")


def secret_word(name: str) -> str:
    """Return the part of a field's name that announces a secret, or nothing."""
    if len(name) > 128:
        return ""
    found = _WHOLE_NAME.match(name)
    return found["word"] if found else ""


def is_password_name(word: str) -> bool:
    """Say whether the name means a password, which people choose and which may therefore be short and wordlike."""
    return _PASSWORD.search(word) is not None


def is_placeholder(value: str) -> bool:
    """Say whether the value only stands for a secret: `sk-xxxx`, `<TOKEN>`, `${VAR}`, `your-key-here`."""
    if _PLACEHOLDER.search(value):
        return True
    words = [word for word in _WORDS.split(value) if word]
    return all(word.lower() in _PLACEHOLDER_WORDS or (word.isdigit() and len(word) < 4) for word in words)


def before_cut(value: str) -> str:
    """Return what a log left of a value that it cut short, when that is enough to judge; else the value itself."""
    found = _CUT.search(value)
    return value[: found.start()].rstrip() if found and found.start() >= _LEAST_LEFT else value


def is_cut(text: str, position: int) -> bool:
    """Say whether a log's mark of a cut stands here."""
    return _CUT.match(text, position) is not None


def is_harmless(value: str) -> bool:
    """Say whether a value is a path, an address, a number, a switch or a placeholder: nothing to hide."""
    if is_placeholder(value) or _UUID.fullmatch(value):
        return True
    if _URL.match(value):
        return "@" not in value
    if value.isascii() and value.replace(".", "").replace("-", "").replace("_", "").isdigit():
        return len(value) < 16
    return _PATH.fullmatch(value) is not None and not any(looks_random(part) for part in value.split("/"))


def is_code(value: str) -> bool:
    """Say whether an unquoted value is a name in a program rather than a secret."""
    return _CODE.fullmatch(value) is not None or _IDENTIFIER.fullmatch(value) is not None


def entropy(text: str) -> float:
    """Return Shannon's entropy in bits for each character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if size else 0.0


def looks_random(text: str, least: int = 16) -> bool:
    """Say whether the text looks drawn by a machine: long enough, varied, and not words joined together."""
    body = text.replace("-", "").replace("_", "").replace(".", "")
    if len(body) < least or len(set(body)) < 6 or is_placeholder(text) or entropy(body) < 2.9:
        return False
    return _mixture(text, body, 3)


def is_varied(text: str) -> bool:
    """Say whether what follows a known prefix is more than words: the milder question where a prefix speaks already."""
    return len(set(text)) >= 6 and _mixture(text, text, 2)


def _mixture(text: str, body: str, changes: int) -> bool:
    """Letters and digits in turn, or as many capitals as small letters: words have neither."""
    letters = sum(c.isalpha() for c in body)
    if not letters:
        return False
    return len(_CHANGE.findall(text)) >= changes or 0.3 <= sum(c.isupper() for c in body) / letters <= 0.7
