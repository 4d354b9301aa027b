"""Text for terminals: words are wrapped to a width, indented, aligned in columns, and shortened."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_LINES = '''"""Break the text of a @thing@ into lines."""


def wrap(text, width, indent=""):
    """Return lines of at most `width` characters; `indent` stands before all but the first line of a paragraph."""
    if width <= len(indent):
        raise ValueError("no room beside the indent")
    lines = []
    for paragraph in text.split("\\n\\n"):
        if lines:
            lines.append("")
        lines += _paragraph(paragraph.split(), width, indent)
    return lines


def _paragraph(words, width, indent):
    lines, line = [], ""
    for word in words:
        for piece in _pieces(word, width - len(indent)):
            start = indent if lines else ""
            if not line:
                line = start + piece
            elif len(line) + 1 + len(piece) <= width:
                line += " " + piece
            else:
                lines.append(line)
                line = indent + piece
    return lines + [line] if line else lines


def _pieces(word, room):
    """Cut a word that is longer than a line."""
    return [word[at : at + room] for at in range(0, len(word), room)]
'''

_SHORT = '''"""Shorten texts."""

DOTS = "..."


def shorten(text, width):
    """Return at most `width` characters of a text, cut between words where that can be."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    if width <= len(DOTS):
        return DOTS[:width]
    kept = text[: width - len(DOTS) + 1]
    if " " in kept:
        kept = kept.rpartition(" ")[0]
    else:
        kept = kept[:-1]
    return kept + DOTS
'''

_TABLE = '''"""Rows of @thing@s in columns."""


def table(rows, right=()):
    """Return aligned lines; the columns whose numbers are in `right` are aligned to the right."""
    count = max((len(row) for row in rows), default=0)
    rows = [list(row) + [""] * (count - len(row)) for row in rows]
    widths = [max(len(str(row[number])) for row in rows) for number in range(count)]
    return ["  ".join(_cell(row[n], widths[n], n in right) for n in range(count)).rstrip() for row in rows]


def _cell(value, width, right):
    return str(value).rjust(width) if right else str(value).ljust(width)
'''

_TESTS = """import unittest

from @pkg@.lines import wrap
from @pkg@.short import shorten
from @pkg@.table import table


class Wrapping(unittest.TestCase):
    def test_words_stay_whole(self):
        self.assertEqual(wrap("one two three", 8), ["one two", "three"])

    def test_exactly_full(self):
        self.assertEqual(wrap("ab cd", 5), ["ab cd"])

    def test_nothing(self):
        self.assertEqual(wrap("", 8), [])


class Others(unittest.TestCase):
    def test_short_stays(self):
        self.assertEqual(shorten("a b", 10), "a b")

    def test_columns(self):
        self.assertEqual(table([["a", "b"], ["ccc", "d"]]), ["a    b", "ccc  d"])


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="wrapping",
    task="@pkg@ lays out the text of @thing@s for terminals. Its users report:",
    files={
        "@pkg@/lines.py": _LINES,
        "@pkg@/short.py": _SHORT,
        "@pkg@/table.py": _TABLE,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\n`wrap(text, width)` breaks the text of a @thing@ into lines, `shorten` cuts it "
                     "between\n"
        "words, `table` aligns rows. Paragraphs are parted by an empty line.\n",
    },
    header="import unittest\n\nfrom @pkg@.lines import wrap\nfrom @pkg@.short import shorten\nfrom @pkg@.table import "
           "table\n",
    keep='''
    def test_spaces_are_one(self):
        self.assertEqual(wrap("a   b\\nc", 20), ["a b c"])

    def test_table_of_nothing(self):
        self.assertEqual(table([]), [])
''',
    defects=(
        Defect(
            id="paragraphs", title="keep paragraphs apart",
            ask="An empty line parts paragraphs; `wrap` runs them together. Keep one empty line between them.",
            swaps=(Swap("@pkg@/lines.py", "    lines = []\n    lines += _paragraph(text.split(), width, indent)\n",
                        '    lines = []\n    for paragraph in text.split("\\n\\n"):\n        if lines:\n'
                        '            lines.append("")\n        lines += _paragraph(paragraph.split(), width, '
                        'indent)\n'),),
            hidden='''
    def test_paragraphs(self):
        self.assertEqual(wrap("a b\\n\\nc", 10), ["a b", "", "c"])
''',
        ),
        Defect(
            id="long", title="cut words that are too long",
            ask="A word longer than the width makes a line that is too long. It has to be cut into pieces that fit.",
            swaps=(
                Swap("@pkg@/lines.py", "        for piece in [word]:",
                     "        for piece in _pieces(word, width - len(indent)):"),
                Swap("@pkg@/lines.py", "    return lines + [line] if line else lines\n",
                     "    return lines + [line] if line else lines\n\n\ndef _pieces(word, room):\n"
                     '    """Cut a word that is longer than a line."""\n'
                     "    return [word[at : at + room] for at in range(0, len(word), room)]\n"),
            ),
            hidden='''
    def test_long(self):
        self.assertEqual(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"])
''',
        ),
        Defect(
            id="indent", title="indent what follows", slip="No indent in the first version",
            ask="`indent` is ignored: it stands before every line of a paragraph but the first, and counts to the "
                "width.",
            swaps=(Swap("@pkg@/lines.py", "                line = piece\n    return",
                        "                line = indent + piece\n    return"),),
            wrong=(Swap("@pkg@/lines.py", "                line = piece\n    return",
                        '                line = indent + " " + piece\n    return'),),
            hidden='''
    def test_indent(self):
        self.assertEqual(wrap("aa bb cc", 5, "  "), ["aa bb", "  cc"])
        self.assertEqual(wrap("aa bb cc", 6, "> "), ["aa bb", "> cc"])
''',
        ),
        Defect(
            id="room", title="refuse an indent without room", after=("indent",),
            ask="An indent as wide as the line leaves no room for text: raise ValueError.",
            swaps=(Swap("@pkg@/lines.py", "    lines = []\n    ", "    if width <= len(indent):\n"
                        '        raise ValueError("no room beside the indent")\n    lines = []\n    '),),
            wrong=(Swap("@pkg@/lines.py", "    lines = []\n    ", "    if width < len(indent):\n"
                        '        raise ValueError("no room beside the indent")\n    lines = []\n    '),),
            hidden='''
    def test_room(self):
        with self.assertRaises(ValueError):
            wrap("", 2, "  ")
''',
        ),
        Defect(
            id="words", title="shorten between words",
            ask="`shorten` cuts in the middle of a word. Cut after the last whole "
            "one that fits, and in the word only where the first is too long.",
            swaps=(Swap("@pkg@/short.py", "    kept = text[: width - len(DOTS)]\n",
                        '    kept = text[: width - len(DOTS) + 1]\n    if " " in kept:\n'
                        '        kept = kept.rpartition(" ")[0]\n    else:\n        kept = kept[:-1]\n'),),
            wrong=(Swap("@pkg@/short.py", "    kept = text[: width - len(DOTS)]\n",
                        '    kept = text[: width - len(DOTS)].rpartition(" ")[0]\n'),),
            hidden='''
    def test_short_between_words(self):
        self.assertEqual(shorten("one two three", 10), "one two...")
        self.assertEqual(shorten("one two three", 9), "one...")
        self.assertEqual(shorten("abcdefghij", 6), "abc...")
''',
        ),
        Defect(
            id="narrow", title="shorten to very little", ask="`shorten(text, 2)` returns more than two characters.",
            swaps=(Swap("@pkg@/short.py", "    kept = text[: width", "    if width <= len(DOTS):\n"
                        "        return DOTS[:width]\n    kept = text[: width"),),
            hidden='''
    def test_narrow(self):
        self.assertEqual([shorten("abcdef", 2), shorten("abcdef", 3)], ["..", "..."])
''',
        ),
        Defect(
            id="ragged", title="take rows of different length",
            ask="`table` fails where a row has fewer cells than another.",
            swaps=(Swap("@pkg@/table.py", "    widths = [",
                        '    rows = [list(row) + [""] * (count - len(row)) for row in rows]\n    widths = ['),),
            hidden='''
    def test_ragged(self):
        self.assertEqual(table([["a"], ["b", "c"]]), ["a", "b  c"])
''',
        ),
        Defect(
            id="right", title="align numbers to the right",
            ask="`table(rows, right=(1,))` has to align the second column to the right.",
            swaps=(
                Swap("@pkg@/table.py", "def table(rows):", "def table(rows, right=()):"),
                Swap("@pkg@/table.py", "    return str(value).ljust(width)\n",
                     "    return str(value).rjust(width) if right else str(value).ljust(width)\n"),
                Swap("@pkg@/table.py", "_cell(row[n], widths[n], False)", "_cell(row[n], widths[n], n in right)"),
            ),
            hidden='''
    def test_right(self):
        self.assertEqual(table([["a", 5], ["b", 10]], right=(1,)), ["a   5", "b  10"])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "helptext", "thing": "command's help"}, defects=("paragraphs", "words", "right"),
                mess=("todo", "pin"), shape="src/@pkg@/"),
        Variant(id="b", names={"pkg": "mailfold", "thing": "mail"}, defects=("indent", "room", "long", "narrow"),
                mess=("expected",)),
        Variant(id="c", names={"pkg": "letters", "thing": "letter"}, defects=("ragged", "long", "words"),
                mess=("decision",), shape="tools/@pkg@/"),
        Variant(id="d", names={"pkg": "notices", "thing": "notice"},
                defects=("narrow", "right", "paragraphs", "indent", "ragged"), mess=("pin", "decision"),
                shape="@pkg@_"),
    ),
    todo=("@pkg@/table.py", "    count = max(", "a table without rows should raise, not return nothing"),
    decision="Widths are counted in characters. textwrap is not used: it eats indents in quotes.",
    trap=Swap("@pkg@/lines.py", "elif len(line) + len(piece) < width - 1:",
              "elif len(line) + 1 + len(piece) <= width:"),
)  # fmt: skip
