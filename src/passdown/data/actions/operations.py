"""What a call says about the content of files: typed operations, for a replay to apply in order.

A path is workspace-relative, or absolute for a file outside of the workspace. Nothing here is applied or run.
"""

# Annotations are not left as text here: msgspec would compile each of them again.

from typing import Literal

from msgspec import Struct


class Operation(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="op"):
    """One change of one file."""

    path: str


class Write(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="write"):
    """The file now holds exactly `content`; with `append` it holds it at its end (and may be new)."""

    content: str
    append: bool = False


class Replace(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="replace"):
    """`old` becomes `new`: `unique` fails unless it stands there once, `first` takes the first, `all` takes all.

    With an empty `old` the file is new and holds `new`. `lenient` tools also match with other white space.
    """

    old: str
    new: str
    which: Literal["unique", "first", "all"] = "unique"
    lenient: bool = False


class Insert(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="insert"):
    """`text` becomes the lines behind line `line` (0: before the first; -1: at the end)."""

    line: int
    text: str


class ReplaceLines(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="replace_lines"):
    """Lines `first` to `last` (1-based, both included) become `text`; an empty text deletes them."""

    first: int
    last: int
    text: str


class Diff(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="diff"):
    """The hunks for this one file: of a unified diff, or of a codex patch, whose hunks (`@@ context`) name no lines.

    `new` says that the file is made by it.
    """

    hunks: str
    form: Literal["unified", "codex"] = "unified"
    new: bool = False


class Sed(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="sed"):
    """`sed -i` with this script (`expressions` in order), in basic or extended syntax; `quiet` is `-n`."""

    expressions: tuple[str, ...]
    extended: bool = False
    quiet: bool = False


class Copy(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="copy"):
    """The file becomes a copy of `source`; with `move`, `source` is gone."""

    source: str
    move: bool = False


class Delete(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="delete"):
    """The file, or everything under the folder, is gone. The path may hold shell wildcards."""


class Restore(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="restore"):
    """Git puts the file back as `revision` has it (empty: the index or HEAD); path `.` means the whole tree."""

    revision: str = ""


class Undo(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="undo"):
    """The editor takes back its last change of the file."""


class Mode(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="mode"):
    """The file's content stays; `executable` says what `chmod` did, None when that is not plain."""

    executable: bool | None = None


class Opaque(Operation, frozen=True, kw_only=True, omit_defaults=True, tag="opaque"):
    """The file was changed, but how cannot be told without running `reason`. Path `.` means any file of the tree."""

    reason: str = ""


AnyOperation = (
    Write | Replace | Insert | ReplaceLines | Diff | Sed | Copy | Delete | Restore | Undo | Mode | Opaque
)  # fmt: skip
