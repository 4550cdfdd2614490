"""Every cause is told, in the log of every agent; what only looks like one is not blamed."""

from __future__ import annotations

import json

import build
import pytest
from stories import AGENTS, Claude, Codex, Native, Story

from sessionlog.codec import parse
from sessionlog.formats.table import named
from sessionlog.framing import split
from sessionlog.records import Ending, Status
from sessionlog.session import fold
from sessionlog.why.answer import answered
from sessionlog.why.answer import why as of_session

PROVIDER = [
    ("provider_overloaded", "Overloaded (529)"),
    ("provider_overloaded", '529 {"type":"error","error":{"type":"overloaded_error"}}'),
    ("provider_overloaded", "500 Internal server error"),
    ("provider_overloaded", "The server had an error while processing your request"),
    ("provider_overloaded", "503 The model is overloaded. Please try again later."),
    ("provider_overloaded", "ServiceUnavailableException: Bedrock is unable to process"),
    ("provider_overloaded", "exceeded retry limit, last status: 502 Bad Gateway"),
    ("provider_overloaded", "Selected model is at capacity. Please try a different model."),
    ("provider_overloaded", "unexpected status 504 Gateway Timeout: upstream request timeout"),
    ("rate_limit", "429 Too Many Requests"),
    ("rate_limit", "You've hit your session limit · resets 3am (Europe/Berlin)"),
    ("rate_limit", "Claude AI usage limit reached|1763200000"),
    ("rate_limit", "You exceeded your current quota, please check your plan"),
    ("rate_limit", "RESOURCE_EXHAUSTED: Quota exceeded for metric generate_content"),
    ("rate_limit", "ThrottlingException: Too many tokens, please wait before trying again."),
    ("rate_limit", "Request too large for gpt-5 on tokens per min (TPM): Limit 30000"),
    ("rate_limit", "This request would exceed your organization's rate limit of 40,000 tokens"),
    ("auth", "401 invalid x-api-key"),
    ("auth", "Invalid API key · Please run /login"),
    ("auth", "OAuth token has expired. Please obtain a new token"),
    ("auth", "Incorrect API key provided: sk-***"),
    ("auth", "API key not valid. Please pass a valid API key."),
    ("auth", "ExpiredTokenException: The security token included in the request is expired"),
    ("auth", "AuthenticationError: Access denied due to invalid subscription key"),
    ("auth", "403 Forbidden"),
    ("auth", "Your access token could not be refreshed. Please log out and sign in again."),
    ("context_full", "prompt is too long: 213462 tokens > 200000 maximum"),
    ("context_full", "This model's maximum context length is 128000 tokens. However"),
    ("context_full", "Your input exceeds the context window of this model."),
    ("context_full", "The input token count (1200000) exceeds the maximum number of tokens"),
    ("context_full", "ValidationException: Input is too long for requested model."),
    ("context_full", "Codex ran out of room in the model's context window."),
    ("dangling_call", "messages.6: `tool_use` ids were found without `tool_result` blocks"),
    ("dangling_call", "An assistant message with 'tool_calls' must be followed by tool messages"),
    ("dangling_call", "No tool output found for function call call_abc."),
    ("dangling_call", "Expected toolResult blocks at messages.2.content for the following Ids"),
    ("dangling_call", "Please ensure that function call turn comes immediately after a user turn"),
    ("dangling_call", "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
    ("network", "Unable to connect to API (ECONNREFUSED)"),
    ("network", "getaddrinfo EAI_AGAIN api.openai.com"),
    ("network", "Connection error."),
    ("network", "fetch failed"),
    ("network", "stream disconnected before completion: error sending request for url"),
    ("network", 'Post "https://api.x.ai/v1": dial tcp: lookup api.x.ai: no such host'),
    ("network", "net/http: TLS handshake timeout"),
    ("network", "Request timed out."),
    ("network", "self-signed certificate in certificate chain"),
    ("budget", "Reached maximum number of turns (50)"),
    ("budget", "402 Insufficient credits. Add more using the credits page"),
    ("budget", "Your credit balance is too low to access the Anthropic API."),
    ("budget", "Reached max session turns for this session."),
    ("compaction", "Error running remote compact task: stream disconnected before completion"),
    ("compaction", "Error during compaction: Error: Request was aborted."),
    ("compaction", "Failed to compress the conversation history: 500"),
    ("loop", "A potential loop was detected. The request has been halted."),
    ("disk_full", "ENOSPC: no space left on device, write"),
]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("cause", "text"), PROVIDER)
def test_an_error_that_ended_the_run_is_known_by_its_words(
    agent: type[Story], cause: str, text: str
) -> None:
    why = agent().work().refused(text).why()
    assert (why.status, why.ok, why.cause) == (Status.COMPLETE, False, cause)
    assert text[:60] in why.evidence[0].says
    assert why.last_error
    assert text[:60] in why.last_error.text
    assert not why.last_error.overcome


@pytest.mark.parametrize("agent", AGENTS)
def test_an_error_of_the_provider_that_was_overcome_is_no_cause(agent: type[Story]) -> None:
    story = agent().work().retry("Overloaded (529)").retry("Overloaded (529)").work()
    why = story.done("All tests pass now.").why()
    assert why.cause == "finished"
    assert why.retries == 0
    assert why.last_error
    assert why.last_error.overcome


@pytest.mark.parametrize("agent", AGENTS)
def test_the_last_error_decides_and_not_one_before_it(agent: type[Story]) -> None:
    story = agent().work().retry("Overloaded (529)").work().refused("fetch failed")
    assert story.why().cause == "network"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_that_was_cut_off_among_failed_attempts_names_them(agent: type[Story]) -> None:
    if agent.form == "pi":
        pytest.skip("an attempt that failed ends the turn there")
    story = agent().work()
    for _ in range(4):
        story.retry("Overloaded (529)")
    assert story.why().cause == "provider_overloaded"
    assert agent().work().retry("Overloaded (529)").why().cause == "killed_answering"


# -- cut off ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_that_was_cut_off_is_told_by_what_it_was_in(agent: type[Story]) -> None:
    inside = agent().work().say("Now the long one.").open("make fuzz").why()
    assert inside.cause == "killed_in_tool"
    assert inside.status is Status.UNFINISHED
    assert [(c.tool, c.says) for c in inside.in_flight] == [(agent.shell, "make fuzz")]
    assert agent().work().why().cause == "killed_answering"
    assert agent().why().cause == "killed_answering"
    torn = agent().work().open("make fuzz").why(b'{"type":"message","kind":"mess')
    assert torn.cause == "torn_write"
    assert torn.status is Status.TRUNCATED
    assert torn.in_flight
    assert torn.damaged == 1


@pytest.mark.parametrize("agent", AGENTS)
def test_a_head_alone_never_started(agent: type[Story]) -> None:
    story = agent()
    story.lines = story.lines[:1] if agent is not Claude else [build.claude_note("mode", mode="x")]
    assert story.why().cause == "never_started"


def test_a_program_that_printed_lived_though_it_wrote_no_message() -> None:
    story = Native()
    story.lines = [story.lines[0], *(build.event("output", text=f"step {n}") for n in range(3))]
    found = story.why()
    assert found.cause == "killed_answering"
    assert [said.says for said in found.evidence] == ["the last line of output: step 2"]
    assert found.ending.text == "no ending recorded"


def test_an_output_that_ended_is_not_called_finished_without_its_exit_status() -> None:
    story = Native()
    told = "the output ended; the exit status is not known"
    story.lines = [*story.lines, build.message("bot", "hello"), build.result("ended", message=told)]
    found = story.why()
    assert (found.cause, found.ok) == ("not_known", None)
    assert told in found.evidence[0].says


@pytest.mark.parametrize("agent", AGENTS)
def test_a_full_disk_is_the_cause_of_a_log_that_ends_there(agent: type[Story]) -> None:
    full = agent().work().call("make import", "cp: write error: No space left on device", True)
    assert full.why().cause == "disk_full"
    assert full.call("df -h", "/dev/vda1 40G 40G 0 100% /").why(b'{"ki').cause == "disk_full"
    assert full.work(8).why().cause == "killed_answering"
    retried = agent().work().call("make import", "ENOSPC: no space left on device", True)
    retried.call("rm -r cache").open("make import")
    assert retried.why().cause == "killed_in_tool"


@pytest.mark.parametrize("agent", AGENTS)
def test_condensing_right_before_the_end_is_the_cause(agent: type[Story]) -> None:
    assert agent().work().condensed().why().cause == "compaction"
    went_on = agent().work().condensed().say("On with it.").work()
    assert went_on.why().cause == "killed_answering"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_person_who_stopped_it_is_the_cause(agent: type[Story]) -> None:
    why = agent().work().open("npx stylelint --fix").interrupted().why()
    assert (why.cause, why.ok) == ("interrupted", False)
    assert not why.in_flight


def test_a_call_that_waits_for_leave_is_the_cause() -> None:
    asks = json.dumps({"cmd": "docker push x", "sandbox_permissions": "require_escalated"})
    story = Codex().work()
    call = build.codex_item("function_call", 99, name="exec_command", arguments=asks, call_id="q")
    story.lines.append(call)
    assert story.why().cause == "permission"
    assert story.why().in_flight[0].asks == "require_escalated"
    assert Claude().work().open("the plan", "ExitPlanMode").why().cause == "permission"


# -- loops and limits ------------------------------------------------------------------------------

LINT = "Error: Could not find plugin fruit."


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_call_with_the_same_outcome_until_it_stopped_is_a_loop(agent: type[Story]) -> None:
    story = agent().work()
    for i in range(7):
        story.say(f"Maybe {i}.").call("npm run lint", f"{LINT} took 0.{i}s", True)
    for why in (story.why(), story.open("npm run lint").why()):
        assert why.cause == "loop"
        assert why.repeated[0][:2] == (agent.shell, 7)
        assert LINT in why.evidence[0].says


def test_a_limit_that_stopped_a_loop_is_no_limit() -> None:
    story = Native().work()
    story.lines.append(build.result("iterations", 1, message="stopped after 40 iterations"))
    assert story.why().cause == "budget"
    story = Native().work()
    for _ in range(7):
        story.call("npm run lint", LINT, True)
    story.lines.append(build.result("iterations", 1, message="stopped after 40 iterations"))
    assert story.why().cause == "loop"


def test_calls_that_failed_alike_now_and_then_or_long_ago_are_no_loop() -> None:
    spread, early = Native(), Native()
    for _ in range(6):
        spread.work(6).call("npm run lint", LINT, True)
        early.call("npm run lint", LINT, True)
    for story in (spread, early.work(5)):
        story.lines.append(build.result("iterations", 1, message="stopped after 40 iterations"))
        assert story.why().cause == "budget"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_program_that_was_found_at_last_is_not_missing(agent: type[Story]) -> None:
    lost = agent().work().call("protoc --version", "bash: protoc: command not found", True)
    words = "protoc runs, but the plugin does not. I give up."
    assert lost.done(words).why().cause == "missing_program"
    found = agent().work().call("protoc --version", "bash: protoc: command not found", True)
    assert found.call("protoc -h", "usage").done(words).why().cause == "gave_up"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_call_whose_outcome_changed_or_that_went_well_at_last_is_no_loop(
    agent: type[Story],
) -> None:
    polled = agent().work()
    for i in range(8):
        polled.call("curl -s status", f"{10 * i}% done")
    assert polled.open("curl -s status").why().cause == "killed_in_tool"
    fixed = agent().work()
    for _ in range(8):
        fixed.call("npm run lint", LINT, True)
    assert fixed.call("npm run lint").done("Lint passes now.").why().cause == "finished"
    assert not fixed.why().repeated


@pytest.mark.parametrize(
    ("reason", "cause"),
    [("iterations", "budget"), ("calls", "budget"), ("time", "budget"), ("cycle", "loop"),
     ("failed", "declared_failed"), ("aborted", "interrupted"), ("empty", "not_known"),
     ("settled", "finished")],
)  # fmt: skip
def test_the_native_words_for_an_ending_are_known(reason: str, cause: str) -> None:
    story = Native().work().call("aws s3 ls", "Error: AccessDenied (403)", True)
    code = int(reason != "settled")
    story.lines.append(build.result(reason, code, message="403 " * (reason != "empty")))
    assert story.why().cause == cause


@pytest.mark.parametrize(
    ("status", "cause"),
    [(529, "provider_overloaded"), ("401", "auth"), ("²", "not_known"), ("9" * 5000, "not_known"),
     (10**4000, "not_known"), (None, "not_known"), ([500], "not_known"), (True, "not_known")],
)  # fmt: skip
def test_a_failures_status_counts_where_it_is_one(status: object, cause: str) -> None:
    story = Native().work()
    story.lines.append(build.result("error", 1, message="odd", failure={"status": status}))
    assert story.why().cause == cause


def test_a_limit_that_only_an_event_tells_of_is_the_cause() -> None:
    story = Claude().work()
    limit = {"type": "max_turns_reached", "maxTurns": 30, "turnCount": 30}
    story.lines.append(build.claude_line("attachment", 99, attachment=limit))
    assert story.why().cause == "budget"


def test_condensing_on_demand_that_failed_is_the_cause() -> None:
    story = Claude().work().done("On it.")
    failed = "<local-command-stderr>Error: Error during compaction: 500</local-command-stderr>"
    story.lines += [
        build.claude_user("<command-name>/compact</command-name>", 90),
        build.claude_user(failed, 91),
    ]
    assert story.why().cause == "compaction"


def test_a_call_that_reports_failure_is_the_models_verdict() -> None:
    why = Claude().work().call("no credentials", tool="report_failure").done("Reported.").why()
    assert why.cause == "declared_failed"
    assert "no credentials" in why.evidence[0].says


def test_an_error_line_in_a_plain_chat_is_the_cause() -> None:
    form = named("chat")
    assert form is not None
    said = [build.chat("user", "Hi"), build.line({"type": "error", "text": "429 rate limit"})]
    records = [
        record
        for line in split(b"".join(said))
        for value, span in parse(line, form.plausible).objects
        for record in form.decode(value, span)
    ]
    session = fold(records, [], form=form, path="a.jsonl")
    assert of_session(session).cause == "rate_limit"


# -- the model stopped by itself -------------------------------------------------------------------

SOFT = [
    ("gave_up", "go test", "--- FAIL: TestWatcher (0.4s)",
     "TestWatcher still fails. I tried five changes and none of them holds, so I stop here."),
    ("gave_up", "go test", "FAIL", "I wasn't able to fix the race."),
    ("gave_up", "go test", "FAIL", "I'm giving up on this; the cause lies elsewhere."),
    ("missing_program", "make proto", "/bin/bash: line 1: protoc: command not found",
     "protoc isn't on this machine and I may not install it, so the code is unchanged."),
    ("missing_program", "make", "/bin/sh: 1: cmake: not found", "Please install cmake first."),
    ("missing_program", "x", "zsh: command not found: terraform", "I can't go on without it."),
    ("missing_program", "x", "fish: Unknown command: kubectl", "I cannot deploy from here."),
    ("missing_program", "x", "'cl' is not recognized as an internal or external command",
     "The compiler is not available here, so I could not build it."),
    ("missing_program", "x", 'exec: "docker": executable file not found in $PATH',
     "Docker isn't installed here."),
    ("missing_program", "x", "env: 'node': No such file or directory", "I need your help here."),
    ("missing_program", "which gh", "", "I couldn't open the pull request: gh isn't installed."),
    ("tool_timeout", "npm run e2e", "command timed out after 1800000 milliseconds",
     "The suite prints nothing and is cut off after half an hour. I can't see further into it."),
    ("tool_timeout", "make soak", "Command timed out after 10m 0.0s", "I had to stop here."),
    ("disk_full", "make import", "OSError: [Errno 28] No space left on device",
     "The disk is full, so I could not finish the import."),
    ("permission", "git push", "Claude requested permissions to use Bash, but you haven't granted",
     "I need your permission to push."),
    ("permission", "git push", "exec command rejected by user", "I won't push without approval."),
    ("permission", "rm -r x", "The user rejected permission to use this specific tool call.",
     "I was not allowed to delete it, so nothing was changed."),
]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("cause", "said", "gave", "words"), SOFT)
def test_words_that_say_that_the_work_is_not_done_name_the_failure_before_them(
    agent: type[Story], cause: str, said: str, gave: str, words: str
) -> None:
    why = agent().work().call(said, gave, True).done(words).why()
    assert why.cause == cause
    assert why.ok is True


@pytest.mark.parametrize("agent", AGENTS)
def test_a_helper_that_failed_is_the_cause_where_the_work_stopped_with_it(
    agent: type[Story],
) -> None:
    lost = "Agent terminated early due to an API error: 529 Overloaded"
    story = agent().work().call("port the search page", lost, True, tool="Task")
    why = story.done("The helper was cut off, so the page is half ported.").why()
    assert why.cause == "subagent_failed"
    story = agent().work().call("port it", lost, True, tool="Task").call("port it", tool="Task")
    assert story.done("Both pages are ported; all tests pass.").why().cause == "finished"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_failure_at_the_very_end_counts_where_nothing_says_that_all_is_well(
    agent: type[Story],
) -> None:
    story = agent().work().call("make proto", "bash: protoc: command not found", True)
    assert story.done("Ich höre hier auf.").why().cause == "missing_program"


FINE = [
    ("go test", "--- FAIL: TestCSV: expected 3 columns", "Receipts can be exported; tests pass."),
    ("shellcheck x", "bash: shellcheck: command not found",
     "Done: the script is rewritten and all 12 tests pass. I skipped shellcheck, not installed."),
    ("python x.py", "ModuleNotFoundError: No module named 'yaml'", "It works now."),
    ("grep -rn 'rate limit' src", "src/api.py:9: # 429 rate limit", "The limit is 40 a minute."),
    ("cat README.md", "If you see No space left on device, prune.", "It is documented."),
    ("npm test", "Test timed out in 5000ms", "Fixed the flaky test; it passes 200 times in a row."),
    ("ls", "ls: cannot access 'x': No such file or directory", "I created it instead."),
    ("git push", "rejected by policy", "Pushed to the other branch instead; CI is green."),
]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("said", "gave", "words"), FINE)
def test_what_only_looks_like_a_failure_is_not_blamed(
    agent: type[Story], said: str, gave: str, words: str
) -> None:
    assert agent().call(said, gave, True).work().done(words).why().cause == "finished"
    assert agent().call(said, gave).done(words).why().cause == "finished"


@pytest.mark.parametrize("agent", AGENTS)
def test_errors_that_are_only_quoted_are_not_blamed(agent: type[Story]) -> None:
    asked = "Our log says: 429 rate limit, then ENOSPC, 'prompt is too long'. Why?"
    story = (
        agent(asked).user(asked).call("cat app.log", "529 Overloaded\nprotoc: command not found")
    )
    answer = "The app gave up after `I can't connect`: the queue was full. Its limit is 40."
    assert story.done(answer).why().cause == "finished"
    assert agent(asked).user(asked).open("tail app.log").why().cause == "killed_in_tool"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_that_went_on_long_after_a_failure_is_not_blamed_on_it(agent: type[Story]) -> None:
    story = agent().call("make x", "bash: protoc: command not found", True).work(30)
    assert story.done("All 12 files are converted.").why().cause == "finished"
    assert story.why().last_error
    assert story.why().last_error.overcome


def test_a_live_run_is_running_whatever_went_wrong_before() -> None:
    session = Native().call("x", "No space left on device", True).open("cargo build").session()
    from sessionlog.why.answer import Reading

    reading = Reading()
    for record in session.records:
        reading.take(record)
    now = build.START.replace(hour=23)
    why = reading.answer(session.ending, Status.RUNNING, alive="pid 7", now=now)
    assert why.cause == "running"
    assert why.in_flight[0].seconds
    assert why.in_flight[0].seconds > 3000


def test_where_nothing_tells_the_cause_is_not_known() -> None:
    why = Native().work().refused("the gears are made of cheese").why()
    assert why.cause == "not_known"
    nothing = answered(Native().why().facts, Ending(True, None, None), Status.COMPLETE)
    assert nothing.cause == "not_known"
