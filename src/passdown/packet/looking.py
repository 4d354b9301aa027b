"""Commands that only look around: useful to nobody who continues the work, whether they found something or not."""

from __future__ import annotations

from functools import lru_cache

from passdown.evidence.kinds import look_at
from passdown.evidence.shell import split_shell

_SHOWING = frozenset({
    "awk", "basename", "cat", "cd", "column", "cut", "date", "df", "dirname", "du", "echo", "env", "fd", "file", "find",
    "grep", "egrep", "fgrep", "head", "history", "id", "jq", "less", "ls", "lsof", "md5", "md5sum", "more", "nl", "od",
    "pgrep", "printenv", "printf", "ps", "pwd", "readlink", "realpath", "rg", "sed", "sha256sum", "shasum", "sleep",
    "sort", "stat", "strings", "tail", "tr", "tree", "true", "type", "uname", "uniq", "wc", "which", "whoami", "xxd",
    "yq", "[", "[[", "test", "command", "hash", "export", "set", "exit", "done", "for", "do",
})  # fmt: skip
_CMDLETS = frozenset({
    "compare-object", "dir", "format-list", "format-table", "gc", "gci", "get-alias", "get-childitem", "get-command",
    "get-content", "get-date", "get-filehash", "get-item", "get-itemproperty", "get-location", "get-process",
    "get-service", "get-variable", "group-object", "measure-object", "out-string", "resolve-path", "select-object",
    "select-string", "sort-object", "split-path", "start-sleep", "test-path", "where-object", "write-host",
    "write-output",
})  # fmt: skip
"""The same of PowerShell, in lower case."""
_MOST = 2000


def looks_around(command: str) -> bool:
    """Say whether every part of a shell text only shows something. A long text is judged by its beginning."""
    return _looks_around(command[:_MOST])


@lru_cache(maxsize=1024)
def _looks_around(command: str) -> bool:
    parts = split_shell(command)
    return bool(parts) and all(_shows(part.text) for part in parts[:32])


def _shows(text: str) -> bool:
    look = look_at(text)
    if look.moves:
        return False
    if look.program in {"git", "gh"}:
        return look.reader
    return look.kind == "search" or look.program in _SHOWING or look.program.lower() in _CMDLETS or not look.words
