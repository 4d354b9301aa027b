"""A PowerShell text as simple commands: its own quotes and escapes, the same shape as a POSIX shell's."""

from __future__ import annotations

from passdown.data.actions.lexer import MAX_COMMANDS, Simple
from passdown.data.actions.quoting import UnlexedError
from passdown.model.pattern import lazy_pattern

_TOKEN = lazy_pattern(
    r"(?P<here>@(['\"])[ \t]*\r?\n(?P<body>.*?)(?:\r?\n)?^\2@)"
    r"|(?P<space>(?:[ \t\r]|`\r?\n)+)|(?P<comment>#[^\n]*|<#.*?#>)"
    r"|(?P<single>'(?:[^']|'')*')|(?P<double>\"(?:[^\"`]|`.|\"\")*\")|(?P<end>\n|;|&&|\|\||\||(?:(?<=\s)|^)[&.](?=\s))"
    r"|(?P<redirect>[\d*]?>{1,2}(?:&\d)?|<)|(?P<word>(?:[^\s'\"`;|<>]|`.)+)|(?P<mark>.)",
    24,  # re.MULTILINE | re.DOTALL
)
_SHAPE = frozenset({"{", "}", "if", "else", "elseif", "foreach", "for", "while", "try", "catch", "finally", "do",
                    "return", "function", "in", "("})  # fmt: skip
_VERB = lazy_pattern(r"[A-Za-z]+-[A-Za-z]+")
_ASSIGNMENT = lazy_pattern(r"\$[\w:.\[\]']+\+?=?")


def lex_powershell(text: str) -> list[Simple]:
    """Return the simple commands of a PowerShell text. Raises `UnlexedError`."""
    reader = _Reader()
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment"):
            reader.glued = False
        elif kind == "end":
            mark = match.group()
            reader.end(";" if mark in "\n&." else mark)
            reader.called = mark in "&."
        elif kind == "redirect":
            reader.target = "" if "&" in match.group() else match.group()
            reader.glued = False
        else:
            piece = _piece(kind, match.group(), match["body"])
            if kind == "mark" and piece in "'\"":
                raise UnlexedError(text)
            if kind in ("single", "double", "here") and not (reader.words or reader.target or reader.called):
                reader.words.append("Write-Output")  # a text by itself is what the line says
                reader.glued = False
            reader.take(piece)
        if len(reader.found) >= MAX_COMMANDS:
            break
    reader.end(";")
    return reader.found


class _Reader:
    """The simple commands so far, and the one that still takes words. `glued`: no blank stands before what comes."""

    def __init__(self) -> None:
        self.found: list[Simple] = []
        self.words: list[str] = []
        self.redirects: list[tuple[str, str]] = []
        self.before = ""
        self.target = ""
        self.glued = False
        self.called = False

    def take(self, piece: str) -> None:
        """Take a word, a piece of one, or the file behind a redirection."""
        if self.target:
            self.redirects.append((self.target, piece))
            self.target = ""
        elif self.glued and self.words:
            self.words[-1] += piece
        elif self.words or piece not in _SHAPE:
            self.words.append(piece)
        self.glued, self.called = True, False

    def end(self, operator: str) -> None:
        """End the command."""
        kept = _without_assignment(self.words)
        if kept or self.redirects:
            self.found.append(Simple(tuple(kept), self.before, tuple(self.redirects)))
        if kept or self.redirects or operator != ";":
            self.before = operator
        self.words, self.redirects, self.glued = [], [], False


def _piece(kind: str | None, text: str, body: str | None) -> str:
    if kind == "body" or body is not None:
        return body or ""
    if kind == "single":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if kind == "double" else text


def _without_assignment(words: list[str]) -> list[str]:
    """Leave `$x =` before a command out; an assignment of a plain value is no command at all."""
    kept = [word for word in words if word not in ("{", "}")]
    if kept and _ASSIGNMENT.fullmatch(kept[0]):
        kept = kept[2:] if kept[1:2] == ["="] else kept[1:]
        if kept and (kept[0][:1] in "$@[(0123456789" or (len(kept) == 1 and not _VERB.fullmatch(kept[0]))):
            return []
    if kept and kept[0].startswith(("$", "(", "[")) and not kept[0].startswith(("$(", "($")):
        kept[0] = kept[0].lstrip("(")
    return kept
