"""Operators: what each does to the notes and the tree, and that the answer key says just that."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.data.perturb.notes import mentions
from passdown.data.perturb.scene import MemoryBlobs, Scene
from passdown.data.perturb.table import NAMES, OPERATORS, Use, operator, perturb, use
from passdown.data.prefix import cut
from passdown.data.records import FileState, Perturbed, Reject, Snapshot
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.snapshot import snapshot_id
from passdown.data.replay.virtual import replay
from passdown.data.views.facts import stated_in
from passdown.data.views.preamble import PREAMBLE, parts
from passdown.data.views.table import build_view
from passdown.errors import UsageError
from passdown.packet.tokens import estimate_tokens

VIEW_OF = {"truncate_trace": "trace"}


def notes(perturbed: Perturbed) -> str:
    return parts(perturbed.view.text).notes


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that went and the lines that came."""
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("strength", ["0", "0.5", "1"])
def test_every_operator_applies_and_its_key_says_what_it_did(work: Any, name: str, strength: str) -> None:
    view = VIEW_OF.get(name, "structured")
    done = work.done(f"{name}@{strength}", view=view)
    truth, row = done.truths[0], operator(name)
    assert (truth.op, truth.family, truth.strength) == (name, row.family, float(strength))
    assert (done.view, done.snapshot) != (work.views[view], work.snapshot)
    assert truth.acceptable
    assert truth.verifier.startswith("hidden_tests")
    assert done.view.tokens == estimate_tokens(done.view.text)
    assert done.view.text.startswith(PREAMBLE)
    before, after = work.files(work.snapshot), work.files(done.snapshot)
    differ = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert differ <= set(truth.touched)
    if row.needs == "view":
        assert done.snapshot == work.snapshot
    for fact in truth.facts_removed:
        assert fact not in done.view.facts
    assert set(truth.facts_removed) == set(work.views[view].facts) - set(done.view.facts) or name == "stale_note"
    if row.family == "ambiguity":
        assert "clarify" in truth.acceptable
    if truth.facts_now_false:
        assert truth.must_detect


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits(work: Any, name: str) -> None:
    view = VIEW_OF.get(name, "structured")
    assert work.perturb(name, view=view, seed=7) == work.perturb(name, view=view, seed=7)


@pytest.mark.parametrize("name", [row.name for row in OPERATORS if row.needs != "snapshot"])
def test_a_view_without_notes_is_refused_with_a_reason(work: Any, name: str) -> None:
    made = work.perturb(name, view="repo")
    if name == "underspecified_symbol":
        assert "that" in made.view.text
    else:
        assert isinstance(made, Reject)
        assert made.reason.startswith(f"{name}: ")
        assert (made.stage, made.trajectory_id) == ("perturb", work.prefix.trajectory_id)


@pytest.mark.parametrize("name", [row.name for row in OPERATORS if row.needs != "view"])
def test_an_operator_of_the_tree_is_refused_without_one(work: Any, name: str) -> None:
    made = perturb([name], None, work.views["structured"], 1, blobs=work.blobs, prefix=work.prefix, base=work.base)
    assert isinstance(made, Reject)
    assert made.reason == f"{name}: no snapshot"


def test_dropped_facts_are_nowhere_in_the_notes(work: Any) -> None:
    for view in ("structured", "summary", "trace"):
        done = work.done("drop_fact@0.3", view=view)
        dropped = done.truths[0].facts_removed
        assert dropped
        for fact in dropped:
            assert not mentions(notes(done), fact.key) or fact.type == "goal" or fact.key in parts(done.view.text).task
        went, came = difference(work.views[view].text, done.view.text)
        assert went
        came = [line for line in came if done.packet_id[:12] not in line or not done.packet_id]
        assert all(any(line.split(": ")[0] in old for old in went) for line in came if line)


def test_facts_that_stay_are_stated_as_before(work: Any) -> None:
    before = work.views["structured"]
    done = work.done("drop_fact@0.2")
    kept = set(stated_in(done.view.facts, notes(done)))
    assert kept == set(stated_in(before.facts, parts(before.text).notes)) - set(done.truths[0].facts_removed)


def test_a_section_goes_with_its_heading(work: Any) -> None:
    done = work.done("drop_section@0")
    title = done.truths[0].params["sections"]
    assert f"## {title}" in work.views["structured"].text
    assert f"## {title}" not in done.view.text


def test_a_trace_ends_earlier(work: Any) -> None:
    done = work.done("truncate_trace@0.3", view="trace")
    assert work.views["trace"].text.startswith(done.view.text.rstrip("\n"))
    last = int(done.truths[0].params["last_step"])
    assert all(fact.step <= last for fact in done.view.facts)


def test_a_path_becomes_its_folder(work: Any) -> None:
    done = work.done("blur@1", view="summary")
    assert "- Files changed: ./ (added); src/ (modified)" in notes(done)
    assert "src/cart.py" not in notes(done)
    assert "src/cart.py" in parts(done.view.text).task


def test_a_stale_note_is_the_view_of_then(work: Any) -> None:
    done = work.done("stale_note@0.3", view="summary")
    false = {fact.value for fact in done.truths[0].facts_now_false}
    assert any(value.startswith("failed: E assert 3 == 5") for value in false)
    refused = work.perturb("drop_fact", "stale_note", view="summary")
    assert isinstance(refused, Reject)
    assert refused.reason == "stale_note: the notes were changed before"


def test_what_was_left_beside_the_work_is_cleaned_away(work: Any) -> None:
    assert "run.log" not in work.files(work.done("delete_log").snapshot)
    done = work.done("clear_scratch@0")
    assert "reproduce.py" not in work.files(done.snapshot)
    assert [fact.key for fact in done.truths[0].facts_now_false] == ["reproduce.py"]


def test_a_lost_section_is_the_base_commits(work: Any) -> None:
    done = work.done("overwrite_file_section@1")
    assert work.files(done.snapshot)["src/cart.py"] == work.base["src/cart.py"]
    assert done.truths[0].must_detect
    assert [fact.key for fact in done.truths[0].facts_now_false] == ["src/cart.py"]
    assert not work.done("overwrite_file_section@0").truths[0].must_detect


def test_a_reverted_change_is_called_done(work: Any) -> None:
    done = work.done("revert_one_hunk@0", view="summary")
    assert b"amount + item" not in work.files(done.snapshot)["src/cart.py"]
    assert notes(done).endswith("- Done: all edits to `src/cart.py` are in the tree")
    assert done.truths[0].facts_now_false[0].key == "All edits to src/cart.py are in the tree"


def test_a_parallel_edit_does_no_harm(work: Any) -> None:
    seen = set()
    for seed in range(12):
        done = work.done("parallel_edit@0.5", seed=seed)
        for path in done.truths[0].touched:
            was, now = work.left[path].decode(), work.files(done.snapshot)[path].decode()
            how = done.truths[0].params[path]
            seen.add(how.split()[0])
            if how.startswith("renamed"):
                old, new = how.split()[1], how.split()[3]
                assert ast.dump(ast.parse(now.replace(new, old))) == ast.dump(ast.parse(was))
            else:
                assert ast.dump(ast.parse(now)) == ast.dump(ast.parse(was))
            assert now != was
        assert not done.truths[0].must_detect
    assert seen == {"renamed", "laid"}


def test_a_conflict_is_in_the_predecessors_lines_and_does_something_else(work: Any) -> None:
    done = work.done("conflict_hunk@1")
    text = work.files(done.snapshot)["src/cart.py"].decode()
    went, came = difference(work.left["src/cart.py"].decode(), text)
    assert set(went) <= set(difference(work.base["src/cart.py"].decode(), work.left["src/cart.py"].decode())[1])
    assert came == ['        amount = amount - item["price"]', "    found = 1"]
    assert ast.parse(text)


def test_a_moved_file_is_only_at_its_new_place(work: Any) -> None:
    done = work.done("moved_file@0")
    ((old, new),) = done.truths[0].params.items()
    tree = work.files(done.snapshot)
    assert old not in tree
    assert tree[new] == work.left[old]


def test_versions_of_a_manifest_are_lowered(work: Any) -> None:
    done = work.done("dep_downgrade@1")
    assert work.files(done.snapshot)["requirements.txt"] == b"tablib==2.0.0\nattrs==22.0\n"
    assert done.truths[0].params["tablib"] == "3.5.0 to 2.0.0"


def test_a_planted_error_is_in_the_words_and_in_the_key(work: Any) -> None:
    for view in ("structured", "summary", "trace"):
        for seed in range(6):
            done = work.done("planted_error@0.9", view=view, seed=seed)
            (false,) = done.truths[0].facts_now_false
            assert false in done.view.facts
            assert false not in work.views[view].facts
            assert done.view.text != work.views[view].text
            assert "may be wrong; nobody" not in notes(done)
    assert "may be wrong; nobody" in notes(work.done("planted_error@0.1"))


@pytest.mark.parametrize("view", ["structured", "summary", "trace"])
def test_a_result_is_turned_round_in_every_place(work: Any, view: str) -> None:
    done = work.done("flipped_test_status@1", view=view)
    truth = done.truths[0]
    assert all(fact.value.startswith("passed") for fact in truth.facts_now_false)
    assert set(truth.facts_now_false) <= set(done.view.facts)
    assert "(red)" not in notes(done)
    assert "E assert 0 == 5" not in notes(done)
    assert "4 passed" in notes(done)


def test_what_other_commands_gave_is_not_turned_round(script: Any) -> None:
    run = script().asks("Mend it.").runs("pytest -q", "2 passed").uses("edit", {"path": "a.py"}).runs("make tables")
    prefix = cut(run.runs("pytest -q", "2 passed").trajectory(), 5)
    done = perturb(("flipped_test_status@1",), None, build_view("summary", prefix), 1, prefix=prefix)
    assert isinstance(done, Perturbed)
    assert "make tables (exit 0)" in notes(done)
    assert "pytest -q (failed" in notes(done)


def test_a_file_that_the_run_made_is_no_change_when_it_is_gone(script: Any) -> None:
    run = script().asks("Mend it.").runs("ls src", "a.py")
    run = run.uses("str_replace_editor", {"command": "create", "path": "/testbed/reproduce.py", "file_text": "1\n"})
    prefix = cut(run.trajectory(), 3)
    blobs = MemoryBlobs()
    there = (FileState(path="reproduce.py", blob=blobs.put(b"1\n")),)
    snapshot = Snapshot(snapshot_id=snapshot_id(there, ()), delta=there)
    done = perturb(("moved_file",), snapshot, build_view("repo", prefix), 1, blobs=blobs, prefix=prefix)
    assert isinstance(done, Perturbed)
    assert done.snapshot is not None
    assert [state.path for state in done.snapshot.delta if not state.blob] == []


def test_the_index_holds_an_older_version(work: Any) -> None:
    done = work.done("dirty_index")
    assert done.snapshot is not None
    (state,) = done.snapshot.volatile
    staged = work.blobs.get(state.value)
    assert (state.kind, state.key) == ("git", "index:src/cart.py")
    assert staged != work.left["src/cart.py"]
    assert work.files(done.snapshot) == work.files(work.snapshot)


def test_a_half_merge_has_markers_and_a_head(work: Any) -> None:
    done = work.done("half_merge@0", seed=2)
    assert done.snapshot is not None
    text = work.files(done.snapshot)["src/cart.py"].decode()
    assert [text.count(mark) for mark in ("<<<<<<< ", "=======\n", ">>>>>>> ")] == [1, 1, 1]
    assert {state.key for state in done.snapshot.volatile} == {"MERGE_HEAD", "MERGE_MSG", "unmerged:src/cart.py"}


def test_the_deciding_decision_is_gone_and_both_ways_count(work: Any) -> None:
    for view in ("structured", "summary", "trace"):
        done = work.done("drop_deciding_decision", view=view)
        assert "generator" not in notes(done) or view == "structured"
        assert [way.split(":")[0] for way in done.truths[0].acceptable] == ["as_decided", "otherwise", "clarify"]


def test_a_second_way_stands_beside_the_first(work: Any) -> None:
    done = work.done("two_alternatives@1")
    text = work.files(done.snapshot)["src/cart.py"].decode()
    first, second = done.truths[0].params["first"], done.truths[0].params["second"]
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names.index(second) == names.index(first) + 1
    assert second in notes(done)


def test_items_contradict_each_other(work: Any) -> None:
    done = work.done("conflicting_todos@1", view="summary")
    for item in done.truths[0].params.values():
        assert f"To do: Leave out: {item}" in notes(done)
        assert item in notes(work.done("conflicting_todos@1", view="summary"))


def test_code_of_a_task_stays_exact(script: Any) -> None:
    task = "Mend `total()` in `src/cart.py`, so that `a = total() or 1` is never one of the many wrong sums."
    prefix = cut(script().asks(task).runs("ls", "src").trajectory(), 2)
    done = perturb(("underspecified_symbol@1",), None, build_view("repo", prefix), 1, prefix=prefix)
    assert isinstance(done, Perturbed)
    assert "Mend that function in that file, so that `a = total() or 1` is" in done.view.text


def test_only_what_was_said_to_be_done_is_contradicted(script: Any) -> None:
    prefix = cut(script().asks("Mend the sums of src/cart.py.").runs("cat src/cart.py", "x").trajectory(), 2)
    done = perturb(("conflicting_todos",), None, build_view("summary", prefix), 1, prefix=prefix)
    assert isinstance(done, Reject)
    assert done.reason == "conflicting_todos: the notes state no open item"


def test_a_task_names_nothing_any_more(work: Any) -> None:
    done = work.done("underspecified_symbol@1", view="summary")
    assert parts(done.view.text).task == (
        "that function and that function in that file give wrong sums. Mend both; keep their names."
    )
    assert "- Goal: that function and that function" in notes(done)
    assert done.truths[0].params["still_named"] == "yes"


def test_operators_compose_in_order(work: Any) -> None:
    one = work.done("parallel_edit@0.2", "half_merge@0", "drop_section@0.1", "planted_error@1")
    assert [truth.op for truth in one.truths] == list(one.ops)
    assert work.blobs.put(work.files(one.snapshot)["src/cart.py"])
    again = work.done("parallel_edit@0.2", "half_merge@0", "drop_section@0.1", "planted_error@1")
    assert one == again
    other = work.done("drop_section@0.1", "planted_error@1", "parallel_edit@0.2", "half_merge@0")
    assert other.ops != one.ops


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ops=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([0.0, 0.25, 0.75, 1.0])), min_size=1, max_size=3),
    view=st.sampled_from(["repo", "trace", "summary", "structured"]),
    seed=st.integers(0, 1000),
)
def test_any_list_of_operators_gives_a_result_or_a_reason(
    work: Any, ops: list[tuple[str, float]], view: str, seed: int
) -> None:
    words = [f"{name}@{strength}" for name, strength in ops]
    made = work.perturb(*words, view=view, seed=seed)
    assert made == work.perturb(*words, view=view, seed=seed)
    if isinstance(made, Reject):
        assert made.reason.partition(":")[0] in NAMES
        return
    assert made.view.tokens == estimate_tokens(made.view.text)
    touched = {path for truth in made.truths for path in truth.touched}
    before, after = work.files(work.snapshot), work.files(made.snapshot)
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} <= touched


def test_words_that_are_no_operator_are_refused() -> None:
    assert use("blur") == Use("blur", 0.5)
    assert use("blur@0.25") == Use("blur", 0.25)
    for text in ("nothing", "blur@two", "blur@2", "blur@nan"):
        with pytest.raises(UsageError):
            use(text)


def test_the_store_on_disk_gives_the_same_as_the_one_in_memory(work: Any, tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    for data in work.left.values():
        store.put(data)
    for name in ("half_merge", "two_alternatives", "dirty_index"):
        made = perturb([name], work.snapshot, work.views["summary"], 1, blobs=store, prefix=work.prefix, base=work.base)
        assert made == work.done(name, view="summary")
        assert isinstance(made, Perturbed)
        assert made.snapshot is not None
        assert all(store.get(state.blob) for state in made.snapshot.delta)


def test_a_replayed_cut_is_perturbed(work: Any, script: Any, tmp_path: Path) -> None:
    """From a recorded run to a perturbed state, by the parts that the pipeline uses."""
    run = script().asks("`total()` in src/cart.py gives a wrong sum. Mend it.")
    run.runs("sed -i 's/amount = item/amount = amount + item/' src/cart.py").runs("git diff --stat", "1 file changed")
    trajectory = run.trajectory()
    store = BlobStore(tmp_path)
    k = len(trajectory.steps)
    snapshot = replay(trajectory, work.base).snapshot(k, store)
    view = build_view("structured", cut(trajectory, k))
    for name in ("conflict_hunk", "overwrite_file_section", "half_merge", "parallel_edit", "moved_file"):
        made = perturb([name], snapshot, view, 1, blobs=store, prefix=cut(trajectory, k), base=work.base)
        assert isinstance(made, Perturbed), made
        assert made.truths[0].touched[0] == "src/cart.py"
        assert made.snapshot != snapshot


def test_a_file_whose_content_nobody_knows_is_not_taken_for_the_base_commits(work: Any) -> None:
    snapshot = structs.replace(work.snapshot, dirty=("requirements.txt",))
    made = perturb(["dep_downgrade"], snapshot, work.views["summary"], 1, blobs=work.blobs, base=work.base)
    assert isinstance(made, Reject)
    assert made.reason == "dep_downgrade: no manifest states a version"
    other = perturb(["half_merge"], snapshot, work.views["summary"], 1, blobs=work.blobs, base=work.base)
    assert isinstance(other, Perturbed)
    assert other.snapshot is not None
    assert other.snapshot.dirty == ("requirements.txt",)


def test_a_state_that_comes_back_has_its_name_back(work: Any) -> None:
    scene = Scene(view=work.views["summary"], snapshot=work.snapshot, blobs=work.blobs, base=work.base)
    gone = scene.with_files({"src/cart.py": None, "new.py": b"x"})
    assert gone.snapshot != work.snapshot
    assert gone.with_files({"src/cart.py": work.left["src/cart.py"], "new.py": None}).snapshot == work.snapshot
