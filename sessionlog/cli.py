"""Every key of the screen as a command: `sessionlog list`, `show`, `check`, `fork`, ...

Standard output carries only the answer; an error is one line on standard error that says what,
where, and what to do. Exit codes: 0 done, 1 looked and found something, 2 cannot, 3 refused
because of damage or a living writer, 130 interrupted.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from sessionlog import shown
from sessionlog.errors import DamagedLog, LogInUse, NotPossible, SessionLogError, SessionNotFound
from sessionlog.listing import FEW, age_of, find, logs_in, look
from sessionlog.paths import agent_folders, default_folders
from sessionlog.records import Entry, Status, moment
from sessionlog.spread import spread
from sessionlog.text import ago, clip, one_line, pad, visible

COMMANDS = ("list", "show", "check", "fork", "repair", "resume", "demo")
DONE, FOUND, CANNOT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: list[str]) -> int:
    """Run one command; gives the exit code."""
    if sys.stdout is None:
        return CANNOT  # closed: there is nowhere to answer
    try:
        options = _parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int] = options.run
        code = command(options)
        sys.stdout.flush()
        return code
    except (DamagedLog, LogInUse) as error:
        return _fail(error, REFUSED)
    except SessionLogError as error:
        return _fail(error, CANNOT)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader went away (`| head`)
        _hush()
        return DONE
    except OSError as error:
        _hush()
        return _fail(error, CANNOT)


def _hush() -> None:
    """Standard output takes no more: say nothing at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception, code: int) -> int:
    print(f"sessionlog: {visible(str(error))}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """Usage errors as one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(CANNOT, f"{self.prog}: {visible(message)}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sessionlog",
        description="Inspect, fork and repair the session logs of coding agents. Without a "
        "command: the screen.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    def add(name: str, run: Callable[[argparse.Namespace], int], help: str) -> Any:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        sub.add_argument("--json", action="store_true", help="one JSON object a line")
        return sub

    sub = add("list", _list, "the sessions in folders, newest first")
    sub.add_argument("paths", nargs="*", metavar="PATH")
    sub.add_argument("--status", choices=[*(s.value for s in Status), "failed"], help="only these")
    sub.add_argument("--agent", help="only this agent's")
    sub.add_argument("--limit", type=_counted, metavar="N", help="at most N")

    sub = add("show", _show, "the timeline of a session")
    _ref(sub)
    sub.add_argument("--from", type=_counted, dest="first", metavar="N", help="from message N")
    sub.add_argument("--to", type=_counted, dest="last", metavar="N", help="to message N")
    sub.add_argument("--context", action="store_true", help="only what a resume hands over")
    sub.add_argument("--raw", action="store_true", help="the lines as they stand")

    sub = add("check", _check, "damage, open calls, orphan results; exit 1 when there are any")
    sub.add_argument("refs", nargs="+", metavar="REF")
    _places(sub)

    sub = add("repair", _repair, "a new log in which every open call is closed")
    _ref(sub)
    _writes(sub)

    sub = add("fork", _fork, "a new log that holds the first part of a session")
    _ref(sub)
    sub.add_argument("--at", type=_counted, required=True, metavar="N", help="message of the cut")
    sub.add_argument("--no-repair", action="store_true", help="leave calls open at the cut")
    _writes(sub)

    sub = add("resume", _resume, "what hands a session over to its agent")
    _ref(sub)
    sub.add_argument("--at", type=_counted, metavar="N", help="go on from message N")
    sub.add_argument("--agent", help="another agent than the log's own")
    sub.add_argument("--prompt", help="what the agent is told, instead of the note")
    sub.add_argument("--dry-run", action="store_true", help="only say what would run")
    sub.add_argument("--force", action="store_true", help="go on without the damaged lines")

    sub = add("demo", _demo, "a folder of telling sessions, on the screen")
    sub.add_argument("--dir", help="where to make it (a new temporary folder)")
    return parser


def _counted(text: str) -> int:
    """A number from 1, in plain digits."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


def _places(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--in", action="append", dest="places", metavar="PATH", default=[],
                     help="look here for sessions (repeatable)")  # fmt: skip


def _ref(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("ref", metavar="REF", help="an id, its head, a path, or `last`")
    _places(sub)


def _writes(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--out", metavar="PATH", help="write the new log here")
    sub.add_argument("--dry-run", action="store_true", help="only say what would be written")
    sub.add_argument("--force", action="store_true", help="go on without the damaged lines")


def _found(options: argparse.Namespace, ref: str) -> Entry:
    return find(ref, options.places or default_folders())


def _print(lines: Iterable[str]) -> None:
    sys.stdout.writelines(line + "\n" for line in lines)
    sys.stdout.flush()


def _list(options: argparse.Namespace) -> int:
    gc.disable()  # ten thousand rows are no garbage, and the process ends with them
    places = options.paths or default_folders()
    for path in options.paths:
        if not os.path.lexists(path):
            raise SessionNotFound(f"{path}: no such file or folder")
    paths = list(logs_in(places))
    now, columns = time.time(), _columns()

    def rows(part: Sequence[str]) -> list[tuple[tuple[bool, str, str], str]]:
        return [
            (age_of(entry), _list_row(entry, options.json, now, columns))
            for entry in look(part, closely=len(paths) <= FEW)
            if (not options.status or options.status in (entry.status, word_of(entry)))
            and (not options.agent or entry.agent == options.agent)
        ]

    found = sorted(spread(paths, rows), reverse=True)[: options.limit]
    _print(row for _, row in found)
    if not found:
        places = places or [path for paths in agent_folders().values() for path in paths]
        where = f"no sessions in {', '.join(places)}"
        print(f"sessionlog: {visible(where)}", file=sys.stderr)
    return DONE


def _list_row(entry: Entry, as_json: bool, now: float, columns: int) -> str:
    return shown.json_line(shown.of_entry(entry)) if as_json else _list_line(entry, now, columns)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 120


def _list_line(entry: Entry, now: float, columns: int) -> str:
    """`failed  zot  8h  id  title  how it stopped`; thousands of them, so no work is done twice."""
    started = moment(entry.started or entry.updated)
    age = ago(now - started.timestamp()) if started else ""
    stop = entry.stop if entry.status else entry.reason or ""
    if entry.ok and entry.status is Status.COMPLETE:
        stop = ""
    room = max(columns - 47, 20)
    left = room if not stop else room * 5 // 9
    line = (
        f"{word_of(entry):10} {_cell(entry.agent or entry.format, 7)} {age:>4}  "
        f"{_cell(entry.id, 20)}  {_cell(entry.title or '-', left)}"
    )
    return f"{line}  {_cell(stop, room - left - 2)}".rstrip() if stop else line.rstrip()


def _cell(text: str, columns: int) -> str:
    """The first line of `text` in exactly so many columns, safe to print."""
    if text.isascii() and text.isprintable():
        return text.ljust(columns) if len(text) <= columns else text[: columns - 1] + "…"
    return pad(one_line(text), columns)


def word_of(entry: Entry) -> str:
    """The status in one word; a complete run that failed says so."""
    if entry.status is None:
        return "no log"
    return "failed" if entry.ok is False else entry.status.value


def _show(options: argparse.Namespace) -> int:
    from sessionlog.reader import load

    first, last = options.first, options.last
    if first and last and first > last:
        raise NotPossible(f"--from {first} --to {last}: from is behind to")
    session = load(_found(options, options.ref).path)
    items = []
    n = 0
    for item in shown.of_session(session):
        n = item["n"] or n  # events belong to the message before them
        if (first and n < first) or (last and n > last):
            continue
        if options.context and not item.get("in_context"):
            continue
        items.append(item)
    if options.raw:
        _raw(session.path, items)
    elif options.json:
        _print(map(shown.json_line, items))
    else:
        _print(_show_line(item) for item in items)
    return DONE


def _raw(path: str, items: list[dict[str, Any]]) -> None:
    """The lines of the file that the items stand on, each once; visible on a terminal."""
    spans = sorted({(item["offset"], item["length"]) for item in items})
    with open(path, "rb") as file:
        for offset, length in spans:
            file.seek(offset)
            data = file.read(length)
            if sys.stdout.isatty():
                print(visible(data.decode("utf-8", "replace")))
            else:
                sys.stdout.buffer.write(data + b"\n")
    sys.stdout.flush()


def _show_line(item: dict[str, Any]) -> str:
    n = "" if item["n"] is None else str(item["n"])
    clock = (item.get("at") or "")[11:19]
    if item["kind"] == "damage":
        body = f"line {item['line']}, byte {item['offset']}, {item['length']} bytes: {item['why']}"
    elif item["type"] == "call":
        body = f"{item['tool']} {item['arguments'] or ''}"
        body += "  (open)" if item["open"] else ""
    elif item["kind"] == "result":
        body = item.get("error") or item["text"] or ""
    else:
        body = item["text"] or ""
    mark = "" if item["kind"] != "message" or item["in_context"] else "| "
    name = item["type"] or item["kind"]
    line = f"{n:>5} {clock:8} {pad(visible(str(name)), 14)} {mark}{visible(str(body))}"
    return clip(line, _columns()) if sys.stdout.isatty() else line


def _check(options: argparse.Namespace) -> int:
    from sessionlog.reader import load

    code = DONE
    for ref in options.refs:
        found = shown.of_check(load(_found(options, ref).path))
        bad = (
            found["damages"] or found["open_calls"] or found["orphan_results"]
            or found["status"] in (Status.UNFINISHED, Status.TRUNCATED)
        )  # fmt: skip
        code = FOUND if bad else code
        _print([shown.json_line(found)] if options.json else _check_lines(found))
    return code


def _check_lines(found: dict[str, Any]) -> Iterable[str]:
    ok = {True: "ok", False: "not ok", None: "not known whether ok"}[found["ok"]]
    reason = f" ({visible(found['reason'])})" if found["reason"] else ""
    ending = f", {ok}" if found["status"] == Status.COMPLETE else ""
    yield f"{visible(found['id'])}: {found['status']}{reason}{ending}"
    counts = (("messages", "message"), ("calls", "call"), ("users", "prompt"),
              ("assistants", "answer"), ("events", "event"))  # fmt: skip
    yield "  " + ", ".join(f"{found[k]} {word}{'s' * (found[k] != 1)}" for k, word in counts)
    for call in found["open_calls"]:
        said = f"{visible(call['tool'])} {visible(call['call_id'])}"
        yield f"  open call: message {call['n']}, {said}"
    for call in found["in_flight"]:
        if call["n"] is None:  # native: it stands in events alone, so no message is open
            yield f"  in flight, not in the conversation: {visible(call['tool'])}"
    for orphan in found["orphan_results"]:
        yield f"  result without a call: message {orphan['n']}, {visible(orphan['call_id'])}"
    for damage in found["damages"]:
        yield (
            f"  damage: line {damage['line']}, byte {damage['offset']}, {damage['length']} bytes: "
            f"{visible(damage['why'])}"
        )


def _repair(options: argparse.Namespace) -> int:
    from sessionlog.reader import load
    from sessionlog.repairs import apply_repair, plan_repair

    source = _found(options, options.ref).path
    plan = plan_repair(load(source))
    if plan.alive is not None:
        raise LogInUse(f"{source}: its writer is alive ({plan.alive}); stop it first, or fork")
    path = _applied(plan, apply_repair, options) if plan.needed or options.out is not None else None
    answer = {
        "source": source, "path": path, "id": _id_of(path, plan) if plan.needed else None,
        "closed": _closed(plan.closed), "moved": list(plan.moved),
        "dropped": [shown.of_damage(damage) for damage in plan.dropped],
    }  # fmt: skip
    nothing = f"would write {plan.path}" if plan.needed else "nothing to repair; nothing written"
    _print([shown.json_line(answer)] if options.json else _made(answer, nothing))
    return DONE


def _fork(options: argparse.Namespace) -> int:
    from sessionlog.forks import apply_fork, plan_fork
    from sessionlog.reader import load

    source = _found(options, options.ref).path
    plan = plan_fork(load(source), options.at, repair=not options.no_repair)
    path = _applied(plan, apply_fork, options)
    answer = {
        "source": source, "at": plan.at, "path": path, "id": _id_of(path, plan),
        "messages": plan.messages, "closed": _closed(plan.closed),
    }  # fmt: skip
    nothing = f"would write {plan.path}: {plan.messages} messages"
    _print([shown.json_line(answer)] if options.json else _made(answer, nothing))
    return DONE


def _applied(plan: Any, apply: Callable[..., Any], options: argparse.Namespace) -> str | None:
    """The path of the new log; None after a dry run, which is refused where the doing would be."""
    if not options.dry_run:
        return str(apply(plan, options.out, force=options.force))
    if plan.refused is not None and not options.force:
        from sessionlog.reader import refusal

        raise refusal(plan.source, plan.refused)
    return None


def _id_of(path: str | None, plan: Any) -> str:
    """A log answers to its file's name."""
    return os.path.basename(path).removesuffix(".jsonl") if path else str(plan.id)


def _closed(calls: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"n": c.n, "call_id": c.call_id, "tool": c.tool} for c in calls]


def _made(answer: dict[str, Any], nothing: str) -> Iterable[str]:
    yield visible(answer["path"] or nothing)
    for call in answer["closed"]:
        yield f"  closed: message {call['n']}, {visible(call['tool'])} {visible(call['call_id'])}"
    for n in answer.get("moved", ()):
        yield f"  moved: the result in message {n}, to its call"
    for damage in answer.get("dropped", ()):
        yield f"  left out: line {damage['line']}, {damage['length']} bytes: {damage['why']}"


def _resume(options: argparse.Namespace) -> int:
    from sessionlog.reader import load
    from sessionlog.resume import plan_resume

    session = load(_found(options, options.ref).path, strict=not options.force)
    plan = plan_resume(session, options.at, agent=options.agent, prompt=options.prompt)
    if not options.dry_run:
        raise NotPossible("starting an agent is not built in yet: --dry-run tells what to run")
    answer = {
        "argv": list(plan.argv), "cwd": plan.cwd, "log": plan.log, "note": plan.note,
        "changed_files": list(plan.changed_files),
    }  # fmt: skip
    if options.json:
        _print([shown.json_line(answer)])
    else:
        import shlex

        # newlines as they are: the line is there to be pasted
        _print([visible(shlex.join(plan.argv), newlines=True), f"  in {visible(plan.cwd)}"])
        if plan.plan is not None:
            _print([f"  after writing {visible(plan.log)}"])
        if plan.note not in plan.argv:
            _print([visible(plan.note, newlines=True)])
    return DONE


def _demo(options: argparse.Namespace) -> int:
    from sessionlog.demo import make

    folder = make(options.dir)
    print(visible(str(folder)))
    print(f"open it with: sessionlog {visible(str(folder))}", file=sys.stderr)
    return DONE
