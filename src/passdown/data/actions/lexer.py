"""A shell text as the simple commands it holds, in the order in which they are written. Nothing is expanded or run.

Compound commands come apart: lists, pipelines, subshells, loops, conditions, functions, command substitutions. Words
lose their quotes; variables that the text itself sets to plain values, and those of its loops, are put in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from passdown.data.actions.quoting import HEREDOC_WORD, MAX_VARIANTS, UnlexedError, WordReader
from passdown.model.pattern import lazy_pattern

MAX_COMMANDS = 200


class Simple(NamedTuple):
    """One simple command. `before` is the operator in front of it (`&&`, `||`, `|`, `;`, `$` inside a substitution).

    `stdin` is the body of its here-document or here-string; `expands` says that the shell puts values into it that
    nobody knows here. `(` or `)` as the only word, with `scope` set, opens or closes a subshell.
    """

    words: tuple[str, ...]
    before: str = ""
    redirects: tuple[tuple[str, str], ...] = ()
    stdin: str | None = None
    assigned: tuple[str, ...] = ()
    expands: bool = False
    scope: bool = False


OPEN = Simple(("(",), scope=True)
CLOSE = Simple((")",), scope=True)

_TOKEN = lazy_pattern(
    r"(?:[ \t\r]|\\\r?\n)*(?:(?P<plain>[^\s'\"\\`$;&|()<>#{}][^\s'\"\\`$;&|()<>{}]*)(?=[\s;&|)]|\Z)|(?P<newline>\n)"
    r"|(?P<heredoc>\d*<<-?(?!<))|(?P<redirect>(?:\d+|&)?(?:<<<|>>|>\||>&|<&|<>|>(?!\()|<(?!\()))"
    r"|(?P<operator>&&|\|\||;;&|;;|;&|\|&|[;&|()])|(?P<comment>(?<![^\s;&|()])#[^\n]*)|(?P<word>))"
)
"""A token and the blanks before it. `plain` is a word without quotes; `word` (empty) is where any other word begins."""
_ASSIGNMENT = lazy_pattern(r"([A-Za-z_]\w*)\+?=", re.DOTALL)
_EXPANDS = lazy_pattern(r"(?<!\\)(?:\\\\)*(?:`|\$[A-Za-z_{(0-9?*@#])")
_ESCAPED = lazy_pattern(r"\\([\\$`\n])")
_BRACES = lazy_pattern(r"([^\s{}$]*)\{([^\s{}]*,[^\s{}]*)\}([^\s{}$]*)")
_SKIPPED = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "fi", "done", "esac",
                      "time", "coproc"})  # fmt: skip
_CONDITIONS = frozenset({"[[", "[", "test"})


class _Here:
    """A here-document that is announced, and whose body stands behind the end of the line."""

    def __init__(self, word: str, tabs: bool, quoted: bool) -> None:
        self.word = word
        self.tabs = tabs
        self.quoted = quoted
        self.body: str | None = None
        self.expands = False

    def take(self, lines: list[str]) -> None:
        """Take the lines of the body."""
        body = "".join(f"{line}\n" for line in lines)
        if not self.quoted and ("\\" in body or "$" in body or "`" in body):
            self.expands = bool(_EXPANDS.search(body))
            body = _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[1], body)
        self.body = body


class _Command:
    """A simple command that still takes words."""

    def __init__(self, before: str) -> None:
        self.before = before
        self.words: list[str] = []
        self.redirects: list[tuple[str, str]] = []
        self.assigned: list[str] = []
        self.stdin: str | None = None
        self.here: _Here | None = None
        self.head = ""
        self.scope: Simple | None = None

    def taken(self) -> bool:
        return bool(self.words or self.redirects or self.assigned or self.here or self.stdin is not None)

    def simple(self) -> Simple:
        if self.scope is not None:
            return self.scope
        stdin = self.here.body if self.here is not None else self.stdin
        expands = self.here is not None and self.here.expands
        return Simple(tuple(self.words), self.before, tuple(self.redirects), stdin, tuple(self.assigned), expands)


def lex(text: str) -> list[Simple]:
    """Return the simple commands of a POSIX shell text. Raises `UnlexedError`."""
    return _Lexer(text, {}, 0).run()


class _Lexer(WordReader):
    """One pass over a text."""

    def __init__(self, text: str, variables: dict[str, tuple[str, ...]], depth: int) -> None:
        super().__init__(text, variables, depth)
        self.done: list[_Command] = []
        self.here: list[_Here] = []
        self.command = _Command("$" if depth else "")
        self.target = ""
        self.cases: list[str] = []

    def run(self) -> list[Simple]:
        """Read the whole text."""
        text, token = self.text, _TOKEN.match
        while self.at < len(text) and len(self.done) < MAX_COMMANDS:
            found = token(text, self.at)
            if found is None:  # cannot be: a word may be empty
                break
            self.at = found.end()
            kind = found.lastgroup
            if kind == "plain":
                word = found["plain"]
                self._take(word, [word], False)
            elif kind == "word":
                if self.at < len(text):
                    start = self.at
                    variants, quoted = self.pieces()
                    self._take(text[start : self.at], variants, quoted)
            elif kind != "comment":
                self._mark(kind, found[kind or 0])
        self._read_here()
        self._end(";")
        return [command.simple() for command in self.done]

    def _mark(self, kind: str | None, mark: str) -> None:
        if kind == "newline":
            self._read_here()
            self._end(";")
        elif kind == "heredoc":
            self._announce(mark)
        elif kind == "redirect":
            self.target = mark
        else:
            self._operator(mark)

    def _operator(self, mark: str) -> None:
        if self.cases and self.cases[-1] == "pattern":
            if mark == ")":
                self.command = _Command(";")
                self.cases[-1] = "body"
            return
        if mark == "(":
            self._open()
        elif mark == ")":
            self._end(";")
            self._scope(CLOSE)
        elif mark.startswith((";;", ";&")):
            self._end(";")
            if self.cases:
                self.cases[-1] = "pattern"
        else:
            self._end({"|&": "|", "&": ";"}.get(mark, mark))

    def _open(self) -> None:
        words = self.command.words
        if len(words) == 1 and self.text[self.at : self.at + 1] == ")" and not self.command.redirects:
            self.at += 1  # `name()` begins a function: its body is read like any other group
            words.clear()
            return
        if self.text[self.at : self.at + 1] == "(" and not words:
            end = self.text.find("))", self.at)
            if end < 0:
                raise UnlexedError(self.text)
            self.at = end + 2
            return
        if words and words[-1].endswith("="):
            self.at = self.past_bracket(self.at)  # an array
            self.command.words.pop()
            return
        before = self.command.before
        self._end(";")
        self._scope(OPEN)
        self.command = _Command(before)

    def _scope(self, mark: Simple) -> None:
        command = _Command("")
        command.scope = mark
        self.done.append(command)

    def _announce(self, mark: str) -> None:
        found = HEREDOC_WORD.match(self.text, self.at)
        if found is None:
            raise UnlexedError(self.text)
        self.at = found.end()
        word = next(word for word in (found[1], found[2], found[3]) if word is not None)
        here = _Here(word, mark.endswith("-"), found[3] is None or "\\" in found.group())
        self.here.append(here)
        self.command.here = here

    def _read_here(self) -> None:
        for here in self.here:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                bare = line.lstrip("\t") if here.tabs else line
                if bare.rstrip() == here.word:
                    break
                lines.append(bare)
            here.take(lines)
        self.here.clear()

    def _end(self, operator: str) -> None:
        """End the simple command; the next one stands behind `operator`."""
        command = self.command
        if command.head == "for":
            self._loop(command.words)
            self.command = _Command(";")
            return
        if command.taken():
            if not command.words and len(command.assigned) == 1:
                self._remember(command.assigned[0])
            self.done.append(command)
        elif operator == ";" and command.before in ("&&", "||", "|"):
            return  # the list goes on in the next line
        self.command = _Command(operator)

    def _remember(self, assigned: str) -> None:
        name, _, value = assigned.partition("=")
        if "$" in value or "`" in value or len(value) > 1000:
            self.variables.pop(name, None)
        else:
            self.variables[name] = (value,)

    def _loop(self, words: list[str]) -> None:
        """Take note of the values of a loop's variable."""
        name, values = words[0] if words else "", words[2:]
        if words[1:2] == ["in"] and len(values) > 0 and not any("$" in value or "`" in value for value in values):
            self.variables[name] = tuple(values[:MAX_VARIANTS])
        else:
            self.variables.pop(name, None)

    def _take(self, raw: str, variants: list[str], quoted: bool) -> None:
        """Take a word, as it is written and as it reads (several where a loop's variable stands in it)."""
        if self.target:
            self.command.redirects.append((self.target, variants[0]))
            if self.target == "<<<":
                self.command.redirects.pop()
                self.command.stdin = variants[0] + "\n"
            self.target = ""
            return
        if self.cases and self.cases[-1] == "pattern":
            if raw == "esac":
                self.cases.pop()
            return
        if not self.command.words:
            if not quoted and self._keyword(raw):
                return
            if _ASSIGNMENT.match(raw):
                self._assign(variants[0])
                return
        if not quoted and "{" in raw and len(variants) == 1 and (braces := _BRACES.fullmatch(variants[0])):
            variants = [f"{braces[1]}{part}{braces[3]}" for part in braces[2].split(",")[:MAX_VARIANTS]]
        self.command.words += variants
        if self.command.head == "case":
            self._inside_case()

    def _assign(self, value: str) -> None:
        if self.text[self.at : self.at + 1] == "(" and self.text[self.at - 1] == "=":
            self.at = self.past_bracket(self.at + 1)
            return
        self.command.assigned.append(value)

    def _inside_case(self) -> None:
        if self.command.words[-1] == "in":
            self.command = _Command(";")
            self.cases.append("pattern")

    def _keyword(self, raw: str) -> bool:
        """Take a word that only gives a command its shape."""
        if self.command.head:
            return False
        if raw in _SKIPPED:
            if raw == "esac" and self.cases:
                self.cases.pop()
            return True
        if raw in ("for", "select", "case"):
            self.command.head = "case" if raw == "case" else "for"
            return True
        if raw == "function":
            self._skip_function_name()
            return True
        if raw == "[[":
            end = self.text.find("]]", self.at)
            if end < 0:
                raise UnlexedError(self.text)
            self.at = end + 2
            self.command.words += ("[[", self.text[self.at : end])
            return True
        return False

    def _skip_function_name(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        found = re.compile(r"[\w.:-]+[ \t]*(?:\([ \t]*\))?").match(self.text, self.at)
        self.at = found.end() if found else self.at

    def ran(self, inside: str) -> None:
        """Take what a word runs: it comes before the command that the word belongs to."""
        for simple in _Lexer(inside, dict(self.variables), self.depth + 1).run():
            command = _Command("$")
            command.scope = simple
            self.done.append(command)
