"""What sort of command a simple command is: tables of programs, and what they are run for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from passdown.evidence.shell import split_shell, without_redirections, words_in
from passdown.model.command import normalize_command
from passdown.model.pattern import lazy_pattern

Kind = Literal["test", "build", "lint", "vcs", "edit", "search", "other"]


MAX_LOOKED_AT = 2000


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


FILTERS = _table(
    "tail head grep egrep fgrep rg cat tee less more sed sort uniq awk cut tr wc fold column nl jq ts "
    "Select-Object Select-String Out-String Out-Host"
)
"""Programs that, behind a pipe, only show less of what another one said."""

READERS = _table(
    "cat sed head tail nl less more awk jq yq wc sort uniq cut tr xxd od strings file column "
    "grep egrep fgrep rg ag ack ls tree find fd stat du df echo printf pwd cd env date whoami uname md5 md5sum shasum "
    "sha256sum basename dirname realpath readlink which type command hash id ps pgrep true : test [ [[ export set curl "
    "wget sleep history"
)
"""Programs that show something and change nothing; what they print is content, not their own verdict."""

_TEST = _table(
    "pytest py.test nosetests nose2 unittest tox nox jest vitest mocha ava tap rspec phpunit pest ctest cypress behave "
    "robot karma busted bats gotestsum ginkgo nextest minitest Invoke-Pester"
)
_LINT = _table(
    "ruff flake8 pylint mypy pyright basedpyright eslint oxlint biome tsc tsgo golangci-lint rubocop shellcheck "
    "prettier black isort gofmt actionlint pre-commit stylelint ktlint swiftlint staticcheck clang-tidy markdownlint "
    "mypy.stubtest credo standardrb hadolint yamllint"
)
_BUILD = _table(
    "make gmake cmake ninja webpack vite rollup esbuild tsup gcc g++ clang rustc javac msbuild meson bazel docker "
    "pip pip3 bundle gem poetry conda brew apt apt-get apk"
)
_EDIT = _table("mv rm cp mkdir rmdir touch tee patch truncate chmod chown ln install dd rsync")
_SEARCH = _table("grep egrep fgrep rg ag ack find fd ls tree cat head tail sed awk jq wc nl less more stat which")
_LOOKING = _SEARCH - {"sed"}
_VCS = _table("git gh hub glab jj hg svn")

_RUNNERS = _table(
    "npm pnpm yarn bun make gmake just task mise invoke inv hatch rake composer lein sbt stack cabal bazel nx turbo "
    "lerna rails meson ninja mage pdm rye mvn mvnw gradle gradlew dotnet mix swift flutter dart zig deno xcodebuild "
    "cargo go node ember moon earthly"
)
_TEST_WORD = lazy_pattern(
    r"(?:tests?|specs?|nextest|--test|verify|integrationTest)(?:[:_\-./].*)?|.*[:_-]tests?(?:[:_-].*)?"
)
_CHECK_WORD = lazy_pattern(
    r"(?:lint|fmt|format|check|check-types|typecheck|type-check|types|clippy|vet|credo|dialyzer|validate)(?:[:_\-].*)?"
    r"|.*[:_-](?:lint|check|typecheck|format)"
)
_BUILD_WORD = lazy_pattern(
    r"(?:build|compile|install|ci|add|i|package|bundle|deps\.get|sync|restore|assemble|generate)(?:[:_\-].*)?"
)
_TEST_FILE = lazy_pattern(
    r"(?:.*/)?(?:run_?)?tests?(?:[_-]\w+)?\.(?:py|sh|js|mjs|ts|rb|pl)|(?:.*/)?\w+_test\.(?:py|rb)"
)
_IN_PLACE = lazy_pattern(r"-[a-z]*i")
_PYTHON = lazy_pattern(r"python[\d.]*")
_INTERPRETERS = _table("py bash sh ruby tsx ts-node perl")
_SHELLS = _table("sh bash zsh dash pwsh powershell")
_SCRIPT_FLAG = lazy_pattern(r"-[a-z]{0,3}c|-[Cc]ommand")
_PREFIXES = frozenset({"sudo", "nice", "nohup", "stdbuf", "xvfb-run", "bundle", "exec", "time", "caffeinate"})
_LEADING = _PREFIXES | {"timeout", "gtimeout", "xargs"}
_GIT_READS = _table(
    "status log diff show blame grep ls-files ls-tree ls-remote rev-parse rev-list cat-file branch remote reflog "
    "describe config fsck for-each-ref merge-base name-rev shortlog whatchanged check-ignore count-objects var"
)
_GIT_MOVES = frozenset({
    "checkout", "switch", "merge", "pull", "reset", "rebase", "restore", "cherry-pick", "revert", "apply", "am", "mv",
    "rm", "clean",
})  # fmt: skip
_GH_READS = _table("view list status diff checks watch api search")


_SHOWING = _table("cd echo printf pwd date sleep true : test [ [[ export set ps curl wget sort uniq cut tr")
"""Of the readers that are no search, those told by their first word alone."""
_PERHAPS_IN_PLACE = lazy_pattern(r"""-['"\\a-z]*i""")


class Look:
    """A simple command as the tables see it. `reader` only shows something, `moves` changes the files of the tree."""

    __slots__ = ("_text", "_words", "kind", "moves", "program", "reader")

    def __init__(self, text: str, words: tuple[str, ...] | None, program: str, kind: Kind, shows: tuple[bool, bool]):
        self._text = text
        self._words = words
        self.program = program
        self.kind = kind
        self.reader, self.moves = shows

    @property
    def words(self) -> tuple[str, ...]:
        """The words that say what the command is, split when they are first asked for."""
        if self._words is None:
            self._words = words_of(without_redirections(self._text))
        return self._words


@lru_cache(maxsize=1024)
def look_at(text: str) -> Look:
    """Return what the tables say about a simple command."""
    text = text[:MAX_LOOKED_AT]
    return _glance(text) or _look(without_redirections(text))


def _glance(text: str) -> Look | None:
    """Return what is known of a reader by its first word alone; None where more has to be looked at."""
    first = text.split(None, 1)[0] if text and not text.isspace() else ""
    if "manage.py" in text:
        return None
    if first == "git":
        return _glance_at_git(text)
    if first in _LOOKING or (first == "sed" and not _PERHAPS_IN_PLACE.search(text)):
        return Look(text, None, first, "search", (True, False))
    return Look(text, None, first, "other", (True, False)) if first in _SHOWING else None


def _glance_at_git(text: str) -> Look | None:
    """Return what is known of git by its subcommand, where that stands right behind it."""
    named = text.split(None, 2)[1:2]
    if not named or not named[0].isalpha() or named == ["stash"] or "--check" in text:
        return None
    kind: Kind = "search" if named == ["grep"] else "vcs"
    return Look(text, None, "git", kind, (named[0] in _GIT_READS, named[0] in _GIT_MOVES))


@lru_cache(maxsize=256)
def _look(text: str) -> Look:
    words = words_of(text)
    program = program_of(words)
    arguments = [word for word in words[1:] if word[:1] != "-"]
    kind = _kind(program, words, arguments[:4])
    return Look(text, words, program, kind, (_reads(program, words, arguments), _moves(program, words, arguments)))


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a simple command that say what it is: no wrappers, no `sudo`, no `timeout 60`, no `xargs`.

    Only the beginning of a long command is looked at.
    """
    text = without_redirections(text[:MAX_LOOKED_AT])
    words = list(normalize_command(list(words_in(text) or text.split())))
    for _ in range(4):
        if not words or words[0] not in _LEADING:
            break
        if words[0] in _PREFIXES and len(words) > 1:
            words = words[2:] if words[:2] == ["bundle", "exec"] else words[1:] if words[0] != "bundle" else words
            if words and words[0] == "bundle":
                break
        elif words[0] in {"timeout", "gtimeout"}:
            rest = [index for index, word in enumerate(words[1:], 1) if not word.startswith("-")]
            words = words[rest[1] :] if len(rest) > 1 else words[:1]
            if len(rest) <= 1:
                break
        elif words[0] == "xargs":
            rest = [index for index, word in enumerate(words[1:], 1) if not word.startswith("-") and not word.isdigit()]
            if not rest:
                break
            words = words[rest[0] :]
        else:
            break
        words = list(normalize_command(words))
    return _within_shell(words) or tuple(words)


def _within_shell(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the command that a shell is given (`bash -c "pytest"`); of several, those of the tests."""
    if program_of(words) not in _SHELLS:
        return ()
    flag = next((at for at, word in enumerate(words) if at and _SCRIPT_FLAG.fullmatch(word)), len(words))
    script = words[flag + 1] if flag + 1 < len(words) else ""
    if not script or len(script) >= MAX_LOOKED_AT:
        return ()
    inner = [words_of(part.text) for part in split_shell(script)[:20]]
    tests = [found for found in inner if kind_of(found) == "test"]
    return tests[0] if tests else inner[0] if len(inner) == 1 else ()


def program_of(words: Sequence[str]) -> str:
    """Return the name of the program: the last part of its path, the module behind `python -m`."""
    if not words:
        return ""
    name = words[0]
    if not name.isalpha():
        name = name.rstrip("/").rpartition("/")[2].rpartition("\\")[2].removesuffix(".exe").removesuffix(".cmd")
    if len(words) > 2 and words[1] == "-m" and (name == "py" or _PYTHON.fullmatch(name)):
        return words[2]
    return name


def kind_of(words: Sequence[str]) -> Kind:
    """Return what sort of command these words are."""
    return _kind(program_of(words), words, [word for word in words[1:] if not word.startswith("-")][:4])


def _kind(program: str, words: Sequence[str], arguments: list[str]) -> Kind:
    if not (len(words) > 1 and words[1].endswith("manage.py")):
        if program in _LOOKING:
            return "search"
        if program in _VCS:
            return _vcs_kind(program, words, arguments)
    if _is_test(program, words, arguments):
        return "test"
    if program in _LINT:
        return "lint"
    if program in _RUNNERS and arguments:
        named = _after_run(arguments)
        if _CHECK_WORD.fullmatch(named):
            return "lint"
        if _BUILD_WORD.fullmatch(named):
            return "build"
    if program in _EDIT or (program in {"sed", "perl"} and _in_place(words)):
        return "edit"
    if program in _BUILD or (program in {"uv", "next", "npm", "pnpm", "yarn"} and _builds(arguments)):
        return "build"
    return "search" if program in _SEARCH else "other"


def _vcs_kind(program: str, words: Sequence[str], arguments: list[str]) -> Kind:
    if program == "git" and "--check" in words:
        return "lint"
    return "search" if program == "git" and arguments[:1] == ["grep"] else "vcs"


def _in_place(words: Sequence[str]) -> bool:
    return any(word[:1] == "-" and _IN_PLACE.match(word) for word in words[1:])


def _builds(arguments: list[str]) -> bool:
    return bool(arguments) and bool(_BUILD_WORD.fullmatch(arguments[0]))


def _after_run(arguments: list[str]) -> str:
    return arguments[1] if arguments[0] in {"run", "run-script", "exec", "x"} and len(arguments) > 1 else arguments[0]


def _is_test(program: str, words: Sequence[str], arguments: list[str]) -> bool:
    if program in _TEST:
        return True
    if program == "playwright":
        return arguments[:1] == ["test"]
    if program in {"go", "cargo", "dotnet", "mix", "swift", "flutter", "dart", "deno", "bun", "zig"}:
        named = _after_run(arguments) if arguments else ""
        return named in {"test", "t", "nextest", "tests"} or (program == "bun" and bool(_TEST_WORD.fullmatch(named)))
    if program == "node":
        return "--test" in words[:4]
    if program in {"make", "gmake", "ninja"}:
        return any(_TEST_WORD.fullmatch(word) or word == "check" for word in arguments)
    if program in {"mvn", "mvnw", "gradle", "gradlew", "rake", "bazel", "xcodebuild", "just", "task", "mise", "sbt"}:
        return any(_TEST_WORD.fullmatch(word) for word in arguments)
    if program in _RUNNERS and arguments:
        return _names_test(arguments, words)
    if program in {"manage.py", "django"} or (len(words) > 1 and words[1].endswith("manage.py")):
        return "test" in arguments
    if program in _INTERPRETERS or _PYTHON.fullmatch(program):
        return bool(arguments) and bool(_TEST_FILE.fullmatch(arguments[0]))
    return bool(words) and bool(_TEST_FILE.fullmatch(words[0]))


def _names_test(arguments: list[str], words: Sequence[str]) -> bool:
    if _TEST_WORD.fullmatch(_after_run(arguments)) or arguments[0] == "t":
        return True
    scoped = any(word in {"--filter", "-F", "-w", "--workspace", "-C", "--prefix", "--cwd"} for word in words)
    return scoped and any(_TEST_WORD.fullmatch(word) for word in arguments[:3])


def _reads(program: str, words: Sequence[str], arguments: list[str]) -> bool:
    """Say whether the command only shows something, so that failure words in its output are content."""
    if program == "git":
        named = next((word for word in arguments if word in _GIT_READS or not _is_path(word)), "")
        return named in _GIT_READS and "--check" not in words
    if program == "gh":
        return any(word in _GH_READS for word in arguments[:2])
    if program == "sed":
        return not _in_place(words)
    return program in READERS or program in {"bd", "docker", "kubectl", "journalctl", "tmux"}


def _is_path(word: str) -> bool:
    return "/" in word or word.startswith((".", "~"))


def _moves(program: str, words: Sequence[str], arguments: list[str]) -> bool:
    """Say whether the command changes the files of the tree: an edit by hand, or git moving the checkout."""
    if program == "git":
        named = next((word for word in arguments if not _is_path(word)), "")
        return named in _GIT_MOVES or (named == "stash" and "list" not in arguments)
    return program in {"mv", "rm", "patch"} or (program in {"sed", "perl"} and _in_place(words))
