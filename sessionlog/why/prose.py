"""What a model's last words say of its work: done, or not. Pure; English.

Words alone are weak evidence, so they are weighed: a plain "I stop here" counts for itself, an "I
can't" only where nothing says that the work is done, a "still fails" only beside a call that did
fail. Code and quotes are not counted.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_LOOK = 1200
"""Characters of either end of a long text that are looked at."""
_QUOTES = r"(?s:```.*?(?:```|\Z))|`[^`\n]*`|“[^”\n]*”|\"[^\"\n]{0,200}\"|(?m:^>.*$)"
_ENDS = r"(?<=[.!?:;])\s+|\n+"
_HINTS = (
    "n't", "not", "no ", "none", "stop", "giv", "gave", "unable", "fail", "stuck", "out of", "half",
    "incomplete", "unfinished", "unresolved", "still", "block", "please", "need", "have to", "wait",
    "broken", "hang", "crash", "cut off", "timed out", "unchanged", "nothing", "missing", "without",
    "refused", "denied", "rejected", "killed", "full", "skipped", "remain", "i'll", "i will",
    "let me", "going to", "break", "won't", "manage",
)  # fmt: skip
"""Without one of these, words cannot say that the work is not done."""
_VERB = (
    "(?:finish|complete|fix|solve|resolve|get|make|proceed|continue|go|implement|publish|deploy"
    "|push|build|run|install|reach|access|connect|write|port|verify|test|do)"
)
_ABANDONED = rf"""
    \bI(?:'m| am| have|'ve)?(?: \w+){{0,2}} (?:give|giving|given|gave) (?:it |this |that )?up\b
    \bgiving up\b
    \b(?:stop|stopping|stopped)(?: \w+)? (?:here|now|at this point|work\b|trying)
    \bI(?:'m| am|'ll| will|'ve| have)? (?:stuck|stop(?:ped)?)\W*$
    \b(?:is|are|was|remains?|still)(?:n't| not)(?: \w+)? (?:done|finished|completed?)\b
    \b(?:is|are|was|still)(?:n't| not)(?: \w+)? (?:resolved|fixed|solved|in place)\b
    \b(?:is|are|was|still)(?:n't| not)(?: \w+)? (?:implemented|ported|migrated|deployed)\b
    \b(?:remains?|is|are|was|left|still)(?: \w+)? (?:incomplete|unfinished|unresolved|half[- ]\w+)\b
    \bI(?:'m| am| was)? ?(?:could ?n[o']t|can(?:not|'t))(?: \w+){{0,2}} {_VERB}\b
    \bI(?:'m| am| was|'ve been)? (?:not able|unable) to(?: \w+){{0,2}} {_VERB}\b
    \b(?:wasn't|weren't|haven't been) able to(?: \w+){{0,2}} {_VERB}\b
    \bI (?:failed|didn't manage|did not manage) to\b
    \b(?:ran|run) out of (?:ideas|options|time|steps|budget)|\bout of ideas\b
    \bno (?:progress|way forward|further ideas?)\b
    \bI (?:didn't|did not) (?:get|finish|complete)
    \bI don't (?:know|understand|see)(?: \w+){{0,3}} (?:how|why|what|enough|well)\b
    \bnone of (?:them|these|those|that|the \w+) (?:holds?|works?|worked|help|fix)
    \bcould not be (?:completed|finished|fixed|solved|done|published|deployed|verified)\b
"""
_HINDERED = r"""
    \bI(?: \w+)? (?:can(?:not|'t)|could ?n[o']t|won't|will not|may not|must not)\bANY
    \bI(?:'m| am| was)(?: \w+)? (?:unable|blocked|stuck|not allowed)\b
    \bI (?:don't|do not) have\b
    \bI(?:'d|'ll| would| will)? need (?:you|your|access|permission|approval)\b
    \bplease (?:re)?(?:run|start|install|grant|provide|approve|allow|retry|try|free|give|fix|log)\b
    \bplease (?:check|set|confirm)\b
    \b(?:you|someone)(?:'ll| will)? (?:need|have) to\b
    \bwaiting (?:for|on) (?:you|your|approval|permission)
""".replace(
    "ANY", r"(?! (?:\w+ )?(?:find|see|spot|detect|think of|reproduce)\w* (?:any|an?|other)\b)"
)
_BROKEN = r"""
    \bstill (?:\w+ )?(?:fail|break|crash|hang|red\b|broken|time|error|flak)
    \b(?:fails?|failing|hangs?|crash(?:es|ed)?|cut off|timed out|broken)\b
    \b(?:isn't|is not|aren't|are not|not) (?:\w+ )?(?:available|installed|there|here|on this)\b
    \b(?:isn't|is not|aren't|are not|not) (?:\w+ )?(?:reachable|possible|allowed|granted)\b
    \bunchanged\b|\bnothing (?:was|has been|could be|is)\b|\bcan(?:not|'t) be\b
    \b(?:no|missing|without) (?:permission|access|leave|approval|disk space|space)\b
    \b(?:was|were|got|been|is) (?:refused|denied|rejected|blocked|cut off|killed)\b
    \b(?:disk|volume|filesystem) is full\b|\bblocked\b|\bskipped\b|\bremain(?:s|ing)?\b
"""
_GOING_ON = r"""
    \b(?:now|next|then)[, ]+(?:I'll|I will|let me|I'm going to)\b
    ^let me (?!know)\w+
"""
_INSTEAD = r"""
    \b(?:so|but) (?:then )?I(?:'ve| have)? (?:just |simply |only )?PAST\b
    \bI(?:'ve| have)? (?:just |simply )?PAST\b.{0,80}\b(?:instead|because|since|as)\b
    \binstead,? I(?:'ve| have)? PAST\b
    \b(?:works?|runs?|builds?|passes|compiles|succeeds) (?:fine |well )?(?:with|using|under|by) \S
""".replace(
    "PAST",
    "(?:used|ran|installed|built|wrote|switched|generated|fetched|converted|downloaded|compiled"
    "|went with|fell back|did (?:it|that|this|so))(?! (?:no|none|nothing|out|only)\\b)",
)
"""A way around a hindrance: what the same sentence says of the hindrance is not the end of it."""
_STILL = r"""
    \bstill\b|\bremain|\b(?:finish|complet|fix|solv)|\b(?:stub|partial|placeholder|half)
"""
"""Words that show that a way around did not lead to the end."""
_DONE = r"""
    \b(?:all|every|the|both|\d+)(?: \S+){0,4} (?:pass|passe[sd]|passing|green|agrees?|match)\b
    \btests? (?:now )?pass
    \b(?:now|it|that|everything|they|again) works?\b|\bworks? (?:now|again|as)\b|\bworks?\W*$
    \b(?:is|are) (?:now )?(?:done|completed?|fixed|ready|in place|finished|implemented|merged)\b
    \b(?:is|are) (?:now )?(?:deployed|green|live|migrated|resolved)\b
    ^\W*(?:done|fixed|finished|completed?|all (?:done|set|good))\b|\bsuccessful
    ^\W*(?:I(?:'ve| have)? )?(?:now )?(?:added|fixed|implemented|migrated|updated|ported|merged)\b
    ^\W*(?:I(?:'ve| have)? )?(?:now )?(?:renamed|removed|replaced|moved|wrote|created|changed)\b
    ^\W*(?:I(?:'ve| have)? )?(?:now )?(?:published|deployed|converted|rewrote|cleaned|split)\b
    ^\W*(?:I(?:'ve| have)? )?(?:now )?(?:bumped|upgraded|pushed|committed|refactored|corrected)\b
    [✅✓]
    \bcan be \w+ (?:\S+ ){0,3}now\b
    \bnow (?:carries|uses|has|reads|writes|returns|handles|supports|takes|knows)\b
"""
_NEGATED = r"""
    \b(?:not|never|no longer|isn't|aren't|wasn't|doesn't|don't|didn't|won't|can't)\b(?: \w+){0,3}
    \b(?:cannot|couldn't|none|nothing|fails? to|unable to)\b(?: \w+){0,3}
"""


class Judged(NamedTuple):
    """What the words say."""

    gave_up: bool
    """The work is not done, or not by this run."""
    broken: bool
    """Something is said not to work; only a call that failed makes it count."""
    success: bool


@cache
def _pattern(block: str) -> re.Pattern[str]:
    return re.compile("|".join(line.strip() for line in block.strip().splitlines()), re.I)


def is_plain(words: str) -> bool:
    """Is there nothing in the words that could say that the work is not done?"""
    low = words.lower().replace("’", "'")
    return not any(hint in low for hint in _HINTS)


def judged(words: str) -> Judged:
    """What a model's last text says of its work. Looks at both ends of a long one."""
    most = 20 * _LOOK
    text = words if len(words) <= 2 * most else f"{words[:most]}\n{words[-most:]}"
    text = _pattern(_QUOTES).sub(" ", text.replace("’", "'"))
    text = text if len(text) <= 2 * _LOOK else f"{text[:_LOOK]}\n{text[-_LOOK:]}"
    sentences = [
        sentence for part in _pattern(_ENDS).split(text) if (sentence := part.strip(" *#-"))
    ]
    success = next((i for i, said in enumerate(sentences) if _succeeds(said)), None)
    left = _left_open(sentences)
    abandoned = _first(_ABANDONED, left)
    hindered = _first(_HINDERED, left) is not None
    broken = _first(_BROKEN, left) is not None
    going_on = _first(_GOING_ON, sentences[-1:]) is not None
    gave_up = abandoned is not None and (success is None or abandoned < success)
    gave_up = gave_up or (success is None and (hindered or going_on))
    return Judged(gave_up, broken or hindered or abandoned is not None, success is not None)


def _first(block: str, sentences: list[str]) -> int | None:
    pattern = _pattern(block)
    return next((i for i, said in enumerate(sentences) if pattern.search(said)), None)


def _left_open(sentences: list[str]) -> list[str]:
    """The sentences, those blank that a way around follows: in them, or in the next one."""
    ways = [_is_way_around(said) for said in sentences] + [False]
    after = [way and "instead" in said.lower() for way, said in zip(ways, sentences, strict=False)]
    return [
        "" if way or led else said
        for said, way, led in zip(sentences, ways, [*after[1:], False], strict=False)
    ]


def _is_way_around(sentence: str) -> bool:
    found = _pattern(_INSTEAD).search(sentence)
    return found is not None and not _pattern(_STILL).search(sentence)


def _succeeds(sentence: str) -> bool:
    done = _pattern(_DONE)
    return bool(done.search(sentence)) and bool(done.search(_pattern(_NEGATED).sub(" ", sentence)))
