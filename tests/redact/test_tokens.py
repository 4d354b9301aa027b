"""Every token family is found, in every surrounding it turns up in. Tokens are made at run time: none stands here."""

from __future__ import annotations

import base64
import random
import string
import time

import pytest

from passdown.redact.rules import RULES
from passdown.redact.scan import Redactor

ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
DICE = random.Random(20_250_101)


def draw(alphabet: str, length: int) -> str:
    """Characters drawn so that the first and last are letters or digits and both cases and digits occur."""
    while True:
        text = "".join(DICE.choice(alphabet) for _ in range(length))
        ends = text[0].isalnum() and text[-1].isalnum()
        mixed = length < 14 or (sum(c.isdigit() for c in text) > 1 and sum(c.isalpha() for c in text) > 1)
        if ends and mixed and "--" not in text and "__" not in text:
            return text


def join(*parts: str) -> str:
    return "".join(parts)


FAMILIES: dict[str, str] = {
    "github classic": join("gh", "p_", draw(ALNUM, 36)),
    "github oauth": join("gh", "o_", draw(ALNUM, 36)),
    "github user": join("gh", "u_", draw(ALNUM, 36)),
    "github server": join("gh", "s_", draw(ALNUM, 36)),
    "github refresh": join("gh", "r_", draw(ALNUM, 76)),
    "github fine": join("github", "_pat_", draw(ALNUM, 22), "_", draw(ALNUM, 59)),
    "gitlab personal": join("gl", "pat-", draw(URLSAFE, 20)),
    "gitlab routable": join("gl", "pat-", draw(URLSAFE, 27), ".01.", draw(string.ascii_lowercase + string.digits, 9)),
    "gitlab deploy": join("gl", "dt-", draw(URLSAFE, 20)),
    "gitlab runner": join("gl", "rt-", draw(URLSAFE, 20)),
    "gitlab job": join("gl", "cbt-", draw(URLSAFE, 20)),
    "gitlab trigger": join("gl", "ptt-", draw(HEX, 40)),
    "gitlab feed": join("gl", "ft-", draw(URLSAFE, 20)),
    "gitlab mail": join("gl", "imt-", draw(URLSAFE, 25)),
    "gitlab agent": join("gl", "agent-", draw(URLSAFE, 50)),
    "gitlab oauth": join("gl", "oas-", draw(HEX, 64)),
    "gitlab scim": join("gl", "soat-", draw(URLSAFE, 20)),
    "gitlab registration": join("GR", "1348941", draw(URLSAFE, 20)),
    "aws id": join("AK", "IA", draw(BASE32, 16)),
    "aws temporary id": join("AS", "IA", draw(BASE32, 16)),
    "google key": join("AI", "za", draw(ALNUM, 35)),
    "google secret": join("GOC", "SPX-", draw(URLSAFE, 28)),
    "google access": join("ya", "29.", draw(URLSAFE, 60)),
    "azure client secret": join(draw(ALNUM, 3), "8", "Q~", draw(ALNUM, 34)),
    "digitalocean": join("do", "p_v1_", draw(HEX, 64)),
    "heroku": join("HR", "KU-", draw(URLSAFE, 60)),
    "slack bot": join("xo", "xb-", draw("0123456789", 12), "-", draw("0123456789", 13), "-", draw(ALNUM, 24)),
    "slack user": join("xo", "xp-", draw("0123456789", 12), "-", draw("0123456789", 12), "-", draw(HEX, 32)),
    "slack app": join("xa", "pp-1-", draw(UPPER, 11), "-", draw("0123456789", 13), "-", draw(HEX, 64)),
    "slack webhook": join("services/T", draw(UPPER, 8), "/B", draw(UPPER, 10), "/", draw(ALNUM, 24)),
    "discord bot": join("MT", draw(ALNUM, 24), ".", draw(ALNUM, 6), ".", draw(ALNUM, 38)),
    "telegram": join(draw("0123456789", 10), ":A", "A", draw(ALNUM, 33)),
    "sendgrid": join("S", "G.", draw(ALNUM, 22), ".", draw(ALNUM, 43)),
    "mailgun": join("ke", "y-", draw(HEX, 32)),
    "mailchimp": join(draw(HEX, 32), "-u", "s14"),
    "twilio": join("S", "K", draw(HEX, 32)),
    "stripe live": join("sk", "_live_", draw(ALNUM, 24)),
    "stripe restricted": join("rk", "_live_", draw(ALNUM, 99)),
    "stripe webhook": join("wh", "sec_", draw(ALNUM, 32)),
    "shopify": join("shp", "at_", draw(HEX, 32)),
    "square": join("sq", "0atp-", draw(URLSAFE, 22)),
    "square access": join("EA", "AA", draw(URLSAFE, 60)),
    "anthropic": join("sk", "-ant-api03-", draw(URLSAFE, 93), "AA"),
    "openai": join("sk", "-", draw(ALNUM, 20), "T3Blbk", "FJ", draw(ALNUM, 20)),
    "openai project": join("sk", "-proj-", draw(URLSAFE, 120)),
    "openrouter": join("sk", "-or-v1-", draw(HEX, 64)),
    "hugging face": join("h", "f_", draw(ALNUM, 34)),
    "groq": join("gs", "k_", draw(ALNUM, 52)),
    "xai": join("xa", "i-", draw(ALNUM, 80)),
    "perplexity": join("pp", "lx-", draw(ALNUM, 48)),
    "replicate": join("r", "8_", draw(ALNUM, 37)),
    "nvidia": join("nv", "api-", draw(URLSAFE, 64)),
    "npm": join("np", "m_", draw(ALNUM, 36)),
    "pypi": join("py", "pi-AgE", "IcHlwaS5vcmc", draw(URLSAFE, 120)),
    "docker": join("dck", "r_pat_", draw(URLSAFE, 27)),
    "rubygems": join("ruby", "gems_", draw(HEX, 48)),
    "vercel": join("vc", "p_", draw(ALNUM, 56)),
    "netlify": join("nf", "p_", draw(ALNUM, 36)),
    "cloudflare origin": join("v1", ".0-", draw(HEX, 24), "-", draw(HEX, 146)),
    "fly": join("fm", "2_", draw(ALNUM, 90)),
    "render": join("rn", "d_", draw(ALNUM, 32)),
    "terraform": join(draw(ALNUM, 14), ".atlas", "v1.", draw(ALNUM, 67)),
    "vault": join("hv", "s.", draw(URLSAFE, 90)),
    "vault old": join("s", ".", draw(ALNUM, 24)),
    "pulumi": join("pu", "l-", draw(HEX, 40)),
    "doppler": join("dp", ".pt.", draw(ALNUM, 43)),
    "age": join("AGE-SECRET", "-KEY-1", draw(UPPER, 58)),
    "linear": join("lin", "_api_", draw(ALNUM, 40)),
    "notion": join("nt", "n_", draw(ALNUM, 46)),
    "notion old": join("sec", "ret_", draw(ALNUM, 43)),
    "figma": join("fig", "d_", draw(URLSAFE, 40)),
    "databricks": join("da", "pi", draw(HEX, 32)),
    "grafana": join("gl", "sa_", draw(ALNUM, 32), "_", draw(HEX, 8)),
    "new relic": join("NR", "AK-", draw(UPPER, 27)),
    "sentry": join("sntry", "u_", draw(HEX, 64)),
    "planetscale": join("psc", "ale_tkn_", draw(URLSAFE, 43)),
    "supabase": join("sb", "p_", draw(HEX, 40)),
    "supabase key": join("sb", "_secret_", draw(URLSAFE, 31)),
    "atlassian": join("ATA", "TT3xFfGF0", draw(URLSAFE, 170), "=A1B2C3D4"),
    "jwt": join("ey", "JhbGciOiJIUzI1NiJ9", ".ey", "J", draw(URLSAFE, 40), ".", draw(URLSAFE, 43)),
    "postman": join("PM", "AK-", draw(HEX, 24), "-", draw(HEX, 34)),
    "tailscale": join("ts", "key-auth-", draw(ALNUM, 12), "-", draw(ALNUM, 32)),
    "dynatrace": join("dt0", "c01.", draw(BASE32, 24), ".", draw(BASE32, 64)),
}
SURROUNDINGS = (
    "{}",
    "see {} there",
    'x = f("{}")',
    "\\n{}\\n",
    "a\n+{}\nb",
    "https://host/x?k={}&y=1",
    "'{}',",
    "({})",
    "`{}`",
)

CONTEXTS: dict[str, tuple[str, str]] = {
    "aws secret": ("aws_secret_access_key = {}", draw(ALNUM + "/+", 40)),
    "aws secret json": ('"SecretAccessKey": "{}"', draw(ALNUM + "/+", 40)),
    "azure storage": ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};", draw(ALNUM, 86) + "=="),
    "azure sas": ("https://x.blob.core.windows.net/c?sv=2024-01-01&sig={}&se=2030", draw(ALNUM, 43) + "%3D"),
    "heroku uuid": ("HEROKU_API_KEY={}", "-".join(draw(HEX, n) for n in (8, 4, 4, 4, 12))),
    "datadog": ("DD_API_KEY: {}", draw(HEX, 32)),
    "cloudflare": ("export CLOUDFLARE_API_TOKEN={}", draw(URLSAFE, 40)),
    "vercel old": ("VERCEL_TOKEN='{}'", draw(ALNUM, 24)),
    "wandb": ("WANDB_API_KEY={}", draw(HEX, 40)),
    "twilio token": ("TWILIO_AUTH_TOKEN={}", draw(HEX, 32)),
    "url": ("postgres://app:{}@db.internal:5432/main", "p4ss" + draw(ALNUM, 8)),
    "url short": ("redis://:{}@localhost:6379", "hunter2x"),
    "git url": ("git clone https://{}@git.example.org/x/y", draw(ALNUM, 40)),
    "bearer": ("curl -H 'Authorization: Bearer {}'", draw(ALNUM, 32)),
    "basic": ("Authorization: Basic {}", base64.b64encode(b"user:" + draw(ALNUM, 10).encode()).decode()),
    "header": ("X-Api-Key: {}", draw(ALNUM, 32)),
    "gitlab header": ("PRIVATE-TOKEN: {}", draw(ALNUM, 20)),
    "authorization token": ("Authorization: token {}", draw(HEX, 40)),
    "cookie": ("Cookie: {}", "session=" + draw(ALNUM, 32) + "; theme=dark"),
    "set-cookie": ("Set-Cookie: {}", "connect.sid=s%3A" + draw(ALNUM, 32)),
    "env file": ("DB_PASSWORD={}", "Tr0ub4dor&3"[:9]),
    "env words": ("JWT_SECRET={}", "mysupersecretvalue"),
    "yaml": ("  password: {}", "s3cure!pass"),
    "json": ('{{"password": "{}"}}', "correcthorse"),
    "json in json": ('{{\\"password\\": \\"{}\\"}}', "correcthorse"),
    "python": ('password: str = "{}"', "correcthorse"),
    "camel case": ('const clientSecret = "{}";', draw(ALNUM, 24)),
    "auth token npm": ("//registry.example/:_authToken={}", draw(ALNUM, 36)),
    "flag": ("mysql --password {} -h db", "hunter22"),
    "flag equals": ("tool --api-key={}", draw(ALNUM, 24)),
    "connection string": ("Server=db;User Id=app;Password={};Encrypt=yes", "letmeinplease"),
    "query": ("https://host/login?user=a&password={}&x=1", "letmeinplease"),
    "flag with words": ("tool --password={}", "letmeinplease"),
    "kubernetes": ('{{"name": "DB_PASSWORD", "value": "{}"}}', "correcthorse"),
    "xml": ("<password>{}</password>", "hunter22x"),
    "docker auth": ('"auth": "{}"', base64.b64encode(b"someuser:" + draw(ALNUM, 12).encode()).decode()),
    "prose": ("the token is {} for now", draw(ALNUM, 32)),
    "prose key": ("my API key {}", draw(ALNUM, 40)),
    "curl user": ("curl -s -u admin:{} https://x", "hunter22"),
    "netrc": ("machine example.org login me password {}", "hunter22"),
    "sshpass": ("sshpass -p {} ssh host", "hunter22"),
    "dsn": ("https://{}@o1234.ingest.sentry.io/42", draw(HEX, 32)),
    "presigned": ("?X-Amz-Signature={}&X", draw(HEX, 64)),
    "discord webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", draw(URLSAFE, 68)),
    "okta": ("Authorization: SSWS {}", "00" + draw(URLSAFE, 40)),
}


def test_the_table_has_at_least_sixty_families() -> None:
    assert len({rule.kind for rule in RULES}) >= 60
    assert len(FAMILIES) >= 60


@pytest.mark.parametrize("family", FAMILIES)
def test_a_token_is_found_in_every_surrounding(family: str) -> None:
    token = FAMILIES[family]
    template = "https://hooks.slack.com/{}" if family == "slack webhook" else "{}"
    for surrounding in SURROUNDINGS:
        text = surrounding.format(template.format(token))
        redactor = Redactor()
        clean = redactor.text(text)
        assert token not in clean, surrounding
        assert all(part not in clean for part in (token[-12:], token[10:24])), (surrounding, clean)
        assert sum(redactor.counts.values()) >= 1
        assert Redactor().text(clean) == clean


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_secret_without_a_shape_is_found_by_its_surroundings(name: str) -> None:
    template, secret = CONTEXTS[name]
    text = f"before\n{template.format(secret)}\nafter"
    clean = Redactor().text(text)
    assert secret not in clean
    assert secret[-8:] not in clean
    assert clean.startswith("before\n")
    assert clean.endswith("\nafter")
    assert Redactor().text(clean) == clean


def test_the_kind_is_named_and_counted() -> None:
    redactor = Redactor()
    text = f"a {FAMILIES['github classic']} b {FAMILIES['npm']} c {FAMILIES['github oauth']}"
    assert redactor.text(text) == "a [redacted:github_token] b [redacted:npm_token] c [redacted:github_token]"
    assert redactor.counts == {"github_token": 2, "npm_token": 1}


def test_many_secrets_on_one_line_and_beside_each_other() -> None:
    tokens = list(FAMILIES.values())
    for separator in (" ", ",", "\\n", "|", "\t", '","'):
        clean = Redactor().text(separator.join(tokens))
        assert not [token for token in tokens if token in clean and not token.startswith("services/")]


def test_time_grows_with_length_only() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        Redactor({"X_TOKEN": "abcdefgh12345"}).text(text)
        return time.process_time() - start

    hostile = [
        "password=${X}", "token=", "eyJ-", "glpat-", "key-0123456789abcdef", "://", "://a:", "sk-", "secret: \"", "cookie: a=b;",
        "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "bearer ", "AKIA", "a" * 40, "0" * 64, "token is ",
        "machine a login b ", "xoxb-1", "gh" + "p_a1B2", "hf_aB", "token=a1[x", "token=…(", ".atlasv1.", "-u a:b", "api_key", "[redacted:x]",
    ]  # fmt: skip
    for piece in hostile:
        small, large = (piece * (size // len(piece)) for size in (20_000, 80_000))

        assert seconds(large) < 10 * seconds(small) + 0.3, piece


CUT = (
    "github classic", "github oauth", "github user", "github server", "github refresh", "github fine",
    "gitlab personal", "gitlab deploy", "slack bot", "slack user", "slack app", "anthropic", "openai project",
    "openrouter", "hugging face", "groq", "google key", "google secret", "google access", "digitalocean", "heroku",
    "atlassian", "npm", "pypi", "docker", "rubygems", "vault", "age", "tailscale", "shopify", "linear", "figma",
    "grafana", "sentry", "supabase", "databricks", "nvidia",
)  # fmt: skip
SECRET, HALVES = draw(ALNUM, 24), [draw(ALNUM, 16) for _ in range(200)]
ENDS = ("", "…", "...", "[truncated]", "... [12 more characters truncated]", "\n<truncated>", " (output omitted)", '"}')


@pytest.mark.parametrize("family", CUT)
def test_a_token_that_a_log_cut_short_is_found(family: str) -> None:
    token = FAMILIES[family]
    prefix = max((a for rule in RULES for a in rule.anchors if token.startswith(a)), key=len)
    for least in (24, 30, 35):
        left = token[: len(prefix) + least]
        for end in ENDS:
            clean = Redactor().text(f"remote: {left}{end}")
            assert left[len(prefix) + 4 :] not in clean, (left, end, clean)
            assert Redactor().text(clean) == clean


def test_what_is_left_of_a_token_is_masked_from_sixteen_characters_on() -> None:
    left = [body for body in HALVES if body in Redactor().text(join("gh", "p_", body, "…"))]
    assert len(left) <= 4  # sixteen letters may happen to look like words
    assert Redactor().text(join("gh", "p_", "aB3dE5f", "…")) == join("gh", "p_", "aB3dE5f", "…")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "template", ["API_KEY={}{}", 'api_key: "{}{}', "Authorization: Bearer {}{}", "Cookie: session={}{}"]
)
def test_a_cut_value_is_found_by_its_surroundings(template: str, end: str) -> None:
    clean = Redactor().text(template.format(SECRET, end))
    assert SECRET[4:] not in clean
    assert Redactor().text(clean) == clean
    assert SECRET not in str(Redactor().tree({"api_key": f"{SECRET}{end}"}))
