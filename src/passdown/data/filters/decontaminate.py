"""Leave out what an evaluation is made of: the same instance or commit, nearly the same issue, nearly the same patch.

The evaluation list is JSON lines with `instance_id`, `repo`, `base_commit`, `problem_statement` (or `issue`) and
`patch`; every field may be missing.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from passdown.data.filters.result import Filtered, dropped
from passdown.data.filters.shingles import grams, words_of
from passdown.data.records import Trajectory
from passdown.errors import FormatError
from passdown.io.jsonl import read_file_lines
from passdown.io.log import BAD

STAGE = "decontaminate"
GRAM = 13
OVERLAP = 0.5
_FEWEST = 3
"""Distinct lines that a patch must have for its lines to say anything where no file is shared."""
_LINE = 6
_SHORTEST = 7


class Case(Struct, gc=False):
    """One instance of an evaluation."""

    instance_id: Any = None
    repo: Any = None
    base_commit: Any = None
    problem_statement: Any = None
    issue: Any = None
    patch: Any = None
    test_patch: Any = None


_CASE = msgspec.json.Decoder(Case)


class Evaluation:
    """An evaluation list, made ready to be looked up in."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.names: dict[str, str] = {}
        self.commits: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.issues = _Index()
        self.lines = _Index()
        for number, case in enumerate(cases, 1):
            name = _text(case.instance_id) or f"case {number}"
            self.names.setdefault(_plain(name), name)
            if _text(case.repo) and _text(case.base_commit):
                self.commits[_repo(_text(case.repo))].append((_text(case.base_commit).lower(), name))
            self.issues.add(name, _issue(_text(case.problem_statement) or _text(case.issue)))
            self.lines.add(name, patch_lines(_text(case.patch)))

    def __len__(self) -> int:
        return len(self.names)

    def match(self, trajectory: Trajectory) -> tuple[str, str] | None:
        """Return how a trajectory meets the evaluation and which instance, None when it does not."""
        if trajectory.instance_id and (name := self.names.get(_plain(trajectory.instance_id))):
            return "same_instance", name
        base = trajectory.base_commit.lower()
        for commit, name in self.commits.get(_repo(trajectory.repo), ()):
            if min(len(base), len(commit)) >= _SHORTEST and (base.startswith(commit) or commit.startswith(base)):
                return "same_commit", name
        if (name := self.issues.nearest(_issue(trajectory.task_text), 1)) is not None:
            return "same_issue", name
        if (name := self.lines.nearest(patch_lines(trajectory.outcome.patch), _FEWEST)) is not None:
            return "same_patch", name
        return None


class _Index:
    """Sets of features by name, found by what they share."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.named: list[str] = []
        self.holders: dict[Any, list[int]] = defaultdict(list)

    def add(self, name: str, features: frozenset[Any]) -> None:
        if features:
            for feature in features:
                self.holders[feature].append(len(self.sizes))
            self.sizes.append(len(features))
            self.named.append(name)

    def nearest(self, features: frozenset[Any], fewest: int) -> str | None:
        """Return the set that shares most, at least half of the smaller one and `fewest` features."""
        shared = Counter(number for feature in features for number in self.holders.get(feature, ()))
        close = [
            (-count, self.named[number])
            for number, count in shared.items()
            if count >= OVERLAP * min(len(features), self.sizes[number])
            and count >= min(fewest, max(len(features), self.sizes[number]))
        ]
        return min(close)[1] if close else None


def read_evaluation(path: Path) -> Evaluation:
    """Return the evaluation that a file of JSON lines lists. Raises `FormatError` for a line that is no object."""
    cases = []
    for line in read_file_lines(path):
        if not (line.data or b"").strip():
            continue
        try:
            cases.append(_CASE.decode(line.data or b""))
        except BAD as error:
            raise FormatError(
                "this line of the evaluation list is no JSON object", where=f"{path.name}:{line.number}",
                next_step="Give one instance a line.",
            ) from error  # fmt: skip
    return Evaluation(cases)


def decontaminate(trajectories: Iterable[Trajectory], evaluation: Evaluation) -> Filtered:
    """Yield the trajectories that share nothing with the evaluation, and a reject for each that does."""
    for trajectory in trajectories:
        found = evaluation.match(trajectory)
        yield trajectory if found is None else dropped(STAGE, trajectory, *found)


def _issue(text: str) -> frozenset[int]:
    words = words_of(text)
    return frozenset(grams(words, GRAM).tolist()) if len(words) >= GRAM else frozenset()


def patch_lines(patch: str) -> frozenset[str]:
    """Return the lines that a patch adds or removes, without white space around them and without trivial ones."""
    found = set()
    for line in patch.split("\n"):
        if line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")):
            text = " ".join(line[1:].split())
            if len(text) >= _LINE and any(character.isalnum() for character in text):
                found.add(line[0] + text)
    return frozenset(found)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _plain(name: str) -> str:
    return name.strip().lower()


def _repo(name: str) -> str:
    return name.strip().strip("/").removesuffix(".git").lower()
