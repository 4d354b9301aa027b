"""Import of tables: reading CSV by hand, a header that is mapped, typed columns, and errors with their place."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_CELLS = '''"""From text to rows of cells."""


class BadFile(ValueError):
    """The file cannot be read as a table."""


def rows(text, delimiter=","):
    """Return rows of cells. Quotes as in CSV: a doubled quote is one, delimiters and line ends in them are text."""
    found, row, cell, quoted = [], [], "", False
    text = text.removeprefix("\\ufeff").replace("\\r\\n", "\\n")
    place = 0
    while place < len(text):
        char = text[place]
        place += 1
        if quoted and text[place - 1 : place + 1] == '""':
            cell += char
            place += 1
        elif char == '"':
            quoted = not quoted
        elif quoted or char not in (delimiter, "\\n"):
            cell += char
        else:
            row.append(cell)
            cell = ""
            if char == "\\n":
                found.append(row)
                row = []
    if quoted:
        raise BadFile("a quote is not closed")
    if cell or row:
        found.append([*row, cell])
    return [row for row in found if row != [""]]


def delimiter(text):
    """Return the delimiter that a first line seems to have: comma, semicolon or tab."""
    first = text.partition("\\n")[0]
    return max(",;\\t", key=first.count)
'''

_COLUMNS = '''"""Columns of @thing@s: what they are called, what they hold."""

from datetime import date


def whole(text):
    return int(text.replace(" ", ""))


def day(text):
    """Read 2024-03-01 or 1.3.2024."""
    if "." in text:
        first, second, year = text.split(".")
        return date(int(year), int(second), int(first))
    return date.fromisoformat(text)


TYPES = {"text": str, "whole": whole, "day": day}


class Column:
    def __init__(self, name, kind="text", also=(), needed=True):
        self.name, self.kind, self.needed = name, kind, needed
        self.names = {key(one) for one in (name, *also)}

    def read(self, text):
        """Return a cell's value; None when it is empty."""
        text = text.strip()
        return TYPES[self.kind](text) if text else None


def key(name):
    """Names of columns are compared without case, spaces and underscores."""
    return name.lower().replace(" ", "").replace("_", "")
'''

_LOAD = '''"""Load a table."""

from @pkg@.cells import BadFile, delimiter, rows
from @pkg@.columns import key


def load(text, columns):
    """Return records (dicts) and errors (line, column, what). A row with an error is left out."""
    head, *body = rows(text, delimiter(text)) or [[]]
    places = {}
    for column in columns:
        for place, name in enumerate(head):
            if key(name) in column.names:
                places.setdefault(column.name, place)
        if column.needed and column.name not in places:
            raise BadFile("no column " + column.name)
    records, errors = [], []
    for line, row in enumerate(body, 2):
        record, wrong = _record(row, line, columns, places)
        errors += wrong
        if not wrong:
            records.append(record)
    return records, errors


def _record(row, line, columns, places):
    record, wrong = {}, []
    for column in columns:
        place = places.get(column.name)
        cell = row[place] if place is not None and place < len(row) else ""
        try:
            record[column.name] = column.read(cell)
        except ValueError:
            wrong.append((line, column.name, f"not {column.kind}: {cell.strip()}"))
            continue
        if column.needed and record[column.name] is None:
            wrong.append((line, column.name, "empty"))
    return record, wrong
'''

_TESTS = """import unittest

from @pkg@.cells import rows
from @pkg@.columns import Column
from @pkg@.load import load


class Cells(unittest.TestCase):
    def test_two_rows(self):
        self.assertEqual(rows("a,b\\n1,2\\n"), [["a", "b"], ["1", "2"]])

    def test_quotes(self):
        self.assertEqual(rows('"a,b",c'), [["a,b", "c"]])


class Loading(unittest.TestCase):
    def test_records(self):
        records, errors = load("name,age\\nAnn,30\\n", [Column("name"), Column("age", "whole")])
        self.assertEqual((records, errors), ([{"name": "Ann", "age": 30}], []))

    def test_error(self):
        self.assertEqual(load("age\\nold\\n", [Column("age", "whole")])[1], [(2, "age", "not whole: old")])


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="imports",
    task="@pkg@ loads tables of @thing@s that people send. These files made trouble:",
    files={
        "@pkg@/cells.py": _CELLS,
        "@pkg@/columns.py": _COLUMNS,
        "@pkg@/load.py": _LOAD,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nLoads tables of @thing@s from CSV. The delimiter is found out (comma, semicolon, "
                     "tab). Names of\n"
        "columns are compared without case, spaces and underscores. Days: `2024-03-01` or `1.3.2024`.\n",
    },
    header="import unittest\nfrom datetime import date\n\nfrom @pkg@.cells import BadFile, delimiter, rows\n"
    "from @pkg@.columns import Column\nfrom @pkg@.load import load\n",
    keep='''
    def test_line_end_in_quotes(self):
        self.assertEqual(rows('"a\\nb",c\\n'), [["a\\nb", "c"]])

    def test_missing_column(self):
        with self.assertRaises(BadFile):
            load("a\\n1\\n", [Column("b")])
''',
    defects=(
        Defect(
            id="doubled", title="read doubled quotes", ask='A quote in a quoted cell is written twice: `"say ""hi"""`.',
            swaps=(Swap("@pkg@/cells.py", "        if char == '\"':\n",
                        "        if quoted and text[place - 1 : place + 1] == '\"\"':\n            cell += char\n"
                        "            place += 1\n        elif char == '\"':\n"),),
            hidden='''
    def test_doubled(self):
        self.assertEqual(rows('"say ""hi""",b'), [['say "hi"', "b"]])
''',
        ),
        Defect(
            id="bom", title="pass over a byte order mark",
            ask="Files from a spreadsheet begin with U+FEFF and have \\r\\n; "
            "neither may end up in a cell.",
            swaps=(Swap("@pkg@/cells.py", "    place = 0\n",
                        '    text = text.removeprefix("\\ufeff").replace("\\r\\n", "\\n")\n    place = 0\n'),),
            wrong=(Swap("@pkg@/cells.py", "    place = 0\n",
                        '    text = text.removeprefix("\\ufeff")\n    place = 0\n'),),
            hidden='''
    def test_bom(self):
        self.assertEqual(rows("\\ufeffa,b\\r\\n1,2\\r\\n"), [["a", "b"], ["1", "2"]])
''',
        ),
        Defect(
            id="unclosed", title="refuse open quotes", ask="A quote that is never closed has to raise `BadFile`.",
            swaps=(Swap("@pkg@/cells.py", "    if cell or row:\n", "    if quoted:\n"
                        '        raise BadFile("a quote is not closed")\n    if cell or row:\n'),),
            hidden='''
    def test_unclosed(self):
        with self.assertRaises(BadFile):
            rows('a,"b\\nc,d\\n')
''',
        ),
        Defect(
            id="delimiter", title="find the delimiter",
            ask="Tables with semicolons or tabs are read as one column. Take the one "
            "that the first line has most of.",
            swaps=(
                Swap("@pkg@/cells.py", '    return ","\n',
                     '    first = text.partition("\\n")[0]\n    return max(",;\\t", key=first.count)\n'),
                Swap("@pkg@/load.py", "rows(text) or", "rows(text, delimiter(text)) or"),
            ),
            wrong=(
                Swap("@pkg@/cells.py", '    return ","\n', '    return max(",;\\t", key=text.count)\n'),
                Swap("@pkg@/load.py", "rows(text) or", "rows(text, delimiter(text)) or"),
            ),
            hidden='''
    def test_delimiter(self):
        self.assertEqual(load("a;b\\n1,5,5;2\\n", [Column("a"), Column("b")])[0], [{"a": "1,5,5", "b": "2"}])
        self.assertEqual(delimiter("a\\tb"), "\\t")
''',
        ),
        Defect(
            id="names", title="know other names of columns", slip="Compare names as they are",
            ask="Names of columns differ in case, spaces and underscores, and `also` gives others: all have to be "
                "found.",
            swaps=(Swap("@pkg@/columns.py", "    return name\n",
                        '    return name.lower().replace(" ", "").replace("_", "")\n'),
                   Swap("@pkg@/columns.py", "{key(one) for one in (name,)}", "{key(one) for one in (name, *also)}")),
            hidden='''
    def test_names(self):
        column = Column("first_name", also=("given name",))
        for head in ("First Name", "GIVEN_NAME"):
            self.assertEqual(load(head + "\\nAnn\\n", [column])[0], [{"first_name": "Ann"}])
''',
        ),
        Defect(
            id="days", title="read days with dots", ask="`1.3.2024` is the first of March, as the README says.",
            swaps=(Swap("@pkg@/columns.py", "    return date.fromisoformat(text)\n", '    if "." in text:\n'
                        '        first, second, year = text.split(".")\n'
                        "        return date(int(year), int(second), int(first))\n    return "
                        "date.fromisoformat(text)\n"),),
            wrong=(Swap("@pkg@/columns.py", "    return date.fromisoformat(text)\n", '    if "." in text:\n'
                        '        first, second, year = text.split(".")\n'
                        "        return date(int(year), int(first), int(second))\n    return "
                        "date.fromisoformat(text)\n"),),
            hidden='''
    def test_days(self):
        self.assertEqual(load("d\\n1.3.2024\\n", [Column("d", "day")])[0], [{"d": date(2024, 3, 1)}])
''',
        ),
        Defect(
            id="empty", title="tell empty cells",
            ask="An empty cell of a needed column is an error `empty`; rows that are too "
            "short have empty cells, and do not stop the import.",
            swaps=(
                Swap("@pkg@/load.py", 'row[place] if place is not None else ""',
                     'row[place] if place is not None and place < len(row) else ""'),
                Swap("@pkg@/load.py", "            continue\n    return", "            continue\n"
                     "        if column.needed and record[column.name] is None:\n"
                     '            wrong.append((line, column.name, "empty"))\n    return'),
            ),
            hidden='''
    def test_empty(self):
        records, errors = load("a,b\\n1,\\n2\\n3,4\\n", [Column("a"), Column("b")])
        self.assertEqual(records, [{"a": "3", "b": "4"}])
        self.assertEqual(errors, [(2, "b", "empty"), (3, "b", "empty")])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "members", "thing": "member"}, defects=("doubled", "names", "empty"),
                mess=("decision",)),
        Variant(id="b", names={"pkg": "plants", "thing": "plant"}, defects=("bom", "delimiter", "days"),
                mess=("todo", "pin"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "stock", "thing": "article"}, defects=("unclosed", "doubled", "days", "empty"),
                mess=("expected",), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "pupils", "thing": "pupil"},
                defects=("names", "bom", "unclosed", "delimiter", "empty"),
                mess=("todo", "decision"), shape="school/@pkg@/"),
    ),
    todo=("@pkg@/cells.py", "    found, row, cell", "use csv.reader, it does all of this"),
    decision="Cells are read by hand: csv.reader takes an open quote for the rest of the file and says nothing.",
    trap=Swap("@pkg@/load.py", "for line, row in enumerate(body):", "for line, row in enumerate(body, 2):"),
)  # fmt: skip
