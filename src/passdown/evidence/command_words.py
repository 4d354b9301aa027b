"""The simple commands that a shell text comes to: inside subshells, substitutions, other shells and wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from passdown.evidence.shell import split_shell, split_words
from passdown.model.pattern import lazy_pattern

_DEEPEST = 6
_MOST = 400

_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "&"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_INTERPRETERS = lazy_pattern(r"(?:python[\d.]*|node|ruby|perl|bun|deno)")
_ASSIGNED = lazy_pattern(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_FOUND_BY = lazy_pattern(r"\$\((?:which|command -v|type -P)\s+([\w.-]+)\)")
_QUOTED = lazy_pattern(r"""'([^'\n]{1,2000})'|"([^"\n]{1,2000})\"""")

_WRAPPERS: dict[str, tuple[str, ...]] = {
    "nohup": (), "setsid": (), "exec": (), "builtin": (), "caffeinate": (), "unbuffer": (), "nice": ("-n",),
    "ionice": ("-c", "-n"), "stdbuf": ("-i", "-o", "-e"), "env": ("-u", "--unset", "-C", "--chdir"),
    "sudo": ("-u", "--user", "-g", "-C", "-D"), "doas": ("-u",), "xargs": ("-I", "-n", "-P", "-L", "-d", "-s", "-a"),
    "parallel": ("-j", "--jobs", "-n", "-a"), "watch": ("-n", "--interval", "-d"), "timeout": ("-k", "-s"),
    "gtimeout": ("-k", "-s"), "time": ("-f", "-o"), "strace": ("-o", "-e"), "command": (), "script": (),
}  # fmt: skip
"""Programs that run the command behind their options; the options named take the next word."""

_TAKE_TEXT = ("parallel", "watch")
"""Those of them that hand a command written as one word to a shell."""

_RUNNERS: dict[str, tuple[str, ...]] = {
    "npx": (), "bunx": (), "uvx": (), "pnpx": (), "npm": ("exec", "x"), "pnpm": ("dlx", "exec"), "yarn": ("dlx",),
    "bun": ("x",), "pipx": ("run",), "uv": ("tool run", "run"),
}  # fmt: skip
"""Programs that fetch a package and run it, and the words they need for it."""

_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_CONTAINER_VALUED = (
    "-v", "--volume", "-w", "--workdir", "-e", "--env", "-u", "--user", "-p", "--publish", "--name", "--network",
    "--mount", "--env-file", "--entrypoint", "--platform",
)  # fmt: skip


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the words of every command that the text runs, as far as it can be told without running it."""
    left = [_MOST]
    yield from _Shell(left).commands(text, 0)


class _Shell:
    """One text: the variables it sets to plain words, and how many commands may still be looked at."""

    def __init__(self, left: list[int]) -> None:
        self.left = left
        self.variables: dict[str, str] = {}

    def commands(self, text: str, depth: int) -> Iterator[list[str]]:
        """Yield the commands of a text and of what stands inside them."""
        if depth > _DEEPEST:
            return
        for part in split_shell(text):
            self.left[0] -= 1
            if self.left[0] < 0:
                return
            yield from self._part(part.text, depth)

    def _part(self, text: str, depth: int) -> Iterator[list[str]]:
        head = text
        if "<<" in text:  # what a here-document holds is no command of this text
            head = text.partition("\n")[0]
        for inner in _substitutions(head):
            yield from self.commands(inner, depth + 1)
        if head.startswith("("):
            yield from self.commands(head.strip()[1:].rpartition(")")[0] or head[1:], depth + 1)
            return
        words = split_words(head)
        if words is None:
            words = head.replace('"', " ").replace("'", " ").split()
        yield from self._words(words, depth)

    def _words(self, words: list[str], depth: int) -> Iterator[list[str]]:
        """Yield the command itself, and what it wraps."""
        words = self._assigned(words)
        if not words or depth > _DEEPEST:
            return
        words = [self._known(words[0]), *words[1:]]
        name = words[0].rpartition("/")[2]
        yield words
        for wrapped in self._wrapped(name, words):
            if isinstance(wrapped, str):
                yield from self.commands(wrapped, depth + 1)
            else:
                yield from self._words(wrapped, depth + 1)

    def _assigned(self, words: list[str]) -> list[str]:
        """Take away keywords and assignments before a command; remember plain ones that stand alone."""
        at = 0
        while at < len(words):
            found = _ASSIGNED.fullmatch(words[at])
            if found is not None:
                self.variables[found[1]] = found[2]
            elif words[at] not in _KEYWORDS:
                break
            at += 1
        return words[at:]

    def _known(self, word: str) -> str:
        """Return what a variable or a look-up in the program's place stands for."""
        if word.startswith("$(") and (found := _FOUND_BY.fullmatch(word)):
            return found[1]
        return self.variables.get(word[1:].strip("{}"), word) if word.startswith("$") else word

    def _wrapped(self, name: str, words: list[str]) -> Iterator[str | list[str]]:
        rest = words[1:]
        if name in _SHELLS or name == "eval":
            flag = next((at for at, word in enumerate(rest) if word.startswith("-") and word.endswith("c")), None)
            if name == "eval":
                yield " ".join(rest)
            elif flag is not None and flag + 1 < len(rest):
                yield rest[flag + 1]
        elif name in _WRAPPERS:
            if not (name == "command" and rest[:1] in (["-v"], ["-V"])):
                behind = _behind_options(rest, _WRAPPERS[name], skip=name in ("timeout", "gtimeout"))
                yield behind[0] if name in _TAKE_TEXT and " " in "".join(behind[:1]) else behind
        elif name in _RUNNERS:
            yield from _fetched(name, rest)
        elif name == "ssh":
            yield " ".join(_behind_options(rest, ("-p", "-i", "-l", "-o", "-F", "-J"), skip=True))
        elif name in ("tmux", "screen"):
            yield from _in_terminal(name, rest)
        elif name in _CONTAINERS and rest[:1] in (["run"], ["exec"]):
            yield _behind_options(rest[1:], _CONTAINER_VALUED, skip=True)
        elif _INTERPRETERS.fullmatch(name):
            yield from _in_program(rest)


def _behind_options(words: list[str], valued: tuple[str, ...], *, skip: bool = False) -> list[str]:
    """Return the words behind options and their values; `skip` leaves out one more (a duration, a host, an image)."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if words[at] in valued else 1
    return words[at + skip + (words[at : at + 1] == ["--"]) :]


def _fetched(name: str, rest: list[str]) -> Iterator[list[str]]:
    needed = _RUNNERS[name]
    if needed:
        said = next((words for words in needed if " ".join(rest[: words.count(" ") + 1]) == words), None)
        if said is None:
            return
        rest = rest[said.count(" ") + 1 :]
    rest = _behind_options(rest, ("-p", "--package", "--from", "--with", "-c", "--python"))
    if rest:
        scope, at, version = rest[0].rpartition("@")
        yield [scope if at and scope else version if not at else rest[0], *rest[1:]]


def _in_terminal(name: str, rest: list[str]) -> Iterator[str]:
    """Yield what a terminal multiplexer is told to run or to type."""
    if name == "screen":
        yield " ".join(_behind_options(rest, ("-dmS", "-S", "-t", "-L")))
        return
    for word in rest[1:] if rest[:1] in (["send-keys"], ["send"]) else rest[-1:]:
        if " " in word or word == rest[-1]:
            yield word


def _in_program(rest: list[str]) -> Iterator[str]:
    """Yield the texts in a program on the command line that look like commands, and lists of words joined."""
    flag = next((at for at, word in enumerate(rest) if word in ("-c", "-e", "--eval")), None)
    if flag is None or flag + 1 >= len(rest):
        return
    texts = [single or double for single, double in _QUOTED.findall(rest[flag + 1][:16_384])]
    yield from texts[:40]
    if len(texts) > 1:
        yield " ".join(f"'{text}'" for text in texts[:40])


def _substitutions(text: str) -> Iterator[str]:
    """Yield what stands in `$(…)`, `<(…)` and backticks outside single quotes."""
    at, quoted = 0, False
    while at < len(text):
        mark = text[at]
        if mark == "\\":
            at += 2
            continue
        if mark == '"':
            quoted = not quoted
        elif mark == "'" and not quoted:
            at = text.find("'", at + 1)
            if at < 0:
                return
        elif mark == "`":
            end = text.find("`", at + 1)
            if end < 0:
                return
            yield text[at + 1 : end]
            at = end
        elif mark in "$<" and text[at + 1 : at + 2] == "(" and (mark == "$" or not quoted):
            end = _closing(text, at + 2)
            yield text[at + 2 : end]
            at = end
        at += 1


def _closing(text: str, at: int) -> int:
    depth = 1
    for position in range(at, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if not depth:
            return position
    return len(text)
