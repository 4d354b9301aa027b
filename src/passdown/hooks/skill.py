"""The skill in a project's folders: what installing or removing it would change. `apply_skill` then does it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.agents.table import TABLE, Agent, rows_called
from passdown.errors import ConflictError, PassdownError
from passdown.handoff.place import find_root
from passdown.handoff.writing.layout import read_layout_of
from passdown.handoff.writing.skill import MAIN, NAME, digest, own_digests, skill_files
from passdown.hooks.change import Change, Plan, apply_plan, find_target, read_settings

STANDARD = ".agents/skills"
"""The folder that most agents share."""

State = Literal["missing", "installed", "old", "edited", "foreign"]


class SkillPlace(Struct, frozen=True, kw_only=True):
    """One folder for skills: who looks there, and how the skill in it stands.

    `old` is passdown's, but not what it would write now; `edited` was changed by somebody; `foreign` is not passdown's.
    """

    path: str
    agents: tuple[str, ...]
    state: State


def skilled_agents(names: Iterable[str] = ()) -> list[Agent]:
    """Return the agents of these names, all that load skills when there are none. Raises `UsageError` for another."""
    return rows_called(names, [row for row in TABLE if row.skills], "skills")


def plan_skill(folder: Path, agents: Iterable[Agent]) -> Plan:
    """Return what installing would change. Files of somebody else, and edited ones, are refused and left alone."""
    root = find_root(folder)
    wanted = skill_files(read_layout_of(root))
    changes: list[Change] = []
    refused: list[tuple[str, PassdownError]] = []
    for place, names in _places(agents).items():
        try:
            made = [_writing(root, place, names, name, data, wanted) for name, data in wanted.items()]
        except PassdownError as error:
            refused.append((names, error))
            continue
        known = {change.target for change in changes}  # one folder may be a link to another
        changes += [change for change in made if change.target not in known]
    return Plan(changes=tuple(changes), refused=tuple(refused))


def plan_skill_removal(folder: Path, agents: Iterable[Agent]) -> Plan:
    """Return what uninstalling would remove: files as passdown wrote them."""
    root = find_root(folder)
    wanted = skill_files(read_layout_of(root))
    changes: list[Change] = []
    refused: list[tuple[str, PassdownError]] = []
    for place, names in _places(agents).items():
        try:
            ours = list(_own(root, place, wanted))
        except PassdownError as error:
            refused.append((names, error))
            continue
        known = {change.target for change in changes}
        changes += [
            Change(agent=names, title=NAME, scope="project", path=_path(root, place, name),
                   target=target, before=before, after=None, ours=False)
            for name, target, before in reversed(ours) if target not in known
        ]  # fmt: skip
    return Plan(changes=tuple(changes), refused=tuple(refused))


def apply_skill(plan: Plan) -> None:
    """Make the changes, and remove the skill's own folders when nothing is left in them."""
    apply_plan(plan)
    for change in plan.changes:
        if change.after is None and change.changes:
            for folder in list(change.target.parents)[:2]:
                if folder.name in (NAME, "references"):
                    with contextlib.suppress(OSError):  # somebody put something into it
                        folder.rmdir()


def skill_places(folder: Path, agents: Iterable[Agent]) -> list[SkillPlace]:
    """Say how the skill stands in each folder."""
    root = find_root(folder)
    wanted = skill_files(read_layout_of(root))
    return [
        SkillPlace(path=f"{place}/{NAME}", agents=tuple(names.split(", ")), state=_state(root, place, wanted))
        for place, names in _places(agents).items()
    ]


def _places(agents: Iterable[Agent]) -> dict[str, str]:
    """Return the folders for skills, each with the agents that look there."""
    places: dict[str, str] = {}
    for row in agents:
        places[row.skills] = f"{places[row.skills]}, {row.id}" if row.skills in places else row.id
    return places


def _path(root: Path, place: str, name: str) -> Path:
    return root / place / NAME / name


def _state(root: Path, place: str, wanted: dict[str, bytes]) -> State:
    try:
        found = {name: read_settings(find_target(_path(root, place, name), "project", root)) for name in wanted}
        main = found[MAIN]
        if all(data is None for data in found.values()):
            return "missing"
        marks = own_digests(main) if main is not None else None
    except PassdownError:
        return "foreign"
    if not marks:
        return "foreign" if marks is None else "edited"
    others = {name: data for name, data in found.items() if data is not None and name != MAIN}
    if any(digest(data) not in marks and not _same(data, wanted[name]) for name, data in others.items()):
        return "edited"
    return "installed" if all(_same(found[name], data) for name, data in wanted.items()) else "old"


def _same(found: bytes | None, wanted: bytes) -> bool:
    return found is not None and digest(found) == digest(wanted)


def _writing(
    root: Path, place: str, names: str, name: str, data: bytes, wanted: dict[str, bytes]
) -> Change:  # fmt: skip
    path = _path(root, place, name)
    target = find_target(path, "project", root)
    before = read_settings(target)
    if before is not None:
        _require_own(root, place, name, before, wanted)
    after = before if _same(before, data) else data  # other line ends are no change
    return Change(agent=names, title=NAME, scope="project", path=path, target=target, before=before, after=after,
                  was="missing" if before is None else "")  # fmt: skip


def _own(root: Path, place: str, wanted: dict[str, bytes]) -> Iterator[tuple[str, Path, bytes]]:
    for name in wanted:
        path = _path(root, place, name)
        target = find_target(path, "project", root)
        before = read_settings(target)
        if before is not None:
            _require_own(root, place, name, before, wanted)
            yield name, target, before


def _require_own(root: Path, place: str, name: str, data: bytes, wanted: dict[str, bytes]) -> None:
    """Raise `ConflictError` unless passdown wrote the file as it is."""
    main = read_settings(find_target(_path(root, place, MAIN), "project", root)) if name != MAIN else data
    marks = own_digests(main) if main is not None else None
    where = f"{place}/{NAME}/{MAIN if marks == [] else name}"
    if marks is None and not (main is None and _same(data, wanted[name])):
        raise ConflictError("is there and was not written by passdown", where=where, next_step="Move it away.")
    if marks == [] or (marks and name != MAIN and digest(data) not in marks and not _same(data, wanted[name])):
        raise ConflictError("was edited after passdown wrote it", where=where,
                            next_step="Move it away to have it made anew, or remove it by hand.")  # fmt: skip
