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
    found: list[Simple] = []
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    before, glued, target = "", False, ""
    stdin: str | None = None

    def end(operator: str) -> None:
        nonlocal before, stdin
        kept = _without_assignment(words)
        if kept or redirects:
            found.append(Simple(tuple(kept), before, tuple(redirects), stdin))
            before = operator
        elif operator != ";":
            before = operator
        words.clear()
        redirects.clear()
        stdin = None

    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment"):
            glued = False
            continue
        if kind == "end":
            end({"\n": ";", "&": ";", ".": ";"}.get(match.group(), match.group()))
            glued = False
        elif kind == "redirect":
            target = "" if "&" in match.group() else match.group()
            glued = False
        else:
            piece = _piece(kind, match.group(), match["body"])
            if kind == "mark" and piece in "'\"":
                raise UnlexedError(text)
            if target:
                redirects.append((target, piece))
                target = ""
            elif glued and words:
                words[-1] += piece
            elif words or piece not in _SHAPE:
                words.append(piece)
            glued = True
        if len(found) >= MAX_COMMANDS:
            break
    end(";")
    return found


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
