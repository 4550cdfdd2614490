"""Keys and tokens, masked before anything leaves the program.

Tool output is full of credentials: an `env`, a `cat .env`, a curl line. What is copied, exported or
handed over goes through here. It is a table of known shapes, not a guess from randomness: hashes,
ids and signatures look random too, and a mask that hides those is one that people switch off.
A mask keeps the head that says whose key it was and never any of its last characters. Masking
twice changes nothing. The reader of a raw JSON line and of the text in it are served alike.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

MASKED = "…masked"

_A, _W, _X = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-f]"
_END = f"(?!{_A})"
_HAS_DIGIT = "(?=[A-Za-z]*[0-9])"

# Heads that nothing else starts with, and what follows them. No boundary is asked for on the left:
# in a log the character before may be the end of an escape ("\n", "\u003d", a colour).
_HEADS = (
    ("sk-ant-", f"{_W}{{16,}}"),  # Anthropic
    ("sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf-", f"{_W}{{20,}}"),  # OpenAI, OpenRouter, ...
    ("AKIA ASIA ABIA ACCA", f"[A-Z0-9]{{16}}{_END}"),  # AWS access key ids
    ("ABSKQmVkcm9ja0", r"[A-Za-z0-9+/=]{40,}"),  # AWS Bedrock
    ("ghp_ gho_ ghu_ ghs_ ghr_", f"{_A}{{36,}}"),  # GitHub
    ("github_pat_", r"[A-Za-z0-9_]{36,}"),
    ("glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt-", r"[A-Za-z0-9_.-]{20,}(?<!\.)"),
    ("xoxa- xoxb- xoxe- xoxe. xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9.-]{16,}(?<!\.)"),  # Slack
    ("AIza", f"{_W}{{35}}(?!{_W})"),  # Google
    ("GOCSPX-", f"{_W}{{20,}}"),
    ("ya29.", r"[A-Za-z0-9_.-]{20,}(?<!\.)"),
    ("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", f"{_A}{{16,}}"),  # Stripe
    ("npm_", f"{_A}{{36}}{_END}"),
    ("pypi-AgE", f"{_W}{{16,}}"),
    ("rubygems_", f"{_X}{{40,}}"),
    ("api_org_", f"{_A}{{30,}}"),  # Hugging Face; hf_ is below
    ("gsk_ xai- pplx-", f"{_A}{{40,}}"),  # Groq, xAI, Perplexity
    ("csk-", f"{_A}{{40,}}"),  # Cerebras
    ("nvapi- tvly- jina_ tgp_v1_", f"{_W}{{24,}}"),  # NVIDIA, Tavily, Jina, Together
    ("e2b_", f"{_X}{{40}}"),
    ("lsv2_pt_ lsv2_sk_", f"{_X}{{32}}_{_X}{{10}}"),  # LangSmith
    ("cfk_ cfut_ cfat_", f"{_A}{{40,}}"),  # Cloudflare
    ("v1.0-", f"{_X}{{24}}-{_X}{{100,}}"),  # Cloudflare origin CA
    ("lin_api_ lin_oauth_", f"{_A}{{32,}}"),  # Linear
    ("ntn_", r"[0-9]{11}" + f"{_A}{{35}}"),  # Notion
    ("secret_", f"{_HAS_DIGIT}{_A}{{43}}{_END}"),  # Notion, before 2024
    ("PMAK-", f"{_X}{{24}}-{_X}{{34}}"),  # Postman
    ("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),  # Shopify
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{40,}(?<!\.)"),  # Doppler
    ("hvs. hvb. hvr.", f"{_W}{{24,}}"),  # Vault
    ("dop_v1_ doo_v1_ dor_v1_", f"{_X}{{64}}"),  # DigitalOcean
    ("dapi", f"{_X}{{32}}{_END}(?:-[0-9])?"),  # Databricks
    ("glsa_", f"{_A}{{32}}_[0-9a-fA-F]{{8}}"),  # Grafana
    ("glc_eyJ sntrys_eyJ ops_eyJ", r"[A-Za-z0-9+/_=-]{32,}"),  # Grafana, Sentry, 1Password
    ("sntryu_", f"{_X}{{64}}"),
    ("NRAK-", r"[A-Z0-9]{27}"),  # New Relic
    ("pul- sbp_", f"{_X}{{40}}"),  # Pulumi, Supabase
    ("sb_secret_ figd_ dckr_pat_ nfp_ fm2_", f"{_W}{{22,}}"),  # Supabase, Figma, Docker, ...
    ("pscale_tkn_ pscale_pw_", r"[A-Za-z0-9_.-]{32,}(?<!\.)"),  # PlanetScale
    ("ATATT3x", r"[A-Za-z0-9_=-]{40,}"),  # Atlassian
    ("HRKU-", f"{_W}{{36,}}"),  # Heroku
    ("AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
)  # fmt: skip

# Heads short enough to end an ordinary word: these have to start one.
_SHORT = (
    ("sk-", f"{_HAS_DIGIT}{_A}{{20,}}"),  # OpenAI before 2024, and many who copied it
    ("SK", f"{_X}{{32}}{_END}"),  # Twilio
    ("key-", f"{_X}{{32}}{_END}"),  # Mailgun
    ("hf_", f"{_A}{{30,}}"),  # Hugging Face
    ("r8_", f"{_A}{{37}}{_END}"),  # Replicate
    ("fw_", f"{_HAS_DIGIT}{_A}{{20,}}"),  # Fireworks
    ("sk_", f"{_X}{{48}}{_END}"),  # ElevenLabs
    ("eyJ", rf"{_W}{{10,}}\.\.?{_W}{{10,}}(?:\.{_W}+){{0,3}}"),  # JWT, signed or encrypted
)  # fmt: skip

# Tokens that are known by something inside them.
_INNER = (
    (":AA", rf"(:AA)(?<=[0-9]:AA){_W}{{33}}(?!{_W})"),  # Telegram
    ("JQQJ99", rf"(JQQJ99)(?<={_A}{{52}}JQQJ99){_A}{{26}}{_END}"),
    ("SG.", rf"(SG\.){_W}{{20,}}\.{_W}{{20,}}"),  # SendGrid
    (".atlasv1.", rf"(\.atlasv1\.){_W}{{40,}}"),  # Terraform
)


def _discord() -> str:
    """A bot's token starts with its id, 17 to 19 digits in base64: nothing else looks like that."""
    first, second, third, last = "[MNO]", "[DTjz]", "[AEIMQUYcgk]", "[w-z0-5]"
    whole = first + second + third + last
    ids = (whole * 5 + first + second + third, whole * 6, whole * 6 + first + "[AQgw]")
    behind = "|".join(rf"(?<={digits}\.)" for digits in ids)
    return rf"(\.)(?:{behind}){_W}{{6}}\.{_W}{{27,}}"


# What a name or a place gives away, though the value may look like anything.
_QUOTE = r"""(?:\\*["'])?"""  # a log line holds JSON in JSON
_SAYS = rf"{_QUOTE}[ \t]{{0,8}}(?:=>|[=:])[ \t]{{0,8}}{_QUOTE}"
_WORDS = r"[A-Za-z0-9_+/~-]++(?:\.+[A-Za-z0-9_+/~-]++)*+={0,2}"  # a full stop behind it stays
# 16 or more with a digit; no path, no variable, no attribute or call of a program.
_VALUE = (
    r"(?![$<{%*/.]|[A-Za-z_]\w*\.[A-Za-z_])(?=[A-Za-z_+/~.-]*[0-9])(?=[A-Za-z0-9_+/~.-]{16})"
    rf"{_WORDS}(?![(\[{{…])"
)
_SCHEME = r"(?i:basic|bearer|token)[ \t]+"
_CREDENTIALS = rf"(?=[a-z]*[A-Z0-9])(?=[A-Za-z0-9_+/~.-]{{8}}){_WORDS}(?!…)"
# People choose shorter ones. In quotes anything that is no plain word; bare, one with a digit.
_PASSWORD = (
    r"""(?:(?<=["'])(?![$<{%*])(?=[A-Za-z]*[^A-Za-z\s"'\\])[^\s"'\\…]{4,}(?=\\*["'])"""
    r"""|(?<!["'])(?![$<{%*])(?=[A-Za-z_-]{0,64}[0-9])[\w!@#^*+=~-]{6,256}+(?![(\[{.…]))"""
)
_KEY = "|".join(
    f"(?<=(?i:{name}){sign}...)"  # the dots are "key" itself
    for name in ("api", "auth", "secret|access", "account")
    for sign in ("", "[_-]")
)
# NAME=value without blanks is how an environment is set: 8 characters or more of anything, as the
# name says what they are. No variable, path, call or attribute of a program, and no stand-in.
_SET = (
    r"""=(?:\\*["'])?)(?![$<>={`(\[]|/[\w.-]+/|~/|\.+/|\.{3}|\*{3}|-----|%\w+%"""
    r"""|(?i:your[_-])|[xX]{3}|[\w.]+[(\[{])"""
    r"""(?![A-Za-z_]\w*\.[A-Za-z_][\w.]*(?![^\s,;)\]}"'\\]))"""
)
_ENDS = r"""\s"'`\\…"""
_SIGNS = r"&|;<>(){}\[\],"  # inside of a value, but not its end
_GIVEN = rf"(?:[^{_ENDS}{_SIGNS}]|[{_SIGNS}](?=[^{_ENDS}])){{8,}}+(?!…)"
_NO_SECRETS = "NAME|ID|ARN|PATH|FILE|DIR|URL|URI|REGION|VERSION|COUNT|LENGTH|TYPE|MANAGER"
_SECRET_SET = rf"SECRETS?(?:_(?!(?:{_NO_SECRETS})[=_])[A-Z0-9]+)*"
_TOKEN_SET = r"TOKEN(?<!EOS_TOKEN)(?<!BOS_TOKEN)(?<!PAD_TOKEN)(?<!UNK_TOKEN)(?<!MASK_TOKEN)"
_STRONG_KEYS = ("API", "ACCESS", "SECRET", "PRIVATE", "AUTH", "ACCOUNT", "SERVICE", "ENCRYPTION",
                "SIGNING", "MASTER")  # fmt: skip
_KEY_SET = f"KEY(?:{'|'.join(f'(?<={name}_KEY)|(?<={name}KEY)' for name in _STRONG_KEYS)})"
# Keys of tables and caches are no secrets: of any other name a plain word stays.
_OTHER_KEY_SET = (
    rf"_KEY(?<!PUBLIC_KEY)(?<!CACHE_KEY)(?<!SORT_KEY)(?<!PRIMARY_KEY)(?<!FOREIGN_KEY)"
    rf"(?<!PARTITION_KEY){_SET}(?=[A-Za-z_.:-]*+[0-9+/=@!#^~]|[a-z_.-]+[A-Z][A-Z]|[A-Z]+[a-z]+[A-Z])"
)
# Between its lines: breaks, as an escape too, and what a listing or a diff puts before each.
_BREAK = r"(?:\s|\\+[nrt]|[0-9]{1,6}(?:[→|:\t]|\\+(?:t|u2192))|[>|]|-(?!-))*+"
_PEM = (
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
    r"(?:(?:[^-]|-(?!----))++-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    # Cut before its end: whole lines of base64, and the rest of the last.
    rf"|(?:{_BREAK}[A-Za-z0-9+/=]{{16,}})++(?:{_BREAK}[A-Za-z0-9+/=]+)?)"
)
_URL = r"""(://[^\s/?#@:"'<>\\…]{0,128}:)(?![$<{])[^\s/?#"'<>\\…]{1,256}(?=@(?!sha256:))"""
_CONTEXTS = (
    ("PRIVATE KEY", _PEM),
    ("://", _URL),
    ("hooks.slack.com/", r"(hooks\.slack\.com/[a-z]+/)[A-Za-z0-9/_-]{20,}"),
    ("/webhooks/", rf"(/webhooks/[0-9]{{15,}}/){_W}{{60,}}"),  # Discord
    ("Q~", r"(Q~)(?<=[0-9]Q~)[A-Za-z0-9_~.-]{31,34}"),  # Azure
    ("sig=", r"(sig=)[A-Za-z0-9%+/]{40,}={0,2}"),  # Azure shared access
    ("uthorization", rf"(uthorization{_SAYS}{_SCHEME}){_CREDENTIALS}"),
    ("uthorization", rf"(uthorization{_SAYS})(?!AWS4-){_VALUE}"),
    ("earer", rf"(earer[ \t]+){_VALUE}"),
    ("key", rf"(key(?:{_KEY}){_SAYS}){_VALUE}"),
    ("Key", rf"(Key(?:{_KEY}){_SAYS}){_VALUE}"),
    ("KEY", rf"(KEY(?:{_KEY}){_SAYS}){_VALUE}"),
    ("oken", rf"(oken{_SAYS}){_VALUE}"),
    ("TOKEN", rf"(TOKEN{_SAYS}){_VALUE}"),
    ("ecret", rf"(ecret{_SAYS}){_VALUE}"),
    ("SECRET", rf"(SECRET{_SAYS}){_VALUE}"),
    ("assword", rf"(assword{_SAYS}){_PASSWORD}"),
    ("PASSWORD", rf"(PASSWORD{_SAYS}){_PASSWORD}"),
    ("SECRET", rf"({_SECRET_SET}{_SET}{_GIVEN}"),
    ("TOKEN", rf"({_TOKEN_SET}{_SET}{_GIVEN}"),
    ("PASS", rf"(PASS(?:WORD|WD|PHRASE)?{_SET}{_GIVEN}"),
    ("KEY", rf"({_KEY_SET}{_SET}{_GIVEN}"),
    ("_KEY", rf"({_OTHER_KEY_SET}{_GIVEN}"),
)

_NAMES = frozenset((
    "apikey", "xapikey", "authorization", "proxyauthorization", "password", "passwd", "passphrase",
    "secret", "token", "clientsecret", "secretkey", "secretaccesskey", "privatekey", "accesstoken",
    "refreshtoken", "idtoken", "authtoken", "sessiontoken", "securitytoken", "bearertoken",
    "apitoken", "apisecret", "cookie", "setcookie",
))  # fmt: skip
"""Names of keys whose whole value is secret, without signs and in small letters."""
_ENVIRONMENT = ("_API_KEY", "_SECRET_KEY", "_ACCESS_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_DEPTH = 100


def mask(text: str) -> str:
    """`text` with every credential of a known shape cut down to its head. Linear in the text."""
    signed, plain = _long_words(text)
    for needle, in_plain, pattern in _shapes() if signed or plain else ():
        if needle in signed or (in_plain and needle in plain):
            text = _compiled(pattern).sub(_CUT, text)
    for name, pattern in _CONTEXTS:
        if name in text:
            text = _compiled(pattern).sub(_CUT, text)
    return text


_CUT = rf"\1{MASKED}"
_SHORTEST = 20
_BEFORE = 12
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_KINDS = bytes(ord("w") if code in _IN_WORDS else ord(" ") for code in range(256))


@cache
def _shapes() -> tuple[tuple[bytes, bool, str], ...]:
    """Every shape as (what it cannot lack, whether that has no sign in it, pattern).

    Group 1 of a pattern is the head that stays.
    """
    heads = [(head, body) for heads, body in _HEADS for head in heads.split()]
    long = [(head, f"({re.escape(head)}){body}") for head, body in heads]
    short = [(head, f"({re.escape(head)}){_starting(head)}{body}") for head, body in _SHORT]
    shapes = (*long, *short, *_INNER, (".", _discord()))
    return tuple((needle.encode(), needle.isalnum(), pattern) for needle, pattern in shapes)


def _starting(head: str) -> str:
    """`head` starts a word: behind something else than a letter, or behind an escape."""
    before = (rf"(?<!{_W}", r"(?<=\\[nrt]", rf"(?<=\\u00{_X}{{2}}")
    colours = (r"(?<=[\[;][0-9]m", r"(?<=[\[;][0-9]{2}m")
    return f"(?:{'|'.join(f'{look}{head})' for look in (*before, *colours))})"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _long_words(text: str) -> tuple[bytes, bytes]:
    """The words of `text` that are long enough to be a token: with a sign in them, and without.

    Looking for a hundred heads in those, a few percent of ordinary text, instead of in everything
    is what makes masking cheap. Without a sign is what base64 looks like: few heads can be in it.
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KINDS)
    signed: list[bytes] = []
    plain: list[bytes] = []
    long = b"w" * _SHORTEST
    start = kinds.find(long)
    while start >= 0:
        end = kinds.find(b" ", start)
        word = data[start : end if end >= 0 else None]
        if data[start - 1 : start] in (b".", b":"):  # the head may be on the other side
            signed.append(data[max(start - _BEFORE, 0) : start] + word)
        else:
            (plain if word.isalnum() else signed).append(word)
        start = kinds.find(long, end) if end >= 0 else -1
    return b"\n".join(signed), b"\n".join(plain)


def mask_value(value: Any) -> Any:
    """A JSON-like value, masked: every text in it, and whole what stands under a secret's name.

    Lists and dicts are copied, never changed. "max_tokens" is no secret's name, and neither is the
    "token" beside a "logprob". Deeper than 100 levels nothing is looked at, so nothing is shown.
    """
    return _masked(value, False, 0)


def _masked(value: Any, secret: bool, depth: int) -> Any:
    if isinstance(value, str):
        return _whole(value) if secret and value else mask(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if depth == _DEPTH:
        return MASKED
    if isinstance(value, dict):
        named = "logprob" not in value
        return {
            mask(key) if isinstance(key, str) else key: _masked(
                item, named and _is_secret(key), depth + 1
            )
            for key, item in value.items()
        }
    return [_masked(item, secret, depth + 1) for item in value]


def _is_secret(key: Any) -> bool:
    if not isinstance(key, str) or len(key) > 64:
        return False
    if key.isupper() and key.endswith(_ENVIRONMENT):
        return True
    return key.lower().replace("_", "").replace("-", "") in _NAMES


def _whole(value: str) -> str:
    """A value that is secret as a whole: nothing of it stays but a head that `mask` knows."""
    known = mask(value)
    return known if known.endswith(MASKED) and len(known) <= 48 else MASKED
