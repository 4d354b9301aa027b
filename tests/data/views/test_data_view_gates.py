"""Every gate lets the views pass that are built here, and fires on a leak that was planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from passdown.data.prefix import cut
from passdown.data.records import Fact, FileState, Outcome, Snapshot, Trajectory, View
from passdown.data.scrubber import Scrubber
from passdown.data.views.gates import CODES, gate, known_at, other_futures, tail_dependence
from passdown.data.views.shared import Shared
from passdown.data.views.table import NAMES, build_view, build_views, views_at
from passdown.packet.tokens import estimate_tokens
from passdown.redact.scan import Redactor

FUTURE = "    refilled = min(self.limit, self.tokens + elapsed * self.rate)"
HIDDEN = "test_refill_is_capped"
K = 8


def with_text(view: View, more: str) -> View:
    """Return the view with a line more, counted as it should be."""
    text = view.text + more + "\n"
    return structs.replace(view, text=text, tokens=estimate_tokens(text))


def with_fact(view: View, fact: Fact) -> View:
    """Return the view with a fact more."""
    return structs.replace(view, facts=(*view.facts, fact))


def codes(view: View, trajectory: Trajectory, k: int = K, **more: Any) -> set[str]:
    """Return the codes of what the gates find."""
    found = gate(view, cut(trajectory, k), trajectory, **more)
    known = next(known_at(trajectory, [k], Shared(trajectory.root)))
    assert gate(view, known.prefix, trajectory, known=known, **more) == found, "the short way finds the same"
    assert all(finding.severity == "block" and finding.code in CODES for finding in found)
    return {finding.code for finding in found}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_built_passes_at_every_cut(rich: Trajectory, small_trajectory: Trajectory, name: str) -> None:
    for trajectory in (rich, small_trajectory):
        for k in range(1, len(trajectory.steps) + 1):
            assert codes(build_view(name, cut(trajectory, k)), trajectory, k) == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_line_of_a_later_edit_is_found(rich: Trajectory, name: str) -> None:
    view = build_view(name, cut(rich, K))
    assert codes(with_text(view, FUTURE), rich) == {"view.future_code"}
    assert codes(with_text(view, "refilled=min(self.limit,self.tokens+elapsed*self.rate)"), rich) == {
        "view.future_code"
    }
    hidden = with_fact(view, Fact(type="risk", key="x", value=FUTURE.strip(), step=1))
    assert codes(hidden, rich) == {"view.future_code"}
    assert codes(with_text(view, "refilled = min("), rich) == set()


def test_what_the_cuts_share_makes_no_difference(rich: Trajectory) -> None:
    ks, shared = list(range(1, len(rich.steps) + 1)), Shared(rich.root)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    found = []
    for k, views, known in zip(ks, views_at(rich, ks, shared=shared), known_at(rich, ks, shared), strict=True):
        for view in views:
            for more in ("", FUTURE, f"Make {HIDDEN} pass.", "Cut point after step 8.", f"TOKEN={token}"):
                spoilt = with_text(view, more)
                found.append(gate(spoilt, known.prefix, rich, known=known))
                assert found[-1] == gate(spoilt, cut(rich, k), rich), (k, view.name, more)
    assert {finding.code for findings in found for finding in findings} == {
        "view.future_code", "view.hidden_test", "view.reveals_cut", "view.secret"
    }  # fmt: skip


def test_a_text_is_redacted_line_by_line_as_it_is_whole(rich: Trajectory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    key = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7v" * 4 + "\n-----END RSA " + "PRIVATE KEY-----"
    lines = ["x = 1", "", f"export TOKEN={secret}", "/testbed/src/a.py: x = 1", "password:", f"  {secret}", "# x"]
    for text in ("\n".join(lines * 12), "\n".join([*lines * 9, key, *lines]), "\n".join([*lines * 9, "x = 1 " * 60])):
        for folders in ({}, {"/testbed": "."}):
            scrubber = Scrubber(folders)
            wanted = Redactor({}, folders, many=True).text(text)
            assert scrubber.text(text) == wanted != text
            assert scrubber.text(f"{text}\nend") == f"{wanted}\nend", "with lines that were met before"


def test_a_line_of_a_later_edit_may_be_quoted_where_the_prefix_holds_it(script: Callable[..., Any]) -> None:
    trajectory = (
        script().asks("Mend it.").runs("cat src/bucket.py", f"class Bucket:\n{FUTURE}\n")
        .runs(f"cat >> src/bucket.py <<'EOF'\n{FUTURE}\nEOF").trajectory()
    )  # fmt: skip
    view = build_view("repo", cut(trajectory, 2))
    assert codes(with_text(view, FUTURE), trajectory, 2) == set()
    assert codes(with_text(build_view("repo", cut(trajectory, 1)), FUTURE), trajectory, 1) == {"view.future_code"}


def test_a_task_that_is_told_after_the_cut_makes_no_line_known(script: Callable[..., Any]) -> None:
    task = f"Put this into `src/bucket.py` and mind the limit, please:\n\n{FUTURE}\n"
    made = (
        script().asks("Hello there.").runs("ls src", "bucket.py").asks(task)
        .runs(f"cat >> src/bucket.py <<'EOF'\n{FUTURE}\nEOF").trajectory()
    )  # fmt: skip
    trajectory = structs.replace(made, task_text=task)
    assert cut(trajectory, 2).task_text != task
    assert codes(with_text(build_view("repo", cut(trajectory, 2)), FUTURE), trajectory, 2) == {"view.future_code"}
    assert codes(with_text(build_view("repo", cut(trajectory, 3)), FUTURE), trajectory, 3) == set()


def test_a_line_of_the_final_patch_is_found_without_any_later_step(rich: Trajectory) -> None:
    whole = structs.replace(rich, steps=rich.steps[:K])
    assert codes(with_text(build_view("repo", cut(whole, K)), FUTURE), whole) == {"view.future_code"}
    without = structs.replace(whole, outcome=Outcome())
    assert codes(with_text(build_view("repo", cut(whole, K)), FUTURE), without) == set()


@pytest.mark.parametrize("spelt", [f"tests/test_bucket.py::{HIDDEN}", HIDDEN])
def test_the_name_of_a_hidden_test_is_found(rich: Trajectory, spelt: str) -> None:
    view = with_text(build_view("summary", cut(rich, K)), f"Make {spelt} pass.")
    assert codes(view, rich) == {"view.hidden_test"}
    met = next(step.idx + 1 for step in rich.steps for e in step.events if HIDDEN in getattr(e, "command", ""))
    assert codes(with_text(build_view("summary", cut(rich, met)), f"Make {spelt} pass."), rich, met) == set()


@pytest.mark.parametrize(
    "label", ["post_failed_repair_edit", "a handoff point", "the rest of the trajectory", "error-state"]
)
def test_words_that_tell_how_the_cut_was_chosen_are_found(rich: Trajectory, label: str) -> None:
    assert codes(with_text(build_view("structured", cut(rich, K)), f"({label})"), rich) == {"view.reveals_cut"}


def test_such_words_may_stand_where_the_task_has_them(script: Callable[..., Any]) -> None:
    trajectory = script().asks("Rename the error-state of the parser.").runs("ls").trajectory()
    assert codes(build_view("structured", cut(trajectory, 2)), trajectory, 2) == set()


def test_a_change_that_was_not_made_is_found(rich: Trajectory) -> None:
    view = build_view("structured", cut(rich, 3))
    assert codes(with_fact(view, Fact(type="file_changed", key="src/other.py", step=1)), rich, 3) == {
        "view.false_change"
    }
    edited = next(step.idx + 1 for step in rich.steps for e in step.events if "sed -i" in getattr(e, "command", ""))
    good = build_view("structured", cut(rich, edited))
    assert codes(good, rich, edited) == set()
    silent = structs.replace(
        good, text=good.text.replace("- Source changes present: yes", "- Source changes present: no"),
        tokens=estimate_tokens(good.text.replace("- Source changes present: yes", "- Source changes present: no")),
    )  # fmt: skip
    assert codes(silent, rich, edited) == {"view.missing_change"}
    bare = structs.replace(good, facts=tuple(fact for fact in good.facts if fact.type != "file_changed"))
    assert codes(bare, rich, edited) == {"view.missing_change"}


def test_claims_are_held_against_a_snapshot_where_there_is_one(rich: Trajectory) -> None:
    edited = next(step.idx + 1 for step in rich.steps for e in step.events if "sed -i" in getattr(e, "command", ""))
    view = build_view("structured", cut(rich, edited))
    states = (FileState(path="reproduce.py", blob="a" * 64), FileState(path="src/bucket.py", blob="b" * 64))
    assert codes(view, rich, edited, snapshot=Snapshot(snapshot_id="x", delta=states)) == set()
    assert codes(view, rich, edited, snapshot=Snapshot(snapshot_id="x", delta=states[:1])) == {"view.false_change"}


def test_a_red_run_called_passed_is_found(rich: Trajectory) -> None:
    view = build_view("structured", cut(rich, K))
    command = "python -m pytest -q tests/test_bucket.py"
    facts = tuple(
        structs.replace(fact, value="passed") if (fact.type, fact.key) == ("test_result", command) else fact
        for fact in view.facts
    )
    assert facts != view.facts
    assert codes(structs.replace(view, facts=facts), rich) == {"view.false_result"}


def test_a_fact_of_the_future_is_found(rich: Trajectory) -> None:
    view = build_view("structured", cut(rich, K))
    assert codes(with_fact(view, Fact(type="cmd", key="ls", step=K)), rich) == {"view.future_fact"}
    assert codes(with_fact(view, Fact(type="cmd", key="ls", step=K - 1)), rich) == set()


def test_a_secret_in_text_or_fact_is_found(rich: Trajectory) -> None:
    secret = "ghp_" + "".join("aB3dE5fG7h"[(7 * i) % 10] + str(i % 10) for i in range(18))
    view = build_view("trace", cut(rich, K))
    assert codes(with_text(view, f"token {secret}"), rich) == {"view.secret"}
    assert codes(with_fact(view, Fact(type="env", key=secret, step=1)), rich) == {"view.secret"}


def test_a_view_over_its_budget_or_wrongly_counted_is_found(rich: Trajectory) -> None:
    view = build_view("summary", cut(rich, K))
    assert codes(view, rich, budget=view.tokens) == set()
    assert codes(view, rich, budget=view.tokens - 1) == {"view.over_budget"}
    assert codes(structs.replace(view, tokens=view.tokens - 1), rich) == {"view.miscounted"}


def test_views_do_not_depend_on_the_tail(rich: Trajectory, small_trajectory: Trajectory) -> None:
    def together(trajectory: Trajectory, k: int) -> Sequence[View]:
        return next(views_at(trajectory, [k, *range(1, k)]))

    def alone(trajectory: Trajectory, k: int) -> Sequence[View]:
        return build_views(cut(trajectory, k))

    for trajectory in (rich, small_trajectory):
        for k in range(1, len(trajectory.steps)):
            assert tail_dependence(together, trajectory, k) == ()
            assert tail_dependence(alone, trajectory, k) == ()


def test_a_builder_that_looks_at_the_tail_is_found(rich: Trajectory) -> None:
    def peeks(trajectory: Trajectory, k: int) -> Sequence[View]:
        return [with_text(build_view("repo", cut(trajectory, k)), f"{len(trajectory.steps)} steps in all")]

    def knows_the_end(trajectory: Trajectory, k: int) -> Sequence[View]:
        return [with_text(build_view("repo", cut(trajectory, k)), str(trajectory.outcome.resolved))]

    def looks_ahead(trajectory: Trajectory, k: int) -> Sequence[View]:
        return [with_text(build_view("repo", cut(trajectory, k)), str(trajectory.steps[k:]))]

    for build in (peeks, knows_the_end, looks_ahead):
        assert {finding.code for finding in tail_dependence(build, rich, K)} == {"view.tail_dependent"}


def test_other_futures_have_the_same_past(rich: Trajectory) -> None:
    others = list(other_futures(rich, K))
    assert len(others) == 3
    assert all(cut(other, K) == cut(rich, K) for other in others)
    assert all(other.steps != rich.steps and other.outcome != rich.outcome for other in others)
