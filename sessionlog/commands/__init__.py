"""The commands, one file each: `arguments(parser)` says what it takes, `run(options)` does it and
gives the exit code. What is not in the table is no command."""

COMMANDS = {
    "list": "the sessions in folders, newest first",
    "show": "the timeline of a session",
    "why": "why a run stopped, from evidence",
    "search": "a text in all logs",
    "follow": "a log as it grows, until its run ends",
    "replay": "a log as it happened",
    "stats": "messages, calls, failures, time, tokens",
    "compare": "two runs: what they share, where they part",
    "check": "damage, open calls, orphan results; exit 1 when there are any",
    "fork": "a new log that holds the first part of a session",
    "repair": "a new log in which every open call is closed",
    "stale": "files that changed since the agent saw them; exit 1 when any did",
    "resume": "what hands a session over to its agent",
    "agents": "the agents that a session can be handed to",
    "stop": "kills what was handed over, and all it started",
    "record": "an agent's stream from standard input, passed through and recorded",
    "demo": "a folder of telling sessions to look at",
}
"""Name and what it gives. Its file is imported when the command is asked for."""
