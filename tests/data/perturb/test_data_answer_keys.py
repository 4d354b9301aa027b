"""The answer key both ways: what it says was done is there in the perturbed state, and is not there without it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from passdown.data.perturb.notes import entries, path_pattern
from passdown.data.perturb.table import NAMES
from passdown.data.records import Snapshot, Truth, View
from passdown.data.views.preamble import parts
from passdown.data.views.table import build_view

VIEW_OF = {"truncate_trace": "trace"}
SEEDS = (1, 2, 3)


class Side(NamedTuple):
    """A state: its notes and files, with the work that it is a state of and the key that is asked about."""

    view: View
    snapshot: Snapshot
    work: Any
    truth: Truth

    @property
    def notes(self) -> str:
        return parts(self.view.text).notes

    @property
    def tree(self) -> dict[str, bytes]:
        return self.work.files(self.snapshot)

    def listed(self, name: str) -> list[str]:
        return self.truth.params[name].split("; ")

    def work_left_in(self, path: str) -> int:
        """Count the lines in which a file differs from the base commit."""
        was, now = (files.get(path, b"").decode().split("\n") for files in (self.work.base, self.tree))
        return sum(line[0] in "+-" for line in difflib.ndiff(was, now))

    def is_undone(self) -> bool:
        """Say whether the touched files hold less of the predecessor's work than was left."""
        left = self._replace(snapshot=self.work.snapshot)
        return all(self.work_left_in(path) < left.work_left_in(path) for path in self.truth.touched)


def is_stale(side: Side) -> bool:
    at, prefix = int(side.truth.params["as_of"]), side.work.prefix
    then = build_view(side.view.name, structs.replace(prefix, k=at, steps=prefix.steps[:at]))
    return side.notes == parts(then.text).notes


def is_cut_short(side: Side) -> bool:
    left, params = entries(side.notes), side.truth.params
    return len(left) == int(params["of"]) - int(params["events"]) and left[-1].step <= int(params["last_step"])


def is_edited_without_harm(side: Side) -> bool:
    for path in side.truth.touched:
        was, now = side.work.left[path].decode(), side.tree[path].decode()
        words = side.truth.params[path].split()
        now_named = now.replace(words[3], words[1]) if words[0] == "renamed" else now
        if now == was or ast.dump(ast.parse(now_named)) != ast.dump(ast.parse(was)):
            return False
    return bool(side.truth.touched)


def is_moved(side: Side) -> bool:
    return all(old not in side.tree and side.tree.get(new) == side.work.left[old]
               for old, new in side.truth.params.items())  # fmt: skip


def is_lowered(side: Side) -> bool:
    lines = side.tree[side.truth.params["manifest"]].decode()
    return all(how.split(" to ")[1] in lines and how.split(" to ")[0] not in lines
               for name, how in side.truth.params.items() if name != "manifest")  # fmt: skip


def has_two_ways(side: Side) -> bool:
    (path,) = (path for path in side.truth.touched if path.endswith(".py"))
    names = {node.name for node in ast.parse(side.tree[path]).body if isinstance(node, ast.FunctionDef)}
    return {side.truth.params["first"], side.truth.params["second"]} <= names


def is_staged_otherwise(side: Side) -> bool:
    staged = {one.key: one.value for one in side.snapshot.volatile if one.kind == "git"}
    return all(staged.get(f"index:{path}") and side.work.blobs.get(staged[f"index:{path}"]) != side.tree[path]
               for path in side.truth.touched)  # fmt: skip


def is_half_merged(side: Side) -> bool:
    marked = all(side.tree[path].count(b"<<<<<<< HEAD") == int(side.truth.params["conflicts"])
                 for path in side.truth.touched)  # fmt: skip
    heads = [one.value for one in side.snapshot.volatile if one.key == "MERGE_HEAD"]
    return marked and heads == [side.truth.params["merge_head"]]


def is_vague(side: Side) -> bool:
    renamed = [how.split(" became ") for name, how in side.truth.params.items() if name.startswith("name_")]
    task = parts(side.view.text).task
    return all(vague in task and named not in task for named, vague in renamed)


def states_what_is_false(side: Side) -> bool:
    return set(side.truth.facts_now_false) <= set(side.view.facts)


def lacks_what_was_removed(side: Side) -> bool:
    return not set(side.truth.facts_removed) & set(side.view.facts)


THERE: dict[str, Callable[[Side], bool]] = {
    "drop_fact": lacks_what_was_removed,
    "drop_section": lambda side: not any(f"## {name}\n" in side.notes for name in side.listed("sections")),
    "truncate_trace": is_cut_short,
    "blur": lambda side: not any(path_pattern(path).search(side.notes) for path in side.listed("paths")),
    "stale_note": is_stale,
    "delete_log": lambda side: not set(side.listed("deleted")) & set(side.tree),
    "clear_scratch": lambda side: not set(side.listed("deleted")) & set(side.tree),
    "overwrite_file_section": Side.is_undone,
    "parallel_edit": is_edited_without_harm,
    "conflict_hunk": lambda side: all(
        text.encode() in side.tree[path] for path in side.truth.touched for text in side.truth.params.values()
    ),
    "moved_file": is_moved,
    "dep_downgrade": is_lowered,
    "revert_one_hunk": lambda side: side.is_undone() and states_what_is_false(side),
    "planted_error": lambda side: states_what_is_false(side) and lacks_what_was_removed(side),
    "flipped_test_status": lambda side: states_what_is_false(side) and lacks_what_was_removed(side),
    "dirty_index": is_staged_otherwise,
    "half_merge": is_half_merged,
    "drop_deciding_decision": lambda side: (
        lacks_what_was_removed(side)
        and not any(said in side.notes for name, said in side.truth.params.items() if name.startswith("decision"))
    ),
    "two_alternatives": has_two_ways,
    "conflicting_todos": lambda side: all(f"Leave out: {item}" in side.notes for item in side.truth.params.values()),
    "underspecified_symbol": is_vague,
}
"""How to see each operator's doing, by its key alone."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("strength", ["0", "0.5", "1"])
def test_what_the_key_says_is_there_and_was_not_there_before(work: Any, name: str, strength: str) -> None:
    view = VIEW_OF.get(name, "structured")
    for seed in SEEDS:
        done = work.done(f"{name}@{strength}", view=view, seed=seed)
        (truth,) = done.truths
        assert done.snapshot is not None
        assert THERE[name](Side(done.view, done.snapshot, work, truth)), "it is there"
        assert not THERE[name](Side(work.views[view], work.snapshot, work, truth)), "it was not there before"
