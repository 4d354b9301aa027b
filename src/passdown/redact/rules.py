"""The table of token families: what a secret of each maker looks like. Data only; `scan` runs it.

A row starts at an anchor, a literal that every token of the family holds, so that one search over all anchors finds
the few places worth a closer look. Shapes are the makers' own documentation and the public rule sets of secret
scanners. Quantifiers are bounded, which keeps every attempt short whatever the text.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

_A = "[A-Za-z0-9]"
_W = "[A-Za-z0-9_-]"
_H = "[0-9a-f]"
_B = "[A-Za-z0-9+/]"
_END = "(?![A-Za-z0-9])"

Check = Literal["", "random", "discord", "curl"]


class Rule(Struct, frozen=True):
    """One family. `tail` is the pattern after the anchor; a group named `s` marks the secret part when not all is.

    `more` is a character class that carries on the token beyond the bounded tail. `back` says at which distances
    before the anchor a token may start, `head` what stands there. `check` names a test the found text must pass:
    `random` leaves ordinary words alone.
    """

    kind: str
    anchors: tuple[str, ...]
    tail: str
    more: str = ""
    head: str = ""
    back: tuple[int, ...] = (0,)
    check: Check = ""


def _run(kind: str, anchors: str, characters: str, least: int, check: Check = "") -> Rule:
    """A token of at least `least` characters after its prefix."""
    return Rule(kind, tuple(anchors.split()), f"{characters}{{{least},{max(least, 256)}}}", characters, check=check)


def _exact(kind: str, anchors: str, characters: str, length: int, check: Check = "") -> Rule:
    """A token of exactly `length` characters after its prefix."""
    return Rule(kind, tuple(anchors.split()), f"{characters}{{{length}}}{_END}", check=check)


def _shape(kind: str, anchors: str, tail: str, more: str = "", check: Check = "") -> Rule:
    """A token with an inner structure."""
    return Rule(kind, tuple(anchors.split()), tail, more, check=check)


CODE_HOSTS = (
    _run("github_token", "ghp_ gho_ ghu_ ghr_", _A, 36),
    _shape("github_token", "ghs_", rf"[A-Za-z0-9_]{{36,256}}(?:\.{_W}{{8,1024}}){{0,2}}", "[A-Za-z0-9_]"),
    _run("github_fine_grained_token", "github_pat_", "[A-Za-z0-9_]", 40),
    _shape(
        "gitlab_token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        rf"{_W}{{16,256}}(?:\.[a-z0-9]{{2}}\.[a-z0-9]{{9}})?",
        _W,
        check="random",
    ),
    _run("gitlab_runner_token", "GR1348941", _W, 20),
    _run("atlassian_token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]", 60),
    _run("bitbucket_token", "ATBB", _A, 24, "random"),
    _run("sourcegraph_token", "sgp_ slk_", "[A-Za-z0-9_]", 40, "random"),
)

CLOUDS = (
    _exact("aws_access_key", "AKIA ASIA ABIA ACCA", "[A-Z2-7]", 16),
    _run("aws_bedrock_key", "ABSKQmVkcm9ja0FQSUtleS", "[A-Za-z0-9+/=]", 30),
    _shape("aws_signature", "X-Amz-Signature=", rf"(?P<s>{_H}{{64}})"),
    _shape("azure_sas_signature", "sig=", r"(?P<s>[A-Za-z0-9%+/]{40,120}(?:=|%3[Dd]))"),
    Rule("azure_client_secret", ("Q~",), r"[A-Za-z0-9_~.-]{31,34}", head=r"[A-Za-z0-9_~.-]{3}\d", back=(4,)),
    _exact("google_api_key", "AIza", _W, 35, "random"),
    _run("google_oauth_secret", "GOCSPX-", _W, 24),
    _run("google_access_token", "ya29.", _W, 30),
    _run("google_refresh_token", "1//0", _W, 40),
    _exact("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", _H, 64),
    _run("heroku_key", "HRKU-", _W, 30),
    _run("alibaba_access_key", "LTAI", _A, 16, "random"),
    _exact("tencent_secret_id", "AKID", _A, 32, "random"),
    _exact("linode_token", "lin_tok_", _H, 64),
    _run("scaleway_key", "SCW", "[A-Z0-9]", 17, "random"),
    _run("yandex_key", "AQVN", _W, 35, "random"),
)

CHAT_AND_MAIL = (
    _run("slack_token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd-", "[A-Za-z0-9%+/=-]", 20, "random"),
    _run("slack_token", "xoxe.xoxb- xoxe.xoxp-", _W, 20, "random"),
    _run("slack_app_token", "xapp- xwfp-", _W, 20, "random"),
    _shape(
        "slack_webhook",
        "hooks.slack.com/ hooks.slack-gov.com/",
        r"(?P<s>(?:services|workflows|triggers)/[A-Za-z0-9+/]{24,128})",
    ),
    _shape("discord_webhook", "/api/webhooks/", rf"\d{{15,21}}/(?P<s>{_W}{{50,100}})"),
    _run("discord_mfa_token", "mfa.", _W, 80),
    Rule("telegram_bot_token", (":AA",), rf"{_W}{{32,34}}(?!{_W})", head=r"\d{8,10}", back=(10, 9, 8)),
    _shape(
        "teams_webhook",
        ".webhook.office.com/",
        r"(?P<s>webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[^\s\"']{60,120})",
    ),
    _shape("sendgrid_key", "SG.", rf"{_W}{{16,32}}\.{_W}{{32,64}}"),
    _shape("mailgun_key", "key-", rf"{_H}{{32}}{_END}"),
    Rule("mailchimp_key", ("-us",), rf"\d{{1,2}}{_END}", head=rf"{_H}{{32}}", back=(32,)),
    _shape("resend_key", "re_", rf"{_A}{{8}}_{_A}{{20,64}}", _A),
    _exact("brevo_key", "xkeysib-", "[0-9a-zA-Z-]", 81),
    _run("postmark_token", "PMAK-", "[0-9a-f-]", 50),
    _exact("twilio_key", "SK", _H, 32, "random"),
)

PAYMENT_AND_SHOPS = (
    _run("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_", _A, 16, "random"),
    _run("stripe_webhook_secret", "whsec_", "[A-Za-z0-9+/=]", 24, "random"),
    _run("shopify_token", "shpat_ shpca_ shppa_ shpss_ shpua_ shptka_", "[0-9a-fA-F]", 32),
    _shape("square_token", "sq0atp- sq0csp- sq0idp- sq0idb-", f"{_W}{{22,64}}", _W),
    _shape("square_token", "EAAA", f"{_W}{{60}}{_END}", check="random"),
    _shape("paypal_token", "access_token$production$", rf"[0-9a-z]{{16}}\${_H}{{32}}"),
    _run("flutterwave_key", "FLWSECK_TEST- FLWSECK-", "[A-Za-z0-9-]", 12),
    _run("easypost_key", "EZAK EZTK", _A, 50),
    _run("shippo_token", "shippo_live_ shippo_test_", _H, 40),
    _run("plaid_token", "access-sandbox- access-development- access-production-", "[0-9a-f-]", 30),
    _run("razorpay_key", "rzp_live_ rzp_test_", _A, 14, "random"),
)

MODELS = (
    _run("anthropic_key", "sk-ant-", _W, 20, "random"),
    _run("openrouter_key", "sk-or-", _W, 20, "random"),
    _run("openai_key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _W, 20, "random"),
    _run("openai_key", "sk-", _W, 20, "random"),
    _run("openai_session", "sess-", _A, 40),
    _run("huggingface_token", "hf_ api_org_", _A, 30),
    _run("groq_key", "gsk_", _A, 40),
    _run("xai_key", "xai-", _A, 60),
    _run("perplexity_key", "pplx-", _A, 40),
    _exact("replicate_token", "r8_", _A, 37),
    _run("nvidia_key", "nvapi-", _W, 40),
    _run("tavily_key", "tvly-", _W, 20, "random"),
    _run("firecrawl_key", "fc-", _H, 32),
    _run("cerebras_key", "csk-", _A, 40),
    _run("langsmith_key", "lsv2_pt_ lsv2_sk_ ls__", "[A-Za-z0-9_]", 32, "random"),
    _run("langfuse_key", "sk-lf- pk-lf-", "[0-9a-f-]", 36),
    _run("pinecone_key", "pcsk_", "[A-Za-z0-9_]", 40),
    _run("jina_key", "jina_", _A, 40),
    _run("together_key", "tgp_v1_", _W, 40),
    _run("fireworks_key", "fw_", _A, 22, "random"),
    _run("e2b_key", "e2b_", _H, 40),
    _run("voyage_key", "pa-", _W, 40, "random"),
    _run("elevenlabs_key", "sk_", "[0-9a-f]", 48),
    _run("cursor_key", "crsr_", _H, 64),
    _run("wandb_key", "wandb_v1_", "[A-Za-z0-9_]", 40),
)

BUILD_AND_DEPLOY = (
    _exact("npm_token", "npm_", _A, 36),
    _run("pypi_token", "pypi-AgE", _W, 50),
    _run("docker_token", "dckr_pat_ dckr_oat_", _W, 20),
    _run("rubygems_key", "rubygems_", _H, 48),
    _run("crates_token", "cio", _A, 32, "random"),
    _run("nuget_key", "oy2", "[a-z0-9]", 43, "random"),
    _run("artifactory_key", "AKCp", _A, 60),
    _run("artifactory_token", "cmVmdGtuOj", _A, 50),
    _run("clojars_token", "CLOJARS_", "[a-z0-9]", 60),
    _run("vercel_token", "vcp_ vci_ vca_ vcr_ vck_", _A, 24, "random"),
    _run("vercel_blob_token", "vercel_blob_rw_", "[A-Za-z0-9_]", 24),
    _run("netlify_token", "nfp_ nfo_ nfc_ nfb_ nfu_", _A, 32),
    _shape("cloudflare_ca_key", "v1.0-", rf"{_H}{{24}}-{_H}{{100,256}}", _H),
    _run("cloudflare_token", "cfut_ cfat_ cfk_", _A, 36),
    _run("fly_token", "fm1_ fm2_ fm1r_ fm1a_ fo1_", r"[A-Za-z0-9+/=_-]", 40),
    _run("render_key", "rnd_", _A, 24, "random"),
    _run("railway_token", "rw_Fe26.2", r"[A-Za-z0-9*_-]", 40),
    Rule("terraform_token", (".atlasv1.",), "[A-Za-z0-9_=-]{60,80}", "[A-Za-z0-9_=-]", head=f"{_A}{{14}}", back=(14,)),
    _run("vault_token", "hvs. hvb. hvr.", _W, 24),
    _exact("vault_token", "s.", _A, 24, "random"),
    _run("pulumi_token", "pul-", _H, 40),
    _run("doppler_token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]", 40),
    _run("onepassword_token", "ops_eyJ", "[A-Za-z0-9+/=]", 80),
    _shape("onepassword_key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _run("infracost_key", "ico-", _A, 32),
    _run("buildkite_token", "bkua_ bkaj_ bkct_", _A, 30),
    _run("circleci_token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]", 40),
    _run("tailscale_key", "tskey-", _W, 20, "random"),
    _run("openshift_token", "sha256~", _W, 40),
    _run("age_secret_key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", "[A-Z0-9]", 50),
    _run("sops_or_minisign_key", "RWRTY0Iy", "[A-Za-z0-9+/=]", 60),
)

WORK_TOOLS = (
    _run("linear_key", "lin_api_ lin_oauth_ lin_wh_", _A, 32),
    _run("notion_token", "ntn_", _A, 40),
    _exact("notion_token", "secret_", _A, 43),
    _run("figma_token", "figd_ figo_ figu_ figoh_", _W, 36, "random"),
    _shape("databricks_token", "dapi", rf"{_H}{{32}}(?:-\d)?{_END}"),
    _run("grafana_token", "glsa_ glc_", "[A-Za-z0-9_+/=]", 32, "random"),
    _run("grafana_key", "eyJrIjoi", "[A-Za-z0-9+/=]", 60),
    _run("newrelic_key", "NRAK- NRAL- NRII- NRIQ- NRJS- NRRA- NRSP-", "[A-Za-z0-9_-]", 19, "random"),
    _run("sentry_token", "sntrys_ sntryu_ sntryi_", "[A-Za-z0-9+/=_-]", 40),
    _run("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.=-]", 32),
    _exact("supabase_token", "sbp_", _H, 40),
    _run("supabase_key", "sb_secret_ sb_temp_", "[A-Za-z0-9_-]", 20, "random"),
    _run("neon_key", "napi_", _A, 40),
    _run("posthog_key", "phx_ phs_", _A, 32),
    _shape("airtable_token", "pat", rf"{_A}{{14}}\.{_H}{{60,80}}", _H),
    _shape("asana_token", "1/", rf"\d{{16}}:{_H}{{32,64}}", _H),
    _run("hubspot_token", "pat-na1- pat-na2- pat-na3- pat-eu1-", "[0-9a-fA-F-]", 30),
    _run("typeform_token", "tfp_", r"[A-Za-z0-9_.=-]", 50),
    _run("dynatrace_token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9.]", 64),
    _run("prefect_key", "pnu_ pnb_", _A, 36),
    _run("readme_key", "rdme_", "[a-z0-9]", 60),
    _run("postman_key", "PMAT-", "[A-Z0-9]", 24),
    _run("snyk_token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9._-]", 30),
    _run("sonar_token", "squ_ sqp_ sqa_", _H, 40),
    _run("contentful_token", "CFPAT-", _W, 40),
    _run("duffel_token", "duffel_live_ duffel_test_", _W, 40),
    _run("frameio_token", "fio-u-", _W, 60),
    _run("mapbox_token", "sk.eyJ", r"[A-Za-z0-9_.-]", 40),
    _run("facebook_token", "EAACEdEose0cBA EAAG EAAB", _A, 90),
    _run("dropbox_token", "sl.B sl.u.", _W, 100),
    _shape("okta_token", "SSWS", rf"[ \t]{{1,4}}(?P<s>00{_W}{{38,60}})"),
    _run("clickhouse_key", "4b1d", _A, 38, "random"),
)

_DIGIT = "(?=[A-Za-z]{0,64}[0-9])"  # these prefixes also begin names in programs


def _cut(kind: str, anchors: str, characters: str) -> Rule:
    """A token that a log cut short: 16 characters or more, which must look drawn."""
    return _run(kind, anchors, characters, 16, "random")


CUT_SHORT = (
    _cut("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _A),
    _cut("github_fine_grained_token", "github_pat_", "[A-Za-z0-9_]"),
    _cut("slack_token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd-", "[A-Za-z0-9%+/=-]"),
    _shape("slack_token", "xoxb- xoxp- xoxa- xoxr- xoxs-", rf"\d{{10,14}}-{_W}{{1,256}}", _W),
    _cut("slack_token", "xoxe.xoxb- xoxe.xoxp-", _W),
    _cut("slack_app_token", "xapp- xwfp-", _W),
    _cut("anthropic_key", "sk-ant-", _W),
    _cut("openrouter_key", "sk-or-v1-", _W),
    _cut("openai_key", "sk-proj- sk-svcacct- sk-admin-", _W),
    _shape("huggingface_token", "hf_ api_org_", f"{_DIGIT}{_A}{{16,256}}", _A, "random"),
    _shape("groq_key", "gsk_", f"{_DIGIT}{_A}{{16,256}}", _A, "random"),
    _cut("nvidia_key", "nvapi-", _W),
    _cut("google_api_key", "AIza", _W),
    _cut("google_oauth_secret", "GOCSPX-", _W),
    _cut("google_access_token", "ya29.", _W),
    _cut("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", _H),
    _cut("heroku_key", "HRKU-", _W),
    _cut("atlassian_token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]"),
    _cut("npm_token", "npm_", _A),
    _cut("pypi_token", "pypi-AgE", _W),
    _cut("docker_token", "dckr_pat_ dckr_oat_", _W),
    _cut("rubygems_key", "rubygems_", _H),
    _cut("vault_token", "hvs. hvb. hvr.", _W),
    _cut("age_secret_key", "AGE-SECRET-KEY-1", "[A-Z0-9]"),
    _cut("tailscale_key", "tskey-", _W),
    _cut("shopify_token", "shpat_ shpca_ shppa_ shpss_ shpua_ shptka_", "[0-9a-fA-F]"),
    _cut("linear_key", "lin_api_ lin_oauth_", _A),
    _cut("figma_token", "figd_ figo_ figu_", _W),
    _cut("grafana_token", "glsa_ glc_", "[A-Za-z0-9_+/=]"),
    _cut("sentry_token", "sntrys_ sntryu_ sntryi_", "[A-Za-z0-9+/=_-]"),
    _cut("supabase_token", "sbp_", _H),
    _cut("databricks_token", "dapi", _H),
)

GENERAL = (
    _shape(
        "jwt",
        "eyJ",
        rf"{_W}{{10,1024}}\.(?:eyJ{_W}{{8,256}}|{_W}{{0,512}}\.{_W}{{8,256}})",
        r"[A-Za-z0-9_.-]",
    ),
    _shape(
        "url_password",
        "://",
        r"[^\s/:@\"'`<>\\]{0,128}:(?P<s>[^\s/\"'`<>\\]{1,256})@(?=[A-Za-z0-9\[$%{<_-])",
    ),
    _shape("url_token", "://", rf"(?P<s>{_W}{{20,256}})(?::x-oauth-basic)?@(?=[A-Za-z0-9])", check="random"),
    _shape("sentry_dsn", "://", rf"(?P<s>{_H}{{32}}(?::{_H}{{32}})?)@[a-z0-9.-]{{4,128}}/\d"),
    _shape("curl_user", "-u --user", r"[ =]['\"]?[^\s:'\"$]{1,64}:(?P<s>[^\s'\"]{4,128})", check="curl"),
    _shape(
        "netrc_password",
        "machine",
        r"[ \t]{1,8}\S{1,128}[ \t]{1,8}login[ \t]{1,8}\S{1,128}[ \t]{1,8}password[ \t]{1,8}(?P<s>\S{4,128})",
    ),
    _shape("sshpass_password", "sshpass", r"[ \t]{1,8}-p[ \t]?['\"]?(?P<s>[^\s'\"$]{4,128})"),
    _shape("discord_token", "MT Mj Mz ND NT Nj Nz OD OT", rf"{_W}{{21,26}}\.{_W}{{6}}\.{_W}{{27,40}}(?!{_W})"),
)

RULES: tuple[Rule, ...] = (
    *CODE_HOSTS,
    *CLOUDS,
    *CHAT_AND_MAIL,
    *PAYMENT_AND_SHOPS,
    *MODELS,
    *BUILD_AND_DEPLOY,
    *WORK_TOOLS,
    *CUT_SHORT,
    *GENERAL,
)
"""Every family; where several match at one place the earlier row names the kind."""

BY_NAME: tuple[tuple[str, str, str], ...] = (
    ("heroku", rf"{_H}{{8}}-(?:{_H}{{4}}-){{3}}{_H}{{12}}", "heroku_key"),
    ("datadog|dd_", rf"{_H}{{32}}|{_H}{{40}}", "datadog_key"),
    ("cloudflare|cf_|x-auth-key", r"[A-Za-z0-9_-]{37,40}", "cloudflare_token"),
    ("vercel", r"[A-Za-z0-9]{24}", "vercel_token"),
    ("twilio", rf"{_H}{{32}}", "twilio_key"),
    ("wandb", rf"{_H}{{40}}", "wandb_key"),
    ("aws", r"[A-Za-z0-9/+=]{40}", "aws_secret_key"),
    ("azure|accountkey|sharedaccesskey", r"[A-Za-z0-9+/]{42,88}={0,2}", "azure_key"),
    ("newrelic|new_relic", r"[A-Za-z0-9]{32,40}(?:NRAL)?", "newrelic_key"),
    ("algolia", rf"{_H}{{32}}", "algolia_key"),
    ("mistral|cohere|deepgram|assemblyai", r"[A-Za-z0-9]{32,40}", "model_key"),
    ("render|railway|circle|travis|buildkite|codecov|snyk|fastly|sonar", r"[A-Za-z0-9_-]{20,64}", "ci_token"),
    ("trello|asana|clickup|jira|zendesk|airtable|hubspot|intercom", r"[A-Za-z0-9_.:/-]{20,80}", "work_tool_token"),
)
"""Tokens without a prefix of their own: part of the name they are assigned to, their shape, and their kind."""
