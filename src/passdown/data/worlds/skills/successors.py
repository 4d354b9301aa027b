"""Two ways of going on with somebody's work from the tree that is there, whatever was said about it."""

from __future__ import annotations

from passdown.data.worlds.actor import Actor
from passdown.data.worlds.build import replaced
from passdown.data.worlds.model import Part, Swap
from passdown.data.worlds.skills.steps import finish, paths, titles


def careful(actor: Actor) -> None:
    """Look at the state, check every subtask's files, do what is missing, and run the tests before and after."""
    actor.bash("git status --short && git diff", actor.pick("resume"))
    actor.test(why=actor.pick("baseline"))
    for path in paths(actor):
        actor.read(path, actor.pick("check", path=path))
    _complete(actor, set(paths(actor)))
    actor.test()
    finish(actor)


def shortest(actor: Actor) -> None:
    """Look at what is changed, read and change only what is not done yet, run the tests once, and say so."""
    actor.bash("git status --short && git diff", actor.pick("resume"))
    _complete(actor, set())
    actor.test()
    actor.say(actor.pick("done", what=titles(actor)))


def _complete(actor: Actor, seen: set[str]) -> None:
    """Do what is missing; a file that was not `seen` is read before it is changed."""
    for part in actor.world.subtasks:
        for number, swap in enumerate(part.swaps):
            _put_right(actor, part, number, swap, seen)
    for path, want in _wanted(actor).items():  # what other hands have left in these files
        if _text(actor, path) != want:
            _look(actor, path, seen)
            actor.write(path, want, actor.pick("edit", what=f"put {path} in order"))


def _text(actor: Actor, path: str) -> str:
    """Return what is in a file now, as far as it can be read."""
    target = actor.place.folder / path
    return target.read_bytes().decode("utf-8", "replace") if target.is_file() else ""


def _look(actor: Actor, path: str, seen: set[str]) -> None:
    if path not in seen and (actor.place.folder / path).is_file():
        actor.read(path, actor.pick("check", path=path))
    seen.add(path)


def _put_right(actor: Actor, part: Part, number: int, swap: Swap, seen: set[str]) -> None:
    """Make one hunk where it is missing, or replace the wrong design of it."""
    text = _text(actor, swap.path)
    if not swap.bad:
        if not text:
            actor.write(swap.path, swap.good, actor.pick("edit", what=part.title))
        return
    others = [part.wrong[number].good] if number < len(part.wrong) else []
    for old in (*others, swap.bad):
        if text.count(old) == 1 and replaced(text, old, swap.good) and not _stands(text, swap):
            _look(actor, swap.path, seen)
            actor.edit(swap.path, old, swap.good, actor.pick("edit", what=part.title))
            return


def _stands(text: str, swap: Swap) -> bool:
    """Say whether the hunk is there; a text to be put in can hold the one that it replaces."""
    return text.count(swap.good) == 1 and (swap.bad in swap.good or swap.bad not in text)


def _wanted(actor: Actor) -> dict[str, str]:
    files = {**actor.world.files, **actor.world.reference}
    return {path: files[path] for path in files if path.endswith(".py")}
