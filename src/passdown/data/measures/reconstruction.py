"""Context reconstruction: how far a successor's first actions are from a verified continuation, and what it redid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from passdown.data.records import ActionKind

ERROR_THRESHOLD = 0.6
AVOIDABLE_THRESHOLD = 0.3

Level = Callable[[str], str]


def multiset_f1(successor: Sequence[str], reference: Sequence[str]) -> float:
    """Return the overlap of two runs of actions, counting repeats and not the order; 1 when both are empty."""
    total = len(successor) + len(reference)
    return 2 * (Counter(successor) & Counter(reference)).total() / total if total else 1.0


def lcs_f1(successor: Sequence[str], reference: Sequence[str]) -> float:
    """Return the overlap of two runs of actions in order; 1 when both are empty."""
    total = len(successor) + len(reference)
    return 2 * longest_common(successor, reference) / total if total else 1.0


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    # One bit a position of `one`: a row of the table is one addition on whole numbers.
    places: dict[str, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        here = row & places.get(item, 0)
        row = ((row + here) | (row - here)) & full
    return len(one) - row.bit_count()


def e_cr(
    successor: Sequence[str], references: Sequence[Sequence[str]], *, horizon: int | None = None, soft: bool = False
) -> float | None:
    """Return the error of context reconstruction in 0..1, against the nearest of several verified continuations.

    With `horizon` only so many first actions of both count. With `soft`, an action on the same file counts whole, one
    in the same folder half. None without a reference.
    """
    close = _soft if soft else _exact
    return min((1 - close(successor[:horizon], one[:horizon]) for one in references), default=None)


def _exact(one: Sequence[str], other: Sequence[str]) -> float:
    return (multiset_f1(one, other) + lcs_f1(one, other)) / 2


def _soft(one: Sequence[str], other: Sequence[str]) -> float:
    total = len(one) + len(other)
    if not total:
        return 1.0
    return (2 * _soft_overlap(one, other) + 2 * _soft_sequence(one, other)) / total / 2


_ABOUT_FILES = frozenset(("READ", "EDIT", "CREATE", "DELETE"))


def _file(item: str) -> str:
    kind, _, target = item.partition(" ")
    return f"{kind} {target.partition('[')[0]}" if kind in _ABOUT_FILES else item


def _folder(item: str) -> str:
    kind, _, target = item.partition(" ")
    return f"{kind} {target.partition('[')[0].rpartition('/')[0]}/" if kind in _ABOUT_FILES else item


_LEVELS: tuple[tuple[Level, float], ...] = ((str, 1.0), (_file, 1.0), (_folder, 0.5))


def _soft_overlap(one: Sequence[str], other: Sequence[str]) -> float:
    left, right = Counter(one), Counter(other)
    found = 0.0
    # The classes are nested, so that taking the closest pairs first is the best matching there is.
    for level, weight in _LEVELS:
        ours, theirs = _by(left, level), _by(right, level)
        for name in ours:
            pairs = min(sum(ours[name].values()), sum(theirs.get(name, Counter()).values()))
            found += weight * pairs
            _take(left, ours[name], pairs)
            _take(right, theirs.get(name, Counter()), pairs)
    return found


def _by(counts: Counter[str], level: Level) -> dict[str, Counter[str]]:
    grouped: dict[str, Counter[str]] = {}
    for item, count in counts.items():
        grouped.setdefault(level(item), Counter())[item] += count
    return grouped


def _take(counts: Counter[str], of: Counter[str], many: int) -> None:
    for item in sorted(of):
        taken = min(many, of[item])
        counts[item] -= taken
        many -= taken


def _alike(one: str, other: str) -> float:
    return next((weight for level, weight in _LEVELS if level(one) == level(other)), 0.0)


def _soft_sequence(one: Sequence[str], other: Sequence[str]) -> float:
    row = [0.0] * (len(other) + 1)
    for item in one:
        diagonal = 0.0
        for at, against in enumerate(other, start=1):
            above = row[at]
            row[at] = max(above, row[at - 1], diagonal + _alike(item, against))
            diagonal = above
    return row[-1]


def e_cr_seed(successor: Sequence[str], reference: Sequence[str]) -> float | None:
    """Return the proposal's form: the share of the reference's distinct actions that the successor never did."""
    wanted = set(reference)
    return 1 - len(wanted & set(successor)) / len(wanted) if wanted else None


class Visit(Struct, frozen=True, kw_only=True):
    """One action as rediscovery sees it: its key, the file it is about, and a hash of what was there then.

    `content` is empty when nobody knows it; what a search or a test looked at may be hashed as a whole tree.
    """

    key: str
    kind: ActionKind
    path: str = ""
    content: str = ""


class Rediscovery(NamedTuple):
    """How much of a successor's work was done before. `avoidable` and `unavoidable` hold places in its actions."""

    actions: int
    avoidable: tuple[int, ...] = ()
    unavoidable: tuple[int, ...] = ()

    @property
    def r_avoid(self) -> float | None:
        """Repeats of what the view had told, per action; None for no action."""
        return len(self.avoidable) / self.actions if self.actions else None

    @property
    def r_total(self) -> float | None:
        """All repeats, per action; None for no action."""
        return (len(self.avoidable) + len(self.unavoidable)) / self.actions if self.actions else None


_LOOKS = frozenset(("READ", "SEARCH", "TEST", "INSTALL"))


def rediscovery(successor: Sequence[Visit], prefix: Sequence[Visit], stated: Collection[str] = ()) -> Rediscovery:
    """Find the reads, searches, tests and installs that the predecessor had done already, on an unchanged target.

    `stated` are the keys of what the view tells: a repeat of it was avoidable. The first look into a file just before
    editing it is good practice and no repeat. A content that is not known on one side counts as unchanged only when
    nothing in between wrote the file.
    """
    last = {visit.key: (at, visit) for at, visit in enumerate(prefix)}
    written: set[str] = set()
    seen: set[str] = set()
    avoidable: list[int] = []
    unavoidable: list[int] = []
    for at, visit in enumerate(successor):
        if visit.kind in ("EDIT", "CREATE", "DELETE"):
            written.add(visit.path)
        if visit.kind not in _LOOKS:
            continue
        known = last.get(visit.key)
        exempt = visit.kind == "READ" and visit.path not in seen and _edits_next(successor, at)
        seen.add(visit.path)
        if known is None or exempt or _changed(visit, known[1], prefix[known[0] + 1 :], written):
            continue
        (avoidable if visit.key in stated else unavoidable).append(at)
    return Rediscovery(len(successor), tuple(avoidable), tuple(unavoidable))


def _edits_next(successor: Sequence[Visit], at: int) -> bool:
    for visit in successor[at + 1 :]:
        if visit.kind in ("EDIT", "CREATE", "DELETE"):
            return visit.path == successor[at].path
        if visit.kind not in ("READ", "SEARCH", "PLAN", "NOTE"):
            return False
    return False


def _changed(visit: Visit, before: Visit, since: Sequence[Visit], written: Collection[str]) -> bool:
    if visit.content and before.content:
        return visit.content != before.content
    wrote = {one.path for one in since if one.kind in ("EDIT", "CREATE", "DELETE")} | set(written)
    return visit.path in wrote if visit.path else bool(wrote)


def is_crf(
    error: float | None, r_avoid: float | None, *, solved_otherwise: bool = False,
    error_threshold: float = ERROR_THRESHOLD, avoidable_threshold: float = AVOIDABLE_THRESHOLD,
) -> bool | None:  # fmt: skip
    """Say whether context reconstruction failed: far from every reference (and not solved by another route), or much
    avoidable repetition. None when neither is known. Thresholds are to be set from the quantiles of a validation set.
    """
    if error is None and r_avoid is None:
        return None
    far = error is not None and error > error_threshold and not solved_otherwise
    return far or (r_avoid is not None and r_avoid > avoidable_threshold)
