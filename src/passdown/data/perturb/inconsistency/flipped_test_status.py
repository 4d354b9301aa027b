"""Notes that say of a test run the opposite of what came of it."""

from __future__ import annotations

import random

from msgspec import structs

from passdown.data.perturb.notes import Entry, entries, joined, mentions, notes_of, spellings, stated, with_notes
from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.status_words import flipped_line, flipped_output, flipped_value, is_green, is_red, says
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Fact
from passdown.model.pattern import lazy_pattern

_COMMANDS = "- Results of the last commands: "
_FAILS = "- fails: "
_OUTCOME = lazy_pattern(
    r"(?m)^(?P<before>.*(?:^| · ))(?:failed run|passed run|outcome unknown)(?P<after> · .*\bpacket `.*)$"
)
_NO_PROBLEMS = lazy_pattern(r"(?m)^## Known problems\n+(?=## |<!--)")
_NO_RISKS = lazy_pattern(r"(?m)^- Risks:$(?!\n  )")
_VALIDATED = ("- Validation after the latest edit: ", "- State: ")
_NOT_KNOWN = lazy_pattern(r"(?m)^Not known: [\w.]+(?:, [\w.]+)*$")
_AFTER_COMMAND = lazy_pattern(r"$|[`\")\n]| —| \(| failed| passed| gave| again| pass\b")


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Turn a share `strength` of the stated test results round, at least one, in every place that tells them."""
    results = [fact for fact in stated(scene.view) if fact.type == "test_result" and fact.value]
    results = [fact for fact in results if is_green(fact.value) or is_red(fact.value)]
    named = _failing(scene)
    results = [fact for fact in results if fact.key not in named]
    if not results:
        raise InapplicableError("the notes state no test result")
    wanted = amount(len(results), strength)
    now = scene
    true: list[Fact] = []
    false: list[Fact] = []
    for fact in dice.sample(results, len(results)):
        if len(false) >= wanted or fact in true:
            continue
        turned = _flip_all(now, fact)
        if turned is not None:
            now, together = turned
            true += together
            false += [structs.replace(one, value=flipped_value(one.value)) for one in together]
    if not false:
        raise InapplicableError("no result can be turned round in every place")
    kept = set(now.view.facts)
    gone = [fact for fact in scene.view.facts if fact not in kept]
    return inconsistency(
        now, "flipped_test_status", strength, {fact.key: fact.value for fact in false}, false=false, removed=gone,
        acceptable=("run_the_tests_and_go_on", "correct_the_notes"),
    )  # fmt: skip


def _flip_all(scene: Scene, fact: Fact) -> tuple[Scene, list[Fact]] | None:
    """Turn a result round, and with it those that stand in one line with it; None where one of them cannot be."""
    now, done, waiting = scene, list[Fact](), [fact]
    while waiting:
        turned = _flip(now, waiting[0])
        if turned is None:
            return None
        now = turned
        done.append(waiting.pop(0))
        waiting += [other for other in _contradicted(scene, now) if other not in waiting]
    return now, done


def _contradicted(before: Scene, after: Scene) -> list[Fact]:
    """Return the results of which a line that was changed now says the opposite."""
    old = set(notes_of(before.view).split("\n"))
    lines = [line for line in notes_of(after.view).split("\n") if line not in old and "; " not in line]
    return [
        fact for fact in after.view.facts
        if fact.type == "test_result" and (is_green(fact.value) or is_red(fact.value))
        and any(_is_about(line, fact.key) and _opposes(line, fact) for line in lines)
    ]  # fmt: skip


def _opposes(line: str, fact: Fact) -> bool:
    green = is_green(fact.value)
    return says(line, green=not green) and not says(line, green=green)


def _flip(scene: Scene, fact: Fact) -> Scene | None:
    """Return the scene with one result turned round, None where the notes would still tell it."""
    notes, green = notes_of(scene.view), is_red(fact.value)
    runs = [known.step for known in scene.view.facts if known.type == "test_result"]
    last = fact.step == max(runs)
    gone = frozenset[str]()
    if scene.view.name == "trace":
        made = _in_trace(notes, fact, green=green)
    else:
        gone = _failing(scene) if green and last else gone
        made = _in_lines(_without_failing(notes, gone) if green and last else notes, fact, green=green, last=last)
        made = _rounded(made, green=green, last=last) if made else made
    if made is None or made == notes:
        return None
    known = [one for one in scene.view.facts if not any(one.key == name or _opens(one.key, name) for name in gone)]
    facts = [kept for one in known if (kept := _fact(one, fact, made, green=green)) is not None]
    return scene.with_view(with_notes(scene.view, made), facts)


def _fact(known: Fact, flipped: Fact, notes: str, *, green: bool) -> Fact | None:
    """Return a fact as the notes state it now, None when they state it no longer."""
    if known == flipped:
        return structs.replace(known, value=flipped_value(known.value))
    if known.type == "next_action" and mentions(known.key, flipped.key):
        key = flipped_line(known.key, green=green)
        return structs.replace(known, key=key, value=flipped_line(known.value, green=green) or "") if key else None
    if known.type == "risk" and known.key == flipped.key and green:
        return None
    if known.type == "risk" and not mentions(notes, known.key):
        key = flipped_line(known.key, green=green)
        return structs.replace(known, key=key) if key and mentions(notes, key) else None
    return known


def _failing(scene: Scene) -> frozenset[str]:
    """Return the tests that the last run is said to have failed: a part of its result, and none of their own."""
    listed = [line for line in notes_of(scene.view).split("\n") if line.startswith(_FAILS)]
    return frozenset(
        one.key for one in scene.view.facts
        if one.type == "test_result" and any(mentions(line, one.key) for line in listed)
    )  # fmt: skip


def _without_failing(notes: str, names: frozenset[str]) -> str:
    """Return the notes without the tests that failed, and without what the run printed of them."""
    made: list[str] = []
    inside = fence = False
    for line in notes.split("\n"):
        inside = line == "## Tests" if line.startswith("## ") and not fence else inside
        fenced, fence = fence, fence ^ line.startswith("```")
        told = any(_is_about(line, name) or _opens(line, name) for name in names)
        again = not line and made[-1:] == [""]
        if not (told or again or (inside and (fence or fenced or line.startswith("- ")))):
            made.append(line)
    return "\n".join(made)


def _opens(text: str, name: str) -> bool:
    """Say whether a text tells what went wrong in a test."""
    return any(f"{way}:" in text for way in spellings(name))


def _rounded(notes: str, *, green: bool, last: bool) -> str:
    """Return the notes with what follows from the results: an outcome, and `none` where nothing is left to tell."""
    notes = _NO_RISKS.sub("- Risks: NONE OBSERVED", _NO_PROBLEMS.sub("## Known problems\nnone\n\n", notes))
    return _with_outcome(notes, green=green) if last else notes


def _with_outcome(notes: str, *, green: bool) -> str:
    """Return the notes with the outcome that follows from the last run; one of an older tree that passed gives none."""
    word = "failed run" if not green else "outcome unknown" if "\n## Tests\nstale" in notes else "passed run"
    told = _OUTCOME.sub(rf"\g<before>{word}\g<after>", notes, count=1)
    return told if told == notes else _NOT_KNOWN.sub(lambda found: _listed(found.group(), word), told)


def _listed(line: str, word: str) -> str:
    label, _, rest = line.partition(": ")
    named = {*rest.split(", ")} - {"outcome.unknown"} | ({"outcome.unknown"} if word == "outcome unknown" else set())
    return f"{label}: {', '.join(sorted(named))}"


def _in_lines(notes: str, fact: Fact, *, green: bool, last: bool) -> str | None:
    """Turn the result round in the lines that name the run; for the last run also where only its outcome is told."""
    detail = fact.value.partition(": ")[2]
    made: list[str] = []
    inside = fence = False
    validated = any(line.startswith("- Last validation: ") and _is_about(line, fact.key) for line in notes.split("\n"))
    for line in notes.split("\n"):
        inside = line == "## Tests" if line.startswith("## ") and not fence else inside
        fence ^= line.startswith("```")
        if validated and line.startswith(_VALIDATED):
            line = flipped_line(line, green=green) or line
        named = _is_about(line, fact.key) and not inside
        outcome = inside or "last test run" in line or (detail and detail in line)
        if named or (last and outcome):
            turned = flipped_output(line, green=green) if fence else _flipped(line, fact.key, green=green)
            if turned is None:
                continue
            line = turned
        elif last and "What it said: " in line:
            said = flipped_value(fact.value)
            line = f"{line.partition('What it said: ')[0]}What it said: {said.partition(': ')[2] or said}"
        made.append(line)
    told = (line for line in made if _is_about(line, fact.key) and "; " not in line and not line.startswith("stale: "))
    contrary = [line for line in told if says(line, green=not green)]
    return None if contrary else "\n".join(made)


def _flipped(line: str, command: str, *, green: bool) -> str | None:
    """Return a line with the opposite result; of a list of commands only what it says of this one."""
    places = ((line.find(way), len(way)) for way in spellings(command) if line.startswith(_COMMANDS))
    at, length = next((place for place in places if place[0] > 0), (0, 0))
    if not at:
        return flipped_line(line, green=green)
    end = line.find("; ", at + length)
    end = len(line) if end < 0 else end
    turned = flipped_line(line[at:end], green=green)
    return line[:at] + (line[at:end] if turned is None else turned) + line[end:]


def _is_about(line: str, command: str) -> bool:
    """Say whether a line names this run, and not a longer command that begins in the same way."""
    for way in spellings(command):
        at = line.find(way)
        while at >= 0:
            if _AFTER_COMMAND.match(line, at + len(way)):
                return True
            at = line.find(way, at + 1)
    return False


def _in_trace(notes: str, fact: Fact, *, green: bool) -> str | None:
    """Turn round what came back for the last run of the command, and leave out what the agent said of it."""
    found = entries(notes)
    runs = [at for at, entry in enumerate(found) if entry.kind == "action" and _is_about(entry.text, fact.key)]
    after = runs[-1] + 1 if runs else 0
    if not runs or after >= len(found) or found[after].kind != "observation":
        return None
    was = found[after]
    lines = [kept for line in was.text.split("\n") if (kept := flipped_output(line, green=green)) is not None]
    if not green:
        lines.append("(exit 1)")
    if not any(says(line, green=green) for line in lines):
        lines.insert(0, flipped_value(fact.value))
    found[after] = Entry(was.step, was.source, was.kind, "\n".join(lines))
    return joined(found)
