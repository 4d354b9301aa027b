"""False alarms: clean commits, each judged against its parent; at most one in fifty may block.

The commits are this project's own history (what is there of it: a clone in CI may be shallow) and those of
`fixtures/quiet`: packages in six languages with prints, logging, comments that look like code, examples, licences,
fixtures, entry points, notebooks and generated files that are all meant.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from passdown.clean.content import Sources
from passdown.clean.leftovers import leftover_findings
from passdown.model.evidence import Change, Evidence, RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.workbench import Workbench

ROOT = Path(__file__).parents[2]
QUIET = Path(__file__).parents[1] / "fixtures" / "quiet"
NEWEST = 150
MOST = 0.02


class Step(NamedTuple):
    """A commit: its message, and the files that it writes."""

    message: str
    files: dict[str, str]


def steps(path: Path) -> Iterator[Step]:
    """Read the commits of a fixture: `## message`, then `=== path` and what the file holds."""
    for part in re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        message, _, rest = part.partition("\n")
        names = re.split(r"^=== (.+)\n", rest, flags=re.MULTILINE)[1:]
        yield Step(message, dict(zip(names[::2], names[1::2], strict=True)))


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def changes(root: Path, base: str, commit: str) -> tuple[Change, ...]:
    """What a commit changed, in two calls of git."""
    counts = dict(reversed(line.rsplit("\t", 1)) for line in _diff(root, "--numstat", base, commit))
    found = []
    for line in _diff(root, "--raw", base, commit):
        info, path = line.split("\t", 1)
        _, mode, _, blob, letter = info.split()
        added, deleted = counts[path].split("\t")
        sizes = {} if added == "-" else {"added": int(added), "deleted": int(deleted)}
        mode = "" if letter == "D" else mode
        found.append(Change(path=path, status=letter, mode=mode, blob=blob, binary=added == "-", **sizes))  # type: ignore[arg-type]
    return tuple(found)


def _diff(root: Path, form: str, base: str, commit: str) -> list[str]:
    return git(root, "-c", "core.quotepath=off", "diff-tree", "-r", form, "--no-renames", base, commit).splitlines()


def leftovers(root: Path, base: str, commit: str) -> list[Finding]:
    """What the content rules say of a commit that is checked out."""
    listed = changes(root, base, commit)
    facts = RepositoryFacts(root=str(root), base=base, changes=listed)
    evidence = Evidence(repository=facts, workbench=Workbench())
    return list(leftover_findings(evidence, Sources(root, base, listed), (), ()))


def blocks(found: list[Finding]) -> list[str]:
    return [f"{f.code} {f.where}:{f.line} {f.detail}" for f in found if f.severity == "block"]


def rate(judged: dict[str, list[str]]) -> float:
    """Return the share of commits that block; the report shows each."""
    wrong = {commit: found for commit, found in judged.items() if found}
    print(f"{len(wrong)} of {len(judged)} clean commits block")
    for commit, found in wrong.items():
        print(commit, *found, sep="\n  ")
    return len(wrong) / len(judged)


def test_this_projects_own_history(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-checkout", str(ROOT), str(clone))
    rows = [row.split() for row in git(clone, "log", "--no-merges", f"-{NEWEST}", "--format=%H %P").splitlines()]
    judged = {}
    for this, parent in (row for row in rows if len(row) == 2):  # the last commit of a shallow clone has no parent here
        git(clone, "checkout", "-q", "--detach", this)
        judged[this[:12]] = blocks(leftovers(clone, parent, this))
    if not judged:
        pytest.skip("the clone has no history")
    assert rate(judged) <= MOST


@pytest.mark.parametrize("path", sorted(QUIET.glob("*.txt")), ids=lambda path: path.stem)
def test_packages_in_six_languages(path: Path, repository: Any, judge: Any) -> None:
    """Every file of a step is a commit of its own, and then the whole step is judged by all five checks."""
    judged = {}
    start = repository.git("rev-parse", "HEAD")
    for step in steps(path):
        begun = repository.git("rev-parse", "HEAD")
        for name, text in step.files.items():
            parent = repository.git("rev-parse", "HEAD")
            repository.write(name, text)
            repository.git("add", "-f", "-A")
            this = repository.commit(f"{step.message}: {name}")
            judged[f"{step.message}: {name}"] = blocks(leftovers(repository.root, parent, this))
        judged[step.message] = list(judge(repository.root, base=begun).blocking)
    judged["all of it"] = list(judge(repository.root, base=start).blocking)
    assert len(judged) >= 14
    assert rate(judged) == 0


def test_there_are_enough_of_them() -> None:
    commits = sum(len(step.files) + 1 for path in QUIET.glob("*.txt") for step in steps(path))
    assert commits + NEWEST >= 240
    assert len(list(QUIET.glob("*.txt"))) >= 6
