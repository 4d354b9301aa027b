"""Steps that cannot be taken back, or that reach outside: they wait for a person."""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

_COMMANDS = lazy_pattern(
    r"""
    \bgit\s+(?:-\S+\s+)*push\b
    | \bgit\s+(?:reset\s+--hard|clean\s+-\w*[fdx]|filter-branch|filter-repo|branch\s+-D|tag\s+-d|reflog\s+expire)
    | (?<!\w)--force(?:-with-lease)?\b | \bforce[- ]push
    | \b(?:npm|pnpm|yarn|cargo|poetry|uv|flit|hatch|gem|lerna|vsce)\s+(?:run\s+)?
      (?:publish|unpublish|yank|push|release)\b
    | \btwine\s+upload\b | \bdocker\s+(?:push|system\s+prune|volume\s+rm)\b
    | \bhelm\s+(?:install|upgrade|uninstall|rollback)\b
    | \bkubectl\s+(?:apply|delete|rollout|scale|drain|replace|patch)\b
    | \b(?:terraform|tofu|pulumi|cdk)\s+(?:apply|destroy|up|deploy)\b
    | \b(?:fly|flyctl|vercel|netlify|firebase|serverless|sls|wrangler|heroku|gcloud|eb|cap)\s+(?:\S+\s+){0,2}
      (?:deploy|publish|destroy|release|rollback)\b
    | \bvercel\s+--prod\b | \bgh\s+(?:release|pr)\s+(?:create|merge|delete|close|upload)\b
    | \bgh\s+(?:repo|secret)\s+(?:delete|set|remove)\b
    | \brm\s+(?:-\S+\s+)*-\w*[rRf] | \bshred\b | \bmkfs | \bdd\s+if=
    | \b(?:drop|truncate)\s+(?:table|database|schema|index|column)\b | \bdelete\s+from\b
    | \b(?:alembic|flask\s+db|knex|prisma\s+migrate|sequelize|diesel\s+migration|goose|flyway|rails|rake)\s+
      (?:\S+\s+)?(?:upgrade|downgrade|deploy|db:migrate|db:rollback|db:drop|migrate|reset|run|up|down)\b
    | \b(?:manage\.py|django-admin)\s+(?:migrate|flush)\b
    | \b(?:aws|az)\s+\S+\s+(?:rm|rb|delete-\S+|put-\S+|create-\S+|terminate-\S+|rotate-\S+|sync)\b
    | \bcurl\b[^|]*\s-X\s*(?:POST|PUT|DELETE|PATCH)\b
    | \b(?:systemctl\s+(?:stop|restart|disable)|reboot|shutdown)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
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
_CJK = lazy_pattern(
    "推送|发布|上线|部署|删除|清空|迁移数据|数据迁移|执行迁移|支付|付款|退款|轮换|吊销|强制推|合并到主|發布|刪除|デプロイ|公開|削除|배포|삭제"
)
_HARMLESS = lazy_pattern(
    r"--dry-run|\b(?:in|on|inside) (?:the |a )?(?:sandbox|temp|scratch)\b|--help\b|\b(?:git\s+push\s+)?--no-push\b",
    re.IGNORECASE,
)


def needs_a_human(text: str, command: str = "") -> bool:
    """Say whether a step pushes, publishes, deploys, deletes, migrates, pays, rotates secrets or forces.

    Judged by the commands it names and by the verb it begins with; a word in a file's or test's name does not count.
    """
    if _COMMANDS.search(command) or _COMMANDS.search(text):
        return not _HARMLESS.search(command or text)
    prose = re.sub(r"`[^`]*`", "`x`", text)
    return bool(_FIRST_VERB.search(prose.strip()) or _CJK.search(prose))
