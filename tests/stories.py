"""One story told in the log of several agents: what happened, in each agent's own words."""

from __future__ import annotations

import json
from typing import Any

import build

from sessionlog.codec import parse
from sessionlog.formats.table import named
from sessionlog.framing import split
from sessionlog.records import Damage, Record
from sessionlog.session import Session, fold
from sessionlog.why.answer import Why, why


class Story:
    """The shared part: time goes on, calls have ids."""

    form = ""
    shell = "bash"

    def __init__(self, task: str = "Do the work.") -> None:
        self.lines: list[bytes] = []
        self.clock = 0.0
        self.calls = 0
        self.head(task)

    def head(self, task: str) -> None:
        raise NotImplementedError

    def later(self, seconds: float = 5) -> float:
        self.clock += seconds
        return self.clock

    def call(self, said: str, gave: str = "ok", bad: bool = False, tool: str = "") -> Story:
        """A call and its result; `bad`: it failed."""
        self.open(said, tool)
        self.answer(gave, bad)
        return self

    def work(self, count: int = 3) -> Story:
        """Calls that went well."""
        for i in range(count):
            self.call(f"cat file{i}.txt", f"text {i}")
        return self

    def open(self, said: str, tool: str = "") -> Story:
        raise NotImplementedError

    def answer(self, gave: str, bad: bool = False) -> Story:
        raise NotImplementedError

    def say(self, text: str) -> Story:
        raise NotImplementedError

    def user(self, text: str) -> Story:
        raise NotImplementedError

    def done(self, text: str) -> Story:
        """The model's last words, and the end of the turn."""
        raise NotImplementedError

    def retry(self, text: str) -> Story:
        """An attempt of the provider's failed; the client tries again."""
        raise NotImplementedError

    def refused(self, text: str) -> Story:
        """The provider, or the client, ended the turn with an error."""
        raise NotImplementedError

    def interrupted(self) -> Story:
        """A person stopped it inside the call that is open."""
        raise NotImplementedError

    def condensed(self) -> Story:
        """The conversation was condensed by the client."""
        raise NotImplementedError

    def session(self, tail: bytes = b"") -> Session:
        form = named(self.form)
        assert form is not None
        records: list[Record] = []
        damages: list[Damage] = []
        for line in split(b"".join(self.lines) + tail):
            parsed = parse(line, form.plausible)
            damages += parsed.damages
            for value, span in parsed.objects:
                records += form.decode(value, span)
        return fold(records, damages, form=form, path=f"{self.form}.jsonl")

    def why(self, tail: bytes = b"") -> Why:
        return why(self.session(tail))


class Native(Story):
    form, shell = "native", "shell"

    def head(self, task: str) -> None:
        self.lines += [build.meta(task=task), build.message("user", "Begin.", 1)]

    def open(self, said: str, tool: str = "") -> Story:
        self.calls += 1
        self.asked = tool or self.shell, json.dumps({"command": said})
        self.lines.append(build.request(f"c{self.calls}", *self.asked, seconds=self.later()))
        return self

    def answer(self, gave: str, bad: bool = False) -> Story:
        text = f"{gave}\n[exit: exit status 1]" if bad else gave
        self.lines.append(
            build.response(f"c{self.calls}", *self.asked, result=text, seconds=self.later())
        )
        return self

    def say(self, text: str) -> Story:
        self.lines.append(build.message("bot", text, self.later()))
        return self

    def user(self, text: str) -> Story:
        self.lines.append(build.message("user", text, self.later()))
        return self

    def done(self, text: str) -> Story:
        self.say(text).lines.append(build.result("stop", seconds=self.later()))
        return self

    def retry(self, text: str) -> Story:
        self.lines.append(build.event("retry", self.later(), text=text))
        return self

    def refused(self, text: str) -> Story:
        self.lines.append(build.result("error", 1, self.later(), error=text))
        return self

    def interrupted(self) -> Story:
        self.lines.append(build.result("aborted", 1, self.later()))
        return self

    def condensed(self) -> Story:
        self.lines += [
            build.reset(self.later()),
            build.message("checkpoint", "So far.", self.clock),
        ]
        return self


class Claude(Story):
    form, shell = "claude", "Bash"

    def head(self, task: str) -> None:
        self.lines.append(build.claude_user(task, 1))

    def open(self, said: str, tool: str = "") -> Story:
        self.calls += 1
        self.lines.append(
            build.claude_call(f"toolu_{self.calls}", said, f"msg_{self.calls}", tool or self.shell,
                              self.later())
        )  # fmt: skip
        return self

    def answer(self, gave: str, bad: bool = False) -> Story:
        text = f"Exit code 1\n{gave}" if bad else gave
        self.lines.append(build.claude_result(f"toolu_{self.calls}", text, bad, self.later()))
        return self

    def say(self, text: str) -> Story:
        self.lines.append(
            build.claude_said(text, id=f"say_{self.clock}", stop="tool_use", seconds=self.later())
        )
        return self

    def user(self, text: str) -> Story:
        self.lines.append(build.claude_user(text, self.later()))
        return self

    def done(self, text: str) -> Story:
        self.lines.append(build.claude_said(text, id="last", stop="end_turn", seconds=self.later()))
        return self

    def retry(self, text: str) -> Story:
        error = {"message": text, "formatted": text}
        again = {"retryAttempt": 1, "maxRetries": 10, "error": error}
        self.lines.append(build.claude_system("api_error", self.later(), level="error", **again))
        return self

    def refused(self, text: str) -> Story:
        self.lines.append(build.claude_error(f"API Error: {text}", "unknown", self.later()))
        return self

    def interrupted(self) -> Story:
        self.lines += [
            build.claude_result(f"toolu_{self.calls}", "The user doesn't want to proceed with this "
                                "tool use. The tool use was rejected.", True, self.later()),
            build.claude_user("[Request interrupted by user for tool use]", self.later()),
        ]  # fmt: skip
        return self

    def condensed(self) -> Story:
        self.lines += [
            build.claude_system("compact_boundary", self.later(),
                                compactMetadata={"trigger": "auto", "preTokens": 190000}),
            build.claude_user("So far: …", self.clock, isCompactSummary=True),
        ]  # fmt: skip
        return self


class Codex(Story):
    form, shell = "codex", "exec_command"

    def head(self, task: str) -> None:
        self.lines += [
            build.codex_meta(), build.codex_event("task_started", turn_id="t1"),
            build.codex_said("user", task),
        ]  # fmt: skip

    def open(self, said: str, tool: str = "") -> Story:
        self.calls += 1
        call = {"name": tool or self.shell, "arguments": json.dumps({"cmd": said})}
        self.lines.append(
            build.codex_item("function_call", self.later(), **call, call_id=f"call_{self.calls}")
        )
        return self

    def answer(self, gave: str, bad: bool = False) -> Story:
        self.lines.append(build.codex_output(f"call_{self.calls}", gave, int(bad), self.later()))
        return self

    def say(self, text: str) -> Story:
        self.lines.append(build.codex_said("assistant", text, seconds=self.later()))
        return self

    def user(self, text: str) -> Story:
        self.lines.append(build.codex_said("user", text, seconds=self.later()))
        return self

    def done(self, text: str) -> Story:
        self.say(text).lines.append(build.codex_event("task_complete", self.later(), turn_id="t1"))
        return self

    def retry(self, text: str) -> Story:
        self.lines.append(build.codex_event("stream_error", self.later(), message=text))
        return self

    def refused(self, text: str) -> Story:
        error = {"message": text, "codex_error_info": "other"}
        self.lines += [
            build.codex_event("error", self.later(), **error),
            build.codex_event("task_complete", self.clock, turn_id="t1", error=error),
        ]
        return self

    def interrupted(self) -> Story:
        self.lines.append(build.codex_item(
            "function_call_output", self.later(), call_id=f"call_{self.calls}",
            output="Wall time: 3.0 seconds\naborted by user",
        ))  # fmt: skip
        self.lines.append(build.codex_event("turn_aborted", self.later(), reason="interrupted"))
        return self

    def condensed(self) -> Story:
        self.lines.append(
            build.codex_line("compacted", {"message": "So far.", "replacement_history": []},
                             self.later())
        )  # fmt: skip
        return self


class Pi(Story):
    form = "pi"

    def head(self, task: str) -> None:
        header = {"type": "session", "version": 3, "id": "01a1", "timestamp": build.at(),
                  "cwd": "/srv/app"}  # fmt: skip
        self.lines.append(build.line(header))
        self.entry(role="user", content=task)

    def entry(self, **message: Any) -> Story:
        number = len(self.lines)
        parent = f"{number - 1:08x}" if number > 1 else None
        self.lines.append(build.line({
            "type": "message", "id": f"{number:08x}", "parentId": parent,
            "timestamp": build.at(self.later()), "message": message,
        }))  # fmt: skip
        return self

    def spoke(self, stop: str, *content: dict[str, Any], **more: Any) -> Story:
        return self.entry(role="assistant", content=list(content), model="m", stopReason=stop,
                          **more)  # fmt: skip

    def open(self, said: str, tool: str = "") -> Story:
        self.calls += 1
        self.asked = tool or self.shell
        arguments = {"command": said}
        return self.spoke("toolUse", {"type": "toolCall", "id": f"t{self.calls}",
                                      "name": self.asked, "arguments": arguments})  # fmt: skip

    def answer(self, gave: str, bad: bool = False) -> Story:
        return self.entry(role="toolResult", toolCallId=f"t{self.calls}", toolName=self.asked,
                          content=[{"type": "text", "text": gave}], isError=bad)  # fmt: skip

    def say(self, text: str) -> Story:
        return self.spoke("toolUse", {"type": "text", "text": text})

    def user(self, text: str) -> Story:
        return self.entry(role="user", content=text)

    def done(self, text: str) -> Story:
        return self.spoke("stop", {"type": "text", "text": text})

    def retry(self, text: str) -> Story:
        return self.spoke("error", errorMessage=text)

    def refused(self, text: str) -> Story:
        return self.spoke("error", errorMessage=text)

    def interrupted(self) -> Story:
        self.answer("Command aborted", True)
        return self.spoke("aborted")

    def condensed(self) -> Story:
        number = len(self.lines)
        self.lines.append(build.line({
            "type": "compaction", "id": f"{number:08x}", "parentId": f"{number - 1:08x}",
            "timestamp": build.at(self.later()), "summary": "So far.",
            "firstKeptEntryId": f"{number:08x}", "tokensBefore": 190000,
        }))  # fmt: skip
        return self


AGENTS = (Native, Claude, Codex, Pi)
