"""The todo list that Copilot keeps in a small database of the session, through its `sql` tool, and the older list."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanItem, PlanStatus

MAX_ITEMS = 500
_STATUS: dict[str, PlanStatus] = {
    "pending": "pending", "blocked": "pending", "in_progress": "in_progress", "in progress": "in_progress",
    "done": "completed", "completed": "completed", "complete": "completed", "cancelled": "cancelled",
    "skipped": "cancelled",
}  # fmt: skip
# Nothing here goes back over what it has read (possessive quantifiers): the statements are a model's, of any shape.
_STRING = r"'(?:[^']|'')*+'"
_STATEMENT = lazy_pattern(rf"(?:[^;']|{_STRING})++")
_INSERT = lazy_pattern(
    r"(?is)\s*(?:INSERT(?:\s+OR\s+\w+)?|REPLACE)\s+INTO\s+[\"`]?todos[\"`]?\s*+(?:\(([^)']*)\)\s*+)?VALUES(.*)"
)
_ROW = lazy_pattern(rf"\(((?:[^()']|{_STRING}|\([^()']*\))*+)\)")
_VALUE = lazy_pattern(rf"({_STRING})|([^,']+)")
_UPDATE = lazy_pattern(r"(?is)\s*UPDATE\s+[\"`]?todos[\"`]?\s+SET\s+(.*?)(?:\sWHERE\s(.*))?")
_SET = lazy_pattern(rf"(?is)\b(status|title)\s*=\s*({_STRING})")
_WHERE = lazy_pattern(rf"(?is)\s*(id|status)\s*(?:=\s*({_STRING})|IN\s*\(((?:\s*+{_STRING}\s*+,?)++)\s*\))\s*")
_DELETE = lazy_pattern(r"(?is)\s*DELETE\s+FROM\s+[\"`]?todos[\"`]?(?:\sWHERE\s(.*))?")
_QUOTED = lazy_pattern(_STRING)
_BOX = lazy_pattern(r"(?m)^[ \t]*+[-*][ \t]*+\[([ xX~/-])\][ \t]*+(.{1,500}?)[ \t\r]*$")
_COLUMNS = ("id", "title", "description", "status")


class Todos:
    """The list as the statements so far have made it. A statement that is not understood changes nothing."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[str, PlanStatus]] = {}

    def run(self, query: str) -> tuple[PlanItem, ...] | None:
        """Follow the statements of one call; returns the whole list when they changed it, else None."""
        before = dict(self._rows)
        for statement in _STATEMENT.findall(query[:20_000])[:200]:
            if match := _INSERT.fullmatch(statement):
                self._insert(match[1], match[2])
            elif match := _UPDATE.fullmatch(statement):
                self._update(match[1], match[2])
            elif match := _DELETE.fullmatch(statement):
                for key in self._named(match[1]):
                    del self._rows[key]
        if self._rows == before:
            return None
        return tuple(PlanItem(text=text, status=status) for text, status in self._rows.values())

    def _insert(self, columns: str | None, rows: str) -> None:
        names = [name.strip(' "`\n\t') for name in columns.split(",")] if columns else list(_COLUMNS)
        for row in _ROW.findall(rows):
            values = [_plain(quoted) if quoted else bare.strip() for quoted, bare in _VALUE.findall(row)]
            fields = dict(zip(names, [value for value in values if value], strict=False))
            key = fields.get("id", "")
            if key and len(self._rows) < MAX_ITEMS:
                self._rows[key] = (fields.get("title") or key, _STATUS.get(fields.get("status", ""), "pending"))

    def _update(self, changes: str, where: str | None) -> None:
        new = {name.lower(): _plain(value) for name, value in _SET.findall(changes)}
        status = _STATUS.get(new.get("status", ""))
        for key in self._named(where):
            text, known = self._rows[key]
            self._rows[key] = (new.get("title") or text, status or known)

    def _named(self, where: str | None) -> list[str]:
        if where is None:
            return list(self._rows)
        match = _WHERE.fullmatch(where)
        if match is None:
            return []
        wanted = {_plain(text) for text in _QUOTED.findall(match[2] or match[3] or "")}
        if match[1].lower() == "status":
            kinds = {_STATUS.get(name) for name in wanted}
            return [key for key, (_, status) in self._rows.items() if status in kinds]
        return [key for key in self._rows if key in wanted]


def _plain(quoted: str) -> str:
    return quoted[1:-1].replace("''", "'")[:500]


def checklist(text: str) -> tuple[PlanItem, ...]:
    """Return the items of the Markdown checklist that the older `update_todo` tool takes."""
    found = _BOX.findall(text[:100_000])[:MAX_ITEMS]
    return tuple(
        PlanItem(text=item, status="pending" if box == " " else "completed" if box in "xX" else "in_progress")
        for box, item in found
    )
