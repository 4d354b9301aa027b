"""The table of sources: facts only. A source's module is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.origin import Origin
from passdown.data.sources.parts import Part
from passdown.errors import UsageError
from passdown.model.pattern import lazy_pattern
from passdown.trajectories.document import Row
from passdown.trajectories.outline import Outline, outline


class Source(NamedTuple):
    """One row: the source's id, its name as it is published, and the licence that its card states (SPDX).

    The licence is empty where nobody stated one. `claims` says whether a file whose first row has this shape is the
    source's; a source without it is named by hand, or is what no other claims.
    """

    id: str
    title: str
    licence: str
    module: str
    claims: Callable[[Outline, bytes], bool] | None = None


class Rows(Protocol):
    """What the module of a published set offers."""

    def read_row(self, row: Row, origin: Origin) -> Trajectory | Reject:
        """Return the trajectory of a row, or why it is none."""


class Files(Protocol):
    """What the module of a source that reads whole files (or repositories) offers."""

    def read_file(self, path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
        """Yield the trajectories of a file, or a reject that says why there are none."""


_SYNTHETIC = lazy_pattern(rb'\s*"[\w.-]{1,60}?__[\w.-]{1,60}?\.[0-9a-f]{8}\.')


def _of_swe_smith(shape: Outline) -> bool:
    """Say whether a row's instance is one of SWE-smith: a file's shape alone is no ground to state a licence."""
    return shape.has("messages", "instance_id") and _SYNTHETIC.match(shape.keys["instance_id"]) is not None


def _typed(head: bytes) -> bool:
    return b"```bash" in head and (b"THOUGHT" in head or b"<returncode>" in head)


SOURCES: tuple[Source, ...] = (
    Source("nebius_openhands", "nebius/SWE-rebench-openhands-trajectories", "CC-BY-4.0",
           "passdown.data.sources.openhands_rows",
           lambda shape, _: shape.has("trajectory_id", "instance_id", "trajectory")
           and "role" in shape.within("trajectory")),
    Source("nebius_swe_agent", "nebius/SWE-agent-trajectories", "CC-BY-4.0", "passdown.data.sources.swe_agent_rows",
           lambda shape, _: shape.has("instance_id", "model_name", "target", "trajectory")),
    Source("swe_gym", "SWE-Gym/OpenHands-Sampled-Trajectories", "", "passdown.data.sources.openhands_rows",
           lambda shape, _: shape.has("instance_id", "run_id", "messages")),
    Source("klear_mini", "Kwai-Klear/SWE-smith-mini_swe_agent_plus-trajectories-66k", "MIT",
           "passdown.data.sources.klear_mini",
           lambda shape, head: _of_swe_smith(shape) and shape.keys.keys() == {"messages", "instance_id"}
           and _typed(head)),
    Source("swe_smith", "SWE-bench/SWE-smith-trajectories", "MIT", "passdown.data.sources.swe_smith",
           lambda shape, _: _of_swe_smith(shape)),
    Source("r2e_gym", "R2E-Gym/R2EGym-SFT-Trajectories", "", "passdown.data.sources.r2e_gym",
           lambda shape, head: shape.has("messages") and "role" in shape.within("messages")
           and b"<github_issue>" in head and b"<function=" in head),
    Source("adp", "Agent Data Protocol", "", "passdown.data.sources.adp",
           lambda shape, _: shape.has("id", "content") and "class_" in shape.within("content")),
    Source("sessions", "sessions and trajectory files", "", "passdown.data.sources.sessions"),
    Source("commits", "commit series of a repository", "", "passdown.data.sources.commits"),
    Source("worlds", "scripted runs in worlds of our own", "Apache-2.0", "passdown.data.sources.worlds"),
)  # fmt: skip
"""Every source, in the order in which a file is tried. `sessions` takes what no other claims."""

AUTO = "auto"
_WHOLE = frozenset({"sessions", "commits", "worlds"})


def source_called(name: str) -> Source:
    """Return a source by its id or by the name it is published under. Raises `UsageError` naming the known ones."""
    wanted = name.strip().lower().replace("-", "_")
    for source in SOURCES:
        if wanted in (source.id, source.title.lower().replace("-", "_")):
            return source
    known = ", ".join(source.id for source in SOURCES)
    raise UsageError(f"no source called {name[:60]!r}", next_step=f"Known: {AUTO}, {known}.")


def recognise(path: Path) -> Source:
    """Return the source that a file's content is of: `commits` for a folder, `sessions` where no set claims it."""
    if path.is_dir():
        return source_called("commits")
    from passdown.data.sources.rows import head_of

    head = head_of(path)
    shape = outline(head)
    return next(
        (row for row in SOURCES if row.claims is not None and row.claims(shape, head)), source_called("sessions")
    )


def is_rows(path: Path, source: str = AUTO) -> bool:
    """Say whether a file holds a trajectory a row, so that a part of it can be read by itself."""
    row = source_called(source) if source != AUTO else recognise(path)
    if row.id != "sessions":
        return row.id not in _WHOLE
    from passdown.data.sources.sessions import is_rows as are_rows

    return are_rows(path)


def read_source(
    path: Path, source: str = AUTO, *, licence: str = "", name: str = "", part: Part | None = None
) -> Iterator[Trajectory | Reject]:
    """Yield what a file (or a git repository) holds, one trajectory at a time, and a reject for what is none.

    The content decides the format unless `source` names one. `licence` replaces the source's own, `name` the file's.
    `part` is one of a file of rows (see `parts_of`). Raises `UsageError` for a source that is not known or a path that
    is not there.
    """
    path = Path(path)
    row = source_called(source) if source != AUTO else None
    if not path.exists():
        raise UsageError("there is no such file or folder", where=str(path), next_step="Name one that is there.")
    from passdown.data.sources.sessions import BROKEN

    origin = Origin(source=row.id if row is not None else "sessions", licence=licence, file=name or path.name)
    try:
        row = row if row is not None else recognise(path)
        origin = Origin(source=row.id, licence=licence or row.licence, file=name or path.name)
        module = import_module(row.module)
        if row.id in _WHOLE and part is not None:
            yield from module.read_part(path, origin, part)
        elif row.id in _WHOLE:
            yield from cast("Files", module).read_file(path, origin)
        else:
            yield from _rows(cast("Rows", module), path, origin, part)
    except BROKEN as error:
        yield origin.reject("unreadable", detail=getattr(error, "what", type(error).__name__))


def _rows(module: Rows, path: Path, origin: Origin, part: Part | None) -> Iterator[Trajectory | Reject]:
    from passdown.data.sources.rows import rows_in

    for number, row in enumerate(rows_in(path, part), 1 + (part.rows if part is not None else 0)):
        row = row._replace(line=number)
        if row.data is None:
            yield origin.reject("too_large", number, f"{row.length} bytes")
        else:
            yield module.read_row(row, origin)
