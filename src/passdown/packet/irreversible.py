"""Steps that cannot be taken back, or that reach outside: they wait for a person."""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

_I = re.IGNORECASE
_COMMANDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "git",
        lazy_pattern(
            r"\bgit\s+(?:(?:-\S+\s+)*push\b|reset\s+--hard|clean\s+-\w*[fdx]|filter-branch|filter-repo|branch\s+-D|"
            r"tag\s+-d|reflog\s+expire)", _I,
        ),
    ),
    ("force", lazy_pattern(r"(?<!\w)--force(?:-with-lease)?\b|\bforce[- ]push", _I)),
    (
        "npm pnpm yarn cargo poetry uv flit hatch gem lerna vsce twine docker",
        lazy_pattern(
            r"\b(?:npm|pnpm|yarn|cargo|poetry|uv|flit|hatch|gem|lerna|vsce)\s+(?:run\s+)?"
            r"(?:publish|unpublish|yank|push|release)\b"
            r"|\btwine\s+upload\b|\bdocker\s+(?:push|system\s+prune|volume\s+rm)\b", _I,
        ),
    ),
    (
        "helm kubectl terraform tofu pulumi cdk",
        lazy_pattern(
            r"\bhelm\s+(?:install|upgrade|uninstall|rollback)\b"
            r"|\bkubectl\s+(?:apply|delete|rollout|scale|drain|replace|patch)\b"
            r"|\b(?:terraform|tofu|pulumi|cdk)\s+(?:apply|destroy|up|deploy)\b", _I,
        ),
    ),
    (
        "fly flyctl vercel netlify firebase serverless sls wrangler heroku gcloud eb cap gh",
        lazy_pattern(
            r"\b(?:fly|flyctl|vercel|netlify|firebase|serverless|sls|wrangler|heroku|gcloud|eb|cap)\s+(?:\S+\s+){0,2}"
            r"(?:deploy|publish|destroy|release|rollback)\b"
            r"|\bvercel\s+--prod\b|\bgh\s+(?:release|pr)\s+(?:create|merge|delete|close|upload)\b"
            r"|\bgh\s+(?:repo|secret)\s+(?:delete|set|remove)\b", _I,
        ),
    ),
    ("rm shred mkfs dd", lazy_pattern(r"\brm\s+(?:-\S+\s+)*-\w*[rRf]|\bshred\b|\bmkfs\b|\bdd\s+if=", _I)),
    (
        "drop truncate delete",
        lazy_pattern(r"\b(?:drop|truncate)\s+(?:table|database|schema|index|column)\b|\bdelete\s+from\b", _I),
    ),
    (
        "alembic flask knex prisma sequelize diesel goose flyway rails rake manage django",
        lazy_pattern(
            r"\b(?:alembic|flask\s+db|knex|prisma\s+migrate|sequelize|diesel\s+migration|goose|flyway|rails|rake)\s+"
            r"(?:\S+\s+)?(?:upgrade|downgrade|deploy|db:migrate|db:rollback|db:drop|migrate|reset|run|up|down)\b"
            r"|\b(?:manage\.py|django-admin)\s+(?:migrate|flush)\b", _I,
        ),
    ),
    (
        "aws az curl systemctl reboot shutdown",
        lazy_pattern(
            r"\b(?:aws|az)\s+\S+\s+(?:rm|rb|delete-\S+|put-\S+|create-\S+|terminate-\S+|rotate-\S+|sync)\b"
            r"|\bcurl\b[^|]*\s-X\s*(?:POST|PUT|DELETE|PATCH)\b"
            r"|\b(?:systemctl\s+(?:stop|restart|disable)|reboot|shutdown)\b", _I,
        ),
    ),
)  # fmt: skip
"""What cannot be taken back, each with the words of which it needs one: only those are tried that a text can meet."""

_VERBS = (
    r"push|publish|deploy|release|delete|drop|purge|wipe|erase|destroy|migrate|pay|refund|charge|rotate|revoke|merge|send|"
    r"e-?mail|announce|force|roll\s+(?:out|back)|submit|upload|open (?:a |the )?(?:pr|pull request)|tag"
)
_FIRST_VERB = lazy_pattern(
    rf"^(?:please |then |now |next,? |finally,? )?(?:{_VERBS})\b(?!\s*(?:test|\(|_))"
    rf"|(?:,| and| then| &&)\s+(?:then )?(?:{_VERBS})\s+"
    r"(?:the |it|to |a |all |both |its |this |old |branch|tag|secret|key|user|data|table|prod)",
    re.IGNORECASE,
)
_VERB_NAMES = """
push publish deploy release delete drop purge wipe erase destroy migrate pay refund charge rotate revoke merge send
email mail announce force roll submit upload open tag
"""
_VERB_WORDS = frozenset(_VERB_NAMES.split())
_CJK = lazy_pattern(
    "推送|发布|上线|部署|删除|清空|迁移数据|数据迁移|执行迁移|支付|付款|退款|轮换|吊销|强制推|合并到主|發布|刪除|デプロイ|公開|削除|배포|삭제"
)
_HARMLESS = lazy_pattern(
    r"--dry-run|\b(?:in|on|inside) (?:the |a )?(?:sandbox|temp|scratch)\b|--help\b|\b(?:git\s+push\s+)?--no-push\b",
    re.IGNORECASE,
)


_SPOKEN = lazy_pattern(r"`[^`]*`")
_LETTERS = lazy_pattern(r"[a-z]+")
_FOLDED = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
"""The four characters beyond ASCII that a search without case takes for letters of it."""


def needs_a_human(text: str, command: str = "") -> bool:
    """Say whether a step pushes, publishes, deploys, deletes, migrates, pays, rotates secrets or forces.

    Judged by the commands it names and by the verb it begins with; a word in a file's or test's name does not count.
    """
    words = _words(text)
    if _is_final(command, _words(command)) or _is_final(text, words):
        return not _HARMLESS.search(command or text)
    prose = _SPOKEN.sub("`x`", text)
    if not words.isdisjoint(_VERB_WORDS) and _FIRST_VERB.search(prose.strip()):
        return True
    return not prose.isascii() and _CJK.search(prose) is not None


def _is_final(text: str, words: frozenset[str]) -> bool:
    return any(not words.isdisjoint(needed.split()) and shape.search(text) for needed, shape in _COMMANDS)


def _words(text: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(text.translate(_FOLDED).lower()))
