"""What became of commits: in the history, rewritten under another id, taken back, or gone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from passdown.io.git import try_git
from passdown.model.pattern import lazy_pattern
from passdown.takeover.ground import Ground

_LOOKED_AT = 1000
"""Newest commits among which a rewritten one is looked for."""

_REVERTS = lazy_pattern(r"This reverts commit ([0-9a-f]{40,64})")
_RENAMED = lazy_pattern(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")
_MOST = 200
_MOVES = 2000


class History:
    """The commits a packet names, asked about all at once. Anything but full ids is passed over."""

    def __init__(self, ground: Ground, ids: Iterable[str], written_at: str = "") -> None:
        self._ground = ground
        self._asked = [name for name in dict.fromkeys(ids) if ground.is_object(name)][:_MOST]
        self._written_at = written_at if ground.is_object(written_at) else ""

    @cached_property
    def present(self) -> frozenset[str]:
        """The commits that this clone has at all."""
        if not self._asked:
            return frozenset()
        lines = "".join(f"{name}\n" for name in self._asked).encode()
        code, output, _ = try_git(self._ground.root, "cat-file", "--batch-check", stdin=lines)
        answers = [line.split() for line in output.decode("ascii", "replace").splitlines()] if code == 0 else []
        return frozenset(parts[0] for parts in answers if len(parts) == 3 and parts[1] == "commit")

    @cached_property
    def ancestors(self) -> frozenset[str]:
        """The commits that are in the history of HEAD."""
        head = self._ground.facts.head
        if not head or not self.present:
            return frozenset()
        lines = "".join(f"{name}\n" for name in (*sorted(self.present), f"^{head}")).encode()
        code, output, _ = try_git(self._ground.root, "rev-list", "--stdin", stdin=lines)
        if code != 0:
            return frozenset()
        return self.present - frozenset(output.decode().split())

    @cached_property
    def rewritten(self) -> dict[str, str]:
        """Old id → new id of commits that were amended, rebased or picked: same author, author date and subject."""
        lost = sorted(self.present - self.ancestors)
        head = self._ground.facts.head
        if not lost or not head:
            return {}
        olds = self._signatures("--no-walk=unsorted", *lost)
        news = {signature: name for name, signature in self._signatures(f"-{_LOOKED_AT}", head).items()}
        return {old: news[signature] for old, signature in olds.items() if signature in news}

    def _signatures(self, *arguments: str) -> dict[str, str]:
        form = "--format=%H%x00%ae %at %s"
        code, output, _ = try_git(self._ground.root, "log", "-z", "--encoding=UTF-8", form, *arguments, "--")
        fields = output.decode("utf-8", "replace").split("\0") if code == 0 else []
        return dict(zip(fields[::2], fields[1::2], strict=False))

    @cached_property
    def reverted(self) -> dict[str, str]:
        """Commit → the later commit that took it back, as its message says; a revert that was taken back is none."""
        head, since = self._ground.facts.head, self._written_at
        if not head or since not in self.ancestors:
            return {}
        arguments = ("log", "-z", "--reverse", f"-{_LOOKED_AT}", "--grep=This reverts commit", "--format=%H%n%B")
        code, output, _ = try_git(self._ground.root, *arguments, f"{since}..{head}", "--")
        found: dict[str, str] = {}
        for record in output.decode("utf-8", "replace").split("\0") if code == 0 else ():
            name, _, message = record.partition("\n")
            for target in _REVERTS.findall(message):
                undone = [commit for commit, by in found.items() if by == target]
                for commit in undone:
                    del found[commit]
                if not undone:
                    found[target] = name.strip()
        return found

    def is_ahead(self, commit: str) -> bool:
        """Say whether HEAD was moved back: it is an ancestor of `commit`."""
        head = self._ground.facts.head
        if not head or commit not in self.present:
            return False
        return try_git(self._ground.root, "merge-base", "--is-ancestor", head, commit)[0] == 0

    def same_tree(self, commit: str) -> bool:
        """Say whether `commit` recorded the very tree that HEAD has."""
        tree = self._ground.facts.effective_head_tree
        if not tree or commit not in self.present:
            return False
        code, output, _ = try_git(self._ground.root, "rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}")
        return code == 0 and output.decode().strip() == tree


def former_names(root: Path, branch: str) -> frozenset[str]:
    """Return the names from which a branch was renamed here, at once or in steps, as HEAD's log tells."""
    code, output, _ = try_git(root, "reflog", "show", "--format=%gs", "-n", str(_MOVES), "HEAD")
    known = {branch}
    for line in output.decode("utf-8", "replace").splitlines() if code == 0 else ():
        found = _RENAMED.fullmatch(line)
        if found and found[2] in known:
            known.add(found[1])
    return frozenset(known - {branch})
