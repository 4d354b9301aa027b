"""The table of detectors: facts only. A family's module is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple, cast

from passdown.data.points.run import Found, Run
from passdown.data.records import PointKind

Detect = Callable[[Run], Iterator[Found]]


class Detector(NamedTuple):
    """One row: the detector's name, the kind of its points, what it says. `oracle`: it looks at what came later."""

    name: str
    kind: PointKind
    about: str
    oracle: bool = False


FAMILIES: tuple[str, ...] = ("milestone", "mid", "error", "review", "delegation", "turn")
"""The modules beside this one, each with a function `marks`."""

DETECTORS: tuple[Detector, ...] = (
    Detector("test_transition", "milestone", "a test that failed passes, and none that passed fails"),
    Detector("file_complete", "milestone", "a file got the content that it ended with", oracle=True),
    Detector("commit", "milestone", "work was committed"),
    Detector("todo_ticked", "milestone", "an item of the plan was ticked off"),
    Detector("validation_result", "milestone", "the first result of a check after code was changed"),
    Detector("first_meaningful_modification", "mid", "the first change of a source file"),
    Detector("open_subtask", "mid", "a file or an item of the plan is begun and not done", oracle=True),
    Detector("edit_burst", "mid", "one edit after another, nothing checked between them"),
    Detector("unvalidated_edit", "mid", "code was changed, and nothing was checked since"),
    Detector("context_cut", "mid", "25, 50 or 75 % of a context limit are used up"),
    Detector("validation_failed", "error", "the last check of changed work failed"),
    Detector("check_failed", "error", "the last build or run of tests did not end well"),
    Detector("reverted_edit", "error", "an edit that the agent itself takes back later", oracle=True),
    Detector("regression", "error", "a test that passed fails"),
    Detector("loop", "error", "the same thing for the third time in six steps, to no effect"),
    Detector("wrong_file", "error", "a source file was changed that is not in the final diff", oracle=True),
    Detector("post_failed_repair_edit", "error", "the first change of a source file after the first failed check"),
    Detector("review_received", "review", "a command showed the comments of a review, or a reviewer reported"),
    Detector("delegated", "delegation", "work was given to a subagent"),
    Detector("returned", "delegation", "a subagent gave its work back"),
    Detector("user_turn", "turn", "a person spoke when work had been begun"),
)


def family(name: str) -> Detect:
    """Return the function that finds the marks of a family."""
    return cast("Detect", import_module(f"passdown.data.points.{name}").marks)
