"""The repository view: the task and the tree, and no word of the session before."""

from __future__ import annotations

from passdown.data.records import View
from passdown.data.views.changes import status_lines
from passdown.data.views.material import Material
from passdown.data.views.options import Options
from passdown.data.views.preamble import whole
from passdown.packet.tokens import estimate_tokens


def build(material: Material, options: Options) -> View:
    """Return preamble and task, and with `git_status` the uncommitted files as git would list them."""
    notes = ""
    if options.git_status:
        lines = [material.shared.notes.clean(line) for line in status_lines(material.ledger)]
        notes = "\n".join(["`git status --short` now says:", "", "```text", *(lines or ["(nothing)"]), "```"])
    text = whole(material.task, notes)
    stated = tuple(fact for fact in material.facts if fact.type == "file_changed") if options.git_status else ()
    return View(
        name="repo", trajectory_id=material.prefix.trajectory_id, k=material.prefix.k, text=text, facts=stated,
        tokens=estimate_tokens(text),
    )  # fmt: skip
