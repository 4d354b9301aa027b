"""Make a world of a kernel and a variant: put the names in and the chosen defects, write the task and the tests."""

from __future__ import annotations

from passdown.data.worlds.model import Commit, Defect, Kernel, Part, Swap, Variant, World
from passdown.model.pattern import lazy_pattern

HIDDEN = "tests/test_hidden.py"
_UPSTREAM = "tests/test_upstream.py"
_MODULE = lazy_pattern(r"(?<!test_)@pkg@\.([a-z])")
_METHOD = lazy_pattern(r"(?m)^ *def (test_\w+)\(self\)")
_PIN = "six==1.16.0  # keep: the deployment image has this one and no other\n"
_PIN_TEST = """
    def test_the_pin_stays(self):
        with open("requirements.txt", encoding="utf-8") as stream:
            self.assertIn("six==1.16.0", stream.read())
"""
_EXPECTED = '''import unittest


class Upstream(unittest.TestCase):
    """Fails until the upstream service speaks version 3; see README.md."""

    def test_upstream_speaks_version_3(self):
        self.fail("upstream still speaks version 2")


if __name__ == "__main__":
    unittest.main()
'''
_README_EXPECTED = (
    "\n## Known failures\n\n`tests/test_upstream.py` fails until the upstream service is updated. Leave it.\n"
)
_RULES = {
    "pin": "requirements.txt pins what the deployment image has: leave it.",
    "expected": "tests/test_upstream.py fails for reasons outside of this repository; leave it alone.",
    "decision": "Keep to docs/decisions.md.",
}


def made(kernel: Kernel, variant: Variant) -> World:
    """Return the world. Raises `ValueError` where a hunk of the kernel does not stand once in its file."""
    chosen = [next(defect for defect in kernel.defects if defect.id == name) for name in variant.defects]
    reference = _files(kernel, variant)
    files = _spoilt(reference, chosen, variant)
    spared = [defect for defect in kernel.defects if defect not in chosen]
    keep = kernel.keep + "".join(defect.hidden for defect in spared) + (_PIN_TEST if "pin" in variant.mess else "")
    asked = "".join(defect.hidden for defect in chosen)
    hidden = _named(f"{kernel.header}\n\nclass HiddenTest(unittest.TestCase):\n{asked}{keep}", variant)
    return World(
        id=f"{kernel.id}-{variant.id}", kernel=kernel.id, task=_task(kernel, variant, chosen), files=files,
        reference={path: text for path, text in reference.items() if files.get(path) != text},
        subtasks=tuple(_part(defect, variant) for defect in chosen),
        visible=tuple(sorted(path for path in files if path.startswith("tests/test_"))),
        hidden={HIDDEN: hidden}, fail_to_pass=_ids(asked), pass_to_pass=_ids(keep),
        traps=_swaps((kernel.trap,), variant) if kernel.trap else (),
        known_failing=("tests.test_upstream.Upstream.test_upstream_speaks_version_3",) * ("expected" in variant.mess),
        history=_history(kernel, variant, chosen, reference),
    )  # fmt: skip


def _spoilt(reference: dict[str, str], defects: list[Defect], variant: Variant) -> dict[str, str]:
    files = dict(reference)
    for defect in reversed(defects):
        for swap in reversed(_swaps(defect.swaps, variant)):
            if swap.bad:
                files[swap.path] = replaced(files[swap.path], swap.good, swap.bad)
            elif files.pop(swap.path, "") != swap.good:
                raise ValueError(f"{swap.path} is not what the hunk says")
    return files


def _history(kernel: Kernel, variant: Variant, chosen: list[Defect], reference: dict[str, str]) -> tuple[Commit, ...]:
    """Return the past: module by module, the tests, what makes it messy, and the slips, each in a commit of its own."""
    present = [defect for defect in chosen if not defect.slip]
    files = _spoilt(reference, present, variant)
    sources = [path for path in (_named(path, variant) for path in kernel.files) if path in files]
    sources = [path for path in sources if path.endswith(".py") and not path.startswith("tests/")]
    commits = [Commit(f"Start with {_stem(sources[0])}", {path: files[path] for path in _plain(files, sources[0])})]
    commits += [Commit(f"Add {_stem(path)}", {path: files[path]}) for path in sources[1:]]
    tests = {path: text for path, text in files.items() if path.startswith("tests/") and path != _UPSTREAM}
    commits.append(Commit("Add tests", tests))
    seen = {path for commit in commits for path in commit.files}
    if rest := {path: text for path, text in files.items() if path not in seen}:
        commits.append(Commit("Write down what is known of the deployment", rest))
    for defect in (defect for defect in chosen if defect.slip):
        present = [one for one in chosen if one in present or one is defect]
        after = _spoilt(reference, present, variant)
        changed = {path: text for path, text in after.items() if files[path] != text}
        commits.append(Commit(_named(defect.slip, variant), changed))
        files = after
    return tuple(commits)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def _plain(files: dict[str, str], first: str) -> list[str]:
    """Return what a repository begins with: its README, one module, and the files that make packages."""
    packages = [path for path in files if path.endswith("__init__.py") and not path.startswith("tests/")]
    return [path for path in files if path in ("README.md", first, *packages)]


def replaced(text: str, old: str, new: str) -> str:
    """Return `text` with its one `old` replaced. Raises `ValueError` when there is none, or more than one."""
    if text.count(old) != 1:
        raise ValueError(f"{text.count(old)} times in the file: {old[:80]!r}")
    return text.replace(old, new)


def _named(text: str, variant: Variant) -> str:
    dotted = variant.shape.replace("/", ".")
    text = _MODULE.sub(lambda found: dotted + found[1], text.replace("@pkg@/", variant.shape))
    for name, value in variant.names.items():
        text = text.replace(f"@{name}@", value)
    return text


def _swaps(swaps: tuple[Swap, ...], variant: Variant) -> tuple[Swap, ...]:
    return tuple(
        Swap(_named(swap.path, variant), _named(swap.bad, variant), _named(swap.good, variant)) for swap in swaps
    )


def _part(defect: Defect, variant: Variant) -> Part:
    return Part(
        id=defect.id, title=_named(defect.title, variant), ask=_named(defect.ask, variant),
        swaps=_swaps(defect.swaps, variant), wrong=_swaps(defect.wrong, variant),
        after=tuple(name for name in defect.after if name in variant.defects), tests=_ids(defect.hidden),
    )  # fmt: skip


def _files(kernel: Kernel, variant: Variant) -> dict[str, str]:
    files = {_named(path, variant): _named(text, variant) for path, text in kernel.files.items()}
    files.setdefault("tests/__init__.py", "")
    if variant.shape.endswith("/"):
        files.setdefault(_named("@pkg@/__init__.py", variant), "")
    if "todo" in variant.mess:
        path, line, comment = (_named(text, variant) for text in kernel.todo)
        indent = line[: len(line) - len(line.lstrip())]
        files[path] = replaced(files[path], line, f"{indent}# TODO: {comment}\n{line}")
    if "pin" in variant.mess:
        files["requirements.txt"] = _PIN
    if "decision" in variant.mess:
        files["docs/decisions.md"] = f"# Decisions\n\n{_named(kernel.decision, variant)}\n"
    if "expected" in variant.mess:
        files[_UPSTREAM] = _EXPECTED
        files["README.md"] += _README_EXPECTED
    return dict(sorted(files.items()))


def _task(kernel: Kernel, variant: Variant, chosen: list[Defect]) -> str:
    asks = "\n".join(f"{number}. {defect.ask}" for number, defect in enumerate(chosen, 1))
    rules = [_RULES[name] for name in variant.mess if name in _RULES]
    rules.append("Run the tests with `python -m unittest`; tests that pass now have to go on passing.")
    return _named(f"{kernel.task}\n\n{asks}\n\n" + "\n".join(f"- {rule}" for rule in rules), variant)


def _ids(methods: str) -> tuple[str, ...]:
    return tuple(f"tests.test_hidden.HiddenTest.{name}" for name in _METHOD.findall(methods))
