"""Commands that change files."""

from __future__ import annotations

from passdown.data.actions.draft import MAX_FILES, Draft, marked, sort_words, text_of
from passdown.data.actions.programs import VALUED
from passdown.data.records import ActionKind
from passdown.model.pattern import lazy_pattern

_NONE: frozenset[str] = frozenset()
_IN_PLACE = lazy_pattern(r"-[nErsuz]*i.*|--in-place.*")
_PERL_IN_PLACE = lazy_pattern(r"-[a-hj-z0]*i.*")
_DIFF_PATH = lazy_pattern(r"^\+\+\+ (?:b/)?([^\t\n]+)", 8)  # re.MULTILINE
_DIFF_OLD = lazy_pattern(r"^--- (?:a/)?([^\t\n]+)", 8)


def sed_in_place(words: tuple[str, ...]) -> bool:
    """Say whether a `sed` changes its files."""
    return any(_IN_PLACE.fullmatch(word) for word in words)


def sed_parts(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """Return the scripts, the files and the flags of a `sed`. A flag `-f` means that the scripts are elsewhere."""
    scripts: list[str] = []
    rest: list[str] = []
    flags: set[str] = set()
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("-e", "--expression") and at + 1 < len(words):
            at += 1
            scripts.append(words[at])
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word[:1] == "-" and len(word) > 1 and word[:2] != "--" and word.endswith("e") and at + 1 < len(words):
            flags.update(_letters(word[:-1]))
            at += 1
            scripts.append(words[at])
        elif word[:1] == "-" and len(word) > 1:
            flags.update(_letters(word))
        elif word or rest:
            rest.append(word)
        at += 1
    if not scripts and "f" not in flags and rest:
        scripts.append(rest.pop(0))
    return tuple(scripts), tuple(path for path in rest if path), frozenset(flags)


def _letters(word: str) -> set[str]:
    if word.startswith("--"):
        return {{"--in-place": "i", "--regexp-extended": "E", "--quiet": "n", "--silent": "n"}.get(word, "?")}
    letters = word[1:]
    return set(letters[: letters.index("i") + 1] if "i" in letters else letters)


def edits(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the change of each file that `sed -i` and the like change."""
    _, files, _ = sed_parts(words)
    detail = " ".join((program, *(marked(word) if word in files else word for word in words)))
    return tuple(Draft("EDIT", marked(path), detail, (path,), (path,)) for path in files[:MAX_FILES]) or (
        Draft("EDIT", ".", detail),
    )


def perl_in_place(words: tuple[str, ...]) -> bool:
    """Say whether a `perl` or `ruby` changes its files."""
    return any(_PERL_IN_PLACE.fullmatch(word) for word in words[:4] if not word.startswith("--"))


def made(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the files and folders that `touch`, `mkdir`, `tee`, `truncate` and `install` make."""
    arguments = sort_words(words, VALUED.get(program, _NONE))
    files = arguments.rest[-1:] if program == "install" else arguments.rest
    kind: ActionKind = "EDIT" if program == "truncate" or (program == "tee" and arguments.has("-a")) else "CREATE"
    detail = text_of(program, arguments, set(arguments.rest))
    end = "/" if program == "mkdir" else ""
    return tuple(
        Draft(kind, marked(path.rstrip("/") or path) + end, detail, (), (path,)) for path in files[:MAX_FILES]
    ) or (Draft("RUN", program, detail),)


def set_content(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the file that a PowerShell writes its input or its words to."""
    arguments = sort_words(words, ("-Path", "-LiteralPath", "-FilePath", "-Value", "-Encoding"))
    path = arguments.value("-Path", "-LiteralPath", "-FilePath") or (arguments.rest[0] if arguments.rest else "")
    appends = program == "Add-Content" or arguments.has("-Append")
    detail = text_of(program, arguments, {path})
    return (Draft("EDIT" if appends else "CREATE", marked(path), detail, (), (path,)),) if path else ()


def removed(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the files that `rm` takes away."""
    arguments = sort_words(words)
    detail = text_of(program, arguments, set(arguments.rest))
    return tuple(
        Draft("DELETE", marked(path.rstrip("/") or path), detail, (), (path,)) for path in arguments.rest[:MAX_FILES]
    ) or (Draft("DELETE", ".", detail),)


def copied(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return what `cp`, `mv`, `ln` and `rsync` make, and for `mv` what is no longer there."""
    arguments = sort_words(words, VALUED.get(program, _NONE))
    rest = arguments.rest
    detail = text_of(program, arguments, set(rest))
    into = arguments.value("-t")
    sources, target = (rest, into) if into else (rest[:-1], rest[-1] if rest else "")
    if not sources:
        return (Draft("RUN", program, detail),)
    folder = len(sources) > 1 or bool(into) or target.endswith("/") or target in (".", "..")
    drafts: list[Draft] = []
    for source in sources[:MAX_FILES]:
        name = source.rstrip("/").rpartition("/")[2]
        path = f"{target.rstrip('/')}/{name}" if folder else target
        writes = (path, source) if program == "mv" else (path,)
        drafts.append(Draft("CREATE", marked(path), detail, (source,), writes))
        if program == "mv":
            drafts.append(Draft("DELETE", marked(source), detail, (), (source,)))
    return tuple(drafts)


def mode(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the files whose mode or owner changes."""
    arguments = sort_words(words)
    files = arguments.rest[1:] or tuple(word for word in words[1:] if word[:1] != "-")
    detail = text_of(program, arguments, set(files))
    return tuple(Draft("EDIT", marked(path), detail, (), (path,)) for path in files[:MAX_FILES]) or (
        Draft("RUN", program, detail),
    )


def diff_paths(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the files of a unified diff, and whether the diff makes them. A deleted file is named by its old name."""
    found = []
    olds = _DIFF_OLD.findall(text)
    for at, new in enumerate(_DIFF_PATH.findall(text)):
        old = olds[at] if at < len(olds) else ""
        name = old if new == "/dev/null" else new
        found.append((name.strip(), old == "/dev/null"))
    return tuple(found[:100])


def patched(program: str, words: tuple[str, ...], stdin: str | None) -> tuple[Draft, ...]:
    """Return the files that a `patch` or `git apply` changes, as far as the diff stands in the call."""
    detail = " ".join((program, *words, stdin or ""))
    if stdin:
        drafts = tuple(
            Draft("CREATE" if new else "EDIT", marked(path), detail, (path,), (path,))
            for path, new in diff_paths(stdin)
        )
        if drafts:
            return drafts
    named = next((word for word in words if word[:1] != "-"), "")
    return (Draft("EDIT", f"patch {marked(named)}" if named else "patch", detail, (named,) if named else ()),)
