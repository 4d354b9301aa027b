"""What worlds are made of: a kernel's source with the defects it can have, and a world chosen from them."""

from __future__ import annotations

from msgspec import Struct


class Swap(Struct, frozen=True):
    """One hunk: in `path` the text `bad` stands where `good` should. Each occurs once in its version of the file.

    Where `bad` is empty the file is missing, and `good` is all of it.
    """

    path: str
    bad: str
    good: str


class Defect(Struct, frozen=True, kw_only=True):
    """One thing that can be wrong with a kernel: what is asked, the hunks that mend it, the hidden tests that judge it.

    `hidden` holds test methods. `after` names defects to be mended first. `wrong` is a second plausible way to mend it,
    which the hidden tests do not accept. `slip` is the message of the commit with which it came in; without one it was
    there from the beginning.
    """

    id: str
    title: str
    ask: str
    swaps: tuple[Swap, ...]
    hidden: str
    after: tuple[str, ...] = ()
    wrong: tuple[Swap, ...] = ()
    slip: str = ""


class Variant(Struct, frozen=True, kw_only=True):
    """One world of a kernel: names for its placeholders (`@name@`), its defects in order, and what makes it messy.

    `shape` is where its modules lie: a folder such as `src/@pkg@/`, or `@pkg@_` for files side by side at the top.
    `mess` holds `todo` (a misleading comment), `pin` (a dependency that stays), `expected` (a test that fails and is
    known to) and `decision` (a record of a choice that is kept).
    """

    id: str
    names: dict[str, str]
    defects: tuple[str, ...]
    mess: tuple[str, ...] = ()
    shape: str = "@pkg@/"


class Kernel(Struct, frozen=True, kw_only=True):
    """A small program as it should be. `header` begins the hidden tests; `keep` are those that always have to pass.

    `todo` puts a comment before a line: path, the line, the comment. `decision` is the text of a decision record.
    `trap` is a hunk, of no defect, that looks like tidying up and breaks a visible test.
    """

    id: str
    task: str
    files: dict[str, str]
    header: str
    keep: str
    defects: tuple[Defect, ...]
    variants: tuple[Variant, ...]
    todo: tuple[str, str, str]
    decision: str
    trap: Swap | None = None


class Part(Struct, frozen=True, kw_only=True):
    """One subtask of a world, with the hunks of the reference for it.

    `after` are the subtasks to be done first, `tests` the hidden tests that judge it.
    """

    id: str
    title: str
    ask: str
    swaps: tuple[Swap, ...]
    wrong: tuple[Swap, ...] = ()
    after: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


class Commit(Struct, frozen=True):
    """One commit of a world's past: its message, and the files that it puts there."""

    message: str
    files: dict[str, str]


class World(Struct, frozen=True, kw_only=True):
    """A small repository with a task. `files` is the start, `reference` what the reference patch makes of its files.

    `history` are the commits that led to it. `hidden` are files that only the judge puts in; `fail_to_pass` and
    `pass_to_pass` are ids as unittest writes them. `traps` are hunks that break a visible test. `known_failing` are
    visible tests that fail whatever anybody does.
    """

    id: str
    kernel: str
    task: str
    files: dict[str, str]
    reference: dict[str, str]
    subtasks: tuple[Part, ...]
    visible: tuple[str, ...]
    hidden: dict[str, str]
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    traps: tuple[Swap, ...] = ()
    known_failing: tuple[str, ...] = ()
    history: tuple[Commit, ...] = ()
