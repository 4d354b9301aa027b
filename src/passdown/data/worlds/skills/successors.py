"""Two ways of going on with somebody's work from the tree that is there, whatever was said about it."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.build import replaced
from passdown.data.worlds.model import Part, Swap
from passdown.data.worlds.skills.steps import finish, paths


def careful(actor: Actor) -> None:
    """Look at the state, check every subtask's files, do what is missing, and run the tests before and after."""
    actor.bash("git status --short && git diff", actor.pick("resume"))
    actor.test(why=actor.pick("baseline"))
    for path in paths(actor):
        actor.read(path, actor.pick("check", path=path))
    _complete(actor)
    actor.test()
    finish(actor)


def shortest(actor: Actor) -> None:
    """Do what is missing, and nothing else but one run of the tests."""
    _complete(actor)
    actor.test()


def _complete(actor: Actor) -> None:
    for part in actor.world.subtasks:
        for number, swap in enumerate(part.swaps):
            _put_right(actor, part, number, swap)
    for path, want in _wanted(actor).items():  # what other hands have left in these files
        target = actor.place.folder / path
        if not target.is_file() or target.read_text("utf-8") != want:
            actor.write(path, want, actor.pick("edit", what=f"put {path} in order"))


def _put_right(actor: Actor, part: Part, number: int, swap: Swap) -> None:
    """Make one hunk where it is missing, or replace the wrong design of it."""
    target = actor.place.folder / swap.path
    text = target.read_text("utf-8") if target.is_file() else ""
    if not swap.bad:
        if not target.is_file():
            actor.write(swap.path, swap.good, actor.pick("edit", what=part.title))
        return
    others = [part.wrong[number].good] if number < len(part.wrong) else []
    for old in (*others, swap.bad):
        if text.count(old) == 1 and replaced(text, old, swap.good) and not _stands(text, swap):
            actor.edit(swap.path, old, swap.good, actor.pick("edit", what=part.title))
            return


def _stands(text: str, swap: Swap) -> bool:
    """Say whether the hunk is there; a text to be put in can hold the one that it replaces."""
    return text.count(swap.good) == 1 and (swap.bad in swap.good or swap.bad not in text)


def _wanted(actor: Actor) -> dict[str, str]:
    files = {**actor.world.files, **actor.world.reference}
    return {path: files[path] for path in files if path.endswith(".py")}
