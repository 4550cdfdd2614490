"""Known keys leave no trace but their head, and what only looks random is left alone."""

from __future__ import annotations

import base64
import json
import random
import uuid
from typing import Any

import pytest
from keys import ALNUM, BEFORE, KEYS, UPPER, WORD, body, hexed

from sessionlog.secrets import MASKED, mask, mask_value


@pytest.mark.parametrize(("head", "rest"), KEYS)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "export X='{}'",
        "a line\\n{}\\nanother",  # JSON in JSON: the escape ends in a letter
        "\\u003d{}\\u0026x",
        "\x1b[32m{}\x1b[0m",
        "\\u001b[1;32m{}",
        '{{"content": "the key is {}."}}',
        "https://example.com/?a={}&b=2",
        "ключ: {}, больше нет",
        "     3→{}",
    ],
)
def test_a_key_keeps_its_head_and_nothing_else(head: str, rest: str, around: str) -> None:
    text = around.format(BEFORE.get(head, "") + head + rest)
    masked = mask(text)
    assert head + MASKED in masked
    assert not any(rest[at : at + 6] in masked for at in range(len(rest) - 5))
    assert masked == mask(masked)
    # All around the key is as it was.
    left, _, right = around.format("\0").partition("\0")
    assert masked.startswith(left)
    assert masked.endswith(right)


def test_many_keys_in_one_text_are_all_masked() -> None:
    text = "\n".join(f"{n}: {BEFORE.get(h, '')}{h}{r} ok" for n, (h, r) in enumerate(KEYS))
    lines = mask(text).split("\n")
    assert len(lines) == len(KEYS)
    for line, (head, _) in zip(lines, KEYS, strict=True):
        assert line.endswith(f"{head}{MASKED} ok")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer " + body(ALNUM, 24), "Authorization: Bearer …masked"),
        ("authorization: basic " + "dXNlcjpwYXNz", "authorization: basic …masked"),
        ("Authorization: token " + hexed(40), "Authorization: token …masked"),
        ('\\"Authorization\\": \\"Bearer ' + body(ALNUM, 24) + '\\"',
         '\\"Authorization\\": \\"Bearer …masked\\"'),
        ("Authorization: " + body(ALNUM, 32), "Authorization: …masked"),
        ('curl -H "x-api-key: ' + hexed(32) + '" https://x', 'curl -H "x-api-key: …masked" https://x'),
        ("sent a Bearer " + body(ALNUM, 24) + ".", "sent a Bearer …masked."),
        ("JWT_SECRET: " + body(ALNUM, 24), "JWT_SECRET: …masked"),
        ("endpoint " + body(ALNUM, 52) + "JQQJ99" + body(ALNUM, 26),
         "endpoint " + body(ALNUM, 52) + "JQQJ99…masked"),
        ("API_KEY=" + "AGE-SECRET-KEY-1" + body(UPPER, 58), "API_KEY=AGE-SECRET-KEY-1…masked"),
        ("X-Api-Key: " + body(ALNUM, 32), "X-Api-Key: …masked"),
        ("ACME_API_KEY=" + body(ALNUM, 20), "ACME_API_KEY=…masked"),
        ("apiKey: '" + body(ALNUM, 20) + "',", "apiKey: '…masked',"),
        ("AWS_SECRET_ACCESS_KEY=" + body(ALNUM + "/+", 40), "AWS_SECRET_ACCESS_KEY=…masked"),
        ("aws_secret_access_key = " + body(ALNUM + "/+", 40), "aws_secret_access_key = …masked"),
        ('"SecretAccessKey": "' + body(ALNUM + "/+", 40) + '"', '"SecretAccessKey": "…masked"'),
        ("AccountName=a;AccountKey=" + body(ALNUM + "/+", 86) + "==;E=1",
         "AccountName=a;AccountKey=…masked;E=1"),
        ("?sv=2024&sig=" + body(ALNUM, 43) + "%3D&se=1", "?sv=2024&sig=…masked&se=1"),
        ("abc8Q~" + body(ALNUM, 33), "abc8Q~…masked"),
        ("CLOUDFLARE_TOKEN=" + body(WORD, 40), "CLOUDFLARE_TOKEN=…masked"),
        ('{"access_token":"' + body(ALNUM, 40) + '"}', '{"access_token":"…masked"}'),
        ("client_secret=" + body(WORD, 32) + "&grant", "client_secret=…masked&grant"),
        ("DB_PASSWORD=hunter2!", "DB_PASSWORD=…masked"),
        ('"password": "correct horse 1"', '"password": "correct horse 1"'),
        ('"password": "hunter2"', '"password": "…masked"'),
        ('\\"password\\":\\"pa$$w0rd\\"', '\\"password\\":\\"…masked\\"'),
        ("postgres://app:" + "s3cr3t@db:5432/x", "postgres://app:…masked@db:5432/x"),
        ("redis://:" + "s3cr3t@cache", "redis://:…masked@cache"),
        ("https://u:" + "p@ss@host/x", "https://u:…masked@host/x"),
        ("https://hooks.slack.com/services/" + "T00000000/B00000000/" + body(ALNUM, 24),
         "https://hooks.slack.com/services/…masked"),
        ("https://discord.com/api/webhooks/123456789012345678/" + body(WORD, 68),
         "https://discord.com/api/webhooks/123456789012345678/…masked"),
        ("MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".GabcdE." + body(WORD, 38),
         "MTIzNDU2Nzg5MDEyMzQ1Njc4.…masked"),
        ("MTIzNDU2Nzg5MDEyMzQ1Njc" + ".GabcdE." + body(WORD, 27),
         "MTIzNDU2Nzg5MDEyMzQ1Njc.…masked"),
        ("ODg5NDU2Nzg5MDEyMzQ1Njc4OQ" + ".GabcdE." + body(WORD, 38),
         "ODg5NDU2Nzg5MDEyMzQ1Njc4OQ.…masked"),
    ],
)  # fmt: skip
def test_a_name_or_a_place_gives_a_secret_away(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


SET = ("AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PGPASS", "GPG_PASSPHRASE", "GITHUB_TOKEN", "TOKEN",
       "CLIENT_SECRET", "APP_SECRET_V2", "OPENAI_API_KEY", "APIKEY", "ENCRYPTION_KEY",
       "SECRET_KEY_BASE", "NPM_AUTH_TOKEN")  # fmt: skip
VALUES = ("hunterxx", "correcthorsebattery", "Tr0ub4dor&3"[:8], "a/b+c=d~", "UPPERCASE",
          "SECRET" * 3 + "/abcdefghijk/lmnopqrstuvw", "p@ss#w0rd!", "/begins-so",
          "a&b;c(d)e,f", "%25percent", "-dashed-x", "~tilde+x")  # fmt: skip


@pytest.mark.parametrize("name", SET)
@pytest.mark.parametrize("value", VALUES)
def test_what_an_environment_calls_secret_is_masked_whatever_it_looks_like(
    name: str, value: str
) -> None:
    for line in ("{}", "export {}", "docker run -e {} img", "a\\n{}\\nb", '{{"cmd": "{} make"}}'):
        for quote in ("", "'", '\\"') if "\\n" not in line else ("",):
            masked = mask(line.format(f"{name}={quote}{value}{quote}"))
            assert masked == line.format(f"{name}={quote}{MASKED}{quote}")
            assert mask(masked) == masked


def test_a_secret_of_any_length_is_masked_where_its_name_tells() -> None:
    for size in range(8, 200):
        assert mask("AWS_SECRET=" + body(UPPER, size)) == f"AWS_SECRET={MASKED}"
        assert mask("STRIPE_KEY=" + "a1" * size) == f"STRIPE_KEY={MASKED}"


def pem(kind: str, lines: int = 4) -> str:
    inner = "\n".join(body(ALNUM + "+/", 64) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{inner}\n{body(ALNUM, 20)}==\n-----END {kind}-----"


@pytest.mark.parametrize(
    "kind",
    ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"],
)
def test_a_private_key_keeps_its_first_line_only(kind: str) -> None:
    whole = pem(kind)
    head = f"-----BEGIN {kind}-----"
    assert mask(f"$ cat key\n{whole}\n$ ") == f"$ cat key\n{head}{MASKED}\n$ "
    # As one JSON string, as an agent reads it with numbers, as a service account holds it.
    assert mask(json.dumps(whole)) == f'"{head}{MASKED}"'
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(whole.split("\n")))
    assert mask(numbered) == f"     0→{head}{MASKED}"
    assert body(ALNUM, 20) not in mask(json.dumps(json.dumps({"private_key": whole + "\n"})))


def test_a_private_key_that_is_cut_off_is_masked_to_its_end() -> None:
    whole = pem("PRIVATE KEY")
    head = "-----BEGIN PRIVATE KEY-----"
    for end in range(120, len(whole) - 30, 7):
        assert mask(whole[:end]).rstrip() == head + MASKED
        numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(whole[:end].split("\n")))
        tabbed = numbered.replace("→", "\t")
        for text in (numbered, tabbed, *map(json.dumps, (whole[:end], numbered, tabbed))):
            shown = mask(text)
            assert head + MASKED in shown
            assert body(ALNUM + "+/", 64)[:8] not in shown, text
    assert mask(whole[:-5]).endswith(f"{MASKED}\n-----END PRIVATE KEY")
    assert mask(whole[:200] + "\n... 12 more lines") == f"{head}{MASKED}\n... 12 more lines"


def test_a_public_key_and_a_mere_mention_stay() -> None:
    for text in (
        pem("PUBLIC KEY"),
        pem("CERTIFICATE"),
        "looks for -----BEGIN PRIVATE KEY----- in the file, and then -----BEGIN CERTIFICATE-----",
    ):
        assert mask(text) == text


def random_text(seed: int) -> str:
    """Code and logs as an agent meets them, full of what looks random and is no secret."""
    rng = random.Random(seed)
    lines = []
    for _ in range(300):
        raw = rng.randbytes(rng.choice([16, 20, 32, 64, 200]))
        standard, safe = base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()
        lines += [
            f"commit {raw.hex()[:40]}",
            f"index {raw.hex()[:7]}..{raw.hex()[8:15]} 100644",
            f"id={uuid.UUID(bytes=raw[:16])} etag={raw.hex()[:32]}",
            f'{{"signature": "{standard}", "encrypted_content": "gAAAAA{safe}"}}',
            f"sha256:{raw.hex()} sha512-{standard} h1:{standard}",
            f"data:image/png;base64,{standard}",
            f"toolu_{safe[:22]} call_{raw.hex()[:24]} msg_{safe[:20]} req_{safe[:20]}",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(6))
def test_hashes_ids_and_signatures_are_no_secrets(seed: int) -> None:
    text = random_text(seed)
    assert mask(text) == text


@pytest.mark.parametrize("seed", range(3))
def test_long_base64_is_no_secret(seed: int) -> None:
    raw = random.Random(seed).randbytes(150_000)
    for text in (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), raw.hex()):
        assert mask(text) == text


INNOCENT = r"""
max_tokens=200000 total_tokens: 123456789012345678 "input_tokens": 12 tokenizer = AutoTokenizer2
api_key = os.environ["OPENAI_API_KEY2"]  # api_key=settings.providers.openai2.api_key
client = Anthropic(api_key=get_secret("anthropic-2024-key")); token = next(tokens2)
password = getpass.getpass("Password: "); password: str = Field(min_length=12)
{"password": {"type": "string", "minLength": 12}, "token": "string", "secret": "required"}
curl -H "Authorization: Bearer $TOKEN" -H "x-api-key: ${API_KEY_2024_PRODUCTION}" <your-api-key>
Authorization: Bearer <token>   Authorization: required   "authorization": "optional"
Authorization: AWS4-HMAC-SHA256 Credential=x, Bearer authentication_is_supported_here
PASSWORD=$DB_PASSWORD_2 PASSWORD=${X1} API_KEY=/run/secrets/api_key_2024_prod TOKEN=%TOKEN_2%
docker://python:3.11@sha256:abc https://example.com:8443/@scope/pkg git@github.com:x/y.git
ssh://git@host:22/x http://[::1]:8080/ https://user@host/ time 12:34:56@x mailto://a@b
sk-learn sk-estimator-container-id-1 task-abcdefghijklmnopqrstuvwx1 disk-0123456789abcdef01234567
key-value monkey-d41d8cd98f00b204e9800998ecf8427e cache-key-d41d8cd98f00b204e9800998ecf8427e
key-da39a3ee5e6b4b0d3255bfef95601890afd80709 SKda39a3ee5e6b4b0d3255bfef95601890afd80709
sk-loadingindicatorwrapper fw_configurationmanagerfactory secret_managerconfigurationprovider
hf_transfer hf_hub_download_with_a_long_function_name fw_version r8_unorm xai-org pplx-online
secret_key_base secret_manager_service_account_name npm_config_registry npm_lifecycle_event
TASK0123456789abcdef0123456789abcdef SKIP_0123456789 eyJ eyJhbGciOiJub25lIn0 file.eyJson.name.x
AKIAB ghp_ short ghp_tooshort glpat- xoxb- AIzaSy SG.x.y dapi dapi_client Q~ :AA 00:AA:BB:CC:DD:EE
NotificationsConfiguration.create.some_very_long_identifier_name_here_v2 self.assertEqual.xyz
sessionlog.formats.native.NativeFormat.decode_one_line_of_text go.uber.org/zap@v1.27.0
internal/billing/replay_test.go:88: got 2 charges, want 1 --- FAIL: TestReplayIdempotent (2.31s)
MAX_TOKENS=2000000000 TOKENIZERS_PARALLELISM=disabled EOS_TOKEN=endoftext TOKEN_COUNT=12345678
TOKEN=$(gh auth token) TOKEN="$GITHUB_TOKEN" TOKEN=${{ secrets.GITHUB_TOKEN }} TOKEN=`cat file`
SECRET_KEY=os.environ["SECRET_KEY"] SECRET_KEY=config.secret_key API_KEY=get_api_key() PASS=x1
API_KEY=your-api-key-here API_KEY=xxxxxxxxxxxx API_KEY=<key> PASSWORD={password} PASSWORD=... TOKEN=
SECRET_NAME=prod/database/main SECRET_ARN=arn:aws:secretsmanager:us-east-1 SECRET_FILE=creds.json
PRIMARY_KEY=customer_id SORT_KEY=created_at_2 CACHE_KEY=linux-x64-0123456789 FOREIGN_KEY=orders.id
STORAGE_KEY=theme-preference PUBLIC_KEY=MIIBIjANBgkqhkiG9w0 KEY_LENGTH=20482048 MONKEY=business
if TOKEN==expected_token: API_KEY_HEADER=X-Api-Key-Name TOKEN=>arrow_function PASS=12 tests
case INVALID_TOKEN: return "invalid_token"; ACCESS_TOKEN = "access_token"; PASSWORD = "password"
2026-11-28T03:24:52.123456Z claude-sonnet-4-20250514 gpt-5.1-codex-max o200k_base
"""


@pytest.mark.parametrize("line", INNOCENT.strip().split("\n"))
def test_ordinary_code_and_logs_stay_as_they_are(line: str) -> None:
    assert mask(line) == line
    assert mask(json.dumps(line)) == json.dumps(line)


@pytest.mark.parametrize("seed", range(4))
def test_masking_twice_changes_nothing_more(seed: int) -> None:
    rng = random.Random(seed)
    parts = (
        [h + r for h, r in KEYS] + INNOCENT.split() + [pem("PRIVATE KEY", 1), MASKED, "…", "\\n"]
    )
    names = ["password=", '"token":"', "API_KEY=", "Authorization: Bearer ", "://u:", "@", " ", "'"]
    for _ in range(300):
        text = "".join(rng.choices(parts + names * 6, k=rng.randrange(1, 12)))
        assert mask(mask(text)) == mask(text), text


def test_text_that_is_no_valid_unicode_is_masked_too() -> None:
    assert (
        mask("\ud800 " + "gh" + "p_" + body(ALNUM, 36) + " \udfff") == f"\ud800 ghp_{MASKED} \udfff"
    )


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "API-KEY", "x-api-key", "Authorization", "password", "secret", "token",
     "client_secret", "access_token", "refreshToken", "GITHUB_TOKEN", "ACME_SECRET", "Set-Cookie"],
)  # fmt: skip
def test_a_value_under_a_secret_name_is_masked_whole(name: str) -> None:
    assert mask_value({name: "plain words"}) == {name: MASKED}
    assert mask_value([{"env": {name: ["a", "b"]}}]) == [{"env": {name: [MASKED, MASKED]}}]


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 4096, "total_tokens": "12", "tokens": "one two", "token_count": "3"},
        {"password": "", "token": None, "secret": True, "api_key": 0},
        {"password": {"type": "string"}, "secret": [], "token_type": "bearer", "secrets": "see x"},
        {"tokens": [{"token": "Hello", "logprob": -0.1}, {"token": " world", "logprob": -2}]},
        {"keyboard": "a", "author": "b", "key": "c", "public_key": "d", "pwd": "/home/x"},
        {1: "a", None: "b"},
        [1, 2.5, None, False, "text"],
        "text",
        None,
    ],
)
def test_other_values_come_back_as_they_are(value: Any) -> None:
    assert mask_value(value) == value


def test_a_secret_value_keeps_a_head_that_is_known() -> None:
    key = "sk-" + "ant-" + body(WORD, 40)
    assert mask_value({"api_key": key}) == {"api_key": f"sk-ant-{MASKED}"}
    assert mask_value({"authorization": f"Bearer {key}"}) == {
        "authorization": f"Bearer sk-ant-{MASKED}"
    }
    # Words around a known key are secret here as well.
    assert mask_value({"secret": "hunter2 " * 9 + key}) == {"secret": MASKED}


def test_keys_are_found_in_every_text_of_a_value_and_the_value_is_not_changed() -> None:
    key = "gh" + "p_" + body(ALNUM, 36)
    value = {"a": [f"x {key}", {"b": (key, 1)}], key: "named by a key"}
    before = repr(value)
    assert mask_value(value) == {
        "a": [f"x ghp_{MASKED}", {"b": [f"ghp_{MASKED}", 1]}],
        f"ghp_{MASKED}": "named by a key",
    }
    assert repr(value) == before
    assert mask_value(mask_value(value)) == mask_value(value)


def test_a_value_nested_without_end_is_cut_off_not_shown() -> None:
    value: Any = "gh" + "p_" + body(ALNUM, 36)
    for _ in range(5000):
        value = [value]
    shown, depth = mask_value(value), 0
    while isinstance(shown, list):
        shown, depth = shown[0], depth + 1
    assert (shown, depth) == (MASKED, 100)
