"""Paths that a text names, and what is known about them without touching the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from passdown.model.evidence import Evidence
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Artifact


class PathFact(Struct, frozen=True, kw_only=True):
    """What is known of one path. `target` is where a symlink leads (repository-relative), `outside` that it leaves."""

    exists: bool = True
    sha256: str = ""
    bytes: int = 0
    tracked: bool = False
    target: str = ""
    outside: bool = False


PathFacts = Mapping[str, PathFact] | Callable[[str], "PathFact | None"]
"""Facts by repository-relative path; None or no entry means not known, which is not the same as absent."""

PathLookup = Callable[[str], PathFact | None]

_EXTENSION_NAMES = (
    "py pyi js mjs cjs ts tsx jsx go rs java kt kts rb php c h cc cpp cxx hpp cs swift md rst txt json jsonl yaml yml "
    "toml ini cfg conf sh bash zsh sql html css scss vue svelte ipynb lock proto tf xml csv gradle ex exs erl lua pl r "
    "scala zig dart env mk cmake patch diff tex"
)
_EXTENSIONS = frozenset(_EXTENSION_NAMES.split())
_PRODUCT_NAMES = "node.js next.js vue.js nuxt.js express.js react.js three.js d3.js chart.js p5.js deno.js"
_PRODUCTS = frozenset(_PRODUCT_NAMES.split())
_NAMED = lazy_pattern(r"[A-Za-z0-9_.@+\-/\[\]]+")
_QUOTED = lazy_pattern(r"`([^`\n]{1,512})`")
_LINES = lazy_pattern(r"(:\d+)+$")
_ADDRESS = lazy_pattern(r"\b[a-z][a-z0-9+.-]{1,12}://\S+")


def path_lookup(facts: PathFacts | None, evidence: Evidence) -> PathLookup:
    """Return one function that answers from the given facts first, then from what the evidence itself says."""
    known: dict[str, PathFact] = {}
    for change in evidence.repository.changes:
        known[change.path] = PathFact(exists=change.status != "D", tracked=not change.untracked)
    for artifact in artifacts_of(evidence):
        known[artifact.path] = PathFact(sha256=artifact.sha256, bytes=artifact.bytes, tracked=artifact.tracked)
    ask = _asker(facts)

    def look(path: str) -> PathFact | None:
        return ask(path) or known.get(path)

    return look


def _asker(facts: PathFacts | None) -> PathLookup:
    if facts is None:
        return lambda _: None
    return facts.get if isinstance(facts, Mapping) else facts


def artifacts_of(evidence: Evidence) -> list[Artifact]:
    """Return every artifact that was read, once, in path order."""
    found = {artifact.path: artifact for artifact in (*evidence.workbench.artifacts, *evidence.artifacts)}
    return [found[path] for path in sorted(found, key=lambda path: path.encode("utf-8", "surrogatepass"))]


def is_relative(path: str) -> bool:
    """Say whether a path stays inside the repository by its spelling alone."""
    parts = path.split("/")
    return bool(path) and not path.startswith(("/", "~", "-")) and ".." not in parts and "\x00" not in path


def mentioned_paths(text: str, look: PathLookup) -> list[str]:
    """Return the paths a text names, in order: known ones, and those that look like a file by their ending.

    A `:line` or `::test` behind a path is dropped. Absolute paths, `..` and addresses are not paths of this repository.
    """
    found: dict[str, None] = {}
    for candidate in [*_QUOTED.findall(text), *_words(text)]:
        path = candidate.split("::")[0]
        path = (_LINES.sub("", path) if ":" in path else path).rstrip(".,;:!?").removeprefix("./")
        if not is_relative(path) or " " in path:
            continue
        fact = look(path)
        if (fact is not None and fact.exists) or _looks_like_file(path):
            found.setdefault(path)
    return list(found)


def _words(text: str) -> list[str]:
    return _NAMED.findall(_ADDRESS.sub(" ", text) if "://" in text else text)


def _looks_like_file(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    stem, dot, extension = name.rpartition(".")
    return bool(dot and stem) and extension.lower() in _EXTENSIONS and path.lower() not in _PRODUCTS
