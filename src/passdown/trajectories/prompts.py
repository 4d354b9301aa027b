"""What a person asked for, taken out of the template that a harness put around it."""

from __future__ import annotations

from typing import NamedTuple

from passdown.model.pattern import lazy_pattern

_TAGS = ("pr_description", "issue_description", "task_description", "problem_statement", "github_issue", "issue",
         "task")  # fmt: skip
_AROUND = (
    *((f"<{tag}>", f"</{tag}>") for tag in _TAGS),
    ("\nISSUE:\n", "\nINSTRUCTIONS:"),
    ("following CTF challenge. ", "\nINSTRUCTIONS:"),
    ("--- NEW TASK DESCRIPTION ---------------------\n", "\n--------------------- END OF NEW TASK DESCRIPTION"),
    ("\n# Problem Statement\n", "\nIMPORTANT: You should ONLY"),
    ("\nTask Description:\n", "\nCurrent terminal state:"),
    ("Please solve this issue: ", "\nYou can execute bash commands"),
    ("**Original Task:** ", "\n**Summary from Previous Agent"),
)
"""What stands before and behind a task in the templates of SWE-agent, mini-swe-agent, OpenHands and Terminus."""
_INTRODUCED = ("Consider the following PR description:",)
_NUDGES = lazy_pattern(
    r"(?i)\s*(?:Please continue working on the task on whatever approach|Please always provide EXACTLY ONE action|"
    r"Your output (?:was not formatted|could not be parsed)|Here are the answers the other agent provided|"
    r"No tool calls? found in the|You must (?:provide|use) (?:exactly|at least) one|<?format[_ ]error|"
    r"Your last output did not use|Previous response had parsing errors|"
    r"<system[-_]reminder>|<environment_context>|Here is a demonstration of how to correctly accomplish)"
)
_UPLOADED = lazy_pattern(r"<uploaded_files>\s*(/[^\s<]{1,400})\s*</uploaded_files>")
_CURRENT = lazy_pattern(r"\(Current directory: (/[^\n)]{1,400})\)")
PLACE = "{{task}}"
"""What stands in a template where the task was."""


class Prompt(NamedTuple):
    """A first prompt: the person's task, and the template around it (empty where there is none)."""

    task: str
    template: str = ""


def split_prompt(text: str, known: str = "") -> Prompt:
    """Return the task in a harness's first prompt. `known` is the task where the file says it elsewhere."""
    known = known.strip()
    if known and known != text.strip() and known in text:
        return _cut(text, text.rindex(known), known)
    for before, behind in _AROUND:
        end = text.rfind(behind)
        begin = text.find(before, 0, end) if end > 0 else -1
        if begin < 0:
            continue
        inside = text[begin + len(before) : end]
        task = inside.strip()
        for words in _INTRODUCED:
            task = task.removeprefix(words).strip()
        if task:
            return _cut(text, begin + len(before) + inside.rindex(task), task)
    return Prompt(text)


def _cut(text: str, begin: int, task: str) -> Prompt:
    return Prompt(task, f"{text[:begin]}{PLACE}{text[begin + len(task) :]}")


def is_nudge(text: str) -> bool:
    """Say whether a user's message is what a harness says by itself, to keep the agent going."""
    return _NUDGES.match(text) is not None


def place_in(template: str) -> str:
    """Return the folder that a template says the work lies in, empty where it says none."""
    match = _UPLOADED.search(template[:4000]) or _CURRENT.search(template[-4000:])
    return match[1] if match else ""
