"""The words of handoff.md that are ours, by language. The text of the packet is never translated."""

from __future__ import annotations

LANGUAGES: dict[str, dict[str, str]] = {
    "en": {
        "title": "Handoff", "next": "Next step", "questions": "Questions for the human", "load": "Load first",
        "goal": "Goal", "directives": "In the human's words", "completed": "Completed", "remaining": "Remaining",
        "changed": "Changed files", "decisions": "Decisions", "tests": "Tests", "problems": "Known problems",
        "verification": "Verification", "commands": "Commands", "clues": "Clues", "local": "Only on this machine",
        "receipts": "Receipts", "none": "none", "summaries": "The harness's own summary",
        "assumptions": "Assumptions to validate",
    },
    "zh": {
        "title": "交接", "next": "下一步", "questions": "待人回答的问题", "load": "先读这些", "goal": "目标",
        "directives": "人的原话", "completed": "已完成", "remaining": "未完成", "changed": "改动的文件",
        "decisions": "决定", "tests": "测试", "problems": "已知问题", "verification": "如何验证", "commands": "命令",
        "clues": "线索", "local": "只在本机", "receipts": "凭据", "none": "无", "summaries": "工具自己的摘要",
        "assumptions": "待验证的假设",
    },
}  # fmt: skip


def words(language: str) -> dict[str, str]:
    """Return the headings of a language by its code (`en`, `zh`, `zh-CN`); English for one that is not there."""
    return LANGUAGES.get(language.lower().replace("_", "-").split("-", maxsplit=1)[0], LANGUAGES["en"])
