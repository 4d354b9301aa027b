"""What git holds of the files while a run goes on: the index, the newest commit, stashes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

from passdown.data.records import Action
from passdown.data.replay.contents import Content, Gone

Contents = dict[str, Content]
_ALL = frozenset({".", "-A", "--all", "-u", "--update", "*", ":/"})
MOST_STASHES = 20


class Staging:
    """The contents that git has by itself, as far as they differ from the beginning."""

    def __init__(self) -> None:
        self.index: Contents = {}
        self.head: Contents = {}
        self.stashes: list[Contents] = []

    def holds(self, path: str, revision: str) -> Content | None:
        """Return what `git checkout` and `git restore` put back, None when it is as at the beginning."""
        if not revision and path in self.index:
            return self.index[path]
        return self.head.get(path)

    def add(self, words: list[str], changed: Iterable[str], now: Callable[[str], Content]) -> None:
        """Take what `git add` takes."""
        everything = any(word in _ALL for word in words)
        named = [word.rstrip("/") for word in words if word[:1] != "-"]
        for path in changed:
            if everything or any(path == word or path.startswith(f"{word}/") for word in named):
                self.index[path] = now(path)

    def commit(self, words: list[str], changed: Iterable[str], now: Callable[[str], Content]) -> None:
        """Take what `git commit` takes: the index, with `-a` all files that changed."""
        if any(word == "--all" or (word[:1] == "-" and word[:2] != "--" and "a" in word[1:3]) for word in words):
            self.index.update((path, now(path)) for path in changed if not isinstance(now(path), Gone))
        self.head.update(self.index)
        self.index.clear()

    def stash(self, contents: Contents) -> None:
        """Put contents away."""
        self.stashes.append(contents)
        del self.stashes[:-MOST_STASHES]

    def unstash(self, *, keep: bool) -> Contents | None:
        """Return the newest contents that were put away, None when there are none."""
        if not self.stashes:
            return None
        return self.stashes[-1] if keep else self.stashes.pop()


def git_words(action: Action) -> list[str]:
    """Return the words behind `git <command>` of an action."""
    try:
        words = shlex.split(action.detail)
    except ValueError:
        words = action.detail.split()
    return words[2:] if words[:1] == ["git"] else []
