"""Commands that look: at files, for text, at the machine."""

from __future__ import annotations

import re

from passdown.data.actions.draft import MAX_FILES, Draft, bucket, end_bucket, marked, sort_words, text_of
from passdown.data.actions.programs import VALUED
from passdown.model.pattern import lazy_pattern

_SED_RANGE = lazy_pattern(r"(\d+)(?:,(\+?\d+|\$))?[pq=]")
_SED_PATTERN = lazy_pattern(r"/(?:[^/\\]|\\.)*/")
_LINES = lazy_pattern(r"([-+]?)(\d+)")
_SHORT_COUNT = lazy_pattern(r"-(\d+)")
_AWK_RANGE = lazy_pattern(r"NR\s*>=?\s*(\d+)\s*&&\s*NR\s*<=?\s*(\d+)|NR\s*==\s*(\d+)\s*,\s*NR\s*==\s*(\d+)")
_VIEW_RANGE = lazy_pattern(r"(\d+):(\d+)")
_NONE: frozenset[str] = frozenset()


def show(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the reading of each file that a `cat`, `head` or the like shows."""
    arguments = sort_words(words, VALUED.get(program, _NONE))
    files = arguments.rest
    if program == "Get-Content" and (named := arguments.value("-Path", "-LiteralPath")):
        files = (named, *files)
    if program in ("tr", "base64") and not files:
        files = ()
    part = range_of(program, words)
    detail = text_of(program, arguments, set(files))
    if not files:
        return (Draft("READ", f"env:{program}", detail),)
    return tuple(Draft("READ", marked(path) + part, detail, (path,)) for path in files[:MAX_FILES])


def show_by_script(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the readings of an `awk` or `jq`, whose first word is a script."""
    arguments = sort_words(words, VALUED.get(program, _NONE))
    rest = arguments.rest if arguments.has("-f") else arguments.rest[1:]
    files = tuple(path for path in rest if "=" not in path)
    detail = text_of(program, arguments, set(files))
    part = range_of(program, words)
    if not files:
        return (Draft("READ", f"env:{program}", detail),)
    return tuple(Draft("READ", marked(path) + part, detail, (path,)) for path in files[:MAX_FILES])


def range_of(program: str, words: tuple[str, ...]) -> str:
    """Return the bucket of lines that a `head`, `tail`, `sed -n` or `awk` shows, empty for the whole."""
    if program == "head":
        return _head(words)
    if program == "tail":
        return _tail(words)
    if program == "sed":
        return _sed(words)
    text = " ".join(words)
    if program == "awk" and (found := _AWK_RANGE.search(text)):
        first, last = (group for group in found.groups() if group)
        return bucket(int(first), int(last))
    if program == "bat" and (found := _VIEW_RANGE.search(text)):
        return bucket(int(found[1]), int(found[2]))
    if program == "Get-Content":
        arguments = sort_words(words, VALUED[program])
        count = arguments.value("-TotalCount", "-First") or ""
        return bucket(1, int(count)) if count.isdigit() else ""
    return ""


def _head(words: tuple[str, ...]) -> str:
    arguments = sort_words(words, VALUED["head"])
    if arguments.has("-c", "--bytes"):
        return bucket(1, 50)
    said = arguments.value("-n", "--lines")
    short = next((found[1] for flag, _ in arguments.flags if (found := _SHORT_COUNT.fullmatch(flag))), "10")
    found = _LINES.fullmatch(said if said is not None else short)
    return bucket(1, min(int(found[2]), 10**9)) if found and found[1] != "-" else ""


def _tail(words: tuple[str, ...]) -> str:
    arguments = sort_words(words, VALUED["tail"])
    said = arguments.value("-n", "--lines")
    short = next((found[1] for flag, _ in arguments.flags if (found := _SHORT_COUNT.fullmatch(flag))), "10")
    found = _LINES.fullmatch(said if said is not None else short)
    if found is None or arguments.has("-c"):
        return end_bucket(50)
    count = min(int(found[2]), 10**9)
    return bucket(count, None) if found[1] == "+" else end_bucket(count)


def _sed(words: tuple[str, ...]) -> str:
    script = " ".join(word for word in words if word[:1] != "-")
    places = _SED_RANGE.findall(_SED_PATTERN.sub("", script))
    if not places:
        return ""
    first, last = min(int(begin) for begin, _ in places), 0
    for begin, end in places:
        if end == "$":
            return bucket(first, None)
        last = max(last, int(begin) + int(end) if end.startswith("+") else int(end or begin))
    if "q" in script and "p" not in script and all(not end for _, end in places):
        first = 1
    return bucket(first, last)


def grep(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the search of a `grep` or `rg`: the pattern, and where."""
    arguments = sort_words(words, VALUED.get(program, VALUED["grep"]))
    pattern, places = arguments.value("-e", "--regexp", "-Pattern", "-p", "--pattern"), arguments.rest
    if arguments.has("--files") and pattern is None:
        pattern = arguments.value("-g", "--glob") or ""
    elif pattern is None and not arguments.has("-f"):
        pattern, places = (places[0] if places else ""), places[1:]
    if program == "Select-String" and (named := arguments.value("-Path")):
        places = (named, *places)
    return (search(pattern or "", places, text_of(program, arguments, set(places))),)


def search(pattern: str, places: tuple[str, ...], detail: str) -> Draft:
    """Return a search for `pattern` in `places`; without places it is the current directory."""
    where = " ".join(marked(place) for place in places[:MAX_FILES]) or marked(".")
    target = f"{pattern[:200]} @ {where}" if pattern else where
    return Draft("SEARCH", target, detail, places[:MAX_FILES] or (".",))


def listing(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the listing of a folder; like a search without a pattern."""
    arguments = sort_words(words, VALUED.get(program, _NONE))
    places = arguments.rest
    if program == "Get-ChildItem":
        named = arguments.value("-Path", "-LiteralPath")
        places = (named, *places) if named else places
        if pattern := arguments.value("-Filter", "-Include"):
            return (search(pattern, places, text_of(program, arguments, set(places))),)
    return (search("", places, text_of(program, arguments, set(places))),)


_FIND_PATTERN = frozenset({"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename"})


def find(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return what a `find` looks for, and where; what it does to the files is the caller's to see."""
    if program != "find":
        arguments = sort_words(words, VALUED["fd"])
        pattern = arguments.rest[0] if arguments.rest else ""
        return (search(pattern, arguments.rest[1:], text_of(program, arguments, set(arguments.rest[1:]))),)
    start = next((at for at, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    places = words[:start] or (".",)
    if start == 0 and words[:1] in (("-L",), ("-H",)):
        return find(program, words[1:])
    found = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _FIND_PATTERN and words[at - 1] != "-not"]
    text = " ".join(("find", *(marked(place) for place in places), *words[start:]))
    return (search("|".join(found[:8]), places, text),)


def found_by(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command behind `-exec` of a `find`; `rm {}` for `-delete`."""
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-x", "-X"):
            inner = words[at + 1 :]
            end = next((at for at, word in enumerate(inner) if word in (";", "+", "\\;")), len(inner))
            return inner[:end]
        if word == "-delete":
            return ("rm", "{}")
    return ()


def environment(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return a look at the machine."""
    arguments = sort_words(words)
    return (Draft("READ", f"env:{program}", text_of(program, arguments)),)


def locate(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the search for a program."""
    names = tuple(word for word in words if word[:1] != "-")
    return tuple(Draft("SEARCH", f"program {name}", f"which {name}") for name in names[:MAX_FILES]) or (
        Draft("SEARCH", "program", program),
    )


_SHORT_VERSION = frozenset(
    {"node", "npm", "npx", "yarn", "pnpm", "bun", "php", "ruby", "perl", "lua", "nginx", "gem", "bundle", "tsc", "nvm"}
)


def version(words: tuple[str, ...]) -> bool:
    """Say whether a command only asks a program for its version or its usage; to most, `-v` is to say more."""
    if len(words) != 2:
        return False
    return bool(re.fullmatch(r"--?(?:version|V|help|h)|version|help", words[1])) or (
        words[1] == "-v" and words[0] in _SHORT_VERSION
    )
