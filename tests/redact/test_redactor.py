"""The boundary as a whole: known values, private keys, structures, and doing it twice."""

from __future__ import annotations

import base64
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.redact.assignments import CONTEXT_WORDS
from passdown.redact.scan import PIECE, Redactor

DICE = random.Random(7)
ALNUM = string.ascii_letters + string.digits


def draw(length: int) -> str:
    return "".join(DICE.choices(ALNUM, k=length - 2)) + "a1"


TOKEN = "gh" + "p_" + draw(36)
BODY = "\n".join(base64.b64encode(DICE.randbytes(48)).decode() for _ in range(12))
LABELS = (
    "RSA PRIVATE KEY",
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


def key(label: str = "RSA PRIVATE KEY", *, begin: bool = True, end: bool = True, body: str = BODY) -> str:
    return "\n".join(
        ([f"-----BEGIN {label}-----"] if begin else []) + [body] + ([f"-----END {label}-----"] if end else [])
    )


def leaks(text: str) -> list[str]:
    return [line for line in BODY.split("\n") if line in text or line[:30] in text]


@pytest.mark.parametrize("label", LABELS)
def test_private_keys(label: str) -> None:
    assert Redactor().text(f"before\n{key(label)}\nafter") == "before\n[redacted:private_key]\nafter"


def test_a_key_without_end_covers_the_rest() -> None:
    assert Redactor().text(f"x\n{key(end=False)}\nand more") == "x\n[redacted:private_key]"
    short = "-----BEGIN " + "PRIVATE KEY-----\nMII"
    assert Redactor().text(short) == "[redacted:private_key]"


def test_a_key_without_beginning() -> None:
    clean = Redactor().text(f"{key(begin=False)}\nafter")
    assert clean == "[redacted:private_key]\nafter"
    numbered = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(key(begin=False).split("\n"), 7))
    assert leaks(Redactor().text("text\n" + numbered)) == []


@pytest.mark.parametrize("frame", ["+{}", "> {}", "{:>40}", "   12\t{}"])
def test_a_key_in_a_diff_or_listing(frame: str) -> None:
    text = "\n".join(frame.format(line) for line in key().split("\n"))
    assert leaks(Redactor().text(text)) == []


def test_a_key_in_escaped_json_and_across_pieces() -> None:
    assert leaks(Redactor().text('{"private_key": "' + key().replace("\n", "\\n") + '"}')) == []
    filler = "word " * (PIECE // 5)
    assert leaks(Redactor().text(filler + "\n" + key() + "\n" + filler)) == []


def test_a_key_split_into_a_list_of_lines() -> None:
    clean = Redactor().tree({"lines": ["x", *key().split("\n"), "y"]})
    assert leaks(str(clean)) == []
    assert clean["lines"][0] == "x"
    assert clean["lines"][-1] == "y"


def test_secret_environment_values_are_known() -> None:
    secret = "plain words, no shape"
    environ = {"MY_SERVICE_TOKEN": secret, "HOME": "/home/someone", "PGPASSWORD": "postgres", "SHORT_KEY": "abc1234"}
    redactor = Redactor(environ)
    assert redactor.text(f"a {secret} b") == "a [redacted:environment] b"
    assert redactor.text("/home/someone postgres abc1234") == "/home/someone postgres abc1234"
    assert redactor.counts == {"environment": 1}


@pytest.mark.parametrize(
    "name", ["A_KEY", "a_token", "B_SECRET", "PGPASSWORD", "MYSQL_PASSWD", "X_CREDENTIALS", "NPM_AUTH", "SENTRY_DSN", "RSA_PRIVATE", "TOKEN_2", "DB_PASS"]
)  # fmt: skip
def test_secret_names(name: str) -> None:
    assert Redactor({name: "Zebra-lamp-9"}).text("x Zebra-lamp-9 y") == "x [redacted:environment] y"


@pytest.mark.parametrize("name", ["HOME", "MONKEYS", "AUTHOR", "KEYBOARD", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM"])
def test_other_names(name: str) -> None:
    assert Redactor({name: "Zebra-lamp-9"}).text("x Zebra-lamp-9 y") == "x Zebra-lamp-9 y"


@pytest.mark.parametrize(
    "value", ["/etc/keys/service.json", "~/.ssh/id_rsa", "true", "disabled", "12345678", "https://auth.example.com/x", "changeme", "C:\\keys\\a.pem"]
)  # fmt: skip
def test_harmless_values(value: str) -> None:
    assert Redactor({"SOME_KEY": value}).text(f"x {value} y") == f"x {value} y"


def test_environment_values_in_other_writings() -> None:
    secret = 'quo"ted\nlines&more='
    redactor = Redactor({"APP_SECRET": secret})
    for form in (secret, 'quo\\"ted\\nlines&more=', "quo%22ted%0Alines%26more%3D"):
        assert redactor.text(f"x{form}y") == "x[redacted:environment]y"


def test_the_password_inside_an_environment_address() -> None:
    environ = {"DATABASE_URL": "postgres://app:" + "plainwordsonly" + "@db/main"}
    assert Redactor(environ).text("it says plainwordsonly here") == "it says [redacted:environment] here"


def test_hostile_environment_values_do_not_break_markers() -> None:
    redactor = Redactor({"X_TOKEN": "[redacted:", "Y_TOKEN": "redacted:environment", "Z_TOKEN": "s3cret-zz-value"})
    once = redactor.text("a s3cret-zz-value b")
    assert once == "a [redacted:environment] b"
    assert redactor.text(once) == once


def test_structures() -> None:
    value = {
        "text": f"see {TOKEN}",
        "list": [TOKEN, 1, None, True, 2.5, ("x", TOKEN)],
        TOKEN: "key",
        "password": "correcthorse",
        "env": [{"name": "DB_PASSWORD", "value": "correcthorse"}, {"name": "COLOUR", "value": "correcthorse"}],
        "argv": ["mysql", "--password", "correcthorse", "correcthorse"],
        "tokens": ["git", "status"],
        "token": "git",
        "input_tokens": 12,
    }
    redactor = Redactor()
    clean = redactor.tree(value)
    assert TOKEN not in str(clean)
    assert clean["text"] == "see [redacted:github_token]"
    assert clean["[redacted:github_token]"] == "key"
    assert clean["password"] == "[redacted:password]"
    assert [pair["value"] for pair in clean["env"]] == ["[redacted:password]", "correcthorse"]
    assert clean["argv"] == ["mysql", "--password", "[redacted:password]", "correcthorse"]
    assert (clean["tokens"], clean["token"], clean["input_tokens"]) == (["git", "status"], "git", 12)
    assert clean["list"][1:5] == [1, None, True, 2.5]
    assert Redactor().tree(clean) == clean
    assert sum(redactor.counts.values()) == 7


def test_keys_that_become_equal_are_both_kept() -> None:
    other = "gh" + "p_" + draw(36)
    assert len(Redactor().tree({TOKEN: 1, other: 2})) == 2


def test_deep_structures_end() -> None:
    value: Any = TOKEN
    for _ in range(500):
        value = [value]
    assert TOKEN not in str(Redactor().tree(value))


def test_long_texts_are_the_same_as_their_lines() -> None:
    lines = [f"line {n} {TOKEN if n % 97 == 0 else 'plain'} password=hunter{n}x" for n in range(6000)]
    whole = Redactor().text("\n".join(lines))
    assert whole == "\n".join(Redactor().text(line) for line in lines)
    assert "hunter" not in whole


FRAGMENTS = st.sampled_from(
    [
        TOKEN, "gh" + "p_", draw(20), draw(40), "password", "=", ": ", '"', "'", "\\", "\n", "token", " is ", "://", "@", "user:", "[redacted:x]",
        "[redacted:", "]", "Bearer ", "Basic ", "ey" + "J", ".", "-", "key", "api_", "Cookie: ", "sid=", ";", "-----BEGIN " + "PRIVATE KEY-----",
        "-----END " + "PRIVATE KEY-----", "${X}", "xxxx", "--", "secret", "é", "İ", "\u2028", "😀", "hunter2", "AB12cd34EF56gh78",
        "sk" + "-", "S" + "G.", "Zebra-lamp-9",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=24).map("".join) | st.text(max_size=200)


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_twice_is_once(text: str) -> None:
    environ = {"SOME_TOKEN": "Zebra-lamp-9"}
    once = Redactor(environ).text(text)
    again = Redactor(environ)
    assert again.text(once) == once
    assert again.counts == {}
    assert "Zebra-lamp-9" not in once


TREES = st.recursive(
    TEXTS | st.none() | st.integers() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS | st.just("password") | st.just("name"), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@given(TREES)
def test_twice_is_once_for_structures(value: Any) -> None:
    once = Redactor().tree(value)
    assert Redactor().tree(once) == once


def test_a_long_text_is_redacted_as_its_lines_are() -> None:
    chance = random.Random(7)
    value = draw(18)
    pieces = [*CONTEXT_WORDS, "=", ": ", " ", "-", "_", '"', value, "api", "x", ", ", "the "]
    lines = ["".join(chance.choices(pieces, k=chance.randrange(1, 9))) for _ in range(3000)]
    one_by_one = [Redactor({}).text(line) for line in lines]
    assert Redactor({}).text("\n".join(lines)).split("\n") == one_by_one
    assert one_by_one != lines
