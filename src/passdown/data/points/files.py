"""What sort of file a path is: source, test, by-product, or none of these."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from passdown.model.pattern import lazy_pattern

Sort = Literal["source", "test", "scratch", "other"]

_TEST = lazy_pattern(
    r"(?i)(?:.*/)?(?:[\w-]*[_-])?(?:tests?|testing|__tests__|specs?|e2e)(?:[_-][\w-]*)?/.*"
    r"|(?:.*/)?(?:test_[^/]*|[^/]*[_.-](?:tests?|spec)\.\w+|conftest\.py)"
)
_SCRATCH = lazy_pattern(r"(?i)(?:repro|reproduc\w*|scratch|tmp|temp|debug|poc|playground)[^/]*")
_ON_THE_SIDE = lazy_pattern(
    r"(?i)(?:fix|trace|understand|detect|verify|check|demo|try|examples?|simple|quick|final|minimal|analy[sz]e|explore"
    r"|investigate|implement|patch|apply|update|run|compare|inspect|validate|comprehensive|edge|show|test)"
    r"(?:[_.-][^/]*)?\.(?:py|sh|js|ts|mjs|rb|go|pl|c|php)|[^/]*_test\.(?:py|js|ts|rb)"
)
"""Scripts that agents put at the top of a tree to look at something, and forget there."""
_COPIES = (".bak", ".backup", ".orig", ".rej", ".old", "~", ".swp", ".pyc", ".log", ".patch", ".diff", "patch.txt")
_NO_CODE = frozenset({
    "md", "rst", "txt", "adoc", "json", "jsonl", "json5", "yml", "yaml", "toml", "cfg", "ini", "conf", "lock", "csv",
    "tsv", "xml", "svg", "png", "jpg", "jpeg", "gif", "ico", "pdf", "zip", "gz", "log", "out", "env", "sum", "mod",
    "properties", "plist", "pyc", "map", "snap", "golden", "approved", "editorconfig", "gitignore",
})  # fmt: skip


@lru_cache(maxsize=8192)
def sort_of(path: str, *, new: bool = False) -> Sort:
    """Return the sort of a workspace-relative path. `new` says that the run made the file itself."""
    name = path.rpartition("/")[2]
    if "*" in path:
        return "other"
    if path[:1] in ("/", "~", "$") or not name or path.endswith(_COPIES):
        return "scratch" if name else "other"
    top = name == path
    if top and (_SCRATCH.match(name) or (new and _ON_THE_SIDE.fullmatch(name))):
        return "scratch"
    _, dot, suffix = name.rpartition(".")
    if not dot or not suffix.isalnum() or suffix.lower() in _NO_CODE:
        return "other"
    return "test" if _TEST.fullmatch(path) else "source"
