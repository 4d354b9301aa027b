"""A manifest that asks for an older version of a dependency than the work was done with."""

from __future__ import annotations

import posixpath
import random
import re

from passdown.data.perturb.scene import Applied, InapplicableError, Scene, amount
from passdown.data.perturb.truths import inconsistency
from passdown.data.records import Fact
from passdown.model.pattern import lazy_pattern

_MANIFEST = lazy_pattern(
    r"(?:.*/)?(?:requirements[\w.-]*\.txt|pyproject\.toml|setup\.(?:cfg|py)|package\.json|Cargo\.toml|go\.mod)"
)
_PINS = (
    lazy_pattern(r"(?P<name>[A-Za-z][\w.-]*)(?:\[[\w,-]+\])? *(?P<op>==|>=|~=) *(?P<version>\d+(?:\.\d+){0,3})"),
    lazy_pattern(r'"(?P<name>[@A-Za-z][\w./@-]*)": *"(?P<op>[\^~]?)(?P<version>\d+(?:\.\d+){1,2})"'),
    lazy_pattern(r'(?m)^(?P<name>[a-z][\w-]*) *= *"(?P<op>[\^~=]?)(?P<version>\d+(?:\.\d+){1,2})"'),
    lazy_pattern(r"(?m)^\s*(?:require )?(?P<name>[a-z][\w./-]+) (?P<op>v)(?P<version>\d+\.\d+\.\d+)"),
)
_NOT_DEPENDENCIES = frozenset({"version", "edition", "python", "node", "npm", "rust-version", "requires-python"})


def apply(scene: Scene, dice: random.Random, strength: float) -> Applied:
    """Lower a share `strength` of one manifest's versions, at least one, and pin where it said "at least"."""
    texts = {path: scene.text(path) for path in scene.paths() if _MANIFEST.fullmatch(path)}
    pins = {path: found for path, text in texts.items() if text and (found := _pins(path, text))}
    if not pins:
        raise InapplicableError("no manifest states a version")
    path = dice.choice(sorted(pins))
    chosen = dice.sample(pins[path], amount(len(pins[path]), strength))
    text = texts[path] or ""
    params: dict[str, str] = {"manifest": path}
    false: list[Fact] = []
    for pin in sorted(chosen, key=lambda pin: pin.start(), reverse=True):
        older = lowered(pin["version"])
        op = "==" if pin["op"] in (">=", "~=") else pin["op"]
        text = text[: pin.start("op")] + op + older + text[pin.end("version") :]
        params[pin["name"]] = f"{pin['version']} to {older}"
        false += [fact for fact in scene.view.facts if fact.type == "env" and _is_pin(fact.key, pin)]
    now = scene.with_files({path: text.encode()})
    return inconsistency(
        now, "dep_downgrade", strength, params, touched=[path], false=false,
        acceptable=("restore_the_version", "work_with_the_older_one"),
    )  # fmt: skip


def _pins(path: str, text: str) -> list[re.Match[str]]:
    name = posixpath.basename(path)
    which = 1 if name == "package.json" else 2 if name == "Cargo.toml" else 3 if name == "go.mod" else 0
    found = [pin for pin in _PINS[which].finditer(text) if pin["name"].lower() not in _NOT_DEPENDENCIES]
    return [pin for pin in found if lowered(pin["version"]) != pin["version"]]


def _is_pin(key: str, pin: re.Match[str]) -> bool:
    return key in (f"{pin['name']}=={pin['version']}", f"{pin['name']}@{pin['version']}")


def lowered(version: str) -> str:
    """Return an older version: the first part that is above zero one less, the parts after it zero."""
    parts = [int(part) for part in version.split(".")]
    for number, part in enumerate(parts):
        if part:
            return ".".join(map(str, [*parts[:number], part - 1, *([0] * (len(parts) - number - 1))]))
    return version
