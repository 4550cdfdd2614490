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
_CODE, _NAMED = "code", "named"
"""Rules of their own: a status code anywhere; one in front, or the type of an error."""
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
    (_NAMED, ""),
    ("rate_limit", r"""
        (?:tokens?|requests?) per (?:min|day)
        \b[TR]P[MD]\b
        throttl(?:ed|ing)
        too many (?:requests|tokens, please wait)
    """),
    ("context_full", r"""
        (?:prompt|input|context|request|conversation|messages?) (?:is|are|was)? ?too (?:long|large)
        context[ _-]?(?:length|window|limit|size)(?! (?:usage|used|left)|\W{1,3}\d+ ?%)
        context[ _-]?overflow
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
        credit balance|payment required|billing_|(?:enable|active|your|check|no) billing
        billing (?:details|error|hard|limit|account|issue|is|has|not|plan|cycle|problem|period)
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
        rate[ _-]?limit(?!ers?\b)
        usage[ _-]?limit
        \bquota\b|insufficient_quota|quota_
        resource[ _-]?(?:has been )?exhausted
        (?:session|weekly|daily|monthly|hourly|5-hour|plan|opus) limit
        limit reached
        (?:reached|hit) your .{0,40}limit
    """),
    ("auth", r"""
        unauthori[sz]ed|unauthenticated
        (?<!proxy )authenticat(?:ion|e)[ _]?(?:error|fail|required)
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
        overloaded(?! (?:method|function|operator|constructor|twice))
        internal[ _]?server[ _]?(?:error|exception)
        service[ _]?(?:is )?(?:temporarily |currently )?unavailable
        bad gateway|gateway time-?out
        (?:at|over) capacity|high (?:demand|load)
        server[ _](?:had an )?error|server_is_
        upstream (?:connect )?error
        ModelNotReady|model is (?:currently |temporarily )?(?:unavailable|loading)
        provider returned error|backend error
        (?<!resource )temporarily unavailable|try again later
    """),
    (_CODE, ""),
    ("network", r"""
        \bE(?:NOTFOUND|CONN\w+|TIMEDOUT|AI_AGAIN|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|PIPE)\b
        UND_ERR|getaddrinfo|fetch failed|socket hang ?up|premature close|other side closed
        connect(?:ion)?[ _]?(?:was )?(?:error|refused|reset|closed|timed? ?out|aborted|lost|failed)
        connection to .{0,60}(?:failed|lost|refused)
        (?:failed|unable|could not) (?:to )?(?:connect|resolve|reach)
        no such host|name or service not known|name resolution|dial tcp
        \bdns\b.{0,30}(?:error|fail|look|resol|not|time)|(?:failed|error)\w*.{0,20}\bdns\b
        socket (?:was )?closed|broken pipe|unexpected eof|incomplete chunked
        stream (?:was )?(?:disconnected|closed|ended|reset|error)
        error sending request|http_connection_failed|response_stream
        \btime[d-]?[ _]?out\b|(?:connect|connection|read|request|response|socket)_?timeout
        timeout_?(?:error|exception|expired)
        \b(?:tls|ssl)[ _:-]+(?:\w+ ){0,2}(?:handshake|error|alert|fail|routine|wrong|connect|prot)
        SSL_ERROR|SSLError|CERT_|SELF_SIGNED
        (?:self-signed|expired|invalid|untrusted|unknown|verify\w*|bad) (?:\w+ ){0,2}certificate
        certificate (?:in|is|has|was|chain|verif|error|expired|required|signed|not|unknown)
        \bproxy (?:error|connect|auth|server|refused|tunnel|returned|response)
        (?:via|through|to|from|by) (?:the |a |your )?proxy\b
        \bnetwork[ _]?(?:error|failure|failed|is|was|problem|issue|connect|request|unreachable|down)
        (?:host|network|server|address|api|provider)\b.{0,30}\bunreachable|unreachable (?:host|net)
        (?:is|are|be|went|seems?|you're|currently) offline
        ^\W*(?:\w*error: )?terminated\W*$
        (?:stream|connection|socket|request|session|response) (?:was |has been |is )?terminated
    """),
    ("interrupted", r"""
        \binterrupted\b(?! system call)|\binterrupt(?:ion)? by|MessageAborted
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
_PHRASES = (
    r"(?:bad request|unauthorized|payment required|forbidden|not found|request time-?out|conflict"
    r"|(?:payload|content|request(?: entity)?) too large|too many requests|internal server"
    r"|bad gateway|service unavailable|gateway time-?out|overloaded|status code|no body)"
)
"""What stands behind a status code."""
_END = rf"(?=\W*$|[:;|{{\[]|\.\s| [-|] |\s[{{\[]|\s\w+_error\b|\s\(?{_PHRASES})"
_LEADING = rf"""
    ^\W*(?:API[ _]?Error:? \(?|(?:\w+ )?HTTP(?:/[\d.]+)?(?: error)?:? )([45]\d\d)\b
    ^\W*([45]\d\d)\b{_END}
    ^\W*([45]\d\d) (?-i:[A-Z])
"""
"""A status code with which an error begins."""
_STATUS = rf"""
    status(?:[ _]?code)?\W{{0,4}}([45]\d\d)\b
    \bHTTP(?:/[\d.]+)?(?: error)?\W{{1,3}}([45]\d\d)\b
    (?:error|response|http)[ _]?code\W{{1,4}}([45]\d\d)\b
    "code"\s*:\s*"?([45]\d\d)\b
    \bAPI[ _]?Error:? \(?([45]\d\d)\b
    error:? ([45]\d\d)\b{_END}
    \(([45]\d\d)\)[\s.!]*$
    \b([45]\d\d) {_PHRASES}
"""
_TYPES = {
    "overloaded_error": "provider_overloaded", "server_is_overloaded": "provider_overloaded",
    "rate_limit_error": "rate_limit", "rate_limit_exceeded": "rate_limit",
    "authentication_error": "auth", "invalid_api_key": "auth", "billing_error": "budget",
    "context_length_exceeded": "context_full",
}  # fmt: skip
"""Types of errors that mean one thing."""
_FILES = re.compile(
    r"(?<![\w./@-])[\w./@-]*\w\.(?:go|py|tsx?|jsx?|mjs|rs|c|cc|cpp|h|java|rb|php|md|txt|toml|ya?ml|json|log|sh"
    r"|cs|kt|swift|lua)\b(?::\d+)*"
)
"""Names of files: their words are no errors."""
_BY_STATUS = {401: "auth", 403: "auth", 402: "budget", 408: "network", 413: "context_full",
              429: "rate_limit"}  # fmt: skip


@cache
def alternatives(block: str) -> re.Pattern[str]:
    """One pattern from a block with an alternative on each line; compiled when it is needed."""
    lines = (line.strip() for line in block.strip().splitlines())
    return re.compile("|".join(lines), re.I | re.S)


def cause_of(*texts: str) -> str:
    """The cause that an error tells of, "" for none that is known here.

    The first text that tells decides: the error's words, then its type and status, its body. A
    status code that it begins with, and a type, win over words.
    """
    return next((cause for text in texts if (cause := _told(text))), "")


def _told(text: str) -> str:
    text = _FILES.sub(" ", text[:_LOOK])
    for rule, block in _RULES if text.strip() else ():
        if rule == _NAMED:
            cause = _coded(_LEADING, text) or _typed(text)
        elif rule == _CODE:
            cause = _coded(_STATUS, text)
        else:
            cause = rule if alternatives(block).search(text) else ""
        if cause:
            return cause
    return ""


def _coded(block: str, text: str) -> str:
    found = alternatives(block).search(text)
    return by_status(next(filter(None, found.groups()))) if found else ""


def _typed(text: str) -> str:
    found = alternatives("|".join(rf"\b{word}\b" for word in _TYPES)).search(text)
    return _TYPES[found[0].lower()] if found else ""


def by_status(status: str) -> str:
    """The cause that an HTTP status tells of; "" for none, and for what is no status."""
    if not (status.isascii() and status.isdecimal() and len(status) == 3):
        return ""
    return _BY_STATUS.get(int(status), "provider_overloaded" if status[0] == "5" else "")
