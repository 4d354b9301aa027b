"""A parser of durations: text such as `1h30m` to seconds and back, and a command line on top."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_PARSE = '''"""Read @thing@s such as 1h30m."""

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class BadDuration(ValueError):
    """The text is no @thing@."""


def parse(text):
    """Return the seconds of a @thing@, an int."""
    rest = text.strip().lower()
    sign = 1
    if rest.startswith("-"):
        sign, rest = -1, rest[1:]
    if not rest:
        raise BadDuration("empty")
    if rest.isdigit():
        return sign * int(rest)
    if ":" in rest:
        return sign * _clock(rest)
    total, number, seen = 0, "", set()
    for char in rest:
        if char.isdigit():
            number += char
        elif char in UNITS and number:
            if char in seen:
                raise BadDuration("unit twice: " + char)
            seen.add(char)
            total += int(number) * UNITS[char]
            number = ""
        elif char != " ":
            raise BadDuration(text)
    if number:
        raise BadDuration("no unit after " + number)
    return sign * total


def _clock(text):
    parts = text.split(":")
    if len(parts) > 3 or not all(part.isdigit() for part in parts):
        raise BadDuration(text)
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return total * 60 if len(parts) == 2 else total
'''

_SHOW = '''"""Write @thing@s for people."""

from @pkg@.parse import UNITS


def show(seconds, parts=0):
    """Return seconds as text, at most `parts` units when it is not 0."""
    if seconds == 0:
        return "0s"
    sign = "-" if seconds < 0 else ""
    left, shown = abs(seconds), []
    for unit in ("w", "d", "h", "m", "s"):
        count, left = divmod(left, UNITS[unit])
        if count:
            shown.append(str(count) + unit)
    return sign + "".join(shown[:parts] if parts else shown)
'''

_CLI = '''"""Add up the @thing@s given as arguments."""

import sys

from @pkg@.parse import BadDuration, parse
from @pkg@.show import show


def main(words, out=sys.stdout, err=sys.stderr):
    try:
        total = sum(parse(word) for word in words)
    except BadDuration as error:
        print("error: " + str(error), file=err)
        return 2
    print(show(total), file=out)
    return 0
'''

_TESTS = """import unittest

from @pkg@.parse import BadDuration, parse
from @pkg@.show import show


class Parsing(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual(parse("2m"), 120)

    def test_two_units(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_nonsense(self):
        with self.assertRaises(BadDuration):
            parse("soon")


class Showing(unittest.TestCase):
    def test_minutes(self):
        self.assertEqual(show(120), "2m")

    def test_mixed(self):
        self.assertEqual(show(3661), "1h1m1s")


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="durations",
    task="The package @pkg@ reads and writes @thing@s. Users have reported the following; please mend it.",
    files={
        "@pkg@/parse.py": _PARSE,
        "@pkg@/show.py": _SHOW,
        "@pkg@/cli.py": _CLI,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nReads @thing@s: `1h30m`, `90` (seconds), `-5m`, `1:30` (hours and minutes), `2w`.\n",
    },
    header="import io\nimport unittest\n\nfrom @pkg@.cli import main\nfrom @pkg@.parse import BadDuration, parse\n"
    "from @pkg@.show import show\n",
    keep='''
    def test_result_is_whole(self):
        self.assertIs(type(parse("1h")), int)

    def test_spaces(self):
        self.assertEqual(parse(" 1h 5m "), 3900)

    def test_unknown_unit(self):
        with self.assertRaises(BadDuration):
            parse("5y")
''',
    defects=(
        Defect(
            id="weeks", title="know weeks", ask="Weeks (`2w`) are to be read and shown.",
            swaps=(
                Swap("@pkg@/parse.py", '"d": 86400}', '"d": 86400, "w": 604800}'),
                Swap("@pkg@/show.py", '("d", "h", "m", "s")', '("w", "d", "h", "m", "s")'),
            ),
            hidden='''
    def test_weeks(self):
        self.assertEqual(parse("2w"), 1209600)

    def test_weeks_shown(self):
        self.assertEqual(show(604800 + 60), "1w1m")
''',
        ),
        Defect(
            id="sign", slip="Take the sign out for now", title="read a minus sign",
            ask="A leading minus makes a @thing@ negative, when read and shown.",
            swaps=(
                Swap("@pkg@/parse.py", "    sign = 1\n    if not rest",
                     '    sign = 1\n    if rest.startswith("-"):\n        sign, rest = -1, rest[1:]\n    if not rest'),
                Swap("@pkg@/show.py", 'sign = ""', 'sign = "-" if seconds < 0 else ""'),
            ),
            hidden='''
    def test_minus(self):
        self.assertEqual(parse("-5m"), -300)
        self.assertEqual(show(-300), "-5m")
''',
        ),
        Defect(
            id="clock", title="read hours and minutes with a colon",
            ask="`1:30` means hours and minutes, as the README says; with two colons there are seconds as well.",
            swaps=(Swap("@pkg@/parse.py", "return total\n", "return total * 60 if len(parts) == 2 else total\n"),),
            wrong=(Swap("@pkg@/parse.py", "return total\n", "return total * 60\n"),),
            hidden='''
    def test_clock(self):
        self.assertEqual(parse("1:30"), 5400)
        self.assertEqual(parse("1:00:05"), 3605)
''',
        ),
        Defect(
            id="twice", title="refuse a unit that comes twice", ask="`1h1h` is a mistake: raise BadDuration.",
            swaps=(
                Swap("@pkg@/parse.py", 'total, number = 0, ""', 'total, number, seen = 0, "", set()'),
                Swap("@pkg@/parse.py", "            total += int(number)",
                     '            if char in seen:\n                raise BadDuration("unit twice: " + char)\n'
                     "            seen.add(char)\n            total += int(number)"),
            ),
            hidden='''
    def test_twice(self):
        with self.assertRaises(BadDuration):
            parse("1h1h")
''',
        ),
        Defect(
            id="error", title="report bad input on the command line",
            ask="The command line has to end with 2 and one line `error: ...` on its error stream for bad input.",
            swaps=(
                Swap("@pkg@/cli.py", "import parse\n", "import BadDuration, parse\n"),
                Swap("@pkg@/cli.py", "    total = sum(parse(word) for word in words)\n",
                     "    try:\n        total = sum(parse(word) for word in words)\n    except BadDuration as error:\n"
                     '        print("error: " + str(error), file=err)\n        return 2\n'),
            ),
            hidden='''
    def test_cli_error(self):
        out, err = io.StringIO(), io.StringIO()
        self.assertEqual(main(["1h", "x"], out, err), 2)
        self.assertEqual(err.getvalue().count("\\n"), 1)
        self.assertEqual(out.getvalue(), "")
''',
        ),
        Defect(
            id="zero", title="show nothing as 0s", ask="A @thing@ of no seconds is shown as `0s`, not as nothing.",
            swaps=(Swap("@pkg@/show.py", "    sign =", '    if seconds == 0:\n        return "0s"\n    sign ='),),
            hidden='''
    def test_zero(self):
        self.assertEqual(show(0), "0s")
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "timespan", "thing": "duration"}, defects=("weeks", "sign", "error"),
                mess=("todo", "expected")),
        Variant(id="b", names={"pkg": "cooktime", "thing": "cooking time"}, defects=("clock", "zero", "error"),
                mess=("decision",), shape="lib/@pkg@/"),
        Variant(id="c", names={"pkg": "shifts", "thing": "shift length"}, defects=("twice", "clock", "sign", "zero"),
                mess=("pin", "decision"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "leases", "thing": "lease time"}, defects=("error", "weeks", "twice"),
                mess=("todo", "pin")),
    ),
    todo=("@pkg@/parse.py", "    rest = text.strip().lower()", "return a float, so that 1.5h works"),
    decision="@thing@s are whole seconds (int). Fractions were tried and gave sums that nobody could check.",
    trap=Swap("@pkg@/parse.py", "elif char.isalpha() and number:", 'elif char != " ":'),
)  # fmt: skip
