"""The repository view: what people asked for and the tree, and no word of the session before."""

from __future__ import annotations

from passdown.data.records import View
from passdown.data.requests import requests_since
from passdown.data.views.changes import status_lines
from passdown.data.views.material import Material
from passdown.data.views.options import Options
from passdown.data.views.preamble import whole
from passdown.evidence.words import cut_middle
from passdown.packet.tokens import estimate_tokens

LATER = 6
"""Requests after the task that are told at most, the newest of them."""
CHARACTERS = 2000
"""Of each."""


def build(material: Material, options: Options) -> View:
    """Return preamble, task and what was asked since, with `git_status` also what git would list as changed."""
    notes = ""
    if options.git_status:
        lines = [material.shared.notes.clean(line) for line in status_lines(material.ledger)]
        notes = "\n".join(["`git status --short` now says:", "", "```text", *(lines or ["(nothing)"]), "```"])
    text = whole("\n\n".join([material.task, *_asked_since(material)]), notes)
    stated = tuple(fact for fact in material.facts if fact.type == "file_changed") if options.git_status else ()
    return View(
        name="repo", trajectory_id=material.prefix.trajectory_id, k=material.prefix.k, text=text, facts=stated,
        tokens=estimate_tokens(text),
    )  # fmt: skip


def _asked_since(material: Material) -> list[str]:
    """Return what people said after the task, which alone may be settled long ago: they would say it again."""
    asked = requests_since(material.prefix.steps, material.prefix.task_text)
    if not asked:
        return []
    left = len(asked) - LATER
    more = [f"({left} more before these)"] if left > 0 else []
    told = [cut_middle(material.shared.trace.clean(text).strip(), CHARACTERS)[0] for _, text in asked[-LATER:]]
    return ["## Asked since", *more, *("- " + text.replace("\n", "\n  ") for text in told)]
