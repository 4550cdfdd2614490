"""Words of models and of tools: what says that the work is not done, and what does not."""

from __future__ import annotations

import pytest

from sessionlog.why import errors, failures, prose

NOT_DONE = [
    "I was unable to complete the migration: two tables still have no owner.",
    "I couldn't get the build to pass.",
    "I could not finish; the remaining three files are not ported yet.",
    "I've tried everything I can think of and I'm stuck.",
    "I give up. The test hangs on every second run.",
    "Unfortunately I'm giving up at this point.",
    "The deployment could not be completed because the cluster refused the manifest.",
    "This isn't done: the second half of the importer is missing.",
    "I'll stop here. The error persists.",
    "None of my attempts worked, none of them holds under load.",
    "I ran out of ideas for this one.",
    "I cannot proceed without write access to the bucket.",
    "I don't have access to the staging database.",
    "I need your approval before I can go on.",
    "Please run `npm login` and start me again.",
    "You'll need to install Xcode first.",
    "I won't be able to finish this in one session.",
    "The refactoring is incomplete. Half of the callers use the old name.",
    "Next, I'll port the remaining pages.",
    "Let me look at the failing test once more:",
    "I didn't get to the second part.",
    "I failed to reproduce or fix it.",
    "I could not finish the port, so I wrote a stub.",
    "I cannot publish without a token, so I did nothing.",
]
DONE = [
    "All 41 tests pass now.",
    "Done. The retry budget is in `retry.py`.",
    "Fixed: the watcher no longer fails on restart.",
    "I fixed the flaky test; I could not reproduce the failure in 200 runs any more.",
    "The importer can't overflow any more: it checks the size first. All tests pass.",
    "Implemented as asked. I left the legacy exporter alone; it isn't used.",
    "Added the endpoint. Note: you'll need to restart the server.",
    "I couldn't find any other callers, so I removed the function.",
    "It works: `I give up` is printed and the program stops here as it should.",
    'The page now says "I could not finish" in German too.',
    "The change is complete. Let me know if you want the docs too.",
    "✅ Migration complete. Next steps: deploy, then drop the old table.",
    "Updated the README: what to do when the build fails or a tool isn't installed.",
    "There are 14 callers; the list is above.",
    "The answer is 42.",
    "Retries stop after five attempts; the job then goes to the dead letter queue.",
    "A request that fails is retried three times. The limit is set in config.toml.",
    "```\nI give up\n```\nThe snippet above prints that.",
    "The tests pass. Shall I open a pull request?",
    "All tests pass. I stop here: the docs were not asked for.",
    "I couldn't run jq, so I used Python.",
    "I can't use sudo here, so I installed it for the user only.",
    "I could not reach the mirror. I fetched it from the origin instead.",
]


@pytest.mark.parametrize("words", NOT_DONE)
def test_words_that_say_that_the_work_is_not_done(words: str) -> None:
    assert prose.judged(words).gave_up
    assert not prose.is_plain(words)


@pytest.mark.parametrize("words", DONE)
def test_words_that_do_not(words: str) -> None:
    assert not prose.judged(words).gave_up


def test_long_words_are_looked_at_from_both_ends_and_cost_little() -> None:
    filler = "The module reads a file. " * 20_000
    assert prose.judged(f"{filler}I was unable to finish it.").gave_up
    assert not prose.judged(filler).gave_up
    assert not prose.judged("`" * 100_000 + '"' * 100_000).gave_up


MISSING = [
    ("bash: line 1: protoc: command not found", "protoc"),
    ("/bin/sh: 1: cmake: not found", "cmake"),
    ("sh: jq: not found", "jq"),
    ("zsh: command not found: terraform", "terraform"),
    ("fish: Unknown command: kubectl", "kubectl"),
    ("'cl' is not recognized as an internal or external command,", "cl"),
    ("The term 'pwsh' is not recognized as the name of a cmdlet", ""),
    ('exec: "docker": executable file not found in $PATH', "docker"),
    ("Error: spawn ffmpeg ENOENT", "ffmpeg"),
    ("env: ‘python3.12’: No such file or directory", "python3.12"),
    ("make: gcc: No such file or directory", "gcc"),
    ("error: no such command: `mutants`", "mutants"),
    ("git: 'lfs' is not a git command. See 'git --help'.", "lfs"),
    ("error: linker `cc` not found", "cc"),
    ("/usr/bin/env: ‘node’: No such file or directory", "node"),
    ("sudo: apt-get: command not found", "apt-get"),
]
NOT_MISSING = [
    "ModuleNotFoundError: No module named 'yaml'",
    "Error: Cannot find module 'express'",
    "ImportError: libGL.so.1: cannot open shared object file",
    "error[E0433]: failed to resolve: use of undeclared crate or module `serde`",
    "404 page not found",
    "pathspec 'x' did not match any file(s) known to git",
    "Error: package 'left-pad' not found in registry",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
    "cat: notes.txt: No such file or directory",
    "KeyError: 'user not found'",
    "remote: Repository not found.",
    "Error: image nginx:latest: not found",
    "fatal error: zlib.h: No such file or directory",
]


@pytest.mark.parametrize(("text", "program"), MISSING)
def test_a_program_that_is_not_there_is_named(text: str, program: str) -> None:
    cause, subject = failures.cause_of("bash", "make", f"Exit code 127\n{text}", True)
    assert cause == "missing_program"
    assert subject == program or not program


@pytest.mark.parametrize("text", NOT_MISSING)
def test_modules_packages_and_files_are_no_programs(text: str) -> None:
    assert failures.cause_of("bash", "make", f"Exit code 1\n{text}", True) == ("", "")


@pytest.mark.parametrize(
    "said",
    ["grep -rn 'No space left' docs", "cat README.md", "rg ENOSPC", "sed -n '1,40p' notes.md",
     "git log -p", "echo 'protoc: command not found'"],
)  # fmt: skip
def test_what_a_call_only_shows_is_not_about_it(said: str) -> None:
    text = "docs/x.md:3: No space left on device\nprotoc: command not found\ntimed out after 5"
    assert failures.cause_of("bash", said, text, True) == ("", "")
    assert failures.cause_of("Read", "README.md", text, True) == ("", "")


def test_a_call_that_writes_what_it_shows_counts() -> None:
    text = "cat: write error: No space left on device"
    assert failures.cause_of("bash", "cat a b > c", text, True)[0] == "disk_full"


def test_a_failure_behind_a_pipe_is_seen_at_the_end_of_the_output_only() -> None:
    lost = "x\n" * 9 + "make: protoc: No such file or directory"
    assert failures.cause_of("bash", "make 2>&1 | tail", lost, False)[0] == "missing_program"
    assert failures.cause_of("bash", "make | tail", lost + "\nok" * 9, False) == ("", "")


@pytest.mark.parametrize(
    "text",
    ["we retried 500 times", "port 443 is open", "took 429 ms", "line 503 of the file",
     "the gears are made of cheese", "Model 'x' not found (404)", "",
     "error: 500 files would be changed, refusing", "500 files changed", "exit code 403",
     "SyntaxError in tool wrapper (403): unexpected token", "error: 403 rows were skipped",
     "error: 500, 501 and 502 collide", "502-line diff refused", "no overload matches this call",
     "class ProxyModel is terminated twice in network.go", "billing.py:12 has no tests",
     "test failed in rate_limit.go:429", "the rate limiter has no clock", "proxy.rs does not parse",
     "Resource temporarily unavailable (os error 11)", "the interrupt handler is never called",
     "interrupted system call", "context window usage 33%", "throttle.go does not compile",
     "signal: killed (out of memory)"],
)  # fmt: skip
def test_numbers_and_words_that_are_no_errors_are_none(text: str) -> None:
    assert errors.cause_of(text) == ""


def test_the_words_come_before_the_type_and_the_body() -> None:
    assert errors.cause_of("Prompt is too long", "invalid_request", "529") == "context_full"
    assert errors.cause_of("it failed", "rate_limit_error") == "rate_limit"
    assert errors.cause_of("it failed", "", '{"status": 503}') == "provider_overloaded"


@pytest.mark.parametrize(
    ("cause", "text"),
    [("provider_overloaded", "529 overloaded_error: Overloaded. context window usage 33%"),
     ("provider_overloaded", "529 Overloaded: context length 190000 of 200000"),
     ("provider_overloaded", "API Error: 503 the credentials provider timed out"),
     ("provider_overloaded", 'API Error (529 {"type":"error"}) rate limit left: 12'),
     ("rate_limit", "rate_limit_error: maximum input tokens 40000"),
     ("rate_limit", "429 status code (no body)"),
     ("auth", "401: the network refused"),
     ("context_full", "context_length_exceeded: reduce it or see billing details")],
)  # fmt: skip
def test_a_status_in_front_and_a_type_win_over_words(cause: str, text: str) -> None:
    assert errors.cause_of(text) == cause


@pytest.mark.parametrize("status", ["", "²", "²²²", "٥٠٠", "5", "9" * 5000, "-500", "5e2", "500 "])
def test_what_is_no_status_tells_of_no_cause(status: str) -> None:
    assert errors.by_status(status) == ""


def test_long_words_without_a_meaning_tell_of_nothing() -> None:
    for text in ("a" * 4000, "/a." * 2000, "I used " * 4000, "error 50 " * 800, "(" * 4000):
        assert errors.cause_of(text) == ""
        assert not prose.judged(text).gave_up


@pytest.mark.parametrize(
    ("status", "cause"),
    [(401, "auth"), (402, "budget"), (403, "auth"), (413, "context_full"), (429, "rate_limit"),
     (500, "provider_overloaded"), (529, "provider_overloaded"), (404, ""), (400, "")],
)  # fmt: skip
def test_a_status_alone_tells_the_cause(status: int, cause: str) -> None:
    for text in (f"it failed ({status})", f"API Error: {status} no words", f"HTTP {status}",
                 f'{{"status":{status}}}', f"unexpected status code {status}"):  # fmt: skip
        assert errors.cause_of(text) == cause
