"""Two ways begun side by side: the function that the session before changed, and a second one that is not finished."""

from __future__ import annotations

import ast
import random

from passdown.data.perturb.hunks import Changed, changed_files
from passdown.data.perturb.notes import append
from passdown.data.perturb.python_edits import functions, parsed
from passdown.data.perturb.scene import Applied, InapplicableError, Scene
from passdown.data.perturb.truths import ambiguity
from passdown.data.records import Fact
from passdown.data.views.preamble import parts
from passdown.packet.escape import code

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Write a second function beside a changed one: the same signature, a share `strength` of the base's statements,
    then `NotImplementedError`. Notes, where there are any, say that it is not decided which one stays.
    """
    options = [(file, node) for file in changed_files(scene, ".py") for node in _changed_functions(file)]
    if not options:
        raise InapplicableError("no function was changed")
    file, node = dice.choice(options)
    other = f"{node.name}_alternative"
    text = _with_second(file.now, node, other, strength)
    if text is None:
        raise InapplicableError("no second way can be written")
    now = scene.with_files({file.path: text.encode()})
    if parts(scene.view.text).notes.strip():
        line = f"Two ways are begun in {code(file.path)}: {code(node.name)} and {code(other)}; not decided which stays"
        undecided = Fact(
            type="todo", key=f"Decide between {node.name} and {other}", value="pending",
            step=max(0, scene.view.k - 1), status="stated",
        )  # fmt: skip
        now = append(now, line, [undecided])
    return ambiguity(
        now, "two_alternatives", strength, {"first": node.name, "second": other}, touched=[file.path],
        acceptable=(f"finish: {node.name}", f"finish: {other}"),
    )  # fmt: skip


def _changed_functions(file: Changed) -> list[_Function]:
    tree = parsed("".join(file.now))
    if tree is None:
        return []
    spans = [(hunk.at[0] + 1, max(hunk.at[0] + 1, hunk.at[1])) for hunk in file.hunks]
    return [
        node for node in functions(tree)
        if node.body[0].lineno > node.lineno
        and any(first <= (node.end_lineno or 0) and last >= node.lineno for first, last in spans)
        and not (node.name.startswith("__") and node.name.endswith("__"))
    ]  # fmt: skip


def _with_second(lines: list[str], node: _Function, name: str, strength: float) -> str | None:
    """Return the module with the second function after the first, None when it would not parse."""
    if f"def {name}" in "".join(lines):
        return None
    start, stop = node.lineno - 1, node.end_lineno or node.lineno
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    taken = body[: min(round(len(body) * strength), len(body) - 1)]
    head = lines[start : node.body[0].lineno - 1]
    head[0] = head[0].replace(f"def {node.name}", f"def {name}", 1)
    inner = lines[taken[0].lineno - 1 : taken[-1].end_lineno] if taken else []
    pad = " " * node.body[0].col_offset
    rest = [f"{pad}# begun as another way; not finished\n", f"{pad}raise NotImplementedError\n"]
    gap = ["\n"] if node.col_offset else ["\n", "\n"]
    before = lines[:stop]
    if not before[-1].endswith("\n"):
        before[-1] += "\n"
    text = "".join([*before, *gap, *head, *inner, *rest, *lines[stop:]])
    return text if parsed(text) is not None else None
