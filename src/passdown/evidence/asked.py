"""What a person answered when an agent's tool asked: a decision, found in the forms in which the programs write it."""

from __future__ import annotations

from typing import Any

from passdown.evidence.output import compiled, one_line

MAX_QUESTIONS = 8
MAX_QUESTION = 200
MAX_ANSWER = 300
_READ = 20_000

_SINGLE = r"(?is)\A\s*(?:the )?user (?:responded|selected|answered|chose|replied)(?: with)?:\s*(.+)\Z"
_END = r'"(?:, "| user notes: | selected (?:preview|markdown):|\.? (?:You can now|Now)\b|\.?\s*\Z)'
_NO_ANSWER = frozenset({"", "unanswered", "no answer", "(no answer)", "null", "none", "n/a"})


def answers_in(arguments: dict[str, Any], text: str) -> list[tuple[str, str]]:
    """Return the questions of a call with their answers. What is in no known form is no answer."""
    asked = _questions(arguments)
    text = text[:_READ]
    found = _from_object(asked, text)
    if found is None:
        found = [(question, _beside(text, question, header)) for question, header, _ in asked]
        if len(asked) == 1 and not found[0][1] and (single := compiled(_SINGLE).match(text)):
            found = [(asked[0][0], single[1])]
    lines = [(one_line(question, MAX_QUESTION), one_line(answer, MAX_ANSWER)) for question, answer in found]
    return [(question, answer) for question, answer in lines if not _decides_nothing(answer)]


def _decides_nothing(answer: str) -> bool:
    """Say whether an answer is none, or asks something itself."""
    return answer.casefold() in _NO_ANSWER or answer.endswith(("?", "？"))


def _questions(arguments: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return each question with its heading and its id."""
    listed = arguments.get("questions")
    rows = listed if isinstance(listed, list) else [arguments]
    found = []
    for row in rows[:MAX_QUESTIONS]:
        if isinstance(row, dict) and isinstance(question := row.get("question"), str) and question.strip():
            header, name = row.get("header"), row.get("id")
            found.append((question, header if isinstance(header, str) else "", name if isinstance(name, str) else ""))
    return found


def _from_object(asked: list[tuple[str, str, str]], text: str) -> list[tuple[str, str]] | None:
    """Return the answers of an object `{"answers": {…}}`, by number, id, heading or question; None for another text."""
    if not text.lstrip().startswith("{") or '"answers"' not in text:
        return None
    import json  # few sessions ask

    try:
        answers = json.loads(text)["answers"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(answers, dict):
        return []
    return [
        (asked[at][0], _said(next((answers[key] for key in (str(at), *reversed(asked[at])) if key in answers), None)))
        for at in range(len(asked))
    ]


def _said(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("answers", value.get("answer"))
    if isinstance(value, list):
        return ", ".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""


def _beside(text: str, question: str, header: str) -> str:
    """Return what stands beside a question: `"question"="answer"`, or `**heading**: answer` on a line of its own."""
    _, found, rest = text.partition(f'"{question}"="')
    if found:
        end = compiled(_END).search(rest)
        return rest[: end.start()] if end else ""
    _, found, rest = text.partition(f"**{header}**: ") if header else ("", "", "")
    return rest.partition("\n")[0] if found else ""
