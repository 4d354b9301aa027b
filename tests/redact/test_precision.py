"""What only looks like a secret stays as it is."""

from __future__ import annotations

import base64
import hashlib
import uuid

import pytest

from passdown.redact.scan import Redactor

SHA1 = hashlib.sha1(b"x").hexdigest()
SHA256 = hashlib.sha256(b"x").hexdigest()
UUID = str(uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF))
WORDS = base64.b64encode(b"The quick brown fox jumps over the lazy dog").decode()

UNTOUCHED = [
    f"commit {SHA1}",
    f"HEAD is now at {SHA1[:7]} Fix the tokenizer",
    f"sha256:{SHA256}",
    f"index {SHA1[:10]}..{SHA1[10:20]} 100644",
    f'"tree": "{SHA1}", "key": "{SHA256}"',
    f"session {UUID}",
    f'"request_id": "{UUID}", "token": null',
    f"token {SHA1}",
    f"cache_key = '{SHA256}'",
    f"primary_key: {UUID}",
    "/usr/lib/python3.11/site-packages/token.py",
    "src/auth/password_reset_token.py:12: error",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-xxxxx",
    "sk-...",
    "OPENAI_API_KEY=sk-...",
    "export API_KEY=<TOKEN>",
    "API_KEY=${API_KEY}",
    "API_KEY=$API_KEY",
    "password: ${{ secrets.DB_PASSWORD }}",
    "token: {{ .Values.token }}",
    "GITHUB_TOKEN=REDACTED",
    "PASSWORD=********",
    'api_key = "your-api-key-here"',
    "ANTHROPIC_API_KEY=your-key-goes-here",
    'password = os.environ["DB_PASSWORD"]',
    "token = get_token(user)",
    "token = self.config.token",
    "password = request.form['password']",
    "def login(user: str, password: str) -> Token:",
    "password: string;",
    "const previousToken = process.env.ENTIRE_CHECKPOINT_TOKEN;",
    "new Octokit({ auth: import.meta.env.VITE_GITHUB_TOKEN })",
    "const token = process.env.GITHUB_TOKEN;",
    '"input_tokens": 12345, "total_tokens": 1234567890',
    "max_tokens=4096",
    "The author reset the password and the token expired.",
    "Password: required",
    '"token_type": "bearer"',
    '"type": "password"',
    "Bearer authentication is required",
    "Basic authentication and basic understanding of Kubernetes",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "if '-----BEGIN PRIVATE KEY-----' in text: refuse()",
    r're.compile("-----BEGIN RSA PRIVATE KEY-----[\s\S]*?-----END RSA PRIVATE KEY-----")',
    "https://example.com/path?page=2&sort=name",
    "http://user:password@host/",
    "postgres://${USER}:${PASSWORD}@localhost/db",
    'f"postgres://{user}:{password}@{host}/db"',
    "git@github.com:owner/repo.git",
    "ssh://git@github.com:22/owner/repo.git",
    "https://github.com/owner/repo/blob/main/src/token.py#L10-L20",
    "npm_config_registry npm_lifecycle_event",
    "hf_hub_download_from_the_internet_to_disk",
    "sk-learn-pipeline-with-many-words-in-its-name",
    "risk-free-rate-of-return-on-investments",
    "pk_live is public",
    "key-value-store key-" + "abc",
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "SK_LEARN_TOKEN_LENGTH = 12",
    WORDS,
    f"data:image/png;base64,{WORDS}",
    "const STORAGE_KEY = 'vue-todo-list'",
    "SECRET_NAME=my-kubernetes-secret",
    "secretName: my-kubernetes-secret",
    'TOKEN_URL = "https://auth.example.com/oauth/token"',
    "GOOGLE_APPLICATION_CREDENTIALS=/home/me/keys/service.json",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@host",
    "for key, value in tokens.items(): auth = value",
    "keyboard: us, monkey: business, passport: none",
    "cookie: theme=dark; lang=en",
    "cookies = jar.get('session')",
    "machine learning login screen",
    "curl -u $USER:$PASSWORD https://example.org",
    "docker run -u 1000:1000 image",
    "mail.example.org:587 pattern tokenise secretary",
    "ghp_yourPersonalAccessTokenGoesHere",
    "ghp_xxxxxxxxxxxxxxxxxxxx",
    "github_pat_some_words_that_name_a_token",
    "hf_AutoModelForCausalLM",
    "gsk_SomeNameOfAClassInCode",
    "npm_packageManagerVersion",
    "xoxb-your-token-goes-here",
    "API_KEY=sk-… (truncated)",
    "token = some_call[truncated]",
    'password = "the quick brown fox..."',
    "token: /home/me/some/long/folder/...",
    "compass: north, bypass: true, author: Jane",
    "",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_left_alone(text: str) -> None:
    redactor = Redactor({"HOME": "/home/me", "PATH": "/usr/bin", "DEBUG_TOKEN": "true"})
    assert redactor.text(text) == text
    assert redactor.counts == {}


def test_the_projects_own_sources_hold_nothing_secret() -> None:
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    for path in sorted((root / "src").rglob("*.py")):
        redactor = Redactor()
        text = path.read_text("utf-8")
        assert redactor.text(text) == text, (path, redactor.counts)
