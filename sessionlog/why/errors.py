"""What kind of error of the run some words tell of: the provider, the network, a limit. Pure.

The words are those of the public error references of Anthropic, OpenAI, Google, Amazon Bedrock,
Azure, Mistral and OpenRouter, of the network errors of Node, Python, Go and Rust, and of the
clients (Claude Code 2.1, Codex 0.171, Gemini CLI 0.61, Qwen Code 0.24, OpenCode 1.18, pi 0.73).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

_LOOK = 4000
"""Characters of a text that are looked at."""
_CODE = "code"
_RULES: Sequence[tuple[str, str]] = (
    ("disk_full", r"""
        no space left on device
        \b(?:ENOSPC|EDQUOT)\b
        disk quota exceeded
        disk[ _]?(?:is )?full
        not enough space on the disk
    """),
    ("compaction", r"""
        (?:fail|error|unable|could ?n[o']t|cannot|abort)\w*\b.{0,80}?\b(?:compact|condens|compress)
        \b(?:compact|condens|compress)(?:ion|ing|ed)?\b.{0,60}?(?:fail|error|unable|abort|timed out)
        (?:fail|error|unable)\w*\b.{0,60}?summari[sz]\w* the con(?:versation|text)
    """),
    ("dangling_call", r"""
        tool_use`? (?:ids?|blocks?).{0,40}without
        unexpected `?tool_use_id
        tool_call_ids? did not have
        tool_calls?'? must be followed by
        no tool (?:call|output) found for
        tool (?:call|result|output) (?:is |was )?(?:not found|missing)
        expected toolResult|toolResult blocks
        function response parts|function call turn comes
        number of function calls and responses
        tool.?(?:call|use).{0,60}\b(?:no|without|missing|lacks?) .{0,30}(?:result|response|output)
    """),
    ("rate_limit", r"""
        (?:tokens?|requests?) per (?:min|day)
        \b[TR]P[MD]\b
        throttl
        too many (?:requests|tokens, please wait)
    """),
    ("context_full", r"""
        (?:prompt|input|context|request|conversation|messages?) (?:is|are|was)? ?too (?:long|large)
        context[ _-]?(?:length|window|limit|size|overflow)
        exit_context
        maximum (?:context|prompt|input)
        too many (?:input )?tokens
        token count.{0,40}exceeds
        request_too_large
        (?:reduce|shorten) the length of
        exceeds? the (?:model's )?(?:max\w* )?(?:context|input|token)
        input length and .max_tokens. exceed
        prompt (?:tokens|length).{0,30}exceed
    """),
    ("budget", r"""
        credit balance|billing|payment required
        insufficient (?:credits?|funds|balance)
        spend(?:ing)? (?:limit|cap)
        max(?:imum)?[ _-]?(?:session[ _-])?(?:budget|cost|(?:turn|iteration|step|round)s?)(?![a-z])
        max(?:imum)? (?:number|amount) of (?:turns?|iterations?|steps?|rounds?|calls?)
        budget (?:was |is |has been )?(?:exceed|exhaust|reach|used)
        (?:turn|iteration|call|step|round|time|cost|continuation) (?:limit|budget)
        limit of \d+ (?:turns?|iterations?|steps?|rounds?|calls?|seconds|minutes)
        stopped after \d+ (?:iterations?|turns?|calls?|steps?|rounds?|continuations?)
        exit_cost|exit_time|FatalTurnLimited|LimitsExceeded
    """),
    ("rate_limit", r"""
        rate[ _-]?limit
        usage[ _-]?limit
        \bquota
        resource[ _-]?(?:has been )?exhausted
        (?:session|weekly|daily|monthly|hourly|5-hour|plan|opus) limit
        limit reached
        (?:reached|hit) your .{0,40}limit
    """),
    ("auth", r"""
        unauthori[sz]ed|unauthenticated
        authenticat(?:ion|e)[ _]?(?:error|fail|required)
        (?:invalid|incorrect|missing|expired|not valid).{0,20}(?:api|auth)[ _-]?(?:key|token)
        api[ _-]?key (?:is |was )?(?:not |invalid|missing|expired|revoked)
        (?:token|credential|key|login)s? (?:\w+ ){0,4}(?:expired|revoked|refreshed|rejected|refused)
        ExpiredToken|UnrecognizedClient|AccessDeniedException|ProviderAuth
        invalid_grant|invalid_client
        (?:please )?run /login|not logged in
        (?:log ?in|sign in) again|re-?authenticate
        permission[ _]error
        permission[ _]denied.{0,80}(?:project|api|consumer|model)
        unable to locate credentials|credentials? (?:could|not|were|are|is|provider)
        organization has been disabled
        security token
    """),
    ("provider_overloaded", r"""
        overload
        internal[ _]?server[ _]?(?:error|exception)
        service[ _]?(?:is )?(?:temporarily |currently )?unavailable
        bad gateway|gateway time-?out
        (?:at|over) capacity|high (?:demand|load)
        server[ _](?:had an )?error|server_is_
        upstream (?:connect )?error
        ModelNotReady|model is (?:currently |temporarily )?(?:unavailable|loading)
        provider returned error|backend error
        temporarily unavailable|try again later
    """),
    (_CODE, ""),
    ("network", r"""
        \bE(?:NOTFOUND|CONN\w+|TIMEDOUT|AI_AGAIN|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|PIPE)\b
        UND_ERR|getaddrinfo|fetch failed|socket hang ?up|premature close|other side closed
        connect(?:ion)?[ _]?(?:was )?(?:error|refused|reset|closed|timed? ?out|aborted|lost|failed)
        connection to .{0,60}(?:failed|lost|refused)
        (?:failed|unable|could not) (?:to )?(?:connect|resolve|reach)
        no such host|name or service not known|name resolution|\bdns\b|dial tcp
        socket (?:was )?closed|broken pipe|unexpected eof|incomplete chunked
        stream (?:was )?(?:disconnected|closed|ended|reset|error)
        error sending request|http_connection_failed|response_stream
        timed? ?out|i/o timeout
        \b(?:tls|ssl)\b|certificate|\bproxy\b
        network|unreachable|offline|\bterminated\b
    """),
    ("interrupted", r"""
        \binterrupt|MessageAborted
        \babort(?:ed)? by (?:the )?user|cancell?ed by|user (?:aborted|cancell?ed)
        (?:request|operation) (?:was )?(?:cancell?ed|aborted)
    """),
    ("loop", r"""
        \bloop (?:was )?detected|potential loop|doom[ _]loop
        going in circles
        kept repeating|repeat(?:ed|ing) (?:itself|the same|tool calls?)|repeated_result
    """),
    ("permission", r"""
        approval (?:required|denied|policy)|not approved
        permission (?:request |was )?(?:denied|rejected)|rejected permission
    """),
)  # fmt: skip
_STATUS = r"""
    (?:status(?:[ _]code)?\W{0,4}|HTTP(?:/[\d.]+)?\W{1,3}|error:? |code\W{1,4}|\(|^)(4\d\d|5\d\d)\b
"""
_BY_STATUS = {401: "auth", 403: "auth", 402: "budget", 408: "network", 413: "context_full",
              429: "rate_limit"}  # fmt: skip


@cache
def alternatives(block: str) -> re.Pattern[str]:
    """One pattern from a block with an alternative on each line; compiled when it is needed."""
    lines = (line.strip() for line in block.strip().splitlines())
    return re.compile("|".join(lines), re.I | re.S)


def cause_of(*texts: str) -> str:
    """The cause that an error tells of, "" for none that is known here.

    The first text that tells decides: the error's words, then its type and status, its body.
    """
    for text in texts:
        for cause, block in _RULES if text.strip() else ():
            if cause == _CODE:
                found = alternatives(_STATUS).search(text[:_LOOK])
                if found and (named := by_status(int(found[1]))):
                    return named
            elif alternatives(block).search(text[:_LOOK]):
                return cause
    return ""


def by_status(status: int) -> str:
    """The cause that an HTTP status tells of; "" for none."""
    return _BY_STATUS.get(status, "provider_overloaded" if 500 <= status < 600 else "")
