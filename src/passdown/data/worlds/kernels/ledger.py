"""A ledger of double entries: amounts in whole cents, postings that balance, and a statement."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_MONEY = '''"""Amounts are whole cents."""


class BadAmount(ValueError):
    """The text is no amount."""


def cents(text):
    """Return the cents of an amount such as 12.50, -3 or 1,200.05."""
    plain = text.strip().replace(",", "")
    sign = -1 if plain.startswith("-") else 1
    whole, _, part = plain.lstrip("-").partition(".")
    if not whole.isdigit() or len(part) > 2 or (part and not part.isdigit()):
        raise BadAmount(text)
    return sign * (int(whole) * 100 + int(part.ljust(2, "0") or 0))


def shown(amount):
    """Return cents as text with two places."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02}"


def split(amount, parts):
    """Share an amount so that the sum stays; the first ones get the odd cents."""
    each, odd = divmod(amount, parts)
    return [each + (number < odd) for number in range(parts)]
'''

_BOOK = '''"""The book of @thing@s: every entry has postings that add up to nothing."""


class Unbalanced(ValueError):
    """The postings of an entry do not add up to nothing."""


class Book:
    def __init__(self):
        self.entries = []
        self.closed = ""

    def post(self, day, postings, text=""):
        """Add an entry; `postings` are pairs of account and cents, `day` is written as 2024-03-01."""
        if len(postings) < 2 or sum(amount for _, amount in postings):
            raise Unbalanced(text or day)
        if day <= self.closed:
            raise ValueError("closed until " + self.closed)
        self.entries.append((day, tuple(postings), text))
        self.entries.sort(key=lambda entry: entry[0])

    def close(self, day):
        """Nothing can be posted until this day any more."""
        self.closed = max(self.closed, day)

    def balance(self, account, until="9999-12-31"):
        """Return what an account and those below it (food, food:tea) hold."""
        return sum(
            amount
            for day, postings, _ in self.entries
            for name, amount in postings
            if day <= until and (name == account or name.startswith(account + ":"))
        )
'''

_STATEMENT = '''"""Write a statement of one account."""

from @pkg@.money import shown


def statement(book, account):
    """Return a line for each @thing@ of an account, with the balance behind it."""
    total, lines = 0, []
    for day, postings, text in book.entries:
        for name, amount in postings:
            if name == account:
                total += amount
                lines.append(f"{day}  {shown(amount):>10}  {shown(total):>10}  {text}".rstrip())
    return lines
'''

_TESTS = """import unittest

from @pkg@.book import Book
from @pkg@.money import BadAmount, cents, shown


class Money(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents("12.50"), 1250)

    def test_nonsense(self):
        with self.assertRaises(BadAmount):
            cents("much")

    def test_shown(self):
        self.assertEqual(shown(1205), "12.05")


class Booking(unittest.TestCase):
    def test_balance(self):
        book = Book()
        book.post("2024-03-01", [("cash", -300), ("tea", 300)])
        self.assertEqual(book.balance("cash"), -300)


if __name__ == "__main__":
    unittest.main()
"""

_POST = """
    def test_order(self):
        book = Book()
        book.post("2024-03-02", [("a", 1), ("b", -1)], "second")
        book.post("2024-03-01", [("a", 1), ("b", -1)], "first")
        self.assertEqual([text for _, _, text in book.entries], ["first", "second"])
"""

KERNEL = Kernel(
    id="ledger",
    task="@pkg@ keeps the books of a club's @thing@s. The auditor has found the following.",
    files={
        "@pkg@/money.py": _MONEY,
        "@pkg@/book.py": _BOOK,
        "@pkg@/statement.py": _STATEMENT,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nBooks of @thing@s. Amounts are whole cents in the code and `1,200.05` in texts.\n"
        "`food:tea` is an account below `food`. A closed day takes no entries.\n",
    },
    header="import unittest\n\nfrom @pkg@.book import Book, Unbalanced\nfrom @pkg@.money import BadAmount, cents, "
           "shown, split\n",
    keep='''
    def test_too_many_places(self):
        with self.assertRaises(BadAmount):
            cents("1.005")

    def test_text_is_kept(self):
        book = Book()
        book.post("2024-03-01", [("a", 1), ("b", -1)], "why")
        self.assertEqual(book.entries[0][2], "why")
''',
    defects=(
        Defect(
            id="tenths", title="read one decimal place",
            ask="`12.5` is twelve and a half, 1250 cents; it is read as 1205.",
            swaps=(Swap("@pkg@/money.py", "int(part or 0)", 'int(part.ljust(2, "0") or 0)'),),
            wrong=(Swap("@pkg@/money.py", "int(part or 0)", "int(part or 0) * 10"),),
            hidden='''
    def test_tenths(self):
        self.assertEqual([cents("12.5"), cents("0.05"), cents("7")], [1250, 5, 700])
''',
        ),
        Defect(
            id="thousands", title="read thousands", ask="Amounts come with thousands marked: `1,200.05`.",
            swaps=(Swap("@pkg@/money.py", "plain = text.strip()\n", 'plain = text.strip().replace(",", "")\n'),),
            hidden='''
    def test_thousands(self):
        self.assertEqual(cents("1,200.05"), 120005)
''',
        ),
        Defect(
            id="debts", title="show debts", ask="Amounts below nothing are shown wrongly: -5 cents is `-0.05`.",
            swaps=(Swap("@pkg@/money.py", '    return f"{amount // 100}.{amount % 100:02}"\n',
                        '    sign = "-" if amount < 0 else ""\n'
                        '    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02}"\n'),),
            hidden='''
    def test_debts(self):
        self.assertEqual([shown(-5), shown(-1250)], ["-0.05", "-12.50"])
''',
        ),
        Defect(
            id="split", title="lose no cent when sharing",
            ask="`split(100, 3)` loses a cent: the parts have to add up, and the first ones get the odd cents.",
            swaps=(Swap("@pkg@/money.py", "    each = amount // parts\n    return [each] * parts\n",
                        "    each, odd = divmod(amount, parts)\n"
                        "    return [each + (number < odd) for number in range(parts)]\n"),),
            wrong=(Swap("@pkg@/money.py", "    each = amount // parts\n    return [each] * parts\n",
                        "    each, odd = divmod(amount, parts)\n    return [each + odd] + [each] * (parts - 1)\n"),),
            hidden='''
    def test_split(self):
        self.assertEqual(split(101, 3), [34, 34, 33])
        self.assertEqual(sum(split(-100, 7)), -100)
''',
        ),
        Defect(
            id="balance", title="refuse entries that do not balance", slip="Trust the import and post what it says",
            ask="An entry whose postings do not add up to nothing, or that has fewer than two, is refused: "
                "`Unbalanced`.",
            swaps=(Swap("@pkg@/book.py", "        if day <= self",
                        "        if len(postings) < 2 or sum(amount for _, amount in postings):\n"
                        "            raise Unbalanced(text or day)\n        if day <= self"),),
            hidden='''
    def test_unbalanced(self):
        for wrong in ([("a", 1), ("b", 1)], [("a", 0)], []):
            with self.assertRaises(Unbalanced):
                Book().post("2024-03-01", wrong)
''',
        ),
        Defect(
            id="order", title="keep entries in order", ask="Entries that are posted late have to stand at their day.",
            swaps=(Swap("@pkg@/book.py", "        self.entries.append((day, tuple(postings), text))\n",
                        "        self.entries.append((day, tuple(postings), text))\n"
                        "        self.entries.sort(key=lambda entry: entry[0])\n"),),
            hidden=_POST,
        ),
        Defect(
            id="below", title="count accounts below",
            ask="The balance of `food` is that of `food:tea` too, but not that of `foodbank`.",
            swaps=(Swap("@pkg@/book.py", "day <= until and name == account",
                        'day <= until and (name == account or name.startswith(account + ":"))'),),
            wrong=(Swap("@pkg@/book.py", "day <= until and name == account",
                        "day <= until and name.startswith(account)"),),
            hidden='''
    def test_below(self):
        book = Book()
        book.post("2024-03-01", [("food:tea", 300), ("foodbank", -400), ("food", 100)])
        self.assertEqual(book.balance("food"), 400)
''',
        ),
        Defect(
            id="closing", title="never open what was closed",
            ask="Closing an earlier day than before opens days again. It may not: the later day stays.",
            swaps=(Swap("@pkg@/book.py", "self.closed = day", "self.closed = max(self.closed, day)"),),
            hidden='''
    def test_closing(self):
        book = Book()
        book.close("2024-03-31")
        book.close("2024-02-29")
        with self.assertRaises(ValueError):
            book.post("2024-03-01", [("a", 1), ("b", -1)])
''',
        ),
        Defect(
            id="statement", title="write statements", after=("order", "debts"),
            ask="Write @pkg@/statement.py: `statement(book, account)` returns a line for each posting: day, amount "
                "and balance "
            "(right in ten columns), text, two spaces between them, none at the end.",
            swaps=(Swap("@pkg@/statement.py", "", _STATEMENT),),
            hidden='''
    def test_statement(self):
        from @pkg@.statement import statement
        book = Book()
        book.post("2024-03-01", [("a", 150), ("b", -150)], "one")
        book.post("2024-03-02", [("a", 50), ("b", -50)])
        lines = ["2024-03-01        1.50        1.50  one", "2024-03-02        0.50        2.00"]
        self.assertEqual(statement(book, "a"), lines)
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "clubbook", "thing": "membership fee"},
                defects=("tenths", "order", "debts", "statement"), mess=("decision",)),
        Variant(id="b", names={"pkg": "kitty", "thing": "shared expense"}, defects=("split", "below", "thousands"),
                mess=("todo", "pin"), shape="@pkg@_"),
        Variant(id="c", names={"pkg": "treasury", "thing": "donation"},
                defects=("balance", "closing", "tenths", "below", "order"), mess=("expected", "decision"),
                shape="apps/@pkg@/"),
        Variant(id="d", names={"pkg": "teabook", "thing": "tea order"}, defects=("debts", "balance", "split"),
                mess=("todo",), shape="src/@pkg@/"),
    ),
    todo=("@pkg@/money.py", "    whole, _, part =", "float(plain) * 100 is shorter than all of this"),
    decision="Amounts are whole cents (int) everywhere. Floats gave statements that were a cent off.",
    trap=Swap("@pkg@/money.py", "if not whole.isdigit() and len(part) > 2", "if not whole.isdigit() or len(part) > 2"),
)  # fmt: skip
