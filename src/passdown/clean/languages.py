"""The languages whose code is looked at: how their comments and strings begin and end."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from msgspec import Struct

from passdown.model.pattern import compile_pattern

_LINE = r"(?P<line>//[^\n]*)"
_BLOCK = r"(?P<block>/\*.*?(?:\*/|\Z))"
_OPEN_BLOCK = r"(?P<nested>/\*)"
_DOUBLE = r'"(?:\\.|[^"\\\n])*+"?'
_SINGLE = r"'(?:\\.|[^'\\\n])*+'?"
_LONG_DOUBLE = r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)'
_LONG_SINGLE = r"'(?:\\.|[^'\\])*+(?:'|\\?\Z)"
_TRIPLE = r'""".*?(?:"""|\Z)'
_BACKTICK = r"`(?:\\.|[^`\\])*+(?:`|\\?\Z)"
_REGEX = r"(?<=[(,=:\[!&|?{};+>\n])[ \t]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*+\]|[^/\\\n\[])++/[a-z]*"
_RUST_CHAR = r"b?'(?:\\(?:u\{[0-9a-fA-F_]+\}|x..|.)|[^'\\\n])'"
_RUST_RAW = r'(?<!\w)b?r(?P<hashes>#*)".*?(?:"(?P=hashes)|\Z)'
_PYTHON_TRIPLE = r"'''(?:\\.|[^\\])*?(?:'''|\\?\Z)|\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\\?\Z)"


class Language(Struct, frozen=True, gc=False):
    """One language. `family` groups those whose code has the same shape; `tokens` matches comments and strings.

    `heredoc` matches the opening of a here-document, its end word in the group `word`; empty when there is none.
    """

    name: str
    family: Literal["python", "c", "shell", "ruby"]
    tokens: str
    heredoc: str = ""


def _strings(*parts: str) -> str:
    return f"(?P<string>{'|'.join(parts)})"


_C = Language("c", "c", "|".join((_LINE, _BLOCK, _strings(_DOUBLE, _SINGLE))))
_JS = Language("javascript", "c", "|".join((_LINE, _BLOCK, _strings(_DOUBLE, _SINGLE, _BACKTICK, _REGEX))))
_JVM = "|".join((_LINE, _BLOCK, _strings(_TRIPLE, _DOUBLE, _SINGLE)))
_NESTED = "|".join((_LINE, _OPEN_BLOCK, _strings(_TRIPLE, _DOUBLE, _SINGLE)))
_SHARP = "|".join((_LINE, _BLOCK, _strings(r'\$?@\$?"(?:""|[^"])*+(?:"|\Z)', _TRIPLE, _DOUBLE, _SINGLE)))
_RUST = "|".join((_LINE, _OPEN_BLOCK, _strings(_RUST_RAW, _LONG_DOUBLE, _RUST_CHAR)))
_PHP = "|".join((_LINE, r"(?P<hash>#(?!\[)[^\n]*)", _BLOCK, _strings(_LONG_DOUBLE, _LONG_SINGLE)))
_RUBY = "|".join((
    r"(?P<hash>#[^\n]*)", r"(?P<block>^=begin\b.*?(?:^=end\b[^\n]*|\Z))",
    _strings(_LONG_DOUBLE, _LONG_SINGLE, _BACKTICK, r"%[qQwWiI][(\[{<|!][^)\]}>|!]{0,2000}+[)\]}>|!]", _REGEX),
))  # fmt: skip
_RUBY_DOCUMENT = r"<<[~-]['\"`]?(?P<word>[A-Z_a-z]\w*)['\"`]?|<<(?P<word2>[A-Z]{2,}\w*)"
_SHELL = "|".join((r"(?P<escape>\\.)", r"(?P<hash>(?<![^\s;&|(])#[^\n]*)", _strings(_LONG_DOUBLE, r"'[^']*+(?:'|\Z)")))
_PYTHON = "|".join((r"(?P<hash>#[^\n]*)", _strings(_PYTHON_TRIPLE, _DOUBLE, _SINGLE)))

_LANGUAGES: tuple[tuple[str, Language], ...] = (
    ("py pyi pyw", Language("python", "python", _PYTHON)),
    ("js jsx mjs cjs ts tsx mts cts", _JS),
    ("go", Language("go", "c", "|".join((_LINE, _BLOCK, _strings(_DOUBLE, _SINGLE, r"`[^`]*+(?:`|\Z)"))))),
    ("rs", Language("rust", "c", _RUST)),
    ("java", Language("java", "c", _JVM)),
    ("kt kts", Language("kotlin", "c", _NESTED)),
    ("swift", Language("swift", "c", _NESTED)),
    ("c h cc cpp cxx hh hpp hxx m mm", _C),
    ("cs", Language("csharp", "c", _SHARP)),
    ("php", Language("php", "c", _PHP, r"<<<[ \t]*['\"]?(?P<word>[A-Za-z_]\w*)['\"]?")),
    ("rb rake", Language("ruby", "ruby", _RUBY, _RUBY_DOCUMENT)),
    ("sh bash zsh", Language("shell", "shell", _SHELL, r"(?<!<)<<-?[ \t]*['\"\\]?(?P<word>[A-Za-z_]\w*)['\"]?")),
)  # fmt: skip

_BY_EXTENSION = {extension: language for names, language in _LANGUAGES for extension in names.split()}
_MORE = """
scala dart lua pl pm r jl ex exs erl hrl hs ml mli fs fsx clj cljs groovy gradle vb vue svelte sql proto graphql html
htm css scss sass less json yaml yml toml ini cfg conf xml tf hcl nix cmake mk bat ps1 psm1 zig nim ipynb
"""
_MORE_CODE = frozenset(_MORE.split())
_CODE_NAMES = frozenset(
    {"Makefile", "Dockerfile", "Justfile", "justfile", "Gemfile", "Rakefile", "CMakeLists.txt", "go.mod"}
)


def extension_of(path: str) -> str:
    """Return the part of a file's name behind its last dot, in lower case; empty when there is none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""


def language_of(path: str) -> Language | None:
    """Return the language a file is written in, by its extension, None for one that is not looked into."""
    return _BY_EXTENSION.get(extension_of(path))


def is_code(path: str) -> bool:
    """Say whether a file is code or configuration: losing it would change what the project does."""
    extension = extension_of(path)
    return extension in _BY_EXTENSION or extension in _MORE_CODE or path.rpartition("/")[2] in _CODE_NAMES


@cache
def token_pattern(language: Language) -> re.Pattern[str]:
    """Return the expression that matches the language's comments, strings and here-documents."""
    heredoc = f"|(?P<heredoc>{language.heredoc})" if language.heredoc else ""
    return compile_pattern(language.tokens + heredoc, re.DOTALL | re.MULTILINE)
