"""A log of events: lines to records, filters, counts by hour, and visits made of single events."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_PARSE = '''"""Lines of the log of @thing@s: `2024-03-01T10:00:00 INFO login user=ann note="two words"`."""

import re

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
_LINE = re.compile(r"(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d) (\\w+) (\\S+)(.*)")
_FIELD = re.compile(r'(\\w+)=(?:"([^"]*)"|(\\S+))')


def parse(line):
    """Return a record (time, level, event, fields), None for a line that is none."""
    found = _LINE.fullmatch(line.rstrip())
    if found is None or found[2] not in LEVELS:
        return None
    fields = {name: quoted or plain for name, quoted, plain in _FIELD.findall(found[4])}
    return found[1], found[2], found[3], fields


def read(lines):
    """Return the records, and how many lines were none; lines behind an ERROR that begin with a space belong to it."""
    records, bad = [], 0
    for line in lines:
        if line.startswith(" ") and records and records[-1][1] == "ERROR":
            records[-1][3]["trace"] = records[-1][3].get("trace", "") + line.strip() + "\\n"
            continue
        record = parse(line)
        if record is None:
            bad += bool(line.strip())
        else:
            records.append(record)
    return records, bad
'''

_SELECT = '''"""Choose records."""

from @pkg@.parse import LEVELS


def select(records, since="", until="", level="DEBUG", **fields):
    """Return those from `since` (inclusive) until `until` (exclusive), of this level or a worse one."""
    least = LEVELS.index(level)
    return [
        record
        for record in records
        if record[0] >= since
        and (not until or record[0] < until)
        and LEVELS.index(record[1]) >= least
        and all(record[3].get(name) == value for name, value in fields.items())
    ]
'''

_COUNT = '''"""Count records."""


def by_hour(records):
    """Return hour to count, for every hour between the first and the last, in order."""
    hours = sorted(record[0][:13] for record in records)
    counts = {}
    for hour in hours:
        counts[hour] = counts.get(hour, 0) + 1
    return counts


def top(records, field, most=3):
    """Return the values of a field that are there most often with their counts; equal ones by the alphabet."""
    counts = {}
    for record in records:
        if field in record[3]:
            counts[record[3][field]] = counts.get(record[3][field], 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
'''

_VISITS = '''"""Make visits of single events."""

from datetime import datetime


def visits(records, gap=1800):
    """Return (user, begin, end, count): events of one user, at most `gap` seconds apart. Ordered by begin."""
    open_, done = {}, []
    for time, _, _, fields in sorted(records, key=lambda record: record[0]):
        user = fields.get("user")
        if user is None:
            continue
        last = open_.get(user)
        if last and _seconds(last[2], time) <= gap:
            last[2] = time
            last[3] += 1
        else:
            open_[user] = [user, time, time, 1]
            done.append(open_[user])
    return [tuple(visit) for visit in done]


def _seconds(begin, end):
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
'''

_TESTS = """import unittest

from @pkg@.count import by_hour, top
from @pkg@.parse import parse, read
from @pkg@.select import select

LINE = "2024-03-01T10:00:00 INFO login user=ann"


class Parsing(unittest.TestCase):
    def test_line(self):
        self.assertEqual(parse(LINE), ("2024-03-01T10:00:00", "INFO", "login", {"user": "ann"}))

    def test_nonsense(self):
        self.assertEqual(read(["what?", LINE])[1], 1)


class Counting(unittest.TestCase):
    def test_hours(self):
        self.assertEqual(by_hour([parse(LINE), parse(LINE)]), {"2024-03-01T10": 2})

    def test_top(self):
        self.assertEqual(top([parse(LINE)], "user"), [("ann", 1)])

    def test_since(self):
        self.assertEqual(select([parse(LINE)], since="2024-03-02"), [])


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="eventlog",
    task="@pkg@ makes sense of the log of @thing@s. The people who read its reports ask for this:",
    files={
        "@pkg@/parse.py": _PARSE,
        "@pkg@/select.py": _SELECT,
        "@pkg@/count.py": _COUNT,
        "@pkg@/visits.py": _VISITS,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": '# @pkg@\n\nReads lines such as `2024-03-01T10:00:00 INFO login user=ann note="two words"`. '
                     'Levels are\n'
        "DEBUG, INFO, WARN, ERROR. `since` is inclusive, `until` is not.\n",
    },
    header="import unittest\n\nfrom @pkg@.count import by_hour, top\nfrom @pkg@.parse import parse, read\n"
    "from @pkg@.select import select\n\n\ndef at(time, level='INFO', **fields):\n"
    "    return (f'2024-03-01T{time}', level, 'x', fields)\n",
    keep='''
    def test_line_ends_do_not_matter(self):
        self.assertEqual(parse("2024-03-01T10:00:00 INFO a\\r\\n")[2], "a")

    def test_empty_lines_are_not_bad(self):
        self.assertEqual(read(["", "  "])[1], 0)
''',
    defects=(
        Defect(
            id="quotes", title="read quoted values", ask='A value in quotes may have spaces: `note="two words"`.',
            swaps=(
                Swap("@pkg@/parse.py", "r'(\\w+)=(\\S+)'", "r'(\\w+)=(?:\"([^\"]*)\"|(\\S+))'"),
                Swap("@pkg@/parse.py", "    fields = dict(_FIELD.findall(found[4]))\n",
                     "    fields = {name: quoted or plain for name, quoted, plain in _FIELD.findall(found[4])}\n"),
            ),
            hidden='''
    def test_quotes(self):
        self.assertEqual(parse('2024-03-01T10:00:00 INFO a b="c d" e=f')[3], {"b": "c d", "e": "f"})
''',
        ),
        Defect(
            id="levels", title="refuse unknown levels",
            ask="A line with a level that is none of the four counts as bad.",
            swaps=(Swap("@pkg@/parse.py", "if found is None:", "if found is None or found[2] not in LEVELS:"),),
            hidden='''
    def test_levels(self):
        self.assertEqual(read(["2024-03-01T10:00:00 LOUD a"]), ([], 1))
''',
        ),
        Defect(
            id="trace", title="keep traces with their error", slip="Count what is no record as bad, whatever it is",
            ask="Lines behind an ERROR that begin with a space are its trace: put them, stripped, each ended by a "
                "newline, "
            "into its field `trace`. Behind other records they are bad.",
            swaps=(Swap("@pkg@/parse.py", "        record = parse(line)\n        if",
                        '        if line.startswith(" ") and records and records[-1][1] == "ERROR":\n'
                        '            records[-1][3]["trace"] = records[-1][3].get("trace", "") + line.strip() + "\\n"\n'
                        "            continue\n        record = parse(line)\n        if"),),
            hidden='''
    def test_trace(self):
        error = "2024-03-01T10:00:00 ERROR a"
        records, bad = read([error, "  one", " two", error.replace("ERROR", "INFO"), " three"])
        self.assertEqual((records[0][3], len(records), bad), ({"trace": "one\\ntwo\\n"}, 2, 1))
''',
        ),
        Defect(
            id="until", title="end before until", ask="`until` is exclusive, as the README says.",
            swaps=(Swap("@pkg@/select.py", "record[0] <= until)", "record[0] < until)"),),
            hidden='''
    def test_until(self):
        rows = [at("10:00:00"), at("11:00:00")]
        self.assertEqual(select(rows, until="2024-03-01T11:00:00"), rows[:1])
''',
        ),
        Defect(
            id="worse", title="select worse levels too",
            ask="`level=\"WARN\"` means WARN and what is worse, not WARN alone.",
            swaps=(
                Swap("@pkg@/select.py", "    return [\n", "    least = LEVELS.index(level)\n    return [\n"),
                Swap("@pkg@/select.py", 'level in ("DEBUG", record[1])', "LEVELS.index(record[1]) >= least"),
            ),
            wrong=(
                Swap("@pkg@/select.py", "    return [\n", "    least = level\n    return [\n"),
                Swap("@pkg@/select.py", 'level in ("DEBUG", record[1])', "record[1] >= least"),
            ),
            hidden='''
    def test_worse(self):
        rows = [at("10:00:00", level) for level in ("DEBUG", "INFO", "WARN", "ERROR")]
        self.assertEqual(select(rows, level="WARN"), rows[2:])
''',
        ),
        Defect(
            id="ties", title="order equal counts", ask="`top` has to order values with the same count by the alphabet.",
            swaps=(Swap("@pkg@/count.py", "key=lambda pair: -pair[1])", "key=lambda pair: (-pair[1], pair[0]))"),),
            hidden='''
    def test_ties(self):
        rows = [at("10:00:00", user=user) for user in "cabb"]
        self.assertEqual(top(rows, "user"), [("b", 2), ("a", 1), ("c", 1)])
''',
        ),
        Defect(
            id="visits", title="make visits",
            ask="@pkg@/visits.py is to be written: `visits(records, gap=1800)` returns tuples "
            "(user, begin, end, count) of events of one user that are at most `gap` seconds apart, ordered by begin; "
            "records without a user are left out, and records may come in any order.",
            swaps=(Swap("@pkg@/visits.py", "", _VISITS),),
            hidden='''
    def test_visits(self):
        from @pkg@.visits import visits
        a, b = {"user": "a"}, {"user": "b"}
        rows = [at("11:00:01", **a), at("10:00:00", **a), at("10:30:00", **a), at("10:10:00", **b), at("09:00:00")]
        self.assertEqual([(user, count) for user, _, _, count in visits(rows)], [("a", 2), ("b", 1), ("a", 1)])
        self.assertEqual(visits(rows)[0][1:3], ("2024-03-01T10:00:00", "2024-03-01T10:30:00"))
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "doorlog", "thing": "door"}, defects=("quotes", "until", "visits"),
                mess=("pin",)),
        Variant(id="b", names={"pkg": "callbook", "thing": "call"}, defects=("trace", "worse", "ties"),
                mess=("todo", "decision"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "sensors", "thing": "sensor"},
                defects=("levels", "trace", "until", "ties", "quotes"),
                mess=("expected",), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "tracks", "thing": "train"}, defects=("worse", "levels", "visits"),
                mess=("decision",), shape="reports/@pkg@/"),
    ),
    todo=("@pkg@/count.py", "    hours = sorted(", "local time, the log is in UTC and nobody knows"),
    decision="Times stay text and are compared as text: they are all UTC and of one form.",
    trap=Swap("@pkg@/count.py", "hours = sorted({record[0][:13] for record in records})",
              "hours = sorted(record[0][:13] for record in records)"),
)  # fmt: skip
