"""Made-up keys of every known shape, put together at run time: nothing in here was ever a key."""

from __future__ import annotations

import random
import string

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
WORD = ALNUM + "-_"
HEX = "0123456789abcdef"


def body(alphabet: str, length: int) -> str:
    """The random part of a key, the same on every run."""
    rng = random.Random(f"{alphabet} {length}")
    # A digit at its head and a letter at its end: real ones have both somewhere.
    return "7" + "".join(rng.choices(alphabet, k=length - 2)) + "C"


def hexed(length: int) -> str:
    return "".join(random.Random(length).choices(HEX, k=length))


# (head that stays, the rest). Put together at run time, so that no scanner takes them for real.
KEYS = [
    ("sk-ant-", "api03-" + body(WORD, 90) + "AA"),
    ("sk-ant-", "oat01-" + body(WORD, 80)),
    ("sk-proj-", body(WORD, 120)),
    ("sk-svcacct-", body(WORD, 60)),
    ("sk-", body(ALNUM, 48)),
    ("sk-or-", "v1-" + hexed(64)),
    ("AKIA", "".join(random.Random(1).choices(UPPER, k=16))),
    ("ASIA", "".join(random.Random(2).choices(UPPER, k=16))),
    ("ghp_", body(ALNUM, 36)),
    ("gho_", body(ALNUM, 36)),
    ("ghu_", body(ALNUM, 36)),
    ("ghs_", body(ALNUM, 36)),
    ("ghr_", body(ALNUM, 76)),
    ("github_pat_", body(ALNUM, 22) + "_" + body(ALNUM, 59)),
    ("glpat-", body(WORD, 20)),
    ("xoxb-", "123456789012-1234567890123-" + body(ALNUM, 24)),
    ("xoxp-", "123456789012-1234567890123-" + hexed(32)),
    ("xapp-", "1-A0123456789-1234567890123-" + hexed(64)),
    ("AIza", "Sy" + body(WORD, 33)),
    ("GOCSPX-", body(WORD, 28)),
    ("ya29.", body(WORD, 100)),
    ("sk_live_", body(ALNUM, 24)),
    ("rk_live_", body(ALNUM, 24)),
    ("sk_test_", body(ALNUM, 24)),
    ("whsec_", body(ALNUM, 32)),
    ("npm_", body(ALNUM, 36)),
    ("pypi-AgE", "IcHlwaS5vcmc" + body(WORD, 140)),
    ("hf_", body(string.ascii_letters, 34)),
    ("SK", hexed(32)),
    ("SG.", body(WORD, 22) + "." + body(WORD, 43)),
    ("eyJ", "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkw" + "In0." + body(WORD, 43)),
    ("dop_v1_", hexed(64)),
    ("dapi", hexed(32)),
    ("key-", hexed(32)),
    (":AA", body(WORD, 33)),
    ("gsk_", body(ALNUM, 52)),
    ("xai-", body(ALNUM, 80)),
    ("r8_", body(ALNUM, 37)),
    ("pplx-", body(ALNUM, 48)),
    ("fw_", body(ALNUM, 24)),
    ("cfut_", body(ALNUM, 48)),
    ("v1.0-", hexed(24) + "-" + hexed(146)),
    ("lin_api_", body(ALNUM, 40)),
    ("secret_", body(ALNUM, 43)),
    ("ntn_", "12345678901" + body(ALNUM, 35)),
    ("PMAK-", hexed(24) + "-" + hexed(34)),
    ("shpat_", hexed(32)),
    ("dp.pt.", body(ALNUM, 43)),
    ("hvs.", body(WORD, 90)),
    ("glsa_", body(ALNUM, 32) + "_" + hexed(8)),
    ("glc_eyJ", body(ALNUM + "+/", 80) + "="),
    ("NRAK-", body(UPPER, 27)),
    ("sntryu_", hexed(64)),
    ("lsv2_pt_", hexed(32) + "_" + hexed(10)),
    ("tvly-", body(ALNUM, 32)),
    ("figd_", body(WORD, 40)),
    ("dckr_pat_", body(WORD, 27)),
    ("ATATT3x", "FfGF0" + body(WORD, 180) + "=" + hexed(8).upper()),
    ("AGE-SECRET-KEY-1", body(UPPER, 58)),
    (".atlasv1.", body(WORD, 67)),
    ("ABSKQmVkcm9ja0", body(ALNUM + "+/", 100) + "=="),
    ("rubygems_", hexed(48)),
    ("api_org_", body(ALNUM, 34)),
    ("csk-", body(ALNUM, 48)),
    ("e2b_", hexed(40)),
    ("pul-", hexed(40)),
    ("sbp_", hexed(40)),
    ("pscale_tkn_", body(WORD, 43)),
    ("HRKU-", body(WORD, 60)),
    ("sk_", hexed(48)),
]
# A Telegram key and a Terraform one have something public before their head.
BEFORE = {":AA": "1234567890", ".atlasv1.": "aB3dE6gH9jK2mN"}
