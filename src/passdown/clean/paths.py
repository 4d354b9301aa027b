"""What a path says about a file: a fixture, a test, a document, something temporary."""

from __future__ import annotations

from fnmatch import fnmatchcase

from passdown.clean.languages import language_of
from passdown.model.pattern import lazy_pattern

_NAME = lazy_pattern(
    r"(?i)(?:.+\.(?:tmp|temp|bak|orig|rej|swp|swo|log|pyc|pyo|prof)|.*~|nohup\.out|core(?:\.[0-9]+)?|\.DS_Store|Thumbs\.db"
    r"|a\.out|(?:dump|debug|foo)\.\w+|(?:out|output|test|temp|tmp)\.txt|untitled.*|.+_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+\.\w+)"
)
_REMADE = lazy_pattern(r"(?i)(?:^|/)(?:__pycache__/|\.DS_Store$|Thumbs\.db$)|\.(?:pyc|pyo|swp|swo)$")
_FOLDER = lazy_pattern(r"(?i)(?:^|/)(?:__pycache__|tmp|temp|\.?scratch)/|^(?:playground|sandbox|backup)/")
_FIXTURE = lazy_pattern(r"(?i)(?:^|/)(?:testdata|fixtures?|__fixtures__|goldens?|cassettes)/")
_CORE = lazy_pattern(r"(?:^|/)core$")
_DOCUMENT = lazy_pattern(r"(?i)(?:^|/)(?:docs?|examples?)/|\.(?:md|rst|adoc|txt)$|\.(?:example|sample|template|dist)$")
_TEST = lazy_pattern(
    r"(?i)(?:^|/)(?:tests?|specs?|__tests__|testing|e2e)/|(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|spec)s?)\.\w+$"
)


def is_test(path: str) -> bool:
    """Say whether a file holds tests, by its path."""
    return bool(_TEST.search(path))


def is_fixture(path: str) -> bool:
    """Say whether a file is what tests are fed with."""
    return bool(_FIXTURE.search(path))


def is_document(path: str) -> bool:
    """Say whether a file explains, or shows how something is done."""
    return bool(_DOCUMENT.search(path))


def is_temporary(path: str) -> bool:
    """Say whether a path is named like something temporary."""
    name = path.rpartition("/")[2]
    if name in (".gitkeep", ".keep") or (_CORE.search(path) and path != "core"):
        return False
    if _FOLDER.search(path):
        return True
    return bool(_NAME.fullmatch(name)) and not (language_of(path) and name.lower().startswith(("debug.", "dump.")))


def is_remade(path: str) -> bool:
    """Say whether a path is a cache that tools write anew by themselves: nobody left it there."""
    return bool(_REMADE.search(path))


def is_exempt(path: str, globs: tuple[str, ...], literal: frozenset[str]) -> bool:
    """Say whether a path may be named like that: configured, in the contract by its own name, or a fixture."""
    return path in literal or is_fixture(path) or any(fnmatchcase(path, glob) for glob in globs)
