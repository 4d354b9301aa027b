"""The repository in which the agents work: two helpers, two bugs, two tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

SLUG = '''def slugify(text):
    """Lower-case, words joined by single dashes."""
    return text.replace(" ", "-")


def truncate(text, n):
    """At most n characters, the last one an ellipsis if cut."""
    return text[:n] + "…" if len(text) > n else text
'''
TEST = """import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "src"))
from slug import slugify, truncate


class SlugTest(unittest.TestCase):
    def test_slugify(self):
        self.assertEqual(slugify("  Hello   World "), "hello-world")

    def test_truncate(self):
        self.assertEqual(truncate("abcdef", 4), "abc…")
"""


def make_project(root: Path) -> None:
    """Make a repository with two bugs and their tests."""
    for name, text in {"src/slug.py": SLUG, "tests/test_slug.py": TEST, ".gitignore": "__pycache__/\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Two helpers and their tests"]):
        subprocess.run([*git, *words], cwd=root, check=True)
