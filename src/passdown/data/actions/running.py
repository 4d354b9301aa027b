"""Commands that run something: tests, builds, installers, git, scripts."""

from __future__ import annotations

import ast
import hashlib

from passdown.data.actions.changing import patched, perl_in_place
from passdown.data.actions.draft import MAX_FILES, Draft, marked, sort_words, text_of
from passdown.data.actions.looking import grep, version
from passdown.data.actions.programs import FORMATS, INSTALL_VALUED, INSTALLERS, INTERPRETERS, table
from passdown.evidence.kinds import kind_of
from passdown.model.pattern import lazy_pattern

_PYTEST_VALUED = table(
    "-k -m -n -p -c -o -W -r --tb --maxfail --deselect --ignore --ignore-glob --rootdir --durations --timeout "
    "--cov --cov-report --junitxml --junit-xml --color --confcutdir --basetemp --log-cli-level --override-ini "
    "--dist"
)
_PYTHON = lazy_pattern(r"(?:py|python|pypy)[\d.]*(?:\.exe)?")
_SELECTOR = lazy_pattern(r"[\w./*\[\]-]+\.(?:py|js|ts|tsx|jsx|rb|go|php|mjs|rs|java|bats|exs?|lua)")
_WRITES = lazy_pattern(
    r"""open\(\s*(?:[rf]?(['"])(?P<path>[^'"\n{}]{1,300})\1|(?P<name>\w+))\s*,\s*(?:mode\s*=\s*)?['"](?P<mode>[wax])"""
    r"""|(?:Path\(\s*(?:r?(['"])(?P<path2>[^'"\n{}]{1,300})\5|(?P<name2>\w+))\s*\)|(?P<name3>\b\w+))\.write_(?:text|bytes)\("""
    r"""|writeFileSync\(\s*(?:(['"`])(?P<path3>[^'"`\n]{1,300})\9|(?P<name4>\w+))"""
)
_NAMED = lazy_pattern(
    r"""^\s*(?:const\s+|let\s+|var\s+)?(\w+)\s*=\s*(?:\w+\.)?(?:Path\(\s*)?r?['"]([^'"\n{}]{1,300})['"]""", 8
)


def inline(program: str, code: str) -> tuple[Draft, ...]:
    """Return what a script on the command line does: it writes the files it plainly writes, else it just runs."""
    drafts: dict[str, Draft] = {}
    for path, mode in written_by(code):
        kept = mode != "w" or _reads(code, path)
        kind = "EDIT" if kept else "CREATE"
        reads = (path,) if kept else ()
        drafts.setdefault(path, Draft("EDIT" if kind == "EDIT" else "CREATE", marked(path), code, reads, (path,)))
    if drafts:
        return tuple(drafts.values())
    return (Draft("RUN", f"{program}#{short(code)}", code),)


def short(text: str) -> str:
    """Return a short digest that tells one script from another."""
    return hashlib.blake2b("\n".join(line.rstrip() for line in text.strip().split("\n")).encode("utf-8", "replace"),
                           digest_size=4).hexdigest()  # fmt: skip


def written_by(code: str) -> list[tuple[str, str]]:
    """Return the literal paths that a script opens to write, with the mode."""
    if "open(" not in code and ".write_" not in code and "writeFileSync(" not in code:
        return []
    named = dict(_NAMED.findall(code))
    found: dict[str, str] = {}
    for match in _WRITES.finditer(code):
        groups = match.groupdict()
        path = groups["path"] or groups["path2"] or groups["path3"]
        if not path:
            name = groups["name"] or groups["name2"] or groups["name3"] or groups["name4"]
            path = named.get(name or "", "")
        if path:
            found.setdefault(path, groups["mode"] or "w")
    return list(found.items())[:MAX_FILES]


def _reads(code: str, path: str) -> bool:
    return code.count(path) > 1 or ".read()" in code or ".read_text(" in code or "readFileSync(" in code


def python_calls(code: str) -> ast.Module | None:
    """Return the syntax tree of a Python script, None when it is none."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def script(program: str, words: tuple[str, ...], stdin: str | None) -> tuple[Draft, ...]:
    """Return what an interpreter runs: a script file, a script on the command line, or one on its input."""
    flags = INTERPRETERS.get(program, ())
    if program in ("perl", "ruby") and perl_in_place(words):
        scripts = [word for word in words if word[:1] != "-"]
        files = scripts[1:]
        detail = " ".join((program, *(marked(word) if word in files else word for word in words)))
        return tuple(Draft("EDIT", marked(path), detail, (path,), (path,)) for path in files[:MAX_FILES]) or (
            Draft("EDIT", ".", detail),
        )
    for at, word in enumerate(words[:8]):
        if word in flags or (word[:1] == "-" and word[1:2] != "-" and len(word) <= 4 and f"-{word[-1]}" in flags):
            return inline(program, words[at + 1] if at + 1 < len(words) else "")
        if word[:1] != "-":
            break
    arguments = sort_words(words, ("-W", "-X", "-r", "--require", "-I", "--import", "--loader", "--env-file"))
    rest = arguments.rest
    if (not rest or rest[0] == "-") and stdin is not None:
        return inline(program, stdin)
    if program in ("bun", "deno") and rest[:1] == ("run",):
        rest = rest[1:]
    if not rest:
        return (Draft("RUN", program, text_of(program, arguments)),)
    path = rest[0]
    return (Draft("RUN", marked(path), text_of(program, arguments, {*_paths(rest), path}), (path,)),)


def _paths(words: tuple[str, ...]) -> set[str]:
    return {word for word in words if "/" in word or "." in word[1:]} - {"."}


def program_name(word: str) -> str:
    """Return the program that a word names: without its folder, `python` for every python."""
    name = word.rpartition("/")[2] or word
    name = name.rpartition("\\")[2].removesuffix(".exe").removesuffix(".cmd")
    return "python" if _PYTHON.fullmatch(name) else name


def test_script(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the run of tests that a script file is, as if it had been called by itself; empty when it is none."""
    if kind_of((program, *words)) != "test":
        return ()
    at = next((at for at, word in enumerate(words) if word[:1] != "-"), None)
    return tests(program, words) if at is None else tests(words[at].removeprefix("./"), words[at + 1 :])


_SENDS = table("-X -d -F -T -o -O --request --data --data-raw --data-binary --form --upload-file --output --json")
_CURL_VALUED = _SENDS - {"-O"} | table(
    "-H -A -b -c -e -m -u -w --header --user --max-time --retry --connect-timeout -P"
)


def fetch(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the reading of a page; a run of the program when the call sends or stores something."""
    arguments = sort_words(words, _CURL_VALUED)
    stores = program == "wget" and not any(value.startswith("-") for flag, value in arguments.flags if flag == "-qO")
    method = arguments.value("-X", "--request")
    sends = any(flag in _SENDS - {"-X", "--request"} and value != "/dev/null" for flag, value in arguments.flags)
    page, detail = (arguments.rest[0][:300] if arguments.rest else ""), text_of(program, arguments)
    if not page or sends or (method or "GET") != "GET" or (stores and not arguments.has("--spider")):
        return (Draft("RUN", f"{program} {page}".rstrip(), detail),)
    return (Draft("READ", f"url:{page}", detail),)


_DOCKER_VALUED = table("-f -t -v -p -e -w -u --name --network --file --format")
_DOCKER_SHOWS = table("ps images logs inspect info version stats top port history search ls")


def docker(words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return what a container program does: it builds, shows, or runs."""
    arguments = sort_words(
        words, ("-f", "-t", "-v", "-p", "-e", "-w", "--name", "--network", "-u", "--file", "--format")
    )
    named = arguments.rest
    detail = text_of("docker", arguments)
    sub = " ".join(named[:2] if named[:1] in (("compose",), ("container",), ("image",), ("volume",)) else named[:1])
    last = sub.rpartition(" ")[2]
    if last == "build":
        return (Draft("BUILD", f"docker {sub}", detail),)
    if last in _DOCKER_SHOWS:
        return (Draft("READ", f"env:docker {sub}", detail),)
    return (Draft("RUN", f"docker {' '.join(named[:2])}".rstrip(), detail),)


def module(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the command that `python -m X …` stands for, None for any other use of python."""
    at = next((at for at, word in enumerate(words[:6]) if word == "-m"), None)
    if at is None or at + 1 >= len(words) or any(word[:1] != "-" or word == "-c" for word in words[:at] if word not in
                                                ("ignore", "error", "default", "dev", "utf8")):  # fmt: skip
        return None
    name = words[at + 1]
    return ("unittest" if name in ("unittest", "unittest.__main__") else name, *words[at + 2 :])


def tests(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return a run of tests; its target is what it selects, or the runner where it takes everything."""
    if program == "pytest":
        arguments = sort_words(words, _PYTEST_VALUED)
        chosen = " ".join(_selector(word, path=True) for word in arguments.rest[:MAX_FILES])
        for flag in ("-k", "-m"):
            if value := arguments.value(flag):
                chosen += f" {flag} {value}"
        detail = " ".join((program, *sorted(" ".join(pair).strip() for pair in arguments.flags), chosen))
        return (Draft("TEST", chosen.strip() or program, detail, _files(arguments.rest)),)
    arguments = sort_words(words, ("-run", "-k", "-s", "-p", "-t", "--filter", "-c", "-C", "--grep", "-g", "--timeout",
                                   "-count", "-timeout", "--settings", "-n", "-m", "--project", "-w",
                                   "--workspace", "--testNamePattern", "--reporter", "--package", "-Output", "-Show",
                                   "-OutputFile", "-OutputFormat", "-Tag"))  # fmt: skip
    rest = (
        arguments.rest[1:] if program == "vitest" and arguments.rest[:1] in (("run",), ("watch",)) else arguments.rest
    )
    chosen = " ".join(_selector(word) for word in rest[:MAX_FILES])
    for flag in ("-run", "-k", "-t", "--filter", "--grep", "-g", "-p", "--testNamePattern", "-w", "--workspace"):
        if value := arguments.value(flag):
            chosen += f" {flag} {value}"
    alone = program in ("unittest", "jest", "vitest", "mocha", "nosetests", "nose2", "rspec") and chosen
    label = marked(program) if _SELECTOR.fullmatch(program) else program
    target = chosen if alone else f"{label} {chosen}".strip()
    detail = " ".join((label, *sorted(" ".join(pair).strip() for pair in arguments.flags), chosen))
    return (Draft("TEST", target.strip(), detail, _files(rest)),)


def _files(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.partition("::")[0] for word in words[:MAX_FILES] if "/" in word or _SELECTOR.match(word))


def _selector(word: str, *, path: bool = False) -> str:
    file, colons, rest = word.partition("::")
    return f"{marked(file)}{colons}{rest}" if path or "/" in file or _SELECTOR.fullmatch(file) else word


def install(program: str, words: tuple[str, ...]) -> tuple[Draft, ...] | None:
    """Return the packages that an installer is told to change, None when the command installs nothing."""
    known = INSTALLERS[program]
    arguments = sort_words(words, INSTALL_VALUED)
    rest = arguments.rest
    if program == "pacman":
        rest = ("-S", *rest) if any(flag.startswith("-S") for flag, _ in arguments.flags) else rest
    if program == "uv" and rest[:1] == ("pip",):
        rest = rest[1:]
        known = INSTALLERS["pip"]
    sub = rest[0] if rest else ""
    if program == "yarn" and not sub and not words:
        sub, rest = "install", ("install",)
    if known and sub not in known:
        return None
    names = list(
        rest[2:] if (program, sub) in (("go", "mod"), ("rustup", "component")) else rest[1:] if known else rest
    )
    for flag, value in arguments.flags:
        if (flag in ("-r", "--requirement") and value) or (flag in ("-e", "--editable") and value):
            names.append(value)
    detail = text_of(program, arguments, {name for name in names if "/" in name})
    gone = "-" if sub in ("uninstall", "remove", "rm", "del") else ""
    drafts = tuple(Draft("INSTALL", gone + _package(name), detail) for name in names[:MAX_FILES])
    return drafts or (Draft("INSTALL", program, detail),)


_VERSION = lazy_pattern(r"(?<=.)(?:[=<>!~]=?|===).*|(?<=[\w.-])@[\w.^~*-]+$")


def _package(name: str) -> str:
    if name.startswith((".", "/")) or name.endswith((".txt", ".whl", ".tar.gz", ".toml")):
        path, bracket, extra = name.partition("[")
        return f"{marked(path)}{bracket}{extra}"
    return _VERSION.sub("", name).lower()


_GIT_VALUED = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace"])
_GIT_ARGUMENTS = table("-m -n -b -B -F -C -c -L -S -G -U --author --format --pretty --since --until --max-count -u")
_TWO_WORDS = table("stash worktree submodule remote bisect config notes lfs bundle sparse-checkout flow reflog")


def git(program: str, words: tuple[str, ...], stdin: str | None) -> tuple[Draft, ...]:
    """Return what a version control command does: its subcommand is the target."""
    glob = sort_words_until_rest(words)
    sub, rest = (glob[0], glob[1:]) if glob else ("", ())
    if not sub:
        return (Draft("VCS", "version" if words else program, " ".join((program, *words))),)
    if program != "git":
        name = " ".join((sub, *rest[:1])) if program in ("gh", "glab", "hub") and rest[:1] else sub
        return (Draft("VCS", f"{program} {name}", text_of(program, sort_words(words))),)
    if sub == "grep":
        return grep("grep", tuple(word for word in rest if word != "--"))
    if sub in ("apply", "rm") and "--cached" in rest:
        return (Draft("VCS", sub, f"git {text_of(sub, sort_words(rest, _GIT_ARGUMENTS))}"),)  # the index alone
    if sub in ("apply", "am") and (stdin or any(word[:1] != "-" for word in rest)):
        return patched(f"git {sub}", rest, stdin)
    arguments = sort_words(rest, _GIT_ARGUMENTS)
    named = arguments.rest
    target = f"{sub} {named[0]}" if sub in _TWO_WORDS and named else sub
    paths = {word for word in named if "/" in word and ":" not in word and not word.startswith("origin/")}
    reads = tuple(word.partition(":")[2] for word in named if sub == "show" and ":" in word and "/" not in word[:0])
    drafts = Draft("VCS", target, f"git {text_of(sub, arguments, paths)}", reads, _git_writes(sub, rest))
    if sub == "rm" and named:
        return tuple(Draft("DELETE", marked(path), drafts.detail, (), (path,)) for path in named[:MAX_FILES])
    if sub == "mv" and len(named) > 1:
        old, new = named[0], named[-1]
        return (
            Draft("CREATE", marked(new), drafts.detail, (old,), (new, old)),
            Draft("DELETE", marked(old), drafts.detail, (), (old,)),
        )
    return (drafts,)


def _git_writes(sub: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that `git checkout`, `git restore` and `git stash` put back; `.` when it is the whole tree."""
    if sub == "restore" and "--staged" not in rest:
        return tuple(word for word in sort_words(rest, ("-s", "--source")).rest[:MAX_FILES])
    if sub == "checkout" and "--" in rest:
        return rest[rest.index("--") + 1 :][:MAX_FILES]
    if sub == "checkout" and "-b" not in rest:
        named = tuple(word for word in rest if word[:1] != "-")
        return (
            tuple(word for word in named if "." in word or "/" in word)[:MAX_FILES]
            if len(named) != 1
            else (named if named[0] == "." or _SELECTOR.fullmatch(named[0]) else (".",))
        )
    if sub == "reset" and "--hard" in rest:
        return (".",)
    if sub in ("stash", "merge", "rebase", "pull", "cherry-pick", "revert", "clean", "switch", "am"):
        return () if rest[:1] in (("list",), ("show",), ("drop",), ("--abort",)) or "-c" in rest else (".",)
    return ()


def sort_words_until_rest(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words from the subcommand on: git's own flags stand before it."""
    at = 0
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in _GIT_VALUED else 1
    return words[at:]


def check(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return a build or a check; a formatter that is told to changes files."""
    arguments = sort_words(
        words, ("-o", "-c", "-C", "-p", "--config", "--project", "-f", "-t", "--filter", "-j", "-I", "-L")
    )
    rest = arguments.rest
    named = [word for word in rest[:2] if not _paths((word,))]
    most = 2 if program in ("npm", "pnpm", "yarn", "bun", "docker") else 1
    target = " ".join((program, *named[:most]))
    files = tuple(word for word in rest[:MAX_FILES] if _paths((word,)))
    changes = program in FORMATS and not arguments.has("--check", "--diff", "-l", "--list-different", "-c")
    if program in ("ruff", "biome", "eslint", "prettier", "gofmt", "clang-format"):
        changes = arguments.has("--fix", "--write", "-w", "-i", "--apply") or (rest[:1] == ("format",) and changes)
    detail = text_of(program, arguments, set(files))
    return (Draft("BUILD", target, detail, files, (files or (".",)) if changes else ()),)


def other(program: str, words: tuple[str, ...]) -> tuple[Draft, ...]:
    """Return the run of a program that no table knows: what it is for is told by evidence, else it just runs."""
    kind = kind_of((program, *words))
    name = program.rpartition("/")[2]
    if "/" in program and name in ("test", "tests", "runtests", "run_tests", "run-tests"):
        kind = "test"
    if kind == "test" and not version((program, *words)):
        return tests(program, words)
    if kind in ("build", "lint") or program in ("compileall", "py_compile", "build"):
        return check(program, words)
    arguments = sort_words(words)
    rest = arguments.rest
    detail = text_of(program, arguments, _paths(rest))
    sub = f" {rest[0]}" if rest and (len(rest[0]) < 200) else ""
    if sub and _paths(rest[:1]) and "://" not in sub:
        sub = f" {marked(rest[0])}"
    name = marked(program) if "/" in program or _SELECTOR.fullmatch(program) else program
    return (Draft("RUN", f"{name}{sub}", detail),)
