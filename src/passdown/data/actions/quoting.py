"""Words of a shell text: quotes, escapes, variables and substitutions, as far as they are known without running it."""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

MAX_VARIANTS = 8
DEEPEST = 5
_PLAIN = lazy_pattern(r"[^\s'\"\\`$;&|()<>]+")
_SIMPLE_DOUBLE = lazy_pattern(r'"([^"\\$`]*)"')
_DOUBLE_RUN = lazy_pattern(r'[^"\\$`]+')
_NAME = lazy_pattern(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_ANSI = lazy_pattern(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
HEREDOC_WORD = lazy_pattern(r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s'\";&|()<>]+))")


class UnlexedError(ValueError):
    """The text is no shell text: a quote or a bracket is never closed."""


class WordReader:
    """Reads one word after the other; what runs inside a word is handed to `ran`."""

    def __init__(self, text: str, variables: dict[str, tuple[str, ...]], depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.variables = variables

    def ran(self, inside: str) -> None:
        """Take the text of a command substitution."""

    def pieces(self) -> tuple[list[str], bool]:
        """Return the word that begins here (several when a loop's variable is in it), and whether it was quoted."""
        text, variants, quoted, begin = self.text, [""], False, self.at
        while self.at < len(text):
            plain = _PLAIN.match(text, self.at)
            if plain is not None:
                piece = plain.group()
                self.at = plain.end()
                variants = [variant + piece for variant in variants]
                continue
            mark = text[self.at]
            if mark in " \t\r\n;&|()":
                break
            if mark in "<>":
                if text[self.at + 1 : self.at + 2] != "(":
                    break
                variants = self._substitution(variants, self.at + 2)
            elif mark == "$" or mark == "`":
                variants = self._dollar(variants) if mark == "$" else self._backtick(variants)
            else:
                quoted = True
                variants = self._quoted(variants, mark)
        if self.at == begin:
            self.at += 1
            return ["("], False
        return variants, quoted

    def _quoted(self, variants: list[str], mark: str) -> list[str]:
        text, at = self.text, self.at
        if mark == "\\":
            self.at = at + 2
            piece = "" if text[at + 1 : at + 2] == "\n" else text[at + 1 : at + 2]
            return [variant + piece for variant in variants]
        if mark == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise UnlexedError(text)
            self.at = end + 1
            return [variant + text[at + 1 : end] for variant in variants]
        simple = _SIMPLE_DOUBLE.match(text, at)
        if simple is not None:
            self.at = simple.end()
            return [variant + simple[1] for variant in variants]
        return self._double(variants)

    def _double(self, variants: list[str]) -> list[str]:
        text = self.text
        self.at += 1
        while self.at < len(text):
            mark = text[self.at]
            if mark == '"':
                self.at += 1
                return variants
            if mark == "$":
                variants = self._dollar(variants)
                continue
            if mark == "\\":
                after = text[self.at + 1 : self.at + 2]
                piece = "" if after == "\n" else after if after in '"\\$`' else mark + after
                self.at += 2
            elif mark == "`":
                piece = mark
                self.at += 1
            else:
                run = _DOUBLE_RUN.match(text, self.at)
                piece = run.group() if run else mark
                self.at += len(piece)
            variants = [variant + piece for variant in variants]
        raise UnlexedError(text)

    def _dollar(self, variants: list[str]) -> list[str]:
        text, at = self.text, self.at
        if text[at + 1 : at + 2] == "(":
            return self._substitution(variants, at + 2)
        if text.startswith("${", at) and (end := text.find("}", at)) > 0 and not _NAME.match(text, at):
            self.at = end + 1
            return [variant + text[at : end + 1] for variant in variants]
        if text.startswith("$'", at):
            return self._ansi(variants)
        found = _NAME.match(text, at)
        if found is None:
            self.at = at + 1
            return variants if text.startswith('$"', at) else [variant + "$" for variant in variants]
        self.at = found.end()
        values = self.variables.get(found[1] or found[2], (found.group(),))
        return [variant + value for variant in variants for value in values][:MAX_VARIANTS]

    def _ansi(self, variants: list[str]) -> list[str]:
        found = _ANSI.match(self.text, self.at)
        if found is None:
            raise UnlexedError(self.text)
        self.at = found.end()
        value = found[1].replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'").replace("\\\\", "\\")
        return [variant + value for variant in variants]

    def _backtick(self, variants: list[str]) -> list[str]:
        end = self.text.find("`", self.at + 1)
        if end < 0:
            raise UnlexedError(self.text)
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return self._inside(variants, inside, f"`{inside}`")

    def _substitution(self, variants: list[str], begin: int) -> list[str]:
        """Take `$(…)`, `<(…)`: what it runs comes before the command that it stands in."""
        whole, end = self.at, self.past_bracket(begin)
        inside = self.text[begin : end - 1]
        self.at = end
        if inside.startswith("(") or self.depth >= DEEPEST:
            return [variant + self.text[whole:end] for variant in variants]
        return self._inside(variants, inside, self.text[whole:end])

    def _inside(self, variants: list[str], inside: str, piece: str) -> list[str]:
        if self.depth < DEEPEST:
            self.ran(inside)
        return [variant + piece for variant in variants]

    def past_bracket(self, begin: int) -> int:
        """Return the place behind the bracket that closes the one before `begin`."""
        text, at, depth = self.text, begin, 1
        while at < len(text):
            mark = text[at]
            if mark == "\\":
                at += 1
            elif mark in "'\"":
                at = _past_quote(text, at)
                continue
            elif mark == "(":
                depth += 1
            elif mark == ")":
                depth -= 1
                if not depth:
                    return at + 1
            elif text.startswith("<<", at) and text[at + 2 : at + 3] not in ("<", "("):
                at = _past_here(text, at)
                continue
            at += 1
        raise UnlexedError(text)


def _past_quote(text: str, at: int) -> int:
    mark, at = text[at], at + 1
    while at < len(text) and text[at] != mark:
        at += 2 if text[at] == "\\" and mark == '"' else 1
    return at + 1


def _past_here(text: str, at: int) -> int:
    """Return the place behind the body of a here-document, whose brackets and quotes mean nothing."""
    found = HEREDOC_WORD.match(text, at + 2 + (text[at + 2 : at + 3] == "-"))
    if found is None:
        return at + 2
    word = re.escape(next(word for word in (found[1], found[2], found[3]) if word is not None))
    end = re.compile(rf"^[ \t]*{word}[ \t]*$", re.MULTILINE).search(text, found.end())
    return end.end() if end else found.end()
