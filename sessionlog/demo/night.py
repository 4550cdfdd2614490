"""The runs of one night, as a person finds them in the morning. All of it is made up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from sessionlog.demo.script import Claude, Codex, Native, Run

_FAIL = """=== RUN   TestReplayIdempotent
    replay_test.go:71: starting 8 workers on one invoice
    replay_test.go:88: got 2 charges, want 1
--- FAIL: TestReplayIdempotent (2.31s)
=== RUN   TestReplayOrder
--- PASS: TestReplayOrder (0.12s)
FAIL
exit status 1"""
HOME = "/home/ana"
"""Whose night it was. The native runs can be gone on with where this folder is a real one."""


def runs(morning: datetime, home: str = HOME) -> Iterator[tuple[str, Run]]:
    """(relative path, run) of each session, the evening before `morning` and after."""
    evening = morning - timedelta(hours=10)
    yield from _migration(evening + timedelta(hours=4.2), f"{home}/src/billing")
    for hours, tell in (
        (-0.6, _runbook),
        (-0.2, _mailer),
        (0.3, _rename),
        (0.7, _protobuf),
        (1.1, _retry_code),
        (1.4, _dependencies),
        (1.7, _bisect),
        (2.2, _merge_queue),
        (2.8, _linter),
        (3.1, _invoices),
        (3.8, _checkout),
        (8.1, _changelog),
    ):
        path, run = tell(evening + timedelta(hours=hours), f"{home}/src")
        yield path, run


def _native(run: Native) -> tuple[str, Run]:
    return f"zot/{run.id}.jsonl", run


def _claude(run: Claude) -> tuple[str, Run]:
    return f"claude/{run.workdir.replace('/', '-')}/{run.id}.jsonl", run


def _codex(run: Codex) -> tuple[str, Run]:
    return f"codex/{run.started:%Y/%m/%d}/{run.name()}", run


def _migration(start: datetime, workdir: str) -> Iterator[tuple[str, Run]]:
    """The hero: four hours of work, the same test failing, killed inside a call."""
    run = Native(start, "Migrate billing worker to pgx v5", workdir)
    run.user(
        "Migrate internal/billing from pgx v4 to v5. Keep every test green, do not touch the "
        "schema, commit in small steps."
    )
    run.turn()
    run.think("Imports first, then the pool, then the queries. Error mapping last.")
    run.say("I'll map every pgx import first, then move the pool, then the queries one by one.")
    run.call(
        "grep", "\n".join(f"internal/billing/f{i}.go" for i in range(37)), pattern="jackc/pgx/v4"
    )
    run.call("read", "package billing\n" * 212, path="internal/billing/pool.go")
    run.call(
        "edit",
        "edited",
        path="internal/billing/pool.go",
        old_string="pgxpool.Connect(ctx, dsn)",
        new_string="pgxpool.New(ctx, dsn)",
    )
    run.turn()
    run.call(
        "bash",
        failure="pool.go:41:17: undefined: pgxpool.ConnectConfig\nexit status 1",
        seconds=6.1,
        command="go build ./internal/billing/...",
    )
    run.say("ConnectConfig became NewWithConfig in v5.")
    run.call(
        "edit",
        "edited",
        path="internal/billing/pool.go",
        old_string="ConnectConfig",
        new_string="NewWithConfig",
    )
    run.call("bash", "ok", seconds=5.8, command="go build ./internal/billing/...")
    for number, name in enumerate(("invoice", "refund", "ledger", "export", "dunning"), 1):
        run.turn()
        run.call("read", "package billing\n" * 90, path=f"internal/billing/{name}.go")
        run.call(
            "edit",
            "edited",
            seconds=14,
            path=f"internal/billing/{name}.go",
            old_string="pgx.BeginFunc(ctx, tx)",
            new_string="pgx.BeginTxFunc(ctx, tx)",
        )
        run.call(
            "bash",
            "ok  \tinternal/billing\t1.2s",
            seconds=540 + 61 * number,
            command=f"go test ./internal/billing -run {name.title()}",
        )
    run.turn()
    run.user("Also bump the CI image to go1.23 while you are there.")
    run.turn()
    run.call(
        "edit",
        "edited",
        path=".github/workflows/test.yml",
        old_string="go-version: 1.22",
        new_string="go-version: 1.23",
    )
    run.skip(1400)
    run.reset(
        "Pool, queries and error mapping are on v5. Left: replay.go, which claims invoices under "
        "an advisory lock. CI image is bumped."
    )
    run.turn()
    run.call("read", "package billing\n" * 341, path="internal/billing/replay.go")
    run.call(
        "edit",
        "edited",
        path="internal/billing/replay.go",
        old_string="tx, err := r.pool.Begin(ctx)\nif err != nil {\n\treturn err\n}",
        new_string="conn, err := r.pool.Acquire(ctx)\nif err != nil {\n\treturn err\n}\n"
        "defer conn.Release()\ntx, err := conn.Begin(ctx)",
    )
    run.call("bash", "", seconds=9.4, command="go vet ./internal/billing/...")
    run.turn()
    fork_from = run.id
    at_fork = len(run.lines)
    messages = sum(line.startswith(b'{"kind":"message"') for line in run.lines)
    for wait in (5, 10, 30, 60):
        run.event("retry", text="provider: 529 overloaded_error (retrying)")
        run.skip(wait)
    run.skip(29 * 60)
    run.turn()
    run.call("bash", failure=_FAIL, seconds=104, command="go test ./internal/billing/...")
    run.turn()
    run.think("The advisory lock is taken on another connection than the transaction's.", 38)
    for old, new in (("Release()", "Hijack()"), ("Hijack()", "Release()"), ("pool", "conn")):
        run.turn()
        run.call(
            "edit", "edited", path="internal/billing/replay.go", old_string=old, new_string=new
        )
        run.call("bash", failure=_FAIL, seconds=101, command="go test ./internal/billing/...")
    run.turn()
    run.say("It only fails under load. I'll run it 200 times to catch the race.")
    run.turn()
    run.start("bash", command="go test -race -count=200 -run TestReplay ./internal/billing")
    place = len(run.lines) - 14
    broken = run.lines[place][:-1] + run.lines[place + 1][:40] + b"\n"
    run.lines[place : place + 2] = [broken]  # two writers, one file: the second record is cut
    yield _native(run)
    yield _native(_fork(run, at_fork, fork_from, messages, start + timedelta(hours=4.8)))


def _fork(parent: Native, lines: int, parent_id: str, at: int, started: datetime) -> Native:
    """This morning's fork of the hero, taken before the failures, which got there."""
    fork = Native(
        started,
        "Migrate billing worker to pgx v5",
        parent.workdir,
        forkedFrom={"id": parent_id, "at": at},
    )
    fork.lines += parent.lines[1:lines]
    fork._calls = 100
    fork.turn()
    fork.user(
        "Take the lock and the transaction on one connection. Run the replay test with -race."
    )
    fork.turn()
    fork.call(
        "edit",
        "edited",
        path="internal/billing/replay.go",
        old_string="r.pool.Exec(ctx, lockSQL, id)",
        new_string="tx.Exec(ctx, lockSQL, id)",
    )
    fork.call(
        "bash",
        "ok  \tinternal/billing\t41.7s",
        seconds=42,
        command="go test -race -count=20 -run TestReplay ./internal/billing",
    )
    fork.say("The lock is taken inside the transaction now; 20 runs under -race are green.")
    fork.end("settled", "pgx v5 everywhere, replay is idempotent again")
    return fork


def _runbook(start: datetime, src: str) -> tuple[str, Run]:
    run = Claude(start, f"{src}/ops", "Write runbook for failover")
    run.user("Write a runbook for the database failover, with the commands we really use.")
    run.call("Glob", "docs/a.md\ndocs/b.md", pattern="docs/**/*.md")
    run.call("Bash", "2 standbys, lag 0.2s", command="./bin/pg-status --json", seconds=3)
    run.call("Write", "File created", file_path="docs/failover.md", content="# Failover\n\n1. ...")
    run.say("The runbook is in `docs/failover.md`: promote, repoint, verify, and how to go back.")
    return _claude(run)


def _mailer(start: datetime, src: str) -> tuple[str, Run]:
    run = Native(start, "Add retry budget to mailer", f"{src}/mailer")
    run.user("Begin.")
    run.turn()
    run.call("read", "class Mailer:\n" * 80, path="mailer/send.py")
    run.call(
        "edit", "edited", path="mailer/send.py", old_string="retry(3)", new_string="retry(budget)"
    )
    run.call("bash", "41 passed in 3.2s", seconds=41 * 60, command="pytest -q")
    run.turn()
    run.say("Retries share a budget of 20 a minute now, and the tests cover an empty budget.")
    run.end("settled", "retry budget added, 41 tests pass")
    return _native(run)


def _rename(start: datetime, src: str) -> tuple[str, Run]:
    run = Claude(start, f"{src}/app", "Rename Tenant to Account in all models")
    run.user("Rename Tenant to Account everywhere, migrations included.")
    for number in range(1, 9):
        run.call(
            "Edit",
            "The file has been updated.",
            file_path=f"app/models/m{number}.py",
            old_string="class Tenant:",
            new_string="class Account:",
            seconds=20,
        )
        if number in (3, 5, 7):
            run.lines.append(b'{"parentUuid":"' + b"\0" * 64 + b"\n")
    run.call("Bash", "310 passed", command="pytest -q", seconds=900)
    run.say("Tenant is Account in 61 files; the migration renames the table and its indexes.")
    return _claude(run)


def _protobuf(start: datetime, src: str) -> tuple[str, Run]:
    run = Codex(start, f"{src}/proto", "Regenerate protobuf stubs")
    run.say("I'll look at how the stubs are made first.")
    run.call("ls", "buf.gen.yaml\nbuf.yaml\napi\n")
    run.call("buf generate", "", seconds=410)
    run.call("git diff --stat", " 31 files changed, 2904 insertions(+)", seconds=2)
    return _codex(run)


def _retry_code(start: datetime, src: str) -> tuple[str, Run]:
    run = Run(start, "")
    for role, content in (
        ("user", "Explain the retry code in worker.py"),
        ("assistant", "It backs off exponentially, up to five tries, with full jitter."),
        ("user", "What happens after the fifth?"),
        ("assistant", "The job goes to the dead letter queue, and an alert is raised."),
    ):
        run.skip(80)
        run.put({"role": role, "content": content, "timestamp": run.at()})
    return "chat/explain-retry.jsonl", run


def _dependencies(start: datetime, src: str) -> tuple[str, Run]:
    run = Claude(start, f"{src}/app", "Nightly dependency update")
    run.user("Update all dependencies that have a patch release; open one commit each.")
    run.api_error(
        "Invalid API key · Fix external API key · 401 invalid x-api-key", "authentication_failed"
    )
    return _claude(run)


def _bisect(start: datetime, src: str) -> tuple[str, Run]:
    run = Native(start, "Bisect the slow start of the CLI", f"{src}/cli")
    run.user("Begin.")
    for number in range(1, 15):
        run.turn()
        run.call(
            "bash",
            f"Bisecting: {200 >> number} revisions left",
            seconds=300,
            command=f"git bisect run ./time-start.sh  # step {number}",
        )
    run.turn()
    run.end(
        "error",
        "the provider failed",
        code=1,
        error="provider: prompt is too long: 201,340 tokens > 200,000 maximum (400)",
        failure={
            "status": 400,
            "request_bytes": 811234,
            "response_body": '{"error":{"message":"prompt is too long"}}',
        },
    )
    return _native(run)


def _merge_queue(start: datetime, src: str) -> tuple[str, Run]:
    run = Codex(start, f"{src}/ci", "Port CI to the merge queue")
    run.say("The queue needs its own workflow file; I'll start from test.yml.")
    for number in range(1, 8):
        run.call(
            f"gh run watch {4100 + number}", "run failed: job 'lint' is required", 1, seconds=600
        )
    error = {
        "message": "You've hit your usage limit. Try again at 9:00 AM.",
        "codex_error_info": "usage_limit_exceeded",
    }
    run.line("event_msg", type="error", **error)
    run.line("event_msg", type="task_complete", turn_id="1", last_agent_message=None, error=error)
    return _codex(run)


def _linter(start: datetime, src: str) -> tuple[str, Run]:
    run = Native(start, "Make the linter pass on the legacy folder", f"{src}/legacy")
    run.user("Begin.")
    for _ in range(30):
        run.turn()
        run.call(
            "shell",
            failure="ruff: command not found\nexit status 127",
            seconds=2,
            command="ruff check legacy/",
        )
    run.turn()
    run.end("iterations", "stopped after 31 iterations", code=1)
    return _native(run)


def _invoices(start: datetime, src: str) -> tuple[str, Run]:
    run = Native(start, "Backfill invoice PDFs for 2024", f"{src}/pdf")
    run.user("Begin.")
    for month in range(1, 9):
        run.turn()
        run.call(
            "bash",
            f"rendered {month * 1240} of 14,880",
            seconds=1700,
            command=f"bin/backfill --month 2024-{month:02d}",
        )
    run.turn()
    run.call(
        "bash",
        failure="render.py: OSError: [Errno 28] No space left on device\nexit status 1",
        seconds=300,
        command="bin/backfill --month 2024-09",
    )
    run.turn()
    run.say(
        "The disk is full: /var/pdf holds 38 GB. I'll move the finished months away first. " * 3
    )
    run.flush()
    run.tear()
    return _native(run)


def _checkout(start: datetime, src: str) -> tuple[str, Run]:
    run = Claude(start, f"{src}/shop", "Fix flaky checkout e2e, shard 2")
    run.user("Shard 2 of the checkout e2e suite is flaky. Find out why and fix it.")
    run.call("Bash", "1 flaky, 63 passed", command="npx playwright test --shard=2/4", seconds=180)
    run.call("Read", "1\ttest('pays')\n" * 120, file_path="e2e/checkout.spec.ts")
    run.say("The payment frame is looked up before it is attached. I'll wait for it instead.")
    run.call(
        "Edit",
        "The file has been updated.",
        file_path="e2e/checkout.spec.ts",
        old_string="page.frame('pay')",
        new_string="await page.waitForFrame('pay')",
    )
    run.start("Bash", command="npx playwright test --shard=2/4 --repeat-each=20")
    return _claude(run)


def _changelog(start: datetime, src: str) -> tuple[str, Run]:
    run = Codex(start, f"{src}/app", "Changelog for 4.2 from merged pull requests")
    run.call("gh pr list --state merged --limit 80", "80 rows\n", seconds=6)
    run.say("Eighty pull requests, nineteen of them for users. I'll group them by area.")
    run.call("cat > CHANGELOG.md <<'EOF'\n## 4.2\nEOF", "", seconds=2)
    run.say("The changelog for 4.2 is written: 6 added, 9 fixed, 4 changed.")
    run.line(
        "event_msg",
        type="task_complete",
        turn_id="1",
        last_agent_message="The changelog for 4.2 is written.",
    )
    return _codex(run)


def make_night(folder: Path, morning: datetime, home: str = HOME) -> list[Path]:
    """Write the night's logs into `folder`; gives their paths, oldest first."""
    return [run.write(folder / path) for path, run in runs(morning, home)]
